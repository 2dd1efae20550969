"""Durable indexes of strings and of tuples, and of numbers with strings as values: as those of numbers."""

import copy
import io
import os
import random
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from conftest import in_child, steps_until_killed

from latchless import DurableIndex, Index, SnapshotPolicy
from latchless._dtypes import columns
from latchless._latchless import Folder, TupleType, close_log
from latchless._text import Texts
from latchless._tuples import Tuples

KEYS = {
    "str": (str, lambda n: f"kéy-{n:05}" * (1 + n % 3)),
    "bytes": (bytes, lambda n: bytes([n % 256, 0, 255]) * (1 + n % 40)),
    "tuple": ((str, "i4", bytes), lambda n: (f"s{n % 7}", n - 50, b"\0" * (n % 5))),
    "times": (("M8[us]", str), lambda n: (np.datetime64(n, "us"), "x" * (n % 300))),
    "numbers": ("f8", lambda n: n / 8),
}
VALUES = {
    "i8": ("i8", lambda n: n),
    "f4": ("f4", lambda n: n / 4),
    "time": ("M8[s]", lambda n: np.datetime64(n, "s")),
    "str": (str, lambda n: "ü\0" * (n % 500)),
    "bytes": (bytes, lambda n: b"\xff" * (n % 70_000)),
}
PAIRS = [(key, value) for key in KEYS for value in VALUES if key != "numbers" or value in ("str", "bytes")]


@pytest.fixture(params=PAIRS, ids="-".join)
def kind(request):
    key, value = request.param
    return KEYS[key], VALUES[value]


def column(dtype, keys):
    """Keys as a batch takes them: of tuples their columns."""
    return tuple(map(list, zip(*keys, strict=True))) if isinstance(dtype, tuple) and keys else list(keys)


def same(index, model):
    index.check_invariants()
    assert list(index.items()) == sorted(model.items())


def change(index, model, kind, draw):
    """A change of each way, of the index and of a `dict`."""
    (dtype, key_of), (_, value_of) = kind
    key, value = key_of(draw.randrange(300)), value_of(draw.randrange(300))
    act = draw.randrange(12)
    if act == 0:
        keys = [key_of(draw.randrange(300)) for _ in range(draw.randrange(1, 40))]
        assert index.insert_many(column(dtype, keys), value) == len(set(keys) - set(model))
        model.update(dict.fromkeys(keys, value))
    elif act == 1:
        keys = [key_of(draw.randrange(300)) for _ in range(draw.randrange(1, 20))]
        assert index.remove_many(column(dtype, keys)) == len(set(keys) & set(model))
        for each in keys:
            model.pop(each, None)
    elif act == 2:
        low, high = key_of(draw.randrange(300)), key_of(draw.randrange(300))
        gone = [each for each in model if low <= each < high]
        assert index.remove_range(low, high, closed="left") == len(gone)
        for each in gone:
            del model[each]
    elif act == 3:
        assert index.pop(key, None) == model.pop(key, None)
    elif act == 4 and model:
        last = draw.random() < 0.5
        end = max(model) if last else min(model)
        assert index.popitem(last) == (end, model.pop(end))
    elif act == 5:
        assert index.setdefault(key, value) == model.setdefault(key, value)
    elif act == 6:
        assert index.replace(key, value) == model.get(key)
        if key in model:
            model[key] = value
    elif act == 7:
        expected = model.get(key, value)
        assert index.compare_exchange(key, expected, value) == (key in model)
        assert not index.compare_exchange(key, value_of(299), value) or value == value_of(299)
        if key in model:
            model[key] = value
    elif act == 8:
        before = model.get(key, value)
        assert index.compare_remove(key, before) == (model.pop(key, None) is not None)
    elif act == 9 and draw.random() < 0.05:
        index.clear()
        model.clear()
    else:
        index[key] = value
        model[key] = value


def test_as_a_dict_over_many_lives(tmp_path, kind):
    (key_dtype, key_of), (value_dtype, value_of) = kind
    draw, model = random.Random(repr((key_dtype, value_dtype))), {}
    DurableIndex(tmp_path, key_dtype=key_dtype, value_dtype=value_dtype, sync="never").close()
    for life in range(6):
        with DurableIndex(tmp_path, sync="never") as index:
            same(index, model)
            for _ in range(60):
                change(index, model, kind, draw)
            same(index, model)
            if life % 2:
                assert index.snapshot() == len(model)
                assert index.log_nbytes < 200
            own = copy.copy(index)
            assert type(own) is Index
            same(own, model)
    with DurableIndex.open(tmp_path, key_dtype=key_dtype, value_dtype=value_dtype) as index:
        memory = Index(key_dtype=key_dtype, value_dtype=value_dtype)
        assert (index.key_dtype, index.value_dtype) == (memory.key_dtype, memory.value_dtype)
        same(index, model)
    reading = DurableIndex(tmp_path, read_only=True)
    same(reading, model)
    reading.sync()
    for refused in (
        lambda: reading.insert_many(column(key_dtype, [key_of(1)]), value_of(1)),
        lambda: reading.remove_many(column(key_dtype, [key_of(1)])),
        lambda: reading.__setitem__(key_of(1), value_of(1)),
        reading.clear,
        reading.snapshot,
    ):
        with pytest.raises(io.UnsupportedOperation):
            refused()
    same(reading, model)
    reading.close()
    with pytest.raises(ValueError, match="closed"):
        reading.get(key_of(1))


def test_first_entries_and_files(tmp_path, kind):
    (key_dtype, key_of), (value_dtype, value_of) = kind
    model = {key_of(n): value_of(n) for n in range(200)}
    given = column(key_dtype, list(model)), list(model.values())
    dtypes = {"key_dtype": key_dtype, "value_dtype": value_dtype}
    with DurableIndex(tmp_path / "own", *given, **dtypes) as index:
        same(index, model)
        _, values, found = index.floor_many(column(key_dtype, list(model)))
        assert found.all()
        assert list(values) == list(model.values())
        if key_dtype == "f8":
            assert index.nearest(0.3)[0] == 0.25
        index.save(tmp_path / "file")
    same(Index.open(tmp_path / "file"), model)
    with pytest.raises(ValueError, match="has an index already"):
        DurableIndex(tmp_path / "own", *given, **dtypes)
    with DurableIndex(tmp_path / "own") as index:
        assert index.recovery.snapshot_entries == 200
        with pytest.raises(BlockingIOError):
            DurableIndex(tmp_path / "own")
        same(index, model)


OTHERS = [str, bytes, "i8", "M8[s]", (str, "i8"), (bytes, "i8"), (str, "i8", "i8")]


@pytest.mark.parametrize("its", OTHERS, ids=str)
def test_another_kind_is_refused_by_both_names(tmp_path, its):
    DurableIndex(tmp_path, key_dtype=its, value_dtype=str if its == "i8" else "i8").close()
    name = Index(key_dtype=its)._key.name
    before = sorted((file.name, file.stat().st_size) for file in tmp_path.iterdir())
    for other in OTHERS:
        if other == its:
            continue
        shown = other.__name__ if isinstance(other, type) else str(other).replace("<class 'str'>", "str")
        with pytest.raises(ValueError, match="the directory has keys") as refused:
            DurableIndex(tmp_path, key_dtype=other)
        assert name in str(refused.value)
        assert shown.replace("<class 'bytes'>", "bytes").replace("'", "") in str(refused.value)
    for other in {"i8": ["i8", bytes]}.get(its, [str, bytes, "f8", "M8[s]"]):
        with pytest.raises(ValueError, match="the directory has values of"):
            DurableIndex(tmp_path, value_dtype=other)
    assert sorted((file.name, file.stat().st_size) for file in tmp_path.iterdir()) == before
    with DurableIndex(tmp_path, key_dtype=its) as index:
        assert len(index) == 0


WRITER = """
import random, sys, threading
from latchless import DurableIndex
directory, sync, kind, life = sys.argv[1:]
sys.path.insert(0, "")
dtype = {"str": str, "tuple": (str, "i8")}[kind]
key = (lambda n: f"key {n}") if kind == "str" else (lambda n: (f"{n % 9}", n))
columns = lambda keys: keys if kind == "str" else tuple(map(list, zip(*keys)))
index = DurableIndex(directory, key_dtype=dtype, value_dtype=str, sync=sync, fenced=int(life) % 2 == 1)
steps = int(index.get(key(-1), "0"))
if int(life) % 3 == 0:
    def save():
        while True:
            index.snapshot()
    threading.Thread(target=save, daemon=True).start()
print(f"ready {steps}", flush=True)
while True:
    draw = random.Random(steps)
    keys = [key(draw.randrange(200)) for _ in range(draw.randrange(1, 60))]
    if steps % 4 < 3:
        index.insert_many(columns(keys), str(steps) * 20)
    else:
        index.remove_many(columns(keys))
    steps += 1
    index[key(-1)] = str(steps)
    print(steps, flush=True)
"""


def replayed(key, steps):
    model = {}
    for step in range(steps):
        draw = random.Random(step)
        for each in [key(draw.randrange(200)) for _ in range(draw.randrange(1, 60))]:
            if step % 4 < 3:
                model[each] = str(step) * 20
            else:
                model.pop(each, None)
    return model


@pytest.mark.parametrize(("kind", "sync"), [("str", "each"), ("tuple", "never")])
def test_a_killed_writer_loses_nothing_acknowledged(tmp_path, kind, sync):
    key = (lambda n: f"key {n}") if kind == "str" else (lambda n: (f"{n % 9}", n))
    rng, steps = random.Random(kind), 0
    for life in range(8):
        command = [sys.executable, "-c", WRITER, str(tmp_path), sync, kind, str(life)]
        steps = steps_until_killed(command, rng, steps)
        with DurableIndex.open(tmp_path, fenced=True) as index:
            done = int(index.get(key(-1), "0"))
            assert done >= steps
            found = dict(index.items())
            found.pop(key(-1), None)
            # One step more may be there whose own mark isn't.
            assert found in (replayed(key, done), replayed(key, done + 1))
    assert steps > 0


def test_a_child_of_a_fork_leaves_the_directory_to_its_parent(tmp_path):
    with DurableIndex(tmp_path, ["a"], [1]) as index:

        def read_and_write():
            assert index["a"] == 1
            with pytest.raises(RuntimeError):
                index["b"] = 2
            with pytest.raises(RuntimeError):
                index.close()

        in_child(read_and_write)
        index["c"] = 3
    with DurableIndex(tmp_path) as index:
        assert dict(index) == {"a": 1, "c": 3}


def test_snapshots_by_the_policy(tmp_path):
    with DurableIndex(tmp_path, key_dtype=str, value_dtype=str, snapshots=SnapshotPolicy(log_bytes=4096)) as index:
        for n in range(2000):
            index[f"{n % 10}"] = "x" * 100
        deadline = time.monotonic() + 20
        while index.log_nbytes > 100_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert index.log_nbytes <= 100_000
        assert index.snapshot_failure is None
    with DurableIndex(tmp_path) as index:
        assert dict(index) == {str(n): "x" * 100 for n in range(10)}


def test_keys_that_are_none_of_the_type_are_refused(tmp_path):
    """A directory whose metadata calls bytes texts, as no index of the package writes it."""
    key, value = Tuples.of([Texts(bytes, True), columns("i8", "i8")[0]]), columns("i8", "i8")[1]
    key = replace(key, compiled=TupleType("(str; int64)", [part.told() for part in key.parts_of]))
    folder = Folder(str(tmp_path), 0.0, False, False, None, False)
    entries = key.to_words(([b"\xff"], [1])), value.to_words([1])
    made = Index._made(key, value, *entries, False, 0.8, None, None, folder)
    close_log(made)
    for how in ({}, {"read_only": True}):
        with pytest.raises(ValueError, match=r"has a key that is none of type \(str; int64\)"):
            DurableIndex(tmp_path, **how)


def test_batches_of_many_records_and_writers(tmp_path):
    keys = [f"{n:07}" for n in range(30_000)]
    with DurableIndex(tmp_path, key_dtype=str, value_dtype="i8", sync="never") as index:
        threads = [
            threading.Thread(target=lambda part: index.insert_many(keys[part::4], part), args=(part,))
            for part in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert index.remove_many(keys[::10], threads=3) == 3000
        # A chunk of a batch is a record: not one for each key.
        assert index.log_nbytes < 30_000 * 30
    with DurableIndex(tmp_path) as index:
        assert index.recovery.records < 30
        assert index.to_numpy()[0] == [key for at, key in enumerate(keys) if at % 10]
        assert index[keys[7]] == 3
    assert os.path.exists(tmp_path / "lock")


def test_a_key_or_a_value_that_is_too_long_leaves_nothing(tmp_path):
    long = "x" * (1 << 24)
    with DurableIndex(tmp_path, key_dtype=str, value_dtype=str, sync="never") as index:
        index["a"] = "1"
        for refused in (
            lambda: index.__setitem__(long, "1"),
            lambda: index.__setitem__("b", long),
            lambda: index.insert_many(["c", "d"], ["1", long]),
            lambda: index.insert_many(["c", long], "1"),
        ):
            with pytest.raises(ValueError, match=r"16777215|16,777,215"):
                refused()
        assert long not in index
        assert index.remove_many([long, "b"]) == 0
        assert index.pop(long, None) is None
    with DurableIndex(tmp_path) as index:
        assert dict(index) == {"a": "1"}
