"""True figures of people whose numbers are known; only simulations know them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.real_range import RealRange


def true_figures(
    domain: RealRange, values: Sequence[Any], names: Iterable[str]
) -> dict[str, float]:
    """Return the named figures of numbers, each moved into the range of the domain first."""
    numbers = np.clip(np.asarray(values, np.float64), domain.low, domain.high)
    return {name: true_figure(name, numbers) for name in names}


def true_figure(name: str, numbers: Floats) -> float:
    """Return one figure of numbers: their mean, their variance, or a quantile such as ``"50 %"``.

    >>> true_figure("50 %", np.array([1.0, 2.0, 9.0]))
    2.0
    """
    if name == "mean":
        return float(numbers.mean())
    if name == "variance":
        return float(numbers.var())
    return float(np.quantile(numbers, float(name.removesuffix(" %")) / 100))
