"""Advice before a search for long values: the share that must hold a value for PEM to find it.

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
    """Return what a search for values of ``bits`` bits would find.

    With a wished ``share`` the advice says how many users are needed to find a value that so many
    hold.

    >>> round(advise_values(1_000_000, 160, 2.0).findable, 4)
    0.0211
    """
    check_search(users, share)
    plan = HeavyHitters(Bits(bits), top)
    mechanism = AffinePrefix(check_epsilon("epsilon", epsilon), 1 << bits)

    def findable(people: int) -> float | None:
        return _findable_share(mechanism, plan, people)

    lengths = ", ".join(map(str, plan.lengths[1:]))
    return SearchAdvice(
        plan="HeavyHitters",
        users=users,
        epsilon=epsilon,
        top=top,
        findable=findable(users),
        error=_error(mechanism, users // plan.groups, users, 0.0),
        rounds=1,
        reason=f"prefixes of {lengths} bits from {plan.groups} groups of users",
        users_needed=users_for_share(findable, share),
    )


def _findable_share(mechanism: PureMechanism, plan: HeavyHitters, users: int) -> float | None:
    """Return the share f with f - z sd(f) = Psi, where z lets it pass all groups 19 times in 20.

    Psi is the share that one candidate which nobody holds is expected to reach.
    """
    group = users // plan.groups
    candidates = plan.kept << (plan.lengths[-1] - plan.lengths[-2])
    noise_level = upper_quantile(1 / candidates) * _error(mechanism, group, group, 0.0)
    reach = upper_quantile(1 - FOUND ** (1 / plan.groups))

    def too_rare(share: float) -> bool:
        return share - reach * _error(mechanism, group, group, share) < noise_level

    return None if too_rare(1.0) else bisect(too_rare, 0.0, 1.0).high


def _error(mechanism: PureMechanism, group: int, users: int, share: float) -> float:
    """Return the standard error of a share, with the drawing of the group from all users."""
    noise = mechanism.noise.among()
    estimate = Estimate(np.array([share * group]), noise, group, mechanism.epsilon, users)
    return float(estimate.errors[0]) / users
