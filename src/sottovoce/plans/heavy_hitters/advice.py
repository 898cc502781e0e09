"""Advice before a search for long values: the share that must hold a value for it to be found.

A value is followed for certain if its votes exceed, in every group up to the one that knows it
whole, what one candidate that nobody holds is expected to reach; the promise asks for that in all
groups together 19 times in 20.  No more than ``MAX_PREFIXES`` prefixes are followed, and as many
might be more frequent than a value of share 1 / ``MAX_PREFIXES``: nothing rarer is promised.

Source: Wang 2021, section 4.3.
"""

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.core.settings import epsilon as check_epsilon
from sottovoce.domains.bits import Bits
from sottovoce.maths.bisection import bisect
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.plans.search_advice import FOUND, SearchAdvice, check_search, users_for_share


def advise_values(
    users: int, bits: int, epsilon: float, *, top: int = 16, share: float | None = None
) -> SearchAdvice:
    """Return the expected result of a search for values of ``bits`` bits.

    With a wished ``share`` the advice says how many users are needed to find a value that so many
    hold.

    >>> round(advise_values(1_000_000, 160, 2.0).findable, 4)
    0.0213
    """
    return advise_search(HeavyHitters(Bits(bits), top), users, epsilon, share=share)


def advise_search(
    plan: HeavyHitters, users: int, epsilon: float, *, share: float | None = None
) -> SearchAdvice:
    """Return the expected result of a search, for values of the largest length.

    Shorter texts are known after fewer groups, so that rarer ones are found.
    """
    check_search(users, share)
    mechanism = AffinePrefix(check_epsilon("epsilon", epsilon), plan.domain.size)

    def findable(people: int) -> float | None:
        return _findable_share(mechanism, plan, people)

    lengths = ", ".join(map(str, plan.lengths))
    return SearchAdvice(
        plan="HeavyHitters",
        users=users,
        epsilon=epsilon,
        top=plan.top,
        findable=findable(users),
        error=_error(mechanism, group_sizes(plan, users)[-1], users, 0.0),
        rounds=1,
        reason=f"prefixes of {lengths} bits from {plan.groups} groups of users",
        users_needed=users_for_share(findable, share),
    )


def group_sizes(plan: HeavyHitters, users: int) -> list[int]:
    """Return how many of the users every group is expected to have."""
    weights = plan.layout.weights or (1,) * plan.groups
    return [users * weight // sum(weights) for weight in weights]


def _findable_share(mechanism: PureMechanism, plan: HeavyHitters, users: int) -> float | None:
    """Return the smallest share that passes all groups, each with the same probability.

    In a group it is the share f with f - z sd(f) = Psi.  Psi is the share that about one candidate
    without holders is expected to exceed.
    """
    passing = upper_quantile(1 - FOUND ** (1 / plan.groups))
    followed = plan.limits.max_prefixes
    smallest_share = 0.0
    shorter = 0
    for length, group in zip(plan.lengths, group_sizes(plan, users), strict=True):
        candidates = max(2, min(plan.limits.kept or followed, 1 << shorter) << (length - shorter))
        shorter = length
        if group < 2:
            return None
        noise_level = upper_quantile(1 / candidates) * _error(mechanism, group, group, 0.0)

        def too_rare(share: float, group: int = group, level: float = noise_level) -> bool:
            return share - passing * _error(mechanism, group, group, share) < level

        if too_rare(1.0):
            return None
        smallest_share = max(smallest_share, bisect(too_rare, 0.0, 1.0).high)
    return max(smallest_share, 1 / followed) if plan.groups > 1 else smallest_share


def _error(mechanism: PureMechanism, group: int, users: int, share: float) -> float:
    """Return the standard error of a share, with the drawing of the group from all users."""
    noise = mechanism.noise.among()
    estimate = Estimate(np.array([share * group]), noise, group, mechanism.epsilon, users)
    return float(estimate.errors[0]) / users
