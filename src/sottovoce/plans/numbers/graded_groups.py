"""Graded groups: one Square Wave at several strengths, so that false reports can be told.

False reports show at a small epsilon, where honest reports are nearly uniform; the distribution of
honest people shows at a large one.  So everybody is put into one of h groups by a public coin, and
every group spends the same epsilon in another way:

    group 1      one report at epsilon
    group 2      two reports at epsilon / 2
    group t      2^(t-1) reports at epsilon / 2^(t-1), as long as that is above the probe
    group h      floor(epsilon / probe) reports at the probe

    h = ceil(log2(epsilon / probe)) + 1

Attackers cannot choose their group if enrolment tokens deal it; without tokens they choose.  Their
devices are told which group they are in: whoever follows the protocol in the probe and lies in the
other groups is not found, but the groups disagree (group_spread.py).

The protocol is known as DAP, the differential aggregation protocol.

Source: Du 2025, section 6.4.1.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add

from sottovoce.core import bounds, settings
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Ask, Question

PROBE = 1 / 16
FREE_COINS = (
    "attackers choose their group: set `enrolment` of the collection or an `issuer`, so that"
    " tokens deal the graded groups"
)


DEFENCES = ("graded",)


def check_defence(defence: str | None) -> str | None:
    """Return a defence that exists, or none."""
    return None if defence is None else settings.choice("defence", defence, DEFENCES)


def check_probe(probe: float | None, defence: str | None) -> float | None:
    """Return the epsilon of the probe, which a defence has and a plan without one has not."""
    if defence is not None:
        return settings.epsilon("probe", PROBE if probe is None else probe)
    if probe is not None:
        raise ParameterError('`probe` must be left out unless `defence` is "graded"')
    return None


@dataclass(frozen=True)
class Grade:
    """How a group spends the budget: ``reports`` reports of each person, each at ``epsilon``."""

    epsilon: float
    reports: int


def grades(epsilon: float, probe: float = PROBE) -> tuple[Grade, ...]:
    """Return how each group spends the budget; the last group is the probe.

    >>> [(grade.epsilon, grade.reports) for grade in grades(0.25)]
    [(0.25, 1), (0.125, 2), (0.0625, 4)]
    """
    settings.epsilon("probe", probe)
    if probe > epsilon:
        raise ParameterError(
            f"`probe` must be at most the epsilon of the task, {epsilon:g}, not {probe:g}"
        )
    most = int(exact.stated(epsilon) / exact.stated(probe))
    if most > bounds.MAX_SLOTS:
        raise ParameterError(
            f"`probe` must be at least epsilon / {bounds.MAX_SLOTS}, {epsilon / bounds.MAX_SLOTS:g}"
            f" here, not {probe:g}: a person may send {bounds.MAX_SLOTS} reports at the most"
        )
    listed = []
    reports = 1
    while exact.stated(epsilon) > reports * exact.stated(probe):
        listed.append(Grade(exact.part(epsilon, reports), reports))
        reports *= 2
    return (*listed, Grade(probe, most))


def graded_question(epsilon: float, probe: float, size: int) -> Choice:
    """Return the question for everybody: a coin picks the group."""
    return Choice(tuple(_ask(grade, size) for grade in grades(epsilon, probe)))


def _ask(grade: Grade, size: int) -> Ask:
    question = Question(SquareWave(epsilon=grade.epsilon, size=size))
    return Bundle((question,) * grade.reports) if grade.reports > 1 else question


def group_tallies(collected: Collected) -> dict[int, tuple[int, Tally]]:
    """Return the users of every non-empty group, and the tally of its reports."""
    by_group: dict[int, list[Tally]] = {}
    for address, tally in sorted(collected.tallies(0).items()):
        by_group.setdefault(address.member, []).append(tally)
    return {
        member: (tallies[0].users, reduce(add, tallies)) for member, tallies in by_group.items()
    }
