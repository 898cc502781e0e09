"""Chains with one mistake each, and the scenario that must find it out.

The mistakes themselves are in ``hop_serving.py`` and ``chain_serving.py``.
"""

from dataclasses import dataclass

from shuffler.deaths import title
from system.chain_crash import ChainScenario, ChainTrial
from system.hop_serving import ALL_POINTS

_TITLES = [title(point) for point in ALL_POINTS]
_PATIENCE = 60.0  # seconds: some mistakes stop the batch for ever


@dataclass(frozen=True)
class ChainTwin:
    """A scenario, and the word that a finding must hold."""

    scenario: ChainScenario
    word: str


def _hop_dies(number, name, when):
    """Return the deaths of a scenario in which one hop dies at one point of its code."""
    deaths = [(), (), ()]
    deaths[number] = ((_TITLES.index(name), when),)
    return tuple(deaths)


TWINS = {
    "draws again": ChainTwin(
        ChainScenario(deaths=_hop_dies(1, "put_bytes 2", "after"), patience=_PATIENCE),
        "a second order was sent",
    ),
    "acknowledges first": ChainTwin(
        ChainScenario(repeats=1, kills_first_hop=True, patience=_PATIENCE),
        "lost",
    ),
    "forgets hashes": ChainTwin(ChainScenario(), "taken for a new one"),
    "keeps the batch file": ChainTwin(ChainScenario(), "a batch file is left"),
    "erases parts first": ChainTwin(
        ChainScenario(deaths=((), (), (("open: before it commits", 2),))), "lost"
    ),
    "opens twice": ChainTwin(ChainScenario(), "doubled"),
}


def run_chain_twin(name, folder, seed):
    """Return what a trial sees of a chain with a mistake."""
    scenario = TWINS[name].scenario
    return ChainTrial(folder, seed, scenario, twin=name).run()


def is_chain_found_out(name, result):
    """Return whether the findings of a trial tell of the mistake."""
    return any(TWINS[name].word in finding for finding in result.findings)
