"""Common factors: hidden factors behind many pairs of attributes predict each of these pairs.

If attributes depend on one hidden factor, such as ill health or wealth, the residuals of all pairs
are products of loadings, and every pair borrows the reports of all others.  The residuals of
pairs are blocks of one symmetric matrix.  Its largest eigenvalues are kept, each reduced by what
noise of this size adds to an eigenvalue e:

    e -> sign(e) sqrt(e^2 - 4 D s^2)        D rows, noise of variance s^2 in each entry

The blocks of an attribute with itself are not reported; they follow from the factors and are filled
in until nothing changes.  The number of factors, often none, is the one with the best Bayesian
information criterion under the law of ``shrinkage.py`` for what the factors leave.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import log

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.marginals.marginal_table import View
from sottovoce.plans.marginals.shrinkage import Residuals, Shrinkage

MAX_FACTORS = 3
_SWEEPS = 40
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class PairResiduals:
    """The residuals of pairs in units of correlations, and the variance of each in a direction."""

    sizes: tuple[int, ...]
    residuals: dict[View, Floats]
    variances: dict[View, float]

    def factors(self) -> tuple[int, dict[View, Floats]]:
        """Return the number of factors, and their prediction of every pair."""
        best = self._score(np.zeros_like(self._matrix), 0)
        chosen = 0
        fitted = np.zeros_like(self._matrix)
        for count in range(1, min(MAX_FACTORS, len(self.sizes) - 1) + 1):
            candidate = self._fit(count)
            if np.linalg.matrix_rank(candidate, tol=1e-9) < count:
                break
            score = self._score(candidate, count)
            if score > best:
                best = score
                chosen = count
                fitted = candidate
        return chosen, {pair: self._block(fitted, pair) for pair in self.residuals}

    def noise_share(self, factors: int) -> float:
        """Return the share of a pair's noise that remains in the prediction of the factors."""
        return min(1.0, 2 * factors / len(self._matrix))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((size - 1 for size in self.sizes), initial=0))

    def _rows(self, attribute: int) -> slice:
        return slice(self._starts[attribute], self._starts[attribute + 1])

    @cached_property
    def _bases(self) -> list[Floats]:
        return [contrasts(size) for size in self.sizes]

    @cached_property
    def _matrix(self) -> Floats:
        matrix = np.zeros((self._starts[-1], self._starts[-1]))
        for (first, second), residual in self.residuals.items():
            block = self._bases[first].T @ residual @ self._bases[second]
            matrix[self._rows(first), self._rows(second)] = block
            matrix[self._rows(second), self._rows(first)] = block.T
        return matrix

    @cached_property
    def _noise(self) -> Floats:
        """Return the variance of every entry of the matrix, 0 where nothing was reported."""
        noise = np.zeros_like(self._matrix)
        for (first, second), variance in self.variances.items():
            noise[self._rows(first), self._rows(second)] = variance
            noise[self._rows(second), self._rows(first)] = variance
        return noise

    def _fit(self, count: int) -> Floats:
        """Return the matrix predicted by ``count`` factors."""
        spread = np.sqrt(np.maximum(self._noise.mean(axis=1), 1e-12))
        spread = spread / np.exp(np.log(spread).mean())
        unit = np.sqrt(np.outer(spread, spread))  # makes the noise of all entries about equal
        scaled = self._matrix / unit
        reported = self._noise > 0
        variance = float((self._noise[reported] / unit[reported] ** 2).mean())
        edge = 4 * len(scaled) * variance
        fitted = np.zeros_like(scaled)
        for _ in range(_SWEEPS):
            values, vectors = np.linalg.eigh(np.where(reported, scaled, fitted))
            kept = np.argsort(-np.abs(values))[:count]
            reduced = np.sign(values[kept]) * np.sqrt(np.maximum(values[kept] ** 2 - edge, 0))
            before = fitted
            fitted = (vectors[:, kept] * reduced) @ vectors[:, kept].T
            if np.abs(fitted - before).max() < _TOLERANCE:
                break
        return np.asarray(fitted * unit)

    def _block(self, matrix: Floats, pair: View) -> Floats:
        first, second = pair
        block = matrix[self._rows(first), self._rows(second)]
        return np.asarray(self._bases[first] @ block @ self._bases[second].T)

    def _score(self, fitted: Floats, count: int) -> float:
        """Return the log-likelihood of the residuals of the factors, minus a penalty.

        The penalty is log(n) / 2 for each of the free parameters, with n reported directions.
        """
        left = [
            ((residual - self._block(fitted, pair)) ** 2).sum()
            for pair, residual in self.residuals.items()
        ]
        degrees = [
            (self.sizes[first] - 1) * (self.sizes[second] - 1) for first, second in self.residuals
        ]
        variances = [self.variances[pair] for pair in self.residuals]
        residuals = Residuals(np.array(left), np.array(degrees, float), np.array(variances))
        parameters = count * (len(fitted) - (count - 1) / 2)
        return Shrinkage.fit(residuals).evidence - parameters / 2 * log(sum(degrees))


def contrasts(size: int) -> Floats:
    """Return (values, values - 1): orthonormal columns, each of which sums to 0 (Helmert).

    >>> contrasts(2).round(3).tolist()
    [[0.707], [-0.707]]
    """
    columns = np.zeros((size, size - 1))
    for column in range(size - 1):
        columns[: column + 1, column] = 1.0
        columns[column + 1, column] = -(column + 1.0)
        columns[:, column] /= np.sqrt((column + 1) * (column + 2))
    return columns
