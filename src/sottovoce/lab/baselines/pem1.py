"""PEM1: the prefix extending method with one bit for every group, the published baseline.

Source: Wang 2021, section 4.2.
"""

from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.lab.baselines.pem import PrefixExtending


def pem1(domain: Bits | Strings, top: int = 16, *, threshold: float = 0.0) -> PrefixExtending:
    """Return the search that adds one bit with every group.

    >>> pem1(Bits(8), 4).lengths
    (2, 3, 4, 5, 6, 7, 8)
    """
    first_bits = PrefixExtending(domain, top, threshold=threshold).lengths[0]
    groups = max(1, domain.bits - first_bits)
    return PrefixExtending(domain, top, threshold=threshold, groups=groups)
