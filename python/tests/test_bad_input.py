"""The table of bad input, row by row. None of it changes the index."""

import decimal
import warnings

import numpy as np
import pytest
from conftest import (
    BATCHES,
    ENDS,
    NEIGHBOURS,
    STORES,
    assert_not_there,
    assert_refused,
    little_memory,
    printed,
)

from latchless import Index

INT = Index([1, 2, 3], [10, 20, 30])
FLOAT = Index([1.0, 2.0], [1, 2])
TIMES = Index(np.array(["2024-01-01", "2024-01-02"], "M8[ns]"), [1, 2])

QUESTIONS = [
    lambda index, keys: index.get_many(keys),
    lambda index, keys: index.contains_many(keys),
    lambda index, keys: index.remove_many(keys),
    lambda index, keys: index.floor_many(keys),
    lambda index, keys: index.ceiling_many(keys),
    lambda index, keys: index.lower_many(keys),
    lambda index, keys: index.higher_many(keys),
    lambda index, keys: index.asof(keys, direction="nearest"),
    lambda index, keys: index.range_many(keys, keys),
    lambda index, keys: index.count_many(keys, keys),
    lambda index, keys: index.rank_many(keys),
]
EVERY_BATCH = [*BATCHES, *QUESTIONS]


INSERTS = [
    lambda index, keys: index.insert_many(keys, 0),
    lambda index, keys: Index(keys, 0, key_dtype=index.key_dtype),
]


def not_stored(error: type[Exception], match: str, index: Index, key: object, batch: object = None) -> None:
    """A key isn't stored, and isn't there, but keys can be compared with it."""
    batch = [key] if batch is None else batch
    assert_refused(error, match, index, STORES, key)
    assert_refused(error, match, index, INSERTS, batch)
    assert_not_there(index, key)
    for given, operations in ((key, NEIGHBOURS + ENDS), (batch, QUESTIONS)):
        for operation in operations:
            operation(index.copy(), given)


def no_order(match: str, index: Index, key: object, batch: object = None) -> None:
    """A key isn't stored, and isn't there, and there is no order between keys and it."""
    assert_refused(TypeError, match, index, STORES + NEIGHBOURS + ENDS, key)
    assert_refused(TypeError, match, index, EVERY_BATCH + INSERTS, [key] if batch is None else batch)
    assert_not_there(index, key)


# ---- dtypes ----


@pytest.mark.parametrize(
    "dtype", ["S4", "U4", "O", "c8", "c16", "V8", "f2", "g", "i4,i4", "M8", "m8"], ids=lambda name: name
)
def test_an_index_of_another_dtype_is_a_type_error_that_names_it(dtype):
    with pytest.raises(TypeError, match="dtype|unit"):
        Index(key_dtype=dtype)
    with pytest.raises(TypeError, match="dtype|unit"):
        Index(value_dtype=dtype)


@pytest.mark.parametrize("keys", [["a"], np.array(["a"]), np.array([b"a"]), [None], [object()], [{}], [1j]])
def test_keys_of_another_kind_are_a_type_error(keys):
    for index in (INT, FLOAT, TIMES):
        for operation in EVERY_BATCH:
            with pytest.raises(TypeError):
                operation(index, keys)


@pytest.mark.parametrize("key", ["a", b"a", None, object(), {}, 1j, [1], (1,), decimal.Decimal(1)])
def test_a_key_of_another_kind_is_a_type_error(key):
    for index in (INT, FLOAT, TIMES):
        for operation in STORES:
            if index is not FLOAT or not isinstance(key, decimal.Decimal):
                with pytest.raises(TypeError):
                    operation(index.copy(), key)
        for operation in NEIGHBOURS:
            if index is TIMES or not isinstance(key, decimal.Decimal):
                with pytest.raises(TypeError):
                    operation(index, key)


def test_floats_are_not_stored_in_an_index_of_integers():
    for operation in STORES:
        with pytest.raises(TypeError, match="int64|float"):
            operation(INT, 1.0)
    not_stored(TypeError, "int64|float", INT, 1.5)
    not_stored(TypeError, "int64|float", INT, 1.5, np.array([1.0], "f4"))


def test_integers_and_times_do_not_mix():
    no_order("M8|datetime64", TIMES, 1, np.array([1]))
    no_order("int64|datetime", INT, np.datetime64("2024-01-01", "ns"))
    no_order("datetime64", TIMES, np.timedelta64(1, "ns"))


def test_values_of_another_kind_are_a_type_error():
    for values in (["a"], [1.5], np.array([1.5]), [None], 1.5, "a"):
        with pytest.raises(TypeError):
            INT.insert_many([1], values)
    with pytest.raises(TypeError):
        INT[1] = 1.5
    with pytest.raises(TypeError):
        INT.get_many([1], default="a")


# ---- values that don't fit ----


def test_unsigned_keys_that_would_wrap_are_an_overflow_error():
    large = np.array([5, 2**63 + 5], "u8")
    not_stored(OverflowError, "9223372036854775813|outside", INT, int(large[1]), large)
    assert INT.contains_many(large[:1]).tolist() == [False]


def test_negative_keys_for_an_unsigned_index_are_an_overflow_error():
    index = Index(np.array([1, 2], "u8"), [1, 2])
    not_stored(OverflowError, "-1|outside", index, -1, np.array([1, -1]))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u2", "u4", "i8", "u8"])
@pytest.mark.parametrize("value_dtype", ["i4", "i8"])
def test_integers_outside_of_the_dtype_are_an_overflow_error(dtype, value_dtype):
    info = np.iinfo(dtype)
    index = Index(key_dtype=dtype, value_dtype=value_dtype)
    for key in (info.min, info.max):
        index[int(key)] = 7
    assert index.to_numpy()[0].tolist() == [info.min, info.max]
    for key in (int(info.min) - 1, int(info.max) + 1, 2**70, -(2**70)):
        not_stored(OverflowError, "outside|int too big|too large", index, key)


def test_values_outside_of_the_dtype_are_an_overflow_error():
    index = Index([1], [1], value_dtype="i1")
    for value in (128, -129, 2**64):
        with pytest.raises(OverflowError):
            index[1] = value
        with pytest.raises(OverflowError):
            index.insert_many([1, 2], [0, value])
        with pytest.raises(OverflowError):
            index.insert_many([1, 2], value)
    assert index == {1: 1}
    narrow = Index([1], [1.0], value_dtype="f4")
    with pytest.raises(OverflowError):
        narrow[1] = 1e300
    with pytest.raises(OverflowError):
        narrow.insert_many([1], [1e300])


def test_keys_that_would_be_rounded_are_an_overflow_error():
    exact = 2**53
    assert FLOAT.get(exact) is None
    not_stored(OverflowError, "rounded|outside", FLOAT, exact + 1)
    not_stored(OverflowError, "rounded|outside", FLOAT, exact + 1, np.array([exact + 1]))
    with pytest.raises(OverflowError):
        FLOAT.insert_many([0.5, exact + 1], 0)
    narrow = Index(np.array([0.5], "f4"), [1])
    not_stored(OverflowError, "rounded", narrow, 0.1)
    assert narrow.get(0.5) == 1
    not_stored(OverflowError, "rounded", narrow, 2**24 + 1)


def test_times_that_cannot_be_kept_exactly_are_an_overflow_error():
    days = Index(np.array(["2024-01-01"], "M8[D]"), [1])
    not_stored(OverflowError, "exactly", days, np.datetime64("2024-01-01T01", "h"))
    nanoseconds = np.array(["2024-01-01", "9999-01-01"], "M8[s]")
    not_stored(OverflowError, "exactly", TIMES, nanoseconds[1], nanoseconds)


# ---- no keys ----


@pytest.mark.parametrize("nan", [np.nan, -np.nan, np.float32("nan")])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_nan_is_no_key(nan, dtype):
    index = Index(np.array([1, 2], dtype), [1, 2])
    not_stored(ValueError, "NaN", index, nan)
    for operation in INSERTS:
        with pytest.raises(ValueError, match="position 2"):
            operation(index, np.array([1, 5, nan, 3, nan], dtype))
    with pytest.raises(ValueError, match="position 1"):
        Index([1.0, nan], [1, 2])


def test_nan_late_in_a_long_batch_leaves_the_index_alone():
    keys = np.arange(100_000, dtype=float)
    keys[99_999] = np.nan
    for threads in (1, 3):
        with pytest.raises(ValueError, match="position 99999"):
            FLOAT.insert_many(keys, 0, threads=threads)
    assert len(FLOAT) == 2


def test_nat_is_no_key():
    nat = np.datetime64("NaT", "ns")
    not_stored(ValueError, "NaT", TIMES, nat)
    with pytest.raises(ValueError, match="position 1"):
        TIMES.insert_many(np.array(["2024-01-01", "NaT"], "M8[s]"), 1)
    assert TIMES.get_many(np.array(["2024-01-01", "NaT"], "M8[s]"))[1].tolist() == [True, False]
    spans = Index(np.array([1, 2], "m8[s]"), [1, 2])
    not_stored(ValueError, "NaT", spans, np.timedelta64("NaT", "s"))


def test_nan_and_nat_are_values():
    index = Index([1, 2], [1.5, np.nan])
    index[3] = np.nan
    assert np.isnan([index[2], index[3]]).all()
    times = Index([1], np.array(["NaT"], "M8[ns]"))
    assert np.isnat(times[1])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_negative_zero_is_zero(dtype):
    index = Index(key_dtype=dtype)
    index[-0.0] = 1
    assert index[0.0] == 1
    assert index.insert_many(np.array([0.0, -0.0], dtype), [2, 3]) == 0
    keys, values = index.to_numpy()
    assert not np.signbit(keys[0])
    assert values.tolist() == [3]
    assert index.count(-0.0, 0.0, closed="both") == 1


def test_booleans_are_no_truths_of_other_things():
    index = Index(key_dtype=bool)
    index[True] = 1
    index[np.False_] = 2
    assert list(index.items()) == [(False, 2), (True, 1)]
    for key in ([], [0], "", 1):
        with pytest.raises(TypeError):
            index[key] = 1
    for key in ([], [0]):
        with pytest.raises(TypeError):
            index[key]
    with pytest.raises(TypeError):
        index.insert_many([0, 1], 1)


# ---- shapes ----


def test_unequal_lengths_are_a_value_error():
    for keys, values in (([1, 2], [1]), ([1], [1, 2]), ([], [1]), ([1], [])):
        with pytest.raises(ValueError, match="keys but"):
            Index(keys, values)
        with pytest.raises(ValueError, match="keys but"):
            INT.insert_many(keys, values)
    for operation in (INT.range_many, INT.count_many):
        with pytest.raises(ValueError, match="ends"):
            operation([1, 2], [3])


@pytest.mark.parametrize("keys", [np.zeros((2, 2), int), np.zeros((0, 2), int), np.array(5), [[1], [2]], 5])
def test_other_dimensions_than_one_are_a_value_error(keys):
    for operation in EVERY_BATCH:
        with pytest.raises(ValueError, match="one-dimensional"):
            operation(INT, keys)


def test_masked_and_null_elements_are_a_value_error():
    masked = np.ma.masked_array([1, 2], [False, True])
    for operation in EVERY_BATCH:
        with pytest.raises(ValueError, match="masked"):
            operation(INT, masked)
    assert INT.contains_many(np.ma.masked_array([1, 9])).tolist() == [True, False]
    with pytest.raises(ValueError, match="masked"):
        INT.insert_many([1, 2], masked)


def test_nulls_of_other_libraries_are_a_value_error():
    pyarrow = pytest.importorskip("pyarrow")
    for keys in (pyarrow.array([1, None]), pyarrow.chunked_array([[1], [None]])):
        with pytest.raises(ValueError, match="null"):
            INT.get_many(keys)
    table = pyarrow.table({"a": [1, None], "b": [1, 2]})
    for key, value in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="null"):
            Index.from_arrow(table, key, value)


def test_nulls_of_polars_are_a_value_error():
    polars = pytest.importorskip("polars")
    for column in ([1, None], [1.5, None]):
        with pytest.raises(ValueError, match="null"):
            FLOAT.get_many(polars.Series(column))


def test_nulls_of_pandas_are_a_value_error():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="null"):
        INT.get_many(pandas.Series([1, None], dtype="Int64"))
    assert INT.get_many(pandas.Series([1, 9], dtype="Int64"))[1].tolist() == [True, False]


# ---- the constructor ----


def test_unsorted_and_duplicate_keys_with_assume_sorted_are_a_value_error():
    with pytest.raises(ValueError, match="position 2 is smaller"):
        Index([1, 3, 2], [1, 2, 3], assume_sorted=True)
    with pytest.raises(ValueError, match="position 1 equals"):
        Index([3, 3], [1, 2], assume_sorted=True)
    assert Index([3, 1, 3], [1, 2, 3]) == {1: 2, 3: 3}
    assert Index([1, 3, 3], [1, 2, 3]) == {1: 1, 3: 3}


def test_keys_without_values_and_mappings_are_a_type_error():
    for arguments in ({"keys": [1]}, {"values": [1]}, {"keys": {1: 2}, "values": [2]}):
        with pytest.raises(TypeError):
            Index(**arguments)


@pytest.mark.parametrize("fill", [0, -1, 1.1, float("nan")])
def test_another_fill_is_a_value_error(fill):
    with pytest.raises(ValueError, match="fill"):
        Index([1], [1], fill=fill)


# ---- answers ----


def test_rooms_for_answers_are_checked():
    keys = np.arange(1, 4)
    found = np.empty(3, bool)
    good = np.empty(3, np.int64)
    values, flags = INT.get_many(keys, out=good, found=found)
    assert values is good
    assert flags is found
    assert good.tolist() == [10, 20, 30]
    with pytest.raises(TypeError, match="out must be"):
        INT.get_many(keys, out=np.empty(3))
    with pytest.raises(TypeError, match="out must be"):
        INT.get_many(keys, out=[0, 0, 0])
    with pytest.raises(TypeError, match="found must be"):
        INT.get_many(keys, found=good)
    for room in (np.empty(2, np.int64), np.empty((3, 1), np.int64)):
        with pytest.raises(ValueError, match="shape"):
            INT.get_many(keys, out=room)
    with pytest.raises(ValueError, match="overlap"):
        INT.get_many(keys, out=keys)
    both = np.zeros(6, np.int64)
    with pytest.raises(ValueError, match="overlap"):
        INT.get_many(both[:3], out=both[2:5])
    good.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        INT.get_many(keys, out=good)
    assert keys.tolist() == [1, 2, 3]


def test_other_words_of_the_interface_are_a_value_error():
    with pytest.raises(ValueError, match="closed"):
        INT.range(closed="inside")
    with pytest.raises(ValueError, match="closed"):
        INT.range(closed=["left"])
    with pytest.raises(ValueError, match="direction"):
        INT.asof([1], direction="sideways")
    with pytest.raises(ValueError, match="limit"):
        INT.range(limit=-1)
    with pytest.raises(ValueError, match="tolerance"):
        INT.asof([1], tolerance=-1)
    for tolerance in (np.nan, -0.5):
        with pytest.raises(ValueError, match="tolerance"):
            FLOAT.asof([1.0], tolerance=tolerance)
    for index in (INT, FLOAT, TIMES):
        for tolerance in ("1", [1], None if index is TIMES else np.timedelta64(1, "s"), 1j):
            if tolerance is not None:
                with pytest.raises(TypeError, match="tolerance"):
                    index.asof(index.to_numpy()[0], tolerance=tolerance)
    with pytest.raises(TypeError, match="tolerance"):
        TIMES.asof(np.array(["2024-01-01"], "M8[ns]"), tolerance=5)
    with pytest.raises(ValueError, match="tolerance"):
        TIMES.asof(np.array(["2024-01-01"], "M8[ns]"), tolerance=np.timedelta64("NaT", "s"))
    for threads in (0, -1):
        with pytest.raises(ValueError, match="threads"):
            INT.get_many([1], threads=threads)


def test_inverted_ranges_are_empty():
    assert INT.range(3, 1)[0].tolist() == []
    assert INT.count(3, 1) == 0
    assert INT.remove_range(3, 1) == 0
    assert INT.count_many([3, 1], [1, 3]).tolist() == [0, 2]
    offsets, keys, _ = INT.range_many([3, 1], [1, 3])
    assert (offsets.tolist(), keys.tolist()) == ([0, 0, 2], [1, 2])
    assert INT.count(2, 2, closed="neither") == 0
    top = Index(np.array([2**64 - 1, 0], "u8"), 1)
    assert top.count(2**64 - 1, closed="neither") == 0
    assert top.count(None, 0, closed="neither") == 0
    assert top.count(None, 0, closed="right") == 1


def test_a_missing_key_is_a_key_error():
    for operation in (INT.__getitem__, INT.__delitem__, INT.pop):
        with pytest.raises(KeyError) as caught:
            operation(99)
        assert caught.value.args == (99,)
    empty = Index()
    for operation in (empty.popitem, empty.peekitem):
        with pytest.raises(KeyError):
            operation()


def test_empty_input_is_of_the_dtype_of_the_index():
    for index in (INT, FLOAT, TIMES, Index(key_dtype=bool)):
        for operation in EVERY_BATCH:
            operation(index, [])
            operation(index, ())
        values, found = index.get_many([])
        assert (values.dtype, found.dtype, len(values)) == (index.value_dtype, bool, 0)


# ---- memory ----


@pytest.mark.parametrize("threads", [1, 3])
def test_refused_memory_names_what_was_not_done(threads):
    for dtype in ("i8", "i4"):
        index = Index(key_dtype=dtype, value_dtype=dtype, limit_bytes=1 << 18)
        keys = np.random.default_rng(1).permutation(100_000).astype(dtype)
        with pytest.raises(MemoryError) as caught:
            index.insert_many(keys, keys, threads=threads)
        refused_at = caught.value.refused
        assert refused_at.dtype == np.int64
        assert 0 < len(refused_at) < len(keys)
        assert (np.diff(refused_at) > 0).all()
        there = index.contains_many(keys)
        assert np.flatnonzero(~there).tolist() == refused_at.tolist()
        assert len(index) == there.sum()
        index.check_invariants()
        with pytest.raises(MemoryError):
            index.update(zip(range(-50_000, 0), range(50_000), strict=True))


def test_a_constructor_over_its_limit_is_a_memory_error():
    with pytest.raises(MemoryError):
        Index(np.arange(1_000_000), 0, limit_bytes=1 << 18)


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FLOAT.get_many([1, 2])
        INT.get_many(np.array([1], "u8"))
        INT.insert_many(np.array([], float).astype(int), [])


LITTLE_MEMORY = """
import resource
import numpy as np
from latchless import Index
index = Index(np.arange(4_000_000), 0)
keys = np.random.default_rng(1).permutation(4_000_000)
lows, highs = np.zeros(40, np.int64), np.full(40, 4_000_000)
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (40 << 20), now + (40 << 20)))
assert index.contains_many(keys[:500_000], threads=200).all()
for ask in (index.to_numpy, index.copy, lambda: index.range_many(lows, highs), lambda: index.insert_many(keys, 1),
            lambda: Index(keys, keys)):
    try:
        ask()
    except MemoryError:
        print("refused")
assert index[7] == 0
index.check_invariants()
"""


@little_memory
def test_what_the_system_refuses_is_a_memory_error():
    assert printed(LITTLE_MEMORY).split() == ["refused"] * 5
