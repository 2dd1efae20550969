"""The class `Frozen`: an index that is read in the file that it was saved in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless._asked import Array
from latchless._dtypes import Column, listed
from latchless._latchless import MappedFile
from latchless._text import KeyDtype, Texts, ValueDtype, described_in_a_file

if TYPE_CHECKING:
    from typing_extensions import Self

_PAGE = 4096
"""Keys that an iterator reads at once."""


class Frozen:
    """An index in the file that `Index.save` wrote, read where it lies.

    Nothing is loaded: a file of any size opens in milliseconds, a lookup reads the pages on its way, and processes
    that open one file share its memory. The file is the Arrow file that it always was.

    Warning
    -------
    While a file is open, no process may change it in place or cut it short: the interpreter may crash, or lookups
    give wrong answers. `Index.save` over the file is safe, because it writes a new file and gives it the old one's
    name: what is open stays the old file. Copying another file over it isn't.

    Notes
    -----
    `open` checks the head of the file and its checksum: the types, the number of entries, the place of every
    column. Entries are compared with the checksum only by `verify`, which reads the whole file. A damaged file
    gives wrong answers, or ValueError where a string isn't text.

    Keys and values are of integers, floats, bool, times, `str` or `bytes`; numbers and times don't have `str` or
    `bytes` beside them as values. Files with these, with keys that are tuples or values that are rows are a
    ValueError: `Index.open` opens them. So are files of versions before this class: save them again.

    Keys that are looked up must fit the dtype, as those that an `Index` stores. All methods may be called from any
    thread.

    Examples
    --------
    >>> import os, tempfile
    >>> from latchless import Frozen, Index
    >>> path = os.path.join(tempfile.mkdtemp(), "prices.arrow")
    >>> Index([10, 20, 30], [1.5, 1.6, 1.7]).save(path)
    3
    >>> prices = Frozen.open(path)
    >>> prices[20], prices.floor(29), prices.range(10, 30)
    (1.6, (20, 1.6), (array([10, 20]), array([1.5, 1.6])))
    >>> prices.get_many([30, 31])
    (array([1.7, nan]), array([ True, False]))
    """

    __slots__ = ("_file", "_key", "_value")
    _file: MappedFile
    _key: Column | Texts
    _value: Column | Texts

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        key_dtype: KeyDtype | None = None,
        value_dtype: ValueDtype | None = None,
    ) -> Self:
        """Open a file. Dtypes that are given must be those of the file.

        See the class for the demands on the file. Raises ValueError for a file whose head is damaged, or which
        isn't one of an index that can be read where it lies; OSError if it can't be read.
        """
        file = MappedFile(os.fspath(path))
        names = file.key_dtype, file.value_dtype
        try:
            key, value = described_in_a_file("the file", names, file.zones_known, (key_dtype, value_dtype))
        except TypeError as error:
            raise ValueError(f"the file has columns that no index has: {error}") from None
        for column, width in zip((key, value), file.widths, strict=True):
            if width != (column.dtype.itemsize if isinstance(column, Column) else 0):
                raise ValueError(f"the file has {column.what} in cells of another width: Index.open opens it")
        opened = super().__new__(cls)
        opened._file, opened._key, opened._value = file, key, value
        return opened

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Refused: a file is opened."""
        raise TypeError("Frozen.open opens a file that Index.save wrote")

    @property
    def key_dtype(self) -> np.dtype[Any] | type:
        """The dtype of the keys, or `str` or `bytes`."""
        return self._key.dtype

    @property
    def value_dtype(self) -> np.dtype[Any] | type:
        """The dtype of the values, or `str` or `bytes`."""
        return self._value.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the file."""
        return self._file.nbytes

    def verify(self) -> None:
        """Compare the whole file with its checksum. Raises ValueError if it is damaged."""
        self._file.verify()

    def __len__(self) -> int:
        return len(self._file)

    def __repr__(self) -> str:
        return f"<Frozen of {len(self)} entries, key_dtype={self._key.label}, value_dtype={self._value.label}>"

    def __contains__(self, key: object, /) -> bool:
        return self._row(key) is not None

    def __getitem__(self, key: Any, /) -> Any:
        row = self._row(key)
        if row is None:
            raise KeyError(key)
        return self._one(self._value, row)

    def get(self, key: Any, default: Any = None, /) -> Any:
        """The value of a key, or `default`."""
        row = self._row(key)
        return default if row is None else self._one(self._value, row)

    def get_many(self, keys: ArrayLike | Any) -> tuple[Any, NDArray[np.bool_]]:
        """The values of many keys, and which of them were found; others have NaN, NaT, 0, False or None."""
        rows = self._rows(keys)
        found = rows >= 0
        there = self._take(self._value, rows[found])
        if isinstance(there, list):
            values: Any = [None] * len(rows)
            for at, value in zip(np.flatnonzero(found).tolist(), there, strict=True):
                values[at] = value
            return values, found
        column = self._value
        assert isinstance(column, Column)
        filled = np.full(len(rows), column.missing(), there.dtype)
        filled[found] = there
        return column.shown(filled), found

    def first(self) -> tuple[Any, Any] | None:
        """The entry with the smallest key, as (key, value), or None."""
        return self._entry(0)

    def last(self) -> tuple[Any, Any] | None:
        """The entry with the largest key, as (key, value), or None."""
        return self._entry(len(self) - 1)

    def floor(self, key: Any) -> tuple[Any, Any] | None:
        """The entry with the largest key that is equal or smaller, as (key, value), or None."""
        return self._entry(self._place(key, True) - 1)

    def ceiling(self, key: Any) -> tuple[Any, Any] | None:
        """The entry with the smallest key that is equal or larger, as (key, value), or None."""
        return self._entry(self._place(key, False))

    def lower(self, key: Any) -> tuple[Any, Any] | None:
        """The entry with the largest smaller key, as (key, value), or None."""
        return self._entry(self._place(key, False) - 1)

    def higher(self, key: Any) -> tuple[Any, Any] | None:
        """The entry with the smallest larger key, as (key, value), or None."""
        return self._entry(self._place(key, True))

    def rank(self, key: Any) -> int:
        """How many keys are smaller."""
        return self._place(key, False)

    def nth(self, position: int) -> tuple[Any, Any]:
        """The entry at a position, counted from 0, or from the end if it is negative. Raises IndexError."""
        entry = self._entry(position + len(self) if position < 0 else position)
        if entry is None:
            raise IndexError(f"there is no entry {position} of {len(self)}")
        return entry

    def range(self, low: Any = None, high: Any = None) -> tuple[Any, Any]:
        """The keys from `low` on and before `high`, and their values, as copies. None is no end."""
        start, end = self._span(low, high)
        return tuple(
            self._shown(column, self._file.slice(start, end, column is self._value))
            for column in (self._key, self._value)
        )

    def count(self, low: Any = None, high: Any = None) -> int:
        """How many keys `range` has. O(log n)."""
        start, end = self._span(low, high)
        return max(end - start, 0)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _PAGE):
            page = self._shown(self._key, self._file.slice(start, min(start + _PAGE, len(self)), False))
            yield from page.tolist() if isinstance(page, np.ndarray) and page.dtype.kind not in "Mm" else page

    # ---- rows ----

    def _cells(self, keys: ArrayLike | Any) -> NDArray[np.uint64]:
        """Numbers as the file has them."""
        column = self._key
        assert isinstance(column, Column)
        array = column.to_array(listed(keys))
        if array.dtype.kind == "f":
            missing = np.isnan(array)
            array = array + array.dtype.type(0)  # −0.0 is 0.0.
        elif array.dtype.kind in "Mm":
            missing = np.isnat(array)
        else:
            missing = np.zeros(0, bool)
        if missing.any():
            name = "NaN" if array.dtype.kind == "f" else "NaT"
            raise ValueError(f"{name} can't be a key, but the key at position {int(missing.argmax())} is {name}")
        cells = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
        return np.ascontiguousarray(cells, np.uint64)

    def _row(self, key: Any) -> int | None:
        """The row of a key, if there is one."""
        if isinstance(self._key, Texts):
            is_key = isinstance(key, str | bytes) and isinstance(key, self._key.dtype)
            return self._file.find_one(key) if is_key else None
        try:
            row = int(self._file.find(self._cells([key]))[0])
        except (TypeError, OverflowError, ValueError):
            return None
        return row if row >= 0 else None

    def _rows(self, keys: ArrayLike | Any) -> NDArray[np.int64]:
        """The rows of keys, −1 where there is none."""
        if isinstance(self._key, Column):
            return self._file.find(self._cells(keys))
        found = [self._file.find_one(key) for key in listed(keys)]
        return np.array([-1 if row is None else row for row in found], np.int64)

    def _place(self, key: Any, past: bool) -> int:
        """How many rows are before the place of a key."""
        if isinstance(self._key, Texts):
            return self._file.place(key, past)
        return int(self._file.places(self._cells([key]), past)[0])

    def _span(self, low: Any, high: Any) -> tuple[int, int]:
        """The rows of a range."""
        start = 0 if low is None else self._place(low, False)
        return start, len(self) if high is None else self._place(high, False)

    def _entry(self, row: int) -> tuple[Any, Any] | None:
        """A row's key and value, if there is such a row."""
        if not 0 <= row < len(self):
            return None
        return self._one(self._key, row), self._one(self._value, row)

    def _one(self, column: Column | Texts, row: int) -> Any:
        """A row's key or value, as an `Index` returns it."""
        shown = self._shown(column, self._file.slice(row, row + 1, column is self._value))[0]
        return shown.item() if isinstance(shown, np.generic) and shown.dtype.kind not in "Mm" else shown

    def _take(self, column: Column | Texts, rows: NDArray[np.int64]) -> Any:
        """Some rows' keys or values."""
        cells = self._file.take(np.ascontiguousarray(rows).view(np.uint64), column is self._value)
        return cells if isinstance(cells, list) else cells.view(column.dtype)

    def _shown(self, column: Column | Texts, cells: Array | list[Any]) -> Any:
        """Cells as users get them."""
        if isinstance(cells, list):
            return cells
        assert isinstance(column, Column)
        return column.shown(cells.view(column.dtype))
