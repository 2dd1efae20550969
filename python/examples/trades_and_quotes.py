"""What was the quote when a trade happened? As-of joins on a table that is being written.

    python examples/trades_and_quotes.py --plot trades.png

One thread receives quotes in small batches. Another one joins each batch of trades as soon as it comes. Neither
waits for the other, and nothing is sorted or copied in between. The quotes are made up: a random walk.
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path
from typing import Any

import numpy as np

from latchless import Index

START = np.datetime64("2024-03-01T09:30", "ns")
SECONDS = 60


def feed(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Times and prices of quotes: a random walk of so many steps."""
    rng = np.random.default_rng(seed)
    times = START + np.sort(rng.choice(SECONDS * 10**9, count, replace=False)).astype("m8[ns]")
    return times, 100 + np.cumsum(rng.normal(0, 0.01, count))


def main(plot: Path | None = None, count: int = 200_000, batch: int = 1_000) -> dict[str, Any]:
    """Writes quotes on one thread and joins trades on another, says what it found, draws."""
    times, prices = feed(count)
    quotes = Index(key_dtype=times.dtype, value_dtype=prices.dtype)
    written = threading.Semaphore(0)

    def write() -> None:
        for at in range(0, count, batch):
            quotes.insert_many(times[at : at + batch], prices[at : at + batch])
            written.release()

    rng = np.random.default_rng(2)
    writer = threading.Thread(target=write)
    writer.start()
    joined = []
    for at in range(0, count, batch):
        written.acquire()  # These quotes are there; later ones may be, too.
        low, high = times[at], times[min(at + batch, count) - 1]
        trades = low + np.sort(rng.integers(0, int(high - low) + 1, 50)).astype("m8[ns]")
        quoted, price, found = quotes.asof(trades, tolerance=np.timedelta64(1, "s"))
        joined.append((trades, quoted, price, found))
    writer.join()
    trades, quoted, price, found = (np.concatenate(column) for column in zip(*joined, strict=True))
    ages = (trades - quoted)[found].astype(np.int64) / 1e3
    print(f"{len(quotes):,} quotes written while {len(trades):,} trades were joined; {found.sum():,} had a quote")
    print(f"age of the quote: median {np.median(ages):.0f} µs, at most {ages.max():,.0f} µs")
    if plot:
        draw(plot, quotes, trades, price, ages)
    return {"quotes": quotes, "trades": trades, "quoted": quoted, "price": price, "found": found}


def draw(path: Path, quotes: Index, trades: np.ndarray, price: np.ndarray, ages: np.ndarray) -> None:
    """A stretch of the quotes with the trades on it, and how old the quotes were."""
    from matplotlib import pyplot

    low, high = trades[len(trades) // 2], trades[len(trades) // 2] + np.timedelta64(100, "ms")
    times, walk = quotes.range(low, high)
    shown = (trades >= low) & (trades < high)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[2, 1])
    left.step((times - low).astype(np.int64) / 1e6, walk, where="post", color="#4477aa", label="quotes")
    left.plot((trades[shown] - low).astype(np.int64) / 1e6, price[shown], "o", color="#ee6677", label="trades")
    left.set(xlabel="milliseconds", ylabel="price", title="Trades on the quotes that were valid")
    left.legend()
    right.hist(ages, bins=40, color="#4477aa")
    right.set(xlabel="age of the quote, µs", ylabel="trades", yscale="log")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path)
    main(parser.parse_args().plot)
