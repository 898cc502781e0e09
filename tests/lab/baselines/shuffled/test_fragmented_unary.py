"""RAP and RAP_R: one message per location, and no claim for whole vectors."""

from math import exp

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import closed_forms
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.base import REMOVAL, REPLACEMENT
from sottovoce.lab.baselines.shuffled.fragmented_unary import rap, rap_removal
from sottovoce.lab.seeded import SeededRng

CENSUS = PublishedTarget(0.5, 602_325, 1e-9)


def test_the_local_epsilons_meet_the_bounds():
    assert closed_forms.unary(rap(CENSUS, 915).claim.local, 602_325, 1e-9) == pytest.approx(0.5)
    removal = rap_removal(CENSUS, 915)
    assert closed_forms.removal(removal.claim.local, 602_325, 1e-9) == pytest.approx(0.5)
    assert removal.mechanism.q == pytest.approx(1 / (exp(removal.claim.local) + 1), rel=1e-9)


def test_the_variances_are_the_published_ones():
    m, unary_m, users = CENSUS.m, CENSUS.unary_m, CENSUS.users
    truth = np.bincount([0], minlength=915) * users
    # p + q = 1, so that every value has the same variance
    assert rap(CENSUS, 915).mse(truth) == pytest.approx(
        (unary_m - 1) / (users * (unary_m - 2) ** 2), rel=1e-9
    )
    assert rap_removal(CENSUS, 915).mse(truth) == pytest.approx(
        (m - 1) / (users * (m - 2) ** 2), rel=1e-9
    )


def test_removal_at_an_epsilon_is_nearly_replacement_at_twice_that():
    truth = np.bincount([0], minlength=915) * CENSUS.users
    removal = rap_removal(PublishedTarget(0.4, 602_325, 1e-9), 915)
    replacement = rap(PublishedTarget(0.8, 602_325, 1e-9), 915)
    assert (removal.claim.neighbours, replacement.claim.neighbours) == (REMOVAL, REPLACEMENT)
    # up to ln(4/delta) in place of ln(2/delta)
    assert removal.mse(truth) == pytest.approx(replacement.mse(truth), rel=0.04)


def test_every_location_is_a_message_of_its_own():
    oracle = rap(CENSUS, 5)
    messages = oracle.messages(np.array([3, 3, 0]), SeededRng(1))
    assert sorted(messages["location"]) == sorted([0, 1, 2, 3, 4] * 3)
    assert messages.dtype.names == ("location", "bit"), "nothing links the bits of a person"
    counts = oracle.supports(messages)
    assert counts.sum() == messages["bit"].sum()


@pytest.mark.parametrize("make", [rap, rap_removal])
def test_whole_vectors_are_refused_with_the_reason(make):
    with pytest.raises(ParameterError, match="the bound is false for whole vectors"):
        make(CENSUS, 915, shuffled="vectors")


def test_without_amplification_the_central_epsilon_is_spent():
    weak = PublishedTarget(0.05, 100_000, 1e-9)
    assert rap(weak, 10).claim.local == 0.05
    assert rap(weak, 10).mechanism.epsilon == 0.05
