"""The parts of shards, without Ray: the map, routing, a shard itself. `test_ray.py` has the rest."""

import itertools
import json
import os
import random
import threading

import numpy as np
import pytest
from conftest import KEY_DTYPES, in_child, random_column

from latchless import DurableIndex, Index
from latchless.ray import Moved, ShardedIndex, _map, _route
from latchless.ray._interval import Interval
from latchless.ray._shard import Shard


def made(directory, keys, lows, dtype="i8"):
    """A directory with shards of some keys; each value is its key's position."""
    keys, lows = np.unique(np.asarray(keys, dtype)), np.asarray(lows, dtype)
    folders = [_map.new_folder() for _ in range(len(lows) + 1)]
    directory.mkdir(exist_ok=True)
    for shard, at, part in _route.route(lows, keys):
        DurableIndex(directory / folders[shard], part, np.arange(len(keys))[at], fenced=True).close()
    for folder in folders:
        DurableIndex(directory / folder, key_dtype=dtype, value_dtype="i8", fenced=True).close()
    with _map.locked(directory):
        return _map.write(directory, _map.Map(1, np.dtype(dtype).name, "int64", "never", tuple(folders), lows))


# ---- the map ----


@pytest.mark.parametrize("dtype", KEY_DTYPES)
def test_maps_of_every_dtype(rng, tmp_path, dtype):
    lows = np.unique(random_column(rng, dtype, 50))
    name = str(lows.dtype)
    folders = tuple(_map.new_folder() for _ in range(len(lows) + 1))
    told = _map.Map(7, name, "bool", 0.5, folders, lows)
    _map.write(tmp_path, told)
    found = _map.read(tmp_path)
    assert (found.revision, found.key_dtype, found.value_dtype, found.sync) == (7, name, "bool", 0.5)
    assert found.folders == folders
    assert found.lows.dtype == lows.dtype
    np.testing.assert_array_equal(found.lows, lows)
    assert [found.borders(at)[1] for at in range(len(lows))] == [
        found.borders(at + 1)[0] for at in range(len(lows))
    ]


@pytest.mark.slow
def test_a_damaged_map_is_told(tmp_path):
    made(tmp_path, range(100), [30, 60])
    path = tmp_path / "shards.json"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"shards.json is damaged"):
            _map.read(tmp_path)
    content = json.loads(whole)
    chosen = random.Random(3).sample(range(8 * len(whole)), 500)
    for bit in chosen:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            same = json.loads(changed) == content
        except ValueError:
            same = False
        if same:
            continue  # White space.
        with pytest.raises(ValueError, match=r"shards.json is damaged"):
            _map.read(tmp_path)
    for other in (b"[]", b"{}", b"null", b'{"latchless.shards": 2}'):
        path.write_bytes(other)
        with pytest.raises(ValueError, match="damaged, or no map"):
            ShardedIndex.open(tmp_path) if importable_ray() else _map.read(tmp_path)


def importable_ray():
    try:
        import ray  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.skipif(importable_ray(), reason="Ray is there")
def test_without_ray_it_says_what_is_missing(tmp_path):
    with pytest.raises(ImportError, match=r"latchless\[ray\]"):
        ShardedIndex.open(tmp_path)


def test_maps_that_make_no_sense_are_told(tmp_path):
    good = made(tmp_path, range(10), [5])
    for folders, lows in (
        (good.folders[:1] * 2, good.lows),
        (("shard-1", "../elsewhere"), good.lows),
        ((*good.folders, _map.new_folder()), np.array([5, 5])),
        ((*good.folders, _map.new_folder()), np.array([7, 5])),
    ):
        _map.write(tmp_path, _map.Map(1, "int64", "int64", "never", folders, lows))
        with pytest.raises(ValueError, match="damaged"):
            _map.read(tmp_path)


def test_what_no_map_names_is_removed_unless_somebody_is_at_it(tmp_path):
    found = made(tmp_path, range(10), [5])
    (tmp_path / _map.new_folder()).mkdir()
    (tmp_path / "build-0123456789ab" / "parts").mkdir(parents=True)
    (tmp_path / "shards.json.tmp-1").write_text("half")
    (tmp_path / "notes.txt").write_text("not ours")
    names = set(os.listdir(tmp_path))
    with _map.locked(tmp_path):
        _map.remove_unowned(tmp_path)
    assert set(os.listdir(tmp_path)) == names
    _map.remove_unowned(tmp_path)
    assert set(os.listdir(tmp_path)) == {*found.folders, "shards.json", "shards.lock", "notes.txt"}


# ---- routing ----


@pytest.mark.parametrize("borders", [0, 1, 3, 7, 8, 40, 300])
@pytest.mark.parametrize("dtype", ["i8", "u4", "f8", "M8[s]"])
def test_routing(rng, borders, dtype):
    keys = random_column(rng, dtype, 5000)
    lows = np.sort(rng.choice(np.unique(keys), borders, replace=False))
    for batch in (keys, np.sort(keys), keys[:1], keys[:0], np.repeat(keys[:1], 10)):
        expected = np.searchsorted(lows, batch, side="right")
        seen = []
        for shard, at, part in _route.route(lows, batch):
            np.testing.assert_array_equal(part, batch[at])
            positions = _route.at_positions(at, slice(None), len(batch))
            assert (expected[positions] == shard).all()
            assert (np.diff(positions) > 0).all()
            np.testing.assert_array_equal(_route.at_positions(at, np.array([0]), len(batch)), positions[:1])
            seen.append(positions)
        np.testing.assert_array_equal(np.sort(np.concatenate([*seen, np.empty(0, int)])), np.arange(len(batch)))


def test_intervals():
    keys = np.arange(10)
    ends = [None, 2, 5, 7]
    for low, high, has_low, has_high in itertools.product(ends, ends, [True, False], [True, False]):
        interval = Interval(low, high, has_low, has_high)

        def inside(its):
            index = Index(keys, keys)
            return set(index.range(its.low, its.high, closed=its.closed)[0].tolist()) if its else set()

        for border in range(10):
            halves = [inside(interval.within(None, border)), inside(interval.within(border, None))]
            assert halves[0] | halves[1] == inside(interval)
            assert all(key < border for key in halves[0])
            assert all(key >= border for key in halves[1])


# ---- a shard ----


def test_a_shard_refuses_keys_of_others(tmp_path):
    found = made(tmp_path, range(100), [30, 60])
    shard = Shard(str(tmp_path), found.folders[1])
    assert shard.get_many(np.array([30, 59]), None)[0].tolist() == [30, 59]
    assert shard.contains_many(np.array([], int)).tolist() == []
    for keys in ([29], [60], [40, 99], [-1, 40]):
        for call in (
            lambda keys: shard.get_many(keys, None),
            shard.contains_many,
            lambda keys: shard.insert_many(keys, 1),
            shard.remove_many,
            lambda keys: shard.near_many("floor_many", keys),
        ):
            with pytest.raises(Moved):
                call(np.array(keys))
    with pytest.raises(Moved):
        shard.range(None, None, "left", False, None, ("30", "61"))
    with pytest.raises(Moved):
        shard.count(None, None, "left", (None, "60"))
    assert shard.count(None, None, "left", ("30", "60")) == 30
    shard.close()


def test_a_split_shard(tmp_path):
    found = made(tmp_path, range(100), [60])
    shard = Shard(str(tmp_path), found.folders[0])
    shard.split((None, "60"))
    changed = _map.read(tmp_path)
    assert changed.revision == 2
    assert changed.lows.tolist() == [30, 60]
    assert changed.folders[::2] == found.folders
    upper = Shard(str(tmp_path), changed.folders[1])
    assert [len(shard.index), len(upper.index)] == [30, 30]
    assert upper.get_many(np.array([59]), None)[0].tolist() == [59]
    with pytest.raises(Moved):
        shard.get_many(np.array([30]), None)
    # Asked again, because the first answer was lost, it does nothing.
    shard.split((None, "60"))
    assert _map.read(tmp_path).revision == 2
    shard.close()
    upper.close()
    shard = Shard(str(tmp_path), found.folders[0])
    assert (len(shard.index), shard.index.recovery.records) == (30, 0)
    shard.remove_many(np.arange(1, 30))
    with pytest.raises(ValueError, match="can't be split"):
        shard.split((None, "30"))
    shard.close()


@pytest.mark.parametrize("moment", ["before the map", "after the map", "before the folders"])
def test_a_split_that_is_killed(tmp_path, monkeypatch, moment):
    """Before the map has changed nothing has happened; after that the split is done."""
    found = made(tmp_path, range(100), [60])

    def killed(*_):
        os._exit(0)

    def child():
        write = _map.write
        if moment == "before the folders":
            monkeypatch.setattr(DurableIndex, "close", killed)
        elif moment == "before the map":
            monkeypatch.setattr(_map, "write", killed)
        else:
            monkeypatch.setattr(_map, "write", lambda *args: (write(*args), killed()))
        shard = Shard(str(tmp_path), found.folders[0])
        shard.insert_many(np.array([-1]), np.array([7]))
        shard.split((None, "60"))
        raise AssertionError("it wasn't killed")

    in_child(child)
    changed = _map.read(tmp_path)
    assert len(os.listdir(tmp_path)) == 5
    _map.remove_unowned(tmp_path)
    assert len(os.listdir(tmp_path)) == 2 + len(changed.folders)
    assert len(changed.folders) == (3 if moment == "after the map" else 2)
    entries = {}
    for folder in changed.folders:
        shard = Shard(str(tmp_path), folder)
        its = dict(shard.index.items())
        assert not its.keys() & entries.keys()
        entries |= its
        shard.close()
    assert entries == {-1: 7} | {key: key for key in range(100)}


def test_a_shard_that_was_taken_over_changes_nothing(tmp_path):
    """A process of a machine that was cut off goes on when another one has its shard already."""
    found = made(tmp_path, range(100), [60])
    cut_off = Shard(str(tmp_path), found.folders[0])
    (tmp_path / found.folders[0] / "lock").unlink()  # As a file system does that loses locks.
    shard = Shard(str(tmp_path), found.folders[0])
    assert shard.insert_many(np.array([-1]), np.array([7])) == 1
    with pytest.raises(RuntimeError, match="opened anew"):
        cut_off.split((None, "60"))
    assert _map.read(tmp_path).revision == 1
    with pytest.raises(RuntimeError, match="opened anew"):
        cut_off.insert_many(np.array([-2]), np.array([7]))
    shard.split((None, "60"))
    shard.close()
    shard = Shard(str(tmp_path), found.folders[0])
    assert list(shard.index) == [-1, *range(29)]
    shard.close()


def test_splits_of_several_shards_at_a_time(tmp_path):
    found = made(tmp_path, range(1000), [250, 500, 750])
    shards = [Shard(str(tmp_path), folder) for folder in found.folders]
    threads = [threading.Thread(target=shard.split, args=(shard.borders,)) for shard in shards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _map.read(tmp_path).lows.tolist() == [125, 250, 375, 500, 625, 750, 875]
    for shard in shards:
        shard.close()


def test_a_shard_waits_for_a_process_that_is_about_to_end(tmp_path):
    found = made(tmp_path, range(10), [])
    holding = DurableIndex.open(tmp_path / found.folders[0], fenced=True)
    threading.Timer(0.3, holding.close).start()
    Shard(str(tmp_path), found.folders[0]).close()
    with DurableIndex.open(tmp_path / found.folders[0], fenced=True), pytest.raises(BlockingIOError):
        Shard(str(tmp_path), found.folders[0], patience=0.1)


def test_a_long_replay_ends_with_a_snapshot(tmp_path, monkeypatch):
    from latchless.ray import _shard

    monkeypatch.setattr(_shard, "_REPLAYED_MAX", 100)
    found = made(tmp_path, range(10), [])
    shard = Shard(str(tmp_path), found.folders[0])
    shard.insert_many(np.arange(200), np.arange(200))
    shard.close()
    Shard(str(tmp_path), found.folders[0]).close()
    shard = Shard(str(tmp_path), found.folders[0])
    assert (shard.index.recovery.snapshot_entries, shard.index.recovery.records) == (200, 0)
    monkeypatch.setattr(_shard, "_LOG_BYTES_MAX", 1000)
    shard.insert_many(np.arange(1000), np.arange(1000))
    assert shard.index.log_nbytes < 1000
    shard.close()
