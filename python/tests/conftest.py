"""Shared by the tests: dtypes with random keys and values, and a plain model."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

KEY_DTYPES = [
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "f4",
    "f8",
    "M8[ns]",
    "M8[s]",
    "M8[D]",
    "m8[us]",
]
VALUE_DTYPES = ["i8", "u8", "f8", "i2", "u4", "f4", "bool", "M8[ns]"]

# Every index's operations with one key: storing it, looking it up, or comparing others with it; those with the
# ends of a range; and those with many keys.
STORES = [
    lambda index, key: index.__setitem__(key, 0),
    lambda index, key: index.setdefault(key, 1),
]
LOOKUPS = [
    lambda index, key: index[key],
    lambda index, key: index.get(key),
    lambda index, key: index.__delitem__(key),
    lambda index, key: key in index,
    lambda index, key: index.pop(key, None),
    lambda index, key: index.replace(key, 1),
    lambda index, key: index.compare_exchange(key, 1, 2),
    lambda index, key: index.compare_remove(key, 1),
]
NEIGHBOURS = [
    lambda index, key: index.floor(key),
    lambda index, key: index.ceiling(key),
    lambda index, key: index.lower(key),
    lambda index, key: index.higher(key),
]
SINGLES = [*STORES, *LOOKUPS, *NEIGHBOURS]
ENDS = [
    lambda index, key: index.range(key),
    lambda index, key: index.range(None, key),
    lambda index, key: index.count(key),
    lambda index, key: index.remove_range(key),
]
BATCHES = [
    lambda index, keys: index.get_many(keys),
    lambda index, keys: index.contains_many(keys),
    lambda index, keys: index.insert_many(keys, 0),
    lambda index, keys: index.remove_many(keys),
]

# The beginning of a program that has no pyarrow.
WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import polars

def to_arrow(index):
    try:
        index.to_arrow()
    except ImportError as error:
        print(error)
"""

VARIANTS = 4
"""Of so many variants of a test, at most, `pytest -m quick` runs each; of more it runs as many, far apart."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as quick what takes three minutes of one core in all: every test but slow ones and those with Ray."""
    variants: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("slow", "ray")):
            variants.setdefault(item.nodeid.split("[")[0], []).append(item)
    for of_a_test in variants.values():
        count = len(of_a_test)
        # From the first to the last one.
        chosen = range(count) if count <= VARIANTS else np.linspace(0, count - 1, VARIANTS).astype(int).tolist()
        for at in chosen:
            of_a_test[at].add_marker("quick")


little_memory = pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    # The test reads how much address space it has from /proc, and has the system refuse it more (RLIMIT_AS): only
    # Linux has both. What is tested is the same code on every system.
    reason="only Linux has /proc/self/statm and a limit on address space that mmap keeps to",
)


def random_column(rng: np.random.Generator, dtype: str, count: int, distinct: int = 4000) -> np.ndarray:
    """Random elements over the whole range of a dtype, its ends among them; NaN and NaT are not."""
    found = np.dtype(dtype)
    if found.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if found.kind == "f":
        pool = np.concatenate([rng.normal(0, 1e3, distinct), [0.0, -0.0, np.inf, -np.inf, 1e-30, -1e-30]])
        return rng.choice(pool.astype(found), count)
    stored = np.dtype("i8") if found.kind in "Mm" else found
    info = np.iinfo(stored)
    least = int(info.min) + (found.kind in "Mm")
    pool = rng.integers(least, info.max, distinct, stored, endpoint=True)
    pool[:4] = [least, info.max, 0, 1]
    return rng.choice(pool, count).view(found)


def model_of(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The contents of an index of these entries: ascending keys, of equal ones the last."""
    reversed_keys = keys[::-1]
    distinct, first = np.unique(reversed_keys, return_index=True)
    return distinct, values[::-1][first]


def assert_same(got: Any, expected: Any) -> None:
    """Arrays of one dtype with equal elements, NaN and NaT included."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def assert_refused(
    error: type[Exception], match: str, index: Any, operations: Iterable[Callable[[Any, Any], Any]], given: Any
) -> None:
    """Operations refuse what they are given, and the index stays as it was."""
    before = index.copy()
    for operation in operations:
        with pytest.raises(error, match=match):
            operation(index, given)
    assert index == before
    index.check_invariants()


def assert_not_there(index: Any, key: Any) -> None:
    """Objects that can't be keys aren't there, as in a `dict`."""
    before = index.copy()
    for operation in LOOKUPS:
        with contextlib.suppress(KeyError):
            assert operation(index, key) in (None, False)
    assert index == before


def printed(code: str) -> str:
    """The output of a program in an interpreter of its own, which must end normally."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_child(act: Callable[[], None], seconds: int = 30) -> None:
    """Runs something in a forked child, which must end well and in time."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(seconds)
            act()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def run_all(*works: Callable[[], None]) -> None:
    """Runs functions on threads, and raises what one of them raises."""
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def forks_amid(write: Callable[[int, threading.Event], None], child: Callable[[], None], times: int) -> None:
    """Forks repeatedly while two threads write until the end."""
    done = threading.Event()

    def fork():
        try:
            for _ in range(times):
                in_child(child)
        finally:
            done.set()

    run_all(lambda: write(1, done), lambda: write(2, done), fork)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261123)


class Stopped(Exception):
    """Raised by the handler."""


@pytest.fixture
def alarm():
    def handler(number, frame):
        raise Stopped

    before = signal.signal(signal.SIGALRM, handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def ctrl_c():
    """Sends this process a SIGINT after some time. Where it was started in the background, it ignores these."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda seconds: threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    signal.signal(signal.SIGINT, before)


def assert_stops_early(
    alarm: Callable[[float], Any], work: Callable[[], Any], after: float, within: float
) -> None:
    """A signal that comes after a part of the time that something takes ends it within another part of it."""
    started = time.perf_counter()
    work()
    whole = time.perf_counter() - started
    # On a busy machine one try may be late.
    for _ in range(5):
        started = time.perf_counter()
        with pytest.raises(Stopped):
            alarm(whole * after)
            work()
        taken = time.perf_counter() - started
        if taken < whole * within:
            break
    assert taken < whole * within


def refused_by_a_signal(
    alarm: Callable[[float], Any], delays: Iterable[float], insert: Callable[[], Any], count: int
) -> Any:
    """The positions that a batch of `count` inserts hasn't done when a signal has ended it in the middle."""
    for delay in delays:
        try:
            alarm(delay)
            insert()
            alarm(0)
        except Stopped as error:
            # One that comes before the batch begins or after it has ended has no `refused`.
            refused = getattr(error, "refused", ())
            if 0 < len(refused) < count:
                return refused
    raise AssertionError("no signal came amid a batch")


def steps_until_killed(command: list[str], rng: random.Random, before: int) -> int:
    """Kills a writer at a random moment. It prints "ready", the step that it begins with, which is `before` or a
    later one, and then each step that is done. Returns the last step that it said to be done."""
    steps = before
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        first = writer.stdout.readline().split()
        assert first[0] == "ready"
        assert int(first[1]) >= steps
        for _ in range(rng.randrange(60)):
            steps = int(writer.stdout.readline())
        time.sleep(rng.random() / 200)
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:
            if line.endswith("\n"):
                steps = int(line)
    return steps
