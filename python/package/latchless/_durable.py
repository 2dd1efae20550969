"""The class `DurableIndex`: an index whose changes outlive the process."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike

from latchless._batches import chosen
from latchless._dtypes import Duplicates, listed
from latchless._index import Index, check_fill, keys_and_values
from latchless._latchless import (
    Folder,
    close_log,
    forsake_log,
    log_bytes,
    snapshot_failure,
    snapshot_log,
    sync_log,
)
from latchless._text import KeyDtype, ValueDtype, described, described_in_a_file

Sync = Literal["each", "never"] | float
DamagedTail = Literal["refuse", "set_aside"]

_FILES = re.compile(r"(log-[0-9a-f]{16}\.redo|snapshot-[0-9a-f]{16}\.arrow)")


@dataclass(frozen=True)
class SnapshotPolicy:
    """When a durable index takes a snapshot by itself, which removes the log so far: when the log is long, or old.

    A thread of the index's own takes it, while others read and write. By default one is due when the log is over
    64 MiB and over twice as long as the last snapshot. So of two bytes that are logged at most one more is written
    for snapshots, and the next start has at most three times the bytes to read that the entries take.

    If a snapshot fails, nothing is lost and the log goes on; the next try is due when the log has grown by as much
    again, or after `age`. `DurableIndex.snapshot_failure` says why it failed, and so does `DurableIndex.close`.

    Raises TypeError and ValueError for what is no such number.

    Examples
    --------
    >>> import tempfile
    >>> from latchless import DurableIndex, SnapshotPolicy
    >>> hourly = SnapshotPolicy(log_bytes=1 << 20, age=3600)
    >>> with DurableIndex(tempfile.mkdtemp(), snapshots=hourly) as index:
    ...     index[1] = 10
    """

    log_bytes: int | None = 64 << 20
    """The bytes of the log up to which no snapshot is due for its length. None: none ever is."""
    growth: float = 2.0
    """The log's bytes, as a multiple of those of the last snapshot's file, up to which none is due for its length
    either."""
    age: float | None = None
    """How many seconds after the last snapshot, or after the opening, the next one is due if anything was logged.
    None: none is due for its age."""

    def __post_init__(self) -> None:
        if self.log_bytes is not None and not 0 <= _checked("log_bytes", self.log_bytes, operator.index) < 1 << 64:
            raise ValueError(f"log_bytes must be at least 0, and below 2**64, not {self.log_bytes}")
        if not 0 <= _checked("growth", self.growth, float) < math.inf:
            raise ValueError(f"growth must be a finite number of at least 0, not {self.growth}")
        if self.age is not None and not 0 < _checked("age", self.age, float) < math.inf:
            raise ValueError(f"age must be a positive number of seconds, not {self.age}")


def _checked(name: str, given: Any, number: Callable[[Any], float]) -> float:
    """The value of a policy's field, as a number."""
    if not isinstance(given, (bool, str)):
        with contextlib.suppress(TypeError):
            return number(given)
    raise TypeError(f"{name} is {'an integer' if number is operator.index else 'a number'}, not {given!r}")


BY_DEFAULT = SnapshotPolicy()


@dataclass(frozen=True)
class Stopped:
    """Where a log ended early: its first record that isn't whole."""

    path: Path
    """The log."""
    at: int
    """The byte at which that record begins."""
    bytes: int
    """How many bytes from there on were cut off."""
    what: str
    """The kind of damage."""
    rejected: Path
    """Where the bytes that were cut off are kept: nothing reads that file. One without a whole record is removed
    with its log, by a snapshot; any other stays until its owner removes it. Of a directory that is only read it is
    the log: nothing is cut off."""
    whole: int
    """How many whole records are among them."""


@dataclass(frozen=True)
class Recovery:
    """The findings of opening a directory."""

    snapshot_entries: int
    """Entries of the snapshot; 0 without one."""
    records: int
    """Records of the log that were replayed."""
    entries: int
    """Entries that these put and removed."""
    stopped: Stopped | None
    """Where the log ended early, if it did: after a kill, or a power failure."""


class DurableIndex(Index):
    """An index in memory with a redo log and snapshots in a directory: its changes outlive the process.

    Every method of `Index` is here. A method that changes entries first writes the changes to the log, as one
    record for each batch of up to 2**20 entries, and returns when they are on the disk, depending on `sync`. Reads
    cost as much as without a log.

    Parameters
    ----------
    directory : path
        The place of the log. It is made if it doesn't exist.
    keys, values : array-like
        The first entries of a new directory, as for `Index`: a snapshot, which is on the disk when this returns.
    key_dtype, value_dtype : dtype or type
        As for `Index`: also `str`, `bytes` and tuples. A directory that has an index has dtypes; others than these
        are refused. An index of a
        version that kept no zones doesn't record whether its times have one: see `Index.open`.
    sync : {'each', 'never'} or float
        When a change is on the disk: before the method returns; when the system writes it, or at `sync()`; or at
        most this many seconds later. A killed process loses no acknowledged change in any of these modes. A power
        failure or a crash of the system loses changes that weren't on the disk.
    fenced : bool
        For directories on network file systems, which may lose a lock while the machine that held it still writes:
        each opening begins a log of its own, and a change is acknowledged only if no later opening has begun one.
        All openings of the directory must be fenced.
    damaged_tail : {'refuse', 'set_aside'}
        How to treat damage in a part of the last log that was on the disk. 'refuse' is a ValueError that says how
        many whole records follow; the files stay unchanged. 'set_aside' opens the part before it, and keeps the
        rest in the file that `recovery.stopped.rejected` names.
    snapshots : SnapshotPolicy, optional
        When the index takes snapshots automatically. None: only `snapshot()` takes one.
    read_only : bool
        The directory is read and left unchanged: nothing is written, made, removed or locked, so it may be
        read-only, and another process may have it open. Then the index has the changes up to some record: at least
        all those that were acknowledged before this began, and none after it. It doesn't follow the directory.
        Changes and snapshots raise `io.UnsupportedOperation`, which is an OSError and has the directory in
        `filename`. `sync`, `fenced` and `snapshots` have no effect then.
    assume_sorted, duplicates, fill, limit_bytes
        As for `Index`.

    Raises
    ------
    BlockingIOError
        Another process has the directory open, or another index of this one.
    ValueError
        The directory has other dtypes, or entries where `keys` are given; or its files are damaged, other than at
        the end of the log, where a kill leaves half a record.
    FileNotFoundError
        With `read_only`: there is no index in the directory.
    OSError, MemoryError
        The system refuses.

    Notes
    -----
    One process at a time has a directory open. A child of `os.fork()` reads its copy of the index; its changes are
    a RuntimeError. So are those of an index whose directory a later fenced opening has taken over. An index can't
    be pickled; `copy()` is an `Index` in memory, which can.

    Other threads may see a change before it is on the disk. A batch isn't atomic for them, as in `Index`. Of a
    batch that was under way when the process died, all of a record's entries are recovered or none.

    If writing or syncing fails, OSError is raised. The state of the disk is unknown then, so the index takes no
    further changes until the directory is opened again.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from latchless import DurableIndex
    >>> directory = tempfile.mkdtemp()
    >>> with DurableIndex(directory, key_dtype="M8[s]", value_dtype="f8") as prices:
    ...     prices.insert_many(np.array(["2024-03-01", "2024-03-02"], "M8[s]"), [99.5, 99.25])
    2
    >>> prices = DurableIndex(directory)
    >>> len(prices), prices[np.datetime64("2024-03-02")]
    (2, 99.25)
    >>> prices.recovery.records, prices.recovery.stopped
    (1, None)
    >>> prices.snapshot()  # From here on the next start reads one file, and nothing of the log so far.
    2
    >>> prices.close()
    >>> DurableIndex(directory, read_only=True).to_numpy()[1]
    array([99.5 , 99.25])
    >>> pages = DurableIndex(tempfile.mkdtemp(), ["/about", "/"], ["Who we are", "Welcome"])
    >>> pages["/shop"] = "What we sell"
    >>> pages.prefix("/a")
    (['/about'], ['Who we are'])
    """

    directory: Path
    """Where the log is."""
    recovery: Recovery
    """The findings of opening the directory."""
    read_only: bool
    """Whether it was opened with `read_only`."""
    _closed: bool

    def __new__(
        cls,
        directory: str | os.PathLike[str],
        keys: ArrayLike | Any = None,
        values: ArrayLike | Any = None,
        *,
        key_dtype: KeyDtype | None = None,
        value_dtype: ValueDtype | None = None,
        sync: Sync = "each",
        fenced: bool = False,
        damaged_tail: DamagedTail = "refuse",
        snapshots: SnapshotPolicy | None = BY_DEFAULT,
        read_only: bool = False,
        assume_sorted: bool = False,
        duplicates: Duplicates = "last",
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> DurableIndex:
        """Open a directory: see the class."""
        keys, values = keys_and_values(keys, values)
        check_fill(fill)
        given = (key_dtype, value_dtype)
        if damaged_tail not in get_args(DamagedTail):
            raise ValueError(f"damaged_tail is 'refuse' or 'set_aside', not {damaged_tail!r}")
        opening = (check_sync(sync), bool(fenced), damaged_tail == "set_aside", check_policy(snapshots))
        read_only = bool(read_only)
        if read_only:
            if keys is not None:
                raise TypeError("an index that is opened to be read takes no entries")
            check_index(directory)
        folder = Folder(os.fspath(directory), *opening, read_only)
        try:
            zones_known = folder.zones_known
            if folder.dtypes is None:
                keys, values = listed(keys), listed(values)
                key, value = described(keys, key_dtype, values, value_dtype)
            elif keys is not None:
                raise ValueError(f"{os.fspath(directory)} has an index already: insert_many adds entries to it")
            else:
                key, value = described_in_a_file("the directory", folder.dtypes, zones_known, given)
            words, its = (None, None) if keys is None else chosen(key, value, keys, values, duplicates)[:2]
            told = (bool(assume_sorted), fill, limit_bytes, None, folder)
            made = cls._made(key, value, words, its, *told)
        finally:
            # Without an index the directory is free again.
            folder.close()
        assert isinstance(made, DurableIndex)
        found = folder.recovery
        assert found is not None
        stopped = found[3] and Stopped(Path(found[3][0]), *found[3][1:4], Path(found[3][4]), found[3][5])
        made.directory, made.recovery = Path(directory), Recovery(*found[:3], stopped)
        made.read_only, made._closed = read_only, False
        if read_only:
            return made
        _open[id(made)] = made
        if not zones_known and given != (None, None):
            # From here on the directory has what was given.
            made.snapshot()
        return made

    @classmethod
    def open(  # type: ignore[override]
        cls,
        directory: str | os.PathLike[str],
        *,
        key_dtype: KeyDtype | None = None,
        value_dtype: ValueDtype | None = None,
        sync: Sync = "each",
        fenced: bool = False,
        damaged_tail: DamagedTail = "refuse",
        snapshots: SnapshotPolicy | None = BY_DEFAULT,
        read_only: bool = False,
        limit_bytes: int | None = None,
    ) -> DurableIndex:
        """Open a directory that has an index, or raise FileNotFoundError. For other errors see the class."""
        check_index(directory)
        dtypes: dict[str, Any] = {"key_dtype": key_dtype, "value_dtype": value_dtype}
        opening: dict[str, Any] = {"sync": sync, "fenced": fenced, "damaged_tail": damaged_tail}
        more: dict[str, Any] = {"snapshots": snapshots, "read_only": read_only, "limit_bytes": limit_bytes}
        return cls(directory, **dtypes, **opening, **more)

    @classmethod
    def from_arrow(cls, *_: Any, **__: Any) -> NoReturn:
        """A durable index needs a directory: DurableIndex(directory, *Index.from_arrow(frame).to_numpy())."""
        raise TypeError(
            "a durable index needs a directory: DurableIndex(directory, *Index.from_arrow(frame).to_numpy())"
        )

    @classmethod
    def from_pandas(cls, *_: Any, **__: Any) -> NoReturn:
        """A durable index needs a directory: DurableIndex(directory, series.index, series)."""
        raise TypeError("a durable index needs a directory: DurableIndex(directory, series.index, series)")

    def sync(self) -> None:
        """Return when every change that returned before is on the disk."""
        sync_log(self)

    @property
    def snapshot_failure(self) -> Exception | None:
        """Why the last snapshot failed that was due by the policy, unless one was saved since: an exception."""
        return snapshot_failure(self)

    def snapshot(self) -> int:
        """Save all entries to a file of the directory, and return how many there are.

        The next start loads that file, and replays only what came after it: the log so far is removed. Other
        threads read and write meanwhile; writers wait while the disk is asked to sync a few bytes. Raises OSError
        if it can't be written: nothing is lost then.
        """
        return snapshot_log(self)

    @property
    def log_nbytes(self) -> int:
        """The bytes of the log that changes go to now: what the next start has to replay, at the least.

        Raises `io.UnsupportedOperation` if the index is only read.
        """
        return log_bytes(self)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self) -> None:
        """Wait until all changes are on the disk, and let others open the directory.

        Every other method raises ValueError from then on. Nothing happens if it is closed already. The directory
        is free, whatever is raised.

        Raises
        ------
        OSError
            Not everything is on the disk. Or everything is, but the last snapshot that was due by the policy
            failed, so the log wasn't shortened: then `__cause__` is why, as in `snapshot_failure` before.
        """
        if self._closed:
            return
        if _forked(self):
            raise RuntimeError("this process is a fork of the one that has the index open: only that can close it")
        self._closed = True
        _open.pop(id(self), None)
        close_log(self)

    def __enter__(self) -> DurableIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def copy(self) -> Index:  # type: ignore[override]
        """An `Index` in memory with the entries of this one. What others change meanwhile may be as before."""
        keys, values = self._range(None, None, (True, True), False, None)
        return Index._made(self._key, self._value, keys, self._value.to_load(values), True, 0.8, None)

    __copy__ = copy  # type: ignore[assignment]

    def __deepcopy__(self, memo: Any) -> Index:  # type: ignore[override]
        return self.copy()

    def __reduce__(self) -> NoReturn:
        """A durable index can't be pickled, but `copy()` can."""
        raise TypeError("a durable index can't be pickled: copy() is an index in memory, which can")

    def __repr__(self) -> str:
        if self._closed:
            return f"<{type(self).__name__} in {str(self.directory)!r}, closed>"
        return super().__repr__()


def has_index(directory: str | os.PathLike[str]) -> bool:
    """Whether a directory has a log or a snapshot."""
    try:
        names = os.listdir(directory)
    except OSError:
        return False
    return any(_FILES.fullmatch(name) for name in names)


def check_index(directory: str | os.PathLike[str]) -> None:
    """Refuses a directory that has no index."""
    if not has_index(directory):
        raise FileNotFoundError(2, "there is no durable index in this directory", os.fspath(directory))


def check_policy(snapshots: Any) -> tuple[int | None, float, float | None] | None:
    """When snapshots are due, in the compiled part's form: None never."""
    if snapshots is None:
        return None
    if not isinstance(snapshots, SnapshotPolicy):
        raise TypeError(f"snapshots is a SnapshotPolicy or None, not {snapshots!r}")
    return snapshots.log_bytes, snapshots.growth, snapshots.age


def check_sync(sync: Any) -> float | None:
    """When to sync, in the compiled part's form: None never, 0 at each change."""
    if sync == "never":
        return None
    if sync == "each":
        return 0.0
    if isinstance(sync, str):
        raise ValueError(f"sync is 'each', 'never' or a number of seconds, not {sync!r}")
    if isinstance(sync, bool) or not isinstance(sync, (int, float, np.integer, np.floating)):
        raise TypeError(f"sync is 'each', 'never' or a number of seconds, not {sync!r}")
    if not 0 < sync < float("inf"):
        raise ValueError(f"sync must be a positive number of seconds, not {sync}")
    return float(sync)


_open: weakref.WeakValueDictionary[int, DurableIndex] = weakref.WeakValueDictionary()
"""Indexes that are open, for children of forks, which leave the directories to their parent."""
_left: weakref.WeakValueDictionary[int, DurableIndex] = weakref.WeakValueDictionary()
"""Indexes that are open in a parent of this process."""


def _forked(index: DurableIndex) -> bool:
    return id(index) in _left


def _leave_to_parent() -> None:
    for index in list(_open.values()):
        forsake_log(index)
        _left[id(index)] = index
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
