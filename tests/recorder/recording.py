"""A recording of everything observable: it proves that rebuilt code still gives the same answers.

``record()`` runs a fixed table of cases and returns plain JSON data under stable keys such as
``plan/histogram/grr/answer``.  ``recorded.json`` beside this file holds the recording of the code
before the rebuild, and ``test_recorder.py`` compares the two group by group.

    python tests/recorder/recording.py --write              # record everything again
    python tests/recorder/recording.py --write sql advice   # only the keys with these prefixes
    python tests/recorder/recording.py --write /text        # only the keys that end like this
    python tests/recorder/recording.py                      # print the keys that differ

Texts that people read stand under keys that end in ``/text``, so that new wording can be recorded
alone.  Floats have 12 significant digits.  A list of more than 12 scalars is condensed to its first
8 entries, two sums and the SHA-256 of its values at 9 significant digits: fewer than are written
elsewhere, so that a harmless change in the order of a sum does not change the hash.

To add a case, add a line to a table below; to add a group, add a function to ``GROUPS``.
"""

import argparse
import hashlib
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import count
from math import isclose, isfinite
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import sottovoce as sv
from sottovoce.core.estimate import Total
from sottovoce.errors import SottovoceError
from sottovoce.lab.baselines.channel_bits import ChannelBits
from sottovoce.lab.baselines.correlated import Correlated
from sottovoce.lab.baselines.hashed_channels import HashedChannels
from sottovoce.lab.baselines.hcms import HCMS
from sottovoce.lab.baselines.marginals.baseline_marginals import METHODS as MARGINAL_BASELINES
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.expected_errors import compare_methods
from sottovoce.lab.baselines.pem1 import pem1
from sottovoce.lab.baselines.product_response import ProductResponse
from sottovoce.lab.baselines.segment_pairs import SegmentPairs
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.heavy_hitters.advice import advise_values
from sottovoce.plans.itemsets.advice import advise_items
from sottovoce.plans.marginals.advice import advise_marginals
from sottovoce.plans.tables.advice import advise_tables
from sottovoce.wire import codec

RECORDED = Path(__file__).with_name("recorded.json")
TEXT = "/text"  # how the keys of texts for people end

Record = dict[str, Any]

# --- plain data: what a value looks like in the record ------------------------------------------

DIGITS = 12  # significant digits of a recorded float
HASHED_DIGITS = 9  # and of a float within a hash
MAX_LIST = 12  # scalars that are listed one by one
SHOWN = 8  # first entries of a longer list
NOTHING = 1e-12  # floats nearer to zero than this are rounding errors


def plain(value: Any) -> Any:
    """Return a value as JSON data, with rounded floats and condensed lists."""
    if isinstance(value, np.generic):
        return plain(value.item())
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, bytes):
        return sha256(value)
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    return plain_list(list(value))


def plain_list(values: list[Any]) -> Any:
    """Return a list as it is, as columns if it holds records, or condensed if it is long."""
    if values and all(isinstance(value, Mapping) for value in values):
        names = list(values[0])
        if all(list(value) == names for value in values):
            columns = {name: plain([value[name] for value in values]) for name in names}
            return {"row_count": len(values), "columns": columns}
    entries = [plain(value) for value in values]
    scalar = all(isinstance(entry, str | bool | int | float | None) for entry in entries)
    return condensed(entries) if scalar and len(entries) > MAX_LIST else entries


def condensed(entries: Sequence[Any]) -> Record:
    """Return the first entries of a long list, its hash and, of numbers, two sums."""
    text = "\n".join(hashed_text(entry) for entry in entries)
    found = {"count": len(entries), "first": list(entries[:SHOWN]), "sha256": sha256(text.encode())}
    if all(type(entry) in (int, float) for entry in entries):
        places = range(1, len(entries) + 1)
        weighted = sum(place * entry for place, entry in zip(places, entries, strict=True))
        found |= {"sum": plain(sum(entries)), "sum_weighted_by_place": plain(weighted)}
    return found


def hashed_text(entry: Any) -> str:
    """Return how an entry of a list is written into the hash of the list."""
    if type(entry) is not float:
        return json.dumps(entry)
    return f"{entry:.{HASHED_DIGITS}g}" if abs(entry) > NOTHING else "0"


def rounded(number: float) -> float | str:
    """Return a float with so many significant digits; one that JSON cannot write becomes text."""
    return float(f"{number:.{DIGITS}g}") if isfinite(number) else repr(number)


def written(total: Total) -> Record:
    """Return a total as it is recorded: the number and its variance."""
    return {"total": total.total, "variance": total.variance}


def sha256(data: bytes) -> str:
    """Return the hash of some bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


_FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")


def exported(text: str) -> Record:
    """Return the hash and the first line of an exported text, its floats rounded."""
    even = _FLOAT.sub(lambda match: hashed_text(float(match.group())), text)
    lines = even.splitlines()
    return {"sha256": sha256(even.encode()), "line_count": len(lines), "first_line": lines[0][:300]}


def outcome_of(compute: Callable[[], Any]) -> Any:
    """Return what a computation gives as plain data, or the class of the error it raises."""
    try:
        return plain(compute())
    except SottovoceError as error:
        return {"refused": type(error).__name__}


# --- populations: who is asked -------------------------------------------------------------------


@cache
def skewed(people: int, size: int) -> tuple[int, ...]:
    """Return one value below ``size`` for everybody; small ones are frequent."""
    source = np.random.default_rng([people, size])
    return tuple((size * source.random(people) ** 2).astype(int).tolist())


@cache
def labelled(people: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return one label for everybody; the first ones are frequent."""
    return tuple(labels[place] for place in skewed(people, len(labels)))


@cache
def amounts(people: int, high: float) -> tuple[float, ...]:
    """Return one number from 0 to ``high`` for everybody."""
    source = np.random.default_rng([people, int(high)])
    return tuple((high * source.beta(2, 5, people)).tolist())


@cache
def baskets(people: int, items: int) -> tuple[tuple[int, ...], ...]:
    """Return a set of items for everybody; items with small numbers are frequent."""
    source = np.random.default_rng([people, items, 7])
    chances = 0.7 / (1 + np.arange(items))
    held = source.random((people, items)) < chances
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in held)


ATTRIBUTES = {
    "age": range(3),
    "work": ["no", "yes"],
    "car": ["no", "yes"],
    "home": ["flat", "house", "boat"],
}
BINARY = {name: ["no", "yes"] for name in ("one", "two", "three", "four")}


def records(people: int, attributes: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return columns of records whose attributes hang together."""
    source = np.random.default_rng([people, len(attributes)])
    common = source.random(people)
    columns = {}
    for name, values in attributes.items():
        own = np.where(source.random(people) < 0.6, common, source.random(people))
        columns[name] = [list(values)[int(place)] for place in own * len(values)]
    return columns


REGIONS = ("north", "east", "south")
CATEGORIES = ("books", "food", "sports")
PLANS = ("free", "premium")


def customers(people: int, *, public: bool = True) -> dict[str, Any]:
    """Return the columns of a table with one record for everybody."""
    source = np.random.default_rng([people, 11])
    age = (16 + 32 * source.beta(2, 4, people)).astype(int)
    income = 100_000 * source.beta(2, 5, people) * (0.5 + age / 96)
    region = np.array(REGIONS)[(3 * source.random(people) ** 2).astype(int)]
    columns = {"age": age, "income": income, "region": region}
    if public:
        columns["plan"] = np.array(PLANS)[(source.random(people) < 0.3).astype(int)]
        columns["year"] = source.integers(2018, 2025, people)
    return columns


def purchases(people: int, most: int) -> dict[str, Any]:
    """Return the columns of a table with up to ``most`` records for everybody."""
    source = np.random.default_rng([people, most, 13])
    owner = np.repeat(np.arange(people), source.integers(0, most + 1, people))
    amount = 1 + (16 * source.random(len(owner)) ** 2).astype(int)
    category = np.array(CATEGORIES)[(3 * source.random(len(owner)) ** 2).astype(int)]
    return {"uid": owner, "amount": amount, "category": category}


def habits(people: int) -> dict[str, Any]:
    """Return the columns of a second table with one record for everybody."""
    source = np.random.default_rng([people, 17])
    diet = np.array(["any", "green"])[(source.random(people) < 0.25).astype(int)]
    return {"hours": (8 * source.random(people) ** 2).astype(int), "diet": diet}


# --- plans ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A task, who is asked, and what else is recorded of the answer."""

    plan: Any
    values: Any
    epsilon: float = 1.0
    settings: Mapping[str, Any] | None = None
    more: Mapping[str, Callable[[Any], Any]] | None = None

    def task(self, name: str) -> Any:
        """Return the task under the name of its case."""
        return sv.Task(name, self.plan, epsilon=self.epsilon, **(self.settings or {}))


SEED = 20
BROWSERS = ("chrome", "firefox", "safari", "other")
PROMISES = {"minimum": 50, "crowd": 5, "retention": 30}


def histograms() -> dict[str, Case]:
    """Return histograms with the chosen mechanism, a named one and settings of the collection."""
    browsers = labelled(1500, BROWSERS)
    kinds = ("grr", "sue", "oue", "the", "blh", "olh", "hadamard", "subset", "rmp", "bloom")
    named = {kind: Case(sv.Histogram(range(20), kind), skewed(800, 20)) for kind in kinds}
    described = {"description": "which browser", "collection": sv.Collection(**PROMISES)}
    return {
        "chosen-small": Case(sv.Histogram(BROWSERS), browsers),
        "chosen-large": Case(sv.Histogram(range(300)), skewed(2000, 300)),
        "declinable": Case(sv.Histogram(BROWSERS, declinable=True), (*browsers, None, None)),
        "collection": Case(sv.Histogram(BROWSERS), browsers, settings=described),
        **named,
    }


def surveys() -> dict[str, Case]:
    """Return surveys with equal and with unequal weights."""
    values = records(1500, ATTRIBUTES)
    return {
        "even": Case(sv.Survey(ATTRIBUTES), values),
        "weighted": Case(sv.Survey(ATTRIBUTES, weights=(1, 2, 3, 4)), values, 2.0),
        "oue": Case(sv.Survey(ATTRIBUTES, mechanism="oue"), values),
    }


def trackings() -> dict[str, Case]:
    """Return longitudinal tasks."""
    browsers, lasting = labelled(600, BROWSERS), {"distinct": 2}
    return {
        "sue": Case(sv.Tracking(BROWSERS, epochs=3), browsers, 4.0, lasting),
        "grr": Case(sv.Tracking(BROWSERS, 2, "grr"), browsers, 4.0, {"distinct": 1}),
    }


def means() -> dict[str, Case]:
    """Return means by every mechanism for numbers."""
    kinds = ("hybrid", "piecewise", "duchi")
    cases = {kind: Case(sv.Mean(0, 120, kind), amounts(1000, 120)) for kind in kinds}
    clamped = Case(sv.Mean(0, 60, clamped=True), amounts(1000, 120), 3.0)
    return {**cases, "clamped": clamped}


def distributions() -> dict[str, Case]:
    """Return distributions, with the figures that are computed from them."""
    more = {
        "mean": lambda answer: written(answer.mean()),
        "quantile": lambda answer: written(answer.quantile(0.9)),
    }
    return {
        "few-buckets": Case(sv.Distribution(0, 120, 32), amounts(2000, 120), more=more),
        "many-buckets": Case(sv.Distribution(0, 1, 128), amounts(1000, 1), 3.0, more=more),
    }


WORDS = ("tea", "oat", "fig", "rye", "nut", "pea")


def heavy_hitters() -> dict[str, Case]:
    """Return searches for values by prefixes (PEM)."""
    numbers, words = skewed(3000, 40), labelled(3000, WORDS)
    return {
        "bits": Case(sv.HeavyHitters(sv.Bits(16), top=4), numbers, 4.0),
        "groups": Case(sv.HeavyHitters(sv.Bits(16), top=4, groups=3), numbers, 4.0),
        "threshold": Case(sv.HeavyHitters(sv.Bits(16), threshold=0.05), numbers, 4.0),
        "pem1": Case(pem1(sv.Bits(10), 4), numbers, 4.0),
        "strings": Case(sv.HeavyHitters(sv.Strings(3), top=3), words, 4.0),
    }


def segment_pairs() -> dict[str, Case]:
    """Return searches for values by pairs of segments (SPM)."""
    numbers = tuple(257 * (number % 8) for number in skewed(2000, 40))
    partitioned = SegmentPairs(sv.Bits(12), 3, segments=3, partitioned=True)
    return {
        "two": Case(SegmentPairs(sv.Bits(12), 3, segments=2), numbers, 6.0),
        "four": Case(SegmentPairs(sv.Bits(12), 3, segments=4), numbers, 6.0),
        "partitioned": Case(partitioned, numbers, 6.0),
        "strings": Case(SegmentPairs(sv.Strings(3), 2, segments=3), labelled(2000, WORDS), 6.0),
    }


def hashed_channels() -> dict[str, Case]:
    """Return searches for values by hashed channels (HASH)."""
    numbers = tuple(257 * (number % 8) for number in skewed(2000, 40))
    return {
        "blocks": Case(HashedChannels(sv.Bits(16), 4), numbers, 6.0),
        "bits": Case(HashedChannels(sv.Bits(12), 4, block=1), numbers, 6.0),
        "partitioned": Case(HashedChannels(sv.Bits(16), 4, partitioned=True), numbers, 6.0),
        "strings": Case(HashedChannels(sv.Strings(3), 3, channels=8), labelled(2000, WORDS), 6.0),
    }


def top_items() -> dict[str, Case]:
    """Return searches for frequent items (SVIM)."""
    words = tuple(tuple(WORDS[item] for item in basket) for basket in baskets(2000, 6))
    return {
        "pruned": Case(sv.TopItems(range(40), top=4), baskets(3000, 40), 3.0),
        "unpruned": Case(sv.TopItems(WORDS, top=3), words, 3.0),
        "paper": Case(sv.TopItems(range(40), top=4, paper=True), baskets(3000, 40), 3.0),
    }


def itemsets() -> dict[str, Case]:
    """Return searches for frequent sets of items (SVSM)."""
    return {
        "pruned": Case(sv.Itemsets(range(30), top=6), baskets(4000, 30), 4.0),
        "unpruned": Case(sv.Itemsets(range(10), top=6), baskets(4000, 10), 4.0),
        "paper": Case(sv.Itemsets(range(10), top=6, paper=True), baskets(4000, 10), 4.0),
    }


def adaptive_top_items() -> dict[str, Case]:
    """Return adaptive searches for frequent items (DBS)."""
    few, many = baskets(3000, 15), baskets(3000, 60)
    return {
        "few-items": Case(sv.AdaptiveTopItems(range(15), 3000, 3, rounds=4), few, 2.0),
        "even": Case(sv.AdaptiveTopItems(range(15), 3000, 3, rounds=4, even=True), few, 2.0),
        "holdout": Case(sv.AdaptiveTopItems(range(15), 3000, 3, rounds=3, holdout=20), few, 2.0),
        "pruned": Case(sv.AdaptiveTopItems(range(60), 3000, 3, rounds=3, basket=2.5), many, 2.0),
    }


def marginals() -> dict[str, Case]:
    """Return joint tables by every method, with what else can be asked of them."""
    values = records(2000, ATTRIBUTES)
    more = {
        "dependence": lambda answer: vars(answer.dependence("age", "car")),
        "dependence-near": lambda answer: vars(answer.dependence("age", "work")),
        "tree": lambda answer: answer.tree().edges,
        "information": lambda answer: answer.information(),
        "synthetic": lambda answer: answer.synthetic(5, SeededRng(SEED)),
    }
    beyond = {"three": lambda answer: answer.marginal("home", "age", "work").to_dict()}
    pairs = sv.Marginals(ATTRIBUTES, users=2000, order=2, view_size=2)
    published = sv.Marginals(ATTRIBUTES, users=2000, order=2, method="calm")
    binary = sv.Marginals(BINARY, users=2000, order=3)
    cases = {
        "pooled": Case(pairs, values, 2.0, more=more | beyond),
        "pooled-three": Case(binary, records(2000, BINARY), 2.0),
        "calm": Case(published, values, 2.0),  # its document and messages are as they ever were
    }
    for method in MARGINAL_BASELINES:
        plan = BaselineMarginals(ATTRIBUTES, method, order=2)
        extra = more | beyond if method in ("fc", "inp_em") else more
        key = "calm-baseline" if method == "calm" else method
        cases[key] = Case(plan, values, 2.0, more=extra)
    return cases


AGREEMENTS = (
    (1.0, 0.8, 0.7, 0.6),
    (0.8, 1.0, 0.75, 0.6),
    (0.7, 0.75, 1.0, 0.55),
    (0.6, 0.6, 0.55, 1.0),
)
TIED = {"age": range(3), "work": ["no", "yes"], "car": ["no", "yes"]}
TIED_TABLES = (((5, 1), (3, 3), (1, 5)), ((4, 2), (3, 3), (2, 4)), ((6, 2), (2, 6)))
WAIVER = "The operator accepts the weaker guarantee for this survey and knows its limits."


def correlated() -> dict[str, Case]:
    """Return correlated attributes in one report (CBP) and in groups (CBPS)."""
    values, clusters = records(1500, BINARY), ((0, 1), (2, 3))
    grouped = Correlated(BINARY, 1.0, AGREEMENTS, group=2)
    clustered = Correlated(BINARY, 1.0, AGREEMENTS, clusters=clusters, group=1)
    waived = Correlated(BINARY, 1.0, AGREEMENTS, waiver=WAIVER)
    tabled = Correlated(TIED, 1.0, tables=TIED_TABLES)
    return {
        "cbp": Case(Correlated(BINARY, 1.0, AGREEMENTS), values, 5.0),
        "cbps": Case(grouped, values, 5.0),
        "clusters": Case(clustered, values, 5.0),
        "tables": Case(tabled, records(1500, TIED), 5.0),
        "waiver": Case(waived, values, 1.0),
    }


TABLE_METHODS = ("hio", "hi", "mg", "sc", "sc_sampled", "sc_join", "ahio", "ehio", "sr_hio")
LIST_METHODS = ("hio", "mg", "ahio", "ehio")
CUSTOMERS = {
    "age": range(16, 48),
    "income": sv.Buckets(0, 100_000, 16, clamped=True),
    "region": REGIONS,
}
PUBLIC = {"plan": PLANS, "year": range(2018, 2025)}
PURCHASES = {"amount": range(1, 17), "category": CATEGORIES}
HABITS = {"hours": range(8), "diet": ["any", "green"]}
SMALL = {"age": range(8), "region": REGIONS}
TABLE_CONDITION = "age BETWEEN 2 AND 5 AND region <> 'east'"
TABLE_QUESTION = f"SELECT COUNT(*), AVG(age) FROM people WHERE {TABLE_CONDITION}"
JOINT_TABLES = "people JOIN habits USING (uid)"
JOINT_QUESTION = f"SELECT COUNT(*), SUM(hours) FROM {JOINT_TABLES} WHERE age < 5 AND diet = 'any'"
LIST_TABLES = "people JOIN purchases USING (uid)"
LIST_QUESTION = f"SELECT COUNT(*), SUM(amount) FROM {LIST_TABLES} WHERE age < 5 AND amount > 2"


def asked(question: str) -> dict[str, Callable[[Any], Any]]:
    """Return the one question that is put to the database of every method."""
    return {"sql": lambda database: database.sql(question).rows()}


def small_people(people: int) -> dict[str, Any]:
    """Return the columns of a small table with one record for everybody."""
    return {"age": np.array(skewed(people, 8)), "region": np.array(labelled(people, REGIONS))}


def collecting(plan: Any, method: str, *, published: bool = False) -> Any:
    """Return a plan of the product, or its tables collected by a published method."""
    if method == "hio" and not published:
        return plan
    return PublishedTables(plan, method, fanout=plan.fanout, published=published)


def tables() -> dict[str, Case]:
    """Return single tables by every method, as ours and as published, and lists of records."""
    values, cases = small_people(800), {}
    for method in TABLE_METHODS:
        for name, published in ((method, False), (f"{method}-published", True)):
            plan = collecting(sv.Table(SMALL, fanout=2), method, published=published)
            cases[name] = Case(plan, values, 4.0, more=asked(TABLE_QUESTION))
    bought = "SELECT COUNT(*), AVG(amount) FROM purchases WHERE category = 'food'"
    for method in LIST_METHODS:
        plan = collecting(sv.Table(PURCHASES, name="purchases", most=3, rows=2, fanout=4), method)
        cases[f"{method}-list"] = Case(plan, purchases(800, 3), 4.0, more=asked(bought))
    public = sv.Table(CUSTOMERS, public=PUBLIC, fanout="auto")
    return {**cases, "public": Case(public, customers(800), 4.0)}


def joints() -> dict[str, Case]:
    """Return two joined tables by every method, and one of them with lists of records."""
    values = {"people": small_people(600), "habits": habits(600)}
    listed = {"people": small_people(600), "purchases": purchases(600, 3)}
    people, cases = sv.Table(SMALL), {}
    for method in TABLE_METHODS:
        for name, published in ((method, False), (f"{method}-published", True)):
            services = {"people": people, "habits": sv.Table(HABITS)}
            plan = collecting(sv.Joint(services, fanout=2), method, published=published)
            cases[name] = Case(plan, values, 6.0, more=asked(JOINT_QUESTION))
    for method in LIST_METHODS:
        services = {"people": people, "purchases": sv.Table(PURCHASES, most=3, rows=2)}
        plan = collecting(sv.Joint(services, fanout=4), method)
        cases[f"{method}-list"] = Case(plan, listed, 6.0, more=asked(LIST_QUESTION))
    services = {
        "people": people,
        "habits": sv.Table(HABITS),
        "purchases": sv.Table(PURCHASES, most=3),
    }
    three = Case(sv.Joint(services), {**values, "purchases": listed["purchases"]}, 6.0)
    return {**cases, "three-tables": three}


PLAN_GROUPS: dict[str, Callable[[], dict[str, Case]]] = {
    "histogram": histograms,
    "survey": surveys,
    "tracking": trackings,
    "mean": means,
    "distribution": distributions,
    "pem": heavy_hitters,
    "spm": segment_pairs,
    "hash": hashed_channels,
    "svim": top_items,
    "svsm": itemsets,
    "dbs": adaptive_top_items,
    "marginals": marginals,
    "cbp": correlated,
    "table": tables,
    "joint": joints,
}


def record_plans(group: str) -> Record:
    """Return the record of the plans of one kind."""
    found: Record = {}
    for name, case in PLAN_GROUPS[group]().items():
        entries = record_plan(case, f"{group} {name}")
        found |= {f"{name}/{key}": entry for key, entry in entries.items()}
    return found


def record_statement(task: Any) -> Record:
    """Return what a device tells its owner; nothing for tasks of the laboratory, which no device
    reads.
    """
    try:
        client = sv.Client(task, ":memory:")
    except SottovoceError:
        return {}
    return {"statement": plain(client.statement()), "statement/text": client.explain()}


def record_plan(case: Case, name: str) -> Record:
    """Return what a task says of itself, and the answer to it."""
    task = case.task(name)
    answer = sv.simulate(task, case.values, seed=SEED)
    found = {
        **record_statement(task),
        "digest": codec.digest(codec.document(task)),
        "epsilon": plain(task.epsilon),
        "declares": plain(task.declares),
        "concerns/text": plain(task.concerns),
        "answer": plain(answer.to_dict()),
        "json": exported(answer.to_json()),
        "csv": exported(answer.to_csv()),
    }
    for key, compute in (case.more or {}).items():
        found[key] = outcome_of(partial(compute, answer))
    return found


# --- mechanisms ----------------------------------------------------------------------------------

MECHANISMS: dict[str, tuple[str, dict[str, Any]]] = {
    "affine": ("affine", {"size": 24}),
    "affine-grouped": ("affine", {"size": 32, "groups": (2, 3)}),
    "affine_prefix": ("affine_prefix", {"size": 32}),
    "blh": ("blh", {"size": 12}),
    "bloom": ("bloom", {"size": 12, "bits": 16, "cohorts": 2}),
    "channels": ("channels", {"size": 12}),
    "duchi": ("duchi", {"size": 33}),
    "grr": ("grr", {"size": 12}),
    "hadamard": ("hadamard", {"size": 12}),
    "hcms": ("hcms", {"size": 12, "rows": 3, "columns": 16}),
    "hybrid": ("hybrid", {"size": 33}),
    "olh": ("olh", {"size": 12}),
    "oue": ("oue", {"size": 12}),
    "piecewise": ("piecewise", {"size": 33}),
    "product": ("product", {"size": 12, "sizes": (2, 3, 2)}),
    "rmp": ("rmp", {"size": 12}),
    "square_wave": ("square_wave", {"size": 32}),
    "subset": ("subset", {"size": 12}),
    "sue": ("sue", {"size": 12}),
    "sue-twice": ("sue", {"size": 12, "second_keep": 3 << 62, "second_flip": 1 << 62}),
    "the": ("the", {"size": 12}),
}
MECHANISM_EPSILONS = (0.5, 2.0)
BASELINE_MECHANISMS = {"channels": ChannelBits, "hcms": HCMS, "product": ProductResponse}


def record_mechanisms() -> Record:
    """Return the record of every mechanism at two epsilons."""
    found: Record = {}
    for name, (kind, settings) in MECHANISMS.items():
        for epsilon in MECHANISM_EPSILONS:
            mechanism_class = BASELINE_MECHANISMS.get(kind) or Mechanism.kinds[kind]
            entries = record_mechanism(mechanism_class(epsilon=epsilon, **settings))
            found |= {f"{name}/{epsilon:g}/{key}": entry for key, entry in entries.items()}
    return found


def record_mechanism(mechanism: Any) -> Record:
    """Return the bytes of seeded reports and what is estimated from them."""
    values = np.array(skewed(500, mechanism.size))
    reports = mechanism.privatize(values, SeededRng(SEED))
    packed = mechanism.pack(reports)
    remembered = mechanism.permanent(values, SeededRng(SEED + 1))
    sent = mechanism.instantaneous(remembered, SeededRng(SEED + 2))
    tally = mechanism.tally(mechanism.unpack(packed))
    estimate = mechanism.estimate(tally)
    coefficients = np.arange(len(estimate.votes)) % 5 - 1.0
    candidates = np.array([0, 3, mechanism.size - 1])
    target = np.arange(mechanism.size) % 3 - 0.5
    found = {
        "key": mechanism.key,
        "width": mechanism.width,
        "summable": mechanism.has_tally,
        "epsilon_realised": plain(mechanism.epsilon_realised),
        "packed": sha256(packed),
        "packed_longitudinal": sha256(mechanism.pack(sent)),
        "counts": plain({name: counts.ravel() for name, counts in tally.counts.items()}),
        "totals": plain(estimate.totals),
        "variances": plain(estimate.variance),
        "weighted_sum": outcome_of(lambda: written(estimate.weighted(coefficients))),
        "scaled_variances": outcome_of(lambda: estimate.of(2000).variance),
        "threshold": outcome_of(estimate.threshold),
        "interval": outcome_of(lambda: estimate.interval(0.9, simultaneous=True)),
    }
    if hasattr(mechanism, "support"):
        found["among"] = outcome_of(lambda: mechanism.estimate_among(reports, candidates).totals)
        found["scores"] = outcome_of(lambda: mechanism.score(reports, target))
    return found


# --- devices -------------------------------------------------------------------------------------


@contextmanager
def fixed_randomness(seed: int) -> Iterator[None]:
    """Replace the operating system's randomness, the only one of devices, by a fixed stream."""
    calls = count()

    def stream(length: int) -> bytes:
        context = f"{seed} {next(calls)}".encode()
        return hashlib.shake_256(context).digest(length)

    with patch("os.urandom", stream):
        yield


@dataclass(frozen=True)
class Answering:
    """A case of a plan, and the values that devices answer it with, one each."""

    group: str
    case: str
    values: Sequence[Any]
    epochs: int = 1


PERSON = {"age": 2, "work": "yes", "car": "no", "home": "boat"}
CUSTOMER = {"age": 30, "income": 12_000.0, "region": "south", "plan": "premium", "year": 2020}
BOUGHT = [{"amount": 3, "category": "food"}, {"amount": 16, "category": "books"}]
JOINED = {"people": {"age": 3, "region": "east"}, "habits": {"hours": 5, "diet": "any"}}
LISTED = {"people": {"age": 3, "region": "east"}, "purchases": BOUGHT}

DEVICES = {
    "question-grr": Answering("histogram", "grr", [0, 7, 19]),
    "question-affine": Answering("histogram", "chosen-large", [0, 150, 299]),
    "question-collection": Answering("histogram", "collection", ["chrome", "other"]),
    "question-mean": Answering("mean", "hybrid", [0.0, 33.3, 120.0]),
    "question-distribution": Answering("distribution", "few-buckets", [0.0, 61.0]),
    "question-size": Answering("svim", "unpruned", [["tea", "fig"], []]),
    "question-sample": Answering("svim", "pruned", [[0, 1, 17], []]),
    "question-lasting": Answering("tracking", "sue", ["chrome", "other"], epochs=3),
    "question-lasting-grr": Answering("tracking", "grr", ["chrome", "other"], epochs=2),
    "choice-survey": Answering("survey", "weighted", [PERSON] * 3),
    "choice-pem": Answering("pem", "bits", [7, 65_535, 0]),
    "choice-pem-strings": Answering("pem", "strings", ["tea", "oat"]),
    "choice-holds": Answering("dbs", "few-items", [[0, 1], [], [14]]),
    "choice-view": Answering("marginals", "calm", [PERSON] * 3),
    "choice-layers": Answering("table", "hio", [{"age": 3, "region": "east"}] * 3),
    "choice-public": Answering("table", "public", [CUSTOMER] * 3),
    "choice-of-bundles": Answering("spm", "four", [257, 0, 4095]),
    "choice-of-bundles-partitioned": Answering("spm", "partitioned", [257, 0, 4095]),
    "bundle-list": Answering("table", "hio-list", [BOUGHT, []]),
    "bundle-joint": Answering("joint", "hio", [JOINED] * 3),
    "bundle-joint-list": Answering("joint", "hio-list", [LISTED, {**LISTED, "purchases": []}]),
    "bundle-hi": Answering("table", "hi", [{"age": 3, "region": "east"}]),
}


def record_devices() -> Record:
    """Return the messages of some devices for every shape of a round."""
    found: Record = {}
    for name, answering in DEVICES.items():
        case = PLAN_GROUPS[answering.group]()[answering.case]
        task = case.task(f"{answering.group} {answering.case}")
        for number, value in enumerate(answering.values):
            found[f"{name}/{number}"] = record_device(task, value, number, answering)
    return found | {"rehearsal/0": record_rehearsal()}


def record_device(task: Any, value: Any, number: int, answering: Answering) -> Record:
    """Return the messages of one device, their lengths and what its ledger was charged."""
    with fixed_randomness(number):
        client = asked_client(task, number)
        rounds = [replace(task.opening, number=epoch) for epoch in range(answering.epochs)]
        messages = [client.answer(value, asked=asked_round) for asked_round in rounds]
        again = outcome_of(lambda: client.answer(value))
        return {
            "coin": client.coin,
            "messages": [sha256(message) for message in messages],
            "lengths": [len(message) for message in messages],
            "spent": plain(client.ledger.spent),
            "charges": plain([entry.epsilon for entry in client.ledger.entries()]),
            "resent": client.resend() == messages[-1],
            "second_answer": again,
        }


def asked_client(task: Any, number: int) -> Any:
    """Return the first device of a sequence whose coin lies in the share of the opening round."""
    for attempt in count():
        token = f"token {attempt} of device {number}"
        accepts = sv.Accepts(public=task.plan.domain.public_names)
        client = sv.Client(task, ":memory:", token, accepts)
        if task.opening.asks(client.coin):
            return client
    raise AssertionError("the sequence of tokens is endless")


def record_rehearsal() -> Record:
    """Return the message of a rehearsal, which costs nothing."""
    collection = sv.Collection(sandbox=True)
    task = sv.Task("rehearsal", sv.Histogram(BROWSERS), epsilon=1.0, collection=collection)
    return record_device(task, "chrome", 0, Answering("", "", []))


def record_answers() -> Record:
    """Return the answers at a collector in the messages of devices."""
    found: Record = {}
    for group, name in (
        ("histogram", "grr"),
        ("survey", "even"),
        ("joint", "hio"),
    ):
        case = PLAN_GROUPS[group]()[name]
        task = case.task(f"{group} {name}")
        messages = []
        for number in range(60):
            value = JOINED if group == "joint" else number % 4
            value = PERSON if group == "survey" else value
            with fixed_randomness(number):
                messages.append(asked_client(task, number).answer(value))
        found[f"{group}/{name}"] = plain(sv.answer(task, messages).to_dict())
    return found


# --- post-processing -----------------------------------------------------------------------------

METHODS = (
    *("base", "base-cut", "base-pos", "mle-apx", "norm", "norm-cut", "norm-mul", "norm-sub"),
    *("power", "power-ns"),
)


def record_postprocessing() -> Record:
    """Return every method applied to one estimate, with both kinds of errors."""
    task = sv.Task("post-processing", sv.Histogram(range(40), "olh"), epsilon=1.0)
    answer = sv.simulate(task, skewed(3000, 40), seed=SEED)
    found: Record = {
        "consistent": plain(answer.consistent().to_dict()),
        "two-steps": plain(answer.postprocess("base-pos").postprocess("norm-sub").to_dict()),
        "base-cut/top": plain(answer.postprocess("base-cut", top=5).to_dict()),
        "power/exponent": plain(answer.postprocess("power", exponent=1.5).to_dict()),
    }
    for method in METHODS:
        computations = {
            "raw": partial(answer.postprocess, method),
            "bootstrap": partial(answer.postprocess, method, errors="bootstrap", replicates=50),
        }
        for errors, compute in computations.items():
            found[f"{method}/{errors}"] = outcome_of(lambda compute=compute: compute().to_dict())
        labels = [str(label) for label in range(5)]
        total = partial(_sum_after, answer, method, labels)
        found[f"{method}/sum"] = outcome_of(total)
    return found


def _sum_after(answer: Any, method: str, labels: Sequence[str]) -> Any:
    return written(answer.postprocess(method).sum(labels))


# --- SQL -----------------------------------------------------------------------------------------

PEOPLE = 3000
TABLE_QUERIES = {
    "count": "SELECT COUNT(*) FROM people",
    "count-range": "SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 30",
    "count-and": "SELECT COUNT(*) FROM people WHERE age >= 20 AND age < 40 AND region = 'north'",
    "count-or": "SELECT COUNT(*) FROM people WHERE age < 20 OR region = 'south'",
    "count-not": "SELECT COUNT(*) FROM people WHERE NOT (age IN (20, 22, 24) OR region <> 'east')",
    "interval": "SELECT COUNT(*) FROM people WHERE age IN [18, 25] AND NOT region IN ('east')",
    "freq": "SELECT FREQ(*) FROM people WHERE income > 30000",
    "sum": "SELECT SUM(income) FROM people WHERE region IN ('north', 'south')",
    "sum-terms": "SELECT SUM(2 * age - 0.001 * income) AS mixed FROM people WHERE age > 18",
    "avg": "SELECT AVG(income), AVG(age) FROM people WHERE age NOT BETWEEN 30 AND 40",
    "stddev": "SELECT STDDEV(income), STDDEV(age) AS spread FROM people",
    "group": "SELECT region, COUNT(*), AVG(income) FROM people GROUP BY region",
    "group-order": "SELECT age, COUNT(*) AS c FROM people GROUP BY age ORDER BY c DESC LIMIT 5",
    "group-public": "SELECT plan, COUNT(*), AVG(income) FROM people GROUP BY plan",
    "group-mixed": "SELECT plan, region, COUNT(*), FREQ(*) FROM people GROUP BY region, plan",
    "public-where": "SELECT COUNT(*) FROM people WHERE plan = 'free' AND year >= 2020 AND age < 30",
    "public-or": "SELECT COUNT(*) FROM people WHERE plan = 'free' OR age < 20",
    "public-sum": "SELECT SUM(year), AVG(year) FROM people WHERE age < 30",
    "add": "SELECT COUNT(*) FROM people WHERE age > 21 WITH (METHOD = ADD)",
    "signed": "SELECT COUNT(*) FROM people WHERE age > 21 WITH (METHOD = SIGNED)",
    "rdc": "SELECT COUNT(*) FROM people WHERE age > 21 WITH (METHOD = RDC, K = 3)",
    "gls": "SELECT COUNT(*) FROM people WHERE age > 21 WITH (METHOD = GLS, K = 3)",
    "enum": "SELECT SUM(age) FROM people WHERE age > 21 WITH (METHOD = BLUE, MEASURE = ENUM)",
    "hajek": "SELECT COUNT(*) FROM people WHERE age > 21 WITH (SCALE = HAJEK, CONFIDENCE = 0.9)",
    "max-cells": "SELECT COUNT(*) FROM people WHERE age > 21 WITH (METHOD = ADD, MAX_CELLS = 9)",
    "unknown-label": "SELECT COUNT(*) FROM people WHERE region = 'nowhere'",
}
SHOP = "FROM customers JOIN purchases USING (uid)"
JOINT_QUERIES = {
    "one-table": "SELECT COUNT(*) FROM customers WHERE age < 30",
    "list-count": "SELECT COUNT(*) FROM purchases",
    "list-where": "SELECT COUNT(*), SUM(amount) FROM purchases WHERE category = 'food'",
    "list-avg": "SELECT AVG(amount), STDDEV(amount) FROM purchases WHERE amount BETWEEN 2 AND 9",
    "list-group": "SELECT category, COUNT(*), AVG(amount) FROM purchases GROUP BY category",
    "join": "SELECT COUNT(*) FROM customers JOIN purchases USING (uid)",
    "join-on": (
        "SELECT AVG(amount) FROM purchases p JOIN customers c ON c.uid = p.uid\n"
        "WHERE c.age BETWEEN 20 AND 40 AND p.category = 'sports'"
    ),
    "join-or": f"SELECT COUNT(*) {SHOP} WHERE age < 25 OR category = 'books' AND NOT amount > 8",
    "join-sum": f"SELECT SUM(income), SUM(amount) {SHOP} WHERE region = 'north'",
    "join-group": f"SELECT region, COUNT(*) AS n {SHOP} GROUP BY region ORDER BY n DESC LIMIT 2",
    "join-groups": f"SELECT region, category, COUNT(*) {SHOP} GROUP BY region, category",
    "join-public": f"SELECT plan, COUNT(*), FREQ(*) {SHOP} WHERE year < 2022 GROUP BY plan",
    "join-hajek": f"SELECT COUNT(*) {SHOP} WHERE age > 30 WITH (SCALE = HAJEK, METHOD = RDC)",
}
REFUSED_QUERIES = {
    "empty": "",
    "not-select": "DELETE FROM people",
    "star": "SELECT * FROM people",
    "two-statements": "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people",
    "subquery": "SELECT COUNT(*) FROM (SELECT age FROM people)",
    "having": "SELECT region, COUNT(*) FROM people GROUP BY region\nHAVING COUNT(*) > 5",
    "distinct": "SELECT COUNT(DISTINCT region) FROM people",
    "order-statistic": "SELECT COUNT(*), MAX(age) FROM people",
    "left-join": "SELECT COUNT(*) FROM people LEFT JOIN people USING (uid)",
    "self-join": "SELECT COUNT(*) FROM people a JOIN people b USING (uid)",
    "unknown-table": "SELECT COUNT(*)\nFROM persons",
    "unknown-column": "SELECT COUNT(*) FROM people\n  WHERE height = 5",
    "like": "SELECT COUNT(*) FROM people WHERE region LIKE 'n%'",
    "null": "SELECT COUNT(*) FROM people WHERE region IS NULL",
    "range-of-labels": "SELECT COUNT(*) FROM people WHERE region < 'north'",
    "type": "SELECT COUNT(*) FROM people WHERE age = '30'",
    "product": "SELECT SUM(age * income) FROM people",
    "division": "SELECT SUM(age / 2) FROM people",
    "sum-of-labels": "SELECT SUM(region) FROM people",
    "not-grouped": "SELECT region, COUNT(*) FROM people",
    "uid": "SELECT COUNT(*) FROM people WHERE uid = 5",
    "option": "SELECT COUNT(*) FROM people WITH (METHOD = BEST)",
    "option-name": "SELECT COUNT(*) FROM people WITH (SEED = 4)",
    "syntax": "SELECT COUNT(*) FROM people WHERE age > > 5",
    "rounding-not-collected": "SELECT SUM(age) FROM people WITH (MEASURE = ROUND)",
}


@cache
def table_database() -> Any:
    """Return a database of one table with public columns."""
    plan = sv.Table(CUSTOMERS, public=PUBLIC, fanout=4)
    return sv.simulate(sv.Task("people", plan, epsilon=5.0), customers(PEOPLE), seed=SEED)


@cache
def joint_database() -> Any:
    """Return a database of customers and of the lists of their purchases."""
    services = {
        "customers": sv.Table(CUSTOMERS, public=PUBLIC),
        "purchases": sv.Table(PURCHASES, most=3),
    }
    task = sv.Task("shop", sv.Joint(services, fanout=4), epsilon=8.0)
    values = {"customers": customers(PEOPLE), "purchases": purchases(PEOPLE, 3)}
    return sv.simulate(task, values, seed=SEED)


@cache
def rounding_database() -> Any:
    """Return a database that was collected with rounding coins."""
    plan = collecting(sv.Table({"age": range(16, 48), "region": REGIONS}, fanout=4), "ahio")
    columns = customers(PEOPLE, public=False)
    values = {name: columns[name] for name in ("age", "region")}
    return sv.simulate(sv.Task("people", plan, epsilon=5.0), values, seed=SEED)


ROUNDING_QUERIES = {
    "round": "SELECT SUM(age), AVG(age) FROM people WHERE region = 'north' WITH (MEASURE = ROUND)",
    "lin": "SELECT SUM(age), AVG(age) FROM people WHERE region = 'north' WITH (MEASURE = LIN)",
    "auto": "SELECT SUM(age), STDDEV(age) FROM people",
}
DATABASES: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    "table": (table_database, TABLE_QUERIES),
    "joint": (joint_database, JOINT_QUERIES),
    "rounding": (rounding_database, ROUNDING_QUERIES),
}


def record_queries(name: str) -> Record:
    """Return the answers to the questions of one database, and how they would be answered."""
    make, queries = DATABASES[name]
    database, found = make(), {}
    for key, text in queries.items():
        result = database.sql(text)
        explanation = database.sql(f"EXPLAIN {text}")
        found |= {
            f"{key}/rows": plain(result.rows()),
            f"{key}/facts": {
                "columns": plain(result.columns),
                "users": result.users,
                "level": plain(result.level),
                "people": plain(result.people),
            },
            f"{key}/notices/text": plain(result.notices),
            f"{key}/statement": exported(result.statement),
            f"{key}/csv": exported(result.to_csv()),
            f"{key}/result/text": str(result),
            f"{key}/json/text": exported(result.to_json()),
            f"{key}/explain/text": str(explanation),
            f"{key}/explain/json/text": exported(explanation.to_json()),
        }
    return found


def record_refusals() -> Record:
    """Return the class and the position of every refusal, and the rule that it names."""
    database, found = table_database(), {}
    for key, text in REFUSED_QUERIES.items():
        try:
            database.sql(text)
        except SottovoceError as error:
            position = [getattr(error, "line", None), getattr(error, "column", None)]
            found[key] = {"class": type(error).__name__, "position": position}
            found[f"{key}/rule"] = getattr(error, "rule", None)
        else:
            found[key] = {"class": None, "position": None}
    return found


# --- advice and audits ---------------------------------------------------------------------------

TABLE_QUESTIONS = (
    "SELECT COUNT(*) FROM people WHERE age BETWEEN 2 AND 5 AND region = 'north'",
    "SELECT AVG(age) FROM people WHERE region <> 'east'",
)
SHOP_QUESTION = "SELECT SUM(hours) FROM people JOIN habits USING (uid) WHERE age < 5"
ADVICE: dict[str, Callable[[], Any]] = {
    "frequencies/small": lambda: sv.advise(users=10_000, size=4, epsilon=1.0),
    "frequencies/large": lambda: sv.advise(users=50_000, size=1000, epsilon=1.0, error=0.005),
    "frequencies/questions": lambda: sv.advise(users=50_000, size=16, epsilon=2.0, questions=4),
    "frequencies/rule-unary": lambda: sv.advise(users=50_000, size=100, epsilon=2.0, rule="unary"),
    "frequencies/rule-published": lambda: sv.advise(
        users=50_000, size=100, epsilon=2.0, rule="published"
    ),
    "frequencies/hopeless": lambda: sv.advise(users=20, size=1000, epsilon=0.1),
    "values/short": lambda: advise_values(100_000, 48, 2.0),
    "values/long": lambda: advise_values(1_000_000, 160, 2.0, top=8, share=0.05),
    "items/few": lambda: advise_items(50_000, 30, 2.0),
    "items/many": lambda: advise_items(50_000, 900, 2.0, top=8, basket=12.0, share=0.2),
    "marginals/binary": lambda: advise_marginals(65_536, [2] * 8, 1.0, 3),
    "marginals/mixed": lambda: advise_marginals(50_000, [2, 3, 4, 12], 2.0, 2),
    "tables/single": lambda: advise_tables(sv.Table(SMALL), TABLE_QUESTIONS, 10_000, 2.0),
    "tables/joint": lambda: advise_tables(
        sv.Joint({"people": sv.Table(SMALL), "habits": sv.Table(HABITS)}),
        [SHOP_QUESTION],
        10_000,
        4.0,
    ),
}


COMPARED_MARGINALS = {
    "binary": (65_536, [2] * 8, 1.0, 3),
    "mixed": (50_000, [2, 3, 4, 12], 2.0, 2),
}


def record_advice() -> Record:
    """Return every kind of advice: the numbers and names as data, and the printed text.

    The expected errors of CALM and of its baselines stand beside them.
    """
    found: Record = {}
    for key, settings in COMPARED_MARGINALS.items():
        found[f"marginals-compared/{key}"] = plain(map(asdict, compare_methods(*settings)))
    for key, compute in ADVICE.items():
        advice = compute()
        facts = {name: fact for name, fact in advice.to_dict().items() if name != "reason"}
        found[key] = plain(facts)
        found[f"{key}/text"] = str(advice)
    return found


AUDITED = ("grr", "oue", "affine")


def record_audits() -> Record:
    """Return audits of some mechanisms."""
    found: Record = {}
    for kind in AUDITED:
        mechanism = Mechanism.kinds[kind](epsilon=1.0, size=6)
        audit = sv.audit(mechanism, samples=2000, seed=SEED).to_dict()
        worded = {name: audit.pop(name) for name in ("event", "exact_note")}
        found |= {kind: plain(audit), f"{kind}/text": plain(worded)}
    return found


# --- the whole record ----------------------------------------------------------------------------

GROUPS: dict[str, Callable[[], Record]] = {
    **{f"plan/{name}": partial(record_plans, name) for name in PLAN_GROUPS},
    "mechanism": record_mechanisms,
    "device": record_devices,
    "collector": record_answers,
    "postprocess": record_postprocessing,
    **{f"sql/{name}": partial(record_queries, name) for name in DATABASES},
    "sql/refused": record_refusals,
    "advice": record_advice,
    "audit": record_audits,
}


def record_group(group: str) -> Record:
    """Return the record of one group under its full keys."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # concerns about small populations are recorded as data
        entries = GROUPS[group]()
    # Through JSON and back, so that the record looks as it does when it is read from the file.
    return json.loads(json.dumps({f"{group}/{key}": entry for key, entry in entries.items()}))


def record() -> Record:
    """Return the whole record."""
    found: Record = {}
    for group in GROUPS:
        found |= record_group(group)
    return found


def read_recorded() -> Record:
    """Return the record in the file, if there is one."""
    return json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}


def write_recorded(recorded: Record) -> None:
    """Write a record to the file."""
    text = json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    RECORDED.write_text(text + "\n", encoding="utf-8")


# --- comparing -----------------------------------------------------------------------------------

TOLERANCE = 1e-9  # relative, of floats


def differences(expected: Record, found: Record) -> list[str]:
    """Return one line for every key that is missing, new or different."""
    lines = []
    for key in sorted(expected.keys() | found.keys()):
        if key not in found:
            lines.append(f"{key}: is no longer recorded")
        elif key not in expected:
            lines.append(f"{key}: is new")
        else:
            lines += [f"{key}{line}" for line in _differences(expected[key], found[key])]
    return lines


def _differences(expected: Any, found: Any) -> list[str]:
    """Return where two entries differ, each line beginning with the path within the entry."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        lines = []
        for name in expected:
            lines += [f"[{name!r}]{line}" for line in _differences(expected[name], found[name])]
        return lines
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [f"[{place}]{line}" for place, pair in pairs for line in _differences(*pair)]
    return [] if _same(expected, found) else [f": {expected!r} became {found!r}"]


def _same(expected: Any, found: Any) -> bool:
    if type(expected) is float and type(found) is float:
        return isclose(expected, found, rel_tol=TOLERANCE, abs_tol=NOTHING)
    return type(expected) is type(found) and bool(expected == found)


# --- the command ---------------------------------------------------------------------------------


def main() -> int:
    """Print what differs from the file, or write the file anew."""
    parser = argparse.ArgumentParser(description="Compare with the record, or write it anew.")
    parser.add_argument("--write", action="store_true", help="write recorded.json anew")
    parser.add_argument("--times", action="store_true", help="print how long every group takes")
    chosen_keys = f"only keys that begin like this; {TEXT} stands for all texts"
    parser.add_argument("prefixes", nargs="*", help=chosen_keys)
    options = parser.parse_args()
    chosen, recorded = partial(_chosen, options.prefixes), read_recorded()
    found: Record = {}
    for group in GROUPS:
        start = time.perf_counter()
        if any(_may_hold(prefix, group) for prefix in options.prefixes) or not options.prefixes:
            found |= record_group(group)
        if options.times:
            print(f"{time.perf_counter() - start:7.2f} s  {group}")
    new = {key: entry for key, entry in found.items() if chosen(key)}
    old = {key: entry for key, entry in recorded.items() if chosen(key)}
    lines = differences(old, new)
    print("\n".join(lines) or "nothing differs")
    if options.write:
        kept = {key: entry for key, entry in recorded.items() if not chosen(key)}
        write_recorded({**kept, **new})
        print(f"wrote {len(new)} of {len(kept) + len(new)} keys to {RECORDED.name}")
        return 0
    return int(bool(lines))


def _chosen(prefixes: Sequence[str], key: str) -> bool:
    if not prefixes:
        return True
    if TEXT in prefixes and key.endswith(TEXT):
        return True
    return key.startswith(tuple(prefixes))


def _may_hold(prefix: str, group: str) -> bool:
    """Return whether a group may hold keys with a prefix."""
    return prefix == TEXT or group.startswith(prefix) or prefix.startswith(f"{group}/")


if __name__ == "__main__":
    sys.exit(main())
