//! What only the CSSL paper's machine has: a stream prefetcher, two levels of translations, branches of many
//! ways.

use super::*;

fn running(parameters: Parameters) -> Machine {
    let mut machine = Machine::new(parameters).unwrap();
    machine.start();
    machine
}

/// Counts what reading these lines in this order does, each after so many vectors.
fn counted(parameters: Parameters, vectors: usize, lines: impl Iterator<Item = usize>) -> Counters {
    let mut machine = running(parameters);
    for line in lines {
        machine.work(Work::Vectors(vectors));
        machine.read(line * LINE_BYTES, 4);
    }
    machine.counters()
}

#[test]
fn a_run_has_its_lines_fetched_ahead() {
    const LINES: usize = 20 * 64;
    const SLOW: usize = 40;
    let own = Parameters::cssl();
    let alone = Parameters { streams: None, ..own };
    let (with, without) = (counted(own, SLOW, 0..LINES), counted(alone, SLOW, 0..LINES));
    assert_eq!((without.memory_accesses, without.streamed), (LINES as u64, 0));
    // The first two lines of each page, and what a run begins with.
    assert!((40..80).contains(&with.memory_accesses), "{with:?}");
    // Each of the others comes into the third cache and from there into the secondary one.
    assert!((LINES as u64..2 * LINES as u64).contains(&with.streamed), "{with:?}");
    assert!(with.slots() * 3 < without.slots() * 2, "{} and {}", with.slots(), without.slots());
    let down = counted(own, SLOW, (0..LINES).rev());
    assert!(down.memory_accesses < 80, "{down:?}");
    // A run that is faster than memory finds the prefetcher's miss handlers taken, and misses for itself.
    let fast = counted(own, 2, 0..LINES);
    assert!((200..LINES as u64 / 2).contains(&fast.memory_accesses), "{fast:?}");
}

#[test]
fn lines_in_no_order_are_not_fetched_ahead() {
    // A line of each page, and then one far from it.
    let lines = (0..100).flat_map(|page| [page * 64, page * 64 + 40]);
    let counters = counted(Parameters::cssl(), 2, lines);
    assert_eq!((counters.streamed, counters.memory_accesses), (0, 200));
}

#[test]
fn lines_that_were_fetched_ahead_are_hits_of_the_secondary_or_the_third_cache() {
    let mut machine = running(Parameters::cssl());
    machine.read(0, 4);
    machine.read(LINE_BYTES, 4);
    let before = machine.counters();
    assert_eq!((before.memory_accesses, before.streamed), (2, 2));
    // They have arrived long ago.
    (0..1_000).for_each(|_| machine.work(Work::Visit));
    machine.read(2 * LINE_BYTES, 4);
    let after = machine.counters() - before;
    assert_eq!((after.memory_accesses, after.shared_hits), (0, 0));
    assert!(machine.cycles(after.data_stall_slots) <= 12.0);
}

#[test]
fn the_second_level_has_translations_that_the_first_lacks() {
    let mut machine = running(Parameters::cssl());
    let touch = |machine: &mut Machine, pages: usize| {
        let before = machine.counters();
        (0..pages).for_each(|page| machine.read(page * PAGE_BYTES, 1));
        machine.counters() - before
    };
    let first = touch(&mut machine, 300);
    assert_eq!((first.translation_misses, first.second_translations), (300, 0));
    let again = touch(&mut machine, 300);
    assert_eq!((again.translation_misses, again.second_translations), (0, 300));
    let many = touch(&mut machine, 3_000);
    assert!(many.translation_misses > 2_500, "{many:?}");
}

#[test]
fn a_missing_translation_delays_its_access_alone() {
    let stalled = |second: Option<SecondTranslation>| {
        let own = Parameters::cssl();
        let translation = own.translation.map(|first| Translation { miss_cycles: 500, second, ..first });
        let mut machine = running(Parameters { translation, ..own });
        // More instructions than it has in flight lie behind it.
        (0..200).for_each(|_| machine.work(Work::Visit));
        // Four pages whose addresses are known: their translations are looked up side by side.
        machine.work(Work::Vectors(0));
        (0..4).for_each(|page| machine.read(page * PAGE_BYTES, 4));
        machine.cycles(machine.counters().data_stall_slots)
    };
    let with_two = stalled(Parameters::cssl().translation.and_then(|own| own.second));
    assert!((550.0..575.0).contains(&with_two), "{with_two}");
    assert!(stalled(None) >= 4.0 * 500.0);
}

#[test]
fn a_branch_of_n_ways_is_guessed_rightly_once_in_n() {
    let wrong = |work: Work, times: usize| {
        let mut machine = running(Parameters::cssl());
        (0..times).for_each(|_| machine.work(work));
        machine.counters().mispredictions
    };
    assert_eq!(wrong(Work::Probe, 1_000), 500);
    for (ways, expected) in [(1, 0), (2, 500), (3, 667), (5, 800), (100, 990)] {
        assert!(wrong(Work::Branch(ways), 1_000).abs_diff(expected) <= 1, "{ways} ways");
    }
    assert_eq!(wrong(Work::Compare(16), 1_000), 0);
}

#[test]
fn a_wrong_guess_costs_its_price() {
    let cycles = |work: Work| {
        let mut machine = running(Parameters::cssl());
        (0..100).for_each(|_| machine.work(work));
        machine.cycles(machine.counters().slots())
    };
    assert!((cycles(Work::Branch(2)) - 50.0 * 20.0).abs() < 1e-9);
    let computed = Parameters::cssl_without_branches();
    let mut machine = running(computed);
    (0..100).for_each(|_| machine.work(Work::Branch(2)));
    assert_eq!((machine.counters().mispredictions, machine.counters().slots()), (0, 0));
}
