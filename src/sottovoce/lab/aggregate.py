"""Many collections fast: support counts drawn from their law instead of user by user.

Only for experiments; the clients' own code is exercised by ``simulate``.  ``collections`` draws the
joint law of GRR and of unary encoding at once and runs every other mechanism report by report.
``draw_answer`` runs a search for long values without any report, each candidate by the exact law of
its own count.

Source: Wang 2021, sections 3.2 and 4.2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Ints, Values
from sottovoce.core.estimate import Estimate
from sottovoce.encodings.segment import Segment
from sottovoce.engine.base import estimate_people, finished
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.unary import Unary
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

REPORTS_AT_ONCE = 1 << 21
_FEW_CELLS = 1 << 12  # so few counts are drawn one by one


def collections(
    mechanism: PureMechanism, truth: Ints, runs: int, seed: int, fakes: int = 0
) -> Iterator[Ints]:
    """Yield the support counts of one collection after another.

    ``truth`` counts the holders of each value.  Shufflers add ``fakes`` to every collection.
    """
    rng = SeededRng(seed)
    if isinstance(mechanism, GRR):
        yield from _draw_grr(mechanism, truth, runs, fakes, rng.generator)
    elif isinstance(mechanism, Unary):
        yield from _draw_unary(mechanism, truth, runs, fakes, rng.generator)
    else:
        yield from _run_reports(mechanism, truth, runs, fakes, rng)


def _draw_grr(
    mechanism: GRR, truth: Ints, runs: int, fakes: int, generator: np.random.Generator
) -> Iterator[Ints]:
    supports = generator.binomial(truth, mechanism.p, (runs, len(truth)))
    others = np.full(mechanism.size - 1, 1 / (mechanism.size - 1))
    for value, liars in enumerate((truth - supports).T.copy()):
        supports[:, np.arange(mechanism.size) != value] += generator.multinomial(liars, others)
    if fakes:
        even = np.full(mechanism.size, 1 / mechanism.size)
        supports += generator.multinomial(fakes, even, runs)
    yield from supports


def _draw_unary(
    mechanism: Unary, truth: Ints, runs: int, fakes: int, generator: np.random.Generator
) -> Iterator[Ints]:
    shape = (runs, len(truth))
    users = int(truth.sum())
    honest = generator.binomial(truth, mechanism.p, shape)
    # A bit of a fake is set as often as that of a value that its user does not hold.
    yield from honest + generator.binomial(users - truth + fakes, mechanism.q, shape)


def _run_reports(
    mechanism: PureMechanism, truth: Ints, runs: int, fakes: int, rng: SeededRng
) -> Iterator[Ints]:
    people = np.repeat(np.arange(len(truth)), truth)
    runs_at_once = max(1, REPORTS_AT_ONCE // (len(people) + fakes))
    for start in range(0, runs, runs_at_once):
        batch = min(runs_at_once, runs - start)
        reports = np.split(mechanism.privatize(np.tile(people, batch), rng), batch)
        if fakes:
            added = np.split(mechanism.draw_blanket(batch * fakes, rng), batch)
            reports = [np.concatenate(parts) for parts in zip(reports, added, strict=True)]
        for run_reports in reports:
            yield mechanism.supports(mechanism.tally(run_reports))


@dataclass(frozen=True, eq=False)
class DrawnCollected:
    """What a search for long values would have collected, drawn when the plan looks at it.

    A plan may ask a group for the extensions of prefixes once, and once for listed candidates that
    are not among them: asked again, the same candidate would be drawn again.

    Exact are who belongs to which group, and the law of every single candidate's supports:
    Binomial(holders, p) + Binomial(others, q).  Not exact is that candidates err independently
    here, while genuine reports of affine response each support the same number of cells.  Two
    candidates are uncorrelated there as well, up to one part in the domain; the errors of four
    candidates whose exclusive or is zero depend on each other.
    """

    task: Task
    numbers: tuple[int, ...]  # the values that somebody holds
    counts: Ints  # how many people hold each
    start: int  # the seed of all draws

    @property
    def rounds(self) -> tuple[Round, ...]:
        return (self.task.opening,)

    @property
    def epsilon(self) -> float:
        return self.task.response_epsilon

    @property
    def seed(self) -> bytes:
        return codec.seed(self.task)

    @property
    def coins_checked(self) -> bool:
        return self.task.coins_checked

    def users(self, round_number: int) -> int:
        return int(self.counts.sum())

    def fakes(self, round_number: int) -> int:
        return self.task.fakes

    @cached_property
    def groups(self) -> Ints:
        """Return (members, values): how many holders of each value the coin put into each group."""
        ask = self.task.opening.ask
        shares = [ask.coin_share(member) for member in range(ask.member_count)]
        drawn = SeededRng(self.start).generator.multinomial(self.counts, shares)
        return np.ascontiguousarray(drawn.T)

    @cached_property
    def fakes_of_groups(self) -> Ints:
        """Return how many fakes were dealt to each group."""
        ask = self.task.opening.ask
        shares = [ask.fake_share(member) for member in range(ask.member_count)]
        # Without the last number this would be the stream that deals the people.
        seed = np.random.SeedSequence([self.start, 0, 1])
        return SeededRng(seed).generator.multinomial(self.task.fakes, shares)

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        question = self.task.opening.question(address)
        mechanism = question.mechanism
        prefix = question.encoding
        if not isinstance(mechanism, AffinePrefix) or not isinstance(prefix, Segment):
            raise ParameterError("only counts of prefixes are drawn")
        if among is None:
            raise ParameterError("only counts of candidates are drawn")
        group = self.groups[address.member]
        users = int(group.sum())
        if isinstance(among, Blocks):
            holders = self._holders(group, prefix, among)
            seed = np.random.SeedSequence([self.start, address.member + 1])
        else:
            holders = self._listed_holders(group, prefix, among)
            seed = np.random.SeedSequence([self.start, address.member + 1, 1])
        generator = SeededRng(seed).generator
        supports = self.supports(mechanism, holders, users, generator)
        fakes = int(self.fakes_of_groups[address.member])
        if fakes:
            supports += generator.binomial(fakes, mechanism.share, len(supports))
        estimate = mechanism.estimate_counts(supports, users + fakes)
        estimate = replace(estimate, noise=mechanism.noise.among())
        return estimate_people(self, address, estimate)

    def supports(
        self, mechanism: PureMechanism, holders: Ints, users: int, generator: np.random.Generator
    ) -> Ints:
        """Return how many reports of so many users support each candidate, each by its own law."""
        supports = _same_law(users, mechanism.q, len(holders), generator)
        held = np.flatnonzero(holders)
        honest = generator.binomial(holders[held], mechanism.p)
        supports[held] = honest + generator.binomial(users - holders[held], mechanism.q)
        return supports

    def _refuse(self, *_: Any) -> Any:
        raise NoDataError("counts are drawn: there are no reports")

    tally = tallies = report_counts = scores = reports = relations = _refuse

    def _holders(self, group: Ints, prefix: Segment, among: Blocks) -> Ints:
        """Return how many people of a group hold a value with each candidate's bits."""
        starts = {first: rank << among.extension for rank, first in enumerate(among.prefixes)}
        holders = np.zeros(len(among), np.int64)
        low_bits = (1 << among.extension) - 1
        for number, count in zip(self.numbers, group.tolist(), strict=True):
            piece = number >> (prefix.bits - prefix.end) & ((1 << prefix.length) - 1)
            start = starts.get(piece >> among.extension)
            if start is not None:
                holders[start | piece & low_bits] += count
        return holders

    def _listed_holders(self, group: Ints, prefix: Segment, among: Values) -> Ints:
        """Return how many people of a group hold a value with the bits of each listed candidate."""
        counts: dict[int, int] = {}
        for number, count in zip(self.numbers, group.tolist(), strict=True):
            piece = number >> (prefix.bits - prefix.end) & ((1 << prefix.length) - 1)
            counts[piece] = counts.get(piece, 0) + count
        return np.array([counts.get(number, 0) for number in numbers_of(among)], np.int64)


def _same_law(users: int, chance: float, cells: int, generator: np.random.Generator) -> Ints:
    """Return independent draws from one binomial law, many of them fast.

    How many cells get each count is drawn at once, and the counts are dealt to the cells.  Counts
    beyond 12 standard deviations, which have a probability below 1e-30, are left out.
    """
    if cells < _FEW_CELLS:
        return generator.binomial(users, chance, cells)
    from scipy.stats import binom

    reach = int(12 * sqrt(users * chance * (1 - chance))) + 40
    middle = int(users * chance)
    counts = np.arange(max(0, middle - reach), min(users, middle + reach) + 1)
    chances = binom.pmf(counts, users, chance)
    drawn = np.repeat(counts, generator.multinomial(cells, chances / chances.sum()))
    generator.shuffle(drawn)
    return drawn


def draw_answer(task: Task, holders: Mapping[Any, int], seed: int) -> Outcome:
    """Return the answer of the task's own plan if so many people hold each value.

    No reports are made: sums are drawn from their exact law.
    """
    indices = task.plan.domain.indices(list(holders))
    counts = np.array(list(holders.values()), np.int64)
    if not counts.sum():
        raise NoDataError("there is nobody to ask")
    collected = DrawnCollected(task, numbers_of(indices), counts, seed)
    stepped = task.plan.step(collected)
    asks_everybody = (task.opening.low, task.opening.high) == (0, exact.UNIT)
    if isinstance(stepped, Round) or not asks_everybody:
        raise ParameterError("only a search that asks everybody in one round is drawn")
    return finished(task, collected, stepped)


def numbers_of(indices: Values) -> tuple[int, ...]:
    """Return indices as whole numbers, also those that are rows of 32-bit words.

    >>> numbers_of(np.array([[0, 0, 1]], np.uint32)) == (1 << 64,)
    True
    """
    if indices.ndim == 1:
        return tuple(indices.tolist())
    return tuple(int.from_bytes(row.astype("<u4").tobytes(), "little") for row in indices)
