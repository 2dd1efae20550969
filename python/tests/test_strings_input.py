"""Keys of indexes of strings, of every kind of column; and bad input, none of which changes the index."""

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

from latchless import BytesIndex, StringIndex

TEXTS = ["", "a", "ab", "été", "𝄞", "x" * 200]
BYTES = [b"", b"a", b"a\0b", b"\xff", b"x" * 200]

# Of keys that aren't only looked for.
EVERY_SINGLE = [
    *STORES,
    *NEIGHBOURS,
    *ENDS,
    lambda index, key: index.prefix(key),
    lambda index, key: index.count_prefix(key),
    lambda index, key: index.remove_prefix(key),
]


@pytest.fixture(params=[StringIndex, BytesIndex], ids=["str", "bytes"])
def index(request):
    keys = TEXTS if request.param is StringIndex else BYTES
    return request.param(keys, range(len(keys)))


def refused(error, match, index, keys):
    """Keys are refused by every batch, and the index stays as it was."""
    assert_refused(error, match, index, [*BATCHES, lambda index, keys: type(index)(keys, 0)], keys)


# ---- every kind of column ----


@pytest.mark.parametrize("made", [list, tuple, iter, dict.fromkeys, lambda keys: dict.fromkeys(keys).keys()])
def test_keys_of_iterables(index, made):
    keys = list(index)
    for operation in (index.get_many, index.contains_many):
        operation(made(keys))
    assert index.get_many(made(keys))[1].all()
    assert index.insert_many(made(keys), 7) == 0
    assert index.remove_many(made(keys)) == len(keys)


def test_sets_and_subclasses(index):
    class Own(index.key_type):
        pass

    keys = list(index)
    assert index.contains_many(set(keys)).all()
    assert index.contains_many([Own(key) for key in keys]).all()
    assert Own(keys[1]) in index
    assert type(index.range()[0][1]) is index.key_type


def test_arrays_of_fixed_width():
    texts, codes = StringIndex(TEXTS, range(6)), BytesIndex(BYTES, range(5))
    for array in (np.array(TEXTS), np.array(TEXTS, ">U200"), np.array(TEXTS * 2)[:6], np.array(TEXTS, object)):
        assert texts.get_many(array)[0].tolist() == list(range(6))
        assert texts.get_many(array[::-1])[0].tolist() == list(range(6))[::-1]
        assert StringIndex(array, range(6)) == texts
    for array in (np.array(BYTES), np.array(BYTES, "S300"), np.array(BYTES, object)):
        assert codes.get_many(array)[0].tolist() == list(range(5))
        assert BytesIndex(array, range(5)) == codes
    two_apart = np.array([TEXTS, TEXTS]).T[:, 1]
    assert texts.contains_many(two_apart).all()
    assert texts.contains_many(np.array(["", ""])).tolist() == [True, True]
    assert texts.get_many(np.empty(0, "U5"))[0].tolist() == []
    assert np.array(["a\0b"])[0] in StringIndex(np.array(["a\0b"]), 1)


def test_arrays_of_strings_of_any_width():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy has them from 2.0 on")
    index = StringIndex(TEXTS, range(6))
    assert index.get_many(np.array(TEXTS, np.dtypes.StringDType()))[0].tolist() == list(range(6))
    with pytest.raises(TypeError, match="position 1 is of type NoneType"):
        index.get_many(np.array(["a", None], np.dtypes.StringDType(na_object=None)))


def test_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    index = StringIndex(TEXTS, range(6))
    series = pandas.Series(TEXTS)
    for column in (
        series,
        series.astype(object),
        series.astype("string"),
        pandas.Index(TEXTS),
        series[::-1][::-1],
    ):
        assert index.get_many(column)[0].tolist() == list(range(6))
        assert StringIndex(column, range(6)) == index
    assert index.contains_many(series.astype("category")).all()
    for dtype in (object, "string", "str"):
        with pytest.raises(ValueError, match="position 1 is"):
            index.get_many(pandas.Series(["a", None], dtype=dtype))
    with pytest.raises(TypeError, match="int64"):
        index.get_many(pandas.Series([1]))


def test_columns_of_polars():
    polars = pytest.importorskip("polars")
    index = StringIndex(TEXTS, range(6))
    series = polars.Series(TEXTS)
    assert index.get_many(series)[0].tolist() == list(range(6))
    assert index.get_many(series[2:4])[0].tolist() == [2, 3]
    assert BytesIndex(BYTES, range(5)).get_many(polars.Series(BYTES))[0].tolist() == list(range(5))
    with pytest.raises(ValueError, match="position 1 is"):
        index.get_many(polars.Series(["a", None]))
    with pytest.raises(TypeError, match="str"):
        index.get_many(polars.Series([1]))


# ---- other types ----


@pytest.mark.parametrize("key", [1, 1.5, None, object(), ["a"], ("a",), bytearray(b"a"), memoryview(b"a")])
def test_a_key_of_another_type_is_a_type_error(index, key):
    # As an end of a range None is an open one.
    operations = [operation for operation in EVERY_SINGLE if key is not None or operation not in ENDS]
    assert_refused(TypeError, index.key_type.__name__, index, operations, key)
    if not isinstance(key, (list, bytearray)):
        assert_not_there(index, key)
    else:
        # As in a `dict`.
        assert_refused(TypeError, "unhashable", index, [lambda index, key: key in index], key)
    refused(TypeError, "keys are (str|bytes), but the key at position 1 is of type", index, [list(index)[1], key])


def test_str_and_bytes_do_not_mix(index):
    other = b"a" if index.key_type is str else "a"
    assert_refused(TypeError, "a key is (str|bytes), not of type (str|bytes)", index, EVERY_SINGLE, other)
    assert_not_there(index, other)
    refused(TypeError, "position 0 is of type (str|bytes)", index, [other])
    refused(TypeError, "but the array is of dtype", index, np.array([other]))
    refused(TypeError, "position 0", index, np.array([other], object))


def test_a_single_string_is_no_batch_of_characters(index):
    for keys in ("abc", b"abc", bytearray(b"abc"), memoryview(b"abc")):
        refused(TypeError, "itself", index, keys)


def test_arrays_of_other_dtypes_are_a_type_error(index):
    for array in (np.arange(3), np.array([1.5]), np.array(["2024-01-01"], "M8[D]"), np.empty(0)):
        refused(TypeError, "of dtype", index, array)


def test_values_of_another_kind_are_a_type_error(index):
    key = list(index)[1]
    for values in (["a"], [1.5], [None], 1.5, "a"):
        with pytest.raises(TypeError):
            index.insert_many([key], values)
    with pytest.raises(TypeError):
        index[key] = 1.5
    with pytest.raises(OverflowError):
        index[key] = 2**70
    with pytest.raises(TypeError, match="dtype"):
        type(index)(value_dtype="U5")


# ---- objects that aren't texts ----


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc80" * 3])
def test_lone_surrogates_are_a_value_error(text):
    index = StringIndex(TEXTS, 0)
    assert_refused(ValueError, "lone surrogate", index, EVERY_SINGLE, text)
    assert_not_there(index, text)
    refused(ValueError, "position 2 has a lone surrogate", index, ["a", "b", text])
    refused(ValueError, "position 2 has a lone surrogate", index, np.array(["a", "b", text]))
    refused(ValueError, "position 2 has a lone surrogate", index, np.array(["a", "b", text], object))


def test_codes_beyond_unicode_are_a_value_error():
    array = np.array([[ord("a"), 0], [ord("b"), 0x110000]], np.uint32).view("U2")[:, 0]
    refused(ValueError, "position 1", StringIndex(), array)


# ---- lengths ----


def test_keys_that_are_too_long_are_a_value_error_where_they_would_be_stored(index):
    """A text's length is that of its UTF-8."""
    one, long = ("é", "é" * 8_388_607 + "e") if index.key_type is str else (b"e", b"e" * 16_777_215)
    too_long = long + (b"e" if index.key_type is bytes else "e")
    index[long] = 1
    assert index.insert_many([long], [2]) == 0
    assert index[long] == 2
    before = index.copy()
    for operation in (index.__setitem__, index.setdefault):
        with pytest.raises(ValueError, match="16777216 bytes, more than the 16777215"):
            operation(too_long, 1)
    keys = [list(index)[1], too_long]
    for operation in (lambda: index.insert_many(keys, 9), lambda: type(index)(keys, 9)):
        with pytest.raises(ValueError, match="position 1 has 16777216 bytes, more than the 16777215"):
            operation()
    assert index == before
    # Everything else doesn't find it.
    assert too_long not in index
    assert index.get(too_long) is None
    assert index.pop(too_long, None) is None
    assert index.replace(too_long, 1) is None
    assert not index.compare_exchange(too_long, 1, 2)
    assert not index.compare_remove(too_long, 1)
    assert index.get_many(keys)[1].tolist() == [True, False]
    assert index.remove_many([too_long]) == 0
    assert index.floor(too_long) == index.lower(too_long) == (long, 2)
    assert index.ceiling(too_long) == index.higher(too_long) == index.higher(long)
    assert index.count(too_long) == index.count(long, closed="neither")
    assert index.count(None, too_long) == index.count(None, long, closed="both")
    assert index.prefix(too_long)[0] == []
    assert index.prefix(one * 9)[0] == [long]
    index.check_invariants()


# ---- shapes ----


def test_unequal_lengths_are_a_value_error(index):
    some = list(index)[:2]
    before = index.copy()
    for keys, values in ((some, [1]), (some[:1], [1, 2]), ([], [1]), (some[:1], [])):
        with pytest.raises(ValueError, match="keys but"):
            type(index)(keys, values)
        with pytest.raises(ValueError, match="keys but"):
            index.insert_many(keys, values)
    assert index == before


@pytest.mark.parametrize("keys", [np.array([["a"]]), np.array("a"), np.empty((0, 2), "U1"), 5, 1.5])
def test_other_dimensions_than_one_are_a_value_error(keys):
    refused(ValueError, "one-dimensional", StringIndex(TEXTS, 0), keys)


def test_masked_elements_are_a_value_error():
    index = StringIndex(TEXTS, 0)
    refused(ValueError, "masked", index, np.ma.masked_array(["a", "b"], [False, True]))
    assert index.contains_many(np.ma.masked_array(["a", "zz"])).tolist() == [True, False]


def test_empty_batches(index):
    for keys in ([], (), iter(()), np.array([], f"{'U' if index.key_type is str else 'S'}3")):
        values, found = index.get_many(keys)
        assert (values.dtype, len(values), len(found)) == (np.int64, 0, 0)
    assert index.insert_many([], []) == index.insert_many([], 5) == index.remove_many([]) == 0
    assert len(type(index)([], [])) == 0


# ---- the constructor, and other words ----


def test_unsorted_and_duplicate_keys_with_assume_sorted_are_a_value_error():
    with pytest.raises(ValueError, match="position 2 is smaller"):
        StringIndex(["a", "c", "b"], 0, assume_sorted=True)
    with pytest.raises(ValueError, match="position 1 equals"):
        BytesIndex([b"c", b"c"], 0, assume_sorted=True)
    assert StringIndex(["c", "a", "c"], [1, 2, 3]) == {"a": 2, "c": 3}
    assert StringIndex(["a", "c", "c"], [1, 2, 3]) == {"a": 1, "c": 3}


def test_keys_without_values_and_mappings_are_a_type_error():
    for arguments in ({"keys": ["a"]}, {"values": [1]}, {"keys": {"a": 2}, "values": [2]}):
        with pytest.raises(TypeError):
            StringIndex(**arguments)


def test_other_words_of_the_interface_are_a_value_error(index):
    for operation, match in (
        (lambda: index.range(closed="inside"), "closed"),
        (lambda: index.count(closed=["left"]), "closed"),
        (lambda: index.range(limit=-1), "limit"),
        (lambda: index.prefix(next(iter(index)), limit=-1), "limit"),
        (lambda: index.get_many([], threads=0), "threads"),
        (lambda: type(index)(fill=0), "fill"),
    ):
        with pytest.raises(ValueError, match=match):
            operation()


def test_inverted_ranges_are_empty():
    index = StringIndex(["a", "b", "c"], [1, 2, 3])
    for reverse in (False, True):
        assert index.range("c", "a", reverse=reverse)[0] == []
    assert index.count("c", "a") == index.remove_range("c", "a") == 0
    assert index.count("b", "b", closed="neither") == index.count("b", "b") == 0
    assert index.count("b", "b", closed="both") == 1
    assert index.remove_range("b", "b", closed="neither") == 0
    assert len(index) == 3


def test_a_missing_key_is_a_key_error(index):
    absent = "absent" if index.key_type is str else b"absent"
    for operation in (index.__getitem__, index.__delitem__, index.pop):
        with pytest.raises(KeyError) as caught:
            operation(absent)
        assert caught.value.args == (absent,)
    for operation in (type(index)().popitem, type(index)().peekitem):
        with pytest.raises(KeyError):
            operation()


@pytest.mark.parametrize(
    ("offsets", "keys", "match"),
    [
        ([0, 2, 1], b"ab", "offsets"),
        ([1, 2], b"ab", "offsets"),
        ([0, 3], b"ab", "offsets"),
        ([], b"", "offsets"),
        ([0, -1, 2], b"ab", "offsets"),
        ([0, 1, 2], b"a\xff", "position 1 isn't UTF-8"),
        # Together they are a text, but the first one ends amid a character.
        ([0, 1, 2], "é".encode(), "position 0 isn't UTF-8"),
    ],
)
def test_a_pickle_that_was_changed_is_a_value_error(offsets, keys, match):
    restore, (cls, *dtypes, _, _, _), _ = StringIndex(["a"], 1).__reduce__()
    values = np.zeros(max(0, len(offsets) - 1), "i8")
    with pytest.raises(ValueError, match=match):
        restore(cls, *dtypes, np.array(offsets, "i8"), np.frombuffer(keys, "u1"), values)


# ---- memory ----


def test_refused_memory_names_what_was_not_done(index):
    made = type(index)
    index = made(limit_bytes=1 << 18)
    order = np.random.default_rng(1).permutation(50_000).tolist()
    keys = [f"key-{at:07}" if made is StringIndex else b"key-%07d" % at for at in order]
    with pytest.raises(MemoryError) as caught:
        index.insert_many(keys, range(50_000))
    refused_at = caught.value.refused
    assert refused_at.dtype == np.int64
    assert 0 < len(refused_at) < len(keys)
    assert (np.diff(refused_at) > 0).all()
    there = index.contains_many(keys)
    assert np.flatnonzero(~there).tolist() == refused_at.tolist()
    assert len(index) == there.sum()
    index.check_invariants()
    with pytest.raises(MemoryError):
        made(keys, 0, limit_bytes=1 << 18)


LITTLE_MEMORY = """
import pickle
import resource
import numpy as np
from latchless import StringIndex
keys = np.array([f"{at:020}" for at in range(700_000)])
index = StringIndex(keys, 0)
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (12 << 20), resource.RLIM_INFINITY))
assert index.contains_many(keys[:10_000]).all()
asks = (index.copy, index.range, index.__arrow_c_stream__, lambda: pickle.dumps(index), lambda: index == index)
for ask in (*asks, lambda: index.get_many(keys), lambda: StringIndex(keys, 0)):
    try:
        ask()
    except MemoryError:
        print("refused")
assert index[keys[7]] == 0
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
index.check_invariants()
"""


@little_memory
def test_what_the_system_refuses_is_a_memory_error():
    assert printed(LITTLE_MEMORY).split() == ["refused"] * 7
