"""What becomes of messages of which some are not new: one rule, whatever the database."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.collector.store.base import HASH_BYTES, Offer, Verdict

ID_BYTES = 16


@dataclass
class Facts:
    """What a store knows when it judges the messages of an offer; judging them adds to it."""

    taking: bool  # whether the round still takes reports
    here: set[bytes] = field(default_factory=set)  # the report ids that are here already
    valid: set[bytes] = field(default_factory=set)  # the tokens that may claim
    spent: set[bytes] = field(default_factory=set)  # the tokens that have


def judge(offer: Offer, facts: Facts) -> list[Verdict]:
    """Return a verdict for every message in order: what is accepted counts as here for those behind it."""
    ids, tokens = report_ids(offer), token_hashes(offer)
    slots = offer.ids.shape[1]
    bundles = [ids[first : first + slots] for first in range(0, len(ids), slots)]
    return [_judge_one(bundle, token, facts) for bundle, token in zip(bundles, tokens, strict=True)]


def _judge_one(bundle: list[bytes], token: bytes | None, facts: Facts) -> Verdict:
    here = sum(one in facts.here for one in bundle)
    if here == len(bundle):
        return Verdict.DUPLICATE
    if not facts.taking:
        return Verdict.TOO_LATE
    if token is not None and token not in facts.valid:
        return Verdict.TOKEN_UNKNOWN
    if token is not None and token in facts.spent:
        return Verdict.TOKEN_SPENT
    if here or len(set(bundle)) < len(bundle):
        return Verdict.CONFLICTING
    facts.here.update(bundle)
    facts.spent.update([] if token is None else [token])
    return Verdict.ACCEPTED


def report_ids(offer: Offer) -> list[bytes]:
    """Return the ids of all reports, message after message."""
    return pieces(offer.ids.tobytes(), ID_BYTES)


def token_hashes(offer: Offer) -> Sequence[bytes | None]:
    """Return the hash of the token of every message, or None where the task asks for none."""
    return [None] * len(offer) if offer.claims is None else pieces(offer.claims.tobytes(), HASH_BYTES)


def pieces(blob: bytes, width: int) -> list[bytes]:
    """Return a blob cut into pieces of one width."""
    return [blob[start : start + width] for start in range(0, len(blob), width)]


def chosen(offer: Offer, verdicts: Sequence[Verdict]) -> Offer:
    """Return the part of an offer that was accepted."""
    taken = np.array([verdict is Verdict.ACCEPTED for verdict in verdicts], bool)
    claims = None if offer.claims is None else offer.claims[taken]
    return Offer(offer.task, offer.round, offer.ids[taken], offer.data[taken], claims, offer.epoch)


def tallies(
    offers: Sequence[Offer], verdicts: Sequence[Sequence[Verdict]], refused: Mapping[tuple[str, str], int]
) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Return the messages accepted by task, and those refused by task and code, by us or before."""
    accepted: Counter[str] = Counter()
    away = Counter(refused)
    for offer, given in zip(offers, verdicts, strict=True):
        for verdict, messages in Counter(given).items():
            if verdict is Verdict.ACCEPTED:
                accepted[offer.task] += messages
            elif verdict is not Verdict.DUPLICATE:
                away[offer.task, verdict.value] += messages
    return accepted, away
