//! Keys that are drawn one by one.

use super::distinct::distinct;
use crate::ask::Ask;
use crate::keys::Lane;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::Normal;

/// σ of the lognormal keys' logarithm, and their median.
const LOGNORMAL_SIGMA: f64 = 2.0;
const LOGNORMAL_MEDIAN: f64 = 1e12;
/// The most clusters, and how many keys a cluster has at least where there are fewer keys.
const CLUSTERS_MAX: usize = 4096;
const CLUSTER_KEYS_MIN: usize = 256;
/// A cluster's standard deviation: neighbouring centres are 2^52 apart on average.
const CLUSTER_DEVIATION: f64 = (1u64 << 38) as f64;
/// The distance of centres from either end.
const CLUSTER_MARGIN: u64 = 1 << 44;
/// Keys far above the others, and where the others end and these begin.
const OUTLIERS: usize = 20;
const OUTLIERS_BODY_BITS: u32 = 40;
const OUTLIERS_FROM: u64 = 1 << 60;

/// Random keys over the whole width.
pub fn uniform(ask: Ask) -> Vec<u64> {
    // A step by an odd number, then a permutation: no two keys are the same.
    let (offset, stride) = (ask.seed.scatter(), 0x9e37_79b9_7f4a_7c15u64);
    let key = |number: u64| offset.wrapping_add(number.wrapping_mul(stride)).scatter();
    (0..ask.total() as u64).map(key).collect()
}

/// Many small keys and a long tail.
pub fn lognormal(ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let mut normal = normal(LOGNORMAL_SIGMA);
    ask.shuffled(distinct(ask.total(), || (normal(&mut random).exp() * LOGNORMAL_MEDIAN) as u64))
}

/// Normally distributed keys around random centres.
pub fn clusters(ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let mut normal = normal(CLUSTER_DEVIATION);
    let clusters = (ask.total() / CLUSTER_KEYS_MIN).clamp(1, CLUSTERS_MAX);
    let centres: Vec<u64> =
        (0..clusters).map(|_| random.random_range(CLUSTER_MARGIN..u64::MAX - CLUSTER_MARGIN)).collect();
    ask.shuffled(distinct(ask.total(), || {
        let centre = centres[random.random_range(0..clusters)];
        centre.saturating_add_signed(normal(&mut random) as i64)
    }))
}

/// Random keys below the same upper bits.
pub fn prefix(ask: Ask, bits: u32) -> Vec<u64> {
    let mut random = ask.generator(1);
    let low = u64::MAX >> bits;
    let shared = ask.seed.wrapping_add(1).scatter() & !low;
    ask.shuffled(distinct(ask.total(), || shared | (random.random::<u64>() & low)))
}

/// Random small keys and a few huge ones, which are among those to load.
pub fn outliers(ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let far = OUTLIERS.min(ask.loaded);
    let near = distinct(ask.total() - far, || random.random_range(0..1 << OUTLIERS_BODY_BITS));
    let mut keys = distinct(far, || random.random_range(OUTLIERS_FROM..=u64::MAX));
    keys.extend(ask.shuffled(near));
    keys[..ask.loaded].shuffle(&mut random);
    keys
}

/// Draws normally distributed numbers around 0.
fn normal(deviation: f64) -> impl FnMut(&mut rand::rngs::Xoshiro256PlusPlus) -> f64 {
    // A deviation that the library refuses doesn't come here.
    let normal = Normal::new(0.0, deviation).ok();
    move |random| normal.map_or(0.0, |normal| random.sample(normal))
}
