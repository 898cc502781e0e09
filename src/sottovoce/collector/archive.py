"""Answers whose reports are erased: each is written once, before the erasure, and read ever after.

Numbers are written in full, so that an answer is read back to the last digit.  A checksum detects a
file that was changed.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sottovoce.accounting.blanket import Blanket
from sottovoce.answers.guarantee import ShuffledReports
from sottovoce.answers.outcome import Outcome
from sottovoce.core.cumulative_band import CumulativeBand
from sottovoce.core.empty_band import BandSupports
from sottovoce.core.estimate import Estimate, Total
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.fake_votes import FakeVotes
from sottovoce.core.influence import Exposure, Influence, InfluenceLaw
from sottovoce.core.noise import Noise
from sottovoce.core.support_law import SupportLaw
from sottovoce.engine.files import replace_file
from sottovoce.engine.stored_path import AnyPath
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.mechanisms.base import Mechanism

_NOUNS: tuple[type[Any], ...] = (
    *(Outcome, Estimate, Total, Noise),
    *(Exposure, Influence, InfluenceLaw, CumulativeBand),
    *(FakeVotes, FakeCount, ShuffledReports, Blanket, SupportLaw, BandSupports),
)


def write(path: AnyPath, answer: Outcome) -> None:
    """Write an answer, unless sums of reports give it again."""
    kept = answer.kept()
    if kept is None:
        return
    text = json.dumps(_written(kept), ensure_ascii=False)
    replace_file(path, lambda new: new.write_text(f"{_checksum(text)}\n{text}", encoding="utf-8"))


def exists(path: AnyPath) -> bool:
    """Return whether an answer was written to this path."""
    return path.exists()


def read(path: AnyPath) -> Outcome:
    """Return the answer in a file, or refuse a file that was changed."""
    try:
        checksum, _, text = path.read_text(encoding="utf-8").partition("\n")
        answer: Outcome | None = _read(json.loads(text)) if checksum == _checksum(text) else None
    except (OSError, ValueError, KeyError, TypeError):
        answer = None
    if not isinstance(answer, Outcome):
        raise MismatchError(
            "the kept answer of an erased task is damaged: restore it from a backup"
        )
    return answer


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(part: Any) -> Any:
    if isinstance(part, _NOUNS) and is_dataclass(part):
        entries = {entry.name: _written(getattr(part, entry.name)) for entry in fields(part)}
        return {"noun": type(part).__name__, **entries}
    if isinstance(part, np.ndarray):
        return {"integers" if part.dtype.kind in "iu" else "array": part.tolist()}
    if isinstance(part, np.generic):
        return part.item()
    if isinstance(part, Mapping):
        return {"entries": [[key, _written(value)] for key, value in part.items()]}
    if isinstance(part, list):
        return {"list": [_written(entry) for entry in part]}
    return [_written(entry) for entry in part] if isinstance(part, tuple) else part


def _read(content: Any) -> Any:
    if isinstance(content, list):
        return tuple(_read(entry) for entry in content)
    if not isinstance(content, dict):
        return content
    if "array" in content:
        return np.array(content["array"], np.float64)
    if "integers" in content:
        return np.array(content["integers"], np.int64)
    if "list" in content:
        return [_read(entry) for entry in content["list"]]
    if "entries" in content:
        return {key: _read(value) for key, value in content["entries"]}
    with suppress(ParameterError, KeyError):
        # Imports its module, which may define a noise law of its own.
        Mechanism.kinds[content["mechanism"]]
    noun = _known(_NOUNS)[content["noun"]]
    return noun(**{name: _read(value) for name, value in content.items() if name != "noun"})


def _known(nouns: Iterable[type[Any]]) -> dict[str, type[Any]]:
    """Return these classes and all that inherit from them, by name."""
    known: dict[str, type[Any]] = {}
    for noun in nouns:
        known |= {noun.__name__: noun, **_known(noun.__subclasses__())}
    return known
