"""Collectors with one mistake each, and the scenario that must find it out.

The mistakes themselves are in ``orders.py`` and ``serving.py``.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from system.crash import MANY, ROUNDS, Kill, Result, Scenario, Trial
from system.disk import disk


@dataclass(frozen=True)
class Twin:
    """A scenario, the word that a finding must hold, and the file system if its power is cut."""

    scenario: Scenario
    word: str = "lost"
    file_system: str = ""


_HALF_WAY = (Kill(round=0, share=0.5),)
_WITHOUT_SUMS = (Kill("erase: sums have no name yet", 1),)
_ERASED = (Kill("erase: committed", ROUNDS),)

TWINS = {
    "acknowledges first": Twin(Scenario((Kill(round=0, share=0.6),))),
    "forgets ids": Twin(Scenario(), "doubled"),
    "covers too much": Twin(Scenario(), "doubled"),
    "seals first": Twin(Scenario((Kill("seal: committed", 1),))),
    "seals one page": Twin(Scenario(quota=MANY, at_once=1)),
    "removes the log first": Twin(Scenario(_WITHOUT_SUMS, erase=True)),
    "tests last": Twin(Scenario((Kill("step: next round stored", 1),))),
    "never syncs": Twin(Scenario(_HALF_WAY), file_system="ext4"),
    "never syncs, on xfs": Twin(Scenario(_HALF_WAY), file_system="xfs"),
    # The database syncs all the same, and DuckDB its logs; the sums of erased rounds are lost.
    "does not sync files": Twin(Scenario(_ERASED, erase=True), file_system="ext4"),
}


def run_twin(name: str, folder: Path, seed: int) -> Result:
    """Return what a trial sees of a collector with a mistake."""
    return _run(name, folder, seed, lambda scenario: replace(scenario, twin=name.split(",")[0]))


def run_sound(name: str, folder: Path, seed: int) -> Result:
    """Return what the same trial sees of a collector without the mistake."""
    return _run(name, folder, seed, lambda scenario: scenario)


def _run(name: str, folder: Path, seed: int, changed: Callable[[Scenario], Scenario]) -> Result:
    twin = TWINS[name]
    with ExitStack() as stack:
        made = None
        if twin.file_system:
            made = stack.enter_context(disk(twin.file_system, folder))
        return Trial(folder, seed, changed(twin.scenario), disk=made).run()


def is_found_out(name: str, result: Result) -> bool:
    """Return whether the findings of a trial tell of the mistake."""
    return any(TWINS[name].word in finding for finding in result.findings)
