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
from latchless._dtypes import Column, Duplicates, listed, numpy_time
from latchless._latchless import Core, NoKey, StringColumn
from latchless._text import Texts
from latchless._tuples import Tuples
from latchless._views import listed as objects

Direction = Literal["backward", "forward", "nearest"]
Found = tuple[Any, Any, NDArray[np.bool_]]
"""Keys and values, as arrays or lists, and whether they are there."""
Rooms = tuple[Array | None, NDArray[np.bool_] | None]
"""Arrays of a caller for values and for flags."""
Answer = TypeVar("Answer")


class Batches(Core):
    """The part of `Index` that answers batches."""

    _key: Column | Texts
    _value: Column | Texts
    _missing: tuple[Any, Any]
    """What is missing: a key, a value. Of a dtype, words."""

    @property
    def _numbers(self) -> Column:
        """The keys' dtype, where it is known that they have one."""
        assert isinstance(self._key, Column)
        return self._key

    def get_many(
        self,
        keys: ArrayLike | Any,
        default: Any = None,
        *,
        out: Array | None = None,
        found: NDArray[np.bool_] | None = None,
        threads: int = 1,
    ) -> tuple[Any, NDArray[np.bool_]]:
        """Look many keys up at once.

        Parameters
        ----------
        keys : array-like
            n keys, in any order.
        default : scalar
            The value where a key isn't there: by default NaN, NaT, False or 0, as the dtype has it, and None where
            values are `str` or `bytes`.
        out : array
            n values of a dtype to fill instead of a new array. It must not overlap the keys.
        found : array
            n bools to fill instead of a new array.
        threads : int
            How many threads share the batch.

        Returns
        -------
        values : array (n, value_dtype) or list
            The values, in the order of the keys: `str` and `bytes` in a list.
        found : array (n, bool)
            Whether each key is there.

        Raises
        ------
        TypeError, ValueError
            Elements that have no order among keys, such as strings among numbers; null or masked ones; or an `out`
            of another dtype or shape, or one that overlaps the keys. (`get` and `in` don't find objects of other
            types, as in a `dict`.)

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).get_many([2, 3, 1])
        (array([20,  0, 10]), array([ True, False,  True]))
        >>> Index(["a", "b"], ["ant", "bee"]).get_many(["b", "c", "a"])
        (['bee', None, 'ant'], array([ True, False,  True]))
        """
        missing = self._missing[1] if default is None else self._value.missing_word(default)
        threads = checked_threads(threads)
        if out is not None or found is not None:
            return self._answered(keys, self._get_many_to, self._get_others_to, missing, threads, (out, found))
        words, flags = self._answered(keys, self._get_many, self._get_others, missing, threads)
        return self._value.from_words(words), flags

    def _get_others(self, asked: Asked, missing: int, threads: int) -> tuple[Any, NDArray[np.bool_]]:
        """As `_get_many`, of questions of which some can't be keys."""
        there = asked.exact
        words, flags = self._get_many(self._numbers.as_words(asked.down[there]), missing, threads)
        words = _array(words)
        return _spread(there, words, missing), _spread(there, flags, False)

    def _get_others_to(
        self, asked: Asked, missing: int, threads: int, rooms: Rooms
    ) -> tuple[Any, NDArray[np.bool_]]:
        """As `_get_others`, to arrays of the caller."""
        self._check_rooms(rooms, asked.down)
        return self._filled(rooms, *self._get_others(asked, missing, threads))

    def _filled(self, rooms: Rooms, words: Any, flags: NDArray[np.bool_]) -> tuple[Any, NDArray[np.bool_]]:
        """Answers, copied to arrays of the caller."""
        out, found = rooms
        if out is not None:
            out[...] = self._value.plain(words)
        if found is not None:
            found[...] = flags
        return (self._value.from_words(words) if out is None else out), (flags if found is None else found)

    def _check_rooms(self, rooms: Rooms, keys: Array | StringColumn) -> None:
        out, found = rooms
        if out is not None:
            if isinstance(self._value, Texts):
                raise TypeError(f"values that are {self._value.name} come in a list: there is no out for them")
            _check_room(out, "out", self._value.dtype, keys)
        if found is not None:
            _check_room(found, "found", np.dtype(bool), keys)
            if out is not None and np.may_share_memory(out, found):
                raise ValueError("out and found must not overlap")

    def _get_many_to(self, words: Any, missing: Any, threads: int, rooms: Rooms) -> tuple[Any, NDArray[np.bool_]]:
        """As `_get_many`, to arrays of the caller."""
        self._check_rooms(rooms, words)
        if isinstance(self._key, Texts) or isinstance(self._value, Texts):
            return self._filled(rooms, *self._get_many(words, missing, threads))
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
        return answered(self._key, questions, of_keys, of_others, *more)

    def contains_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> NDArray[np.bool_]:
        """Whether each of n keys is there: n bools.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).contains_many([2, 3, 1])
        array([ True, False,  True])
        """
        return self._answered(keys, self._contains_many, self._contains_others, checked_threads(threads))

    def _contains_many(self, words: Any, threads: int) -> NDArray[np.bool_]:
        found = np.empty(len(words), bool)
        self._get_many_into(words, None, 0, found, threads)
        return found

    def _contains_others(self, asked: Asked, threads: int) -> NDArray[np.bool_]:
        there = asked.exact
        words = self._numbers.as_words(asked.down[there])
        return _spread(there, self._contains_many(words, threads), False)

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
            n values, or one value for all: a string is one.
        threads : int
            How many threads share the batch; one is usually fastest, and inserts keys that are strings.
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
        words, its, kept = chosen(self._key, self._value, keys, values, duplicates)
        if kept is None:
            return self._insert_many(words, its, checked_threads(threads))
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
        words = self._numbers.as_words(asked.down[at])
        return of_positions(at, lambda: self._remove_many(words, threads))

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

        An answer is of one moment: no entry was nearer then, on either side. Keys that are strings have no
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
            of the two, and of two equally near ones the one before. Each answer is of one moment, also that of
            'nearest': other threads may change the index meanwhile. Keys that are strings have no distance, so
            'nearest' and a tolerance are a TypeError.
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
            words, threads = self._key.to_words(keys), checked_threads(threads)
            its_keys, values, found = self._near_many(question, words, self._missing, threads)
            return self._key.from_words(its_keys), self._value.from_words(values), found
        asked = (direction, exact, farthest, checked_threads(threads))
        its_keys, values, found = self._answered(keys, self._near_keys, self._near_any, *asked)
        return self._key.from_words(its_keys), self._value.from_words(values), found

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
        rooms = [_spread(there, _array(its), 0) for its in answers]
        for room, its in zip(rooms, others, strict=True):
            room[~there] = its
        return rooms[0], rooms[1], rooms[2]

    def _near_others(self, asked: Asked, direction: str, farthest: Fraction | float | None, threads: int) -> Found:
        """The nearest entries of questions none of which can be a key."""
        if direction != "nearest":
            return self._on_side(asked, "before" if direction == "backward" else "after", farthest, threads)
        keys, values = (np.empty(len(asked), self._numbers.words) for _ in range(2))
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
            _spread(there, _array(its), none) for its, none in zip(answers, missing, strict=True)
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

    @property
    def _measured(self) -> Column | Texts:
        """What a tolerance is about: the keys, or their last parts."""
        return self._key.last if isinstance(self._key, Tuples) else self._key

    def _distance(self, farthest: Fraction | float) -> int:
        """A distance as the compiled part has it: an integer, or the bits of a float."""
        measured = self._measured
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


def of_positions(at: NDArray[np.int64], work: Callable[[], Answer]) -> Answer:
    """Works on what is at some positions of a batch: errors have the positions in the whole batch."""
    try:
        return work()
    except BaseException as stopped:
        refused = getattr(stopped, "refused", None)
        if refused is not None:
            stopped.refused = at[refused]  # type: ignore[attr-defined]
        raise


def chosen(
    key: Column | Texts, value: Column | Texts, keys: Any, values: Any, duplicates: Duplicates
) -> tuple[Any, Any, NDArray[np.int64] | None]:
    """The words, or strings, of entries to insert, and which of the given entries they are; None: all."""
    words, (values, scalar) = key.to_words(keys), value.one_or_many(values)
    its = value.to_words(values)
    if not scalar and len(its) != len(words):
        raise ValueError(f"there are {len(words)} keys but {len(its)} values")
    kept = key.kept(words, duplicates)  # type: ignore[arg-type]
    if kept is None:
        return words, its, None
    taken = its if scalar else value.take(its, kept)  # type: ignore[arg-type]
    return key.take(words, kept), taken, kept  # type: ignore[arg-type]


def _spread(there: NDArray[np.bool_], answers: Array, missing: Any) -> Array:
    """Answers where there are any, and what is missing elsewhere."""
    spread = np.full(len(there), missing, answers.dtype)
    spread[there] = answers
    return spread


def _array(answers: Array | list[Any]) -> Array:
    """Answers as an array, of objects where they are a list."""
    if not isinstance(answers, list):
        return answers
    array = np.empty(len(answers), object)
    array[:] = answers
    return array


def _is_plain(array: Array) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def _check_room(room: Array, name: str, dtype: np.dtype[Any], keys: Array | StringColumn) -> None:
    if not isinstance(room, np.ndarray) or room.dtype != dtype:
        its = room.dtype if isinstance(room, np.ndarray) else type(room).__name__
        raise TypeError(f"{name} must be an array of {dtype}, not of {its}")
    if room.shape != (len(keys),):
        raise ValueError(f"{name} has the shape {room.shape}, the keys {(len(keys),)}")
    if not room.flags.writeable:
        raise ValueError(f"{name} is read-only")
    if isinstance(keys, np.ndarray) and np.may_share_memory(room, keys):
        raise ValueError(f"{name} must not overlap the keys")
