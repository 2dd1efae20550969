"""Values that are rows of several columns: operations against a dict, and rows of one moment beside writers."""

import copy
import pickle
import threading

import numpy as np
import pytest
from conftest import assert_same, run_all

from latchless import DurableIndex, Index

QUOTE = np.dtype([("bid", "f8"), ("ask", "f8"), ("size", "i4"), ("at", "M8[us]"), ("open", "?")])
KEYS = {
    "i8": lambda rng, count: rng.integers(-500, 500, count),
    "f4": lambda rng, count: rng.integers(0, 900, count).astype("f4") / 8,
    "M8[ns]": lambda rng, count: rng.integers(0, 900, count).astype("M8[ns]"),
    "str": lambda rng, count: [f"key{number}" for number in rng.integers(0, 900, count)],
    "tuple": lambda rng, count: (rng.integers(0, 5, count), rng.integers(0, 90, count)),
}


def rows(rng, count):
    array = np.empty(count, QUOTE)
    for name in QUOTE.names:
        array[name] = rng.integers(0, 2 if name == "open" else 1000, count)
    return array


def objects(keys):
    if isinstance(keys, tuple):
        return list(zip(*(part.tolist() for part in keys), strict=True))
    return list(keys)


@pytest.fixture(params=KEYS)
def filled(request, rng):
    """An index, a dict with the same entries, and a function that makes keys."""
    keys, values = KEYS[request.param](rng, 600), rows(rng, 600)
    return Index(keys, values), dict(zip(objects(keys), values, strict=True)), KEYS[request.param]


def test_single_operations(filled, rng):
    index, model, make = filled
    assert len(index) == len(model)
    assert dict(index.items()) == model
    assert list(index.values()) == [model[key] for key in index]
    keys = objects(make(rng, 300))
    for key, row in zip(keys, rows(rng, 300), strict=True):
        assert index.get(key) == model.get(key)
        assert (key in index) == (key in model)
        index[key] = model[key] = row
        assert index[key] == row
        assert index[key]["bid"] == row["bid"]
        other = (1.5, 2.5, 3, np.datetime64("2024-01-01"), True)
        assert index.replace(key, dict(zip(QUOTE.names, other, strict=True))) == row
        assert index.compare_exchange(key, row, row) is False
        assert index.compare_exchange(key, other, row) is True
        assert index.compare_remove(key, other) is False
    assert index.compare_remove(keys[0], model.pop(keys[0]))
    assert index.pop(keys[0], None) is None
    first = min(model)
    assert index.peekitem(last=False) == (first, model[first])
    assert index.popitem(last=False) == (first, model.pop(first))
    missing = index.setdefault(keys[0], None)
    assert np.isnan(missing["bid"])
    assert np.isnat(missing["at"])
    assert missing["size"] == 0
    with pytest.raises(TypeError, match="have no sum"):
        index.add(keys[0])
    index.check_invariants()


def test_batches(filled, rng):
    index, model, make = filled
    keys = make(rng, 700)
    values, found = index.get_many(keys)
    assert values.dtype == QUOTE == index.value_dtype
    for key, row, is_found in zip(objects(keys), values, found, strict=True):
        assert is_found == (key in model)
        assert row == model[key] if is_found else np.isnan(row["bid"]) and np.isnat(row["at"])
    default = np.array([(1, 2, 3, "2024-01-01", True)], QUOTE)[0]
    assert (index.get_many(keys, default=default)[0][~found] == default).all()
    assert (index.get_many(keys, default=tuple(default))[0][~found] == default).all()
    ordered = sorted(model)
    for name in ("floor", "ceiling", "lower", "higher"):
        its_keys, values, flags = getattr(index, f"{name}_many")(keys)
        listed = objects(its_keys)
        for at, key in enumerate(objects(keys)):
            one = getattr(index, name)(key)
            assert (one is not None) == flags[at]
            assert one is None or (one[0] == listed[at] and one[1] == values[at])
    lo, hi = ordered[50], ordered[120]
    assert dict(zip(objects(index.range(lo, hi)[0]), index.range(lo, hi)[1], strict=True)) == {
        key: model[key] for key in ordered[50:120]
    }
    offsets, _, values = index.range_many([lo], [hi])
    assert offsets.tolist() == [0, 70]
    assert list(values) == [model[key] for key in ordered[50:120]]
    assert index.remove_many(keys) == len({key for key in objects(keys) if key in model})
    assert index.insert_many(keys, values[:1][0]) == len(set(objects(keys)))


def test_questions_that_are_no_keys():
    index = Index([10, 20], {"bid": [1.5, 2.5], "ask": [2.5, 3.5]})
    assert index.nearest(11.5)[1] == index[10]
    assert index.nearest_many([11.5, 99.5, float("nan")])[1]["ask"].tolist()[:2] == [2.5, 3.5]
    assert index.get_many([10, 10.5, 1e30])[0]["bid"].tolist()[0] == 1.5
    assert index.asof([12.5, 9.5], tolerance=3)[1]["bid"].tolist()[0] == 1.5
    assert index.get("x") is None


@pytest.mark.parametrize(
    "values",
    [
        {"bid": [1.5, 2.5], "ask": 3},
        {"ask": np.array([3, 3]), "bid": [1.5, 2.5]},
        np.array([(1.5, 3), (2.5, 3)], [("bid", "f8"), ("ask", "i8")]),
        [(1.5, 3), {"ask": 3, "bid": 2.5}],
        np.array([(1.5, 0, 3), (2.5, 0, 3)], [("bid", "f8"), ("pad", "i1"), ("ask", "i8")])[["bid", "ask"]],
    ],
)
def test_forms_of_rows(values):
    index = Index(key_dtype=int, value_dtype={"bid": float, "ask": int})
    assert index.insert_many([1, 2], values) == 2
    assert index.to_numpy()[1].tolist() == [(1.5, 3), (2.5, 3)]
    index.insert_many([1, 2, 3], (0.5, 7))
    assert [tuple(row) for row in index.values()] == [(0.5, 7)] * 3
    if isinstance(values, dict):
        assert set(Index([1, 2], values).value_dtype.names) == {"bid", "ask"}


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame({"bid": [1.5, 2.5], "ask": [2, 3]}, pandas.Index([10, 20], name="key"))
    index = Index.from_pandas(frame)
    pandas.testing.assert_frame_equal(index.to_pandas(), frame)
    assert Index.from_pandas(frame.reset_index(), key="key") == index
    assert Index.from_pandas(frame, value="ask") == Index([10, 20], [2, 3])
    assert index.to_polars().equals(polars.from_pandas(frame.reset_index()))
    assert Index.from_polars(index.to_polars()) == index
    assert Index([10, 20], index.to_polars().drop("key")) == index
    both = Index.from_polars(index.to_polars(), key=["key", "ask"])
    assert both[10, 2] == 1.5
    assert both.to_polars().columns == ["key_0", "key_1", "value"]
    assert index.to_arrow().column_names == ["key", "bid", "ask"]
    assert polars.from_dataframe(index.to_arrow()).equals(index.to_polars())
    assert both.to_pandas().to_dict() == {(10, 2): 1.5, (20, 3): 2.5}
    with pytest.raises(TypeError, match="of a frame"):
        Index.from_pandas(frame["bid"], key="bid")
    with pytest.raises(TypeError, match="DataFrame of Polars"):
        Index.from_polars(frame)
    with pytest.raises(ValueError, match="called 'key'"):
        Index([1], {"key": [2], "x": [3]}).to_polars()


def test_copies_pickles_and_files(filled, tmp_path):
    index, model, _ = filled
    index.save(tmp_path / "index.arrow")
    for same in (
        copy.copy(index),
        copy.deepcopy(index),
        pickle.loads(pickle.dumps(index)),
        Index.open(tmp_path / "index.arrow"),
        Index.open(tmp_path / "index.arrow", value_dtype=QUOTE),
        Index(index),
        index | {},
    ):
        assert same == index
        assert same.value_dtype == QUOTE
        assert dict(same.items()) == model
    index[next(iter(model))] = (*tuple(index.peekitem()[1])[:4], not index.peekitem()[1]["open"])
    assert index != same
    with pytest.raises(ValueError, match="has values of type"):
        Index.open(tmp_path / "index.arrow", value_dtype={"bid": float})
    with pytest.raises(ValueError, match="has values of type"):
        Index.open(tmp_path / "index.arrow", value_dtype=bytes)


def test_durable(tmp_path):
    with DurableIndex(tmp_path / "log", [1, 2], {"bid": [1.5, 2.5], "ask": [2, 3]}) as index:
        index[3] = (3.5, 4)
        index.insert_many([1], {"bid": 0.5, "ask": [1]})
        assert index.copy().value_dtype == index.value_dtype
    for _ in range(2):
        with DurableIndex(tmp_path / "log") as index:
            assert index.to_numpy()[1].tolist() == [(0.5, 1), (2.5, 3), (3.5, 4)]
            assert index.snapshot() == 3
    with pytest.raises(ValueError, match="has values of type"):
        DurableIndex(tmp_path / "log", value_dtype={"bid": float, "ask": float})


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Index([1], {"bid": [1.5], "ask": [1, 2]}), ValueError, "there are 1 keys but 2|one length"),
        (lambda: Index([1, 2], {"bid": [1.5]}), ValueError, "2 keys but 1 values"),
        (lambda: Index([1], {"bid": ["x"]}), TypeError, "column 'bid': columns of rows"),
        (lambda: Index([1], {}), ValueError, "at least one column"),
        (lambda: Index([1], {1: [2]}), TypeError, "names of columns"),
        (lambda: Index([1], {f"c{at}": [0] for at in range(25)}), ValueError, "at most 192 bytes, not 200"),
        (lambda: Index([1], {"bid": [1.5]}).insert_many([2], {"ask": [1]}), ValueError, "rows of the columns"),
        (lambda: Index([1], {"bid": [1.5]}).insert_many([2], [1.5]), TypeError, "position 0 is of type float"),
        (lambda: Index([1], {"bid": [1.5]}).insert_many([2], [(1, 2)]), ValueError, "1 columns, .*, not 2 as at"),
        (lambda: Index([1], {"bid": [1]}).insert_many([2], [(1.5,)]), TypeError, "column 'bid' of the values"),
        (lambda: Index([1], {"b": np.array([1], "i1")}).insert_many([2], [(300,)]), OverflowError, "column 'b'"),
        (lambda: Index([1], {"bid": [1.5]}).__setitem__(1, 2.5), TypeError, "tuple or a mapping"),
        (lambda: Index([1], {"bid": [1.5]}).__setitem__(1, {"ask": 1}), ValueError, "rows of the columns"),
        (lambda: Index([1], {"bid": [1.5]}).get_many([1], out=np.empty(1)), TypeError, "there is no out for them"),
        (lambda: Index([1], {"bid": [None]}), TypeError, "dtype object"),
    ],
)
def test_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_repr_and_missing_columns_of_names():
    index = Index([1], {"bid": [1.5], "a; ü": [2]})
    assert (
        repr(index) == "Index({1: (1.5, 2)}, key_dtype='int64', value_dtype={'bid': 'float64', 'a; ü': 'int64'})"
    )
    assert eval(repr(index), {"Index": Index}) == index
    assert pickle.loads(pickle.dumps(index)) == index


@pytest.mark.parametrize("by", [False, True])
def test_rows_are_of_one_moment(by):
    """A writer changes both columns of all rows, always together."""
    count = 3000
    keys = (np.zeros(count, int), np.arange(count)) if by else np.arange(count)
    index = Index(keys, {"bid": np.zeros(count), "ask": np.ones(count), "more": np.zeros(count), "rest": 0})
    done = threading.Event()

    def write():
        number = 0.0
        while not done.is_set():
            number += 1
            index.insert_many(keys, {"bid": number, "ask": number + 1, "more": number, "rest": int(number)})
            for key in range(0, count, 100):
                index[(0, key) if by else key] = (number, number + 1, number, int(number))

    def is_whole(rows):
        same = (rows["bid"] + 1 == rows["ask"]) & (rows["more"] == rows["bid"]) & (rows["rest"] == rows["bid"])
        return bool(np.all(same))

    def read():
        try:
            for at in range(150):
                assert is_whole(index.get_many(keys)[0])
                assert is_whole(index.asof(np.arange(count), by=0)[1] if by else index.asof(keys)[1])
                assert is_whole(index.range()[1])
                assert is_whole(index[(0, at) if by else at])
                assert is_whole(index.floor_many(keys)[1])
        finally:
            done.set()

    run_all(write, read)
    assert_same(index.count(), count)
