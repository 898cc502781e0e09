"""Verdicts on messages of which some are not new: one rule, whatever the database."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sottovoce.collector.store.base import HASH_BYTES, Offer, Verdict


@dataclass
class Facts:
    """What a store knows when it judges the messages of an offer; judging them adds to it."""

    is_taking: bool  # whether the round still takes reports
    known_ids: set[bytes] = field(default_factory=set)  # of reports that are here already
    valid_tokens: set[bytes] = field(default_factory=set)  # that may claim
    spent_tokens: set[bytes] = field(default_factory=set)  # that have claimed


def judge(offer: Offer, facts: Facts) -> list[Verdict]:
    """Return a verdict for every message in order; an accepted one is known to those behind it."""
    ids = report_ids(offer)
    tokens = token_hashes(offer)
    slots = offer.ids.shape[1]
    bundles = [ids[first : first + slots] for first in range(0, len(ids), slots)]
    return [_judge_one(bundle, token, facts) for bundle, token in zip(bundles, tokens, strict=True)]


def _judge_one(bundle: list[bytes], token: bytes | None, facts: Facts) -> Verdict:
    known = sum(report_id in facts.known_ids for report_id in bundle)
    if known == len(bundle):
        return Verdict.DUPLICATE
    if not facts.is_taking:
        return Verdict.TOO_LATE
    if token is not None and token not in facts.valid_tokens:
        return Verdict.TOKEN_UNKNOWN
    if token is not None and token in facts.spent_tokens:
        return Verdict.TOKEN_SPENT
    if known or len(set(bundle)) < len(bundle):
        return Verdict.CONFLICTING
    facts.known_ids.update(bundle)
    if token is not None:
        facts.spent_tokens.add(token)
    return Verdict.ACCEPTED


def report_ids(offer: Offer) -> list[bytes]:
    """Return the ids of all reports, message after message."""
    return pieces(offer.ids.tobytes(), offer.id_bytes)


def token_hashes(offer: Offer) -> Sequence[bytes | None]:
    """Return the hash of the token of every message, or None where the task asks for none."""
    if offer.claims is None:
        return [None] * len(offer)
    return pieces(offer.claims.tobytes(), HASH_BYTES)


def pieces(blob: bytes, width: int) -> list[bytes]:
    """Return a blob cut into pieces of one width."""
    return [blob[start : start + width] for start in range(0, len(blob), width)]


def accepted_part(offer: Offer, verdicts: Sequence[Verdict]) -> Offer:
    """Return the part of an offer that was accepted."""
    accepted = np.array([verdict is Verdict.ACCEPTED for verdict in verdicts], bool)
    claims = None if offer.claims is None else offer.claims[accepted]
    ids = offer.ids[accepted]
    return replace(offer, ids=ids, data=offer.data[accepted], claims=claims)


def message_counts(
    offers: Sequence[Offer],
    verdicts: Sequence[Sequence[Verdict]],
    refused_before: Mapping[tuple[str, str], int],
) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Return the messages accepted by task, and those refused by task and code, here or before."""
    accepted: Counter[str] = Counter()
    refused = Counter(refused_before)
    for offer, given in zip(offers, verdicts, strict=True):
        for verdict, messages in Counter(given).items():
            if verdict is Verdict.ACCEPTED:
                accepted[offer.task] += messages
            elif verdict is not Verdict.DUPLICATE:
                refused[offer.task, verdict.value] += messages
    return accepted, refused
