"""The package itself: its documentation's examples, its types, its version."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import latchless

FOLDER = Path(__file__).parents[1]
RUST = FOLDER.parent / "crates"
MODULES = sorted(module.name for module in pkgutil.iter_modules(latchless.__path__, "latchless."))


@pytest.mark.parametrize("name", ["latchless", *MODULES])
def test_examples_in_the_documentation(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, raise_on_error=False)
    assert failed == 0


def test_every_module_is_found():
    assert "latchless._index" in MODULES
    assert doctest.testmod(importlib.import_module("latchless._batches")).attempted > 10


@pytest.mark.parametrize(
    "made", [latchless.Index, latchless.DurableIndex, latchless.StringIndex, latchless.BytesIndex]
)
def test_everything_public_is_documented(made):
    undocumented = [name for name in dir(made) if not name.startswith("_") and not getattr(made, name).__doc__]
    assert undocumented == []


@pytest.mark.parametrize(
    ("made", "attributes"),
    [
        (latchless.Index, {"key_dtype", "value_dtype", "key_zone", "value_zone"}),
        (latchless.DurableIndex, {"directory", "recovery", "read_only"}),
        (latchless.MultiIndex, {"key_dtype", "key_zone"}),
    ],
)
def test_everything_public_is_in_the_reference(made, attributes):
    page = (FOLDER / "docs" / "api.rst").read_text()
    listed = re.findall(rf" {made.__name__}\.(\w+)$", page, re.MULTILINE)
    own = set(vars(made)) if made is latchless.DurableIndex else set(dir(made))
    public = {name for name in own | attributes if not name.startswith("_")} - {"from_arrow", "from_pandas"}
    assert {name for name in listed if not name.startswith("_")} - {"from_arrow", "from_pandas"} == public


@pytest.mark.parametrize("made", [latchless.StringIndex, latchless.BytesIndex])
def test_earlier_names_add_nothing(made):
    assert {name for name in vars(made) if not name.startswith("_")} == {"key_type"}


CONVENTIONS = {
    "dict and sortedcontainers": "keys values items pop popitem peekitem setdefault update copy irange islice "
    "bisect_left bisect_right",
    "collections.Counter, as a method": "add",
    "NumPy": "key_dtype value_dtype nbytes live_nbytes log_nbytes to_numpy",
    "pandas": "asof join key_zone value_zone from_pandas to_pandas",
    "Polars and Arrow": "from_arrow to_arrow from_polars to_polars",
    "files of Python": "closed directory",
    "batches of what `in` and `rows` say": "contains_many rows_many",
    "prefixes, which are ranges in Rust": "count_prefix remove_prefix",
}


@pytest.mark.skipif(not RUST.exists(), reason="the sources of the engine aren't here")
@pytest.mark.parametrize(
    "made",
    [latchless.Index, latchless.DurableIndex, latchless.StringIndex, latchless.BytesIndex, latchless.MultiIndex],
)
def test_methods_have_the_names_that_rust_gives_them(made):
    rooms = ("latchless/src/index/**/*", "latchless/src/bytes/**/*", "latchless/src/snapshot/mod")
    kept = (
        "log/src/durable",
        "log/src/bytes",
        "log/src/multi",
        "log/src/conditional",
        "log/src/reading",
        "log/src/recover",
    )
    sources = [path for pattern in rooms + kept for path in RUST.glob(f"{pattern}.rs")]
    engine = {name for path in sources for name in re.findall(r"pub fn (\w+)[<(]", path.read_text())}
    assert {"try_insert", "contains_key", "page", "scan", "check_invariants"} <= engine
    own = {name for names in CONVENTIONS.values() for name in names.split()}
    public = {name for name in dir(made) if not name.startswith("_")}
    assert {"check_invariants", "remove_range", "stats"} <= public
    otherwise = {name for name in public if not {name, name.removesuffix("_many")} & engine} - own
    assert otherwise == set(), "Rust has another name for it, or it is a convention of Python's"


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has its lock")
def test_importing_it_leaves_the_interpreter_without_a_lock():
    code = "import sys, latchless; assert not sys._is_gil_enabled()"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False)
    assert done.returncode == 0


def test_the_readme():
    failed, attempted = doctest.testfile(str(FOLDER / "README.md"), module_relative=False)
    assert failed == 0
    assert attempted > 5


def test_links_of_the_readme_lead_somewhere_on_a_package_index_too():
    targets = re.findall(r"\]\(([^)]*)\)", (FOLDER / "README.md").read_text())
    assert len(targets) > 5
    assert [target for target in targets if not target.startswith("https://")] == []


def run(*command):
    command = [sys.executable, "-m", *command]
    # Without a cache: that of one tool with its options has misled another.
    environment = {**os.environ, "MYPY_CACHE_DIR": os.devnull}
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="NumPy's own types are older there")
def test_the_stubs_are_those_of_the_compiled_part():
    pytest.importorskip("mypy")
    run(
        "mypy.stubtest",
        "latchless",
        "--mypy-config-file",
        "pyproject.toml",
        "--allowlist",
        "tests/stubtest.txt",
        "--ignore-unused-allowlist",
    )


@pytest.mark.skipif(sys.version_info < (3, 11), reason="NumPy's own types are older there")
def test_types():
    pytest.importorskip("mypy")
    run("mypy")


def test_style():
    pytest.importorskip("ruff")
    run("ruff", "check", "--quiet", ".")
    run("ruff", "format", "--quiet", "--check", ".")
