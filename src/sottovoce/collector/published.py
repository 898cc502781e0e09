"""A published task: its record in the store, the task in it, and the rounds asked so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp

from sottovoce.collector.store.base import TAKING, RoundRecord, TaskRecord
from sottovoce.core import settings
from sottovoce.core.too_few_users import TooFewUsersError
from sottovoce.errors import ParameterError
from sottovoce.tasks.collection import ISSUER_KEY_BYTES, Collection
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.tokens import IssuerPublicKey

OPEN_TO_ANYBODY = (
    "anybody can send reports to this task, and as many as they like: with `enrolment = true` every"
    " message needs a token that you have issued, and with `issuer`, the key that `sottovoce token"
    " issuer` prints, a blind one"
)

SHUFFLED_TO_ANYBODY = (
    "anybody can send reports to this task, and as many as they like, also to single out one"
    " person: with `issuer`, the key that `sottovoce token issuer` prints, every report needs a"
    " blind token"
)


MAX_USUAL_EPSILON = 4.0  # beyond it a report is a deterrent to whoever reads it, hardly a shield


@dataclass(frozen=True)
class Published:
    """A task and its progress; immutable, so that threads may share it."""

    record: TaskRecord
    task: Task
    rounds: tuple[RoundRecord, ...]
    # Caches by document and by address: reading takes long, and the results never change.
    _asked: dict[str, Round] = field(default_factory=dict, repr=False, compare=False)
    _questions: dict[Address, Question] = field(default_factory=dict, repr=False, compare=False)
    _prepared: set[str] = field(default_factory=set, repr=False, compare=False)  # documents

    @classmethod
    def of(cls, record: TaskRecord, rounds: Sequence[RoundRecord]) -> "Published":
        """Return the task in a record."""
        return cls(record, codec.task(codec.parse(record.document)), tuple(rounds))

    @property
    def digest(self) -> str:
        return self.record.digest

    @cached_property
    def fingerprint(self) -> bytes:
        """Return the SHA-256 of the task's document, of which envelopes carry the beginning."""
        return codec.fingerprint(self.record.document)

    @property
    def collection(self) -> Collection:
        """Return how the task is collected."""
        assert self.task.collection is not None  # tasks are published with their settings
        return self.task.collection

    @cached_property
    def issuer(self) -> IssuerPublicKey | None:
        """Return the key behind the task's blind tokens, None if it needs none."""
        key = self.collection.issuer
        if key is None:
            return None
        return IssuerPublicKey(settings.base64url("issuer", key, ISSUER_KEY_BYTES))

    @property
    def concerns(self) -> tuple[str, ...]:
        """Return what speaks against collecting like this: the plan, epsilon, and strangers."""
        return concerns_of(self.task)

    @property
    def needs_token(self) -> bool:
        """Return whether a report needs a token, an enrolment token or a blind one."""
        return self.collection.needs_token

    @property
    def checks_round_coins(self) -> bool:
        """Return whether the coin of a token must deal the round that it is used in.

        Not where hops add fakes: a hop needs tokens for the round at hand, whatever their coins.
        """
        return self.task.shuffle is None or not self.task.shuffle.fakes

    @property
    def fakes(self) -> int:
        """Return how many messages of a round are fakes that hops have added."""
        return 0 if self.task.shuffle is None else self.task.shuffle.total_fakes

    @property
    def least_users(self) -> int:
        """Return with how many users a round is released: as many as every promise needs."""
        if self.task.shuffle is None:
            return self.collection.minimum
        return max(self.collection.minimum, self.task.shuffle.users)

    def users_of(self, record: RoundRecord) -> int:
        """Return how many people answered a round: its messages without the fakes."""
        return max(0, record.users - self.fakes)

    @cached_property
    def asked(self) -> dict[int, Round]:
        """Return the rounds asked so far, by number."""
        for record in self.rounds:
            if record.document not in self._asked:
                self._asked[record.document] = codec.round_(codec.parse(record.document))
        return {record.number: self._asked[record.document] for record in self.rounds}

    def question(self, address: Address) -> Question | None:
        """Return the question at an address, or None; of equal questions the first."""
        asked = self.asked[address.round]
        alike = asked.ask.shared_mechanism is not None
        if alike and address.member < asked.ask.member_count:
            address = Address(address.round, 0, address.slot)
        if address not in self._questions:
            try:
                self._questions[address] = asked.question(address)
            except ParameterError:
                return None
        return self._questions[address]

    @property
    def prepared(self) -> bool:
        """Return whether reports can be checked at once, without making questions first."""
        return self._prepared.issuperset(self._taking)

    @cached_property
    def _taking(self) -> tuple[str, ...]:
        """Return the documents of the rounds that take reports."""
        return tuple(record.document for record in self.rounds if record.state in TAKING)

    def prepare(self) -> None:
        """Make the questions of the rounds that take reports; other threads run meanwhile."""
        for record in self.rounds:
            if record.state in TAKING:
                self._make_questions(self.asked[record.number])
                self._prepared.add(record.document)

    def _make_questions(self, asked: Round) -> None:
        alike = asked.ask.shared_mechanism is not None
        asked.width  # noqa: B018 - looks at every mechanism once, and is kept by the ask
        for slot in range(asked.slots):
            member = 0
            while self.question(Address(asked.number, member, slot)) is not None and not alike:
                member += 1

    def quota(self, number: int) -> int:
        """Return the number of users after which a round closes; 0 means no limit.

        It is the round's share of the task's quota, and never below the minimum, because a round
        with fewer users could not be released.
        """
        quota = self.collection.quota
        return max(self.asked[number].part(quota), self.collection.minimum) if quota else 0

    @property
    def last(self) -> RoundRecord:
        """Return the latest round."""
        return self.rounds[-1]

    @property
    def state(self) -> str:
        """Return the state that clients see: open, closing, sealed (between rounds) or finished."""
        if self.record.finished is not None:
            return "finished"
        return self.last.state.value if self.last.state in TAKING else "sealed"

    @property
    def shown_state(self) -> str:
        """Return the state that operators and analysts see: that of clients, or failed."""
        return "failed" if self.record.failure else self.state

    def check_enough_users(self) -> None:
        """Refuse to close the open round while it has too few users for a release."""
        users = self.users_of(self.last)
        if self.last.state in TAKING and users < self.least_users:
            raise TooFewUsersError(
                f"round {self.last.number} has {users:,} of the {self.least_users:,} users that "
                "its release needs: closed now, the task fails for ever. Wait for more users, or "
                "close it by force"
            )

    def epoch(self, round_number: int) -> int:
        """Return the epoch of a round: an enrolment token buys one message per epoch."""
        return round_number if self.task.distinct else 0

    def after(self, record: TaskRecord, rounds: Sequence[RoundRecord]) -> "Published":
        """Return the same task with newer records, without reading its document again."""
        caches = (self._asked, self._questions, self._prepared)
        return Published(record, self.task, tuple(rounds), *caches)


def concerns_of(task: Task) -> tuple[str, ...]:
    """Return what speaks against publishing a task: its plan, its epsilon, and strangers."""
    concerns = [*task.concerns, *_concerns_of_epsilon(task)]
    if task.collection is None or not task.collection.needs_token:
        concerns.append(OPEN_TO_ANYBODY if task.shuffle is None else SHUFFLED_TO_ANYBODY)
    return tuple(concerns)


def _concerns_of_epsilon(task: Task) -> list[str]:
    epsilon = task.epsilon
    if task.shuffle is not None or epsilon <= MAX_USUAL_EPSILON:
        return []
    return [
        f"epsilon {epsilon:g} protects little: whoever sees a report can change their odds "
        f"about an answer by a factor of {exp(epsilon):,.3g}. Most collections ask for at most "
        f"{MAX_USUAL_EPSILON:g}"
    ]
