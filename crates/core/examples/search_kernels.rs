//! Times every search kernel that this processor supports, in nanoseconds per search, in cache. Each search
//! depends on the result of the one before it, as in a descent.
//!
//! ```text
//! cargo run --release -p latchless-core --example search_kernels
//! ```

use latchless_core::base::key::Bits;
use latchless_core::mem::touch::NoTrace;
use latchless_core::search::{Dispatch, Kernel, Ranks};
use std::time::Instant;

latchless_core::operations!(Ranks);

/// Searches per measurement: enough for a clock with microsecond noise.
const SEARCHES: usize = 1 << 16;
/// Measurements per kernel. The fastest counts, because other programs only ever slow one down.
const ROUNDS: usize = 15;
/// Lanes of all nodes together: 16 KiB, half of a first-level cache.
const POOL_BYTES: usize = 16 << 10;

/// Nodes of up to `capacity` lanes, and the keys to search for.
struct Case<B> {
    lanes: Vec<B>,
    /// The start and the end of each node's lanes.
    nodes: Vec<(u32, u32)>,
    /// Node and key of each search.
    searches: Vec<(u32, B)>,
}

impl<B: Bits> Case<B> {
    /// Nodes of `capacity` lanes each; if `varied`, of half as many up to `capacity`.
    fn new(capacity: usize, varied: bool) -> Self {
        let mut random = splitmix(7);
        let mut case = Self { lanes: Vec::new(), nodes: Vec::new(), searches: Vec::new() };
        while (case.lanes.len() + capacity) * B::BYTES <= POOL_BYTES {
            let least = if varied { capacity.div_ceil(2) } else { capacity };
            let len = least + random() as usize % (capacity - least + 1);
            let mut node: Vec<B> = (0..len).map(|_| B::truncate(random())).collect();
            node.sort_unstable();
            let start = case.lanes.len();
            case.lanes.extend(node);
            case.nodes.push((start as u32, (start + len) as u32));
        }
        let nodes = case.nodes.len() as u64;
        case.searches = (0..SEARCHES).map(|_| ((random() % nodes) as u32, B::truncate(random()))).collect();
        case
    }

    /// Returns the time of a search, in nanoseconds.
    fn time(&self, kernel: Kernel) -> f64 {
        let dispatch = Dispatch::of(kernel).expect("only kernels of this processor are timed");
        let rounds = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            std::hint::black_box(dispatch.run(Descend(self)));
            start.elapsed().as_nanos() as f64 / SEARCHES as f64
        });
        rounds.fold(f64::INFINITY, f64::min)
    }
}

/// Runs all searches of a case, one after the other.
struct Descend<'a, B>(&'a Case<B>);

impl<B: Bits> Operation for Descend<'_, B> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        let mut rank = 0;
        for &(node, key) in &self.0.searches {
            // Ranks are far below 2^20, which the compiler can't know: the next search waits.
            let (start, end) = self.0.nodes[node as usize + (rank >> 20)];
            rank = S::below::<B, NoTrace>(&self.0.lanes[start as usize..end as usize], key);
        }
        rank
    }
}

fn splitmix(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn table<B: Bits>(kernels: &[Kernel], capacities: &[usize]) {
    for &capacity in capacities {
        print!("| u{} × {capacity} |", 8 * B::BYTES);
        for varied in [false, true] {
            let case = Case::<B>::new(capacity, varied);
            for &kernel in kernels {
                print!(" {:.1} |", case.time(kernel));
            }
        }
        println!();
    }
}

fn main() {
    let kernels: Vec<Kernel> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).collect();
    print!("| lanes |");
    for form in ["full", "half to full"] {
        for kernel in &kernels {
            print!(" {kernel}, {form} |");
        }
    }
    println!("\n|---|{}", "---:|".repeat(2 * kernels.len()));
    table::<u32>(&kernels, &[7, 14, 31, 63, 126, 127]);
    table::<u64>(&kernels, &[3, 7, 15, 31, 41, 63, 85, 127]);
}
