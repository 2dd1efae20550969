"""Lazy views of an index: its keys, values and entries, in pages."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

PAGE = 1024
"""Entries that an iterator asks for at a time."""


def pages(index: Any, reverse: bool = False) -> Iterator[tuple[list[Any], list[Any]]]:
    """The entries of an index in order, a page of keys and values at a time.

    Entries that are inserted or removed meanwhile may be seen or not; all others are seen once.
    """
    after: Any = None
    while True:
        low, high = (None, after) if reverse else (after, None)
        keys, values = index.range(low, high, closed="neither", reverse=reverse, limit=PAGE)
        if len(keys) == 0:
            return
        listed = _listed(keys)
        yield listed, _listed(values)
        if len(keys) < PAGE:
            return
        after = listed[-1]


def _listed(column: Any) -> list[Any]:
    # Times stay NumPy's, because Python's have no nanoseconds; all others are Python's own. Strings are a list
    # already.
    return list(column) if isinstance(column, list) or column.dtype.kind in "Mm" else column.tolist()


class Keys(KeysView[Any]):
    """The keys of an index, ascending."""

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        for keys, _ in pages(self._mapping):
            yield from keys

    def __reversed__(self) -> Iterator[Any]:
        for keys, _ in pages(self._mapping, reverse=True):
            yield from keys


class Values(ValuesView[Any]):
    """The values of an index, in the order of their keys."""

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        for _, values in pages(self._mapping):
            yield from values

    def __reversed__(self) -> Iterator[Any]:
        for _, values in pages(self._mapping, reverse=True):
            yield from values

    def __contains__(self, value: object) -> bool:
        return any(each is value or each == value for each in self)


class Items(ItemsView[Any, Any]):
    """The entries of an index, as pairs, in the order of their keys."""

    _mapping: Any

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for keys, values in pages(self._mapping):
            yield from zip(keys, values, strict=True)

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        for keys, values in pages(self._mapping, reverse=True):
            yield from zip(keys, values, strict=True)
