"""Neighbours, ranges of many, as-of joins and files of keys in any number of rows."""

import itertools

import numpy as np
import pytest
from conftest import assert_same

from latchless import Index, MultiIndex

SORTS = {
    str: ["", "a", "a\0", "ab", "b", "é", "z" * 40],
    "i8": [-5, 0, 3, 4, 1 << 40],
    "f8": [-1.5, 0.0, 2.25, float("inf")],
    "M8[s]": [np.datetime64(number, "s") for number in (-7, 0, 5, 1 << 33)],
    (str, "i4"): [("a", 1), ("a", 2), ("a\0", 0), ("b", -1)],
}


@pytest.fixture(params=list(SORTS), ids=str)
def pairs(request, rng):
    """A type of keys, all keys, and the pairs of some of them, sorted."""
    keys = SORTS[request.param]
    some = [keys[at] for at in rng.integers(0, len(keys), 40).tolist() if at % 4 != 1]
    return request.param, keys, sorted(zip(some, rng.permutation(len(some)).tolist(), strict=True))


@pytest.fixture
def rows_of(pairs):
    kind, _, its = pairs
    return MultiIndex([key for key, _ in its], [row for _, row in its], key_dtype=kind)


def near(its, key, name):
    """The neighbour of a key among sorted pairs."""
    sides = {
        "floor": [pair for pair in its if pair[0] <= key][-1:],
        "lower": [pair for pair in its if pair[0] < key][-1:],
        "ceiling": [pair for pair in its if pair[0] >= key][:1],
        "higher": [pair for pair in its if pair[0] > key][:1],
    }
    return next(iter(sides[name]), None)


@pytest.mark.parametrize("name", ["floor", "lower", "ceiling", "higher"])
def test_neighbours(pairs, rows_of, name):
    _, keys, its = pairs
    expected = [near(its, key, name) for key in keys]
    assert [getattr(rows_of, name)(key) for key in keys] == expected
    _, rows, found = getattr(rows_of, f"{name}_many")(keys)
    assert found.tolist() == [pair is not None for pair in expected]
    assert rows.tolist() == [-1 if pair is None else pair[1] for pair in expected]
    assert rows_of.distinct_keys() == len({key for key, _ in its})


def test_many_ranges(pairs, rows_of):
    _, keys, its = pairs
    lows, highs = zip(*itertools.product(keys, keys), strict=True)
    lows, highs = list(lows), list(highs)
    inside = [[pair for pair in its if low <= pair[0] < high] for low, high in zip(lows, highs, strict=True)]
    offsets, _, rows = rows_of.range_many(lows, highs)
    assert np.diff(offsets).tolist() == [len(some) for some in inside]
    assert rows.tolist() == [row for some in inside for _, row in some]
    assert_same(rows_of.count_many(lows, highs), np.diff(offsets))
    both = [sum(low <= key <= high for key, _ in its) for low, high in zip(lows, highs, strict=True)]
    assert rows_of.count_many(lows, highs, closed="both").tolist() == both
    with pytest.raises(ValueError, match="1 low ends but 2 high ends"):
        rows_of.range_many(keys[:1], keys[:2])


def test_pairs_are_popped_from_both_ends(pairs, rows_of):
    _, _, its = pairs
    assert rows_of.popitem() == its.pop()
    assert rows_of.popitem(last=False) == its.pop(0)
    assert len(rows_of) == len(its)
    with pytest.raises(KeyError, match="empty"):
        MultiIndex().popitem()


def test_files(pairs, rows_of, tmp_path):
    path = tmp_path / "rows.arrow"
    assert rows_of.save(path) == len(rows_of)
    opened = MultiIndex.open(path)
    assert opened == rows_of
    assert opened.key_dtype == rows_of.key_dtype
    assert MultiIndex.open(path, key_dtype=pairs[0]) == rows_of
    with pytest.raises(ValueError, match="keys of"):
        MultiIndex.open(path, key_dtype="u1")
    with pytest.raises(ValueError, match="MultiIndex.open opens it"):
        Index.open(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=".+"):
        MultiIndex.open(path)
    Index([1], [1]).save(path)
    with pytest.raises(ValueError, match=".+"):
        MultiIndex.open(path)


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("tolerance", [None, "3s"])
@pytest.mark.parametrize("by", [None, "symbol"])
def test_asof_keeps_equal_times(rng, direction, exact, tolerance, by):
    """Of several quotes of one time pandas takes the last one backward and the first one forward."""
    pandas = pytest.importorskip("pandas")

    def side(count, names):
        times = np.sort(np.datetime64("2024-01-01", "s") + rng.integers(0, 60, count).astype("m8[s]"))
        return pandas.DataFrame({"time": times, "symbol": np.array(names)[rng.integers(0, len(names), count)]})

    quotes, trades = side(200, ["A", "AB", "C"]), side(150, ["A", "C", "D"])
    quotes["row"] = np.arange(len(quotes))
    limit = None if tolerance is None else pandas.Timedelta(tolerance)
    how = {"direction": direction, "allow_exact_matches": exact, "tolerance": limit}
    its = quotes if by else quotes.drop(columns="symbol")
    expected = pandas.merge_asof(trades, its, on="time", by=by, **how)["row"]
    index = MultiIndex((quotes["symbol"], quotes["time"]) if by else quotes["time"])
    _, rows, found = index.asof(trades["time"], by=trades["symbol"] if by else None, **how)
    assert_same(found, expected.notna())
    assert_same(rows, expected.fillna(-1).astype(np.int64))


def test_duplicates_that_are_kept_are_those_of_a_multi_index():
    for work in (
        lambda: Index([1, 1], 0, duplicates="keep"),
        lambda: Index([1], 0).insert_many([1], 0, duplicates="keep"),
    ):
        with pytest.raises(ValueError, match="a MultiIndex has all rows of a key"):
            work()
