"""Intervals, against a look at all pairs."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from latchless import IntervalIndex

GROUPS = np.array(["chr1", "chr2", "chrX"])


def drawn(rng, count, groups=3, length=300):
    """Groups, starts and ends: most are short, some very long."""
    starts = rng.integers(-1000, 1000, count)
    lengths = np.where(rng.random(count) < 0.1, rng.integers(1, 3000, count), rng.integers(1, length, count))
    return rng.integers(0, groups, count), starts, starts + lengths


def matches(asked, known):
    """Which of the known intervals overlap each of those asked."""
    (group, start, end), (groups, starts, ends) = ([part[:, None] for part in asked], known)
    # An empty one overlaps nothing.
    return (group == groups) & (np.maximum(start, starts) < np.minimum(end, ends)) & (start < end)


def check(index, known, asked, by, ids=None):
    """All answers of an index that has the known intervals."""
    ids = np.arange(len(known[0])) if ids is None else ids
    found = matches(asked, known)
    order = np.argsort(ids, kind="stable")
    rows, columns = np.nonzero(found[:, order])
    positions, its = index.overlaps(asked[1], asked[2], by=by)
    assert positions.tolist() == rows.tolist()
    assert its.tolist() == ids[order][columns].tolist()
    assert positions.dtype == its.dtype == np.int64
    assert index.count(asked[1], asked[2], by=by).tolist() == found.sum(1).tolist()
    covered = []
    for row, start, end in zip(found, asked[1], asked[2], strict=True):
        places = np.zeros(max(end - start, 0), bool)
        for at in np.flatnonzero(row):
            places[max(known[1][at] - start, 0) : known[2][at] - start] = True
        covered.append(int(places.sum()))
    assert index.coverage(asked[1], asked[2], by=by).tolist() == covered
    for direction in ("nearest", "backward", "forward"):
        expected = [nearest(known, ids, one, direction) for one in zip(*asked, strict=True)]
        nearest_ids, distances, is_found = index.nearest(asked[1], asked[2], by=by, direction=direction)
        assert list(zip(nearest_ids.tolist(), distances.tolist(), is_found.tolist(), strict=True)) == expected


def nearest(known, ids, asked, direction):
    group, start, end = asked
    best = []
    for its, low, high, row in zip(*known, ids, strict=True):
        if its != group or start >= end:
            continue
        before, after = start - (high - 1), low - (end - 1)
        distance = max(before, after, 0)
        wanted = {"nearest": True, "backward": before > 0, "forward": after > 0}[direction]
        if wanted:
            best.append((distance, low, high, row))
    if not best:
        return (-1, 0, False)
    distance, _, _, row = min(best)
    return (row, distance, True)


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_a_look_at_all(seed):
    rng = np.random.default_rng(seed)
    known = drawn(rng, int(rng.integers(1, 200)))
    by = GROUPS[known[0]]
    index = IntervalIndex(known[1], known[2], by=by)
    for count in (2, 60):
        asked = drawn(rng, count, groups=4)
        asked[2][0] = asked[1][0]  # An empty question.
        names = np.append(GROUPS, "chrY")[asked[0]]
        check(index, known, asked, names)
    points = rng.integers(-1000, 1000, 50)
    groups = rng.integers(0, 3, 50)
    rows, columns = np.nonzero(matches((groups, points, points + 1), known))
    positions, ids = index.contains(points, by=GROUPS[groups])
    assert (positions.tolist(), ids.tolist()) == (rows.tolist(), columns.tolist())
    index.check_invariants()


def test_inserts_and_removals():
    rng = np.random.default_rng(7)
    known = drawn(rng, 300)
    ids = rng.permutation(10_000)[:300]
    index = IntervalIndex()
    for part in np.array_split(np.arange(300), 4):
        its = [column[part] for column in known]
        assert index.insert_many(its[1], its[2], by=GROUPS[its[0]], values=ids[part]) == len(part)
        assert index.insert_many(its[1], its[2], by=GROUPS[its[0]], values=ids[part]) == 0
    gone = np.arange(0, 300, 3)
    assert index.remove_many(known[1][gone], known[2][gone], by=GROUPS[known[0][gone]], values=ids[gone]) == 100
    assert index.remove_many(known[1][gone], known[2][gone], by=GROUPS[known[0][gone]], values=ids[gone]) == 0
    stays = np.setdiff1d(np.arange(300), gone)
    left = [column[stays] for column in known]
    asked = drawn(rng, 80)
    check(index, left, asked, GROUPS[asked[0]], ids[stays])
    starts, ends, by, its = index.to_numpy()
    expected = sorted(zip(GROUPS[left[0]].tolist(), left[1], left[2], ids[stays], strict=True))
    assert sorted(zip(by, starts, ends, its, strict=True)) == expected
    assert len(index) == 200
    assert index.nbytes > 0
    assert repr(index) == "IntervalIndex(200 intervals, dtype='int64')"


@pytest.mark.parametrize(
    "column",
    [
        list,
        np.asarray,
        pd.Series,
        lambda names: pd.Series(names).astype("category"),
        pd.Categorical,
        pl.Series,
        lambda names: pl.Series(names, dtype=pl.Categorical),
        pa.array,
        lambda names: pa.array(names).dictionary_encode(),
        lambda names: np.array([{"chr1": 1, "chr2": 2, "chrX": 9}.get(name, 0) for name in names]),
        lambda names: (list(names), np.array([len(name) for name in names])),
        lambda names: (pd.Series(names).astype("category"), pl.Series([ord(name[-1]) for name in names])),
    ],
)
def test_groups_of_every_kind(column):
    rng = np.random.default_rng(3)
    known, asked = drawn(rng, 100), drawn(rng, 50, groups=4)
    index = IntervalIndex(known[1][:60], known[2][:60], by=column(GROUPS[known[0][:60]].tolist()))
    rest = slice(60, None)
    by = column(GROUPS[known[0][rest]].tolist())
    assert index.insert_many(known[1][rest], known[2][rest], by=by, values=np.arange(60, 100)) == 40
    check(index, known, asked, column(np.append(GROUPS, "chrY")[asked[0]].tolist()))


def test_groups_that_come_later():
    index = IntervalIndex([0], [9], by="b")
    assert index.insert_many([0, 1, 2], [9, 9, 9], by=["c", "a", "c"], values=[1, 2, 3]) == 3
    positions, ids = index.contains([5, 5, 5, 5], by=["a", "b", "c", "d"])
    assert (positions.tolist(), ids.tolist()) == ([0, 1, 2, 2], [2, 0, 1, 3])
    assert index.insert(0, 9, by="d", value=4)
    assert index.contains([5], by="d")[1].tolist() == [4]
    assert index.remove(0, 9, by="d", value=4)
    assert not index.remove(0, 9, by="e", value=4)


def test_frames():
    features = {"chrom": ["1", "1", "2"], "strand": ["+", "-", "+"], "start": [5, 5, 5], "end": [9, 90, 9]}
    reads = {"chrom": ["2", "1", "1"], "strand": ["+", "-", "+"], "start": [8, 8, 20], "end": [10, 10, 30]}
    by = ["chrom", "strand"]
    expected = {**{name: column[:2] for name, column in reads.items()}, "id": [2, 1]}
    index = IntervalIndex.from_pandas(pd.DataFrame(features), by=by)
    frame = pd.DataFrame(reads, index=[7, 8, 9])
    joined = index.join(frame, by=by)
    assert joined.to_dict("list") == expected
    assert joined.index.tolist() == [7, 8]
    index = IntervalIndex.from_polars(pl.DataFrame(features), by=by)
    assert index.join(pl.DataFrame(reads), by=by).to_dict(as_series=False) == expected
    right = pl.DataFrame({"end": [1, 2, 3], "name": ["a", "b", "c"]})
    both = {**{name: column[:2] for name, column in reads.items()}, "end_right": [3, 2], "name": ["c", "b"]}
    assert index.join(pl.DataFrame(reads), right, by=by).to_dict(as_series=False) == both
    assert index.join(frame, right.to_pandas(), by=by).to_dict("list") == both
    renamed = frame.rename(columns={"start": "from", "end": "to"})
    assert index.join(renamed, start="from", end="to", by=by, name="row")["row"].tolist() == [2, 1]
    values = IntervalIndex.from_pandas(pd.DataFrame({"start": [1], "end": [2], "x": [7]}), value="x")
    assert values.contains([1])[1].tolist() == [7]
    for wrong in (pl.DataFrame(features), {"start": [1]}):
        with pytest.raises(TypeError, match="DataFrame of pandas"):
            IntervalIndex.from_pandas(wrong)
    with pytest.raises(TypeError, match="DataFrame of Polars"):
        IntervalIndex.from_polars(frame)
    with pytest.raises(KeyError, match="chromosome"):
        index.join(frame, by="chromosome")
    with pytest.raises(ValueError, match="'id' already"):
        index.join(frame.assign(id=1), by=by)
    with pytest.raises(ValueError, match="the id 2 is no row"):
        index.join(frame, frame.iloc[:2], by=by)
    with pytest.raises(TypeError, match="both of pandas"):
        index.join(frame, right, by=by)


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_times(unit):
    starts = np.array(["2024-03-01", "2024-03-02"], f"M8[{unit}]")
    index = IntervalIndex(starts, starts + np.timedelta64(2, "D"))
    asked = np.array(["2024-03-03", "2024-03-10"], f"M8[{unit}]")
    day = np.timedelta64(1, "D")
    positions, ids = index.overlaps(asked, asked + day)
    assert (positions.tolist(), ids.tolist()) == ([0], [1])
    assert (index.coverage(asked - 2 * day, asked) == np.array([2, 0]) * day).all()
    ids, distances, found = index.nearest(asked[1:], asked[1:] + day)
    assert (ids.tolist(), found.tolist()) == ([1], [True])
    assert distances.dtype == np.dtype(f"m8[{unit}]")
    assert distances[0] == asked[1] - (starts[1] + 2 * day) + np.timedelta64(1, unit)
    assert index.dtype == starts.dtype
    assert index.to_numpy()[0].dtype == starts.dtype
    zoned = pd.Series(starts.astype("M8[s]")).dt.tz_localize("Europe/Berlin")
    index = IntervalIndex(zoned, zoned + pd.Timedelta(days=2))
    assert index.contains(zoned.dt.tz_convert("UTC"))[0].tolist() == [0, 1, 1]
    with pytest.raises(TypeError, match="zone"):
        index.contains(starts)


def test_bad_input():
    index = IntervalIndex([0, 5], [9, 7])
    for ends in ([3, 6], [4, 6]):
        with pytest.raises(ValueError, match="after its start, but the interval at position 0 is from 4 to"):
            index.insert_many([4, 5], ends)
    assert len(index) == 2
    with pytest.raises(ValueError, match="before its start, but the interval at position 1 is from 4 to 3"):
        index.count([4, 4], [4, 3])
    assert index.count([4], [4]).tolist() == [0]
    with pytest.raises(ValueError, match="1 starts but 2 ends"):
        index.overlaps([1], [2, 3])
    with pytest.raises(TypeError, match="no groups"):
        index.overlaps([1], [2], by=["a"])
    with pytest.raises(TypeError, match="no groups"):
        index.insert(1, 2, by="a")
    grouped = IntervalIndex([0], [9], by=["a"])
    with pytest.raises(TypeError, match="by says which"):
        grouped.overlaps([1], [2])
    with pytest.raises(TypeError, match="by says which"):
        grouped.insert(1, 2)
    with pytest.raises(TypeError):
        grouped.insert(1, 2, by=7)
    with pytest.raises(ValueError, match="2 starts but 1 groups"):
        grouped.count([1, 2], [2, 3], by=["a"])
    with pytest.raises(ValueError, match="null"):
        grouped.count([1, 2], [2, 3], by=pd.Categorical(["a", None]))
    with pytest.raises(TypeError, match="integers or times"):
        IntervalIndex([0.5], [1.5])
    with pytest.raises(TypeError, match="strings"):
        IntervalIndex(["a"], ["b"])
    with pytest.raises(OverflowError):
        IntervalIndex(np.array([1 << 63], np.uint64), np.array([(1 << 63) + 1], np.uint64))
    with pytest.raises(ValueError, match="NaT, but the one at position 1"):
        IntervalIndex(np.array(["2024-01-01", "NaT"], "M8[D]"), np.array(["2024-01-02", "2024-01-02"], "M8[D]"))
    with pytest.raises(ValueError, match="null"):
        IntervalIndex(pd.Series([1, None], dtype="Int64"), [2, 3])
    with pytest.raises(OverflowError, match="rows are from 0"):
        index.insert(1, 2, value=-1)
    with pytest.raises(ValueError, match="'nearest', 'backward' or 'forward'"):
        index.nearest([1], [2], direction="left")
    with pytest.raises(TypeError, match="given together"):
        IntervalIndex([1])
    with pytest.raises(TypeError, match="given together"):
        IntervalIndex(by="a")
    with pytest.raises(MemoryError) as refused:
        small = IntervalIndex(limit_bytes=1 << 17)
        small.insert_many(np.arange(10_000), np.arange(10_000) + 5)
    assert len(small) == 10_000 - len(refused.value.refused)
    with pytest.raises(MemoryError):
        IntervalIndex(np.arange(10_000), np.arange(10_000) + 5, limit_bytes=1 << 17)


def test_ends_of_the_integers():
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    index = IntervalIndex([least, least, most - 1], [most, least + 1, most])
    assert index.contains([least, most - 1, most])[1].tolist() == [0, 1, 0, 2]
    assert index.count([least], [least]).tolist() == [0]
    assert index.coverage([least], [most]).tolist() == [most]
    assert index.nearest([most], [most], direction="backward")[2].tolist() == [False]
    assert index.to_numpy()[1].tolist().count(most) == 2


def test_nothing():
    for index in (IntervalIndex(), IntervalIndex([], []), IntervalIndex([], [], by=[])):
        assert [column.tolist() for column in index.overlaps([], [])] == [[], []]
        assert index.count([1], [2]).tolist() == [0]
        assert [column.tolist() for column in index.nearest([1], [2])] == [[-1], [0], [False]]
        assert len(index) == 0
    assert index.insert(1, 2, by=("a", 1))
    assert index.contains([1], by=("a", [1]))[1].tolist() == [0]


def test_changes_while_others_ask():
    rng = np.random.default_rng(5)
    known = drawn(rng, 2_000)
    index = IntervalIndex(known[1], known[2], by=GROUPS[known[0]])
    stop, failures = threading.Event(), []

    def write(first):
        try:
            others = drawn(np.random.default_rng(first), 2_000)
            by, ids = GROUPS[others[0]], np.arange(first, first + 2_000)
            while not stop.is_set():
                assert index.insert_many(others[1], others[2], by=by, values=ids) == 2_000
                assert index.remove_many(others[1], others[2], by=by, values=ids) == 2_000
        except BaseException as failure:
            failures.append(failure)

    writers = [threading.Thread(target=write, args=(first,)) for first in (10_000, 20_000)]
    for writer in writers:
        writer.start()
    try:
        for count in (3, 400) * 8:
            asked = drawn(rng, count)
            positions, ids = index.overlaps(asked[1], asked[2], by=GROUPS[asked[0]])
            stays = ids < 2_000
            rows, columns = np.nonzero(matches(asked, known))
            assert positions[stays].tolist() == rows.tolist()
            assert ids[stays].tolist() == columns.tolist()
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert not failures
    assert len(index) == 2_000
    index.check_invariants()
