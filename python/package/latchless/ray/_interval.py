"""Keys between two ends, and the part of them that a shard has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from latchless._ranges import Closed

_CLOSED: dict[tuple[bool, bool], Closed] = {
    (True, True): "both",
    (True, False): "left",
    (False, True): "right",
    (False, False): "neither",
}


@dataclass(frozen=True)
class Interval:
    """Keys from one end to another; an end that is None is open."""

    low: Any
    high: Any
    has_low: bool
    """Whether the low end belongs to it."""
    has_high: bool
    """Whether the high end does."""

    @property
    def closed(self) -> Closed:
        """The ends that belong to it, in the form of `Index`'s methods."""
        return _CLOSED[self.has_low, self.has_high]

    def within(self, low: Any, high: Any) -> Interval | None:
        """The part of it from one key to before another; None if there is none."""
        its_low, has_low, its_high, has_high = self.low, self.has_low, self.high, self.has_high
        if low is not None and (its_low is None or its_low < low):
            its_low, has_low = low, True
        if high is not None and (its_high is None or its_high >= high):
            its_high, has_high = high, False
        if its_low is not None and its_high is not None:
            one = its_low == its_high and has_low and has_high
            if not (its_low < its_high or one):
                return None
        return Interval(its_low, its_high, has_low, has_high)
