"""Timing: the best of several repeats; all sides take turns, so a noisy minute hurts all."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time

Side = Callable[[], object]

REPEATS = 9


@dataclass(frozen=True)
class Timing:
    """The least seconds that one run took: of the process's cores together, and on the wall."""

    cpu: float
    wall: float


def race(*sides: Side, repeats: int = REPEATS) -> tuple[Timing, ...]:
    """Return the best times of every side.

    Each runs once beforehand, unmeasured, to compile and to touch memory.

    >>> [timing.cpu >= 0 for timing in race(lambda: None, lambda: None, repeats=2)]
    [True, True]
    """
    for side in sides:
        side()
    turns = [[timed(side) for side in sides] for _ in range(repeats)]
    return tuple(
        Timing(min(turn.cpu for turn in column), min(turn.wall for turn in column))
        for column in zip(*turns, strict=True)
    )


def scaled(users: int, scale: float) -> int:
    """Return how many users a run at this scale has.

    >>> scaled(1_000_000, 0.001), scaled(1_000_000, 0.0)
    (1000, 64)
    """
    return max(64, int(users * scale))


def timed(side: Side) -> Timing:
    """Return how long one run took, without a run beforehand."""
    cpu = process_time()
    wall = perf_counter()
    side()
    return Timing(process_time() - cpu, perf_counter() - wall)
