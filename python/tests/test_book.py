"""The book's code in Python runs, each page from its first block to its last."""

import doctest
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "docs"
# Pages whose code needs Ray: test_ray.py runs it.
WITH_RAY = ["python-shards.md"]
# What a page's code imports and an interpreter may lack.
OTHERS = ["pandas", "sortedcontainers"]


def blocks(page):
    """The page's blocks of Python: the line on which each begins, and its text."""
    text = page.read_text()
    found = re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, block.start(1)), block.group(1)) for block in found]


def run(code, line, page, names):
    """Runs a block; one that shows answers is compared with them."""
    if not code.startswith(">>>"):
        exec(compile("\n" * line + code, page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, page, page, line)
    said = []
    failed, _ = doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert failed == 0, "".join(said)


PAGES = sorted(page.name for page in BOOK.glob("*.md") if blocks(page) and page.name not in WITH_RAY)


def test_pages_have_code():
    assert {"getting-started.md", "migrating.md", "python.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for line, code in blocks(BOOK / page):
        for other in OTHERS:
            if f"import {other}" in code or f"from {other} " in code:
                pytest.importorskip(other)
        run(code, line, page, names)
