"""Arrays of a dtype as arrays of words, and back.

An index stores words of 32 or 64 bits. Here arrays are checked and brought to one of these widths, without
losing anything: what would be rounded or would wrap is refused. The order of the words is the compiled
part's business.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, MappingView, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array = NDArray[Any]

_LETTERS = "iufbMm"
# The kinds of arrays that may become each kind.
_FROM = {"i": "iub", "u": "iub", "f": "fiub", "b": "b", "M": "M", "m": "m"}
# Up to here every integer is a float of so many bytes.
_EXACT_INTEGERS = {4: 1 << 24, 8: 1 << 53}


def _resolved(dtype: DTypeLike) -> np.dtype[Any]:
    """The dtype in native byte order, if columns can have it."""
    found: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    if found.kind not in _LETTERS or (found.kind == "f" and found.itemsize not in (4, 8)):
        strings = "; keys that are strings are for StringIndex and BytesIndex" if found.kind in "USTO" else ""
        raise TypeError(
            f"keys and values can't be of dtype {found}: only integers, float32, float64, bool, "
            f"datetime64 and timedelta64{strings}"
        )
    if found.kind in "Mm" and np.datetime_data(found)[0] == "generic":
        raise TypeError(f"dtype {found} needs a unit, such as {found}[ns]")
    return found


@dataclass(frozen=True)
class Column:
    """What the keys or the values of an index are: their dtype, and how it is stored."""

    dtype: np.dtype[Any]
    stored: np.dtype[Any]
    words: np.dtype[Any]
    is_key: bool

    @property
    def what(self) -> str:
        """What errors call it."""
        return "keys" if self.is_key else "values"

    def told(self) -> tuple[str, str, tuple[Any, Any] | None]:
        """What the compiled part has to know: NumPy's code, the name, and functions for single times."""
        hooks = (self.scalar_to_int, self.int_to_scalar) if self.dtype.kind in "Mm" else None
        return f"{self.dtype.kind}{self.dtype.itemsize}", str(self.dtype), hooks

    # ---- arrays ----

    def to_words(self, data: ArrayLike | Any) -> Array:
        """Words for an array-like: one-dimensional, contiguous, aligned."""
        array = self.to_array(data)
        if array.dtype != self.stored:
            array = array.astype(self.stored)
        if not (array.flags.c_contiguous and array.flags.aligned):
            array = np.require(array, requirements=["C", "A"])
        return array.view(self.words)

    def from_words(self, words: Array) -> Array:
        """The array that words stand for."""
        array = words.view(self.stored)
        return array if self.stored == self.dtype else array.astype(self.dtype)

    def to_array(self, data: ArrayLike | Any) -> Array:
        """An array-like as a one-dimensional array of this dtype, with every element exactly as it was.

        Raises TypeError for a dtype of another kind, OverflowError for what doesn't fit, ValueError for another
        number of dimensions and for nulls.
        """
        if type(data) is np.ndarray and data.dtype == self.dtype and data.ndim == 1:
            return data
        array = self._plain(data)
        empty = array.size == 0 and not isinstance(data, np.ndarray)  # NumPy takes it for floats.
        if not empty and array.dtype.kind not in _FROM[self.dtype.kind]:
            raise TypeError(f"{self.what} of dtype {array.dtype} can't become {self.dtype}")
        if array.ndim != 1:
            raise ValueError(f"{self.what} must be one-dimensional, not of shape {array.shape}")
        if empty:
            return np.empty(0, self.dtype)
        return array if array.dtype == self.dtype else self._converted(array)

    def missing(self) -> Any:
        """What arrays have where there is nothing: NaN, NaT, False or 0."""
        if self.dtype.kind == "f":
            return self.dtype.type(np.nan)
        if self.dtype.kind in "Mm":
            return np.array("NaT", self.dtype)[()]
        return self.dtype.type(0)

    def filled(self, count: int) -> Array:
        """So many of what is missing."""
        return np.full(count, self.missing(), self.dtype)

    def missing_word(self, value: Any = None) -> int:
        """The word of what is missing, or of another value."""
        filler = self.missing() if value is None else self.to_array([value])[0]
        return int(np.array([filler], self.dtype).astype(self.stored).view(self.words)[0])

    def _plain(self, data: Any) -> Array:
        """Any array-like as an array of whatever dtype, if it has no nulls."""
        nulls = getattr(data, "null_count", 0)
        if nulls() if callable(nulls) else nulls:
            raise ValueError(f"{self.what} must not be null")
        if isinstance(data, np.ma.MaskedArray):
            if np.ma.is_masked(data):
                raise ValueError(f"{self.what} must not be masked")
            return data.data
        data = listed(data)
        if isinstance(data, (list, tuple)):
            return self._from_list(data)
        extension = getattr(data, "dtype", None) if hasattr(data, "isna") else None
        if extension is not None and not isinstance(extension, np.dtype):  # Of pandas, perhaps with nulls.
            if data.isna().any():
                raise ValueError(f"{self.what} must not be null")
            if self.dtype.kind == "M" and hasattr(extension, "tz"):
                return np.asarray(data, f"M8[{extension.unit}]")
        return np.asarray(data)

    def _from_list(self, data: list[Any] | tuple[Any, ...]) -> Array:
        if self.dtype.kind in "Mm":
            return np.array([self.scalar_to_int(each) for each in data], np.int64).view(self.dtype)
        array = np.asarray(data)
        if array.dtype.kind in "Of" and array.ndim == 1:
            # NumPy has no dtype for these integers, or has rounded those beside floats.
            integers = [each for each in data if isinstance(each, int)]
            exact = _EXACT_INTEGERS.get(self.dtype.itemsize, 0) if self.dtype.kind == "f" else None
            least, most = (-exact, exact) if exact is not None else (-(1 << 63), (1 << 64) - 1)
            for each in integers:
                if not least <= each <= most:
                    raise OverflowError(f"{each} is outside of {self.dtype}")
            if len(integers) == len(data) and self.dtype.kind in "iu":
                least, most = int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)
                refused = [each for each in integers if not least <= each <= most]
                if refused:
                    raise OverflowError(f"{refused[0]} is outside of {self.dtype}")
                return np.array(data, self.dtype)
        return array

    def _converted(self, array: Array) -> Array:
        """An array of another dtype, but of a kind that may become this one."""
        if self.dtype.kind in "iu":
            info = np.iinfo(self.dtype)
            self._refuse(_outside(array, int(info.min), int(info.max)), array, "is outside of")
        elif self.dtype.kind == "f" and array.dtype.kind in "iu":
            most = _EXACT_INTEGERS[self.dtype.itemsize]
            self._refuse(_outside(array, -most, most), array, "may be rounded as")
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                converted = array.astype(self.dtype)
        except OverflowError:  # NumPy from 2.5 on refuses times; those before wrap.
            raise OverflowError(
                f"{self.what} of dtype {array.dtype} can't be kept exactly as {self.dtype}"
            ) from None
        if self.dtype.kind == "f" and array.dtype.kind == "f":
            if self.is_key:
                changed = (converted != array) & (array == array)  # noqa: PLR0124
                self._refuse(changed, array, "would be rounded as")
            else:
                self._refuse(np.isinf(converted) & ~np.isinf(array), array, "is outside of")
        if self.dtype.kind in "Mm":
            with np.errstate(over="ignore"):
                changed = (converted.astype(array.dtype) != array) & ~np.isnat(array)
            self._refuse(changed, array, "can't be kept exactly as")
        return converted

    def _refuse(self, refused: Array, array: Array, why: str) -> None:
        if refused.any():
            at = int(refused.argmax())
            raise OverflowError(f"{array[at]}, at position {at} of the {self.what}, {why} {self.dtype}")

    # ---- single times ----

    def scalar_to_int(self, scalar: Any) -> int:
        """A single time of this dtype as an integer. NaT is the smallest one."""
        if hasattr(scalar, "to_datetime64"):  # pandas' Timestamp, which a datetime64 of microseconds would cut.
            scalar = scalar.to_datetime64()
        elif hasattr(scalar, "to_timedelta64"):
            scalar = scalar.to_timedelta64()
        elif isinstance(scalar, datetime.datetime) and scalar.tzinfo is not None:
            scalar = scalar.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        if isinstance(scalar, datetime.date) and self.dtype.kind == "M":
            scalar = np.datetime64(scalar)
        elif isinstance(scalar, datetime.timedelta) and self.dtype.kind == "m":
            scalar = np.timedelta64(scalar)
        if not isinstance(scalar, np.generic) or scalar.dtype.kind != self.dtype.kind:
            what = self.what[:-1]
            raise TypeError(f"a {what} of dtype {self.dtype} can't be made from {type(scalar).__name__}")
        if scalar.dtype != self.dtype:
            scalar = self._converted(np.array([scalar]))[0]
        return int(scalar.view(np.int64))

    def int_to_scalar(self, integer: int) -> Any:
        """The single time that an integer stands for."""
        return np.int64(integer).view(self.dtype)


def _outside(array: Array, least: int, most: int) -> Array:
    """Which elements of an integer array aren't between two integers."""
    if array.dtype.kind == "b":
        return np.zeros(array.shape, bool)
    info = np.iinfo(array.dtype)
    outside = np.zeros(array.shape, bool)
    if info.min < least:
        outside |= array < array.dtype.type(least)
    if info.max > most:
        outside |= array > array.dtype.type(most)
    return outside


def columns(key_dtype: DTypeLike, value_dtype: DTypeLike) -> tuple[Column, Column]:
    """How keys and values of two dtypes are stored: both in words of 32 bits if both fit, otherwise of 64."""
    dtypes = _resolved(key_dtype), _resolved(value_dtype)
    size = 4 if max(dtype.itemsize for dtype in dtypes) <= 4 else 8
    words = np.dtype(f"u{size}")

    def column(dtype: np.dtype[Any], is_key: bool) -> Column:
        kind = {"b": "u"}.get(dtype.kind, dtype.kind)
        # A float32 in words of 64 bits is widened as integers are.
        stored = dtype if kind in "Mm" else np.dtype(f"{kind}{size}")
        return Column(dtype, stored, words, is_key)

    return column(dtypes[0], True), column(dtypes[1], False)


def listed(data: Any) -> Any:
    """Sets, views of mappings and iterators as lists; anything else as it is."""
    if isinstance(data, (Set, Iterator)):
        return list(data)
    return list(data) if isinstance(data, MappingView) and isinstance(data, Iterable) else data


def one_or_many(values: Any) -> tuple[Any, bool]:
    """Values as an array-like, and whether they are one value for all keys."""
    values = listed(values)
    scalar = np.ndim(values) == 0 and not hasattr(values, "__len__")
    return ([values] if scalar else values), scalar


def dtype_of(data: Any, given: DTypeLike | None) -> DTypeLike:
    """The dtype that was asked for, else the one that an array has, else int64."""
    if given is not None:
        return given
    if data is None or (not hasattr(data, "dtype") and len(data) == 0):
        return np.int64
    found: Any = getattr(data, "dtype", None)
    if isinstance(found, np.dtype):
        return found
    if hasattr(found, "tz") and hasattr(found, "unit"):  # Times of pandas with a zone.
        return np.dtype(f"M8[{found.unit}]")
    plain = getattr(found, "numpy_dtype", None)  # What a nullable column of pandas has.
    if isinstance(plain, np.dtype):
        return plain
    made: np.dtype[Any] = np.asarray(data).dtype
    if made.kind in "Of" and isinstance(data, (list, tuple)) and all(isinstance(each, int) for each in data):
        # NumPy has no dtype for these integers: whichever it is, one of them is outside.
        return np.dtype("i8" if min(data) < 0 else "u8")
    return made
