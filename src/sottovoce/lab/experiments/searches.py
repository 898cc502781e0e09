"""Searches for real texts: the product beside the published methods, at the same epsilon.

Texts of up to 20 bytes are searched by sums drawn from their exact law (``lab/aggregate.py``).
Segment pairs and channels have no such law: words of 6 bytes are searched with genuine reports.
Values of 48 bits are English words, and the same words as random numbers, whose beginnings say
nothing; PrivTrie is beside them among fewer people.

python -m sottovoce.lab.experiments.searches > docs/evidence/searches.md

With ``--kept FILE`` an interrupted run goes on where it ended.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from math import nan, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.lab.aggregate import draw_answer, numbers_of
from sottovoce.lab.baselines.hashed_channels import HashedChannels
from sottovoce.lab.baselines.pem import PrefixExtending
from sottovoce.lab.baselines.privtrie import PrivTrie
from sottovoce.lab.baselines.segment_pairs import SegmentPairs
from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments
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
NUMBERS = Bits(48)
OURS = "`HeavyHitters`"
EPSILONS = (1.0, 2.0, 4.0)
NUMBER_EPSILONS = (2.0, 4.0, 10.0)
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


@dataclass(frozen=True)
class ValueShape:
    """Values that people hold: their domain, and how many people hold each, most frequent first."""

    domain: Bits | Strings
    held: Mapping[Any, int]

    @property
    def labelled(self) -> dict[str, int]:
        """Return how many people hold each value, by its label."""
        numbers = numbers_of(self.domain.indices(list(self.held)))
        labels = [self.domain.label(number) for number in numbers]
        return dict(zip(labels, self.held.values(), strict=True))


def word_shapes(users: int) -> dict[str, ValueShape]:
    """Return English words of at most 48 bits, and the same words as random numbers of 48 bits."""
    words = population("english words", users, SHORT.length)
    generator = np.random.default_rng(48)
    numbers = generator.choice(1 << NUMBERS.bits, len(words), replace=False, shuffle=False)
    return {
        "words": ValueShape(SHORT, words),
        "random numbers": ValueShape(
            NUMBERS, dict(zip(numbers.tolist(), words.values(), strict=True))
        ),
    }


def drawn_search(plan: Plan, epsilon: float, held: Mapping[str, int], seed: int) -> SearchScore:
    """Return how well a search goes whose sums are drawn."""
    answer: Any = draw_answer(_task(plan, epsilon), held, seed)
    return judged(plan, epsilon, held, answer)


def drawn_value_search(plan: Plan, epsilon: float, shape: ValueShape, seed: int) -> SearchScore:
    """Return how well a search for values of any kind goes whose sums are drawn."""
    answer: Any = draw_answer(_task(plan, epsilon), shape.held, seed)
    return judged(plan, epsilon, shape.labelled, answer)


def trie_search(epsilon: float, shape: ValueShape, seed: int) -> SearchScore:
    """Return how well a search in a trie goes, of whose values the most frequent count."""
    found = list(PrivTrie(shape.domain, epsilon).find(shape.held, seed).items())
    return scored(shape.labelled, dict(found[:TOP]))


def genuine_search(plan: Plan, epsilon: float, held: Mapping[str, int], seed: int) -> SearchScore:
    """Return how well a search of genuine reports goes."""
    people = np.repeat(np.array(list(held), object), list(held.values())).tolist()
    answer: Any = simulate(_task(plan, epsilon), people, seed=seed)
    return judged(plan, epsilon, held, answer)


def judged(plan: Plan, epsilon: float, held: Mapping[str, int], answer: Any) -> SearchScore:
    """Return how well an answer names and counts the most frequent values."""
    totals = dict(zip(answer.labels, answer.estimate.totals.tolist(), strict=True))
    promised = [] if not isinstance(plan, HeavyHitters) else _promised(plan, epsilon, held)
    return replace(
        scored(held, totals),
        promised=len(promised),
        kept_promises=len(set(promised) & set(totals)),
    )


def scored(held: Mapping[str, int], totals: Mapping[str, float]) -> SearchScore:
    """Return how well some values and their counts are the most frequent ones, promises aside."""
    truth = dict(list(held.items())[:TOP])
    error = squared_error(truth, totals)
    return SearchScore(
        f1=f1(list(truth), list(totals)),
        ncr=ncr(list(truth), list(totals)),
        error=sqrt(error) if error == error else nan,
        promised=0,
        kept_promises=0,
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


def page(
    kept: MeasuredOnce | None = None, runs: int = RUNS, genuine_runs: int = GENUINE_RUNS
) -> str:
    """Return the page as Markdown; searches may have been run before."""
    searches = kept or MeasuredOnce()
    lines = [_HEAD.format(runs=runs)]
    lines += long_rows(searches, runs)
    lines.append(_NUMBER_HEAD.format(runs=runs))
    lines += number_rows(searches, runs)
    lines.append(_TRIE_HEAD.format(runs=genuine_runs))
    lines += trie_rows(searches, genuine_runs)
    lines.append(_SHORT_HEAD.format(runs=genuine_runs))
    lines += short_rows(searches, genuine_runs)
    return "\n".join(lines) + "\n"


def _scores(
    kept: MeasuredOnce, name: str, runs: int, search: Callable[[int], SearchScore]
) -> list[SearchScore]:
    """Return the scores of so many searches of this name, which are run unless they are kept."""

    def measure(run: int) -> dict[str, Any]:
        return asdict(search(run))

    found = [kept.piece(f"{name}, {run}", partial(measure, run)) for run in range(runs)]
    print(name, file=sys.stderr)
    return [SearchScore(**content) for content in found]


def long_rows(kept: MeasuredOnce, runs: int) -> Iterator[str]:
    """Yield a row for every shape and epsilon."""
    published, ours = PrefixExtending(LONG, TOP), HeavyHitters(LONG, TOP)
    for shape in SHAPES:
        held = population(shape, USERS, LONG.length)
        for epsilon in EPSILONS:
            before, after = (
                _scores(
                    kept,
                    f"{shape}, {epsilon:g}, {method}",
                    runs,
                    partial(drawn_search, plan, epsilon, held),
                )
                for method, plan in (("PEM", published), ("ours", ours))
            )
            mean, half_width = gain(after, before)
            label = shape if shape in TUNED else f"*{shape}*"
            promised = sum(found.promised for found in after)
            kept_promises = sum(found.kept_promises for found in after)
            yield (
                f"| {label} | {epsilon:g} | {_pair(before)} | {_pair(after)} |"
                f" {mean:+.2f} ± {half_width:.2f} | {_error(before)} | {_error(after)} |"
                f" {kept_promises} of {promised} |"
            )


def number_rows(kept: MeasuredOnce, runs: int) -> Iterator[str]:
    """Yield a row for every kind of values of 48 bits and every epsilon."""
    for name, shape in word_shapes(USERS).items():
        for epsilon in NUMBER_EPSILONS:
            before, after = _number_scores(kept, name, shape, epsilon, runs)
            mean, half_width = gain(after, before)
            yield (
                f"| {name} | {epsilon:g} | {_pair(before)} | {_pair(after)} |"
                f" {mean:+.2f} ± {half_width:.2f} | {_error(before)} | {_error(after)} |"
            )


def trie_rows(kept: MeasuredOnce, runs: int) -> Iterator[str]:
    """Yield a row for every kind of values of 48 bits and every epsilon, PrivTrie among them."""
    for name, shape in word_shapes(FEW_USERS).items():
        for epsilon in NUMBER_EPSILONS:
            before, after = _number_scores(kept, name, shape, epsilon, runs)
            search = partial(trie_search, epsilon, shape)
            trie = _scores(kept, f"{name}, {FEW_USERS}, {epsilon:g}, PrivTrie", runs, search)
            mean, half_width = gain(after, trie)
            yield (
                f"| {name} | {epsilon:g} | {_pair(trie)} | {_pair(before)} | {_pair(after)} |"
                f" {mean:+.2f} ± {half_width:.2f} | {_error(trie)} | {_error(after)} |"
            )


def _number_scores(
    kept: MeasuredOnce, name: str, shape: ValueShape, epsilon: float, runs: int
) -> tuple[list[SearchScore], list[SearchScore]]:
    """Return the scores of the published method and of ours."""
    users = sum(shape.held.values())
    plans: dict[str, Plan] = {
        "PEM": PrefixExtending(shape.domain, TOP),
        "ours": HeavyHitters(shape.domain, TOP),
    }
    before, after = (
        _scores(
            kept,
            f"{name}, {users}, {epsilon:g}, {method}",
            runs,
            partial(drawn_value_search, plan, epsilon, shape),
        )
        for method, plan in plans.items()
    )
    return before, after


def short_rows(kept: MeasuredOnce, runs: int) -> Iterator[str]:
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
            search = partial(genuine_search, plan, epsilon, held)
            scores[name] = _scores(kept, f"genuine, {name}, {epsilon:g}", runs, search)
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

_NUMBER_HEAD = f"""
## Values of 48 bits

{USERS:,} people hold an English word, cut after 6 bytes (*words*), or a random number of 48 bits
that stands for this word (*random numbers*): the counts are the same, but beginnings tell nothing.
Means of {{runs}} searches with drawn sums.

| values | epsilon | PEM | `HeavyHitters` | gain | error, PEM | error, ours |
|---|---:|---:|---:|---:|---:|---:|"""

_TRIE_HEAD = f"""
The same for {FEW_USERS:,} people, with PrivTrie (`lab/baselines/privtrie.py`), which asks everybody
in turn and needs an answer before the next question; its sums are drawn from their exact joint law,
and its {TOP} most frequent values count. Means of {{runs}} searches. *Gain* and *error* are beside
PrivTrie.

| values | epsilon | PrivTrie | PEM | `HeavyHitters` | gain | error, PrivTrie | error, ours |
|---|---:|---:|---:|---:|---:|---:|---:|"""

_SHORT_HEAD = f"""
## Words of up to 6 bytes, beside other published methods

{FEW_USERS:,} people hold English words, cut after 6 bytes. All reports are genuine; means of
{{runs}} searches. *Gain* is that of `HeavyHitters` over the method.

| epsilon | method | F1 / NCR | gain | error |
|---:|---|---:|---:|---:|"""

if __name__ == "__main__":
    print(page(from_arguments(__doc__)), end="")
