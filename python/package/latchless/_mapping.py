"""The mapping methods of every index, on top of its compiled part."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, NoReturn, TypeVar

from latchless import _interchange
from latchless._rows import Rows
from latchless._views import Items, Keys, Values, keys_between

Key = TypeVar("Key")

NOTHING: Any = object()


class SortedMapping(MutableMapping[Key, Any]):
    """The part of an index that is the mapping protocol, in the order of its keys."""

    _value: Any
    """A description of values: `missing` gives the value to insert where there is no default."""
    _take: Callable[[Any], Any]
    _end: Callable[[bool, bool], tuple[Any, Any] | None]
    _get_or_insert: Callable[[Any, Any], Any]
    compare_exchange: Callable[[Any, Any, Any], bool]
    compare_remove: Callable[[Any, Any], bool]
    copy: Callable[[], Any]
    count: Callable[..., int]
    nth: Callable[[int], tuple[Any, Any]]
    range: Callable[..., tuple[Any, Any]]
    rank: Callable[[Any], int]
    remove_range: Callable[..., int]

    def __iter__(self) -> Iterator[Key]:
        return iter(Keys(self))

    def __reversed__(self) -> Iterator[Key]:
        return reversed(Keys(self))

    def keys(self) -> Keys:
        """The keys, ascending: a view that follows the index."""
        return Keys(self)

    def values(self) -> Values:
        """The values in the order of their keys: a view that follows the index."""
        return Values(self)

    def items(self) -> Items:
        """The entries in the order of their keys: a view that follows the index."""
        return Items(self)

    def pop(self, key: Any, default: Any = NOTHING) -> Any:
        """Remove a key and return its value; without it return the default, or raise KeyError."""
        value = self._take(key)
        if value is not None:
            return value
        if default is NOTHING:
            raise KeyError(key)
        return default

    def popitem(self, last: bool = True, *, index: int | None = None) -> tuple[Key, Any]:
        """Remove and return the last entry, or the first one, or the one at a position.

        Raises KeyError if the index is empty, and IndexError if there is no such position.

        Examples
        --------
        >>> from latchless import Index
        >>> index = Index([1, 2, 3], [10, 20, 30])
        >>> index.popitem(), index.popitem(last=False), index.popitem(index=0)
        ((3, 30), (1, 10), (2, 20))
        """
        if index is None:
            return self._end_or_raise(bool(last), remove=True)
        while True:
            key, value = self.nth(index)
            if self.compare_remove(key, value):
                return key, value

    def peekitem(self, last: bool = True, *, index: int | None = None) -> tuple[Key, Any]:
        """Return the last entry, or the first one, or the one at a position: see `popitem`."""
        return self._end_or_raise(bool(last), remove=False) if index is None else self.nth(index)

    def _end_or_raise(self, last: bool, remove: bool) -> tuple[Key, Any]:
        entry = self._end(last, remove)
        if entry is None:
            raise KeyError("the index is empty")
        return entry

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the key's value; without it insert the default first, atomically."""
        return self._get_or_insert(key, self._value.missing() if default is None else default)

    def add(self, key: Key, amount: Any = 1) -> Any:
        """Add to the key's value, atomically, and return the sum. A key that isn't there counts as 0.

        Raises OverflowError if the sum doesn't fit the values' dtype, and TypeError if values have no sum.

        Examples
        --------
        >>> from latchless import Index
        >>> counts = Index(key_dtype=str, value_dtype=int)
        >>> counts.add("ant"), counts.add("ant", 5), counts["ant"]
        (1, 6, 6)
        """
        nothing = self._value.sum_of_none()
        while True:
            before = self.setdefault(key, nothing)
            total = before + amount
            if self.compare_exchange(key, before, total):
                return total

    # ---- slices and positions, as in `sortedcontainers` ----

    def _sliced(self, part: slice) -> tuple[Any, Any]:
        """The entries of `m[a:b]`."""
        return self.range(*_ends_of(part))

    def _remove_sliced(self, part: slice) -> None:
        """Carries `del m[a:b]` out."""
        self.remove_range(*_ends_of(part))

    def irange(
        self,
        minimum: Any = None,
        maximum: Any = None,
        inclusive: tuple[bool, bool] = (True, True),
        reverse: bool = False,
    ) -> Iterator[Key]:
        """An iterator over the keys of a range, ascending or descending: a page at a time, as `iter` reads them.

        Examples
        --------
        >>> from latchless import Index
        >>> list(Index([1, 2, 3, 4], 0).irange(2, 4, inclusive=(True, False)))
        [2, 3]
        """
        low, high = inclusive
        return keys_between(self, (minimum, maximum), (bool(low), bool(high)), bool(reverse))

    def islice(self, start: int | None = None, stop: int | None = None, reverse: bool = False) -> Iterator[Key]:
        """An iterator over the keys at some positions, as those of a slice of a list; with reverse=True backwards.

        Positions are those of the moment of the call.

        Examples
        --------
        >>> from latchless import Index
        >>> list(Index([1, 2, 3, 4], 0).islice(1, -1)), list(Index([1, 2, 3], 0).islice(stop=2, reverse=True))
        ([2, 3], [2, 1])
        """
        first, after, _ = slice(start, stop).indices(len(self))
        if first >= after:
            return iter(())
        try:
            end = self.nth(after - 1 if reverse else first)[0]
        except IndexError:  # Another thread has removed it.
            return iter(())
        ends = (None, end) if reverse else (end, None)
        return itertools.islice(keys_between(self, ends, (True, True), bool(reverse)), after - first)

    def bisect_left(self, key: Any) -> int:
        """How many keys are less: `rank`. The position of a key that is there.

        Examples
        --------
        >>> from latchless import Index
        >>> index = Index([10, 20], 0)
        >>> index.bisect_left(20), index.bisect_right(20)
        (1, 2)
        """
        return self.rank(key)

    def bisect_right(self, key: Any) -> int:
        """How many keys are less or equal: see `bisect_left`."""
        return self.count(None, key, closed="both")

    def __or__(self, other: Any) -> Any:
        """An index in memory with the entries of both, and of equal keys those of the other one."""
        if not isinstance(other, Mapping):
            return NotImplemented
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        both = self.copy()
        both.update(other)
        both.update(self)
        return both

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def _equals(self, other: object) -> Any:
        """Whether another mapping has the same entries."""
        if not isinstance(other, Mapping):
            return NotImplemented
        nothing = object()
        return len(self) == len(other) and all(
            _interchange.same(value, other.get(key, nothing)) for key, value in self.items()
        )

    # ---- to other libraries ----

    def to_pandas(self) -> Any:
        """All entries as a `pandas.Series` of the values, whose index are the keys; of rows a `pandas.DataFrame`.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_pandas().to_dict()
        {1: 10, 2: 20}
        >>> Index([2, 1], {"bid": [2.5, 1.5], "ask": [3.5, 2.5]}).to_pandas()["ask"].to_list()
        [2.5, 3.5]
        """
        pandas = importlib.import_module("pandas")
        keys, values = self.range()
        tuples = isinstance(keys, tuple)
        index = pandas.MultiIndex.from_arrays(keys) if tuples else pandas.Index(keys, name="key")
        if getattr(getattr(values, "dtype", None), "names", None) is None:
            return pandas.Series(values, index, name="value")
        return pandas.DataFrame({name: values[name] for name in values.dtype.names}, index)

    def to_polars(self) -> Any:
        """All entries as a `polars.DataFrame` with the columns 'key' and 'value'.

        Tuples have a column for each part, 'key_0' and so on, and rows their own columns.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_polars().rows()
        [(1, 10), (2, 20)]
        """
        polars = importlib.import_module("polars")
        keys, values = self.range()
        if not isinstance(keys, tuple) and not isinstance(self._value, Rows):
            return polars.from_dataframe(self)
        columns = _interchange.named_columns(keys, values)
        as_polars = {
            name: polars.from_pandas(its) if hasattr(its, "tz_convert") else its for name, its in columns.items()
        }
        return polars.DataFrame(as_polars)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Nothing: keys and values aren't one array, as which `pandas.DataFrame` would take an index."""
        raise TypeError(
            "an index isn't one array or frame: range(), to_pandas(), to_polars() and to_arrow() give its columns"
        )

    def __arrow_array__(self, type: Any = None) -> Any:
        """All entries as an array of pyarrow's, of structs with the fields 'key' and 'value'."""
        table = _interchange.pyarrow().table(self)
        entries = table.to_struct_array()
        return entries if type is None else entries.cast(type)

    __hash__ = None  # type: ignore[assignment]


def _ends_of(part: slice) -> tuple[Any, Any]:
    """The ends of a slice by keys."""
    if part.step is not None:
        raise ValueError("slices of an index are of its keys: they have no step")
    return part.start, part.stop
