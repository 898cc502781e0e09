"""Invented tables for experiments with SQL, and random boxes to ask about.

They have ordered columns, columns of labels and a public measure.

They stand in for the data of the published experiments, which are not drawn but real.

Source: Wang 2021, section 7.5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import ParameterError

MEASURE = "spent"
HIGHEST = 100_000  # of the measure, whose mean is a hundredth of it


@dataclass(frozen=True)
class Shape:
    """A table by the sizes of its columns: ordered ones o0, o1, ... and labels l0, l1, ..."""

    ordered: tuple[int, ...]
    labels: tuple[int, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns as a table is made of them."""
        numbers: dict[str, Any] = {
            f"o{index}": range(size) for index, size in enumerate(self.ordered)
        }
        return numbers | {
            f"l{index}": [f"v{value}" for value in range(size)]
            for index, size in enumerate(self.labels)
        }

    def people(self, count: int, seed: int, *, even: bool = False) -> dict[str, Any]:
        """Return a value of everybody for each column.

        Numbers are normal and clipped, and shares of labels fall; with ``even`` all are alike.
        """
        dice = np.random.default_rng(seed)
        values: dict[str, Any] = {}
        for index, size in enumerate(self.ordered):
            values[f"o{index}"] = (
                dice.integers(0, size, count) if even else clipped_normal(count, size, dice)
            )
        for index, size in enumerate(self.labels):
            shares = np.ones(size) if even else 1 / np.arange(1, size + 1)
            values[f"l{index}"] = [
                f"v{value}" for value in dice.choice(size, count, p=shares / shares.sum())
            ]
        return values


def clipped_normal(count: int, size: int, dice: np.random.Generator) -> Ints:
    """Return values around the middle; those beyond the ends are moved to them."""
    drawn = dice.normal((size - 1) / 2, size / 5, count).round()
    return np.asarray(np.clip(drawn, 0, size - 1), np.int64)


def measure(count: int, kappa: float, seed: int) -> Ints:
    """Return whole numbers from a gamma law whose mean square is so many times its squared mean."""
    if not 1 < kappa <= 3:
        raise ParameterError(
            "the mean square of a measure is more than once and at most thrice its squared mean"
        )
    shape = 1 / (kappa - 1)
    drawn = np.random.default_rng(seed).gamma(shape, HIGHEST / 100 / shape, count)
    return np.asarray(np.clip(drawn.round(), 0, HIGHEST), np.int64)


def boxes(sizes: Sequence[int], volume: float, count: int, seed: int) -> list[tuple[range, ...]]:
    """Return random boxes that contain about such a share of all cells.

    Their sides have random proportions.
    """
    dice = np.random.default_rng(seed)
    parts = dice.dirichlet(np.ones(len(sizes)), count)
    return [
        tuple(_side(size, volume**part, dice) for size, part in zip(sizes, box_parts, strict=True))
        for box_parts in parts
    ]


def condition(sides: Mapping[str, range]) -> str:
    """Return the conditions of a box as SQL.

    >>> condition({"o0": range(2, 8)})
    'o0 BETWEEN 2 AND 7'
    """
    return " AND ".join(f"{name} BETWEEN {side[0]} AND {side[-1]}" for name, side in sides.items())


def inside(people: Mapping[str, Any], sides: Mapping[str, range]) -> Floats:
    """Return 1 for everybody in a box, else 0."""
    parts = [
        (np.asarray(people[name]) >= side[0]) & (np.asarray(people[name]) <= side[-1])
        for name, side in sides.items()
    ]
    return np.asarray(np.logical_and.reduce(parts), np.float64)


def _side(size: int, share: float, dice: np.random.Generator) -> range:
    width = min(size, max(1, round(size * share)))
    low = int(dice.integers(0, size - width + 1))
    return range(low, low + width)
