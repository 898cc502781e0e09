"""Admission: which messages could be honest.

Everything is checked that can be checked without knowing anybody's answer.  Messages come in by the
thousand.  They are grouped by shape (the headers of their envelopes), each group is one array, and
the mechanism's own strict ``unpack`` looks at all payloads of a group at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.arrays import Bools, Bytes, Ints, Longs
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import HASH_BYTES, Offer
from sottovoce.collector.tickets import Ticket
from sottovoce.core import coin
from sottovoce.errors import CodecError
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, envelope, token_message
from sottovoce.wire.envelope import Envelopes, Header, ShapeGroup
from sottovoce.wire.token_message import TokenMessage


@dataclass
class Admitted:
    """What may go to the store, and the code of every message that may not.

    The messages in an offer are known by ``indices``, one array for every offer.
    """

    offers: list[Offer] = field(default_factory=list)
    indices: list[Ints] = field(default_factory=list)
    codes: dict[int, str] = field(default_factory=dict)

    def refuse(self, indices: Ints, code: str) -> None:
        """Turn messages away."""
        self.codes.update(dict.fromkeys(indices.tolist(), code))


def admit(published: Published, messages: Sequence[bytes], tokens: Sequence[str]) -> Admitted:
    """Return what the messages of one task offer to the store.

    ``tokens`` has one entry per message, or none where the task asks for no tokens.
    """
    if published.issuer is not None:
        return _admit_blind(published, messages)
    tickets: list[Ticket | None] = []
    if published.collection.enrolment:
        given = tokens or [""] * len(messages)
        tickets = [Ticket.of_enrolment(token, published.digest) for token in given]
    return _admit(published, messages, tickets)


def admit_opened(
    published: Published, number: int, messages: Sequence[bytes], tickets: Sequence[Ticket | None]
) -> Admitted:
    """Return what the messages of one batch of a shuffled round offer to the store.

    ``tickets`` are those of the blind tokens, one per message, or none without an issuer.
    """
    return _admit(published, messages, tickets, number)


def _admit_blind(published: Published, messages: Sequence[bytes]) -> Admitted:
    """Return what messages offer that begin with a blind token."""
    kept: list[int] = []
    envelopes: list[bytes] = []
    tickets: list[Ticket | None] = []
    codes: dict[int, str] = {}
    for index, message in enumerate(messages):
        code, data, content = _split(published, message)
        ticket = None if code else Ticket.of_blind_token(data, published)
        if ticket is None:
            codes[index] = code or "token-unknown"
            continue
        kept.append(index)
        envelopes.append(content)
        tickets.append(ticket)
    admitted = _admit(published, envelopes, tickets) if kept else Admitted()
    codes |= {kept[place]: code for place, code in admitted.codes.items()}
    indices = [np.asarray(kept)[chosen] for chosen in admitted.indices]
    return Admitted(admitted.offers, indices, codes)


def _split(published: Published, message: bytes) -> tuple[str, bytes, bytes]:
    """Return the code by which a message is refused, or nothing; its token and its envelopes."""
    try:
        asked = published.asked.get(token_message.round_of(message))
        if asked is None:
            return "too-early", b"", b""
        public_bytes = published.task.plan.domain.public_bytes
        layout = TokenMessage.of(asked, published.task.declares, public_bytes)
        return "", *layout.split(message)
    except CodecError:
        return "malformed", b"", b""


def _admit(
    published: Published,
    messages: Sequence[bytes],
    tickets: Sequence[Ticket | None],
    number: int | None = None,
) -> Admitted:
    admitted = Admitted()
    for shape in envelope.by_shape(messages):
        code = refusal_of_shape(published, shape.headers)
        if not code and number not in (None, shape.headers[0].round):
            code = "malformed"  # sealed for one round, and written for another
        if code:
            admitted.refuse(shape.indices, code)
            continue
        try:
            group = _Group.of(published, shape)
        except CodecError:  # a payload of another width
            admitted.refuse(shape.indices, "malformed")
            continue
        _decide(group, tickets, admitted)
    return admitted


def refusal_of_shape(published: Published, headers: Sequence[Header]) -> str:
    """Return the code by which messages with these headers are refused, or nothing."""
    version = envelope.version_of(published.task)
    if not headers or any(header.version != version for header in headers):
        return "malformed"
    digest = version.task_digest(published.fingerprint)
    if any(header.digest != digest for header in headers):
        return "other-task"
    numbers = {header.round for header in headers}
    if len(numbers) > 1:
        return "incomplete"
    asked = published.asked.get(numbers.pop())
    if asked is None:
        return "too-early"
    flags = envelope.flags_of_task(published.task.declares, asked.slots)
    if any(header.flags != flags for header in headers):
        return "undeclared"
    return ""


@dataclass(frozen=True, eq=False)
class _Group:
    """Messages of one shape; ``envelopes`` are the first of every message, the second, ..."""

    published: Published
    asked: Round
    indices: Ints
    rows: Bytes
    envelopes: list[Envelopes]

    @classmethod
    def of(cls, published: Published, shape: ShapeGroup) -> "_Group":
        """Return the messages with their envelopes read; refuses payloads of another width."""
        asked = published.asked[shape.headers[0].round]
        return cls(published, asked, shape.indices, shape.rows, shape.envelopes(asked.width))

    def well_formed(self) -> Bools:
        """Return which messages have public parts that are canonical documents."""
        good = np.ones(len(self.rows), bool)
        for envelopes in self.envelopes:
            if envelopes.public:
                good &= _each(_is_canonical, envelopes.public)
        return good

    def complete(self) -> Bools:
        """Return which messages hold every slot of their bundle once, in order.

        All envelopes of a message are for one member and of one subject, and carry the same public
        part.
        """
        first = self.envelopes[0]
        good = self._has_all_slots(first.members)
        for slot, envelopes in enumerate(self.envelopes):
            if envelopes.slots is not None:
                good &= envelopes.slots == slot
            if self.asked.ask.bundled:
                good &= envelopes.members == first.members
            if envelopes.subjects is not None:
                good &= (envelopes.subjects == first.subjects).all(axis=1)
            if envelopes.public and slot:
                good &= np.array(list(map(bytes.__eq__, envelopes.public, first.public)))
        return good

    def _has_all_slots(self, members: Ints) -> Bools:
        """Return which messages have as many envelopes as their member has slots."""
        ask = self.asked.ask
        if not ask.bundled:
            return np.full(len(members), ask.slots == len(self.envelopes))
        distinct, which = np.unique(members, return_inverse=True)
        slots = np.array([ask.slots_of(member) for member in distinct.tolist()])
        return np.asarray(slots == len(self.envelopes))[which]

    def possible(self, among: Bools) -> Bools:
        """Return which messages have payloads and a public part that a device can have made."""
        good = among.copy()
        if self.envelopes[0].public:
            good &= _each(self._has_possible_columns, self.envelopes[0].public)
        for slot, envelopes in enumerate(self.envelopes):
            good &= self._payloads_possible(envelopes, slot, among)
        return good

    def _payloads_possible(self, envelopes: Envelopes, slot: int, among: Bools) -> Bools:
        """Return which payloads in a slot their mechanism can have made."""
        good = np.zeros(len(envelopes), bool)
        for question, rows in _questions_of(self.published, self.asked, envelopes, slot, among):
            if len(rows) == len(envelopes):
                good[rows] = _payloads_possible(question, envelopes.payloads)  # without a copy
            else:
                good[rows] = _payloads_possible(question, envelopes.payloads[rows])
        return good

    def _has_possible_columns(self, public: bytes) -> bool:
        try:
            self.published.task.plan.domain.check_public(public)
        except CodecError:
            return False
        return True

    def refusal_of_ticket(self, row: int, ticket: Ticket | None) -> str:
        """Return the code if a ticket cannot pay for a message, or nothing.

        The ticket is missing, or the coin that follows from it asks for something else.
        """
        if ticket is None:
            return "token-missing"
        device = ticket.coin_bytes
        number = 0 if self.published.task.distinct else self.asked.number
        asked_for = self.asked.addresses(lambda slot: coin.choice_coin(device, number, slot))
        members = [int(envelopes.members[row]) for envelopes in self.envelopes]
        if members != [address.member for address in asked_for]:
            return "not-asked"
        if not self.published.checks_round_coins:
            return ""
        asks = self.asked.asks(coin.round_coin(device, self.published.digest))
        return "" if asks else "not-asked"

    def carries_seeds(self, among: Bools, tickets: Sequence[Ticket | None]) -> Bools:
        """Return which messages have the hash seeds that their blind tokens give."""
        good = among.copy()
        for slot, envelopes in enumerate(self.envelopes):
            draws = self._seed_draws(slot, among, tickets)
            for question, rows in _questions_of(self.published, self.asked, envelopes, slot, among):
                payloads = envelopes.payloads[rows][:, : question.width].tobytes()
                reports = question.mechanism.unpack(payloads)
                good[rows] &= question.mechanism.carries_seeds(reports, draws[rows])
        return good

    def _seed_draws(self, slot: int, among: Bools, tickets: Sequence[Ticket | None]) -> Longs:
        """Return the numbers that give the seeds of one slot, and 0 for messages left out."""
        draws = np.zeros(len(among), np.uint64)
        for row in np.flatnonzero(among).tolist():
            ticket = tickets[int(self.indices[row])]
            if ticket is not None and ticket.token is not None:
                draws[row] = ticket.token.seed_draw(self.published.fingerprint, slot)
        return draws

    def offer(self, chosen: Bools, claims: Bytes | None) -> Offer:
        """Return the chosen messages as the store takes them."""
        ids = np.stack([envelopes.ids for envelopes in self.envelopes], axis=1)
        rows = self.rows
        if not chosen.all():
            ids = ids[chosen]
            rows = rows[chosen]
            claims = None if claims is None else claims[chosen]
        number = self.asked.number
        epoch = self.published.epoch(number)
        verified = self.published.collection.issuer is not None
        return Offer(self.published.digest, number, ids, rows, claims, epoch, verified)


def _decide(group: _Group, tickets: Sequence[Ticket | None], admitted: Admitted) -> None:
    """Add the offer of one group, and the codes of what it must not hold."""
    formed = group.well_formed()
    complete = formed & group.complete()
    good = group.possible(complete)
    admitted.refuse(group.indices[~formed], "malformed")
    admitted.refuse(group.indices[formed & ~complete], "incomplete")
    admitted.refuse(group.indices[complete & ~good], "impossible")
    claims = None
    if group.published.needs_token:
        claims = _claims(group, good, tickets, admitted)
    if group.published.collection.fixes_seeds:
        carrying = group.carries_seeds(good, tickets)
        admitted.refuse(group.indices[good & ~carrying], "not-asked")
        good &= carrying
    if good.any():
        admitted.offers.append(group.offer(good, claims))
        admitted.indices.append(group.indices[good])


def _claims(
    group: _Group, good: Bools, tickets: Sequence[Ticket | None], admitted: Admitted
) -> Bytes:
    """Return what the messages claim, and take those off ``good`` that no ticket pays for."""
    claims = np.zeros((len(good), HASH_BYTES), np.uint8)
    for row in np.flatnonzero(good).tolist():
        index = int(group.indices[row])
        ticket = tickets[index]
        if ticket is not None:
            claims[row] = np.frombuffer(ticket.claim, np.uint8)
        code = group.refusal_of_ticket(row, ticket)
        if code:
            good[row] = False
            admitted.codes[index] = code
    return claims


def _each(check: Callable[[bytes], bool], texts: Sequence[bytes]) -> Bools:
    """Return what a check says about every text; equal texts are checked once."""
    verdicts = {text: check(text) for text in set(texts)}
    return np.array([verdicts[text] for text in texts])


def _is_canonical(public: bytes) -> bool:
    try:
        return codec.canonical(codec.parse(public)).encode() == public
    except CodecError:
        return False


def _questions_of(
    published: Published, asked: Round, envelopes: Envelopes, slot: int, among: Bools
) -> Iterator[tuple[Question, Ints]]:
    """Yield one question for every mechanism in a slot, and the rows of the messages with it."""
    rows = np.flatnonzero(among)
    members, which = np.unique(envelopes.members[rows], return_inverse=True)
    addresses = [Address(asked.number, member, slot) for member in members.tolist()]
    for question, answering in _by_mechanism(published, addresses):
        chosen = rows
        if len(answering) < len(members):
            chosen = rows[np.isin(which, answering)]
        yield question, chosen


def _by_mechanism(
    published: Published, addresses: list[Address]
) -> list[tuple[Question, list[int]]]:
    """Return one question for every mechanism, and which of the addresses the mechanism answers.

    A round may have thousands of addresses and a single mechanism.
    """
    groups: dict[int, tuple[Question, list[int]]] = {}
    for index, address in enumerate(addresses):
        question = published.question(address)
        if question is not None:
            _, answering = groups.setdefault(id(question.mechanism), (question, []))
            answering.append(index)
    return list(groups.values())


def _payloads_possible(question: Question, payloads: Bytes) -> Bools:
    padding = payloads[:, question.width :]
    good: Bools = np.logical_not(np.asarray(padding.any(axis=1)))
    good[good] = _unpacks(question, payloads[good][:, : question.width])
    return good


def _unpacks(question: Question, payloads: Bytes) -> Bools:
    """Return which rows unpack, halving the array around those that do not."""
    if not len(payloads):
        return np.zeros(0, bool)
    try:
        question.mechanism.unpack(payloads.tobytes())
    except CodecError:
        if len(payloads) == 1:
            return np.zeros(1, bool)
        half = len(payloads) // 2
        return np.concatenate(
            [_unpacks(question, payloads[:half]), _unpacks(question, payloads[half:])]
        )
    return np.ones(len(payloads), bool)
