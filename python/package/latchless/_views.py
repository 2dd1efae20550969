"""Lazy views of an index: its keys, values and entries, in pages."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any

from latchless._latchless import Pages

PAGE = 1024
"""Entries that an iterator reads at a time."""


_CLOSED = {(True, False): "left", (False, True): "right", (True, True): "both", (False, False): "neither"}


def entries(
    index: Any,
    items: Callable[[Any, Any], Iterable[Any]],
    reverse: bool = False,
    ends: tuple[Any, Any] = (None, None),
    inclusive: tuple[bool, bool] = (True, True),
) -> Pages:
    """The results of `items` on columns of keys and values, in the order of the keys, a page at a time.

    Of those between two ends. Entries that are inserted or removed meanwhile may be seen or not; all others are
    seen once.
    """

    def turn(after: Any) -> tuple[tuple[Any, ...], Any]:
        (low, high), (low_in, high_in) = ends, inclusive
        if after is not None and reverse:
            high, high_in = after, False
        elif after is not None:
            low, low_in = after, False
        keys, values = index.range(low, high, closed=_CLOSED[low_in, high_in], reverse=reverse, limit=PAGE)
        last = tuple(part[-1:] for part in keys) if isinstance(keys, tuple) else keys[-1:]
        end = listed(last)[0] if len(values) == PAGE else None
        return tuple(items(keys, values)), end

    return Pages(turn)


def keys_between(index: Any, ends: tuple[Any, Any], inclusive: tuple[bool, bool], reverse: bool) -> Pages:
    """The keys between two ends."""
    return entries(index, _keys, reverse, ends, inclusive)


def listed(column: Any) -> list[Any]:
    """The objects of a column; of the columns of composite keys, tuples."""
    if isinstance(column, tuple):
        return list(zip(*map(listed, column), strict=True))
    # Times stay NumPy's, because Python's have no nanoseconds, and so do rows; all others are Python's own.
    # Strings are a list already.
    return list(column) if isinstance(column, list) or column.dtype.kind in "MmV" else column.tolist()


def _keys(keys: Any, _: Any) -> Iterable[Any]:
    return listed(keys)


def _values(_: Any, values: Any) -> Iterable[Any]:
    return listed(values)


def _pairs(keys: Any, values: Any) -> Iterable[Any]:
    return zip(listed(keys), listed(values), strict=True)


class Keys(KeysView[Any]):
    """The keys of an index, ascending."""

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        return entries(self._mapping, _keys)

    def __reversed__(self) -> Iterator[Any]:
        return entries(self._mapping, _keys, reverse=True)


class Values(ValuesView[Any]):
    """The values of an index, in the order of their keys."""

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        return entries(self._mapping, _values)

    def __reversed__(self) -> Iterator[Any]:
        return entries(self._mapping, _values, reverse=True)

    def __contains__(self, value: object) -> bool:
        return any(each is value or each == value for each in self)


class Items(ItemsView[Any, Any]):
    """The entries of an index, as pairs, in the order of their keys."""

    _mapping: Any

    def __contains__(self, item: object) -> bool:
        return isinstance(item, tuple) and len(item) == 2 and super().__contains__(item)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return entries(self._mapping, _pairs)

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        return entries(self._mapping, _pairs, reverse=True)
