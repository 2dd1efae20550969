"""The class `Index`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from latchless import _interchange
from latchless._asked import Array
from latchless._batches import chosen
from latchless._dtypes import Column, Duplicates, listed
from latchless._latchless import Snapshot, read_arrow
from latchless._mapping import SortedMapping
from latchless._ranges import Ranges
from latchless._rows import Rows
from latchless._text import KeyDtype, Texts, ValueDtype, described, described_in_a_file, text_type
from latchless._zones import Zoned

if TYPE_CHECKING:
    from typing_extensions import Self

SHOWN = 10
"""Entries that `repr` shows."""


class Index(Ranges, SortedMapping[Any]):
    """An ordered map from keys to values of one type each, which many threads read and change at once.

    The types are those that are given, or those of the first keys and values. Both keys and values are numbers,
    times, `str` or `bytes`. Keys may be tuples of these as well.

    Parameters
    ----------
    keys : array-like
        n keys, in any order. None: an empty index. Or a mapping alone, whose entries the index gets. Of `str` or
        `bytes` it may be a list or any other iterable, a NumPy array of strings (of fixed width, of any width, or
        objects), or a column of pyarrow, polars, pandas or duckdb: for these columns no object is made per key. Of
        tuples it is a tuple of columns, one for each part, a list of tuples, or a MultiIndex of pandas.
    values : array-like, mapping, frame or scalar
        n values, or one value for all. Rows of several columns are a mapping from names to columns, a frame of
        pandas or Polars, an array of a structured dtype, or a list of tuples.
    key_dtype, value_dtype : dtype or type
        Of integers, float32, float64, bool, datetime64 or timedelta64; or `str` or `bytes`. By default those of
        the arrays, or of the first elements, else int64. If both have at most 32 bits, entries take half of the
        memory. Times with a zone are `datetime64[ns, UTC]`, as pandas spells it, or the types of pandas, Polars or
        Arrow for them. A tuple of dtypes is that of keys that are tuples; a structured dtype, or a mapping from
        names to dtypes, that of values that are rows.
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
        A dtype of another kind, an array that would have to be converted to another kind, or keys of two types.
    OverflowError
        A number that is outside of the dtype, or a key that would be rounded.
    ValueError
        NaN or NaT as a key, null or masked elements, unequal lengths, more than one dimension; a string with a
        lone surrogate, which UTF-8 can't have, or of 16 MiB or more, where it would be stored.
    MemoryError
        More memory than `limit_bytes`, or than there is.

    Notes
    -----
    Every method may be called from any thread at any time. Operations on one key are atomic; batches release the
    interpreter's lock, and other threads may see some of their changes before others. An array that another
    thread writes while a batch reads it is read element by element, each one before or after the write; of strings
    a batch has a copy.

    A forked child may go on with its copy of an index.

    Stored elements must fit the dtypes. Questions need only an order among keys: `floor(5.5)`, `range(-5, 2**70)`
    and `get(0.1)` of any numbers, and half a second among keys in seconds, have exact answers. Before and after
    NaN and NaT there is nothing. `in`, `get`, `pop` and `m[k]` don't find objects of other types than the keys, as
    in a `dict`; other methods raise TypeError.

    Keys that are `str` are in the order of `sorted`: by their code points, which is the order of their UTF-8.
    Common prefixes of adjacent keys are stored once; values of up to 192 bytes are next to their keys. A prefix
    has a range of keys, but two keys have no distance: `nearest` is a TypeError. Strings are returned in lists,
    not in arrays. NumPy's dtype `S` loses zeros at the end of a key, as it does everywhere.

    Keys that are tuples are in the order of tuples. Batches take and return a column for each part, and one
    element stands for a whole column; single operations and iterators take and return tuples. Fewer parts are
    before all keys that have them: `range(("EUR",), ("JPY",))`. A prefix is the first parts: `prefix("EUR")`; if
    all are given, the last one is a prefix if it is a string. `asof` looks only among keys that have the same
    parts but the last.

    Values that are rows of numbers, bools and times are read and written as a whole: no reader sees one column of
    one row and another of the next. A row has up to 192 bytes, without padding. Batches return an array of the
    structured dtype, single operations its elements (`numpy.void`), and take tuples and mappings as well.

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
    >>> animals = Index(["cat", "ant", "bee"], [3, 1, 2])
    >>> animals["dog"] = 4
    >>> animals["bee"], "cow" in animals, animals.floor("cow"), animals.prefix("c")
    (2, False, ('cat', 3), (['cat'], array([3])))
    >>> Index(key_dtype=bytes, value_dtype=str)
    Index({}, key_dtype=bytes, value_dtype=str)
    >>> quotes = Index((["EUR", "JPY", "EUR"], [10, 15, 20]), [1.5, 0.6, 1.6])
    >>> quotes["JPY", 15], quotes.floor(("EUR", 15)), quotes.prefix("EUR")
    (0.6, (('EUR', 10), 1.5), ((['EUR', 'EUR'], array([10, 20])), array([1.5, 1.6])))
    >>> prices = Index([10, 20], {"bid": [1.5, 1.6], "ask": [1.75, 1.8]})
    >>> prices[30] = (1.7, 1.9)
    >>> prices.asof([12, 31])[1]["ask"]
    array([1.75, 1.9 ])
    """

    key_type: ClassVar[type | None] = None
    """`str` or `bytes`, if this class has keys of no other type."""
    key_dtype: np.dtype[Any] | type | tuple[np.dtype[Any] | type, ...]
    """The dtype of the keys, or `str` or `bytes`; of tuples a tuple of these."""
    value_dtype: np.dtype[Any] | type
    """The dtype of the values, or `str` or `bytes`; of rows a structured dtype."""
    key_zone: str | None
    """The zone of the keys, if they are times with one."""
    value_zone: str | None
    """The zone of the values, if they are times with one."""

    def __new__(
        cls,
        keys: ArrayLike | Any = None,
        values: ArrayLike | Any = None,
        *,
        key_dtype: KeyDtype | None = None,
        value_dtype: ValueDtype | None = None,
        assume_sorted: bool = False,
        duplicates: Duplicates = "last",
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
        """Make an index: see the class."""
        keys, values = map(listed, keys_and_values(keys, values))
        key, value = described(keys, cls._key_dtype(key_dtype), values, value_dtype)
        words, its = (None, None) if keys is None else chosen(key, value, keys, values, duplicates)[:2]
        check_fill(fill)
        return cls._made(key, value, words, its, bool(assume_sorted), fill, limit_bytes)

    @classmethod
    def _key_dtype(cls, given: Any) -> Any:
        """The type of keys, or the one that this class has."""
        if cls.key_type is None or given is None:
            return given if cls.key_type is None else cls.key_type
        if text_type(None, given) is not cls.key_type:
            raise TypeError(f"keys of a {cls.__name__} are {cls.key_type.__name__}, not {given}")
        return cls.key_type

    @classmethod
    def _made(cls, key: Column | Texts, value: Column | Texts, *told: Any) -> Self:
        wide = isinstance(key, Texts) or key.words.itemsize == 8
        made = super().__new__(cls, wide, key.told(), value.told(), *told)
        made._key, made._value = key, value
        made._missing = key.missing_word(), value.missing_word()
        made.key_dtype, made.value_dtype = key.dtype, value.dtype
        made.key_zone, made.value_zone = key.zone, value.zone
        return made

    # ---- the mapping protocol: what isn't in the compiled part, or in `SortedMapping` ----

    def first(self) -> tuple[Any, Any] | None:
        """The entry with the smallest key, as (key, value), or None."""
        return self._end(False, False)

    def last(self) -> tuple[Any, Any] | None:
        """The entry with the largest key, as (key, value), or None."""
        return self._end(True, False)

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Insert the entries of an index, a mapping, a Series of pandas, or an iterable of pairs, as one batch.

        Named ones, too, if keys are `str`.
        """
        if isinstance(other, Index) and isinstance(self._key, Texts) and other._key == self._key and not named:
            keys, values = other._whole()
            self.insert_many(keys, other._value.shown(values))
            return
        if named and not isinstance(self._key, Texts):
            raise TypeError("keys are no strings")
        its_keys, its_values = _interchange.columns_of_entries(other)
        if named:
            its_keys, its_values = [*its_keys, *named], [*its_values, *named.values()]
        self.insert_many(its_keys, its_values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Index) and _alike(self._key, other._key):
            both = ((self._key.zone, other._key.zone), (self._value.zone, other._value.zone))
            if not _alike(self._value, other._value) or any((one is None) != (its is None) for one, its in both):
                return False
            return _interchange.equal(self._parts(), other._parts())
        same: bool = self._equals(other)
        return same

    __hash__ = None

    def __repr__(self) -> str:
        keys, values = self.range(limit=SHOWN)
        shown = [f"{key!r}: {value!r}" for key, value in zip(shown_as(keys), shown_as(values), strict=True)]
        if len(self) > len(shown):
            shown.append(f"… {len(self)} entries")
        key = "" if self.key_type else f"key_dtype={self._key.label}, "
        return f"{type(self).__name__}({{{', '.join(shown)}}}, {key}value_dtype={self._value.label})"

    # ---- the whole index ----

    def to_numpy(self) -> tuple[Any, Any]:
        """All entries: keys (n, key_dtype) and values (n, value_dtype), ascending.

        Times with a zone are a `DatetimeIndex` of pandas; `str` and `bytes` come in a list.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_numpy()
        (array([1, 2]), array([10, 20]))
        """
        return self.range()

    def _whole(self) -> tuple[Any, Any]:
        """All entries: arrays of NumPy's, or columns of strings."""
        keys, values = self._range(None, None, (True, True), False, None)
        return self._key.plain(keys), self._value.plain(values)

    def _parts(self) -> tuple[Array, ...]:
        """All entries as arrays that pickles pass on without a copy."""
        keys, values = self._whole()
        return *self._key.parts(keys), *self._value.parts(values)

    def copy(self) -> Self:
        """Another index with the entries of this one. Entries that others change meanwhile may be as before.

        One of a subclass is of that class, and has the attributes of this one; its constructor isn't called.
        """
        copied: Self = _interchange.copied(self)
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        copied: Self = _interchange.copied(self, memo)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as two to four arrays, which protocol 5 can pass on without a copy."""
        made = (type(self), self._key.pickled, self._value.pickled, *self._parts())
        return _interchange.restored, made, _interchange.state_of(self)

    @classmethod
    def _restored(cls, key: Column | Texts, value: Column | Texts, parts: tuple[Array, ...]) -> Self:
        """The index with these ascending entries."""
        count = len(parts) - value.part_count
        return cls._made(key, value, key.whole(parts[:count]), value.whole(parts[count:]), True, 0.8, None)

    def to_arrow(self) -> Any:
        """All entries as a `pyarrow.Table` with the columns 'key' and 'value', or those of rows. Needs pyarrow."""
        arrow = _interchange.pyarrow()
        if not isinstance(self._value, Rows):
            return arrow.table(self)
        keys, values = self.range()
        return arrow.table(_interchange.named_columns(keys, values))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All entries for any library that reads Arrow streams; the columns are 'key' and 'value'.

        `pyarrow.table(index)`, `pandas.DataFrame.from_arrow(index)`, `polars.from_dataframe(index)`; duckdb finds
        `table = index.to_arrow()` by its name. A requested schema is ignored; the reader casts. NaT is null.
        Keys and values that are strings are `large_string` or `large_binary`. Raises TypeError for times in units
        that Arrow lacks: all but days, seconds, milliseconds, microseconds and nanoseconds, and durations in days.
        """
        if isinstance(self._value, Rows):
            return self.to_arrow().__arrow_c_stream__(requested_schema)
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
    ) -> Self:
        """Make an index from two columns of anything that gives an Arrow stream.

        The columns are copied: nothing of the frame is kept. Times keep their zone. No object is made of a string.

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
            Nulls, strings that aren't UTF-8, or what `Index` raises it for.
        KeyError, IndexError
            A column that isn't there.
        TypeError
            Columns of other types than numbers, bool, timestamps, dates, durations, `string`, `large_string`,
            `string_view`, `binary`, `large_binary`, `binary_view` and `fixed_size_binary`; or no such object.
        """
        text = None if cls.key_type is None else cls.key_type is str
        keys, values = map(zoned, read_arrow(data, key, value, text))
        more: dict[str, Any] = {"assume_sorted": assume_sorted, "duplicates": duplicates}
        return cls(keys, values, **more, fill=fill, limit_bytes=limit_bytes)

    @classmethod
    def from_pandas(
        cls,
        data: Any,
        key: str | Sequence[str] | None = None,
        value: str | Sequence[str] | None = None,
        **how: Any,
    ) -> Self:
        """Make an index of a Series or a frame of pandas, whose index are the keys.

        More arguments are as for the class.

        Parameters
        ----------
        data : Series or DataFrame
            The values, or the columns of rows.
        key : str or sequence of str
            Of a frame, the column of the keys in place of its index, or the columns of tuples.
        value : str or sequence of str
            Of a frame, the column of the values, or the columns of rows. By default all that aren't keys.

        Examples
        --------
        >>> import pandas
        >>> from latchless import Index
        >>> Index.from_pandas(pandas.Series([1.5, 2.5], index=[20, 10]))
        Index({10: 2.5, 20: 1.5}, key_dtype='int64', value_dtype='float64')
        >>> quotes = pandas.DataFrame({"time": [20, 10], "bid": [1.5, 2.5], "ask": [1.75, 2.75]})
        >>> Index.from_pandas(quotes, key="time").asof([15])[1]
        array([(2.5, 2.75)], dtype=[('bid', '<f8'), ('ask', '<f8')])
        """
        if hasattr(data, "columns") and hasattr(data, "iloc"):
            return cls(*_interchange.columns_of_frame(data, key, value), **how)
        if key is not None or value is not None:
            raise TypeError("key and value are columns of a frame")
        return cls(*_interchange.columns_of_series(data), **how)

    @classmethod
    def from_polars(
        cls,
        frame: Any,
        key: str | Sequence[str] | None = None,
        value: str | Sequence[str] | None = None,
        **how: Any,
    ) -> Self:
        """Make an index of columns of a frame of Polars. More arguments are as for the class.

        Parameters
        ----------
        frame : DataFrame
            A frame that has the columns.
        key : str or sequence of str
            The column of the keys, by default the first one, or the columns of tuples.
        value : str or sequence of str
            The column of the values, or the columns of rows. By default all that aren't keys.

        Examples
        --------
        >>> import polars
        >>> from latchless import Index
        >>> Index.from_polars(polars.DataFrame({"time": [20, 10], "bid": [1.5, 2.5]}))
        Index({10: 2.5, 20: 1.5}, key_dtype='int64', value_dtype='float64')
        """
        if not (hasattr(frame, "columns") and hasattr(frame, "hstack")):
            raise TypeError(f"this is made of a DataFrame of Polars, not of {type(frame).__name__}")
        return cls(*_interchange.columns_of_frame(frame, key, value), **how)

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
        key_dtype: KeyDtype | None = None,
        value_dtype: ValueDtype | None = None,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
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
        if cls.key_type is None and has_index(path):
            opened: Any = DurableIndex.open
            durable: Self = opened(path, key_dtype=key_dtype, value_dtype=value_dtype, limit_bytes=limit_bytes)
            return durable
        snapshot = Snapshot(os.fspath(path))
        names, given = (snapshot.key_dtype, snapshot.value_dtype), (cls._key_dtype(key_dtype), value_dtype)
        if cls.key_type is not None and names[0] != cls.key_type.__name__:
            raise ValueError(
                f"the file has keys of type {names[0]}, not {cls.key_type.__name__}: Index.open opens such a file"
            )
        try:
            key, value = described_in_a_file("the file", names, snapshot.zones_known, given)
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


def check_fill(fill: float) -> None:
    """Refuses what no node can be filled to."""
    if not 0.01 <= fill <= 1.0:
        raise ValueError(f"fill must be between 0.01 and 1.0, not {fill}")


def shown_as(column: Any) -> Iterable[Any]:
    """The part of a column that `repr` shows."""
    if isinstance(column, tuple):
        return zip(*map(shown_as, column), strict=True)
    if isinstance(column, list):
        return column
    its: Iterable[Any] = map(str, column) if column.dtype.kind in "Mm" else column.tolist()
    return its


def _alike(one: Column | Texts, other: Column | Texts) -> bool:
    """Whether columns are both of dtypes, or of the same type of strings."""
    if isinstance(one, Texts) or isinstance(other, Texts):
        return type(one) is type(other) and one.dtype == other.dtype
    return True
