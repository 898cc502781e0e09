"""Results of experiments, kept in a folder so that nothing is computed twice.

A result is kept under the experiment's name, the size, and a digest of the source that computed it:
the experiment's module and every module of this package that it imports, directly or not.  A change
to any of them makes the experiment run again.
"""

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sottovoce.answers.export import optional
from sottovoce.lab.experiments.base import (
    Claim,
    Experiment,
    FigureEvidence,
    FigureRow,
    FigureVerdict,
    Progress,
    Size,
)

_IMPORT = re.compile(
    r"^\s*(?:from|import) (sottovoce[\w.]*)(?: import \(?([\w, \n]*))?", re.MULTILINE
)


@dataclass(frozen=True)
class ExperimentResult:
    """The rows of an experiment, and how long they took."""

    experiment: Experiment
    size: Size
    rows: tuple[FigureRow, ...]
    seconds: float

    @property
    def claims(self) -> list[Claim]:
        """Return the paper's claims, and whether these rows agree."""
        return self.experiment.claims(self.rows)

    @property
    def verdict(self) -> FigureVerdict:
        """Return how the experiment ended."""
        return self.experiment.judge(self.rows)

    @property
    def evidence(self) -> FigureEvidence:
        """Return what the verdict rests on."""
        return self.experiment.evidence(self.rows)

    def as_plain_data(self) -> dict[str, Any]:
        """Return everything that a reader of JSON needs."""
        return {
            "name": self.experiment.name,
            "paper": self.experiment.paper,
            "reproduces": list(self.experiment.reproduces),
            "size": self.size,
            "seconds": round(self.seconds, 2),
            "verdict": str(self.verdict),
            "evidence": asdict(self.evidence),
            "claims": [asdict(claim) for claim in self.claims],
            "rows": [asdict(row) for row in self.rows],
        }


@dataclass(frozen=True)
class Results:
    """Results in a folder; without one everything is computed anew."""

    folder: Path | None = None
    clock: Callable[[], float] = time.monotonic

    def get(self, experiment: Experiment, size: Size, progress: Progress) -> ExperimentResult:
        """Return the result of an experiment, computed unless it is kept."""
        path = self._path(experiment, size)
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            rows = tuple(FigureRow(**row) for row in kept["rows"])
            return ExperimentResult(experiment, size, rows, kept["seconds"])
        started = self.clock()
        rows = tuple(experiment.run(size, progress))
        result = ExperimentResult(experiment, size, rows, self.clock() - started)
        if path is not None:
            self._keep(path, result)
        return result

    def holds(self, experiment: Experiment, size: Size) -> bool:
        """Return whether a result is kept."""
        path = self._path(experiment, size)
        return path is not None and path.exists()

    def _keep(self, path: Path, result: ExperimentResult) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(
            json.dumps({"seconds": result.seconds, "rows": [asdict(row) for row in result.rows]}),
            encoding="utf-8",
        )
        new.replace(path)

    def _path(self, experiment: Experiment, size: Size) -> Path | None:
        if self.folder is None:
            return None
        digest = source_digest(type(experiment).__module__)
        return self.folder / f"{experiment.name}-{size}-{digest}.json"


def save_plot(result: ExperimentResult, path: Path) -> None:
    """Draw a result into a file; its suffix decides the format."""
    figure = optional("matplotlib.figure", "plot").Figure(figsize=(5.0, 3.3), layout="constrained")
    result.experiment.draw(result.rows, figure.subplots())
    figure.savefig(path, dpi=80)


def source_digest(module: str) -> str:
    """Return a digest of a module and of all modules of this package that it imports."""
    digest = blake2b(digest_size=8)
    for name in sorted(reached_modules(module)):
        digest.update(name.encode() + _source(name).encode())
    return digest.hexdigest()


@cache
def reached_modules(module: str) -> frozenset[str]:
    """Return a module and all modules of this package that it imports, directly or not."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += _imports(name)
    return frozenset(seen)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Return the modules of this package that a module names in its imports."""
    names: set[str] = set()
    for base, imported in _IMPORT.findall(_source(module)):
        parts = [part.strip() for part in imported.replace("\n", " ").split(",")]
        candidates = [base, *(f"{base}.{part}" for part in parts if part.isidentifier())]
        names |= {name for name in candidates if _is_module(name)}
    return tuple(sorted(names))


@cache
def _is_module(name: str) -> bool:
    return _path_of(name) is not None


@cache
def _source(module: str) -> str:
    path = _path_of(module)
    return "" if path is None else path.read_text(encoding="utf-8")


@cache
def _path_of(module: str) -> Path | None:
    """Return the file of a module without importing it."""
    spec = find_spec("sottovoce")
    assert spec is not None
    assert spec.origin is not None
    base = Path(spec.origin).parent.joinpath(*module.split(".")[1:])
    paths = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in paths if path.is_file()), None)
