"""The keys of each shard: the file `shards.json` of a directory, which is replaced in one step.

It is the only place with this information. Shards read it when they start, clients when a shard answers that keys
have moved. A process that changes it, or the files that it names, holds the lock of the directory meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from latchless._asked import Array
from latchless._dtypes import Column, columns

NAME = "shards.json"
_LOCK = "shards.lock"
_FOLDER = re.compile(r"shard-[0-9a-f]{12}")
_VERSION = 1

Borders = tuple[str | None, str | None]
"""The keys that a shard has, from the first to before the second, as text; None where it is open."""


@dataclass(frozen=True)
class Map:
    """The keys of each folder."""

    revision: int
    """Counts changes."""
    key_dtype: str
    value_dtype: str
    sync: str | float
    """When shards sync: see `DurableIndex`."""
    folders: tuple[str, ...]
    """The shards' folders, in the order of their keys."""
    lows: Array
    """The first key that each shard but the first one may have, ascending."""

    def columns(self) -> tuple[Column, Column]:
        """How keys and values are stored."""
        return columns(self.key_dtype, self.value_dtype)

    def at(self, folder: str) -> int:
        """The position of a folder."""
        return self.folders.index(folder)

    def ends(self, at: int) -> tuple[Any, Any]:
        """The keys of the shard at a position: from the first to before the second, None where it is open."""
        return (self.lows[at - 1] if at > 0 else None, self.lows[at] if at < len(self.lows) else None)

    def borders(self, at: int) -> Borders:
        """The same as text."""
        low, high = self.ends(at)
        return (None if low is None else to_text(low), None if high is None else to_text(high))

    def split(self, folder: str, middle: Any, upper: str) -> Map:
        """With the keys of a folder from the middle on in another one."""
        at = self.at(folder)
        return replace(
            self,
            revision=self.revision + 1,
            folders=(*self.folders[: at + 1], upper, *self.folders[at + 1 :]),
            lows=np.insert(self.lows, at, middle),
        )


def to_text(key: Any) -> str:
    """A key as a text that loses nothing."""
    if key.dtype.kind == "f":
        return float(key).hex()
    return str(int(key.view(np.int64) if key.dtype.kind in "Mm" else key))


def _from_text(text: str, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        return np.array(float.fromhex(text), dtype)[()]
    if dtype.kind in "Mm":
        return np.array(int(text), np.int64).view(dtype)[()]
    return np.array(int(text), dtype)[()]


def new_folder() -> str:
    """A name for a shard's folder that no other has."""
    return f"shard-{uuid.uuid4().hex[:12]}"


def read(directory: Path) -> Map:
    """The map of a directory. FileNotFoundError if it has none, ValueError if it isn't what was written."""
    path = directory / NAME
    text = path.read_bytes()
    try:
        return _parsed(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} is damaged, or no map of shards: {error}") from None


def _parsed(told: Any) -> Map:
    if told["latchless.shards"] != _VERSION:
        raise ValueError(f"it is of version {told['latchless.shards']!r}; version {_VERSION} is known")
    content = told["map"]
    if told["crc32"] != _checksum(content):
        raise ValueError("its checksum is wrong")
    dtype = columns(content["key_dtype"], content["value_dtype"])[0].dtype
    folders = tuple(each["folder"] for each in content["shards"])
    lows = [each["low"] for each in content["shards"]]
    found = Map(
        int(content["revision"]),
        content["key_dtype"],
        content["value_dtype"],
        content["sync"],
        folders,
        np.array([_from_text(low, dtype) for low in lows[1:]], dtype),
    )
    if not folders or lows[0] is not None or len(set(folders)) < len(folders):
        raise ValueError("its shards aren't those of all keys")
    if not all(map(_FOLDER.fullmatch, folders)) or not (found.lows[1:] > found.lows[:-1]).all():
        raise ValueError("its shards aren't in order, or have other names than shards have")
    return found


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def write(directory: Path, changed: Map) -> Map:
    """Replaces the map, on the disk when this returns. The caller holds the lock."""
    shards = [{"folder": folder, "low": changed.borders(at)[0]} for at, folder in enumerate(changed.folders)]
    content = {
        "revision": changed.revision,
        "key_dtype": changed.key_dtype,
        "value_dtype": changed.value_dtype,
        "sync": changed.sync,
        "shards": shards,
    }
    told = {"latchless.shards": _VERSION, "crc32": _checksum(content), "map": content}
    # Folders that it names come first.
    sync_folder(directory)
    beside = directory / f"{NAME}.tmp-{uuid.uuid4().hex}"
    with beside.open("w") as file:
        json.dump(told, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(directory / NAME)
    sync_folder(directory)
    return changed


def sync_folder(directory: Path) -> None:
    """Makes the names of a directory outlast a power failure."""
    folder = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def locked(directory: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock of a directory. Without waiting, BlockingIOError if somebody else has it."""
    with (directory / _LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield  # Closing the file unlocks it.


def remove_unowned(directory: Path) -> None:
    """Removes what a split or a build has left that was killed: folders and files that no map names.

    Nothing while somebody holds the lock: what they are about to name isn't named yet.
    """
    with contextlib.suppress(BlockingIOError), locked(directory, wait=False):
        owned = set(read(directory).folders)
        for entry in directory.iterdir():
            unowned = _FOLDER.fullmatch(entry.name) and entry.name not in owned
            if unowned or entry.name.startswith("build-"):
                shutil.rmtree(entry)
            elif entry.name.startswith(f"{NAME}.tmp-"):
                entry.unlink()
