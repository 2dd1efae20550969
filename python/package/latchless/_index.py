"""The class `Index`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latchless import _interchange
from latchless._asked import Array
from latchless._batches import Duplicates, kept_of
from latchless._dtypes import Column, Dtype, columns, columns_of_a_file, dtype_of, listed, one_or_many
from latchless._latchless import Snapshot, read_arrow
from latchless._mapping import SortedMapping
from latchless._ranges import Ranges
from latchless._zones import Zoned

SHOWN = 10
"""Entries that `repr` shows."""


class Index(Ranges, SortedMapping[Any]):
    """An ordered map from keys to values of fixed dtypes, which many threads read and change at once.

    Parameters
    ----------
    keys : array-like
        n keys, in any order. None: an empty index. Or a mapping alone, whose entries the index gets.
    values : array-like or scalar
        n values, or one value for all.
    key_dtype, value_dtype : dtype
        Of integers, float32, float64, bool, datetime64 or timedelta64. By default those of the arrays, else int64.
        If both have at most 32 bits, entries take half of the memory. Times with a zone are `datetime64[ns, UTC]`,
        as pandas spells it, or the types of pandas, Polars or Arrow for them.
    assume_sorted : bool
        The keys ascend, and differ; if they don't, ValueError says where.
    duplicates : {'last', 'first', 'raise'}
        Which entry of equal keys the index has, or that these are a ValueError, which names the first of them. All
        but 'last' sort the keys once more. (`MultiIndex` is for keys that are in many rows.)
    fill : float
        How full nodes are at first, 0.01 to 1.0. At 0.8 later inserts are several times as fast as at 1.0, which
        is for data that no longer changes.
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

    Stored elements must fit the dtypes. Questions need only an order among keys: `floor(5.5)`, `range(-5, 2**70)`
    and `get(0.1)` of any numbers, and half a second among keys in seconds, have exact answers. Before and after
    NaN and NaT there is nothing. `in`, `get`, `pop` and `m[k]` don't find objects that aren't numbers, as in a
    `dict`; other methods raise TypeError.

    Times with a zone and times without one don't mix: a question of the other kind than the keys is a TypeError.
    Different zones do mix; keys are returned in the index's own zone, as pandas' `DatetimeIndex` and `Timestamp`,
    because NumPy has no zones: this needs pandas.

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
    key_zone: str | None
    """The zone of the keys, if they are times with one."""
    value_zone: str | None
    """The zone of the values, if they are times with one."""

    def __new__(
        cls,
        keys: ArrayLike | Any = None,
        values: ArrayLike | Any = None,
        *,
        key_dtype: Dtype | None = None,
        value_dtype: Dtype | None = None,
        assume_sorted: bool = False,
        duplicates: Duplicates = "last",
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Index:
        """Make an index: see the class."""
        keys, values = keys_and_values(keys, values)
        keys, (values, scalar) = listed(keys), (None, False) if values is None else one_or_many(values)
        key, value = columns(dtype_of(keys, key_dtype), dtype_of(values, value_dtype))
        key_words = None if keys is None else key.to_words(keys)
        value_words = None if values is None else value.to_words(values)
        check_lengths(key_words, value_words, scalar)
        check_fill(fill)
        kept = None if key_words is None else kept_of(key.plain(key_words), duplicates)
        if kept is not None and key_words is not None and value_words is not None:
            key_words, value_words = key_words[kept], value_words if scalar else value_words[kept]
        return cls._made(key, value, key_words, value_words, bool(assume_sorted), fill, limit_bytes)

    @classmethod
    def _made(cls, key: Column, value: Column, *told: Any) -> Index:
        made = super().__new__(cls, key.words.itemsize == 8, key.told(), value.told(), *told)
        made._key, made._value = key, value
        made._missing = key.missing_word(), value.missing_word()
        made.key_dtype, made.value_dtype = key.dtype, value.dtype
        made.key_zone, made.value_zone = key.zone, value.zone
        return made

    # ---- the mapping protocol: what isn't in the compiled part, or in `SortedMapping` ----

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Insert the entries of an index, a mapping, a Series of pandas, or an iterable of pairs, as one batch."""
        if named:
            raise TypeError("keys are no strings")
        self.insert_many(*_interchange.columns_of_entries(other))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Index):
            zones = [(index.key_zone is None, index.value_zone is None) for index in (self, other)]
            return zones[0] == zones[1] and _interchange.equal(self._columns(), other._columns())
        alike: bool = self._equals(other)
        return alike

    __hash__ = None

    def __repr__(self) -> str:
        keys, values = self.range(limit=SHOWN)
        shown = [f"{key!r}: {value!r}" for key, value in zip(shown_as(keys), shown_as(values), strict=True)]
        if len(self) > len(shown):
            shown.append(f"… {len(self)} entries")
        dtypes = f"key_dtype='{self._key.name}', value_dtype='{self._value.name}'"
        return f"{type(self).__name__}({{{', '.join(shown)}}}, {dtypes})"

    # ---- the whole index ----

    def to_numpy(self) -> tuple[Array, Array]:
        """All entries: keys (n, key_dtype) and values (n, value_dtype), ascending.

        Times with a zone are a `DatetimeIndex` of pandas.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_numpy()
        (array([1, 2]), array([10, 20]))
        """
        return self.range()

    def _columns(self) -> tuple[Array, Array]:
        """All entries as arrays of NumPy's."""
        keys, values = self._range(None, None, (True, True), False, None)
        return self._key.plain(keys), self._value.plain(values)

    def copy(self) -> Index:
        """Another index with the entries of this one. Entries that others change meanwhile may be as before.

        One of a subclass is of that class, and has the attributes of this one; its constructor isn't called.
        """
        copied: Index = _interchange.copied(self)
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Index:
        copied: Index = _interchange.copied(self, memo)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as two arrays, which protocol 5 can pass on without a copy."""
        keys, values = map(_interchange.picklable, self._columns())
        made = (type(self), self._key.name, self._value.name, keys, values)
        return _interchange.restored, made, _interchange.state_of(self)

    @classmethod
    def _restored(cls, key: Column, value: Column, keys: Array, values: Array) -> Index:
        return cls._made(key, value, key.as_words(keys), value.as_words(values), True, 0.8, None)

    def to_arrow(self) -> Any:
        """All entries as a `pyarrow.Table` with the columns 'key' and 'value'. Needs pyarrow."""
        return _interchange.pyarrow().table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All entries for any library that reads Arrow streams; the columns are 'key' and 'value'.

        `pyarrow.table(index)`, `pandas.DataFrame.from_arrow(index)`, `polars.from_dataframe(index)`; duckdb finds
        `table = index.to_arrow()` by its name. A requested schema is ignored; the reader casts. NaT is null.
        Raises TypeError for times in units that Arrow lacks: all but days, seconds, milliseconds, microseconds and
        nanoseconds, and durations in days.
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
        duplicates: Duplicates = "last",
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Index:
        """Make an index from two columns of anything that gives an Arrow stream.

        The columns are copied: nothing of the frame is kept. Times keep their zone.

        Parameters
        ----------
        data : frame, table or reader of batches
            Of polars, pandas, pyarrow, duckdb, or any other object with `__arrow_c_stream__` or
            `__arrow_c_array__`.
        key, value : str or int
            The columns, by name or position.
        assume_sorted, duplicates, fill, limit_bytes
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
        keys, values = map(zoned, read_arrow(data, key, value))
        more: dict[str, Any] = {"assume_sorted": assume_sorted, "duplicates": duplicates}
        return cls(keys, values, **more, fill=fill, limit_bytes=limit_bytes)

    @classmethod
    def from_pandas(cls, series: Any, **how: Any) -> Index:
        """Make an index of a Series of pandas: its index are the keys. More arguments are as for the class.

        Examples
        --------
        >>> import pandas
        >>> from latchless import Index
        >>> Index.from_pandas(pandas.Series([1.5, 2.5], index=[20, 10]))
        Index({10: 2.5, 20: 1.5}, key_dtype='int64', value_dtype='float64')
        """
        return cls(*_interchange.columns_of_series(series), **how)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write all entries to an Arrow IPC file, and return how many there are.

        `open` reads it, and so does every tool that reads Arrow files. The file appears whole or not at all: it is
        written under a temporary name, synced and renamed. Every entry that stays unchanged meanwhile is in it,
        all others as before or after a change. Raises OSError if the file can't be written: then the old file is
        still there. The file that a symbolic link leads to is replaced, and its permissions stay. Raises
        IsADirectoryError for a folder, and another OSError for anything else that is no file.

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
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        key_dtype: Dtype | None = None,
        value_dtype: Dtype | None = None,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Index:
        """Make an index from a file that `save` has written, here or in Rust.

        A directory that has a durable index is opened as `DurableIndex.open` does it; `DurableIndex` makes one.
        Dtypes that are given must be those of the file. Files of versions that kept no zones don't say whether
        their times have one: they are taken for times without. A UserWarning says so unless the dtype is given,
        such as `key_dtype="datetime64[us, UTC]"`.

        Raises ValueError for a file that was cut or changed, by a single bit, or isn't such a file; OSError if it
        can't be read; MemoryError for more than `limit_bytes`.
        """
        from latchless._durable import DurableIndex, has_index

        check_fill(fill)
        if has_index(path):
            return DurableIndex.open(path, key_dtype=key_dtype, value_dtype=value_dtype, limit_bytes=limit_bytes)
        snapshot = Snapshot(os.fspath(path))
        names = snapshot.key_dtype, snapshot.value_dtype
        try:
            key, value = columns_of_a_file("the file", names, snapshot.zones_known, (key_dtype, value_dtype))
        except TypeError as error:
            raise ValueError(f"the file has columns that no index has: {error}") from None
        return cls._made(key, value, None, None, True, fill, limit_bytes, snapshot)


def keys_and_values(keys: Any, values: Any) -> tuple[Any, Any]:
    """The arguments of a constructor: of a mapping alone its keys and values."""
    if values is None and isinstance(keys, Mapping):
        return _interchange.columns_of_entries(keys)
    if (keys is None) != (values is None):
        hint = "; Index.from_pandas takes a Series" if hasattr(keys, "index") and hasattr(keys, "isna") else ""
        raise TypeError(f"keys and values are given together{hint}")
    if isinstance(keys, Mapping):
        raise TypeError("a mapping has its values already")
    return keys, values


def zoned(column: Any) -> Any:
    """A column of Arrow's as an array, or as times with their zone."""
    return Zoned(*column) if isinstance(column, tuple) else column


def check_lengths(keys: Sized | None, values: Sized | None, scalar: bool) -> None:
    """Refuses columns of different lengths."""
    if keys is not None and values is not None and not scalar and len(keys) != len(values):
        raise ValueError(f"there are {len(keys)} keys but {len(values)} values")


def check_fill(fill: float) -> None:
    """Refuses what no node can be filled to."""
    if not 0.01 <= fill <= 1.0:
        raise ValueError(f"fill must be between 0.01 and 1.0, not {fill}")


def shown_as(column: Array) -> Iterable[Any]:
    """The part of a column that `repr` shows."""
    return map(str, column) if column.dtype.kind in "Mm" else column.tolist()
