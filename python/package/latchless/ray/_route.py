"""The shard of each key of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from latchless._asked import Array

_FEW = 8
"""Up to so many shards, a pass over the keys for each of them takes less than a search and a sort."""

Positions = slice | Array


def shards_of(lows: Array, keys: Array) -> Array:
    """For each key the position of its shard, in as few bytes as that takes."""
    if len(lows) < _FEW:
        shards = np.zeros(len(keys), np.uint8)
        for low in lows:
            shards += keys >= low
        return shards
    found = np.searchsorted(lows, keys, side="right")
    # NumPy sorts by radix what has at most 16 bits.
    return found.astype(np.uint8 if len(lows) < 256 else np.uint16 if len(lows) < 65536 else np.int64)


def route(lows: Array, keys: Array) -> Iterator[tuple[int, Positions, Array]]:
    """For each shard that has some of the keys: its position, where these are in the batch, and they themselves.

    Keys of one shard stay in their order, so that of equal keys the last one stays last.
    """
    if len(lows) == 0 or len(keys) == 0:
        if len(keys):
            yield 0, slice(0, len(keys)), keys
        return
    shards = shards_of(lows, keys)
    if (shards[1:] >= shards[:-1]).all():
        ends = np.searchsorted(shards, np.arange(len(lows) + 2))
        for shard in range(len(lows) + 1):
            if ends[shard] < ends[shard + 1]:
                at = slice(int(ends[shard]), int(ends[shard + 1]))
                yield shard, at, keys[at]
    elif len(lows) < _FEW:
        for shard in range(len(lows) + 1):
            positions = np.flatnonzero(shards == shard)
            if len(positions):
                yield shard, positions, keys[positions]
    else:
        order = np.argsort(shards, kind="stable")
        gathered = keys[order]
        ends = np.concatenate([[0], np.cumsum(np.bincount(shards, minlength=len(lows) + 1))])
        for shard in np.flatnonzero(np.diff(ends)).tolist():
            start, end = ends[shard], ends[shard + 1]
            yield shard, order[start:end], gathered[start:end]


def at_positions(positions: Positions, within: Any, length: int) -> Array:
    """The positions, in a batch of this length, of some positions of a part."""
    listed = np.arange(length)[positions] if isinstance(positions, slice) else positions
    found: Array = listed[within]
    return found
