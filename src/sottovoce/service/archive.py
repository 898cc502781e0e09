"""An answer as it was when the reports behind it were erased: written once, read for ever after.

Numbers are written in full, so that what is read back is the answer to the last digit.
"""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers import Answer, Answers
from sottovoce.engine.sealed import replace_file
from sottovoce.errors import MismatchError
from sottovoce.estimate import (
    BalancedNoise,
    Estimate,
    IndependentNoise,
    ListedNoise,
    PartialNoise,
    SampledNoise,
    SetNoise,
    StatedNoise,
    Total,
)
from sottovoce.measures import Measures
from sottovoce.numbers.distribution import DistributionAnswer

_NOUNS = {
    noun.__name__: noun
    for noun in (
        *(Answer, Answers, DistributionAnswer, Measures, Estimate, Total),
        *(IndependentNoise, ListedNoise, SetNoise, StatedNoise, BalancedNoise, PartialNoise, SampledNoise),
    )
}


def write(path: Path, answer: Answer | Answers | Measures) -> None:
    """Keep an answer; the file appears whole or not at all."""
    text = json.dumps(_written(answer), ensure_ascii=False)
    replace_file(path, lambda new: new.write_text(text, encoding="utf-8"))


def exists(path: Path) -> bool:
    """Return whether an answer has been kept here."""
    return path.exists()


def read(path: Path) -> Answer | Answers | Measures:
    """Return the answer that was kept."""
    try:
        answer: Answer | Answers | Measures = _read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MismatchError("the answer that was kept of an erased task is damaged") from error
    return answer


def _written(part: Any) -> Any:
    if type(part).__name__ in _NOUNS:
        return {"noun": type(part).__name__, **{one.name: _written(getattr(part, one.name)) for one in fields(part)}}
    if isinstance(part, np.ndarray):
        return {"array": part.tolist()}
    if isinstance(part, dict):
        return {"entries": [[key, _written(value)] for key, value in part.items()]}
    if isinstance(part, (tuple, list)):
        return [_written(one) for one in part]
    return part


def _read(content: Any) -> Any:
    if isinstance(content, list):
        return tuple(_read(one) for one in content)
    if not isinstance(content, dict):
        return content
    if "array" in content:
        return np.array(content["array"], np.float64)
    if "entries" in content:
        return {key: _read(value) for key, value in content["entries"]}
    return _NOUNS[content["noun"]](**{name: _read(value) for name, value in content.items() if name != "noun"})
