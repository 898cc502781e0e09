"""The alert rules and the board of ``deploy/``: read, and evaluated on the pages of a collector.

Each rule is shown an hour in which it must fire and one in which it must not.  The pages are those
that the sources of a collector's metrics write, one a minute.
"""

import json
import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from prometheus_client.core import GaugeMetricFamily

from collector.people import counting, published
from sottovoce.collector.integrity_metrics import IntegrityMetrics
from sottovoce.collector.round_metrics import RoundMetrics
from sottovoce.collector.store.base import State
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity.result import Integrity
from sottovoce.web.metrics import Metrics
from system.promql import SECONDS, Page, PromqlError, evaluate, parse, selectors

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = {
    rule["alert"]: rule
    for rule in yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]
}
PANELS = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
DRAWN = [target["expr"] for panel in PANELS for target in panel["targets"]]
EXPRESSIONS = [*(rule["expr"] for rule in RULES.values()), *DRAWN]
MINUTES = 65
TASK = published(counting())


@dataclass(eq=False)
class Watched:
    """What happens in a collector, minute by minute, as its metrics tell it."""

    waiting: int = 0
    state: State = State.OPEN
    statistic: float = 1.0
    canaries: tuple = (200, 200, 5000)  # sent, found, messages of the batch
    metrics: Metrics = field(init=False)

    def __post_init__(self):
        self.restart()

    def restart(self):
        """Begin again with a new process, which has counted nothing."""
        sources = (RoundMetrics(self._tasks), IntegrityMetrics(self._tasks, self._integrity))
        self.metrics = Metrics(lambda: self.waiting, *sources, self)

    def _tasks(self):
        return [TASK.after(TASK.record, [replace(TASK.last, state=self.state, users=50)])]

    def _integrity(self, task):
        return [Integrity(0, 50, (PlausibilityTest("seeds", self.statistic, 6.0, 1e-9, 50),))]

    def collect(self):
        """Yield the numbers of canaries and of the batch, as ``ShuffleMetrics`` names them."""
        names = ("canaries_sent", "canaries_found", "batch_messages")
        for name, count in zip(names, self.canaries, strict=True):
            gauge = GaugeMetricFamily(f"sottovoce_{name}", name, labels=["task", "round"])
            gauge.add_metric(["count", "0"], count)
            yield gauge

    def describe(self):
        return []

    def pages(self, happens):
        """Return a page for every minute; ``happens`` is called before each of them."""
        pages = []
        for minute in range(MINUTES + 1):
            self.metrics.request("get_metrics", 200, 0.003)
            self.metrics.request("upload", 200, 0.02)
            self.metrics.count("count", {"accepted": 40})
            happens(self, minute)
            pages.append(Page.of(60.0 * minute, self.metrics.text().decode()))
        return pages


@cache
def pages_of(happens):
    """Return the pages of a collector in which this happens."""
    return Watched().pages(happens)


def fires(rule, pages):
    """Return whether a rule fires on the last page: it has held as long as it must."""
    tree = parse(rule["expr"])
    held = re.fullmatch(r"(\d+)([smh])", rule.get("for", "0s"))
    begin = pages[-1].seconds - int(held[1]) * SECONDS[held[2]]
    ends = [index for index, page in enumerate(pages) if page.seconds >= begin]
    return all(evaluate(tree, pages[: index + 1]) for index in ends)


def nothing(collector, minute):
    """An ordinary hour."""


def with_settings(**settings):
    """The collector is like this in the last 40 minutes."""

    def happens(collector, minute):
        if minute >= MINUTES - 40:
            for name, value in settings.items():
                setattr(collector, name, value)

    return happens


def over_again(happens, minutes):
    """It is so, and has been over for some minutes when the pages end."""

    def until(collector, minute):
        happens(collector, minute)
        if minute > MINUTES - minutes:
            collector.waiting = 0
            collector.state = State.OPEN

    return until


def failing(collector, minute):
    """The store cannot write, and is tried again every minute."""
    collector.metrics.failures.labels("UnavailableError").inc()


def failing_once(collector, minute):
    if minute in (MINUTES - 60, MINUTES - 3):
        failing(collector, minute)


def messages_a_minute(count):
    def happens(collector, minute):
        collector.metrics.count("count", {"impossible": count})

    return happens


def requests_a_minute(route, status, count):
    def happens(collector, minute):
        for _ in range(count):
            collector.metrics.request(route, status, 0.01)

    return happens


def restarts(count):
    def happens(collector, minute):
        if minute and minute >= MINUTES - 10 * count and minute % 10 == 0 and minute < MINUTES:
            collector.restart()
            collector.metrics.request("get_metrics", 200, 0.003)

    return happens


# For every rule: what makes it fire, and what is like it and must not.
CASES = {
    "SottovoceImplausibleReports": (
        with_settings(statistic=9.5),
        with_settings(statistic=5.9),
    ),
    "SottovoceWorkFails": (failing, failing_once),
    "SottovoceSlowDisk": (
        with_settings(waiting=5001),
        over_again(with_settings(waiting=19_000), 4),
    ),
    "SottovoceImpossibleMessages": (messages_a_minute(61), messages_a_minute(59)),
    "SottovoceRoundStaysSealing": (
        with_settings(state=State.SEALING),
        over_again(with_settings(state=State.SEALING), 2),
    ),
    "SottovoceServerErrors": (
        requests_a_minute("upload", 503, 1),
        requests_a_minute("upload", 429, 50),
    ),
    "SottovoceRefusedLogins": (
        requests_a_minute("login", 401, 2),
        requests_a_minute("upload", 401, 50),
    ),
    "SottovoceWorkersDie": (restarts(4), restarts(2)),
    "SottovoceMissingCanaries": (
        with_settings(canaries=(200, 199, 5000)),
        with_settings(canaries=(200, 0, 0)),
    ),
}


def test_every_rule_has_its_two_cases():
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_fires_when_it_should_and_only_then(name):
    bad, good = CASES[name]
    fired = [fires(RULES[name], Watched().pages(happens)) for happens in (bad, good, nothing)]
    assert fired == [True, False, False]


def test_an_ordinary_day_fires_nothing_and_draws_every_panel():
    pages = pages_of(failing_once)
    assert [name for name, rule in RULES.items() if fires(rule, pages)] == []
    for expression in DRAWN:
        assert evaluate(parse(expression), pages), expression
    (quantile,) = [expression for expression in DRAWN if "histogram_quantile" in expression]
    slowest = {dict(labels)["route"]: value for labels, value in _rows(quantile, pages)}
    assert 0.01 < slowest["upload"] <= 0.02
    assert 0.002 < slowest["get_metrics"] <= 0.005


def _rows(expression, pages):
    return evaluate(parse(expression), pages).items()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_metrics_and_labels_are_those_of_a_collector(expression):
    page = pages_of(failing)[-1]
    found = list(selectors(parse(expression)))
    assert found
    for selector, by in found:
        rows = [labels for name, labels in page.samples if name == selector.name]
        assert rows, selector.name
        named = {label for label, _, _ in selector.matchers} | set(by)
        assert named <= dict(rows[0]).keys(), selector.name


@pytest.mark.parametrize("name", RULES)
def test_texts_of_a_rule_name_labels_that_it_has(name):
    """A label that is summed up, or not there, would be empty in the message."""
    rule = RULES[name]
    named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
    rows = evaluate(parse(rule["expr"]), pages_of(CASES[name][0]))
    for labels in rows:
        assert named <= {label for label, _ in labels}


@pytest.mark.parametrize(
    "broken",
    [
        "increase(sottovoce_failures_total[15m]) >",
        "increase(sottovoce_failures_total[15])",
        "increase(sottovoce_failures_total[15m]",
        "irate(sottovoce_failures_total[15m]) > 0",
        "sottovoce_round_state{state=open} == 1",
        "sottovoce_waiting_messages > 5000 5",
        "sottovoce_waiting_messages $ 5",
    ],
)
def test_an_expression_that_prometheus_would_refuse_is_refused(broken):
    with pytest.raises(PromqlError):
        parse(broken)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("increase(a_total[2m])", 5.0),  # 7, 9, then again from 0: 3
        ("rate(a_total[2m])", 5.0 / 120),
        ("resets(a_total[2m])", 1.0),
        ("increase(a_total[1m])", 3.0),
        ("a_total - 1", 2.0),
        ("sum(a_total) > 2", 3.0),
    ],
)
def test_what_an_expression_is_on_known_pages(expression, expected):
    pages = [Page.of(60.0 * minute, f"a_total {value}\n") for minute, value in enumerate((7, 9, 3))]
    assert list(evaluate(parse(expression), pages).values()) == pytest.approx([expected])
