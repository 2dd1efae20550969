"""Races `latchless.Index` against what Python users take today, in one interleaved run.

    python bench.py                      ten million entries: some minutes, about 4 GB
    python bench.py --entries 100k       seconds

Every figure is the processor time of the process, all threads together, per operation: the best of some
rounds, and in each round every contestant has its turn. Ratios say how many times as fast as each contestant the
index is; below 1 it is slower. pandas, polars and sortedcontainers take part where they are installed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from latchless import Index, StringIndex, __version__

OURS = "latchless"
Work = Callable[[], Any]
"""Something to time. If it returns a function, the outer one is the setup and only the inner one is timed."""


def imported(name: str) -> Any:
    """A module, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


pandas, polars, pyarrow, sortedcontainers = (
    imported(name) for name in ("pandas", "polars", "pyarrow", "sortedcontainers")
)


@dataclass
class Row:
    """One line of the table: nanoseconds of each contestant per operation."""

    name: str
    unit: str
    cells: dict[str, float] = field(default_factory=dict)


def race(name: str, operations: int, rounds: int, contestants: dict[str, Work | None], unit: str = "ns") -> Row:
    """Times all contestants, round by round. Those that are None don't take part."""
    row = Row(name, unit)
    for _ in range(rounds):
        for who, work in contestants.items():
            if work is None:
                continue
            prepared = work()
            started = time.process_time()
            prepared()
            taken = (time.process_time() - started) * 1e9 / operations
            row.cells[who] = min(taken, row.cells.get(who, taken))
    print(f"  {name}: " + ", ".join(f"{who} {cell:,.1f}" for who, cell in row.cells.items()), file=sys.stderr)
    return row


def plain(work: Callable[[], Any]) -> Work:
    """Work that needs no setup."""
    return lambda: work


@dataclass
class Data:
    """What the contestants are filled with."""

    keys: np.ndarray
    """Sorted, distinct."""
    values: np.ndarray
    order: np.ndarray
    queries: np.ndarray
    """Nine tenths of them are there."""
    index: Index


def make(entries: int, queries: int) -> Data:
    """Random keys of 63 bits, and queries."""
    rng = np.random.default_rng(1)
    keys = np.unique(rng.integers(0, 2**62, int(entries * 1.001) + 8) * 2)[:entries]
    values = np.arange(len(keys))
    asked = rng.choice(keys, queries)
    asked[rng.random(queries) < 0.1] += 1
    return Data(keys, values, rng.permutation(len(keys)), asked, Index(keys, values, assume_sorted=True))


def builds(data: Data, rounds: int) -> list[Row]:
    """Making an index."""
    keys, values = data.keys[data.order], data.values[data.order]

    def sort() -> Any:
        order = np.argsort(keys)
        return keys[order], values[order]

    count = len(keys)
    return [
        race(
            "build from unsorted columns",
            count,
            rounds,
            {
                OURS: plain(lambda: Index(keys, values)),
                "numpy": plain(sort),
            },
        ),
        race(
            "build from sorted columns",
            count,
            rounds,
            {
                OURS: plain(lambda: Index(data.keys, data.values, assume_sorted=True)),
            },
        ),
        race("whole index to columns", count, rounds, {OURS: plain(data.index.to_numpy)}),
    ]


def lookups(data: Data, rounds: int) -> list[Row]:
    """Values under many keys."""
    keys, values, index = data.keys, data.values, data.index
    hashed = pandas.Index(keys) if pandas else None
    if hashed is not None:
        hashed.get_indexer(data.queries[:1])  # Builds the hash table.
    frame = polars.DataFrame({"key": keys, "value": values}) if polars else None
    rows = []
    for name, asked in (("look up random keys", data.queries), ("look up sorted keys", np.sort(data.queries))):

        def search(asked: np.ndarray = asked) -> Any:
            at = np.searchsorted(keys, asked)
            at[at == len(keys)] = 0
            return values[at], keys[at] == asked

        def take(asked: np.ndarray = asked) -> Any:
            at = hashed.get_indexer(asked)
            return values[at], at >= 0

        def join(asked: np.ndarray = asked) -> Any:
            return polars.DataFrame({"key": asked}).join(frame, on="key", how="left")

        rows.append(
            race(
                name,
                len(asked),
                rounds,
                {
                    OURS: plain(lambda asked=asked: index.get_many(asked)),
                    "numpy": plain(search),
                    "pandas": plain(take) if pandas else None,
                    "polars": plain(join) if polars else None,
                },
            )
        )
    return rows


def neighbours(data: Data, rounds: int) -> list[Row]:
    """The entry before each key, and as-of joins."""
    keys, values, index = data.keys, data.values, data.index
    rng = np.random.default_rng(2)
    asked = np.sort(rng.integers(0, 2**63 - 1, len(keys)))

    def search(asked: np.ndarray) -> Any:
        at = np.searchsorted(keys, asked, "right") - 1
        found = at >= 0
        return np.where(found, values[at], 0), found

    contestants: dict[str, Work | None] = {
        OURS: plain(lambda: index.asof(asked)),
        "numpy": plain(lambda: search(asked)),
    }
    if pandas:
        left, right = pandas.DataFrame({"key": asked}), pandas.DataFrame({"key": keys, "value": values})
        contestants["pandas"] = plain(lambda: pandas.merge_asof(left, right, on="key"))
    if polars:
        first = polars.DataFrame({"key": asked}).set_sorted("key")
        second = polars.DataFrame({"key": keys, "value": values}).set_sorted("key")
        contestants["polars"] = plain(lambda: first.join_asof(second, on="key"))
    return [
        race(
            "floor of random keys",
            len(data.queries),
            rounds,
            {
                OURS: plain(lambda: index.floor_many(data.queries)),
                "numpy": plain(lambda: search(data.queries)),
            },
        ),
        race("as-of join, both sorted", len(asked), rounds, contestants),
    ]


def ranges(data: Data, rounds: int) -> list[Row]:
    """Many short ranges."""
    keys, values, index = data.keys, data.values, data.index
    count, long = min(1000, len(keys) // 200), 100
    starts = np.random.default_rng(3).integers(0, len(keys) - long - 1, count)
    lows, highs = keys[starts], keys[starts + long]

    def slices() -> Any:
        first, last = np.searchsorted(keys, lows), np.searchsorted(keys, highs)
        return [(keys[a:b], values[a:b]) for a, b in zip(first, last, strict=True)]

    def gather() -> Any:
        first, last = np.searchsorted(keys, lows), np.searchsorted(keys, highs)
        at = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
        return keys[at], values[at]

    def count_all() -> Any:
        return np.searchsorted(keys, highs) - np.searchsorted(keys, lows)

    contestants: dict[str, Work | None] = {
        OURS: plain(lambda: index.range_many(lows, highs)),
        "numpy": plain(gather),
    }
    return [
        race("interval join: ranges of 100", count, rounds, contestants, "ns per range"),
        race(
            "the same as views",
            count,
            rounds,
            {
                OURS: plain(lambda: [index.range(low, high) for low, high in zip(lows, highs, strict=True)]),
                "numpy": plain(slices),
            },
            "ns per range",
        ),
        race(
            "count ranges of 100",
            count,
            rounds,
            {
                OURS: plain(lambda: index.count_many(lows, highs)),
                "numpy": plain(count_all),
            },
            "ns per range",
        ),
    ]


def changes(data: Data, rounds: int) -> list[Row]:
    """Inserts and removals. Each round works on a copy."""
    keys, values = data.keys, data.values
    rng = np.random.default_rng(4)
    many = np.unique(rng.integers(0, 2**62, len(keys) // 10) * 2 + 1)
    rng.shuffle(many)
    batches = rng.choice(many, (20, min(1000, max(1, len(many) // 20))), replace=False)
    gone = rng.choice(keys, len(keys) // 10, replace=False)

    def ours(parts: Any) -> Work:
        def setup() -> Any:
            index = data.index.copy()
            return lambda: [index.insert_many(part, part) for part in parts]

        return setup

    def numpys(parts: Any) -> Work:
        def inserted() -> Any:
            columns = keys, values
            for part in parts:
                part_sorted = np.sort(part)
                at = np.searchsorted(columns[0], part_sorted)
                columns = np.insert(columns[0], at, part_sorted), np.insert(columns[1], at, part_sorted)

        return plain(inserted)

    def polarss(parts: Any) -> Work:
        def setup() -> Any:
            frame = polars.DataFrame({"key": keys, "value": values}).set_sorted("key")

            def merged() -> Any:
                grown = frame
                for part in parts:
                    more = polars.DataFrame({"key": part, "value": part}).sort("key")
                    grown = grown.merge_sorted(more, "key")

            return merged

        return setup

    def removal() -> Any:
        index = data.index.copy()
        return lambda: index.remove_many(gone)

    def deletion() -> Any:
        at = np.searchsorted(keys, np.sort(gone))
        return np.delete(keys, at), np.delete(values, at)

    some = batches[:4]
    return [
        race(
            "insert a tenth at once",
            len(many),
            rounds,
            {
                OURS: ours([many]),
                "numpy": numpys([many]),
                "polars": polarss([many]) if polars else None,
            },
        ),
        race("insert batches of 1,000", batches.size, rounds, {OURS: ours(batches)}),
        race(
            "insert 4 batches of 1,000",
            some.size,
            rounds,
            {
                OURS: ours(some),
                "numpy": numpys(some),
                "polars": polarss(some) if polars else None,
            },
        ),
        race("remove a tenth", len(gone), rounds, {OURS: removal, "numpy": plain(deletion)}),
    ]


def singles(count: int, rounds: int) -> list[Row]:
    """Operations one by one, on a hundred thousand entries, against containers of Python's objects."""
    rng = np.random.default_rng(5)
    keys = rng.choice(10 * count, count, replace=False).tolist()
    new = (10 * count + rng.choice(10 * count, count // 10, replace=False)).tolist()
    asked = rng.choice(keys, count).tolist()
    pairs = dict(zip(keys, keys, strict=True))
    makers: dict[str, Callable[[], Any]] = {OURS: lambda: Index(keys, keys), "dict": lambda: dict(pairs)}
    if sortedcontainers:
        makers["SortedDict"] = lambda: sortedcontainers.SortedDict(pairs)
    made = {who: make_it() for who, make_it in makers.items()}

    def get_all(of: Any) -> Any:
        for key in asked:
            of[key]

    def put_all(make_it: Callable[[], Any]) -> Work:
        def setup() -> Any:
            fresh = make_it()

            def put() -> Any:
                for key in new:
                    fresh[key] = key

            return put

        return setup

    def floor_all() -> Any:
        floor = made[OURS].floor
        for key in asked[: count // 10]:
            floor(key + 1)

    def bisect_all() -> Any:
        of = made["SortedDict"]
        for key in asked[: count // 10]:
            of.peekitem(of.bisect_right(key + 1) - 1)

    return [
        race("m[k]", len(asked), rounds, {who: plain(lambda of=of: get_all(of)) for who, of in made.items()}),
        race("m[k] = v, new keys", len(new), rounds, {who: put_all(make_it) for who, make_it in makers.items()}),
        race(
            "floor",
            count // 10,
            rounds,
            {
                OURS: plain(floor_all),
                "SortedDict": plain(bisect_all) if sortedcontainers else None,
            },
        ),
    ]


def addresses(count: int, seed: int) -> list[str]:
    """Distinct keys that begin alike, as addresses do, in any order."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(4 * count)[:count].tolist()
    hosts = rng.integers(0, 1000, count).tolist()
    return [
        f"https://www.host{host}.example.org/{number % 97:x}/page-{number}"
        for host, number in zip(hosts, numbers, strict=True)
    ]


def strings(count: int, rounds: int) -> list[Row]:
    """Keys that are strings, against containers of Python's objects and tables by hash."""
    keys = addresses(count, 6)
    rng = np.random.default_rng(7)
    # Nine tenths are there; all are objects of their own, as those are that come from somewhere else.
    asked = [f"{keys[at]}{'' if at % 10 else '#'}" for at in rng.integers(0, count, count).tolist()]
    values = np.arange(count)
    index, pairs = StringIndex(keys, values), dict(zip(keys, values.tolist(), strict=True))
    new = [f"{key}?" for key in keys[::10]]
    hashed = pandas.Index(keys) if pandas else None
    column = pyarrow.array(asked) if pyarrow else None
    frame = polars.DataFrame({"key": keys, "value": values}) if polars else None
    series = polars.Series(asked) if polars else None
    texts = pandas.Series(asked) if pandas else None
    if hashed is not None:
        hashed.get_indexer(asked[:1])  # Builds the hash table.
    makers: dict[str, Callable[[], Any]] = {OURS: index.copy, "dict": lambda: dict(pairs)}
    if sortedcontainers:
        makers["SortedDict"] = lambda: sortedcontainers.SortedDict(pairs)
    made = {who: make_it() for who, make_it in makers.items()}

    def join() -> Any:
        return polars.DataFrame({"key": series}).join(frame, on="key", how="left")

    def put_all(make_it: Callable[[], Any]) -> Work:
        def setup() -> Any:
            fresh = make_it()
            if isinstance(fresh, StringIndex):
                return lambda: fresh.insert_many(new, 7)
            return lambda: fresh.update(dict.fromkeys(new, 7))

        return setup

    def look_up(of: Any) -> Any:
        return lambda: [of.get(key) for key in asked]

    singles: dict[str, Work | None] = {who: plain(look_up(of)) for who, of in made.items()}
    return [
        race(
            "look up a list of strings",
            count,
            rounds,
            {
                OURS: plain(lambda: index.get_many(asked)),
                "pandas": plain(lambda: hashed.get_indexer(asked)) if pandas else None,
                "SortedDict": singles.get("SortedDict"),
                "dict": singles["dict"],
            },
        ),
        race(
            "look up a column of strings",
            count,
            rounds,
            {
                OURS: plain(lambda: index.get_many(column if pyarrow else series)) if pyarrow or polars else None,
                "pandas": plain(lambda: hashed.get_indexer(texts)) if pandas else None,
                "polars": plain(join) if polars else None,
            },
        ),
        race("m[k] of strings", count, rounds, {who: plain(look_up(of)) for who, of in made.items()}),
        race("insert a tenth of strings", len(new), rounds, {who: put_all(its) for who, its in makers.items()}),
        race(
            "build from unsorted strings",
            count,
            rounds,
            {
                OURS: plain(lambda: StringIndex(keys, values)),
                "SortedDict": plain(makers["SortedDict"]) if sortedcontainers else None,
            },
        ),
    ]


def size_of_strings(count: int) -> Row:
    """Bytes per entry, those of the keys included."""
    row = Row("bytes per entry with a string", "bytes")
    index = StringIndex(addresses(count, 6), 0)
    row.cells[OURS] = index.nbytes / len(index)
    for who, kind in (("dict", dict), ("SortedDict", sortedcontainers and sortedcontainers.SortedDict)):
        if kind:
            tracemalloc.start()
            kept = kind((key, at + 10**6) for at, key in enumerate(addresses(count, 6)))
            row.cells[who] = tracemalloc.get_traced_memory()[0] / len(kept)
            tracemalloc.stop()
    return row


def sizes(data: Data, count: int) -> Row:
    """Bytes per entry. Python's containers are measured by what they allocate."""
    row = Row("bytes per entry", "bytes", {OURS: data.index.nbytes / len(data.index), "numpy": 16.0})
    for who, kind in (("dict", dict), ("SortedDict", sortedcontainers and sortedcontainers.SortedDict)):
        if kind:
            tracemalloc.start()
            kept = kind((2 * key + 1000, key + 10**6) for key in range(count))
            row.cells[who] = tracemalloc.get_traced_memory()[0] / len(kept)
            tracemalloc.stop()
    return row


def table(rows: list[Row]) -> str:
    """The rows as a table in Markdown, with ratios."""
    whos = [OURS, "numpy", "pandas", "polars", "SortedDict", "dict"]
    whos = [who for who in whos if any(who in row.cells for row in rows)]
    lines = ["| | " + " | ".join(whos) + " |", "|---|" + "---:|" * len(whos)]
    for row in rows:
        cells = []
        for who in whos:
            cell = row.cells.get(who)
            if cell is None:
                cells.append("")
                continue
            text = f"{cell:,.0f}" if cell >= 100 else f"{cell:.1f}"
            ratio = cell / row.cells[OURS]
            times = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"
            cells.append(text if who == OURS else f"{text} ({times}×)")
        unit = "" if row.unit == "ns" else f", {row.unit}"
        lines.append(f"| {row.name}{unit} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def number(text: str) -> int:
    """A number, also as 10M or 100k."""
    factor = {"k": 1000, "M": 1_000_000}.get(text[-1:], 1)
    return int(float(text.rstrip("kM")) * factor)


def main(arguments: list[str] | None = None) -> str:
    """Runs the races and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=number, default=10_000_000)
    parser.add_argument("--queries", type=number, help="by default a tenth of the entries")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strings", action="store_true", help="only the rows of strings")
    asked = parser.parse_args(arguments)
    if asked.entries < 1000:
        parser.error("at least 1,000 entries")
    if asked.strings:
        count = min(1_000_000, asked.entries)
        text = table([*strings(count, asked.rounds), size_of_strings(count)])
        print(text)
        return text
    data = make(asked.entries, asked.queries or asked.entries // 10)
    count = min(100_000, asked.entries)
    rows = [
        *lookups(data, asked.rounds),
        *neighbours(data, asked.rounds),
        *ranges(data, asked.rounds),
        *changes(data, asked.rounds),
        *builds(data, asked.rounds),
        *singles(count, asked.rounds),
        sizes(data, count),
        *strings(min(1_000_000, asked.entries), asked.rounds),
        size_of_strings(count),
    ]
    versions = [f"{module.__name__} {module.__version__}" for module in (np, pandas, polars) if module]
    versions += [f"sortedcontainers {sortedcontainers.__version__}"] if sortedcontainers else []
    about = f"{len(data.keys):,} entries, {len(data.queries):,} queries; latchless {__version__}, Python "
    text = f"{about}{sys.version.split()[0]}, {', '.join(versions)}\n\n{table(rows)}"
    print(text)
    return text


if __name__ == "__main__":
    main()
