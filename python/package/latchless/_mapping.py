"""What every index does as a mapping, by what its compiled part has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, TypeVar

from latchless._views import Items, Keys, Values

Key = TypeVar("Key")

NOTHING: Any = object()


class SortedMapping(MutableMapping[Key, Any]):
    """The part of an index that is the mapping protocol, in the order of its keys."""

    _value: Any
    """What values are: `missing` gives what is inserted where there is no default."""
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
        return self._end_or_raise(last, remove=True)

    def peekitem(self, last: bool = True) -> tuple[Key, Any]:
        """Return the last entry, or the first one. Raises KeyError if there is none."""
        return self._end_or_raise(last, remove=False)

    def _end_or_raise(self, last: bool, remove: bool) -> tuple[Key, Any]:
        entry = self._end(last, remove)
        if entry is None:
            raise KeyError("the index is empty")
        return entry

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the key's value; without it insert the default first, atomically."""
        return self._get_or_insert(key, self._value.missing() if default is None else default)

    __hash__ = None  # type: ignore[assignment]
