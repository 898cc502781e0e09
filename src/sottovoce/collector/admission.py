"""Which messages could be honest: everything is checked that can be checked without knowing anybody's answer.

Messages come in by the thousand.  They are grouped by shape (the headers of their envelopes), each group is one
array, and the mechanism's own strict ``unpack`` looks at all its payloads at once.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Bytes, Ints
from sottovoce.collector import access
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import HASH_BYTES, Offer
from sottovoce.core import coin
from sottovoce.domains.tables import Tables
from sottovoce.errors import CodecError
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, envelope
from sottovoce.wire.envelope import HEADER_BYTES, Envelopes


@dataclass
class Admitted:
    """What may go to the store, whose messages those are, and the code of every message that may not."""

    offers: list[Offer] = field(default_factory=list)
    places: list[Ints] = field(default_factory=list)
    codes: dict[int, str] = field(default_factory=dict)

    def refuse(self, places: Ints, code: str) -> None:
        """Turn messages away."""
        self.codes.update(dict.fromkeys(places.tolist(), code))


def admit(published: Published, messages: Sequence[bytes], tokens: Sequence[str]) -> Admitted:
    """Return what the messages of one task offer; ``tokens`` is as long, or empty where none are asked for."""
    admitted = Admitted()
    for shape, group, rows in _groups(messages):
        places = np.asarray(group)
        if code := _misshapen(published, shape):
            admitted.refuse(places, code)
            continue
        try:
            _decide(_group(published, shape, rows, places), tokens, admitted)
        except CodecError:
            admitted.refuse(places, "malformed")  # a payload of another width
    return admitted


def _groups(messages: Sequence[bytes]) -> Iterator[tuple[bytes, Any, Bytes]]:
    """Yield the shapes of the messages, with the places and the bytes of those that have it."""
    if len(set(map(len, messages))) == 1 and len(messages[0]) >= HEADER_BYTES:
        rows = _stacked(messages)
        alike = (rows[:, :8] == rows[0, :8]).all() and (rows[:, 12:28] == rows[0, 12:28]).all()
        if alike and int.from_bytes(messages[0][4:8], "little") == len(messages[0]):
            yield _shape(messages[0]), np.arange(len(messages)), rows  # what honest devices send, nearly always
            return
    groups: dict[bytes, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        groups[_shape(message)].append(place)
    for shape, group in groups.items():
        yield shape, group, _stacked([messages[place] for place in group]) if shape else np.zeros((0, 0), np.uint8)


def _stacked(messages: Sequence[bytes]) -> Bytes:
    return np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)


def _shape(message: bytes) -> bytes:
    """Return the headers of a message's envelopes without ids and members; nothing if it cannot be cut into them."""
    length = int.from_bytes(message[4:8], "little")
    if length == len(message) >= HEADER_BYTES:
        return envelope.head(message)  # nearly all messages are one envelope
    shape, position = b"", 0
    while position < len(message):
        piece = message[position : position + int.from_bytes(message[position + 4 : position + 8], "little")]
        if len(piece) < HEADER_BYTES or len(piece) != int.from_bytes(piece[4:8], "little"):
            return b""
        shape += envelope.head(piece)
        position += len(piece)
    return shape


def _heads(shape: bytes) -> list[bytes]:
    return [shape[start : start + 24] for start in range(0, len(shape), 24)]


def _misshapen(published: Published, shape: bytes) -> str:
    """Return why no message of this shape can be taken, or nothing."""
    heads = _heads(shape)
    if not heads or any(head[0] != envelope.VERSION or head[1] >= 2 * envelope.PUBLIC for head in heads):
        return "malformed"
    if any(head[8:] != published.digest_bytes for head in heads):
        return "other-task"
    numbers = {int.from_bytes(head[2:4], "little") for head in heads}
    if len(numbers) > 1:
        return "incomplete"
    asked = published.asked.get(numbers.pop())
    if asked is None:
        return "too-early"
    return "" if {head[1] for head in heads} == {_flags(published, asked)} else "undeclared"


def _flags(published: Published, asked: Round) -> int:
    declared = published.task.declares
    flags = envelope.SUBJECT * ("subject" in declared) | envelope.PUBLIC * ("public" in declared)
    return flags | envelope.SLOT * (asked.slots > 1)


@dataclass(frozen=True, eq=False)
class _Group:
    """Messages of one shape: ``pieces`` are their envelopes slot by slot."""

    published: Published
    asked: Round
    places: Ints
    rows: Bytes
    pieces: list[Envelopes]

    @property
    def one_member(self) -> bool:
        """Return whether a message answers one member of a choice between bundles, in all its slots."""
        return self.asked.ask.bundled

    def complete(self) -> Bools:
        """Return which messages hold every slot of their bundle once, in order.

        All are for one member and of one subject, and carry the same public part.
        """
        first = self.pieces[0]
        good = np.zeros(len(self.rows), bool)
        for member in np.unique(first.members).tolist() if self.one_member else [0]:
            fits = _slots(self.asked, member) == len(self.pieces)
            good |= fits & ((first.members == member) | (not self.one_member))
        for slot, piece in enumerate(self.pieces):
            if piece.slots is not None:
                good &= piece.slots == slot
            if self.one_member:
                good &= piece.members == first.members
            if piece.subjects is not None:
                good &= (piece.subjects == first.subjects).all(axis=1)
            if piece.public and slot:
                good &= np.array([one == other for one, other in zip(piece.public, first.public, strict=True)])
        return good

    def well_formed(self) -> Bools:
        """Return which messages have public fields that are documents, written the one way they are written."""
        good = np.ones(len(self.rows), bool)
        for piece in self.pieces:
            if piece.public:
                good &= _each(_canonical, piece.public)
        return good

    def possible(self, among: Bools) -> Bools:
        """Return which messages have only payloads and a public part that an honest device can have made."""
        good, domain = among.copy(), self.published.task.plan.domain
        if isinstance(domain, Tables) and self.pieces[0].public:
            good &= _each(lambda public: _held(domain, public), self.pieces[0].public)
        for slot, piece in enumerate(self.pieces):
            good &= _possible(self.published, self.asked.number, piece, slot, among)
        return good

    def unclaimed(self, row: int, token: str) -> str:
        """Return why a token cannot pay for a message: it is missing, or its coin asks for something else."""
        if not token:
            return "token-missing"
        digest = self.published.digest
        kept = coin.enrolled(token, digest)
        number = 0 if self.published.task.distinct else self.asked.number
        dealt = self.asked.addresses(lambda slot: coin.choice(kept, number, slot))
        answered = [int(piece.members[row]) for piece in self.pieces]
        mine = self.asked.asks(coin.place(kept, digest)) and answered == [address.member for address in dealt]
        return "" if mine else "not-asked"

    def offer(self, chosen: Bools, claims: Bytes | None) -> Offer:
        """Return the chosen messages as the store takes them."""
        ids, rows = np.stack([piece.ids for piece in self.pieces], axis=1), self.rows
        if not chosen.all():
            ids, rows, claims = ids[chosen], rows[chosen], None if claims is None else claims[chosen]
        number = self.asked.number
        return Offer(self.published.digest, number, ids, rows, claims, self.published.epoch(number))


def _group(published: Published, shape: bytes, rows: Bytes, places: Ints) -> _Group:
    asked = published.asked[int.from_bytes(shape[2:4], "little")]
    pieces, start = [], 0
    for head in _heads(shape):
        length = int.from_bytes(head[4:8], "little")
        cut = rows[:, start : start + length]
        pieces.append(envelope.read_alike(cut.tobytes(), length, asked.width))
        start += length
    return _Group(published, asked, places, rows, pieces)


def _decide(group: _Group, tokens: Sequence[str], admitted: Admitted) -> None:
    """Add the offer of one group, and the codes of what it must not hold."""
    formed = group.well_formed()
    complete = formed & group.complete()
    good = group.possible(complete)
    admitted.refuse(group.places[~formed], "malformed")
    admitted.refuse(group.places[formed & ~complete], "incomplete")
    admitted.refuse(group.places[complete & ~good], "impossible")
    claims = None
    if group.published.collection.enrolment:
        claims = np.zeros((len(good), HASH_BYTES), np.uint8)
        for row in np.flatnonzero(good).tolist():
            token = tokens[group.places[row]] if tokens else ""
            claims[row] = np.frombuffer(access.hashed(token), np.uint8)
            if code := group.unclaimed(row, token):
                good[row] = False
                admitted.codes[int(group.places[row])] = code
    if good.any():
        admitted.offers.append(group.offer(good, claims))
        admitted.places.append(group.places[good])


def _each(check: Callable[[bytes], bool], texts: Sequence[bytes]) -> Bools:
    """Return what a check says about every text, looking at those that are alike once."""
    found = {text: check(text) for text in set(texts)}
    return np.array([found[text] for text in texts])


def _held(domain: Tables, public: bytes) -> bool:
    try:
        domain.check_public(public)
    except CodecError:
        return False
    return True


def _canonical(public: bytes) -> bool:
    try:
        return codec.canonical(codec.parse(public)).encode() == public
    except CodecError:
        return False


def _slots(asked: Round, member: int) -> int:
    """Return how many slots a member of a round has; 0 for a member that does not exist."""
    return asked.ask.slots_of(member) if asked.ask.bundled else asked.ask.slots


def _possible(published: Published, number: int, piece: Envelopes, slot: int, among: Bools) -> Bools:
    """Return which payloads their mechanism can have made."""
    good = np.zeros(len(piece), bool)
    places = np.flatnonzero(among)
    members, which = np.unique(piece.members[places], return_inverse=True)
    for question, chosen in _questions(published, [Address(number, member, slot) for member in members.tolist()]):
        rows = places if len(chosen) == len(members) else places[np.isin(which, chosen)]
        whole = len(rows) == len(piece)  # then without copies
        good[rows] = _made(question, piece.payloads if whole else piece.payloads[rows])
    return good


def _questions(published: Published, addresses: list[Address]) -> list[tuple[Question, list[int]]]:
    """Return questions with the places of all addresses that one mechanism answers: a round may have thousands."""
    found: dict[int, tuple[Question, list[int]]] = {}
    for place, address in enumerate(addresses):
        question = published.question(address)
        if question is not None:
            found.setdefault(id(question.mechanism), (question, []))[1].append(place)
    return list(found.values())


def _made(question: Question, payloads: Bytes) -> Bools:
    good: Bools = np.logical_not(np.asarray(payloads[:, question.width :].any(axis=1)))
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
        return np.concatenate([_unpacks(question, payloads[:half]), _unpacks(question, payloads[half:])])
    return np.ones(len(payloads), bool)
