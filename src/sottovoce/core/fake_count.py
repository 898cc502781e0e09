"""How many reports of a group are fakes, as far as it is known.

Shufflers add F fakes to the reports of n people, and coins deal both to groups.  Nobody knows how
many of the N_j reports of a group are fakes.  If a person is in the group with probability a and a
fake with probability b, their number follows Fisher's noncentral hypergeometric law with the odds

    b (1 - a) / (a (1 - b))

which is the hypergeometric law where a = b.
"""

from dataclasses import dataclass

from sottovoce.errors import ParameterError

MAX_DEALT = (1 << 31) - 1  # people and fakes: SciPy counts them in 32 bits


@dataclass(frozen=True)
class FakeCount:
    """The number of fakes among the reports of a group: its mean and its variance."""

    mean: float
    variance: float = 0.0

    @classmethod
    def among(cls, reports: int, people: int, fakes: int, odds: float = 1.0) -> "FakeCount":
        """Return how many of the ``reports`` of a group are fakes.

        Coins dealt all ``people`` and ``fakes`` to groups; ``odds`` are those of a fake to be in
        this group, relative to those of a person.

        >>> FakeCount.among(reports=50, people=80, fakes=20)
        FakeCount(mean=10.0, variance=4.040404040404041)
        """
        everybody = people + fakes
        if reports == everybody:
            return cls(float(fakes))
        if odds == 1:
            share = fakes / everybody
            left_out = (everybody - reports) / (everybody - 1)
            return cls(reports * share, reports * share * (1 - share) * left_out)
        if everybody > MAX_DEALT:
            raise ParameterError(
                f"a round of more than {MAX_DEALT:,} messages cannot have fakes if its questions"
                " have different blankets"
            )
        from scipy.stats import nchypergeom_fisher

        law = nchypergeom_fisher(everybody, fakes, reports, odds)
        return cls(float(law.mean()), float(law.var()))

    def __add__(self, other: "FakeCount") -> "FakeCount":
        """Return how many reports of two groups together are fakes.

        Fakes that are in one group are not in the other, so that the sum varies less than two
        numbers that are drawn independently: the variance is a bound.
        """
        return FakeCount(self.mean + other.mean, self.variance + other.variance)
