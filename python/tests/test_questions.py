"""Questions that can't be keys: numbers and times of other dtypes against a plain model of exact comparison."""

import datetime
import decimal
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import assert_same

from latchless import BytesIndex, Index, MultiIndex, StringIndex

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "bool"]
TIMES = ["M8[D]", "M8[s]", "M8[ms]", "M8[ns]", "M8[W]", "M8[25s]", "m8[s]", "m8[us]", "m8[10ms]"]
SECONDS = {"W": 604800, "D": 86400, "s": 1, "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6)}
SECONDS["ns"] = Fraction(1, 10**9)
CLOSED = {"left": (True, False), "right": (False, True), "both": (True, True), "neither": (False, False)}


def exact(element):
    """The exact value of an element: a fraction, a float that isn't finite, or NaN."""
    if isinstance(element, (np.datetime64, np.timedelta64)):
        if np.isnat(element):
            return math.nan
        unit, count = np.datetime_data(element.dtype)
        return Fraction(int(element.view("i8"))) * SECONDS[unit] * count
    if isinstance(element, (bool, np.bool_)):
        return Fraction(int(element))
    if isinstance(element, (float, np.floating, decimal.Decimal)):
        # One of a long double may be infinite as a float64.
        finite = np.isfinite(element) if isinstance(element, np.floating) else math.isfinite(element)
        return Fraction(*element.as_integer_ratio()) if finite else float(element)
    return Fraction(int(element)) if not isinstance(element, Fraction) else element


def some_numbers(rng, dtype, count):
    """Numbers of a dtype: small ones, and those around the ends of all dtypes."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    around = [
        sign * 2**bits + by
        for bits in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64)
        for sign in (-1, 1)
        for by in (-1, 0, 1)
    ]
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            pool = np.array([*around, 0.1, -0.1, 1e300, -1e300, 1e-50, -1e-50, np.inf, -np.inf], "f8").astype(
                dtype
            )
        near = np.concatenate([np.nextafter(pool, dtype.type(np.inf)), np.nextafter(pool, dtype.type(-np.inf))])
        pool = np.concatenate([pool, near, rng.integers(-20, 20, 40) / 4]).astype(dtype)
    else:
        info = np.iinfo(dtype)
        inside = [each for each in around if info.min <= each <= info.max] + [info.min, info.max]
        pool = np.concatenate([np.array(inside, dtype), rng.integers(max(info.min, -20), 20, 40).astype(dtype)])
    return rng.choice(pool, count)


def some_times(rng, dtype, count):
    last = 2**63 - 1
    unit = np.dtype(dtype)
    scale = int(1 / (SECONDS[np.datetime_data(unit)[0]] * np.datetime_data(unit)[1])) or 1
    near = [scale * rng.integers(-200, 200, 60), rng.integers(-200, 200, 60)]
    return (
        rng.choice(np.concatenate([*near, [last, -last, last // scale, -last // scale]]), count)
        .astype("i8")
        .view(dtype)
    )


def pairs_of_dtypes():
    for family, some in ((NUMBERS, some_numbers), (TIMES[:6], some_times), (TIMES[6:], some_times)):
        for own in family:
            yield pytest.param(family, some, own, id=own)


class Model:
    """Keys as exact numbers, and the values 0, 1, 2, … under them."""

    def __init__(self, keys):
        self.keys = [exact(key) for key in keys]

    def near(self, question, direction, inclusive=True):
        its = enumerate(self.keys)
        if direction == "backward":
            return max((at for at, key in its if key < question or (inclusive and key == question)), default=None)
        return min((at for at, key in its if key > question or (inclusive and key == question)), default=None)

    def nearest(self, question, tolerance=None):
        sides = [self.near(question, direction) for direction in ("backward", "forward")]
        found = [at for at in sides if at is not None]
        best = min(found, key=lambda at: distance(self.keys[at], question), default=None)
        return (
            best if best is None or tolerance is None or distance(self.keys[best], question) <= tolerance else None
        )

    def inside(self, low, high, closed):
        has_low, has_high = CLOSED[closed]
        return [
            at
            for at, key in enumerate(self.keys)
            if (low is None or low < key or (has_low and low == key))
            and (high is None or key < high or (has_high and key == high))
        ]


def distance(key, question):
    return 0 if key == question else abs(key - question)


def at_of(entry):
    return None if entry is None else entry[1]


@pytest.mark.parametrize(("family", "some", "own"), list(pairs_of_dtypes()))
@pytest.mark.parametrize("value_dtype", ["i4", "i8"])
def test_questions_of_every_other_dtype(rng, family, some, own, value_dtype):
    keys = np.unique(some(rng, own, 12))
    if keys.dtype.kind == "f":
        keys = keys + keys.dtype.type(0)  # −0.0 is 0.0.
    values = np.arange(len(keys), dtype=value_dtype)
    index, rows, model = Index(keys, values), MultiIndex(keys, values), Model(keys)
    for other in [*family, *(["f2", "g"] if family is NUMBERS else [])]:
        asked = some(rng, other, 24)
        if asked.dtype.kind in "fMm":
            asked[3] = np.nan if asked.dtype.kind == "f" else np.array("NaT", asked.dtype)
        check_singles(index, rows, model, asked)
        check_batches(index, rows, model, asked)
        check_ranges(rng, index, rows, model, asked)
    index.check_invariants()


def check_singles(index, rows, model, asked):
    for each in asked:
        question = exact(each)
        there = model.keys.index(question) if question in model.keys else None
        assert (each in index) == (each in rows) == (there is not None)
        assert index.get(each) == there
        assert rows.rows(each).tolist() == ([] if there is None else [there])
        assert at_of(index.floor(each)) == model.near(question, "backward")
        assert at_of(index.lower(each)) == model.near(question, "backward", False)
        assert at_of(index.ceiling(each)) == model.near(question, "forward")
        assert at_of(index.higher(each)) == model.near(question, "forward", False)
        assert index.rank(each) == sum(key < question for key in model.keys)
        if there is None:
            with pytest.raises(KeyError):
                index[each]
            assert index.pop(each, None) is None
            assert index.replace(each, 0) is None
            assert not index.compare_exchange(each, 0, 1)
            assert not index.compare_remove(each, 0)


def check_batches(index, rows, model, asked):
    questions = [exact(each) for each in asked]
    there = [model.keys.index(each) if each in model.keys else None for each in questions]
    found = [at is not None for at in there]
    out, flags = np.full(len(asked), 9, index.value_dtype), np.empty(len(asked), bool)
    # Lists of times are other times than arrays, and lists of numbers become arrays of another dtype.
    for batch in (asked, list(asked)):
        got, its = index.get_many(batch, -1)
        assert its.tolist() == found
        assert got.tolist() == [-1 if at is None else at for at in there]
        assert got.dtype == index.value_dtype
        assert index.get_many(batch, -1, out=out, found=flags)[0] is out
        assert (out.tolist(), flags.tolist()) == (got.tolist(), found)
        assert index.contains_many(batch).tolist() == found
        assert index.rank_many(batch).tolist() == [sum(key < each for key in model.keys) for each in questions]
        got, offsets = rows.rows_many(batch)
        assert got.tolist() == [at for at in there if at is not None]
        assert np.diff(offsets).tolist() == [int(each) for each in found]
    copied = index.copy()
    assert copied.remove_many(asked) == len({at for at in there if at is not None})
    assert not copied.contains_many(asked).any()
    for direction in ("backward", "forward"):
        for inclusive in (True, False):
            wanted = [model.near(each, direction, inclusive) for each in questions]
            same_entries(index, wanted, index.asof(asked, direction=direction, allow_exact_matches=inclusive))
    same_entries(index, [model.near(each, "backward") for each in questions], index.floor_many(asked))
    same_entries(
        index, [model.near(each, "forward", False) for each in questions], index.higher_many(asked, threads=2)
    )
    if index.key_dtype.kind != "f":  # Distances between floats are those of float64.
        check_distances(index, model, asked, questions)


def same_entries(index, wanted, got):
    keys, values, found = got
    assert found.tolist() == [at is not None for at in wanted]
    assert values[found].tolist() == [at for at in wanted if at is not None]
    assert_same(keys[found], index.to_numpy()[0][values[found]])
    assert keys.dtype == index.key_dtype


def check_distances(index, model, asked, questions):
    same_entries(index, [model.nearest(each) for each in questions], index.asof(asked, direction="nearest"))
    assert [at_of(index.nearest(each)) for each in asked] == [model.nearest(each) for each in questions]
    unit = 1
    tolerances = [0, 1, Fraction(3, 2), 0.25, 7, 2**40, 2**70, math.inf]
    if index.key_dtype.kind in "Mm":
        tolerances = [np.timedelta64(*span) for span in ((0, "s"), (1, "s"), (1500, "ms"), (3, "D"), (1, "ns"))]
    for tolerance in tolerances:
        limit = exact(tolerance) * unit
        wanted = [model.nearest(each, limit) for each in questions]
        same_entries(index, wanted, index.asof(asked, direction="nearest", tolerance=tolerance))
        for direction in ("backward", "forward"):
            wanted = [model.near(each, direction) for each in questions]
            for at, each in enumerate(questions):
                if wanted[at] is not None and not distance(model.keys[wanted[at]], each) <= limit:
                    wanted[at] = None
            same_entries(index, wanted, index.asof(asked, direction=direction, tolerance=tolerance))


def check_ranges(rng, index, rows, model, asked):
    lows, highs = asked, rng.permutation(asked)
    own = rng.choice(index.to_numpy()[0], len(asked))
    for closed in CLOSED:
        for low, high in ((lows, highs), (own, highs), (lows, own)):
            wanted = [model.inside(exact(a), exact(b), closed) for a, b in zip(low, high, strict=True)]
            offsets, keys, values = index.range_many(low, high, closed=closed)
            assert [values[a:b].tolist() for a, b in itertools.pairwise(offsets)] == wanted
            assert_same(keys, index.to_numpy()[0][values])
            assert index.count_many(low, high, closed=closed).tolist() == [len(each) for each in wanted]
            for at in range(0, len(low), 5):
                assert index.range(low[at], high[at], closed=closed)[1].tolist() == wanted[at]
                assert rows.range(low[at], high[at], closed=closed)[1].tolist() == wanted[at]
                assert index.count(low[at], high[at], closed=closed) == len(wanted[at])
                assert rows.count(low[at], high[at], closed=closed) == len(wanted[at])
                below = model.inside(None, exact(high[at]), closed)
                assert index.range(hi=high[at], closed=closed, reverse=1)[1].tolist() == below[::-1]
                copied = index.copy()
                assert copied.remove_range(low[at], None, closed=closed) == len(
                    model.inside(exact(low[at]), None, closed)
                )


# ---- by hand ----


def test_the_ends_of_windows_may_be_outside_of_the_dtype():
    positions = np.array([10, 4_000, 2**32 - 10], "u4")
    index = Index(positions, [0, 1, 2])
    lows, highs = positions.astype("i8") - 5_000, positions.astype("i8") + 5_000
    assert index.count_many(lows, highs).tolist() == [2, 2, 1]
    assert index.range(-5, 2**40)[1].tolist() == [0, 1, 2]
    assert (index.floor(-1), index.ceiling(-1), index.get(-1), -1 in index) == (None, (10, 0), None, False)
    assert index.rank(2**64) == 3
    assert index.floor(2**64) == (2**32 - 10, 2)
    assert index.remove_range(-math.inf, 5_000.5) == 2


def test_floats_of_python_ask_keys_of_32_bits():
    index = Index(np.array([0.1, 0.2, 0.3], "f4"), [1, 2, 3])
    assert index.get(0.2) is None
    assert index.get(np.float32(0.2)) == 2
    assert index.floor(0.17)[1] == 1
    # float32 has 0.1 a little above what float64 has, and 0.3 as well.
    assert index.range(0.1, 0.3)[1].tolist() == [1, 2]
    assert MultiIndex(np.array([142.88], "f4")).rows(142.88).tolist() == []


def test_parts_of_a_second_ask_keys_in_seconds():
    start = np.datetime64("2024-03-01T09:30:00")
    quotes = Index(start + np.arange(3), [1.0, 2.0, 3.0])
    trades = np.array(["2024-03-01T09:30:00.4", "2024-03-01T09:30:00.6", "2024-03-01T09:29:59.9"], "M8[ns]")
    assert quotes.asof(trades)[2].tolist() == [True, True, False]
    assert quotes.asof(trades, direction="nearest")[1].tolist() == [1.0, 2.0, 1.0]
    near = quotes.asof(trades, direction="nearest", tolerance=np.timedelta64(300, "ms"))
    assert near[2].tolist() == [False, False, True]
    assert quotes.asof(trades[:1], tolerance=datetime.timedelta(milliseconds=1500))[2].tolist() == [True]
    assert quotes.floor(datetime.datetime(2024, 3, 1, 9, 30, 0, 500_000)) == (start, 1.0)
    assert quotes.get(datetime.datetime(2024, 3, 1, 9, 30, 0, 500_000)) is None
    half = datetime.datetime(2024, 3, 1, 9, 30, 0, 500_000)
    for column in (np.array([half, start.item()], object), [half, start.item()]):
        assert quotes.get_many(column)[1].tolist() == [False, True]
        assert quotes.floor_many(column)[1].tolist() == [1.0, 1.0]
    mixed = [datetime.date(2024, 3, 1), np.datetime64("2024-03-01T09:30:01.5", "ms"), start]
    assert quotes.rank_many(mixed).tolist() == [0, 2, 0]


def test_months_and_other_times_ask_each_other():
    days = Index(np.array(["2024-01-31", "2024-02-01", "2024-03-01"], "M8[D]"), [0, 1, 2])
    assert days.range(np.datetime64("2024-02"), np.datetime64("2024-03"))[1].tolist() == [1]
    assert days.floor(np.datetime64("2024")) is None
    assert days.get_many(np.array(["2024-02", "2024-04", "NaT"], "M8[M]"))[1].tolist() == [True, False, False]
    months = Index(np.array(["1969-12", "2024-02", "2024-03"], "M8[M]"), [0, 1, 2])
    assert months.floor(np.datetime64("2024-02-29"))[1] == 1
    assert months.ceiling(np.datetime64("2024-02-01T00", "h"))[1] == 1
    assert months.ceiling(np.datetime64("2024-02-01T01", "h"))[1] == 2
    assert months.floor(np.datetime64("1969-12-31"))[1] == 0
    assert months.get(np.datetime64("2024-03-01")) == 2
    with pytest.raises(TypeError, match="months"):
        months.asof(np.array(["2024-02-29"], "M8[D]"), direction="nearest")


@pytest.mark.parametrize("index", [Index([1, 2], [10, 20]), Index([1.5], [1]), Index(np.array([1], "M8[s]"), [1])])
def test_what_has_no_order_is_not_there_as_in_a_dict(index):
    before = index.copy()
    for key in ("a", b"a", None, object(), 1j, (1,), frozenset(), index.__class__):
        assert key not in index
        assert index.get(key, 7) == 7
        assert index.pop(key, None) is None
        assert index.replace(key, 1) is None
        assert not index.compare_exchange(key, 1, 2)
        assert not index.compare_remove(key, 1)
        assert (key, 1) not in index.items()
        for operation in (index.__getitem__, index.__delitem__, index.pop):
            with pytest.raises(KeyError):
                operation(key)
        for operation in (
            index.floor,
            index.higher,
            index.rank,
            lambda key: index.range("a"),
            lambda key: index.count(hi="a"),
        ):
            with pytest.raises(TypeError):
                operation(key)
        with pytest.raises(TypeError):
            index[key] = 1
    for batch in ([1], np.array([1]), {1}):
        for operation in (index.get, index.__contains__, index.__getitem__):
            with pytest.raises(TypeError):
                operation(batch)
    assert 1 not in index.items()
    assert index.keys() & {"a"} == set()
    assert index == before


def test_equal_numbers_are_one_key_whatever_their_types():
    index = Index([1, 2], [10, 20])
    for one in (1.0, np.float32(1), Fraction(1), decimal.Decimal(1), True, np.uint8(1)):
        assert index[one] == 10
        assert one in index
    for other in (1.5, Fraction(4, 3), decimal.Decimal("1.2"), math.nan, math.inf, -math.inf, 2**70, -(2**70)):
        assert other not in index
    truths = Index([False, True], [0, 1])
    assert (truths[1], truths.floor(5), truths.get_many([0, 1, 2])[1].tolist()) == (
        1,
        (True, 1),
        [True, True, False],
    )
    assert index.get_many([1, Fraction(3, 2), 2**70])[1].tolist() == [True, False, False]
    large = Index(np.array([2**53, 2**53 + 1]), [0, 1])
    # NumPy makes a list of float64 of these.
    assert large.get_many([0.5, 2**53 + 1])[0].tolist() == [0, 1]


def test_nothing_is_beside_nan():
    index = Index([1.0, math.inf], [1, 2])
    assert (index.floor(math.nan), index.ceiling(math.nan), index.rank(math.nan)) == (None, None, 0)
    assert index.range(math.nan, None)[1].tolist() == index.range(None, math.nan)[1].tolist() == []
    assert index.remove_range(math.nan) == index.remove_many([math.nan]) == 0
    with pytest.raises(ValueError, match="NaN"):
        index[math.nan] = 1
    with pytest.raises(ValueError, match="position 1"):
        index.insert_many([1.0, math.nan], 0)
    assert len(index) == 2


@pytest.mark.parametrize("index", [StringIndex(["a"], [1]), BytesIndex([b"a"], [1]), MultiIndex(["a"])])
def test_other_types_are_not_among_strings(index):
    for key in (1, 1.5, None, b"a" if "a" in index else "a", ("a",), "\ud800"):
        assert key not in index
    with pytest.raises(TypeError):
        index.__contains__(["a"])
    if not isinstance(index, MultiIndex):
        assert (index.get(1), index.get(1, 5), index.pop(1, None)) == (None, 5, None)
        assert index.replace(1, 1) is None
        assert not index.compare_exchange(1, 1, 2)
        for operation in (index.__getitem__, index.__delitem__, index.pop):
            with pytest.raises(KeyError):
                operation(1)
        for operation in (index.floor, index.range, index.__setitem__):
            with pytest.raises(TypeError):
                operation(*((1, 1) if operation == index.__setitem__ else (1,)))
    else:
        assert index.rows(1).tolist() == []
        assert not index.remove(1, 0)
        assert index.remove_all("\ud800") == 0
    assert len(index) == 1


@pytest.mark.parametrize("made", [Index, MultiIndex])
def test_positions_that_a_signal_leaves_are_those_of_the_whole_batch(made):
    class Stopped(made):
        def _remove_many(self, *_):
            raised = KeyboardInterrupt()
            raised.refused = np.array([1, 2])
            raise raised

    index = Stopped(np.array([1, 2], "u4"), [1, 2])
    with pytest.raises(KeyboardInterrupt) as caught:
        index.remove_many([-1, 1, 2**40, 2, 0.5, 2], *([1] * 6,) * (made is MultiIndex))
    assert caught.value.refused.tolist() == [3, 5]


def test_arrays_in_another_order_of_bytes_and_with_gaps():
    index = Index(np.array(["2024-03-01", "2024-03-02"], "M8[s]"), [1, 2])
    asked = np.array(["2024-03-01T00:00:00.5", "2024-03-02"] * 2, ">M8[ns]")
    assert index.get_many(asked)[0].tolist() == [0, 2, 0, 2]
    assert index.floor_many(asked[::2])[1].tolist() == [1, 1]
    assert Index(np.array([1, 2], "u4"), [1, 2]).rank_many(np.array([-1, 2, 3], ">i8")[::-1]).tolist() == [2, 1, 0]
    assert Index(np.array([1, 2]), [1, 2]).rank_many(np.array([1.5, 3], ">f8")).tolist() == [1, 2]


def test_the_nearest_entry_beside_a_writer_was_the_nearest_one():
    """An entry 3 away is there at every moment; all others are far away."""

    class Written(Index):
        def _near_many(self, *asked):
            answers = super()._near_many(*asked)
            if self.due:
                self.due.pop()(self)
            return answers

    def move(index):
        index[503] = 1
        del index[497]

    index = Written([-99_000, 497, 99_000], 0)
    # It moves when what is after the questions was looked for. The first call is for those that can be keys: none.
    index.due = [move, len, len]
    keys, values, found = index.asof([500.25, 99_000.5], direction="nearest")
    assert (keys.tolist(), values.tolist(), found.tolist()) == ([503, 99_000], [1, 0], [True, True])
    index = Written([-99_000, 497, 99_000], 0)
    index.due = [move, len, len]
    assert index.nearest(500.25) == (503, 1)


def test_the_nearest_entry_of_what_can_be_no_key():
    index = Index([10, 20], [1, 2])
    for asked, key in [
        (14.5, 10),
        (15.0, 10),
        (15.5, 20),
        (Fraction(46, 3), 20),
        (decimal.Decimal("14.99"), 10),
        (2**70, 20),
        (-(2**70), 10),
        (math.inf, 20),
        (np.float32(12), 10),
    ]:
        found = index.nearest(asked)
        assert found == (key, key // 10)
        assert type(found[0]) is type(found[1]) is int
    assert index.nearest(math.nan) is None
    assert Index([0.0], [1]).nearest(math.nan) is None
    assert Index().nearest(0.5) is None
    with pytest.raises(TypeError):
        index.nearest("15")
    assert Index(np.array([10, 20], "u4"), [1, 2]).nearest(-1) == (10, 1)
    floats = Index(np.array([0.5, 0.75], "f4"), np.array([1.5, 2.5], "f4"))
    assert floats.nearest(0.625 + 1e-12) == (0.75, 2.5)
    assert floats.nearest(0.625 - 1e-12) == (0.5, 1.5)
    times = Index(np.array(["2024-03-01T00:00:00", "2024-03-01T00:00:01"], "M8[s]"), np.array([1, 2], "m8[s]"))
    asked = np.datetime64("2024-03-01T00:00:00.501")
    assert times.nearest(asked) == times.nth(1)
    assert type(times.nearest(asked)[0]) is type(times.nth(1)[0])


def test_answers_survive_pickles():
    index = pickle.loads(pickle.dumps(Index(np.array([1, 2], "u2"), [1, 2])))
    assert index.floor(2**70) == (2, 2)
