"""Searches for long values: decoding by blocks of prefixes against hashing every candidate, and what is found.

Reports are genuine, one for each user.  Hashing all of them for each of a hundred thousand candidates takes minutes to
hours, so that side counts some of the candidates in some of the reports of every group, and its time is scaled up.

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
from sottovoce.lab import aggregate
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.row import Goal, Row
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.truth import metrics
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task

EPSILON, TOP = 2.0, 16
DOMAINS = (Bits(48), Bits(64), Strings(20))
USERS, GROWING = 1_000_000, (100_000, 300_000, 1_000_000)
VALUES = 1000  # that somebody holds
HASHED, COUNTED = 4096, 4096  # candidates and reports of every group that are hashed directly
DRAWN = 20  # searches whose counts are drawn
REPEATS = 3
FASTER = Goal("ratio", ">=", 20.0)


def rows(scale: float) -> Iterator[Row]:
    """Yield making, decoding and finding for each length, then how decoding grows with the users."""
    for domain in DOMAINS:
        search = Search(domain, scaled(USERS, scale))
        yield _made(search)
        yield _decoded(search)
        yield _found(search, max(2, int(DRAWN * min(1.0, scale))))
    for domain in DOMAINS[::2]:
        yield _grown(domain, [scaled(users, scale) for users in GROWING])


@dataclass(frozen=True, eq=False)
class Watched(MemoryCollected):
    """What was collected, and the candidates that a plan asked for."""

    seen: dict[Address, Blocks] = field(default_factory=dict)

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        assert isinstance(among, Blocks)
        self.seen[address] = among
        return super().estimate(address, among)


@dataclass(frozen=True, eq=False)
class Search:
    """A population, and the task that looks for its most frequent values."""

    domain: Bits | Strings
    users: int

    @cached_property
    def task(self) -> Task:
        """Return the task."""
        return Task("discovery", HeavyHitters(self.domain, TOP), EPSILON)

    @cached_property
    def held(self) -> dict[Any, int]:
        """Return how many people hold each value: a few are common, most are rare."""
        rng = np.random.default_rng([self.users, self.domain.bits])
        shares = 1 / (5.0 + np.arange(VALUES)) ** 1.5
        counts = rng.multinomial(self.users, shares / shares.sum()).tolist()
        return {_value(self.domain, rng): count for count in counts}

    @cached_property
    def collected(self) -> Watched:
        """Return everybody's report."""
        return Watched(self.task, (self.task.opening,), self.reports())

    def reports(self) -> dict[Address, ReportBatch]:
        """Return one report for each user, as devices make them."""
        asked, rng = self.task.opening, SeededRng(self.users)
        values = self.domain.indices(list(self.held))
        people = np.repeat(np.arange(len(values)), list(self.held.values()))
        groups = asked.assigned(people, rng)
        return {address: ReportBatch(asked.question(address).privatize(values[held], rng)) for address, held in groups}

    def decode(self) -> Answer:
        """Return what the plan finds."""
        found = self.task.plan.step(self.collected)
        assert isinstance(found, Answer)
        return found

    @cached_property
    def sample(self) -> list[tuple[AffinePrefix, Reports, Values]]:
        """Return some reports of every group with some of the candidates that the plan estimated from them."""
        found = []
        for address, blocks in self.collected.seen.items():
            mechanism = self.task.opening.question(address).mechanism
            assert isinstance(mechanism, AffinePrefix)
            places = np.linspace(0, len(blocks) - 1, min(HASHED, len(blocks))).astype(int).tolist()
            candidates = indices_of([blocks[place] for place in places], mechanism.bits)
            found.append((mechanism, self.collected.batches[address].reports[:COUNTED], candidates))
        return found

    def hash(self) -> None:
        """Count the supports of the sample directly."""
        for mechanism, reports, candidates in self.sample:
            mechanism.count(reports, candidates)

    @property
    def factor(self) -> float:
        """Return how many times the work on the sample all of it is."""
        batches, seen = self.collected.batches, self.collected.seen
        whole = sum(len(batches[address].reports) * len(blocks) for address, blocks in seen.items())
        return whole / sum(len(reports) * len(candidates) for _, reports, candidates in self.sample)

    def f1(self, found: Any) -> float:
        """Return how well an answer names the most frequent values."""
        best = sorted(self.held, key=lambda value: -self.held[value])[:TOP]
        numbers = aggregate.numbers_of(self.domain.indices(best))
        return metrics.f1([self.domain.shown(number) for number in numbers], found.labels)

    def __str__(self) -> str:
        length = f"{self.domain.length} bytes" if isinstance(self.domain, Strings) else f"{self.domain.bits} bits"
        return f"{self.users:,} users, values of {length}"


def _value(domain: Bits | Strings, rng: np.random.Generator) -> Any:
    if isinstance(domain, Strings):
        return "".join(chr(code) for code in rng.integers(ord("a"), ord("z") + 1, domain.length))
    return int.from_bytes(rng.bytes(domain.bits // 8))


def _made(search: Search) -> Row:
    (made,) = race(search.reports, repeats=REPEATS)
    return Row("discovery", f"make reports, {search}", 1e9 * made.cpu / search.users, "ns/report")


def _decoded(search: Search) -> Row:
    search.decode()  # shows which candidates there are
    blocks, direct = race(search.decode, search.hash, repeats=REPEATS)
    estimated, factor = sum(map(len, search.collected.seen.values())), search.factor
    name = f"decode {estimated:,} candidates, {search}"
    against = (
        f"direct hashing, {HASHED:,} candidates x {COUNTED:,} reports of a group, scaled by {factor:,.1f}; theirs/ours"
    )
    return Row("discovery", name, blocks.cpu, "s", against, factor * direct.cpu / blocks.cpu, FASTER)


def _found(search: Search, searches: int) -> Row:
    found = search.f1(search.decode())
    drawn = fmean(search.f1(aggregate.drawn(search.task, search.held, seed)) for seed in range(searches))
    against = f"mean of {searches} searches with drawn counts: {drawn:.3f}"
    return Row(
        "discovery", f"F1 of the {TOP} most frequent, {search}", found, "F1", against, found / drawn if drawn else None
    )


def _grown(domain: Bits | Strings, users: list[int]) -> Row:
    searches = [Search(domain, count) for count in users]
    timings = race(*(search.decode for search in searches), repeats=2)
    slope = exponent(users, [max(timing.cpu, 1e-9) for timing in timings])
    name = f"decode values of {domain.bits} bits, in users"
    return Row("discovery", name, slope, "exponent", f"{min(users):,} to {max(users):,}", goal=LINEAR)
