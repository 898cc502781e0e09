"""The rules that a task and its notice share: texts, declared fields, price and size of a round."""

from typing import TYPE_CHECKING, Protocol

from sottovoce.core import bounds, settings
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.tasks.shuffle import Shuffle

if TYPE_CHECKING:
    from sottovoce.tasks.plan import Plan

DECLARABLE = ("subject", "public")  # the optional fields of a report that a task may declare
MAX_DISTINCT = (1 << 16) - 1
DIRECT_ENVELOPE = 1  # the version of the envelopes of tasks whose devices send to the collector
SHUFFLED_ENVELOPE = 2  # the version of those whose devices send to a shuffler
# By version: at least as many bytes as the fields of an envelope take beside public part and
# payload.
ENVELOPE_BYTES = {1: 64, 2: 80}


def check_name(name: str) -> None:
    """Refuse a task name that is empty, too long, or shows less than it holds."""
    settings.text("name", name)
    settings.plain_text("name", name, bounds.MAX_TASK_NAME)


def check_description(description: str) -> None:
    """Refuse a description that is too long, or shows less than it holds."""
    settings.plain_text("description", description, bounds.MAX_DESCRIPTION)


def check_declared(declares: tuple[str, ...]) -> None:
    """Refuse fields that no task may declare, and a field that is declared twice."""
    for field in declares:
        settings.choice("declares", field, DECLARABLE)
    settings.distinct("declares", declares)


def check_distinct(distinct: int | None) -> None:
    """Refuse a number of distinct values that no longitudinal task can pay for."""
    if distinct is not None:
        settings.whole("distinct", distinct, 1, MAX_DISTINCT)


def check_price(asked: Round, epsilon: float, distinct: int | None) -> None:
    """Refuse a round that costs more than its task states.

    A longitudinal task pays for every distinct value.
    """
    check_distinct(distinct)
    if exact.stated(asked.epsilon) * (distinct or 1) > exact.stated(epsilon):
        raise ParameterError("this round spends more than the `epsilon` that its task states")


def check_message(
    asked: Round,
    public_bytes: int,
    distinct: int | None = None,
    envelope_version: int = DIRECT_ENVELOPE,
) -> None:
    """Refuse a round whose messages would be too long or slow to make; none is made to find out.

    ``public_bytes`` is the most that the public part of a report may take.  A longitudinal task,
    one with ``distinct``, may ask for fewer bytes, because devices derive the noise of each.
    """
    report_bytes = asked.width
    slots = asked.slots
    message_bytes = slots * (ENVELOPE_BYTES[envelope_version] + public_bytes + report_bytes)
    if message_bytes > bounds.MAX_MESSAGE_BYTES:
        raise ParameterError(
            f"a message of this round may have up to {message_bytes:,} bytes,"
            f" and {bounds.MAX_MESSAGE_BYTES:,} are allowed"
        )
    if distinct is not None and slots * report_bytes > bounds.MAX_REMEMBERED_BYTES:
        raise ParameterError(
            f"a longitudinal answer may have up to {bounds.MAX_REMEMBERED_BYTES:,} bytes of"
            f" reports, and this round asks for {slots * report_bytes:,}"
        )
    steps = slots * max(question.mechanism.steps for question in asked.ask.representatives())
    if steps > bounds.MAX_STEPS:
        raise ParameterError(
            f"a message of this round may take {steps:,} draws one after another,"
            f" and {bounds.MAX_STEPS:,} are allowed"
        )


def check_fakes(plan: "Plan", asked: Round) -> None:
    """Refuse fakes where nobody could say what they do to the numbers."""
    remedy = "set `fakes` to 0; `against_users` is then the local epsilon"
    if not plan.takes_fakes:
        raise ParameterError(
            f"`fakes` must be 0 for the plan {plan.kind!r}, which reads reports directly and cannot"
            f" take away what fakes add: {remedy}"
        )
    for question in asked.ask.representatives():
        if not question.mechanism.takes_fakes:
            raise ParameterError(
                f"`fakes` must be 0 for the mechanism {question.mechanism.kind!r}, of which the"
                f" votes of fakes are not known: {remedy}"
            )


def check_tokens(collection: Collection | None, distinct: int | None) -> None:
    """Refuse a longitudinal task with blind tokens: a token pays for one message only."""
    if distinct is not None and collection is not None and collection.issuer is not None:
        raise ParameterError(
            "`issuer` must be left out of a longitudinal task: a blind token pays for one message,"
            " and here a device sends one in every round. Use `enrolment = true`"
        )


class _Shuffled(Protocol):
    """What the rules of shuffling look at: a task, or its notice."""

    @property
    def declares(self) -> tuple[str, ...]: ...

    @property
    def distinct(self) -> int | None: ...

    @property
    def collection(self) -> Collection | None: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def rounds(self) -> RoundLimits | None: ...


def check_shuffle(shuffle: Shuffle, task: _Shuffled, asked: Round) -> None:
    """Refuse a shuffle that hides less than it promises, or nothing at all.

    A longitudinal task sends the same permanent response in every round, which is a pseudonym.
    Public columns and enrolment tokens tell messages apart as well.  The document promises the same
    for all its rounds, of which it states the opening only: whatever the others ask must keep it.
    """
    if task.distinct is not None:
        raise ParameterError(
            "`distinct` must be left out of a shuffled task: permanent responses link the messages"
            " of one person"
        )
    if "public" in task.declares:
        raise ParameterError(
            "`declares` must not hold 'public' in a shuffled task: a person hides only among those"
            " with equal public columns"
        )
    if task.collection is not None and task.collection.enrolment:
        raise ParameterError(
            "`enrolment` must be false in a shuffled task: a token would tell whose message it is."
            " Use blind tokens (`issuer`)"
        )
    shuffle.check(asked.ask.blanket)
    if task.rounds is not None:
        shuffle.check_later_rounds(task.epsilon)
