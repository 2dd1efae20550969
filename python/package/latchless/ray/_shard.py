"""A shard: the actor that has a durable index of the keys of one range.

One call at a time: splits, snapshots and writes are serialized. When its process dies, Ray restarts it, it reads
its directory, and unanswered calls are repeated.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from latchless._asked import Array
from latchless._durable import DurableIndex
from latchless.ray import _map
from latchless.ray._map import Borders

_REPLAYED_MAX = 1_000_000
"""A shard that had to replay more entries than that saves a snapshot before it serves."""
_LOG_BYTES_MAX = 256 << 20
"""A shard whose log is longer than that saves a snapshot."""


class Moved(Exception):  # noqa: N818
    """Keys of a call aren't, or aren't all, in the shard that was called: nothing was done."""


class Shard:
    """The keys of a range."""

    def __init__(self, directory: str, folder: str, patience: float = 60.0) -> None:
        self.directory, self.folder = Path(directory), folder
        found = _map.read(self.directory)
        found.at(folder)
        self.index = _opened(self.directory / folder, found.sync, patience)
        # Read after the log was taken over: a split that another process was at is in the map by now, or never is.
        with _map.locked(self.directory):
            self._own(_map.read(self.directory))
        self._remove_others()
        if self.index.recovery.entries > _REPLAYED_MAX:
            self.index.snapshot()

    def _own(self, changed: _map.Map) -> None:
        at = changed.at(self.folder)
        (self.low, self.high), self.borders = changed.ends(at), changed.borders(at)
        self.revision = changed.revision

    def _remove_others(self) -> None:
        """Removes what a split has left that was killed after the map had changed."""
        if self.high is not None:
            self.index.remove_range(self.high, None)

    def _check(self, keys: Array) -> None:
        if len(keys) == 0:
            return
        below = self.low is not None and keys.min() < self.low
        if below or (self.high is not None and keys.max() >= self.high):
            raise Moved(f"revision {self.revision}")

    def _expect(self, borders: Borders) -> None:
        if borders != self.borders:
            raise Moved(f"revision {self.revision}")

    # ---- batches ----

    def get_many(self, keys: Array, default: Any) -> tuple[Array, Array]:
        """See `Index`."""
        self._check(keys)
        return self.index.get_many(keys, default)

    def contains_many(self, keys: Array) -> Array:
        """See `Index`."""
        self._check(keys)
        return self.index.contains_many(keys)

    def near_many(self, method: str, keys: Array) -> tuple[Array, Array, Array]:
        """The entries of this shard that are nearest: `method` is one of `Index`."""
        self._check(keys)
        found: tuple[Array, Array, Array] = getattr(self.index, method)(keys)
        return found

    def insert_many(self, keys: Array, values: Any) -> int:
        """See `Index`."""
        self._check(keys)
        new = self.index.insert_many(keys, values)
        self._shorten_log()
        return new

    def remove_many(self, keys: Array) -> int:
        """See `Index`."""
        self._check(keys)
        removed = self.index.remove_many(keys)
        self._shorten_log()
        return removed

    def _shorten_log(self) -> None:
        if self.index.log_nbytes > _LOG_BYTES_MAX:
            self.index.snapshot()

    # ---- ranges ----

    def range(
        self, lo: Any, hi: Any, closed: Any, reverse: bool, limit: int | None, borders: Borders
    ) -> tuple[Array, Array]:
        """See `Index`."""
        self._expect(borders)
        return self.index.range(lo, hi, closed=closed, reverse=reverse, limit=limit)

    def count(self, lo: Any, hi: Any, closed: Any, borders: Borders) -> int:
        """See `Index`."""
        self._expect(borders)
        return self.index.count(lo, hi, closed=closed)

    # ---- the whole shard ----

    def about(self) -> dict[str, Any]:
        """Its statistics, and the machine on which it runs."""
        return {
            "borders": self.borders,
            "len": len(self.index),
            "bytes": self.index.nbytes,
            "revision": self.revision,
            "process": os.getpid(),
            "recovery": self.index.recovery,
        }

    def snapshot(self) -> int:
        """See `DurableIndex`."""
        return self.index.snapshot()

    def split(self, borders: Borders) -> None:
        """Moves the upper half of the entries to a new folder, unless the borders have changed already.

        The half is on the disk before the map names it, and leaves this shard after that. A process that is killed
        in between leaves a folder that no map names, or entries that no client requests from this shard; both are
        removed later.
        """
        if borders != self.borders:
            return
        entries = len(self.index)
        if entries < 2:
            raise ValueError(f"a shard with {entries} entries can't be split")
        with _map.locked(self.directory):
            found = _map.read(self.directory)
            middle = self.index.nth(entries // 2)[0]
            keys, values = self.index.range(middle, None)
            upper = _map.new_folder()
            half = DurableIndex(
                self.directory / upper,
                keys,
                values,
                key_dtype=self.index.key_dtype,  # type: ignore[arg-type, unused-ignore]
                value_dtype=self.index.value_dtype,
                assume_sorted=True,
                sync="never",
                fenced=True,
            )
            half.close()
            # No later shard has taken over: else the half might lack writes that it has acknowledged.
            self.index.sync()
            changed = _map.write(self.directory, found.split(self.folder, keys[0], upper))
        self._own(changed)
        self._remove_others()
        self.index.snapshot()

    def close(self) -> None:
        """See `DurableIndex`."""
        self.index.close()


def _opened(folder: Path, sync: Any, patience: float) -> DurableIndex:
    """The index of a folder, which a process that was killed may have open for another moment."""
    until = time.monotonic() + patience
    while True:
        try:
            return DurableIndex.open(folder, sync=sync, fenced=True)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
