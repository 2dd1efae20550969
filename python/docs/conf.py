"""The documentation's settings. Its pages of examples are made here: each example runs, and draws its plot.

python -m sphinx -W docs site
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")
import latchless

FOLDER = Path(__file__).parent
EXAMPLES = {
    "genomics": "Genomics: variants by window",
    "trades_and_quotes": "As-of joins on a table that is being written",
    "leaderboard": "A live leaderboard",
}

project = "latchless"
release = version = latchless.__version__
copyright = "the latchless authors"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
html_theme = "furo"
html_title = "latchless for Python"
html_show_sourcelink = False
html_copy_source = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"
exclude_patterns = ["made/*.txt"]


def run(name: str, plot: Path) -> tuple[str, str]:
    """Runs an example. Returns what it says of itself, and what it prints."""
    spec = importlib.util.spec_from_file_location(name, FOLDER.parent / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        module.main(plot)
    return str(module.__doc__).strip(), printed.getvalue()


def make_examples(app: Any) -> None:
    """Writes a page for each example."""
    made = FOLDER / "made"
    made.mkdir(exist_ok=True)
    for name, title in EXAMPLES.items():
        said, printed = run(name, made / f"{name}.png")
        about = "\n\n".join(part for part in said.split("\n\n") if not part.startswith("    "))
        page = f"""# {title}

{about}

![The plot that this example draws]({name}.png)

It prints:

```text
{printed}```

```{{literalinclude}} ../../examples/{name}.py
:language: python
:start-after: from __future__ import annotations
```
"""
        (made / f"{name}.md").write_text(page)


REPOSITORY = "https://github.com/latchless/latchless"
PAGES = {
    "tree/main/python/examples": "examples.md",
    "blob/main/python/docs/benchmarks.md": "benchmarks.md",
    "blob/main/docs/python-limitations.md": "limits.md",
    "blob/main/docs/python-shards.md": "shards.md",
}


def adapt_readme(app: Any, relative_path: str, parent: str, content: list[str]) -> None:
    """Links of the README that lead to files of the repository lead to pages here."""
    for path, page in PAGES.items():
        content[0] = content[0].replace(f"]({REPOSITORY}/{path})", f"]({page})")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", make_examples)
    app.connect("include-read", adapt_readme)
