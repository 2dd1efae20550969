"""Every operation, for every dtype, against NumPy's arrays and Python's dicts."""

import itertools

import numpy as np
import pytest
from conftest import KEY_DTYPES, VALUE_DTYPES, assert_same, model_of, random_column

from latchless import Index

PAIRS = (
    [(key, "i8") for key in KEY_DTYPES]
    + [(key, "f4") for key in KEY_DTYPES]
    + [(key, value) for key in ("i8", "f8", "i2") for value in VALUE_DTYPES]
    + [("bool", "bool"), ("bool", "f8")]
)
COUNT = 3000


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def columns(request, rng):
    key_dtype, value_dtype = request.param
    return random_column(rng, key_dtype, COUNT), random_column(rng, value_dtype, COUNT)


@pytest.fixture
def index(columns):
    keys, values = columns
    return Index(keys[: COUNT // 2], values[: COUNT // 2])


@pytest.fixture
def model(columns):
    keys, values = columns
    return model_of(keys[: COUNT // 2], values[: COUNT // 2])


def missing(dtype):
    if dtype.kind == "f":
        return dtype.type(np.nan)
    return np.array("NaT", dtype)[()] if dtype.kind in "Mm" else dtype.type(0)


def neighbours(model, keys, side, exact):
    """The nearest entries before or after the keys, by binary search."""
    ours, values = model
    if side == "before":
        at = np.searchsorted(ours, keys, "right" if exact else "left") - 1
        found = at >= 0
    else:
        at = np.searchsorted(ours, keys, "left" if exact else "right")
        found = at < len(ours)
    at = np.where(found, at, 0)
    near, its = ours[at].copy(), values[at].copy()
    near[~found], its[~found] = missing(ours.dtype), missing(values.dtype)
    return near, its, found


def test_all_entries(index, model):
    keys, values = index.to_numpy()
    assert_same(keys, model[0])
    assert_same(values, model[1])
    assert len(index) == len(model[0])
    index.check_invariants()


def test_words_are_as_narrow_as_they_can_be(index):
    wide = max(index.key_dtype.itemsize, index.value_dtype.itemsize) > 4
    assert index.stats()["bits"] == (64 if wide else 32)


@pytest.mark.parametrize("assume_sorted", [False, True])
@pytest.mark.parametrize("fill", [0.3, 1.0])
def test_loads(model, assume_sorted, fill):
    index = Index(*model, assume_sorted=assume_sorted, fill=fill)
    assert_same(index.to_numpy()[0], model[0])
    assert_same(index.to_numpy()[1], model[1])


def test_lookups(index, model, columns):
    keys = columns[0]
    at = np.minimum(np.searchsorted(model[0], keys), len(model[0]) - 1)
    found = model[0][at] == keys
    values = np.where(found, model[1][at], missing(model[1].dtype))
    got, got_found = index.get_many(keys)
    assert_same(got_found, found)
    assert_same(got, values.astype(model[1].dtype))
    assert_same(index.contains_many(keys), found)
    out, flags = np.empty(2 * COUNT, model[1].dtype)[::2], np.empty(2 * COUNT, bool)[::2]
    index.get_many(keys, out=out, found=flags)
    assert_same(out, got)
    assert_same(flags, found)
    default = model[1][0]
    assert_same(index.get_many(keys, default)[0], np.where(found, model[1][at], default).astype(default.dtype))


def test_threads_give_the_same(index, columns):
    keys = np.tile(columns[0], 5)
    for many in (index.get_many, index.floor_many, index.higher_many):
        for one, several in zip(many(keys), many(keys, threads=3), strict=True):
            assert_same(several, one)


def test_neighbours(index, model, columns):
    for keys in (columns[0], np.sort(columns[0]), columns[0][:1], columns[0][:300]):
        for name, side, exact in (
            ("floor", "before", True),
            ("lower", "before", False),
            ("ceiling", "after", True),
            ("higher", "after", False),
        ):
            expected = neighbours(model, keys, side, exact)
            for got, model_column in zip(getattr(index, f"{name}_many")(keys), expected, strict=True):
                assert_same(got, model_column)


def test_single_neighbours(index, model, columns):
    for key in columns[0][::97]:
        for name, side, exact in (
            ("floor", "before", True),
            ("lower", "before", False),
            ("ceiling", "after", True),
            ("higher", "after", False),
        ):
            near, value, found = neighbours(model, np.array([key]), side, exact)
            got = getattr(index, name)(key)
            if found[0]:
                assert got is not None
                np.testing.assert_array_equal(got[0], near[0])
                np.testing.assert_array_equal(got[1], value[0])
            else:
                assert got is None


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_ranges(index, model, rng, closed):
    keys, values = model
    bounds = [None, *rng.choice(keys, 6), keys[0], keys[-1]]
    for low, high in itertools.product(bounds, bounds):
        inside = np.ones(len(keys), bool)
        if low is not None:
            inside &= keys >= low if closed in ("left", "both") else keys > low
        if high is not None:
            inside &= keys <= high if closed in ("right", "both") else keys < high
        got = index.range(low, high, closed=closed)
        assert_same(got[0], keys[inside])
        assert_same(got[1], values[inside])
        assert index.count(low, high, closed=closed) == inside.sum()
        backwards = index.range(low, high, closed=closed, reverse=True, limit=7)
        assert_same(backwards[0], keys[inside][::-1][:7])
        assert_same(backwards[1], values[inside][::-1][:7])
        for limit in (0, 1, 5, 10**9):
            assert_same(index.range(low, high, closed=closed, limit=limit)[0], keys[inside][:limit])


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_many_ranges(index, model, rng, closed):
    keys, _values = model
    lows, highs = rng.choice(keys, 200), rng.choice(keys, 200)
    offsets, got_keys, got_values = index.range_many(lows, highs, closed=closed)
    assert (offsets.dtype, len(offsets), offsets[0]) == (np.int64, 201, 0)
    for at, (low, high) in enumerate(zip(lows, highs, strict=True)):
        expected = index.range(low, high, closed=closed)
        assert_same(got_keys[offsets[at] : offsets[at + 1]], expected[0])
        assert_same(got_values[offsets[at] : offsets[at + 1]], expected[1])
    assert offsets[-1] == len(got_keys) == len(got_values)
    assert_same(index.count_many(lows, highs, closed=closed), np.diff(offsets))


@pytest.mark.parametrize("threads", [1, 3])
def test_inserts_and_removals(columns, threads):
    keys, values = columns
    index = Index(key_dtype=keys.dtype, value_dtype=values.dtype)
    half = COUNT // 2
    assert index.insert_many(keys[:half], values[:half], threads=threads) == len(np.unique(keys[:half]))
    new = len(np.unique(keys)) - len(np.unique(keys[:half]))
    assert index.insert_many(keys[half:], values[half:], threads=threads) == new
    expected = model_of(keys, values)
    assert_same(index.to_numpy()[0], expected[0])
    assert_same(index.to_numpy()[1], expected[1])
    gone = np.unique(keys[: half // 2])
    assert index.remove_many(keys[: half // 2], threads=threads) == len(gone)
    stays = ~np.isin(expected[0], gone)
    assert_same(index.to_numpy()[0], expected[0][stays])
    assert_same(index.to_numpy()[1], expected[1][stays])
    index.check_invariants()


@pytest.mark.parametrize("dtype", ["i8", "u4", "f8", "M8[ns]"])
@pytest.mark.parametrize("threads", [1, 4])
def test_large_batches_are_sorted_and_the_last_of_equal_keys_stays(rng, dtype, threads):
    keys = random_column(rng, dtype, 50_000, distinct=20_000)
    values = np.arange(50_000)
    index = Index(key_dtype=dtype)
    assert index.insert_many(keys, values, threads=threads) == len(np.unique(keys))
    expected = model_of(keys, values)
    assert_same(index.to_numpy()[0], expected[0])
    assert_same(index.to_numpy()[1], expected[1])


def below(rng, high, count):
    return rng.integers(0, high, count, dtype="u8")


SPREADS = {
    "even": lambda rng, count: below(rng, 2**64, count),
    "equal": lambda rng, count: np.full(count, 2**63 + 5, "u8"),
    "two": lambda rng, count: rng.choice(np.array([0, 2**64 - 1], "u8"), count),
    "tenants": lambda rng, count: below(rng, 40, count) << 40 | below(rng, 999, count),
    "clusters": lambda rng, count: below(rng, 2, count) << 62 | below(rng, 99, count),
    "skewed": lambda rng, count: 2 ** below(rng, 63, count) + below(rng, 100, count),
    "one far away": lambda rng, count: np.array([*range(count, 1, -1), 2**64 - 1], "u8"),
    "nearly ascending": lambda rng, count: np.arange(count, dtype="u8") ^ below(rng, 8, count),
}
"""Ways in which keys are spread: what is sorted by their leading bytes alone, and what isn't."""


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("threads", [1, 3])
def test_large_batches_however_keys_are_spread(rng, spread, threads):
    keys = SPREADS[spread](rng, 30_000)
    values = np.arange(len(keys))
    expected = model_of(keys, values)
    filled = Index(key_dtype="u8")
    assert filled.insert_many(keys, values, threads=threads) == len(expected[0])
    for index in (filled, Index(keys, values)):
        assert_same(index.to_numpy()[0], expected[0])
        assert_same(index.to_numpy()[1], expected[1])


def test_one_value_for_all(columns):
    keys, values = columns
    index = Index(keys, values[0])
    assert_same(index.to_numpy()[1], np.full(len(index), values[0]))
    index.insert_many(keys[:10], values[1])
    assert_same(index.get_many(keys[:10])[0], np.full(10, values[1]))


def test_range_removal(index, model):
    keys, _ = model
    low, high = keys[len(keys) // 4], keys[len(keys) // 2]
    inside = (keys >= low) & (keys < high)
    assert index.remove_range(low, high) == inside.sum()
    assert_same(index.to_numpy()[0], keys[~inside])
    assert index.remove_range() == (~inside).sum()
    assert len(index) == 0


def test_the_mapping_protocol_against_a_dict(columns):
    keys, values = (list(column) if column.dtype.kind in "Mm" else column.tolist() for column in columns)
    index = Index(key_dtype=columns[0].dtype, value_dtype=columns[1].dtype)
    model = {}
    for step, (key, value) in enumerate(zip(keys[:800], values[:800], strict=True)):
        match step % 5:
            case 0 | 1:
                index[key] = model[key] = value
            case 2:
                assert index.pop(key, None) == model.pop(key, None)
            case 3:
                assert index.setdefault(key, value) == model.setdefault(key, value)
            case 4:
                assert index.get(key) == model.get(key)
                assert (key in index) == (key in model)
    ordered = sorted(model.items())
    assert len(index) == len(model)
    assert list(index) == [key for key, _ in ordered]
    assert list(index.keys()) == [key for key, _ in ordered]
    assert list(index.values()) == [value for _, value in ordered]
    assert list(index.items()) == ordered
    assert list(reversed(index)) == [key for key, _ in reversed(ordered)]
    assert list(reversed(index.items())) == ordered[::-1]
    assert list(reversed(index.values())) == [value for _, value in reversed(ordered)]
    assert index == model
    assert model == index
    assert (index.peekitem(), index.peekitem(last=False)) == (ordered[-1], ordered[0])
    for last in (True, False):
        if ordered:
            assert index.popitem(last) == ordered.pop(-1 if last else 0)
    for key, _ in ordered[::2]:
        del index[key]
    assert list(index) == [key for key, _ in ordered[1::2]]
    index.update(model)
    assert index == model
    index.clear()
    assert index == {}


def test_conditional_updates():
    index = Index([1, 2], [10, 20])
    assert index.replace(1, 11) == 10
    assert index.replace(3, 30) is None
    assert index.compare_exchange(1, 11, 12)
    assert not index.compare_exchange(1, 11, 13)
    assert not index.compare_exchange(3, 0, 13)
    assert not index.compare_remove(1, 11)
    assert index.compare_remove(1, 12)
    assert index == {2: 20}


def test_views_are_lazy_and_longer_than_a_page():
    index = Index(np.arange(5000), np.arange(5000) * 2)
    seen = []
    for key in index:
        seen.append(key)
        if key < 3000:
            del index[key]
    assert seen == list(range(5000))
    assert len(index.keys()) == 2000
    assert 4000 in index.keys()  # noqa: SIM118 (the view itself)
    assert (4000, 8000) in index.items()
    assert 9998 in index.values()
    assert index.keys() & {2999, 3000, 3001} == {3000, 3001}


def test_scalars_of_times_keep_their_unit():
    index = Index(key_dtype="M8[ns]", value_dtype="m8[s]")
    key = np.datetime64("2024-01-01T00:00:00.000000001")
    index[key] = np.timedelta64(5, "m")
    assert index[key] == np.timedelta64(300, "s")
    (got, value) = index.peekitem()
    assert (got.dtype, value.dtype) == (np.dtype("M8[ns]"), np.dtype("m8[s]"))
    assert got == key


def test_python_and_pandas_times():
    import datetime

    index = Index(key_dtype="M8[ns]")
    index[datetime.datetime(2024, 1, 1)] = 1
    assert index[datetime.date(2024, 1, 1)] == 1
    assert index.get_many([datetime.datetime(2024, 1, 1), datetime.date(2024, 1, 1)])[0].tolist() == [1, 1]
    pandas = pytest.importorskip("pandas")
    stamp = pandas.Timestamp("2024-01-01T00:00:00.000000007")
    index[stamp] = 7
    assert index[np.datetime64("2024-01-01T00:00:00.000000007")] == 7
    series = pandas.Series(pandas.to_datetime(["2024-01-01"])).dt.as_unit("s")
    assert index.get_many(series)[0].tolist() == [1]


def test_copies_are_apart(index, model):
    import copy

    for other in (index.copy(), copy.copy(index), copy.deepcopy(index)):
        assert other == index
        assert (other.key_dtype, other.value_dtype) == (index.key_dtype, index.value_dtype)
        other.clear()
        assert len(index) == len(model[0])


def test_repr_shows_ten_entries_at_most():
    assert repr(Index([2, 1], [1.5, 2.5])) == ("Index({1: 2.5, 2: 1.5}, key_dtype='int64', value_dtype='float64')")
    assert repr(Index(range(100), range(100))).count(":") == 10
    assert "100 entries" in repr(Index(range(100), range(100)))


def test_what_it_says_of_itself():
    index = Index(np.arange(10_000), 0, fill=1.0)
    assert 16 * 10_000 < index.live_nbytes <= index.nbytes < 40 * 10_000
    stats = index.stats()
    assert stats["leaf_fill"] > 0.9
    assert stats["levels"] >= 2
    with pytest.raises(TypeError):
        hash(index)


def test_equality():
    assert Index([1], [2]) == Index([1], [2])
    assert Index([1], [2]) != Index([1], [3])
    assert Index([1], [2]) != Index([1, 2], [2, 3])
    assert Index([1], [2]) != 5
    assert Index([1], [2]) == {1: 2}
