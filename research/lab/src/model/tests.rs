//! The machine as a whole: the cost of accesses.

use super::*;

const FREE: Price = Price { busy: 0, other: 0 };
/// A price list on which one probe is one cycle, and nothing else takes time.
const PROBES_ONLY: Prices = Prices {
    operation: FREE,
    visit: FREE,
    probe: Price { busy: 4, other: 0 },
    search_exit: FREE,
    compare: FREE,
    vector: FREE,
    misprediction: FREE,
    copy: FREE,
    shift: FREE,
    jump: FREE,
    allocate: FREE,
    prefetch: FREE,
    exchange: FREE,
    spin: FREE,
};

fn machine() -> Machine {
    running(Parameters { prices: PROBES_ONLY, ..Parameters::PB_TREE })
}

fn running(parameters: Parameters) -> Machine {
    let mut machine = Machine::new(parameters).unwrap();
    machine.start();
    machine
}

fn data_stalls(machine: &mut Machine, act: impl FnOnce(&mut Machine)) -> f64 {
    let before = machine.counters();
    act(machine);
    let stalled = (machine.counters() - before).data_stall_slots;
    machine.cycles(stalled)
}

fn wait(machine: &mut Machine, cycles: usize) {
    for _ in 0..cycles {
        machine.work(Work::Probe);
    }
}

fn assert_cycles(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 1e-9, "{measured} cycles, not {expected}");
}

/// The address of a line that shares its secondary-cache set with line 0.
fn conflicting(nth: usize) -> usize {
    nth * (2 << 20)
}

/// Touches every page up to 16 MiB in order, so that each address is its own.
fn number_pages(machine: &mut Machine) {
    machine.stop();
    for page in 0..(16 << 20) / PAGE_BYTES {
        machine.read(page * PAGE_BYTES, 1);
    }
    machine.start();
}

#[test]
fn a_miss_takes_150_cycles_and_a_hit_none() {
    let mut machine = machine();
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 150.0);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(60, 4)), 0.0);
    let counters = machine.counters();
    assert_eq!((counters.l1_accesses, counters.l2_accesses, counters.memory_accesses), (2, 1, 1));
}

#[test]
fn what_left_the_primary_cache_comes_from_the_secondary_in_15() {
    let mut machine = machine();
    number_pages(&mut machine);
    for nth in 0..3 {
        machine.read(nth * (32 << 10), 4);
    }
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 15.0);
    assert_eq!(machine.counters().memory_accesses, 3);
}

#[test]
fn a_conflict_in_the_direct_mapped_secondary_cache_throws_a_line_out_of_both() {
    let mut machine = machine();
    number_pages(&mut machine);
    machine.read(0, 4);
    machine.read(conflicting(1), 4);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 150.0);
    assert_eq!(machine.counters().memory_accesses, 3);
}

#[test]
fn a_read_of_a_line_in_flight_waits_for_the_rest_only() {
    let mut machine = machine();
    machine.prefetch(0, 64);
    wait(&mut machine, 100);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 50.0);
    assert_eq!((machine.counters().late_reads, machine.counters().memory_accesses), (1, 1));
}

#[test]
fn a_wide_node_s_lines_come_ten_cycles_apart() {
    let mut machine = machine();
    machine.prefetch(0, 8 * 64);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 150.0);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(64, 4)), 10.0);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(7 * 64, 4)), 60.0);
}

#[test]
fn a_read_that_crosses_lines_reads_both() {
    let mut machine = machine();
    machine.read(60, 8);
    assert_eq!(machine.counters().memory_accesses, 2);
    machine.read(0, 0);
    assert_eq!(machine.counters().l1_accesses, 2, "nothing to read is no access");
}

#[test]
fn misses_that_depend_on_each_other_do_not_overlap() {
    let mut machine = machine();
    let chased = data_stalls(&mut machine, |machine| {
        machine.read(0, 4);
        machine.read(4096, 4);
    });
    assert_cycles(chased, 300.0);
}

#[test]
fn a_store_miss_does_not_wait_but_takes_bandwidth() {
    let mut machine = machine();
    assert_cycles(data_stalls(&mut machine, |machine| machine.write(0, 4)), 0.0);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(4096, 4)), 160.0);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 0.0);
}

#[test]
fn a_store_waits_when_every_miss_handler_is_taken() {
    let mut machine = running(Parameters { miss_handlers: 2, prices: PROBES_ONLY, ..Parameters::PB_TREE });
    let stalled = data_stalls(&mut machine, |machine| {
        for page in 0..3 {
            machine.write(page * PAGE_BYTES, 4);
        }
    });
    assert_cycles(stalled, 150.0);
}

#[test]
fn a_prefetch_without_a_handler_is_delayed_and_nobody_waits() {
    let mut machine = running(Parameters { miss_handlers: 2, prices: PROBES_ONLY, ..Parameters::PB_TREE });
    assert_cycles(data_stalls(&mut machine, |machine| machine.prefetch(0, 3 * 64)), 0.0);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(128, 4)), 300.0);
}

#[test]
fn dirty_lines_are_written_back_and_take_bandwidth() {
    let mut machine = machine();
    number_pages(&mut machine);
    machine.write(0, 4);
    wait(&mut machine, 1000);
    machine.prefetch(conflicting(1), 4);
    assert_eq!(machine.counters().write_backs, 1);
    let behind_fetch_and_write_back = data_stalls(&mut machine, |machine| machine.read(64, 4));
    assert_cycles(behind_fetch_and_write_back, 170.0);
}

#[test]
fn a_line_dirtied_above_is_written_back_from_below() {
    let mut machine = machine();
    number_pages(&mut machine);
    machine.write(0, 4);
    machine.read(32 << 10, 4);
    machine.read(64 << 10, 4);
    machine.read(conflicting(1), 4);
    assert_eq!(machine.counters().write_backs, 1, "the dirt went down with the primary cache's victim");
}

#[test]
fn cleared_caches_are_cold() {
    let mut machine = machine();
    machine.read(0, 4);
    machine.clear_caches();
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(0, 4)), 150.0);
}

#[test]
fn memory_delivers_what_is_in_flight_although_the_caches_are_cleared() {
    let mut machine = machine();
    machine.read(0, 4);
    machine.prefetch(64, 8 * 64);
    machine.clear_caches();
    // Eight accesses of ten cycles each come first.
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(64, 4)), 80.0 + 150.0);
    machine.clear_caches();
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(64, 4)), 150.0);
}

#[test]
fn predictable_work_hides_part_of_the_next_miss() {
    let prices = Prices { copy: Price { busy: 4, other: 0 }, ..PROBES_ONLY };
    let mut machine = running(Parameters { prices, ..Parameters::PB_TREE });
    machine.read(0, 4);
    machine.work(Work::Copy(10));
    let behind_forty_instructions = data_stalls(&mut machine, |machine| machine.read(4096, 4));
    assert_cycles(behind_forty_instructions, 140.0);
    machine.work(Work::Copy(100));
    let behind_a_full_buffer = data_stalls(&mut machine, |machine| machine.read(8192, 4));
    assert_cycles(behind_a_full_buffer, 134.0);
}

#[test]
fn nothing_hides_behind_a_branch_that_cannot_be_predicted() {
    let mut machine = machine();
    machine.read(0, 4);
    wait(&mut machine, 10);
    assert_cycles(data_stalls(&mut machine, |machine| machine.read(4096, 4)), 150.0);
}

#[test]
fn a_binary_search_pays_once_for_leaving_it() {
    let prices = Prices { search_exit: Price { busy: 0, other: 20 }, ..PROBES_ONLY };
    let mut machine = running(Parameters { prices, ..Parameters::PB_TREE });
    wait(&mut machine, 3);
    assert_eq!(machine.counters().other_stall_slots, 0);
    machine.work(Work::Visit);
    machine.work(Work::Visit);
    wait(&mut machine, 3);
    assert_eq!(machine.counters().other_stall_slots, 20);
    machine.work(Work::Operation);
    assert_eq!(machine.counters().other_stall_slots, 40);
}

#[test]
fn time_is_busy_stalled_on_data_or_stalled_otherwise() {
    let mut machine = running(Parameters::PB_TREE);
    machine.read(0, 4);
    machine.work(Work::Probe);
    let (counters, probe) = (machine.counters(), Prices::PB_TREE.probe);
    assert_eq!(counters.busy_slots, probe.busy);
    assert_eq!(counters.other_stall_slots, probe.other);
    assert_eq!(counters.data_stall_slots, 600);
    assert_eq!(counters.slots(), 600 + probe.busy + probe.other);
}

#[test]
fn nothing_takes_time_before_the_start() {
    let mut machine = Machine::new(Parameters::PB_TREE).unwrap();
    machine.read(0, 4);
    machine.work(Work::Probe);
    assert_eq!(machine.counters(), Counters::default());
    assert_eq!(machine.pages(), 1);
}

/// The same touches at any addresses that the allocator and the address space's random layout give.
#[test]
fn results_do_not_depend_on_addresses() {
    let run = |base: usize| {
        let mut machine = running(Parameters::PB_TREE);
        let mut at = 1usize;
        for _ in 0..20_000 {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let address = base + (at >> 40) % (8 << 20);
            match at >> 62 {
                0 => machine.read(address, 8),
                1 => machine.write(address, 8),
                2 => machine.prefetch(address, 256),
                _ => machine.work(Work::Probe),
            }
        }
        machine.counters()
    };
    assert_eq!(run(0x5555_5555_0000), run(0x7fff_0000_0000));
    assert_ne!(run(0).memory_accesses, 0);
}
