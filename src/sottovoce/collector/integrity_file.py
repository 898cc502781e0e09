"""What the tests of a round said: a file beside its log that stays when the reports are erased."""

import json

from sottovoce.engine.files import replace_file
from sottovoce.engine.stored_path import AnyPath
from sottovoce.errors import MismatchError
from sottovoce.integrity.result import Integrity


def write(path: AnyPath, integrity: Integrity) -> None:
    """Write the tests of a round; the file appears whole or not at all."""
    text = json.dumps(integrity.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    replace_file(path, lambda new: new.write_text(text + "\n", encoding="utf-8"))


def read(path: AnyPath) -> Integrity | None:
    """Return the tests of a round; None if they have not been made."""
    try:
        return Integrity.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise MismatchError(
            "the tests of a sealed round are damaged: restore the file from a backup"
        ) from None
