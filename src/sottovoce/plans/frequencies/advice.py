"""Advice before a histogram is collected: which mechanism, which error, how many users, how many bytes.

Every number follows from the exact variance of the mechanism at the asked size, with the drawing of
groups; nothing is simulated.

Source: Wang 2021, equation 3.2 and sections 3.4 and 3.5.2.
"""

import json
from dataclasses import asdict, dataclass
from math import ceil, exp
from typing import Any

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.bisection import bisect
from sottovoce.maths.normal import quantile, upper_quantile
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.wire.envelope import ID_BYTES, Envelopes

LEVEL = 0.95  # of the margin, and the chance with which a detectable value is detected
COMPARED = ("grr", "affine", "oue", "olh")


@dataclass(frozen=True)
class Alternative:
    """What another mechanism would give: standard errors as shares of the users, and bytes."""

    mechanism: str
    error: float
    average_error: float
    report_bytes: int


@dataclass(frozen=True)
class Advice:
    """What to expect of a collection; errors and ``detectable`` are shares of all users.

    ``error`` is that of a value that hardly anybody holds, ``average_error`` the root mean square over
    the domain.  A value as frequent as ``detectable`` passes the significance threshold (0.05 over all
    values together) with probability 0.95; it is None if not even a value that everybody holds would.
    """

    users: int
    size: int
    epsilon: float
    questions: int
    mechanism: str
    reason: str
    error: float
    average_error: float
    margin: float
    detectable: float | None
    report_bytes: int
    message_bytes: int
    split_ratio: float
    wished_error: float | None
    users_needed: int | None
    alternatives: tuple[Alternative, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __str__(self) -> str:
        asked = f", {self.questions} questions" if self.questions > 1 else ""
        title = f"Advice for {self.users:,} users, {self.size:,} values, epsilon {self.epsilon:g}{asked}"
        width = max(len(name) for name, _ in self._lines())
        lines = [f"  {name:<{width}}  {text}" for name, text in self._lines()]
        return "\n".join([title, "", *lines, "", *self._table()])

    def _lines(self) -> list[tuple[str, str]]:
        people = f"{self.error * self.users:,.0f} people"
        lines = [
            ("mechanism", f"{self.mechanism}: {self.reason}"),
            (
                "a rare value",
                f"standard error {_percent(self.error)} ({people}), 95 % margin ± {_percent(self.margin)}",
            ),
            ("over all values", f"standard error {_percent(self.average_error)} (root mean square)"),
            ("detectable", self._detection()),
            ("bytes", f"{self.report_bytes} a report, {self.message_bytes} a message with its envelope"),
        ]
        if self.users_needed is not None:
            wished = f"for a standard error of {_percent(self.wished_error or 0)}"
            lines.append(("users needed", f"{self.users_needed:,} {wished}"))
        if self.questions > 1:
            lines.append(("questions", self._partition()))
        return lines

    def _detection(self) -> str:
        if self.detectable is None:
            return "nothing: even a value that everybody holds could pass for noise"
        return f"a value held by {_percent(self.detectable)} stands out of the noise 95 times in 100"

    def _partition(self) -> str:
        group = self.users // self.questions
        return (
            f"ask each user one, drawn at random, with the whole epsilon ({group:,} reports a question); "
            f"splitting epsilon over all {self.questions} would multiply the variance by {self.split_ratio:.2f}"
        )

    def _table(self) -> list[str]:
        lines = [f"  {'mechanism':<10}  {'rare value':>10}  {'all values':>10}  {'bytes':>7}"]
        for each in self.alternatives:
            mark = "  <- advised" if each.mechanism == self.mechanism else ""
            errors = f"{_percent(each.error):>10}  {_percent(each.average_error):>10}"
            lines.append(f"  {each.mechanism:<10}  {errors}  {each.report_bytes:>7,}{mark}")
        return lines


def advise(
    users: int,
    size: int,
    epsilon: float,
    *,
    questions: int = 1,
    error: float | None = None,
    rule: str = "least variance",
) -> Advice:
    """Return which mechanism to use and what to expect of it; ``error`` asks how many users it would take.

    >>> advise(users=50_000, size=1_000, epsilon=1.0, error=0.005).users_needed
    147292
    """
    _check(users, size, questions, error)
    chosen = choose(size, exact.check_epsilon(epsilon), rule)
    crowd = _Crowd(users, questions)
    mechanism = chosen.mechanism
    rare = crowd.error(mechanism, 0.0)
    return Advice(
        users=users,
        size=size,
        epsilon=mechanism.epsilon,
        questions=questions,
        mechanism=mechanism.kind,
        reason=chosen.reason,
        error=rare,
        average_error=crowd.error(mechanism, 1 / size),
        margin=quantile(LEVEL) * rare,
        detectable=crowd.detectable(mechanism),
        report_bytes=mechanism.width,
        message_bytes=_message_bytes(mechanism.width),
        split_ratio=_split_ratio(mechanism.epsilon, questions),
        wished_error=error,
        users_needed=None if error is None else crowd.needed(mechanism, error),
        alternatives=tuple(crowd.alternative(one) for one in _compared(mechanism)),
    )


@dataclass(frozen=True)
class _Crowd:
    """How many people there are, and over how many questions they are partitioned."""

    users: int
    questions: int

    def estimate(self, mechanism: PureMechanism, share: float) -> Estimate:
        """Return what is to be expected of a value that this share of the users hold."""
        group = self.users // self.questions
        return Estimate(np.array([share * group]), mechanism.noise, group, mechanism.epsilon, self.users)

    def error(self, mechanism: PureMechanism, share: float) -> float:
        """Return the standard error of the estimated share."""
        return float(self.estimate(mechanism, share).errors[0]) / self.users

    def detectable(self, mechanism: PureMechanism) -> float | None:
        """Return the f with f - z sd(f) = T_s / n; the left side is convex, so there is one root."""
        threshold = self.estimate(mechanism, 0.0).threshold(tested=mechanism.size) / self.users
        reach = upper_quantile(1 - LEVEL)

        def too_rare(share: float) -> bool:
            return share - reach * self.error(mechanism, share) < threshold

        return None if too_rare(1.0) else bisect(too_rare, 0.0, 1.0).high

    def needed(self, mechanism: PureMechanism, error: float) -> int:
        """Return the users whose reports give a rare value this standard error."""
        per_report = float(mechanism.noise.variances(np.zeros(1), 1)[0])
        return self.questions * ceil(per_report / error**2)

    def alternative(self, mechanism: PureMechanism) -> Alternative:
        errors = self.error(mechanism, 0.0), self.error(mechanism, 1 / mechanism.size)
        return Alternative(mechanism.kind, *errors, mechanism.width)


def _check(users: int, size: int, questions: int, error: float | None) -> None:
    for name, number, least in (("users", users, 1), ("size", size, 2), ("questions", questions, 1)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ParameterError(f"{name} must be a whole number of at least {least}")
    if users < questions:
        raise ParameterError("every question needs at least one user")
    if error is not None and not 0 < error < 1:
        raise ParameterError("a wished error is a share of the users, above 0 and below 1")


def _compared(chosen: PureMechanism) -> list[PureMechanism]:
    others = [_made(kind, chosen) for kind in COMPARED]
    return [one for one in others if one is not None]


def _made(kind: str, chosen: PureMechanism) -> PureMechanism | None:
    if kind == chosen.kind:
        return chosen
    try:
        mechanism_class: Any = Mechanism.kinds[kind]
        mechanism = mechanism_class(epsilon=chosen.epsilon, size=chosen.size)
    except ParameterError:  # no such kind, or it cannot serve this domain
        return None
    return mechanism if isinstance(mechanism, PureMechanism) else None


def _message_bytes(width: int) -> int:
    ids, payloads = np.zeros((1, ID_BYTES), np.uint8), np.zeros((1, width), np.uint8)
    return len(Envelopes(bytes(ID_BYTES), 0, np.zeros(1, np.int64), ids, payloads).write())


def _split_ratio(epsilon: float, questions: int) -> float:
    """Return the variance of splitting epsilon over that of partitioning the users, for unary noise."""
    whole, part = exp(epsilon), exp(epsilon / questions)
    return (part / (part - 1) ** 2) / (questions * whole / (whole - 1) ** 2)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share < 1 else f"{100 * share:,.0f} %"
