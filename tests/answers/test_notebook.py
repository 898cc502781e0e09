"""What notebooks show: one encoder for outcomes, plans, advice and audits, by their contracts."""

import re

import pytest

import sottovoce as sv
from sottovoce.answers.notebook import html_text
from sottovoce.tasks.plan import Plan


def cells(html):
    return re.findall(r"<t[dh](?: [^>]*)?>(.*?)</t[dh]>", html)


def test_texts_are_escaped_and_numbers_have_digits_of_their_error():
    row = {"value": "<script>", "estimate": 1289.65, "low": 1149.9, "high": 1433.2, "error": 70.0}
    shown = cells(html_text({"users": 2250, "rows": [row]}, "<i>"))
    assert shown[:2] == ["users", "2,250"]
    assert shown[-5:-1] == ["&lt;script&gt;", "1,290", "1,150", "1,433"]
    assert "<i>" not in html_text({}, "<i>")


def test_a_long_table_says_how_much_is_left_out():
    rows = [{"value": str(index)} for index in range(30)]
    html = html_text({"rows": rows})
    assert html.count("<tr>") == 26
    assert "5 more rows" in html


@pytest.mark.parametrize(
    ("plan", "values", "words"),
    [
        (sv.Histogram(["a", "b"]), ["a"] * 30, ["a", "b"]),
        (sv.Survey({"x": ["a", "b"], "y": ["c", "d"]}), {"x": ["a"] * 40, "y": ["c"] * 40}, ["d"]),
        (sv.Mean(0, 10), [3.0] * 30, ["mean"]),
        (sv.Distribution(0, 10), [3.0] * 30, ["mean", "50 %"]),
        (sv.HeavyHitters(sv.Strings(2), top=2), ["ja"] * 40, ["value"]),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_every_outcome_shows_its_rows(plan, values, words):
    html = sv.simulate(sv.Task("shown", plan, 4.0), values, seed=1)._repr_html_()
    assert set(words) <= set(cells(html))
    assert "shown" in html
    assert len(html) < 30_000


def test_sql_shows_its_table_and_its_explanation():
    task = sv.Task("people", sv.Table({"age": range(4), "city": ["Rome", "Oslo"]}), 2.0)
    db = sv.simulate(task, {"age": [1, 2] * 40, "city": ["Rome", "Oslo"] * 40}, seed=1)
    assert "Rome" in cells(db.sql("SELECT city, COUNT(*) FROM people GROUP BY city")._repr_html_())
    assert "EXPLAIN" not in db.sql("EXPLAIN SELECT COUNT(*) FROM people")._repr_html_()


def test_plans_advice_and_audits_show_themselves():
    assert "histogram" in cells(sv.Histogram(["a", "b"])._repr_html_())
    assert all(hasattr(kind, "_repr_html_") for kind in Plan.kinds.classes())
    assert "1,000" in cells(sv.advise(users=1000, size=50, epsilon=1.0)._repr_html_())
    mechanism = sv.Task("t", sv.Histogram(["a", "b"]), 1.0).opening.ask.mechanism
    assert "grr" in cells(sv.audit(mechanism, samples=2000, seed=1)._repr_html_())
