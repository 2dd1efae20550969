"""Shards on Ray: answers are those of one process, while shards are split and workers are killed.

pytest -m ray
"""

import json
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_same, random_column

from latchless import Index
from latchless.ray import ShardedIndex, _map

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]
ray = pytest.importorskip("ray")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

FOLDER = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def written(directory, keys, values, files):
    """Parquet files of some columns."""
    directory.mkdir(exist_ok=True)
    paths = []
    for at, (its_keys, its_values) in enumerate(
        zip(np.array_split(keys, files), np.array_split(values, files), strict=True)
    ):
        paths.append(directory / f"{at}.parquet")
        parquet.write_table(pyarrow.table({"value": its_values, "other": its_keys, "key": its_keys}), paths[-1])
    return paths


def sharded(tmp_path, keys, values, shards=4, files=3):
    paths = written(tmp_path / "files", keys, values, files)
    return ShardedIndex.build(paths, tmp_path / "shards", shards, key="key", value=0)


def assert_answers(found, index, asked):
    """All that is asked of one is answered by the other."""
    for method in ("get_many", "floor_many", "lower_many", "ceiling_many", "higher_many"):
        for got, expected in zip(getattr(found, method)(asked), getattr(index, method)(asked), strict=True):
            assert_same(got, expected)
    assert_same(found.contains_many(asked), index.contains_many(asked))
    assert len(found) == len(index)
    some = np.sort(np.random.default_rng(len(asked)).choice(asked, 4))
    ends = [(None, None), (some[0], None), (None, some[1]), (some[0], some[3]), (some[3], some[0])]
    ends += [(low, low) for low in _map.read(found.directory).lows[:2]]
    for lo, hi in ends:
        for closed in ("left", "right", "both", "neither"):
            assert found.count(lo, hi, closed=closed) == index.count(lo, hi, closed=closed)
            for how in ({}, {"reverse": True}, {"limit": 50}, {"reverse": True, "limit": 777}):
                pairs = zip(
                    found.range(lo, hi, closed=closed, **how),
                    index.range(lo, hi, closed=closed, **how),
                    strict=True,
                )
                for got, expected in pairs:
                    assert_same(got, expected)


DTYPES = [("i8", "f8"), ("M8[ns]", "i4"), ("u4", "bool"), ("f8", "M8[us]"), ("i2", "u1")]


@pytest.mark.parametrize(("key_dtype", "value_dtype"), DTYPES)
def test_answers_are_those_of_one_process(rng, tmp_path, key_dtype, value_dtype):
    keys, values = random_column(rng, key_dtype, 9000), random_column(rng, value_dtype, 9000)
    index = Index(keys, values)
    asked = np.concatenate([keys[:500], random_column(rng, key_dtype, 1000, 999)])
    with sharded(tmp_path, keys, values) as found:
        assert (found.key_dtype, found.value_dtype) == (index.key_dtype, index.value_dtype)
        assert len(found.shards()) == 4
        assert_answers(found, index, asked)
        assert_answers(found, index, np.sort(asked))
        more, its = random_column(rng, key_dtype, 3000, 500), random_column(rng, value_dtype, 3000)
        assert found.insert_many(more, its) == index.insert_many(more, its)
        assert found.insert_many(more[:10], its[0]) == index.insert_many(more[:10], its[0])
        assert found.remove_many(keys[::3]) == index.remove_many(keys[::3])
        assert_answers(found, index, asked)
        assert found.snapshot() == len(index)
        table = pyarrow.Table.from_batches(list(found.range_batches(rows=700)))
        assert table.column_names == ["key", "value"]
        assert set(map(len, table.to_batches()[:-1])) == {700}
        assert_same(Index.from_arrow(table).to_numpy()[0], index.to_numpy()[0])
        assert found.insert_many([], []) == 0
    with ShardedIndex.open(tmp_path / "shards") as found:
        assert_answers(found, index, asked)


def test_datasets_and_missing_entries(rng, tmp_path):
    from pyarrow import dataset

    keys = rng.integers(0, 10**6, 5000)
    paths = written(tmp_path / "files", keys, keys * 2, 4)
    with ShardedIndex.build(dataset.dataset(paths), tmp_path / "one", 3, key=2, value="value") as found:
        assert_answers(found, Index(keys, keys * 2), keys[:100])
        assert found.get_many([-1, keys[0]], default=9)[0].tolist() == [9, keys[0] * 2]
    memory = dataset.dataset(pyarrow.table({"key": [1, 1, 2], "value": [1.5, 2.5, 3.5]}))
    with ShardedIndex.build(memory, tmp_path / "two", 5) as found:
        assert dict(zip(*found.range(), strict=True)) == {1: 2.5, 2: 3.5}
    empty = dataset.dataset(pyarrow.table({"key": pyarrow.array([], "f4"), "value": pyarrow.array([], "i8")}))
    with ShardedIndex.build(empty, tmp_path / "three", 5, sync=0.5) as found:
        assert (len(found), found.key_dtype) == (0, np.float32)
        assert found.insert_many([1.5, -0.0], [1, 2]) == 2
        assert found.floor_many([0.0, 9.0])[1].tolist() == [2, 1]
        found.split()
        assert found.floor_many([0.0, 9.0])[1].tolist() == [2, 1]


def test_neighbours_beyond_empty_shards(tmp_path):
    keys = np.arange(0, 8000, 2)
    with sharded(tmp_path, keys, keys, shards=8) as found:
        lows = _map.read(found.directory).lows
        found.remove_many(np.arange(lows[1], lows[5]))
        index = Index(keys, keys)
        index.remove_range(lows[1], lows[5])
        asked = np.concatenate([lows, lows - 1, lows + 1, [-5, 9000]])
        assert_answers(found, index, asked)
        found.remove_many(keys)
        assert not found.floor_many(asked)[2].any()
        assert not found.ceiling_many(asked)[2].any()


def test_stale_clients_find_what_has_moved(rng, tmp_path):
    keys = rng.integers(0, 10**9, 8000)
    index = Index(keys, keys)
    with sharded(tmp_path, keys, keys, shards=2) as found:
        stale = ShardedIndex.open(tmp_path / "shards")
        asked = np.concatenate([keys[:300], rng.integers(0, 10**9, 300)])
        appended = np.arange(10**9, 10**9 + 30_000)
        for act in (
            found.split,
            lambda: found.split(0),
            lambda: found.insert_many(appended, 1) == index.insert_many(appended, 1),
            found.rebalance,
        ):
            assert act() is not False
            assert_answers(stale, index, asked)
            more = rng.integers(0, 2 * 10**9, 500)
            # The other client doesn't know yet.
            assert stale.insert_many(more, more) == index.insert_many(more, more)
            assert found.remove_many(more[:100]) == index.remove_many(more[:100])
        lengths = [shard.len for shard in found.shards()]
        assert max(lengths) <= 2 * sum(lengths) / len(lengths)
        assert found.rebalance() == 0
        shards = found.shards()
        assert [shard.hi for shard in shards[:-1]] == [shard.lo for shard in shards[1:]]
        assert (shards[0].lo, shards[-1].hi) == (None, None)
        with pytest.raises(IndexError):
            found.split(99)
        with pytest.raises(ValueError, match="max_ratio"):
            found.rebalance(1.1)


def test_a_task_has_the_same_shards(tmp_path):
    keys = np.arange(1000)
    with sharded(tmp_path, keys, keys, shards=2) as found:

        @ray.remote
        def work(found):
            found.insert_many([5000], [1])
            return [shard.process for shard in found.shards()]

        assert ray.get(work.remote(found)) == [shard.process for shard in found.shards()]
        assert found.contains_many([5000]).all()


def test_what_is_refused(tmp_path):
    keys = np.arange(100)
    with sharded(tmp_path, keys, keys / 2, shards=2) as found:
        with pytest.raises(OverflowError):
            found.get_many(np.array([2**63], np.uint64))
        with pytest.raises(ValueError, match="100 keys but 2 values"):
            found.insert_many(keys, [1, 2])
        with pytest.raises(ValueError, match="closed"):
            found.range(closed="above")
        with pytest.raises(ValueError, match="limit"):
            found.range(limit=-1)
        with pytest.raises(FileExistsError):
            ShardedIndex.build(tmp_path / "files" / "0.parquet", tmp_path / "shards", 2)
    with pytest.raises(FileNotFoundError):
        ShardedIndex.open(tmp_path / "none")
    for refused, how in (
        (KeyError, {"key": "missing"}),
        (ValueError, {"shards": 0}),
        (ValueError, {"sync": "often"}),
    ):
        arguments = {"shards": 2, "key": 2, "value": 0} | how
        with pytest.raises(refused):
            ShardedIndex.build(tmp_path / "files" / "0.parquet", tmp_path / "other", **arguments)
    nulls = pyarrow.table({"key": [1, None], "value": [1, 2]})
    parquet.write_table(nulls, tmp_path / "nulls.parquet")
    with pytest.raises(ValueError, match="null"):
        ShardedIndex.build(tmp_path / "nulls.parquet", tmp_path / "other", 2)
    # Its leftovers do no harm.
    with ShardedIndex.build(tmp_path / "files" / "0.parquet", tmp_path / "other", 2, key=2) as found:
        assert len(found) == 34
        assert not list((tmp_path / "other").glob("build-*"))
    times = pyarrow.table({"key": pyarrow.array([1.0, 2.0]), "value": [1, 2]})
    parquet.write_table(times, tmp_path / "floats.parquet")
    with (
        ShardedIndex.build(tmp_path / "floats.parquet", tmp_path / "floats", 2) as found,
        pytest.raises(ValueError, match="position 1 is nan"),
    ):
        found.insert_many([1.0, np.nan], 1)


def test_a_damaged_map(tmp_path):
    with sharded(tmp_path, np.arange(100), np.arange(100)):
        pass
    path = tmp_path / "shards" / "shards.json"
    text = path.read_text()
    for damaged in (text[:100], text.replace('"low"', '"lo"'), text.replace('"revision": 1', '"revision": 2'), ""):
        assert damaged != text
        path.write_text(damaged)
        with pytest.raises(ValueError, match=r"shards.json is damaged, or no map of shards"):
            ShardedIndex.open(tmp_path / "shards")
    path.write_text(json.dumps(json.loads(text)))
    with ShardedIndex.open(tmp_path / "shards") as found:
        assert len(found) == 100


def test_a_damaged_shard_is_told(tmp_path):
    with sharded(tmp_path, np.arange(100), np.arange(100), shards=2):
        pass
    folder = tmp_path / "shards" / _map.read(tmp_path / "shards").folders[1]
    snapshot = next(folder.glob("snapshot-*"))
    data = bytearray(snapshot.read_bytes())
    data[len(data) // 2] ^= 1
    snapshot.write_bytes(data)
    with pytest.raises(ray.exceptions.RayActorError, match="checksum"):
        ShardedIndex.open(tmp_path / "shards")


# ---- kills ----


class Killer:
    """Kills processes of shards, one after the other, until it is left."""

    def __init__(self, directory, seed, pause=0.6):
        self.directory, self.random, self.pause = directory, random.Random(seed), pause
        self.done, self.kills, self.errors = threading.Event(), 0, []
        self.thread = threading.Thread(target=self.work)

    def work(self):
        try:
            found = ShardedIndex.open(self.directory)
            while not self.done.wait(self.random.random() * self.pause):
                shard = self.random.choice(found.shards())
                time.sleep(self.random.random() / 20)
                os.kill(shard.process, signal.SIGKILL)
                self.kills += 1
        except BaseException as error:
            self.errors.append(error)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        assert self.errors == []


def test_no_acknowledged_write_is_lost_when_workers_are_killed(rng, tmp_path):
    """Two clients write keys of their own; one of them splits and saves as well."""
    keys = np.arange(0, 200_000, 5)
    index = Index(keys, keys)
    with sharded(tmp_path, keys, keys, shards=3) as found:
        models = [Index(), Index()]
        errors = []

        def write(client):
            try:
                mine = ShardedIndex.open(tmp_path / "shards")
                own = np.random.default_rng(client)
                for step in range(25):
                    batch = own.integers(0, 25_000, 3000) * 10 + 2 * client + 1
                    mine.insert_many(batch, batch + step)
                    models[client].insert_many(batch, batch + step)
                    gone = batch[:200]
                    mine.remove_many(gone)
                    models[client].remove_many(gone)
                    values, there = mine.get_many(batch)
                    np.testing.assert_array_equal(there, models[client].contains_many(batch))
                    np.testing.assert_array_equal(values[there], models[client].get_many(batch)[0][there])
                    if client and step % 6 == 2:
                        mine.split()
                    if client and step % 6 == 5:
                        mine.snapshot()
            except BaseException as error:
                errors.append(error)

        with Killer(tmp_path / "shards", 1) as killer:
            clients = [threading.Thread(target=write, args=(client,)) for client in range(2)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        assert errors == []
        assert killer.kills >= 5
        for model in models:
            index.update(model)
        assert_answers(found, index, np.concatenate([keys[:500], rng.integers(0, 250_000, 2000)]))
        assert len(found.shards()) == 7
        for got, expected in zip(found.range(), index.to_numpy(), strict=True):
            assert_same(got, expected)
    # Nothing is left of what was killed.
    ShardedIndex.open(tmp_path / "shards").close()
    folders = {entry.name for entry in (tmp_path / "shards").iterdir() if entry.is_dir()}
    assert folders == set(_map.read(tmp_path / "shards").folders)


@pytest.mark.parametrize("moment", ["before the map", "after the map"])
def test_a_worker_that_is_killed_amid_a_split(tmp_path, moment):
    keys = np.arange(10_000)
    with sharded(tmp_path, keys, keys, shards=2) as found:
        actor = found._shards.actor(_map.read(found.directory).folders[0])

        def patch(shard, moment):
            import os
            import signal

            from latchless.ray import _map

            write = _map.write

            def killed(*arguments):
                if moment == "after the map":
                    write(*arguments)
                os.kill(os.getpid(), signal.SIGKILL)

            _map.write = killed

        ray.get(actor.__ray_call__.remote(patch, moment))
        found.split(0)
        # It was done once: by the process that was killed, or by the one after it.
        assert [shard.len for shard in found.shards()] == [2500, 2500, 5000]
        assert_answers(found, Index(keys, keys), keys[::50])


def test_an_actor_that_was_ended_for_good_is_made_anew(tmp_path):
    keys = np.arange(1000)
    with sharded(tmp_path, keys, keys, shards=2) as found:
        found.insert_many([5000], [1])
        for folder in _map.read(found.directory).folders:
            ray.kill(found._shards.actor(folder), no_restart=True)
        assert found.contains_many([0, 5000]).all()
        assert found.count() == 1001


def test_a_build_whose_workers_are_killed(tmp_path, monkeypatch):
    """A task is done once more from its beginning."""
    from latchless.ray import _build

    mark = tmp_path / "killed"

    def dying(function):
        def work(*arguments):
            import os
            import signal

            done = function(*arguments)
            path = f"{mark}-{function.__name__}"
            if not os.path.exists(path):
                open(path, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return work

    monkeypatch.setattr(_build, "deal", dying(_build.deal))
    monkeypatch.setattr(_build, "load", dying(_build.load))
    keys = np.random.default_rng(3).integers(0, 10**6, 20_000)
    with sharded(tmp_path, keys, keys) as found:
        assert_answers(found, Index(keys, keys), keys[:200])
    assert {path.name for path in tmp_path.glob("killed-*")} == {"killed-deal", "killed-load"}


# ---- the documentation's examples ----


def test_the_page_s_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "files", np.arange(1000), np.arange(1000) / 2, 3)
    page = (FOLDER.parent / "docs" / "python-shards.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 1
    for block in blocks:
        exec(compile(block, "python-shards.md", "exec"), {})


def test_the_dask_recipe_survives_a_killed_worker(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    # Workers import the recipe, too.
    monkeypatch.syspath_prepend(FOLDER / "examples")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER / "examples"))
    import dask_shards as recipe

    keys = np.random.default_rng(4).permutation(40_000)
    paths = written(tmp_path / "files", keys, keys * 3, 4)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        shards = recipe.Shards(client, paths, key="key", value="value")
        asked = np.concatenate([keys[:1000], [-1, 40_000]])
        for kill in (False, True, True):
            if kill:
                process = next(iter(client.run(os.getpid).values()))
                os.kill(process, signal.SIGKILL)
            values, found = shards.get_many(asked)
            assert found.tolist() == [True] * 1000 + [False] * 2
            np.testing.assert_array_equal(values[:1000], keys[:1000] * 3)
            got = shards.range(100, 300)
            np.testing.assert_array_equal(got[0], np.arange(100, 300))
            np.testing.assert_array_equal(got[1], np.arange(100, 300) * 3)


def test_the_bench_runs():
    from test_examples import load

    bench = load(FOLDER / "bench_shards.py")
    text = bench.main(["--entries", "20k", "--shards", "2", "--rounds", "1"])
    assert "| get_many of 10,000 |" in text
    assert "recovery" in text
