"""What the tests share: dtypes with random keys and values, and a plain model."""

import os
import signal
import threading
from collections.abc import Callable
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
    """What an index of these entries has: ascending keys, of equal ones the last."""
    reversed_keys = keys[::-1]
    distinct, first = np.unique(reversed_keys, return_index=True)
    return distinct, values[::-1][first]


def assert_same(got: Any, expected: Any) -> None:
    """Arrays of one dtype with equal elements, NaN and NaT included."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


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


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261123)


class Stopped(Exception):
    """What the handler raises."""


@pytest.fixture
def alarm():
    def handler(number, frame):
        raise Stopped

    before = signal.signal(signal.SIGALRM, handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
