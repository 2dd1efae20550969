"""Single times as keys and values: of NumPy, `datetime` and pandas, of every unit, exactly or not at all."""

import datetime
import zoneinfo

import numpy as np
import pytest

from latchless import Index

pandas = pytest.importorskip("pandas")

UTC = datetime.timezone.utc
UNITS = ["W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "25s", "Y", "M"]
MOMENTS = ["1969-12-31T23:59:59.999999", "1970-01-01", "2024-02-29T12:30:00", "2024-03-01T09:30:00.000001", "NaT"]


def cast(time, dtype):
    """A time in another unit, as an array has it; None if NumPy refuses."""
    try:
        with np.errstate(over="ignore"):
            return np.array([time]).astype(dtype)[0]
    except OverflowError:
        return None


def exact(time, dtype):
    """A time as one of a dtype, or None."""
    its = cast(time, dtype)
    back = None if its is None else cast(its, np.array([time]).dtype)
    return its if back is not None and (back == time or (np.isnat(back) and np.isnat(time))) else None


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_a_time_of_any_unit_is_found_exactly_or_not_at_all(kind, unit):
    dtype = np.dtype(f"{kind}[{unit}]")
    keys = np.unique(np.array([0, 1, -1, 54, 650, 19_782, 10**9, -(10**9)]).astype(dtype))
    index, values = Index(keys, np.arange(len(keys))), Index([1], keys[:1])
    positions = {key: at for at, key in enumerate(keys)}
    for key, position in positions.items():
        assert index[key] == position
        assert index.nth(position)[0] == key
        assert type(index.nth(position)[0]) is type(key)
        assert index.nth(position)[0].dtype == dtype
        for other in UNITS:
            # Months of spans have a mean length in NumPy: they are no question.
            query = cast(key, f"{kind}[{other}]") if kind == "M8" or (unit in "YM") == (other in "YM") else None
            if query is None or cast(query, dtype) is None:
                continue
            same = exact(query, dtype)
            assert index.get(query) == (None if same is None else positions.get(same))
            if same is None:
                with pytest.raises(OverflowError):
                    index[query] = 1
                continue
            values[1] = query
            assert values[1] == same
            assert values[1].dtype == dtype


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_other_libraries(unit):
    moments = np.array(MOMENTS[:-1], "M8[us]")
    index = Index(np.empty(0, f"M8[{unit}]"), np.empty(0, "i8"))
    spans = Index(np.empty(0, f"m8[{unit}]"), np.empty(0, "i8"))
    zoned = Index(key_dtype=f"datetime64[{unit}, Europe/Berlin]", value_dtype="i8")
    for at, moment in enumerate(moments):
        its = exact(moment, f"M8[{unit}]")
        own, span = moment.item(), moment - moments[1]
        for given in (own, pandas.Timestamp(moment), pandas.Timestamp(own)):
            check(index, given, at, its)
        for given in (span, span.item(), pandas.Timedelta(span)):
            check(spans, given, at, None if its is None else its - np.datetime64(0, unit))
        for zone in (UTC, zoneinfo.ZoneInfo("America/New_York"), datetime.timezone(datetime.timedelta(hours=-7))):
            instant = own.replace(tzinfo=UTC).astimezone(zone)
            check(zoned, instant, at, its)
            check(zoned, pandas.Timestamp(instant), at, its)


def check(index, given, value, its):
    """Inserts a time, if it can be a key, and finds it again."""
    if its is None:
        assert given not in index
        with pytest.raises(OverflowError):
            index[given] = value
        return
    index[given] = value
    assert (index[given], given in index, index.floor(given)[1], index.ceiling(given)[1]) == (
        value,
        True,
        value,
        value,
    )
    words = index._whole()[0]
    assert its in words
    assert index.pop(given) == value


def test_an_hour_that_is_there_twice():
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    first = datetime.datetime(2024, 10, 27, 2, 30, tzinfo=berlin)
    second = first.replace(fold=1)
    index = Index(key_dtype="datetime64[us, UTC]", value_dtype="i8")
    index[first], index[second] = 1, 2
    assert (len(index), index[first], index[second]) == (2, 1, 2)
    assert index.first()[0] == pandas.Timestamp("2024-10-27 00:30", tz="UTC")


def test_zones_dont_mix_one_by_one():
    naive = Index(np.array(MOMENTS[:-1], "M8[us]"), 0)
    zoned = Index(pandas.DatetimeIndex(MOMENTS[:-1], tz="UTC"), 0)
    own = datetime.datetime(2024, 2, 29, 12, 30)
    for given in (own, pandas.Timestamp(own), np.datetime64(own)):
        assert given in naive
        with pytest.raises(TypeError, match="zone"):
            zoned[given] = 1
        with pytest.raises(TypeError, match="zone"):
            zoned.floor(given)
    for given in (own.replace(tzinfo=UTC), pandas.Timestamp(own, tz="UTC")):
        assert given in zoned
        with pytest.raises(TypeError, match="zone"):
            naive[given] = 1
        with pytest.raises(TypeError, match="zone"):
            naive.floor(given)


class Later(datetime.datetime):
    """A time whose differences are those of another one."""

    def __sub__(self, other):
        return super().__sub__(other) + datetime.timedelta(1)


def test_what_is_no_time_and_subclasses():
    index = Index(np.array(MOMENTS[1:3], "M8[us]"), [1, 2])
    assert index[Later(1970, 1, 1)] == 1
    assert index[datetime.date(1970, 1, 1)] == 1
    for nat in (np.datetime64("NaT", "D"), np.datetime64("NaT", "s"), pandas.NaT):
        assert nat not in index
        with pytest.raises(ValueError, match="NaT"):
            index[nat] = 1
    for other in (0, 0.0, "1970-01-01", None, np.timedelta64(0, "us"), datetime.timedelta(0), object()):
        assert other not in index
        with pytest.raises(TypeError, match=r"datetime64\[us\]"):
            index[other] = 1
    values = Index([1], np.array([5], "m8[s]"))
    for nat in (np.timedelta64("NaT", "s"), np.timedelta64("NaT", "ns")):
        values[1] = np.timedelta64(5, "s")
        values[1] = nat
        assert np.isnat(values[1])


def test_the_ends_of_what_a_unit_can_have():
    most = np.iinfo("i8").max
    index = Index(np.array([most, -most], "M8[ns]"), [1, 2])
    for unit in ("s", "W"):
        for far in (most, -most, most // 10**9 + 1):
            query = np.datetime64(far, unit)
            assert query not in index
            with pytest.raises(OverflowError):
                index[query] = 1
            assert index.floor(query)[1] == (1 if far > 0 else 2) if far > 0 else index.floor(query) is None
    assert index.last() == (np.datetime64(most, "ns"), 1)
