"""Audits pass what is sound and catch what is broken."""

import json
from dataclasses import dataclass
from math import log

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.audit import log_ratio_bound
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.bloom import Bloom
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

SOUND = [GRR(1.0, 4), GRR(0.5, 2), GRR(2.0, 40), AffineResponse(1.0, 5), AffineResponse(1.0, 1000)]


@dataclass(frozen=True)
class Eager(GRR):
    """Tells the truth more often than its threshold says."""

    def privatize(self, values, rng):
        reports = super().privatize(values, rng)
        return np.where(rng.bernoulli(1 << 61, len(values)), values, reports)


@dataclass(frozen=True)
class Careless(GRR):
    """Ignores its threshold."""

    def privatize(self, values, rng):
        return self.check(values)


@dataclass(frozen=True)
class Stubborn(AffineResponse):
    """Hashes soundly and then keeps the bucket too often."""

    def privatize(self, values, rng):
        reports, honest = super().privatize(values, rng), super().privatize(values, rng)
        supported = self.support(honest, values[:1])[:, 0]
        return np.where(supported, honest, reports)


@dataclass(frozen=True)
class Telltale(AffineResponse):
    """Hides the value and betrays it in a bit of the seed."""

    def privatize(self, values, rng):
        reports = super().privatize(values, rng)
        reports["seed"] = reports["seed"] & ~np.uint64(1) | (values % 2).astype(np.uint64)
        return reports


@dataclass(frozen=True)
class Partial(GRR):
    """Tells the truth about one value in the middle of its domain only."""

    def privatize(self, values, rng):
        return np.where(values == 17, values, super().privatize(values, rng))


@dataclass(frozen=True)
class LateBit(OUE):
    """Sets the bit of one value for certain, in a byte far behind the first."""

    def privatize(self, values, rng):
        reports = super().privatize(values, rng)
        reports[values == 601, 601 // 8] |= np.uint8(1 << 601 % 8)
        return reports


@dataclass(frozen=True)
class Leaky(Bloom):
    """Flips half as many bits as its threshold says."""

    def respond(self, values, seeds, rng):
        first, second = (super(Leaky, self).respond(values, seeds, rng) for _ in range(2))
        filters = self.filters(first["cohort"], values)
        agreed = np.packbits(filters, axis=1, bitorder="little")
        either = first["bits"] | second["bits"]
        first["bits"] = (first["bits"] & second["bits"]) | (agreed & either)
        return first


@dataclass(frozen=True)
class Overlapping(Bloom):
    """Its likelihood is that of three hashes, although it states two."""

    def likelihood(self, reports):
        return super().likelihood(reports) ** 1.5


@dataclass(frozen=True)
class Boastful(GRR):
    """Its likelihood admits more than its thresholds."""

    def likelihood(self, reports):
        return super().likelihood(reports) ** 2


@pytest.mark.parametrize("mechanism", SOUND, ids=lambda one: f"{one.kind}-{one.size}")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sound_mechanism_passes_and_its_bound_comes_close(mechanism, seed):
    audit = sv.audit(mechanism, samples=100_000, seed=seed)
    assert audit.passes, audit
    assert 0.85 * mechanism.epsilon < audit.lower_bound <= mechanism.epsilon
    assert audit.exact is None or audit.exact == pytest.approx(mechanism.epsilon)


@pytest.mark.parametrize(
    "broken",
    [
        Eager(1.0, 4),
        Eager(1.0, 40),
        Careless(1.0, 3),
        Stubborn(1.0, 50),
        Telltale(1.0, 50),
        Partial(1.0, 40),
        Leaky(1.0, 5, 16),
        Leaky(2.0, 40, 32),
    ],
    ids=lambda one: f"{type(one).__name__}-{one.size}",
)
def test_a_broken_randomiser_is_caught_by_its_reports(broken):
    """Thresholds and likelihood state the right epsilon: only the reports betray it."""
    audit = sv.audit(broken, samples=50_000, seed=5)
    assert audit.realised <= broken.epsilon
    assert audit.exact is None or audit.exact == pytest.approx(broken.epsilon)
    assert audit.lower_bound > broken.epsilon
    assert not audit.passes
    assert "FAILS" in str(audit)


def test_a_bit_far_behind_is_seen():
    broken = LateBit(1.0, 700)
    audit = sv.audit(broken, samples=4_000, seed=5)
    assert not audit.passes, audit
    assert "601" in audit.event
    assert sv.audit(OUE(1.0, 700), samples=4_000, seed=5).passes


@pytest.mark.parametrize("mechanism", [Bloom(1.0, 5, 16), Bloom(2.0, 60, 32)], ids=["5", "60"])
def test_bloom_filters_are_audited_exactly_and_by_attack(mechanism):
    """The events that tell two filters apart are several bits of one cohort together."""
    audit = sv.audit(mechanism, samples=20_000, seed=3)
    assert audit.passes, audit
    assert audit.exact == pytest.approx(mechanism.epsilon)
    assert "most telling" in audit.exact_note
    assert 0.6 * mechanism.epsilon < audit.lower_bound <= mechanism.epsilon


def test_a_likelihood_of_bloom_filters_that_admits_more_is_caught():
    audit = sv.audit(Overlapping(1.0, 60, 32), samples=1_000, seed=1)
    assert audit.exact == pytest.approx(1.5)
    assert not audit.passes


def test_of_a_large_domain_many_values_are_tried():
    audit = sv.audit(GRR(1.0, 5000), samples=1_000, seed=1)
    assert audit.tried == 1024
    assert "1,024 of 5,000" in str(audit)


@dataclass(frozen=True)
class Secretive(GRR):
    """Tells the truth about one value of a large domain, which is on no even grid."""

    def privatize(self, values, rng):
        return np.where(values == 2001, values, super().privatize(values, rng))


def test_a_leak_about_any_value_of_a_large_domain_is_caught_by_chance():
    """An audit tries value 2,001 of 5,000 with the chance 1,022 / 4,998, and then catches it.

    On an even grid of 1,024 values no audit would ever try it.
    """
    assert 2001 not in np.linspace(0, 4999, 1024).astype(int)
    seeds = range(40)
    caught = sum(
        not sv.audit(Secretive(1.0, 5000), samples=2_000, seed=seed).passes for seed in seeds
    )
    chance = 1022 / 4998
    deviation = np.sqrt(len(seeds) * chance * (1 - chance))
    expected = len(seeds) * chance
    assert abs(caught - expected) < FIVE_SIGMA * deviation, (caught, expected)
    assert caught > 0
    assert all(sv.audit(GRR(1.0, 5000), samples=2_000, seed=seed).passes for seed in range(3))


def test_the_bit_that_betrays_is_named():
    assert sv.audit(Telltale(1.0, 50), samples=10_000, seed=1).event.startswith(
        "bit 0 of the report is"
    )


def test_a_likelihood_that_admits_more_is_caught_by_arithmetic():
    audit = sv.audit(Boastful(1.0, 4), samples=1_000, seed=1)
    assert audit.exact == pytest.approx(2.0)
    assert not audit.passes


def test_an_impossible_report_makes_the_exact_ratio_infinite():
    class Certain(GRR):
        def likelihood(self, reports):
            return np.eye(self.size)[reports]

    audit = sv.audit(Certain(1.0, 3), samples=1_000, seed=1)
    assert audit.exact == float("inf")
    assert not audit.passes
    assert json.loads(audit.to_json())["exact"] == "inf"


def test_a_large_domain_says_why_nothing_was_listed():
    audit = sv.audit(GRR(1.0, 100), samples=1_000, seed=1)
    assert audit.exact is None
    assert "at most 12 values" in audit.exact_note


def test_the_bounds_are_those_of_clopper_and_pearson():
    """All and none of ten at 2.5 % a side: 0.6915 and 0.3085 in any table."""
    ratio = log_ratio_bound(np.array([10, 0]), np.array([0, 10]), 10, 0.025)
    assert ratio[0] == pytest.approx(log(0.6915 / 0.3085), abs=3e-4)
    assert ratio[1] == -np.inf


def test_the_same_seed_gives_the_same_audit_and_none_gives_real_dice():
    first, second = (sv.audit(GRR(1.0, 3), samples=2_000, seed=9) for _ in range(2))
    assert first == second
    assert sv.audit(GRR(1.0, 3), samples=20_000).passes


@pytest.mark.parametrize(
    "settings",
    [{"samples": 1}, {"samples": 1 << 31}, {"confidence": 0}, {"confidence": 1}],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        sv.audit(GRR(1.0, 3), **settings)


def test_an_audit_is_plain_data():
    content = json.loads(sv.audit(GRR(1.0, 3), samples=2_000, seed=1).to_json())
    assert content["passes"] is True
    assert content["mechanism"] == "grr"
