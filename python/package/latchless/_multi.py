"""The class `MultiIndex`: keys that map to any number of rows."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless import _interchange
from latchless._asked import Array, Asked
from latchless._batches import of_positions
from latchless._dtypes import Column, columns, listed
from latchless._index import SHOWN, check_fill
from latchless._latchless import RowsCore, Snapshot
from latchless._neighbours import Neighbours, answered, checked_threads
from latchless._ranges import Closed, checked_limit, ends_of, of_ranges
from latchless._text import KeyDtype, Texts, described_in_a_file, described_keys
from latchless._tuples import Tuples
from latchless._views import listed as objects

if TYPE_CHECKING:
    from typing_extensions import Self

_ROW_MAX = (1 << 63) - 1


def row_words(rows: Any, count: int) -> NDArray[np.uint64]:
    """Row numbers, one for each of so many keys, as the compiled part takes them."""
    rows = listed(rows)
    array = np.asarray(rows)
    if array.size == 0 and not isinstance(rows, np.ndarray):  # NumPy takes it for floats.
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"rows are integers, not of dtype {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"rows must be one-dimensional, not of shape {array.shape}")
    if len(array) != count:
        raise ValueError(f"there are {count} keys but {len(array)} rows")
    refused = (array < 0) | (array > array.dtype.type(min(_ROW_MAX, int(np.iinfo(array.dtype).max))))
    if refused.any():
        at = int(refused.argmax())
        raise OverflowError(f"rows are from 0 to 2**63 - 1, but the one at position {at} is {array[at]}")
    return np.require(array, np.uint64, ["C", "A"])


def row_word(row: Any) -> int:
    word = operator.index(row)
    if not 0 <= word <= _ROW_MAX:
        raise OverflowError(f"rows are from 0 to 2**63 - 1, not {word}")
    return word


class MultiIndex(Neighbours, RowsCore):
    """An ordered index of a column whose keys are in any number of rows, for many threads at once.

    An `Index` has one value under a key. A column of a table has the same key in many rows: this
    index says in which. It stores pairs of a key and a row's number, in the order of the keys, and the rows of a
    key ascending. So a join, a lookup of all orders of a user, or a range of times with several rows each returns
    row numbers, which select rows of any array, frame or table.

    Parameters
    ----------
    keys : array-like
        n keys, in any order, any of them in many rows: `str`, `bytes`, of a dtype, or tuples of these, given as
        for `Index`. None: an empty index.
    rows : array-like
        n integers from 0 to 2**63 - 1: the row of each key. By default its position.
    key_dtype : dtype or type
        The type of keys: `str`, `bytes`, or a dtype of integers, float32, float64, bool, datetime64 or
        timedelta64. By default that of the array or of the first element, else int64.
    assume_sorted : bool
        The pairs ascend, and differ; if they don't, ValueError says where.
    fill : float
        How full nodes are at first, 0.01 to 1.0. 1.0 is for data that no longer changes.
    limit_bytes : int
        The most memory that the index may take.

    Raises
    ------
    TypeError, ValueError, OverflowError
        Invalid keys, as for `Index` and `StringIndex`: NaN, NaT, nulls, lone surrogates, some 16 MiB or more; rows
        that are no integers, or negative; unequal lengths.
    MemoryError
        More memory than `limit_bytes`, or than there is.

    Notes
    -----
    A pair that is inserted twice is stored once. The rows of a key take about nine bytes each, however long the
    key is. `floor_many`, `asof` and their like return keys and rows: of a key before the question its last row, of
    one after it its first row, and row -1 where there is none. Every method may be called from any thread at any
    time; operations on one pair are atomic, and batches release the interpreter's lock.

    Examples
    --------
    >>> from latchless import MultiIndex
    >>> cities = MultiIndex(["Ulm", "Bonn", "Ulm", "Aachen"])
    >>> cities.rows("Ulm")
    array([0, 2])
    >>> cities.insert("Bonn", 4), cities.remove("Ulm", 0), len(cities)
    (True, True, 4)
    >>> cities.range("A", "C")
    (['Aachen', 'Bonn', 'Bonn'], array([3, 1, 4]))
    """

    key_dtype: np.dtype[Any] | type
    """The dtype of the keys, or `str` or `bytes`."""
    key_zone: str | None
    """The zone of the keys, if they are times with one."""

    def __new__(
        cls,
        keys: ArrayLike | Any = None,
        rows: ArrayLike | None = None,
        *,
        key_dtype: KeyDtype | None = None,
        assume_sorted: bool = False,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
        """Make an index: see the class."""
        if keys is None and rows is not None:
            raise TypeError("rows are given with their keys")
        keys = listed(keys)
        key = described_keys(keys, key_dtype)
        check_fill(fill)
        column = words = None
        if keys is not None:
            column = key.to_words(keys)
            words = row_words(np.arange(len(column)) if rows is None else rows, len(column))
        return cls._made(key, column, words, bool(assume_sorted), fill, limit_bytes)

    @classmethod
    def _made(cls, key: Column | Texts, *told: Any) -> Self:
        made = super().__new__(cls, key.told(), *told)
        made._key, made.key_dtype, made.key_zone = key, key.dtype, key.zone
        made._value = columns(np.int64, np.int64)[1]
        made._missing = key.missing_word(), made._value.missing_word(-1)
        return made

    # ---- one key ----

    def insert(self, key: Any, row: int) -> bool:
        """Put a row under a key, atomically. Returns whether it wasn't there before.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> index = MultiIndex(key_dtype="M8[D]")
        >>> index.insert(np.datetime64("2026-11-26"), 7), index.insert(np.datetime64("2026-11-26"), 7)
        (True, False)
        """
        return self._insert(key, row_word(row))

    def remove(self, key: Any, row: int) -> bool:
        """Remove a row from under a key, atomically. Returns whether it was there."""
        return self._remove(key, row_word(row))

    def remove_all(self, key: Any) -> int:
        """Remove all rows of a key, one by one. Returns how many there were."""
        return self._remove_all(key)

    def contains(self, key: Any, row: int) -> bool:
        """Whether this row is under this key."""
        return self._contains(key, row_word(row))

    def __contains__(self, key: Any) -> bool:
        """Whether a key has any row."""
        return self._contains(key, None)

    def rows(self, key: Any, *, reverse: bool = False, limit: int | None = None) -> NDArray[np.int64]:
        """The rows of a key, ascending, or descending; of many the first `limit`.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([1.5, 2.5, 1.5, 1.5]).rows(1.5, reverse=True, limit=2)
        array([3, 2])
        """
        return self._rows(key, bool(reverse), checked_limit(limit)).view(np.int64)

    def first(self) -> tuple[Any, int] | None:
        """The smallest key and its first row, or None."""
        return self._end(False, False)

    def last(self) -> tuple[Any, int] | None:
        """The greatest key and its last row, or None."""
        return self._end(True, False)

    def popitem(self, last: bool = True) -> tuple[Any, int]:
        """Remove and return the last pair, or the first one. Raises KeyError if there is none.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex(["b", "a", "b"]).popitem()
        ('b', 2)
        """
        pair = self._end(bool(last), True)
        if pair is None:
            raise KeyError("the index is empty")
        return pair

    # ---- batches ----

    def _near_in_groups(self, *_: Any) -> None:
        """Nothing: pairs are looked up one by one."""

    def rows_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of many keys at once.

        Parameters
        ----------
        keys : array-like
            n keys, in any order.
        threads : int
            How many threads share the batch.

        Returns
        -------
        rows : array (m, int64)
            The rows of the first key, ascending, then those of the second, and so on.
        offsets : array (n + 1, int64)
            Those of key i are `rows[offsets[i]:offsets[i + 1]]`.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex(["a", "b", "a"]).rows_many(["b", "c", "a"])
        (array([1, 0, 2]), array([0, 1, 1, 3]))
        """
        threads = checked_threads(threads)
        rows, ends = answered(self._key, keys, self._rows_many, self._rows_of_others, threads)
        offsets = np.zeros(len(ends) + 1, np.int64)
        offsets[1:] = ends
        return rows.view(np.int64), offsets

    def _rows_of_others(self, asked: Asked, threads: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """As `_rows_many`, of questions of which some can't be keys."""
        rows, ends = self._rows_many(self._words_of(asked), threads)
        # A key that can't be there has no rows: it ends where the one before it does.
        return rows, np.concatenate([[0], ends])[np.cumsum(asked.exact)]

    def _words_of(self, asked: Asked) -> Array:
        """The words of those questions that can be keys."""
        assert isinstance(self._key, Column)
        return self._key.as_words(asked.down[asked.exact])

    def join(self, keys: ArrayLike | Any, *, threads: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All pairs of a position in `keys` and a row of that key: an inner join, in the order of the positions.

        Returns
        -------
        positions, rows : arrays (m, int64)
            `left.take(positions)` and `right.take(rows)` are the two sides of the joined table.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> orders = MultiIndex(["ann", "bob", "ann"])
        >>> orders.join(["bob", "eve", "ann"])
        (array([0, 2, 2]), array([1, 0, 2]))
        """
        rows, offsets = self.rows_many(keys, threads=threads)
        return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), rows

    def insert_many(self, keys: ArrayLike | Any, rows: ArrayLike) -> int:
        """Insert n keys with a row each. Returns how many pairs were new.

        Raises
        ------
        TypeError, ValueError, OverflowError
            Keys or rows that the index can't have, or unequal lengths. Nothing was inserted.
        MemoryError, KeyboardInterrupt
            The exception's attribute `refused` has the positions (int64, ascending) of the pairs that weren't
            inserted; all others were. Without this attribute nothing was.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> index = MultiIndex(["a"], [10])
        >>> index.insert_many(["a", "b", "a"], [11, 20, 10])
        2
        """
        column = self._key.to_words(listed(keys))
        return self._insert_many(column, row_words(rows, len(column)))

    def remove_many(self, keys: ArrayLike | Any, rows: ArrayLike) -> int:
        """Remove n pairs of a key and a row; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.
        """
        return answered(self._key, keys, self._remove_pairs, self._remove_others, rows)

    def _remove_pairs(self, words: Any, rows: ArrayLike) -> int:
        return self._remove_many(words, row_words(rows, len(words)))

    def _remove_others(self, asked: Asked, rows: ArrayLike) -> int:
        at, its_rows = np.flatnonzero(asked.exact), row_words(rows, len(asked))
        return of_positions(at, lambda: self._remove_many(self._words_of(asked), its_rows[at]))

    # ---- ranges ----

    def range(
        self,
        lo: Any = None,
        hi: Any = None,
        *,
        closed: Closed = "left",
        reverse: bool = False,
        limit: int | None = None,
    ) -> tuple[Any, NDArray[np.int64]]:
        """Copy the pairs whose keys are in a range: the keys (an array, of strings a list), and their rows.

        They ascend, by keys and then by rows. `closed` says which ends belong to the range: 'left', 'right',
        'both' or 'neither'. An end that is None is open; a range whose start is after its end is empty. With
        reverse=True the pairs descend, and `limit` counts from the end of the range. Pairs that other threads
        change meanwhile are seen before or after the change; all others are seen once.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> index = MultiIndex([3, 1, 2, 2])
        >>> index.range(1, 3)
        (array([1, 2, 2]), array([1, 2, 3]))
        >>> index.range(reverse=True, limit=2)
        (array([3, 2]), array([0, 3]))
        """
        return self._copied(lo, hi, ends_of(closed), reverse, limit)

    def prefix(
        self, prefix: Any, *, reverse: bool = False, limit: int | None = None
    ) -> tuple[list[Any], NDArray[np.int64]]:
        """Copy the pairs whose keys, which are `str` or `bytes`, begin with a prefix, as `range` does.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex(["/a", "/b", "/a/b", "/a"]).prefix("/a")
        (['/a', '/a', '/a/b'], array([0, 3, 2]))
        """
        return self._copied(prefix, None, None, reverse, limit)

    def count(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """How many pairs have their keys in a range: see `range`. The time is that of going over it.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([3, 1, 2, 2]).count(2, 2, closed="both")
        2
        """
        return self._count(lo, hi, ends_of(closed), False)

    def rank(self, key: Any) -> int:
        """How many pairs have a smaller key. The time is that of going over them.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([3, 1, 2, 2]).rank(3)
        3
        """
        return self.count(None, key)

    def range_many(
        self, lo: ArrayLike | Any, hi: ArrayLike | Any, *, closed: Closed = "left"
    ) -> tuple[NDArray[np.int64], Any, NDArray[np.int64]]:
        """Copy the pairs of n ranges at once: an interval join, in which a key may be in many rows.

        Returns
        -------
        offsets : array (n + 1, int64)
            The pairs of range i are at offsets[i]:offsets[i + 1].
        keys : array (m, key_dtype) or list
            The keys of all ranges, one range after the other.
        rows : array (m, int64)
            Their rows.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([3, 1, 2, 2]).range_many([2, 9], [4, 12])
        (array([0, 3, 3]), array([2, 2, 3]), array([2, 3, 0]))
        """
        offsets, keys, rows = of_ranges(self._key, lo, hi, closed, self._range_many)
        return offsets, self._key.from_words(keys), rows.view(np.int64)

    def count_many(
        self, lo: ArrayLike | Any, hi: ArrayLike | Any, *, closed: Closed = "left"
    ) -> NDArray[np.int64]:
        """How many pairs have their keys in each of n ranges: n integers.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([3, 1, 2, 2]).count_many([2, 9], [4, 12])
        array([3, 0])
        """
        return of_ranges(self._key, lo, hi, closed, self._counts)

    def _counts(self, lows: Any, highs: Any, closed: Any) -> NDArray[np.int64]:
        counts = np.empty(len(lows), np.int64)
        self._count_many(lows, highs, closed, counts.view(np.uint64))
        return counts

    def remove_range(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """Remove the pairs whose keys are in a range, and return how many there were: see `range`."""
        return self._count(lo, hi, ends_of(closed), True)

    # ---- the whole index ----

    def save(self, path: str | os.PathLike[str]) -> int:
        """Save all pairs in an Arrow file, which is replaced in one step. Returns how many there are.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from latchless import MultiIndex
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.arrow"
        >>> MultiIndex(["b", "a", "b"]).save(path)
        3
        >>> MultiIndex.open(path).rows("b")
        array([0, 2])
        """
        return self._save(os.fspath(path))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        key_dtype: KeyDtype | None = None,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
        """Make an index from a file that `save` has written, here or in Rust. A dtype must be that of the file.

        Raises ValueError for a file that was cut or changed, by a single bit, or isn't such a file; OSError if it
        can't be read; MemoryError for more than `limit_bytes`.
        """
        check_fill(fill)
        snapshot = Snapshot(os.fspath(path), True)
        names = (snapshot.key_dtype, "bytes")
        key, _ = described_in_a_file("the file", names, snapshot.zones_known, (key_dtype, None))
        return cls._made(key, None, None, True, fill, limit_bytes, snapshot)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MultiIndex):
            return NotImplemented
        if self.key_dtype != other.key_dtype or (self.key_zone is None) != (other.key_zone is None):
            return False
        return _interchange.equal(self._parts(), other._parts())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        keys, rows = self.range(limit=SHOWN)
        shown = [f"({key!r}, {row})" for key, row in zip(objects(keys), rows.tolist(), strict=True)]
        if len(self) > len(shown):
            shown.append(f"… {len(self)} pairs")
        return f"MultiIndex([{', '.join(shown)}], key_dtype={self._key.label})"

    def copy(self) -> Self:
        """Another index with the pairs of this one. Pairs that others change meanwhile may be as before.

        One of a subclass is of that class, and has the attributes of this one; its constructor isn't called.
        """
        copied: Self = _interchange.copied(self)
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        copied: Self = _interchange.copied(self, memo)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as two or three arrays, which protocol 5 can pass on without a copy."""
        made = (type(self), self._key.pickled, *self._parts())
        return _interchange.restored_pairs, made, _interchange.state_of(self)

    def to_arrow(self) -> Any:
        """All pairs as a `pyarrow.Table` with the columns 'key' and 'row'. Needs pyarrow."""
        arrow = _interchange.pyarrow()
        keys, rows = self._range(None, None, (True, True), False, None)
        if isinstance(self._key, Tuples):
            raise TypeError("tuples are no column of Arrow's: range() returns a column for each part of the keys")
        if isinstance(self._key, Texts):
            kind = arrow.large_string() if self.key_dtype is str else arrow.large_binary()
            buffers = [None, *(arrow.py_buffer(buffer) for buffer in keys.buffers())]
            column = arrow.Array.from_buffers(kind, len(keys), buffers)
        else:
            column = arrow.array(self._key.from_words(keys))
        return arrow.table({"key": column, "row": rows.view(np.int64)})

    def _parts(self) -> tuple[Array, ...]:
        """All pairs as arrays that pickles pass on without a copy."""
        keys, rows = self._range(None, None, (True, True), False, None)
        return *self._key.parts(self._key.plain(keys)), rows  # type: ignore[arg-type]

    @classmethod
    def _restored(cls, key: Column | Texts, words: Any, rows: NDArray[np.uint64]) -> Self:
        return cls._made(key, words, rows, True, 0.8, None)

    def _copied(
        self, lo: Any, hi: Any, closed: tuple[bool, bool] | None, reverse: bool, limit: int | None
    ) -> tuple[Any, NDArray[np.int64]]:
        keys, rows = self._range(lo, hi, closed, bool(reverse), checked_limit(limit))
        return self._key.from_words(keys), rows.view(np.int64)
