"""Task documents that nobody means well with: each is refused or answered, quickly and in little
memory.

``extremes`` are the worst that is known of every family.  ``changed_document`` changes valid
documents of every plan entry by entry.  ``python -m fuzz.hostile_documents 100000 1`` tries so many
from a seed, and prints how they ended and the most that one of them took.
"""

import cProfile
import json
import random
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.client.accepts import Accepts
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.core import coin
from sottovoce.core.bounds import MAX_MESSAGE_BYTES
from sottovoce.domains.buckets import Buckets
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.tables.joint import Joint
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.notice import Notice
from sottovoce.wire import codec

GOLDEN = Path(__file__).parents[1] / "golden"
MAX_CALLS = 500_000  # of functions: below a tenth of a second of processor time on a quiet machine
MAX_BYTES = 16 << 20
FAST = 0.02  # seconds

Content = dict[str, Any]

LEAVES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 3, 255, 4096, 65_535, 65_536, 1 << 20, 1 << 31, 1 << 32, 1 << 52,
    str(1 << 53), str(1 << 62), str(1 << 63), str(1 << 64), str(1 << 480), "9" * 150, "9" * 5000,
    "-" + "9" * 150, "", "0", "1.0", "0.5", "20.0", "1e-300", "5e-324", "1e308", "nan", "a" * 201,
    "\u202e", "x\ny", "\u0065\u0301", [], [0], [[]], [0] * 3000, list(range(3000)), [[0]] * 2000,
    [[number] for number in range(2000)], ["x"] * 2000, [f"{number}" for number in range(3000)], {},
    {"kind": "grr"}, {"kind": "bits", "bits": 480},
    {"kind": "strings", "length": 60, "whole": True},
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How a document ended, and what that took."""

    ending: str
    seconds: float
    calls: int
    peak_bytes: int
    text_bytes: int


def outcome(text: str, value: Any = None, *, traced: bool = True) -> Outcome:
    """Return what becomes of a document; raises if it is neither refused nor answered."""
    began = time.thread_time()
    how = ending(text, value)
    seconds = time.thread_time() - began
    calls = call_count(text, value) if traced else 0
    peak = peak_bytes(text, value) if traced else 0
    return Outcome(how, seconds, calls, peak, len(text.encode(errors="replace")))


def call_count(text: str, value: Any = None) -> int:
    """Return how many functions are called: a measure of work that no busy machine changes."""
    profile = cProfile.Profile()
    profile.runcall(ending, text, value)
    return sum(entry.callcount for entry in profile.getstats())


def peak_bytes(text: str, value: Any = None) -> int:
    """Return how much memory is held at once."""
    tracemalloc.start()
    try:
        ending(text, value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ending(text: str, value: Any = None) -> str:
    """Return the name of the error by which a document is refused, or ``answered``."""
    with DiskLedger(":memory:", cap=1000.0) as ledger:
        try:
            notice = codec.notice(codec.parse(text))
            accepts = Accepts(public=notice.domain.public_names)
            client = Client(notice, ledger, _asked_token(notice), accepts)
            client.explain()
            message = client.answer(value)
        except SottovoceError as error:
            return type(error).__name__
    if len(message) > MAX_MESSAGE_BYTES:
        raise AssertionError(f"a message of {len(message)} bytes")
    return "answered"


def _asked_token(notice: Notice) -> str:
    """Return the token of a device that the opening round asks, if there is one in fifty."""
    tokens = [f"device {place}" for place in range(50)]
    for token in tokens:
        device_bytes = coin.enrolled_bytes(token, notice.digest)
        if notice.opening.asks(coin.round_coin(device_bytes, notice.digest)):
            return token
    return tokens[0]


# --- valid documents of every plan ---

COLUMNS = {"a": ["x", "y"], "b": range(5), "c": range(3)}
LABELS = ["cat", "dog", "fish", "newt"]
TABLES = {
    "users": {"columns": {"age": range(18, 30), "state": ["NY", "WA"]}},
    "trades": {"columns": {"amount": range(1, 6)}, "most": 3, "rows": 2},
}
PUBLIC = {"os": ["i", "a"], "height": Buckets(0.0, 2.5, 25), "born": range(1900, 2020)}


@cache
def valid_documents() -> tuple[str, ...]:
    """Return the documents of a task of every plan, some longitudinal and some rehearsals."""
    sandbox = Collection(sandbox=True)
    tasks = [
        *(
            sv.Task("pets", sv.Histogram(LABELS, kind), 1.0)
            for kind in ("", "oue", "olh", "subset")
        ),
        sv.Task("pets", sv.Histogram(LABELS, declinable=True), 1.0, description="Which pet?"),
        sv.Task("ages", sv.Histogram(range(18, 99)), 1.0, collection=Collection(enrolment=False)),
        sv.Task("pets", sv.Histogram(LABELS), 1.0, collection=sandbox),
        sv.Task("pets", sv.Histogram(LABELS), 2.0, distinct=2),
        sv.Task("where", sv.Tracking(LABELS, 9), 2.0, distinct=2),
        sv.Task("household", sv.Survey({"home": LABELS, "rooms": range(1, 9)}), 1.0),
        sv.Task("words", sv.HeavyHitters(sv.Strings(20)), 1.0),
        sv.Task("keys", sv.HeavyHitters(sv.Bits(70)), 1.0),
        sv.Task("foods", sv.TopItems([*LABELS, "bread", "milk"], 2), 1.0),
        sv.Task("foods", sv.Itemsets(range(40), 8), 1.0),
        sv.Task("songs", sv.AdaptiveTopItems(range(40), 10_000, 2, rounds=2), 1.0),
        sv.Task("all", sv.Marginals(COLUMNS, 100_000), 1.0),
        sv.Task("temperature", sv.Mean(30.0, 45.0), 1.0),
        sv.Task("temperature", sv.Distribution(30.0, 45.0, 64), 1.0),
        sv.Task("temperature", sv.Mean(30.0, 45.0, defence="graded", probe=0.125), 1.0),
        sv.Task("people", sv.Table({"age": range(64), "state": LABELS}, public=PUBLIC), 1.0),
        sv.Task("shop", Joint(TABLES), 1.0),
        sv.Task("shop", Joint(TABLES), 1.0, collection=sandbox),
    ]
    return tuple(codec.canonical(codec.document(task)) for task in tasks)


@cache
def documents_with_tokens() -> tuple[str, ...]:
    """Return the golden documents of tasks that need blind tokens and are not shuffled."""
    golden = json.loads((GOLDEN / "seeds.json").read_text("utf-8"))
    return tuple(row["canonical"] for row in golden["tasks"] if "shuffle" not in row["content"])


def changed_document(dice: random.Random) -> str:
    """Return a valid document after one to four changes of its entries."""
    content = json.loads(dice.choice((*valid_documents(), *documents_with_tokens())))
    for _ in range(dice.choice((1, 1, 2, 4))):
        content = _changed(content, dice)
    if isinstance(content, dict) and dice.random() < 0.5:
        content = _fitting(content)
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _changed(content: Any, dice: random.Random) -> Any:
    """Return a document with one entry changed, dropped, repeated or taken from another one."""
    if not isinstance(content, (dict, list)) or not content:
        return dice.choice(LEAVES)
    draw = dice.random()
    if isinstance(content, list):
        place = dice.randrange(len(content))
        if draw < 0.7:
            return [*content[:place], _changed(content[place], dice), *content[place + 1 :]]
        return content[:place] + [content[place]] * dice.choice((0, 2, 100, 1000))
    key = dice.choice(list(content))
    if draw < 0.75:
        return {**content, key: _changed(content[key], dice)}
    if draw < 0.9:
        return {**content, key: dice.choice(LEAVES)}
    if draw < 0.95:
        other = json.loads(dice.choice(valid_documents()))
        return {**content, key: other.get(key, other["opening"])}
    return {name: value for name, value in content.items() if name != key}


def _fitting(content: Content) -> Content:
    """Return a document whose domain and mechanism have one size, as far as that is easy.

    Otherwise most changes of a size would be refused at the first comparison.
    """
    try:
        mechanism = content["opening"]["ask"]["mechanism"]
        size = int(mechanism["size"])
        return {**content, "domain": {"kind": "integers", "low": 0, "high": size - 1}}
    except (KeyError, TypeError, ValueError):
        return content


# --- the worst of every family ---


def base(domain: Content, ask: Content, **more: Any) -> Content:
    """Return a task document that asks something of a domain; the price is high enough."""
    opening = {"kind": "round", "number": 0, "ask": ask, "low": 0, "high": str(1 << 64)}
    content = {"kind": "task", "version": 1, "name": "t", "description": "", "declares": []}
    content |= {"epsilon": "20.0", "plan": {"kind": "any"}, "domain": domain, "opening": opening}
    return content | more


def text_of(content: Content) -> str:
    return codec.canonical(content)


@cache
def mechanism(kind: str, size: int, epsilon: float = 0.01, **settings: Any) -> Content:
    return codec.document(Mechanism.kinds[kind](epsilon, size, **settings))


def question(of: Content, encoding: Content | None = None, epsilon: str = "") -> Content:
    content = {"kind": "question", "mechanism": of, "epsilon": epsilon or of["epsilon"]}
    return content | ({"encoding": encoding} if encoding else {})


def integers(size: int) -> Content:
    return {"kind": "integers", "low": 0, "high": number(size - 1)}


def number(value: int) -> int | str:
    return str(value) if value >= 1 << 53 else value


def records(sizes: list[int]) -> Content:
    names = [f"c{column}" for column in range(len(sizes))]
    return {"kind": "records", "names": names, "attributes": [integers(size) for size in sizes]}


def tables(sizes: list[int]) -> Content:
    return {"kind": "services", "names": ["t"], "tables": [records(sizes)]}


def choice(members: Any, weights: Any = ()) -> Content:
    return {"kind": "choice", "members": members, "weights": list(weights)}


def bundle(parts: list[Content]) -> Content:
    return {"kind": "bundle", "parts": parts}


def layers(sizes: list[int], widths: list[list[int]], cells: list[int]) -> Content:
    family = {"kind": "layers", "table": 0, "columns": list(range(len(sizes))), "sizes": sizes}
    family |= {"widths": widths, "mechanisms": [mechanism("olh", size) for size in cells]}
    return family | {"most": 0, "rounding": "none", "groups": [], "first": 0}


def sampled(items: int, length: int, among: list[list[int]]) -> Content:
    return {"kind": "sample", "items": items, "length": length, "among": among}


def sets(size: int) -> Content:
    return {"kind": "sets", "items": integers(size)}


def _mechanisms() -> Iterator[tuple[str, Content]]:
    """Yield every mechanism at its largest size, at a small and at a large epsilon."""
    for family in Mechanism.kinds.classes():
        for size in (family.max_size, 4096, 2048):
            for epsilon in (0.001, 20.0):
                try:
                    made = mechanism(family.kind, size, epsilon)
                except SottovoceError:
                    continue
                yield f"{family.kind} {size:.3g} {epsilon}", base(integers(size), question(made))


def _many_parts() -> Iterator[tuple[str, Content]]:
    unary = question(mechanism("oue", 8000))
    yield "a bundle of 256 wide reports", base(integers(8000), bundle([unary] * 256))
    million = question(mechanism("oue", 1 << 20))
    yield (
        "a bundle of 150 reports of a million bits",
        base(integers(1 << 20), bundle([million] * 150)),
    )
    yield "a bundle of 257", base(integers(2), bundle([question(mechanism("grr", 2))] * 257))
    thin = question(mechanism("affine", 2048))
    yield "a bundle of 256 hashes", base(integers(2048), bundle([thin] * 256))
    slow = question(mechanism("subset", 2048))
    yield "a bundle of subsets", base(integers(2048), bundle([slow] * 100))
    large = question(mechanism("subset", 1 << 13))
    yield "a bundle of large subsets", base(integers(1 << 13), bundle([large] * 60))
    yield "one large subset", base(integers(4096), question(mechanism("subset", 4096)))
    parts = [question(mechanism("grr", 40), {"kind": "attribute", "column": 0})] * 4
    yield "a choice of bundles", base(records([40, 40]), choice([bundle(parts)] * 160))
    for count in (250, 300, 700):
        distinct = [question(mechanism("affine", 64 + place)) for place in range(count)]
        yield f"a choice of {count} mechanisms", base(integers(64), choice(distinct))
        longer = [
            question(mechanism("affine_prefix", 1 << (20 + place % 460))) for place in range(count)
        ]
        yield f"a choice of {count} prefixes", base(integers(64), choice(longer))
    for count in (1000, 4096, 5000):
        asks = [
            question(mechanism("grr", 2), {"kind": "attribute", "column": place % 2})
            for place in range(count)
        ]
        yield f"a choice of {count} members", base(records([2, 2]), choice(asks))
    lasting = {"distinct": 1}
    yield (
        "a wide report again and again",
        base(integers(1 << 20), question(mechanism("oue", 1 << 20)), **lasting),
    )
    yield (
        "65,000 bits again and again",
        base(integers(65_000), question(mechanism("oue", 65_000)), **lasting),
    )


def _families() -> Iterator[tuple[str, Content]]:
    for columns in (10, 12, 13, 17):
        sizes = [2] * columns
        cells = [1 << max(1, place) for place in range(1, columns + 1)]
        family = layers(sizes, [[2, 1]] * columns, cells)
        yield f"2^{columns} layers", base(tables(sizes), choice(family))
    sizes = [1000] * 60
    widths = [[1000, 500]] * 12 + [[1000]] * 48
    family = layers(sizes, widths, [1 << place for place in range(1, 13)])
    yield "layers of 60 columns", base(tables(sizes), choice(family))
    primes = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41]
    family = layers(primes, [[prime, 1] for prime in primes], [2, 3, 5])
    yield "layers that all differ", base(tables(primes), choice(family))
    several = [
        choice(
            layers([2] * 10, [[2, 1]] * 10, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
            | {"table": table}
        )
        for table in range(12)
    ]
    yield "layers of many tables", base(tables([2] * 10), bundle(several))
    for count in (2000, 4096, 9000):
        pairs = [[place // 100, 100 + place % 100] for place in range(count)]
        views = {"kind": "views", "sizes": [2] * 200, "columns": pairs}
        views |= {"mechanisms": [mechanism("grr", 4)]}
        yield f"{count} views", base(records([2] * 200), choice(views))
    for columns, order in ((2000, 1), (1400, 2), (180, 3), (70, 4), (24, 6), (19, 19), (2000, 20)):
        parities = {"kind": "parities", "mechanism": mechanism("grr", 2), "sizes": [2] * columns}
        parities |= {"order": order, "within": False}
        yield f"parities of {columns} at {order}", base(records([2] * columns), choice(parities))
    for count in (10_000, 30_000, 60_000):
        among = list(range(count))
        each = {
            "kind": "each_item",
            "mechanism": mechanism("grr", 2),
            "items": 60_000,
            "among": among,
        }
        yield f"each of {count} items", base(sets(60_000), choice(each))
        weighted = choice({**each, "among": among[: count // 2]}, [1] * (count // 2))
        yield f"each of {count // 2} weighted items", base(sets(60_000), weighted)


def _encodings() -> Iterator[tuple[str, Content]]:
    for count in (10_000, 30_000):
        among = [[place] for place in range(count)]
        asked = question(mechanism("olh", count + 5), sampled(60_000, 5, among))
        yield f"one of {count} candidates", base(sets(60_000), asked)
        size = {"kind": "size", "items": 60_000, "among": among}
        yield (
            f"how many of {count}",
            base(sets(60_000), question(mechanism("olh", count + 1), size)),
        )
    wide = [list(range(place, place + 600)) for place in range(100)]
    asked = question(mechanism("olh", 105), sampled(60_000, 5, wide))
    yield "a hundred sets of 600", base(sets(60_000), asked)
    columns = list(range(2000))
    view = {"kind": "view", "columns": columns, "sizes": [2] * 2000}
    yield (
        "a view of 2,000 columns",
        base(records([2] * 2000), question(mechanism("olh", 1 << 62), view)),
    )
    parity = {"kind": "parity", "columns": columns, "sizes": [2] * 2000, "masks": [1] * 2000}
    yield (
        "a parity of 2,000 columns",
        base(records([2] * 2000), question(mechanism("grr", 2), parity)),
    )
    huge = {"kind": "view", "columns": columns, "sizes": ["9" * 150] * 2000}
    yield "a view of huge sizes", base(records([2] * 2000), question(mechanism("grr", 2), huge))
    cell = {
        "kind": "cell",
        "table": 0,
        "columns": columns,
        "sizes": [2] * 2000,
        "widths": [2] * 2000,
    }
    cell |= {"most": 0, "weighted": False, "rounded": columns, "mirrored": [], "aligned": True}
    yield "a cell of 2,000 coins", base(tables([2] * 2000), question(mechanism("grr", 2), cell))
    mask = {"kind": "parity", "columns": [0], "sizes": ["9" * 150], "masks": ["8" * 150]}
    yield "a huge mask", base(records([2]), question(mechanism("grr", 2), mask))


def _domains() -> Iterator[tuple[str, Content]]:
    for count in (30_000, 60_000, 70_000):
        labels = [f"{place}" for place in range(count)]
        domain = {"kind": "categories", "labels": labels, "declinable": False}
        yield f"{count} labels", base(domain, question(mechanism("olh", count)))
    long_labels = ["é" * 250 + str(place) for place in range(1900)]
    domain = {"kind": "categories", "labels": long_labels, "declinable": True}
    yield "a megabyte of labels", base(domain, question(mechanism("olh", 1901)))
    yield (
        "labels in a set",
        base(
            {"kind": "sets", "items": domain | {"declinable": False}}, question(mechanism("grr", 2))
        ),
    )
    huge = {"kind": "integers", "low": "-" + "9" * 150, "high": "9" * 150}
    yield "huge integers", base(huge, question(mechanism("olh", 1 << 62)))
    yield (
        "integers of 5,000 digits",
        base({**huge, "high": "9" * 5000}, question(mechanism("grr", 2))),
    )
    names = [f"t{place}" for place in range(600)]
    public = {"kind": "records", "names": [f"{name}.p" for name in names[:200]]}
    public |= {"attributes": [integers(3)] * 200}
    many = {"kind": "services", "names": names, "tables": [records([2])] * 600, "public": public}
    yield (
        "600 tables with public columns",
        base(many, question(mechanism("grr", 2)), declares=["public"]),
    )
    few = {"kind": "services", "names": ["t"], "tables": [records([2])]}
    labels = [f"{place:04}" + "x" * 20 for place in range(30_000)]
    column = {"kind": "categories", "labels": labels, "declinable": False}
    few |= {"public": {"kind": "records", "names": ["t.p"], "attributes": [column]}}
    yield (
        "a public column of 30,000 labels",
        base(few, question(mechanism("grr", 2)), declares=["public"]),
    )
    nested: Content = {"kind": "bits", "bits": 8}
    for _ in range(11):
        nested = {"kind": "records", "names": ["a"], "attributes": [nested]}
    yield "records of records", base(nested, question(mechanism("grr", 2)))
    mixed = {
        "kind": "records",
        "names": ["a", "b"],
        "attributes": [{"kind": "bits", "bits": 480}, integers(3)],
    }
    yield (
        "a record of long and short values",
        base(mixed, question(mechanism("grr", 3), {"kind": "attribute", "column": 1})),
    )
    inner = {"kind": "records", "names": ["a", "b"], "attributes": [sets(9), integers(3)]}
    yield (
        "a record of a set",
        base(inner, question(mechanism("grr", 3), {"kind": "attribute", "column": 1})),
    )
    lists = {"kind": "lists", "records": records([2] * 1000), "most": 1 << 16}
    yield "a list of wide records", base(lists, question(mechanism("grr", 2)))


def _texts() -> Iterator[tuple[str, str]]:
    good = text_of(base(integers(2), question(mechanism("grr", 2))))
    yield "deep lists", good.replace('"declares":[]', '"declares":' + "[" * 500_000)
    yield "deep objects", '{"a":' * 150_000
    yield "33 levels", good.replace('"declares":[]', '"declares":' + "[" * 32 + "]" * 32)
    yield "a long name", good.replace('"name":"t"', '"name":"' + "é" * 500_000 + '"')
    yield "escapes", good.replace('"name":"t"', '"name":"' + "\\u0041" * 150_000 + '"')
    yield "escaped quotes", '{"a":"' + '\\"' * 500_000
    yield "quotes", '"' * 1_000_000
    yield "too long", good + " " * (1 << 20)
    yield "far too long", good + "x" * (20 << 20)
    yield "white space", good[:-1] + " " * 1_000_000 + "}"
    yield "a long number", good.replace('"version":1', '"version":' + "1" * 900_000)
    yield "65,000 keys", "{" + ",".join(f'"{place}":0' for place in range(65_000)) + "}"
    yield "300,000 empty lists", '{"a":[' + "[]," * 300_000 + "[]]}"
    yield "60,000 empty objects", '{"a":[' + "{}," * 30_000 + "{}]}"
    plan = '"plan":{"kind":"any","x":[' + "0," * 60_000 + "0]}"
    yield "a plan that nobody reads", good.replace('"plan":{"kind":"any"}', plan)
    yield "3,000 kinds", '{"a":[' + '{"kind":"grr"},' * 3000 + "{}]}"


@cache
def extremes() -> dict[str, str]:
    """Return the worst documents that are known, by name."""
    sources: tuple[Callable[[], Iterator[tuple[str, Content]]], ...]
    sources = (_mechanisms, _many_parts, _families, _encodings, _domains)
    found = {name: text_of(content) for source in sources for name, content in source()}
    return found | dict(_texts())


@dataclass
class Summary:
    """How many documents ended in which way, and the most that one of them took."""

    endings: Counter[str] = field(default_factory=Counter)
    untyped: list[str] = field(default_factory=list)
    milliseconds: float = 0.0
    calls: int = 0
    peak_bytes: int = 0

    def add(self, text: str) -> None:
        """Try one document."""
        try:
            taken = outcome(text)
        except Exception as error:  # anything but the library's own errors
            self.untyped.append(f"{type(error).__name__} for {text[:500]}")
            return
        self.endings[taken.ending] += 1
        self.milliseconds = max(self.milliseconds, 1000 * _least_seconds(text, taken.seconds))
        self.calls = max(self.calls, taken.calls)
        self.peak_bytes = max(self.peak_bytes, taken.peak_bytes)


def _least_seconds(text: str, seconds: float) -> float:
    """Return the least processor time of a few runs, if the first was not fast: caches that other
    processes fill make a run slower than it is.
    """
    if seconds > FAST:
        return min(seconds, *(outcome(text, traced=False).seconds for _ in range(4)))
    return seconds


def main(count: int, seed: int = 1) -> None:
    """Try the extremes and so many changed documents, and print what became of them as JSON."""
    dice = random.Random(seed)
    for text in valid_documents():
        ending(text)  # imports every module, so that the first document does not pay
    summaries = {"extremes": Summary(), "changed": Summary()}
    for text in extremes().values():
        summaries["extremes"].add(text)
    for _ in range(count):
        summaries["changed"].add(changed_document(dice))
    print(json.dumps({name: vars(summary) for name, summary in summaries.items()}, indent=2))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or ["1000"]))
