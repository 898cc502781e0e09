"""Any method by name: steps, raw estimates, errors, and what is refused."""

import numpy as np
import pytest

import sottovoce as sv
from postprocess.vectors import ABOVE, NOISE, TOP, estimate
from sottovoce.core.noise import BalancedNoise, SampledNoise
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.olh import OLH
from sottovoce.postprocess.apply import apply, methods

WHOLE = ("norm", "norm-mul", "norm-sub", "norm-cut", "mle-apx", "power-ns")
ANSWER = sv.simulate(
    sv.Task("pets", sv.Histogram(range(40)), epsilon=1.0), np.arange(8000) % 20, seed=1
)


def test_all_methods_are_here():
    assert set(methods()) >= {*WHOLE, "base", "base-pos", "base-cut", "power"}


@pytest.mark.parametrize("method", methods())
def test_a_method_adds_its_name_and_keeps_the_raw_estimate(method):
    raw = estimate(ABOVE, population=4000)
    made = apply(raw, method)
    assert made.raw is raw
    assert made.steps[0].split(" ")[0] == method
    assert (made.users, made.population, made.epsilon) == (raw.users, raw.population, raw.epsilon)
    assert apply(made, "norm-sub").raw is raw
    assert apply(raw, method, errors="bootstrap").steps == (*made.steps, "bootstrap")


@pytest.mark.parametrize("method", ["norm-sub", "norm-cut", "mle-apx"])
def test_a_million_values_are_made_possible(method):
    raw = estimate(np.random.default_rng(8).normal(1e-6, 1e-3, 1_000_000))
    made = apply(raw, method)
    assert made.votes.min() >= 0
    assert made.votes.sum() <= 1000 * (1 + 1e-9)


def test_an_unknown_name_lists_the_known_ones():
    for name in ("best", "rule", "norm_sub", "post-pos", "apply"):
        with pytest.raises(ParameterError, match="base, base-cut, base-pos, mle-apx"):
            apply(estimate(ABOVE), name)
    with pytest.raises(ParameterError, match="bootstrap"):
        apply(estimate(ABOVE), "norm", errors="none")


def test_estimates_that_no_collection_gives_are_refused():
    for shares in ([], [0.5, np.nan], [np.inf, 0.0]):
        for method in methods():
            with pytest.raises(ParameterError):
                apply(estimate(np.array(shares)), method)


@pytest.mark.parametrize("method", WHOLE)
def test_some_candidates_of_a_domain_are_not_made_to_sum_to_one(method):
    partial = estimate(ABOVE, BalancedNoise.subsets(0.6, 16, 4).among())
    with pytest.raises(ParameterError, match="whole domain"):
        apply(partial, method)
    assert apply(partial, "base-pos", errors="bootstrap").votes.min() == 0


def test_what_was_special_is_among_the_steps():
    assert apply(estimate(TOP), "norm-cut").steps == ("norm-cut (top above 1)",)


def test_significance_is_that_of_the_raw_totals():
    made = apply(estimate(ABOVE), "norm-sub")
    assert made.threshold() == estimate(ABOVE).threshold()
    assert made.significant().tolist() == estimate(ABOVE).significant().tolist()


def test_a_group_scaled_up_scales_its_raw_estimate_too():
    scaled = apply(estimate(ABOVE), "norm-sub").of(5000)
    assert scaled.raw.population == 5000
    assert scaled.totals.sum() == pytest.approx(5000)


def test_methods_that_need_a_formula_refuse_moved_and_sampled_votes():
    for given in (apply(estimate(ABOVE), "norm"), estimate(ABOVE, SampledNoise(np.eye(10, 7)))):
        for method in ("base-cut", "mle-apx", "power", "power-ns"):
            with pytest.raises(ParameterError):
                apply(given, method)
        for method in ("base-pos", "norm", "norm-mul", "norm-sub", "norm-cut"):
            assert apply(given, method).errors.min() > 0


def test_answers_can_be_made_consistent_and_raw_again():
    made = ANSWER.consistent()
    totals = [row["estimate"] for row in made.rows()]
    assert min(totals) >= 0
    assert sum(totals) == pytest.approx(8000)
    assert "norm-sub" in str(made)
    assert made.raw.rows() == ANSWER.rows() == ANSWER.raw.rows()
    assert ANSWER.postprocess("base-cut", top=3).about["steps"] == ["base-cut (top 3)"]
    assert made.sum([str(n) for n in range(40)]).error == pytest.approx(0, abs=1e-6)


def test_the_noise_of_a_mechanism_is_the_one_that_methods_are_given():
    assert (NOISE.unheld, NOISE.held) == pytest.approx((3, 1))


@pytest.mark.parametrize(
    "mechanism", [OLH(1.0, 1000), AffineResponse(1.0, 1000)], ids=["olh", "affine"]
)
def test_shares_of_some_candidates_are_not_made_to_sum_to_one(mechanism):
    reports = mechanism.privatize(np.arange(3000) % 1000, SeededRng(1))
    some = mechanism.estimate_among(reports, np.arange(5))
    assert (apply(some, "base-pos").votes >= 0).all()
    with pytest.raises(ParameterError, match="whole domain"):
        apply(some, "norm-sub")
