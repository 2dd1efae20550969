"""Calls to shards: routing of keys to actors, and recovery when keys have moved or an actor is gone."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from latchless._asked import Array
from latchless.ray import _map
from latchless.ray._interval import Interval
from latchless.ray._map import Borders
from latchless.ray._route import Positions, at_positions, route
from latchless.ray._shard import Moved, Shard

_NAMESPACE = "latchless"
_PATIENCE = 120.0
"""Seconds for which a call looks for its shard: while a shard is split, or moves from one machine to another."""
_PAUSE = 0.01

Send = Callable[[Any, Positions, Array], Any]
"""Calls an actor with its part of a batch: the actor, the part's positions, its keys."""


def ray() -> Any:
    """The module, or ImportError that says how to get it."""
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise ImportError("this needs ray: pip install latchless[ray]") from None


class Shards:
    """The shards of a directory, as this process knows them."""

    def __init__(self, directory: Path, detached: bool, options: dict[str, Any] | None) -> None:
        self._ray = ray()
        self.directory = directory
        self.told = (directory, detached, options)
        """Its constructor's arguments."""
        lifetime = {"lifetime": "detached"} if detached else {}
        self._options = {"max_restarts": -1, "max_task_retries": -1, **lifetime, **(options or {})}
        self._actors: dict[str, Any] = {}
        self.read_map()

    def read_map(self) -> None:
        """Finds out which shard has which keys."""
        self.map = _map.read(self.directory)
        self.key, self.value = self.map.columns()

    # ---- actors ----

    def _name(self, folder: str) -> str:
        where = hashlib.sha256(os.path.realpath(self.directory).encode()).hexdigest()[:16]
        return f"{where}/{folder}"

    def actor(self, folder: str) -> Any:
        """The actor of a folder: the one that runs, or a new one."""
        if folder not in self._actors:
            named = {"name": self._name(folder), "namespace": _NAMESPACE, "get_if_exists": True}
            made = self._ray.remote(**self._options, **named)(Shard)
            self._actors[folder] = made.remote(str(self.directory), folder)
        return self._actors[folder]

    def _forget(self, folder: str, error: Exception) -> None:
        """Forgets an actor that won't come back, or raises the error if it couldn't be started."""
        if getattr(error, "actor_init_failed", False):
            raise error
        self._actors.pop(folder, None)

    def ask(self, folder: str, call: Callable[[Any], Any]) -> Any:
        """The answer of an actor; of another one for its folder, if it won't come back."""
        return self._answer(folder, call, call(self.actor(folder)))

    def ask_all(self, call: Callable[[Any], Any]) -> list[Any]:
        """The answers of all actors, in the order of their keys."""
        sent = [(folder, call(self.actor(folder))) for folder in self.map.folders]
        return [self._answer(folder, call, answer) for folder, answer in sent]

    def _answer(self, folder: str, call: Callable[[Any], Any], answer: Any) -> Any:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._ray.get(answer)
            except self._ray.exceptions.RayActorError as error:
                self._forget(folder, error)
                if time.monotonic() > until:
                    raise
            time.sleep(_PAUSE)
            answer = call(self.actor(folder))

    def abouts(self) -> list[dict[str, Any]]:
        """The reports of all shards, once they and this process know of the same ones."""
        until = time.monotonic() + _PATIENCE
        while True:
            self.read_map()
            abouts = self.ask_all(lambda actor: actor.about.remote())
            known = [self.map.borders(at) for at in range(len(self.map.folders))]
            if [about["borders"] for about in abouts] == known:
                return abouts
            if time.monotonic() > until:
                raise Moved("the shards' borders aren't those of shards.json")
            time.sleep(_PAUSE)

    def close(self) -> None:
        """Stops the actors of all shards."""
        self.read_map()
        for folder in self.map.folders:
            try:
                actor = self._ray.get_actor(self._name(folder), namespace=_NAMESPACE)
            except ValueError:
                continue  # It isn't running.
            # One that died just now has nothing to close: each of its answers was logged before.
            with contextlib.suppress(self._ray.exceptions.RayActorError):
                self._ray.get(actor.close.remote())
            self._ray.kill(actor, no_restart=True)
        self._actors.clear()

    # ---- batches and ranges ----

    def deal(self, keys: Array, send: Send, take: Callable[[Positions, Any], None]) -> None:
        """Sends each shard its keys, and takes the answers; sends those again that have moved.

        If shards refuse some for want of memory, MemoryError has their positions as `refused`.
        """
        rest: Array | None = None
        refused: list[Array] = []
        until = time.monotonic() + _PATIENCE
        while True:
            sent, again = [], []
            for shard, within, part in route(self.map.lows, keys if rest is None else keys[rest]):
                folder, at = self.map.folders[shard], (within if rest is None else rest[within])
                sent.append((folder, at, send(self.actor(folder), at, part)))
            for folder, at, answer in sent:
                try:
                    take(at, self._ray.get(answer))
                except MemoryError as error:
                    cause = getattr(error, "cause", error)
                    refused.append(at_positions(at, getattr(cause, "refused", slice(None)), len(keys)))
                except Moved as error:
                    again.append((at, error))
                except self._ray.exceptions.RayActorError as error:
                    self._forget(folder, error)
                    again.append((at, error))
            if not again:
                break
            if time.monotonic() > until:
                raise again[0][1]
            # In their order: of equal keys the last one stays.
            rest = np.sort(np.concatenate([at_positions(at, slice(None), len(keys)) for at, _ in again]))
            time.sleep(_PAUSE)
            self.read_map()
        if refused:
            short = MemoryError("a shard was refused memory")
            short.refused = np.sort(np.concatenate(refused))  # type: ignore[attr-defined]
            raise short

    def span(
        self,
        interval: Interval,
        ask: Callable[[Any, Interval, Borders], Any],
        *,
        reverse: bool = False,
        at_once: bool = True,
        until: float | None = None,
    ) -> Iterator[Any]:
        """The answers of all shards that have keys of an interval, in order.

        Asked at once, or each when the answer before it was taken.
        """
        until = time.monotonic() + _PATIENCE if until is None else until
        parts = [
            (folder, self.map.borders(at), its)
            for at, folder in enumerate(self.map.folders)
            if (its := interval.within(*self.map.ends(at))) is not None
        ]
        if reverse:
            parts.reverse()
        sent = [ask(self.actor(folder), its, borders) for folder, borders, its in parts] if at_once else None
        for at, (folder, borders, its) in enumerate(parts):
            try:
                answer = self._ray.get(sent[at] if sent else ask(self.actor(folder), its, borders))
            except (Moved, self._ray.exceptions.RayActorError) as error:
                if not isinstance(error, Moved):
                    self._forget(folder, error)
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)
                self.read_map()
                yield from self.span(its, ask, reverse=reverse, at_once=at_once, until=until)
            else:
                yield answer
