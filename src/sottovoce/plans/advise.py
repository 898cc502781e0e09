"""Advice about any plan before anybody is asked, for Python and the command line."""

from dataclasses import fields
from inspect import signature
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.plan import Plan


def advise(
    plan: Plan | None = None, *, users: int, epsilon: float, size: int | None = None, **wishes: Any
) -> Advice:
    """Return what to expect when ``users`` people answer a plan at an ``epsilon``.

    ``size`` instead of a plan asks about a histogram of so many values.  ``wishes`` are further
    questions, such as ``error=0.005`` for the users that a histogram needs; each plan's ``advise``
    lists those it answers.

    >>> advise(users=50_000, size=1_000, epsilon=1.0, error=0.005).users_needed
    147292
    """
    if (plan is None) == (size is None):
        raise ParameterError("give either a `plan` or the `size` of a domain, not both")
    if plan is not None:
        parameters = signature(plan.advise).parameters.values()
        _check_wishes(wishes, [each.name for each in parameters if each.kind is each.KEYWORD_ONLY])
        return plan.advise(users, epsilon, **wishes)
    from sottovoce.plans.frequencies.advice import HistogramWishes, advise_histogram

    _check_wishes(wishes, [wish.name for wish in fields(HistogramWishes)])
    return advise_histogram(users, size, epsilon, **wishes)  # type: ignore[arg-type]


def _check_wishes(wishes: dict[str, Any], known: list[str]) -> None:
    unknown = [wish for wish in wishes if wish not in known]
    if unknown:
        allowed = f"it takes {', '.join(known)}" if known else "it takes no wishes"
        raise ParameterError(f"advice about this plan does not take `{unknown[0]}`: {allowed}")
