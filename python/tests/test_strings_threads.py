"""Indexes of strings: threads, forks and signals."""

import random
import threading
import time

import numpy as np
import pytest
from conftest import Stopped, assert_stops_early, forks_amid, in_child, refused_by_a_signal, run_all

from latchless import BytesIndex, StringIndex


def many(count, seed=1):
    """Distinct keys that begin alike, in any order, as an array: no object is made of them."""
    order = np.random.default_rng(seed).permutation(count)
    return np.char.add("https://example.org/", order.astype("U9"))


@pytest.mark.parametrize("made", [StringIndex, BytesIndex], ids=["str", "bytes"])
def test_threads_share_an_index(made):
    index, own = made(), 4

    def work(thread):
        rng = random.Random(thread)
        for _ in range(12):
            numbers = [rng.randrange(5_000) * own + thread for _ in range(1500)]
            texts = [f"{'x' * (number % 40)}/{number}" for number in numbers]
            keys = texts if made is StringIndex else [text.encode() for text in texts]
            index.insert_many(keys, numbers)
            values, found = index.get_many(keys)
            assert found.all()
            np.testing.assert_array_equal(values, numbers)
            gone = list(dict.fromkeys(keys[:100]))
            assert index.remove_many(gone) == len(gone)
            assert not index.contains_many(gone).any()
            for key, value in zip(*index.range(keys[0], limit=300), strict=True):
                assert int(key.rpartition("/" if made is StringIndex else b"/")[2]) == value
            for name in ("floor", "higher"):
                near = getattr(index, name)(keys[-1])
                assert near is None or len(near[0]) > 1
            index.count(keys[0], keys[1])
            index[keys[0]] = numbers[0]
            assert index.pop(keys[0]) == numbers[0]

    run_all(*(lambda thread=thread: work(thread) for thread in range(own)))
    index.check_invariants()
    keys = list(index)
    assert keys == sorted(set(keys))
    assert len(keys) == len(index)


def test_other_threads_go_on_during_a_batch():
    keys = many(300_000)
    index = StringIndex(keys, 0)
    ticks, spans, done = [], [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())

    def ask():
        column = np.tile(keys, 4)
        for batch in (lambda: index.get_many(column), lambda: index.insert_many(column, 1)):
            started = time.perf_counter()
            batch()
            spans.append((started, time.perf_counter()))
        done.set()

    run_all(tick, ask)
    for started, ended in spans:
        # Had the batch held the lock, there would be a tick now and then, when it copies its keys, or none.
        assert sum(started < when < ended for when in ticks) > 100


def test_lists_may_change_after_a_batch_has_begun():
    """A batch works with a copy of its keys."""
    keys = [f"{at:07}" for at in range(200_000)]
    index, changing = StringIndex(keys, range(len(keys))), list(keys)
    done = threading.Event()

    def change():
        while not done.is_set():
            changing[random.randrange(len(changing))] = "absent"

    def ask():
        for _ in range(5):
            values, found = index.get_many(changing)
            np.testing.assert_array_equal(values[found], np.flatnonzero(found))
        done.set()

    run_all(change, ask)


def test_a_forked_child_goes_on():
    index = StringIndex(many(10_000), 1)

    def child():
        assert index.get_many(many(10_000), threads=2)[1].all()
        index.insert_many(many(20_000), 5)
        assert len(index) == 20_000
        index.check_invariants()

    index.get_many(many(10_000), threads=2)
    in_child(child)
    assert len(index) == 10_000


@pytest.mark.slow
def test_forks_amid_batches_of_other_threads():
    keys = many(20_000)
    index = StringIndex(keys[::2], 0)

    def write(seed, done):
        rng = np.random.default_rng(seed)
        while not done.is_set():
            some = rng.choice(keys, 5_000)
            index.insert_many(some, seed)
            index.remove_many(some[::2])

    def child():
        index.insert_many(keys, 9)
        assert len(index) == 20_000
        index.check_invariants()

    forks_amid(write, child, 30)
    index.check_invariants()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_ends_a_long_lookup(alarm, threads):
    index = StringIndex(many(200_000), 0)
    queries = np.tile(many(200_000, 2), 10)
    alarm(0.3)
    with pytest.raises(Stopped):
        for _ in range(50):
            index.get_many(queries, threads=threads)
    alarm(0)
    index.check_invariants()


def test_a_signal_ends_a_long_insert_and_says_what_was_not_done(alarm):
    keys = many(600_000)
    index = StringIndex()

    def delays():
        for delay in np.tile([0.5, 0.3, 0.2, 0.7, 1.0, 0.1], 4):
            index.clear()
            yield delay

    refused = refused_by_a_signal(alarm, delays(), lambda: index.insert_many(keys, 0), len(keys))
    np.testing.assert_array_equal(np.flatnonzero(~index.contains_many(keys)), refused)
    index.check_invariants()


@pytest.mark.slow
def test_a_signal_ends_a_build(alarm):
    keys = many(1_500_000)
    assert_stops_early(alarm, lambda: StringIndex(keys, 0), after=0.5, within=0.9)


def test_ctrl_c_is_a_keyboard_interrupt(ctrl_c):
    index = StringIndex(many(300_000), 0)
    ctrl_c(0.2)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(50):
            index.range()
            index.get_many(many(300_000, 3))
    index.check_invariants()
