"""Every kind of outcome is shown in a notebook and drawn: no axis without a title, nothing cut off.

A label of sixty letters is in every list of values, and in the names of tasks and attributes.
"""

import re
from functools import cache

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import sottovoce as sv
from sottovoce.answers.chart import heat
from sottovoce.answers.exported import ExportedAnswer
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.tasks.plan import Plan

LONG = "a_label_of_sixty_letters_that_no_panel_has_enough_room_for__"
WORDS = [LONG, "nein", "ja", "doch", "nie", "auch"]
PEOPLE = 400
DICE = np.random.default_rng(5)
PLACES = DICE.integers(0, 6, PEOPLE)
CHOSEN = [WORDS[place] for place in PLACES]
AGES = DICE.integers(16, 80, PEOPLE)
TABLE = sv.Table({"age": range(16, 80), LONG: WORDS})
RECORDS = {"age": AGES, LONG: CHOSEN}
BASKETS = [[word, "ja", "nein"] for word in CHOSEN]
WIDE = sv.Mean(0, 10_000_000)

CASES = {
    "histogram": (sv.Histogram(WORDS), CHOSEN),
    "survey": (sv.Survey({LONG: WORDS, "age": range(16, 80)}), RECORDS),
    "tracking": (Tracking(WORDS, epochs=3), CHOSEN),
    "pem": (sv.HeavyHitters(sv.Strings(8), 5), CHOSEN),
    "svim": (sv.TopItems(WORDS, 3), BASKETS),
    "svsm": (sv.Itemsets(WORDS, 5), BASKETS),
    "dbs": (sv.AdaptiveTopItems(WORDS, PEOPLE, 2, rounds=2, holdout=20), BASKETS),
    "mean": (WIDE, AGES * 100_000.0),
    "distribution": (sv.Distribution(0, 10_000_000), AGES * 100_000.0),
    "marginals": (
        sv.Marginals({LONG: WORDS, "age": range(1, 9), "tea": ["no", "yes"]}),
        {LONG: CHOSEN, "age": AGES % 8 + 1, "tea": ["no", "yes"] * (PEOPLE // 2)},
    ),
    "table": (TABLE, RECORDS),
    "joint": (
        sv.Joint({"people": TABLE, "trips": sv.Table({"length": range(1, 9)}, most=2)}, fanout=4),
        {
            "people": {"uid": np.arange(PEOPLE), **RECORDS},
            "trips": {"uid": np.arange(PEOPLE), "length": PLACES + 1},
        },
    ),
}
QUERIES = {
    "table": (
        f"SELECT {LONG}, COUNT(*) FROM people GROUP BY {LONG}",
        "SELECT COUNT(*) FROM people",
    ),
    "joint": (f"SELECT {LONG}, AVG(age) FROM people GROUP BY {LONG}",),
}


@cache
def outcome(kind):
    plan, values = CASES[kind]
    settings = {"distinct": 2} if kind == "tracking" else {}
    return sv.simulate(sv.Task(LONG, plan, 8.0, **settings), values, seed=1)


def drawn_of(kind):
    """Yield every part of an outcome that can be drawn, with a name; and as read from JSON."""
    whole = outcome(kind)
    yield "whole", whole
    if kind == "marginals":
        yield "pair", whole.select([LONG, "age"])
    if kind == "distribution":
        yield "figures", whole.highlights()
    for number, query in enumerate(QUERIES.get(kind, ())):
        yield f"query {number}", whole.sql(query)
        yield f"exported query {number}", ExportedAnswer(whole.sql(query).to_dict())
    for name, part in ExportedAnswer(whole.to_dict()).questions().items():
        yield f"exported {name}", part


def check(figure):
    """Lay a figure out, and check its axes."""
    FigureCanvasAgg(figure).draw()
    renderer = figure.canvas.get_renderer()
    canvas = figure.bbox
    panels = [axes for axes in figure.axes if axes.axison]
    assert panels
    for axes in panels:
        is_scale = not hasattr(axes, "get_subplotspec") or axes.get_label() == "<colorbar>"
        assert axes.get_xlabel() or (is_scale and axes.get_ylabel()), axes.get_title(loc="left")
        for axis in (axes.xaxis, axes.yaxis):
            assert axis.get_offset_text().get_text() == ""
            inside([*drawn_labels(axis), axis.label], renderer, canvas)
        texts = [child for child in axes.get_children() if isinstance(child, Text)]
        inside(texts, renderer, canvas)
        legend = axes.get_legend()
        inside(legend.get_texts() if legend else [], renderer, canvas)


def drawn_labels(axis):
    """Return the labels of ticks within the limits; others are not drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]


def inside(texts, renderer, canvas):
    for text in texts:
        if not text.get_visible() or not text.get_text():
            continue
        box = text.get_window_extent(renderer)
        held = canvas.x0 - 1 <= box.x0 and box.x1 <= canvas.x1 + 1
        held &= canvas.y0 - 1 <= box.y0 and box.y1 <= canvas.y1 + 1
        assert held, f"{text.get_text()!r} is cut off: {box} of {canvas}"


def test_every_kind_of_plan_has_a_case():
    plans = Plan.kinds.classes()
    ours = {plan.kind for plan in plans if plan.__module__.startswith("sottovoce.")}
    assert set(CASES) == ours


@pytest.mark.parametrize("kind", CASES)
def test_a_notebook_shows_an_estimate(kind):
    html = outcome(kind)._repr_html_()
    assert "estimate" in html
    assert re.search(r"<td>[−-]?\d[\d,.]*</td>", html)


@pytest.mark.parametrize("kind", CASES)
def test_every_axis_has_a_title_and_every_label_is_within_the_figure(kind):
    for name, part in drawn_of(kind):
        print(name)
        check(part.plot())


def test_comparisons_and_maps_are_drawn_whole():
    check(sv.compare(CHOSEN, epsilons=[0.5, 1.0], seeds=1).plot())
    check(heat(WORDS, {"measured": np.full((6, 6), 0.01)}, edges=[(0, 1)]))
    answer = outcome("histogram")
    check(answer.plot(truth={word: CHOSEN.count(word) for word in WORDS}))


def test_a_figure_that_cuts_labels_off_is_caught():
    figure = outcome("histogram").plot()
    figure.set_layout_engine("none")
    figure.axes[0].set_position((0, 0.1, 0.9, 0.8))
    with pytest.raises(AssertionError, match="is cut off"):
        check(figure)
    figure = outcome("histogram").plot()
    figure.axes[0].set_xlabel("")
    with pytest.raises(AssertionError):
        check(figure)
