"""Biased numbers: where the reports of Poi(n_d, n_p) lie, and how they are spread in a segment."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.biased_numbers import SHAPES, BiasedNumbers
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import Poisoned
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

REPORTS = 40_000
WAVE = SquareWave(epsilon=1.0, size=8, reach=4)  # 16 outputs: two for each of 8 segments


def counts(attack, mechanism=WAVE, seed=1):
    reports = attack.outputs(mechanism, REPORTS, SeededRng(seed))
    return np.bincount(mechanism.codes(reports), minlength=mechanism.outputs)


def sigmas(observed, shares):
    """Return how far counts are from the expected ones, in standard errors."""
    expected = REPORTS * shares
    return (observed - expected) / np.sqrt(expected * (1 - shares))


def test_reports_are_uniform_over_the_chosen_segments_and_nowhere_else():
    observed = counts(BiasedNumbers(8, (1, 6)))
    shares = np.zeros(16)
    shares[[2, 3, 12, 13]] = 1 / 4
    assert not observed[shares == 0].any()
    distance = np.abs(sigmas(observed, np.where(shares, shares, 0.5))[shares > 0])
    print("outputs off by", distance.round(2), "sigma")
    assert distance.max() < FIVE_SIGMA


# The cumulative law of each shape at the middle of a segment.
HALF = {"uniform": 0.5, "gaussian": 0.5, "beta_1_6": 1 - 0.5**6, "beta_6_1": 0.5**6}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_that_inside_of_a_segment(shape):
    """One segment of two outputs: the first has the probability of the lower half."""
    low, high = counts(BiasedNumbers(8, (3,), shape))[6:8]
    assert low + high == REPORTS
    distance = sigmas(low, HALF[shape])
    print(f"{shape}: {low} reports in the lower half, off by {distance:.2f} sigma")
    assert abs(distance) < FIVE_SIGMA


def test_a_beta_that_is_turned_around_would_be_seen():
    """The broken twin of the check above: the two Beta shapes are not the same."""
    low, _ = counts(BiasedNumbers(8, (3,), "beta_6_1"))[6:8]
    assert abs(sigmas(low, HALF["beta_1_6"])) > FIVE_SIGMA


def test_the_gaussian_has_a_sixth_of_the_segment_as_deviation():
    """One segment of 16 outputs: a normal number that is cut at three deviations."""
    observed = counts(BiasedNumbers(1, (0,), "gaussian"))
    cells = np.arange(16)
    mean = observed @ cells / REPORTS
    variance = observed @ (cells - mean) ** 2 / REPORTS
    # Variance of a normal number cut at 3 deviations: 1 - 2 * 3 phi(3) / (2 Phi(3) - 1).
    expected = (16 / 6) ** 2 * (1 - 6 * 0.00443185 / 0.99730020) + 1 / 12
    print(f"variance {variance:.4f}, expected {expected:.4f}")
    assert abs(variance / expected - 1) < FIVE_SIGMA * np.sqrt(2 / REPORTS)


@pytest.mark.parametrize("kind", ["duchi", "piecewise", "hybrid"])
def test_the_last_segment_of_any_number_is_its_largest_outputs(kind):
    asked = sv.Task("weight", sv.Mean(0, 10, kind), epsilon=1.0).opening
    (reports,) = BiasedNumbers(4, (3,)).reports(asked, 500, SeededRng(1)).values()
    mechanism = asked.question(Address()).mechanism
    numbers = mechanism.numbers(np.arange(mechanism.outputs))
    sent = mechanism.numbers(mechanism.codes(reports))
    assert len(sent) == 500
    assert sent.min() >= np.quantile(numbers, 0.75, method="lower")
    assert (mechanism.unpack(mechanism.pack(reports)) == reports).all()


def test_an_attacker_sends_a_false_report_in_every_slot():
    wave = Question(SquareWave(epsilon=0.5, size=8))
    ask = Choice((Question(SquareWave(epsilon=1.0, size=8)), Bundle((wave, wave))))
    asked = Round(0, ask)
    sent = BiasedNumbers(8, (0,)).reports(asked, 1_000, SeededRng(2))
    assert sorted(sent) == [Address(), Address(member=1), Address(member=1, slot=1)]
    single, first, second = (len(sent[address]) for address in sorted(sent))
    assert first == second
    assert single + first == 1_000
    chosen = BiasedNumbers(8, (0,), member=1).reports(asked, 1_000, SeededRng(2))
    assert {address: len(reports) for address, reports in chosen.items()} == {
        Address(member=1): 1_000,
        Address(member=1, slot=1): 1_000,
    }


def test_choices_of_segments_are_all_equally_likely():
    drawn = [BiasedNumbers.chosen(4, 2, SeededRng(seed)).poisoned for seed in range(3_000)]
    pairs, seen = np.unique(np.array(drawn), axis=0, return_counts=True)
    assert len(pairs) == 6
    assert np.abs(seen - 500).max() < FIVE_SIGMA * np.sqrt(3_000 * (1 / 6) * (5 / 6))


def test_a_distribution_is_moved_by_it():
    task = sv.Task("weight", sv.Distribution(0, 1, 32), epsilon=2.0)
    people = np.full(8_000, 0.3)
    honest = sv.simulate(task, people, seed=1).mean()
    attack = Poisoned(BiasedNumbers(8, (7,)), 0.25)
    attacked = sv.simulate(task, people, seed=1, attack=attack).mean()
    assert attacked.total - honest.total > 0.15


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"segments": 0, "poisoned": (0,)}, "`segments` must be a whole number from 1 to 4096"),
        ({"segments": 8, "poisoned": ()}, "`poisoned` must have from 1 to 8 entries"),
        ({"segments": 8, "poisoned": (8,)}, "each entry of `poisoned` must be a whole number"),
        ({"segments": 8, "poisoned": (1, 1)}, "the entries of `poisoned` must differ"),
        ({"segments": 8, "poisoned": (1,), "shape": "flat"}, "`shape` must be one of uniform"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, rule):
    with pytest.raises(ParameterError, match=rule):
        BiasedNumbers(**settings)


def test_mechanisms_for_categories_are_refused():
    with pytest.raises(ParameterError, match="randomise numbers alone"):
        BiasedNumbers(8, (0,)).outputs(GRR(epsilon=1.0, size=4), 10, SeededRng(1))
