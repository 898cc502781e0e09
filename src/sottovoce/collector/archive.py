"""An answer as it was when the reports behind it were erased: written once, read for ever after.

Numbers are written in full, so that what is read back is the answer to the last digit; a checksum tells a file that
is no longer what was written.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.core.estimate import Estimate, Total
from sottovoce.core.noise import Noise
from sottovoce.engine.files import replace_file
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.mechanisms.base import Mechanism

_NOUNS: tuple[type[Any], ...] = (Outcome, Estimate, Total, Noise)


def write(path: Path, answer: Outcome) -> None:
    """Keep an answer, unless sums of reports will give it again; the file appears whole or not at all."""
    kept = answer.kept()
    if kept is None:
        return
    text = json.dumps(_written(kept), ensure_ascii=False)
    replace_file(path, lambda new: new.write_text(f"{_checksum(text)}\n{text}", encoding="utf-8"))


def exists(path: Path) -> bool:
    """Return whether an answer has been kept here."""
    return path.exists()


def read(path: Path) -> Outcome:
    """Return the answer that was kept, or refuse one that is not as it was written."""
    try:
        checksum, _, text = path.read_text(encoding="utf-8").partition("\n")
        answer: Outcome | None = _read(json.loads(text)) if checksum == _checksum(text) else None
    except (OSError, ValueError, KeyError, TypeError):
        answer = None
    if not isinstance(answer, Outcome):
        raise MismatchError("the answer that was kept of an erased task is damaged")
    return answer


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(part: Any) -> Any:
    if isinstance(part, _NOUNS) and is_dataclass(part):
        return {"noun": type(part).__name__, **{one.name: _written(getattr(part, one.name)) for one in fields(part)}}
    if isinstance(part, np.ndarray):
        return {"array": part.tolist()}
    if isinstance(part, np.generic):
        return part.item()
    if isinstance(part, Mapping):
        return {"entries": [[key, _written(value)] for key, value in part.items()]}
    if isinstance(part, list):
        return {"list": [_written(one) for one in part]}
    return [_written(one) for one in part] if isinstance(part, tuple) else part


def _read(content: Any) -> Any:
    if isinstance(content, list):
        return tuple(_read(one) for one in content)
    if not isinstance(content, dict):
        return content
    if "array" in content:
        return np.array(content["array"], np.float64)
    if "list" in content:
        return [_read(one) for one in content["list"]]
    if "entries" in content:
        return {key: _read(value) for key, value in content["entries"]}
    with suppress(ParameterError, KeyError):
        Mechanism.kinds[content["mechanism"]]  # the errors of a mechanism may have a law of their own, beside it
    noun = _known(_NOUNS)[content["noun"]]
    return noun(**{name: _read(value) for name, value in content.items() if name != "noun"})


def _known(nouns: Iterable[type[Any]]) -> dict[str, type[Any]]:
    """Return these nouns and all that inherit from them, by name; a plan brings its own with it."""
    return {
        name: found for noun in nouns for name, found in {noun.__name__: noun, **_known(noun.__subclasses__())}.items()
    }
