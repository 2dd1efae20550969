"""What shards cost beside one process: a call, a key of a large batch, an insert, a restart.

    pip install .[ray]
    python bench_shards.py --entries 4M --shards 2

Times are those of a clock on the wall, the best of the rounds; processor time is that of the client and of all
shards together. One process is a `DurableIndex` of the same entries that syncs as the shards do, never.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from latchless import DurableIndex
from latchless.ray import ShardedIndex, _map
from latchless.ray._route import route

BATCH = 1_000_000


def number(text: str) -> int:
    """A number such as 20k or 4M."""
    units = {"k": 1000, "M": 1_000_000}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def best(rounds: int, work: Callable[[], Any]) -> float:
    """Seconds of the fastest round."""
    taken = []
    for _ in range(rounds):
        gc.collect()
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def repeated(method: Callable[..., Any], arguments: tuple[Any, ...], times: int) -> None:
    """Calls something so many times."""
    for _ in range(times):
        method(*arguments)


def shown(seconds: float) -> str:
    """A time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def processor_time(found: ShardedIndex) -> float:
    """Seconds of processor time of all shards so far, threads of Ray's included."""

    def told(shard: Any) -> float:
        return time.process_time()

    import ray

    folders = _map.read(found.directory).folders
    return sum(ray.get([found._shards.actor(folder).__ray_call__.remote(told) for folder in folders]))


def build(directory: Path, keys: np.ndarray, shards: int) -> tuple[ShardedIndex, float]:
    """An index of some keys, and the seconds that it took."""
    import pyarrow
    from pyarrow import parquet

    files = []
    for at, part in enumerate(np.array_split(keys, max(shards, 2))):
        files.append(directory / f"{at}.parquet")
        parquet.write_table(pyarrow.table({"key": part, "value": part}), files[-1])
    started = time.perf_counter()
    found = ShardedIndex.build(files, directory / "shards", shards)
    return found, time.perf_counter() - started


def calls(one: DurableIndex, found: ShardedIndex, keys: np.ndarray, rounds: int) -> list[str]:
    """What calls take."""
    rng, rows = np.random.default_rng(1), []
    for count, repeat in ((1, 20), (100, 20), (10_000, 10), (min(BATCH, len(keys)), 2)):
        asked = rng.choice(keys, count)
        for name in ("get_many", "floor_many", "insert_many"):
            arguments = (asked, asked) if name == "insert_many" else (asked,)
            taken = []
            for index in (one, found):
                taken.append(best(rounds, partial(repeated, getattr(index, name), arguments, repeat)) / repeat)
            rate, ratio = count / taken[1], taken[1] / taken[0]
            rows.append(
                f"| {name} of {count:,} | {shown(taken[0])} | {shown(taken[1])} | {ratio:.3g} | {rate:,.0f} |"
            )
    return rows


def overhead(one: DurableIndex, found: ShardedIndex, keys: np.ndarray, rounds: int) -> list[str]:
    """What a key of a large batch costs beyond its lookup, in nanoseconds."""
    asked = np.random.default_rng(2).choice(keys, min(BATCH, len(keys)))
    lows = _map.read(found.directory).lows
    values, flags = np.empty(len(asked), found.value_dtype), np.empty(len(asked), bool)

    def routing() -> None:
        for _, at, part in route(lows, asked):
            values[at], flags[at] = part, True

    routed = best(rounds, routing)

    def lookups() -> float:
        """Processor time of the lookups alone, in as many batches as there are shards."""
        started = time.process_time()
        for _, _, part in parts:
            one.get_many(part)
        return time.process_time() - started

    parts = list(route(lows, asked))
    alone, whole = [], []
    for _ in range(rounds):
        alone.append(lookups())
        before, started = processor_time(found), time.process_time()
        found.get_many(asked)
        client = time.process_time() - started
        whole.append(client + processor_time(found) - before)
    per_key = 1e9 / len(asked)
    return [
        f"| routing, and putting answers in their places | {routed * per_key:.0f} |",
        f"| lookup | {min(alone) * per_key:.0f} |",
        f"| all of a sharded lookup: client and shards | {min(whole) * per_key:.0f} |",
        f"| on top of the lookup | {(min(whole) - min(alone)) * per_key:.0f} |",
    ]


def recovery(found: ShardedIndex, rounds: int) -> tuple[float, float, int]:
    """Seconds from a kill to the next answer: from a snapshot, and with a tenth of the entries in the log."""
    taken = []
    for logged in (False, True):
        found.snapshot()
        entries = found.shards()[0].len
        if logged:
            keys = found.range(limit=max(entries // 10, 1))[0]
            found.insert_many(keys, keys)
        best_of = []
        for _ in range(rounds):
            key = found.range(limit=1)[0]
            os.kill(found.shards()[0].process, signal.SIGKILL)
            started = time.perf_counter()
            assert found.get_many(key)[1].all()
            best_of.append(time.perf_counter() - started)
        taken.append(min(best_of))
    return taken[0], taken[1], entries


def main(arguments: list[str] | None = None) -> str:
    """Measures, and returns tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=number, default=4_000_000, help="per shard, such as 20k or 4M")
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", help="where the files are; by default the system's folder for them")
    told = parser.parse_args(arguments)
    import ray

    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    keys = np.random.default_rng(0).permutation(told.entries * told.shards) * 3
    with tempfile.TemporaryDirectory(dir=told.directory) as temporary:
        directory = Path(temporary)
        load = os.getloadavg()[0]
        started = time.perf_counter()
        one = DurableIndex(directory / "one", keys, keys, sync="never")
        built_one = time.perf_counter() - started
        found, built = build(directory, keys, told.shards)
        with one, found:
            rows = calls(one, found, keys, told.rounds)
            costs = overhead(one, found, keys, told.rounds)
            snapshot, log, entries = recovery(found, told.rounds)
    versions = f"Python {sys.version.split()[0]}, numpy {np.__version__}, ray {ray.__version__}"
    lines = [
        f"{told.shards} shards of {told.entries:,} entries, `int64` keys and values; {os.cpu_count()} cores, "
        f"load {load:.1f} before. {versions}.",
        "",
        f"| a call | one process | {told.shards} shards | times as long | entries a second |",
        "|---|---:|---:|---:|---:|",
        *rows,
        f"| build | {shown(built_one)} | {shown(built)} | {built / built_one:.3g} | {len(keys) / built:,.0f} |",
        "",
        f"| processor time a key, batches of {min(BATCH, len(keys)):,} | ns |",
        "|---|---:|",
        *costs,
        "",
        f"| recovery of a killed shard of {entries:,} entries | |",
        "|---|---:|",
        f"| from a snapshot | {shown(snapshot)} |",
        f"| from a snapshot, and a log with a tenth of them | {shown(log)} |",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(main())
