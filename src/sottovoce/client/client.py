"""A client: it checks what a task asks, charges the ledger, randomises, and returns a message.

A task is written by a stranger.  What a device sends, when, how long it is, what it charges and
whether it refuses depend on the documents, the ledger, the application and the owner, never on the
value: everything is checked before the value is looked at, and a value outside of the domain is
answered with the response to a random one.

The message of a shuffled task is sealed in the transaction that charges for it, so that the ledger
keeps the bytes that leave and nothing that somebody could open.  Keys and token are there before
the value is looked at.  Where the task says so, the token gives the hash seeds of the reports;
otherwise they are drawn.

Randomness is the operating system's; there is no way to pass in another.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from sottovoce.arrays import Values
from sottovoce.client import spending
from sottovoce.client.accepts import Accepts, changed_field, meaning_of
from sottovoce.client.blind_token import BlindToken
from sottovoce.client.held import held_index, random_index
from sottovoce.client.ledger import MESSAGE_DAYS, DiskLedger
from sottovoce.client.outbox import Posting
from sottovoce.client.permanent import PermanentResponses
from sottovoce.client.sealing import Sealing
from sottovoce.core import coin
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.errors import BudgetError, MismatchError, ParameterError
from sottovoce.tasks.budget import ConditionalSpend, Spend
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec, statement
from sottovoce.wire.envelope import ID_BYTES, Envelope, version_of
from sottovoce.wire.statement import ENGLISH
from sottovoce.wire.token_message import TokenMessage
from sottovoce.wire.tokens import Token

Notify = Callable[[str], None]  # gets the reason why a value was answered with a random one
AddressedQuestion = tuple[Address, Question]
Questions = list[AddressedQuestion]


class Client:
    """Answers one task for one person: once, or once a round if the task is longitudinal.

    ``task`` is the task or its published document.  ``ledger`` is a file that outlives the process
    (``":memory:"`` for experiments).  With an enrolment ``token`` the public coin follows from it.
    ``accepts`` says what the application agrees that a task of this name asks; what it leaves open
    is remembered from the first answer.  ``notify`` is told if a value was outside of the domain,
    in the words of the domain and without the value.
    """

    origin = ""  # the address of the collector, where a device has one

    def __init__(
        self,
        task: Task | Notice | codec.Document | str,
        ledger: DiskLedger | str | Path,
        token: str | None = None,
        accepts: Accepts | None = None,
        notify: Notify | None = None,
    ) -> None:
        self.notice = notice_of(task)
        self.ledger = ledger if isinstance(ledger, DiskLedger) else DiskLedger(ledger)
        self.accepts = Accepts() if accepts is None else accepts
        self._notify = notify
        self._enrolled: bytes | None = None
        if token is not None:
            self._enrolled = coin.enrolled_bytes(token, self.notice.digest)

    @property
    def coin(self) -> int:
        """Return this device's public coin for the task, in units of 2^-64.

        The coin of a shuffled task is nobody else's business: who knows it knows which question a
        person was asked, and hides the person among fewer reports.
        """
        return coin.round_coin(self._device_bytes, self.notice.digest)

    @property
    def rehearsing(self) -> bool:
        """Return whether the task is a rehearsal, answered at random and free of charge."""
        return self.notice.collection is not None and self.notice.collection.sandbox

    def answer(
        self,
        value: Any,
        *,
        asked: Round | None = None,
        posting: Posting | None = None,
        sealing: Sealing | None = None,
    ) -> bytes:
        """Return the message that may leave the device; spends the task's epsilon, once.

        ``asked`` is the round to answer (default: the opening round).  With a ``posting`` the
        ledger queues the message for sending.  A shuffled task needs a ``sealing`` for the round,
        and returns the sealed message.
        """
        asked = asked or self.notice.opening
        questions = self.check(asked)
        self._check_sealing(asked, sealing)
        token = self.blind_token.token() if self.blind_token.is_needed else None
        refusals: list[str] = []

        def make() -> bytes:  # within the ledger's transaction, after the charge
            self._check_first_use()  # another process may have answered meanwhile
            self.agree()
            indices = self._indices(value, refusals)
            envelopes = self._envelopes(indices, asked, questions, token)
            return self._message(envelopes, asked, token, sealing)

        message = self.ledger.answer(self._spend(asked), make, posting)
        if refusals and self._notify is not None:
            self._notify(refusals[0])
        return message

    def check(self, asked: Round | None = None) -> Questions:
        """Return what this device is asked in a round; refuse what nobody agreed to or can answer.

        Nothing is charged, and no value is needed.
        """
        asked = asked or self.notice.opening
        self.check_task(asked)
        if not asked.asks(self.coin):
            raise MismatchError(
                "this round is put to other users: this device's coin lies outside its share"
            )
        return self._questions(asked)

    def check_task(self, asked: Round) -> None:
        """Refuse a task or a round that nobody agreed to, whatever this device's coin is."""
        self.accepts.check(self.notice)
        self._check_first_use()
        self.notice.check_public()
        self.notice.check(asked)

    def agree(self) -> None:
        """Remember what the task asks, in place of what one of its name asked before.

        Call it if the application or the owner agrees that the task has changed.
        """
        self.ledger.agree(self.origin, self.notice.name, self._meaning)

    def resend(self, number: int | None = None) -> bytes:
        """Return the message of a round, or of the last one answered; it never changes."""
        digest = self.notice.digest
        message = self.ledger.message(digest, number)
        if message is not None:
            return message
        if self.ledger.answered(digest, number):
            raise BudgetError(
                f"the message of this task arrived more than {MESSAGE_DAYS} days ago,"
                " and this device has erased it"
            )
        raise BudgetError("this device has not answered this task")

    def statement(self) -> dict[str, Any]:
        """Return what answering means, as plain data."""
        device = spending.spending(self.ledger)
        return {**statement.statement(self.notice), "device": device}

    def explain(self, asked: Round | None = None, language: str = ENGLISH) -> str:
        """Return in words what is asked, what an answer reveals and what the collector promises.

        ``language`` is one of ``wire.statement.LANGUAGES`` (default: English).
        """
        facts = statement.statement(self.notice, asked)
        return statement.explain({**facts, "device": spending.spending(self.ledger)}, language)

    def opt_out(self) -> None:
        """Erase secrets, coins and unsent messages of the task and never answer it again.

        Charges stay.
        """
        self.ledger.opt_out(self.notice.digest)

    @cached_property
    def blind_token(self) -> BlindToken:
        """Return this device's blind token for the task: whether there must be one, and is."""
        return BlindToken(self.ledger, self.notice)

    @cached_property
    def _meaning(self) -> str:
        return meaning_of(self.notice)

    @property
    def _device_bytes(self) -> bytes:
        """Return the bytes behind the coins; a token gives them, so that nobody chooses them."""
        given = self.blind_token.coin_bytes() if self.blind_token.is_needed else self._enrolled
        return self.ledger.coin(self.notice.digest, given)

    def _check_first_use(self) -> None:
        """Refuse a task that asks for something else than the last time under its name.

        What the application states may change; what it leaves open may not.
        """
        name = self.notice.name
        before = self.ledger.meaning(self.origin, name)
        changed = changed_field(before, self._meaning, self.accepts.stated)
        if changed is not None:
            raise MismatchError(
                f"the task {name!r} asks for something else than when this device first answered"
                f" it: `{changed}` has changed; call agree() if the app or the owner agrees"
            )

    def _check_sealing(self, asked: Round, sealing: Sealing | None) -> None:
        """Refuse a shuffled task without keys for this round, and keys for any other task."""
        if sealing is not None:
            sealing.check(self.notice, asked)
        elif self.notice.shuffle is not None:
            raise ParameterError(
                "`sealing` is missing: a shuffled task is answered with the keys of its round"
            )

    def _spend(self, asked: Round) -> Spend:
        return Spend(
            task=self.notice.digest,
            epsilon=0.0 if self.rehearsing else self.notice.epsilon,
            round=asked.number,
            longitudinal=self.notice.distinct is not None,
            conditional=self._conditional(),
        )

    def _conditional(self) -> ConditionalSpend | None:
        """Return what a shuffled answer reveals to the collector if a shuffler is honest."""
        shuffle = self.notice.shuffle
        if shuffle is None or self.rehearsing or shuffle.central >= self.notice.epsilon:
            return None
        return ConditionalSpend(shuffle.central, shuffle.delta)

    def _indices(self, value: Any, refusals: list[str]) -> Any:
        """Return the index of a value, or of a random one; a refusal by the domain is noted.

        A rehearsal never looks at the value.
        """
        if self.rehearsing:
            return random_index(self.notice.domain)
        held = held_index(self.notice.domain, value)
        if held.refusal:
            refusals.append(held.refusal)
        return held.indices

    def _message(
        self, envelopes: bytes, asked: Round, token: Token | None, sealing: Sealing | None
    ) -> bytes:
        """Return the envelopes with the token that pays for them, as they leave the device."""
        token_bytes = b"" if token is None else token.to_bytes()
        if sealing is not None:
            return sealing.seal(envelopes, token_bytes)
        if token is None:
            return envelopes
        public_bytes = self.notice.domain.public_bytes
        layout = TokenMessage.of(asked, self.notice.declares, public_bytes)
        return layout.join(token_bytes, envelopes)

    def _envelopes(
        self, indices: Any, asked: Round, questions: Questions, token: Token | None
    ) -> bytes:
        """Return one envelope for every question, one after another; this draws all randomness."""
        rng = SystemRng()
        subject = bytes(rng.bytes(ID_BYTES)) if "subject" in self.notice.declares else None
        public = b"".join(self.notice.domain.public_parts(indices))  # of one person: one or none
        width = asked.width
        slotted = asked.slots > 1
        version = version_of(self.notice)
        digest = version.task_digest(self.notice.fingerprint)
        envelopes = []
        for address, question in questions:
            payload = self._report(indices, (address, question), token, rng).ljust(width, b"\0")
            envelope = Envelope(
                digest=digest,
                round=asked.number,
                member=address.member,
                id=bytes(rng.bytes(ID_BYTES)),
                payload=payload,
                subject=subject,
                slot=address.slot if slotted else None,
                public=public,
                version=version,
            )
            envelopes.append(envelope.write())
        return b"".join(envelopes)

    def _report(
        self, indices: Values, asked: AddressedQuestion, token: Token | None, rng: Rng
    ) -> bytes:
        """Return the packed report to one question."""
        address, question = asked
        if self.notice.distinct is not None:
            permanent = PermanentResponses(self.ledger, self.notice)
            return question.mechanism.pack(permanent.report(indices, address, question, rng))
        if token is None or not self.notice.fixes_seeds:
            return question.report(indices, rng)
        draw = token.seed_draw(self.notice.fingerprint, address.slot)
        return question.report(indices, rng, draw)

    def _questions(self, asked: Round) -> Questions:
        """Return what this device is asked; in a longitudinal task the same in every round."""
        number = asked.number if self.notice.distinct is None else 0
        addresses = asked.addresses(lambda slot: coin.choice_coin(self._device_bytes, number, slot))
        return [(address, self._checked(asked.question(address))) for address in addresses]

    def _checked(self, question: Question) -> Question:
        question.check_domain(self.notice.domain)
        if self.notice.distinct is not None:
            PermanentResponses(self.ledger, self.notice).check(question)
        return question


def notice_of(task: Task | Notice | codec.Document | str) -> Notice:
    """Return the notice of a task, of its document, or of the document's text."""
    if isinstance(task, Notice):
        return task
    if isinstance(task, Task):
        return codec.publish(task)
    return codec.notice(codec.parse(task) if isinstance(task, str) else task)
