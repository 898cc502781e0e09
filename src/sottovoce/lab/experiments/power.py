"""Collections of tables drawn from their law, to see how a test of independence behaves over thousands of them.

People are drawn from a population, so everybody's report is independent of all others': how many are asked about what,
and how many of them report what, are multinomial.  Exact for Hadamard coefficients and for views of GRR.

Source: Cormode 2018, section 6.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.calm import Calm
from sottovoce.plans.marginals.consistency import projected
from sottovoce.plans.marginals.hadamard import Spectrum
from sottovoce.plans.marginals.independence import dependence
from sottovoce.plans.marginals.tables import Model, Table, View, of_estimate
from sottovoce.plans.marginals.views import Reported
from sottovoce.tasks.families.parities import Parities

LEVEL = 0.05


@dataclass(frozen=True)
class Rejected:
    """How often independence was rejected, by the test that knows the noise and by Pearson's."""

    aware: float
    naive: float


@dataclass(frozen=True)
class Asked:
    """How the attributes of a population are asked about: the method, how many people, and how privately.

    Everybody is asked about one of the views; all pairs if none are named.
    """

    method: str
    users: int
    epsilon: float
    views: tuple[View, ...] = ()


def rejections(asked: Asked, joint: Floats, pairs: Sequence[View], runs: int, seed: int = 0) -> dict[View, Rejected]:
    """Return for pairs of attributes of a population how often each was said to be dependent at 5 %."""
    dice, users, critical = np.random.default_rng(seed), asked.users, optional("scipy.special", "server").chdtri
    counts = np.zeros((len(pairs), 2))
    for _ in range(runs):
        model = drawn(asked, joint, dice)
        tests = [dependence(model.table(pair), users) for pair in pairs]
        counts += [(test.rejects(LEVEL), test.naive > critical(test.degrees, LEVEL)) for test in tests]
    return {pair: Rejected(*row) for pair, row in zip(pairs, (counts / runs).tolist(), strict=True)}


def power(asked: Asked, strengths: Sequence[float], runs: int, seed: int = 0) -> Floats:
    """Return how often two fair bits among four are said to be dependent, if one copies the other so often."""
    rates = [rejections(asked, copied(strength), [(0, 1)], runs, seed)[0, 1].aware for strength in strengths]
    return np.array(rates)


def copied(strength: float, attributes: int = 4) -> Floats:
    """Return the population of fair bits of which the second copies the first with some probability."""
    pair = (1 - strength) / 4 + np.eye(2) * strength / 2
    others = np.full((2,) * (attributes - 2), 0.5 ** (attributes - 2))
    return np.asarray(np.multiply.outer(pair, others))


def drawn(asked: Asked, joint: Floats, dice: np.random.Generator) -> Model:
    """Return what a collection says about people drawn from a population."""
    if asked.method == "inp_ht":
        return _spectrum(asked, joint, dice)
    if asked.method not in ("marg_ps", "calm"):
        raise ParameterError("only inp_ht, marg_ps and calm are drawn from their law")
    reported = _reported(asked, joint, dice)
    return reported if asked.method == "marg_ps" else Calm(reported, joint.shape)


def _spectrum(asked: Asked, joint: Floats, dice: np.random.Generator) -> Spectrum:
    mechanism = GRR(asked.epsilon, 2)
    family = Parities(mechanism, joint.shape, 2)
    grid = np.indices(joint.shape).reshape(joint.ndim, -1)
    bits = sum(np.bitwise_count(family.masks[:, [one]] & grid[one]) for one in range(joint.ndim))
    odd = (bits % 2) @ joint.ravel()
    times = dice.multinomial(asked.users, np.full(len(family), 1 / len(family)))
    return Spectrum(family, times, dice.binomial(times, mechanism.q + (mechanism.p - mechanism.q) * odd))


def _reported(asked: Asked, joint: Floats, dice: np.random.Generator) -> Reported:
    views = asked.views or tuple(combinations(range(joint.ndim), 2))
    groups = dice.multinomial(asked.users, np.full(len(views), 1 / len(views))).tolist()
    tables: dict[View, Table] = {}
    for view, group in zip(views, groups, strict=True):
        mechanism = GRR(asked.epsilon, prod(joint.shape[one] for one in view))
        shares = projected(joint, tuple(range(joint.ndim)), view).ravel()
        counts = dice.multinomial(group, mechanism.q + (mechanism.p - mechanism.q) * shares)
        tables[view] = of_estimate(view, joint.shape, mechanism.estimate_counts(counts, group).of(asked.users))
    return Reported(tables, asked.users)
