"""The mapping methods of every index, on top of its compiled part."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, NoReturn, TypeVar

from latchless import _interchange
from latchless._views import Items, Keys, Values

Key = TypeVar("Key")

NOTHING: Any = object()


class SortedMapping(MutableMapping[Key, Any]):
    """The part of an index that is the mapping protocol, in the order of its keys."""

    _value: Any
    """A description of values: `missing` gives the value to insert where there is no default."""
    _take: Callable[[Any], Any]
    _end: Callable[[bool, bool], tuple[Any, Any] | None]
    _get_or_insert: Callable[[Any, Any], Any]

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

    def popitem(self, last: bool = True) -> tuple[Key, Any]:
        """Remove and return the last entry, or the first one. Raises KeyError if there is none."""
        return self._end_or_raise(bool(last), remove=True)

    def peekitem(self, last: bool = True) -> tuple[Key, Any]:
        """Return the last entry, or the first one. Raises KeyError if there is none."""
        return self._end_or_raise(bool(last), remove=False)

    def _end_or_raise(self, last: bool, remove: bool) -> tuple[Key, Any]:
        entry = self._end(last, remove)
        if entry is None:
            raise KeyError("the index is empty")
        return entry

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the key's value; without it insert the default first, atomically."""
        return self._get_or_insert(key, self._value.missing() if default is None else default)

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
        """All entries as a `pandas.Series` of the values, whose index are the keys.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_pandas().to_dict()
        {1: 10, 2: 20}
        """
        pandas = importlib.import_module("pandas")
        keys, values = self.range()  # type: ignore[attr-defined]
        tuples = isinstance(keys, tuple)
        index = pandas.MultiIndex.from_arrays(keys) if tuples else pandas.Index(keys, name="key")
        return pandas.Series(values, index, name="value")

    def to_polars(self) -> Any:
        """All entries as a `polars.DataFrame` with the columns 'key' and 'value'.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([2, 1], [20, 10]).to_polars().rows()
        [(1, 10), (2, 20)]
        """
        return importlib.import_module("polars").from_dataframe(self)

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
