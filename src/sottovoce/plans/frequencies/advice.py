"""Advice before a histogram is collected: mechanism, error, users and bytes.

Every number follows from the exact variance of the mechanism at the asked size, with the drawing of
groups; nothing is simulated.

Source: Wang 2021, equation 3.2 and sections 3.4 and 3.5.2.
"""

from dataclasses import asdict, dataclass
from math import ceil, exp
from typing import Any

import numpy as np

from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.maths.bisection import bisect
from sottovoce.maths.normal import quantile, upper_quantile
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.plans.frequencies.choose_mechanism import DEFAULT_RULE, choose
from sottovoce.tasks.advice import Advice
from sottovoce.wire.envelope import ID_BYTES, Envelopes

LEVEL = 0.95  # of the margin, and the chance with which a detectable value is detected
COMPARED = ("grr", "subset", "affine", "oue", "olh")


@dataclass(frozen=True)
class Alternative:
    """Another mechanism: its standard errors as shares of the users, and its bytes."""

    mechanism: str
    error: float
    average_error: float
    report_bytes: int


@dataclass(frozen=True)
class HistogramAdvice(Advice):
    """Expected errors of a collection; errors and ``detectable`` are shares of all users.

    - ``error`` is the standard error of a rare value.
    - ``average_error`` is the root mean square of the errors over the domain.
    - ``detectable`` is the share of a value that passes the significance threshold (0.05 for all
      values together) with probability 0.95.  It is None if no share does.
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

    def __str__(self) -> str:
        asked = f", {self.questions} questions" if self.questions > 1 else ""
        people = f"{self.users:,} users, {self.size:,} values"
        title = f"Advice for {people}, epsilon {self.epsilon:g}{asked}"
        width = max(len(name) for name, _ in self._lines())
        lines = [f"  {name:<{width}}  {text}" for name, text in self._lines()]
        return "\n".join([title, "", *lines, "", *self._table()])

    def _lines(self) -> list[tuple[str, str]]:
        people = f"{self.error * self.users:,.0f} people"
        lines = [
            ("mechanism", f"{self.mechanism}: {self.reason}"),
            (
                "a rare value",
                f"standard error {_percent(self.error)} ({people}),"
                f" 95 % margin ± {_percent(self.margin)}",
            ),
            (
                "over all values",
                f"standard error {_percent(self.average_error)} (root mean square)",
            ),
            ("detectable", self._detection()),
            (
                "bytes",
                f"{self.report_bytes} a report, {self.message_bytes} a message with its envelope",
            ),
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
        return (
            f"a value held by {_percent(self.detectable)} stands out of the noise 95 times in 100"
        )

    def _partition(self) -> str:
        group = self.users // self.questions
        return (
            "ask each user one, drawn at random, with the whole epsilon"
            f" ({group:,} reports a question); splitting epsilon over all {self.questions}"
            f" would multiply the variance by {self.split_ratio:.2f}"
        )

    def _table(self) -> list[str]:
        lines = [f"  {'mechanism':<10}  {'rare value':>10}  {'all values':>10}  {'bytes':>7}"]
        for each in self.alternatives:
            mark = "  <- advised" if each.mechanism == self.mechanism else ""
            errors = f"{_percent(each.error):>10}  {_percent(each.average_error):>10}"
            lines.append(f"  {each.mechanism:<10}  {errors}  {each.report_bytes:>7,}{mark}")
        return lines


@dataclass(frozen=True)
class HistogramWishes:
    """Further options of advice about a histogram.

    - ``questions`` is the number of questions that the users are divided among.
    - ``error`` is a wished standard error, as a share of the users.
    - ``rule`` says how a mechanism is chosen.
    - ``mechanism`` is one to compare with.
    """

    questions: int = 1
    error: float | None = None
    rule: str = DEFAULT_RULE
    mechanism: str = ""

    def __post_init__(self) -> None:
        if self.error is not None and not 0 < self.error < 1:
            raise ParameterError(
                "`error` must be a share of the users between 0 and 1, both excluded"
            )


def advise_histogram(users: int, size: int, epsilon: float, **wishes: Any) -> HistogramAdvice:
    """Return the mechanism to use and its expected errors.

    ``wishes`` are those of HistogramWishes.

    >>> advise_histogram(users=50_000, size=1_000, epsilon=1.0, error=0.005).users_needed
    147292
    """
    wished = HistogramWishes(**wishes)
    _check(users, size, wished.questions)
    chosen = choose(size, settings.epsilon("epsilon", epsilon), wished.rule)
    respondents = Respondents(users, wished.questions)
    mechanism = chosen.mechanism
    rare = respondents.error(mechanism, 0.0)
    return HistogramAdvice(
        users=users,
        size=size,
        epsilon=mechanism.epsilon,
        questions=wished.questions,
        mechanism=mechanism.kind,
        reason=chosen.reason,
        error=rare,
        average_error=respondents.error(mechanism, 1 / size),
        margin=quantile(LEVEL) * rare,
        detectable=respondents.detectable(mechanism),
        report_bytes=mechanism.width,
        message_bytes=_message_bytes(mechanism.width),
        split_ratio=_split_ratio(mechanism.epsilon, wished.questions),
        wished_error=wished.error,
        users_needed=None if wished.error is None else respondents.needed(mechanism, wished.error),
        alternatives=tuple(map(respondents.alternative, _compared(mechanism, wished.mechanism))),
    )


@dataclass(frozen=True)
class Respondents:
    """How many people there are, and over how many questions they are partitioned."""

    users: int
    questions: int

    def estimate(self, mechanism: PureMechanism, share: float) -> Estimate:
        """Return the expected estimate of a value that this share of the users hold."""
        group = self.users // self.questions
        return Estimate(
            np.array([share * group]), mechanism.noise, group, mechanism.epsilon, self.users
        )

    def error(self, mechanism: PureMechanism, share: float) -> float:
        """Return the standard error of the estimated share."""
        return float(self.estimate(mechanism, share).errors[0]) / self.users

    def detectable(self, mechanism: PureMechanism) -> float | None:
        """Return the f with f - z sd(f) = T_s / n; the left side is convex, so there is one."""
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


def _check(users: int, size: int, questions: int) -> None:
    for name, number, least in (
        ("users", users, 1),
        ("size", size, 2),
        ("questions", questions, 1),
    ):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ParameterError(f"`{name}` must be a whole number of at least {least}")
    if users < questions:
        raise ParameterError("`users` must be at least as many as `questions`")


def _compared(chosen: PureMechanism, named: str) -> list[PureMechanism]:
    """Return the usual mechanisms, and the one named in the wishes."""
    kinds = dict.fromkeys((*COMPARED, *([named] if named else [])))
    mechanisms = [_made(kind, chosen) for kind in kinds]
    return [mechanism for mechanism in mechanisms if mechanism is not None]


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
    ids = np.zeros((1, ID_BYTES), np.uint8)
    payloads = np.zeros((1, width), np.uint8)
    return len(Envelopes(bytes(ID_BYTES), 0, np.zeros(1, np.int64), ids, payloads).write())


def _split_ratio(epsilon: float, questions: int) -> float:
    """Return the variance of splitting epsilon over that of dividing the users (unary noise)."""
    whole = exp(epsilon)
    part = exp(epsilon / questions)
    return (part / (part - 1) ** 2) / (questions * whole / (whole - 1) ** 2)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share < 1 else f"{100 * share:,.0f} %"
