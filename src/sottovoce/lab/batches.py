"""Batches of simulated reports: what several kinds of senders send to one round, put together.

The order of reports changes no answer, so that nothing is shuffled here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.arrays import Ints, Reports
from sottovoce.core.rng import Rng
from sottovoce.engine.memory import ReportBatch, joined
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

Batches = dict[Address, ReportBatch]


def beside(batches: Batches, added: Mapping[Address, ReportBatch]) -> Batches:
    """Return batches with further ones appended."""
    mixed = {address: [batch] for address, batch in batches.items()}
    for address, batch in added.items():
        mixed.setdefault(address, []).append(batch)
    return {address: joined(parts) for address, parts in sorted(mixed.items())}


def with_fakes(batches: Batches, asked: Round, fakes: int, rng: Rng) -> Batches:
    """Return the reports of a round with those of the fakes that shufflers add."""
    if not fakes:
        return batches
    added = {}
    for part in asked.draw_fakes(fakes, rng):
        packed = part.mechanism.pack(part.reports)
        added[part.address] = ReportBatch(part.mechanism.unpack(packed))
    return beside(batches, added)


def false_batches(
    reports: Mapping[Address, Reports], honest: Batches, public: Sequence[bytes], rng: Rng
) -> Batches:
    """Return the reports of attackers, who have subjects of their own, as honest people have.

    Which of an attacker's reports belong together is drawn at random in every slot.  Without a
    ``public`` part of their own, attackers copy those of random honest people.
    """
    texts = _texts(honest, public, rng)
    subjects = [batch.subjects for batch in honest.values() if batch.subjects is not None]
    first = max(int(np.max(numbers)) for numbers in subjects) + 1
    batches: Batches = {}
    for slot in sorted({address.slot for address in reports}):
        addresses = [address for address in sorted(reports) if address.slot == slot]
        count = sum(len(reports[address]) for address in addresses)
        order = np.argsort(rng.longs(count))
        start = 0
        for address in addresses:
            attackers = order[start : start + len(reports[address])]
            start += len(attackers)
            shown = None if texts is None else texts[attackers % len(texts)]
            batches[address] = ReportBatch(reports[address], first + attackers, shown)
    return batches


def _texts(honest: Batches, public: Sequence[bytes], rng: Rng) -> Any:
    """Return the public parts that attackers show in turn; None where nobody shows any."""
    examples = [batch.public for batch in honest.values() if batch.public is not None]
    if not examples:
        return None
    if public:
        return np.array(public, object)
    shown = np.concatenate(examples)
    choices: Ints = rng.integers(len(shown), len(shown))
    return shown[choices]
