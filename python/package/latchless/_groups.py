"""The groups of intervals: equal keys have one number."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchless._dtypes import categories_of, decoded, listed
from latchless._index import Index
from latchless._tuples import columns_of, is_column

Numbers = NDArray[np.uint32]

NONE = (1 << 32) - 1
"""The number of a group that isn't there."""


class Groups:
    """Numbers for groups, in the order in which they came. For many threads at once.

    The first batch decides whether there are groups, and of which type.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._grouped: bool | None = None
        self._index: Index | None = None

    def added(self, by: Any, count: int) -> Numbers | None:
        """The numbers of the groups of so many intervals that are inserted; None: there are no groups."""
        keys, codes = _distinct(by, count)
        with self._lock:
            self._check(keys is not None)
            if keys is None:
                self._grouped = False if count else self._grouped
                return None
            if len(codes if codes is not None else _first(keys)) == 0:
                return np.empty(0, np.uint32)
            index = self._index
            if index is None:
                index = Index(keys, 0)
                index.insert_many(index.range()[0], np.arange(len(index)))
                self._index, self._grouped = index, True
            numbers, found = index.get_many(keys)
            if not found.all():
                fresh = Index(keys, 0, key_dtype=index.key_dtype).range()[0]
                fresh = _where(fresh, ~index.get_many(fresh)[1])
                index.insert_many(fresh, np.arange(len(index), len(index) + len(_first(fresh))))
                numbers, _ = index.get_many(keys)
        return _chosen(numbers.astype(np.uint32), codes)

    def known(self, by: Any, count: int) -> Numbers | None:
        """The numbers of the groups of so many questions, `NONE` for those that aren't there. See `added`."""
        keys, codes = _distinct(by, count)
        self._check(keys is not None)
        if keys is None:
            return None
        index = self._index
        if index is None:
            return np.full(count, NONE, np.uint32)
        numbers, found = index.get_many(keys)
        return _chosen(np.where(found, numbers, NONE).astype(np.uint32), codes)

    def keys(self, numbers: Numbers) -> Any:
        """The keys of groups: a column, or a tuple of columns; None: there are no groups."""
        if self._index is None:
            return None
        keys, order = self._index.range()
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        rows = places[numbers]
        if isinstance(keys, tuple):
            return tuple(_taken(column, rows) for column in keys)
        return _taken(keys, rows)

    def _check(self, grouped: bool) -> None:
        if self._grouped is not None and self._grouped != grouped:
            raise TypeError(
                "the intervals have groups: by says which" if self._grouped else "the intervals have no groups"
            )


def _distinct(by: Any, count: int) -> tuple[Any, NDArray[np.integer[Any]] | None]:
    """The keys of groups, and which of them each element has; None: its own. No keys: there are no groups."""
    if by is None:
        return None, None
    if isinstance(by, (str, bytes)) or not hasattr(by, "__len__"):
        return [by], np.zeros(count, np.int64)
    chosen = categories_of(by)
    if chosen is not None:
        categories, codes = chosen
        if (codes < 0).any():
            raise ValueError(f"by must not be null, but the group at position {int(codes.argmin())} is")
        keys: Any = categories
    else:
        columns, codes = columns_of(by), None
        keys = listed(by)
        if columns is not None:
            keys = tuple(decoded(its) if is_column(its) else its for its in columns)
    its = len(_first(keys)) if codes is None else len(codes)
    if its != count:
        raise ValueError(f"there are {count} starts but {its} groups")
    return keys, codes


def _first(keys: Any) -> Any:
    """A column of the keys: in a tuple, one element stands for a whole column."""
    return next(filter(is_column, keys)) if isinstance(keys, tuple) else keys


def _chosen(numbers: Numbers, codes: NDArray[np.integer[Any]] | None) -> Numbers:
    return numbers if codes is None else numbers[codes]


def _where(keys: Any, wanted: NDArray[np.bool_]) -> Any:
    """Some keys of an index."""
    if isinstance(keys, tuple):
        return tuple(_taken(column, np.flatnonzero(wanted)) for column in keys)
    return _taken(keys, np.flatnonzero(wanted))


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """Some elements of a column: of a list a list."""
    return [column[row] for row in rows.tolist()] if isinstance(column, list) else column[rows]
