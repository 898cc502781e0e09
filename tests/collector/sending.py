"""Sending messages to a collector without HTTP: what the service's own admission and store make of
them.
"""

from sottovoce.collector.admission import admit
from sottovoce.tasks.question import Address


def send(collector, name, messages, tokens=()):
    """Send messages; returns accepted, or the code, for each of them in order."""
    admitted = admit(collector.find(name), messages, tokens)
    verdicts = collector.store.accept(admitted.offers, {}, collector.now)
    fate = dict(admitted.codes)
    for indices, given in zip(admitted.indices, verdicts, strict=True):
        fate |= dict(zip(indices.tolist(), [verdict.value for verdict in given], strict=True))
    return [fate[index] for index in range(len(messages))]


def states(collector, name):
    """The state of every round of a task, as the store has it."""
    return [one.state.value for one in collector.store.rounds(collector.find(name).digest)]


def held(collector, name):
    """How often each value was counted in the first round of a counting task."""
    tally = collector.collected(collector.find(name)).tally(Address())
    (counts,) = tally.counts.values()
    return {value: int(count) for value, count in enumerate(counts) if count}
