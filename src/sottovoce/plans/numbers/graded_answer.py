"""The answer of graded groups: an estimate with its errors, what was removed, and the raw mean.

The linear mean reads every group's reports without EM.  The influence of a false report on it is
known, so it has bounds that allow for false reports.  With n people of r reports each in a group,
W the variance of a report given the value and B that of values, the mean of the group has the
variance (W / r + B) / n; groups are averaged by its inverse.

The bootstrap assumes that the filter removes all false reports.  Remaining false reports shift the
means of the groups apart.  If an attack was detected, or if the groups disagree more than chance
explains, the spread of their means beyond their own errors (group_spread.py) is added to the error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate, Total
from sottovoce.core.influence import Exposure, Influence
from sottovoce.core.noise import SampledNoise
from sottovoce.core.tally import Tally
from sottovoce.errors import NoDataError
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.graded_estimate import GradedEstimate, Group, graded_estimate
from sottovoce.plans.numbers.graded_groups import group_tallies
from sottovoce.plans.numbers.group_spread import GroupSpread, group_spread
from sottovoce.plans.numbers.poison_evidence import output_counts
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address

NO_ATTACK = "No attack was seen: honest people alone may have sent these reports."
ATTACK = "An attack was seen: about {percent:.1f} % of the reports look false and were removed."


@dataclass(frozen=True, eq=False)
class GradedAnswer:
    """The estimate of a collection in graded groups.

    ``estimate.raw`` is the undefended estimate.  ``read_out`` is the mean without EM, and without
    the false reports, on the scale of [-1, 1] from the first value to the last.  ``linear_mean`` is
    that of all reports; None for a single report.
    """

    estimate: Estimate
    details: dict[str, Any]
    read_out: Total | None
    linear_mean: Total | None


@dataclass(frozen=True, eq=False)
class _GroupTally:
    """The reports of one group: its mechanism, its people and the tally of all their reports."""

    mechanism: SquareWave
    users: int
    tally: Tally

    @property
    def reports(self) -> int:
        """Return how many reports each person made."""
        return self.tally.users // self.users


def graded_answer(collected: Collected) -> GradedAnswer:
    """Return the answer from the reports of the opening round."""
    groups = _group_tallies(collected)
    graded = graded_estimate([_group(each) for each in groups])
    users = sum(each.users for each in groups)
    mechanism = groups[0].mechanism
    linear = None
    if all(each.tally.users > 1 for each in groups):
        points = mechanism.points(np.arange(mechanism.size))
        spread = _variance(graded.fit.undefended[0], points)
        linear = _linear_mean(groups, spread, coins_checked=collected.coins_checked)
        linear = linear.times(1 / mechanism.end)
    estimate = _estimate(graded, users, collected.epsilon)
    between_groups = _spread(graded)
    scale = 2 / (mechanism.size - 1)
    read_out = _read_out(graded, scale) if graded.attack_seen else linear
    if read_out is not None and (graded.attack_seen or between_groups.significant):
        variance = read_out.variance + scale**2 * between_groups.variance
        read_out = replace(read_out, variance=variance)
    details = _details(graded, groups) | {"groups_disagree": between_groups.significant}
    return GradedAnswer(estimate, details, read_out, linear)


def widened(mean: Total, read_out: Total | None) -> Total:
    """Return a mean by EM with an error that includes the bias of its smoothing.

    Let d be its distance from an unbiased mean without EM, and v the variance of that mean.  An
    error of sqrt(d^2 + v) gives the stated coverage for any bias.  The error of the bootstrap is
    kept if it is larger.
    """
    if read_out is None:
        return mean
    distance = mean.total - read_out.total
    return replace(mean, variance=max(mean.variance, distance**2 + read_out.variance))


def _spread(graded: GradedEstimate) -> GroupSpread:
    """Return the spread of the groups' mean indices without EM beyond their bootstrap errors."""
    distances = graded.replicates.read_outs - _centre(graded)
    return group_spread(graded.fit.read_outs[0], (distances**2).mean(axis=0))


def _read_out(graded: GradedEstimate, scale: float) -> Total:
    """Return the mean by positions on the scale of [-1, 1], with its bootstrap error."""
    variance = float(((graded.replicates.read_out - _centre(graded)) ** 2).mean())
    return Total(scale * float(graded.fit.read_out[0]) - 1, scale**2 * variance)


def _centre(graded: GradedEstimate) -> float:
    """Return the mean index that the replicates were drawn from."""
    distribution = graded.fit.distribution[0]
    return float(distribution @ np.arange(len(distribution)))


def groups_of(collected: Collected) -> list[Group]:
    """Return the counts of every non-empty group, the probe last."""
    return [_group(each) for each in _group_tallies(collected)]


def _group_tallies(collected: Collected) -> list[_GroupTally]:
    """Return the non-empty groups, the probe last."""
    asked = collected.rounds[0]
    groups = []
    for member, (users, tally) in group_tallies(collected).items():
        mechanism = asked.question(Address(member=member)).mechanism
        assert isinstance(mechanism, SquareWave)
        groups.append(_GroupTally(mechanism, users, tally))
    if not groups:
        raise NoDataError("a distribution needs at least one report")
    return groups


def _group(each: _GroupTally) -> Group:
    return Group(each.users, each.reports, output_counts(each.mechanism, each.tally))


def _estimate(graded: GradedEstimate, users: int, epsilon: float) -> Estimate:
    undefended = _from_replicates(
        graded.fit.undefended, graded.replicates.undefended, users, epsilon, "ems"
    )
    if not graded.attack_seen:
        return undefended
    defended = _from_replicates(
        graded.fit.distribution, graded.replicates.distribution, users, epsilon, "de-remf*"
    )
    return replace(defended, raw=undefended)


def _from_replicates(
    distribution: Floats, replicates: Floats, users: int, epsilon: float, decoder: str
) -> Estimate:
    totals = users * distribution[0]
    noise = SampledNoise(users * replicates, around=totals)
    return Estimate(totals, noise, users, epsilon, steps=("graded groups", decoder, "bootstrap"))


def _details(graded: GradedEstimate, groups: Sequence[_GroupTally]) -> dict[str, Any]:
    share = float(graded.fit.share[0])
    weights = graded.fit.weights[0].tolist()
    rows = [
        {
            "epsilon": each.mechanism.epsilon,
            "reports": each.reports,
            "users": each.users,
            "weight": weight,
            "poisoned": [list(segment) for segment in segments],
        }
        for each, weight, segments in zip(groups, weights, graded.segments, strict=True)
    ]
    return {
        "remark": ATTACK.format(percent=100 * share) if graded.attack_seen else NO_ATTACK,
        "attack_seen": graded.attack_seen,
        "false_share": share,
        "likelihood_gain": graded.evidence.gain,
        "misfit": graded.evidence.misfit,
        "misfit_threshold": graded.evidence.threshold,
        "graded_groups": rows,
    }


def _variance(shares: Floats, points: Floats) -> float:
    return max(float(shares @ points**2 - (shares @ points) ** 2), 0.0)


def _linear_mean(groups: Sequence[_GroupTally], between: float, *, coins_checked: bool) -> Total:
    """Return the mean without EM, given the variance of values ``between`` people.

    Its exposure is known where nobody can choose a group.
    """
    users = sum(each.users for each in groups)
    means = [each.mechanism.mean(each.tally) for each in groups]
    variances = np.array(
        [
            mean.variance + (1 - 1 / each.reports) * between / each.users
            for each, mean in zip(groups, means, strict=True)
        ]
    )
    weights = (1 / variances) / (1 / variances).sum()
    mean = float(weights @ [each.total for each in means])
    variance = float(weights**2 @ variances)
    if not coins_checked:
        return Total(mean, variance)
    influences = [each.mechanism.influence for each in groups]
    up = float(weights @ [influence.up for influence in influences])
    down = float(weights @ [influence.down for influence in influences])
    return Total(mean, variance, Exposure(Influence(up / users, down / users), users))
