"""Durable indexes: however the process ends, exactly the acknowledged changes are recovered."""

import copy
import errno
import io
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import (
    KEY_DTYPES,
    VALUE_DTYPES,
    assert_same,
    in_child,
    model_of,
    random_column,
    steps_until_killed,
)

from latchless import DurableIndex, Index, SnapshotPolicy

FIRST_LOG = "log-0000000000000001.redo"


def entries(index):
    return [column.tolist() for column in index.to_numpy()]


# ---- recovery ----


@pytest.mark.parametrize("value_dtype", VALUE_DTYPES)
@pytest.mark.parametrize("dtype", [*KEY_DTYPES, "bool"])
def test_every_dtype_is_back(rng, tmp_path, dtype, value_dtype):
    keys, values = random_column(rng, dtype, 500), random_column(rng, value_dtype, 500)
    with DurableIndex(tmp_path, key_dtype=dtype, value_dtype=value_dtype, sync="never") as index:
        index.insert_many(keys, values)
        index.remove_many(keys[::7])
        index[keys[0]] = values[1]
        expected = index.to_numpy()
    with DurableIndex(tmp_path, sync="never") as index:
        assert (index.key_dtype, index.value_dtype) == (np.dtype(dtype), np.dtype(value_dtype))
        assert (index.recovery.records, index.recovery.snapshot_entries, index.recovery.stopped) == (3, 0, None)
        for got, column in zip(index.to_numpy(), expected, strict=True):
            assert_same(got, column)
        assert index.snapshot() == len(index)
        del index[keys[0]]
        expected = index.to_numpy()
    with DurableIndex.open(tmp_path, sync="never") as index:
        assert (index.recovery.records, index.recovery.snapshot_entries) == (1, len(index) + 1)
        for got, column in zip(index.to_numpy(), expected, strict=True):
            assert_same(got, column)
        index.check_invariants()


@pytest.mark.parametrize("value_dtype", ["i8", "u1"])
@pytest.mark.parametrize("dtype", [*KEY_DTYPES, "bool"])
def test_removed_ranges_of_every_dtype_are_back(rng, tmp_path, dtype, value_dtype):
    """Ends are logged as keys: the word next to one may not exist in a narrower column."""
    keys = np.unique(random_column(rng, dtype, 500, 300))
    index = DurableIndex(tmp_path, keys, np.ones(len(keys), value_dtype), sync="never")
    ends = [None, keys[0], keys[len(keys) // 2], keys[-1]]
    for lo, hi in [(lo, hi) for lo in ends for hi in ends]:
        for closed in ("left", "right", "both", "neither"):
            removed = index.remove_range(lo, hi, closed=closed)
            there = index.to_numpy()[0]
            assert removed == len(keys) - len(there)
            index.close()
            index = DurableIndex(tmp_path, sync="never")
            assert_same(index.to_numpy()[0], there)
            index.insert_many(keys, 1)
        index.snapshot()
    index.close()


def test_every_change_is_logged(tmp_path):
    model = {key: key * 10 for key in range(20)}
    index = DurableIndex(tmp_path, list(model), list(model.values()), sync=0.01)
    index[30] = 1
    index.update({31: 2, 32: 3})
    assert index.setdefault(33, 4) == 4
    assert index.setdefault(0, 9) == 0
    assert index.replace(1, 11) == 10
    assert index.replace(99, 11) is None
    assert index.compare_exchange(2, 20, 22)
    assert not index.compare_exchange(3, 31, 0)
    assert index.compare_remove(4, 40)
    assert not index.compare_remove(5, 51)
    assert index.pop(6) == 60
    assert index.popitem() == (33, 4)
    assert index.popitem(last=False) == (0, 0)
    assert index.remove_range(10, 13) == 3
    assert index.remove_range(closed="left", lo=18) == 5
    assert index.remove_many([7, 7, 99]) == 1
    del index[8]
    with pytest.raises(KeyError):
        del index[8]
    expected = {1: 11, 2: 22, 3: 30, 5: 50, 9: 90} | {key: key * 10 for key in range(13, 18)}
    assert dict(index.items()) == expected
    index.close()
    with DurableIndex(tmp_path) as index:
        assert dict(index.items()) == expected
        index.clear()
        index[1] = 1
    with DurableIndex(tmp_path) as index:
        assert dict(index.items()) == {1: 1}


def test_first_entries_are_on_the_disk(rng, tmp_path):
    keys, values = random_column(rng, "f8", 5000), random_column(rng, "i2", 5000)
    DurableIndex(tmp_path / "new" / "one", keys, values).close()
    expected = model_of(keys, values)
    (tmp_path / "new" / "one" / FIRST_LOG).unlink()
    with DurableIndex.open(tmp_path / "new" / "one") as index:
        assert index.recovery.snapshot_entries == len(index) == len(expected[0])
        for got, column in zip(index.to_numpy(), expected, strict=True):
            assert_same(got, column)
    with pytest.raises(ValueError, match="has an index already"):
        DurableIndex(tmp_path / "new" / "one", keys, values)
    Index.open(tmp_path / "new" / "one" / "snapshot-0000000000000001.arrow").check_invariants()


def test_large_batches(rng, tmp_path):
    """More than one record; sorted first, and shared by threads."""
    keys = rng.integers(0, 2**40, 2_300_000)
    values = np.arange(len(keys))
    with DurableIndex(tmp_path, sync="never") as index:
        before = index.log_nbytes
        index.insert_many(keys, values, threads=2)
        assert index.log_nbytes - before >= 16 * len(keys)
        index.remove_many(keys[:1_200_000], threads=2)
    expected = Index(keys, values)
    expected.remove_many(keys[:1_200_000])
    with DurableIndex(tmp_path) as index:
        assert index.recovery.records >= 5
        assert index == expected


def test_writers_on_many_threads(tmp_path):
    index = DurableIndex(tmp_path, sync="never")

    def write(seed):
        rng = np.random.default_rng(seed)
        for step in range(150):
            keys = rng.integers(0, 50, 20)
            act = step % 4
            if act == 0:
                index.insert_many(keys, seed * 1000 + step)
            elif act == 1:
                index.remove_many(keys[:5])
            elif act == 2:
                index[int(keys[0])] = seed
            elif step % 20 == 3:
                index.snapshot()
            else:
                index.remove_range(int(keys[0]), int(keys[0]) + 3)

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = entries(index)
    index.close()
    with DurableIndex(tmp_path) as index:
        assert entries(index) == expected


# ---- kills ----

WRITER = """
import sys, threading
import numpy as np
from latchless import DurableIndex
directory, sync, dtype, life = sys.argv[1:]
index = DurableIndex(directory, key_dtype=dtype, value_dtype="i8", sync=sync, fenced=int(life) % 2 == 1)
steps = int(index.get(np.array([255], dtype)[0], 0))
if int(life) % 3 == 0:
    def save():
        while True:
            index.snapshot()
    threading.Thread(target=save, daemon=True).start()
print(f"ready {steps}", flush=True)
while True:
    rng = np.random.default_rng(steps)
    keys = rng.integers(0, 200, rng.integers(1, 60)).astype(dtype)
    act = steps % 5
    if act < 3:
        index.insert_many(keys, steps)
    elif act == 3:
        index.remove_many(keys)
    else:
        index.remove_range(keys[0], keys[0] + np.array([5]).astype("m8[s]" if dtype[0] == "M" else dtype)[0])
    steps += 1
    index[np.array([255], dtype)[0]] = steps
    print(steps, flush=True)
"""


def replayed(dtype, steps):
    """The contents of the writer's index after this many steps."""
    index = Index(key_dtype=dtype, value_dtype="i8")
    for step in range(steps):
        rng = np.random.default_rng(step)
        keys = rng.integers(0, 200, rng.integers(1, 60)).astype(dtype)
        if step % 5 < 3:
            index.insert_many(keys, step)
        elif step % 5 == 3:
            index.remove_many(keys)
        else:
            five = np.array([5]).astype("m8[s]" if dtype[0] == "M" else dtype)[0]
            index.remove_range(keys[0], keys[0] + five)
    return index


@pytest.mark.parametrize(("dtype", "sync"), [("i8", "each"), ("M8[s]", "never"), ("f4", "never")])
def test_a_killed_writer_loses_nothing_acknowledged(tmp_path, dtype, sync):
    rng = random.Random(dtype)
    steps = 0
    for life in range(10):
        command = [sys.executable, "-c", WRITER, str(tmp_path), sync, dtype, str(life)]
        steps = steps_until_killed(command, rng, steps)
        with DurableIndex.open(tmp_path, fenced=True) as index:
            key = np.array([255], dtype)[0]
            done = int(index.get(key, 0))
            assert done >= steps
            del index[key]
            found = entries(index)
            # One step more may be there whose own mark isn't.
            assert found in (entries(replayed(dtype, done)), entries(replayed(dtype, done + 1)))
            index[key] = done


def history(directory):
    """A small log, and what the index had after each record, by the log's length."""
    states = []
    with DurableIndex(directory, sync="never") as index:
        states.append((index.log_nbytes, entries(index)))
        for change in (
            lambda: index.insert_many([5, 1, 3], [50, 10, 30]),
            lambda: index.__setitem__(4, 40),
            lambda: index.remove_many([3, 9]),
            lambda: index.remove_range(4, 6),
            lambda: index.insert_many(np.arange(20), 7),
        ):
            change()
            states.append((index.log_nbytes, entries(index)))
    return states


def unmarked(directory, states):
    """The log's bytes as a kill leaves them: without the mark at their end that all of them are on the disk."""
    whole = (directory / FIRST_LOG).read_bytes()
    assert len(whole) == states[-1][0] + 32
    return whole[: states[-1][0]]


@pytest.mark.slow
def test_every_cut_log_gives_the_records_before_the_cut(tmp_path):
    states = history(tmp_path / "whole")
    whole = unmarked(tmp_path / "whole", states)
    for length in range(len(whole)):
        directory = tmp_path / "cut"
        shutil.copytree(tmp_path / "whole", directory)
        (directory / FIRST_LOG).write_bytes(whole[:length])
        size, state = next((each for each in reversed(states) if each[0] <= length), (0, [[], []]))
        with DurableIndex(directory, sync="never") as index:
            assert entries(index) == state
            stopped = index.recovery.stopped
            # A log without all of its first 64 bytes was only being begun.
            if length > 64 and length != size:
                assert (stopped.at, stopped.bytes) == (size, length - size)
                assert stopped.path == directory / FIRST_LOG
                assert stopped.rejected.read_bytes() == whole[size:length]
                assert "ends within" in stopped.what
            index[100] = 1
        with DurableIndex(directory, sync="never") as index:
            assert index.recovery.stopped is None
            assert index.pop(100) == 1
            assert entries(index) == state
        shutil.rmtree(directory)


@pytest.mark.slow
def test_flipped_bits_are_found(tmp_path):
    states = history(tmp_path / "whole")
    closed = (tmp_path / "whole" / FIRST_LOG).read_bytes()
    killed = unmarked(tmp_path / "whole", states)
    draw = random.Random(5)
    for bit, whole in [(bit, draw.choice([closed, killed])) for bit in draw.sample(range(8 * len(killed)), 300)]:
        directory = tmp_path / "flipped"
        shutil.copytree(tmp_path / "whole", directory)
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        (directory / FIRST_LOG).write_bytes(flipped)
        if bit // 8 < 64:
            with pytest.raises(ValueError, match="."):
                DurableIndex(directory)
        elif whole is closed:
            # The mark at its end says that all of it was on the disk.
            with pytest.raises(ValueError, match="is damaged at byte"):
                DurableIndex(directory)
            size, state = next(each for each in reversed(states) if each[0] <= bit // 8)
            with DurableIndex(directory, damaged_tail="set_aside") as index:
                assert entries(index) == state
                stopped = index.recovery.stopped
                assert (stopped.at, stopped.rejected.read_bytes()) == (size, bytes(flipped[size:]))
                assert stopped.whole == len(states) - 2 - states.index((size, state))
        else:
            size, state = next(each for each in reversed(states) if each[0] <= bit // 8)
            with DurableIndex(directory, sync="never") as index:
                assert entries(index) == state
                assert index.recovery.stopped.at == size
        shutil.rmtree(directory)


def test_a_damaged_snapshot_is_refused(tmp_path):
    DurableIndex(tmp_path, [1, 2], [3, 4]).close()
    path = tmp_path / "snapshot-0000000000000001.arrow"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        DurableIndex(tmp_path)


# ---- snapshots that are due ----


def snapshots(directory):
    """The numbers of the snapshots that a directory has."""
    return sorted(
        int(path.name[len("snapshot-") : -len(".arrow")], 16) for path in directory.glob("snapshot-*.arrow")
    )


def until(what, is_so):
    """Returns when that is so."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < 60, f"never came: {what}"
        time.sleep(0.001)


@pytest.mark.parametrize(
    "policy",
    [SnapshotPolicy(log_bytes=4096, growth=0), SnapshotPolicy(log_bytes=None, age=0.02)],
    ids=["long", "old"],
)
def test_a_log_is_shortened_when_it_is_long_or_old(tmp_path, policy):
    with DurableIndex(tmp_path, sync="never", snapshots=policy) as index:
        for key in range(200):
            index[key] = key
        until("a snapshot", lambda: snapshots(tmp_path)[-1] > 1)  # The first one was of no entries.
        assert index.snapshot_failure is None
    with DurableIndex.open(tmp_path, snapshots=None) as index:
        assert index.recovery.snapshot_entries > 0
        assert index.recovery.records < 200
        assert entries(index) == [list(range(200))] * 2


def test_a_log_grows_in_proportion_to_its_snapshot(tmp_path):
    keys = np.arange(20_000)
    with DurableIndex(tmp_path, sync="never", snapshots=SnapshotPolicy(log_bytes=1, growth=2)) as index:
        index.insert_many(keys, 0)
        until("the first snapshot", lambda: snapshots(tmp_path) == [2])
        index.insert_many(keys, 1)  # Half of what is due.
        time.sleep(0.05)
        assert snapshots(tmp_path) == [2]
        index.insert_many(keys, 2)
        index.insert_many(keys[:1000], 3)
        until("the second snapshot", lambda: snapshots(tmp_path) == [3])


def test_without_a_policy_snapshots_are_the_callers(tmp_path):
    with DurableIndex(tmp_path, sync="never", snapshots=SnapshotPolicy(log_bytes=None)) as index:
        index.insert_many(np.arange(100_000), 0)
    with DurableIndex(tmp_path, sync="never", snapshots=None) as index:
        for _ in range(45):  # More than 64 MiB.
            index.insert_many(np.arange(100_000), 1)
        time.sleep(0.05)
        assert snapshots(tmp_path) == [1]
        assert index.snapshot() == 100_000
        assert snapshots(tmp_path) == [2]
    # A log that is found too long is shortened at once.
    with DurableIndex(tmp_path, sync="never", snapshots=None) as index:
        index.insert_many(np.arange(100_000), 2)
    with DurableIndex(tmp_path, sync="never", snapshots=SnapshotPolicy(log_bytes=4096, growth=0)):
        until("a snapshot", lambda: snapshots(tmp_path) == [3])


def test_a_snapshot_that_fails_is_told_and_nothing_is_lost(tmp_path):
    index = DurableIndex(tmp_path, sync="never", snapshots=SnapshotPolicy(log_bytes=2048, growth=0))
    taken = tmp_path / "snapshot-0000000000000002.arrow"
    (taken / "below").mkdir(parents=True)
    for key in range(50):
        index[key] = key
    until("a failure", lambda: index.snapshot_failure)
    assert isinstance(index.snapshot_failure, OSError)
    assert index.snapshot_failure.errno
    index[50] = 50
    with pytest.raises(OSError, match="wasn't shortened") as caught:
        index.close()
    assert type(caught.value.__cause__) is type(OSError(caught.value.__cause__.errno, ""))
    assert caught.value.__cause__.filename.startswith(str(tmp_path))
    assert index.closed
    with pytest.raises(ValueError, match="closed"):
        _ = index.snapshot_failure
    shutil.rmtree(taken)
    with DurableIndex(tmp_path) as index:
        assert entries(index) == [list(range(51))] * 2


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"log_bytes": -1}, ValueError),
        ({"log_bytes": 2**64}, ValueError),
        ({"log_bytes": 1e6}, TypeError),
        ({"log_bytes": True}, TypeError),
        ({"growth": -0.5}, ValueError),
        ({"growth": float("nan")}, ValueError),
        ({"growth": float("inf")}, ValueError),
        ({"growth": None}, TypeError),
        ({"growth": "2"}, TypeError),
        ({"age": 0}, ValueError),
        ({"age": -1.0}, ValueError),
        ({"age": float("nan")}, ValueError),
        ({"age": "1"}, TypeError),
    ],
)
def test_a_policy_has_numbers(wrong, error):
    with pytest.raises(error, match=next(iter(wrong))):
        SnapshotPolicy(**wrong)


# ---- reading alone ----


def files(directory):
    """The names of a directory with their bytes and times."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}


CHANGES = [
    lambda index: index.__setitem__(1, 5),
    lambda index: index.__delitem__(1),
    lambda index: index.pop(1),
    lambda index: index.popitem(),
    lambda index: index.setdefault(9, 1),
    lambda index: index.replace(1, 2),
    lambda index: index.compare_exchange(1, 10, 2),
    lambda index: index.compare_remove(1, 10),
    lambda index: index.insert_many([4], [40]),
    lambda index: index.insert_many(np.arange(100_000), 1, threads=2),
    lambda index: index.update({4: 40}),
    lambda index: index.remove_many([1]),
    lambda index: index.remove_range(),
    lambda index: index.clear(),
    lambda index: index.snapshot(),
    lambda index: index.log_nbytes,
]


def test_an_index_that_is_only_read_answers_and_changes_nothing(tmp_path):
    with DurableIndex(tmp_path, [1, 2], [10, 20], snapshots=None) as index:
        index[3] = 30
        assert not index.read_only
    before = files(tmp_path)
    with DurableIndex(tmp_path, read_only=True) as index:
        assert index.read_only
        assert (index.recovery.snapshot_entries, index.recovery.records) == (2, 1)
        for change in CHANGES:
            with pytest.raises(io.UnsupportedOperation, match="to be read") as caught:
                change(index)
            assert (caught.value.errno, caught.value.filename) == (errno.EROFS, str(tmp_path))
        assert entries(index) == [[1, 2, 3], [10, 20, 30]]
        assert (index[2], index.floor(9), index.nearest(2.25), index.get_many([3, 4])[1].tolist()) == (
            20,
            (3, 30),
            (2, 20),
            [True, False],
        )
        assert index.snapshot_failure is None
        index.sync()
        index.check_invariants()
        made = index.copy()
        made[4] = 40
        assert type(made) is Index
        # Another one may be open at the same time, of either sort.
        with DurableIndex.open(tmp_path, read_only=True, value_dtype="i8") as other:
            assert other == index
    assert "closed" in repr(index)
    with pytest.raises(ValueError, match="closed"):
        len(list(index))
    assert files(tmp_path) == before


def test_what_is_only_read_is_there_and_gets_no_entries(tmp_path):
    for directory in (tmp_path, tmp_path / "none"):
        with pytest.raises(FileNotFoundError) as caught:
            DurableIndex(directory, read_only=True)
        assert caught.value.filename == str(directory)
    assert list(tmp_path.iterdir()) == []
    DurableIndex(tmp_path, [1], [10]).close()
    with pytest.raises(TypeError, match="takes no entries"):
        DurableIndex(tmp_path, [1], [10], read_only=True)
    with pytest.raises((TypeError, ValueError), match="not f8"):
        DurableIndex(tmp_path, key_dtype="f8", read_only=True)
    with pytest.raises(MemoryError):
        DurableIndex(tmp_path, read_only=True, limit_bytes=1)


def test_a_directory_without_permission_to_write_is_read(tmp_path):
    DurableIndex(tmp_path, [1, 2], [10, 20]).close()

    def reading():
        if os.geteuid() == 0:  # Whom permissions don't keep out.
            os.setuid(65534)
        with pytest.raises(PermissionError):
            DurableIndex(tmp_path)
        with DurableIndex(tmp_path, read_only=True) as index:
            assert entries(index) == [[1, 2], [10, 20]]

    outer = [
        path for path in tmp_path.parents if path.owner() == tmp_path.owner() and path.stat().st_mode & 0o5 != 0o5
    ]
    modes = [(path, path.stat().st_mode) for path in outer]
    try:
        for path in outer:
            path.chmod(0o755)
        for path in tmp_path.iterdir():
            path.chmod(0o444)
        tmp_path.chmod(0o555)
        in_child(reading)
    finally:
        tmp_path.chmod(0o755)
        for path, mode in modes:
            path.chmod(mode)


def test_beside_a_writer_all_that_was_acknowledged_is_read(tmp_path):
    done, acknowledged = threading.Event(), [0]
    # Snapshots all the time: what is being read goes away meanwhile.
    writer = DurableIndex(tmp_path, [0], [0], sync="never", snapshots=SnapshotPolicy(log_bytes=4096, growth=0))

    def write():
        step = 0
        while not done.is_set():
            step += 1
            writer.insert_many(np.arange(step, step + 10), step)
            acknowledged[0] = step
            time.sleep(0)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        last, readings, deadline = 0, 0, time.monotonic() + 60
        # A busy machine may run the writer late.
        while readings < 30 or (last == 0 and time.monotonic() < deadline):
            readings += 1
            before = acknowledged[0]
            with DurableIndex(tmp_path, read_only=True) as index:
                # Each step is one record: there as a whole or not.
                step = index.peekitem()[1]
                assert step >= max(before, last)
                assert index.to_numpy()[1].tolist() == [*range(step), *[step] * (10 if step else 1)]
                last = step
        assert last > 0
    finally:
        done.set()
        writing.join()
    writer.close()


def test_the_end_of_a_killed_log_is_read_up_to_its_last_record(tmp_path):
    states = history(tmp_path)
    whole = unmarked(tmp_path, states)
    (tmp_path / FIRST_LOG).write_bytes(whole[:-5])
    before = files(tmp_path)
    with DurableIndex(tmp_path, read_only=True) as index:
        assert entries(index) == states[-2][1]
        stopped = index.recovery.stopped
        assert (stopped.path, stopped.at, stopped.rejected) == (
            tmp_path / FIRST_LOG,
            states[-2][0],
            tmp_path / FIRST_LOG,
        )
    assert files(tmp_path) == before


def test_a_fork_closes_what_it_only_reads(tmp_path):
    DurableIndex(tmp_path, [1], [10]).close()
    index = DurableIndex(tmp_path, read_only=True)

    def child():
        assert index[1] == 10
        with pytest.raises(io.UnsupportedOperation):
            index[2] = 20
        index.close()

    in_child(child)
    assert index[1] == 10


# ---- one process ----


def test_one_at_a_time(tmp_path):
    with DurableIndex(tmp_path, [1], [10]):
        with pytest.raises(BlockingIOError, match="has it open") as caught:
            DurableIndex(tmp_path)
        assert caught.value.filename == str(tmp_path)
        command = [sys.executable, "-c", f"import latchless; latchless.DurableIndex({str(tmp_path)!r})"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "BlockingIOError" in done.stderr
    index = DurableIndex(tmp_path)
    del index
    DurableIndex(tmp_path).close()


def test_a_refused_opening_leaves_the_directory_free(tmp_path):
    DurableIndex(tmp_path, [1], [10.5]).close()
    for refused in (
        {"key_dtype": "f8"},
        {"value_dtype": "i8"},
        {"keys": [1], "values": [2.0]},
        {"limit_bytes": 1},
        {"fill": 0},
        {"sync": "often"},
        {"sync": 0},
        {"sync": -1.0},
        {"sync": float("nan")},
        {"sync": 1e300},
        {"sync": True},
        {"snapshots": True},
        {"snapshots": 4096},
        {"snapshots": SnapshotPolicy(age=1e300)},
        {"keys": [1]},
    ):
        with pytest.raises((ValueError, TypeError, MemoryError)) as caught:
            DurableIndex(tmp_path, **refused)
        with DurableIndex(tmp_path, key_dtype=np.int64, value_dtype=">f8") as index:
            assert entries(index) == [[1], [10.5]]
        del caught


def test_a_fork_reads_and_changes_nothing(tmp_path):
    index = DurableIndex(tmp_path, [1, 2], [10, 20], sync=0.001)
    index[3] = 30
    index.sync()  # With a mark in the log, which else would come at some time.
    before = index.log_nbytes

    def child():
        assert index[3] == 30
        assert index.get_many([1, 2])[1].all()
        for change in (
            lambda: index.insert_many([4], [40]),
            lambda: index.__setitem__(4, 40),
            lambda: index.pop(1),
            index.popitem,
            lambda: index.setdefault(9, 1),
            index.remove_range,
            index.clear,
            index.sync,
            index.snapshot,
            index.close,
        ):
            with pytest.raises(RuntimeError, match="fork"):
                change()
        assert len(index.copy()) == 3

    in_child(child)
    assert index.log_nbytes == before
    index[4] = 40
    index.close()
    with DurableIndex(tmp_path) as index:
        assert entries(index) == [[1, 2, 3, 4], [10, 20, 30, 40]]


FORKING = """
import os, sys, time
from latchless import DurableIndex
index = DurableIndex(sys.argv[1], sync=0.01)
index[1] = 10
if os.fork() == 0:
    print(os.getpid(), flush=True)  # By the child: it has given its share of the lock up.
time.sleep(60)
"""


def test_a_fork_does_not_keep_the_lock(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", FORKING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        try:
            parent.kill()
            parent.wait()
            with DurableIndex(tmp_path) as index:
                assert index[1] == 10
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_later_fenced_opening_takes_over(tmp_path):
    before = DurableIndex(tmp_path, [1], [10], fenced=True)
    before[2] = 20
    (tmp_path / "lock").unlink()  # As a file system does that loses locks.
    after = DurableIndex(tmp_path, fenced=True)
    assert entries(after) == [[1, 2], [10, 20]]
    with pytest.raises(RuntimeError, match="opened anew"):
        before.insert_many([3], [30])
    with pytest.raises(RuntimeError, match="opened anew"):
        before[3] = 30
    after[4] = 40
    after.close()
    with DurableIndex(tmp_path, fenced=True) as index:
        assert entries(index) == [[1, 2, 4], [10, 20, 40]]


# ---- refusals ----


def test_a_closed_index(tmp_path):
    index = DurableIndex(tmp_path, [1], [10])
    assert not index.closed
    with index as same:
        assert same is index
    assert index.closed
    index.close()
    for act in (
        lambda: index[1],
        # Questions that can't be keys have no answer, either.
        lambda: index.get(0.5),
        lambda: "a" in index,
        lambda: index.floor(-(2**70)),
        lambda: index.rank(float("nan")),
        lambda: index.get_many([1]),
        lambda: index.insert_many([1], [1]),
        lambda: index.__setitem__(1, 1),
        lambda: list(index),
        index.range,
        lambda: index.log_nbytes,
        index.sync,
        index.snapshot,
        index.copy,
    ):
        with pytest.raises(ValueError, match="the index is closed"):
            act()
    assert "closed" in repr(index)


def test_it_is_closed_after_an_error(tmp_path):
    with pytest.raises(KeyError), DurableIndex(tmp_path) as index:
        index[1]
    assert index.closed


def test_pickles_and_copies(tmp_path):
    with DurableIndex(tmp_path, [1, 2], [10, 20]) as index:
        with pytest.raises(TypeError, match=r"copy\(\)"):
            pickle.dumps(index)
        for made in (index.copy(), copy.copy(index), copy.deepcopy(index)):
            assert type(made) is Index
            assert made == index
            made[3] = 30
            assert pickle.loads(pickle.dumps(made)) == made
        assert len(index) == 2
        with pytest.raises(TypeError, match="directory"):
            DurableIndex.from_arrow(index.copy())


def test_directories_and_files(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        DurableIndex.open(tmp_path / "none")
    assert caught.value.errno == errno.ENOENT
    with pytest.raises(IsADirectoryError):
        Index.open(tmp_path)
    DurableIndex(tmp_path / "index", [1], [10]).close()
    with Index.open(tmp_path / "index") as index:
        assert type(index) is DurableIndex
        assert index.save(tmp_path / "index.arrow") == 1
    assert entries(Index.open(tmp_path / "index.arrow")) == [[1], [10]]
    with pytest.raises(OSError, match="can't create"):
        DurableIndex(tmp_path / "index.arrow" / "below")


def test_refused_memory_is_not_back(tmp_path):
    keys = np.random.default_rng(1).permutation(400_000)
    with DurableIndex(tmp_path, sync="never", limit_bytes=1 << 20) as index:
        with pytest.raises(MemoryError) as caught:
            index.insert_many(keys, keys)
        there = index.contains_many(keys)
        np.testing.assert_array_equal(np.flatnonzero(~there), caught.value.refused)
        expected = entries(index)
    with DurableIndex(tmp_path) as index:
        assert entries(index) == expected


def test_a_full_disk(tmp_path):
    """A limit of file sizes is refused as a full disk is: in the middle of a write."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        with DurableIndex(tmp_path, [1], [10]) as index:
            with pytest.raises(OSError, match="can't append") as caught:
                index.insert_many(np.arange(200_000), 0)
            assert caught.value.errno == errno.EFBIG
            np.testing.assert_array_equal(caught.value.refused, np.arange(200_000))
            assert entries(index) == [[1], [10]]
            index[2] = 20

    in_child(limited)
    with DurableIndex(tmp_path) as index:
        assert entries(index) == [[1, 2], [10, 20]]
        assert index.recovery.stopped is None


# ---- the interpreter's lock, and signals ----


def test_it_waits_for_the_disk_without_the_lock(tmp_path):
    index = DurableIndex(tmp_path)
    ticks, done, interval = 0, False, sys.getswitchinterval()

    def tick():
        nonlocal ticks
        while not done:
            ticks += 1
            time.sleep(0)

    counting = threading.Thread(target=tick)
    waited = {}
    # From here on a thread gets the lock only if another one gives it up.
    sys.setswitchinterval(1000)
    try:
        counting.start()
        for name, act in {
            "put": lambda: index.__setitem__(1, 1),
            "remove": lambda: index.pop(1, None),
            "setdefault": lambda: index.setdefault(len(index), 1),
            "insert_many": lambda: index.insert_many([1, 2], [3, 4]),
            "remove_many": lambda: index.remove_many([1]),
            "remove_range": lambda: index.remove_range(0, 1),
            "snapshot": index.snapshot,
        }.items():
            before, tries = ticks, 0
            while ticks == before and tries < 500:
                act()
                tries += 1
            waited[name] = ticks > before
    finally:
        sys.setswitchinterval(interval)
        done = True
        counting.join()
    assert all(waited.values()), waited


def test_a_signal_ends_a_long_insert_and_what_was_done_is_back(tmp_path):
    keys = np.random.default_rng(1).permutation(5_000_000)

    class Stopped(Exception):
        pass

    def handler(number, frame):
        raise Stopped

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for delay in (0.8, 0.6, 1.0, 1.4, 0.5, 0.4, 2.0):
            shutil.rmtree(tmp_path)
            index = DurableIndex(tmp_path, sync="never")
            stopped = None
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                index.insert_many(keys, keys)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Stopped as error:
                stopped = error
            if stopped and 0 < len(getattr(stopped, "refused", ())) < len(keys):
                break
            index.close()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped is not None
    index.close()
    with DurableIndex(tmp_path) as index:
        np.testing.assert_array_equal(np.flatnonzero(~index.contains_many(keys)), stopped.refused)
