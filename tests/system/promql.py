"""The part of PromQL that the files of ``deploy/`` use: read, and evaluated on pages of metrics.

    expression := comparison ("and" comparison)*
    comparison := sum ((">" | "<" | "==") sum)?
    sum        := term ("-" term)*
    term       := number | "(" expression ")" | aggregation | function "(" ... ")" | selector
    selector   := name ["{" label ("=" | "=~") string, ... "}"] ["[" duration "]"]

Anything else is refused.  As in Prometheus, a comparison keeps the rows for which it holds, two
vectors meet in the rows with equal labels, and a counter that falls has begun again at 0.
``increase`` is what was added between the first and the last page of its time; Prometheus also
extrapolates to the ends of that time, which changes nothing where a page stands at both.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from prometheus_client.parser import text_string_to_metric_families

TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?(?![a-z\d]))|(?P<duration>\d+[smh])|(?P<string>"[^"]*")"""
    r"""|(?P<name>[a-zA-Z_:]\w*)|(?P<sign>=~|==|[-=<>(){}\[\],]))"""
)
SECONDS = {"s": 1, "m": 60, "h": 3600}
AGGREGATIONS = {"sum": sum, "max": max}
FUNCTIONS = ("histogram_quantile", "increase", "rate", "resets")


class PromqlError(Exception):
    """An expression is not of the part of PromQL that is read here."""


@dataclass(frozen=True)
class Selector:
    name: str
    matchers: tuple
    seconds: int | None = None

    def values(self, pages):
        """Return the values of each series, by the labels, on the pages of the time asked for."""
        begin = pages[-1].seconds - (self.seconds or 0)
        series = {}
        for page in pages:
            if page.seconds >= begin:
                for (name, labels), value in page.samples.items():
                    if name == self.name and self._fits(dict(labels)):
                        series.setdefault(labels, []).append(value)
        return series

    def _fits(self, labels):
        return all(
            re.fullmatch(text if sign == "=~" else re.escape(text), labels.get(label, ""))
            for label, sign, text in self.matchers
        )


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple


@dataclass(frozen=True)
class Aggregation:
    name: str
    by: tuple
    argument: object


@dataclass(frozen=True)
class Binary:
    sign: str
    left: object
    right: object


@dataclass(frozen=True)
class Page:
    """A page of metrics: when it was read, and the value of every series."""

    seconds: float
    samples: dict

    @classmethod
    def of(cls, seconds, text):
        samples = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                samples[sample.name, frozenset(sample.labels.items())] = sample.value
        return cls(seconds, samples)


def parse(text):
    """Return an expression as a tree."""
    reader = _Reader(text)
    tree = reader.expression()
    if reader.kind != "end":
        raise PromqlError(f"nothing may follow here: {reader.text!r}")
    return tree


class _Reader:
    def __init__(self, text):
        self._text, self._at = text.strip(), 0
        self.step()

    def step(self):
        """Read the next word, and return the one before."""
        before = getattr(self, "text", "")
        if self._at == len(self._text):
            self.kind, self.text = "end", ""
            return before
        match = TOKEN.match(self._text, self._at)
        if match is None:
            raise PromqlError(f"cannot be read: {self._text[self._at :]!r}")
        self.kind, self.text, self._at = match.lastgroup, match[match.lastgroup], match.end()
        return before

    def take(self, text):
        if self.text != text:
            raise PromqlError(f"{text!r} is missing before {self.text!r}")
        self.step()

    def skip(self, text):
        """Return whether this word stands here, and step over it."""
        found = self.text == text and self.kind != "string"
        if found:
            self.step()
        return found

    def expression(self):
        tree = self.comparison()
        while self.skip("and"):
            tree = Binary("and", tree, self.comparison())
        return tree

    def comparison(self):
        tree = self.sum()
        if self.text in (">", "<", "=="):
            tree = Binary(self.step(), tree, self.sum())
        return tree

    def sum(self):
        tree = self.term()
        while self.skip("-"):
            tree = Binary("-", tree, self.term())
        return tree

    def term(self):
        if self.kind == "number":
            return float(self.step())
        if self.skip("("):
            tree = self.expression()
            self.take(")")
            return tree
        if self.kind != "name":
            raise PromqlError(f"a number, a metric or a function is missing before {self.text!r}")
        name = self.step()
        if name in AGGREGATIONS:
            by = self.listed("(", ")", self.step) if self.skip("by") else ()
            self.take("(")
            tree = Aggregation(name, tuple(by), self.expression())
            self.take(")")
            return tree
        if self.text == "(":
            if name not in FUNCTIONS:
                raise PromqlError(f"unknown function: {name}")
            return Call(name, tuple(self.listed("(", ")", self.expression)))
        return self.selector(name)

    def selector(self, name):
        matchers = self.listed("{", "}", self.matcher) if self.text == "{" else ()
        seconds = None
        if self.skip("["):
            if self.kind != "duration":
                raise PromqlError(f"a duration is missing before {self.text!r}")
            duration = self.step()
            seconds = int(duration[:-1]) * SECONDS[duration[-1]]
            self.take("]")
        return Selector(name, tuple(matchers), seconds)

    def matcher(self):
        label = self.step()
        sign = self.step()
        if sign not in ("=", "=~") or self.kind != "string":
            raise PromqlError(f"a label is compared with a string: {label!r}")
        return label, sign, self.step()[1:-1]

    def listed(self, begin, end, part):
        self.take(begin)
        parts = [part()]
        while self.skip(","):
            parts.append(part())
        self.take(end)
        return parts


def selectors(tree):
    """Yield every selector of an expression, with the labels by which it is summed up."""
    if isinstance(tree, Selector):
        yield tree, ()
    elif isinstance(tree, Aggregation):
        for selector, by in selectors(tree.argument):
            yield selector, (*by, *tree.by)
    elif isinstance(tree, Call):
        for argument in tree.arguments:
            yield from selectors(argument)
    elif isinstance(tree, Binary):
        yield from selectors(tree.left)
        yield from selectors(tree.right)


def evaluate(tree, pages):
    """Return the rows of an expression on the last page, by their labels, or its number."""
    if isinstance(tree, float):
        return tree
    if isinstance(tree, Selector):
        return {labels: values[-1] for labels, values in tree.values(pages[-1:]).items()}
    if isinstance(tree, Call):
        return _called(tree, pages)
    if isinstance(tree, Aggregation):
        groups = {}
        for labels, value in evaluate(tree.argument, pages).items():
            kept = frozenset(pair for pair in labels if pair[0] in tree.by)
            groups.setdefault(kept, []).append(value)
        return {labels: AGGREGATIONS[tree.name](values) for labels, values in groups.items()}
    return _combined(tree.sign, evaluate(tree.left, pages), evaluate(tree.right, pages))


def _called(call, pages):
    if call.function == "histogram_quantile":
        return _quantiles(call.arguments[0], evaluate(call.arguments[1], pages))
    (selector,) = call.arguments
    series = {labels: row for labels, row in selector.values(pages).items() if len(row) > 1}
    if call.function == "resets":
        return {
            labels: float(sum(after < before for before, after in pairwise(row)))
            for labels, row in series.items()
        }
    per = selector.seconds if call.function == "rate" else 1
    return {labels: _added(row) / per for labels, row in series.items()}


def _added(row):
    """Return what was added to a counter, which begins again at 0 where it falls."""
    return sum(after - before if after >= before else after for before, after in pairwise(row))


def _quantiles(share, buckets):
    """Return a quantile of every histogram, linear between the bounds of its bucket."""
    histograms = {}
    for labels, count in buckets.items():
        (bound,) = [float(value) for label, value in labels if label == "le"]
        rest = frozenset(pair for pair in labels if pair[0] != "le")
        histograms.setdefault(rest, []).append((bound, count))
    quantiles = {}
    for labels, rows in histograms.items():
        bounds, counts = zip(*sorted(rows), strict=True)
        if counts[-1] == 0:
            continue
        rank = share * counts[-1]
        index = bisect_left(counts, rank)
        if bounds[index] == inf:
            quantiles[labels] = bounds[index - 1]
            continue
        low, before = (bounds[index - 1], counts[index - 1]) if index else (0.0, 0.0)
        within = (rank - before) / (counts[index] - before)
        quantiles[labels] = low + (bounds[index] - low) * within
    return quantiles


def _combined(sign, left, right):
    if isinstance(right, float):
        right = dict.fromkeys(left, right)
    both = [labels for labels in left if labels in right]
    if sign == "-":
        return {labels: left[labels] - right[labels] for labels in both}
    holds = {
        "and": lambda labels: True,
        ">": lambda labels: left[labels] > right[labels],
        "<": lambda labels: left[labels] < right[labels],
        "==": lambda labels: left[labels] == right[labels],
    }[sign]
    return {labels: left[labels] for labels in both if holds(labels)}
