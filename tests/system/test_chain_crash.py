"""Two real hops and the real collector behind them, killed while a batch passes them.

The short form of ``make soak``: a few deaths at points of their own code, and one of the mistakes
that must be found out (``chain_twins.py``).
"""

import pytest

from shuffler.deaths import title
from system.chain_crash import FAKES, PEOPLE, ChainScenario, ChainTrial
from system.chain_twins import is_chain_found_out, run_chain_twin
from system.hop_serving import POINTS_WITH_TOKENS

pytest.importorskip("cryptography", reason="sealing needs the extra `sealed`")

TITLES = [title(point) for point in POINTS_WITH_TOKENS]


def at(name, when):
    return TITLES.index(name), when


SCENARIOS = {
    "taking and mixing": ChainScenario(
        deaths=(
            (at("take 2", "before"), at("note_mixed 1", "before")),
            (at("take_part 2", "after"),),
            (("take: part stored, not acknowledged", 1),),
        )
    ),
    "delivering, opening and erasing": ChainScenario(
        fakes=FAKES,
        has_tokens=True,
        deaths=(
            (at("put_bytes 1", "after"),),
            (at("keep_fake_tokens 1", "after"), at("erase 1", "before")),
            (("open: before it commits", 2),),
        ),
    ),
}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_deaths_lose_nothing_double_nothing_and_send_one_order(tmp_path, scenario):
    result = ChainTrial(tmp_path, 1, scenario).run()
    assert result.findings == []
    assert result.messages == PEOPLE
    assert result.kills.total() == sum(map(len, scenario.deaths)), result.kills


@pytest.mark.parametrize("name", ["erases parts first"])
def test_a_chain_with_a_mistake_is_found_out(tmp_path, name):
    result = run_chain_twin(name, tmp_path, 1)
    assert is_chain_found_out(name, result), result.findings
