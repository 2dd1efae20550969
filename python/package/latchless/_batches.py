"""Batches: arrays of keys in, arrays of answers out, in the order of the keys."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless import _asked
from latchless._asked import Array, Asked, Side
from latchless._dtypes import Column, listed, numpy_time, one_or_many
from latchless._latchless import Core, NoKey

Direction = Literal["backward", "forward", "nearest"]
Duplicates = Literal["last", "first", "raise"]
Found = tuple[Array, Array, NDArray[np.bool_]]
Rooms = tuple[Array | None, NDArray[np.bool_] | None]
"""Arrays of a caller for values and for flags."""
Answer = TypeVar("Answer")


class Batches(Core):
    """The part of `Index` that answers batches."""

    _key: Column
    _value: Column
    _missing: tuple[int, int]
    """The words of what is missing: a key, a value."""

    def get_many(
        self,
        keys: ArrayLike | Any,
        default: Any = None,
        *,
        out: Array | None = None,
        found: NDArray[np.bool_] | None = None,
        threads: int = 1,
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Look many keys up at once.

        Parameters
        ----------
        keys : array-like
            n keys, in any order.
        default : scalar
            The value where a key isn't there: by default NaN, NaT, False or 0, as the dtype has it.
        out : array
            n values to fill instead of a new array. It must not overlap the keys.
        found : array
            n bools to fill instead of a new array.
        threads : int
            How many threads share the batch.

        Returns
        -------
        values : array (n, value_dtype)
            The values, in the order of the keys.
        found : array (n, bool)
            Whether each key is there.

        Raises
        ------
        TypeError, ValueError
            Elements that have no order among keys, such as strings among numbers; null or masked ones; or an `out`
            of another dtype or shape, or one that overlaps the keys.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).get_many([2, 3, 1])
        (array([20,  0, 10]), array([ True, False,  True]))
        """
        missing = self._missing[1] if default is None else self._value.missing_word(default)
        threads = checked_threads(threads)
        if out is not None or found is not None:
            return self._answered(keys, self._get_many_to, self._get_others_to, missing, threads, (out, found))
        words, flags = self._answered(keys, self._get_many, self._get_others, missing, threads)
        return self._value.from_words(words), flags

    def _get_others(self, asked: Asked, missing: int, threads: int) -> tuple[Array, NDArray[np.bool_]]:
        """As `_get_many`, of questions of which some can't be keys."""
        there = asked.exact
        words, flags = self._get_many(self._key.as_words(asked.down[there]), missing, threads)
        return _spread(there, words, missing), _spread(there, flags, False)

    def _get_others_to(
        self, asked: Asked, missing: int, threads: int, rooms: Rooms
    ) -> tuple[Array, NDArray[np.bool_]]:
        """As `_get_others`, to arrays of the caller."""
        self._check_rooms(rooms, asked.down)
        words, flags = self._get_others(asked, missing, threads)
        out, found = rooms
        values = self._value.plain(words)
        for room, answers in ((out, values), (found, flags)):
            if room is not None:
                room[...] = answers
        return (self._value.shown(values) if out is None else out), (flags if found is None else found)

    def _check_rooms(self, rooms: Rooms, keys: Array) -> None:
        out, found = rooms
        if out is not None:
            _check_room(out, "out", self._value.dtype, keys)
        if found is not None:
            _check_room(found, "found", np.dtype(bool), keys)
            if out is not None and np.may_share_memory(out, found):
                raise ValueError("out and found must not overlap")

    def _get_many_to(
        self, words: Array, missing: int, threads: int, rooms: Rooms
    ) -> tuple[Array, NDArray[np.bool_]]:
        """As `_get_many`, to arrays of the caller."""
        self._check_rooms(rooms, words)
        out, found = rooms
        direct = out is not None and out.dtype == self._value.stored and _is_plain(out)
        answers = out if direct and out is not None else np.empty(len(words), self._value.stored)
        flags = found if found is not None and _is_plain(found) else np.empty(len(words), bool)
        self._get_many_into(words, answers.view(self._value.words), missing, flags, threads)
        values = self._value.plain(answers.view(self._value.words))
        if out is not None and not direct:
            out[...] = values
        if found is not None and found is not flags:
            found[...] = flags
        return (self._value.shown(values) if out is None else out), (flags if found is None else found)

    def _answered(
        self, questions: Any, of_keys: Callable[..., Answer], of_others: Callable[..., Answer], *more: Any
    ) -> Answer:
        """The answers of `of_keys` to the words of questions that all can be keys, or else of `of_others`."""
        if type(questions) is not np.ndarray:
            questions = listed(questions)
        try:
            words = self._key.to_words(questions)
        except (TypeError, OverflowError) as refused:
            asked = self._key.asked(questions)
            if asked is None:
                raise refused from None
            return of_others(asked, *more)
        try:
            return of_keys(words, *more)
        except NoKey:  # NaN or NaT, which aren't checked for beforehand.
            return of_others(self._key.asked_of(questions), *more)

    def contains_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> NDArray[np.bool_]:
        """Whether each of n keys is there: n bools.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).contains_many([2, 3, 1])
        array([ True, False,  True])
        """
        return self._answered(keys, self._contains_many, self._contains_others, checked_threads(threads))

    def _contains_many(self, words: Array, threads: int) -> NDArray[np.bool_]:
        found = np.empty(len(words), bool)
        self._get_many_into(words, None, 0, found, threads)
        return found

    def _contains_others(self, asked: Asked, threads: int) -> NDArray[np.bool_]:
        there = asked.exact
        return _spread(there, self._contains_many(self._key.as_words(asked.down[there]), threads), False)

    def insert_many(
        self,
        keys: ArrayLike | Any,
        values: ArrayLike | Any,
        *,
        threads: int = 1,
        duplicates: Duplicates = "last",
    ) -> int:
        """Insert many entries at once; a key that is there already gets its new value. Returns how many were new.

        Parameters
        ----------
        keys : array-like
            n keys, in any order.
        values : array-like or scalar
            n values, or one value for all.
        threads : int
            How many threads share the batch; one is usually fastest.
        duplicates : {'last', 'first', 'raise'}
            Which entry of equal keys of the batch is inserted, or that these are a ValueError, which names the
            first of them. All but 'last' sort the keys once more.

        Returns
        -------
        int
            How many keys were new.

        Raises
        ------
        TypeError, OverflowError, ValueError
            Keys or values that the index can't have. Nothing was inserted.
        MemoryError, KeyboardInterrupt
            The exception's attribute `refused` has the positions (int64, ascending) of the entries that weren't
            inserted; all others were. Without this attribute nothing was.

        Examples
        --------
        >>> from latchless import Index
        >>> index = Index([1, 2], [10, 20])
        >>> index.insert_many([3, 2, 3], [30, 21, 31])
        1
        >>> index
        Index({1: 10, 2: 21, 3: 31}, key_dtype='int64', value_dtype='int64')
        """
        words = self._key.to_words(keys)
        values, scalar = one_or_many(values)
        its = self._value.to_words(values)
        if not scalar and len(its) != len(words):
            raise ValueError(f"there are {len(words)} keys but {len(its)} values")
        kept = kept_of(self._key.plain(words), duplicates)
        if kept is None:
            return self._insert_many(words, its, checked_threads(threads))
        words, its = words[kept], its if scalar else its[kept]
        return of_positions(kept, lambda: self._insert_many(words, its, checked_threads(threads)))

    def remove_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> int:
        """Remove many keys at once; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).remove_many([2, 3, 2])
        1
        """
        return self._answered(keys, self._remove_many, self._remove_others, checked_threads(threads))

    def _remove_others(self, asked: Asked, threads: int) -> int:
        at = np.flatnonzero(asked.exact)
        words = self._key.as_words(asked.down[at])
        return of_positions(at, lambda: self._remove_many(words, threads))

    def floor_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the largest key that is equal or smaller.

        Returns
        -------
        keys : array (n, key_dtype)
            The keys of the entries, in the order of the requested keys; NaN, NaT, False or 0 where there is none.
        values : array (n, value_dtype)
            Their values, with such values as well.
        found : array (n, bool)
            Whether there is an entry.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([10, 20], [1, 2]).floor_many([20, 15, 5])
        (array([20, 10,  0]), array([2, 1, 0]), array([ True,  True, False]))
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

        An answer is of one moment: no entry was nearer then, on either side.

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
            sorted ones are faster. NaN and NaT have no nearest entry.
        direction : {'backward', 'forward', 'nearest'}
            'backward' finds the last entry up to the key, 'forward' the first one from it on, 'nearest' the nearer
            of the two, and of two equally near ones the one before. Each answer is of one moment, also that of
            'nearest': other threads may change the index meanwhile.
        allow_exact_matches : bool
            Whether an entry with exactly this key counts.
        tolerance : scalar
            The largest distance of an entry: a number, or a timedelta of any unit for times.
        threads : int
            How many threads share the batch.

        Returns
        -------
        keys : array (n, key_dtype)
            The keys of the entries: see `floor_many`.
        values : array (n, value_dtype)
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
        """
        farthest = None if tolerance is None else self._farthest(tolerance)
        return self._near(direction, bool(allow_exact_matches), farthest, keys, threads)

    def _near(
        self, direction: str, exact: bool, farthest: Fraction | float | None, keys: ArrayLike | Any, threads: int
    ) -> Found:
        asked = (direction, exact, farthest, checked_threads(threads))
        its_keys, values, found = self._answered(keys, self._near_keys, self._near_any, *asked)
        return self._key.from_words(its_keys), self._value.from_words(values), found

    def _near_keys(
        self, words: Array, direction: str, exact: bool, farthest: Fraction | float | None, threads: int
    ) -> Found:
        """The nearest entries of keys."""
        steps = None if farthest is None else self._distance(farthest)
        return self._near_many(direction, exact, steps, words, self._missing, threads)

    def _near_any(
        self, asked: Asked, direction: str, exact: bool, farthest: Fraction | float | None, threads: int
    ) -> Found:
        """The nearest entries of questions of which some can't be keys."""
        there = asked.exact
        answers = self._near_keys(self._key.as_words(asked.down[there]), direction, exact, farthest, threads)
        others = self._near_others(asked.take(~there), direction, farthest, threads)
        rooms = [_spread(there, its, its.dtype.type(0)) for its in answers]
        for room, its in zip(rooms, others, strict=True):
            room[~there] = its
        return rooms[0], rooms[1], rooms[2]

    def _near_others(self, asked: Asked, direction: str, farthest: Fraction | float | None, threads: int) -> Found:
        """The nearest entries of questions none of which can be a key."""
        if direction != "nearest":
            return self._on_side(asked, "before" if direction == "backward" else "after", farthest, threads)
        keys, values = (np.empty(len(asked), self._key.words) for _ in range(2))
        found, left = np.empty(len(asked), bool), np.arange(len(asked))
        while len(left):
            some = asked.take(left)
            before, after, again = (
                self._on_side(some, side, farthest, threads) for side in ("before", "after", "before")
            )
            sides = ((its[0].view(self._key.stored), its[2]) for its in (again, after))
            nearer = _asked.before_is_nearer(some, *sides)
            for room, ours, theirs in zip((keys, values, found), again, after, strict=True):
                room[left] = np.where(nearer, ours, theirs)
            # Where another thread has changed what is before a question, the two sides weren't there together.
            left = left[(before[0] != again[0]) | (before[2] != again[2])]
        return keys, values, found

    def _nearest_between(self, key: Any) -> tuple[int, int] | None:
        """The words of the nearest entry of a question that can't be a key."""
        asked = ("nearest", True, None, 1)
        keys, values, found = self._answered([key], self._near_keys, self._near_any, *asked)
        return (int(keys[0]), int(values[0])) if found[0] else None

    def _on_side(self, asked: Asked, side: Side, farthest: Fraction | float | None, threads: int) -> Found:
        """The nearest entries on one side of questions none of which can be a key."""
        its, there = (asked.down, asked.has_down) if side == "before" else (asked.up, asked.has_up)
        way, missing = "backward" if side == "before" else "forward", (*self._missing, False)
        answers = self._near_many(way, True, None, self._key.as_words(its[there]), self._missing, threads)
        keys, values, found = (_spread(there, its, none) for its, none in zip(answers, missing, strict=True))
        if farthest is not None:
            near = _asked.within(asked, keys.view(self._key.stored), found, side, farthest)
            keys, values, found = (
                np.where(near, its, its.dtype.type(none))
                for its, none in zip((keys, values, found), missing, strict=True)
            )
        return keys, values, found

    def _farthest(self, tolerance: Any) -> Fraction | float:
        """A tolerance in units of the keys."""
        kind = self._key.dtype.kind
        farthest: Fraction | float | None = None
        if kind not in "Mm" and isinstance(tolerance, int):
            farthest = tolerance
        elif kind in "Mm":
            span = numpy_time(tolerance, "m")
            scale = None if span is None else _asked.scale_of(span.dtype, self._key.dtype)
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
            raise TypeError(f"the tolerance for keys of dtype {self._key.name} is {what}, not {name}")
        if not farthest >= 0:
            raise ValueError(f"the tolerance must be at least 0, not {tolerance}")
        return _asked.as_float(farthest) if kind == "f" else farthest

    def _distance(self, farthest: Fraction | float) -> int:
        """A distance as the compiled part has it: an integer, or the bits of a float."""
        if self._key.dtype.kind == "f":
            return int(np.float64(farthest).view(np.uint64))
        return int(min(farthest, (1 << 64) - 1))


def checked_threads(threads: int) -> int:
    """A number of threads, which is at least one."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


def of_positions(at: NDArray[np.int64], work: Callable[[], Answer]) -> Answer:
    """Works on what is at some positions of a batch: errors have the positions in the whole batch."""
    try:
        return work()
    except BaseException as stopped:
        refused = getattr(stopped, "refused", None)
        if refused is not None:
            stopped.refused = at[refused]  # type: ignore[attr-defined]
        raise


def kept_of(keys: Array, duplicates: Duplicates) -> NDArray[np.int64] | None:
    """Where those of equal keys are that are inserted; None where the index itself keeps the last of them."""
    if duplicates == "last":
        return None
    if duplicates not in ("first", "raise"):
        raise ValueError(f"duplicates is 'last', 'first' or 'raise', not {duplicates!r}")
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    again = ordered[1:] == ordered[:-1]
    if not again.any():
        return None
    if duplicates == "raise":
        twice = order[1:][again]
        at = int(twice.min())
        raise ValueError(f"{keys[at]}, at position {at} of the keys, was there before, and duplicates='raise'")
    kept: NDArray[np.int64] = np.sort(order[np.concatenate([[True], ~again])])
    return kept


def _spread(there: NDArray[np.bool_], answers: Array, missing: Any) -> Array:
    """Answers where there are any, and what is missing elsewhere."""
    spread = np.full(len(there), answers.dtype.type(missing))
    spread[there] = answers
    return spread


def _is_plain(array: Array) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def _check_room(room: Array, name: str, dtype: np.dtype[Any], keys: Array) -> None:
    if not isinstance(room, np.ndarray) or room.dtype != dtype:
        its = room.dtype if isinstance(room, np.ndarray) else type(room).__name__
        raise TypeError(f"{name} must be an array of {dtype}, not of {its}")
    if room.shape != keys.shape:
        raise ValueError(f"{name} has the shape {room.shape}, the keys {keys.shape}")
    if not room.flags.writeable:
        raise ValueError(f"{name} is read-only")
    if np.may_share_memory(room, keys):
        raise ValueError(f"{name} must not overlap the keys")
