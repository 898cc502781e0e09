"""Joint tables on request: those of any attributes of a task's records, and how all attributes hang together.

Tables are made when they are asked for, so there is a limit to their cells.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.outcome import Outcome
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.marginal_answers import SEPARATOR, MarginalAnswers
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan

MOST_CELLS = 1024  # of a table: its covariance has the square of that
MOST_ATTRIBUTES = 24  # of which all pairs are looked at


def chosen(answer: Outcome, wanted: Sequence[str], plan: Plan) -> Answer:
    """Return the table of some attributes, named one at a time or with commas between them."""
    if not isinstance(plan, Marginals):
        raise ParameterError("only a task about joint tables has a marginal of chosen attributes")
    names = named(wanted, plan)
    if prod(_size(plan, name) for name in names) > MOST_CELLS:
        raise ParameterError(f"a table on request has at most {MOST_CELLS:,} cells: name fewer attributes")
    if isinstance(answer, MarginalAnswers):
        return answer.marginal(*names)
    assert isinstance(answer, Answers)  # what was kept when the reports were erased
    if SEPARATOR.join(names) not in answer:
        raise NoDataError("the reports of this task are erased, and this table is not among those that were kept")
    return answer[SEPARATOR.join(names)]


def named(wanted: Sequence[str], plan: Marginals) -> tuple[str, ...]:
    """Return the attributes that somebody names, in the order of the task.

    >>> named(["b,a"], Marginals({"a": ["x", "y"], "b": ["x", "y"]}, users=10, order=1))
    ('a', 'b')
    """
    known = plan.domain.names
    names = [name for text in wanted for name in ([text] if text in known else text.split(","))]
    if not names or set(names) - set(known) or len(set(names)) < len(names):
        raise ParameterError(f"a marginal is of some of the attributes {', '.join(known)}, each once")
    return tuple(sorted(names, key=known.index))


def structure(answer: Any, collection: Collection) -> dict[str, Any] | None:
    """Return what every pair of attributes tells about each other, and the tree of the pairs that tell the most.

    Nothing where reports do not say, are too few or are erased, or where there is too much to look at.
    """
    if not isinstance(answer, MarginalAnswers) or answer.users < collection.minimum:
        return None
    largest = sorted(answer.plan.sizes)[-2:]
    if not 2 <= len(answer.plan.sizes) <= MOST_ATTRIBUTES or prod(largest) > MOST_CELLS:
        return None
    try:
        information, edges = answer.information(), answer.tree().edges
    except (ParameterError, NoDataError):
        return None  # a method that asked about no pairs, or nobody whose coin fell on some
    names = answer.plan.domain.names
    tree = [(names[one], names[other], float(information[one, other])) for one, other in edges]
    return {"names": list(names), "information": information.tolist(), "tree": tree}


def dependence(answer: Any, names: Sequence[str], collection: Collection) -> Mapping[str, Any] | None:
    """Return what a test that knows the noise says about the independence of two attributes; nothing for others."""
    if not isinstance(answer, MarginalAnswers) or len(names) != 2 or answer.users < collection.minimum:
        return None
    try:
        found = answer.dependence(*names)
    except NoDataError as error:
        return {"unknown": str(error)}
    return {"statistic": found.statistic, "degrees": found.degrees, "p_value": found.p_value}


def _size(plan: Marginals, name: str) -> int:
    return plan.sizes[plan.domain.names.index(name)]
