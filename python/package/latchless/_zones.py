"""Time zones: the zone of an array-like or of a single time, and answers as times with their zone.

NumPy's times have no zone. A column whose times have one keeps the instants, as NumPy's times of UTC, and the name
of the zone. Times with a zone and times without one are never in one column: the latter are no instants.
"""

from __future__ import annotations

import datetime
import importlib
import re
import zoneinfo
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_NAMED = re.compile(r"(?:datetime64|M8)\[(s|ms|us|ns), *([^\]]+)\]")
_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_UTC = datetime.timedelta(0)


@dataclass(frozen=True)
class Zoned:
    """Instants, as times of UTC, and the zone that they are shown in."""

    times: Array
    zone: str

    @property
    def dtype(self) -> ZonedDtype:
        """The type of a column of them."""
        return ZonedDtype(self.times.dtype, self.zone)

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True)
class ZonedDtype:
    """The type of a column of times with a zone."""

    plain: np.dtype[Any]
    """The dtype of the instants."""
    zone: str

    def __str__(self) -> str:
        return f"datetime64[{np.datetime_data(self.plain)[0]}, {self.zone}]"


def zoned_dtype(given: Any) -> ZonedDtype | None:
    """The type of times with a zone in pandas, Polars and Arrow, and their name as text; None for all others."""
    if isinstance(given, ZonedDtype):
        return given
    if isinstance(given, str):
        named = _NAMED.fullmatch(given)
        return None if named is None else ZonedDtype(np.dtype(f"M8[{named[1]}]"), _known(named[2]))
    given = getattr(given, "pyarrow_dtype", given)
    zone = getattr(given, "tz", None) or getattr(given, "time_zone", None)
    unit = getattr(given, "unit", None) or getattr(given, "time_unit", None)
    if zone is None or not isinstance(unit, str):
        return None
    return ZonedDtype(np.dtype(f"M8[{unit}]"), zone if isinstance(zone, str) else name_of(zone))


def zone_of(data: Any) -> str | None:
    """The zone of an array-like that has a dtype or a type; None if it has none."""
    found = dtype_with_zone(data)
    return None if found is None else found.zone


def dtype_with_zone(data: Any) -> ZonedDtype | None:
    """The dtype, or the type of Arrow's, of an array-like of times with a zone; None for any other."""
    its = data.dtype if hasattr(data, "dtype") else getattr(data, "type", None)
    return None if its is None or isinstance(its, np.dtype) else zoned_dtype(its)


def name_of(zone: datetime.tzinfo) -> str:
    """The name of a zone: that of the database, or an offset such as +02:00."""
    for attribute in ("key", "zone"):  # Of zoneinfo, and of pytz.
        name = getattr(zone, attribute, None)
        if isinstance(name, str):
            return name
    offset = zone.utcoffset(None)
    if offset is None or offset % datetime.timedelta(minutes=1):
        raise TypeError(f"the zone {zone!r} has no name: convert the times to one of zoneinfo first")
    if offset == _UTC:
        return "UTC"
    minutes = abs(offset) // datetime.timedelta(minutes=1)
    return f"{'-' if offset < _UTC else '+'}{minutes // 60:02}:{minutes % 60:02}"


def common(zones: set[str]) -> str:
    """The zone in which times of these are shown: their own, if it is one, else UTC."""
    return zones.pop() if len(zones) == 1 else "UTC"


def with_zone(times: Array, zone: str) -> Any:
    """Times of UTC as pandas' column of times with a zone."""
    return _pandas(zone).DatetimeIndex(times).tz_localize("UTC").tz_convert(zone)


def one_with_zone(time: np.datetime64, zone: str) -> Any:
    """A time of UTC as pandas' time with a zone."""
    pandas = _pandas(zone)
    if np.isnat(time):
        return pandas.NaT
    instant = pandas.Timestamp(time, tz="UTC")
    return instant if zone == "UTC" else instant.tz_convert(zone)


def _pandas(zone: str) -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError:
        raise ImportError(
            f"NumPy has no times with a zone, so answers in the zone {zone} need pandas: pip install pandas"
        ) from None


def _known(zone: str) -> str:
    if zone == "UTC" or _OFFSET.fullmatch(zone):
        return zone
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise TypeError(f"there is no time zone {zone!r}") from None
    return zone
