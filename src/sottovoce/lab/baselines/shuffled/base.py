"""Frequency oracles of the shuffle model: what people send, what is mixed, how it is counted.

A person sends one or several *messages*.  The shuffler adds fakes, permutes all messages of all
people together, and passes them on; nothing then says which messages belong to one person.  With n
people, f fakes and c_v messages that support a value v,

    share of v = (c_v - n q - f s) / (n (p - q))

where s is the probability that a fake supports v.  The exact variance of that estimate is

    (n q (1 - q) + n f_v (p (1 - p) - q (1 - q)) + f s (1 - s)) / (n (p - q))^2

The published estimator with fakes (equation 9.5) is the same for direct response and biased for
local hashing; the published variance with fakes is too small for direct response.

Source: Wang 2021, sections 9.3 and 9.5.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.shuffled_choice import expected_mse, shuffled_shares

REPLACEMENT = "replacement"
REMOVAL = "removal"


@dataclass(frozen=True)
class PublishedClaim:
    """What a paper claims of a method, and what holds if the shuffler is not honest.

    (``central``, ``delta``) is claimed against the collector alone.  ``local`` holds against
    everybody; None stands for no local guarantee at all.  ``neighbours`` says whether a person's
    value is replaced or the person removed, which is a weaker promise at the same epsilon.
    """

    central: float
    delta: float
    local: float | None
    neighbours: str = REPLACEMENT

    def __post_init__(self) -> None:
        settings.positive("central", self.central)
        settings.real("delta", self.delta, 0, 1)
        settings.choice("neighbours", self.neighbours, (REPLACEMENT, REMOVAL))


class FrequencyMethod(ABC):
    """A published method that estimates which share of the people holds each value."""

    @property
    @abstractmethod
    def claim(self) -> PublishedClaim | None:
        """Return what is claimed of the method; None if it does not look at the people at all."""

    @abstractmethod
    def mse(self, truth: Ints, fakes: int = 0) -> float:
        """Return the exact mean squared error over the domain; ``truth`` counts the holders."""

    @abstractmethod
    def draw(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Floats:
        """Return estimated shares, drawn by the exact law of each value's count."""


class ShuffledOracle(FrequencyMethod):
    """A method whose messages pass a shuffler."""

    @abstractmethod
    def messages(self, values: Values, rng: Rng) -> Reports:
        """Return the messages of all people, one after another."""

    def fakes(self, count: int, rng: Rng) -> Reports:
        """Return fake messages that no one can tell from those of people."""
        raise ParameterError("`fakes` must be 0: the paper defines none for this method")

    @abstractmethod
    def supports(self, messages: Reports) -> Ints:
        """Return how many messages support each value."""

    @abstractmethod
    def shares(self, supports: Ints, batch: ShuffledBatch) -> Floats:
        """Return unbiased shares from the supports of all messages, fakes included."""

    @abstractmethod
    def variances(self, shares: Floats, batch: ShuffledBatch) -> Floats:
        """Return the exact variance of the estimate of each value; ``shares`` are the true ones."""

    def collect(self, values: Values, fakes: int, rng: Rng) -> Floats:
        """Return the shares that a whole collection estimates, from genuine messages."""
        sent = self.messages(values, rng)
        if fakes:
            sent = np.concatenate([sent, self.fakes(fakes, rng)])
        return self.shares(self.supports(permuted(sent, rng)), ShuffledBatch(len(values), fakes))

    @abstractmethod
    def draw_supports(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Ints:
        """Return how many messages support each value, drawn by the law of each count."""

    def draw(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Floats:
        supports = self.draw_supports(truth, fakes, generator)
        return self.shares(supports, ShuffledBatch(int(truth.sum()), fakes))

    def mse(self, truth: Ints, fakes: int = 0) -> float:
        batch = ShuffledBatch(int(truth.sum()), fakes)
        return float(self.variances(truth / batch.users, batch).mean())


@dataclass(frozen=True)
class PureOracle(ShuffledOracle):
    """A shuffled pure mechanism; what a message is, its subclasses say."""

    mechanism: PureMechanism
    stated: PublishedClaim

    @property
    def claim(self) -> PublishedClaim:
        return self.stated

    @property
    def fake_share(self) -> float:
        """Return s, the probability that a fake supports a given value."""
        return self.mechanism.blanket.share

    def shares(self, supports: Ints, batch: ShuffledBatch) -> Floats:
        return shuffled_shares(self.mechanism, supports, batch)

    def variances(self, shares: Floats, batch: ShuffledBatch) -> Floats:
        p = self.mechanism.p
        q = self.mechanism.q
        held = p * (1 - p) - q * (1 - q)
        fake = batch.fakes * self.fake_share * (1 - self.fake_share)
        supports = batch.users * (q * (1 - q) + shares * held) + fake
        return np.asarray(supports / (batch.users * (p - q)) ** 2)

    def mse(self, truth: Ints, fakes: int = 0) -> float:
        return expected_mse(self.mechanism, ShuffledBatch(int(truth.sum()), fakes))

    def draw_supports(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Ints:
        honest = generator.binomial(truth, self.mechanism.p)
        others = generator.binomial(truth.sum() - truth, self.mechanism.q)
        fake = generator.binomial(fakes, self.fake_share, len(truth))
        return np.asarray(honest + others + fake)


def permuted(messages: Reports, rng: Rng) -> Reports:
    """Return the messages in a uniformly random order."""
    return messages[np.argsort(rng.longs(len(messages)), kind="stable")]
