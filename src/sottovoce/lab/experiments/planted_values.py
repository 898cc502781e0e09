"""Planted values: attackers bring strings that nobody holds among the heavy hitters.

200,000 people hold strings of 48 bits by Zipf's law; 16 are sought at epsilon 4.  Attackers promote
eight random strings: by reports that always support them (SPA), or by following the protocol (IMA).
A planted string is *flagged* if its ``robust_to`` is at most the share of attackers.

python -m sottovoce.lab.experiments.planted_values > docs/evidence/planted-values.md
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.domains.bits import Bits
from sottovoce.lab.attacks.base import Attack
from sottovoce.lab.attacks.input_manipulation import InputManipulation
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.simulate import simulate
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task

PEOPLE = 200_000
STRINGS = 2_000  # different ones that people hold
ZIPF = 1.3
TOP = 16
PLANTED = 8
CERTAIN = 8  # the most frequent strings, which no attack should push out
RUNS = 20
SHARES = (0.01, 0.02, 0.05)
ATTACKS = {"SPA": SupportTarget, "IMA": InputManipulation}


@dataclass(frozen=True)
class Planting:
    """What one attack did to one search."""

    planted: int  # attackers' strings among the found
    flagged: int  # those of them that the stated share could have planted
    kept: int  # of the most frequent strings, how many are still found
    kept_clean: int  # the same without attackers
    unflagged_true: int  # found strings that are held, and that the share could not have planted


def planting(attack: str, share: float, run: int, *, people: int = PEOPLE) -> Planting:
    """Return what an attack plants in one population; ``run`` seeds everything."""
    random = np.random.default_rng([run, 48])
    strings = random.integers(0, 1 << 48, STRINGS)
    weights = 1 / np.arange(1, STRINGS + 1) ** ZIPF
    held = random.choice(strings, people, p=weights / weights.sum())
    plan = HeavyHitters(Bits(48), TOP)
    task = Task("strings", plan, 4.0, collection=Collection(enrolment=True))
    targets = tuple(random.integers(0, 1 << 48, PLANTED).tolist())
    attackers: Attack = ATTACKS[attack](plan.domain, targets)
    poisoned = simulate(task, held, seed=run, attack=attackers, share=share)
    clean = simulate(task, held, seed=run)
    assert isinstance(poisoned, Answer)
    assert isinstance(clean, Answer)
    robust_to = {row["value"]: row["robust_to"] for row in poisoned.rows()}
    names = {plan.domain.shown(target) for target in targets}
    most_frequent = {plan.domain.shown(int(value)) for value in strings[:CERTAIN]}
    found = names & set(robust_to)
    true = set(robust_to) & {plan.domain.shown(int(value)) for value in strings}
    return Planting(
        planted=len(found),
        flagged=sum(robust_to[name] <= share for name in found),
        kept=len(most_frequent & set(robust_to)),
        kept_clean=len(most_frequent & set(clean.labels)),
        unflagged_true=sum(robust_to[name] > share for name in true),
    )


def page(runs: int = RUNS) -> str:
    """Return the page as Markdown."""
    rows = [
        row(attack, share, [planting(attack, share, run) for run in range(runs)])
        for attack in ATTACKS
        for share in SHARES
    ]
    return "\n".join([_HEAD.format(runs=runs), *rows]) + "\n"


def row(attack: str, share: float, found: Sequence[Planting]) -> str:
    """Return what an attack did to several searches as a row of the table."""
    planted = np.array([each.planted for each in found])
    error = planted.std(ddof=1) / np.sqrt(len(found))
    flagged = sum(each.flagged for each in found)
    kept = np.mean([each.kept for each in found])
    clean = np.mean([each.kept_clean for each in found])
    spared = np.mean([each.unflagged_true for each in found])
    return (
        f"| {attack} | {100 * share:g} % | {planted.mean():.2f} ± {error:.2f} |"
        f" {flagged} of {planted.sum()} | {kept:.2f} | {clean:.2f} | {spared:.1f} |"
    )


_HEAD = f"""# Planted values

Printed by `python -m sottovoce.lab.experiments.planted_values`.
{PEOPLE:,} people hold {STRINGS:,} strings of 48 bits by Zipf's law with exponent {ZIPF}; the {TOP}
most frequent are sought at epsilon 4.  Attackers promote {PLANTED} random strings; tokens deal the
groups.  Means of {{runs}} populations.  *Flagged*: of the planted strings, those whose `robust_to`
is at most the share of attackers.  *Kept*: of the {CERTAIN} most frequent strings those that are
found, under attack and without.  *Spared*: held strings among the found that so many attackers
cannot have planted.

| attack | share | planted of {PLANTED} | flagged | kept | kept, clean | spared |
|---|---:|---:|---:|---:|---:|---:|"""

if __name__ == "__main__":
    print(page(), end="")
