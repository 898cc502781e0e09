"""A released answer as a page shows it: which rows, in which order, and what is withheld."""

from dataclasses import replace

import pytest
from starlette.datastructures import QueryParams

import sottovoce as sv
from collector.people import counting, published
from sottovoce.collector.dashboard.formatting import THIN
from sottovoce.collector.dashboard.results import MOST_ROWS, Shown, missing, sections
from sottovoce.collector.store.base import State
from sottovoce.errors import ParameterError, SottovoceError

PETS = sv.Histogram(["cat", "dog"])


def row(value, estimate=10.0, suppressed=False, significant=True):
    if suppressed:
        return {"value": value, "suppressed": True}
    numbers = {"estimate": estimate, "low": estimate - 2, "high": estimate + 2, "error": 1.0}
    facts = {"share": estimate / 100, "suppressed": False, "significant": significant}
    return {"value": value, **numbers, **facts}


def released(rows):
    about = {"name": "pets", "users": 100, "population": 100, "epsilon": 1.0, "mechanism": "grr"}
    rest = {"level": 0.95, "steps": [], "suppressed": False, "minimum": 5, "rows": rows}
    return {**about, **rest}


def shown(rows, plan=PETS, query=""):
    (part,) = sections(released(rows), plan, Shown.of(QueryParams(query), plan))["parts"]
    return part


def test_the_address_says_method_and_level_and_is_checked():
    wanted = Shown.of(QueryParams("method=norm-sub&level=0.9&all=1"), PETS)
    assert (wanted.query, wanted.everything) == ("method=norm-sub&level=0.9", True)
    for wrong in ("method=magic", "level=2", "level=high"):
        with pytest.raises(SottovoceError):
            Shown.of(QueryParams(wrong), PETS)


def test_a_form_offers_the_methods_of_the_plan_and_marks_what_is_shown():
    choices = Shown.of(QueryParams("method=norm-sub&level=0.97"), PETS).choices(PETS)
    assert [name for name, _, _ in choices["methods"]] == list(PETS.methods)
    assert [name for name, _, chosen in choices["methods"] if chosen] == ["norm-sub"]
    assert [level for level, _, chosen in choices["levels"] if chosen] == ["0.97"]


def test_the_largest_rows_come_first_and_withheld_ones_last():
    part = shown([row("a", 1.0), row("b", suppressed=True), row("c", 9.0, significant=False)])
    assert [line["value"] for line in part["rows"]] == ["c", "a", "b"]
    assert [line["standing"] for line in part["rows"]] == [
        "within noise",
        "significant",
        "suppressed",
    ]
    assert (part["hidden"], part["noise"]) == (1, 1)
    assert part["rows"][1]["share"] == f"1.0{THIN}%"


def test_numbers_keep_their_order():
    part = shown([row("1", 1.0), row("2", 9.0)], sv.Histogram(range(1, 3)))
    assert [line["value"] for line in part["rows"]] == ["1", "2"]


def test_a_long_answer_is_cut_until_everything_is_wanted():
    rows = [row(f"value {number}", float(number)) for number in range(MOST_ROWS + 5)]
    assert (len(shown(rows)["rows"]), shown(rows)["more"]) == (MOST_ROWS, 5)
    assert shown(rows, query="all=1")["more"] == 0


def test_findings_of_a_search_come_first_and_most_noise_is_folded():
    noise = [row(f"noise {number}", 20.0, significant=False) for number in range(8)]
    part = searched([*noise, row("found", 9.0)])
    assert [line["value"] for line in part["rows"]] == ["found", "noise 0", "noise 1", "noise 2"]
    assert part["folded"] == "within noise: 5 more rows"
    assert (part["all"], part["more"]) == ("9", 5)
    everything = searched([*noise, row("found", 9.0)], query="all=1")
    assert (len(everything["rows"]), everything["folded"]) == (9, "")


def searched(rows, query=""):
    content = {**released(rows), "candidates": 40}
    (part,) = sections(content, PETS, Shown.of(QueryParams(query), PETS))["parts"]
    return part


def test_of_a_part_that_is_withheld_nothing_but_the_minimum_is_shown():
    hidden = {**released([]), "suppressed": True, "minimum": 5000}
    (part,) = sections(hidden, PETS, Shown.of(QueryParams(""), PETS))["parts"]
    assert part == {"name": "", "suppressed": True, "minimum": "5,000", "more": 0}


def test_a_task_without_an_answer_says_what_it_waits_for():
    task = counting(minimum=50)
    assert "No reports have come in yet. Round 0 is open" in missing(published(task))
    assert "At least 50 more users must answer" in missing(published(task))
    made = published(task)
    made = made.after(made.record, [replace(made.last, users=60)])
    assert "60 users have answered." in missing(made)
    assert "At least" not in missing(made)
    assert "Round 0 is being sealed." in missing(published(task, state=State.SEALING))


@pytest.mark.parametrize(("gaps", "is_line"), [(0, True), (4, True), (30, False)])
def test_many_numbers_are_a_line_unless_many_are_withheld(gaps, is_line):
    """A line with many gaps would be a bar code."""
    plan = sv.Histogram(range(60))
    rows = [row(str(number), suppressed=number < gaps) for number in range(60)]
    part = shown(rows, plan)
    assert part["banded"] == is_line
    assert ('class="band' in part["drawing"]) == is_line


def test_a_reader_chooses_bins_for_a_long_range_of_numbers():
    plan = sv.Histogram(range(60))
    rows = [row(str(number)) for number in range(60)]
    offered = sections(released(rows), plan, Shown.of(QueryParams(""), plan))["bins"]
    assert [value for value, _, _ in offered] == ["", "10", "25", "50"]
    assert [value for value, _, chosen in offered if chosen] == [""]
    wanted = Shown.of(QueryParams("bins=7"), plan)
    assert (wanted.options.bins, wanted.query.endswith("&bins=7")) == (7, True)
    bins = [row("0–9", 2.0), row("10–19", 9.0), row("20–59", suppressed=True)]
    answer = sections(released(bins), plan, wanted)
    assert [value for value, _, chosen in answer["bins"] if chosen] == ["7"]
    (part,) = answer["parts"]
    assert [line["value"] for line in part["rows"]] == ["0–9", "10–19", "20–59"]
    assert (part["binned"], part["banded"]) == (True, False)
    assert 'class="band' not in part["drawing"]


def test_labels_and_short_ranges_have_no_bins():
    for plan in (PETS, sv.Histogram(range(5))):
        rows = [row(label) for label in plan.domain.labels]
        assert sections(released(rows), plan, Shown.of(QueryParams(""), plan))["bins"] == []


@pytest.mark.parametrize("bins", ["1", "1001", "-5", "2.5", "many", "²", "9" * 30])
def test_bins_are_a_small_number(bins):
    with pytest.raises(ParameterError, match="`bins` must be a whole number from 2"):
        Shown.of(QueryParams({"bins": bins}), PETS)
