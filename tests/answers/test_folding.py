"""Findings of a search come first; noise is folded into a count, and stays in the data."""

import pytest

import sottovoce as sv
from sottovoce.answers.exported import ExportedAnswer
from sottovoce.answers.folding import NOISE_SHOWN, FoldedRows, fold

TOP = 12


@pytest.fixture(scope="module")
def words():
    """A search with two findings and ten rows of noise, in the order of their scores."""
    values = ["ja"] * 1_500 + ["nein"] * 1_000 + [f"w{index}" for index in range(500)]
    task = sv.Task("word", sv.HeavyHitters(sv.Strings(4), top=TOP), 4.0)
    return sv.simulate(task, values, seed=1)


def row(value, **rest):
    return {"value": value, "significant": False, **rest}


def test_findings_come_first_and_what_is_suppressed_last():
    rows = [
        {"value": "hidden", "suppressed": True},
        *(row(f"noise {number}") for number in range(5)),
        row("found", significant=True),
    ]
    folded = fold(rows, {"candidates": 40})
    assert [each["value"] for each in folded.rows] == [
        *("found", "noise 0", "noise 1", "noise 2", "hidden")
    ]
    assert folded.remark == "within noise: 2 more rows"


def test_rows_of_other_answers_are_left_as_they_are():
    rows = [row(f"{number}") for number in range(9)]
    assert fold(rows, {}) == FoldedRows(rows)
    assert FoldedRows(rows).remark == ""


def test_one_row_is_a_row():
    assert FoldedRows([], 1).remark == "within noise: 1 more row"


def test_a_search_prints_its_findings_and_a_few_rows_of_noise(words):
    found = [each["value"] for each in words.findings()]
    assert {"ja", "nein"} <= set(found)
    noise = len(words.rows()) - len(found)
    assert noise > NOISE_SHOWN
    lines = str(words).splitlines()
    assert sum("(within noise)" in line for line in lines) == NOISE_SHOWN
    remark = f"within noise: {noise - NOISE_SHOWN} more rows"
    assert remark in lines
    assert [line.split()[0] for line in lines[3 : 3 + len(found)]] == found
    assert remark == lines[-len(words.guarantee.lines()) - 1]
    assert remark in str(ExportedAnswer(words.to_dict())).splitlines()


def test_a_notebook_counts_what_it_folds_and_files_have_all(words):
    shown = words.to_show()
    assert len(shown["rows"]) + shown["more_rows_within_noise"] == TOP
    assert "more rows within noise" in words._repr_html_()
    assert len(words.to_dict()["rows"]) == len(words.rows()) == TOP
    assert len(words.to_csv().splitlines()) == 1 + TOP


def test_every_search_says_how_many_candidates_it_counted():
    """By this an answer is known as that of a search, wherever it was computed."""
    baskets = [["ja", "nein"]] * 400
    words = ["ja", "nein", "doch", "nie", "sonst", "auch"]
    searches = (
        sv.TopItems(words, top=2),
        sv.Itemsets(words, top=5),
        sv.AdaptiveTopItems(words, 400, 2, rounds=2, holdout=20),
    )
    for plan in searches:
        answer = sv.simulate(sv.Task("items", plan, 4.0), baskets, seed=1)
        assert answer.about["candidates"] >= 2
    pets = sv.simulate(sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0), ["cat"] * 50, seed=1)
    assert "candidates" not in pets.about
