"""Draws docs/chart.svg, the README's chart, from the kept results: crates/bench/results/flagship.md.

    python3 crates/bench/chart.py            after the results have changed
    python3 crates/bench/chart.py --check    fails if the chart doesn't match the kept results

Each bar shows how many times as fast as std::BTreeMap `latchless::Index` was; if published crates ran
in the same race, a second bar shows the fastest of them.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "flagship.md"
CHART = HERE.parent.parent / "docs" / "chart.svg"

OURS, SINGLE_THREADED, BASELINE = "index", "index-exclusive", "btreemap"
# The races, by their names in the results, and their labels in the chart.
LABELS = {
    "get": "get",
    "chain": "get, dependent keys",
    "get-many": "get_many, 1,024 keys",
    "get-many-sorted": "get_many, 65,536 sorted",
    "insert": "insert",
    "insert-many": "insert_many, 1,024",
    "remove": "remove",
    "remove-many": "remove_many, 1,024",
    "update": "update",
    "update-many": "insert_many, keys are there",
    "sum-1000": "sums of 1,000 entries",
    "get-2": "get, two threads",
    "get-insert-2": "get and insert, two threads",
    "load": "bulk load, sorted",
}
LEFT, WIDTH, BAR, GAP, TOP = 220, 760, 20, 8, 62
BLUE, ORANGE, GREY = "#4c78a8", "#f58518", "#555"


def races(page):
    """Race -> index -> (nanoseconds as printed, unit), from the sections of the page's second half."""
    found = {}
    for section in page.split("\n### ")[1:]:
        rows = re.findall(r"^\| ([a-z][\w-]*) \| ([\d.]+) \| (\w+) \|", section, re.M)
        found[section.split("\n", 1)[0].strip()] = {index: (ns, per) for index, ns, per in rows}
    return found


def bars(race):
    """(times as fast as the baseline, the text next to the bar, colour) of a race."""
    times = {index: float(race[BASELINE][0]) / float(ns) for index, (ns, _) in race.items()}
    ns, per = race[OURS]
    yield times[OURS], f"{times[OURS]:.1f}×, {ns} ns{'' if per == 'op' else '/' + per}", ORANGE
    rivals = times.keys() - {OURS, SINGLE_THREADED, BASELINE}
    if rivals:
        best = max(rivals, key=times.get)
        yield times[best], f"{times[best]:.1f}×, {best}", BLUE


def draw(page):
    found = races(page)
    groups = [(label, list(bars(found[name]))) for name, label in LABELS.items() if OURS in found.get(name, ())]
    head = re.search(r"^(\d+) records, .*, (median of \d+ rounds), (\w+) keys", page, re.M)
    if not groups or not head:
        sys.exit(f"{RESULTS} isn't a page of `latchless-bench --suite flagship --report`")
    records, rounds, key = int(head[1]), head[2], head[3]
    shown = f"{records // 10**6}M" if records % 10**6 == 0 else f"{records:,}"
    blue = "; blue: the fastest published crate" if any(len(group) > 1 for _, group in groups) else ""
    scale = (WIDTH - LEFT - 190) / max(times for _, group in groups for times, _, _ in group)
    height = TOP + sum(len(group) * BAR + GAP for _, group in groups) + 6
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        '<text x="12" y="22" font-size="15" font-weight="bold">'
        "latchless::Index: times as fast as std::BTreeMap</text>",
        f'<text x="12" y="40" fill="{GREY}">{shown} random {key} keys, {rounds}, one thread unless said; '
        f"dashed: BTreeMap{blue}</text>",
    ]
    y = TOP
    for label, group in groups:
        middle = y + len(group) * BAR / 2 + 5
        out.append(f'<text x="{LEFT - 10}" y="{middle:g}" text-anchor="end">{label}</text>')
        for times, beside, colour in group:
            length = times * scale
            out.append(f'<rect x="{LEFT}" y="{y + 1}" width="{length:.1f}" height="{BAR - 3}" fill="{colour}"/>')
            out.append(f'<text x="{LEFT + length + 6:.1f}" y="{y + 14}">{beside}</text>')
            y += BAR
        y += GAP
    line = f"{LEFT + scale:.1f}"
    out.append(f'<line x1="{line}" x2="{line}" y1="{TOP - 6}" y2="{y}" stroke="#333" stroke-dasharray="3 3"/>')
    out.append("</svg>\n")
    return "\n".join(out)


chart = draw(RESULTS.read_text())
if sys.argv[1:] == ["--check"]:
    if not CHART.exists() or CHART.read_text() != chart:
        sys.exit("docs/chart.svg isn't the chart of crates/bench/results/flagship.md: run python3 crates/bench/chart.py")
elif sys.argv[1:]:
    sys.exit(__doc__)
else:
    CHART.write_text(chart)
