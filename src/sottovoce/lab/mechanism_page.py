"""The page about mechanisms: each with its docstring and a drawing, both from the code.

python -m sottovoce.lab.mechanism_page docs

A mechanism for labels is drawn by the chances p and q that a report supports a value, and by the
variance of one vote over epsilon.  A mechanism for numbers is drawn by the law of its reports for
three numbers, and by the variance of one report.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.mechanisms.numeric import NumericMechanism

PICTURES = "images/mechanisms"
EPSILONS = tuple(np.linspace(0.25, 5, 20).tolist())
LABELS = 64
NUMBERS = 65

_HEAD = """# How each mechanism works

A mechanism randomises one value on the device. The reports of one device say little about its
value; the sum over many people says how many hold each. This page is written from the code by
`make docs`: the words are the docstrings, the drawings are computed by the mechanisms themselves.
Which mechanism a task uses is chosen by [the plan](guide.md); `mechanism` names another one.

- **Labels.** On the left the chance that a report supports its own value (p) and any other value
  (q), 64 values. On the right the variance of one person's vote for a value that nobody holds: the
  standard error of a count among n people is the root of n times that.
- **Numbers.** On the left the law of the report, scaled to its largest value, for a low, a middle
  and a high number, at epsilon 1. On the right the variance of one report of the middle number.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *(line for kind in _kinds() for line in _section(kind))])


def draw(kind: type[Mechanism], path: Path) -> None:
    """Draw one mechanism into a file."""
    figure = optional("matplotlib.figure", "plot").Figure(figsize=(6.4, 2.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    if kind.randomises_numbers:
        _draw_numbers(kind, left, right)
    else:
        _draw_labels(kind, left, right)
    for ax in (left, right):
        ax.tick_params(labelsize=7)
        ax.grid(visible=True, alpha=0.3)
    figure.savefig(path, dpi=80)


def write(docs: Path) -> None:
    """Write the page and its drawings into a folder of docs."""
    folder = docs / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for kind in _kinds():
        if is_drawn(kind):
            draw(kind, folder / f"{kind.kind}.png")
    (docs / "mechanisms.md").write_text(page(), encoding="utf-8")


def is_drawn(kind: type[Mechanism]) -> bool:
    """Return whether a mechanism has the two probabilities, or the channel, that are drawn."""
    return issubclass(kind, (PureMechanism, NumericMechanism))


def _kinds() -> list[type[Mechanism]]:
    return Mechanism.kinds.classes()


def _section(kind: type[Mechanism]) -> Iterator[str]:
    module = inspect.getmodule(kind)
    text = re.sub(r"``([^`]+)``", r"`\1`", inspect.getdoc(module) or "")
    yield f"## {kind.__name__} (`{kind.kind}`)\n"
    yield text + "\n"
    if is_drawn(kind):
        yield f"![{kind.__name__}: its law, and its variance]({PICTURES}/{kind.kind}.png)\n"


def _draw_labels(kind: type[Mechanism], left: Any, right: Any) -> None:
    laws = [_of(kind, epsilon, LABELS) for epsilon in EPSILONS]
    left.plot(EPSILONS, [law.p for law in laws], label="p: its own value")
    left.plot(EPSILONS, [law.q for law in laws], label="q: any other value")
    left.set_ylim(0, 1)
    left.set_xlabel("epsilon", fontsize=8)
    left.set_ylabel("chance of support", fontsize=8)
    left.legend(fontsize=7)
    for size in (4, 64, 1024):
        variances = [_of(kind, epsilon, size).noise.unheld for epsilon in EPSILONS]
        right.plot(EPSILONS, variances, label=f"{size} values")
    right.set_yscale("log")
    right.set_xlabel("epsilon", fontsize=8)
    right.set_ylabel("variance of a vote", fontsize=8)
    right.legend(fontsize=7)


def _draw_numbers(kind: type[Mechanism], left: Any, right: Any) -> None:
    mechanism = _of(kind, 1.0, NUMBERS)
    places = mechanism.numbers(np.arange(mechanism.outputs))
    order = np.argsort(places, kind="stable")
    channel = mechanism.channel()
    for name, value in (("low", 8), ("middle", 32), ("high", 56)):
        law = channel[:, value]
        left.plot(places[order], (law / law.max())[order], label=name, drawstyle="steps-mid")
    left.set_xlabel("report", fontsize=8)
    left.set_ylabel("probability, scaled", fontsize=8)
    left.legend(fontsize=7)
    middle = np.array([NUMBERS // 2])
    variances = [float(_of(kind, epsilon, NUMBERS).variance(middle)[0]) for epsilon in EPSILONS]
    right.plot(EPSILONS, variances)
    right.set_yscale("log")
    right.set_xlabel("epsilon", fontsize=8)
    right.set_ylabel("variance of a report", fontsize=8)


def _of(kind: Any, epsilon: float, size: int) -> Any:
    return kind(epsilon=epsilon, size=size)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
