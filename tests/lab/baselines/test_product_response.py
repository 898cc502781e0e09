"""A response of its own for every attribute of a record."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.baselines.product_response import ProductNoise, ProductResponse, apply_along_axes
from sottovoce.lab.checks import (
    BASELINE_CHECKS,
    ScriptedRng,
    epsilon_is_spent_whole,
    worst_log_ratio,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR

EVEN = [
    ProductResponse(epsilon, prod(sizes), sizes)
    for epsilon in (0.5, 4.0)
    for sizes in ((2,), (2, 3), (3, 2, 2))
]


def uneven(*parts):
    """A product of attributes of sizes and epsilons of their own."""
    responses = [GRR(epsilon, size) for size, epsilon in parts]
    sizes, keeps = tuple(one.size for one in responses), tuple(one.keep for one in responses)
    return ProductResponse(
        exact.at_least(sum(exact.stated(one.epsilon) for one in responses)),
        prod(sizes),
        sizes,
        keeps,
    )


UNEVEN = [uneven((2, 0.3), (3, 1.7)), uneven((4, 2.0), (2, 0.1), (2, 1.0))]


def name(mechanism):
    return f"{mechanism.epsilon}-{mechanism.sizes}"


@pytest.mark.parametrize("mechanism", [*EVEN, *UNEVEN], ids=name)
@pytest.mark.parametrize(
    "check", [*BASELINE_CHECKS, epsilon_is_spent_whole], ids=lambda check: check.__name__
)
def test_contract(check, mechanism):
    check(mechanism)


def moments(mechanism):
    """The mean and the covariance of one report's votes, by enumeration, for every value that may
    be held.
    """
    chances = mechanism.likelihood(mechanism.outcomes())
    singles = [
        mechanism.estimate(mechanism.tally(np.array([report]))).votes
        for report in range(mechanism.size)
    ]
    votes = np.array(singles)
    means = chances.T @ votes
    seconds = [(votes * chances[:, [held]]).T @ votes for held in range(mechanism.size)]
    return means, [
        second - np.outer(mean, mean) for second, mean in zip(seconds, means, strict=True)
    ]


@pytest.mark.parametrize("mechanism", [*EVEN, *UNEVEN], ids=name)
def test_one_report_is_an_unbiased_estimate(mechanism):
    means, _ = moments(mechanism)
    np.testing.assert_allclose(means, np.eye(mechanism.size), atol=1e-9)


def wrongly_stated(mechanism):
    """The broken twin: every cell as if it erred like the whole record under one response."""
    return GRR(mechanism.epsilon, mechanism.size).noise


@pytest.mark.parametrize("mechanism", [*EVEN, *UNEVEN], ids=name)
def test_variances_and_those_of_sums_are_exact(mechanism):
    _, covariances = moments(mechanism)
    noise, dice = ProductNoise(mechanism.channels), np.random.default_rng(1)
    for held, covariance in enumerate(covariances):
        votes, coefficients = np.eye(mechanism.size)[held], dice.normal(size=mechanism.size)
        np.testing.assert_allclose(noise.variances(votes, 1), np.diag(covariance), rtol=1e-9)
        expected = coefficients @ covariance @ coefficients
        assert noise.linear(coefficients, votes, 1) == pytest.approx(expected, rel=1e-9)
        if len(mechanism.sizes) > 1:
            assert not np.allclose(
                wrongly_stated(mechanism).variances(votes, 1), np.diag(covariance), rtol=0.01
            )


def test_the_worst_ratio_is_the_product_of_those_of_the_attributes():
    parts = ((2, 0.3), (3, 1.7), (2, 1.0))
    made = uneven(*parts)
    expected = prod((GRR(epsilon, size).worst_ratio for size, epsilon in parts), start=Fraction(1))
    assert made.worst_ratio == expected
    assert made.worst_part == GRR(1.7, 3).worst_ratio
    assert worst_log_ratio(made) == pytest.approx(float(exact.log(expected)), abs=1e-12)


def test_left_out_thresholds_split_the_budget_evenly():
    made = ProductResponse(3.0, 12, (2, 3, 2))
    assert made.keeps == tuple(GRR(1.0, size).keep for size in (2, 3, 2))


def test_a_threshold_that_prefers_lies_cannot_hide_what_the_others_spend():
    """Its ratio below one would divide theirs: 4 * 4 / 16 looks like nothing and tells of
    everything.
    """
    open_, lying = GRR(2.0, 2).keep, (1 << 64) - GRR(3.9, 2).keep
    with pytest.raises(ParameterError, match="the likeliest"):
        ProductResponse(2.0, 8, (2, 2, 2), (open_, open_, lying))
    with pytest.raises(ParameterError, match="the likeliest"):
        ProductResponse(2.0, 4, (2, 2), (open_, 1 << 63))


def test_thresholds_that_spend_more_than_stated_are_refused():
    keep = GRR(1.0, 2).keep
    ProductResponse(2.0, 4, (2, 2), (keep, keep))
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        ProductResponse(2.0, 4, (2, 2), (keep, keep + 4))


@pytest.mark.parametrize(
    ("sizes", "keeps"),
    [
        ((), ()),
        ((2, 2), ()),
        ((1, 6), ()),
        ((2, 3), (1 << 63,)),
        ((2, 3), (1 << 64, 1 << 64)),
        ((2, 3), (0, 0)),
    ],
)
def test_sizes_and_thresholds_that_do_not_fit_are_refused(sizes, keeps):
    with pytest.raises(ParameterError):
        ProductResponse(1.0, 6, sizes, keeps)


def test_records_are_joined_with_the_first_attribute_slowest():
    made = ProductResponse(1.0, 12, (2, 3, 2))
    rows = list(product(range(2), range(3), range(2)))
    columns = made.split(np.arange(12))
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == rows
    assert made.join(columns).tolist() == list(range(12))


def test_scripted_draws_give_known_reports():
    """The first attribute of both people, then the second: a lie skips over the truth."""
    rng = ScriptedRng(bernoulli=[True, False, False, True], integers=[0, 0, 1, 0])
    assert ProductResponse(1.0, 6, (2, 3)).privatize(np.array([1, 5]), rng).tolist() == [
        0 * 3 + 2,
        0 * 3 + 2,
    ]


@pytest.mark.parametrize("data", [b"\x06", b"\x00\xff"], ids=["too big", "one too big"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    with pytest.raises(CodecError):
        ProductResponse(1.0, 6, (2, 3)).unpack(data)


def test_wide_records_have_wide_reports_and_no_tally():
    made = ProductResponse(10.0, 1 << 40, (2,) * 40)
    reports = made.privatize(np.array([0, (1 << 40) - 1]), SeededRng(1))
    assert made.width == 8
    np.testing.assert_array_equal(made.unpack(made.pack(reports)), reports)
    with pytest.raises(CodecError):
        made.unpack((1 << 40).to_bytes(8, "little"))
    assert not made.has_tally
    with pytest.raises(ParameterError, match="have no tally"):
        made.tally(reports)


def test_cells_of_records_are_not_picked_apart():
    made = ProductResponse(1.0, 4, (2, 2))
    estimate = made.estimate(made.tally(np.array([0, 1, 2, 3])))
    with pytest.raises(ParameterError, match="together"):
        estimate.picked(np.array([0]))


def test_a_matrix_along_every_axis_is_their_kronecker_product():
    dice = np.random.default_rng(2)
    matrices = [dice.normal(size=(size, size)) for size in (2, 3, 2)]
    table = dice.normal(size=12)
    whole = np.kron(np.kron(matrices[0], matrices[1]), matrices[2])
    np.testing.assert_allclose(
        apply_along_axes(table, (2, 3, 2), matrices), whole @ table, atol=1e-12
    )


def test_a_population_is_estimated_within_its_errors_and_they_are_as_stated():
    """200 collections of 600 people: totals unbiased, spread as stated, at 5 sigma."""
    made, truth = uneven((2, 1.5), (3, 2.0)), np.array([300, 100, 80, 60, 40, 20])
    people, rng = np.repeat(np.arange(6), truth), SeededRng(5)
    totals = np.array(
        [made.estimate(made.tally(made.privatize(people, rng))).totals for _ in range(200)]
    )
    stated = ProductNoise(made.channels).variances(truth.astype(float), 600)
    z = (totals.mean(axis=0) - truth) / np.sqrt(stated / 200)
    assert np.abs(z).max() < 5, z
    assert np.abs(((totals - truth) ** 2).mean(axis=0) / stated - 1).max() < 5 * np.sqrt(2 / 200)
