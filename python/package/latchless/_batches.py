"""Batches: arrays of keys in, arrays of answers out, in the order of the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless._asked import Array, Asked
from latchless._dtypes import Column, Duplicates
from latchless._latchless import Core, StringColumn
from latchless._neighbours import Answer, Neighbours, answered, as_array, checked_threads, spread
from latchless._text import Texts

Rooms = tuple[Array | None, NDArray[np.bool_] | None]
"""Arrays of a caller for values and for flags."""


class Batches(Neighbours, Core):
    """The part of `Index` that answers batches."""

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
        words = as_array(words)
        return spread(there, words, missing), spread(there, flags, False)

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
                raise TypeError(
                    f"values that are {self._value.label} come in a list or an array: there is no out for them"
                )
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
        return spread(there, self._contains_many(words, threads), False)

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
