"""Neighbours of many keys, and as-of joins."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless import _asked
from latchless._asked import Array, Asked, Side
from latchless._dtypes import Column, listed, numpy_time
from latchless._latchless import NoKey
from latchless._text import Texts
from latchless._tuples import Tuples
from latchless._views import listed as objects

Direction = Literal["backward", "forward", "nearest"]
Found = tuple[Any, Any, NDArray[np.bool_]]
"""Keys and values, as arrays or lists, and whether they are there."""
Answer = TypeVar("Answer")

BATCH_MIN = 1000
"""Shorter batches are looked up one by one."""
ENTRIES_MAX = 4
"""Per element of a batch: of an index with so many entries all are copied."""


class Neighbours:
    """The part of an index that finds the neighbours of many keys."""

    _key: Column | Texts
    _value: Column | Texts
    _missing: tuple[Any, Any]
    """What is missing: a key, a value. Of a dtype, words."""
    _near_many: Callable[..., Found]
    _near_in_groups: Callable[..., Any]
    __len__: Callable[[], int]

    @property
    def _numbers(self) -> Column:
        """The keys' dtype, where it is known that they have one."""
        assert isinstance(self._key, Column)
        return self._key

    def floor_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the largest key that is equal or smaller.

        Returns
        -------
        keys : array (n, key_dtype) or list
            The keys of the entries, in the order of the requested keys; NaN, NaT, False or 0 where there is none.
            Of `str` and `bytes` a list, with None.
        values : array (n, value_dtype) or list
            Their values, with such values as well.
        found : array (n, bool)
            Whether there is an entry.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([10, 20], [1, 2]).floor_many([20, 15, 5])
        (array([20, 10,  0]), array([2, 1, 0]), array([ True,  True, False]))
        >>> Index(["ant", "cat"], [1, 2]).floor_many(["bee", "a"])
        (['ant', None], array([1, 0]), array([ True, False]))
        """
        return self._near("backward", True, None, keys, threads)

    def ceiling_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the smallest key that is equal or larger: see `floor_many`."""
        return self._near("forward", True, None, keys, threads)

    def lower_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the largest smaller key: see `floor_many`."""
        return self._near("backward", False, None, keys, threads)

    def higher_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the smallest larger key: see `floor_many`."""
        return self._near("forward", False, None, keys, threads)

    def nearest_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the nearest entry, and of two equally near ones the one before: see `floor_many`.

        An answer is of one moment: no entry was nearer then, on either side. In a `MultiIndex`, and for points
        that can't be keys, the two sides are looked up one after the other. Keys that are strings have no
        distance: TypeError.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([10, 20], [1, 2]).nearest_many([20, 15, 5])
        (array([20, 10, 10]), array([2, 1, 1]), array([ True,  True,  True]))
        """
        return self._near("nearest", True, None, keys, threads)

    def asof(
        self,
        keys: ArrayLike | Any,
        *,
        by: ArrayLike | Any = None,
        direction: Direction = "backward",
        allow_exact_matches: bool = True,
        tolerance: Any = None,
        threads: int = 1,
    ) -> Found:
        """For each of n keys the nearest entry, in the words of `pandas.merge_asof`.

        Parameters
        ----------
        keys : array-like
            n keys, or points between keys: half a second among keys in seconds, say. They need not be sorted;
            sorted ones are faster. NaN and NaT have no nearest entry. Of tuples, beside `by` the last parts.
        by : array-like or tuple of array-likes
            Where keys are tuples, their other parts: n of each, or one for all. Only entries with the same ones
            count, so nothing of one symbol is found for another.
        direction : {'backward', 'forward', 'nearest'}
            'backward' finds the last entry up to the key, 'forward' the first one from it on, 'nearest' the nearer
            of the two, and of two equally near ones the one before. Each answer is of one moment: other threads
            may change the index meanwhile. For 'nearest' see `nearest_many`. Keys that are strings have no
            distance, so 'nearest' and a tolerance are a TypeError.
        allow_exact_matches : bool
            Whether an entry with exactly this key counts.
        tolerance : scalar
            The largest distance of an entry: a number, or a timedelta of any unit for times.
        threads : int
            How many threads share the batch.

        Returns
        -------
        keys : array (n, key_dtype) or list
            The keys of the entries: see `floor_many`.
        values : array (n, value_dtype) or list
            Their values.
        found : array (n, bool)
            Whether there is an entry.

        Raises
        ------
        TypeError, ValueError
            Elements that have no order among keys; another direction, or a negative tolerance.

        Examples
        --------
        >>> from latchless import Index
        >>> quotes = Index([10, 20], [1.5, 1.6])
        >>> quotes.asof([9, 10, 19], direction="nearest", tolerance=2)
        (array([10, 10, 20]), array([1.5, 1.5, 1.6]), array([ True,  True,  True]))
        >>> quotes = Index((["EUR", "EUR", "JPY"], [10, 20, 15]), [1.5, 1.6, 0.6])
        >>> keys, values, found = quotes.asof([12, 12, 16], by=["EUR", "JPY", "JPY"])
        >>> values
        array([1.5, nan, 0.6])
        """
        if by is not None:
            if not isinstance(self._key, Tuples):
                raise TypeError("by is for keys that are tuples, such as those of Index((by, times), values)")
            keys = (*by, keys) if isinstance(by, tuple) else (by, keys)
        farthest = None if tolerance is None else self._farthest(tolerance)
        return self._near(direction, bool(allow_exact_matches), farthest, keys, threads, grouped=True)

    def _near(
        self,
        direction: str,
        exact: bool,
        farthest: Fraction | float | None,
        keys: ArrayLike | Any,
        threads: int,
        grouped: bool = False,
    ) -> Found:
        if isinstance(self._key, Tuples):
            steps = None if farthest is None else self._distance(farthest)
            question = (direction, exact, steps, grouped)
            in_groups = self._near_groups(direction, exact, steps, keys) if grouped else None
            if in_groups is not None:
                return in_groups
            words, threads = self._key.to_words(keys), checked_threads(threads)
            its_keys, values, found = self._near_many(question, words, self._missing, threads)
            return self._key.from_words(its_keys), self._value.from_words(values), found
        asked = (direction, exact, farthest, checked_threads(threads))
        its_keys, values, found = answered(self._key, keys, self._near_keys, self._near_any, *asked)
        return self._key.from_words(its_keys), self._value.from_words(values), found

    def _near_groups(self, direction: str, exact: bool, steps: int | None, keys: Any) -> Found | None:
        """The nearest entries in the groups of tuples, from a copy of the index; None where that takes longer."""
        assert isinstance(self._key, Tuples)
        count = len(keys[-1]) if isinstance(keys, tuple) and hasattr(keys[-1], "__len__") else 0
        if direction == "nearest" or count < BATCH_MIN or len(self) > ENTRIES_MAX * count:
            return None
        asked = self._key.groups_of(keys)
        if asked is None:
            return None
        assert isinstance(self._key.last, Column)
        missing = (self._key.last.missing_word(), self._missing[1])
        found = self._near_in_groups((direction, exact, steps), *asked, missing)
        if found is None:
            return None
        codes, numbers, values, flags, groups = found
        return self._key.in_groups(groups, codes, numbers), self._value.from_words(values), flags

    def _near_keys(
        self, words: Any, direction: str, exact: bool, farthest: Fraction | float | None, threads: int
    ) -> Found:
        """The nearest entries of keys."""
        steps = None if farthest is None else self._distance(farthest)
        return self._near_many((direction, exact, steps, False), words, self._missing, threads)

    def _near_any(
        self, asked: Asked, direction: str, exact: bool, farthest: Fraction | float | None, threads: int
    ) -> Found:
        """The nearest entries of questions of which some can't be keys."""
        there = asked.exact
        answers = self._near_keys(self._numbers.as_words(asked.down[there]), direction, exact, farthest, threads)
        others = self._near_others(asked.take(~there), direction, farthest, threads)
        rooms = [spread(there, as_array(its), 0) for its in answers]
        for room, its in zip(rooms, others, strict=True):
            room[~there] = its
        return rooms[0], rooms[1], rooms[2]

    def _near_others(self, asked: Asked, direction: str, farthest: Fraction | float | None, threads: int) -> Found:
        """The nearest entries of questions none of which can be a key."""
        if direction != "nearest":
            return self._on_side(asked, "before" if direction == "backward" else "after", farthest, threads)
        keys = np.empty(len(asked), self._numbers.words)
        values = np.empty(len(asked), self._value.answers)
        found, left = np.empty(len(asked), bool), np.arange(len(asked))
        while len(left):
            some = asked.take(left)
            before, after, again = (
                self._on_side(some, side, farthest, threads) for side in ("before", "after", "before")
            )
            sides = ((its[0].view(self._numbers.stored), its[2]) for its in (again, after))
            nearer = _asked.before_is_nearer(some, *sides)
            for room, ours, theirs in zip((keys, values, found), again, after, strict=True):
                room[left] = np.where(nearer, ours, theirs)
            # Where another thread has changed what is before a question, the two sides weren't there together.
            left = left[(before[0] != again[0]) | (before[2] != again[2])]
        return keys, values, found

    def _nearest_between(self, key: Any) -> tuple[Any, Any] | None:
        """The nearest entry of a question that can't be a key."""
        keys, values, found = self._near("nearest", True, None, [key], 1)
        return (objects(keys)[0], objects(values)[0]) if found[0] else None

    def _on_side(self, asked: Asked, side: Side, farthest: Fraction | float | None, threads: int) -> Found:
        """The nearest entries on one side of questions none of which can be a key."""
        its, there = (asked.down, asked.has_down) if side == "before" else (asked.up, asked.has_up)
        way, missing = "backward" if side == "before" else "forward", (*self._missing, False)
        words = self._numbers.as_words(its[there])
        answers = self._near_many((way, True, None, False), words, self._missing, threads)
        keys, values, found = (
            spread(there, as_array(its), none) for its, none in zip(answers, missing, strict=True)
        )
        if farthest is not None:
            near = _asked.within(asked, keys.view(self._numbers.stored), found, side, farthest)
            keys, values, found = (
                np.where(near, its, np.array(none, its.dtype))
                for its, none in zip((keys, values, found), missing, strict=True)
            )
        return keys, values, found

    def _farthest(self, tolerance: Any) -> Fraction | float:
        """A tolerance in units of the keys."""
        measured = self._measured
        if isinstance(measured, Texts):
            raise TypeError(f"keys that are {measured.name} have no distance, so there is no tolerance")
        return farthest_of(measured, tolerance)

    @property
    def _measured(self) -> Column | Texts:
        """What a tolerance is about: the keys, or their last parts."""
        return self._key.last if isinstance(self._key, Tuples) else self._key

    def _distance(self, farthest: Fraction | float) -> int:
        """A distance as the compiled part has it."""
        return distance_of(self._measured, farthest)


def farthest_of(measured: Column, tolerance: Any) -> Fraction | float:
    """A tolerance in units of these keys."""
    kind = measured.dtype.kind
    farthest: Fraction | float | None = None
    if kind not in "Mm" and isinstance(tolerance, int):
        farthest = tolerance
    elif kind in "Mm":
        span = numpy_time(tolerance, "m")
        scale = None if span is None else _asked.scale_of(span.dtype, measured.dtype)
        if scale is not None:
            count = int(span.view(np.int64))
            whole = count * scale.numerator if scale.denominator == 1 else count * scale
            farthest = float("nan") if np.isnat(span) else whole
        what = "a timedelta of a unit that has a length in that of the keys"
    else:
        what = "a number"
        with contextlib.suppress(TypeError):
            farthest = _asked.exactly(tolerance)
    if farthest is None:
        name = tolerance.dtype if isinstance(tolerance, np.generic) else type(tolerance).__name__
        raise TypeError(f"the tolerance for keys of dtype {measured.name} is {what}, not {name}")
    if not farthest >= 0:
        raise ValueError(f"the tolerance must be at least 0, not {tolerance}")
    return _asked.as_float(farthest) if kind == "f" else farthest


def distance_of(measured: Column | Texts, farthest: Fraction | float) -> int:
    """A distance of keys as the compiled part has it: an integer, or the bits of a float."""
    if isinstance(measured, Column) and measured.dtype.kind == "f":
        return int(np.float64(farthest).view(np.uint64))
    return int(min(farthest, (1 << 64) - 1))


def answered(
    key: Column | Texts,
    questions: Any,
    of_keys: Callable[..., Answer],
    of_others: Callable[..., Answer],
    *more: Any,
) -> Answer:
    """The answers of `of_keys` to the words of questions that all can be keys, or else of `of_others`."""
    if type(questions) is not np.ndarray:
        questions = listed(questions)
    try:
        words = key.to_words(questions)
    except (TypeError, OverflowError) as refused:
        asked = key.asked(questions)
        if asked is None:
            raise refused from None
        return of_others(asked, *more)
    try:
        return of_keys(words, *more)
    except NoKey:  # NaN or NaT, which aren't checked for beforehand.
        assert isinstance(key, Column)
        return of_others(key.asked_of(questions), *more)


def checked_threads(threads: int) -> int:
    """A number of threads, which is at least one."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


def spread(there: NDArray[np.bool_], answers: Array, missing: Any) -> Array:
    """Answers where there are any, and what is missing elsewhere."""
    spread = np.full(len(there), missing, answers.dtype)
    spread[there] = answers
    return spread


def as_array(answers: Array | list[Any]) -> Array:
    """Answers as an array, of objects where they are a list."""
    if not isinstance(answers, list):
        return answers
    array = np.empty(len(answers), object)
    array[:] = answers
    return array
