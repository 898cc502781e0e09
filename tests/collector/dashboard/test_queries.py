"""Pages for questions in SQL: a form that needs no script, examples that work, the answer drawn,
written, explained.
"""

from itertools import pairwise
from urllib.parse import quote

import pytest

import sottovoce as sv
from collector.dashboard.collecting import ORIGIN, place
from collector.dashboard.reading import read, rows
from collector.test_queries import MESSAGES, OF_OS, PEOPLE, VALUES, shop
from plans.tables.plans import table_plan
from sottovoce.collector.dashboard import queries, statement
from sottovoce.collector.queries import Released
from sottovoce.lab.crowd import messages
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.result import Figure, Result, ResultRow
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from sottovoce.wire.statement import explain
from sottovoce.wire.statement import statement as facts

HOSTILE = sv.Task(
    "hostile",
    sv.Table({"name": ["<b>it's</b>", "b"]}, name="t"),
    4.0,
    collection=Collection(minimum=2, grace=0),
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    with place(tmp_path_factory.mktemp("sql")) as made:
        for task, sent in (
            (shop(), MESSAGES),
            (HOSTILE, messages(HOSTILE, [{"name": "b"}] * 40, rng=SeededRng(1))),
            (shop("open"), []),
        ):
            made.publish(task)
            if sent:
                made.send(task.name, sent)
                made.close(task)
        made.publish(sv.Task("pets", sv.Histogram(["a", "b"]), 1.0, collection=Collection()))
        made.enter()
        yield made


def put(asked, sql, name="shop", status=200, **rest):
    """Send the form of a task and return the page."""
    response = asked.browser.post(f"/tasks/{name}/sql", data={"sql": sql, **rest}, headers=ORIGIN)
    assert response.status_code == status, response.text
    return read(response.text)


def readable(tree):
    """Check what every page is held to: headings in order, labels, captions, regions that keys
    reach.
    """
    levels = [int(one.tag[1]) for one in tree.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [one["id"] for one in tree if one["id"]]
    assert len(ids) == len(set(ids))
    labelled = {one["for"] for one in tree.all("label")}
    assert all(one["id"] in labelled for one in tree.all("input", "select", "textarea"))
    assert all(table.one("caption").text for table in tree.all("table"))
    assert all(
        one["aria-label"] and one["tabindex"] == "0" for one in tree.all("div", class_="scroll")
    )
    assert not [one for one in tree if "style" in one.attributes]
    assert all(form["action"] for form in tree.all("form"))
    return tree


def test_the_page_of_a_task_leads_to_its_questions_and_lists_its_columns(asked):
    page = asked.page("/tasks/shop")
    assert page.one("nav", class_="within").all("a")[-1]["href"] == "/tasks/shop/sql"
    answer = page.one("section", id="answer")
    assert [one.text for one in answer.all("h3")] == ["users.age", "users.state", "txn.amount"]
    people, _, records = answer.all("table")
    assert rows(people)[0][4].endswith("%")
    assert {row[4] for row in rows(records)} == {"–"}, "records of a person are no share of people"
    captions = [one.text for one in answer.all("figcaption")]
    assert captions[0].startswith("Bars: estimated people.")
    assert captions[2].startswith("Bars: estimated records.")
    assert [one["value"] for one in answer.one("select", id="method").all("option")] == [
        "none",
        "base",
        "base-pos",
    ]
    links = asked.page("/tasks/pets").one("nav", class_="within").all("a")
    assert "/tasks/pets/sql" not in [link["href"] for link in links]
    assert asked.page("/tasks/pets/sql", status=404)


def test_every_example_can_be_followed_and_answered(asked):
    page = readable(asked.page("/tasks/shop/sql"))
    links = page.one("ul", class_="examples").all("a")
    assert len(links) == 5
    for link in links:
        form = asked.page(link["href"]).one("form", class_="ask")
        question = form.one("textarea").children[0].strip()
        assert question == link.text
        answer = readable(put(asked, question)).one("section", id="answer")
        assert answer.all("pre") if question.startswith("EXPLAIN") else rows(answer.one("table"))
    assert "JOIN txn USING (uid)" in links[3].text


def test_groups_are_a_table_with_intervals_and_bars_with_error_bars(asked):
    page = readable(
        put(
            asked,
            "SELECT state, COUNT(*) AS c, AVG(age) AS a FROM users GROUP BY state",
            level="0.8",
        )
    )
    answer = page.one("section", id="answer")
    headings = [one.text for one in answer.one("thead").all("th")]
    assert headings == ["state", "c", "Low", "High", "Standing", "a", "Low", "High", "Standing"]
    alone = sv.answer(shop(), MESSAGES).sql("SELECT state, COUNT(*) AS c FROM users GROUP BY state")
    own = {labels[0]: row[0] for labels, row in zip(alone.groups, alone.figures, strict=True)}
    for row in rows(answer.one("table")):
        low, high = own[row[0]].interval(0.8)
        shown = [float(cell.replace(",", "").replace("−", "-")) for cell in row[1:4]]
        assert shown == pytest.approx([own[row[0]].value, low, high], abs=1.0)
    drawing = answer.one("svg", class_="bars")
    assert len(drawing.all("rect", class_="bar")) == 3
    assert len(drawing.all("line", class_="whisker")) == 9
    assert drawing.one("title", id="sql-title").text == "c by state with 80 % intervals"
    plan, statement = answer.all("details")
    assert "reports of a person: 2" in plan.one("pre").text
    assert "FROM factor_0" in statement.one("pre").text
    assert [
        one["value"]
        for one in page.one("select", id="level").all("option")
        if "selected" in one.attributes
    ] == ["0.8"]


def test_what_is_suppressed_is_named_hatched_and_has_no_number(asked):
    answer = put(asked, "SELECT os, COUNT(*) AS c FROM users GROUP BY os").one(
        "section", id="answer"
    )
    assert [row[:2] for row in rows(answer.one("table"))] == [["iOS", str(OF_OS["iOS"])]]
    assert "2 suppressed: Android; other" in answer.text
    assert len(answer.all("rect", class_="gap")) == 2
    assert str(OF_OS["Android"]) not in answer.text


def test_a_question_that_is_refused_stays_in_the_form_with_its_place_marked(asked):
    page = readable(put(asked, "SELECT COUNT(*)\r\nFROM users WHERE shoes = 3", status=400))
    told = page.one("div", id="refused")
    assert told["role"] == "alert"
    assert "There is no such column:" in told.text
    assert told.one("mark").text == "shoes = 3"
    area = page.one("textarea")
    assert (area["aria-invalid"], area["aria-describedby"]) == ("true", "refused")
    assert area.children[0] == "\nSELECT COUNT(*)\nFROM users WHERE shoes = 3"
    assert not page.all("section", id="answer")
    assert "query is empty" in put(asked, "", status=400).one("div", id="refused").text


@pytest.mark.parametrize(
    ("name", "sql", "status", "words"),
    [
        ("open", "SELECT COUNT(*) FROM users", 409, "has not finished collecting"),
        ("shop", "SELECT COUNT(*) FROM users WHERE os = 'other'", 409, "nothing is released"),
    ],
)
def test_what_cannot_be_answered_now_says_why_beside_the_form(asked, name, sql, status, words):
    assert words in put(asked, sql, name, status).one("div", id="refused").text


def test_a_plan_is_shown_before_anybody_has_answered(asked):
    answer = put(asked, "EXPLAIN SELECT COUNT(*) FROM users WHERE age = 1", "open").one(
        "section", id="answer"
    )
    assert answer.one("h2").text == "How it would be answered"
    assert "people: 30" in answer.one("pre").text


def test_an_answer_can_be_taken_away(asked):
    sql = {"sql": "SELECT state, COUNT(*) AS c FROM users GROUP BY state"}
    path = "/tasks/shop/sql"
    made = asked.browser.post(path, data={**sql, "format": "json"}, headers=ORIGIN)
    assert made.headers["content-disposition"] == 'attachment; filename="answer.json"'
    assert (made.json()["users"], len(made.json()["rows"])) == (PEOPLE, 3)
    made = asked.browser.post(path, data={**sql, "format": "csv"}, headers=ORIGIN)
    assert made.text.startswith("state,c,c_low,c_high,c_error,c_unstable\n")
    for wrong in ({**sql, "format": "exe"}, {"sql": f"EXPLAIN {sql['sql']}", "format": "csv"}):
        assert asked.browser.post(path, data=wrong, headers=ORIGIN).status_code == 400


def test_strangers_ask_nothing(asked, tmp_path):
    sql = {"sql": "SELECT COUNT(*) FROM users"}
    assert asked.browser.post("/tasks/shop/sql", data=sql).status_code == 403
    assert (
        asked.browser.post(
            "/tasks/shop/sql", data=sql, headers={"origin": "http://evil"}
        ).status_code
        == 403
    )
    assert (
        asked.browser.post(
            "/tasks/shop/sql", data={"sql": "x" * 140_000}, headers=ORIGIN
        ).status_code
        == 413
    )
    cookie = asked.browser.cookies.pop("session")
    away = asked.browser.post("/tasks/shop/sql", data=sql, headers=ORIGIN)
    assert (away.status_code, away.headers["location"]) == (303, "/login?next=/tasks/shop/sql")
    asked.browser.cookies.set("session", cookie)


def test_hostile_labels_and_questions_stay_text(asked):
    page = put(asked, "SELECT name, COUNT(*) FROM t GROUP BY name", "hostile")
    assert not page.all("b")
    assert "<b>it's</b>" in page.one("section", id="answer").text
    sql = "</textarea><script>alert(1)</script>"
    for page in (asked.page(f"/tasks/shop/sql?sql={quote(sql)}"), put(asked, sql, status=400)):
        assert page.one("textarea").text == sql
    example = asked.page("/tasks/hostile/sql").one("ul", class_="examples").all("a")[0].text
    assert example == "SELECT COUNT(*) FROM t WHERE name = '<b>it''s</b>'"
    assert put(asked, example, "hostile").one("section", id="answer").one("table")


def test_a_table_of_columns_too_large_to_list_points_to_its_questions(asked):
    large = sv.Task(
        "large",
        sv.Table({"pay": range(1000)}, name="t"),
        4.0,
        collection=Collection(minimum=2, grace=0),
    )
    asked.publish(large)
    asked.send("large", messages(large, [{"pay": 3}] * 20, rng=SeededRng(1)))
    asked.close(large)
    page = asked.page("/tasks/large")
    assert "No column has few enough values to list" in page.one("section", id="answer").text
    assert rows(
        put(asked, "SELECT AVG(pay) FROM t", "large").one("section", id="answer").one("table")
    )


def test_examples_are_made_of_what_there_is():
    told = dict(queries.examples(sv.Table({"a": ["x", "y"]}, name="t").domain))
    assert list(told) == ["A count", "A number for every group", "How it would be answered"]
    told = dict(queries.examples(sv.Table({"pay": range(1000)}, name="t").domain))
    assert told["An average"] == "SELECT AVG(pay) FROM t"
    assert "A number for every group" not in told


def test_numbers_that_do_not_exist_are_dashes_and_are_not_drawn():
    unknown, known = Figure(float("nan"), float("inf"), unstable=True), Figure(2.5, 0.04)
    table = (ResultRow(("a",), (unknown,), 60), ResultRow(("b",), (known,), 40))
    result = Result(("g", "m"), ("g",), ("m",), table, 100, 100, 1.0, explanation={"numbers": []})
    made = queries.shown(Released(result, 10))
    assert [cell["text"] for cell in made["rows"][0]] == ["a", "–"]
    assert made["rows"][0][1]["unstable"]
    assert [made["rows"][1][1][key] for key in ("text", "low", "high")] == ["2.50", "2.11", "2.89"]
    assert read(made["drawing"]).one("rect", class_="bar")


WORDS = {
    "in clear": "Your device sends these columns in clear, without any protection: "
    "“users.os”, “users.since”.",
    "a record": "Your device uses only some columns of your record in “users”, and only roughly; "
    "a public random draw picks which.",
    "a list": "Your device uses one of your records in “txn”, or a made-up one, "
    "so that nobody learns how many you have.",
    "the price": "Your device sends 2 reports, and this is the price of all of them together.",
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_a_device_says_what_is_used_what_is_seen_and_what_all_of_it_costs(words):
    assert words in explain(facts(codec.publish(shop())))


def test_a_device_says_nothing_of_what_there_is_not():
    plan = table_plan({"a": range(5), "b": range(3)}, method="mg")
    said = explain(facts(codec.publish(sv.Task("t", plan, 1.0))))
    assert "Your device uses all columns of your record." in said
    assert "sends nothing in clear" in said
    assert not any(words in said for words in ("these columns", "made-up", "together", "draw"))


def test_the_statement_says_the_same_to_analysts():
    said = dict(statement.lines(codec.publish(shop())))
    assert said["Asked"].startswith(
        "The task asks your device once for your entries in “users”, “txn”."
    )
    assert said["Sent in clear"] == WORDS["in clear"]
    assert WORDS["the price"] in said["Cost"]
    assert VALUES[0]["users"]["os"] not in str(said)


def test_a_field_asks_for_bounds_that_allow_for_false_messages(asked):
    page = put(asked, "SELECT state, COUNT(*) AS c FROM users GROUP BY state", fakes="0.01")
    headings = [
        heading.text
        for heading in page.one("section", id="answer").one("table").all("th", scope="col")
    ]
    assert "Low, if up to 1 % of the reports were false" in headings
    assert page.one("input", name="fakes").attributes["value"] == "0.01"
    plain = put(asked, "SELECT COUNT(*) FROM users", fakes="")
    assert "were false" not in plain.one("section", id="answer").one("table").text
    put(asked, "SELECT COUNT(*) FROM users", status=400, fakes="2")


def test_the_schema_has_types_ranges_labels_and_protection(asked):
    schema = asked.page("/tasks/shop/sql").one("table", class_="schema")
    listed = {row[1]: row for row in rows(schema)}
    assert listed["age"][0] == "users"
    assert listed["age"][2] == "number"
    assert " to " in listed["age"][3]
    assert listed["state"][2] == "label"
    assert "," in listed["state"][3]
    assert {row[5] for row in listed.values()} == {"randomised", "sent in clear"}


def test_the_address_of_a_question_fills_the_form_again(asked):
    question = "SELECT COUNT(*) FROM users WHERE state <> 'a&b'"
    page = put(asked, question, level="0.99", fakes="0.01")
    address = page.one("div", id="questions")["data-address"]
    form = asked.page(address).one("form", class_="ask")
    assert form["action"] == "/tasks/shop/sql#answer"
    assert form.one("textarea").children[0].strip() == question
    assert [
        option["value"]
        for option in form.one("select", id="level").all("option")
        if "selected" in option.attributes
    ] == ["0.99"]
    assert form.one("input", id="fakes")["value"] == "0.01"
    again = asked.page(address).one("div", id="questions")
    assert again["data-address"] == "", "a form that nobody has sent is not remembered"


def test_two_attributes_make_a_cross_table(asked):
    page = put(asked, "SELECT state, os, COUNT(*) AS n FROM users GROUP BY state, os")
    cross, whole = page.one("section", id="answer").all("table")
    assert cross.one("caption").text.startswith("n by state (rows) and os (columns)")
    headings = [heading.text for heading in cross.all("th", scope="col")]
    states = {row[0] for row in rows(whole)}
    assert len(headings) == 3
    assert {row[0] for row in rows(cross)} == states
    alone = put(asked, "SELECT state, COUNT(*) FROM users GROUP BY state")
    assert len(alone.one("section", id="answer").all("table")) == 1
