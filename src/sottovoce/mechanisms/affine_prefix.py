"""Affine response without the permutation: for finding long values prefix by prefix.

Candidates are known prefixes with every extension of a few bits; with the extension in the low bits one
small transform per prefix decodes all its extensions.  Only single cells may be read, never ranges:
without the permutation an aligned range is a subspace itself, and almost no report answers it.
Indices of more than 63 bits are rows of 32-bit words, low word first.

Source: docs/affine-response.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.product_target import ProductTarget
from sottovoce.errors import DomainError, NoDataError, ParameterError
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse, _columns

_NO_SUMS = "sums over many values need the permutation: use the affine kind"


@dataclass(frozen=True)
class AffinePrefix(AffineResponse, kind="affine_prefix"):
    """Affine response on the index itself, of up to 480 bits."""

    largest = 1 << 480  # sixty bytes; variances beyond leave the range of floating point
    permuted = False

    def prepare(self) -> None:
        super().prepare()
        if self.groups:
            raise ParameterError("without the permutation there are no groups of bits")
        if self.bits > hashing.LONGEST and self.size != self.cells:
            raise ParameterError(f"a domain above 2^{hashing.LONGEST} must be a power of two")

    @property
    def summable(self) -> bool:
        return False  # what is estimated next depends on what was found before

    def check(self, values: Values) -> Values:
        if self.bits <= hashing.LONGEST:
            return super().check(values)
        rows, words = np.asarray(values), -(-self.bits // 32)
        if rows.ndim != 2 or rows.shape[1] != words or rows.dtype != np.uint32:
            raise DomainError(f"every value must be a row of {words} words of 32 bits")
        if not len(rows):
            raise NoDataError("there are no values to randomise")
        if self.bits % 32 and int(rows[:, -1].max()) >> (self.bits % 32):
            raise DomainError(f"every value must have at most {self.bits} bits")
        return rows

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        raise ParameterError(_NO_SUMS)

    def score_terms(self, reports: Reports, target: ProductTarget) -> Floats:
        raise ParameterError(_NO_SUMS)

    def estimate_blocks(self, reports: Reports, prefixes: Sequence[int], extension: int) -> Estimate:
        """Return totals for every extension of every prefix, prefix by prefix."""
        counts = self.count_blocks(reports, prefixes, extension).ravel()
        return replace(self.estimate_counts(counts, len(reports)), noise=self.noise.among())

    def count_blocks(self, reports: Reports, prefixes: Sequence[int], extension: int) -> Ints:
        """Return (prefixes, 2^extension): how many reports support each."""
        from sottovoce.kernels import affine

        return affine.block_supports(*_columns(reports), prefixes, extension, self.bits, self.rank)
