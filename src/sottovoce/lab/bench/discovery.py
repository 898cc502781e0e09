"""Searches for long values: decoding by blocks of prefixes against hashing every candidate.

Reports are genuine, one for each user.  Hashing all of them for each of a hundred thousand
candidates takes minutes to hours, so that side counts some of the candidates in some of the reports
of every group, and its time is scaled up.

Source: Wang 2021, chapter 4; docs/affine-response.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.lab.aggregate import draw_answer, numbers_of
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.truth import metrics
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task

EPSILON = 2.0
TOP = 16
DOMAINS = (Bits(48), Bits(64), Strings(20))
MIN_SCALE = 0.02  # so that every group has some users
USERS = 1_000_000
GROWING_USERS = (100_000, 300_000, 1_000_000)
VALUES = 1000  # that somebody holds
HASHED_CANDIDATES = 4096  # of every group
HASHED_REPORTS = 4096  # of every group
DRAWN_SEARCHES = 20
REPEATS = 3
FASTER = Goal("ratio", ">=", 20.0)
PER_LEVEL = Goal("ratio", "<=", 2.0)


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield making, decoding and finding for each length, then the growth with the users."""
    for domain in DOMAINS:
        study = SearchStudy(domain, scaled(USERS, max(MIN_SCALE, scale)))
        yield _making_row(study)
        yield _decoding_row(study)
        yield _finding_row(study, max(2, int(DRAWN_SEARCHES * min(1.0, scale))))
    yield _level_row(scaled(USERS, max(MIN_SCALE, scale)))
    for domain in DOMAINS[::2]:
        yield _growth_row(domain, [scaled(users, max(MIN_SCALE, scale)) for users in GROWING_USERS])


@dataclass(frozen=True, eq=False)
class WatchedCollected(MemoryCollected):
    """What was collected, and the candidates that a plan asked for."""

    asked: dict[Address, Blocks] = field(default_factory=dict)

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        if isinstance(among, Blocks):  # known values are few, and are hashed directly anyway
            self.asked[address] = among
        return super().estimate(address, among)


@dataclass(frozen=True, eq=False)
class HashedSample:
    """Some reports of a group, and some of the candidates that the plan estimated from them."""

    mechanism: AffinePrefix
    reports: Reports
    candidates: Values


@dataclass(frozen=True, eq=False)
class SearchStudy:
    """A population, and the task that looks for its most frequent values."""

    domain: Bits | Strings
    users: int

    @cached_property
    def task(self) -> Task:
        """Return the task."""
        return Task("discovery", HeavyHitters(self.domain, TOP), EPSILON)

    @cached_property
    def holders(self) -> dict[Any, int]:
        """Return how many people hold each value: a few are common, most are rare."""
        generator = np.random.default_rng([self.users, self.domain.bits])
        shares = 1 / (5.0 + np.arange(VALUES)) ** 1.5
        counts = generator.multinomial(self.users, shares / shares.sum()).tolist()
        return {_random_value(self.domain, generator): count for count in counts}

    @cached_property
    def collected(self) -> WatchedCollected:
        """Return everybody's report."""
        return WatchedCollected(self.task, (self.task.opening,), self.reports())

    def reports(self) -> dict[Address, ReportBatch]:
        """Return one report for each user, as devices make them."""
        opening = self.task.opening
        rng = SeededRng(self.users)
        values = self.domain.indices(list(self.holders))
        people = np.repeat(np.arange(len(values)), list(self.holders.values()))
        batches = {}
        for address, group in opening.assigned(people, rng):
            question = opening.question(address)
            batches[address] = ReportBatch(question.privatize(values[group], rng))
        return batches

    def decode(self) -> Answer:
        """Return what the plan finds."""
        answer = self.task.plan.step(self.collected)
        assert isinstance(answer, Answer)
        return answer

    @property
    def levels(self) -> int:
        """Return how many groups of people are asked, each about longer prefixes than the last."""
        return len({address.member for address in self.collected.batches})

    @cached_property
    def samples(self) -> list[HashedSample]:
        """Return what is hashed directly, for every group."""
        samples = []
        for address, blocks in self.collected.asked.items():
            mechanism = self.task.opening.question(address).mechanism
            assert isinstance(mechanism, AffinePrefix)
            count = min(HASHED_CANDIDATES, len(blocks))
            indices = np.linspace(0, len(blocks) - 1, count).astype(int).tolist()
            candidates = indices_of([blocks[index] for index in indices], mechanism.bits)
            reports = self.collected.batches[address].reports[:HASHED_REPORTS]
            samples.append(HashedSample(mechanism, reports, candidates))
        return samples

    def hash_samples(self) -> None:
        """Count the supports of the samples directly."""
        for sample in self.samples:
            sample.mechanism.count(sample.reports, sample.candidates)

    @property
    def factor(self) -> float:
        """Return how many times the work on the samples the whole work is."""
        batches = self.collected.batches
        asked = self.collected.asked
        whole = sum(
            len(batches[address].reports) * len(blocks) for address, blocks in asked.items()
        )
        hashed = sum(len(sample.reports) * len(sample.candidates) for sample in self.samples)
        return whole / hashed

    def f1(self, answer: Any) -> float:
        """Return how well an answer names the most frequent values."""
        best = sorted(self.holders, key=lambda value: -self.holders[value])[:TOP]
        numbers = numbers_of(self.domain.indices(best))
        return metrics.f1([self.domain.shown(number) for number in numbers], answer.labels)

    def __str__(self) -> str:
        if isinstance(self.domain, Strings):
            return f"{self.users:,} users, values of {self.domain.length} bytes"
        return f"{self.users:,} users, values of {self.domain.bits} bits"


def _random_value(domain: Bits | Strings, generator: np.random.Generator) -> Any:
    if isinstance(domain, Strings):
        codes = generator.integers(ord("a"), ord("z") + 1, domain.length)
        return "".join(chr(code) for code in codes)
    return int.from_bytes(generator.bytes(domain.bits // 8))


def _making_row(study: SearchStudy) -> BenchmarkRow:
    (making,) = race(study.reports, repeats=REPEATS)
    per_report = 1e9 * making.cpu / study.users
    return BenchmarkRow("discovery", f"make reports, {study}", per_report, "ns/report")


def _decoding_row(study: SearchStudy) -> BenchmarkRow:
    study.decode()  # shows which candidates there are
    blocks, direct = race(study.decode, study.hash_samples, repeats=REPEATS)
    estimated = sum(map(len, study.collected.asked.values()))
    factor = study.factor
    name = f"decode {estimated:,} candidates, {study}"
    sample = f"{HASHED_CANDIDATES:,} candidates x {HASHED_REPORTS:,} reports of a group"
    against = f"direct hashing, {sample}, scaled by {factor:,.1f}; theirs/ours"
    ratio = factor * direct.cpu / blocks.cpu
    return BenchmarkRow("discovery", name, blocks.cpu, "s", against, ratio, FASTER)


def _finding_row(study: SearchStudy, searches: int) -> BenchmarkRow:
    genuine = study.f1(study.decode())
    answers = (draw_answer(study.task, study.holders, seed) for seed in range(searches))
    drawn = fmean(study.f1(answer) for answer in answers)
    name = f"F1 of the {TOP} most frequent, {study}"
    against = f"mean of {searches} searches with drawn counts: {drawn:.3f}"
    return BenchmarkRow(
        "discovery", name, genuine, "F1", against, genuine / drawn if drawn else None
    )


def _level_row(users: int) -> BenchmarkRow:
    """Return the time of a level of the longest values against that of a level of the shortest."""
    short, long = SearchStudy(DOMAINS[0], users), SearchStudy(DOMAINS[-1], users)
    known, longest = race(short.decode, long.decode, repeats=REPEATS)
    per_level = longest.cpu / long.levels
    ratio = per_level / (known.cpu / short.levels)
    name = f"decode a level of {long.levels}, {long}"
    against = f"a level of {short.levels}, values of {short.domain.bits} bits"
    return BenchmarkRow("discovery", name, 1e3 * per_level, "ms", against, ratio, PER_LEVEL)


def _growth_row(domain: Bits | Strings, users: list[int]) -> BenchmarkRow:
    studies = [SearchStudy(domain, count) for count in users]
    timings = race(*(study.decode for study in studies), repeats=2)
    slope = exponent(users, [max(timing.cpu, 1e-9) for timing in timings])
    name = f"decode values of {domain.bits} bits, in users"
    span = f"{min(users):,} to {max(users):,}"
    return BenchmarkRow("discovery", name, slope, "exponent", span, goal=LINEAR)
