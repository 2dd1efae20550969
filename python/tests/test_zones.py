"""Times with a zone: they don't mix with times without one, and answers have it, too."""

import copy
import datetime
import pickle
import shutil
import warnings
import zoneinfo
from pathlib import Path

import numpy as np
import pytest
from conftest import BATCHES, ENDS, SINGLES

from latchless import DurableIndex, Index, MultiIndex, StringIndex

pandas = pytest.importorskip("pandas")

OLD = Path(__file__).parent / "old"
NEW_YORK = zoneinfo.ZoneInfo("America/New_York")
WALL = pandas.date_range("2024-03-01 09:30", periods=60, freq="min")
ZONED = WALL.tz_localize("America/New_York")
TRADES = pandas.Series(pandas.date_range("2024-03-01 09:45:30", periods=3, freq="min", tz="America/New_York"))

EVERY_BATCH = [
    *BATCHES,
    lambda index, keys: index.floor_many(keys),
    lambda index, keys: index.higher_many(keys),
    lambda index, keys: index.asof(keys, direction="nearest", tolerance=np.timedelta64(1, "s")),
    lambda index, keys: index.range_many(keys, index.to_numpy()[0][: len(keys)]),
    lambda index, keys: index.count_many(index.to_numpy()[0][: len(keys)], keys),
    lambda index, keys: index.rank_many(keys),
    lambda index, keys: index.update(zip(keys, range(len(keys)), strict=True)),
    lambda index, keys: index.update(Index(keys, 0.0)),
    lambda index, keys: index.update(pandas.Series(range(len(keys)), keys)),
    lambda index, keys: Index(keys, 0, key_dtype=index._key.name),
    lambda index, keys: MultiIndex(keys, key_dtype=index._key.name),
]
OF_ROWS = [
    lambda index, key: index.insert(key, 1),
    lambda index, key: index.remove(key, 1),
    lambda index, key: index.remove_all(key),
    lambda index, key: index.contains(key, 1),
    lambda index, key: key in index,
    lambda index, key: index.rows(key),
    lambda index, key: index.range(key),
    lambda index, key: index.count(hi=key),
    lambda index, key: index.rows_many([key]),
    lambda index, key: index.join(pandas.Series([key])),
    lambda index, key: index.insert_many([key], [1]),
    lambda index, key: index.remove_many([key], [1]),
]


@pytest.fixture
def quotes():
    return Index(ZONED, np.arange(60.0))


def of_both_kinds(make):
    """An index, and keys of the kind that it doesn't have."""
    return [(make(WALL), ZONED), (make(ZONED), WALL)]


@pytest.mark.parametrize("made", ["Index", "DurableIndex"])
def test_times_with_a_zone_and_without_are_refused_by_every_operation(tmp_path, made):
    folders = (tmp_path / name for name in "ab")
    make = {
        "Index": lambda keys: Index(keys, 0.0),
        "DurableIndex": lambda keys: DurableIndex(next(folders), keys, 0.0),
    }
    for index, others in of_both_kinds(make[made]):
        before = index.copy()
        match = (
            "without a zone.*tz_localize" if index.key_zone is None else "with a zone.*America/New_York.*have none"
        )
        for operation in [*SINGLES, *ENDS, lambda index, key: index.rank(key)]:
            # NumPy's times have no zone; those of pandas and Python say whether they have one.
            naive = [others[3].to_datetime64()] if index.key_zone else []
            for key in [others[3], others[3].to_pydatetime(), *naive]:
                with pytest.raises(TypeError, match=match):
                    operation(index, key)
        batches = [others[3:5], pandas.Series(others[3:5]), list(others[3:5]), others[3:5].astype(object)]
        for operation in EVERY_BATCH:
            for batch in batches:
                with pytest.raises(TypeError, match=match):
                    operation(index, batch)
        assert index == before
    for index, others in of_both_kinds(MultiIndex):
        for operation in OF_ROWS:
            with pytest.raises(TypeError, match="zone"):
                operation(index, others[3])
        assert len(index) == 60


def test_values_with_a_zone_do_not_mix_either():
    for index, others in of_both_kinds(lambda values: Index(np.arange(60), values)):
        for operation in (
            lambda index, value: index.__setitem__(1, value),
            lambda index, value: index.compare_exchange(1, value, value),
            lambda index, value: index.insert_many([1], [value]),
            lambda index, value: index.get_many([1], default=value),
        ):
            with pytest.raises(TypeError, match="zone"):
                operation(index, others[3])


def test_answers_have_the_zone_of_the_index(quotes):
    assert (quotes.key_dtype, quotes.key_zone, quotes.value_zone) == (np.dtype("M8[us]"), "America/New_York", None)
    keys, prices, found = quotes.asof(TRADES)
    assert prices.tolist() == [15.0, 16.0, 17.0]
    assert found.all()
    assert keys.tolist() == (TRADES - pandas.Timedelta("30s")).tolist()
    assert set(TRADES - keys) == {pandas.Timedelta("30s")}
    assert quotes.floor(TRADES[0]) == (ZONED[15], 15.0)
    assert quotes.floor(TRADES[0])[0].tz.key == "America/New_York"
    assert quotes.nth(-1)[0] == quotes.peekitem()[0] == ZONED[-1]
    assert list(quotes) == list(quotes.keys()) == ZONED.tolist()
    assert next(reversed(quotes)) == ZONED[-1]
    for column in (
        quotes.range()[0],
        quotes.to_numpy()[0],
        quotes.range_many(ZONED[:1], ZONED[1:2])[1].append(ZONED[1:]),
    ):
        pandas.testing.assert_index_equal(column, ZONED, check_names=False, exact=True) if column.freq else None
        assert column.tolist() == ZONED.tolist()
        assert column.dtype == ZONED.dtype
    assert quotes.split_points(2).tz.key == "America/New_York"
    assert quotes.asof(ZONED[:1] - pandas.Timedelta("1D"))[0].isna().all()
    assert repr(quotes).endswith("key_dtype='datetime64[us, America/New_York]', value_dtype='float64')")
    assert "2024-03-01 09:30:00-05:00" in repr(quotes)
    series = quotes.to_pandas()
    assert (series.index.dtype, series.index.name, series.name) == (ZONED.dtype, "key", "value")
    assert Index.from_pandas(series) == quotes
    rows = MultiIndex(ZONED.append(ZONED[:1]))
    assert rows.rows(ZONED[0].tz_convert("Asia/Tokyo")).tolist() == [0, 60]
    assert rows.first()[0] == ZONED[0]
    assert rows.range(ZONED[1], ZONED[3])[0].tolist() == ZONED[1:3].tolist()
    assert rows.key_zone == "America/New_York"
    assert "America/New_York" in repr(rows)
    assert rows.to_arrow()["key"].type.tz == "America/New_York"


def test_zones_among_each_other_are_the_same_instants(quotes):
    for zone in ("UTC", "Asia/Tokyo", "+05:30", datetime.timezone(datetime.timedelta(hours=-3))):
        asked = TRADES.dt.tz_convert(zone)
        other = Index(ZONED.tz_convert(zone), np.arange(60.0))
        assert other == quotes
        assert other.floor(TRADES[0])[0].utcoffset() == asked[0].utcoffset()
        keys, prices, _ = quotes.asof(asked)
        assert prices.tolist() == [15.0, 16.0, 17.0]
        assert keys.dtype == ZONED.dtype
        assert quotes.get(ZONED[4].tz_convert(zone)) == 4.0
    assert quotes != Index(WALL, np.arange(60.0))
    assert quotes != Index(ZONED.tz_convert("UTC").tz_localize(None), np.arange(60.0))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units_and_questions_between_keys(unit):
    index = Index(ZONED.as_unit(unit), np.arange(60))
    assert index.key_dtype == np.dtype(f"M8[{unit}]")
    assert index.floor(ZONED[3] + pandas.Timedelta("1ns")) == (ZONED[3], 3)
    assert index.get_many(ZONED.as_unit("ns")[:3] + pandas.Timedelta("1ns"))[1].tolist() == [False] * 3
    assert index.asof(TRADES, tolerance=pandas.Timedelta("30s"))[1].tolist() == [15, 16, 17]
    assert index.range(ZONED[1], None, limit=1)[0][0] == ZONED[1]


def test_lists_of_times_make_an_index():
    python = [
        datetime.datetime(2024, 3, 1, 9, 30, tzinfo=NEW_YORK),
        datetime.datetime(2024, 3, 1, tzinfo=NEW_YORK),
    ]
    index = Index(python, [1, 2])
    assert (index._key.name, index[python[0]]) == ("datetime64[us, America/New_York]", 1)
    assert Index([python[0], python[1].astimezone(datetime.timezone.utc)], [1, 2]).key_zone == "UTC"
    for of in (list, tuple, lambda keys: np.array(keys, object), lambda keys: pandas.Series(keys, dtype=object)):
        assert Index(of(python), [1, 2]) == index
        assert Index(of([ZONED[1], ZONED[0]]), [1, 2])._key.name == "datetime64[us, America/New_York]"
        days = Index(of([datetime.date(2024, 3, 2), datetime.date(2024, 3, 1)]), [1, 2])
        assert list(days) == [np.datetime64("2024-03-01"), np.datetime64("2024-03-02")]
        naive = Index(of([datetime.datetime(2024, 3, 2), WALL[0].as_unit("ns")]), [1, 2])
        assert (naive.key_dtype, naive.key_zone) == (np.dtype("M8[ns]"), None)
        assert Index(of([datetime.timedelta(1), pandas.Timedelta("1h").as_unit("s")]), 0).key_dtype == np.dtype(
            "m8[us]"
        )
    assert Index([1], [python[0]]).value_zone == "America/New_York"
    for mixed in ([python[0], datetime.datetime(2024, 3, 1)], [datetime.datetime(2024, 3, 1), python[0]]):
        with pytest.raises(TypeError, match="zone"):
            Index(mixed, 0)
    with pytest.raises(TypeError):
        Index([python[0], "2024-03-01"], 0)


def test_labels_are_no_types():
    series = pandas.Series([WALL[0], WALL[1]], index=["type", "tz"])
    assert Index(WALL, 0).get_many(series)[1].all()
    assert Index(series, 0).key_zone is None
    zoned = pandas.Series(ZONED[:2], index=["type", "unit"], dtype=object)
    assert Index(ZONED, 0).get_many(zoned)[1].all()


def test_a_zone_without_a_name_is_a_type_error():
    class Own(datetime.tzinfo):
        def utcoffset(self, time):
            return None if time is None else datetime.timedelta(hours=1)

        def dst(self, time):
            return None

    times = [datetime.datetime(2024, 3, 1, tzinfo=Own())]
    with pytest.raises(TypeError, match="has no name"):
        Index(times, 0)
    # A question needs none.
    assert Index(key_dtype="M8[s, UTC]").get(times[0], 5) == 5


def test_dtypes_with_a_zone():
    for dtype in (
        "datetime64[ns, Europe/Berlin]",
        "M8[ns,Europe/Berlin]",
        pandas.DatetimeTZDtype("ns", "Europe/Berlin"),
    ):
        index = Index(key_dtype=dtype)
        assert (index.key_dtype, index.key_zone) == (np.dtype("M8[ns]"), "Europe/Berlin")
        index[ZONED[0]] = 1
        assert list(index) == [ZONED[0].tz_convert("Europe/Berlin")]
        with pytest.raises(TypeError, match="zone"):
            index[WALL[0]] = 1
    for dtype in ("datetime64[ns, Nowhere/Atall]", "datetime64[h, UTC]", "datetime64[ns, ]"):
        with pytest.raises(TypeError):
            Index(key_dtype=dtype)
    for keys, dtype in ((ZONED, "M8[us]"), (WALL, "M8[us, UTC]")):
        with pytest.raises(TypeError, match="zone"):
            Index(keys, 0, key_dtype=dtype)
    index = Index(key_dtype="M8[s, UTC]", value_dtype="M8[s, UTC]")
    assert pandas.isna(index.setdefault(ZONED[0]))
    assert index.get_many([ZONED[0]])[0].isna().all()


def test_values_come_back_with_their_zone():
    index = Index([2, 1], ZONED[:2])
    assert index[1] == ZONED[1]
    assert index.get_many([2, 3])[0].tolist() == [ZONED[0], pandas.NaT]
    assert list(index.values()) == [ZONED[1], ZONED[0]]
    room = np.empty(2, "M8[us]")
    assert index.get_many([2, 3], out=room)[0] is room
    texts = StringIndex(["a"], ZONED[:1])
    assert (texts["a"], texts.value_zone) == (ZONED[0], "America/New_York")
    for other in (texts.copy(), pickle.loads(pickle.dumps(texts)), StringIndex.from_pandas(texts.to_pandas())):
        assert other == texts
        assert other["a"] == ZONED[0]
    texts.update(texts)
    assert texts != StringIndex(["a"], WALL[:1])
    if pytest.importorskip("pyarrow"):
        assert StringIndex.from_arrow(texts)["a"] == ZONED[0]


# ---- copies, pickles and files ----


def test_copies_pickles_and_files_keep_the_zone(quotes, tmp_path):
    quotes.save(tmp_path / "quotes.arrow")
    strings = StringIndex(["a"], ZONED[:1])
    strings.save(tmp_path / "strings.arrow")
    assert StringIndex.open(tmp_path / "strings.arrow")["a"] == ZONED[0]
    others = [
        quotes.copy(),
        copy.deepcopy(quotes),
        pickle.loads(pickle.dumps(quotes)),
        Index.open(tmp_path / "quotes.arrow"),
    ]
    for other in others:
        assert other == quotes
        assert other.key_zone == "America/New_York"
        assert other.peekitem(0)[0] == ZONED[0]
    rows = pickle.loads(pickle.dumps(MultiIndex(ZONED)))
    assert rows.key_zone == rows.copy().key_zone == "America/New_York"
    assert rows == MultiIndex(ZONED)
    assert rows != MultiIndex(ZONED.tz_convert("UTC").tz_localize(None))
    assert Index.open(tmp_path / "quotes.arrow", key_dtype=ZONED.dtype) == quotes
    for dtype in ("M8[us]", "datetime64[us, UTC]", "datetime64[ns, America/New_York]"):
        with pytest.raises(ValueError, match="the file has keys of dtype datetime64.us, America/New_York."):
            Index.open(tmp_path / "quotes.arrow", key_dtype=dtype)


def test_a_directory_keeps_the_zone(tmp_path):
    with DurableIndex(tmp_path, ZONED[:2], [1.5, 2.5]) as index:
        index[ZONED[2]] = 3.5
    for open_again in (
        DurableIndex,
        DurableIndex.open,
        Index.open,
        lambda path: DurableIndex(path, key_dtype=ZONED.dtype),
    ):
        with open_again(tmp_path) as index:
            assert index.key_zone == "America/New_York"
            assert dict(index) == dict(zip(ZONED[:3], [1.5, 2.5, 3.5], strict=True))
            assert index.copy().key_zone == "America/New_York"
            with pytest.raises(TypeError, match="zone"):
                index[WALL[3]] = 1.0
            index.snapshot()
    for dtype in ("M8[us]", "datetime64[us, UTC]"):
        with pytest.raises(ValueError, match="the directory has keys"):
            DurableIndex(tmp_path, key_dtype=dtype)


def test_files_without_the_mark_open_as_before_and_say_what_they_are_taken_for(tmp_path):
    times = WALL[:3].to_numpy()
    with pytest.warns(UserWarning, match="the file was written before zones were kept.*without a zone"):
        index = Index.open(OLD / "index.arrow")
    assert (index.key_zone, list(index)) == (None, list(times))
    with pytest.warns(UserWarning, match="the pickle was"):
        assert pickle.loads((OLD / "index.pickle").read_bytes()) == index
    shutil.copytree(OLD / "durable", tmp_path / "durable")
    for _ in range(2):
        with pytest.warns(UserWarning, match="the directory was"), DurableIndex(tmp_path / "durable") as durable:
            assert durable == index
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        utc = Index.open(OLD / "index.arrow", key_dtype="datetime64[us, UTC]")
        assert list(utc) == list(WALL[:3].tz_localize("UTC"))
        assert Index.open(OLD / "index.arrow", key_dtype="M8[us]") == index
        with pytest.raises(ValueError, match="not M8.ns."):
            Index.open(OLD / "index.arrow", key_dtype="M8[ns]")
        # A zone that was given once is known from then on.
        with DurableIndex.open(tmp_path / "durable", key_dtype="datetime64[us, Europe/Berlin]") as durable:
            assert durable == utc
        with DurableIndex(tmp_path / "durable") as durable:
            assert (durable.key_zone, durable == utc) == ("Europe/Berlin", True)
        # Times that never had a zone are known as such, and other dtypes have none.
        index.save(tmp_path / "naive.arrow")
        assert Index.open(tmp_path / "naive.arrow") == index
        Index(np.array([0.5], "f4"), [1]).save(tmp_path / "f4.arrow")
        narrow = Index.open(tmp_path / "f4.arrow", key_dtype="f4", value_dtype="i8")
        assert narrow.get_many(np.array([0.5, 1.5], "f4"))[1].tolist() == [True, False]
        assert Index.open(OLD / "numbers.arrow") == {1: 10, 2: 20}
        assert pickle.loads((OLD / "numbers.pickle").read_bytes()) == {1: 10, 2: 20}
        assert pickle.loads((OLD / "strings.pickle").read_bytes()) == {"a": 1, "b": 2}
        assert pickle.loads((OLD / "rows.pickle").read_bytes()).rows(1).tolist() == [0, 1]


# ---- other libraries ----


def test_arrow_passes_the_zone_on(quotes):
    pyarrow = pytest.importorskip("pyarrow")
    table = quotes.to_arrow()
    assert table["key"].type == pyarrow.timestamp("us", "America/New_York")
    assert pyarrow.schema(quotes) == table.schema
    table.validate(full=True)
    assert table["key"].to_pylist() == [each.to_pydatetime() for each in ZONED]
    other = Index.from_arrow(table)
    assert (other == quotes, other.key_zone) == (True, "America/New_York")
    assert Index.from_arrow(pyarrow.table({"a": [1, 2], "b": table["key"][:2]})).value_zone == "America/New_York"
    assert quotes.get_many(table["key"])[1].all()
    assert quotes.get_many(table["key"].combine_chunks())[1].all()
    assert Index(table["key"], table["value"]) == quotes
    with pytest.raises(TypeError, match="have none"):
        quotes.get_many(table["key"].cast(pyarrow.timestamp("us")))


def test_columns_of_pandas_that_arrow_holds(quotes):
    pyarrow = pytest.importorskip("pyarrow")
    times = pandas.Series(ZONED).astype(pandas.ArrowDtype(pyarrow.timestamp("us", "America/New_York")))
    index = Index(times, np.arange(60.0))
    assert (index == quotes, index.key_zone) == (True, "America/New_York")
    assert quotes.asof(times)[1].tolist() == list(range(60))
    with pytest.raises(TypeError, match="zone"):
        Index(WALL, 0).get_many(times)
    naive = pandas.Series(WALL).astype(pandas.ArrowDtype(pyarrow.timestamp("us")))
    assert Index(naive, np.arange(60.0)) == Index(WALL, np.arange(60.0))
    days = pandas.Series(
        [datetime.date(2024, 3, 2), datetime.date(2024, 3, 1)], dtype=pandas.ArrowDtype(pyarrow.date32())
    )
    index = Index(days, days)
    assert (index.key_dtype, list(index)) == (
        np.dtype("M8[D]"),
        [np.datetime64("2024-03-01"), np.datetime64("2024-03-02")],
    )
    assert index.get_many(days)[1].all()
    with pytest.raises(ValueError, match="null"):
        index.get_many(pandas.Series([None], dtype=days.dtype))


def test_columns_of_polars(quotes):
    polars = pytest.importorskip("polars")
    frame = quotes.to_polars()
    assert frame.schema["key"] == polars.Datetime("us", "America/New_York")
    assert Index.from_arrow(frame) == quotes
    assert Index(frame["key"], frame["value"]) == quotes
    assert quotes.get_many(frame["key"])[1].all()
    assert Index(key_dtype=frame.schema["key"]).key_zone == "America/New_York"
    with pytest.raises(TypeError, match="zone"):
        quotes.get_many(frame["key"].dt.replace_time_zone(None))
    with pytest.raises(TypeError, match="zone"):
        Index(WALL, 0).get_many(frame["key"])


def test_without_pandas_it_says_what_is_wanted():
    from conftest import printed

    code = """
import sys
sys.modules["pandas"] = None
import datetime
from latchless import Index
key = datetime.datetime(2024, 3, 1, 9, 30, tzinfo=datetime.timezone.utc)
index = Index([key], [7])
assert (index[key], index.get_many([key])[0].tolist(), len(index.copy())) == (7, [7], 1)
try:
    index.range()
except ImportError as error:
    print(error)
"""
    assert printed(code) == (
        "NumPy has no times with a zone, so answers in the zone UTC need pandas: pip install pandas\n"
    )
