"""Evasive gain: every report promotes its own few targets, all targets equally often."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.attacks.evasive_gain import EvasiveGain
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.seeded import SeededRng

LABELS = [f"v{number}" for number in range(64)]
TARGETS = tuple(LABELS[:8])
REPORTS = 2000


def votes(kind, attack, task):
    mechanism = task.opening.ask.mechanism
    (reports,) = attack.reports(task.opening, REPORTS, SeededRng(3)).values()
    return mechanism.votes(reports, np.arange(8)), mechanism


def test_unary_rows_set_their_own_targets_and_others_by_chance():
    """Each report sets 3 of 8 targets, and fills up to the usual weight among the other 61 bits:
    3 + (weight - 3) 5 / 61 targets on average.  The attack on all targets is the twin.
    """
    task = sv.Task("letters", sv.Histogram(LABELS, "oue"), epsilon=1.0)
    cast, mechanism = votes("oue", EvasiveGain(task.plan.domain, TARGETS, 3), task)
    weight = int(mechanism.p + 63 * mechanism.q)
    mean = 3 + (weight - 3) * 5 / 61
    expected = (mean - 8 * mechanism.q) / (mechanism.p - mechanism.q)
    totals = cast.sum(axis=1)
    sigma = totals.std() / np.sqrt(REPORTS)
    print("gain", totals.mean(), "expected", expected, "sigma", sigma)
    assert abs(totals.mean() - expected) < 5 * sigma
    twin, _ = votes("oue", MaximalGain(task.plan.domain, TARGETS, 1), task)
    assert abs(twin.sum(axis=1).mean() - expected) > 5 * sigma


def test_hashing_supports_its_own_targets_and_each_target_gains_alike():
    task = sv.Task("letters", sv.Histogram(LABELS, "affine"), epsilon=1.0)
    cast, _mechanism = votes("affine", EvasiveGain(task.plan.domain, TARGETS, 2, 60), task)
    supported = (cast > 0).sum(axis=1)
    assert (supported >= 2).mean() > 0.95, "60 tries put two values into one of four buckets"
    gains = cast.mean(axis=0)
    sigma = cast.std(axis=0) / np.sqrt(REPORTS)
    print("gains", gains, "sigma", sigma)
    assert (abs(gains - gains.mean()) < 5 * sigma).all()
    everything, _ = votes("affine", MaximalGain(task.plan.domain, TARGETS, 60), task)
    assert everything.sum(axis=1).mean() > 1.5 * cast.sum(axis=1).mean()


def test_no_report_promotes_more_targets_than_there_are():
    domain = sv.Histogram(LABELS).domain
    with pytest.raises(ParameterError, match="`each` must be a whole number from 1 to 8"):
        EvasiveGain(domain, TARGETS, 9)
    task = sv.Task("letters", sv.Histogram(LABELS), epsilon=1.0)
    attack = EvasiveGain.aimed(Aim(task, TARGETS, each=3, tries=8))
    assert (attack.each, attack.tries) == (3, 8)
