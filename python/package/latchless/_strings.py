"""The classes `StringIndex` and `BytesIndex`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless import _interchange
from latchless._asked import Array
from latchless._batches import Duplicates, checked_threads, of_positions
from latchless._dtypes import Column, Dtype, columns, dtype_of, listed, one_or_many
from latchless._index import SHOWN, check_fill, check_lengths, keys_and_values, shown_as, zoned
from latchless._keys import key_column
from latchless._latchless import BytesCore, StringColumn, StringSnapshot, read_arrow_strings
from latchless._mapping import Key, SortedMapping
from latchless._ranges import Closed, checked_limit, ends_of
from latchless._text import Texts, one_or_many_texts, text_type

if TYPE_CHECKING:
    from typing_extensions import Self


class Strings(BytesCore, SortedMapping[Key]):
    """Shared by `StringIndex` and `BytesIndex`: everything but the type of their keys."""

    key_type: ClassVar[type]
    value_dtype: np.dtype[Any] | type
    """The dtype of the values, or `str` or `bytes`."""
    value_zone: str | None
    """The zone of the values, if they are times with one."""
    _value: Column | Texts
    _missing: int | None
    """The word of a value that is missing."""

    def __new__(
        cls,
        keys: ArrayLike | Any = None,
        values: ArrayLike | Any = None,
        *,
        value_dtype: Dtype | type[str] | type[bytes] | None = None,
        assume_sorted: bool = False,
        duplicates: Duplicates = "last",
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
        """Make an index: see the class."""
        keys, values = map(listed, keys_and_values(keys, values))
        texts, scalar = text_type(values, value_dtype), False
        if values is not None:
            values, scalar = one_or_many(values) if texts is None else one_or_many_texts(values)
        # Values of a dtype are words of 64 bits, as they are in an `Index` with keys of 64 bits.
        value = columns(np.int64, dtype_of(values, value_dtype))[1] if texts is None else Texts(texts)
        column = None if keys is None else key_column(cls.key_type, keys)
        words = None if values is None else value.to_words(values)
        check_lengths(column, words, scalar)
        check_fill(fill)
        kept = None if column is None else kept_of_strings(column, duplicates)
        if kept is not None and column is not None:
            column, words = column.take(kept), words if scalar else _taken(words, kept)
        return cls._made(value, column, words, bool(assume_sorted), fill, limit_bytes)

    @classmethod
    def _made(cls, value: Column | Texts, *told: Any) -> Self:
        made = super().__new__(cls, cls.key_type is str, value.told(), *told)
        made._value, made._missing, made.value_dtype = value, value.missing_word(), value.dtype
        made.value_zone = value.zone
        return made

    # ---- the mapping protocol: what isn't in the compiled part, or in `SortedMapping` ----

    def first(self) -> tuple[Key, Any] | None:
        """The entry with the smallest key, as (key, value), or None."""
        return self._end(False, False)

    def last(self) -> tuple[Key, Any] | None:
        """The entry with the largest key, as (key, value), or None."""
        return self._end(True, False)

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Insert the entries of an index, a mapping, a Series of pandas or pairs, and named ones, as one batch."""
        if isinstance(other, Strings) and other.key_type is self.key_type and not named:
            keys, values = other._whole()
            self.insert_many(keys, other._value.shown(values))
            return
        its_keys, its_values = _interchange.columns_of_entries(other)
        if named:
            its_keys, its_values = [*its_keys, *named], [*its_values, *named.values()]
        self.insert_many(its_keys, its_values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Strings) and other.key_type is self.key_type:
            (keys, values), (others, their_values) = self._whole(), other._whole()
            if isinstance(values, StringColumn) or isinstance(their_values, StringColumn):
                alike = self.value_dtype is other.value_dtype
                return alike and _interchange.equal(_buffers(keys, values), _buffers(others, their_values))
            zones_alike = (self.value_zone is None) == (other.value_zone is None)
            return zones_alike and _interchange.equal((*keys.buffers(), values), (*others.buffers(), their_values))
        same: bool = self._equals(other)
        return same

    __hash__ = None

    def __repr__(self) -> str:
        keys, values = self.range(limit=SHOWN)
        objects = values if isinstance(values, list) else shown_as(values)
        shown = [f"{key!r}: {value!r}" for key, value in zip(keys, objects, strict=True)]
        if len(self) > len(shown):
            shown.append(f"… {len(self)} entries")
        dtype = self._value.name if isinstance(self.value_dtype, type) else f"'{self._value.name}'"
        return f"{type(self).__name__}({{{', '.join(shown)}}}, value_dtype={dtype})"

    # ---- batches ----

    def get_many(
        self, keys: ArrayLike | Any, default: Any = None, *, threads: int = 1
    ) -> tuple[Array | list[Any], NDArray[np.bool_]]:
        """Look many keys up at once.

        Parameters
        ----------
        keys : array-like
            n keys, in any order: see the class.
        default : scalar
            The value where a key isn't there: by default NaN, NaT, False or 0, as the dtype has it, and None where
            values are `str` or `bytes`.
        threads : int
            How many threads share the batch.

        Returns
        -------
        values : array (n, value_dtype) or list
            The values, in the order of the keys: `str` and `bytes` in a list.
        found : array (n, bool)
            Whether each key is there. One that is too long to be stored isn't.

        Raises
        ------
        TypeError, ValueError
            Invalid keys: see the class. (`get` and `in` don't find these, as in a `dict`.)

        Examples
        --------
        >>> from latchless import StringIndex
        >>> StringIndex(["a", "b"], [10, 20]).get_many(["b", "c", "a"])
        (array([20,  0, 10]), array([ True, False,  True]))
        >>> StringIndex(["a", "b"], ["ant", "bee"]).get_many(["b", "c", "a"])
        (['bee', None, 'ant'], array([ True, False,  True]))
        """
        missing = self._missing if default is None else self._value.missing_word(default)
        words, found = self._get_many(key_column(self.key_type, keys), missing, checked_threads(threads))
        return (words if isinstance(words, list) else self._value.from_words(words)), found

    def contains_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> NDArray[np.bool_]:
        """Whether each of n keys is there: n bools.

        Examples
        --------
        >>> from latchless import BytesIndex
        >>> BytesIndex([b"a", b"b"], [10, 20]).contains_many([b"b", b"c", b"a"])
        array([ True, False,  True])
        """
        return self._contains_many(key_column(self.key_type, keys), checked_threads(threads))

    def insert_many(
        self, keys: ArrayLike | Any, values: ArrayLike | Any, *, duplicates: Duplicates = "last"
    ) -> int:
        """Insert many entries at once; a key that is there already gets its new value. Returns how many were new.

        Parameters
        ----------
        keys : array-like
            n keys, in any order: see the class.
        values : array-like or scalar
            n values, or one value for all; strings as keys are given.
        duplicates : {'last', 'first', 'raise'}
            Which entry of equal keys of the batch is inserted, or that these are a ValueError, which names the
            first of them.

        Returns
        -------
        int
            How many keys were new.

        Raises
        ------
        TypeError, OverflowError, ValueError
            Keys or values that the index can't have, or unequal lengths. Nothing was inserted.
        MemoryError, KeyboardInterrupt
            The exception's attribute `refused` has the positions (int64, ascending) of the entries that
            weren't inserted; all others were. Without this attribute nothing was.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> index = StringIndex(["a", "b"], [10, 20])
        >>> index.insert_many(["c", "b", "c"], [30, 21, 31])
        1
        >>> index
        StringIndex({'a': 10, 'b': 21, 'c': 31}, value_dtype='int64')
        """
        column = key_column(self.key_type, keys)
        many = one_or_many_texts if isinstance(self._value, Texts) else one_or_many
        values, scalar = many(values)
        words = self._value.to_words(values)
        check_lengths(column, words, scalar)
        kept = kept_of_strings(column, duplicates)
        if kept is None:
            return self._insert_many(column, words)
        column, words = column.take(kept), words if scalar else _taken(words, kept)
        return of_positions(kept, lambda: self._insert_many(column, words))

    def remove_many(self, keys: ArrayLike | Any) -> int:
        """Remove many keys at once; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> StringIndex(["a", "b"], [10, 20]).remove_many(["b", "c", "b"])
        1
        """
        return self._remove_many(key_column(self.key_type, keys))

    # ---- ranges ----

    def range(
        self,
        lo: Key | None = None,
        hi: Key | None = None,
        *,
        closed: Closed = "left",
        reverse: bool = False,
        limit: int | None = None,
    ) -> tuple[list[Key], Array | list[Any]]:
        """Copy the entries of a range: a list of m keys, and their values (m, value_dtype), ascending.

        Values that are `str` or `bytes` come in a list, too.

        `closed` says which ends belong to the range: 'left', 'right', 'both' or 'neither'. An end that is
        None is open; a range whose start is after its end is empty. With reverse=True the entries descend,
        and `limit` counts from the end of the range. Entries that other threads change meanwhile are seen
        before or after the change; all others are seen once.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> index = StringIndex(["ant", "bee", "cat", "dog"], [1, 2, 3, 4])
        >>> index.range("b", "d")
        (['bee', 'cat'], array([2, 3]))
        >>> index.range(hi="cat", closed="both", reverse=True, limit=2)
        (['cat', 'bee'], array([3, 2]))
        """
        return self._listed(lo, hi, ends_of(closed), reverse, limit)

    def prefix(
        self, prefix: Key, *, reverse: bool = False, limit: int | None = None
    ) -> tuple[list[Key], Array | list[Any]]:
        """Copy the entries whose keys begin with a prefix, as `range` does.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> StringIndex(["/a", "/a/b", "/b"], [1, 2, 3]).prefix("/a")
        (['/a', '/a/b'], array([1, 2]))
        """
        return self._listed(prefix, None, None, reverse, limit)

    def _listed(
        self, lo: Any, hi: Any, closed: tuple[bool, bool] | None, reverse: bool, limit: int | None
    ) -> tuple[list[Key], Array | list[Any]]:
        keys, words = self._range(lo, hi, closed, bool(reverse), checked_limit(limit))
        return keys.tolist(), self._value.from_words(words)

    def count(self, lo: Key | None = None, hi: Key | None = None, *, closed: Closed = "left") -> int:
        """How many keys there are in a range: see `range`. The time is that of going over it.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> StringIndex(["ant", "bee", "cat"], 0).count("b", "cat", closed="both")
        2
        """
        return self._count(lo, hi, ends_of(closed), False)

    def count_prefix(self, prefix: Key) -> int:
        """How many keys begin with a prefix.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> StringIndex(["/a", "/a/b", "/b"], 0).count_prefix("/a")
        2
        """
        return self._count(prefix, None, None, False)

    def remove_range(self, lo: Key | None = None, hi: Key | None = None, *, closed: Closed = "left") -> int:
        """Remove the entries of a range, and return how many there were: see `range`.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> index = StringIndex(["ant", "bee", "cat"], 0)
        >>> index.remove_range("b", "cat"), list(index)
        (1, ['ant', 'cat'])
        """
        return self._count(lo, hi, ends_of(closed), True)

    def remove_prefix(self, prefix: Key) -> int:
        """Remove the entries whose keys begin with a prefix, and return how many there were.

        Examples
        --------
        >>> from latchless import StringIndex
        >>> index = StringIndex(["/a", "/a/b", "/b"], 0)
        >>> index.remove_prefix("/a/"), list(index)
        (1, ['/a', '/b'])
        """
        return self._count(prefix, None, None, True)

    # ---- the whole index ----

    def _whole(self) -> tuple[StringColumn, Any]:
        """All entries: the keys as a column, and the values as an array of NumPy's, or as a column as well."""
        keys, words = self._range(None, None, (True, True), False, None)
        return keys, (words if isinstance(self._value, Texts) else self._value.plain(words))

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
        """Pickle as three or four arrays, which protocol 5 can pass on without a copy."""
        keys, values = self._whole()
        of_values = values.buffers() if isinstance(values, StringColumn) else [_interchange.picklable(values)]
        columns = *keys.buffers(), *of_values
        dtype = self.value_dtype if isinstance(self._value, Texts) else self._value.name
        return _interchange.restored_strings, (type(self), dtype, *columns), _interchange.state_of(self)

    @classmethod
    def _restored(cls, value_dtype: Any, keys: StringColumn, values: Any) -> Self:
        """The index with these ascending entries, times as integers."""
        if isinstance(values, StringColumn):
            return cls._made(Texts(value_dtype), keys, values, True, 0.8, None)
        _, value = columns(np.int64, value_dtype)
        values = values.view(value.dtype) if value.dtype.kind in "Mm" else values
        return cls._made(value, keys, value.as_words(values), True, 0.8, None)

    def to_arrow(self) -> Any:
        """All entries as a `pyarrow.Table` with the columns 'key' and 'value'. Needs pyarrow."""
        return _interchange.pyarrow().table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All entries for any library that reads Arrow streams; the columns are 'key' and 'value'.

        Keys, and values that are strings, are `large_string` or `large_binary`. `pyarrow.table(index)`,
        `pandas.DataFrame.from_arrow(index)`, `polars.from_dataframe(index)`; duckdb finds `table =
        index.to_arrow()` by its name. A requested schema is ignored; the reader casts. Other values are as for
        `Index`.
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
    ) -> Self:
        """Make an index from two columns of anything that gives an Arrow stream.

        The columns are copied, and no object is made of a key.

        Parameters
        ----------
        data : frame, table or reader of batches
            Of polars, pandas, pyarrow, duckdb, or any other object with `__arrow_c_stream__` or
            `__arrow_c_array__`. Keys are a column of `string`, `large_string` or `string_view`, those of a
            `BytesIndex` one of `binary`, `large_binary`, `binary_view` or `fixed_size_binary`. Values are a
            column of numbers or times, or one of any of these types, which makes them `str` or `bytes`.
        key, value : str or int
            The columns, by name or position.
        assume_sorted, duplicates, fill, limit_bytes
            As for the class.

        Raises
        ------
        ValueError
            Nulls, strings that aren't UTF-8, or what the class raises it for.
        KeyError, IndexError
            A column that isn't there.
        TypeError
            Columns of other types; or no such object.
        """
        keys, values = read_arrow_strings(data, key, value, cls.key_type is str)
        more: dict[str, Any] = {"assume_sorted": assume_sorted, "duplicates": duplicates}
        return cls(keys, zoned(values), **more, fill=fill, limit_bytes=limit_bytes)

    @classmethod
    def from_pandas(cls, series: Any, **how: Any) -> Self:
        """Make an index of a Series of pandas: its index are the keys. More arguments are as for the class."""
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
        >>> from latchless import StringIndex
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "index.arrow"
        >>> StringIndex(["a", "b"], [10.5, 20.5]).save(path)
        2
        >>> StringIndex.open(path)
        StringIndex({'a': 10.5, 'b': 20.5}, value_dtype='float64')
        """
        return self._save(os.fspath(path))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, fill: float = 0.8, limit_bytes: int | None = None) -> Self:
        """Make an index from a file that `save` has written, here or in Rust.

        Raises ValueError for a file that was cut or changed, by a single bit, or has other keys, or isn't such a
        file; OSError if it can't be read; MemoryError for more than `limit_bytes`.
        """
        check_fill(fill)
        snapshot = StringSnapshot(cls.key_type is str, os.fspath(path))
        texts: type | None = {"str": str, "bytes": bytes}.get(snapshot.value_dtype)
        if texts is not None:
            return cls._made(Texts(texts), None, None, True, fill, limit_bytes, snapshot)
        try:
            _, value = columns(np.int64, snapshot.value_dtype)
        except TypeError as error:
            raise ValueError(f"the file has columns that no index has: {error}") from None
        return cls._made(value, None, None, True, fill, limit_bytes, snapshot)


def kept_of_strings(column: StringColumn, duplicates: Duplicates) -> NDArray[np.int64] | None:
    """Where those of equal keys are that are inserted; None where the index itself keeps the last of them."""
    if duplicates == "last":
        return None
    if duplicates not in ("first", "raise"):
        raise ValueError(f"duplicates is 'last', 'first' or 'raise', not {duplicates!r}")
    kept, twice = column.distinct()
    if twice is not None and duplicates == "raise":
        key = column.take(np.array([twice])).tolist()[0]
        raise ValueError(f"{key!r}, at position {twice} of the keys, was there before, and duplicates='raise'")
    return None if twice is None else kept


def _taken(words: Any, kept: NDArray[np.int64]) -> Any:
    return words.take(kept) if isinstance(words, StringColumn) else words[kept]


def _buffers(*columns: StringColumn) -> tuple[Any, ...]:
    return tuple(buffer for column in columns for buffer in column.buffers())


class StringIndex(Strings[str]):
    """An ordered map from `str` to values of one type, which many threads read and change at once.

    It is a class of its own because keys of any length are stored in another kind of tree, which has other
    operations: a prefix has a range of keys, but two keys have no distance, so there is no `asof`, and there are
    no positions. Its keys are returned as a list, not as an array.

    Parameters
    ----------
    keys : array-like
        n keys, in any order. None: an empty index. A mapping alone gives keys and values. They may be a list or
        any other iterable of `str`, a NumPy array of strings (of fixed width, of any width, or objects), or a
        column of pyarrow, polars, pandas or duckdb: for these columns no object is made per key.
    values : array-like or scalar
        n values, or one value for all.
    value_dtype : dtype or type
        Of integers, float32, float64, bool, datetime64 or timedelta64: every such value takes eight bytes. Or
        `str` or `bytes`: values are strings of up to 65,535 bytes; those of up to 192 bytes are stored next to
        their keys. By default that of the array or of the first element, else int64.
    assume_sorted : bool
        The keys ascend, and differ; if they don't, ValueError says where.
    duplicates : {'last', 'first', 'raise'}
        Which entry of equal keys the index has, or that these are a ValueError, which names the first of them.
        (`MultiIndex` is for keys that are in many rows.)
    fill : float
        How full nodes are at first, 0.01 to 1.0. 1.0 is for data that no longer changes.
    limit_bytes : int
        The most memory that the index may take.

    Raises
    ------
    TypeError
        Keys of another type than `str`, or values as for `Index`, or of another type than `value_dtype`.
    ValueError
        Strings with a lone surrogate, which UTF-8 can't have; strings of more than 65,535 bytes of UTF-8, where
        they would be stored; null or masked elements, unequal lengths, more than one dimension.
    OverflowError
        A value that is outside of the dtype.
    MemoryError
        More memory than `limit_bytes`, or than there is.

    Notes
    -----
    Keys are in the order of `sorted`: by their code points, which is the order of their UTF-8. Common prefixes of
    adjacent keys are stored once.

    Every method may be called from any thread at any time. Operations on one key are atomic; batches
    release the interpreter's lock, and other threads may see some of their changes before others. A batch
    copies its keys before it begins. A forked child may go on with its copy of an index.

    Examples
    --------
    >>> from latchless import StringIndex
    >>> index = StringIndex(["cat", "ant", "bee"], [3, 1, 2])
    >>> index["dog"] = 4
    >>> index["bee"], "cow" in index, index.floor("cow"), index.first()
    (2, False, ('cat', 3), ('ant', 1))
    >>> list(index)
    ['ant', 'bee', 'cat', 'dog']
    >>> titles = StringIndex(value_dtype=str)
    >>> titles["https://example.org/"] = "Example Domain"
    >>> titles.prefix("https://")
    (['https://example.org/'], ['Example Domain'])
    """

    key_type = str


class BytesIndex(Strings[bytes]):
    r"""An ordered map from `bytes` to values of one type, which many threads read and change at once.

    It has the parameters and methods of `StringIndex`. Its keys are `bytes` of up to 65,535, in their
    order; an array of NumPy's of dtype `S` loses zeros at the end of a key, as it does everywhere.

    Examples
    --------
    >>> from latchless import BytesIndex
    >>> index = BytesIndex([b"\xff", b"\x00a"], [1.5, 2.5])
    >>> index.ceiling(b"a")
    (b'\xff', 1.5)
    >>> index.insert_many([b"\x00b"], 3)
    1
    >>> index.prefix(b"\x00")
    ([b'\x00a', b'\x00b'], array([2.5, 3. ]))
    """

    key_type = bytes
