"""The public status of a hop: its tasks, rounds and guarantees."""

from functools import lru_cache

from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.core.base64url import text_of
from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.arrivals import rounded
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.store.base import BatchState, HopRound
from sottovoce.shuffler.wire import HopRoundLine, HopStatus, HopTaskLine, PrivacyTriple


def hop_status(shuffler: Shuffler) -> HopStatus:
    """Return the status of a hop as its store has it now."""
    finished = {record.fingerprint for record in shuffler.store.tasks() if record.finished}
    lines = []
    for task in shuffler.tasks():
        rounds = shuffler.store.rounds(task.fingerprint)
        line = HopTaskLine(
            task=task.address_name,
            name=task.notice.name,
            hop=task.hop,
            hops=[hop.url for hop in task.shuffle.hops],
            users=task.shuffle.users,
            fakes=task.shuffle.fakes,
            finished=task.fingerprint in finished,
            rounds=[_round_line(task, record) for record in rounds],
        )
        lines.append(line)
    return HopStatus(text_of(shuffler.signing.public_key), lines)


def _round_line(task: AddedTask, record: HopRound) -> HopRoundLine:
    is_open = record.state == BatchState.OPEN
    return HopRoundLine(
        number=record.number,
        state=record.state.value,
        messages=rounded(record.messages) if is_open else record.messages,
        duplicates=rounded(record.duplicates) if is_open else record.duplicates,
        dropped=record.dropped,
        batch=record.batch_messages,
        trouble=record.trouble,
        privacy=_privacy(task, record),
    )


def _privacy(task: AddedTask, record: HopRound) -> PrivacyTriple | None:
    """Return the triple at the number of users of a mixed batch; None before it is mixed."""
    if not record.batch_messages:
        return None
    users = record.batch_messages - task.shuffle.fakes - task.previous_fakes
    asked = task.read_round(record.document)
    return _triple(asked.ask.blanket, users, task.shuffle.fakes, task.shuffle.delta)


@lru_cache(maxsize=256)
def _triple(blanket: Blanket, users: int, fakes: int, delta: float) -> PrivacyTriple:
    """Return the triple of a batch; only the fakes of one hop count, as in the document."""
    guarantee = ShuffledGuarantee.of(blanket, users, fakes, delta)
    return PrivacyTriple(users=users, **guarantee.to_dict())
