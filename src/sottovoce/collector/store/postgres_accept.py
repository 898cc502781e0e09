"""How a node accepts reports while other nodes do the same.

What may be new is inserted, and what was not accepted is deleted again.  Inserting answers whether
a report is new: for an id that another node is just inserting, the server lets us wait for that
node.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sottovoce.collector.store.base import TAKING, Offer, Verdict
from sottovoce.collector.store.sql import count_users
from sottovoce.collector.store.verdicts import (
    Facts,
    accepted_part,
    judge,
    report_ids,
    token_hashes,
)
from sottovoce.web.store.postgres import PostgresConnection, lock_number

_ADD_IDS = (
    "insert into seen select ?, id from unnest(%b::bytea[]) as new (id) order by id"
    " on conflict do nothing returning id"
)
_DROP_IDS = "delete from seen where round = ? and id = any (%b::bytea[]) returning id"
_IDS_HERE = "select id from seen where round = ? and id = any (%b::bytea[])"
_ADD_CLAIMS = (
    "insert into claims select ?, ?, hash from unnest(%b::bytea[]) as new (hash) order by hash"
    " on conflict do nothing returning hash"
)
_DROP_CLAIMS = (
    "delete from claims where task = ? and epoch = ? and hash = any (%b::bytea[]) returning hash"
)
_TOKENS_HERE = (
    "select hash from tokens where scope = 'enrolment' and (expires is null or expires > ?)"
    " and hash = any (%b::bytea[])"
)
# A shared lock: nodes accept side by side, and whoever turns the round waits until they have
# committed.  A lock on the row ("for share") would not do: those who share it overtake whoever
# waits for it, for as long as there is one of them.
_SHARE = "select pg_advisory_xact_lock_shared(?)"
_ROUND = "select key, state from rounds where task = ? and number = ?"

RoundOrEpoch: TypeAlias = tuple[str, int]  # a task, and the number of a round or an epoch of it


@dataclass
class _Reports:
    """The report ids of one round in a call: those that were here, and those that we added."""

    key: int | None = None
    is_taking: bool = False
    known: set[bytes] = field(default_factory=set)
    added: set[bytes] = field(default_factory=set)


@dataclass
class _Claims:
    """The tokens of one epoch in a call: valid ones, those that were spent, and those we added."""

    valid: set[bytes] = field(default_factory=set)
    spent: set[bytes] = field(default_factory=set)
    added: set[bytes] = field(default_factory=set)


def accept(
    connection: PostgresConnection, offers: Sequence[Offer], now: int
) -> list[list[Verdict]]:
    """Store the messages that are new and return all verdicts, in the caller's transaction."""
    rounds = {
        key: _enter_reports(connection, key, offers) for key in sorted(set(map(_round, offers)))
    }
    claiming = [
        offer for offer in offers if rounds[_round(offer)].is_taking and offer.claims is not None
    ]
    epochs = {
        key: _enter_claims(connection, key, claiming, now)
        for key in sorted(set(map(_epoch, claiming)))
    }
    verdicts = []
    accepted = []
    for offer in offers:
        claims = epochs.get(_epoch(offer), _Claims())
        given = _verdicts(offer, rounds[_round(offer)], claims)
        verdicts.append(given)
        accepted.append(accepted_part(offer, given))
    _withdraw(connection, rounds, epochs, accepted)
    _keep(connection, rounds, [offer for offer in accepted if len(offer)])
    return verdicts


def _enter_reports(
    connection: PostgresConnection, task_and_round: RoundOrEpoch, offers: Sequence[Offer]
) -> _Reports:
    """Insert the report ids of one round, if it takes reports."""
    mine = [offer for offer in offers if _round(offer) == task_and_round]
    ids = {report_id for offer in mine for report_id in report_ids(offer)}
    task, number = task_and_round
    connection.execute(_SHARE, (lock_number(f"round {task} {number}"),))
    # After the lock and in a statement of its own, or it would see what was before the lock.
    row = connection.execute(_ROUND, task_and_round).fetchone()
    if row is None:
        return _Reports()
    key, state = row
    if state not in TAKING:
        return _Reports(key, known=connection.among(ids, _IDS_HERE, key))
    added = connection.among(ids, _ADD_IDS, key)
    return _Reports(key, True, ids - added, added)


def _enter_claims(
    connection: PostgresConnection, task_and_epoch: RoundOrEpoch, offers: Sequence[Offer], now: int
) -> _Claims:
    """Insert the claims of one epoch whose tokens are valid."""
    mine = [offer for offer in offers if _epoch(offer) == task_and_epoch]
    given = [hashed for offer in mine for hashed in token_hashes(offer)]
    hashes = {hashed for hashed in given if hashed}
    verified = all(offer.verified for offer in mine)  # all offers of a task have one kind of token
    valid = hashes if verified else connection.among(hashes, _TOKENS_HERE, now)
    added = connection.among(valid, _ADD_CLAIMS, *task_and_epoch)
    return _Claims(valid, valid - added, added)


def _verdicts(offer: Offer, reports: _Reports, claims: _Claims) -> list[Verdict]:
    if reports.key is None:
        return [Verdict.TOO_EARLY] * len(offer)
    # The offers of a round share its sets, so that what one brings is known for the next.
    return judge(offer, Facts(reports.is_taking, reports.known, claims.valid, claims.spent))


def _withdraw(
    connection: PostgresConnection,
    rounds: Mapping[RoundOrEpoch, _Reports],
    epochs: Mapping[RoundOrEpoch, _Claims],
    accepted: Sequence[Offer],
) -> None:
    """Delete the ids and claims that were inserted for messages that are not accepted."""
    for task_and_round, reports in rounds.items():
        mine = [offer for offer in accepted if _round(offer) == task_and_round]
        kept = {report_id for offer in mine for report_id in report_ids(offer)}
        connection.among(reports.added - kept, _DROP_IDS, reports.key)
    for task_and_epoch, claims in epochs.items():
        mine = [offer for offer in accepted if _epoch(offer) == task_and_epoch]
        spent = {hashed for offer in mine for hashed in token_hashes(offer)}
        connection.among(claims.added - spent, _DROP_CLAIMS, *task_and_epoch)


def _keep(
    connection: PostgresConnection,
    rounds: Mapping[RoundOrEpoch, _Reports],
    accepted: Sequence[Offer],
) -> None:
    """Store the payloads of the accepted messages and count their users."""
    for offer in sorted(accepted, key=_round):
        key = rounds[_round(offer)].key
        assert key is not None
        segment = (key, offer.data.tobytes())
        connection.execute("insert into segments (round, data) values (?, %b)", segment)
        count_users(connection, key, len(offer), connection.shard)


def _round(offer: Offer) -> RoundOrEpoch:
    return offer.task, offer.round


def _epoch(offer: Offer) -> RoundOrEpoch:
    return offer.task, offer.epoch
