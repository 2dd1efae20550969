"""Batches: arrays of keys in, arrays of answers out, in the order of the keys."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless._dtypes import Array, Column, one_or_many
from latchless._latchless import Core

Direction = Literal["backward", "forward", "nearest"]
Found = tuple[Array, Array, NDArray[np.bool_]]


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
        TypeError, OverflowError, ValueError
            Keys that the index couldn't have (see `Index`), or an `out` of another dtype or shape, or one that
            overlaps the keys.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).get_many([2, 3, 1])
        (array([20,  0, 10]), array([ True, False,  True]))
        """
        words = self._key.to_words(keys)
        missing = self._missing[1] if default is None else self._value.missing_word(default)
        if out is None and found is None:
            its, flags = self._get_many(words, missing, checked_threads(threads))
            return self._value.from_words(its), flags
        if out is not None:
            _check_room(out, "out", self._value.dtype, words)
        if found is not None:
            _check_room(found, "found", np.dtype(bool), words)
            if out is not None and np.may_share_memory(out, found):
                raise ValueError("out and found must not overlap")
        direct = out is not None and out.dtype == self._value.stored and _is_plain(out)
        answers = out if direct and out is not None else np.empty(len(words), self._value.stored)
        flags = found if found is not None and _is_plain(found) else np.empty(len(words), bool)
        self._get_many_into(words, answers.view(self._value.words), missing, flags, checked_threads(threads))
        values = self._value.from_words(answers.view(self._value.words))
        if out is not None and not direct:
            out[...] = values
        if found is not None and found is not flags:
            found[...] = flags
        return (values if out is None else out), (flags if found is None else found)

    def contains_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> NDArray[np.bool_]:
        """Whether each of n keys is there: n bools.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).contains_many([2, 3, 1])
        array([ True, False,  True])
        """
        words = self._key.to_words(keys)
        found = np.empty(len(words), bool)
        self._get_many_into(words, None, 0, found, checked_threads(threads))
        return found

    def insert_many(self, keys: ArrayLike | Any, values: ArrayLike | Any, *, threads: int = 1) -> int:
        """Insert many entries at once; of equal keys the last one stays. Returns how many keys were new.

        Parameters
        ----------
        keys : array-like
            n keys, in any order.
        values : array-like or scalar
            n values, or one value for all.
        threads : int
            How many threads share the batch; one is usually fastest.

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
        return self._insert_many(words, its, checked_threads(threads))

    def remove_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> int:
        """Remove many keys at once; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.

        Examples
        --------
        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).remove_many([2, 3, 2])
        1
        """
        return self._remove_many(self._key.to_words(keys), checked_threads(threads))

    def floor_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the largest key that is equal or smaller.

        Returns
        -------
        keys : array (n, key_dtype)
            The keys of the entries, in the order of the keys that were asked for; NaN, NaT, False or 0 where there
            is none.
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
            n keys. They need not be sorted; sorted ones are faster.
        direction : {'backward', 'forward', 'nearest'}
            'backward' finds the last entry up to the key, 'forward' the first one from it on, 'nearest' the nearer
            of the two, and of two equally near ones the one before.
        allow_exact_matches : bool
            Whether an entry with the very key counts.
        tolerance : scalar
            The farthest that an entry may be away: a number, or a timedelta for times.
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
        TypeError, OverflowError, ValueError
            Keys that the index couldn't have, another direction, or a negative tolerance.

        Examples
        --------
        >>> from latchless import Index
        >>> quotes = Index([10, 20], [1.5, 1.6])
        >>> quotes.asof([9, 10, 19], direction="nearest", tolerance=2)
        (array([10, 10, 20]), array([1.5, 1.5, 1.6]), array([ True,  True,  True]))
        """
        farthest = None if tolerance is None else self._farthest(tolerance)
        return self._near(direction, allow_exact_matches, farthest, keys, threads)

    def _near(
        self, direction: str, exact: bool, farthest: int | None, keys: ArrayLike | Any, threads: int
    ) -> Found:
        words = self._key.to_words(keys)
        found_keys, values, found = self._near_many(
            direction, exact, farthest, words, self._missing, checked_threads(threads)
        )
        return self._key.from_words(found_keys), self._value.from_words(values), found

    def _farthest(self, tolerance: Any) -> int:
        """A tolerance as the compiled part has distances: integers, or the bits of floats."""
        kind = self._key.dtype.kind
        if kind in "Mm":
            span = Column(
                np.dtype(f"m8[{np.datetime_data(self._key.dtype)[0]}]"), np.dtype("m8"), np.dtype("u8"), True
            )
            tolerance = span.scalar_to_int(tolerance)
        elif kind != "f" and not isinstance(tolerance, (int, np.integer)):
            raise TypeError(
                f"the tolerance for keys of dtype {self._key.dtype} is an integer, not {type(tolerance).__name__}"
            )
        elif isinstance(tolerance, (str, bytes)):
            raise TypeError("the tolerance is a number")
        if not tolerance >= 0:
            raise ValueError(f"the tolerance must be at least 0, not {tolerance}")
        if kind == "f":
            return int(np.float64(abs(tolerance)).view(np.uint64))
        return min(int(tolerance), (1 << 64) - 1)


def checked_threads(threads: int) -> int:
    """A number of threads, which is at least one."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


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
