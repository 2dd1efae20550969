//! Growth, limits, reused runs, and invalid references and lanes.

use super::*;

fn small(options: ArenaOptions) -> Arena<Lines<2>> {
    Arena::new(options).unwrap()
}

#[test]
fn blocks_are_line_aligned_zeroed_and_apart() {
    let mut arena = small(ArenaOptions::default());
    let blocks: Vec<_> = (0..if cfg!(miri) { 60 } else { 5000 }).map(|_| arena.allocate().unwrap()).collect();
    for (i, &block) in blocks.iter().enumerate() {
        assert_eq!(arena.address(block).addr() % LINE_BYTES, 0);
        assert_eq!(arena.lanes::<u64>(block, 0, 16), [0; 16]);
        arena.lanes_mut::<u64>(block, 0, 16).fill(i as u64);
    }
    for (i, &block) in blocks.iter().enumerate() {
        assert_eq!(arena.lanes::<u64>(block, 0, 16), [i as u64; 16]);
    }
    assert_eq!(arena.live_bytes(), blocks.len() * 128);
}

#[test]
fn growth_keeps_what_is_in_the_blocks_even_if_they_move() {
    // Miri takes too long for single blocks.
    let run = if cfg!(miri) { 64 } else { 1 };
    let mut arena = small(ArenaOptions { huge_pages: true, run_blocks: run, ..Default::default() });
    let first = arena.allocate().unwrap();
    let (address, mut moves) = (arena.address(first), 0);
    arena.lanes_mut::<u32>(first, 4, 1)[0] = 7;
    // A mapping of tests has two megabytes at first.
    for i in 0..if cfg!(miri) { 270 } else { 100_000 } {
        let block = arena.allocate().unwrap();
        arena.lanes_mut::<u32>(block, 0, 1)[0] = i;
        moves += usize::from(arena.address(first) != address);
        assert_eq!(arena.lanes::<u32>(first, 4, 1), [7]);
    }
    assert!(moves > 0);
    let mut all = 0..(arena.held_bytes() / 128 / run as usize - 1) as u32;
    assert!(all.all(|i| arena.lanes::<u32>(first.offset((1 + i as usize) * run as usize), 0, 1) == [i]));
}

#[test]
fn freed_runs_are_used_again() {
    let mut arena = small(ArenaOptions { run_blocks: 3, ..Default::default() });
    let runs: Vec<_> = (0..10).map(|_| arena.allocate().unwrap()).collect();
    assert_eq!(runs[1], runs[0].offset(3));
    let held = arena.held_bytes();
    for &run in &runs {
        arena.free(run);
    }
    assert_eq!(arena.live_bytes(), 0);
    let mut again: Vec<_> = (0..10).map(|_| arena.allocate().unwrap()).collect();
    again.sort();
    assert_eq!(again, runs);
    assert_eq!(arena.held_bytes(), held);
}

#[test]
fn scattered_runs_are_all_handed_out_and_hardly_two_beside_each_other() {
    let count = if cfg!(miri) { 60 } else { 2_000 };
    let in_order = |seed| {
        let mut arena = small(ArenaOptions { run_blocks: 2, ..Default::default() });
        let first = arena.allocate().unwrap();
        arena.reserve_scattered(count, seed).unwrap();
        let runs: Vec<_> = (0..count).map(|_| arena.allocate().unwrap()).collect();
        let mut sorted = runs.clone();
        sorted.sort();
        assert!(sorted.iter().enumerate().all(|(nth, &run)| run == first.offset(2 * (nth + 1))), "each once");
        assert_eq!(arena.live_runs(), count + 1);
        assert_eq!(arena.held_bytes(), 2 * (count + 1) * 128);
        assert_eq!(arena.allocate(), Ok(first.offset(2 * (count + 1))), "in order from there on");
        runs
    };
    let runs = in_order(7);
    let beside = runs.windows(2).filter(|pair| pair[1] == pair[0].offset(2)).count();
    assert!(beside < count / 20, "{beside} of {count}");
    assert_eq!(runs, in_order(7), "a seed determines the order");
    assert_ne!(runs, in_order(8));
}

#[test]
fn a_scattered_reservation_that_is_refused_changes_nothing() {
    let mut arena = small(ArenaOptions { limit_bytes: Some(1024), ..Default::default() });
    let first = arena.allocate().unwrap();
    let refused = Error::MemoryLimit { requested_bytes: 1152, limit_bytes: 1024 };
    assert_eq!(arena.reserve_scattered(8, 1), Err(refused));
    assert_eq!((arena.live_runs(), arena.held_bytes()), (1, 128));
    assert_eq!(arena.allocate(), Ok(first.offset(1)));
    arena.reserve_scattered(6, 1).unwrap();
    assert!((0..6).all(|_| arena.allocate().is_ok()));
}

#[test]
fn a_limit_is_kept_and_named() {
    let mut arena = small(ArenaOptions { limit_bytes: Some(1000), ..Default::default() });
    for _ in 0..7 {
        arena.allocate().unwrap();
    }
    let refused = Error::MemoryLimit { requested_bytes: 1024, limit_bytes: 1000 };
    // The step that is committed at once must not hide the limit.
    assert_eq!(arena.allocate(), Err(refused.clone()));
    assert_eq!(arena.reserve(5), Err(Error::MemoryLimit { requested_bytes: 1536, limit_bytes: 1000 }));
    arena.free(NodeRef::from_word(2));
    assert_eq!(arena.allocate(), Ok(NodeRef::from_word(2)));
    assert_eq!(arena.allocate(), Err(refused));
}

#[test]
fn references_run_out_by_name() {
    let mut arena = small(ArenaOptions { references: 4, ..Default::default() });
    arena.reserve(4).unwrap();
    assert_eq!(arena.reserve(5), Err(Error::ReferencesExhausted { limit: 4 }));
    for _ in 0..4 {
        arena.allocate().unwrap();
    }
    assert_eq!(arena.allocate(), Err(Error::ReferencesExhausted { limit: 4 }));
}

#[test]
fn copies_within_and_between_blocks() {
    let mut arena = small(ArenaOptions { run_blocks: 4, ..Default::default() });
    let run = arena.allocate().unwrap();
    for (i, lane) in arena.lanes_mut::<u32>(run, 0, 32).iter_mut().enumerate() {
        *lane = i as u32;
    }
    arena.copy::<u32>((run, 0), (run, 4), 8);
    assert_eq!(arena.lanes::<u32>(run, 0, 10), [0, 0, 1, 2, 3, 4, 5, 6, 7, 9]);
    arena.copy::<u32>((run, 4), (run.offset(3), 0), 8);
    assert_eq!(arena.lanes::<u32>(run.offset(3), 0, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
    arena.copy_blocks(run, run.offset(1), 2);
    assert_eq!(arena.lanes::<u32>(run.offset(1), 0, 3), [0, 0, 1]);
}

#[test]
fn clearing_gives_everything_back_zeroed() {
    let mut arena = small(ArenaOptions::default());
    let block = arena.allocate().unwrap();
    arena.lanes_mut::<u64>(block, 0, 1)[0] = 5;
    arena.clear();
    assert_eq!(arena.held_bytes(), 0);
    let block = arena.allocate().unwrap();
    assert_eq!(arena.lanes::<u64>(block, 0, 1), [0]);
}

/// A number of 4-byte lanes whose size in bytes is 0 modulo 2^64.
const WRAPPING: usize = 1 << (usize::BITS - 2);

fn of_two_blocks() -> (Arena<Lines<2>>, NodeRef) {
    let mut arena = small(ArenaOptions { run_blocks: 2, ..Default::default() });
    let first = arena.allocate().unwrap();
    (arena, first)
}

#[test]
#[should_panic(expected = "lanes outside of the block")]
fn so_many_lanes_that_their_bytes_wrap_are_caught() {
    let (arena, block) = of_two_blocks();
    arena.lanes::<u32>(block, 0, WRAPPING);
}

#[test]
#[should_panic(expected = "lanes outside of the block")]
fn lanes_so_far_behind_that_their_end_wraps_are_caught() {
    let (arena, block) = of_two_blocks();
    arena.lanes::<u32>(block, usize::MAX - 3, 1);
}

#[test]
#[should_panic(expected = "lanes outside of the block")]
fn so_many_lanes_to_be_written_that_their_bytes_wrap_are_caught() {
    let (mut arena, block) = of_two_blocks();
    arena.lanes_mut::<u32>(block, 0, WRAPPING);
}

#[test]
#[should_panic(expected = "lanes outside of the block")]
fn so_many_lanes_side_by_side_that_their_bytes_wrap_are_caught() {
    let (mut arena, block) = of_two_blocks();
    arena.lanes_mut_twice::<u32>(block, (0, 0), WRAPPING);
}

#[test]
#[should_panic(expected = "lanes outside of the block")]
fn a_copy_of_so_many_lanes_that_their_bytes_wrap_is_caught() {
    let (mut arena, block) = of_two_blocks();
    arena.copy::<u32>((block, 0), (block.offset(1), 0), WRAPPING);
}

#[test]
#[should_panic(expected = "blocks outside of the arena")]
fn a_copy_of_so_many_blocks_that_their_end_wraps_is_caught() {
    let (mut arena, block) = of_two_blocks();
    arena.copy_blocks(block, block.offset(1), usize::MAX);
}

#[test]
fn readers_write_hints_and_nothing_else() {
    let mut arena = Arena::<Hinted<1>>::new(ArenaOptions::default()).unwrap();
    let block = arena.allocate().unwrap();
    std::thread::scope(|scope| {
        for hint in 1..3 {
            let arena = &arena;
            scope.spawn(move || {
                arena.set_hint(block, hint);
                assert!((1..3).contains(&arena.word(block, 60)));
                assert_eq!(arena.lanes::<u32>(block, 0, 15), [0; 15]);
            });
        }
    });
    arena.lanes_mut::<u32>(block, 56, 2).copy_from_slice(&[7, 8]);
    assert_eq!((arena.word(block, 56), arena.word(block, 60)), (7, 8));
}

#[test]
#[should_panic(expected = "lanes outside of the block")]
fn a_slice_of_what_readers_may_write_is_caught() {
    let mut arena = Arena::<Hinted<1>>::new(ArenaOptions::default()).unwrap();
    let block = arena.allocate().unwrap();
    arena.lanes::<u32>(block, 0, 16);
}

#[test]
#[should_panic(expected = "no block of this arena")]
fn a_foreign_reference_is_caught() {
    small(ArenaOptions::default()).lanes::<u32>(NodeRef::NIL, 0, 1);
}
