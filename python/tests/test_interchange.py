"""Arrow, pickles and files."""

import pickle
import random

import numpy as np
import pytest
from conftest import KEY_DTYPES, assert_same, model_of, random_column

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
    with pytest.raises(TypeError):
        Index.from_arrow(pyarrow.table({"a": ["x"], "b": [1]}))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8", "M8[s]", "M8[ns]", "m8[us]", "bool"])
def test_every_dtype_through_arrow(rng, dtype):
    pyarrow = pytest.importorskip("pyarrow")
    keys, values = random_column(rng, dtype, 300), random_column(rng, dtype, 300)
    index = Index.from_arrow(pyarrow.table({"a": keys, "b": values}))
    expected = model_of(keys, values)
    assert index.key_dtype == np.dtype(dtype)
    assert_same(index.to_numpy()[0], expected[0])
    assert Index.from_arrow(index) == index


def test_polars(quotes):
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(quotes.to_arrow())
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


# ---- files ----


@pytest.mark.parametrize("value_dtype", ["i8", "f4", "bool", "u2"])
@pytest.mark.parametrize("dtype", [*KEY_DTYPES, "bool"])
def test_files(rng, tmp_path, dtype, value_dtype):
    index = Index(random_column(rng, dtype, 3000), random_column(rng, value_dtype, 3000))
    path = tmp_path / "index.arrow"
    assert index.save(path) == len(index)
    other = Index.open(path)
    assert (other.key_dtype, other.value_dtype) == (index.key_dtype, index.value_dtype)
    assert_same(other.to_numpy()[0], index.to_numpy()[0])
    assert_same(other.to_numpy()[1], index.to_numpy()[1])
    other.check()
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.arrow"]


def test_files_are_arrow_files(quotes, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "quotes.arrow"
    quotes.save(str(path))
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
    assert table.schema.types == [pyarrow.timestamp("ns"), pyarrow.float64()]
    assert_same(table["value"].to_numpy(), quotes.to_numpy()[1])
    polars = pytest.importorskip("polars")
    assert polars.read_ipc(path)["key"].is_sorted()


def test_empty_indexes_have_files(tmp_path):
    Index(key_dtype="M8[D]").save(tmp_path / "empty.arrow")
    assert len(Index.open(tmp_path / "empty.arrow")) == 0
    assert Index.open(tmp_path / "empty.arrow").key_dtype == np.dtype("M8[D]")


def test_every_cut_file_is_a_value_error(tmp_path):
    path = tmp_path / "index.arrow"
    Index([1, 2, 3], [1.5, 2.5, 3.5]).save(path)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match="."):
            Index.open(path)


def test_flipped_bits_are_a_value_error(tmp_path):
    path = tmp_path / "index.arrow"
    Index(np.arange(50), np.arange(50) / 2).save(path)
    data = path.read_bytes()
    chosen = random.Random(7).sample(range(8 * len(data)), 600)
    for bit in chosen:
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="."):
            Index.open(path)


def test_other_files(quotes, tmp_path):
    with pytest.raises(FileNotFoundError):
        Index.open(tmp_path / "none.arrow")
    with pytest.raises(OSError, match="."):
        quotes.save(tmp_path / "none" / "index.arrow")
    path = tmp_path / "index.arrow"
    quotes.save(path)
    with pytest.raises(MemoryError):
        Index.open(path, limit_bytes=10_000)
    with pytest.raises(ValueError, match="fill"):
        Index.open(path, fill=0)
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.ipc.new_file(path, quotes.to_arrow().schema) as file:
        file.write_table(quotes.to_arrow())
    with pytest.raises(ValueError, match="snapshot"):
        Index.open(path)


def test_a_file_made_while_others_write_has_what_nobody_touched(tmp_path):
    import threading

    stable = np.arange(0, 200_000, 2)
    index = Index(stable, stable)
    done = threading.Event()

    def write():
        rng = np.random.default_rng(1)
        while not done.is_set():
            odd = rng.integers(0, 100_000, 5000) * 2 + 1
            index.insert_many(odd, odd)
            index.remove_many(odd[::2])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            index.save(tmp_path / "index.arrow")
            keys, values = Index.open(tmp_path / "index.arrow").to_numpy()
            assert_same(keys, values)
            assert_same(keys[keys % 2 == 0], stable)
    finally:
        done.set()
        writer.join()
