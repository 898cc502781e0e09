"""How a node accepts reports while others do: what may be new goes in, and what was not accepted comes out again.

Inserting is the question: an id that another node is just inserting makes us wait for that node, and then we know.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

from sottovoce.collector.store.base import TAKING, Offer, Verdict
from sottovoce.collector.store.sql import count_users
from sottovoce.collector.store.verdicts import Facts, chosen, judge, report_ids, token_hashes

_SHARDS = 32
_ADD_IDS = (
    "insert into seen select ?, id from unnest(%b::bytea[]) as new (id) order by id on conflict do nothing returning id"
)
_DROP_IDS = "delete from seen where round = ? and id = any (%b::bytea[]) returning id"
_IDS_HERE = "select id from seen where round = ? and id = any (%b::bytea[])"
_ADD_CLAIMS = (
    "insert into claims select ?, ?, hash from unnest(%b::bytea[]) as new (hash) order by hash"
    " on conflict do nothing returning hash"
)
_DROP_CLAIMS = "delete from claims where task = ? and epoch = ? and hash = any (%b::bytea[]) returning hash"
_TOKENS_HERE = (
    "select hash from tokens where scope = 'enrolment' and (expires is null or expires > ?)"
    " and hash = any (%b::bytea[])"
)
# Shared: nodes accept side by side, and whoever turns the round waits until they have committed.  Not a lock on the
# row, "for share": those who share a row's lock overtake whoever waits for it, for as long as there is one of them.
_SHARE = "select pg_advisory_xact_lock_shared(?)"
_ROUND = "select key, state from rounds where task = ? and number = ?"

Place: TypeAlias = tuple[str, int]  # a task and one of its rounds, or of its epochs


class PostgresBook:
    """A connection that takes the question marks of our SQL, and many ids or hashes as one value."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.shard = connection.info.backend_pid % _SHARDS

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql.replace("?", "%s"), values)

    def executemany(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s"), values)

    def among(self, pieces: Collection[bytes], sql: str, *values: Any) -> set[bytes]:
        """Return those of the pieces that a statement names; they are its last value."""
        if not pieces:
            return set()
        with self._connection.cursor(binary=True) as cursor:
            rows = cursor.execute(sql.replace("?", "%s"), (*values, sorted(pieces)))
            return {piece for (piece,) in rows}


@dataclass
class _Reports:
    """The report ids of one round in a call: those that were here, and those that we added."""

    key: int | None = None
    taking: bool = False
    here: set[bytes] = field(default_factory=set)
    added: set[bytes] = field(default_factory=set)


@dataclass
class _Claims:
    """The tokens of one epoch in a call: those that may claim, those that had, and those that now do."""

    valid: set[bytes] = field(default_factory=set)
    spent: set[bytes] = field(default_factory=set)
    added: set[bytes] = field(default_factory=set)


def lock_number(name: str) -> int:
    """Return the number of an advisory lock, the same on every node."""
    return int.from_bytes(sha256(f"sottovoce {name}".encode()).digest()[:8], "big", signed=True)


def take(book: PostgresBook, offers: Sequence[Offer], now: int) -> list[list[Verdict]]:
    """Store what is new and return the verdicts, inside the caller's transaction."""
    rounds = {place: _enter_reports(book, place, offers) for place in sorted({_round(offer) for offer in offers})}
    taking = [offer for offer in offers if rounds[_round(offer)].taking and offer.claims is not None]
    epochs = {place: _enter_claims(book, place, taking, now) for place in sorted({_epoch(offer) for offer in taking})}
    verdicts = [_verdicts(offer, rounds[_round(offer)], epochs.get(_epoch(offer), _Claims())) for offer in offers]
    accepted = [chosen(offer, given) for offer, given in zip(offers, verdicts, strict=True)]
    _withdraw(book, rounds, epochs, accepted)
    _keep(book, rounds, [offer for offer in accepted if len(offer)])
    return verdicts


def _enter_reports(book: PostgresBook, place: Place, offers: Sequence[Offer]) -> _Reports:
    ids = {one for offer in offers if _round(offer) == place for one in report_ids(offer)}
    book.execute(_SHARE, (lock_number(f"round {place[0]} {place[1]}"),))
    row = book.execute(_ROUND, place).fetchone()  # after the lock, in a statement of its own, or it saw the past
    if row is None:
        return _Reports()
    key, state = row
    if state not in TAKING:
        return _Reports(key, here=book.among(ids, _IDS_HERE, key))
    added = book.among(ids, _ADD_IDS, key)
    return _Reports(key, True, ids - added, added)


def _enter_claims(book: PostgresBook, place: Place, offers: Sequence[Offer], now: int) -> _Claims:
    hashes = {one for offer in offers if _epoch(offer) == place for one in token_hashes(offer) if one}
    valid = book.among(hashes, _TOKENS_HERE, now)
    added = book.among(valid, _ADD_CLAIMS, *place)
    return _Claims(valid, valid - added, added)


def _verdicts(offer: Offer, reports: _Reports, claims: _Claims) -> list[Verdict]:
    if reports.key is None:
        return [Verdict.TOO_EARLY] * len(offer)
    # The offers of a round share its sets, so that what one brings is here for the next.
    return judge(offer, Facts(reports.taking, reports.here, claims.valid, claims.spent))


def _withdraw(
    book: PostgresBook, rounds: Mapping[Place, _Reports], epochs: Mapping[Place, _Claims], accepted: Sequence[Offer]
) -> None:
    for place, reports in rounds.items():
        kept = {one for offer in accepted if _round(offer) == place for one in report_ids(offer)}
        book.among(reports.added - kept, _DROP_IDS, reports.key)
    for place, claims in epochs.items():
        spent = {one for offer in accepted if _epoch(offer) == place for one in token_hashes(offer)}
        book.among(claims.added - spent, _DROP_CLAIMS, *place)


def _keep(book: PostgresBook, rounds: Mapping[Place, _Reports], accepted: Sequence[Offer]) -> None:
    for offer in sorted(accepted, key=_round):
        key = rounds[_round(offer)].key
        assert key is not None
        book.execute("insert into segments (round, data) values (?, %b)", (key, offer.data.tobytes()))
        count_users(book, key, len(offer), book.shard)


def _round(offer: Offer) -> Place:
    return offer.task, offer.round


def _epoch(offer: Offer) -> Place:
    return offer.task, offer.epoch
