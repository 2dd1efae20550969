"""Composite keys: every operation against a sorted list, errors that name the part, files, as-of joins."""

import bisect
import copy
import itertools
import pickle
import threading
import zlib

import numpy as np
import pytest
from conftest import assert_same, run_all

from latchless import Index, MultiIndex

# Texts with zeros, which are escaped in a part that another one follows, and texts that begin others.
TEXTS = ["", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "b" * 30, "é", "\0" * 130, "\0" * 127 + "z"]
PARTS = {
    str: TEXTS,
    bytes: [text.encode() for text in TEXTS] + [b"\xff", b"\x00\xff"],
    "i8": [-(1 << 63), -1, 0, 1, 255, (1 << 63) - 1],
    "u2": [0, 1, 65_535],
    "f8": [float("-inf"), -1.5, 0.0, 2.5, float("inf")],
    "M8[ms]": [np.datetime64(number, "ms") for number in (-5, 0, 7, 1 << 40)],
}
KINDS = [(str, "M8[ms]"), ("i8", str), (bytes, str, "f8"), ("u2", "f8"), (str, bytes), ("M8[ms]", bytes, "i8")]


@pytest.fixture(params=KINDS, ids=lambda kinds: "-".join(getattr(kind, "__name__", kind) for kind in kinds))
def kinds(request):
    return request.param


@pytest.fixture
def possible(kinds, rng):
    """Keys, some of which will be there."""
    every = list(itertools.product(*(PARTS[kind] for kind in kinds)))
    return [every[at] for at in rng.permutation(len(every))[:300].tolist()]


@pytest.fixture
def model(possible):
    return {key: number for number, key in enumerate(possible[: len(possible) // 2])}


def columns(keys, kinds):
    """Keys as a tuple of columns."""
    parts = zip(*keys, strict=True) if keys else [[] for _ in kinds]
    return tuple(
        list(part) if kind in (str, bytes) else np.array(part, kind)
        for part, kind in zip(parts, kinds, strict=True)
    )


def listed(keys):
    """The tuples of columns."""
    return list(zip(*(key if isinstance(key, list) else list(key) for key in keys), strict=True))


@pytest.fixture
def index(model, kinds):
    return Index(columns(list(model), kinds), list(model.values()), key_dtype=kinds)


def test_entries_are_in_the_order_of_tuples(index, model):
    ordered = sorted(model.items())
    assert list(index.items()) == ordered
    assert list(reversed(index)) == [key for key, _ in ordered[::-1]]
    assert index.first() == ordered[0]
    assert index.last() == ordered[-1]
    assert index == Index(model, key_dtype=index.key_dtype)
    index.check_invariants()


def test_single_keys(index, model, possible):
    ordered = sorted(model)
    for key in possible:
        assert (key in index, index.get(key)) == (key in model, model.get(key))
        at, after = bisect.bisect_left(ordered, key), bisect.bisect_right(ordered, key)
        near = {
            index.floor: after - 1,
            index.lower: at - 1,
            index.ceiling: at,
            index.higher: after,
        }
        for ask, place in near.items():
            expected = ordered[place] if 0 <= place < len(ordered) else None
            assert ask(key) == (None if expected is None else (expected, model[expected]))
        assert index.rank(key) == at


def test_changes(index, model, possible):
    for number, key in enumerate(possible):
        if number % 3 == 0:
            index[key] = model[key] = -number
        elif number % 3 == 1:
            assert index.pop(key, None) == model.pop(key, None)
        else:
            assert index.setdefault(key, 7) == model.setdefault(key, 7)
    assert dict(index.items()) == model


def test_batches(index, model, possible, kinds):
    asked = columns(possible, kinds)
    values, found = index.get_many(asked, -1)
    assert found.tolist() == [key in model for key in possible]
    assert values.tolist() == [model.get(key, -1) for key in possible]
    assert_same(index.contains_many(possible), found)  # A list of tuples is the same.
    ordered = sorted(model)
    assert index.rank_many(asked).tolist() == [bisect.bisect_left(ordered, key) for key in possible]
    keys, values, found = index.floor_many(asked)
    places = [bisect.bisect_right(ordered, key) - 1 for key in possible]
    assert found.tolist() == [place >= 0 for place in places]
    some = [each for each, place in zip(listed(keys), places, strict=True) if place >= 0]
    assert some == [ordered[place] for place in places if place >= 0]
    assert index.insert_many(asked, 5) == len(possible) - len(model)
    assert set(index.values()) == {5}
    assert index.remove_many(columns(possible[::2], kinds)) == len(possible[::2])
    assert list(index) == sorted(possible[1::2])


def test_ranges(index, model, possible, kinds):
    ordered = sorted(model)
    pairs = list(itertools.pairwise(possible[:60]))
    for low, high in pairs:
        keys, values = index.range(low, high, closed="right")
        expected = [key for key in ordered if low < key <= high]
        assert listed(keys) == expected
        assert values.tolist() == [model[key] for key in expected]
        assert index.count(low, high) == sum(low <= key < high for key in ordered)
        assert (
            listed(index.range(low, None, reverse=True, limit=3)[0])
            == [key for key in ordered if key >= low][:-4:-1]
        )
    lows, highs = (columns(list(ends), kinds) for ends in zip(*pairs, strict=True))
    offsets, keys, _ = index.range_many(lows, highs)
    counts = [sum(low <= key < high for key in ordered) for low, high in pairs]
    assert np.diff(offsets).tolist() == index.count_many(lows, highs).tolist() == counts
    assert listed(keys) == [key for low, high in pairs for key in ordered if low <= key < high]


def test_first_parts(index, model, kinds):
    ordered = sorted(model)
    for first in PARTS[kinds[0]]:
        expected = [key for key in ordered if key[0] == first]
        assert listed(index.prefix(first)[0]) == listed(index.prefix((first,))[0]) == expected
        assert index.count_prefix(first) == len(expected)
        # Fewer parts are before all keys that have them, as in Python.
        assert index.rank((first,)) == bisect.bisect_left(ordered, (first,))
        assert (first,) not in index
        before = [key for key in ordered if key < (first,)]
        assert index.floor((first,)) == (None if not before else (before[-1], model[before[-1]]))
    assert index.remove_prefix(ordered[0][:1]) == sum(key[0] == ordered[0][0] for key in ordered)


def test_a_last_text_has_prefixes():
    index = Index(([1, 1, 1, 2], ["/a", "/a/b", "/b", "/a"]), 0)
    assert listed(index.prefix((1, "/a"))[0]) == [(1, "/a"), (1, "/a/b")]


def test_questions_between_keys():
    index = Index((np.array([1, 2, 2, 4], "u8"), ["", "", "x", "x"]), range(4))
    assert [index.floor((number, "y")) for number in (-1, 0.5, 2.5, 3, 1 << 70)] == [
        None,
        None,
        ((2, "x"), 2),
        ((2, "x"), 2),
        ((4, "x"), 3),
    ]
    assert index.ceiling((1.5, "y")) == ((2, ""), 1)
    assert index.get((1.5, "")) is None
    assert index.floor((float("nan"), "")) is None
    last = Index((["a", "b"], np.array([5, 6], "u8")), 0)
    assert last.floor(("b", -1)) == (("a", 5), 0)
    assert last.ceiling(("a", 1 << 70)) == (("b", 6), 0)
    assert (last.lower(("b", 6.5)), last.higher(("b", 5.5))) == ((("b", 6), 0), (("b", 6), 0))
    assert last.range(("a", 5.5), ("b", 5.5))[1].tolist() == []


@pytest.mark.parametrize(
    ("work", "kind", "said"),
    [
        (lambda index: index["a"], KeyError, "a"),
        (lambda index: index.floor("a"), TypeError, "a tuple of 2 parts, .str; int64., not of type str"),
        (lambda index: index.setdefault((1, 2), 0), TypeError, "part 0 of the key: a key is str, not of type int"),
        (lambda index: index.setdefault(("a", "b"), 0), TypeError, "part 1 of the key: .* can't be made from str"),
        (
            lambda index: index.setdefault(("a", 1 << 63), 0),
            OverflowError,
            "part 1 of the key: .* outside of int64",
        ),
        (lambda index: index.setdefault(("a",), 0), ValueError, "a key has 2 parts, .str; int64., not 1"),
        (lambda index: index.prefix(("a", 1, 2)), ValueError, "not 3"),
        (lambda index: index.prefix(5), TypeError, "part 0 of the key"),
        (lambda index: index.get_many((["a"], ["b"])), TypeError, "part 1 of the keys"),
        (lambda index: index.get_many(([1], [2])), TypeError, "part 0 of the keys"),
        (lambda index: index.insert_many((["a"], [1.5]), 0), TypeError, "part 1 of the keys"),
        (lambda index: index.get_many((["a", "b"], [1, 2, 3])), ValueError, "2 keys but 3 elements of part 1"),
        (lambda index: index.get_many((["a"], [1], [2])), ValueError, "not 3"),
        (lambda index: index.get_many([("a", 1), ("a",)]), ValueError, "not 1 as at position 1"),
        (lambda index: index.get_many(["a"]), TypeError, "the key at position 0 is of type str"),
        (lambda index: index.nearest(("a", 1)), TypeError, "asof measures"),
        (lambda index: index.asof([1], by="a", tolerance="1"), TypeError, "tolerance for keys of dtype int64"),
        (lambda index: index.to_arrow(), TypeError, "no column of Arrow's"),
        (
            lambda index: Index((["a", "a"], [1, 1]), 0, duplicates="raise"),
            ValueError,
            r"\('a', 1\), at position 1",
        ),
        (lambda index: Index([1], [1]).asof([1], by="a"), TypeError, "by is for keys that are tuples"),
        (lambda index: Index(["a"], 1, key_dtype=(str,)), ValueError, "at least two parts"),
    ],
)
def test_errors_name_the_part(work, kind, said):
    index = Index((["a", "b"], [1, 2]), 0)
    with pytest.raises(kind, match=said):
        work(index)
    assert list(index) == [("a", 1), ("b", 2)]


def test_times_that_are_none_name_their_part():
    times = np.array(["2024-01-01", "NaT"], "M8[s]")
    with pytest.raises(ValueError, match="part 0 of the key: NaT can't be a key, but the key at position 1"):
        Index((times, ["a", "b"]), 0)


def test_files_pickles_and_copies(index, kinds, tmp_path):
    path = tmp_path / "index.arrow"
    assert index.save(path) == len(index)
    for same in (Index.open(path), pickle.loads(pickle.dumps(index)), copy.deepcopy(index), index.copy()):
        assert same == index
        assert same.key_dtype == index.key_dtype
    assert Index.open(path, key_dtype=kinds) == index
    with pytest.raises(ValueError, match="keys of type"):
        Index.open(path, key_dtype=(str, str, str))
    with pytest.raises(ValueError, match="keys of type"):
        Index.open(path, key_dtype="i8")


@pytest.mark.parametrize("made", [Index, MultiIndex])
@pytest.mark.parametrize(
    ("kinds", "other"), [((str, "i8"), b"KEYSXX"), ((str, "i8"), b"K\xffYS\0\0"), ((bytes, str), b"KEYS\0\xff")]
)
def test_a_file_with_bytes_that_are_no_key_is_refused(made, kinds, other, tmp_path):
    """A maliciously made file, whose checksum is right."""
    path = tmp_path / "index.arrow"
    first, last = "KEYS" if kinds[0] is str else b"KEYS", "x" if kinds[1] is str else 7
    made([(first, last)], [1], key_dtype=kinds).save(path)
    assert len(made.open(path)) == 1
    data = path.read_bytes()
    assert data.count(b"KEYS\0\0") == 1
    data = data.replace(b"KEYS\0\0", other)
    digits = data.rindex(b"crc32=") + len(b"crc32=")
    checksum = zlib.crc32(data[:digits] + b"0" * 8 + data[digits + 8 :])
    path.write_bytes(data[:digits] + f"{checksum:08x}".encode() + data[digits + 8 :])
    with pytest.raises(ValueError, match="row 0 has no key"):
        made.open(path)


def test_zones_of_a_part(tmp_path):
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-01-01", periods=3, tz="Europe/Berlin")
    index = Index((["a", "b", "b"], times), range(3))
    index.save(tmp_path / "index.arrow")
    for same in (index, Index.open(tmp_path / "index.arrow")):
        (_, stamps), _ = same.range()
        assert list(stamps) == list(times)
        assert same["b", times[2]] == 2
        with pytest.raises(TypeError, match="part 1 of the key"):
            same.floor(("a", times[0].tz_localize(None)))


def test_pandas_and_columns():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.5, 2.5], pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    index = Index.from_pandas(series)
    assert index.to_pandas().to_dict() == series.to_dict()
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"name": ["a", "b", "c"], "number": [1, 2, 3]})
    assert index.get_many((frame["name"], frame["number"]))[1].tolist() == [True, True, False]
    assert index.get_many(("a", [1, 2]))[1].tolist() == [True, False]  # One element stands for all.


def test_rows_of_composite_keys():
    rows = MultiIndex((["a", "b", "a", "a"], [1, 2, 1, 0]))
    assert rows.rows(("a", 1)).tolist() == [0, 2]
    assert rows.join((["b", "a"], [2, 1]))[1].tolist() == [1, 0, 2]
    assert listed(rows.prefix("a")[0]) == [("a", 0), ("a", 1), ("a", 1)]
    assert pickle.loads(pickle.dumps(rows)) == rows


# ---- as-of joins ----


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("tolerance", [None, "4s", "0s"])
@pytest.mark.parametrize("copied_from", [1, 1000])
def test_asof_by_against_pandas(rng, monkeypatch, direction, exact, tolerance, copied_from):
    """Random symbols, of which some are on one side alone, and times with many ties."""
    monkeypatch.setattr("latchless._neighbours.BATCH_MIN", copied_from)
    pandas = pytest.importorskip("pandas")
    symbols = np.array(["EUR", "EURUSD", "JPY", "A", "Z", "ÄÖ"])
    start = np.datetime64("2024-01-01", "s")

    def side(count, some):
        times = np.sort(start + rng.integers(0, 200, count).astype("m8[s]"))
        return pandas.DataFrame({"time": times, "symbol": symbols[some][rng.integers(0, len(some), count)]})

    quotes, trades = side(300, [0, 1, 2, 3]), side(500, [0, 1, 2, 4, 5])
    # An index has one entry for a key: of pandas' equal rows the last one counts backward, the first one forward.
    quotes = quotes.drop_duplicates(["time", "symbol"], ignore_index=True)
    quotes["price"] = rng.normal(size=len(quotes))
    quotes["quoted"] = quotes["time"]
    limit = None if tolerance is None else pandas.Timedelta(tolerance)
    how = {"direction": direction, "allow_exact_matches": exact, "tolerance": limit}
    expected = pandas.merge_asof(trades, quotes, on="time", by="symbol", **how)
    index = Index((quotes["symbol"], quotes["time"]), quotes["price"])
    (names, times), prices, found = index.asof(trades["time"], by=trades["symbol"], **how)
    assert_same(found, expected["price"].notna())
    assert_same(prices, expected["price"])
    assert_same(times, expected["quoted"])
    assert [name for name in names if name is not None] == trades["symbol"][found].tolist()
    # The same of keys as a whole, by several threads, and of one symbol that stands for all.
    again = index.asof((trades["symbol"], trades["time"]), threads=2, **how)
    assert_same(again[1], prices)
    alone = index.asof(trades["time"], by="EUR", **how)[1]
    its = (trades["symbol"] == "EUR").to_numpy()
    assert_same(alone[its], prices[its])


def test_asof_by_several_parts():
    index = Index((["x", "x", "y"], [1, 2, 1], [10.0, 20.0, 30.0]), ["a", "b", "c"])
    _, values, found = index.asof([25.0, 25.0, 25.0, 35.0], by=(["x", "x", "y", "y"], [1, 2, 2, 1]))
    assert (values, found.tolist()) == (["a", "b", None, "c"], [True, True, False, True])


def test_asof_of_last_parts_that_are_texts():
    index = Index(([1, 1, 2], ["b", "d", "a"]), [1, 2, 3])
    assert index.asof(["c", "a", "z"], by=[1, 1, 2])[1].tolist() == [1, 0, 3]
    for how in ({"direction": "nearest"}, {"tolerance": 1}):
        with pytest.raises(TypeError, match="no distance"):
            index.asof(["c"], by=[1], **how)


def test_nearest_beside_a_writer_is_of_one_moment():
    """One of two near entries is there at each moment; all others are far away."""
    index = Index(("a", np.arange(0, 100_000, 1000)), 0)
    base, stop = 50_500, threading.Event()
    index["a", base - 1] = 1

    def write():
        while not stop.is_set():
            for add, remove in ((base + 1, base - 1), (base - 1, base + 1)):
                index["a", add] = 1
                del index["a", remove]

    def ask():
        try:
            for _ in range(30):
                (_, keys), _, found = index.asof(np.full(500, base), by="a", direction="nearest")
                assert found.all()
                assert np.abs(keys - base).max() == 1
        finally:
            stop.set()

    run_all(write, ask)


# ---- large batches, which are answered from a copy of the index ----


@pytest.fixture
def copied(monkeypatch):
    """Counts the batches that were answered from a copy."""
    counted = []
    answer = Index._near_in_groups

    def counting(self, *told):
        found = answer(self, *told)
        counted.append(found is not None)
        return found

    monkeypatch.setattr(Index, "_near_in_groups", counting, raising=False)
    return counted


GROUPS = {
    "str": lambda codes: np.array(["EUR", "EURUSD", "", "A\0", "ÄÖ", "Z" * 30], object)[codes].tolist(),
    "bytes": lambda codes: np.array([b"", b"\0", b"\0\0", b"\xff", b"a", b"a\0b"], object)[codes].tolist(),
    "int": lambda codes: codes - 3,
    "u1": lambda codes: codes.astype("u1"),
    "float": lambda codes: codes / 2 - 1,
    "time": lambda codes: codes.astype("M8[D]"),
    "category": lambda codes: pytest.importorskip("pandas").Categorical.from_codes(codes, [*"fedcba"]),
    "two": lambda codes: (codes // 2, np.array(["x", "x\0y"])[codes % 2].tolist()),
}


@pytest.mark.parametrize("kind", ["i8", "u4", "f8", "M8[us]"])
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("values", ["f8", str])
def test_large_batches_by_groups(rng, copied, monkeypatch, kind, group, values):
    """Those that are answered from a copy of the index have the answers of those that aren't."""
    times = rng.integers(0, 400, 700).astype(kind)
    its = rng.integers(0, 5, 700)
    numbers = rng.normal(size=700)
    index = Index(keys_of(GROUPS[group](its), times), numbers if values == "f8" else list(map(str, numbers)))
    asked = rng.integers(0, 420, 1500).astype(kind)
    if rng.random() < 0.5:
        asked = np.sort(asked)
    by = GROUPS[group](rng.integers(1, 6, 1500))
    for direction, exact in (("backward", True), ("backward", False), ("forward", True), ("forward", False)):
        for tolerance in (None, 0, 3):
            limit = tolerance if tolerance is None or kind[0] != "M" else np.timedelta64(tolerance, "us")
            how = {"direction": direction, "allow_exact_matches": exact, "tolerance": limit}
            found = index.asof(asked, by=by, **how)
            assert copied.pop() is True
            with monkeypatch.context() as patched:
                patched.setattr("latchless._neighbours.BATCH_MIN", 1 << 40)
                expected = index.asof(asked, by=by, **how)
            assert copied == []
            assert len(found[0]) == len(expected[0])
            for ours, theirs in zip((*found[0], *found[1:]), (*expected[0], *expected[1:]), strict=True):
                assert type(ours) is type(theirs)
                assert_same(ours, theirs) if isinstance(ours, np.ndarray) else None
                assert isinstance(ours, np.ndarray) or ours == theirs


def keys_of(by, times):
    return (*by, times) if isinstance(by, tuple) else (by, times)


def test_large_batches_are_refused_as_small_ones(copied):
    index = Index((["a", "b"], [1.5, 2.5]), [1, 2])
    asked = np.arange(2000.0)
    asked[1234] = np.nan
    with pytest.raises(
        ValueError, match="part 1 of the key: NaN can't be a key, but the key at position 1234 is NaN"
    ):
        index.asof(asked, by="a")
    with pytest.raises(ValueError, match="there are 2000 keys but 3 "):
        index.asof(np.arange(2000.0), by=["a", "b", "a"])
    with pytest.raises(TypeError, match="part 0 of the keys"):
        index.asof(np.arange(2000.0), by=np.arange(2000))
    numbers = Index((np.array([1.5, 2.5]), [1, 2]), [1, 2])
    with pytest.raises(
        ValueError, match="part 0 of the key: NaN can't be a key, but the key at position 7 is NaN"
    ):
        numbers.asof(np.arange(2000), by=np.where(np.arange(2000) == 7, np.nan, 1.5))
    assert index.asof(np.arange(2000.0), by="c")[2].sum() == 0
    assert index.asof(np.arange(2000.0) + 3, by="b")[1].tolist() == [2] * 2000
    assert Index(key_dtype=(str, float), value_dtype=int).asof(np.arange(2000.0), by="c")[2].sum() == 0
    # Large indexes aren't copied for small batches.
    large = Index((np.arange(9000) % 7, np.arange(9000)), 1)
    copied.clear()
    assert large.asof(np.arange(3, 2003), by=3)[2].all()
    assert copied == []


def test_a_copy_beside_a_removal_is_put_away(copied):
    count = 60_000
    index = Index((np.zeros(count, int), np.arange(count)), 1)
    done = threading.Event()

    def remove():
        while not done.is_set():
            del index[0, 7]
            index[0, 7] = 1

    def read():
        try:
            for _ in range(500):
                assert index.asof(np.arange(8, count), by=0)[2].all()
                if False in copied:
                    break
        finally:
            done.set()

    run_all(remove, read)
    assert False in copied


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_large_batches_beside_removals(direction):
    """At each moment one of two neighbours is there. An answer farther away was never the nearest entry."""
    count, far = 4000, 10
    times = np.arange(count) * far
    index = Index((np.arange(count) % 3, times), 0)
    near = 1 if direction == "forward" else -1
    first, second = ((np.arange(count) % 3, times + far // 2 + step * near) for step in (1, 2))
    index.insert_many(first, 1)
    done = threading.Event()

    def write():
        while not done.is_set():
            index.insert_many(second, 1)
            index.remove_many(first)
            index.insert_many(first, 1)
            index.remove_many(second)

    def read():
        try:
            for _ in range(60):
                (_, found), values, _ = index.asof(times + far // 2, by=np.arange(count) % 3, direction=direction)
                assert (np.abs(found - times - far // 2) <= 2).all()
                assert values.all()
        finally:
            done.set()

    run_all(write, read)


def test_categories_as_parts(rng):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    names = np.array(["b", "a", "c"], object)[rng.integers(0, 3, 50)]
    times = np.arange(50)
    expected = Index((names.tolist(), times), times)
    categories = [
        pandas.Categorical(names),
        pandas.Series(pandas.Categorical(names, ["c", "a", "b"])),
        pandas.CategoricalIndex(names),
        polars.Series(names, dtype=polars.Categorical),
        polars.Series(names, dtype=polars.Enum(["c", "b", "a"])),
        arrow.array(names.tolist()).dictionary_encode(),
        arrow.chunked_array([arrow.array(names.tolist()).dictionary_encode()]),
    ]
    for column in categories:
        assert Index((column, times), times) == expected
        assert expected.get_many((column, times))[1].all()
        assert MultiIndex(column).rows("b").tolist() == np.flatnonzero(names == "b").tolist()
        assert Index(column, times)["b"] == np.flatnonzero(names == "b")[-1]
        assert expected.asof(times, by=column)[2].all()
    numbers = pandas.Categorical([30, 10, 30])
    assert Index(numbers, [1, 2, 3]).to_pandas().to_dict() == {10: 2, 30: 3}
    with pytest.raises(ValueError, match="position 1 is"):
        Index(pandas.Categorical(["a", None]), [1, 2])
