"""A bit for every channel, of which only the user's own says anything: the vector of the multiple
channel method.

Every index is a channel and a bit, 2 * channel + bit.  The bit of the user's channel is the held
one with probability ``keep`` and its complement otherwise; the bits of all other channels are fair
coins.  Where two users' channels differ, p/2 stands against (1 - p)/2, so the whole row reveals no
more than its one bit.  Prefer local hashing of (channel, block of bits): its reports are short, and
say several bits.

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

LISTED = 16  # channels of the longest reports that can all be listed


@dataclass(frozen=True)
class ChannelNoise(Noise):
    """The errors of centred counts: the two bits of a channel mirror each other, channels err
    independently.

    ``unheld`` is the variance of one report for a channel that is not its user's.  Each of a
    channel's users takes a quarter off it; how many there are cannot be seen, so as many are
    counted as the votes prove.  That is exact where all users of a channel hold the same bit, and
    too large, by less than a quarter for each of them, where they do not.
    """

    unheld: float

    complete = False

    def variances(self, votes: Floats, users: int) -> Floats:
        proven = np.clip(2 * np.abs(votes), 0, users)
        return np.asarray(users * self.unheld - proven / 4)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        contrasts = coefficients[1::2] - coefficients[::2]
        return float(contrasts**2 @ self.variances(votes[1::2], users))


@dataclass(frozen=True)
class Channels(Mechanism, kind="channels"):
    """Report a row of bits, one for every two indices.

    >>> Channels(epsilon=1.0, size=128).width
    8
    """

    epsilon: float
    size: int
    keep: int = threshold()

    min_size = 4
    max_size = 1 << 17

    def prepare(self) -> None:
        if self.size % 2:
            raise ParameterError("every channel has two indices, one for each bit")
        self.set_default("keep", GRR(self.epsilon, 2).keep)

    @property
    def channels(self) -> int:
        """Return the bits of a report."""
        return self.size // 2

    @property
    def p(self) -> float:
        """Return the chance that the bit of the user's channel is the held one."""
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

        The order of draws is frozen: the bytes of all rows, then one keep draw for every user.
        """
        values = self.check(values)
        users, channel = np.arange(len(values)), values >> 1
        rows = np.frombuffer(rng.bytes(len(values) * self.width), np.uint8).reshape(-1, self.width).copy()
        rows[:, -1] &= np.uint8(0xFF >> -self.channels % 8)
        told = (values & 1 == 1) == rng.bernoulli(self.keep, len(values))
        place, shift = channel >> 3, (channel & 7).astype(np.uint8)
        rows[users, place] &= ~(np.uint8(1) << shift)
        rows[users, place] |= told.astype(np.uint8) << shift
        return rows

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        return bit_rows(data, self.channels)

    def outcomes(self) -> Reports:
        if self.channels > LISTED:
            raise ParameterError(f"reports of more than {LISTED} bits are too many to list")
        rows = np.arange(1 << self.channels).astype("<u4").view(np.uint8).reshape(-1, 4)
        return rows[:, : self.width]

    def likelihood(self, reports: Reports) -> Floats:
        ones = unpack_bits(reports, self.channels)
        # whether each index is supported
        shown = np.stack([~ones, ones], axis=2).reshape(len(reports), self.size)
        return np.where(shown, self.p, 1 - self.p) * 0.5 ** (self.channels - 1)

    def tally(self, reports: Reports) -> Tally:
        from sottovoce.kernels.unary import bit_counts

        return Tally(self.key, len(reports), {"ones": bit_counts(reports, self.channels)})

    def estimate(self, tally: Tally) -> Estimate:
        """Return the centred totals: for each index, its users less half the users of its channel.

        How many users a channel has does not show in fair coins; which bit most of them hold does.
        """
        more = (self.check_tally(tally)["ones"] - tally.users / 2) / (2 * self.p - 1)
        votes = np.stack([-more, more], axis=1).ravel()
        return Estimate(votes, self.noise, tally.users, self.epsilon)
