"""Whether honest people alone can have made a histogram of outputs: a test, and a share.

Whatever people hold, the chances of outputs are a channel M times some shares x.  Histograms that
no x explains were not made by honest people alone.  The outputs are merged into at most 32 cells of
neighbours.  The statistic is how much better the cells' own shares explain the reports than the
best x, which plain EM finds:

    misfit = l(shares) - l(best x)        l = sum of counts times ln(chance)

The best x is at least as likely as the truth, so that on honest reports, whatever people hold,

    2 misfit <= 2 (l(shares) - l(truth)),  which is chi-squared with cells - 1 degrees

and the threshold is half of its upper quantile.  The bound is loose, because the best x fits noise
as well: docs/evidence/byzantine-numbers.md has the false alarms and the power that were measured.
EM approaches the best x slowly where epsilon is small and reports are many.  The log-likelihood is
concave, so that wherever EM stops, with c counts of N reports and D the chances,

    l(best x) <= l(x) + N (max over k of (sum of c_i / N M_ik / D_i over i) - 1)

and that bound stands for l(best x): no alarm comes from stopping early.

Beside it stand the estimated ``share`` of false reports and the ``gain`` of log-likelihood of EMF
over plain EM, with the outputs that SEMF suspects.  The share is right for a small epsilon only,
such as 1/16: at epsilon 1 honest reports of unusual populations look as if 20 to 40 % were false,
without an alarm.  Attackers who randomise a wrong number honestly cannot be seen at all.

The test is ours.

Source: Du 2025, section 6.3.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.core.tally import Tally
from sottovoce.maths.em import Dense
from sottovoce.maths.normal import chi_squared_quantile
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.numbers.emf import Filtered, OutputCounts, emf
from sottovoce.plans.numbers.semf import segment_of_outputs, semf

CELLS = 32  # that outputs are merged into
FALSE_ALARMS = 1e-6  # of the bound; the measured rate is lower
_GAIN = 1e-3  # of log-likelihood in one step, below which a fit has converged
_MAX_STEPS = 20_000


@dataclass(frozen=True)
class PoisonEvidence:
    """Evidence for false reports.

    A ``misfit`` above the ``threshold`` is an alarm.  ``segments`` are the suspected parts of the
    outputs, from and to, in parts of all outputs.
    """

    share: float
    gain: float
    misfit: float
    threshold: float
    segments: tuple[tuple[float, float], ...]
    reports: int

    @property
    def alarm(self) -> bool:
        """Return whether honest people alone cannot have made these reports."""
        return self.misfit > self.threshold


def evidence_in_tally(
    mechanism: Mechanism, tally: Tally, alpha: float = FALSE_ALARMS
) -> PoisonEvidence:
    """Return the evidence in the tally of a mechanism that counts every output.

    ``alpha`` bounds the probability of an alarm on honest reports.  Several reports of one person
    count as independent: at a small epsilon they nearly are.

    >>> from sottovoce.mechanisms.square_wave import SquareWave
    >>> wave = SquareWave(epsilon=0.0625, size=64)
    >>> reports = np.repeat(np.arange(wave.outputs), 200)
    >>> honest = evidence_in_tally(wave, wave.tally(reports))
    >>> poisoned = evidence_in_tally(wave, wave.tally(np.append(reports, np.full(5_000, 120))))
    >>> honest.alarm, poisoned.alarm, round(poisoned.share, 2)
    (False, True, 0.17)
    """
    return poison_evidence(output_counts(mechanism, tally), alpha)


def output_counts(mechanism: Mechanism, tally: Tally) -> OutputCounts:
    """Return how often every output of a mechanism was reported."""
    counts = mechanism.output_counts(tally)[None, :].astype(np.float64)
    return OutputCounts(counts, mechanism.output_channel, mechanism.size, mechanism.epsilon)


def poison_evidence(observed: OutputCounts, alpha: float = FALSE_ALARMS) -> PoisonEvidence:
    """Return the evidence in the counts of one collection."""
    merged = _merged(observed)
    poisoned = semf(merged)
    plain = _converged(merged, np.zeros(poisoned.shape, bool))
    filtered = _converged(merged, poisoned) if poisoned.any() else plain
    gain = float(filtered.log_likelihood[0] - plain.log_likelihood[0])
    return PoisonEvidence(
        share=float(filtered.share[0]),
        gain=max(gain, 0.0),
        misfit=max(_largest_likelihood(merged) - _most_by_honest(merged, plain), 0.0),
        threshold=chi_squared_quantile(alpha, merged.outputs - 1) / 2,
        segments=runs(poisoned[0]),
        reports=int(observed.reports[0]),
    )


def runs(marked: Bools) -> tuple[tuple[float, float], ...]:
    """Return the marked stretches of a line, from and to, in parts of its length.

    >>> runs(np.array([False, True, True, False]))
    ((0.25, 0.75),)
    """
    steps = np.diff(np.concatenate([[0], marked.astype(np.int64), [0]]))
    starts = (np.flatnonzero(steps == 1) / len(marked)).tolist()
    ends = (np.flatnonzero(steps == -1) / len(marked)).tolist()
    return tuple(zip(starts, ends, strict=True))


def _merged(observed: OutputCounts) -> OutputCounts:
    """Return the counts of cells of neighbouring outputs."""
    count = min(CELLS, observed.outputs)
    cell_of = segment_of_outputs(observed.outputs, count)
    members = (cell_of == np.arange(count)[:, None]).astype(np.float64)
    # Row k of ``backward`` is how the channel sends each value into cell k.
    channel = Dense(observed.channel.backward(members))
    return OutputCounts(observed.counts @ members.T, channel, observed.size, observed.epsilon)


def _largest_likelihood(observed: OutputCounts) -> float:
    """Return the log-likelihood of the shares that were observed, which no model exceeds."""
    counts = observed.counts[0][observed.counts[0] > 0]
    return float(counts @ np.log(counts / counts.sum()))


def _most_by_honest(observed: OutputCounts, plain: Filtered) -> float:
    """Return a bound of the log-likelihood that any shares of honest people reach."""
    chances = observed.channel.forward(plain.honest)
    gradients = observed.channel.backward(observed.counts / chances)[0]
    slack = float(gradients.max()) - float(observed.reports[0])
    return float(plain.log_likelihood[0]) + slack


def _converged(observed: OutputCounts, poisoned: Bools) -> Filtered:
    tolerance = _GAIN / float(observed.reports.max())
    return emf(observed, poisoned, tolerance=min(tolerance, 0.5), max_steps=_MAX_STEPS)
