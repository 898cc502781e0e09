"""The privacy blanket: the part of every report that does not depend on the person's value.

A report m of a pure mechanism has the probability

    P[m | x] = base(m) * (E if m supports x else 1)        E = e^epsilon_local

Whatever the value, a report is therefore drawn from the law proportional to ``base``, the blanket,
with a probability of at least

    mass = 1 / (1 + share (E - 1))

where ``share`` is the probability that a draw from the blanket supports a given value.  After
shuffling, the report of one person hides among the blanket draws of all others.  How well it hides
depends on one more number, the ``overlap``: the probability that a blanket draw that supports one
value supports another given value as well.  ``amplification`` turns the three numbers into
(epsilon, delta).

For a mechanism of which nothing is known but its epsilon, share 1/2 and overlap 0 always hold.

Source: Balle et al. 2019, sections 4 and 5; Feldman, McMillan and Talwar 2023, section 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import expm1

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.core import settings
from sottovoce.errors import ParameterError

BLOCKS = 8  # of the number of blanket draws, unless the caller wants another precision
MAX_BLOCKS = 1000
_ROUNDED = 1e-12  # what a sum of rounded shares may exceed 1 by


@dataclass(frozen=True)
class Blanket:
    """The blanket of a randomiser: its local epsilon, its share and its overlap.

    ``drawable`` says whether a fake report can be drawn from the blanket itself.  Where it cannot,
    because the blanket is known to exist but not which law it is, a fake is the randomised report
    of any value, and counts as much as one more user.

    >>> direct = Blanket(epsilon_local=2.0, share=1 / 4)
    >>> round(direct.mass, 4)
    0.385
    >>> round(direct.epsilon(users=100_000, fakes=0, delta=1e-9), 3)
    0.043
    """

    epsilon_local: float
    share: float
    overlap: float = 0.0
    drawable: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "epsilon_local", settings.epsilon("epsilon_local", self.epsilon_local)
        )
        object.__setattr__(self, "share", settings.open_share("share", self.share))
        object.__setattr__(self, "overlap", settings.share("overlap", self.overlap))
        settings.flag("drawable", self.drawable)
        if self.share * (2 - self.overlap) > 1 + _ROUNDED:
            raise ParameterError("`overlap` must be at least 2 - 1 / `share`")

    @classmethod
    def generic(cls, epsilon_local: float) -> "Blanket":
        """Return the blanket that every randomiser of this epsilon has.

        Feldman, McMillan and Talwar 2023: for any two values, every report is with probability
        2 / (e^epsilon + 1) a draw from the even mixture of two laws that depend on the two values.
        """
        return cls(epsilon_local, 0.5, 0.0, drawable=False)

    @classmethod
    def mixture(cls, parts: "Iterable[tuple[float, Blanket]]") -> "Blanket":
        """Return the blanket of a choice whose coin stays unknown to the collector.

        ``parts`` are weights and blankets.  A report shows which part it belongs to, not whose it
        is.  All parts count with the largest local epsilon: at equal share and overlap a smaller
        one amplifies more.  With weights w, masses g, shares s and overlaps c:

            share = sum w g s / sum w g        overlap = sum w g s c / sum w g s

        A fake belongs to a part with a probability proportional to w g: see ``fake_weights``.
        """
        listed = list(parts)
        settings.entries("parts", listed, 1)
        epsilon_local = max(blanket.epsilon_local for _, blanket in listed)
        raised = [(w, replace(blanket, epsilon_local=epsilon_local)) for w, blanket in listed]
        mass = sum(w * blanket.mass for w, blanket in raised)
        supporting = sum(w * blanket.mass * blanket.share for w, blanket in raised)
        both = sum(w * blanket.mass * blanket.share * blanket.overlap for w, blanket in raised)
        drawable = all(blanket.drawable for _, blanket in raised)
        return cls(epsilon_local, supporting / mass, both / supporting, drawable)

    @staticmethod
    def fake_weights(parts: "Iterable[tuple[int, Blanket]]") -> list[Fraction]:
        """Return how likely a fake belongs to each part of a mixture, up to a common factor.

        That is weight times mass, as ``mixture`` counts it.  If one of the blankets cannot be
        drawn, fakes count as users, and are dealt by the weights alone as users are.
        """
        listed = list(parts)
        if not all(blanket.drawable for _, blanket in listed):
            return [Fraction(weight) for weight, _ in listed]
        epsilon_local = max(blanket.epsilon_local for _, blanket in listed)
        masses = {
            blanket: Fraction(replace(blanket, epsilon_local=epsilon_local).mass)
            for blanket in {blanket for _, blanket in listed}
        }
        return [weight * masses[blanket] for weight, blanket in listed]

    @property
    def mass(self) -> float:
        """Return the probability that a report is a draw from the blanket, whatever the value."""
        # 1 / (1 + share (E - 1))
        return 1 / (1 + self.share * expm1(self.epsilon_local))

    def batch(self, users: int, fakes: int = 0) -> ShuffledBatch:
        """Return a batch as this blanket counts it: fakes that cannot be drawn count as users."""
        stated = ShuffledBatch(users, fakes)
        if self.drawable:
            return stated
        return ShuffledBatch(users + fakes)

    def delta(self, users: int, fakes: int, epsilon: float, blocks: int = BLOCKS) -> float:
        """Return a proven upper bound of delta at this epsilon, for one person of a batch.

        More ``blocks`` make it tighter and slower.  This evaluation needs SciPy; devices use
        ``amplification.delta``.
        """
        from sottovoce.accounting import binomial_sums

        return binomial_sums.delta(self, self.batch(users, fakes), epsilon, blocks)

    def epsilon(self, users: int, fakes: int, delta: float, blocks: int = BLOCKS) -> float:
        """Return a proven upper bound of epsilon at this delta, at most the local epsilon."""
        from sottovoce.accounting import binomial_sums

        return binomial_sums.epsilon(self, self.batch(users, fakes), delta, blocks)
