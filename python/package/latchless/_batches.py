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
        keys: array-like of n keys, in any order.
        default: the value where a key isn't there: by default NaN, NaT, False or 0, as the dtype has it.
        out: an array of n values to fill instead of a new one, which must not overlap the keys.
        found: an array of n bools to fill instead of a new one.
        threads: how many threads share the batch.

        Returns
        -------
        values (n, value_dtype) and found (n, bool), in the order of the keys.

        Raises
        ------
        TypeError, OverflowError, ValueError for keys that the index couldn't have (see `Index`), and for an
        `out` of another dtype, another shape, or that overlaps the keys.

        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).get_many([2, 3, 1])
        (array([20,  0, 10]), array([ True, False,  True]))
        """
        words = self._key.to_words(keys)
        missing = self._value.missing_word(default)
        if out is not None:
            _check_room(out, "out", self._value.dtype, words)
        if found is not None:
            _check_room(found, "found", np.dtype(bool), words)
            if out is not None and np.may_share_memory(out, found):
                raise ValueError("out and found must not overlap")
        direct = out is not None and out.dtype == self._value.stored and _is_plain(out)
        answers = out if direct and out is not None else np.empty(len(words), self._value.stored)
        flags = found if found is not None and _is_plain(found) else np.empty(len(words), bool)
        self._get_many(words, answers.view(self._value.words), missing, flags, _checked(threads))
        values = self._value.from_words(answers.view(self._value.words))
        if out is not None and not direct:
            out[...] = values
        if found is not None and found is not flags:
            found[...] = flags
        return (values if out is None else out), (flags if found is None else found)

    def contains_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> NDArray[np.bool_]:
        """Whether each of n keys is there: n bools.

        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).contains_many([2, 3, 1])
        array([ True, False,  True])
        """
        words = self._key.to_words(keys)
        found = np.empty(len(words), bool)
        self._get_many(words, None, 0, found, _checked(threads))
        return found

    def insert_many(self, keys: ArrayLike | Any, values: ArrayLike | Any, *, threads: int = 1) -> int:
        """Insert many entries at once; of equal keys the last one stays. Returns how many keys were new.

        Parameters
        ----------
        keys: array-like of n keys, in any order.
        values: array-like of n values, or one value for all.
        threads: how many threads share the batch; one is usually fastest.

        Raises
        ------
        TypeError, OverflowError, ValueError: nothing was inserted.
        MemoryError, KeyboardInterrupt: the exception's attribute `refused` has the positions (int64, ascending)
        of the entries that weren't inserted; all others were.

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
        return self._insert_many(words, its, _checked(threads))

    def remove_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> int:
        """Remove many keys at once; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.

        >>> from latchless import Index
        >>> Index([1, 2], [10, 20]).remove_many([2, 3, 2])
        1
        """
        return self._remove_many(self._key.to_words(keys), _checked(threads))

    def floor_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the largest key that is equal or smaller.

        Returns
        -------
        keys (n, key_dtype), values (n, value_dtype) and found (n, bool), in the order of the keys; where none is
        found, keys and values are NaN, NaT, False or 0.

        >>> from latchless import Index
        >>> Index([10, 20], [1, 2]).floor_many([20, 15, 5])
        (array([20, 10,  0]), array([2, 1, 0]), array([ True,  True, False]))
        """
        return self._neighbours("floor", self._key.to_words(keys), threads)

    def ceiling_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the smallest key that is equal or larger: see `floor_many`."""
        return self._neighbours("ceiling", self._key.to_words(keys), threads)

    def lower_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the largest smaller key: see `floor_many`."""
        return self._neighbours("lower", self._key.to_words(keys), threads)

    def higher_many(self, keys: ArrayLike | Any, *, threads: int = 1) -> Found:
        """For each of n keys the entry with the smallest larger key: see `floor_many`."""
        return self._neighbours("higher", self._key.to_words(keys), threads)

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
        keys: array-like of n keys. They need not be sorted; sorted ones are faster.
        direction: 'backward' finds the last entry up to the key, 'forward' the first one from it on, 'nearest' the
            nearer of the two, and of two equally near ones the one before.
        allow_exact_matches: whether an entry with the very key counts.
        tolerance: the farthest that an entry may be away: a number, or a timedelta for times.
        threads: how many threads share the batch.

        Returns
        -------
        keys (n, key_dtype), values (n, value_dtype) and found (n, bool): see `floor_many`.

        Raises
        ------
        TypeError, OverflowError, ValueError for keys that the index couldn't have, another direction, or a
        negative tolerance.

        >>> from latchless import Index
        >>> quotes = Index([10, 20], [1.5, 1.6])
        >>> quotes.asof([9, 10, 19], direction="nearest", tolerance=2)
        (array([10, 10, 20]), array([1.5, 1.5, 1.6]), array([ True,  True,  True]))
        """
        if direction not in ("backward", "forward", "nearest"):
            raise ValueError(f"direction is backward, forward or nearest, not {direction!r}")
        farthest = None if tolerance is None else self._tolerance(tolerance)
        words = self._key.to_words(keys)
        before, after = ("floor", "ceiling") if allow_exact_matches else ("lower", "higher")
        if direction == "nearest":
            back = self._neighbours(before, words, threads)
            forth = self._neighbours(after, words, threads)
            nearer = back[2] & (~forth[2] | (self._distance(words, back[0]) <= self._distance(words, forth[0])))
            found_keys, values, found = (np.where(nearer, b, f) for b, f in zip(back, forth, strict=True))
        else:
            name = before if direction == "backward" else after
            found_keys, values, found = self._neighbours(name, words, threads)
        if farthest is not None:
            far = found & (self._distance(words, found_keys) > farthest)
            found &= ~far
            found_keys[far], values[far] = self._key.missing(), self._value.missing()
        return found_keys, values, found

    def _neighbours(self, name: str, words: Array, threads: int) -> Found:
        keys, values = np.empty(len(words), self._key.words), np.empty(len(words), self._value.words)
        found, missing = np.empty(len(words), bool), (self._key.missing_word(), self._value.missing_word())
        self._near_many(name, words, keys, values, missing, found, _checked(threads))
        return self._key.from_words(keys), self._value.from_words(values), found

    def _distance(self, words: Array, found: Array) -> Array:
        """How far keys are away from what was found: integers without overflow."""
        if self._key.dtype.kind == "f":
            with np.errstate(over="ignore", invalid="ignore"):
                return np.abs(words.view(self._key.stored).astype(np.float64) - found.astype(np.float64))
        keys, near = words.view(self._key.stored), found.astype(self._key.stored)
        wide = np.dtype(np.int64 if self._key.stored.kind in "iMm" else np.uint64)
        ours, theirs = (column.astype(wide).view(np.uint64) for column in (keys, near))
        return np.where(keys >= near, ours - theirs, theirs - ours)

    def _tolerance(self, tolerance: Any) -> Any:
        if self._key.dtype.kind in "Mm":
            span = Column(
                np.dtype(f"m8[{np.datetime_data(self._key.dtype)[0]}]"), np.dtype("m8"), np.dtype("u8"), True
            )
            tolerance = span.scalar_to_int(tolerance)
        elif self._key.dtype.kind != "f" and not isinstance(tolerance, (int, np.integer)):
            raise TypeError(
                f"the tolerance for keys of dtype {self._key.dtype} is an integer, not {type(tolerance).__name__}"
            )
        elif isinstance(tolerance, (str, bytes)):
            raise TypeError("the tolerance is a number")
        if not tolerance >= 0:
            raise ValueError(f"the tolerance must be at least 0, not {tolerance}")
        return np.float64(tolerance) if self._key.dtype.kind == "f" else np.uint64(min(tolerance, (1 << 64) - 1))


def _checked(threads: int) -> int:
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
