"""`Frozen`: a saved index, read where it lies, answers as the index does."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import KEY_DTYPES, VALUE_DTYPES, assert_same, random_column

from latchless import Frozen, Index

OLD = Path(__file__).parent / "old"


def saved(index, tmp_path):
    path = tmp_path / "index.arrow"
    index.save(path)
    return Frozen.open(path)


@pytest.mark.parametrize("value_dtype", VALUE_DTYPES)
@pytest.mark.parametrize("dtype", [*KEY_DTYPES, "bool"])
def test_numbers(rng, tmp_path, dtype, value_dtype):
    index = Index(random_column(rng, dtype, 3000), random_column(rng, value_dtype, 3000))
    frozen = saved(index, tmp_path)
    assert (frozen.key_dtype, frozen.value_dtype) == (index.key_dtype, index.value_dtype)
    assert len(frozen) == len(index)
    frozen.verify()
    keys, values = index.to_numpy()
    assert_same(frozen.range()[0], keys)
    assert_same(frozen.range()[1], values)
    assert list(frozen) == keys.tolist() or keys.dtype.kind in "Mm"
    asked = np.concatenate([random_column(rng, dtype, 500), keys[::7]])
    for mine, its in zip(frozen.get_many(asked), index.get_many(asked), strict=True):
        assert_same(mine, its)
    for key in asked[::23]:
        for question in ("get", "floor", "ceiling", "lower", "higher", "rank"):
            mine, its = getattr(frozen, question)(key), getattr(index, question)(key)
            assert mine == its or str(mine) == str(its), (question, key)
        assert (key in frozen) == (key in index)
    low, high = sorted([keys[len(keys) // 3], keys[len(keys) // 2]])
    for mine, its in zip(frozen.range(low, high), index.range(low, high), strict=True):
        assert_same(mine, its)
    assert frozen.count(low, high) == len(index.range(low, high)[0])
    assert frozen.count(high, low) == 0
    assert frozen.first()[0] == keys[0]
    assert frozen.last()[0] == keys[-1] == frozen.nth(-1)[0]


@pytest.mark.parametrize(
    "values", [[3, 1, 2, 4], [0.5, 1.5, 2.5, 3.5], ["three", "", "two", "ö"], [b"\0", b"", b"x", b"y"]]
)
@pytest.mark.parametrize("keys", [["cat", "ant", "bee", ""], [b"cat\0", b"cat", b"\xff", b""]])
def test_strings(tmp_path, keys, values):
    index = Index(keys, values)
    frozen = saved(index, tmp_path)
    frozen.verify()
    assert list(frozen) == sorted(keys)
    assert list(frozen.range()[1]) == list(index.values())
    for key in [*keys, keys[0] + keys[0], keys[0][:2]]:
        for question in ("get", "floor", "ceiling", "lower", "higher", "rank"):
            assert getattr(frozen, question)(key) == getattr(index, question)(key)
    there, found = frozen.get_many([keys[1], keys[0] + keys[0]])
    assert (there[0], found.tolist()) == (index[keys[1]], [True, False])
    assert 7 not in frozen
    with pytest.raises(KeyError):
        frozen[keys[0] + keys[0]]
    with pytest.raises(TypeError):
        frozen.floor(7)


def test_times_with_a_zone(tmp_path):
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-01-01", periods=5, freq="h", tz="Europe/Berlin")
    frozen = saved(Index(times, range(5)), tmp_path)
    assert frozen[times[3]] == 3
    assert frozen.floor(times[2] + pandas.Timedelta(1, "s"))[0] == times[2]
    assert frozen.range(times[1], times[3])[0].tolist() == times[1:3].tolist()


def test_other_programs_read_the_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    keys = np.arange(0, 2_500_000, 2, dtype=np.uint64)
    frozen = saved(Index(keys, keys * 3), tmp_path)
    path = tmp_path / "index.arrow"
    table = pyarrow.ipc.open_file(pyarrow.memory_map(str(path))).read_all()
    assert table.column_names == ["key", "value"]
    assert_same(table["key"].to_numpy(), keys)
    with path.open("rb") as stream:
        stream.read(8)
        assert pyarrow.ipc.open_stream(stream).read_all().num_rows == len(keys)
    assert frozen[2_000_000] == 6_000_000
    assert frozen.nbytes < 16.2 * len(keys)
    polars = pytest.importorskip("polars")
    assert polars.read_ipc(path)["value"].to_list()[-1] == 3 * int(keys[-1])


def test_keys_that_are_none(tmp_path):
    frozen = saved(Index([0.0, 1.0], [5, 6]), tmp_path)
    assert frozen[-0.0] == 5
    assert frozen.get(float("nan")) is None
    with pytest.raises(ValueError, match="position 1 is NaN"):
        frozen.get_many([1.0, float("nan")])
    whole = saved(Index([1, 2], [5, 6], key_dtype="i2"), tmp_path)
    assert 1 << 40 not in whole
    assert "1" not in whole
    assert whole.range(5, None)[0].dtype == np.int16
    with pytest.raises(IndexError):
        whole.nth(2)


def test_empty(tmp_path):
    frozen = saved(Index(), tmp_path)
    assert (len(frozen), frozen.first(), frozen.last(), list(frozen)) == (0, None, None, [])
    assert frozen.get_many([1])[1].tolist() == [False]
    assert repr(frozen) == "<Frozen of 0 entries, key_dtype='int64', value_dtype='int64'>"


def test_what_is_refused(tmp_path):
    path = tmp_path / "index.arrow"
    for index in (
        Index((["a"], [1]), [2]),
        Index([1], {"a": [1], "b": [2]}),
        Index([1], ["a"]),
    ):
        index.save(path)
        with pytest.raises(ValueError, match=r"Index\.open opens it"):
            Frozen.open(path)
    with pytest.raises(ValueError, match="no directory"):
        Frozen.open(OLD / "numbers.arrow")
    with pytest.raises(FileNotFoundError):
        Frozen.open(tmp_path / "absent")
    with pytest.raises(TypeError):
        Frozen([1], [2])
    Index([1], [2]).save(path)
    with pytest.raises(ValueError, match="dtype int64, not f8"):
        Frozen.open(path, key_dtype="f8")
    good = path.read_bytes()
    for cut in (0, 5, 100, len(good) - 1):
        (tmp_path / "cut").write_bytes(good[:cut])
        with pytest.raises(ValueError):
            Frozen.open(tmp_path / "cut")


def test_damage_is_found(tmp_path):
    index = Index(range(100), range(100))
    index.save(tmp_path / "good")
    bad = bytearray((tmp_path / "good").read_bytes())
    at = bad.index((99).to_bytes(8, "little"))
    bad[at] ^= 2
    (tmp_path / "bad").write_bytes(bad)
    frozen = Frozen.open(tmp_path / "bad")
    with pytest.raises(ValueError, match="checksum"):
        frozen.verify()


def test_a_save_over_an_open_file(tmp_path):
    before = saved(Index([1, 2], [5, 6]), tmp_path)
    after = saved(Index([1], [9]), tmp_path)
    assert (before[1], len(before), after[1], len(after)) == (5, 2, 9, 1)


def test_another_process(tmp_path):
    saved(Index(range(1000), range(1000)), tmp_path)
    code = "import sys; from latchless import Frozen; print(sum(Frozen.open(sys.argv[1]).range()[1]))"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "index.arrow")], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "499500\n"
