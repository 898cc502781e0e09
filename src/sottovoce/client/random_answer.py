"""The answer of nobody: envelopes as a device makes them, for a value that was drawn at random.

An operator sends such answers through the shufflers of a task to see whether they arrive.  Nobody
can tell them from the answers of people, and no ledger is charged, because they are about nobody.
"""

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.client.held import random_index
from sottovoce.core import coin
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire.envelope import ID_BYTES, Envelopes
from sottovoce.wire.shuffled_message import VERSION
from sottovoce.wire.tokens import Token


def random_envelopes(
    notice: Notice, asked: Round, coin_bytes: bytes, token: Token | None = None
) -> bytes:
    """Return the envelopes of a shuffled task's message from somebody with these coins.

    ``token`` is the blind token of the message, if the task needs one.
    """
    rng = SystemRng()
    indices = random_index(notice.domain)
    subjects = _random_id(rng) if "subject" in notice.declares else None
    written = []
    for address in asked.addresses(lambda slot: coin.choice_coin(coin_bytes, asked.number, slot)):
        question = asked.question(address)
        if token is not None and notice.fixes_seeds:
            draw = token.seed_draw(notice.fingerprint, address.slot)
            report = question.privatize_seeded(indices, np.array([draw], np.uint64), rng)
        else:
            report = question.privatize(indices, rng)
        payload = question.mechanism.pack(report)
        envelope = Envelopes(
            digest=VERSION.task_digest(notice.fingerprint),
            round=asked.number,
            members=np.array([address.member]),
            ids=_random_id(rng),
            payloads=np.frombuffer(payload.ljust(asked.width, b"\0"), np.uint8)[None, :],
            subjects=subjects,
            slots=np.array([address.slot]) if asked.slots > 1 else None,
            version=VERSION,
        )
        written.append(envelope.write())
    return b"".join(written)


def _random_id(rng: Rng) -> Bytes:
    """Return a random report id or subject, as the one row of an array."""
    return np.frombuffer(bytes(rng.bytes(ID_BYTES)), np.uint8)[None, :]
