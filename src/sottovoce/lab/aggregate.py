"""Many collections fast: support counts drawn from their law instead of user by user.

Only for experiments; the clients' own code is exercised by ``simulate``.  GRR and unary encoding have
joint laws that ``collections`` draws at once; every other mechanism it runs report by report.  ``drawn`` drives
a search for long values without any report, each candidate by the exact law of its own count.

Source: Wang 2021, sections 3.2 and 4.2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Ints, Values
from sottovoce.core.estimate import Estimate
from sottovoce.encodings.segment import Segment
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.unary import Unary
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

REPORTS_AT_ONCE = 1 << 21


def collections(mechanism: PureMechanism, truth: Ints, runs: int, seed: int) -> Iterator[Ints]:
    """Yield the support counts of one whole collection after another; ``truth`` counts the holders of each value."""
    rng = SeededRng(seed)
    if isinstance(mechanism, GRR):
        yield from _direct(mechanism, truth, runs, rng.generator)
    elif isinstance(mechanism, Unary):
        yield from _unary(mechanism, truth, runs, rng.generator)
    else:
        yield from _genuine(mechanism, truth, runs, rng)


def _direct(mechanism: GRR, truth: Ints, runs: int, generator: np.random.Generator) -> Iterator[Ints]:
    kept = generator.binomial(truth, mechanism.p, (runs, len(truth)))
    others = np.full(mechanism.size - 1, 1 / (mechanism.size - 1))
    for value, liars in enumerate((truth - kept).T.copy()):
        kept[:, np.arange(mechanism.size) != value] += generator.multinomial(liars, others)
    yield from kept


def _unary(mechanism: Unary, truth: Ints, runs: int, generator: np.random.Generator) -> Iterator[Ints]:
    shape, users = (runs, len(truth)), int(truth.sum())
    held = generator.binomial(truth, mechanism.p, shape)
    yield from held + generator.binomial(users - truth, mechanism.q, shape)


def _genuine(mechanism: PureMechanism, truth: Ints, runs: int, rng: SeededRng) -> Iterator[Ints]:
    people = np.repeat(np.arange(len(truth)), truth)
    together = max(1, REPORTS_AT_ONCE // len(people))
    for start in range(0, runs, together):
        batch = min(together, runs - start)
        reports = mechanism.privatize(np.tile(people, batch), rng)
        for one in np.split(reports, batch):
            yield mechanism.supports(mechanism.tally(one))


@dataclass(frozen=True, eq=False)
class DrawnCollected:
    """What a search for long values would have collected, drawn when the plan looks at it.

    Exact: who belongs to which group, and for every single candidate the law of the reports that support it,
    Binomial(holders, p) + Binomial(others, q).  Not exact: here candidates err independently, while genuine reports
    of affine response each support the same number of cells.  Two candidates are uncorrelated there as well, up to one
    part in the domain; from four candidates on whose exclusive or is zero, their errors hang together.
    """

    task: Task
    numbers: tuple[int, ...]  # the values that somebody holds
    counts: Ints  # how many hold each
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

    def users(self, round_number: int) -> int:
        return int(self.counts.sum())

    @cached_property
    def groups(self) -> Ints:
        """Return (members, values): how many of the holders of each value the coin put into each group."""
        ask = self.task.opening.ask
        weights = ask.weights or (1,) * len(ask.members) if isinstance(ask, Choice) else (1,)
        shares = np.array(weights) / sum(weights)
        return np.ascontiguousarray(SeededRng(self.start).generator.multinomial(self.counts, shares).T)

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        question = self.task.opening.question(address)
        mechanism, prefix = question.mechanism, question.encoding
        if not isinstance(among, Blocks) or not isinstance(mechanism, AffinePrefix) or not isinstance(prefix, Segment):
            raise ParameterError("only counts of prefixes and all their extensions are drawn")
        group = self.groups[address.member]
        held, users = self._holders(group, prefix, among), int(group.sum())
        rng = SeededRng(np.random.SeedSequence([self.start, address.member + 1])).generator
        supports = self.supports(mechanism, held, users, rng)
        estimate = replace(mechanism.estimate_counts(supports, users), noise=mechanism.noise.among())
        return estimate.of(self.users(address.round))

    def supports(self, mechanism: PureMechanism, held: Ints, users: int, rng: np.random.Generator) -> Ints:
        """Return how many reports of so many users support each candidate, by each one's own law."""
        return rng.binomial(held, mechanism.p) + rng.binomial(users - held, mechanism.q)

    def _refuse(self, *_: Any) -> Any:
        raise NoDataError("counts are drawn: there are no reports")

    tally = tallies = report_counts = scores = reports = relations = _refuse

    def _holders(self, group: Ints, prefix: Segment, among: Blocks) -> Ints:
        """Return how many of a group hold a value with each candidate's bits."""
        places = {first: rank << among.extension for rank, first in enumerate(among.prefixes)}
        held, low = np.zeros(len(among), np.int64), (1 << among.extension) - 1
        for number, count in zip(self.numbers, group.tolist(), strict=True):
            piece = number >> (prefix.bits - prefix.end) & ((1 << prefix.length) - 1)
            first = places.get(piece >> among.extension)
            if first is not None:
                held[first | piece & low] += count
        return held


def drawn(task: Task, held: Mapping[Any, int], seed: int) -> Outcome:
    """Return an answer as the task's own plan gives it, where so many people hold each value; no report is made."""
    indices = task.plan.domain.indices(list(held))
    counts = np.array(list(held.values()), np.int64)
    if not counts.sum():
        raise NoDataError("there is nobody to ask")
    stepped = task.plan.step(DrawnCollected(task, numbers_of(indices), counts, seed))
    if isinstance(stepped, Round) or (task.opening.low, task.opening.high) != (0, exact.UNIT):
        raise ParameterError("only a search that asks everybody in one round is drawn")
    return stepped.named(task.name)


def numbers_of(indices: Values) -> tuple[int, ...]:
    """Return indices as whole numbers, also those that are rows of 32-bit words.

    >>> numbers_of(np.array([[0, 0, 1]], np.uint32)) == (1 << 64,)
    True
    """
    if indices.ndim == 1:
        return tuple(indices.tolist())
    return tuple(int.from_bytes(row.astype("<u4").tobytes(), "little") for row in indices)
