"""One bit for every channel: the report of the multiple channel method with pieces of one bit.

An index stands for a channel and a bit, 2 * channel + bit.  A report is a row with one bit for
every channel.  The bit of the user's own channel is the true one with probability ``keep`` and its
complement otherwise; the bits of all other channels are fair coins.  For users of two channels the
chances of a row differ by p/2 against (1 - p)/2, so the whole row reveals no more than its one bit.

A baseline: prefer affine response over (channel, piece of several bits), whose reports are shorter
and more accurate.

Source: Wang 2021, section 4.1.2.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Floats, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import Noise
from sottovoce.core.packing import bit_rows, unpack_bits
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism, threshold
from sottovoce.mechanisms.grr import GRR

MAX_LISTED_CHANNELS = 16  # of the longest reports that can all be listed


@dataclass(frozen=True)
class ChannelNoise(Noise):
    """The errors of centred counts.

    The two bits of a channel err oppositely, channels err independently.

    ``unheld`` is the variance of one report for a channel that is not its user's.  A report for its
    user's own channel varies by 1/4 less.  How many users a channel has cannot be seen, so only
    those are counted whom the votes prove.  The variance is exact where all users of a channel hold
    the same bit; otherwise it is too large by at most 1/4 for each of them.
    """

    unheld: float

    complete = False

    def variances(self, votes: Floats, users: int) -> Floats:
        proven_users = np.clip(2 * np.abs(votes), 0, users)
        return np.asarray(users * self.unheld - proven_users / 4)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        contrasts = coefficients[1::2] - coefficients[::2]
        return float(contrasts**2 @ self.variances(votes[1::2], users))


@dataclass(frozen=True)
class ChannelBits(Mechanism, kind="channels", wire=False):
    """Report a row of bits, one for every two indices.

    >>> ChannelBits(epsilon=1.0, size=128).width
    8
    """

    epsilon: float
    size: int
    keep: int = threshold()

    min_size = 4
    max_size = 1 << 17

    def prepare(self) -> None:
        if self.size % 2:
            raise ParameterError("`size` must be even: a channel has one index for each bit")
        self.set_default("keep", GRR(self.epsilon, 2).keep)

    @property
    def channels(self) -> int:
        """Return the bits of a report."""
        return self.size // 2

    @property
    def p(self) -> float:
        """Return the chance that the bit of the user's channel is the true one."""
        return self.keep / exact.UNIT

    @property
    def noise(self) -> ChannelNoise:
        """Return the law of the errors."""
        return ChannelNoise(1 / (4 * (2 * self.p - 1) ** 2))

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(self.keep, exact.UNIT - self.keep)

    @property
    def width(self) -> int:
        return -(-self.channels // 8)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one packed row per value.

        The order of draws is fixed: the bytes of all rows, then one draw of ``keep`` for every
        user.
        """
        values = self.check(values)
        users = np.arange(len(values))
        channel = values >> 1
        random_bytes = rng.bytes(len(values) * self.width)
        rows = np.frombuffer(random_bytes, np.uint8).reshape(-1, self.width).copy()
        rows[:, -1] &= np.uint8(0xFF >> -self.channels % 8)
        sent_bit = (values & 1 == 1) == rng.bernoulli(self.keep, len(values))
        column = channel >> 3
        shift = (channel & 7).astype(np.uint8)
        rows[users, column] &= ~(np.uint8(1) << shift)
        rows[users, column] |= sent_bit.astype(np.uint8) << shift
        return rows

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        return bit_rows(data, self.channels)

    def outcomes(self) -> Reports:
        if self.channels > MAX_LISTED_CHANNELS:
            raise ParameterError(
                f"reports of more than {MAX_LISTED_CHANNELS} bits are too many to list"
            )
        rows = np.arange(1 << self.channels).astype("<u4").view(np.uint8).reshape(-1, 4)
        return rows[:, : self.width]

    def likelihood(self, reports: Reports) -> Floats:
        ones = unpack_bits(reports, self.channels)
        supported = np.stack([~ones, ones], axis=2).reshape(len(reports), self.size)
        return np.where(supported, self.p, 1 - self.p) * 0.5 ** (self.channels - 1)

    def tally(self, reports: Reports) -> Tally:
        from sottovoce.kernels.unary import bit_counts

        return Tally(self.key, len(reports), {"ones": bit_counts(reports, self.channels)})

    def estimate(self, tally: Tally) -> Estimate:
        """Return the centred totals: for each index, its users less half the users of its channel.

        Fair coins do not show how many users a channel has, but they show which bit most of them
        hold.
        """
        ones = self.check_tally(tally)["ones"]
        excess = (ones - tally.users / 2) / (2 * self.p - 1)
        votes = np.stack([-excess, excess], axis=1).ravel()
        return Estimate(votes, self.noise, tally.users, self.epsilon)
