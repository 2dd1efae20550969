"""`asof` against `pandas.merge_asof`, and against a plain search where pandas has no answer."""

import itertools
import threading
import time

import numpy as np
import pytest
from conftest import assert_same, run_all

from latchless import Index

DIRECTIONS = ["backward", "forward", "nearest"]


def plain(keys, values, queries, direction, exact, tolerance):
    """The position of the nearest entry, or -1, by looking at all."""
    del values
    answers = []
    for query in queries.tolist():
        best = None
        for at, key in enumerate(keys.tolist()):
            if key == query and not exact:
                continue
            if (direction == "backward" and key > query) or (direction == "forward" and key < query):
                continue
            distance = abs(key - query)
            if tolerance is not None and distance > tolerance:
                continue
            if best is None or distance < best[0]:  # Of two equally near ones the one before stays.
                best = (distance, at)
        answers.append(-1 if best is None else best[1])
    return np.array(answers)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i2", "u1", "f8", "f4"])
def test_against_a_plain_search(rng, dtype):
    keys = np.unique(rng.integers(0, 120, 40)).astype(dtype)
    values = rng.normal(size=len(keys))
    index = Index(keys, values)
    queries = rng.integers(0, 120, 200).astype(dtype)
    for direction, exact, tolerance in itertools.product(DIRECTIONS, (True, False), (None, 0, 1, 3)):
        at = plain(keys, values, queries, direction, exact, tolerance)
        got = index.asof(queries, direction=direction, allow_exact_matches=exact, tolerance=tolerance)
        assert_same(got[2], at >= 0)
        assert_same(got[0][at >= 0], keys[at[at >= 0]])
        assert_same(got[1], np.where(at >= 0, values[at], np.nan))


def test_distances_over_the_whole_range_of_a_dtype():
    for dtype in ("i8", "u8", "i4", "u4"):
        info = np.iinfo(dtype)
        index = Index(np.array([info.min, info.max], dtype), [1, 2])
        queries = np.array([info.min, info.max // 2 + info.min // 2, info.max - 1], dtype)
        assert index.asof(queries, direction="nearest")[1].tolist() == [1, 1, 2]
        assert index.asof(queries, direction="backward", tolerance=0)[2].tolist() == [True, False, False]
        assert index.asof(queries, direction="forward", tolerance=1)[2].tolist() == [True, False, True]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("tolerance", [None, "5ms", "0ms"])
def test_against_pandas(rng, direction, exact, tolerance):
    pandas = pytest.importorskip("pandas")
    start = np.datetime64("2024-01-01", "ns")
    times = np.unique(start + rng.integers(0, 10**9, 5000).astype("m8[ns]"))
    queries = np.sort(np.concatenate([start + rng.integers(0, 10**9, 4000).astype("m8[ns]"), times[:500]]))
    prices = rng.normal(100, 1, len(times))
    quotes = pandas.DataFrame({"time": times, "quoted": times, "price": prices})
    limit = None if tolerance is None else pandas.Timedelta(tolerance)
    expected = pandas.merge_asof(
        pandas.DataFrame({"time": queries}),
        quotes,
        on="time",
        direction=direction,
        allow_exact_matches=exact,
        tolerance=limit,
    )
    index = Index(times, prices)
    got = index.asof(queries, direction=direction, allow_exact_matches=exact, tolerance=limit)
    assert_same(got[0], expected["quoted"].to_numpy().astype("M8[ns]"))
    assert_same(got[1], expected["price"].to_numpy())
    assert_same(got[2], expected["price"].notna().to_numpy())
    shuffled = rng.permutation(len(queries))
    again = index.asof(
        queries[shuffled], direction=direction, allow_exact_matches=exact, tolerance=limit, threads=2
    )
    assert_same(again[1], got[1][shuffled])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_infinities_are_near_themselves_alone(dtype):
    keys = np.array([-np.inf, -1.0, 0.0, np.inf], dtype)
    index = Index(keys, np.arange(4))
    queries = np.array([-np.inf, np.inf, 1.0, -0.25], dtype)
    assert index.asof(queries, direction="nearest")[1].tolist() == [0, 3, 2, 2]
    assert index.asof(queries, direction="nearest", tolerance=0.5)[2].tolist() == [True, True, False, True]
    assert index.asof(queries, tolerance=np.inf)[1].tolist() == [0, 3, 2, 1]
    assert index.asof(queries, tolerance=-0.0)[2].tolist() == [True, True, False, False]
    near = index.asof(queries, direction="nearest", allow_exact_matches=False)
    assert near[1].tolist() == [1, 2, 2, 2]


@pytest.mark.parametrize("threads", [1, 3])
def test_long_batches_are_the_same_as_short_ones(rng, threads):
    index = Index(np.unique(rng.integers(0, 10**6, 50_000)), 0)
    index.insert_many(*(2 * [index.to_numpy()[0]]))
    queries = rng.integers(-100, 10**6, 10_000)
    for direction in DIRECTIONS:
        whole = index.asof(queries, direction=direction, tolerance=9, threads=threads)
        for at in range(0, len(queries), 777):
            part = index.asof(queries[at : at + 777], direction=direction, tolerance=9)
            for got, expected in zip(part, whole, strict=True):
                assert_same(got, expected[at : at + 777])


def test_tolerances_of_times():
    index = Index(np.array(["2024-01-01"], "M8[s]"), [1])
    query = np.array(["2024-01-01T00:01"], "M8[s]")
    assert index.asof(query, tolerance=np.timedelta64(1, "m"))[2].tolist() == [True]
    assert index.asof(query, tolerance=np.timedelta64(59, "s"))[2].tolist() == [False]


@pytest.mark.parametrize("dtype", ["i8", "u4", "f8", "M8[us]"])
def test_the_nearest_entry_is_that_of_asof(rng, dtype):
    keys = np.unique(rng.integers(0, 3000, 400)).astype(dtype)
    index = Index(keys, np.arange(len(keys)))
    queries = rng.integers(0, 3000, 500).astype(dtype)
    expected = index.asof(queries, direction="nearest")
    for got, its in zip(index.nearest_many(queries), expected, strict=True):
        assert_same(got, its)
    for query, value in zip(queries[:50], expected[1], strict=False):
        assert index.nearest(query) == (index.nth(value)[0], value)
    assert Index(key_dtype=dtype).nearest(queries[0]) is None
    assert not Index(key_dtype=dtype).nearest_many(queries)[2].any()


@pytest.mark.parametrize("value", [1, "a"])
def test_a_near_entry_that_is_on_one_side_or_the_other_is_never_missed(value):
    base = 500_500
    index = Index(np.arange(0, 1_000_000, 1000), value)  # All others are 500 away.
    one, other = np.array([base - 1]), np.array([base + 1])
    index[base - 1] = value
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            index.insert_many(other, value)
            index.remove_many(one)
            index.insert_many(one, value)
            index.remove_many(other)

    def look():
        queries = np.full(4000, base)
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            for exact in (True, False):
                keys, _, found = index.asof(queries, direction="nearest", allow_exact_matches=exact, tolerance=400)
                assert found.all()
                assert (abs(keys - base) == 1).all()
            assert abs(index.nearest(base)[0] - base) == 1

    def look_and_stop():
        try:
            look()
        finally:
            stop.set()

    run_all(swap, look_and_stop)
