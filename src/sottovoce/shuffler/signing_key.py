"""The long-term key of a hop: a file in its folder (``web/key_files.py``).

The documents of tasks contain the public half.  A hop that loses the private half can no longer
serve the tasks that name it.  Anybody who copies the private half can sign in the hop's name.
"""

from pathlib import Path

from sottovoce.errors import NoDataError
from sottovoce.web import key_files
from sottovoce.wire.round_keys import KeyPair


def load_signing_key(folder: Path) -> KeyPair:
    """Return the long-term key of the hop in a folder, or say that there is none."""
    try:
        return key_files.load_signing_key(folder)
    except NoDataError:
        raise NoDataError(
            "there is no shuffler in this folder: `sottovoce shuffle key` makes its key"
        ) from None


def make_signing_key(folder: Path) -> KeyPair:
    """Return the long-term key of the hop in a folder; it is made if there is none."""
    return key_files.make_signing_key(folder)
