"""One Hadamard coefficient of a record: whether an odd number of the chosen bits of its attributes
are set.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.view import check_attributes, check_columns
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Parity(Encoding, kind="parity"):
    """Yield the parity of all bits of the columns' values that the masks choose; ``sizes`` are
    those of the columns.
    """

    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    masks: tuple[int, ...]

    def __post_init__(self) -> None:
        check_columns(self.columns, self.sizes)
        fits = len(self.masks) == len(self.columns) and all(type(mask) is int for mask in self.masks)
        if not fits or not all(
            0 < mask < 1 << bits_of(size) for mask, size in zip(self.masks, self.sizes, strict=True)
        ):
            raise ParameterError("a coefficient has one mask for every column, of its bits and not empty")

    def __call__(self, values: Values, rng: Rng) -> Ints:
        odd = np.zeros(len(values), np.int64)
        for column, mask in zip(self.columns, self.masks, strict=True):
            odd ^= np.bitwise_count(values[:, column] & mask)
        return odd & 1

    def outputs(self, domain: Domain) -> int:
        check_attributes(domain, self.columns, self.sizes)
        return 2


def bits_of(size: int) -> int:
    """Return how many bits the values of an attribute have.

    >>> bits_of(2), bits_of(3), bits_of(4)
    (1, 2, 2)
    """
    return (size - 1).bit_length()
