"""Keys in any number of rows: every operation against a sorted list of pairs."""

import copy
import pickle
import random
import threading

import numpy as np
import pytest

from latchless import MultiIndex

COUNT = 3000
DTYPES = ["i8", "i2", "u4", "f8", "f4", "bool", "M8[ns]", "M8[D]", "m8[us]"]


def some(kind, rng, count):
    """Keys of a type, most of them more than once."""
    if kind is str:
        return ["".join(rng.choices("ab\0é", k=rng.randrange(4))) for _ in range(count)]
    if kind is bytes:
        return [bytes(rng.choices(b"\x00\x01\xff", k=rng.randrange(5))) for _ in range(count)]
    numbers = np.array([rng.randrange(-100, 100) for _ in range(count)])
    if kind == "bool":
        return numbers > 0
    if kind[0] == "u":
        numbers = abs(numbers)
    return (numbers / 8).astype(kind) if kind[0] == "f" else numbers.astype(kind)


@pytest.fixture(params=[str, bytes, *DTYPES], ids=lambda kind: kind if isinstance(kind, str) else kind.__name__)
def kind(request):
    return request.param


@pytest.fixture
def pairs(kind):
    """Pairs in no order."""
    rng = random.Random(20261126)
    keys = some(kind, rng, COUNT)
    return list(zip(list(keys), [rng.randrange(50) for _ in range(COUNT)], strict=True))


def columns(pairs, kind):
    keys, rows = [key for key, _ in pairs], [row for _, row in pairs]
    return (keys if isinstance(kind, type) else np.array(keys, kind)), np.array(rows, np.int64)


@pytest.fixture
def index(pairs, kind):
    return MultiIndex(*columns(pairs, kind), key_dtype=kind)


@pytest.fixture
def ordered(pairs):
    return sorted(set(pairs))


def listed(found):
    keys, rows = found
    return list(zip(list(keys), rows.tolist(), strict=True))


def test_all_pairs_in_order(index, ordered):
    assert listed(index.range()) == ordered
    assert listed(index.range(reverse=True)) == ordered[::-1]
    assert len(index) == index.count() == len(ordered)
    assert index.first() == ordered[0]
    assert index.last() == ordered[-1]
    index.check_invariants()


def test_rows_of_a_key(index, ordered):
    for key in {key for key, _ in ordered}:
        rows = [row for other, row in ordered if other == key]
        assert index.rows(key).tolist() == rows
        assert index.rows(key, reverse=True, limit=3).tolist() == rows[::-1][:3]
        assert key in index
        assert index.contains(key, rows[0])
        assert not index.contains(key, 50)
        assert index.count(key, key, closed="both") == len(rows)


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_ranges(index, ordered, closed):
    rng = random.Random(3)
    for _ in range(60):
        low, high = sorted(rng.choice(ordered)[0] for _ in range(2))
        wanted = [
            (key, row)
            for key, row in ordered
            if (low < key or (low == key and closed in ("left", "both")))
            and (key < high or (key == high and closed in ("right", "both")))
        ]
        assert listed(index.range(low, high, closed=closed)) == wanted
        assert listed(index.range(low, high, closed=closed, reverse=True, limit=5)) == wanted[::-1][:5]
        assert index.count(low, high, closed=closed) == len(wanted)
        if low != high:
            assert index.count(high, low, closed=closed) == 0


def test_many_rows_at_once(index, ordered, kind):
    asked = some(kind, random.Random(4), 700)
    rows, offsets = index.rows_many(asked)
    again, same = index.rows_many(asked, threads=2)
    assert rows.tolist() == again.tolist()
    assert offsets.tolist() == same.tolist()
    for at, key in enumerate(asked):
        assert rows[offsets[at] : offsets[at + 1]].tolist() == [row for other, row in ordered if other == key]
    positions, joined = index.join(asked)
    assert joined.tolist() == rows.tolist()
    assert [list(asked)[at] for at in positions] == [key for key in asked for other, _ in ordered if other == key]


def test_pairs_come_and_go(index, pairs, ordered, kind):
    model, fresh = set(ordered), some(kind, random.Random(5), 500)
    new = list(zip(list(fresh), range(100, 600), strict=True))
    assert index.insert_many(*columns(new + pairs[:100], kind)) == len(set(new) - model)
    model.update(new)
    gone = pairs[::3] + new[::4]
    assert index.remove_many(*columns(gone + gone, kind)) == len(set(gone) & model)
    model -= set(gone)
    assert listed(index.range()) == sorted(model)
    key, row = min(model)
    assert not index.insert(key, row)
    assert index.insert(key, 1 << 40)
    assert index.remove(key, 1 << 40)
    assert not index.remove(key, 1 << 40)
    assert index.remove_all(key) == sum(other == key for other, _ in model)
    assert key not in index
    last = max(model)[0]
    model = {pair for pair in model if pair[0] != key}
    assert index.remove_range(hi=last) == sum(other < last for other, _ in model)
    assert listed(index.range()) == sorted(pair for pair in model if pair[0] == last)
    index.clear()
    assert len(index) == 0
    assert index.first() is None
    index.check_invariants()


def test_loads_that_are_sorted(ordered, kind):
    keys, rows = columns(ordered, kind)
    index = MultiIndex(keys, rows, key_dtype=kind, assume_sorted=True, fill=1.0)
    assert listed(index.range()) == ordered
    with pytest.raises(ValueError, match="position 1 is smaller"):
        MultiIndex(keys[1::-1], rows[1::-1], key_dtype=kind, assume_sorted=True)
    with pytest.raises(ValueError, match="pairs must differ, but the one at position 1"):
        MultiIndex([keys[0]] * 2, [7, 7], key_dtype=kind, assume_sorted=True)


def test_copies_and_pickles(index, kind):
    for other in (index.copy(), copy.deepcopy(index), pickle.loads(pickle.dumps(index, 5))):
        assert other == index
        assert other.key_dtype == index.key_dtype
        other.insert(some(kind, random.Random(6), 1)[0], 1 << 50)
        assert other != index


def test_a_table_of_arrow_has_the_pairs(index, ordered):
    pyarrow = pytest.importorskip("pyarrow")
    table = index.to_arrow()
    assert table.column_names == ["key", "row"]
    assert table["row"].to_pylist() == [row for _, row in ordered]
    found = table["key"]
    if isinstance(index.key_dtype, type):
        assert found.to_pylist() == [key for key, _ in ordered]
        assert found.type in (pyarrow.large_string(), pyarrow.large_binary())
    else:
        keys = index.range()[0]
        days = index.key_dtype == np.dtype("M8[D]")
        assert np.array_equal(found.to_numpy().astype(keys.dtype) if days else found.to_numpy(), keys)


def test_rows_are_positions_where_none_are_given():
    index = MultiIndex(np.array([30, 10, 30, 20]))
    assert listed(index.range()) == [(10, 1), (20, 3), (30, 0), (30, 2)]
    assert index.key_dtype == np.dtype("i8")
    assert repr(index) == "MultiIndex([(10, 1), (20, 3), (30, 0), (30, 2)], key_dtype='int64')"
    assert repr(MultiIndex(["b"])) == "MultiIndex([('b', 0)], key_dtype=str)"
    assert len(MultiIndex()) == 0


def test_prefixes():
    index = MultiIndex(["/a", "/b", "/a/b", "/a"])
    assert listed(index.prefix("/a")) == [("/a", 0), ("/a", 3), ("/a/b", 2)]
    assert listed(index.prefix("/a", reverse=True, limit=1)) == [("/a/b", 2)]
    with pytest.raises(TypeError, match="no prefixes"):
        MultiIndex([1]).prefix(1)
    with pytest.raises(TypeError, match="a prefix is str"):
        index.prefix(None)


def test_zeros_and_the_ends_of_floats():
    index = MultiIndex([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324])
    assert index.rows(0.0).tolist() == index.rows(-0.0).tolist() == [0, 1]
    assert index.range()[1].tolist() == [3, 5, 0, 1, 4, 2]
    big = MultiIndex(np.array([2**64 - 1, 0, 2**63], np.uint64))
    assert big.range()[0].tolist() == [0, 2**63, 2**64 - 1]


@pytest.mark.parametrize(
    ("keys", "rows", "dtype", "error", "text"),
    [
        ([1, 2], [1], None, ValueError, "2 keys but 1 rows"),
        ([1], [-1], None, OverflowError, "position 0 is -1"),
        ([1], np.array([1 << 63], np.uint64), None, OverflowError, "2\\*\\*63"),
        ([1], [0.5], None, TypeError, "rows are integers"),
        ([1], [[1]], None, ValueError, "one-dimensional"),
        ([1.0, np.nan], None, None, ValueError, "position 1"),
        (np.array(["NaT", 1], "M8[s]"), None, None, ValueError, "NaT can't be a key, but the key at position 0"),
        (["a", None], None, None, TypeError, "position 1"),
        (["a", "\ud800"], None, None, ValueError, "surrogate"),
        ([1, 2], None, str, TypeError, "keys are str"),
        ([300], None, "i1", OverflowError, "300"),
        (None, [1], None, TypeError, "with their keys"),
    ],
)
def test_what_is_no_pair_is_refused(keys, rows, dtype, error, text):
    with pytest.raises(error, match=text):
        MultiIndex(keys, rows, key_dtype=dtype)


def test_single_keys_and_rows_that_are_none():
    index = MultiIndex([1, 2])
    for call in (index.rows, index.remove_all, index.__contains__, index.range, index.count):
        with pytest.raises(TypeError):
            call([1])
    for call in (index.range, index.count, lambda key: index.insert(key, 1), lambda key: index.rows_many([key])):
        with pytest.raises(TypeError):
            call("a")
    # As in a `dict`, it isn't there.
    assert ("a" in index, index.rows("a").tolist(), index.remove_all("a"), index.remove("a", 0)) == (
        False,
        [],
        0,
        False,
    )
    for row, error in ((-1, OverflowError), (1 << 63, OverflowError), (0.5, TypeError), ("a", TypeError)):
        with pytest.raises(error):
            index.insert(1, row)
    with pytest.raises(ValueError, match="limit"):
        index.rows(1, limit=-1)
    assert listed(index.range()) == [(1, 0), (2, 1)]


def test_the_longest_keys():
    index = MultiIndex(key_dtype=bytes)
    assert index.insert(b"x" * 16_777_200, 1)
    with pytest.raises(ValueError, match="16777"):
        index.insert(b"x" * 16_777_216, 1)
    with pytest.raises(ValueError, match="16777"):
        index.insert_many([b"y", b"x" * 16_777_216], [1, 2])
    assert index.rows(b"x" * 16_777_216).tolist() == []
    assert len(index) == 1


def test_a_limit_of_memory():
    index = MultiIndex(key_dtype="i8", limit_bytes=4 << 20)
    keys = np.arange(1_000_000)
    with pytest.raises(MemoryError) as raised:
        index.insert_many(keys, keys)
    refused = raised.value.refused
    assert len(index) == len(keys) - len(refused) > 10_000
    assert not np.isin(refused, index.range()[1]).any()
    index.check_invariants()


def test_threads_insert_beside_readers():
    index, each = MultiIndex(key_dtype=str), 4000
    names = [f"user-{at % 97}" for at in range(each)]

    def insert(own):
        rows = np.arange(each) * 4 + own
        for start in range(0, each, 250):
            index.insert_many(names[start : start + 250], rows[start : start + 250])

    threads = [threading.Thread(target=insert, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        rows = index.rows("user-5")
        assert (np.diff(rows) > 0).all()
        assert all(names[row // 4] == "user-5" for row in rows)
    for thread in threads:
        thread.join()
    assert len(index) == 4 * each
    rows, offsets = index.rows_many(names[:97])
    assert offsets[-1] == len(rows) == 4 * each
    index.check_invariants()
