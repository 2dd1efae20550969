"""What the binding adds to the compiled index: its batches beside the same ones of the C library.

    cargo build --release -p latchless-capi      in the repository's root
    python bench_binding.py ../target/release/liblatchless.so --entries 10M

Both have the same entries, get the same arrays of keys and allocate the arrays of their answers, on one thread
and on the same kind of pages. Rounds take turns; a figure is the median of their processor times, per key, and the
ratio is the median of the rounds' ratios: 1.30 means that the binding adds 30 %.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench import Data, Work, make, number


class Compiled:
    """An index of the C library. No key is negative, so each is its own word."""

    def __init__(self, path: str, keys: np.ndarray, values: np.ndarray) -> None:
        self._library = ctypes.CDLL(path)
        self._index = ctypes.c_void_p()
        self._call("bulk_load", *map(pointer, (keys, values)), size(keys), None, ctypes.byref(self._index))

    def _call(self, function: str, *arguments: Any) -> None:
        status = getattr(self._library, f"latchless_index_{function}")(*arguments)
        if status != 0:
            raise RuntimeError(f"latchless_index_{function} returned {status}")

    def free(self) -> None:
        """Ends it."""
        self._call("free", self._index)

    def get(self, keys: np.ndarray) -> Any:
        """Values and whether they are there."""
        values, found = np.zeros(len(keys), np.int64), np.empty(len(keys), bool)
        self._call("get_columns", self._index, pointer(keys), size(keys), pointer(values), pointer(found), None)
        return values, found

    def floor(self, keys: np.ndarray) -> Any:
        """The entry before each key."""
        answers = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64), np.empty(len(keys), bool)
        floor = ctypes.c_uint32(0)
        self._call("near_columns", self._index, floor, pointer(keys), size(keys), *map(pointer, answers), None)
        return answers

    def insert(self, keys: np.ndarray, values: np.ndarray) -> int:
        """How many keys are new."""
        new = ctypes.c_size_t()
        columns = pointer(keys), pointer(values), size(keys)
        self._call("insert_columns", self._index, *columns, ctypes.byref(new), None)
        return new.value

    def remove(self, keys: np.ndarray) -> int:
        """How many keys were there."""
        hits = ctypes.c_size_t()
        self._call("remove_columns", self._index, pointer(keys), size(keys), None, None, ctypes.byref(hits))
        return hits.value


def pointer(column: np.ndarray) -> ctypes.c_void_p:
    """Where a column's elements are."""
    if not column.flags["C_CONTIGUOUS"]:
        raise ValueError("the elements must lie side by side")
    return ctypes.c_void_p(column.ctypes.data)


def size(column: np.ndarray) -> ctypes.c_size_t:
    """How many elements a column has."""
    return ctypes.c_size_t(len(column))


def timed(work: Work) -> tuple[float, Any]:
    """Seconds of the processor, and what came out."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    return one == other


@dataclass
class Race:
    """One batch, made both ways."""

    name: str
    keys: int
    binding: Work
    compiled: Work
    seconds: list[tuple[float, float]] = field(default_factory=list)

    def run(self, binding_first: bool) -> None:
        """One round."""
        order = (self.binding, self.compiled) if binding_first else (self.compiled, self.binding)
        both = {work: timed(work) for work in order}
        (ours, answer), (theirs, expected) = both[self.binding], both[self.compiled]
        if not same(answer, expected):
            raise AssertionError(f"{self.name}: the binding and the C library differ")
        self.seconds.append((ours, theirs))

    def line(self) -> str:
        """A line of the table."""
        ours, theirs = (statistics.median(column) * 1e9 / self.keys for column in zip(*self.seconds, strict=True))
        ratio = statistics.median(ours / theirs for ours, theirs in self.seconds)
        return f"| {self.name} | {ours:,.1f} | {theirs:,.1f} | {ratio:.2f} |"


def races(data: Data, compiled: Compiled) -> list[Race]:
    """All of them; what one puts in, the next takes out."""
    index = data.index
    queries, ascending = data.queries, np.sort(data.queries)
    dates = np.sort(np.random.default_rng(2).integers(0, 2**63 - 1, len(data.keys)))
    new = np.unique(np.random.default_rng(4).integers(0, 2**62, len(data.keys) // 10) * 2 + 1)
    np.random.default_rng(5).shuffle(new)
    asked = len(queries)
    return [
        Race("look up random keys", asked, lambda: index.get_many(queries), lambda: compiled.get(queries)),
        Race("look up sorted keys", asked, lambda: index.get_many(ascending), lambda: compiled.get(ascending)),
        Race("floor of random keys", asked, lambda: index.floor_many(queries), lambda: compiled.floor(queries)),
        Race("as-of join, both sorted", len(dates), lambda: index.asof(dates), lambda: compiled.floor(dates)),
        Race("insert a tenth", len(new), lambda: index.insert_many(new, new), lambda: compiled.insert(new, new)),
        Race("remove a tenth", len(new), lambda: index.remove_many(new), lambda: compiled.remove(new)),
    ]


def main(arguments: list[str] | None = None) -> str:
    """Runs the races and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="the C library: liblatchless.so, liblatchless.dylib or latchless.dll")
    parser.add_argument("--entries", type=number, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args(arguments)
    if asked.entries < 1000:
        parser.error("at least 1,000 entries")
    data = make(asked.entries, asked.entries // 10)
    compiled = Compiled(asked.library, data.keys, data.values)
    all_races = races(data, compiled)
    for turn in range(asked.rounds):
        for race in all_races:
            race.run(binding_first=turn % 2 == 1)
    compiled.free()
    head = "| ns per key | Python | C library | ratio |\n|---|---:|---:|---:|"
    text = "\n".join([head, *(race.line() for race in all_races)])
    print(text)
    return text


if __name__ == "__main__":
    main()
