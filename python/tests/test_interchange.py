"""Arrow and pickles."""

import pickle

import numpy as np
import pytest
from conftest import KEY_DTYPES, WITHOUT_PYARROW, assert_same, model_of, printed, random_column

from latchless import Index


@pytest.fixture
def quotes():
    times = np.datetime64("2024-01-01", "ns") + np.arange(5000).astype("m8[ms]")
    return Index(times, np.linspace(99, 101, 5000))


# ---- pickles ----


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(quotes, protocol):
    other = pickle.loads(pickle.dumps(quotes, protocol))
    assert other == quotes
    assert (other.key_dtype, other.value_dtype) == (quotes.key_dtype, quotes.value_dtype)
    other.insert_many(quotes.to_numpy()[0], 1.0)
    assert other != quotes


@pytest.mark.parametrize("dtype", [*KEY_DTYPES, "bool"])
def test_pickles_keep_every_dtype(rng, dtype):
    index = Index(random_column(rng, dtype, 500), random_column(rng, "f4", 500))
    other = pickle.loads(pickle.dumps(index))
    assert_same(other.to_numpy()[0], index.to_numpy()[0])
    assert_same(other.to_numpy()[1], index.to_numpy()[1])


def test_pickles_pass_arrays_out_of_band(quotes):
    buffers = []
    data = pickle.dumps(quotes, 5, buffer_callback=buffers.append)
    assert len(data) < 500
    assert sum(buffer.raw().nbytes for buffer in buffers) == 16 * len(quotes)
    read_only = [memoryview(bytes(buffer)) for buffer in buffers]
    assert pickle.loads(data, buffers=read_only) == quotes


# ---- Arrow ----


def test_pyarrow(quotes):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(quotes)
    assert table.column_names == ["key", "value"]
    assert table.schema.types == [pyarrow.timestamp("ns"), pyarrow.float64()]
    assert_same(table["key"].to_numpy(), quotes.to_numpy()[0])
    assert Index.from_arrow(table) == quotes
    assert Index.from_arrow(table.to_reader(max_chunksize=700)) == quotes
    assert Index.from_arrow(table, key="key", value="value", assume_sorted=True) == quotes
    shuffled = table.take(np.random.default_rng(1).permutation(len(table)))
    assert Index.from_arrow(shuffled) == quotes
    for missing in ("price", 7):
        with pytest.raises((KeyError, IndexError)):
            Index.from_arrow(table, value=missing)
    texts = pyarrow.table({"a": ["x"], "b": [1]})
    assert Index.from_arrow(texts) == Index(["x"], [1])
    assert Index.from_arrow(texts, "b", "a") == Index([1], ["x"])


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8", "M8[s]", "M8[ns]", "m8[us]", "bool"])
def test_every_dtype_through_arrow(rng, dtype):
    pyarrow = pytest.importorskip("pyarrow")
    keys, values = random_column(rng, dtype, 300), random_column(rng, dtype, 300)
    index = Index.from_arrow(pyarrow.table({"a": keys, "b": values}))
    expected = model_of(keys, values)
    assert index.key_dtype == np.dtype(dtype)
    assert_same(index.to_numpy()[0], expected[0])
    assert Index.from_arrow(index) == index


@pytest.mark.parametrize("value_dtype", ["bool", "i2", "f4", "M8[D]", "u8"])
@pytest.mark.parametrize(
    "dtype", ["i1", "u2", "i4", "u8", "f4", "f8", "M8[s]", "M8[ms]", "M8[ns]", "m8[us]", "bool"]
)
def test_our_streams_are_what_pyarrow_makes_of_the_columns(rng, dtype, value_dtype):
    pyarrow = pytest.importorskip("pyarrow")
    values = rng.integers(-400_000, 400_000, 1003).view("M8[D]") if value_dtype == "M8[D]" else None
    values = random_column(rng, value_dtype, 1003) if values is None else values
    index = Index(random_column(rng, dtype, 1003), values)
    table = pyarrow.table(index)
    table.validate(full=True)
    keys, values = index.to_numpy()
    assert table.equals(pyarrow.table({"key": keys, "value": values}))
    assert pyarrow.schema(index) == table.schema
    assert Index.from_arrow(table.slice(77)).to_numpy()[0].tolist() == keys[77:].tolist()
    assert_same(Index.from_arrow(table.slice(77, 401)).to_numpy()[1], values[77:478])


def test_empty_streams():
    pyarrow = pytest.importorskip("pyarrow")
    empty = Index(key_dtype="M8[s]", value_dtype="bool")
    assert pyarrow.table(empty).num_rows == 0
    assert Index.from_arrow(empty).key_dtype == np.dtype("M8[s]")
    assert (
        len(Index.from_arrow(pyarrow.table({"a": pyarrow.array([], "int8"), "b": pyarrow.array([], "bool")}))) == 0
    )


def test_nat_is_null_in_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    for dtype in ("M8[ns]", "m8[s]", "M8[D]"):
        index = Index(range(20), np.where(np.arange(20) % 3 == 1, np.int64(-(2**63)), np.arange(20)).view(dtype))
        column = pyarrow.table(index)["value"]
        assert [each is None for each in column.to_pylist()] == [at % 3 == 1 for at in range(20)]
        with pytest.raises(ValueError, match="7 are in column 1"):
            Index.from_arrow(index)


def test_times_that_arrow_has_not_are_a_type_error():
    for dtype in ("M8[h]", "M8[Y]", "m8[D]", "M8[ps]"):
        index = Index(np.array([1, 2]).view(dtype), 1)
        for ask in (index.__arrow_c_stream__, index.__arrow_c_schema__):
            with pytest.raises(TypeError, match="Arrow has no type for"):
                ask()
    with pytest.raises(OverflowError, match="dates"):
        Index(np.array([2**40]).view("M8[D]"), 1).__arrow_c_stream__()


def test_streams_may_be_left_unread_and_read_in_part(quotes):
    pyarrow = pytest.importorskip("pyarrow")
    for _ in range(100):
        quotes.__arrow_c_stream__()
        quotes.__arrow_c_schema__()
    reader = pyarrow.RecordBatchReader.from_stream(quotes)
    batch = reader.read_next_batch()
    del reader
    assert batch.num_rows == 5000
    assert batch.column(1).to_numpy()[-1] == 101


def test_columns_by_name_and_position():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"text": ["x", "y"], "k": [2, 1], "v": [0.5, 1.5]})
    for key, value in (("k", "v"), (1, 2), (-2, -1), (np.int64(1), "v")):
        assert Index.from_arrow(table, key, value) == {1: 1.5, 2: 0.5}
    assert Index.from_arrow(table, "k", "k") == {1: 1, 2: 2}
    for missing, error in (("price", KeyError), (3, IndexError), (-4, IndexError), (1.5, TypeError)):
        with pytest.raises(error):
            Index.from_arrow(table, missing, "v")
    twice = pyarrow.Table.from_arrays([table["k"], table["v"]], names=["a", "a"])
    with pytest.raises(KeyError, match="more than one"):
        Index.from_arrow(twice, "a")
    assert Index.from_arrow(twice) == {1: 1.5, 2: 0.5}


def test_columns_of_every_other_type_are_a_type_error_that_names_it():
    pyarrow = pytest.importorskip("pyarrow")
    columns = {
        "dictionary": pyarrow.array(["a"]).dictionary_encode(),
        "null": pyarrow.nulls(1),
        "nested": pyarrow.array([[1]]),
        "decimal": pyarrow.array([1]).cast(pyarrow.decimal128(20)),
        "time of day": pyarrow.array([1], pyarrow.time64("us")),
        "float16": pyarrow.array([np.float16(1)]),
    }
    for name, column in columns.items():
        for key, value in ((0, 1), (1, 0)):
            with pytest.raises(TypeError, match=name):
                Index.from_arrow(pyarrow.table({"a": column, "b": [1]}), key, value)
    for other in ([1, 2], {"a": [1], "b": [2]}, None, np.arange(3)):
        with pytest.raises(TypeError, match="no Arrow stream"):
            Index.from_arrow(other)
    with pytest.raises(TypeError, match="no columns"):
        Index.from_arrow(pyarrow.array([1, 2]))


def test_batches_and_structs_and_zones(quotes):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(quotes)
    assert Index.from_arrow(table.to_batches()[0]) == quotes
    assert Index.from_arrow(table.to_struct_array().chunk(0)) == quotes
    zoned = table.set_column(0, "key", table["key"].cast(pyarrow.timestamp("ns", "Europe/Berlin")))
    assert Index.from_arrow(zoned) != quotes
    assert Index.from_arrow(zoned).to_arrow().schema == zoned.schema
    dates = pyarrow.table(
        {"day": pyarrow.array([19_000, 1], "date32"), "ms": pyarrow.array([86_400_000, 0], "date64")}
    )
    index = Index.from_arrow(dates)
    assert index.to_numpy()[0].tolist() == np.array(["1970-01-02", "2022-01-08"], "M8[D]").tolist()
    assert index.value_dtype == np.dtype("M8[ms]")


def test_what_goes_wrong_in_a_producer_is_told(quotes):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(quotes)

    def broken():
        yield table.to_batches()[0]
        raise RuntimeError("the line went dead")

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, broken())
    with pytest.raises(ValueError, match="the line went dead"):
        Index.from_arrow(reader)

    class Spent:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    capsule = quotes.__arrow_c_stream__()
    assert Index.from_arrow(Spent()) == quotes
    with pytest.raises(ValueError, match="used up"):
        Index.from_arrow(Spent())


def test_without_pyarrow():
    pytest.importorskip("polars")
    code = """
from latchless import Index
index = Index([3, 1], [0.5, 1.5])
frame = polars.from_dataframe(index)
assert frame.rows() == [(1, 1.5), (3, 0.5)], frame
assert Index.from_arrow(frame) == index
assert Index.from_arrow(frame.lazy().collect(), "value", "key") == {0.5: 3, 1.5: 1}
assert Index.from_arrow(index) == index
to_arrow(index)
"""
    assert printed(WITHOUT_PYARROW + code) == "this needs pyarrow: pip install latchless[arrow]\n"


def test_polars(quotes):
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    frame = polars.from_dataframe(quotes)
    assert frame.equals(polars.DataFrame(quotes.to_arrow()))
    assert_same(frame["key"].to_numpy(), quotes.to_numpy()[0])
    assert Index.from_arrow(frame) == quotes
    assert quotes.get_many(frame["key"])[1].all()


def test_pandas(quotes):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    keys, values = quotes.to_numpy()
    frame = pandas.DataFrame({"time": keys, "price": values})
    assert Index.from_arrow(frame, "time", "price") == quotes
    assert Index(frame["time"], frame["price"]) == quotes
    assert quotes.get_many(frame["time"])[1].all()
    assert quotes.get_many(pandas.DatetimeIndex(frame["time"]))[1].all()
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert_same(pandas.DataFrame.from_arrow(quotes)["value"].to_numpy(), values)


def test_duckdb(quotes):
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    table = quotes.to_arrow()
    connection.register("quotes", table)
    answer = connection.execute("select count(*), min(value) from quotes").fetchall()
    assert answer == [(5000, 99.0)]
    doubled = Index.from_arrow(connection.sql("select key, value * 2 as twice from quotes"), "key", "twice")
    assert_same(doubled.to_numpy()[1], quotes.to_numpy()[1] * 2)
