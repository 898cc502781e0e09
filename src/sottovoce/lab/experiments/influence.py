"""The table of influence: what one false report does under every mechanism, and how tests see it.

python -m sottovoce.lab.experiments.influence > docs/evidence/influence.md
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.core.influence import Influence
from sottovoce.lab.attacks.base import Attack
from sottovoce.lab.attacks.input_manipulation import InputManipulation
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.simulate import simulate
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.task import Task

EPSILONS = (0.5, 1.0, 2.0, 4.0)
SIZE = 1024
COUNTS = ("grr", "affine", "olh", "oue", "sue", "subset", "hadamard", "blh", "rmp", "the")
NUMBERS = ("duchi", "piecewise", "hybrid", "square_wave")
LABELS = tuple("abcdefgh")
HOLDERS = (900, 500, 300, 150, 80, 50, 20, 0)  # people who hold each label
COVERED = ("grr", "affine", "olh", "oue", "subset", "hadamard")
FAKES = 0.05
RUNS = 400
LEVEL = 0.95


@dataclass(frozen=True)
class AttackedCoverage:
    """How often intervals contained the truth under an attack."""

    attacked: float
    ordinary: float


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *_influence_rows(), *_supported(), *_covered()]) + "\n"


def influence_of(kind: str, epsilon: float) -> Influence:
    """Return the influence of one report among 1,024 values."""
    mechanism: Any = Mechanism.kinds[kind]
    stated: Influence = mechanism(epsilon=epsilon, size=SIZE).influence
    return stated


def coverage(kind: str, attack: str, runs: int = RUNS) -> AttackedCoverage:
    """Return the share of seeded collections whose intervals contained the truth of the target."""
    task = Task("letters", Histogram(list(LABELS), kind), epsilon=1.0)
    target, liars = _attack(attack, task)
    values = np.repeat(LABELS, HOLDERS).tolist()
    true_share = HOLDERS[LABELS.index(target)] / sum(HOLDERS)
    attacked = ordinary = 0
    for seed in range(runs):
        outcome = simulate(task, values, seed=seed, attack=liars, share=FAKES)
        answer = outcome.at(LEVEL, fakes=FAKES)
        assert isinstance(answer, Answer)
        row = answer.rows()[LABELS.index(target)]
        truth = true_share * answer.users
        attacked += row["low_attacked"] <= truth <= row["high_attacked"]
        ordinary += row["low"] <= truth <= row["high"]
    return AttackedCoverage(attacked / runs, ordinary / runs)


def _attack(name: str, task: Task) -> tuple[str, Attack]:
    """Return the target of an attack, and the attack."""
    domain = task.plan.domain
    if name == "promote":
        return "h", SupportTarget(domain, ("h",))
    if name == "demote":
        return "b", SupportTarget(domain, ("b",), against=True)
    return "h", InputManipulation(domain, ("h",))


def _influence_rows() -> list[str]:
    lines = []
    for kind in (*COUNTS, *NUMBERS):
        cells = [influence_of(kind, epsilon) for epsilon in EPSILONS]
        written = [f"{_short(cell.up)} / {_short(cell.down)}" for cell in cells]
        lines.append(_row(f"`{kind}`", written))
    return lines


def _supported() -> list[str]:
    mechanisms: list[Any] = [
        Mechanism.kinds[kind](epsilon=1.0, size=SIZE)  # type: ignore[call-arg]
        for kind in ("grr", "affine", "subset", "oue", "olh")
    ]
    listed = [f"`{each.kind}` {each.max_supported:,}" for each in mechanisms]
    return [
        "",
        f"Values that were chosen beforehand and that one report can support together, of {SIZE:,}"
        " at epsilon 1:",
        ", ".join(listed) + ".",
        "Of local hashing it is what a search for seeds reaches; of affine response it is a proof.",
    ]


def _covered() -> list[str]:
    error = sqrt(LEVEL * (1 - LEVEL) / RUNS)
    lines = [
        "",
        "## Coverage under attack",
        "",
        f"{sum(HOLDERS):,} honest people, 8 values, epsilon 1, {100 * FAKES:g} % of all reports"
        f" false, {RUNS} seeded collections.",
        f"Share of {100 * LEVEL:g} % intervals that contain the truth about the target: allowing"
        " for the false reports, then the ordinary ones.",
        f"A share of {LEVEL:g} has a standard error of {error:.3f} here.  *promote*: always support"
        " a value that nobody holds.",
        "*demote*: never support a value that a quarter holds.  *lie*: follow the protocol for a"
        " value that nobody holds.",
        "",
        "| mechanism | promote | demote | lie |",
        "|---|---:|---:|---:|",
    ]
    for kind in COVERED:
        found = [coverage(kind, attack) for attack in ("promote", "demote", "lie")]
        written = [f"{each.attacked:.3f} / {each.ordinary:.3f}" for each in found]
        lines.append(_row(f"`{kind}`", written))
    return lines


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2f}"


_HEAD = f"""# What one false report can do

Printed by `python -m sottovoce.lab.experiments.influence`.
Votes that one report can give for a value, and against it, among {SIZE:,} values; an honest report
adds 1 on average.  For numbers (the last four rows) the extreme numbers of a report on the scale of
[-1, 1].  A Bloom filter has no row: its decoder selects values, and no linear bound holds.

| mechanism | {" | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)} |
|---|{"---:|" * len(EPSILONS)}"""

if __name__ == "__main__":
    print(page(), end="")
