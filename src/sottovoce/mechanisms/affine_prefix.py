"""Affine response without the permutation: for finding long values prefix by prefix.

Candidates are known prefixes with every extension by a few bits.  The extension is in the low bits,
so that one small transform per prefix decodes all its extensions.  Only single cells may be read,
never ranges: without the permutation an aligned range is an affine subspace itself, and almost no
report tells anything about it.  Indices of more than 63 bits are rows of 32-bit words, low word
first.

Source: docs/affine-response.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.product_target import ProductTarget
from sottovoce.errors import DomainError, NoDataError, ParameterError
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse

_NO_SUMS = "sums over many values need the permutation: use the affine kind"


@dataclass(frozen=True)
class AffinePrefix(AffineResponse, kind="affine_prefix"):
    """Affine response on the index itself, of up to 480 bits."""

    max_size = 1 << 480  # sixty bytes; beyond, variances leave the range of floating point
    permuted = False

    def prepare(self) -> None:
        super().prepare()
        if self.groups:
            raise ParameterError("`groups` must be empty: this kind does not permute")
        if self.bits > hashing.MAX_INTEGER_BITS and self.size != self.cells:
            raise ParameterError(
                f"`size` must be a power of two above 2^{hashing.MAX_INTEGER_BITS}"
            )

    @property
    def has_tally(self) -> bool:
        return False  # which candidates are estimated depends on earlier rounds

    def check(self, values: Values) -> Values:
        if self.bits <= hashing.MAX_INTEGER_BITS:
            return super().check(values)
        indices = np.asarray(values)
        width = -(-self.bits // 32)
        if indices.ndim != 2 or indices.shape[1] != width or indices.dtype != np.uint32:
            raise DomainError(f"every value must be a row of {width} words of 32 bits")
        if not len(indices):
            raise NoDataError("there are no values to randomise")
        last_bits = self.bits % 32
        if last_bits and int(indices[:, -1].max()) >> last_bits:
            raise DomainError(f"every value must have at most {self.bits} bits")
        return indices

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        raise ParameterError(_NO_SUMS)

    def score_terms(self, reports: Reports, target: ProductTarget) -> Floats:
        raise ParameterError(_NO_SUMS)

    def count_blocks(self, reports: Reports, prefixes: Sequence[int], extension: int) -> Ints:
        from sottovoce.kernels import affine

        return affine.block_supports(self._decodable(reports), prefixes, extension)
