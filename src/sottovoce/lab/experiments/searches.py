"""Searches for real texts: the product beside the published methods, at the same epsilon.

Texts of up to 20 bytes are searched by sums drawn from their exact law (``lab/aggregate.py``).
Segment pairs and channels have no such law: words of 6 bytes are searched with genuine reports.

python -m sottovoce.lab.experiments.searches > docs/evidence/searches.md
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import nan, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.strings import Strings
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.baselines.hashed_channels import HashedChannels
from sottovoce.lab.baselines.pem import PrefixExtending
from sottovoce.lab.baselines.segment_pairs import SegmentPairs
from sottovoce.lab.populations.real_tables import holders, search_queries, value_counts
from sottovoce.lab.simulate import simulate
from sottovoce.lab.truth.metrics import f1, ncr, squared_error
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task

USERS = 1_000_000
FEW_USERS = 200_000
TOP = 16
LONG = Strings(20)
SHORT = Strings(6)
OURS = "`HeavyHitters`"
EPSILONS = (1.0, 2.0, 4.0)
RUNS = 8
GENUINE_RUNS = 5
CODES = 3_000  # different random codes
TUNED = ("english words", "surnames")  # the constants of the search were chosen on these
SHAPES: Mapping[str, Callable[[], dict[str, int]]] = {
    "english words": lambda: value_counts("english_words"),
    "surnames": lambda: value_counts("surnames"),
    "german words": lambda: value_counts("german_words"),
    "russian words": lambda: value_counts("russian_words"),
    "arabic words": lambda: value_counts("arabic_words"),
    "japanese words": lambda: value_counts("japanese_words"),
    "package names": lambda: value_counts("packages"),
    "search queries": lambda: search_queries(USERS // 20, seed=7),
    "random codes": lambda: random_codes(),
}
# Student's t, 97.5 %, by degrees of freedom
T_QUANTILES = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 7: 2.36, 9: 2.26}


@dataclass(frozen=True)
class SearchScore:
    """How well one search went: F1, NCR, and the error of the counts in people."""

    f1: float
    ncr: float
    error: float  # root mean square over the sought values that were found
    promised: int  # values that the advice promised to find
    kept_promises: int  # those of them that were found


def random_codes() -> dict[str, int]:
    """Return codes of 20 random letters; how frequent they are follows Zipf's law."""
    letters = np.random.default_rng(0).integers(ord("a"), ord("z") + 1, (CODES, LONG.length))
    return {
        bytes(row.tolist()).decode(): round(USERS / (rank + 1)) for rank, row in enumerate(letters)
    }


@cache
def population(shape: str, users: int, length: int) -> dict[str, int]:
    """Return how many people hold each text, cut as devices cut it, the most frequent first."""
    domain = Strings(length)
    counts: dict[str, int] = {}
    for text, count in holders(SHAPES[shape](), users).items():
        (index,) = domain.counts(domain.indices([text]))
        counts[index] = counts.get(index, 0) + count
    return dict(sorted(counts.items(), key=lambda entry: -entry[1]))


def drawn_search(plan: Plan, epsilon: float, held: Mapping[str, int], seed: int) -> SearchScore:
    """Return how well a search goes whose sums are drawn."""
    answer: Any = draw_answer(_task(plan, epsilon), held, seed)
    return judged(plan, epsilon, held, answer)


def genuine_search(plan: Plan, epsilon: float, held: Mapping[str, int], seed: int) -> SearchScore:
    """Return how well a search of genuine reports goes."""
    people = np.repeat(np.array(list(held), object), list(held.values())).tolist()
    answer: Any = simulate(_task(plan, epsilon), people, seed=seed)
    return judged(plan, epsilon, held, answer)


def judged(plan: Plan, epsilon: float, held: Mapping[str, int], answer: Any) -> SearchScore:
    """Return how well an answer names and counts the most frequent values."""
    truth = dict(list(held.items())[:TOP])
    totals = dict(zip(answer.labels, answer.estimate.totals.tolist(), strict=True))
    error = squared_error(truth, totals)
    promised = [] if not isinstance(plan, HeavyHitters) else _promised(plan, epsilon, held)
    return SearchScore(
        f1=f1(list(truth), list(totals)),
        ncr=ncr(list(truth), list(totals)),
        error=sqrt(error) if error == error else nan,
        promised=len(promised),
        kept_promises=len(set(promised) & set(totals)),
    )


def _promised(plan: HeavyHitters, epsilon: float, held: Mapping[str, int]) -> list[str]:
    """Return the sought values that the advice says are found 19 times in 20."""
    users = sum(held.values())
    findable = plan.advise(users, epsilon).to_dict()["findable"]
    sought = list(held.items())[:TOP]
    return [text for text, count in sought if findable and count >= findable * users]


@cache
def _task(plan: Plan, epsilon: float) -> Task:
    declares = tuple(plan.needs)
    return Task("texts", plan, epsilon, declares=declares)


def gain(ours: list[SearchScore], theirs: list[SearchScore]) -> tuple[float, float]:
    """Return the mean gain in F1, and half the width of its 95 % interval over the runs."""
    differences: Floats = np.array(
        [one.f1 - other.f1 for one, other in zip(ours, theirs, strict=True)]
    )
    runs = len(differences)
    spread = float(differences.std(ddof=1)) / sqrt(runs)
    return float(differences.mean()), T_QUANTILES[runs - 1] * spread


def page(runs: int = RUNS, genuine_runs: int = GENUINE_RUNS) -> str:
    """Return the page as Markdown."""
    lines = [_HEAD.format(runs=runs)]
    lines += long_rows(runs)
    lines.append(_SHORT_HEAD.format(runs=genuine_runs))
    lines += short_rows(genuine_runs)
    return "\n".join(lines) + "\n"


def long_rows(runs: int) -> Iterator[str]:
    """Yield a row for every shape and epsilon."""
    published, ours = PrefixExtending(LONG, TOP), HeavyHitters(LONG, TOP)
    for shape in SHAPES:
        held = population(shape, USERS, LONG.length)
        for epsilon in EPSILONS:
            before = [drawn_search(published, epsilon, held, run) for run in range(runs)]
            after = [drawn_search(ours, epsilon, held, run) for run in range(runs)]
            mean, half_width = gain(after, before)
            name = shape if shape in TUNED else f"*{shape}*"
            promised = sum(found.promised for found in after)
            kept = sum(found.kept_promises for found in after)
            yield (
                f"| {name} | {epsilon:g} | {_pair(before)} | {_pair(after)} |"
                f" {mean:+.2f} ± {half_width:.2f} | {_error(before)} | {_error(after)} |"
                f" {kept} of {promised} |"
            )
            print(shape, epsilon, file=sys.stderr)


def short_rows(runs: int) -> Iterator[str]:
    """Yield a row for every method and epsilon."""
    plans: dict[str, Plan] = {
        "PEM, as published": PrefixExtending(SHORT, TOP),
        "segment pairs (SPM), users partitioned": SegmentPairs(SHORT, TOP, partitioned=True),
        "channels (HASH), users partitioned": HashedChannels(SHORT, TOP, partitioned=True),
        OURS: HeavyHitters(SHORT, TOP),
    }
    held = population("english words", FEW_USERS, SHORT.length)
    for epsilon in EPSILONS:
        scores = {}
        for name, plan in plans.items():
            scores[name] = [genuine_search(plan, epsilon, held, run) for run in range(runs)]
            print(name, epsilon, file=sys.stderr)
        ours = scores[OURS]
        for name, found in scores.items():
            ahead = "" if name == OURS else "{:+.2f} ± {:.2f}".format(*gain(ours, found))
            yield f"| {epsilon:g} | {name} | {_pair(found)} | {ahead} | {_error(found)} |"


def _pair(found: list[SearchScore]) -> str:
    return (
        f"{np.mean([each.f1 for each in found]):.2f} / {np.mean([each.ncr for each in found]):.2f}"
    )


def _error(found: list[SearchScore]) -> str:
    known = [each.error for each in found if each.error == each.error]
    return f"{sqrt(np.mean(np.square(known))):,.0f}" if known else "-"


_HEAD = f"""# Searches for real texts

Printed by `python -m sottovoce.lab.experiments.searches`. [How it works](../discovery.md).

## Texts of up to 20 bytes

{USERS:,} people hold one text each, in proportion to the counts of a real table
([what they are](../../src/sottovoce/lab/data/README.md)); the {TOP} most frequent are sought.
*PEM* is the published method (`lab/baselines/pem.py`); both spend the same epsilon on the same kind
of report. Figures are F1 / NCR, means of {{runs}} searches with sums drawn from their exact law.
*Gain* is that of F1, with its 95 % interval over the searches. *Error* is the root mean square
error of the counts of rightly found texts, in people. *Promise*: of the sought texts that
`sottovoce advise` promises to find 19 times in 20, those that were found, over all searches.

The constants of the search (how many prefixes are followed at least, how much less likely a longer
text is) were chosen on English words and surnames; that one text in ten is taken to be a code of
full length, on these, Russian words, package names and *random codes*, which are invented: 20
letters each, frequencies by Zipf's law. The other shapes in *italics* were held out.

| shape | epsilon | PEM | `HeavyHitters` | gain | error, PEM | error, ours | promise |
|---|---:|---:|---:|---:|---:|---:|---:|"""

_SHORT_HEAD = f"""
## Words of up to 6 bytes, beside other published methods

{FEW_USERS:,} people hold English words, cut after 6 bytes. All reports are genuine; means of
{{runs}} searches. *Gain* is that of `HeavyHitters` over the method.

| epsilon | method | F1 / NCR | gain | error |
|---:|---|---:|---:|---:|"""

if __name__ == "__main__":
    print(page(), end="")
