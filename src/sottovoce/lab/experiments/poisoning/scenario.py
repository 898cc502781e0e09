"""One poisoned collection of frequencies: honest people of a Zipf population, and attackers."""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats, Reports
from sottovoce.core.rng import Rng
from sottovoce.domains.integers import Integers
from sottovoce.engine.defended import defended
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.integrity.examine import summarise, tested
from sottovoce.lab.attacks.base import Attack
from sottovoce.lab.attacks.evasive_gain import EvasiveGain
from sottovoce.lab.attacks.input_manipulation import InputManipulation
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.baselines.recovery import (
    normalised,
    recovered,
    recovered_knowing,
    simplex,
    without_targets,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task

ADDRESS = Address()


@dataclass(frozen=True)
class Scenario:
    """What is attacked, and how.

    ``tries`` is 0 for the attack by lies (RIA), and 1 target ``each`` without a search is SPA.
    """

    name: str
    users: int = 100_000
    size: int = 1024
    exponent: float = 1.3
    epsilon: float = 1.0
    share: float = 0.05
    target_count: int = 10
    tries: int = 1
    each: int = 0  # targets of one report; 0 for all

    def attack(self, domain: Integers, targets: tuple[int, ...]) -> Attack:
        """Return the attack on these targets."""
        if self.tries == 0:
            return InputManipulation(domain, targets)
        if self.each:
            return EvasiveGain(domain, targets, self.each, self.tries)
        return MaximalGain(domain, targets, self.tries)


@dataclass(frozen=True, eq=False)
class Poisoned:
    """A collection with its truth: shares of honest people, and which values are targets."""

    scenario: Scenario
    collected: MemoryCollected
    mechanism: AffineResponse
    truth: Floats
    targets: Bools
    attackers: int

    @property
    def reports(self) -> Reports:
        """Return all reports, those of honest people first."""
        return self.collected.batches[ADDRESS].reports

    def diluted(self, share: float) -> MemoryCollected:
        """Return the same honest reports with so few of the false ones that they are this share."""
        honest = len(self.reports) - self.attackers
        attackers = round(honest * share / (1 - share))
        batches = {ADDRESS: ReportBatch(self.reports[: honest + attackers])}
        return MemoryCollected(self.collected.task).after(self.collected.rounds[0], batches)

    def frequencies(self, reports: Reports) -> Floats:
        """Return the raw frequencies of some reports."""
        return self.mechanism.estimate(self.mechanism.tally(reports)).frequencies


def poisoned(scenario: Scenario, seed: int) -> Poisoned:
    """Return a seeded collection; population, targets, honest and false reports are all drawn."""
    generator = np.random.default_rng([seed, 1])
    rng = SeededRng(seed)
    attackers = round(scenario.users * scenario.share)
    weights = 1 / np.arange(1, scenario.size + 1) ** scenario.exponent
    values = generator.choice(scenario.size, scenario.users - attackers, p=weights / weights.sum())
    unpopular = np.arange(scenario.size // 2, scenario.size)
    chosen = np.sort(generator.choice(unpopular, scenario.target_count, replace=False))
    domain = Integers(0, scenario.size - 1)
    task = Task("values", Histogram(domain, "affine"), epsilon=scenario.epsilon)
    mechanism = AffineResponse(epsilon=scenario.epsilon, size=scenario.size)
    asked = Round(0, Question(mechanism))
    reports = mechanism.privatize(values, rng)
    if attackers:
        attack = scenario.attack(domain, tuple(chosen.tolist()))
        reports = np.concatenate([reports, _false(attack, asked, attackers, rng)])
    collected = MemoryCollected(task).after(asked, {ADDRESS: ReportBatch(reports)})
    truth = np.bincount(values, minlength=scenario.size) / len(values)
    targets = np.isin(np.arange(scenario.size), chosen)
    return Poisoned(scenario, collected, mechanism, truth, targets, attackers)


def _false(attack: Attack, asked: Round, attackers: int, rng: Rng) -> Reports:
    return attack.reports(asked, attackers, rng)[ADDRESS]


@dataclass(frozen=True)
class Errors:
    """How far one method is from the truth: mean squared error, and the gain of the targets."""

    squared: float
    gain: float


@dataclass(frozen=True)
class Measured:
    """One collection: the tests that alarmed, and the errors of every method after Norm-Sub."""

    alarms: tuple[str, ...]
    raw_gain: float
    errors: dict[str, Errors]
    steps: tuple[str, ...]


def measure(collection: Poisoned) -> Measured:
    """Return what is seen in a collection, and how far every method is from the truth."""
    raw = collection.frequencies(collection.reports)
    honest = collection.frequencies(
        collection.reports[: len(collection.reports) - collection.attackers]
    )
    eta = collection.attackers / (len(collection.reports) - collection.attackers)
    mechanism, targets = collection.mechanism, collection.targets
    plan = collection.collected.task.plan
    found = tested(plan, collection.collected, 0)
    kept = defended(collection.collected, found, replicates=0)
    ours = raw
    steps: tuple[str, ...] = ()
    if kept is not collection.collected:
        estimate = kept.estimate(ADDRESS)
        ours, steps = estimate.frequencies, estimate.steps
    methods = {
        "honest alone": simplex(honest),
        "Norm-Sub": simplex(raw),
        "normalised": normalised(raw),
        "LDPRecover": recovered(raw, mechanism, eta),
        "LDPRecover*": recovered_knowing(raw, mechanism, eta, targets),
        "targets removed": without_targets(raw, mechanism, eta, targets),
        "ours": simplex(ours),
    }
    return Measured(
        summarise(plan, collection.collected, 0, found).alarms,
        float((raw - collection.truth)[targets].sum()),
        {name: _errors(found, collection) for name, found in methods.items()},
        steps,
    )


def _errors(frequencies: Floats, collection: Poisoned) -> Errors:
    difference = frequencies - collection.truth
    return Errors(float((difference**2).mean()), float(difference[collection.targets].sum()))
