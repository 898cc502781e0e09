from itertools import combinations
from math import comb

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.covering import covers
from sottovoce.plans.marginals.view_selection import (
    GrownViews,
    PairCoverage,
    ViewLayout,
    ViewSelection,
    choose_views,
    elementary_symmetric,
    expected_cells,
)


def test_the_worked_example_of_the_noise_error():
    selection = ViewSelection(1 << 16, (2,) * 8, 2.0, 3)
    assert 3 * selection.noise_error(3) == pytest.approx(3.2031e-4, rel=1e-4)
    assert 3 * selection.noise_error(4) == pytest.approx(7.6756e-4, rel=1e-4)


def test_expected_cells_are_the_average_over_all_views():
    sizes = [2, 3, 5, 4, 2]
    for attributes in range(1, 6):
        cells = [
            np.prod([sizes[one] for one in view]) for view in combinations(range(5), attributes)
        ]
        assert expected_cells(sizes, attributes) == pytest.approx(np.mean(cells))


@pytest.mark.parametrize(
    ("power", "attributes", "order", "expected"),
    [
        (16, 8, 3, {0.2: (28, 2), 1.4: (28, 2), 1.5: (56, 3), 1.6: (56, 3), 2.0: (14, 4)}),
        (16, 16, 3, {0.2: (65, 2), 1.6: (65, 2), 2.0: (65, 3)}),
        (16, 16, 6, {0.2: (65, 2), 2.0: (65, 2)}),
        (16, 16, 8, {0.2: (65, 2), 2.0: (65, 2)}),
        (
            18,
            16,
            3,
            {
                0.2: (120, 2),
                1.0: (120, 2),
                1.2: (262, 3),
                1.5: (262, 3),
                1.6: (262, 4),
                2.0: (140, 4),
            },
        ),
        (18, 16, 6, {0.2: (120, 2), 1.4: (120, 2), 1.5: (262, 3), 1.6: (262, 3), 2.0: (262, 4)}),
        (18, 16, 8, {0.2: (120, 2), 1.5: (120, 2), 1.6: (262, 3), 2.0: (262, 3)}),
    ],
)
def test_the_published_choices_of_views(power, attributes, order, expected):
    for epsilon, (number, size) in expected.items():
        selection = ViewSelection(1 << power, (2,) * attributes, epsilon, order)
        assert selection.layout() == ViewLayout(number, size)


def test_views_are_a_covering_filled_up_with_what_is_covered_least():
    chosen = choose_views(ViewLayout(20, 4), 8, 3)
    assert len(set(chosen)) == 20
    assert covers(chosen, 8, 3)
    pairs = choose_views(
        ViewLayout(9, 2), 6, 3
    )  # no covering of triples by pairs: as many pairs as there are views
    assert len(set(pairs)) == 9
    assert {one for view in pairs for one in view} == set(range(6))


def test_every_attribute_is_in_some_view():
    for number in range(4, comb(8, 2) + 1):
        assert {one for view in choose_views(ViewLayout(number, 2), 8, 3) for one in view} == set(
            range(8)
        )


def test_views_that_are_too_many_to_list_are_grown_and_none_is_taken_twice():
    assert comb(40, 5) > 100_000
    chosen = choose_views(ViewLayout(120, 5), 40, 6)
    assert len(set(chosen)) == 120
    assert {one for view in chosen for one in view} == set(range(40))
    assert all(len(view) == 5 and list(view) == sorted(view) for view in chosen)
    pairs = [pair for view in chosen[:20] for pair in combinations(view, 2)]
    assert len(set(pairs)) > 0.9 * len(pairs)  # the first ones repeat next to nothing


def test_growing_falls_back_on_any_free_view():
    """All extensions of what it would grow are taken: the first free view comes instead."""
    taken = {view for view in combinations(range(4), 2) if 0 in view}
    free = GrownViews(4, 2, taken)
    coverage = PairCoverage(np.zeros((4, 4), np.int64), np.array([0, 1, 1, 1]))
    assert free.next(coverage) == (1, 2)


def test_too_few_users_are_refused():
    with pytest.raises(ParameterError, match="too few views"):
        ViewSelection(2_000, (2,) * 16, 1.0, 3).layout()


@pytest.mark.parametrize("wrong", [{"order": 0}, {"order": 9}, {"threshold": 0.0}, {"users": 0}])
def test_impossible_settings_are_refused_by_their_name(wrong):
    with pytest.raises(ParameterError, match=f"`{next(iter(wrong))}`"):
        ViewSelection(**{"users": 1 << 16, "sizes": (2,) * 8, "epsilon": 1.0, "order": 3, **wrong})


def test_symmetric_polynomials_are_sums_of_products():
    numbers = [2, 3, 5, 7]
    expected = [
        sum(np.prod(chosen) for chosen in combinations(numbers, degree)) for degree in range(4)
    ]
    assert elementary_symmetric(numbers, 3) == expected
