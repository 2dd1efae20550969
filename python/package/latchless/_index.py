"""The class `Index`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from latchless import _interchange
from latchless._dtypes import Array, Column, columns, dtype_of, listed, one_or_many
from latchless._latchless import Snapshot, read_arrow
from latchless._mapping import SortedMapping
from latchless._ranges import Ranges

SHOWN = 10
"""Entries that `repr` shows."""


class Index(Ranges, SortedMapping[Any]):
    """An ordered map from keys to values of fixed dtypes, which many threads read and change at once.

    Parameters
    ----------
    keys : array-like
        n keys, in any order; of equal ones the last one stays. None: an empty index.
    values : array-like or scalar
        n values, or one value for all.
    key_dtype, value_dtype : dtype
        Of integers, float32, float64, bool, datetime64 or timedelta64. By default those of the arrays, else int64.
        If both have at most 32 bits, entries take half of the memory.
    assume_sorted : bool
        The keys ascend, and differ; if they don't, ValueError says where.
    fill : float
        How full nodes are at first, 0.01 to 1.0. At 0.8 later inserts are several times as fast as at 1.0, which
        is for data that doesn't change any more.
    limit_bytes : int
        The most memory that the index may take.

    Raises
    ------
    TypeError
        A dtype of another kind, or an array that would have to be converted to another kind.
    OverflowError
        A number that is outside of the dtype, or a key that would be rounded.
    ValueError
        NaN or NaT as a key, null or masked elements, unequal lengths, more than one dimension.
    MemoryError
        More memory than `limit_bytes`, or than there is.

    Notes
    -----
    Every method may be called from any thread at any time. Operations on one key are atomic; batches release the
    interpreter's lock, and other threads may see some of their changes before others. An array that another
    thread writes while a batch reads it is read element by element, each one before or after the write.

    A forked child may go on with its copy of an index.

    Examples
    --------
    >>> from latchless import Index
    >>> index = Index([30, 10, 20], ["3".isdigit(), False, True])
    >>> index[10] = True
    >>> index, 15 in index, index.floor(15)
    (Index({10: True, 20: True, 30: True}, key_dtype='int64', value_dtype='bool'), False, (10, True))
    """

    key_dtype: np.dtype[Any]
    value_dtype: np.dtype[Any]

    def __new__(
        cls,
        keys: ArrayLike | Any = None,
        values: ArrayLike | Any = None,
        *,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        assume_sorted: bool = False,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Index:
        """Make an index: see the class."""
        if (keys is None) != (values is None):
            raise TypeError("keys and values are given together")
        if isinstance(keys, Mapping):
            raise TypeError("a mapping is given as Index(mapping.keys(), mapping.values())")
        keys, (values, scalar) = listed(keys), (None, False) if values is None else one_or_many(values)
        key, value = columns(dtype_of(keys, key_dtype), dtype_of(values, value_dtype))
        key_words = None if keys is None else key.to_words(keys)
        value_words = None if values is None else value.to_words(values)
        check_lengths(key_words, value_words, scalar)
        check_fill(fill)
        return cls._made(key, value, key_words, value_words, assume_sorted, fill, limit_bytes)

    @classmethod
    def _made(cls, key: Column, value: Column, *told: Any) -> Index:
        made = super().__new__(cls, key.words.itemsize == 8, key.told(), value.told(), *told)
        made._key, made._value = key, value
        made._missing = key.missing_word(), value.missing_word()
        made.key_dtype, made.value_dtype = key.dtype, value.dtype
        return made

    # ---- the mapping protocol: what isn't in the compiled part, or in `SortedMapping` ----

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Insert the entries of an index, a mapping, or an iterable of pairs, as one batch."""
        if named:
            raise TypeError("keys are no strings")
        if isinstance(other, Index):
            keys, values = other.to_numpy()
            self.insert_many(keys, values)
        elif isinstance(other, Mapping):
            self.insert_many(list(other.keys()), list(other.values()))
        else:
            pairs = list(other)
            self.insert_many([key for key, _ in pairs], [value for _, value in pairs])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Index):
            ours, theirs = self.to_numpy(), other.to_numpy()
            return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
        if isinstance(other, Mapping):
            return len(self) == len(other) and dict(self.items()) == dict(other.items())
        return NotImplemented

    __hash__ = None

    def __repr__(self) -> str:
        keys, values = self.range(limit=SHOWN)
        shown = [f"{key!r}: {value!r}" for key, value in zip(shown_as(keys), shown_as(values), strict=True)]
        if len(self) > len(shown):
            shown.append(f"… {len(self)} entries")
        dtypes = f"key_dtype='{self.key_dtype}', value_dtype='{self.value_dtype}'"
        return f"{type(self).__name__}({{{', '.join(shown)}}}, {dtypes})"

    # ---- the whole index ----

    def to_numpy(self) -> tuple[Array, Array]:
        """All entries: keys (n, key_dtype) and values (n, value_dtype), ascending.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_numpy()
        (array([1, 2]), array([10, 20]))
        """
        return self.range()

    def copy(self) -> Index:
        """Another index with the entries of this one. Entries that others change meanwhile may be as before."""
        keys, values = self.to_numpy()
        return _interchange.restored(type(self), self.key_dtype, self.value_dtype, keys, values)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Index:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as two arrays, which protocol 5 can pass on without a copy."""
        keys, values = map(_interchange.picklable, self.to_numpy())
        return _interchange.restored, (type(self), self.key_dtype, self.value_dtype, keys, values)

    def to_arrow(self) -> Any:
        """All entries as a `pyarrow.Table` with the columns 'key' and 'value'. Needs pyarrow."""
        return _interchange.pyarrow().table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All entries for any library that reads Arrow streams; the columns are 'key' and 'value'.

        `pyarrow.table(index)`, `pandas.DataFrame.from_arrow(index)`, `polars.from_dataframe(index)`; duckdb finds
        `table = index.to_arrow()` by its name. The schema that is asked for is left to the reader to cast to. NaT
        is null. Raises TypeError for times in units that Arrow hasn't: all but days, seconds, milliseconds,
        microseconds and nanoseconds, and durations in days.
        """
        return self._arrow_stream()

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        key: int | str = 0,
        value: int | str = 1,
        *,
        assume_sorted: bool = False,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Index:
        """Make an index from two columns of anything that gives an Arrow stream.

        The columns are copied: nothing of the frame is kept. Times with a zone come in as UTC.

        Parameters
        ----------
        data : frame, table or reader of batches
            Of polars, pandas, pyarrow, duckdb, or any other object with `__arrow_c_stream__` or
            `__arrow_c_array__`.
        key, value : str or int
            The columns, by name or position.
        assume_sorted, fill, limit_bytes
            As for `Index`.

        Raises
        ------
        ValueError
            Nulls, or what `Index` raises it for.
        KeyError, IndexError
            A column that isn't there.
        TypeError
            Columns of other types than numbers, bool, timestamps, dates and durations; or no such object.
        """
        keys, values = read_arrow(data, key, value)
        return cls(keys, values, assume_sorted=assume_sorted, fill=fill, limit_bytes=limit_bytes)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write all entries to an Arrow IPC file, and return how many there are.

        `open` reads it, and so does every tool that reads Arrow files. The file appears whole or not at all: it is
        written beside the old one, synced and renamed. Every entry that no thread touches meanwhile is in it, all
        others as before or after a change. Raises OSError if the file can't be written: what was there before is
        there still. The file that a symbolic link leads to is replaced, and its permissions stay. Raises
        IsADirectoryError for a folder, and another OSError for what else is no file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from latchless import Index
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "index.arrow"
        >>> Index([1, 2], [10.5, 20.5]).save(path)
        2
        >>> Index.open(path)
        Index({1: 10.5, 2: 20.5}, key_dtype='int64', value_dtype='float64')
        """
        return self._save(os.fspath(path))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, fill: float = 0.8, limit_bytes: int | None = None) -> Index:
        """Make an index from a file that `save` has written, here or in Rust.

        A directory that has a durable index is opened as `DurableIndex.open` does it; `DurableIndex` makes one.

        Raises ValueError for a file that was cut or changed, by a single bit, or isn't such a file; OSError if it
        can't be read; MemoryError for more than `limit_bytes`.
        """
        from latchless._durable import DurableIndex, has_index

        check_fill(fill)
        if has_index(path):
            return DurableIndex.open(path, limit_bytes=limit_bytes)
        snapshot = Snapshot(os.fspath(path))
        try:
            key, value = columns(snapshot.key_dtype, snapshot.value_dtype)
        except TypeError as error:
            raise ValueError(f"the file has columns that no index has: {error}") from None
        return cls._made(key, value, None, None, True, fill, limit_bytes, snapshot)


def check_lengths(keys: Sized | None, values: Sized | None, scalar: bool) -> None:
    """Refuses columns of different lengths."""
    if keys is not None and values is not None and not scalar and len(keys) != len(values):
        raise ValueError(f"there are {len(keys)} keys but {len(values)} values")


def check_fill(fill: float) -> None:
    """Refuses what no node can be filled to."""
    if not 0.01 <= fill <= 1.0:
        raise ValueError(f"fill must be between 0.01 and 1.0, not {fill}")


def shown_as(column: Array) -> Iterable[Any]:
    """What `repr` shows of a column."""
    return map(str, column) if column.dtype.kind in "Mm" else column.tolist()
