"""The class `ShardedIndex`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless._asked import Array
from latchless._dtypes import one_or_many
from latchless._durable import Sync, check_sync
from latchless._interchange import pyarrow
from latchless._neighbours import Found
from latchless._ranges import Closed, checked_limit, ends_of
from latchless.ray import _build, _map
from latchless.ray._calls import Send, Shards, ray
from latchless.ray._interval import Interval
from latchless.ray._map import Borders
from latchless.ray._route import Positions, route


@dataclass(frozen=True)
class ShardInfo:
    """A shard's contents and resources."""

    lo: Any
    """The first key that it may have; None: no bound."""
    hi: Any
    """The first key that it can't have; None: no bound."""
    len: int
    """Its entries."""
    bytes: int
    """Memory that its index holds."""
    version: int
    """The revision of the map that it knows: each split adds one."""
    process: int
    """The process that has it."""


class ShardedIndex:
    """An ordered map over many processes: each shard has the keys of a range, in a durable index of its own.

    `build` makes one from Parquet files, `open` opens a directory that has one. The directory must be the same for
    all machines of the cluster. Several processes may open a directory at the same time. They share the shards,
    which are actors of Ray. Shards end with the process that first requested them, or, opened with
    `detached=True`, when `close` is called.

    Methods have the names, parameters and results of `Index`'s, with these differences. Batches of at least 10,000
    keys are advised: a call takes milliseconds, however short it is. A batch isn't atomic, and each shard serves
    its part at a moment of its own.

    When a shard's process dies, its actor restarts from its snapshot and its log, and unanswered calls are
    repeated. So **writes happen at least once**. Every write that has returned is kept, as `sync` says. A write
    that was interrupted by a death may be applied twice: it may overwrite writes of other clients to the same keys
    in between, and counts of new or removed keys are then too low.

    A method raises `ray.exceptions.RayActorError` if a shard can't be started: the error's text has the reason.
    """

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    # ---- to and from a directory ----

    @classmethod
    def build(
        cls,
        source: Any,
        directory: str | os.PathLike[str],
        shards: int,
        *,
        key: int | str = 0,
        value: int | str = 1,
        sync: Sync = "never",
        detached: bool = False,
        actor_options: dict[str, Any] | None = None,
    ) -> ShardedIndex:
        """Make an index from two columns of Parquet files, or of a dataset.

        Parameters
        ----------
        source : path, list of paths, or pyarrow.dataset.Dataset
            The rows. Of equal keys the last one stays, in the order of the files. A task for each file deals its
            rows out to the shards.
        directory : path
            Where the index will be; it must not have one yet.
        shards : int
            How many; fewer if too many keys are equal. Borders are chosen by 65,536 keys, drawn at random.
        key, value : str or int
            The columns, by name or position.
        sync : {'each', 'never'} or float
            When shards sync: see `DurableIndex`. A killed process loses nothing whichever it is.
        detached, actor_options
            See `open`.

        Raises
        ------
        FileExistsError
            The directory has an index.
        TypeError, ValueError, KeyError
            Columns that an index can't have, or nulls, or a column that isn't there.
        """
        if shards < 1:
            raise ValueError(f"shards must be at least 1, not {shards}")
        sync = sync if isinstance(sync, str) else float(sync)
        check_sync(sync)
        where = Path(os.path.abspath(directory))
        where.mkdir(parents=True, exist_ok=True)
        with _map.locked(where):
            if (where / _map.NAME).exists():
                raise FileExistsError(17, "there is an index in this directory", str(where))
            # The leftovers of a build that was killed.
            for entry in where.glob("shard-*"):
                shutil.rmtree(entry)
            _build.build(ray(), source, where, shards, (key, value), sync)
        return cls.open(where, detached=detached, actor_options=actor_options)

    @classmethod
    def open(
        cls,
        directory: str | os.PathLike[str],
        *,
        detached: bool = False,
        actor_options: dict[str, Any] | None = None,
    ) -> ShardedIndex:
        """Open the index of a directory, and start the shards that aren't running.

        Parameters
        ----------
        directory : path
            Its path, which must be the same on all machines.
        detached : bool
            Whether the shards that this process starts outlive it.
        actor_options : dict
            Options of `ray.remote` for actors, such as `num_cpus`, `memory` or `scheduling_strategy`.

        Raises
        ------
        FileNotFoundError
            The directory has no index.
        ValueError
            Its file `shards.json` is damaged.
        """
        where = Path(os.path.abspath(directory))
        shards = Shards(where, detached, actor_options)
        _map.remove_unowned(where)
        shards.abouts()
        return cls(shards)

    def close(self) -> None:
        """Stop all shards, of all processes that have the directory open. Nothing is lost."""
        self._shards.close()

    def __enter__(self) -> ShardedIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its directory: a task that gets it uses the same shards."""
        return _opened, (type(self), *self._shards.told)

    def __repr__(self) -> str:
        count = len(self._shards.map.folders)
        dtypes = f"key_dtype='{self.key_dtype}', value_dtype='{self.value_dtype}'"
        return f"{type(self).__name__}({str(self.directory)!r}, {count} shards, {dtypes})"

    @property
    def key_dtype(self) -> np.dtype[Any]:
        """The dtype of the keys."""
        return self._shards.key.dtype

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self._shards.value.dtype

    @property
    def directory(self) -> Path:
        """Where it is."""
        return self._shards.directory

    # ---- batches ----

    def get_many(self, keys: ArrayLike | Any, default: Any = None) -> tuple[Array, NDArray[np.bool_]]:
        """Look many keys up: their values, and whether they are there. See `Index.get_many`."""
        asked = self._keys(keys)
        values, found = np.empty(len(asked), self.value_dtype), np.empty(len(asked), bool)

        def take(at: Positions, answer: Any) -> None:
            values[at], found[at] = answer

        self._shards.deal(asked, lambda shard, at, part: shard.get_many.remote(part, default), take)
        return values, found

    def contains_many(self, keys: ArrayLike | Any) -> NDArray[np.bool_]:
        """Whether each key is there."""
        asked = self._keys(keys)
        found = np.empty(len(asked), bool)

        def take(at: Positions, answer: Any) -> None:
            found[at] = answer

        self._shards.deal(asked, lambda shard, at, part: shard.contains_many.remote(part), take)
        return found

    def insert_many(self, keys: ArrayLike | Any, values: ArrayLike | Any) -> int:
        """Insert many entries; of equal keys the last one stays. Returns how many keys were new, at the least.

        When this returns, every entry is in the log of its shard. A MemoryError has the positions of the entries
        for which a shard had none in its attribute `refused`.
        """
        asked = self._keys(keys)
        listed, scalar = one_or_many(values)
        column = self._shards.value.to_array(listed)
        if not scalar and len(column) != len(asked):
            raise ValueError(f"there are {len(asked)} keys but {len(column)} values")
        return self._change(
            asked, lambda shard, at, part: shard.insert_many.remote(part, column[0] if scalar else column[at])
        )

    def remove_many(self, keys: ArrayLike | Any) -> int:
        """Remove many keys; those that aren't there are no error. Returns how many were there, at the least."""
        return self._change(self._keys(keys), lambda shard, at, part: shard.remove_many.remote(part))

    def _change(self, keys: Array, send: Send) -> int:
        counts: list[int] = []
        self._shards.deal(keys, send, lambda at, count: counts.append(count))
        return sum(counts)

    def floor_many(self, keys: ArrayLike | Any) -> Found:
        """For each key the entry with the largest key that is equal or smaller: see `Index.floor_many`."""
        return self._near("floor_many", keys, before=True)

    def lower_many(self, keys: ArrayLike | Any) -> Found:
        """For each key the entry with the largest smaller key: see `Index.lower_many`."""
        return self._near("lower_many", keys, before=True)

    def ceiling_many(self, keys: ArrayLike | Any) -> Found:
        """For each key the entry with the smallest key that is equal or larger: see `Index.ceiling_many`."""
        return self._near("ceiling_many", keys, before=False)

    def higher_many(self, keys: ArrayLike | Any) -> Found:
        """For each key the entry with the smallest larger key: see `Index.higher_many`."""
        return self._near("higher_many", keys, before=False)

    def _near(self, method: str, keys: ArrayLike | Any, before: bool) -> Found:
        asked = self._keys(keys)
        its_keys, values = self._shards.key.filled(len(asked)), self._shards.value.filled(len(asked))
        found = np.zeros(len(asked), bool)

        def take(at: Positions, answer: Any) -> None:
            its_keys[at], values[at], found[at] = answer

        self._shards.deal(asked, lambda shard, at, part: shard.near_many.remote(method, part), take)
        # At the edge of a shard the entry may be a neighbour's: the last one before the shard, or the first after.
        missing, known = np.flatnonzero(~found), self._shards.map
        for shard, positions, _ in route(known.lows, asked[missing]):
            border = known.ends(shard)[0 if before else 1]
            if border is not None:
                ends = (None, border) if before else (border, None)
                key, value = self.range(*ends, reverse=before, limit=1)
                if len(key):
                    where = missing[positions]
                    its_keys[where], values[where], found[where] = key, value, True
        return its_keys, values, found

    # ---- ranges ----

    def range(
        self,
        lo: Any = None,
        hi: Any = None,
        *,
        closed: Closed = "left",
        reverse: bool = False,
        limit: int | None = None,
    ) -> tuple[Array, Array]:
        """Copy the entries of a range, over all shards that have some: see `Index.range`."""
        pieces = [(np.empty(0, self.key_dtype), np.empty(0, self.value_dtype))]
        rest = checked_limit(limit)

        def ask(shard: Any, its: Interval, borders: Borders) -> Any:
            return shard.range.remote(its.low, its.high, its.closed, reverse, rest, borders)

        # With a limit one after the other: the next one gets the number that is missing.
        interval = self._interval(lo, hi, closed)
        for keys, values in self._shards.span(interval, ask, reverse=reverse, at_once=limit is None):
            pieces.append((keys, values))
            if rest is not None:
                rest -= len(keys)
                if rest == 0:
                    break
        return np.concatenate([keys for keys, _ in pieces]), np.concatenate([values for _, values in pieces])

    def range_batches(
        self, lo: Any = None, hi: Any = None, *, closed: Closed = "left", rows: int = 1 << 16
    ) -> Iterator[Any]:
        """The entries of a range in objects `pyarrow.RecordBatch` with the columns 'key' and 'value', in order.

        Each has `rows` rows, and the last one what is left. Entries that are changed between two batches are seen
        before or after the change; all others are seen once.
        """
        if rows < 1:
            raise ValueError(f"rows must be at least 1, not {rows}")
        arrow, rest = pyarrow(), self._interval(lo, hi, closed)
        while True:
            keys, values = self.range(rest.low, rest.high, closed=rest.closed, limit=rows)
            if len(keys):
                columns = [arrow.array(keys), arrow.array(values)]
                yield arrow.RecordBatch.from_arrays(columns, ["key", "value"])
            if len(keys) < rows:
                return
            rest = replace(rest, low=keys[-1], has_low=False)

    def count(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """How many keys there are in a range."""

        def ask(shard: Any, its: Interval, borders: Borders) -> Any:
            return shard.count.remote(its.low, its.high, its.closed, borders)

        return sum(self._shards.span(self._interval(lo, hi, closed), ask))

    def __len__(self) -> int:
        return self.count()

    def _keys(self, keys: ArrayLike | Any) -> Array:
        found = self._shards.key.to_array(keys)
        if found.dtype.kind in "fMm":
            none = np.isnan(found) if found.dtype.kind == "f" else np.isnat(found)
            if none.any():
                at = int(none.argmax())
                raise ValueError(f"{found[at]} can't be a key, but the key at position {at} is {found[at]}")
        return found

    def _interval(self, lo: Any, hi: Any, closed: Closed) -> Interval:
        low, high = (None if end is None else self._keys([end])[0] for end in (lo, hi))
        return Interval(low, high, *ends_of(closed))

    # ---- shards ----

    def shards(self) -> list[ShardInfo]:
        """The statistics of each shard, in the order of their keys."""
        abouts, known = self._shards.abouts(), self._shards.map
        return [
            ShardInfo(*known.ends(at), about["len"], about["bytes"], about["revision"], about["process"])
            for at, about in enumerate(abouts)
        ]

    def split(self, shard: int | None = None) -> None:
        """Give the upper half of a shard's entries to a new one: of the largest shard, unless a position is given.

        Calls to the shard wait meanwhile. Other processes needn't know: what they send to where it was before is
        refused as moved, and they send it again to where it is.
        """
        abouts = self._shards.abouts()
        at = int(np.argmax([about["len"] for about in abouts])) if shard is None else shard
        if not 0 <= at < len(abouts):
            raise IndexError(f"there are {len(abouts)} shards, but no shard {at}")
        borders = abouts[at]["borders"]
        self._shards.ask(self._shards.map.folders[at], lambda actor: actor.split.remote(borders))
        self._shards.abouts()

    def rebalance(self, max_ratio: float = 2.0) -> int:
        """Split the largest shard until none has more than `max_ratio` times the mean. Returns how often.

        Shards are never merged: one whose keys are removed stays.
        """
        if not max_ratio >= 1.5:
            raise ValueError(f"max_ratio must be at least 1.5, not {max_ratio}")
        splits = 0
        while True:
            lengths = [about["len"] for about in self._shards.abouts()]
            if max(lengths) < 2 or max(lengths) <= max_ratio * sum(lengths) / len(lengths):
                return splits
            self.split(int(np.argmax(lengths)))
            splits += 1

    def snapshot(self) -> int:
        """Save a snapshot of each shard, and return how many entries they have: the next start is shorter.

        Each is of one moment, but not all of the same.
        """
        return sum(self._shards.ask_all(lambda actor: actor.snapshot.remote()))


def _opened(
    cls: type[ShardedIndex], directory: Path, detached: bool, actor_options: dict[str, Any]
) -> ShardedIndex:
    return cls.open(directory, detached=detached, actor_options=actor_options)
