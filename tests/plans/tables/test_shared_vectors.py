"""Targets of several layers as one: a number times the same terms."""

import numpy as np

from sottovoce.core.product_target import OuterProduct, ProductTarget
from sottovoce.plans.tables.shared_vectors import SharedVectors

VECTOR = np.array([1.0, 0.0, 2.0])
OTHER = np.array([3.0, 5.0])


def flat(number, length):
    return np.full(length, number)


def dense(terms):
    radices = tuple(map(len, terms[0].factors))
    return ProductTarget(radices, tuple(terms)).dense(int(np.prod(radices)))


def both(terms, merged=True):
    """Return the terms, and what a number times the shared terms is."""
    vectors = SharedVectors()
    shared = vectors.shared(terms, merged=merged)
    return dense(terms), shared.factor * dense(vectors.target(shared, ()).terms)


def test_a_number_times_the_shared_terms_are_the_terms():
    common = flat(0.5, 4)
    single = [OuterProduct(7.0, (flat(2.0, 2), VECTOR, common, flat(3.0, 2), OTHER))]
    several = [
        OuterProduct(7.0, (flat(2.0, 2), VECTOR, common)),
        OuterProduct(-1.0, (flat(9.0, 2), flat(1.5, 3), common)),
    ]
    for terms in (single, several):
        for merged in (False, True):
            wanted, found = both(terms, merged)
            np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_neighbours_that_nothing_depends_on_are_one_axis():
    vectors = SharedVectors()
    layers = [(3, 13), (13, 3), (39, 1), (1, 39)]
    shared = [
        vectors.shared(
            [OuterProduct(1.0 + rows, (VECTOR, flat(2.0, rows), flat(4.0, columns)))], merged=True
        )
        for rows, columns in layers
    ]
    assert len({each.key for each in shared}) == 1
    assert [each.factor for each in shared] == [8.0 * (1 + rows) for rows, _ in layers]
    assert shared[0].axes == ((VECTOR,), 39)


def test_other_vectors_weights_or_places_are_another_target():
    vectors = SharedVectors()
    equal = np.array(VECTOR)
    many = [
        vectors.shared(terms, merged=True)
        for terms in (
            [OuterProduct(1.0, (VECTOR, flat(1.0, 4)))],
            [OuterProduct(1.0, (equal, flat(1.0, 4)))],
            [OuterProduct(1.0, (flat(1.0, 4), VECTOR))],
            [OuterProduct(1.0, (VECTOR, flat(1.0, 5)))],
            [OuterProduct(1.0, (VECTOR,)), OuterProduct(2.0, (equal,))],
            [OuterProduct(1.0, (VECTOR,)), OuterProduct(3.0, (equal,))],
        )
    ]
    assert len({each.key for each in many}) == len(many)
    assert not any(each.constant for each in many)
    assert vectors.shared([OuterProduct(2.0, (flat(1.0, 4),))], merged=True).constant


def test_short_ones_are_kept_so_that_they_are_transformed_once():
    vectors = SharedVectors()
    shared = vectors.shared([OuterProduct(1.0, (VECTOR, flat(1.0, 4)))], merged=True)
    first, second = (vectors.target(shared, ()).terms[0].factors[1] for _ in range(2))
    assert first is second
