"""A live leaderboard: who is where, who is around me, while scores come in from several threads.

    python examples/leaderboard.py --plot leaderboard.png

One index has each player's score, a second one has all players in the order of their scores. A key of the
second one is the score and the player in one integer, so that players with equal scores have keys of their own.
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path
from typing import Any

import numpy as np

from latchless import Index

PLAYER_BITS = 24


class Leaderboard:
    """Players by score."""

    def __init__(self) -> None:
        self.scores = Index()
        self.board = Index(value_dtype="u4")

    def add(self, player: int, points: int) -> None:
        """Gives points to a player. A player's points come from one thread."""
        before = self.scores.get(player)
        score = (before or 0) + points
        self.board[score << PLAYER_BITS | player] = player
        if before is not None and points:
            del self.board[before << PLAYER_BITS | player]
        self.scores[player] = score

    def rank(self, player: int) -> int:
        """The player's place, 1 the best. Some microseconds, however many players there are."""
        return len(self.board) - self.board.rank(self.scores[player] << PLAYER_BITS | player)

    def top(self, count: int) -> list[tuple[int, int]]:
        """The best players and their scores."""
        keys, players = self.board.range(reverse=True, limit=count)
        return list(zip(players.tolist(), (keys >> PLAYER_BITS).tolist(), strict=True))

    def around(self, player: int, count: int) -> list[int]:
        """So many players above one, the player, and so many below."""
        key = self.scores[player] << PLAYER_BITS | player
        above = self.board.range(key, closed="neither", limit=count)[1][::-1]
        below = self.board.range(None, key, closed="right", reverse=True, limit=count + 1)[1]
        return [*above.tolist(), *below.tolist()]


def main(
    plot: Path | None = None, players: int = 20_000, rounds: int = 40, threads: int = 2, watched: int = 6
) -> dict[str, Any]:
    """Plays, says who is where, draws."""
    game = Leaderboard()
    for player in range(players):
        game.add(player, 0)
    names = np.random.default_rng(0).choice(players, watched, replace=False).tolist()
    history = []

    def play(thread: int, round_: int) -> None:
        rng = np.random.default_rng([thread, round_])
        mine = np.arange(thread, players, threads)
        for player in rng.choice(mine, len(mine) // 10).tolist():
            game.add(player, int(rng.geometric(0.1)) * (3 if player in names else 1))

    for round_ in range(rounds):
        playing = [threading.Thread(target=play, args=(thread, round_)) for thread in range(threads)]
        for thread in playing:
            thread.start()
        for thread in playing:
            thread.join()
        history.append([game.rank(player) for player in names])
    best = game.top(5)
    print(f"{len(game.board):,} players; the best: " + ", ".join(f"#{player} ({score})" for player, score in best))
    print(f"player {names[0]} is at place {game.rank(names[0]):,}, among {game.around(names[0], 2)}")
    if plot:
        draw(plot, names, np.array(history))
    return {"game": game, "history": history, "names": names}


def draw(path: Path, names: list[int], history: np.ndarray) -> None:
    """The places of some players, round by round."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    for name, places in zip(names, history.T, strict=True):
        axes.plot(np.arange(1, len(places) + 1), places, label=f"player {name}")
    axes.set(xlabel="round", ylabel="place", yscale="log", title="Places on the board")
    axes.invert_yaxis()
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path)
    main(parser.parse_args().plot)
