"""The class `MultiIndex`: keys that map to any number of rows."""

from __future__ import annotations

import contextlib
import operator
import re
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless import _interchange
from latchless._asked import Array, Asked
from latchless._batches import checked_threads, of_positions
from latchless._dtypes import Column, Dtype, columns, dtype_of, listed
from latchless._index import SHOWN, check_fill
from latchless._keys import key_column
from latchless._latchless import NoKey, RowsCore, StringColumn
from latchless._ranges import Closed, checked_limit, ends_of
from latchless._text import text_type

if TYPE_CHECKING:
    from typing_extensions import Self

_SURROGATE = re.compile("[\ud800-\udfff]")
_ROW_MAX = (1 << 63) - 1


class _Keys(Protocol):
    """The type of keys: their conversion to the strings that the compiled part stores, and back."""

    dtype: Any

    zone: str | None
    name: str

    def column(self, data: Any) -> StringColumn:
        """The keys of an array-like."""

    def sought(self, data: Any) -> tuple[StringColumn, NDArray[np.bool_] | None]:
        """The keys of questions that can be keys, and which these are; None: all."""

    def one(self, key: Any) -> Any:
        """A single key."""

    def one_sought(self, key: Any) -> Any:
        """A single key that is looked for; None if it can't be one."""

    def ends(self, lo: Any, hi: Any, closed: tuple[bool, bool]) -> tuple[Any, Any, tuple[bool, bool]] | None:
        """The ends of a range as keys, and which of them belong to it; None if nothing can be in it."""

    def listed(self, column: StringColumn) -> Any:
        """The keys of a column as users see them: a list or an array."""


class _Strings:
    """Keys that are `str` or `bytes`, as they are."""

    zone: str | None = None

    def __init__(self, kind: type) -> None:
        self.dtype, self.name = kind, kind.__name__

    def column(self, data: Any) -> StringColumn:
        return key_column(self.dtype, data)

    def sought(self, data: Any) -> tuple[StringColumn, NDArray[np.bool_] | None]:
        return self.column(data), None

    def one(self, key: Any) -> Any:
        return key

    def one_sought(self, key: Any) -> Any:
        # As in a `dict`: a list or an array is a TypeError, anything else isn't there.
        hash(key)
        if not isinstance(key, self.dtype) or (isinstance(key, str) and _SURROGATE.search(key)):
            return None
        return key

    def ends(self, lo: Any, hi: Any, closed: tuple[bool, bool]) -> tuple[Any, Any, tuple[bool, bool]]:
        return lo, hi, closed

    def listed(self, column: StringColumn) -> list[Any]:
        return column.tolist()


class _Numbers:
    """Keys of a dtype as eight bytes each that have their order."""

    def __init__(self, dtype: Dtype) -> None:
        self._own: Column = columns(dtype, np.int64)[0]
        self.dtype, self.zone, self.name = self._own.dtype, self._own.zone, self._own.name

    def column(self, data: Any) -> StringColumn:
        return self._of_words(self._own.to_words(data))

    def _of_words(self, words: Array) -> StringColumn:
        return StringColumn.of_words(self._own.told(), words)

    def sought(self, data: Any) -> tuple[StringColumn, NDArray[np.bool_] | None]:
        words = self._own.words_or_asked(data)
        if not isinstance(words, Asked):
            try:
                return self._of_words(words), None
            except NoKey:  # NaN or NaT, which aren't checked for beforehand.
                words = self._own.asked_of(data)
        there = words.exact
        return self._of_words(self._own.as_words(words.down[there])), there

    def one(self, key: Any) -> Any:
        if isinstance(key, (list, tuple, np.ndarray)):
            raise TypeError(f"a key is of dtype {self.name}, not of type {type(key).__name__}")
        (stored,) = self.column([key]).tolist()
        return stored

    def _beside(self, key: Any) -> tuple[Any, Any] | None:
        """The keys on both sides of a question; None if it has no order among them."""
        with contextlib.suppress(TypeError, OverflowError, NoKey):
            return (self.one(key),) * 2
        sides = self._own.asked_one(key)
        if sides is None:
            return None
        words = [np.array([side], np.uint64) for side in sides if side is not None]
        stored = iter([self._of_words(word).tolist()[0] for word in words])
        down, up = (None if side is None else next(stored) for side in sides)
        return down, up

    def one_sought(self, key: Any) -> Any:
        sides = self._beside(key)
        if sides is None:
            # As in a `dict`: a list or an array is a TypeError, anything else isn't there.
            hash(key)
            return None
        return sides[0] if sides[0] == sides[1] else None

    def ends(self, lo: Any, hi: Any, closed: tuple[bool, bool]) -> tuple[Any, Any, tuple[bool, bool]] | None:
        belongs, sides = list(closed), [None, None]
        for at, end in enumerate((lo, hi)):
            if end is None:
                continue
            beside = self._beside(end)
            if beside is None:
                raise TypeError(f"{type(end).__name__} has no order among keys of dtype {self.name}")
            # From the least key that isn't before the start to the greatest that isn't after the end.
            sides[at] = beside[1 - at]
            if sides[at] is None:
                return None
            belongs[at] |= beside[0] != beside[1]
        return sides[0], sides[1], (belongs[0], belongs[1])

    def listed(self, column: StringColumn) -> Array:
        return self._own.from_words(column.words(self._own.told()))


def _keys_of(keys: Any, key_dtype: Any) -> _Strings | _Numbers:
    texts = text_type(keys, key_dtype)
    return _Numbers(dtype_of(keys, key_dtype)) if texts is None else _Strings(texts)


def _row_words(rows: Any, count: int) -> NDArray[np.uint64]:
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


def _row_word(row: Any) -> int:
    word = operator.index(row)
    if not 0 <= word <= _ROW_MAX:
        raise OverflowError(f"rows are from 0 to 2**63 - 1, not {word}")
    return word


class MultiIndex(RowsCore):
    """An ordered index of a column whose keys are in any number of rows, for many threads at once.

    `Index` and `StringIndex` have one value under a key. A column of a table has the same key in many rows: this
    index says in which. It stores pairs of a key and a row's number, in the order of the keys, and the rows of a
    key ascending. So a join, a lookup of all orders of a user, or a range of times with several rows each returns
    row numbers, which select rows of any array, frame or table.

    Parameters
    ----------
    keys : array-like
        n keys, in any order, any of them in many rows: `str`, `bytes`, or of a dtype, given as for `StringIndex`
        or `Index`. None: an empty index.
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
        Invalid keys, as for `Index` and `StringIndex`: NaN, NaT, nulls, lone surrogates, some 65,500 bytes or
        more; rows that are no integers, or negative; unequal lengths.
    MemoryError
        More memory than `limit_bytes`, or than there is.

    Notes
    -----
    A pair that is inserted twice is stored once. The rows of a key take about nine bytes each, however long the
    key is. Every method may be called from any thread at any time; operations on one pair are atomic, and batches
    release the interpreter's lock.

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
    _keys: _Keys

    def __new__(
        cls,
        keys: ArrayLike | Any = None,
        rows: ArrayLike | None = None,
        *,
        key_dtype: Dtype | type[str] | type[bytes] | None = None,
        assume_sorted: bool = False,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
        """Make an index: see the class."""
        if keys is None and rows is not None:
            raise TypeError("rows are given with their keys")
        keys = listed(keys)
        own = _keys_of(keys, key_dtype)
        check_fill(fill)
        column = words = None
        if keys is not None:
            column = own.column(keys)
            words = _row_words(np.arange(len(column)) if rows is None else rows, len(column))
        return cls._made(own, column, words, bool(assume_sorted), fill, limit_bytes)

    @classmethod
    def _made(cls, own: _Keys, *told: Any) -> Self:
        made = super().__new__(cls, own.dtype is str, *told)
        made._keys, made.key_dtype, made.key_zone = own, own.dtype, own.zone
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
        return self._insert(self._keys.one(key), _row_word(row))

    def remove(self, key: Any, row: int) -> bool:
        """Remove a row from under a key, atomically. Returns whether it was there."""
        key, row = self._keys.one_sought(key), _row_word(row)
        return key is not None and self._remove(key, row)

    def remove_all(self, key: Any) -> int:
        """Remove all rows of a key, one by one. Returns how many there were."""
        key = self._keys.one_sought(key)
        return 0 if key is None else self._count(key, key, (True, True), True)

    def contains(self, key: Any, row: int) -> bool:
        """Whether this row is under this key."""
        key, row = self._keys.one_sought(key), _row_word(row)
        return key is not None and self._contains(key, row)

    def __contains__(self, key: Any) -> bool:
        """Whether a key has any row."""
        key = self._keys.one_sought(key)
        return key is not None and self._contains(key, None)

    def rows(self, key: Any, *, reverse: bool = False, limit: int | None = None) -> NDArray[np.int64]:
        """The rows of a key, ascending, or descending; of many the first `limit`.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([1.5, 2.5, 1.5, 1.5]).rows(1.5, reverse=True, limit=2)
        array([3, 2])
        """
        key, limit = self._keys.one_sought(key), checked_limit(limit)
        if key is None:
            return np.empty(0, np.int64)
        _, rows = self._range(key, key, (True, True), bool(reverse), limit)
        return rows.view(np.int64)

    def first(self) -> tuple[Any, int] | None:
        """The smallest key and its first row, or None."""
        return self._shown(self._end(False))

    def last(self) -> tuple[Any, int] | None:
        """The greatest key and its last row, or None."""
        return self._shown(self._end(True))

    # ---- batches ----

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
        column, there = self._keys.sought(listed(keys))
        rows, ends = self._rows_many(column, checked_threads(threads))
        if there is not None:
            # A key that can't be there has no rows: it ends where the one before it does.
            ends = np.concatenate([[0], ends])[np.cumsum(there)]
        offsets = np.zeros(len(ends) + 1, np.int64)
        offsets[1:] = ends
        return rows.view(np.int64), offsets

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
        column = self._keys.column(listed(keys))
        return self._insert_many(column, _row_words(rows, len(column)))

    def remove_many(self, keys: ArrayLike | Any, rows: ArrayLike) -> int:
        """Remove n pairs of a key and a row; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.
        """
        column, there = self._keys.sought(listed(keys))
        words = _row_words(rows, len(column) if there is None else len(there))
        if there is None:
            return self._remove_many(column, words)
        return of_positions(np.flatnonzero(there), lambda: self._remove_many(column, words[there]))

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
        limit, ends = checked_limit(limit), self._keys.ends(lo, hi, ends_of(closed))
        if ends is None:
            return self._copied(None, None, (False, False), False, 0)
        return self._copied(*ends, reverse, limit)

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
        if not isinstance(self.key_dtype, type):
            raise TypeError(f"keys of dtype {self.key_dtype} have no prefixes")
        return self._copied(prefix, None, None, reverse, limit)

    def count(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """How many pairs have their keys in a range: see `range`. The time is that of going over it.

        Examples
        --------
        >>> from latchless import MultiIndex
        >>> MultiIndex([3, 1, 2, 2]).count(2, 2, closed="both")
        2
        """
        ends = self._keys.ends(lo, hi, ends_of(closed))
        return 0 if ends is None else self._count(*ends, False)

    def remove_range(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """Remove the pairs whose keys are in a range, and return how many there were: see `range`."""
        ends = self._keys.ends(lo, hi, ends_of(closed))
        return 0 if ends is None else self._count(*ends, True)

    # ---- the whole index ----

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MultiIndex):
            return NotImplemented
        if self.key_dtype != other.key_dtype or (self.key_zone is None) != (other.key_zone is None):
            return False
        (keys, rows), (others, their_rows) = self._whole(), other._whole()
        ours, theirs = (*keys.buffers(), rows), (*others.buffers(), their_rows)
        return _interchange.equal(ours, theirs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        keys, rows = self.range(limit=SHOWN)
        shown = [f"({key!r}, {row})" for key, row in zip(_plain(keys), rows.tolist(), strict=True)]
        if len(self) > len(shown):
            shown.append(f"… {len(self)} pairs")
        dtype = self._keys.name if isinstance(self.key_dtype, type) else f"'{self._keys.name}'"
        return f"MultiIndex([{', '.join(shown)}], key_dtype={dtype})"

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
        """Pickle as three arrays, which protocol 5 can pass on without a copy."""
        keys, rows = self._whole()
        dtype = self.key_dtype if isinstance(self.key_dtype, type) else self._keys.name
        made = (type(self), dtype, *keys.buffers(), rows)
        return _interchange.restored_rows, made, _interchange.state_of(self)

    def to_arrow(self) -> Any:
        """All pairs as a `pyarrow.Table` with the columns 'key' and 'row'. Needs pyarrow."""
        arrow = _interchange.pyarrow()
        keys, rows = self._whole()
        if isinstance(self.key_dtype, type):
            kind = arrow.large_string() if self.key_dtype is str else arrow.large_binary()
            buffers = [None, *(arrow.py_buffer(buffer) for buffer in keys.buffers())]
            column = arrow.Array.from_buffers(kind, len(keys), buffers)
        else:
            column = arrow.array(self._keys.listed(keys))
        return arrow.table({"key": column, "row": rows.view(np.int64)})

    def _whole(self) -> tuple[StringColumn, NDArray[np.uint64]]:
        return self._range(None, None, (True, True), False, None)

    @classmethod
    def _restored(cls, key_dtype: Any, keys: StringColumn, rows: NDArray[np.uint64]) -> Self:
        return cls._made(_keys_of(None, key_dtype), keys, rows, True, 0.8, None)

    def _copied(
        self, lo: Any, hi: Any, closed: tuple[bool, bool] | None, reverse: bool, limit: int | None
    ) -> tuple[Any, NDArray[np.int64]]:
        keys, rows = self._range(lo, hi, closed, bool(reverse), checked_limit(limit))
        return self._keys.listed(keys), rows.view(np.int64)

    def _shown(self, pair: tuple[Any, int] | None) -> tuple[Any, int] | None:
        if pair is None or isinstance(self.key_dtype, type):
            return pair
        column = StringColumn(False, [pair[0]])
        return _plain(self._keys.listed(column))[0], pair[1]


def _plain(keys: Any) -> list[Any]:
    """Keys as Python's objects; times as NumPy's."""
    if isinstance(keys, list):
        return keys
    return list(keys) if keys.dtype.kind in "Mm" else list(keys.tolist())
