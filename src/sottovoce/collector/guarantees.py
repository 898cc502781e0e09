"""The guarantee of a shuffled task at the number of people who really took part.

A document promises what holds for the smallest batch that it allows.  Once a round is sealed the
number of people in it is known, and the account is made again with that number.  People with valid
tokens count, or all messages where there is no issuer; fakes never do.  As in the document, the
fakes of one hop alone hide anybody, because the other hops may be friends of the collector.
"""

from functools import lru_cache

from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.answers.guarantee import ShuffledPromise
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, State


def shuffled_promise(published: Published) -> ShuffledPromise | None:
    """Return what shuffling adds for the people of all sealed rounds: the weakest of their rounds.

    None for a task that is not shuffled, and before a round is sealed.
    """
    promises = [round_promise(published, record) for record in published.rounds]
    made = [promise for promise in promises if promise is not None]
    return max(made, key=lambda promise: promise.central) if made else None


def round_promise(published: Published, record: RoundRecord) -> ShuffledPromise | None:
    """Return what shuffling adds for the people of one sealed round."""
    shuffle = published.task.shuffle
    users = published.users_of(record)
    if shuffle is None or record.state is not State.SEALED or not users:
        return None
    blanket = published.asked[record.number].ask.blanket
    account = _account(blanket, users, shuffle.fakes, shuffle.delta)
    return ShuffledPromise(
        central=account.central,
        delta=account.delta,
        against_users=account.against_users,
        users=users,
        fakes=shuffle.total_fakes,
        hops=len(shuffle.hops),
    )


@lru_cache(maxsize=256)  # of a pure function that takes a good part of a second
def _account(blanket: Blanket, users: int, fakes: int, delta: float) -> ShuffledGuarantee:
    return ShuffledGuarantee.of(blanket, users, fakes, delta)
