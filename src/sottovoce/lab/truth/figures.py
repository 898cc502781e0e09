"""Truth beside figures: what the numbers of simulated people really are on average and at quantiles."""

from typing import Any

import numpy as np

from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.arrays import Floats


def beside(measures: NumberAnswer, numbers: Floats) -> list[dict[str, Any]]:
    """Return the rows of measures with ``truth`` and ``covered``."""
    rows = []
    for row in measures.rows():
        truth = figure(row["value"], numbers)
        rows.append({"value": row["value"], "truth": truth, **row, "covered": row["low"] <= truth <= row["high"]})
    return rows


def figure(name: str, numbers: Floats) -> float:
    """Return the true figure of this name.

    >>> figure("50 %", np.array([1.0, 2.0, 9.0]))
    2.0
    """
    if name == "mean":
        return float(numbers.mean())
    if name == "variance":
        return float(numbers.var())
    return float(np.quantile(numbers, float(name.removesuffix(" %")) / 100))
