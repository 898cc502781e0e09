"""Many collections fast: support counts drawn from their exact joint law instead of user by user.

Only for experiments; the clients' own code is exercised by ``simulate``.  GRR and unary encoding have
joint laws that can be drawn at once; every other mechanism is run report by report.

Source: Wang 2021, section 3.2.
"""

from collections.abc import Iterator

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanism import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.unary import Unary

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
