"""Wang 2021, chapter 5: what sampling one item of a set buys (Tables 5.1 and 5.2)."""

import pytest

from sottovoce.lab.experiments.figures.wang_chapter5 import LENGTHS
from sottovoce.lab.experiments.figures.wang_chapter5 import TABLE_5_1 as DIRECT
from sottovoce.lab.experiments.figures.wang_chapter5 import TABLE_5_2 as HASHED
from sottovoce.lab.experiments.wang_chapter5.relaxed_amplification import amplified_but_for
from sottovoce.plans.itemsets.padding import amplified


@pytest.mark.parametrize("epsilon", DIRECT)
def test_table_5_1_is_reproduced(epsilon):
    assert [round(amplified(epsilon, length), 2) for length in LENGTHS] == list(DIRECT[epsilon])


@pytest.mark.parametrize("epsilon", HASHED)
@pytest.mark.parametrize("place", [0, 1])
def test_table_5_2_is_reached_everywhere(epsilon, place):
    delta = (1e-3, 1e-9)[place]
    found = [amplified_but_for(delta, epsilon, length).epsilon for length in LENGTHS]
    assert all(
        ours >= printed - 0.006 for ours, printed in zip(found, HASHED[epsilon][place], strict=True)
    )


def test_table_5_2_is_conservative_in_thirteen_cells():
    """The theorem allows more there; the print corresponds to a larger, still valid, number of
    shared elements.
    """
    pairs = [
        (amplified_but_for(delta, epsilon, length).epsilon, printed)
        for epsilon, rows in HASHED.items()
        for delta, row in zip((1e-3, 1e-9), rows, strict=True)
        for length, printed in zip(LENGTHS, row, strict=True)
    ]
    assert sum(abs(ours - printed) <= 0.006 for ours, printed in pairs) == 47
    assert all(ours > printed - 0.006 for ours, printed in pairs)
