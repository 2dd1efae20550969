"""Several Python threads on one object at once: indexes, iterators, arrays, files.

On an interpreter without a global lock they run at the same time; on others they alternate.
"""

import copy
import gc
import pickle
import threading
import time
import weakref
from itertools import chain

import numpy as np
import pytest
from conftest import in_child, run_all

from latchless import BytesIndex, DurableIndex, Index, StringIndex

THREADS = 4


def text(number):
    return f"key/{number:08}"


def octets(number):
    return text(number).encode()


MADE = {"wide": (Index, int), "narrow": (lambda: Index(key_dtype="i4", value_dtype="i4"), int)}
MADE |= {"str": (StringIndex, text), "bytes": (BytesIndex, octets)}


@pytest.fixture(params=MADE)
def made(request):
    """An empty index, and what makes a key of a number."""
    index, key = MADE[request.param]
    return index(), key


def until(done, work):
    """Does something again and again until it is done elsewhere."""

    def again():
        rounds = 0
        while not done.is_set():
            work(rounds)
            rounds += 1

    return again


def then(done, work):
    """Does something, and then reports it."""

    def once():
        try:
            work()
        finally:
            done.set()

    return once


# ---- one entry ----


def test_no_increment_is_lost(made):
    index, key = made
    index[key(7)] = 0

    def increment():
        for _ in range(3000):
            while True:
                before = index[key(7)]
                if index.compare_exchange(key(7), before, before + 1):
                    break

    run_all(*[increment] * THREADS)
    assert index[key(7)] == 3000 * THREADS


def test_each_key_is_set_by_one_thread_and_taken_by_one(made):
    index, key = made
    set_by = [[] for _ in range(THREADS)]
    taken_by = [[] for _ in range(THREADS)]

    def contend(thread):
        for number in range(2000):
            if index.setdefault(key(number), thread) == thread:
                set_by[thread].append(number)
        everybody.wait()
        for number in range(0, 2000, 2):
            if index.pop(key(number), None) is not None:
                taken_by[thread].append(number)
        everybody.wait()
        while True:
            try:
                taken_by[thread].append(int(str(index.popitem(last=thread % 2 == 0)[0])[-9:].strip("'/")))
            except KeyError:
                break

    everybody = threading.Barrier(THREADS)
    run_all(*(lambda thread=thread: contend(thread) for thread in range(THREADS)))
    assert sorted(chain(*set_by)) == list(range(2000))
    assert sorted(chain(*taken_by)) == list(range(2000))
    assert len(index) == 0
    index.check_invariants()


def test_readers_see_whole_entries_while_writers_write(made):
    index, key = made
    done = threading.Event()
    for number in range(0, 3000, 3):
        index[key(number)] = number * 5

    def write():
        rng = np.random.default_rng(3)
        for _ in range(6):
            for number in rng.permutation(3000)[:1500]:
                if number % 3:
                    index[key(number)] = int(number) * 5
            for number in rng.permutation(3000)[:1500]:
                if number % 3:
                    index.pop(key(number), None)

    def read(rounds):
        number = rounds * 7 % 3000
        value = index.get(key(number))
        assert value == number * 5 or (value is None and number % 3)
        _, value = index.floor(key(number))
        assert value in (number * 5, number // 3 * 3 * 5, (number // 3 * 3 + 1) * 5)
        assert index.peekitem(last=False) == (key(0), 0)
        if rounds % 50 == 0:
            keys, values = index.range(key(0), key(600))
            seen = dict(zip(list(keys), values.tolist(), strict=True))
            assert all(seen[key(number)] == number * 5 for number in range(0, 600, 3))

    run_all(then(done, write), *[until(done, read)] * 2)
    index.check_invariants()


# ---- iterators ----


@pytest.mark.parametrize("view", ["keys", "values", "items"])
@pytest.mark.parametrize("reverse", [False, True])
def test_threads_share_an_iterator(made, view, reverse):
    index, key = made
    count = 12_000
    index.insert_many([key(number) for number in range(count)], range(count))
    for _ in range(3):
        view_of = getattr(index, view)()
        shared = reversed(view_of) if reverse else iter(view_of)
        seen = [[] for _ in range(THREADS)]
        run_all(*(lambda items=items, shared=shared: items.extend(shared) for items in seen))
        expected = list(view_of)
        assert sorted(chain(*seen)) == expected
        assert len(expected) == count
        for items in seen:
            assert items == sorted(items, reverse=reverse)
        assert next(shared, None) is None


@pytest.mark.parametrize("cls", [Index, StringIndex])
def test_an_iterator_keeps_its_index_and_no_longer_than_it_is_there(cls):
    index = cls([text(number) for number in range(5000)] if cls is StringIndex else range(5000), 1)
    its, shared = weakref.ref(index), [iter(index)]
    del index
    seen = [[], []]
    run_all(lambda: seen[0].extend(shared[0]), lambda: seen[1].extend(shared[0]))
    assert len(seen[0]) + len(seen[1]) == 5000
    assert its() is not None
    shared.clear()
    gc.collect()
    assert its() is None


def test_a_page_that_fails_ends_nothing():
    class Failing(Index):
        fails = False

        def range(self, *ends, **options):
            if self.fails:
                raise RuntimeError("not now")
            return super().range(*ends, **options)

    index = Failing(range(3000), 0)
    shared = iter(index)
    assert next(shared) == 0
    index.fails = True
    with pytest.raises(RuntimeError, match="not now"):
        list(shared)
    index.fails = False
    assert list(shared) == list(range(1024, 3000))


# ---- arrays that change meanwhile ----


def test_keys_that_another_thread_writes_are_each_read_once():
    """A lookup of `k` finds `3 * k`; whichever key was read, value and found belong together."""
    index = Index(np.arange(0, 200_000, 2), np.arange(0, 200_000, 2) * 3)
    keys = np.arange(100_000)
    lows, highs = keys.copy(), keys + 10
    done = threading.Event()

    def scribble(rounds):
        keys[:] = np.roll(keys, 1)
        lows[::3] += 1 if rounds % 2 else -1
        keys[rounds % len(keys)] = rounds % 300_000

    def ask():
        values, found = np.empty(len(keys), np.int64), np.empty(len(keys), bool)
        for _ in range(10):
            its, flags = index.get_many(keys, default=-1)
            assert ((its % 6 == 0) & (its >= 0) | ~flags).all()
            assert (its[~flags] == -1).all()
            index.get_many(keys, -1, out=values, found=found, threads=2)
            assert (values[~found] == -1).all()
            near, its, flags = index.asof(keys, direction="nearest", tolerance=5)
            assert (near * 3 == its)[flags].all()
            offsets, near, its = index.range_many(lows, highs)
            assert (np.diff(offsets) >= 0).all()
            assert offsets[-1] == len(near) == len(its)
            assert (near * 3 == its).all()
            assert (index.count_many(lows, highs) <= 8).all()
            assert (index.rank_many(keys) <= 100_000).all()
            index.contains_many(keys)

    run_all(then(done, ask), until(done, scribble))


@pytest.mark.parametrize("threads", [1, 2])
def test_entries_that_another_thread_writes_go_in_as_they_were_or_as_they_are(threads):
    keys, values = np.arange(60_000)[::-1].copy(), np.zeros(60_000, np.int64)
    done = threading.Event()

    def scribble(rounds):
        keys[rounds % 1000 :: 1000] ^= 1 << 20
        values[:] = rounds

    def insert():
        for _ in range(10):
            index = Index()
            index.insert_many(keys, values, threads=threads)
            index.check_invariants()
            assert set((index.to_numpy()[0] & ~(1 << 20)).tolist()) <= set(range(60_000))
            assert len(index) <= 60_000
            built = Index(keys, values)
            built.check_invariants()
            built.remove_many(keys, threads=threads)
            built.check_invariants()

    run_all(then(done, insert), until(done, scribble))


def test_threads_share_arrays_for_answers():
    index = Index(range(50_000), range(50_000))
    keys = np.arange(50_000)
    out, found = np.empty(50_000, np.int64), np.empty(50_000, bool)

    def ask():
        for _ in range(20):
            assert index.get_many(keys, out=out, found=found)[0] is out

    run_all(*[ask] * THREADS)
    np.testing.assert_array_equal(out, keys)
    assert found.all()


def test_lists_grow_and_shrink_meanwhile():
    index, keys = StringIndex([text(number) for number in range(2000)], range(2000)), []
    done = threading.Event()

    def change(rounds):
        if rounds % 3:
            keys.extend(text(number) for number in range(200))
        else:
            del keys[len(keys) // 4 :]

    def ask():
        for _ in range(300):
            values, found = index.get_many(keys)
            assert found.all()
            assert len(values) == 0 or values.max() < 200

    run_all(then(done, ask), until(done, change))


# ---- the whole index ----


def test_everything_at_once(made, tmp_path):
    """Untouched entries are in every copy, pickle, file, stream and count."""
    index, key = made
    kept = list(range(0, 4000, 4))
    index.insert_many([key(number) for number in kept], kept)
    done = threading.Event()

    def write(rounds):
        some = [number for number in range(rounds % 7, 4000, 7) if number % 4]
        index.insert_many([key(number) for number in some], some)
        index.remove_many([key(number) for number in some[::2]])
        index.remove_range(key(1), key(4), closed="left")
        if index.key_dtype in (str, bytes):
            index.remove_prefix(key(2001))

    def has_what_was_kept(its):
        values, found = its.get_many([key(number) for number in kept])
        assert found.all()
        assert values.tolist() == kept

    def whole():
        for at in range(6):
            has_what_was_kept(index.copy())
            has_what_was_kept(copy.deepcopy(index))
            has_what_was_kept(pickle.loads(pickle.dumps(index, protocol=5)))
            assert len(repr(index)) > 50
            assert (index == index.copy()) in (True, False)
            assert {key(number) for number in kept} <= set(index)
            assert index.stats()["leaves"] > 0
            assert index.nbytes >= index.live_nbytes > 0
            pytest.importorskip("pyarrow")
            has_what_was_kept(type(index).from_arrow(index))
            path = tmp_path / f"{threading.get_ident()}-{at}.arrow"
            assert index.save(path) is None or path.exists()
            has_what_was_kept(Index.open(path))
            assert index.rank(key(0)) == 0
            index.split_points(3)

    run_all(then(done, whole), until(done, write), until(done, write))
    index.check_invariants()


def test_an_index_is_cleared_while_others_use_it(made):
    index, key = made
    done = threading.Event()
    keys = [key(number) for number in range(3000)]

    def use(_):
        index.insert_many(keys, range(3000))
        assert set(index.values()) <= set(range(3000))
        values, found = index.get_many(keys)
        assert (values[found] == np.flatnonzero(found)).all()

    def clear():
        for _ in range(40):
            index.clear()
            time.sleep(0.002)

    run_all(then(done, clear), until(done, use), until(done, use))
    index.clear()
    assert (len(index), list(index)) == (0, [])
    index.check_invariants()


def test_indexes_are_dropped_while_others_are_made(made):
    index, key = made
    shelf = [index] * 8

    def replace(thread):
        rng = np.random.default_rng(thread)
        for _ in range(150):
            place = int(rng.integers(len(shelf)))
            its = shelf[place]
            its[key(thread)] = 1
            assert its[key(thread)] == 1
            shelf[place] = its.copy()
            assert all(value == 1 for value in its.values())

    run_all(*(lambda thread=thread: replace(thread) for thread in range(THREADS)))
    for its in shelf:
        its.check_invariants()


def test_a_directory_is_closed_while_others_write(tmp_path):
    for at in range(5):
        directory = tmp_path / str(at)
        index = DurableIndex(directory, sync="never")
        acknowledged, refusals = [[] for _ in range(THREADS)], []

        def write(thread, index=index, acknowledged=acknowledged, refusals=refusals):
            for number in range(100_000):
                key = number * THREADS + thread
                try:
                    index[key] = key
                except ValueError as error:
                    refusals.append(str(error))
                    return
                acknowledged[thread].append(key)

        def close(index=index):
            time.sleep(0.02)
            index.close()

        works = [lambda thread=thread, write=write: write(thread) for thread in range(THREADS)]
        run_all(*works, close, close)
        assert index.closed
        assert refusals == ["the index is closed"] * THREADS
        again = DurableIndex(directory)
        assert again.contains_many(np.array([*chain(*acknowledged)], np.int64)).all()
        again.close()


# ---- forks and collections of garbage, which stop all threads ----


def test_forks_amid_single_operations_and_collections(made):
    """A thread that waits for a fork must let itself be stopped, or the fork waits for it for ever."""
    index, key = made
    done = threading.Event()
    keys = [key(number) for number in range(200)]

    def touch(rounds):
        number = rounds % 200
        index[keys[number]] = number
        index.get(keys[number])
        if rounds % 3 == 0:
            index.pop(keys[number], None)

    def child():
        for number, its in enumerate(keys):
            index[its] = number
        assert len(index) == 200
        index.check_invariants()

    def fork():
        for _ in range(40):
            in_child(child)

    run_all(then(done, fork), until(done, touch), until(done, touch), until(done, lambda _: gc.collect(0)))
    index.check_invariants()


def test_threads_fork_at_once():
    index = Index(range(1000), 0)

    def fork():
        for _ in range(15):
            in_child(lambda: index.insert_many(range(2000), 1))
            index.get_many(np.arange(5000))

    run_all(*[fork] * 3)
    assert len(index) == 1000
    index.check_invariants()
