"""Binary local hashing: one bit of a hash under a public seed, randomised.

A baseline, and what OLH itself becomes below epsilon = ln 1.5.  Its error does not vanish as
epsilon grows, because two values still share a bucket half the time.

Source: Wang 2021, section 3.3.4.
"""

from dataclasses import dataclass

from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.olh import LocalHashing


@dataclass(frozen=True)
class BLH(LocalHashing, kind="blh"):
    """Hash into two buckets.

    >>> round(BLH(epsilon=1.0, size=1_000_000).p, 3)
    0.731
    """

    epsilon: float
    size: int
    keep: int = threshold()
