"""Questions for keys that a column can't have: the keys around them.

Stored values must fit a column's dtype. A question, which is only compared with keys, needs an order: -5 is before
every unsigned key, half a second is between two keys in seconds, and NaN is neither before nor after any key.
Numbers are compared as numbers, whatever their types, and times as times, whatever their units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Flags = NDArray[np.bool_]
Side = Literal["before", "after"]

_TIMES = (1 << 63) - 1
"""The last time, and the first one with a minus: the integer before that is NaT."""
_MINUTE = 60 * 10**18
_LENGTHS = {
    **{"W": 10080 * _MINUTE, "D": 1440 * _MINUTE, "h": 60 * _MINUTE, "m": _MINUTE, "s": 10**18, "ms": 10**15},
    **{"us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1},
}
"""Units of time, in attoseconds."""
_MONTHS = {"Y": 12, "M": 1}
"""Units of the calendar, in months."""
_CYCLE_DAYS, _CYCLE_MONTHS = 146_097, 4_800
"""The calendar repeats after this many days."""


@dataclass(frozen=True)
class Asked:
    """Questions, and the keys of a column on both sides of each."""

    down: Array
    """The greatest key that isn't after the question, where `has_down`."""
    up: Array
    """The least key that isn't before it, where `has_up`. A question that can be a key is both."""
    has_down: Flags
    has_up: Flags
    part: Array | None = None
    """How far it is from `down`, where both are there, as a part of the way to `up`: in parts of `ratio`."""
    ratio: int = 1
    numbers: Array | None = None
    """The questions themselves, in units of `scale`."""
    scale: Fraction = Fraction(1)

    @property
    def exact(self) -> Flags:
        """Which of them can be keys."""
        exact: Flags = self.has_down & self.has_up & (self.down == self.up)
        return exact

    def __len__(self) -> int:
        return len(self.down)

    def take(self, chosen: Flags | NDArray[np.int64]) -> Asked:
        """Some of them, by flags or positions."""
        part, numbers = (each if each is None else each[chosen] for each in (self.part, self.numbers))
        down, up, has_down, has_up = (each[chosen] for each in (self.down, self.up, self.has_down, self.has_up))
        return replace(self, down=down, up=up, has_down=has_down, has_up=has_up, part=part, numbers=numbers)


def keys_alone(keys: Array) -> Asked:
    """Questions that all can be keys."""
    there = np.ones(len(keys), bool)
    return Asked(keys, keys, there, there)


# ---- numbers ----


def beside_numbers(dtype: np.dtype[Any], stored: np.dtype[Any], asked: Array) -> Asked:
    """Numbers among the keys of a dtype of numbers or of bool, which are stored as numbers of another one."""
    if asked.dtype.kind == "O":
        return _beside_objects(dtype, stored, list(map(exactly, asked.tolist())))
    if dtype.kind == "f":
        found = _floats_by_integers(dtype, asked) if asked.dtype.kind in "iub" else _floats_by_floats(dtype, asked)
    elif asked.dtype.kind == "f":
        found = _integers_by_floats(stored, ends(dtype), asked)
    else:
        found = _integers_by_integers(stored, ends(dtype), asked)
    down, up = (side.astype(stored, copy=False) for side in (found.down, found.up))
    return Asked(down, up, found.has_down, found.has_up, found.part, numbers=asked)


def ends(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest key of a dtype without fractions, as integers."""
    if dtype.kind in "Mm":
        return -_TIMES, _TIMES
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def _integers_by_integers(stored: np.dtype[Any], least_and_most: tuple[int, int], asked: Array) -> Asked:
    below, above = outside(asked, *least_and_most)
    inside = ~(below | above)
    least, most = (stored.type(end) for end in least_and_most)
    keys = np.where(inside, asked, 0).astype(stored)
    none = np.zeros(len(asked), np.int64)
    return Asked(np.where(above, most, keys), np.where(below, least, keys), ~below, ~above, none)


def _integers_by_floats(stored: np.dtype[Any], least_and_most: tuple[int, int], asked: Array) -> Asked:
    asked = asked.astype(np.promote_types(asked.dtype, np.float64), copy=False)
    least, most = least_and_most
    # Both are floats, as the greatest integer itself needn't be.
    below, above = asked < float(least), asked >= float(most + 1)
    inside = ~(below | above | np.isnan(asked))
    floor = np.floor(np.where(inside, asked, 0))
    part = np.where(inside, asked, 0) - floor
    keys = floor.astype(stored)
    last = inside & (keys == stored.type(most)) & (part > 0)
    after = keys + ((part > 0) & ~last).astype(stored)
    down, up = np.where(above, stored.type(most), keys), np.where(below, stored.type(least), after)
    return Asked(down, up, inside | above, (inside & ~last) | below, part)


def _floats_by_floats(dtype: np.dtype[Any], asked: Array) -> Asked:
    wide = np.promote_types(asked.dtype, dtype)
    with np.errstate(over="ignore", under="ignore"):
        near = asked.astype(dtype)
    asked, exact = asked.astype(wide), near.astype(wide)
    return _around(near, exact > asked, exact < asked, ~np.isnan(asked))


def _floats_by_integers(dtype: np.dtype[Any], asked: Array) -> Asked:
    near = asked.astype(dtype)
    whole = asked.astype(np.uint8) if asked.dtype.kind == "b" else asked
    # The nearest float of a large integer is an integer, too, but perhaps the first one after all of its dtype.
    over = near >= float(int(np.iinfo(whole.dtype).max) + 1)
    exact = np.where(over, 0, near).astype(whole.dtype)
    return _around(near, over | (exact > whole), ~over & (exact < whole), np.ones(len(asked), bool))


def _around(near: Array, after: Flags, before: Flags, ordered: Flags) -> Asked:
    """Of the nearest floats, some of which are after the questions and some before them."""
    infinity = near.dtype.type(np.inf)
    with np.errstate(over="ignore", under="ignore"):
        down = np.where(after, np.nextafter(near, -infinity), near)
        up = np.where(before, np.nextafter(near, infinity), near)
    return Asked(down, up, ordered, ordered)


def outside(array: Array, least: int, most: int) -> tuple[Flags, Flags]:
    """Which elements of an array of integers or bools are below an integer, and which are above another one."""
    below, above = np.zeros(array.shape, bool), np.zeros(array.shape, bool)
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    info = np.iinfo(array.dtype)
    if info.min < least:
        below = array < array.dtype.type(least) if least <= info.max else ~below
    if info.max > most:
        above = array > array.dtype.type(most) if most >= info.min else ~above
    return below, above


# ---- numbers one by one ----


def exactly(number: Any) -> Fraction | float:
    """A number as what compares exactly: a fraction, an infinity, or NaN. Raises TypeError for anything else."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, (bool, np.bool_)):
        return Fraction(int(number))
    if hasattr(number, "__index__"):
        return Fraction(number.__index__())
    if isinstance(number, (float, np.floating, Decimal)):
        # Of NumPy's only float64 is Python's float; others become ratios without rounding.
        if number != number:  # noqa: PLR0124
            return float("nan")
        if abs(number) == float("inf"):
            return float("inf") if number > 0 else float("-inf")
        return Fraction(*number.as_integer_ratio())
    raise TypeError(f"{type(number).__name__} is no number")


def _beside_objects(dtype: np.dtype[Any], stored: np.dtype[Any], numbers: Sequence[Fraction | float]) -> Asked:
    """Numbers in the unit of the keys, one by one."""
    around = _around_one_float if dtype.kind == "f" else _around_one_integer
    down, up = np.zeros(len(numbers), stored), np.zeros(len(numbers), stored)
    has_down, has_up = np.zeros(len(numbers), bool), np.zeros(len(numbers), bool)
    part = np.zeros(len(numbers), object)
    for at, number in enumerate(numbers):
        if number == number:  # noqa: PLR0124
            its_down, its_up = around(dtype, number)
            has_down[at], has_up[at] = its_down is not None, its_up is not None
            down[at], up[at] = its_down or 0, its_up or 0
            if its_down is not None and its_up is not None and dtype.kind != "f":
                part[at] = number - its_down
    return Asked(down, up, has_down, has_up, part, numbers=np.array(numbers, object))


def _around_one_integer(dtype: np.dtype[Any], number: Fraction | float) -> tuple[int | None, int | None]:
    least, most = ends(dtype)
    down = most if number >= most else None if number < least else number.__floor__()
    up = least if number <= least else None if number > most else number.__ceil__()
    return down, up


def _around_one_float(dtype: np.dtype[Any], number: Fraction | float) -> tuple[Any, Any]:
    try:
        near = float(number)
    except OverflowError:
        near = np.inf if number > 0 else -np.inf
    with np.errstate(over="ignore", under="ignore"):
        down = up = dtype.type(near)
        while exactly(down) > number:
            down = np.nextafter(down, dtype.type(-np.inf))
        while exactly(up) < number:
            up = np.nextafter(up, dtype.type(np.inf))
    return down, up


# ---- times ----


def beside_times(dtype: np.dtype[Any], asked: Array) -> Asked | None:
    """Times among the keys of another unit of time; None where their units have no common measure."""
    scale = scale_of(asked.dtype, dtype)
    if scale is not None:
        found = _scaled(asked.view(np.int64), scale)
    elif dtype.kind == "m":
        return None
    else:
        found = _across_the_calendar(dtype, asked)
    known = ~np.isnat(asked)
    return replace(_times(dtype, found), has_down=found.has_down & known, has_up=found.has_up & known)


def beside_times_of_units(dtype: np.dtype[Any], asked: list[np.generic]) -> Asked | None:
    """Times of several units among the keys of a unit."""
    numbers: list[Fraction | float] = []
    for time in asked:
        scale = scale_of(time.dtype, dtype)
        if scale is None:
            return beside_times(dtype, np.array(asked))
        numbers.append(float("nan") if np.isnat(time) else int(time.view(np.int64)) * scale)
    return _times(dtype, _beside_objects(dtype, np.dtype(np.int64), numbers))


def _times(dtype: np.dtype[Any], found: Asked) -> Asked:
    return replace(found, down=found.down.view(dtype), up=found.up.view(dtype))


def scale_of(given: np.dtype[Any], to: np.dtype[Any]) -> Fraction | None:
    """How many units of one dtype of times one of another dtype is; None if that isn't always the same."""
    (unit, count), (its_unit, its_count) = np.datetime_data(given), np.datetime_data(to)
    if (unit, count) == (its_unit, its_count) and unit != "generic":
        return Fraction(1)
    for table in (_LENGTHS, _MONTHS):
        if unit in table and its_unit in table:
            return Fraction(table[unit] * count, table[its_unit] * its_count)
    return None


def _scaled(asked: Array, scale: Fraction) -> Asked:
    """Integers of one unit among those of another one."""
    times, parts = scale.numerator, scale.denominator
    if parts == 1:
        limit = _TIMES // times
        found = _integers_by_integers(np.dtype(np.int64), (-limit, limit), asked)
        times = min(times, _TIMES)  # Of more, nothing but 0 is inside.
        down = np.where(found.has_up, found.down * times, _TIMES)
        up = np.where(found.has_down, found.up * times, -_TIMES)
        return replace(found, down=down, up=up, numbers=asked, scale=scale)
    if times == 1 and parts <= _TIMES:
        down = asked // parts
        part = asked - down * parts
        there = np.ones(len(asked), bool)
        return Asked(down, down + (part > 0), there, there, part, parts, asked, scale)
    return _beside_objects(np.dtype("M8[s]"), np.dtype(np.int64), [integer * scale for integer in asked.tolist()])


def _across_the_calendar(dtype: np.dtype[Any], asked: Array) -> Asked:
    """Months or years among other times, or these among months or years, by the instants at which months begin."""
    days, months = np.dtype("M8[D]"), np.dtype("M8[M]")
    to_days, to_months = scale_of(asked.dtype, days), scale_of(asked.dtype, months)
    last = scale_of(days if to_days is None else months, dtype) or Fraction(0)
    numbers: list[Fraction | float] = []
    for integer in asked.view(np.int64).tolist():
        if to_days is None:
            numbers.append(_first_day(integer * int(to_months or 0)) * last)
        else:
            day = integer * to_days
            month = _month_of(day.__floor__())
            # Amid a month it is somewhere between two of them, wherever that may be.
            numbers.append((month + (Fraction(1, 2) if _first_day(month) < day else 0)) * last)
    found = _beside_objects(dtype, np.dtype(np.int64), numbers)
    return replace(found, part=None)


def _first_day(month: int) -> int:
    cycles, month = divmod(month, _CYCLE_MONTHS)
    return cycles * _CYCLE_DAYS + int(np.datetime64(month, "M").astype("M8[D]").view(np.int64))


def _month_of(day: int) -> int:
    cycles, day = divmod(day, _CYCLE_DAYS)
    return cycles * _CYCLE_MONTHS + int(np.datetime64(day, "D").astype("M8[M]").view(np.int64))


# ---- distances ----


def within(asked: Asked, keys: Array, found: Flags, side: Side, farthest: Fraction | float) -> Flags:
    """Which of the keys that were found on a side of questions, none of which can be a key, are near enough."""
    if keys.dtype.kind == "f":
        return found & (_between_floats(asked, keys) <= farthest)
    near: Flags = found.copy()
    inside = asked.has_down & asked.has_up
    if farthest < 1 << 64:
        steps = int(farthest)
        left = Fraction(farthest) - steps
        # Before a question there is its part more to go, after it what is left of the step.
        fits = _parts(asked, left) <= 0 if side == "before" else _parts(asked, 1 - left) >= 0
        whole = _steps(asked, keys, side)
        near &= ~inside | (whole < np.uint64(steps)) | ((whole == np.uint64(steps)) & fits)
    assert asked.numbers is not None
    # Those outside of all keys can be any number of steps away.
    for at in np.flatnonzero(found & ~inside):
        number = exactly(asked.numbers[at])
        key = int(keys[at].view(np.int64) if keys.dtype.kind in "Mm" else keys[at])
        distance: Any = number - key if isinstance(number, float) else number * asked.scale - key
        near[at] = abs(distance) <= farthest
    return near


def before_is_nearer(asked: Asked, before: tuple[Array, Flags], after: tuple[Array, Flags]) -> Flags:
    """Of the keys that were found before questions and after them, where the former are nearer, or as near."""
    both = before[1] & after[1]
    if before[0].dtype.kind == "f":
        nearer = _between_floats(asked, before[0]) <= _between_floats(asked, after[0])
    else:
        down, up = _steps(asked, before[0], "before"), _steps(asked, after[0], "after")
        nearer = (down < up) | ((down == up) & (_parts(asked, Fraction(1, 2)) <= 0))
    return np.where(both, nearer, before[1])


def _between_floats(asked: Asked, keys: Array) -> Array:
    """How far keys are away: distances between floats are those of float64."""
    assert asked.numbers is not None
    numbers = asked.numbers
    if numbers.dtype.kind == "O":
        numbers = np.fromiter(map(as_float, numbers), np.float64, len(numbers))
    with np.errstate(invalid="ignore", over="ignore"):
        distances: Array = np.abs(numbers.astype(np.float64) - keys.astype(np.float64))
    return distances


def as_float(number: Fraction | float) -> float:
    """The nearest float of a number, which is infinite for one that is greater than all others."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _steps(asked: Asked, keys: Array, side: Side) -> Array:
    """The number of steps from the key next to each question to another one on that side."""
    nearest = asked.down if side == "before" else asked.up
    ends = (nearest, keys) if side == "before" else (keys, nearest)
    wide = np.uint64 if keys.dtype.kind == "u" else np.int64
    # The difference of two integers of 64 bits wraps to the right one of 64 bits without a sign.
    greater, less = (each.astype(wide, copy=False).view(np.uint64) for each in ends)
    steps: Array = greater - less
    return steps


def _parts(asked: Asked, share: Fraction) -> NDArray[np.int8]:
    """Whether the part of a step from `down` to a question is less than a share of it (-1), more (1), or equal."""
    if asked.part is None:
        raise TypeError("how far times are from the first days of months or years isn't measured in these")
    target = share * asked.ratio
    part: Array = asked.part
    if part.dtype.kind == "O":
        return np.fromiter(((each > target) - (each < target) for each in part), np.int8, len(part))
    near = float(target) if part.dtype.kind == "f" else int(target)
    signs = (part > near).astype(np.int8) - (part < near)
    if near != target:
        signs[part == near] = 1 if near > target else -1
    return signs
