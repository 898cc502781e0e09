"""MIN(column): before which value the reports show nobody."""

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.sql.aggregates.max import Max


class Min(Max):
    """The smallest value, as far as reports can tell."""

    sql_names = ("MIN",)
    extreme_share = 0.0
    formula = "the first value before which records are counted"

    @property
    def steps(self) -> Floats:
        return self.points[::-1]

    def _beyond(self, point: float) -> Bools:
        return np.asarray(self.numbers <= point)
