"""Slices, positions, unions and sums: against `sortedcontainers.SortedDict` where it has them."""

import random

import numpy as np
import pytest
from conftest import run_all

from latchless import DurableIndex, Index, MultiIndex

sortedcontainers = pytest.importorskip("sortedcontainers")
KEYS = {
    "i8": lambda number: number,
    "f8": lambda number: number / 4,
    "str": lambda number: f"{number:05}",
    "tuple": lambda number: (number // 10, str(number % 10)),
}


@pytest.fixture(params=KEYS)
def both(request):
    make, chosen = KEYS[request.param], random.Random(5)
    entries = {make(number): number for number in chosen.sample(range(5000), 2600)}
    return Index(entries), sortedcontainers.SortedDict(entries), make, chosen


def test_slices(both):
    index, model, make, chosen = both
    for _ in range(30):
        low, high = (chosen.choice([None, make(chosen.randrange(5000))]) for _ in range(2))
        keys, values = index[low:high]
        expected = list(model.irange(low, high, (True, False)))
        assert (list(zip(*keys, strict=True)) if isinstance(keys, tuple) else list(keys)) == expected
        assert values.tolist() == [model[key] for key in expected]
    before = len(index)
    low, high = make(1000), make(2000)
    del index[low:high]
    gone = list(model.irange(low, high, (True, False)))
    assert len(index) == before - len(gone)
    assert low not in index
    del index[high:]
    assert list(index) == list(model.irange(None, low, (True, False)))
    del index[:]
    assert len(index) == 0
    for refused in (lambda: index[::2], lambda: index[::-1], lambda: index.__delitem__(slice(None, None, 1))):
        with pytest.raises(ValueError, match="no step"):
            refused()
    with pytest.raises(TypeError):
        index[low:high] = 5


def test_irange_and_islice(both):
    index, model, make, chosen = both
    for _ in range(60):
        low, high = (chosen.choice([None, make(chosen.randrange(5000))]) for _ in range(2))
        if low is not None and high is not None and high < low:
            low, high = high, low
        how = ((chosen.random() < 0.5, chosen.random() < 0.5), chosen.random() < 0.5)
        assert list(index.irange(low, high, *how)) == list(model.irange(low, high, *how))
        start, stop = (chosen.choice([None, chosen.randrange(-2700, 2700)]) for _ in range(2))
        assert list(index.islice(start, stop, how[1])) == list(model.islice(start, stop, how[1]))
    assert list(Index(key_dtype=int, value_dtype=int).islice()) == []


def test_positions(both):
    index, model, make, chosen = both
    for number in chosen.sample(range(5000), 300):
        assert index.bisect_left(make(number)) == model.bisect_left(make(number))
        assert index.bisect_right(make(number)) == model.bisect_right(make(number))
    for _ in range(50):
        at = chosen.randrange(-len(model), len(model))
        assert index.peekitem(index=at) == model.peekitem(at)
        assert index.popitem(index=at) == model.popitem(at)
    for refused in (index.peekitem, index.popitem):
        with pytest.raises(IndexError):
            refused(index=len(index))
    assert index.popitem() == model.popitem()
    assert index.peekitem(False) == model.peekitem(0)


def test_unions(both, tmp_path):
    index, model, make, _ = both
    other = {make(number): -1 for number in range(0, 5000, 7)}
    for theirs in (other, Index(other)):
        assert dict(index | theirs) == dict(model) | other
        assert list(index | theirs) == sorted(dict(model) | other)
    assert dict(other | index) == other | dict(model)
    assert type(other | index) is Index
    assert dict(index) == dict(model)
    same = index
    index |= other
    assert same is index
    assert dict(index) == dict(model) | other
    with pytest.raises(TypeError):
        index | [(1, 2)]
    with DurableIndex(tmp_path, [1, 2], [3, 4]) as durable:
        assert type(durable | {5: 6}) is Index
        durable |= {5: 6}
        assert dict(durable) == {1: 3, 2: 4, 5: 6}


def test_sums():
    counts = Index(key_dtype=str, value_dtype=np.uint8)
    assert [counts.add("a"), counts.add("b", 5), counts.add("a", 250)] == [1, 5, 251]
    with pytest.raises(OverflowError):
        counts.add("a", 5)
    assert counts["a"] == 251
    assert Index([1], [0.5]).add(1, 0.25) == 0.75
    spans = Index(key_dtype=int, value_dtype="m8[s]")
    assert spans.add(1, np.timedelta64(5, "s")) == np.timedelta64(5, "s")
    for refused in (Index([1], ["x"]), Index([1], [True]), Index([1], np.array([1], "M8[s]"))):
        with pytest.raises(TypeError, match="have no sum"):
            refused.add(1)


def test_a_sum_counts_what_others_add_meanwhile():
    counts = Index([7], [1])

    class Five:
        others = 3

        def __radd__(self, before):
            while self.others:
                self.others -= 1
                counts.add(7, 100)
            return before + 5

    assert counts.add(7, Five()) == counts[7] == 306


def test_sums_of_threads():
    counts = Index(key_dtype=int, value_dtype=int)

    def count():
        for number in range(3000):
            counts.add(number % 3)

    run_all(count, count, count)
    assert list(counts.values()) == [3000] * 3


def test_ranks_of_rows(rng):
    keys = rng.integers(0, 50, 400)
    index = MultiIndex(keys)
    assert [index.rank(key) for key in range(-1, 52)] == [int((keys < key).sum()) for key in range(-1, 52)]
    assert index.rank(7.5) == int((keys < 7.5).sum())
