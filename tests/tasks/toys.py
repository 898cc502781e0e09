"""Small questions, families and plans that the tests of tasks share."""

from dataclasses import dataclass

import numpy as np

from sottovoce.domains.integers import Integers
from sottovoce.encodings.base import Encoding
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Hop, Shuffle

NARROW = Question(GRR(1.0, 4))
WIDE = Question(OUE(0.5, 20))
FOUR = Integers(0, 3)


@dataclass(frozen=True)
class Modulo(Encoding, kind="toy_modulo", wire=False):
    """The remainder of a value, shifted by the number of a member."""

    size: int
    shift: int

    def __call__(self, values, rng):
        return (values + self.shift) % self.size

    def outputs(self, domain):
        return self.size


@dataclass(frozen=True)
class Remainders(Family, kind="toy_remainders", wire=False):
    """Members that share one mechanism."""

    one_mechanism = True

    epsilon: float
    count: int

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return Question(GRR(self.epsilon, 4), Modulo(4, index))


@dataclass(frozen=True)
class Sizes(Family, kind="toy_sizes", wire=False):
    """Members with a mechanism each."""

    count: int

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return Question(GRR(1.0, index + 2))


@dataclass(frozen=True)
class OneRound(Plan, kind="toy_one_round", wire=False):
    """Ask everybody one question that costs a multiple of the epsilon."""

    domain: Integers = FOUR
    times: float = 1.0
    fields: tuple[str, ...] = ()

    def step(self, collected):
        if collected.rounds:
            return np.zeros(1)
        return Round(0, Question(GRR(self.times * collected.epsilon, 4)))

    @property
    def needs(self):
        return self.fields

    def concerns(self, epsilon):
        return (f"epsilon is {epsilon:g}",)


@dataclass(frozen=True)
class Repeated(OneRound, kind="toy_repeated", wire=False):
    """Ask the same users again and again."""

    longitudinal = True


def shuffle(epsilon, fakes, hops=1, users=2):
    """A shuffle that promises no more than the local epsilon, with some fakes of every hop."""
    keys = "BCD"[:hops]
    chain = tuple(Hop(f"https://mix-{key.lower()}.example.org", key * 42 + "A") for key in keys)
    return Shuffle(chain, "A" * 43, users, fakes, epsilon, epsilon, 1e-9)
