//! The instances: every variant for the keys and values that are used everywhere.

use core::hint::black_box;
use latchless::index::{self, ExclusiveIndex};
use latchless::{Fits, Index, Key, Value};
use latchless_core::base::index::OrderedIndex;
use latchless_core::mem::touch::Traced;
use latchless_papers::spiderman::SpidermanMap;
use latchless_papers::{cssl, olfit, pb_tree, pi, spiderman};

/// An index of keys that are values as well.
type Made<K> = latchless_papers::Result<Box<dyn OrderedIndex<K, K>>>;
/// A function that makes one of a family.
type Build<K, Member, Options> = fn(Member, &Options) -> Made<K>;

/// Names everything that is to be compiled here.
pub fn instances() {
    natively::<u32>();
    natively::<u64>();
    on_models();
}

/// What is made by name, and the flagship.
fn natively<K: Key + Value + Fits<<K as Key>::Bits>>() {
    black_box::<Build<K, pb_tree::Member, pb_tree::Options>>(pb_tree::build);
    black_box::<Build<K, olfit::Member, olfit::Options>>(olfit::build);
    black_box::<Build<K, cssl::Member, cssl::Options>>(cssl::build);
    black_box::<Build<K, spiderman::Member, spiderman::Options>>(spiderman::build);
    black_box::<Build<K, pi::Member, pi::Options>>(pi::build);
    black_box::<fn(index::Options) -> Made<K>>(|options| Ok(Box::new(Index::<K, K>::with_options(options)?)));
    black_box::<fn(index::Options) -> Made<K>>(|options| {
        Ok(Box::new(ExclusiveIndex::from(Index::<K, K>::with_options(options)?)))
    });
}

/// Told to a memory-hierarchy model: the papers' widths.
fn on_models() {
    black_box::<Build<u32, pb_tree::Member, pb_tree::Options>>(pb_tree::build_traced::<_, _, Traced>);
    black_box::<Build<u32, olfit::Member, olfit::Options>>(olfit::build_traced::<_, _, Traced>);
    black_box::<fn(&pi::Options) -> Made<u32>>(|options| {
        Ok(Box::new(pi::Pi::<u32, u32, Traced>::with_options(options)?))
    });
    black_box::<fn(&spiderman::Options) -> Made<u64>>(|options| {
        Ok(Box::new(SpidermanMap::<u64, u64, Traced>::with_options(options)?))
    });
}
