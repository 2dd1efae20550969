"""Which variants lie in which intervals? Ten thousand variants of human chromosome 22, and windows over them.

    python examples/genomics.py --plot genomics.png

An interval join is one call: `range_many` gives the variants of all intervals, laid out as Arrow lays out lists.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from latchless import Index

DATA = Path(__file__).parents[2] / "examples" / "data" / "chr22_variants.csv"
WINDOW, STEP = 5_000, 1_000
TRANSITIONS = {"AG", "GA", "CT", "TC"}


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Positions, and for each whether the variant is a transition (A↔G, C↔T). Of several variants at one position
    the last one counts.
    """
    with path.open() as file:
        rows = list(csv.DictReader(file))
    positions = np.array([int(row["pos"]) for row in rows])
    return positions, np.array([row["ref"] + row["alt"] in TRANSITIONS for row in rows])


def sums(offsets: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The sum of a column over each interval of a join."""
    running = np.concatenate([[0], np.cumsum(column)])
    return running[offsets[1:]] - running[offsets[:-1]]


def main(plot: Path | None = None) -> dict[str, Any]:
    """Joins, says what it found, draws."""
    variants = Index(*read(DATA))
    first, last = variants.nth(0)[0], variants.nth(-1)[0]
    starts = np.arange(first, last - WINDOW, STEP)
    offsets, positions, transitions = variants.range_many(starts, starts + WINDOW)
    counts = np.diff(offsets)
    share = np.where(counts > 0, sums(offsets, transitions) / np.maximum(counts, 1), np.nan)
    densest, emptiest = int(counts.argmax()), int(counts.argmin())
    print(f"{len(variants):,} variants, {len(starts)} windows of {WINDOW:,} bases, {len(positions):,} pairs")
    print(f"densest window: {starts[densest]:,}, {counts[densest]} variants")
    print(f"emptiest window: {starts[emptiest]:,}, {counts[emptiest]} variants")
    print(f"transitions: {np.nanmean(share):.0%} of the variants of a window")
    # The nearest variant on either side of every window's middle, in one call.
    nearest, _, _ = variants.asof(starts + WINDOW // 2, direction="nearest")
    gaps = np.abs(nearest - starts - WINDOW // 2)
    print(f"from the middle of a window to the nearest variant: {np.median(gaps):.0f} bases, at most {gaps.max()}")
    if plot:
        draw(plot, starts + WINDOW / 2, counts, share)
    return {"variants": len(variants), "starts": starts, "counts": counts, "share": share}


def draw(path: Path, middles: np.ndarray, counts: np.ndarray, share: np.ndarray) -> None:
    """Density and share of transitions along the chromosome."""
    from matplotlib import pyplot

    figure, (top, bottom) = pyplot.subplots(2, sharex=True, figsize=(9, 5), layout="constrained")
    top.fill_between(middles / 1e6, counts, color="#4477aa", linewidth=0)
    top.set_ylabel(f"variants in {WINDOW // 1000} kb")
    top.set_title("Variants of chromosome 22 by window")
    bottom.plot(middles / 1e6, share, color="#ee6677", linewidth=0.8)
    bottom.set(ylabel="share of transitions", xlabel="position, Mb", ylim=(0, 1))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path)
    main(parser.parse_args().plot)
