"""Arrays of a dtype as arrays of words, and back.

An index stores words of 32 or 64 bits. Here arrays are checked and converted to one of these widths without losing
anything: values that would be rounded or would wrap are refused. The order of the words is the compiled part's
business.
"""

from __future__ import annotations

import datetime
import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, MappingView, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from latchless import _asked, _interchange, _zones
from latchless._asked import Array, Asked
from latchless._zones import Zoned, ZonedDtype

_LETTERS = "iufbMm"
# The kinds of arrays that may become each kind.
_FROM = {"i": "iub", "u": "iub", "f": "fiub", "b": "b", "M": "M", "m": "m"}
# Up to here every integer is a float of so many bytes.
_EXACT_INTEGERS = {4: 1 << 24, 8: 1 << 53}


Dtype = DTypeLike | ZonedDtype
Duplicates = Literal["last", "first", "raise"]
Hooks = tuple[Callable[[Any], int], Callable[[int], Any]]
Told = tuple[str, str, Hooks | None, Callable[[Any], Any] | None]


def resolved(dtype: Dtype) -> tuple[np.dtype[Any], str | None]:
    """The dtype in native byte order, if columns can have it, and the zone of times that have one."""
    zoned = _zones.zoned_dtype(dtype)
    if zoned is not None:
        return zoned.plain, zoned.zone
    assert not isinstance(dtype, ZonedDtype)
    found: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    if found.kind not in _LETTERS or (found.kind == "f" and found.itemsize not in (4, 8)):
        strings = "; of strings, keys are all str or all bytes, as key_dtype says" if found.kind in "USTO" else ""
        raise TypeError(
            f"keys and values can't be of dtype {found}: only integers, float32, float64, bool, "
            f"datetime64 and timedelta64{strings}"
        )
    if found.kind in "Mm" and np.datetime_data(found)[0] == "generic":
        raise TypeError(f"dtype {found} needs a unit, such as {found}[ns]")
    return found, None


@dataclass(frozen=True)
class Column:
    """The keys or the values of an index: their dtype, and how it is stored."""

    dtype: np.dtype[Any]
    stored: np.dtype[Any]
    words: np.dtype[Any]
    is_key: bool
    zone: str | None = None
    """The zone of times that have one."""
    direct: bool = False
    """Whether arrays of the dtype are stored unchanged."""

    @property
    def name(self) -> str:
        """The dtype's name, with the zone of times that have one."""
        return str(self.dtype) if self.zone is None else str(ZonedDtype(self.dtype, self.zone))

    @property
    def what(self) -> str:
        """Its name in errors."""
        return "keys" if self.is_key else "values"

    @property
    def label(self) -> str:
        """The dtype as a constructor takes it."""
        return f"'{self.name}'"

    @property
    def pickled(self) -> str:
        """The dtype as pickles have it."""
        return self.name

    @property
    def answers(self) -> np.dtype[Any]:
        """The dtype of an array of answers."""
        return self.words

    @property
    def part_count(self) -> int:
        """How many arrays `parts` gives."""
        return 1

    def told(self) -> Told:
        """The compiled part's description: NumPy's code, the name, functions for times and for questions."""
        hooks = (self.scalar_to_int, self.int_to_scalar) if self.dtype.kind in "Mm" else None
        return f"{self.dtype.kind}{self.dtype.itemsize}", self.name, hooks, self.asked_one if self.is_key else None

    # ---- arrays ----

    def to_words(self, data: ArrayLike | Any) -> Array:
        """Words for an array-like: one-dimensional, contiguous, aligned."""
        if type(data) is np.ndarray and self.direct and data.dtype == self.dtype and data.ndim == 1:
            array: Array = data
        else:
            array = self.to_array(data)
            if array.dtype != self.stored:
                array = array.astype(self.stored)
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            array = np.require(array, requirements=["C", "A"])
        return array.view(self.words)

    def as_words(self, array: Array) -> Array:
        """Words for an array of what the dtype is stored as."""
        return np.ascontiguousarray(array, self.stored).view(self.words)

    def plain(self, words: Array) -> Array:
        """The array of these words: of times with a zone, in UTC."""
        array: Array = words.view(self.stored)
        plain: Array = array if self.stored == self.dtype else array.astype(self.dtype)
        return plain

    def to_load(self, words: Array) -> Array:
        """Copies of an index's values, as another index takes them."""
        return words

    def from_words(self, words: Array) -> Array:
        """The user's form of words: an array, or pandas' column of times with a zone."""
        plain = self.plain(words)
        return plain if self.zone is None else self.shown(plain)

    def shown(self, array: Array) -> Array:
        """An array of the dtype, in which times are UTC, as users get it."""
        # pandas' columns do what is done with arrays here.
        shown: Array = array if self.zone is None else _zones.with_zone(array, self.zone)
        return shown

    def to_array(self, data: ArrayLike | Any) -> Array:
        """An array-like as a one-dimensional array of this dtype, with every element exactly as it was.

        Raises TypeError for a dtype of another kind, OverflowError for what doesn't fit, ValueError for another
        number of dimensions and for nulls.
        """
        if type(data) is np.ndarray and data.dtype == self.dtype and data.ndim == 1 and self.zone is None:
            return data
        array = self._plain(data)
        empty = array.size == 0 and not isinstance(data, np.ndarray)  # NumPy takes it for floats.
        if not empty and array.dtype.kind not in _FROM[self.dtype.kind]:
            raise TypeError(f"{self.what} of dtype {array.dtype} can't become {self.name}")
        if array.ndim != 1:
            raise ValueError(f"{self.what} must be one-dimensional, not of shape {array.shape}")
        if empty:
            return np.empty(0, self.dtype)
        return array if array.dtype == self.dtype else self._converted(array)

    def one_or_many(self, values: Any) -> tuple[Any, bool]:
        """Values as an array-like, and whether they are one value for all keys."""
        return one_or_many(values)

    def kept(self, words: Array, duplicates: Duplicates) -> NDArray[np.int64] | None:
        """Where those of equal keys are that are inserted; None where the index itself keeps the last of them."""
        if checked_duplicates(duplicates) == "last":
            return None
        keys = self.plain(words)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        same = ordered[1:] == ordered[:-1]
        if not same.any():
            return None
        if duplicates == "raise":
            at = int(order[1:][same].min())
            raise ValueError(again(keys[at], at))
        kept: NDArray[np.int64] = np.sort(order[np.concatenate([[True], ~same])])
        return kept

    def take(self, words: Array, positions: NDArray[np.int64]) -> Array:
        """Those at some positions."""
        taken: Array = words[positions]
        return taken

    def parts(self, array: Array) -> tuple[Array, ...]:
        """An array as one that pickles pass on without a copy: NumPy doesn't do that with times."""
        return (array.view(np.int64) if array.dtype.kind in "Mm" else array,)

    def whole(self, parts: Sequence[Array]) -> Array:
        """The words of such an array."""
        (array,) = parts
        return self.as_words(array.view(self.dtype) if self.dtype.kind in "Mm" else array)

    def missing(self) -> Any:
        """The filler for missing elements: NaN, NaT, False or 0."""
        if self.dtype.kind == "f":
            return self.dtype.type(np.nan)
        if self.dtype.kind in "Mm":
            return np.array("NaT", self.dtype)[()]
        return self.dtype.type(0)

    def sum_of_none(self) -> Any:
        """The sum of no values."""
        if self.dtype.kind in "bM":
            raise TypeError(f"values of dtype {self.name} have no sum")
        return np.zeros((), self.dtype)[()]

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
        array = self._of_column(data)
        if array.dtype.kind == "O" and array.ndim == 1 and self.dtype.kind in "Mm":
            return self._from_list(array.tolist())
        if array.dtype.kind == "M" and self.dtype.kind == "M":
            self._check_zone(_zones.zone_of(data), self.what)
        return array

    def _of_column(self, data: Any) -> Array:
        """Any array-like but a list as an array of whatever dtype: times with a zone in UTC."""
        if isinstance(data, Zoned):
            return data.times
        extension = getattr(data, "dtype", None) if hasattr(data, "isna") else None
        if extension is not None and not isinstance(extension, np.dtype):  # Of pandas, perhaps with nulls.
            if data.isna().any():
                raise ValueError(f"{self.what} must not be null")
            if hasattr(extension, "tz"):
                return np.asarray(data, f"M8[{extension.unit}]")
            if hasattr(extension, "pyarrow_dtype"):
                return by_arrow(data)
        return np.asarray(data)

    def _check_zone(self, zone: str | None, what: str) -> None:
        """Refuses times without a zone among those with one, and the other way round."""
        if (zone is None) == (self.zone is None):
            return
        if zone is None:
            raise TypeError(
                f"{what} of this index are times with a zone, {self.name}, but those given have none: say which "
                "instants they are first, by tz_localize in pandas, replace_time_zone in Polars, or a tzinfo"
            )
        raise TypeError(
            f"{what} of this index are times without a zone, {self.name}, but those given have the zone {zone}: "
            "take it away first, by tz_localize(None) in pandas, replace_time_zone(None) in Polars, or "
            "replace(tzinfo=None); or make the index of times with a zone"
        )

    def _from_list(self, data: list[Any] | tuple[Any, ...]) -> Array:
        if self.dtype.kind in "Mm":
            return np.array([self.scalar_to_int(each) for each in data], np.int64).view(self.dtype)
        array = np.asarray(data)
        if array.dtype.kind in "Of" and array.ndim == 1:
            # NumPy has no dtype for these integers, or has rounded those next to floats.
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
            below, above = _asked.outside(array, int(info.min), int(info.max))
            self._refuse(below | above, array, "is outside of")
        elif self.dtype.kind == "f" and array.dtype.kind in "iu":
            most = _EXACT_INTEGERS[self.dtype.itemsize]
            below, above = _asked.outside(array, -most, most)
            self._refuse(below | above, array, "may be rounded as")
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

    def ends(self) -> tuple[Any, Any]:
        """The least and the greatest key that a column can have, as they are stored."""
        if self.dtype.kind == "f":
            return self.stored.type(-np.inf), self.stored.type(np.inf)
        both = np.array(_asked.ends(self.dtype), np.int64 if self.dtype.kind in "Mm" else self.stored)
        least, most = both.view(self.stored)
        return least, most

    # ---- questions ----

    def words_or_asked(self, data: ArrayLike | Any) -> Array | Asked:
        """Words of questions that all can be keys; for others, the keys around them."""
        try:
            return self.to_words(data)
        except (TypeError, OverflowError):
            asked = self.asked(data)
            if asked is None:
                raise
            return asked

    def asked_of(self, data: ArrayLike | Any) -> Asked:
        """The keys around questions that have an order among keys."""
        asked = self.asked(data)
        if asked is None:
            raise TypeError(f"{type(data).__name__} has no order among {self.what} of dtype {self.name}")
        return asked

    def asked(self, data: ArrayLike | Any) -> Asked | None:
        """The keys around questions; None if some have no order among keys.

        Raises TypeError where times have a zone and keys have none, or the other way round, and ValueError as
        `to_array` does.
        """
        its = getattr(data, "dtype", None)
        if isinstance(its, np.dtype) and its.kind == "O" and np.ndim(data) == 1:
            data = np.asarray(data).tolist()
        if self.dtype.kind in "Mm" and isinstance(data, (list, tuple)):
            return self._asked_of_times([self._time(each) for each in data])
        array = _numbers(data) if isinstance(data, (list, tuple)) else self._plain(data)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        if array.ndim != 1:
            raise ValueError(f"{self.what} must be one-dimensional, not of shape {array.shape}")
        if self.dtype.kind in "Mm":
            return _asked.beside_times(self.dtype, array) if array.dtype.kind == self.dtype.kind else None
        if array.dtype.kind not in "iufbO":
            return None
        try:
            return _asked.beside_numbers(self.dtype, self.stored, array)
        except TypeError:  # An object that is no number.
            return None

    def _asked_of_times(self, times: list[np.generic]) -> Asked | None:
        if len({time.dtype for time in times}) > 1:
            return _asked.beside_times_of_units(self.dtype, times)
        return _asked.beside_times(self.dtype, np.array(times, None if times else self.dtype))

    def asked_one(self, question: Any) -> tuple[int | None, int | None] | None:
        """The keys around a question (words, where there are any); None if it has no order among keys."""
        if isinstance(question, np.ndarray) and question.ndim == 0:
            question = question[()]
        if isinstance(question, (list, tuple, np.ndarray)):
            return None
        if self.dtype.kind in "Mm" and numpy_time(question, self.dtype.kind) is None:
            return None
        asked = self.asked([question])
        if asked is None:
            return None
        down, up = (int(self.as_words(side)[0]) for side in (asked.down, asked.up))
        return down if asked.has_down[0] else None, up if asked.has_up[0] else None

    # ---- single times ----

    def scalar_to_int(self, scalar: Any) -> int:
        """A single time of this dtype as an integer. NaT is the smallest one."""
        if isinstance(scalar, np.generic) and scalar.dtype == self.dtype and self.zone is None:
            return int(scalar.view(np.int64))
        time = self._time(scalar)
        if time.dtype != self.dtype:
            time = self._converted(np.array([time]))[0]
        return int(time.view(np.int64))

    def _time(self, scalar: Any) -> Any:
        """A single time as NumPy's, of whatever unit."""
        what, time = self.what[:-1], numpy_time(scalar, self.dtype.kind)
        if time is None:
            raise TypeError(f"a {what} of dtype {self.name} can't be made from {type(scalar).__name__}")
        if self.dtype.kind == "M" and not np.isnat(time):
            zone = getattr(scalar, "tzinfo", None)
            self._check_zone(None if zone is None else str(zone), self.what)
        return time

    def int_to_scalar(self, integer: int) -> Any:
        """The single time of an integer: NumPy's, or pandas' with a zone."""
        time = np.int64(integer).view(self.dtype)
        return time if self.zone is None else _zones.one_with_zone(time, self.zone)


def numpy_time(scalar: Any, kind: str) -> Any:
    """A time, or a span of time, of any library as NumPy's, without its zone; None for anything else."""
    if hasattr(scalar, "to_datetime64"):  # pandas' Timestamp, which a datetime64 of microseconds would cut.
        scalar = scalar.to_datetime64()
    elif hasattr(scalar, "to_timedelta64"):
        scalar = scalar.to_timedelta64()
    elif isinstance(scalar, datetime.datetime) and scalar.tzinfo is not None:
        scalar = scalar.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(scalar, datetime.date):
        scalar = np.datetime64(scalar)
    elif isinstance(scalar, datetime.timedelta):
        scalar = np.timedelta64(scalar)
    if not isinstance(scalar, (np.datetime64, np.timedelta64)):
        return None
    # NaT alone is the same of every kind.
    if scalar.dtype.kind != kind:
        return None
    return scalar


def by_arrow(data: Any) -> Array:
    """A column of pandas that Arrow holds, as an array: pandas would make objects of its times."""
    found: Array = _interchange.pyarrow().array(data).to_numpy(zero_copy_only=False)
    return found


def _numbers(data: list[Any] | tuple[Any, ...]) -> Array:
    """A list as an array of numbers, none of which is rounded: of objects, where NumPy has no dtype for all."""
    array = np.asarray(data)
    large = array.dtype.kind == "f" and any(
        isinstance(each, (int, np.integer)) and abs(int(each)) > _EXACT_INTEGERS[8] for each in data
    )
    if array.ndim == 1 and (large or array.dtype.kind == "O"):
        array = np.empty(len(data), object)
        array[:] = data
    return array


def columns(key_dtype: Dtype, value_dtype: Dtype) -> tuple[Column, Column]:
    """How keys and values of two dtypes are stored: both in words of 32 bits if both fit, otherwise of 64."""
    dtypes = resolved(key_dtype), resolved(value_dtype)
    size = 4 if max(dtype.itemsize for dtype, _ in dtypes) <= 4 else 8
    words = np.dtype(f"u{size}")

    def column(dtype: np.dtype[Any], zone: str | None, is_key: bool) -> Column:
        kind = {"b": "u"}.get(dtype.kind, dtype.kind)
        # A float32 in words of 64 bits is widened as integers are.
        stored = dtype if kind in "Mm" else np.dtype(f"{kind}{size}")
        return Column(dtype, stored, words, is_key, zone, stored == dtype and zone is None)

    return column(*dtypes[0], True), column(*dtypes[1], False)


def columns_of_a_file(
    what: str, names: tuple[str, str], zones_known: bool, given: tuple[Dtype | None, Dtype | None]
) -> tuple[Column, Column]:
    """The columns that a file or a directory has, if they are those that are given.

    One that was written before zones were kept doesn't say whether its times have one: what is given says it.
    """
    found = list(columns(*names))
    for at, (its, dtype) in enumerate(zip(found, given, strict=True)):
        unknown = its.dtype.kind == "M" and its.zone is None and not zones_known
        which = its.what[:-1]
        if dtype is None:
            if unknown:
                warnings.warn(
                    f"{what} was written before zones were kept, so it doesn't say whether its {its.what}, "
                    f"{its.name}, have one: they are taken for times without a zone. {which}_dtype='{its.name}' "
                    f"says that they are, {which}_dtype='{ZonedDtype(its.dtype, 'UTC')}' that they are UTC",
                    stacklevel=3,
                )
            continue
        plain, zone = resolved(dtype)
        if plain != its.dtype or (zone != its.zone and not unknown):
            raise ValueError(f"{what} has {its.what} of dtype {its.name}, not {dtype}")
        found[at] = replace(its, zone=zone, direct=its.direct and zone is None)
    return found[0], found[1]


def checked_duplicates(duplicates: Duplicates) -> Duplicates:
    """What becomes of equal keys, if it is one of the known ways."""
    given: str = duplicates
    if given == "keep":
        raise ValueError(
            "an index has one value under a key, so duplicates can't be kept: a MultiIndex has all rows of a key"
        )
    if duplicates not in ("last", "first", "raise"):
        raise ValueError(f"duplicates is 'last', 'first' or 'raise', not {duplicates!r}")
    return duplicates


def again(key: Any, position: int) -> str:
    """The error for a key that was there before."""
    its = f"{key!r}" if isinstance(key, (str, bytes)) else f"{key}"
    return f"{its}, at position {position} of the keys, was there before, and duplicates='raise'"


def listed(data: Any) -> Any:
    """Sets, views of mappings and iterators as lists, categories as what they are; anything else as it is."""
    if isinstance(data, (np.ndarray, list)):  # To ask the classes below takes longer.
        return data
    if isinstance(data, (Set, Iterator)):
        return list(data)
    return list(data) if isinstance(data, MappingView) and isinstance(data, Iterable) else decoded(data)


def categories_of(data: Any) -> tuple[Any, NDArray[np.integer[Any]]] | None:
    """The categories of a categorical column of pandas, and the code of each element, -1 for null; or None."""
    if not (hasattr(getattr(data, "dtype", None), "categories") and hasattr(data, "isna")):
        return None
    categorical = getattr(data, "array", data)
    return categorical.categories, np.asarray(categorical.codes)


def decoded(data: Any) -> Any:
    """A categorical column of pandas, Polars or pyarrow as the column of its elements; anything else as it is."""
    its = getattr(data, "type", None) if not hasattr(data, "dtype") else data.dtype
    if its is None or isinstance(its, np.dtype):
        return data
    chosen = categories_of(data)
    if chosen is not None:
        categories, codes = chosen
        if (codes < 0).any():
            raise ValueError(f"categories must not be null, but the one at position {int(codes.argmin())} is")
        return categories.take(codes)
    name = str(its)
    if name.startswith(("Categorical", "Enum")) and hasattr(data, "cast"):
        return data.cast(importlib.import_module("polars").String)
    return data.cast(its.value_type) if name.startswith("dictionary<") else data


def one_or_many(values: Any) -> tuple[Any, bool]:
    """Values as an array-like, and whether they are one value for all keys."""
    values = listed(values)
    scalar = np.ndim(values) == 0 and not hasattr(values, "__len__")
    return ([values] if scalar else values), scalar


def dtype_of(data: Any, given: Dtype | None) -> Dtype:
    """The requested dtype, else the one that an array has, else int64."""
    if given is not None:
        return given
    if data is None or (not hasattr(data, "dtype") and len(data) == 0):
        return np.int64
    found: Any = getattr(data, "dtype", None)
    zoned = _zones.dtype_with_zone(data)
    if zoned is not None:
        return zoned
    if isinstance(found, np.dtype) and found.kind != "O":
        return found
    if hasattr(found, "pyarrow_dtype"):
        return by_arrow(data).dtype
    plain = getattr(found, "numpy_dtype", None)  # What a nullable column of pandas has.
    if isinstance(plain, np.dtype):
        return plain
    array = np.asarray(data)
    if array.dtype.kind == "O" and array.ndim == 1:
        times = _dtype_of_times(array.tolist())
        if times is not None:
            return times
    if (
        array.dtype.kind in "Of"
        and isinstance(data, (list, tuple))
        and all(isinstance(each, int) for each in data)
    ):
        # NumPy has no dtype for these integers: whichever it is, one of them is outside.
        return np.dtype("i8" if min(data) < 0 else "u8")
    dtype: np.dtype[Any] = array.dtype
    return dtype


def _dtype_of_times(data: list[Any]) -> Dtype | None:
    """The dtype of a list of times: the finest of their units, and their zone if they have one. None: no times."""
    units, zones = [], set()
    for each in data:
        time = next((time for kind in "Mm" if (time := numpy_time(each, kind)) is not None), None)
        if time is None:
            return None
        units.append(time.dtype)
        zone = getattr(each, "tzinfo", None)
        if zone is not None:
            zones.add(_zones.name_of(zone))
    finest = np.result_type(*set(units))
    return ZonedDtype(finest, _zones.common(zones)) if zones else finest
