"""Shards that don't change, on Dask: each is the result of a task, and is made again when its worker is lost.

    python examples/dask_shards.py directory/*.parquet

For shards that change take `latchless.ray`: what is changed in a task's result is lost when the task runs again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from pyarrow import parquet

from latchless import Index


def build(path: str, key: str, value: str) -> Index:
    """The index of one file. It stays with the worker that made it, which Dask sends the lookups to."""
    return Index.from_arrow(parquet.read_table(path, columns=[key, value]))


def ends(shard: Index) -> tuple[Any, Any]:
    """The first and the last key of a shard."""
    return shard.peekitem(last=False)[0], shard.peekitem()[0]


def get(shard: Index, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Looks keys up in one shard."""
    return shard.get_many(keys)


def part(shard: Index, lo: Any, hi: Any) -> tuple[np.ndarray, np.ndarray]:
    """The entries of a range in one shard."""
    return shard.range(lo, hi)


class Shards:
    """Indexes of some files, each with any keys: a key that several files have is found in the last of them."""

    def __init__(self, client: Client, paths: Sequence[str | Path], key: str, value: str) -> None:
        self.client = client
        self.shards = [client.submit(build, str(path), key, value) for path in paths]
        self.ends = client.gather(client.map(ends, self.shards))

    def get_many(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Looks keys up, each in the shards between whose ends it is."""
        sent, positions = [], []
        for shard, (first, last) in zip(self.shards, self.ends, strict=True):
            at = np.flatnonzero((keys >= first) & (keys <= last))
            positions.append(at)
            sent.append(self.client.submit(get, shard, keys[at], pure=False))
        values, found = None, np.zeros(len(keys), bool)
        for at, (its_values, its_found) in zip(positions, self.client.gather(sent), strict=True):
            values = np.zeros(len(keys), its_values.dtype) if values is None else values
            values[at[its_found]] = its_values[its_found]
            found[at] |= its_found
        return values, found

    def range(self, lo: Any, hi: Any) -> tuple[np.ndarray, np.ndarray]:
        """The entries of a range, in order."""
        within = [
            shard for shard, (first, last) in zip(self.shards, self.ends, strict=True) if first < hi and last >= lo
        ]
        parts = self.client.gather([self.client.submit(part, shard, lo, hi, pure=False) for shard in within])
        # Of equal keys the last one stays, as in one index.
        return Index(*map(np.concatenate, zip(*parts, strict=True))).to_numpy()


if __name__ == "__main__":
    with Client() as client:
        shards = Shards(client, sys.argv[1:], "key", "value")
        for path, (first, last) in zip(sys.argv[1:], shards.ends, strict=True):
            print(f"{path}: from {first} to {last}")
