"""The variance of a mean by every mechanism for numbers, computed exactly.

``python -m sottovoce.lab.experiments.means`` prints the page that is kept in
``docs/evidence/means.md``.

Source: Duchi, Jordan and Wainwright 2018; Wang et al. 2019 (Piecewise, Hybrid).
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.hybrid import Hybrid
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.wide_hybrid import wide_hybrid
from sottovoce.mechanisms.wide_piecewise import wide_piecewise

EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
POINTS = (1 << 14) + 2  # most of the numbers lie between two positions of a window


@dataclass(frozen=True)
class NumberMechanisms:
    """The mechanisms of one epsilon: the published ones, then those with a wider window."""

    duchi: Duchi
    piecewise: Piecewise
    hybrid: Hybrid
    wide_piecewise: Piecewise
    wide_hybrid: Hybrid

    @classmethod
    def of(cls, epsilon: float) -> "NumberMechanisms":
        """Return the mechanisms of an epsilon."""
        return cls(
            Duchi(epsilon, POINTS),
            Piecewise(epsilon, POINTS),
            Hybrid(epsilon, POINTS),
            wide_piecewise(epsilon, POINTS),
            wide_hybrid(epsilon, POINTS),
        )


def worst_variance(mechanism: NumericMechanism) -> float:
    """Return the largest variance of any number of the grid."""
    return float(mechanism.variance(np.arange(mechanism.size)).max())


def average_variance(mechanism: NumericMechanism) -> float:
    """Return the variance averaged over all numbers of the grid."""
    return float(mechanism.variance(np.arange(mechanism.size)).mean())


def page() -> str:
    """Return the page as Markdown."""
    compared = [NumberMechanisms.of(epsilon) for epsilon in EPSILONS]
    lines = [_HEAD, *map(_variances, compared), _SHAPES, *map(_shape, compared)]
    return "\n".join(lines) + "\n"


def _variances(compared: NumberMechanisms) -> str:
    """Return the row of worst variances, with the gains over the published mechanisms."""
    duchi, piecewise, hybrid, wide, mixed = (
        worst_variance(mechanism)
        for mechanism in (
            compared.duchi,
            compared.piecewise,
            compared.hybrid,
            compared.wide_piecewise,
            compared.wide_hybrid,
        )
    )
    cells = [f"{variance:.4g}" for variance in (duchi, piecewise, hybrid, wide, mixed)]
    gains = [_change(wide, piecewise), _change(wide, hybrid), _change(mixed, hybrid)]
    return _row([f"{compared.duchi.epsilon:g}", *cells, *gains])


def _shape(compared: NumberMechanisms) -> str:
    """Return the row of windows, and of what one false report can add."""
    published, wide = compared.hybrid, compared.wide_hybrid
    cells = [f"{published.window:,}", f"{compared.wide_piecewise.window:,}", f"{wide.window:,}"]
    influences = [f"{mechanism.influence.up:.3f}" for mechanism in (published, wide)]
    averages = [
        f"{average_variance(mechanism):.4g}"
        for mechanism in (compared.piecewise, published, compared.wide_piecewise, wide)
    ]
    return _row([f"{published.epsilon:g}", *cells, *influences, *averages])


def _change(new: float, old: float) -> str:
    """Return by how many per cent a variance changes."""
    return f"{100 * (new / old - 1):+.1f} %"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


_HEAD = """# The mean of a number

Printed by `python -m sottovoce.lab.experiments.means`.
The largest variance of a report, over all numbers of [-1, 1] on a fine grid, computed from the \
exact
law of each mechanism (no sampling).  The variance of a mean of n people is this over n, and \
the spread
of what they hold.  *Wide Piecewise*, `sv.Mean(low, high, "wide_piecewise")`, is Piecewise
with the best window; *wide hybrid*, `"wide_hybrid"`, mixes such a window with Duchi's mechanism.

| epsilon | Duchi | Piecewise | hybrid | wide Piecewise | wide hybrid \
| wide P. to P. | wide P. to hybrid | wide hybrid to hybrid |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

_SHAPES = """
The windows, of 4,096 cells; the most that one false report adds to the sum of all numbers; and the
variance averaged over numbers that are spread evenly.  The variances of the hybrids are the \
same for
all numbers, except where they are Duchi's mechanism; Piecewise errs least in the middle \
of the range.

| epsilon | window: published | wide P. | wide hybrid | influence: hybrid | wide hybrid \
| average: Piecewise | hybrid | wide P. | wide hybrid |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

if __name__ == "__main__":
    print(page(), end="")
