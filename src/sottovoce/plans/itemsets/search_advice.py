"""Advice before a search: what share of people must hold a value, or have an item, for it to be found.

Every number is a formula of the plan that would be run; nothing is simulated.  A value counts as findable if it passes
every step of the search 19 times in 20 while one candidate that nobody holds is expected to pass as well.

Source: Wang 2021, sections 4.3 and 5.2; Du 2025, section 5.2.5.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import ceil, sqrt, tanh
from typing import Any

import numpy as np

from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.domains.bits import Bits
from sottovoce.errors import ParameterError
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.padding import SHARE
from sottovoce.tasks.advice import Advice

FOUND = 0.95  # of the searches that a findable value is found by


@dataclass(frozen=True)
class SearchAdvice(Advice):
    """What a search would see; ``findable`` is a share of all users, None where not even everybody would do."""

    plan: str
    users: int
    epsilon: float
    top: int
    findable: float | None
    error: float
    rounds: int
    reason: str
    users_needed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        found = "nothing" if self.findable is None else f"what at least {100 * self.findable:.3g} % of people hold"
        lines = [
            f"Advice for {self.users:,} users, the top {self.top}, epsilon {self.epsilon:g}",
            "",
            f"  plan      {self.plan}: {self.reason}",
            f"  finds     {found}, 19 times in 20",
            f"  error     {100 * self.error:.3g} % (standard error of the share of a rare one that is found)",
            f"  rounds    {self.rounds}; everybody answers in one of them, with the whole epsilon",
        ]
        if self.users_needed is not None:
            lines.append(f"  users     {self.users_needed:,} would be needed for the wished share")
        return "\n".join(lines)


def advise_values(users: int, bits: int, epsilon: float, *, top: int = 16, share: float | None = None) -> SearchAdvice:
    """Return what a search for long values would find; with a wished ``share``, how many users that takes.

    >>> round(advise_values(1_000_000, 160, 2.0).findable, 4)
    0.0211
    """
    _check(users, share)
    plan = HeavyHitters(Bits(bits), top)
    mechanism = AffinePrefix(settings.epsilon("epsilon", epsilon), 1 << bits)

    def findable(people: int) -> float | None:
        return _longest(mechanism, plan, people)

    return SearchAdvice(
        plan="HeavyHitters",
        users=users,
        epsilon=epsilon,
        top=top,
        findable=findable(users),
        error=_error(mechanism, users // plan.groups, users, 0.0),
        rounds=1,
        reason=f"prefixes of {', '.join(map(str, plan.lengths[1:]))} bits from {plan.groups} groups of users",
        users_needed=None if share is None else _needed(findable, share),
    )


def advise_items(
    users: int, items: int, epsilon: float, *, top: int = 16, basket: float = 5.0, share: float | None = None
) -> SearchAdvice:
    """Return how to search for frequent items in sets of ``basket`` items on average, and what would be found.

    One random item of a large set says little about any other: then asking everybody about one item, more often about
    those in doubt, sees more.
    """
    _check(users, share)
    if not basket > 0:
        raise ParameterError("people have more than no items on average")
    mined, adaptive = (_Items(items, settings.epsilon("epsilon", epsilon), top, basket, how) for how in ("svim", "dbs"))
    shares = [one.findable(users) for one in (mined, adaptive)]
    better = adaptive if (shares[1] or 2.0) < (shares[0] or 2.0) else mined
    other = {id(mined): shares[1], id(adaptive): shares[0]}[id(better)]
    against = "nothing" if other is None else f"{100 * other:.3g} %"
    return SearchAdvice(
        plan="AdaptiveTopItems" if better is adaptive else "TopItems",
        users=users,
        epsilon=epsilon,
        top=top,
        findable=better.findable(users),
        error=better.error(users),
        rounds=better.rounds,
        reason=f"the other way of searching would find {against}",
        users_needed=None if share is None else _needed(better.findable, share),
    )


@dataclass(frozen=True)
class _Items:
    """A search for items: by reporting one of them (svim), or by asking about one of them (dbs)."""

    items: int
    epsilon: float
    top: int
    basket: float
    how: str

    @property
    def kept(self) -> int:
        """Return how many items are left after narrowing down; as many as there are if there is no need to."""
        return min(self.items, (2 if self.how == "svim" else 10) * self.top)

    @property
    def rounds(self) -> int:
        return (3 if self.how == "svim" else 11) - (self.kept == self.items) + (self.how == "dbs")

    def findable(self, users: int) -> float | None:
        """Return the share that passes the narrowing down and stands two margins above the rest after it."""
        later = 2 * upper_quantile(1 - FOUND) * self.error(users)
        found = max(later, self._passing(users // 2) if self.kept < self.items else 0.0)
        return found if found <= 1 else None

    def error(self, users: int) -> float:
        """Return the standard error of the share of a rare item in the end."""
        if self.how == "dbs":
            left = users / (2 if self.kept < self.items else 1)
            return sqrt(self.kept / left) / (2 * tanh(self.epsilon / 2))
        length = max(1, ceil(_tail(self.basket)))
        mechanism = set_questions.which(self.epsilon, self.items, length, _first(self.kept)).mechanism
        assert isinstance(mechanism, PureMechanism)
        share = 0.4 if self.kept < self.items else 0.9
        return length * sqrt(float(mechanism.noise.variances(np.zeros(1), 1)[0]) / (share * users))

    def _passing(self, users: int) -> float:
        """Return the share of an item that is among the ones kept: it is sampled from a set once in ``basket``."""
        mechanism = choose(self.items + 1, self.epsilon).mechanism
        noise = sqrt(float(mechanism.noise.variances(np.zeros(1), 1)[0]) / users)
        return self.basket * noise * (upper_quantile(self.kept / self.items) + upper_quantile(1 - FOUND))


def _longest(mechanism: PureMechanism, plan: HeavyHitters, users: int) -> float | None:
    """Return the share f with f - z sd(f) = Psi, z so that all groups together let it pass; by bisection."""
    group, lengths = users // plan.groups, plan.lengths
    candidates = plan.kept << (lengths[-1] - lengths[-2])
    psi = upper_quantile(1 / candidates) * _error(mechanism, group, group, 0.0)
    reach = upper_quantile(1 - FOUND ** (1 / plan.groups))
    low, high = 0.0, 1.0
    if high - reach * _error(mechanism, group, group, high) < psi:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        passes = middle - reach * _error(mechanism, group, group, middle) >= psi
        low, high = (low, middle) if passes else (middle, high)
    return high


def _error(mechanism: PureMechanism, group: int, users: int, share: float) -> float:
    """Return the standard error of a share, the drawing of the group included."""
    estimate = Estimate(np.array([share * group]), mechanism.noise.among(), group, mechanism.epsilon, users)
    return float(estimate.errors[0]) / users


def _needed(findable: Callable[[int], float | None], share: float) -> int:
    """Return the fewest users for whom the share is findable, to one in a hundred."""
    users = 1024
    while (findable(users) or 2.0) > share:
        users *= 2
        if users > 1 << 50:
            raise ParameterError("no number of people would be enough for this share")
    low, high = users // 2, users
    while high - low > high // 100:
        middle = (low + high) // 2
        low, high = (low, middle) if (findable(middle) or 2.0) <= share else (middle, high)
    return high


def _tail(basket: float) -> float:
    """Return the size that nine sets of ten do not exceed, if sizes fall geometrically."""
    return float(np.log(1 - SHARE) / np.log(basket / (basket + 1)))


def _first(kept: int) -> set_questions.Candidates:
    return tuple((item,) for item in range(kept))


def _check(users: int, share: float | None) -> None:
    if type(users) is not int or users < 100:
        raise ParameterError("a search needs at least a hundred users")
    if share is not None and not 0 < share < 1:
        raise ParameterError("a wished share lies between 0 and 1")
