"""A target over a grid: listed, dense and scored without listing, it is the same target."""

import numpy as np
import pytest

from sottovoce.core.product_target import OuterProduct, ProductTarget
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH

FACTORS = (np.array([1.0, 0.0, -2.0]), np.array([0.5, 0.0, 1.0, 3.0, -1.0]))
OTHERS = (np.array([0.0, 1.0, 1.0]), np.array([2.0, 2.0, 0.0, 0.0, 1.0]))
ONE = (OuterProduct(2.0, FACTORS),)
TWO = (*ONE, OuterProduct(-1.0, OTHERS))


def brute(terms):
    return sum(term.weight * np.multiply.outer(*term.factors) for term in terms)


@pytest.mark.parametrize("terms", [ONE, TWO])
@pytest.mark.parametrize("radices", [(3, 5), (4, 8)])
def test_the_cells_of_a_grid_have_the_products_and_padding_has_nothing(terms, radices):
    target = ProductTarget(radices, terms)
    grid = np.zeros(radices)
    grid[:3, :5] = brute(terms)
    np.testing.assert_allclose(target.dense(target.size + 2), np.append(grid.ravel(), [0, 0]))
    cells, coefficients = target.listed()
    found = np.zeros(target.size)
    found[cells] = coefficients
    np.testing.assert_allclose(found, grid.ravel())


def test_the_mean_of_a_term_is_that_of_its_cells():
    assert ONE[0].mean == pytest.approx(brute(ONE).mean())
    assert not ONE[0].constant
    assert OuterProduct(3.0, (np.ones(2), np.full(4, 0.5))).constant


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("mechanism", "radices"),
    [
        (GRR(2.0, 15), (3, 5)),
        (OLH(1.0, 15), (3, 5)),
        (AffineResponse(1.0, 15), (3, 5)),
        (AffineResponse(1.0, 32, groups=(3, 2)), (4, 8)),
        (OLH(1.0, 32), (4, 8)),
    ],
    ids=["grr", "olh", "affine", "affine in groups", "olh, larger"],
)
def test_every_mechanism_scores_it_as_the_coefficients_one_by_one(mechanism, radices, count):
    dice = np.random.default_rng(count)
    terms = [
        OuterProduct(dice.normal(), tuple(dice.normal(size=radix) for radix in radices))
        for _ in range(count)
    ]
    target = ProductTarget(radices, tuple(terms))
    reports = mechanism.privatize(np.arange(500) % mechanism.size, SeededRng(1))
    expected = mechanism.score(reports, target.dense(mechanism.size))
    np.testing.assert_allclose(
        mechanism.score_terms(reports, target), expected, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        mechanism.score_terms(reports, target), expected, rtol=1e-9, atol=1e-9
    )  # kept factors


def test_factors_that_are_shared_are_transformed_once():
    mechanism = AffineResponse(1.0, 32, groups=(3, 2))
    target = ProductTarget((4, 8), TWO)
    mechanism.score_terms(mechanism.privatize(np.arange(32), SeededRng(1)), target)
    assert set(target.transformed) == {id(factor) for factor in (*FACTORS, *OTHERS)}


def test_a_mechanism_without_the_permutation_refuses():
    with pytest.raises(ParameterError, match="need the permutation"):
        AffinePrefix(1.0, 32).score_terms(np.zeros(0), ProductTarget((32,), ()))
