"""What a collector must be able to do before it publishes a task with keys of its own in it.

It signs the round keys of a shuffled task with the key that the document pins, and it issues the
blind tokens that a document asks for.  A document with other keys would ask devices for something
that nobody here can give.
"""

from pathlib import Path

from sottovoce.collector import key_files
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.tasks.task import Task


def check(task: Task, folder: Path) -> None:
    """Refuse a task that needs keys which the collector of this folder does not have."""
    issuer = task.collection.issuer if task.collection is not None else None
    if task.shuffle is not None and task.shuffle.key != key_files.public_signing_key(folder):
        raise ParameterError(
            "`key` of the shuffle must be the key of this collector: leave it out of the file"
        )
    if issuer is not None and issuer != _issuer_key(folder):
        raise ParameterError(
            "`issuer` must be the key of this collector, which `sottovoce token issuer` prints"
        )


def _issuer_key(folder: Path) -> str:
    try:
        return key_files.public_issuer_key(folder)
    except NoDataError:
        return ""
