"""Files: opening one gives the saved entries, and failures are reported."""

import errno
import os
import random
import resource
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import KEY_DTYPES, assert_same, in_child, random_column

from latchless import BytesIndex, Index, StringIndex


@pytest.fixture
def quotes():
    times = np.datetime64("2024-01-01", "ns") + np.arange(5000).astype("m8[ms]")
    return Index(times, np.linspace(99, 101, 5000))


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
    other.check_invariants()
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


@pytest.mark.slow
def test_a_large_file(rng, tmp_path):
    """Three batches of Arrow's, the last one not full."""
    keys = np.unique(rng.integers(0, 2**62, 2_500_000))
    index = Index(keys, ~keys, assume_sorted=True)
    path = tmp_path / "index.arrow"
    assert index.save(path) == len(keys)
    assert 16 * len(keys) < path.stat().st_size < 16 * len(keys) + 10_000
    twice = [Index.open(path), Index.open(path, fill=1.0)]
    twice[0][1] = 5
    for opened in twice:
        assert_same(opened.get_many(keys)[0], ~keys)
    assert (len(twice[0]), len(twice[1])) == (len(keys) + 1, len(keys))


READER = """
import sys
from latchless import Index
opened = set()
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    index = Index.open(sys.argv[1])
    keys, values = index.to_numpy()
    assert (values == values[0]).all() and len(keys) == 50_000 * values[0], (len(keys), values[0])
    opened.add(int(values[0]))
print(sorted(opened))
"""


def test_a_file_is_replaced_while_another_process_opens_it(tmp_path):
    path = tmp_path / "index.arrow"
    indexes = [Index(np.arange(50_000 * count), count) for count in (1, 2)]
    indexes[0].save(path)
    command = [sys.executable, "-c", READER, str(path), "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "ready\n"
        while reader.poll() is None:
            for index in indexes[::-1]:
                index.save(path)
        assert reader.returncode == 0, reader.stderr.read()
        assert reader.stdout.read() == "[1, 2]\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.arrow"]


def test_threads_save_to_one_path(tmp_path):
    path = tmp_path / "index.arrow"
    indexes = [Index(np.arange(10_000), count) for count in range(4)]
    threads = [threading.Thread(target=index.save, args=(path,)) for index in indexes for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Index.open(path) in indexes
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.arrow"]


def fails(error, number, work, *, path):
    with pytest.raises(error) as caught:
        work()
    assert caught.value.errno == number
    assert str(path) in str(caught.value.filename)
    assert "can't" in caught.value.strerror


def test_errors_of_the_system_have_their_number_and_the_file(quotes, tmp_path):
    missing = tmp_path / "none" / "index.arrow"
    fails(FileNotFoundError, errno.ENOENT, lambda: Index.open(missing), path=missing)
    fails(FileNotFoundError, errno.ENOENT, lambda: quotes.save(missing), path=missing)
    fails(IsADirectoryError, errno.EISDIR, lambda: Index.open(tmp_path), path=tmp_path)
    fails(IsADirectoryError, errno.EISDIR, lambda: quotes.save(tmp_path), path=tmp_path)
    file = tmp_path / "file"
    file.write_bytes(b"")
    fails(NotADirectoryError, errno.ENOTDIR, lambda: quotes.save(file / "index.arrow"), path=file)
    long = tmp_path / ("x" * 300)
    fails(OSError, errno.ENAMETOOLONG, lambda: quotes.save(long), path=long)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_may_not_be_written(quotes, tmp_path):
    tmp_path.chmod(0o755)
    path = tmp_path / "index.arrow"
    quotes.save(path)
    path.chmod(0o600)
    os.chdir(tmp_path)

    def as_nobody():
        os.setgid(65534)
        os.setuid(65534)
        fails(PermissionError, errno.EACCES, lambda: quotes.save("other.arrow"), path="other.arrow")
        fails(PermissionError, errno.EACCES, lambda: Index.open("index.arrow"), path="index.arrow")

    in_child(as_nobody)
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.arrow"]


def test_a_full_disk_leaves_the_old_file(quotes, tmp_path):
    """A limit of file sizes is refused as a full disk is: in the middle of a write."""
    path = tmp_path / "index.arrow"
    quotes.save(path)
    before = path.read_bytes()
    large = Index(np.arange(100_000), 0)

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        fails(OSError, errno.EFBIG, lambda: large.save(path), path=path)

    in_child(limited)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.arrow"]


def saves():
    """An index of each class that has files."""
    return [Index([1, 2], [1.5, 2.5]), StringIndex(["a"], [1]), BytesIndex([b"a"], [1])]


@pytest.mark.skipif(os.name != "posix", reason="permissions of another kind")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_save_keeps_the_permissions_of_the_file_that_it_replaces(tmp_path, mode):
    path = tmp_path / "index.arrow"
    for index in saves():
        path.unlink(missing_ok=True)
        path.write_bytes(b"before")
        path.chmod(mode)
        index.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert len(type(index).open(path)) == len(index)


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_save_goes_through_a_symbolic_link(tmp_path):
    (tmp_path / "far").mkdir()
    link, target = tmp_path / "link", tmp_path / "far" / "index.arrow"
    link.symlink_to("far/index.arrow")
    for index in saves():
        index.save(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert len(type(index).open(target)) == len(index)
    assert [entry.name for entry in (tmp_path / "far").iterdir()] == ["index.arrow"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_a_save_refuses_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for index in saves():
        with pytest.raises(OSError, match="a FIFO") as refused:
            index.save(tmp_path / "fifo")
        assert refused.value.filename == str(tmp_path / "fifo")
        with pytest.raises(IsADirectoryError, match="a folder"):
            index.save(tmp_path / "folder")
    assert (tmp_path / "fifo").is_fifo()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["fifo", "folder"]
