"""Files of strings and of bytes: opening one gives the saved entries, and failures are reported."""

import random
import threading

import numpy as np
import pytest
from conftest import assert_same, random_column

from latchless import BytesIndex, Index, StringIndex

CLASSES = [StringIndex, BytesIndex]


def some_keys(made, count):
    texts = ["", *(f"{'é/' * (at % 70)}{at}\0" for at in range(count))]
    return texts if made is StringIndex else [text.encode() for text in texts]


@pytest.mark.parametrize("dtype", ["i8", "u2", "i4", "f4", "f8", "bool", "M8[D]", "M8[ns]", "m8[h]"])
@pytest.mark.parametrize("made", CLASSES)
def test_files(rng, tmp_path, made, dtype):
    keys = some_keys(made, 3000)
    index = made(keys, random_column(rng, dtype, len(keys)))
    path = tmp_path / "index.arrow"
    assert index.save(path) == len(index) == len(keys)
    other = made.open(path)
    assert (type(other), other.value_dtype) == (made, index.value_dtype)
    assert list(other) == sorted(keys)
    assert_same(other.range()[1], index.range()[1])
    other.check_invariants()
    other[keys[5]] = index[keys[6]]
    assert_same(other.get_many(keys[5:6])[0], index.get_many(keys[6:7])[0])
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.arrow"]


@pytest.mark.parametrize("made", CLASSES)
def test_they_are_arrow_files(tmp_path, made):
    pyarrow = pytest.importorskip("pyarrow")
    keys = some_keys(made, 100)
    path = tmp_path / "index.arrow"
    made(keys, np.arange(101) / 2).save(str(path))
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
    table.validate(full=True)
    assert table.schema.types == [pyarrow.string() if made is StringIndex else pyarrow.binary(), pyarrow.float64()]
    assert table["key"].to_pylist() == sorted(keys)
    assert made.from_arrow(table) == made.open(path)
    polars = pytest.importorskip("polars")
    assert polars.read_ipc(path)["key"].to_list() == sorted(keys)


@pytest.mark.parametrize("made", CLASSES)
def test_empty_indexes_and_several_batches(tmp_path, made):
    path = tmp_path / "index.arrow"
    assert made(value_dtype="m8[s]").save(path) == 0
    assert (len(made.open(path)), made.open(path).value_dtype) == (0, np.dtype("m8[s]"))
    count = 1_100_000
    keys = np.char.add("k", np.arange(count).astype("U7"))
    index = made(keys if made is StringIndex else keys.astype("S"), np.arange(count))
    assert index.save(path) == count
    assert made.open(path, fill=1.0) == index


def test_a_file_of_other_keys_names_what_opens_it(tmp_path):
    texts, blobs, numbers = (tmp_path / name for name in ("texts", "blobs", "numbers"))
    StringIndex(["a"], [1]).save(texts)
    BytesIndex([b"a"], [1]).save(blobs)
    Index([1], [1]).save(numbers)
    for opener, path in [(StringIndex, blobs), (BytesIndex, texts), (StringIndex, numbers), (BytesIndex, numbers)]:
        with pytest.raises(ValueError, match=r"Index.open opens such a file$"):
            opener.open(path)


def test_what_cannot_be_opened(tmp_path):
    path = tmp_path / "index.arrow"
    StringIndex([str(at) for at in range(5000)], 0).save(path)
    with pytest.raises(FileNotFoundError):
        StringIndex.open(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        StringIndex().save(tmp_path / "none" / "index.arrow")
    with pytest.raises(MemoryError):
        StringIndex.open(path, limit_bytes=10_000)
    with pytest.raises(ValueError, match="fill"):
        StringIndex.open(path, fill=2)
    pyarrow = pytest.importorskip("pyarrow")
    table = StringIndex(["a"], [1]).to_arrow()
    with pyarrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with pytest.raises(ValueError, match="snapshot"):
        StringIndex.open(path)


@pytest.mark.slow
@pytest.mark.parametrize("made", CLASSES)
def test_every_cut_file_and_flipped_bits_are_a_value_error(tmp_path, made):
    path = tmp_path / "index.arrow"
    made(some_keys(made, 20), 7).save(path)
    data = path.read_bytes()

    def refused(changed):
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="."):
            made.open(path)

    for length in range(len(data)):
        refused(data[:length])
    for bit in random.Random(7).sample(range(8 * len(data)), 400):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        refused(changed)


def test_a_file_made_while_others_write_has_what_nobody_touched(tmp_path):
    stable = [f"stable/{at:06}" for at in range(20_000)]
    index = StringIndex(stable, np.arange(20_000))
    done = threading.Event()

    def write():
        rng = random.Random(1)
        while not done.is_set():
            moving = [f"{rng.choice(stable)}/{at}" for at in range(2000)]
            index.insert_many(moving, 0)
            index.remove_many(moving[::2])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            index.save(tmp_path / "index.arrow")
            opened = StringIndex.open(tmp_path / "index.arrow")
            values, found = opened.get_many(stable)
            assert found.all()
            assert_same(values, np.arange(20_000))
    finally:
        done.set()
        writer.join()
