"""The review of a task before it is added: its questions, and the promises of this hop."""

from pathlib import Path

from sottovoce.errors import ParameterError
from sottovoce.shuffler.added_task import AddedTask, new_task
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.wire.statement import explain, statement

_TASKS_PATH = "/v1/tasks/"


def fetch(document: str, collector: str | None) -> tuple[str, str]:
    """Return the text of a document and the address of its collector.

    ``document`` is a file, or the address of the task at its collector.
    """
    if "://" in document:
        address, separator, name = document.partition(_TASKS_PATH)
        if not separator or not name:
            raise ParameterError(
                "`DOCUMENT` must be a file, or an address such as"
                " https://collector.example.org/v1/tasks/NAME"
            )
        text = OtherServer(address).get(f"{_TASKS_PATH}{name}").decode()
        return text, collector or address
    if not collector:
        raise ParameterError("`--collector` is missing: a document does not say where to deliver")
    return Path(document).read_text(encoding="utf-8"), collector


def review(document: str, collector: str, public_key: bytes) -> list[str]:
    """Return the review as lines of text; refuse a task of other hops."""
    task = AddedTask.read(new_task(document, collector), public_key)
    shuffle = task.shuffle
    hops = " -> ".join(hop.url for hop in shuffle.hops)
    return [
        f"Task {task.notice.name}, fingerprint {task.address_name}",
        explain(statement(task.notice)),
        f"Messages go {hops} -> {collector}; this is hop {task.hop + 1} of {len(shuffle.hops)}.",
        f"Nothing leaves below {shuffle.users:,} users; each hop adds {shuffle.fakes:,} fakes.",
        f"Promised: epsilon {shuffle.central:g} against the collector and"
        f" {shuffle.against_users:g} against the collector with all other users (delta"
        f" {shuffle.delta:g}); {task.notice.epsilon:g} against everybody.",
    ]
