"""The distribution of honest people behind the reports of graded groups.

    1. Decode every group as if nobody lied (EMS): the undefended distributions.
    2. SEMF finds the outputs of every group that may be poisoned.
    3. EMF in the group with the smallest epsilon, the probe, gives the share of false reports.
    4. If the share is below 3 %, or the probe shows nothing that honest people could not have sent,
       no attack was seen: the undefended distributions stand.
    5. Otherwise remove the false reports of every group with that share (DE-REMF*), and decode what
       remains (EMS).
    6. Average the distributions of the groups, with the weights of ``group_weights``.

Errors come from a bootstrap of all of it: people are drawn from the result and put into groups,
everybody's reports are drawn from the one value they hold, attackers report what was found.  Step 4
and the smoothing of step 5 are ours.

Source: Du 2025, section 6.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.errors import NoDataError
from sottovoce.maths.em import in_proportion
from sottovoce.plans.numbers.de_emf import MAX_SHARE, Defended, cleaned, de_remf
from sottovoce.plans.numbers.emf import OutputCounts, emf, unfiltered
from sottovoce.plans.numbers.group_weights import calibrated
from sottovoce.plans.numbers.poison_evidence import PoisonEvidence, poison_evidence, runs
from sottovoce.plans.numbers.semf import semf

LEAST_SHARE = 0.03  # of false reports that counts as an attack
REPLICATES = 30  # each decodes all groups anew


@dataclass(frozen=True, eq=False)
class Group:
    """The reports of one group: ``users`` people, with ``reports`` reports of each.

    ``observed`` may hold several rows, one for each time that the collection is drawn again.
    """

    users: int
    reports: int
    observed: OutputCounts

    @property
    def epsilon(self) -> float:
        """Return the epsilon of one report."""
        return self.observed.epsilon


@dataclass(frozen=True, eq=False)
class GradedFit:
    """The fit of graded groups, for every row of their counts.

    ``distribution`` is that of honest people, ``undefended`` what the reports say if nobody lied.
    ``poison`` holds for every group the (rows, outputs) shares of false reports.  ``read_outs`` are
    for every group the mean of the values' indices by the positions of the reports that were not
    removed, without EM: they have no bias of smoothing.
    """

    distribution: Floats
    undefended: Floats
    share: Floats
    weights: Floats
    poison: tuple[Floats, ...]
    poisoned: tuple[Bools, ...]
    read_outs: Floats

    @property
    def read_out(self) -> Floats:
        """Return the weighted mean of the groups' read-outs, for every row."""
        return np.asarray(np.einsum("rg,rg->r", self.read_outs, self.weights))


@dataclass(frozen=True, eq=False)
class GradedEstimate:
    """The result for one collection, with replicates of the bootstrap.

    ``evidence`` is that of the probe; ``attack_seen`` says which of the two distributions stands.
    """

    fit: GradedFit
    evidence: PoisonEvidence
    attack_seen: bool
    replicates: GradedFit

    @property
    def segments(self) -> list[tuple[tuple[float, float], ...]]:
        """Return the suspected outputs of every group, from and to, in parts of all outputs."""
        return [runs(mask[0]) for mask in self.fit.poisoned]


def graded_estimate(groups: Sequence[Group], replicates: int = REPLICATES) -> GradedEstimate:
    """Return the distribution of honest people; the groups are in order of falling epsilon."""
    if not groups:
        raise NoDataError("a distribution needs at least one report")
    evidence = poison_evidence(groups[-1].observed)
    fit = defended(groups) if evidence.alarm else undefended(groups)
    attack_seen = bool(fit.share[0] >= LEAST_SHARE)
    if not attack_seen:
        fit = undefended(groups)
    redrawn = drawn_again(groups, fit, replicates)
    refitted = defended(redrawn) if attack_seen else undefended(redrawn)
    return GradedEstimate(fit, evidence, attack_seen, refitted)


def undefended(groups: Sequence[Group]) -> GradedFit:
    """Return the fit that takes all reports for honest ones."""
    rows = len(groups[0].observed.counts)
    plain = [unfiltered(group.observed, smooth=True).distribution for group in groups]
    nothing = [np.zeros(group.observed.counts.shape) for group in groups]
    weights = _weights(groups, np.zeros(rows))
    average = _average(plain, weights)
    masks = tuple(poison.astype(bool) for poison in nothing)
    read_outs = _read_outs([group.observed for group in groups])
    return GradedFit(average, average, np.zeros(rows), weights, tuple(nothing), masks, read_outs)


def defended(groups: Sequence[Group]) -> GradedFit:
    """Return the fit that removes false reports from every group."""
    plain = undefended(groups)
    masks = [semf(group.observed) for group in groups]
    probe = groups[-1]
    share = np.minimum(emf(probe.observed, masks[-1]).share, MAX_SHARE)
    decoded = [_decoded(group, mask, share) for group, mask in zip(groups, masks, strict=True)]
    weights = _weights(groups, share)
    remaining = [
        group.observed.without(each.poison) for group, each in zip(groups, decoded, strict=True)
    ]
    return GradedFit(
        _average([each.distribution for each in decoded], weights),
        plain.undefended,
        share,
        weights,
        tuple(each.poison for each in decoded),
        tuple(masks),
        _read_outs(remaining),
    )


def _decoded(group: Group, poisoned: Bools, share: Floats) -> Defended:
    return cleaned(group.observed, de_remf(group.observed, poisoned, share), smooth=True)


def _weights(groups: Sequence[Group], share: Floats) -> Floats:
    """Return (rows, groups): the weight of every group, given the shares of false reports."""
    epsilons = np.array([group.epsilon for group in groups])
    reports = np.array([group.users * group.reports for group in groups])
    return calibrated(epsilons, reports * (1 - share[:, None]))


def _read_outs(observed: Sequence[OutputCounts]) -> Floats:
    """Return (rows, groups): the mean index of honest people, by the positions of reports.

    The mean position of the reports of Square Wave is linear in the index k: alpha + beta k.
    """
    means = []
    for counts in observed:
        positions = np.arange(counts.outputs, dtype=np.float64)
        expected = counts.channel.backward(positions)
        beta = (expected[-1] - expected[0]) / (counts.size - 1)
        mean = counts.counts @ positions / counts.reports
        means.append((mean - expected[0]) / beta)
    return np.stack(means, axis=1)


def _average(distributions: Sequence[Floats], weights: Floats) -> Floats:
    return np.asarray(np.einsum("grk,rg->rk", np.stack(distributions), weights))


def drawn_again(groups: Sequence[Group], fit: GradedFit, replicates: int) -> list[Group]:
    """Return groups whose rows are drawn from the fit, seeded by the counts themselves."""
    generator = np.random.default_rng(groups[0].observed.counts[0].astype(np.int64))
    people = np.repeat(fit.distribution, replicates, axis=0)
    return [
        _group_drawn_again(group, people, poison[0], generator)
        for group, poison in zip(groups, fit.poison, strict=True)
    ]


def _group_drawn_again(
    group: Group, people: Floats, poison: Floats, generator: np.random.Generator
) -> Group:
    """Return a group with one row for every row of ``people``, the distributions to draw from.

    Everybody makes r reports of one value.  Let W be the variance of a cell's count from one report
    given the value, and B that of its chance between people.  The count of n people has the
    variance n r W + n r^2 B.  Independent reports would have n r (W + B).  Drawing them from shares
    that are themselves drawn, at a distance of sqrt(1 - 1/r) of that of n people, adds the rest.
    """
    liars = generator.binomial(group.users, min(float(poison.sum()), MAX_SHARE), len(people))
    honest = group.users - liars
    held = generator.multinomial(honest, people) / np.maximum(honest, 1)[:, None]
    mixed = people + np.sqrt(1 - 1 / group.reports) * (held - people)
    chances = np.clip(group.observed.channel.forward(mixed), 0.0, None)
    counts = generator.multinomial(group.reports * honest, in_proportion(chances))
    if poison.any():
        counts = counts + generator.multinomial(group.reports * liars, in_proportion(poison))
    observed = replace(group.observed, counts=counts.astype(np.float64))
    return replace(group, observed=observed)
