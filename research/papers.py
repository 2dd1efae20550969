"""Writes research/results/README.md, the papers' claims beside the measured numbers, from the kept results.

    python3 research/papers.py            after results or reasons have changed
    python3 research/papers.py --check    fails if the page doesn't match the kept results

A line is one claim of a paper: a number, a band or an order, over all points and indexes for which its text
states it. Every figure of every paper has a line. research/claims/PAPER.toml has what isn't in the kept results:

- `figures`: the paper's figures in its order, each with its experiment, or with a replacement in `instead`.
- `claims_are_about_both`: the laboratory compares the model's and the native results with the same claims.
- `[[off]]`: the measured reason for claims that are off; a claim that is off needs one, and a reason needs such a claim.
  An entry applies to every claim that it doesn't exclude by `figure`, `panel`, `unit`, `series` or `on`. If a reason
  names an experiment, that one measures it. `left` is the unexplained part, with the attempts to explain it.
- `[[beyond]]`: comparisons that aren't the paper's own, narrowed in the same way. They are shown and not counted.
"""

import json
import sys
import tomllib
from collections import Counter
from math import inf
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGE = RESULTS / "README.md"
# In the order of their publication.
PAPERS = [
    tomllib.loads((HERE / "claims" / f"{name}.toml").read_text())
    for name in ("pb-tree", "olfit", "cssl", "pi", "spiderman")
]

# A ratio further from 1 than this needs a reason.
OFF = 0.15
# The tolerance of a number in a text.
ABOUT = 0.1
# More published numbers than this in one diagram are summarized in one line.
MANY = 6
PLACES = ("anywhere", "model", "native")
# Words that a reason must not contain, because it has to be measured.
GUESSED = ("not measured", "n't measured", "likely", "n't known")
# The entries of the papers' files that were about something, by identity.
USED = set()
HEAD = "| figure | what | points | published | model | native | ratio | verdict | again |\n" + "|---|---|---|---|---|---|---|---|---|\n"


def kept(paper, experiment):
    """Yields the rows of an experiment, from both places. If a paper's claims are about both, older native results are
    compared with the claims of the model's results."""
    on_model, natively = (rows_of(RESULTS / place / paper["name"] / f"{experiment}.json") for place in ("model", "native"))
    yield from on_model
    claims_now = {point(row): row["published"] for row in on_model if paper.get("claims_are_about_both")}
    for row in natively:
        # Results that are the same everywhere are kept twice.
        if row["on"] == "native" or not on_model:
            yield beside(row, claims_now.get(point(row), row["published"]))


def rows_of(path):
    return json.loads(path.read_text())["rows"] if path.exists() else []


def point(row):
    return row["panel"], row["series"], row["x"], row["unit"]


def beside(row, published):
    """Returns the row with the published number, compared as in the laboratory."""
    if published == row["published"]:
        return row
    if published is None:
        return row | {"published": None}
    low, high = published if isinstance(published, list) else (published, published)
    ours, about = row["ours"], 0.005 if isinstance(published, list) else ABOUT
    nearest = min(max(ours, -inf if low is None else low), inf if high is None else high)
    ratio = ours / nearest if nearest else 1.0
    return row | {"published": published, "ratio": ratio, "note": "differs" if abs(ratio - 1) > about else ""}


def number(value):
    """Formats a number with three significant digits; sizes in K and M."""
    if value >= 1e4 and value % 1e3 == 0:
        return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}K"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def span(values):
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def stated(published):
    if not isinstance(published, list):
        return number(published)
    low, high = published
    if low is None:
        return f"at most {number(high)}"
    return f"at least {number(low)}" if high is None else f"{number(low)} to {number(high)}"


def claims(rows):
    """Yields the claims with their rows, in the results' order: panel, unit, published, rows."""
    diagrams = {}
    for row in rows:
        if row["published"] is not None:
            diagrams.setdefault((row["panel"], row["unit"]), []).append(row)
    for (panel, unit), of_diagram in diagrams.items():
        parts = {}
        for row in of_diagram:
            parts.setdefault(json.dumps(row["published"]), []).append(row)
        if len(parts) > MANY:
            yield panel, unit, f"{len(of_diagram)} numbers", of_diagram
        else:
            for part in parts.values():
                yield panel, unit, stated(part[0]["published"]), part


def worst(rows):
    """Returns the ratio that is furthest from 1; a zero beside a published zero has none."""
    return max((row["ratio"] for row in rows if row["ratio"] is not None), key=lambda ratio: abs(ratio - 1), default=1.0)


def applies(entry, where):
    """Returns whether an entry of a paper's file is about these rows: it applies to everything that it doesn't exclude."""
    narrowed = ((key, value) for key, value in entry.items() if key not in ("reason", "left"))
    return all(where[key] <= set(value if isinstance(value, list) else [value]) for key, value in narrowed)


def entry_for(paper, kind, experiment, panel, unit, place, rows):
    """Returns the first entry of this kind that is about these rows."""
    series = {row["series"] for row in rows}
    where = {"figure": {experiment}, "panel": {panel}, "unit": {unit}, "on": {place}, "series": series}
    for entry in paper.get(kind, []):
        if applies(entry, where):
            USED.add(id(entry))
            return entry
    return None


def judged(rows):
    """Returns the verdict on a claim at one place. An order holds or it doesn't; a number may also be within 15 %."""
    differ = any(row["note"] != "" for row in rows)
    is_order = any(isinstance(row["published"], list) and None in row["published"] for row in rows)
    if not differ:
        return "holds"
    return "off" if is_order or abs(worst(rows) - 1) > OFF else "within"


def verdict(paper, experiment, panel, unit, places, counts):
    """Returns the verdict on a claim, and the places at which it is off without a known reason."""
    said, missing = [], []
    for place, of_place in places:
        differ = sum(row["note"] != "" for row in of_place)
        on = f"{place}: " if len(places) > 1 else ""
        kind = judged(of_place)
        beyond = entry_for(paper, "beyond", experiment, panel, unit, place, of_place)
        if beyond:
            said.append(f"{on}beyond: {beyond['reason']}")
            continue
        counts[place, kind] += 1
        if kind == "off":
            entry = entry_for(paper, "off", experiment, panel, unit, place, of_place)
            if entry is None:
                where = f"{paper['name']} {experiment}, panel {panel!r}, {unit!r}, on {place}"
                missing.append(f"{where}, {sorted({row['series'] for row in of_place})}: ratio {worst(of_place):.2f}")
                continue
            left = f". *Not explained*: {entry['left']}" if "left" in entry else ""
            said.append(f"{on}**off** at {differ} of {len(of_place)}: {entry['reason']}{left}")
        elif kind == "within":
            said.append(f"{on}within 15 %, {differ} of {len(of_place)} differ")
        else:
            said.append(f"{on}holds" if len(of_place) == 1 else f"{on}holds at all {len(of_place)}")
    return "; ".join(said), missing


def line(paper, figure, experiment, claim, counts):
    panel, unit, published, rows = claim
    places = [(place, [row for row in rows if row["on"] == place]) for place in PLACES]
    places = [(place, of_place) for place, of_place in places if of_place]
    said, missing = verdict(paper, experiment, panel, unit, places, counts)
    series = list(dict.fromkeys(row["series"] for row in rows))
    what = ", ".join(part for part in (panel, unit) if part) + ": " + ", ".join(series)
    ours = {place: span([row["ours"] for row in of_place]) for place, of_place in places}
    ratios = " / ".join(f"{worst(of_place):.2f}" for _, of_place in places)
    command = rows[0]["command"]
    if len(places) > 1:
        command = command.replace(f"--on {rows[0]['on']}", "--on both")
    cells = [figure, what, span([row["x"] for row in rows]), published]
    if "anywhere" in ours:
        cells += [f"{ours['anywhere']} (no machine)", ours.get("native", "")]
    else:
        cells += [ours.get("model", ""), ours.get("native", "")]
    return "| " + " | ".join([*cells, ratios, said, f"`{command}`"]) + " |\n", missing


def table(paper):
    """Returns a paper's table, missing reasons, and the number of verdicts by place and kind."""
    text, missing, counts = HEAD, [], Counter()
    named = set()
    figures = [(entry["figure"], entry.get("experiment"), entry.get("instead")) for entry in paper["figures"]]
    named |= {experiment for _, experiment, _ in figures}
    folders = [RESULTS / place / paper["name"] for place in ("model", "native")]
    others = sorted({path.stem for folder in folders for path in folder.glob("*.json")} - named)
    for figure, experiment, instead in figures + [(name, name, None) for name in others]:
        if experiment is None:
            text += f"| {figure} | {instead} | | | | | | no number | |\n"
            continue
        rows = list(kept(paper, experiment))
        if not rows:
            missing.append(f"{paper['name']} {experiment}: nothing is kept under results/")
        found = list(claims(rows))
        if rows and not found:
            what = instead or "measured; the text states nothing about it"
            text += f"| {figure} | {what} | | | | | | no number | `{rows[0]['command']}` |\n"
        for claim in found:
            one, without = line(paper, figure, experiment, claim, counts)
            text, missing = text + one, missing + without
    return text, missing, counts


def page():
    missing, body, total = [], "", Counter()
    for paper in PAPERS:
        text, without, counts = table(paper)
        body += f"\n## {paper['title']}\n\n{said(counts)} Pages: {paper['pages']}.\n\n{paper['fair']}\n\n{text}"
        missing, total = missing + without, total + counts
        for entry in paper.get("off", []) + paper.get("beyond", []):
            if any(word in entry["reason"] for word in GUESSED):
                missing.append(f"a guess, not a measured reason: {entry['reason'][:60]}…")
            if id(entry) not in USED:
                missing.append(f"nothing is off or beyond for this reason of {paper['name']}: {entry['reason'][:60]}…")
    if missing:
        sys.exit("research/claims needs a reason, or the figure:\n  " + "\n  ".join(missing))
    head = f"""# The papers' claims beside the measured numbers

{said(total)}

Generated by `python3 research/papers.py` from the kept results in [`model/`](model) and [`native/`](native); CI checks
that it is current. A line is one claim of a paper's text, over every point and index for which the text states it.
The figures themselves are images, so their curves can't be compared.

- *points*: the x axis, from the first point to the last. *model*, *native*: our least and greatest number there.
- *ratio*: ours over the nearest published number, at the point where it is furthest from 1; 1.00 inside a
  band. Model before native if there are both.
- *holds*: the same to as many digits as the paper gives, or within a tenth if it says "about". An order (at least, at
  most) holds or it is off; a number is *within 15 %* or *off*, with the measured reason. The unexplained part follows
  after *not explained*. *beyond*: a comparison that isn't the paper's own; it isn't counted.
- *again*: the command that measures it. Native results are from the machine on their page, which has AVX-512,
  at rest. Results "natively with avx2" on their page, and those of `chained`, `readers` and `updates`, are from
  another machine of that name, without AVX-512 and with other load; a reason that compares the two says so. CSSL's
  Figure 5 with 256M keys is from a third one, which was busy as well.
"""
    return head + body


def said(counts):
    """Says how many claims hold on the papers' machines, formulas and counts included, and how many natively."""
    parts = []
    for name, places in (("On the paper's machine", ("anywhere", "model")), ("Natively", ("native",))):
        of = Counter()
        for (place, kind), number in counts.items():
            if place in places:
                of[kind] += number
        if of.total():
            parts.append(f"{name} {of['holds']} of {of.total()} claims hold, {of['within']} are within 15 %, {of['off']} are off.")
    return " ".join(parts)


fresh = page()
if sys.argv[1:] == ["--check"]:
    if not PAGE.exists() or PAGE.read_text() != fresh:
        sys.exit("research/results/README.md isn't the page of the kept results: run python3 research/papers.py")
elif sys.argv[1:]:
    sys.exit(__doc__)
else:
    PAGE.write_text(fresh)
