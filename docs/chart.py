"""Draws docs/chart.svg: how many times as fast as std::BTreeMap, the index and the best published crate.

    latchless bench --suite flagship --records 10M --format json > flagship.jsonl
    python3 docs/chart.py < flagship.jsonl > docs/chart.svg
"""

import json
import sys

LABELS = {
    "get": "get",
    "get-many": "get_many",
    "insert": "insert",
    "insert-many": "insert_many",
    "remove": "remove",
    "update": "update",
    "sum-1000": "sums of 1,000",
    "load": "bulk load, sorted",
}
LEFT, WIDTH, BAR, GAP, TOP = 150, 680, 20, 20, 58

rows = {row["workload"]: row for row in map(json.loads, filter(str.strip, sys.stdin))}
groups = []
for name, label in LABELS.items():
    row = rows.get(name)
    if row and row["ratio"]:
        bars = [(row["ratio"], "latchless::Index", "#f58518")]
        if row["best"]:
            bars.append((row["btreemap"] / row["best"], row["rival"], "#4c78a8"))
        groups.append((label, bars))
if not groups:
    sys.exit("no row of the suite to draw: pipe the output of `latchless bench --suite flagship --format json`")
scale = (WIDTH - LEFT - 170) / max(ratio for _, bars in groups for ratio, _, _ in bars)
height = TOP + sum(len(bars) * BAR + GAP for _, bars in groups)

out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
    'font-family="system-ui, sans-serif" font-size="13">',
    f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    '<text x="12" y="22" font-size="15" font-weight="bold">Times as fast as std::BTreeMap</text>',
    '<text x="12" y="40" fill="#555">random keys, one thread, each row one process; below: the best published crate</text>',
]
y = TOP
for label, bars in groups:
    out.append(f'<text x="{LEFT - 10}" y="{y + len(bars) * BAR / 2 + 5}" text-anchor="end">{label}</text>')
    for ratio, index, colour in bars:
        length = ratio * scale
        out.append(f'<rect x="{LEFT}" y="{y + 1}" width="{length:.1f}" height="{BAR - 3}" fill="{colour}"/>')
        out.append(f'<text x="{LEFT + length + 6:.1f}" y="{y + 14}">{ratio:.1f}× {index}</text>')
        y += BAR
    y += GAP
line = LEFT + scale
out.append(f'<line x1="{line:.1f}" x2="{line:.1f}" y1="{TOP - 6}" y2="{height - 14}" stroke="#333" stroke-dasharray="3 3"/>')
out.append("</svg>")
print("\n".join(out))
