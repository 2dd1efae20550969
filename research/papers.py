"""Writes research/results/README.md, the papers' claims beside the measured numbers, from the kept results.

    python3 research/papers.py            after results or reasons have changed
    python3 research/papers.py --check    fails if the page doesn't match the kept results

A line is one claim of a paper: a number, a band or an order, over all points and indexes for which its text
states it. Every figure of every paper has a line. A claim that is off by more than 15 % somewhere needs
its measured reason in research/papers.toml, and a reason needs such a claim. `left` has the unexplained part of a
difference, and the attempts to explain it.
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
KNOWN = tomllib.loads((HERE / "papers.toml").read_text())

# A ratio further from 1 than this needs a reason.
OFF = 0.15
# The tolerance of a number in a text.
ABOUT = 0.1
# More published numbers than this in one diagram are summarized in one line.
MANY = 6
PLACES = ("anywhere", "model", "native")
# Words that a reason must not contain, because it has to be measured.
GUESSED = ("not measured", "n't measured", "likely", "n't known")
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


def reason(paper, experiment, panel, unit, place, series, used):
    """Returns the reason for a claim that is off, from research/papers.toml. An entry applies to everything that it
    doesn't exclude."""
    where = {"paper": {paper}, "figure": {experiment}, "panel": {panel}, "unit": {unit}, "on": {place}, "series": set(series)}
    for nth, entry in enumerate(KNOWN["off"]):
        narrowed = ((key, value) for key, value in entry.items() if key not in ("reason", "left"))
        if all(where[key] <= set(value if isinstance(value, list) else [value]) for key, value in narrowed):
            used.add(nth)
            left = f". *Not explained*: {entry['left']}" if "left" in entry else ""
            return entry["reason"] + left
    return None


def verdict(paper, experiment, panel, unit, rows, places, used):
    """Returns the verdict on a claim, and the places at which it is off without a known reason."""
    said, missing = [], []
    for place, of_place in places:
        differ = sum(row["note"] != "" for row in of_place)
        on = f"{place}: " if len(places) > 1 else ""
        if abs(worst(of_place) - 1) > OFF:
            series = {row["series"] for row in of_place}
            why = reason(paper, experiment, panel, unit, place, series, used)
            if why is None:
                missing.append(f"{paper} {experiment}, panel {panel!r}, {unit!r}, on {place}: ratio {worst(of_place):.2f}")
            said.append(f"{on}**off** at {differ} of {len(of_place)}: {why}")
        elif differ:
            said.append(f"{on}within 15 %, {differ} of {len(of_place)} differ")
        else:
            said.append(f"{on}holds" if len(of_place) == 1 else f"{on}holds at all {len(of_place)}")
    return "; ".join(said), missing


def line(paper, figure, experiment, claim, used):
    panel, unit, published, rows = claim
    places = [(place, [row for row in rows if row["on"] == place]) for place in PLACES]
    places = [(place, of_place) for place, of_place in places if of_place]
    said, missing = verdict(paper, experiment, panel, unit, rows, places, used)
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


def table(paper, used):
    """Returns a paper's table, missing reasons, and the number of claims of each kind."""
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
            one, without = line(paper["name"], figure, experiment, claim, used)
            text, missing = text + one, missing + without
            counts["off" if "**off**" in one else "within" if "within 15" in one else "holds"] += 1
    return text, missing, counts


def page():
    used, missing, body, total = set(), [], "", Counter()
    for paper in KNOWN["paper"]:
        text, without, counts = table(paper, used)
        body += f"\n## {paper['title']}\n\n{said(counts)} Pages: {paper['pages']}.\n\n{paper['fair']}\n\n{text}"
        missing, total = missing + without, total + counts
    for nth, entry in enumerate(KNOWN["off"]):
        if any(word in entry["reason"] for word in GUESSED):
            missing.append(f"a guess, not a measured reason: {entry['reason'][:60]}…")
        if nth not in used:
            missing.append(f"no claim is off for the reason in research/papers.toml: {entry['reason'][:60]}…")
    if missing:
        sys.exit("research/papers.toml needs a reason, or the figure:\n  " + "\n  ".join(missing))
    head = f"""# The papers' claims beside the measured numbers

Generated by `python3 research/papers.py` from the kept results in [`model/`](model) and [`native/`](native); CI checks
that it is current. A line is one claim of a paper's text, over every point and index for which the text states it.
The figures themselves are images, so their curves can't be compared.

- *points*: the x axis, from the first point to the last. *model*, *native*: our least and greatest number there.
- *ratio*: ours over the nearest published number, at the point where it is furthest from 1; 1.00 inside a
  band. Model before native if there are both.
- *holds*: the same to as many digits as the paper gives, or within a tenth if it says "about". *off*: by more
  than 15 % somewhere, with the measured reason; the unexplained part follows after *not explained*.
- *again*: the command that measures it. Native results are from the machine on their page, which has AVX-512,
  at rest. Results "natively with avx2" on their page, and those of `chained`, `readers` and `updates`, are from
  another machine of that name, without AVX-512 and with other load; a reason that compares the two says so. CSSL's
  Figure 5 with 256M keys is from a third one, which was busy as well.

{said(total)}
"""
    return head + body


def said(counts):
    return f"Of {sum(counts.values())} claims {counts['holds']} hold, {counts['within']} are within 15 %, {counts['off']} are off somewhere."


fresh = page()
if sys.argv[1:] == ["--check"]:
    if not PAGE.exists() or PAGE.read_text() != fresh:
        sys.exit("research/results/README.md isn't the page of the kept results: run python3 research/papers.py")
elif sys.argv[1:]:
    sys.exit(__doc__)
else:
    PAGE.write_text(fresh)
