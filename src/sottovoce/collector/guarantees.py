"""What shuffling promises to the people of one round, at the number who really took part.

A document promises what holds for the smallest batch that it allows.  Once a round is sealed the
number of people in it is known, and the account is made again with that number.  People with valid
tokens count, or all messages where there is no issuer; fakes never do.
"""

from functools import lru_cache

from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, State


def round_guarantee(published: Published, record: RoundRecord) -> ShuffledGuarantee | None:
    """Return the guarantee of one sealed round of a shuffled task; None before it is sealed.

    Only the fakes of one hop hide anybody: the other hops may be friends of the collector.
    """
    shuffle = published.task.shuffle
    users = published.users_of(record)
    if shuffle is None or record.state is not State.SEALED or not users:
        return None
    blanket = published.asked[record.number].ask.blanket
    return _account(blanket, users, shuffle.fakes, shuffle.delta)


@lru_cache(maxsize=256)  # of a pure function that takes a good part of a second
def _account(blanket: Blanket, users: int, fakes: int, delta: float) -> ShuffledGuarantee:
    return ShuffledGuarantee.of(blanket, users, fakes, delta)
