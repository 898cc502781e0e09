"""How far the shuffling of a round is: its keys, its batch, its canaries and what it promises."""

from msgspec import Struct

from sottovoce.collector import guarantees
from sottovoce.collector.canaries import detection
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, Store
from sottovoce.web.uploads import Count

_DROPPED = 0.01  # of the messages: the loss for which the chance of a missing canary is stated


class ShuffleLine(Struct):
    """The shuffling of one round.

    ``keys`` of ``layers`` round keys are here, ``set_signatures`` of the hops have signed them all,
    and ``received`` of ``parts`` parts of the batch are here.
    ``messages`` counts those of opened parts, ``unopened`` what was not sealed for this round.
    ``detection`` is how likely a canary is missing if one message in a hundred was dropped.  The
    epsilons are those of the document, or at the real number of people once the round is sealed.
    """

    hops: list[str]
    keys: Count
    layers: Count
    set_signatures: Count
    received: Count
    parts: Count
    complete: bool
    messages: Count
    unopened: Count
    duplicates: Count
    fakes: Count
    canaries: Count
    canaries_found: Count
    detection: float
    central: float
    against_users: float
    local: float
    delta: float


def line_of(store: Store, published: Published, record: RoundRecord) -> ShuffleLine | None:
    """Return how far the shuffling of a round is; None for a task that is not shuffled."""
    shuffle = published.task.shuffle
    if shuffle is None:
        return None
    keys = store.round_keys(record.task, record.number)
    batch = store.batch(record.task, record.number)
    canaries = store.canary_counts(record.task, record.number)
    guarantee = guarantees.round_guarantee(published, record)
    messages = 0 if batch is None else batch.messages
    chance = 0.0
    if 0 < canaries.sent <= messages:
        chance = detection(messages, canaries.sent, round(_DROPPED * messages))
    return ShuffleLine(
        hops=[hop.url for hop in shuffle.hops],
        keys=len(keys),
        layers=len(shuffle.hops) + 1,
        set_signatures=len(store.set_signatures(record.task, record.number)),
        received=0 if batch is None else batch.received,
        parts=0 if batch is None else batch.parts,
        complete=batch is not None and batch.complete,
        messages=messages,
        unopened=0 if batch is None else batch.unopened,
        duplicates=0 if batch is None else batch.duplicates,
        fakes=shuffle.total_fakes,
        canaries=canaries.sent,
        canaries_found=canaries.found,
        detection=chance,
        central=shuffle.central if guarantee is None else guarantee.central,
        against_users=shuffle.against_users if guarantee is None else guarantee.against_users,
        local=published.task.epsilon,
        delta=shuffle.delta,
    )
