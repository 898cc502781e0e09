"""Audit a mechanism: compare its stated epsilon with its likelihood and with sampled reports.

The likelihood is exact but relies on the arithmetic of the code.  It is looked at over all reports
where these can be listed, and otherwise over those that the mechanism names as the most telling.

Sampling relies only on the reports.  First every value is tried with some reports (of a very large
domain, the first, the last, and others drawn at random, a thousand in all): how often is each bit
set, how often is each report made, and how often does a report point at its value?  The values that
stand out are paired with each other and with the first and the last value.  Then fresh reports of
each pair are drawn: an event is chosen on one half of them, and Clopper-Pearson bounds on the other
half give a lower bound on epsilon.  Sampling can show that a mechanism is broken; it cannot show
that one is sound.

Any value but the two ends is tried with the chance (t - 2) / (size - 2), t being the number of
values tried.  So audits with fresh randomness find a leak about one value sooner or later.

Source: Clopper and Pearson 1934.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from sottovoce.answers.plain_data import PlainData
from sottovoce.arrays import Bytes, Floats, Ints, Reports
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.mechanisms.base import Mechanism, PureMechanism

ALL_PAIRS = 6  # of larger domains only some values are compared with each other
LISTED = 12  # larger domains have too many outcomes to list
TRIED = 1024  # values of a larger domain that are tried
_SUSPECTS = 4  # values that stand out most
_FIRST_REPORTS = 200  # at least so many of each value, before those that stand out are known
_MAX_CHANCES = 1 << 22  # of reports under values, in memory together
MAX_BYTES = 1 << 30  # of sampled reports
_ROUNDING = 1e-9
_COMMON = 20  # a report sampled less often than this proves nothing
_RATIOS = (0.25, 0.5, 0.75, 0.95)  # of epsilon: how telling a report is by its likelihood


@dataclass(frozen=True)
class Audit(PlainData):
    """What a mechanism states, realises, and provably spends.

    ``exact`` is the worst log-ratio of the likelihood, or None for the reason in ``exact_note``.
    ``lower_bound`` holds with the stated confidence for all sampled pairs together.  ``tried`` is
    how many values were tried.
    """

    mechanism: str
    size: int
    epsilon: float
    realised: float
    exact: float | None
    exact_note: str
    lower_bound: float
    event: str
    samples: int
    confidence: float
    tried: int

    @property
    def passes(self) -> bool:
        """Return whether neither check exceeds the stated epsilon."""
        return (self.exact or 0.0) <= self.epsilon + _ROUNDING and self.lower_bound <= self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; an infinite ratio becomes text."""
        exact = str(self.exact) if self.exact == float("inf") else self.exact
        return {**asdict(self), "exact": exact, "passes": self.passes}

    def __str__(self) -> str:
        listed = "not computed" if self.exact is None else f"{self.exact:.9f}"
        sampled = f"{self.samples:,} reports a pair, confidence {self.confidence:g}"
        verdict = "passes" if self.passes else "FAILS: it spends more than it states"
        return "\n".join(
            [
                f"Audit of {self.mechanism}, {self.size:,} values: {verdict}",
                "",
                f"  stated epsilon         {self.epsilon:g}",
                f"  from the thresholds    {self.realised:.9f}",
                f"  from the likelihood    {listed} ({self.exact_note})",
                f"  proved by sampling     at least {self.lower_bound:.4f} ({sampled})",
                f"  most telling event     {self.event}",
                f"  values tried           {self.tried:,} of {self.size:,}",
            ]
        )


def audit(
    mechanism: Mechanism,
    *,
    samples: int = 200_000,
    confidence: float = 0.999,
    seed: int | None = None,
) -> Audit:
    """Return what a mechanism spends by its likelihood and by its reports.

    Without a ``seed`` the randomness is the operating system's.
    """
    if samples < 2 or samples * mechanism.width > MAX_BYTES:
        most = MAX_BYTES // mechanism.width
        raise ParameterError(
            f"`samples` must be from 2 to {most:,} for reports of {mechanism.width} bytes"
        )
    if not 0 < confidence < 1:
        raise ParameterError("`confidence` must lie between 0 and 1, both excluded")
    exact, note = _exact(mechanism)
    rng = _rng(seed)
    tried = _values(mechanism.size, rng)
    suspects = _suspects(mechanism, tried, samples, rng)
    lower, event = _proved(mechanism, suspects, samples // 2, (confidence, rng))
    stated = mechanism.epsilon
    realised = mechanism.epsilon_realised
    return Audit(
        mechanism.kind,
        mechanism.size,
        stated,
        realised,
        exact,
        note,
        lower,
        event,
        samples,
        confidence,
        len(tried),
    )


def _exact(mechanism: Mechanism) -> tuple[float | None, str]:
    reports = mechanism.telling_reports()
    note = "over the {count:,} most telling reports"
    if reports is None:
        if mechanism.size > LISTED:
            return None, f"only domains of at most {LISTED} values are listed"
        try:
            reports = mechanism.outcomes()
        except ParameterError as error:
            return None, str(error)
        note = "over {count:,} reports"
    worst = max(_worst_ratio(chances) for chances in _chances(mechanism, reports))
    return worst, note.format(count=len(reports))


def _worst_ratio(chances: Floats) -> float:
    possible = chances[chances.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        return float(np.log(possible.max(axis=1) / possible.min(axis=1)).max(initial=0.0))


def _chances(mechanism: Mechanism, reports: Reports) -> Iterator[Floats]:
    """Yield the likelihood of so many reports at a time as fit into memory."""
    step = max(1, _MAX_CHANCES // mechanism.size)
    for start in range(0, len(reports), step):
        yield mechanism.likelihood(reports[start : start + step])


def _values(size: int, rng: Rng) -> Ints:
    """Return the values to try in ascending order: all, or both ends and random ones between."""
    if size <= TRIED:
        return np.arange(size)
    chosen = {0, size - 1}
    while len(chosen) < TRIED:
        chosen.update(rng.integers(size, TRIED - len(chosen)).tolist())
    return np.array(sorted(chosen), np.int64)


def _suspects(mechanism: Mechanism, tried: Ints, samples: int, rng: Rng) -> list[int]:
    """Return the values to compare: the first, the last, and those whose reports stand out.

    A value stands out if some bit of its reports is set unusually often or seldom, if some report
    is unusually common, or if its reports support it unusually often.
    """
    if len(tried) <= ALL_PAIRS:
        return [int(value) for value in tried]
    reports = min(samples, max(_FIRST_REPORTS, samples // len(tried)))
    table = np.array([_events(mechanism, value, reports, rng) for value in tried.tolist()])
    middle = np.median(table, axis=0)
    distances = np.abs(table - middle) / np.sqrt(np.maximum(middle, 1.0))
    farthest = np.argsort(-distances.max(axis=1), kind="stable")[:_SUSPECTS]
    return sorted({int(tried[0]), int(tried[-1]), *tried[farthest].tolist()})


def _events(mechanism: Mechanism, value: int, reports: int, rng: Rng) -> Ints:
    """Return how often each bit is set, the commonest report is made, and the value supported."""
    drawn = mechanism.privatize(np.full(reports, value), rng)
    rows = _rows(mechanism, drawn)
    commonest = np.unique(rows, axis=0, return_counts=True)[1].max()
    return np.append(_bit_counts(rows), [commonest, _own_support(mechanism, drawn, value)])


def _own_support(mechanism: Mechanism, reports: Reports, value: int) -> int:
    if not isinstance(mechanism, PureMechanism):
        return 0
    return int(np.count_nonzero(mechanism.support(reports, np.array([value]))))


def _rows(mechanism: Mechanism, reports: Reports) -> Bytes:
    packed = np.frombuffer(mechanism.pack(reports), np.uint8)
    return packed.reshape(len(reports), mechanism.width)


def _bit_counts(rows: Bytes) -> Ints:
    from sottovoce.kernels.unary import bit_counts

    return np.asarray(bit_counts(np.ascontiguousarray(rows), 8 * rows.shape[1]), np.int64)


@dataclass(frozen=True, eq=False)
class _Half:
    """One half of the reports of one value."""

    reports: Reports
    rows: Bytes  # packed, one row a report

    @property
    def names(self) -> Any:
        return np.ascontiguousarray(self.rows).view(np.dtype((np.void, self.rows.shape[1])))[:, 0]

    def common(self) -> set[bytes]:
        """Return the packed reports that were sampled often enough to prove something."""
        names, counts = np.unique(self.names, return_counts=True)
        return {name.tobytes() for name in names[counts >= _COMMON]}

    def counts(self, listed: list[bytes]) -> Ints:
        """Return how often each listed report was made, and each bit was set and not set."""
        names, counts = np.unique(self.names, return_counts=True)
        by_name = (
            {name.tobytes(): count for name, count in zip(names, counts, strict=True)}
            if listed
            else {}
        )
        listed_counts = np.array([by_name.get(name, 0) for name in listed], np.int64)
        bits = _bit_counts(self.rows)
        return np.concatenate([listed_counts, bits, len(self.rows) - bits])

    def pointing(self, mechanism: Mechanism, first: int, second: int) -> Ints:
        """Return how many reports point at the first value rather than at the second.

        They support it and not the other; or they are so many times likelier under it.
        """
        if isinstance(mechanism, PureMechanism):
            supports = mechanism.support(self.reports, np.array([first, second]))
            return np.array([np.count_nonzero(supports[:, 0] & ~supports[:, 1])])
        counts = np.zeros(len(_RATIOS), np.int64)
        limits = np.array(_RATIOS) * mechanism.epsilon
        for chances in _chances(mechanism, self.reports):
            with np.errstate(divide="ignore"):
                ratios = np.log(chances[:, first]) - np.log(chances[:, second])
            counts += np.count_nonzero(ratios[:, None] >= limits, axis=0)
        return counts


def _proved(
    mechanism: Mechanism, values: Sequence[int], half: int, sampling: tuple[float, Rng]
) -> tuple[float, str]:
    """Return the largest lower bound on epsilon over all pairs of these values, and its event."""
    confidence, rng = sampling
    drawn = {value: _halves(mechanism, value, half, rng) for value in values}
    listed = sorted(set().union(*(first.common() for first, _ in drawn.values())))
    counted = {value: [part.counts(listed) for part in halves] for value, halves in drawn.items()}
    pairs = list(permutations(values, 2))
    tail = (1 - confidence) / (2 * len(pairs))  # two bounds per pair
    bounds = []
    for pair in pairs:
        seen = [_with_pointing(mechanism, drawn[value], counted[value], pair) for value in pair]
        event = int(log_ratio_bound(seen[0][0], seen[1][0], half, tail).argmax())
        bound = float(log_ratio_bound(seen[0][1], seen[1][1], half, tail)[event])
        name = _named(event, listed, counted[pair[0]][0])
        bounds.append((max(bound, 0.0), f"{name}: value {pair[0]} against {pair[1]}"))
    return max(bounds)


def _halves(mechanism: Mechanism, value: int, half: int, rng: Rng) -> tuple[_Half, _Half]:
    reports = mechanism.privatize(np.full(2 * half, value), rng)
    rows = _rows(mechanism, reports)
    return _Half(reports[:half], rows[:half]), _Half(reports[half:], rows[half:])


def _with_pointing(
    mechanism: Mechanism, halves: tuple[_Half, _Half], counted: list[Ints], pair: tuple[int, int]
) -> list[Ints]:
    """Return the counts of all events in both halves, with those that the mechanism suggests."""
    pointing = [half.pointing(mechanism, *pair) for half in halves]
    return [np.append(counts, more) for counts, more in zip(counted, pointing, strict=True)]


def log_ratio_bound(often: Ints, seldom: Ints, trials: int, tail: float) -> Floats:
    """Return lower bounds on the log-ratios of two chances, from how often each event happened."""
    beta = _inverse_beta()
    low = np.where(often > 0, beta(np.maximum(often, 1), trials - often + 1, tail), 0.0)
    high = np.where(
        seldom < trials, beta(seldom + 1, np.maximum(trials - seldom, 1), 1 - tail), 1.0
    )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(low / high))


def _inverse_beta() -> Any:
    try:
        from scipy.special import betaincinv
    except ImportError:
        raise MissingExtraError("scipy is not installed: pip install 'sottovoce[server]'") from None
    return betaincinv


def _named(event: int, listed: list[bytes], counts: Ints) -> str:
    bits = (len(counts) - len(listed)) // 2
    if event >= len(counts):
        return "the report points at the first value and not at the second"
    if event < len(listed):
        return f"the report is {listed[event][:16].hex()}"
    bit = event - len(listed)
    return f"bit {bit % bits} of the report is {int(bit < bits)}"


def _rng(seed: int | None) -> Rng:
    if seed is None:
        return SystemRng()
    from sottovoce.lab.seeded import SeededRng

    return SeededRng(seed)
