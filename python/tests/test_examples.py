"""The examples run, print correct results, and draw."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def plot(tmp_path):
    """Where to draw, if matplotlib is there."""
    try:
        import matplotlib
    except ImportError:
        yield None
        return
    matplotlib.use("Agg")
    path = tmp_path / "plot.png"
    yield path
    assert path.stat().st_size > 10_000


def test_genomics(plot):
    module = load(FOLDER / "examples" / "genomics.py")
    found = module.main(plot)
    positions, transitions = module.read(module.DATA)
    distinct, first = np.unique(positions[::-1], return_index=True)
    assert found["variants"] == len(distinct) > 10_000
    lows = found["starts"]
    inside = np.searchsorted(distinct, lows + module.WINDOW) - np.searchsorted(distinct, lows)
    np.testing.assert_array_equal(found["counts"], inside)
    window = (distinct >= lows[7]) & (distinct < lows[7] + module.WINDOW)
    assert found["share"][7] == transitions[::-1][first][window].mean()


def test_trades_and_quotes(plot):
    module = load(FOLDER / "examples" / "trades_and_quotes.py")
    found = module.main(plot, count=50_000)
    times, prices = module.feed(50_000)
    at = np.searchsorted(times, found["trades"], "right") - 1
    assert found["found"].all()
    np.testing.assert_array_equal(found["quoted"], times[at])
    np.testing.assert_array_equal(found["price"], prices[at])


def test_leaderboard(plot):
    module = load(FOLDER / "examples" / "leaderboard.py")
    found = module.main(plot, players=2_000, rounds=5)
    game = found["game"]
    assert len(game.board) == len(game.scores) == 2_000
    ordered = sorted(((score, player) for player, score in game.scores.items()), reverse=True)
    assert game.top(5) == [(player, score) for score, player in ordered[:5]]
    for place in (0, 77, 1_999):
        assert game.rank(ordered[place][1]) == place + 1
    assert game.around(ordered[50][1], 2) == [player for _, player in ordered[48:53]]
    assert len(found["history"]) == 5


def test_the_race_runs():
    bench = load(FOLDER / "bench.py")
    text = bench.main(["--entries", "5k", "--rounds", "1"])
    assert "| look up random keys |" in text
    assert "latchless" in text


def test_the_race_with_the_c_library_runs(monkeypatch):
    library = os.environ.get("LATCHLESS_C_LIBRARY")
    if library is None:
        pytest.skip("LATCHLESS_C_LIBRARY doesn't name the C library")
    monkeypatch.syspath_prepend(FOLDER)
    bench = load(FOLDER / "bench_binding.py")
    # Answers that differ would be an error.
    text = bench.main([library, "--entries", "5k", "--rounds", "2"])
    assert "| insert a tenth |" in text
