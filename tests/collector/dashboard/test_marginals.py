"""Pages of tasks about joint tables: any table by a form, a heat map, the tree, and a test of
independence.
"""

from dataclasses import replace
from importlib.resources import files
from urllib.parse import quote

import numpy as np
import pytest

import sottovoce as sv
from collector.dashboard.collecting import place
from collector.dashboard.reading import read, rows
from sottovoce.answers.side_views import SideViews
from sottovoce.collector.dashboard import statement, svg
from sottovoce.collector.release import released_views
from sottovoce.errors import NoDataError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.independence import Dependence
from sottovoce.plans.marginals.marginal_answers import MarginalAnswers
from sottovoce.postprocess.apply import methods as known
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from sottovoce.wire.statement import explain
from sottovoce.wire.statement import statement as facts

DICE = np.random.default_rng(5)
PETS = DICE.choice(["cat", "<b>dog</b>"], 3000).tolist()
RECORDS = {
    "pet": PETS,
    "home, sweet": [pet if DICE.random() < 0.9 else "cat" for pet in PETS],
    "age & sex": DICE.integers(0, 4, 3000).tolist(),
    "car": DICE.choice(["yes", "no"], 3000).tolist(),
}
DOMAIN = {
    "pet": ["cat", "<b>dog</b>"],
    "home, sweet": ["cat", "<b>dog</b>"],
    "age & sex": range(4),
    "car": ["yes", "no"],
}
FEW = Collection(minimum=10, grace=0, crowd=30)


def task(name="calm", order=2, collection=FEW):
    return sv.Task(name, sv.Marginals(DOMAIN, users=3000, order=order), 6.0, collection=collection)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    with place(tmp_path_factory.mktemp("joint")) as made:
        for one in (task(),):
            made.publish(one)
            messages = crowd.messages(one, RECORDS, rng=SeededRng(2))
            for start in range(0, len(messages), 1000):
                made.send(one.name, messages[start : start + 1000])
            made.close(one)
        made.enter()
        yield made


def chosen(*names):
    return "&".join(f"marginal={quote(name, safe='')}" for name in names)


def test_all_attributes_can_be_chosen_and_nothing_is_at_first(asked):
    page = asked.page("/tasks/calm")
    form = page.one("form", class_="choose")
    assert (form["method"], form["action"]) == ("get", "/tasks/calm")
    boxes = form.all("input", type="checkbox")
    assert [(one["name"], one["value"]) for one in boxes] == [("marginal", name) for name in DOMAIN]
    assert not [one for one in boxes if "checked" in one.attributes]
    methods = [one["value"] for one in form.one("select", name="method").all("option")]
    assert methods == ["none", *known(equal_errors=False)]
    for method in methods:
        assert asked.page(f"/tasks/calm?method={method}").one("section", id="answer").all("table")
    headings = [one.text for one in page.one("section", id="answer").all("h3")]
    assert headings[:4] == list(DOMAIN)
    assert "pet & home, sweet" in headings
    assert len(headings) == 4 + 6 + 1


def test_a_chosen_table_is_shown_alone_and_can_be_downloaded(asked):
    page = asked.page(f"/tasks/calm?{chosen('pet', 'home, sweet', 'car')}&level=0.9")
    shown = page.one("section", id="answer")
    assert [one.text for one in shown.all("h3")] == [
        "pet & home, sweet & car",
        "Which attributes depend on each other",
    ]
    assert [
        one["value"] for one in shown.all("input", type="checkbox") if "checked" in one.attributes
    ] == [
        "pet",
        "home, sweet",
        "car",
    ]
    links = [one["href"] for one in shown.all("a") if "download" in one.attributes]
    assert (
        links[0]
        == f"/tasks/calm/answer.json?method=none&level=0.9&{chosen('pet', 'home, sweet', 'car')}"
    )
    said = asked.browser.get(links[0]).json()
    assert (said["name"], len(said["rows"]), said["level"]) == ("pet & home, sweet & car", 8, 0.9)
    assert asked.browser.get(links[1]).text.count("\n") == 9
    hidden = sum(row["suppressed"] for row in said["rows"])
    assert hidden >= 2, "few live with one animal and have the other at home"
    assert (
        len([row for row in shown.all("tbody")[0].all("tr") if "suppressed" in row.text]) == hidden
    )


def test_independence_is_told_of_pairs_only(asked):
    def told(*names):
        return [
            one.text
            for one in asked.page(f"/tasks/calm?{chosen(*names)}").all("p", class_="notice")
        ]

    assert told("pet", "home, sweet")[0].startswith("These attributes are dependent (p < 0.0001)")
    found = asked.api.collector.answer("calm").dependence("pet", "car")
    assert f"(p = {found.p_value:.2g})" in told("pet", "car")[0]
    assert "1 degree of freedom." in told("pet", "car")[0]
    assert told("pet") == told("pet", "car", "age & sex") == []


def test_the_heat_map_is_drawn_named_and_written_out(asked):
    shown = asked.page("/tasks/calm").one("section", id="answer")
    drawing = shown.one("svg", class_="heat")
    assert drawing["role"] == "img"
    assert drawing.one("desc").text.startswith(
        "6 pairs; the largest number is that of pet and home, sweet."
    )
    cells = drawing.all("rect", class_="cell")
    assert max(float(one["fill-opacity"]) for one in cells) == 1.0
    assert len(cells) == 6
    assert len(drawing.all("rect", class_="tree")) == 3
    table = rows(shown.one("details").one("table"))
    assert table[0][:2] == ["pet", "home, sweet"]
    numbers = [float(row[2]) for row in table]
    assert numbers == sorted(numbers, reverse=True)
    assert [row[3] for row in table].count("yes") == 3
    links = [one["href"] for one in shown.all("a", class_="whole")]
    assert f"/tasks/calm?method=none&level=0.95&{chosen('pet', 'home, sweet')}#answer" in links
    assert asked.page(links[0].partition("#")[0])


def test_a_table_of_other_attributes_is_refused(asked):
    page = asked.page("/tasks/calm?marginal=none", status=400)
    assert "each once" in page.text


def test_too_few_users_have_no_heat_map_and_no_test(asked):
    collector, published = asked.api.collector, asked.api.collector.find("calm")
    outcome = collector.answer_of(published)
    assert released_views(published, outcome, ("pet", "car")).pairs is not None
    more = replace(published.task, collection=Collection(minimum=3001))
    withheld = released_views(replace(published, task=more), outcome, ("pet", "car"))
    assert withheld == SideViews()


def test_a_heat_map_fills_cells_by_their_share_of_the_largest():
    drawing = read(
        svg.heat(["<a>", "b", "c"], [[0, 1, 2], [1, 0, 4], [2, 4, 0]], [(1, 2)], "T", "h")
    ).one("svg")
    cells = drawing.all("rect")
    assert [one["fill-opacity"] for one in cells] == ["0.25", "0.5", "1.0"]
    assert [one["class"] for one in cells] == ["cell", "cell", "cell tree"]
    assert [one["x"] for one in cells] == ["34.0%", "34.0%", "67.0%"]
    assert [one.text for one in drawing.all("text", class_="label")] == ["2. b", "3. c"]
    flat = read(svg.heat(["a", "b"], [[0, 0], [0, 0]], [], "T", "h"))
    assert flat.one("rect")["fill-opacity"] == "0.0"


def unknown(*_):
    raise NoDataError("no report says anything")


def test_a_verdict_follows_from_the_chance_and_what_cannot_be_tested_says_so(monkeypatch):
    found = Dependence(statistic=1.234, degrees=3, p_value=0.051, naive=0.0)
    assert found.remark == (
        "There is no sign that they are dependent (p = 0.051): a test that knows how noisy the "
        "table is, "
        "statistic 1.23 with 3 degrees of freedom."
    )
    assert replace(found, p_value=0.049).remark.startswith(
        "These attributes are dependent (p = 0.049)"
    )
    plan = sv.Marginals({"a": ["x", "y"], "b": ["x", "y"]}, users=1000, order=1)
    records = {"a": ["x", "y"] * 500, "b": ["x"] * 1000}
    answer = sv.simulate(sv.Task("t", plan, 4.0), records, seed=1)
    monkeypatch.setattr(MarginalAnswers, "dependence", unknown)
    (remark,) = answer.views(("a", "b")).remarks
    assert (
        remark
        == "Whether these attributes are independent cannot be said: no report says anything."
    )


def test_a_device_says_which_part_of_a_record_is_used():
    words = "only some parts of your record, together; a public random draw picks which."
    assert f"Your device uses {words}" in explain(facts(codec.publish(task())))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cells_and_their_frames_stand_out_from_the_paper(scheme):
    """Of the colours that the style sheet names; 3 is what drawings need."""
    sheet = (files("sottovoce.collector.dashboard") / "static" / "style.css").read_text()
    assert "svg .cell { fill: var(--accent); stroke: var(--soft);" in sheet
    assert "svg .tree { stroke: var(--ink);" in sheet
    part = sheet.split("@media (prefers-color-scheme: dark)")[scheme == "dark"]
    colours = {
        name: part.partition(f"--{name}: ")[2][:7] for name in ("paper", "accent", "soft", "ink")
    }
    paper = luminance(colours.pop("paper"))
    for name, colour in colours.items():
        dark, light = sorted((paper, luminance(colour)))
        assert (light + 0.05) / (dark + 0.05) >= 3, name


def luminance(colour):
    """Return the relative luminance of WCAG 2."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    parts = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_the_page_says_which_part_of_a_record_is_used():
    asked = dict(statement.lines(codec.publish(task("calm"))))["Asked"]
    assert asked.startswith(
        "The task asks your device once for a record of 4 parts. Your device uses only some parts"
    )
