"""Ranges: their entries as arrays, their sizes, and their removal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless._asked import Asked, keys_alone
from latchless._batches import Batches
from latchless._dtypes import Column, listed
from latchless._latchless import NoKey
from latchless._neighbours import Answer
from latchless._text import Texts

Closed = Literal["left", "right", "both", "neither"]

_ENDS = {"left": (True, False), "right": (False, True), "both": (True, True), "neither": (False, False)}


class Ranges(Batches):
    """The part of `Index` that answers questions for ranges.

    `closed` says which ends belong to a range, as pandas does: 'left' (as in Python's slices), 'right', 'both' or
    'neither'. An end that is None is open. A range whose start is after its end is empty. An end needn't be a key
    that the index can have: -5 is before every unsigned key, and nothing is before or after NaN.
    """

    def range(
        self,
        lo: Any = None,
        hi: Any = None,
        *,
        closed: Closed = "left",
        reverse: bool = False,
        limit: int | None = None,
    ) -> tuple[Any, Any]:
        """Copy the entries of a range: keys (m, key_dtype) and values (m, value_dtype), ascending.

        Keys and values that are `str` or `bytes` come in a list.

        With reverse=True they descend, and `limit` counts from the end of the range. Entries that other threads
        change meanwhile are seen before or after the change; all others are seen once.

        Examples
        --------
        >>> from latchless import Index
        >>> index = Index([1, 2, 3, 4], [10, 20, 30, 40])
        >>> index.range(2, 4)
        (array([2, 3]), array([20, 30]))
        >>> index.range(hi=4, closed="both", reverse=True, limit=2)
        (array([4, 3]), array([40, 30]))
        >>> Index(["ant", "bee", "cat", "dog"], [1, 2, 3, 4]).range("b", "d")
        (['bee', 'cat'], array([2, 3]))
        """
        return self._copied(lo, hi, ends_of(closed), reverse, limit)

    def prefix(self, prefix: Any, *, reverse: bool = False, limit: int | None = None) -> tuple[Any, Any]:
        """Copy the entries whose keys, which are `str` or `bytes`, begin with a prefix, as `range` does.

        Of tuples a prefix is the first part, or a tuple of the first parts.

        Examples
        --------
        >>> from latchless import Index
        >>> Index(["/a", "/a/b", "/b"], [1, 2, 3]).prefix("/a")
        (['/a', '/a/b'], array([1, 2]))
        """
        return self._copied(prefix, None, None, reverse, limit)

    def _copied(
        self, lo: Any, hi: Any, closed: tuple[bool, bool] | None, reverse: bool, limit: int | None
    ) -> tuple[Any, Any]:
        keys, values = self._range(lo, hi, closed, bool(reverse), checked_limit(limit))
        return self._key.from_words(keys), self._value.from_words(values)

    def count(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """How many keys there are in a range. With keys that are strings, the time is that of going over it.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2, 3, 4], 0).count(2, 4, closed="both")
        3
        """
        return self._count(lo, hi, ends_of(closed), False)

    def count_prefix(self, prefix: Any) -> int:
        """How many keys, which are `str`, `bytes` or tuples, begin with a prefix.

        Examples
        --------
        >>> from latchless import Index
        >>> Index(["/a", "/a/b", "/b"], 0).count_prefix("/a")
        2
        """
        return self._count(prefix, None, None, False)

    def remove_range(self, lo: Any = None, hi: Any = None, *, closed: Closed = "left") -> int:
        """Remove the entries of a range, and return how many there were.

        Examples
        --------
        >>> from latchless import Index
        >>> index = Index([1, 2, 3, 4], 0)
        >>> index.remove_range(2, 4), list(index)
        (2, [1, 4])
        """
        return self._count(lo, hi, ends_of(closed), True)

    def remove_prefix(self, prefix: Any) -> int:
        """Remove the entries whose keys begin with a prefix, and return how many there were.

        Examples
        --------
        >>> from latchless import Index
        >>> index = Index(["/a", "/a/b", "/b"], 0)
        >>> index.remove_prefix("/a/"), list(index)
        (1, ['/a', '/b'])
        """
        return self._count(prefix, None, None, True)

    def range_many(
        self, lo: ArrayLike | Any, hi: ArrayLike | Any, *, closed: Closed = "left"
    ) -> tuple[NDArray[np.int64], Any, Any]:
        """Copy the entries of n ranges at once: an interval join.

        Parameters
        ----------
        lo, hi : array-like
            n starts and n ends. A range that ends before it starts is empty.
        closed : {'left', 'right', 'both', 'neither'}
            Which ends belong to the ranges.

        Returns
        -------
        offsets : array (n + 1, int64)
            The entries of range i are at offsets[i]:offsets[i + 1]. This is Arrow's layout of lists.
        keys : array (m, key_dtype) or list
            The keys of all ranges, one range after the other.
        values : array (m, value_dtype) or list
            Their values.

        Raises
        ------
        ValueError
            `lo` and `hi` aren't of one length.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2, 3, 4], [10, 20, 30, 40]).range_many([1, 9, 3], [3, 12, 5])
        (array([0, 2, 2, 4]), array([1, 2, 3, 4]), array([10, 20, 30, 40]))
        >>> Index(["ant", "bee", "cat"], [1, 2, 3]).range_many(["a", "c"], ["b", "d"])
        (array([0, 1, 2]), ['ant', 'cat'], array([1, 3]))
        """
        offsets, keys, values = of_ranges(self._key, lo, hi, closed, self._range_many)
        return offsets, self._key.from_words(keys), self._value.from_words(values)

    def count_many(
        self, lo: ArrayLike | Any, hi: ArrayLike | Any, *, closed: Closed = "left"
    ) -> NDArray[np.int64]:
        """How many keys there are in each of n ranges: n integers. Errors are as for `range_many`.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2, 3, 4], 0).count_many([1, 9], [3, 12])
        array([2, 0])
        """
        return of_ranges(self._key, lo, hi, closed, self._counts)

    def _counts(self, lows: Any, highs: Any, closed: Any) -> NDArray[np.int64]:
        counts = np.empty(len(lows), np.int64)
        self._count_many(lows, highs, closed, counts.view(np.uint64))
        return counts

    def rank_many(self, keys: ArrayLike | Any) -> NDArray[np.int64]:
        """For each of n keys, how many keys of the index are less: n integers.

        With keys that are strings, the time is that of going over the index once.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([10, 20, 30], 0).rank_many([5, 20, 99])
        array([0, 1, 3])
        """
        return self._answered(keys, self._ranks, self._ranks_of_others)

    def _ranks(self, words: Any) -> NDArray[np.int64]:
        ranks = np.empty(len(words), np.int64)
        self._rank_many(words, ranks.view(np.uint64))
        return ranks

    def _ranks_of_others(self, asked: Asked) -> NDArray[np.int64]:
        # All keys are before what is after all that can be.
        ranks = np.where(asked.has_down, len(self), 0)
        ranks[asked.has_up] = self._ranks(self._numbers.as_words(asked.up[asked.has_up]))
        return ranks

    def split_points(self, parts: int) -> Any:
        """Keys that cut the index into so many parts of equal size: at most parts - 1 keys, ascending.

        The keys of the second part and of every later one begin with one of them.

        Examples
        --------
        >>> from latchless import Index
        >>> Index(range(9), 0).split_points(3)
        array([3, 6])
        >>> Index(["ant", "bee", "cat", "dog"], 0).split_points(2)
        ['cat']
        """
        if parts < 1:
            raise ValueError(f"parts must be at least 1, not {parts}")
        return self._key.from_words(self._split_points(parts))


def of_ranges(
    key: Column | Texts, lo: Any, hi: Any, closed: Closed, answer: Callable[[Any, Any, Any], Answer]
) -> Answer:
    """The answer for ranges: of their ends as words, and of which of these belong to them."""
    lo, hi, belongs = listed(lo), listed(hi), ends_of(closed)
    if isinstance(key, Texts):
        return answer(key.to_words(lo), key.to_words(hi), belongs)
    lows, highs = key.words_or_asked(lo), key.words_or_asked(hi)
    if not isinstance(lows, Asked) and not isinstance(highs, Asked):
        try:
            return answer(lows, highs, belongs)
        except NoKey:
            lows, highs = key.asked_of(lo), key.asked_of(hi)
    starts, stops = (its if isinstance(its, Asked) else keys_alone(its.view(key.stored)) for its in (lows, highs))
    if len(starts) != len(stops):
        raise ValueError(f"there are {len(starts)} low ends but {len(stops)} high ends")
    # From the least key that isn't before the start to the greatest that isn't after the end. Where there is
    # none, the range is empty, as one that ends before it starts.
    some, (least, most) = starts.has_up & stops.has_down, key.ends()
    return answer(
        key.as_words(np.where(some, starts.up, most)),
        key.as_words(np.where(some, stops.down, least)),
        (belongs[0] | ~starts.exact, belongs[1] | ~stops.exact),
    )


def ends_of(closed: str) -> tuple[bool, bool]:
    """Whether the low end belongs to a range, and whether the high end does."""
    try:
        return _ENDS[closed]
    except (KeyError, TypeError):
        raise ValueError(f"closed is left, right, both or neither, not {closed!r}") from None


def checked_limit(limit: int | None) -> int | None:
    """How many entries of a range are wanted at most, if that can be."""
    if limit is not None and limit < 0:
        raise ValueError(f"the limit must be at least 0, not {limit}")
    return limit
