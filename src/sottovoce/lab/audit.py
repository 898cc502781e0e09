"""Audit a mechanism: compare its stated epsilon with its likelihood and with sampled reports.

The likelihood is exact but relies on the arithmetic of the code.  Sampling relies only on the
reports: an event is chosen on one half of them, and Clopper-Pearson bounds on the other half give a
lower bound on epsilon.  Sampling can show that a mechanism is broken; it cannot show that one is
sound.

Source: Clopper and Pearson 1934.
"""

import json
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Floats, Ints, Reports
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.mechanisms.base import Mechanism, PureMechanism

ALL_PAIRS = 6  # larger domains are sampled at the first and the last value only
LISTED = 12  # larger domains have too many outcomes to list
MAX_BYTES = 1 << 30  # of sampled reports
_ROUNDING = 1e-9
_COMMON = 20  # a report sampled less often than this proves nothing
_BYTES_SEEN = 64  # of a report, bit by bit


@dataclass(frozen=True)
class Audit:
    """What a mechanism states, realises, and provably spends.

    ``exact`` is the worst log-ratio of the likelihood, or None for the reason in ``exact_note``.
    ``lower_bound`` holds with the stated confidence for all sampled pairs together.
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

    @property
    def passes(self) -> bool:
        """Return whether neither check exceeds the stated epsilon."""
        return (self.exact or 0.0) <= self.epsilon + _ROUNDING and self.lower_bound <= self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; an infinite ratio becomes text."""
        exact = str(self.exact) if self.exact == float("inf") else self.exact
        return {**asdict(self), "exact": exact, "passes": self.passes}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __str__(self) -> str:
        listed = "not computed" if self.exact is None else f"{self.exact:.9f}"
        sampled = f"{self.samples:,} reports a value, confidence {self.confidence:g}"
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
    lower, event = _proved(mechanism, samples // 2, confidence, _rng(seed))
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
    )


def _exact(mechanism: Mechanism) -> tuple[float | None, str]:
    if mechanism.size > LISTED:
        return None, f"only domains of at most {LISTED} values are listed"
    try:
        chances = mechanism.likelihood(mechanism.outcomes())
    except ParameterError as error:
        return None, str(error)
    possible = chances[chances.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        worst = float(np.log(possible.max(axis=1) / possible.min(axis=1)).max())
    return worst, f"over {len(chances):,} reports"


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
        bits = np.unpackbits(self.rows[:, :_BYTES_SEEN], axis=1, bitorder="little").sum(
            axis=0, dtype=np.int64
        )
        return np.concatenate([listed_counts, bits, len(self.rows) - bits])

    def supporting(self, mechanism: PureMechanism, first: int, second: int) -> int:
        """Return how many reports support the first value and not the second."""
        supports = mechanism.support(self.reports, np.array([first, second]))
        return int(np.count_nonzero(supports[:, 0] & ~supports[:, 1]))


def _proved(mechanism: Mechanism, half: int, confidence: float, rng: Rng) -> tuple[float, str]:
    """Return the largest lower bound on epsilon over all pairs, and its event."""
    values = range(mechanism.size) if mechanism.size <= ALL_PAIRS else (0, mechanism.size - 1)
    drawn = {value: _halves(mechanism, value, half, rng) for value in values}
    listed = sorted(set().union(*(first.common() for first, _ in drawn.values())))
    counted = {value: [part.counts(listed) for part in halves] for value, halves in drawn.items()}
    pairs = list(permutations(values, 2))
    tail = (1 - confidence) / (2 * len(pairs))  # two bounds per pair
    bounds = []
    for first, second in pairs:
        seen = [
            _with_support(mechanism, drawn[value], counted[value], (first, second))
            for value in (first, second)
        ]
        event = int(log_ratio_bound(seen[0][0], seen[1][0], half, tail).argmax())
        bound = float(log_ratio_bound(seen[0][1], seen[1][1], half, tail)[event])
        name = _named(event, listed, counted[first][0])
        bounds.append((max(bound, 0.0), f"{name}: value {first} against {second}"))
    return max(bounds)


def _halves(mechanism: Mechanism, value: int, half: int, rng: Rng) -> tuple[_Half, _Half]:
    reports = mechanism.privatize(np.full(2 * half, value), rng)
    rows = np.frombuffer(mechanism.pack(reports), np.uint8).reshape(2 * half, mechanism.width)
    return _Half(reports[:half], rows[:half]), _Half(reports[half:], rows[half:])


def _with_support(
    mechanism: Mechanism, halves: tuple[_Half, _Half], counted: list[Ints], pair: tuple[int, int]
) -> list[Ints]:
    """Return the counts of all events in both halves, with support where there is one."""
    if not isinstance(mechanism, PureMechanism):
        return counted
    supporting = [half.supporting(mechanism, *pair) for half in halves]
    return [np.append(counts, more) for counts, more in zip(counted, supporting, strict=True)]


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
        return "the report supports the first value and not the second"
    if event < len(listed):
        return f"the report is {listed[event][:16].hex()}"
    bit = event - len(listed)
    return f"bit {bit % bits} of the report is {int(bit < bits)}"


def _rng(seed: int | None) -> Rng:
    if seed is None:
        return SystemRng()
    from sottovoce.lab.seeded import SeededRng

    return SeededRng(seed)
