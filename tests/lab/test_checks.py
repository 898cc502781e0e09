"""Every contract check has a broken twin that it catches: a check that cannot fail is none."""

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import unsigned
from sottovoce.core.tally import Tally
from sottovoce.lab import checks
from sottovoce.mechanisms.grr import GRR


class UniformOverAll(GRR):
    """Lies may hit the truth, with the chance to keep of a GRR whose lies cannot."""

    def privatize(self, values, rng):
        values = self.check(values)
        honest = rng.bernoulli(self.keep, len(values))
        return np.where(honest, values, rng.integers(self.size, len(values)))


class LouderLikelihood(GRR):
    """The law favours the truth more than epsilon allows."""

    def likelihood(self, reports):
        p = 1.1 * self.p
        return np.where(self.support(reports, np.arange(self.size)), p, (1 - p) / (self.size - 1))


class ForgottenOutcome(GRR):
    def outcomes(self):
        return np.arange(self.size - 1)


class Folded(GRR):
    """Packing loses the upper half of the domain."""

    def pack(self, reports):
        return (reports % 2).astype(unsigned(self.size)).tobytes()


class Lenient(GRR):
    """Left-over bytes are dropped in silence."""

    def unpack(self, data):
        return super().unpack(data[: len(data) // self.width * self.width])


class CountsCalls(GRR):
    """Every call adds one to the first count: splits no longer merge to the whole."""

    def tally(self, reports):
        counts = self.count(reports, np.arange(self.size))
        counts[0] += 1
        return Tally(self.key, len(reports), {"support": counts})


class DrawsMoreForOne(GRR):
    def privatize(self, values, rng):
        if (self.check(values) == 1).any():
            rng.bytes(8)
        return super().privatize(values, rng)


class TakesAnything(GRR):
    def check(self, values):
        return np.zeros(len(values), np.int64)


class WrongCollisions(GRR):
    """The q of another mechanism."""

    @property
    def q(self):
        return 1 / self.size


class CellsTakenForIndependent(GRR):
    @property
    def noise(self):
        return IndependentNoise.of(self.p, self.q)


class HalfTheNoise(GRR):
    @property
    def noise(self):
        honest = super().noise
        return replace(honest, unheld=honest.unheld / 2, held=honest.held / 2)


class OtherBytesAlone(GRR):
    """Draws the lie before the coin, where one person answers."""

    def response_to(self, value, rng):
        other = rng.integer(self.size - 1)
        honest = rng.coin(self.keep)
        return value if honest else other + (other >= value)


WIDE = 300  # two bytes a report: one byte cannot be cut
TWINS = {
    checks.samples_follow_the_likelihood: UniformOverAll(1.0, 4),
    checks.epsilon_is_never_exceeded: LouderLikelihood(1.0, 4),
    checks.epsilon_is_spent_whole: GRR(1.0, 4, keep=GRR(0.9, 4).keep),
    checks.likelihoods_sum_to_one: ForgottenOutcome(1.0, 4),
    checks.reports_survive_packing: Folded(1.0, 4),
    checks.a_cut_report_is_refused: Lenient(1.0, WIDE),
    checks.tallies_add_up: CountsCalls(1.0, 4),
    checks.draws_do_not_depend_on_the_value: DrawsMoreForOne(1.0, 4),
    checks.one_report_is_that_of_an_array: OtherBytesAlone(1.0, 4),
    checks.values_outside_the_domain_are_refused_before_a_draw: TakesAnything(1.0, 4),
    checks.the_document_restores_it: Folded(1.0, 4),
    checks.one_report_is_an_unbiased_estimate: WrongCollisions(1.0, 4),
    checks.the_variance_is_as_stated: CellsTakenForIndependent(1.0, 4),
    checks.sampled_estimates_are_unbiased: WrongCollisions(1.0, 6),
    checks.sampled_variance_is_as_stated: HalfTheNoise(1.0, 4),
}


def test_every_check_has_a_twin():
    assert set(TWINS) == set(checks.PURE_CHECKS) | set(checks.HASHED_CHECKS)


@pytest.mark.parametrize("check", TWINS, ids=lambda check: check.__name__)
def test_the_honest_mechanism_passes_and_the_broken_twin_is_caught(check):
    twin = TWINS[check]
    check(GRR(twin.epsilon, twin.size))
    with pytest.raises(AssertionError):
        check(twin)


def test_a_report_that_the_law_calls_impossible_is_caught():
    class NeverTheLast(GRR):
        """The law says that nobody reports the last value; the randomiser does."""

        def likelihood(self, reports):
            chances = super().likelihood(reports)
            chances[reports == self.size - 1] = 0
            return chances / chances.sum(axis=0)

    with pytest.raises(AssertionError):
        checks.samples_follow_the_likelihood(NeverTheLast(1.0, 40))
