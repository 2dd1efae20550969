"""Draws docs/chart.svg: how many times as fast as std::BTreeMap, from JSON lines of `latchless bench`.

    latchless bench --format json … >> figures.jsonl      (once a workload, see README.md)
    python3 docs/chart.py < figures.jsonl > docs/chart.svg
"""

import json
import sys

LABELS = {
    "get": "random gets",
    "insert": "random inserts",
    "scan": "scans of 10,000 entries",
    "load": "bulk load, sorted",
}
COLOURS = {"p8i": "#4c78a8", "p16i": "#f58518"}
LEFT, WIDTH, BAR, GAP, TOP = 190, 620, 20, 26, 58

rows = [json.loads(line) for line in sys.stdin if line.strip()]
rows = [row for row in rows if row["index"] in COLOURS and row["workload"] in LABELS]
groups = [(name, [row for row in rows if row["workload"] == name]) for name in LABELS]
groups = [(name, group) for name, group in groups if group]
most = max(row["ratio"] for row in rows)
scale = (WIDTH - LEFT - 60) / most
height = TOP + sum(len(group) * BAR + GAP for _, group in groups)

out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
    'font-family="system-ui, sans-serif" font-size="13">',
    f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    '<text x="12" y="22" font-size="15" font-weight="bold">Times as fast as std::BTreeMap</text>',
    '<text x="12" y="40" fill="#555">10M random u64 keys and values, one thread, one process</text>',
]
y = TOP
for name, group in groups:
    out.append(f'<text x="{LEFT - 10}" y="{y + len(group) * BAR / 2 + 5}" text-anchor="end">{LABELS[name]}</text>')
    for row in group:
        length = row["ratio"] * scale
        out.append(f'<rect x="{LEFT}" y="{y + 1}" width="{length:.1f}" height="{BAR - 3}" fill="{COLOURS[row["index"]]}"/>')
        out.append(f'<text x="{LEFT + length + 6:.1f}" y="{y + 14}">{row["ratio"]:.1f}× {row["index"]}</text>')
        y += BAR
    y += GAP
line = LEFT + scale
out.append(f'<line x1="{line:.1f}" x2="{line:.1f}" y1="{TOP - 6}" y2="{height - 14}" stroke="#333" stroke-dasharray="3 3"/>')
out.append("</svg>")
print("\n".join(out))
