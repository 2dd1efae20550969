"""Protocols of Python and of other libraries: equality, copies of subclasses, frames, flags, equal keys."""

import copy
import pickle

import numpy as np
import pytest

from latchless import BytesIndex, DurableIndex, Index, MultiIndex, StringIndex

NAN, NAT = float("nan"), np.datetime64("NaT", "ns")


# ---- equality ----


@pytest.mark.parametrize("values", [[NAN, 1.0], np.array([NAT, np.datetime64(1, "ns")]), np.array([NAN, 1], "f4")])
@pytest.mark.parametrize("made", [Index, StringIndex])
def test_nan_and_nat_equal_themselves_in_equal_indexes(made, values):
    index = made([1, 2] if made is Index else ["1", "2"], values)
    assert index == index.copy() == copy.deepcopy(index) == pickle.loads(pickle.dumps(index))
    assert index == dict(index.items())
    assert dict(index.items()) == index
    other = index.copy()
    other[next(iter(other))] = values[1]
    assert index != other
    assert index != dict(other.items())


def test_values_of_one_dtype_are_compared_by_their_bits():
    assert Index([1], [0.0]) != Index([1], [-0.0])
    assert Index([1], [0.0]) == {1: -0.0}
    other_nan = np.array([0x7FF8000000000001], "u8").view("f8")
    assert Index([1], other_nan) != Index([1], [NAN])
    assert Index([1], other_nan) == Index([1], other_nan).copy()
    # Of other dtypes as numbers.
    assert Index([1], np.array([NAN], "f4")) == Index([1], np.array([NAN]))
    assert Index(np.array([1], "i2"), [2]) == Index([1], np.array([2], "u1"))
    assert Index([1], [2]) != Index([1], [3])
    assert Index([1], [2]) != Index([1, 2], [2, 2])
    assert Index([1], [NAN]) != {1: 1.0}
    assert Index([1], [NAN]) != {2: NAN}
    assert Index([1], [NAN]) != 1


# ---- subclasses ----


class Named(Index):
    """One with attributes, and a constructor of its own."""

    __slots__ = ("hidden", "later")

    def __new__(cls, name):
        made = super().__new__(cls, [2, 1], [20, 10])
        made.name, made.hidden = name, [name]
        return made


class NamedStrings(StringIndex):
    def __new__(cls, name):
        made = super().__new__(cls, ["b", "a"], [20, 10])
        made.name, made.hidden = name, [name]
        return made


class NamedBytes(BytesIndex):
    def __new__(cls, name):
        made = super().__new__(cls, [b"b", b"a"], ["x", "y"])
        made.name, made.hidden = name, [name]
        return made


class NamedRows(MultiIndex):
    def __new__(cls, name):
        made = super().__new__(cls, np.array([1, 1]))
        made.name, made.hidden = name, [name]
        return made


class Stateful(Index):
    def __getstate__(self):
        return {"told": self.told}

    def __setstate__(self, state):
        self.told = state["told"] + 1


@pytest.mark.parametrize("made", [Named, NamedStrings, NamedBytes, NamedRows])
def test_copies_of_subclasses_have_their_class_and_their_attributes(made):
    index = made("own")
    index.own = index
    copies = [
        (index.copy(), False),
        (copy.copy(index), False),
        (copy.deepcopy(index), True),
        *((pickle.loads(pickle.dumps(index, protocol)), True) for protocol in range(2, 6)),
    ]
    for other, deep in copies:
        assert type(other) is made
        assert other == index
        assert (other.name, other.hidden) == ("own", ["own"])
        assert (other.hidden is index.hidden) != deep
        assert (other.own is other) == deep
        assert not hasattr(other, "later")
        other.check_invariants()


def test_a_subclass_may_say_what_its_state_is():
    index = Stateful([1], [2])
    index.told = 1
    for other in (index.copy(), copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert (other.told, other) == (2, {1: 2})


def test_a_copy_of_a_durable_index_of_a_subclass_is_in_memory(tmp_path):
    class Own(DurableIndex):
        pass

    with Own(tmp_path, [1], [2]) as index:
        for other in (index.copy(), copy.copy(index), copy.deepcopy(index)):
            assert type(other) is Index
            assert other == index
        with pytest.raises(TypeError, match="copy"):
            pickle.dumps(index)


# ---- frames ----


def test_pandas_takes_keys_and_values():
    pandas = pytest.importorskip("pandas")
    for index in (Index([2, 1], [NAN, 10.5]), StringIndex(["b", "a"], [2, 1]), BytesIndex([b"b"], ["x"])):
        keys = index.range()[0]
        for misled in (pandas.DataFrame, np.asarray):
            with pytest.raises(TypeError, match="to_pandas"):
                misled(index)
        series = index.to_pandas()
        assert series.index.tolist() == list(keys)
        assert type(index).from_pandas(series) == index
        assert pandas.Series(index).index.tolist() == list(keys)
    series = pandas.Series([1.5, 2.5], index=[20, 10])
    assert Index.from_pandas(series, fill=1.0) == {10: 2.5, 20: 1.5}
    for other in ({1: 2}, np.arange(3)):
        with pytest.raises(TypeError, match="Series"):
            Index.from_pandas(other)
    with pytest.raises(TypeError, match="from_pandas"):
        Index(series)
    index = Index([10], [0.5])
    index.update(series)
    assert index == {10: 2.5, 20: 1.5}
    with pytest.raises(TypeError, match="Series"):
        index.update(pandas.DataFrame({"a": [1], "b": [2]}))
    words = StringIndex(["a"], [1])
    words.update(pandas.Series([5, 6], index=["a", "c"]), d=7)
    assert words == {"a": 5, "c": 6, "d": 7}
    with pytest.raises(TypeError, match="directory"):
        DurableIndex.from_pandas(series)


def test_polars_takes_keys_and_values():
    polars = pytest.importorskip("polars")
    assert Index([2, 1], [20, 10]).to_polars().rows() == [(1, 10), (2, 20)]
    assert StringIndex(["b", "a"], ["x", "y"]).to_polars().schema == {"key": polars.String, "value": polars.String}
    with pytest.raises(TypeError, match="string"):
        polars.DataFrame(Index([2, 1], [20, 10]))


def test_an_array_of_pyarrow_has_keys_and_values():
    pyarrow = pytest.importorskip("pyarrow")
    for index in (Index([2, 1], [20, 10]), StringIndex(["b"], ["x"])):
        entries = pyarrow.array(index)
        assert entries.to_pylist() == [{"key": key, "value": value} for key, value in index.items()]


def test_a_mapping_alone_makes_an_index():
    assert Index({2: 20, 1: 10}) == {1: 10, 2: 20}
    assert Index({2: 20, 1: 10}, key_dtype="i2").key_dtype == np.dtype("i2")
    assert Index(Index([1], [2])) == {1: 2}
    assert StringIndex({"a": 1}) == {"a": 1}
    assert BytesIndex({b"a": "x"}) == {b"a": "x"}
    assert Index({}) == {}
    for made, mapping in ((Index, {1: 2}), (StringIndex, {"a": 1})):
        with pytest.raises(TypeError, match="has its values"):
            made(mapping, [1])


def test_a_durable_index_is_made_of_a_mapping(tmp_path):
    with DurableIndex(tmp_path, {1: 10}) as index:
        assert index == {1: 10}


# ---- equal keys ----


@pytest.mark.parametrize("made", [Index, StringIndex])
def test_equal_keys_of_a_batch_are_chosen_or_refused(made):
    keys, values = [3, 1, 3, 2, 1], [0, 1, 2, 3, 4]
    keys = keys if made is Index else [str(key) for key in keys]
    one, two, three = keys[1], keys[3], keys[0]
    wanted = {"last": {one: 4, two: 3, three: 2}, "first": {one: 1, two: 3, three: 0}}
    for duplicates, entries in wanted.items():
        assert made(keys, values, duplicates=duplicates) == entries
        index = made([one], [9])
        assert index.insert_many(keys, values, duplicates=duplicates) == 2
        assert index == entries
        assert index.insert_many(keys, 7, duplicates=duplicates) == 0
        assert index == dict.fromkeys(entries, 7)
    index = made([one], [9])
    for work in (
        lambda: made(keys, values, duplicates="raise"),
        lambda: made(keys, 1, duplicates="raise"),
        lambda: index.insert_many(keys, values, duplicates="raise"),
    ):
        with pytest.raises(ValueError, match="3'?, at position 2 of the keys, was there before"):
            work()
    assert index == {one: 9}
    # A key that the index has is none of the batch.
    assert index.insert_many(keys[:2], values[:2], duplicates="raise") == 1
    assert index == {one: 1, three: 0}
    assert made(keys[:2], 1, duplicates="raise") == {one: 1, three: 1}
    for work in (lambda: made(keys, 1, duplicates="all"), lambda: index.insert_many(keys, 1, duplicates=True)):
        with pytest.raises(ValueError, match="duplicates is 'last', 'first' or 'raise'"):
            work()


def test_equal_keys_of_other_kinds(tmp_path):
    with pytest.raises(ValueError, match="position 1"):
        Index([0.0, -0.0], 1, duplicates="raise")
    assert Index([0.0, -0.0], [1, 2], duplicates="first") == {0.0: 1}
    assert BytesIndex([b"a", b"b", b"a"], ["x", "y", "z"], duplicates="first") == {b"a": "x", b"b": "y"}
    times = np.array([5, 5], "M8[ns]")
    with pytest.raises(ValueError, match="1970-01-01T00:00:00.000000005, at position 1"):
        Index(times, 1, duplicates="raise")
    with pytest.raises(ValueError, match="NaN"):
        Index([NAN, NAN], 1, duplicates="raise")
    with DurableIndex(tmp_path / "a", [1, 1], [2, 3], duplicates="first") as index:
        assert index == {1: 2}
    with pytest.raises(ValueError, match="position 1"):
        DurableIndex(tmp_path / "b", [1, 1], [2, 3], duplicates="raise")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1, 1], "b": [2, 3]})
    assert Index.from_arrow(table, duplicates="first") == {1: 2}
    with pytest.raises(ValueError, match="position 1"):
        StringIndex.from_arrow(pyarrow.table({"a": ["x", "x"], "b": [2, 3]}), duplicates="raise")


def test_positions_of_refused_entries_are_those_of_the_whole_batch():
    keys = np.repeat(np.random.default_rng(1).permutation(100_000), 2)
    index = Index(key_dtype="i8", value_dtype="i8", limit_bytes=1 << 18)
    with pytest.raises(MemoryError) as caught:
        index.insert_many(keys, np.arange(len(keys)), duplicates="first")
    refused = caught.value.refused
    assert not index.contains_many(keys[refused]).any()
    assert (refused % 2 == 0).all()
    assert len(index) + len(refused) == 100_000


# ---- flags ----


def test_flags_are_truths():
    index, strings, rows = Index([1, 2], [10, 20]), StringIndex(["a", "b"], [1, 2]), MultiIndex([1, 2])
    for yes, no in ((1, 0), (np.True_, np.False_), ("yes", "")):
        assert (index.peekitem(yes), index.peekitem(no)) == ((2, 20), (1, 10))
        assert (strings.peekitem(yes), strings.peekitem(last=no)) == (("b", 2), ("a", 1))
        for made in (index, strings, rows):
            assert list(made.range(reverse=yes)[0]) == list(made.range()[0])[::-1]
            assert list(made.range(reverse=no)[0]) == list(made.range()[0])
        assert strings.prefix("", reverse=yes)[0] == ["b", "a"]
        assert rows.rows(1, reverse=yes).tolist() == [0]
        assert index.asof([1], allow_exact_matches=no)[2].tolist() == [False]
        assert index.asof([1], allow_exact_matches=yes)[2].tolist() == [True]
        for made, keys in ((Index, [2, 1]), (StringIndex, ["b", "a"]), (MultiIndex, ["b", "a"])):
            more = () if made is MultiIndex else (0,)
            with pytest.raises(ValueError, match="ascend|smaller"):
                made(keys, *more, assume_sorted=yes)
            assert len(made(keys, *more, assume_sorted=no)) == 2
    assert index.copy().popitem(0) == (1, 10)
    assert strings.copy().popitem(1) == ("b", 2)
