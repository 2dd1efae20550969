"""Positions in the order of keys: ranks, entries by position, cuts into equal parts."""

import numpy as np
import pytest

from latchless import Index


@pytest.mark.parametrize("dtype", ["i8", "u4", "f8", "M8[s]"])
@pytest.mark.parametrize("count", [0, 1, 300, 50_000])
def test_positions_against_a_sorted_array(rng, dtype, count):
    keys = np.unique(rng.integers(0, 10**6, count).astype("i8")).astype(dtype)
    index = Index(keys, np.arange(len(keys)))
    queries = rng.integers(0, 10**6, 200).astype("i8").astype(dtype)
    np.testing.assert_array_equal(index.rank_many(queries), np.searchsorted(keys, queries))
    assert index.rank_many(queries).dtype == np.int64
    for query in queries[:20]:
        assert index.rank(query) == np.searchsorted(keys, query)
    for position in (0, len(keys) // 2, len(keys) - 1, -1, -len(keys)):
        if len(keys):
            key, value = index.nth(position)
            assert key == keys[position]
            assert value == position % len(keys)
    for position in (len(keys), -len(keys) - 1, 2**60):
        with pytest.raises(IndexError):
            index.nth(position)


def test_positions_follow_changes(rng):
    index = Index(np.arange(0, 100_000, 2), 0)
    assert index.rank(50_000) == 25_000
    index.insert_many(np.arange(1, 100_000, 2), 0)
    assert index.rank(50_000) == 50_000
    assert index.nth(777) == (777, 0)
    index.remove_range(0, 1000)
    assert index.rank(50_000) == 49_000


def test_parts_are_of_equal_size():
    index = Index(np.arange(10_000), 0)
    for parts in (1, 2, 3, 7, 100):
        points = index.split_points(parts)
        assert len(points) == parts - 1
        sizes = np.diff([0, *index.rank_many(points), len(index)])
        assert sizes.max() - sizes.min() <= 1
    assert Index([1, 2], 0).split_points(10).tolist() == [2]
    with pytest.raises(ValueError, match="parts"):
        index.split_points(0)
