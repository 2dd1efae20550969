"""One body for all kinds of keys: every operation that they share, against sorted lists."""

import bisect
import copy
import pickle
import random

import numpy as np
import pytest
from conftest import run_all

from latchless import BytesIndex, Index, StringIndex

KINDS = ["i8", "u4", "f8", "M8[s]", "str", "bytes"]
COUNT = 3000


def keys_of(kind, numbers):
    """Keys of a kind in the order of these numbers, as Python's objects."""
    if kind in ("str", "bytes"):
        texts = [f"{number // 50:04}/é" + "x" * (number % 50) for number in numbers]
        return texts if kind == "str" else [text.encode() for text in texts]
    array = np.array(numbers, "i8").astype(kind)
    return list(array) if kind[0] == "M" else array.tolist()


def column_of(kind, keys):
    """Keys as a method takes them."""
    return keys if kind in ("str", "bytes") else np.array(keys, kind)


def listed(column):
    if isinstance(column, list):
        return column
    return list(column) if column.dtype.kind == "M" else column.tolist()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind):
    numbers = random.Random(20261127).sample(range(1, 100_000, 3), COUNT)
    return dict(sorted(zip(keys_of(kind, numbers), range(COUNT), strict=True)))


@pytest.fixture
def index(kind, model):
    keys = list(model)
    random.Random(1).shuffle(keys)
    return Index(column_of(kind, keys), [model[key] for key in keys])


@pytest.fixture
def queries(kind, model):
    """Keys that are there, and keys that aren't: before all, between, and after all."""
    numbers = [0, *random.Random(2).sample(range(100_000), 400), 100_000]
    return [*keys_of(kind, numbers), *list(model)[:: COUNT // 100]]


def neighbour(ordered, key, direction, exact):
    """The position of the nearest key on a side; None: there is none."""
    if direction == "backward":
        at = (bisect.bisect_right if exact else bisect.bisect_left)(ordered, key) - 1
    else:
        at = (bisect.bisect_left if exact else bisect.bisect_right)(ordered, key)
    return at if 0 <= at < len(ordered) else None


def test_the_first_keys_say_which_kind_it_is(kind, model, index):
    expected = {"str": str, "bytes": bytes}.get(kind) or np.dtype(kind)
    assert index.key_dtype == expected
    assert type(index) is Index
    assert Index(key_dtype=expected).key_dtype == expected
    assert Index(model).key_dtype == (expected if kind in ("str", "bytes", "i8", "f8", "M8[s]") else np.int64)
    assert list(index.items()) == list(model.items())
    assert repr(index).startswith("Index({")
    assert f"key_dtype={expected.__name__ if isinstance(expected, type) else repr(str(expected))}" in repr(index)


def test_lookups(kind, model, index, queries):
    asked = column_of(kind, queries)
    expected = [model.get(key, 0) for key in queries]
    there = [key in model for key in queries]
    for threads in (1, 3):
        values, found = index.get_many(asked, threads=threads)
        assert (values.tolist(), found.tolist()) == (expected, there)
        assert index.contains_many(asked, threads=threads).tolist() == there
    assert index.get_many(asked, -1)[0].tolist() == [model.get(key, -1) for key in queries]
    out, flags = np.full(len(queries), -7), ~np.array(there)
    values, found = index.get_many(asked, out=out, found=flags)
    assert values is out
    assert found is flags
    assert (out.tolist(), flags.tolist()) == (expected, there)
    with pytest.raises(ValueError, match="shape"):
        index.get_many(asked, out=out[1:])
    for key in queries[::9]:
        assert (index.get(key), index.get(key, "none"), key in index) == (
            model.get(key),
            model.get(key, "none"),
            key in model,
        )


@pytest.mark.parametrize("direction", ["backward", "forward"])
@pytest.mark.parametrize("exact", [True, False])
def test_neighbours_one_by_one_and_in_batches(kind, model, index, queries, direction, exact):
    ordered = list(model)
    name = {("backward", True): "floor", ("forward", True): "ceiling"}.get((direction, exact))
    name = name or {"backward": "lower", "forward": "higher"}[direction]
    places = [neighbour(ordered, key, direction, exact) for key in queries]
    entries = [None if at is None else (ordered[at], model[ordered[at]]) for at in places]
    assert entries.count(None) >= 1
    assert [getattr(index, name)(key) for key in queries[::7]] == entries[::7]
    for threads in (1, 3):
        asked = column_of(kind, queries * 9)
        many = getattr(index, f"{name}_many")(asked, threads=threads)
        joined = index.asof(asked, direction=direction, allow_exact_matches=exact, threads=threads)
        for keys, values, found in (many, joined):
            assert found.tolist() == [at is not None for at in places] * 9
            got = list(zip(listed(keys), values.tolist(), strict=True))
            expected = entries * 9
            assert [each for each, there in zip(got, found, strict=True) if there] == [
                entry for entry in expected if entry is not None
            ]
            assert all(value == 0 for (_, value), there in zip(got, found, strict=True) if not there)
            if kind in ("str", "bytes"):
                assert all(key is None for (key, _), there in zip(got, found, strict=True) if not there)


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_ranges_one_by_one_and_many(kind, model, index, queries, closed):
    ordered, rng = list(model), random.Random(3)
    left, right = closed in ("left", "both"), closed in ("right", "both")

    def inside(low, high):
        start = 0 if low is None else (bisect.bisect_left if left else bisect.bisect_right)(ordered, low)
        end = COUNT if high is None else (bisect.bisect_right if right else bisect.bisect_left)(ordered, high)
        return ordered[start:end]

    lows, highs = (rng.sample(queries, 60) for _ in range(2))
    lows.append(ordered[7])
    highs.append(ordered[7])
    for low, high in [*zip(lows, highs, strict=True), (None, highs[0]), (lows[0], None), (None, None)][::3]:
        keys, values = index.range(low, high, closed=closed)
        assert listed(keys) == inside(low, high)
        assert values.tolist() == [model[key] for key in inside(low, high)]
        assert index.count(low, high, closed=closed) == len(keys)
        back = index.range(low, high, closed=closed, reverse=True, limit=5)[0]
        assert listed(back) == inside(low, high)[::-1][:5]
    offsets, keys, values = index.range_many(column_of(kind, lows), column_of(kind, highs), closed=closed)
    sizes = [len(inside(low, high)) for low, high in zip(lows, highs, strict=True)]
    assert offsets.tolist() == [0, *np.cumsum(sizes).tolist()]
    expected = [key for low, high in zip(lows, highs, strict=True) for key in inside(low, high)]
    assert listed(keys) == expected
    assert values.tolist() == [model[key] for key in expected]
    counts = index.count_many(column_of(kind, lows), column_of(kind, highs), closed=closed)
    assert counts.tolist() == sizes
    with pytest.raises(ValueError, match="low ends but"):
        index.range_many(column_of(kind, lows), column_of(kind, highs[1:]))
    with pytest.raises(ValueError, match="low ends but"):
        index.count_many(column_of(kind, lows), column_of(kind, highs[1:]))


def test_positions(kind, model, index, queries):
    ordered = list(model)
    ranks = [bisect.bisect_left(ordered, key) for key in queries]
    asked = column_of(kind, queries)
    assert index.rank_many(asked).tolist() == ranks
    assert index.rank_many(asked).dtype == np.int64
    assert [index.rank(key) for key in queries[::17]] == ranks[::17]
    for at in (0, 1, COUNT // 2, COUNT - 1, -1, -COUNT):
        assert index.nth(at) == (ordered[at], model[ordered[at]])
    for at in (COUNT, -COUNT - 1, 2**60):
        with pytest.raises(IndexError):
            index.nth(at)
    for parts in (1, 2, 7, 100):
        points = listed(index.split_points(parts))
        assert len(points) == parts - 1
        sizes = np.diff([0, *[ordered.index(point) for point in points], COUNT])
        assert sizes.max() - sizes.min() <= 1
    two = Index(column_of(kind, ordered[:2]), 0)
    assert listed(two.split_points(10)) == ordered[1:2]
    assert listed(Index(key_dtype=index.key_dtype).split_points(3)) == []
    with pytest.raises(ValueError, match="parts"):
        index.split_points(0)
    assert (index.first(), index.last()) == (index.nth(0), index.nth(-1))


def test_batches_that_change(kind, model, queries):
    ordered = list(model)
    index = Index(key_dtype=column_of(kind, ordered).dtype if kind not in ("str", "bytes") else type(ordered[0]))
    assert index.insert_many(column_of(kind, ordered), list(model.values()), threads=3) == COUNT
    assert index == model
    twice = column_of(kind, [ordered[5], ordered[5]])
    assert index.insert_many(twice, [1, 2], duplicates="first") == 0
    assert index[ordered[5]] == 1
    with pytest.raises(ValueError, match="position 1 of the keys"):
        index.insert_many(twice, [3, 4], duplicates="raise")
    assert index.insert_many(twice, [3, 4]) == 0
    assert index[ordered[5]] == 4
    gone = [key for key in queries if key in model]
    assert index.remove_many(column_of(kind, queries * 9), threads=3) == len(set(gone))
    left = [key for key in ordered if key not in set(gone)]
    assert list(index) == left
    assert index.remove_range(left[10], left[-10]) == len(left) - 20
    assert list(index) == left[:10] + left[-10:]
    index.check_invariants()


def test_values_missing_where_there_is_no_default(kind, model):
    keys = list(model)[:9]
    index = Index(column_of(kind, keys[:5]), np.array([1.5] * 5))
    values, found = index.get_many(column_of(kind, keys))
    assert np.isnan(values[5:]).all()
    assert found.tolist() == [True] * 5 + [False] * 4


def test_copies_pickles_and_files(kind, index, model, tmp_path):
    for other in (index.copy(), copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert type(other) is Index
        assert (other.key_dtype, other.value_dtype) == (index.key_dtype, index.value_dtype)
        assert other == index
        other.clear()
        assert other != index
    path = tmp_path / "index.arrow"
    assert index.save(path) == COUNT
    opened = Index.open(path)
    assert (type(opened), opened.key_dtype) == (Index, index.key_dtype)
    assert opened == index
    assert Index.open(path, key_dtype=index.key_dtype, value_dtype="i8") == model
    for dtypes in ({"key_dtype": "u2"}, {"value_dtype": "f4"}, {"value_dtype": bytes}):
        with pytest.raises(ValueError, match=r"the file has (keys|values) of "):
            Index.open(path, **dtypes)


def test_to_and_from_arrow_and_others(kind, index, model):
    pytest.importorskip("pyarrow")
    other = Index.from_arrow(index.to_arrow())
    assert (type(other), other.key_dtype) == (Index, index.key_dtype)
    assert other == index
    made = Index(key_dtype=index.key_dtype)
    made.update(index)
    assert made == index
    made.update(dict(list(model.items())[:5]))
    assert made == model
    keys, values = index.to_numpy()
    assert listed(keys) == list(model)
    assert values.tolist() == list(model.values())


@pytest.mark.parametrize("dtype", [str, bytes])
def test_values_that_are_strings(kind, model, queries, dtype, tmp_path):
    """As with values of a dtype, of the same keys."""
    model = {key: f"v{at}" if dtype is str else f"v{at}".encode() for key, at in model.items()}
    ordered = list(model)
    index = Index(column_of(kind, ordered), list(model.values()))
    assert (index.value_dtype, index == model, list(index.items()) == list(model.items())) == (dtype, True, True)
    asked = column_of(kind, queries)
    for threads in (1, 3):
        values, found = index.get_many(asked, threads=threads)
        assert values == [model.get(key) for key in queries]
        assert found.tolist() == index.contains_many(asked).tolist() == [key in model for key in queries]
    flags = ~found
    assert index.get_many(asked, dtype(), found=flags)[0] == [model.get(key, dtype()) for key in queries]
    assert flags.tolist() == found.tolist()
    places = [neighbour(ordered, key, "backward", exact=True) for key in queries]
    keys, values, found = index.floor_many(asked)
    assert values == [None if at is None else model[ordered[at]] for at in places]
    assert [key for key, there in zip(listed(keys), found, strict=True) if there] == [
        ordered[at] for at in places if at is not None
    ]
    assert index.floor(queries[5]) == (ordered[places[5]], model[ordered[places[5]]])
    assert index.rank_many(asked).tolist() == [bisect.bisect_left(ordered, key) for key in queries]
    assert index.nth(9) == (ordered[9], model[ordered[9]])
    offsets, keys, values = index.range_many(column_of(kind, ordered[:4]), column_of(kind, ordered[2:6]))
    assert (offsets.tolist(), listed(keys)[:2], values[:2]) == (
        [0, 2, 4, 6, 8],
        ordered[:2],
        [model[key] for key in ordered[:2]],
    )
    assert listed(index.split_points(2)) == [ordered[COUNT // 2]]
    index.save(tmp_path / "index.arrow")
    others = [pickle.loads(pickle.dumps(index)), Index.open(tmp_path / "index.arrow"), index.copy()]
    pytest.importorskip("pyarrow")
    for other in [*others, Index.from_arrow(index.to_arrow())]:
        assert (other.key_dtype, other.value_dtype, other) == (index.key_dtype, dtype, index)
    value = dtype() + model[ordered[0]]
    assert index.compare_exchange(ordered[0], value, value + value)
    assert index.pop(ordered[0]) == value + value
    assert index.insert_many(column_of(kind, ordered[:2]), value) == 1
    assert index.remove_many(asked) == len(set(queries) & set(model))
    index.check_invariants()


def test_questions_between_numbers_whose_values_are_strings():
    index = Index([1, 3, 5], ["a", "c", "e"])
    assert (index.floor(4.5), index.ceiling(-1), index.get(2.5), 3.0 in index) == ((3, "c"), (1, "a"), None, True)
    assert index.get_many([2.5, 3.0, 2**70])[0] == [None, "c", None]
    keys, values, found = index.floor_many([0.5, 4.5, 2**70, np.nan])
    assert (keys.tolist(), values, found.tolist()) == (
        [0, 3, 5, 0],
        [None, "c", "e", None],
        [False, True, True, False],
    )
    assert index.range(1.5, 5)[1] == ["c"]
    assert index.range_many([1.5], [9.5])[2] == ["c", "e"]
    assert (index.rank(4.5), index.rank_many([4.5, 2**70]).tolist()) == (2, [2, 3])
    assert index.remove_many([2.5, 3.0]) == 1
    assert (index.nearest(2), index.nearest(3), index.nearest(3.5)) == ((1, "a"), (1, "a"), (5, "e"))
    assert index.nearest_many([2, 4.5, 2**70])[1] == ["a", "e", "e"]
    assert index.asof([2, 3, 3.5, 5], tolerance=1)[1] == ["a", None, None, "e"]
    with pytest.raises(TypeError, match="prefixes"):
        index.prefix(1)
    with pytest.raises(ValueError, match="position 1"):
        Index([1.0, np.nan], ["a", "b"])


def test_many_threads_at_once(kind, model):
    """Each thread changes and looks for its own keys, one by one and in batches."""
    ordered = list(model)
    index = Index(key_dtype={"str": str, "bytes": bytes}.get(kind, kind))

    def work(part):
        own = ordered[part::4]
        index.insert_many(column_of(kind, own), part)
        assert index.floor_many(column_of(kind, own))[2].all()
        assert index.contains_many(column_of(kind, own)).all()
        for key in own[::5]:
            assert index.pop(key) == part
            index[key] = part
        assert index.remove_many(column_of(kind, own[::2])) == len(own[::2])

    run_all(*(lambda part=part: work(part) for part in range(4)))
    assert set(index) == {key for part in range(4) for key in ordered[part::4][1::2]}
    index.check_invariants()


# ---- what is refused ----

FOREIGN = {
    "i8": ["a", b"a", (1, 2), None],
    "u4": ["a", b"a", (1, 2), None],
    "f8": ["a", b"a", (1, 2), None],
    "M8[s]": ["a", b"a", (1, 2), None, 5],
    "str": [1, 1.5, b"a", (1, 2), None, np.datetime64("2026-11-27")],
    "bytes": [1, 1.5, "a", (1, 2), None, np.datetime64("2026-11-27")],
}


def test_keys_of_another_kind_are_a_type_error(kind, index, model):
    before = dict(model)
    for key in FOREIGN[kind]:
        many = [next(iter(model)), key]
        for work in (
            lambda key=key: index.__setitem__(key, 1),
            lambda key=key: index.setdefault(key, 1),
            lambda key=key: index.floor(key),
            lambda key=key: index.rank(key),
            lambda many=many: index.insert_many(many, 1),
            lambda many=many: index.get_many(many),
            lambda many=many: index.contains_many(many),
            lambda many=many: index.remove_many(many),
            lambda many=many: index.asof(many),
            lambda many=many: index.rank_many(many),
            lambda many=many: index.count_many(many, many),
            lambda many=many: index.range_many(many, many),
            lambda many=many: Index(many, [1, 2], key_dtype=index.key_dtype),
        ):
            # NumPy takes a tuple among numbers for a row of another length.
            with pytest.raises((TypeError, ValueError) if isinstance(key, tuple) else TypeError):
                work()
        if key is not None:
            with pytest.raises(TypeError):
                index.range(key)
        assert key not in index
        assert index.get(key) is None
    assert index == before


def test_kinds_do_not_mix():
    for keys in (["a", 1], [1, "a"], ["a", b"a"], [b"a", "a"], ["a", None], [None, "a"], [("a", 1), 2]):
        with pytest.raises((TypeError, ValueError)):
            Index(keys, 0)
    for nothing in (np.nan, np.datetime64("NaT", "s")):
        with pytest.raises(ValueError, match="can't be a key"):
            Index([nothing], 0)
    with pytest.raises(TypeError, match="U5"):
        Index(key_dtype="U5")


def test_strings_have_no_distance_and_numbers_no_prefix():
    texts, numbers = Index(["a", "c"], 0), Index([1, 3], 0)
    for work in (
        lambda: texts.nearest("b"),
        lambda: texts.nearest_many(["b"]),
        lambda: texts.asof(["b"], direction="nearest"),
        lambda: texts.asof(["b"], tolerance=1),
    ):
        with pytest.raises(TypeError, match="no distance"):
            work()
    with pytest.raises(ValueError, match="direction"):
        texts.asof(["b"], direction="up")
    for work in (
        lambda: numbers.prefix(1),
        lambda: numbers.count_prefix(1),
        lambda: numbers.remove_prefix(1),
    ):
        with pytest.raises(TypeError, match="prefixes"):
            work()
    assert len(numbers) == 2
    with pytest.raises(TypeError, match="there is no out"):
        Index(["a"], ["b"]).get_many(["a"], out=np.empty(1))


def test_earlier_names_are_kinds_of_index(tmp_path):
    texts, blobs = StringIndex(["a"], [1]), BytesIndex([b"a"], [1])
    assert isinstance(texts, Index)
    assert texts == Index(["a"], [1])
    assert (texts.key_dtype, texts.key_type, blobs.key_dtype, blobs.key_type) == (str, str, bytes, bytes)
    assert (StringIndex(key_dtype=str).key_dtype, BytesIndex(key_dtype="S").key_dtype) == (str, bytes)
    for made, dtype in ((StringIndex, bytes), (BytesIndex, str), (StringIndex, "i8")):
        with pytest.raises(TypeError, match="keys of a"):
            made(key_dtype=dtype)
    path = tmp_path / "index.arrow"
    texts.save(path)
    assert type(Index.open(path)) is Index
    assert type(StringIndex.open(path)) is StringIndex
