"""What pages show: everything that the service releases, nothing that it withholds, and all of it
without scripts.
"""

import csv
import io
import logging
from itertools import pairwise
from urllib.parse import quote

import pytest

from collector.dashboard.kinds import HOSTILE, PETS, VALUES
from collector.dashboard.reading import read, rows
from collector.people import counting, text
from sottovoce.collector.dashboard import assets, formatting
from sottovoce.collector.published import OPEN_TO_ANYBODY
from sottovoce.collector.release import AnswerOptions, released
from sottovoce.errors import UnavailableError

PAGES = [
    "/",
    "/login?",
    *(f"/tasks/{quote(name, safe='')}" for name in ("empty", *(task.name for task in VALUES))),
]


def answer(page):
    return page.one("section", id="answer")


def test_the_list_shows_every_task_with_state_users_and_price(seen):
    page = seen.page("/")
    items = page.one("ul", class_="tasks").all("li")
    assert [item.one("a").text for item in items][::-1] == [
        "empty",
        *(task.name for task in VALUES),
    ]
    pets = next(item for item in items if item.one("a").text == "pets")
    assert pets.one("a")["href"] == "/tasks/pets"
    assert "Which animal lives with you?" in pets.text
    assert pets.one("span", class_="state").text == "finished"
    assert [dd.text for dd in pets.all("dd")][:2] == ["40", "10"]
    empty = items[-1]
    assert empty.one("svg").one("title").text == "0 of 100 users (quota)"


def test_a_collector_without_tasks_says_how_to_make_one(fresh):
    fresh.enter()
    assert "There are no tasks yet." in fresh.page("/").text


def test_an_empty_task_says_what_is_missing(seen):
    page = seen.page("/tasks/empty")
    assert "There is no answer yet." in answer(page).text
    assert "At least 50 more users must answer" in answer(page).text
    assert (
        "Closes at 100 users or on 21 September 2026, 16:13 UTC, in 2 hours."
        in page.one("div", id="rounds").text
    )
    assert not answer(page).all("svg", "form", "table")
    assert "No reports in the last 6 hours." in page.text


def test_a_task_that_is_open_to_anybody_says_so(fresh):
    fresh.enter()
    for name, enrolment in (("open", False), ("enrolled", True)):
        fresh.api.collector.create(text(counting(name, enrolment=enrolment)), toml=False)
        concerns = fresh.page(f"/tasks/{name}").all("p", class_="concern")
        assert len(concerns) == (0 if enrolment else 1)
        for said in concerns:
            words = formatting.sentence(OPEN_TO_ANYBODY).split("`")
            assert [code.text for code in said.all("code")] == words[1::2]
            assert "`" not in said.text


def content(seen, name):
    """What is released of a task."""
    return released(seen.api.collector, seen.api.collector.find(name), AnswerOptions()).content


def test_a_histogram_has_a_chart_a_table_and_its_facts(seen):
    shown = answer(seen.page("/tasks/pets"))
    chart = shown.one("svg", class_="bars")
    assert "estimates with 95 % intervals" in chart.one("title", id="chart-0-title").text.replace(
        "\u202f", " "
    )
    table = rows(shown.one("table"))
    assert [row[0] for row in table][:2] == ["cat", "dog"]
    cat = content(seen, "pets")["rows"][0]
    assert table[0][1:4] == [f"{cat[key]:,.0f}" for key in ("estimate", "low", "high")]
    assert table[0][5] == "significant"
    facts = {
        one.one("dt").text: one.one("dd").text for one in shown.one("dl", class_="facts").all("div")
    }
    assert facts["Users"] == "40"
    assert facts["Epsilon"] == "10"
    assert facts["Guarantee"] == "local epsilon 10, against everybody, the collector too"
    assert facts["Steps"] == "none (raw)"
    assert set(facts) >= {"Mechanism", "Level"}


def test_suppressed_values_are_marked_and_their_numbers_are_nowhere(seen):
    hidden = seen.api.collector.answer("pets").rows()[2]
    assert hidden["value"] == "newt"
    assert hidden["estimate"] < PETS.collection.crowd  # three people at this epsilon
    shown = answer(seen.page("/tasks/pets"))
    line = next(row for row in rows(shown.one("table")) if row[0] == "newt")
    assert line == ["newt", "not released", "suppressed"]
    chart = shown.one("svg", class_="bars")
    assert [text.text for text in chart.all("text")].count("suppressed") == 2  # newt and eel
    assert len(chart.all("rect", class_="gap")) == 2
    assert not [title for title in chart.all("title") if "newt" in title.text]
    for kind in ("json", "csv"):
        body = seen.browser.get(f"/tasks/pets/answer.{kind}").text
        assert "newt" in body
        assert not [
            key
            for key in ("estimate", "low", "high", "share", "error")
            if repr(hidden[key]) in body
        ]


def test_downloads_are_the_answers_that_programs_get(seen):
    found = seen.browser.get("/tasks/pets/answer.json?method=norm-sub&level=0.9")
    assert "attachment" in found.headers["content-disposition"]
    assert found.json()["level"] == 0.9
    assert any("norm-sub" in step for step in found.json()["steps"])
    lines = list(csv.DictReader(io.StringIO(seen.browser.get("/tasks/pets/answer.csv").text)))
    assert [line["value"] for line in lines] == ["cat", "dog", "newt", "eel"]
    assert lines[2]["suppressed"] == "True"
    assert lines[2]["estimate"] == ""


def test_method_and_level_are_chosen_by_a_plain_form(seen):
    form = answer(seen.page("/tasks/pets")).one("form")
    assert (form["method"], form["action"]) == ("get", "/tasks/pets")
    shown = answer(seen.page("/tasks/pets?method=norm-sub&level=0.99"))
    assert [one["value"] for one in shown.all("option") if "selected" in one.attributes] == [
        "norm-sub",
        "0.99",
    ]
    facts = shown.one("dl", class_="facts").text.replace("\u202f", " ")
    assert "norm-sub" in facts
    assert "99 %" in facts
    links = [one["href"] for one in shown.all("a") if "answer." in one["href"]]
    assert all("method=norm-sub&level=0.99" in link for link in links)


def test_a_slider_chooses_how_many_false_reports_are_allowed_for(seen):
    """It is a field of the plain form, says its value in words, and keeps what was chosen."""
    slider = answer(seen.page("/tasks/pets")).one("input", name="fakes")
    assert (slider["type"], slider["min"], slider["max"]) == ("range", "0", "0.2")
    assert slider["value"] == "0"
    shown = answer(seen.page("/tasks/pets?fakes=0.05"))
    slider = shown.one("input", name="fakes")
    assert (slider["value"], slider["step"]) == ("0.05", "0.005")
    assert slider["aria-valuetext"].replace("\u202f", " ") == "5 %"
    assert shown.one("output").text.replace("\u202f", " ") == "5 %"
    assert "if up to 5 % of the reports were false" in shown.one("thead").text
    beyond = answer(seen.page("/tasks/pets?fakes=0.333")).one("input", name="fakes")
    assert (beyond["max"], beyond["step"], beyond["value"]) == ("0.333", "any", "0.333")


@pytest.mark.parametrize("part", ["", "/answer.json", "/answer.csv"])
@pytest.mark.parametrize(
    "choice",
    [
        "pets?method=magic",
        "pets?level=2",
        "pets?level=nan",
        "pets?level=x",
        "shape?method=norm-sub",
        "mean?method=norm",
    ],
)
def test_an_impossible_choice_is_a_page_that_says_so(seen, choice, part):
    name, _, query = choice.partition("?")
    assert (
        seen.page(f"/tasks/{name}{part}?{query}", status=400).one("h1").text
        == "A setting is not allowed"
    )


def test_a_level_off_the_list_is_kept_in_the_form(seen):
    shown = answer(seen.page("/tasks/pets?level=0.6827"))
    assert [one["value"] for one in shown.all("option") if "selected" in one.attributes] == [
        "none",
        "0.6827",
    ]


def test_long_answers_show_the_largest_and_then_all(seen):
    shown = answer(seen.page("/tasks/long%20list"))
    assert len(rows(shown.one("table"))) == 25
    assert "The 25 largest of 40 values" in shown.one("caption").text
    link = next(one["href"] for one in shown.all("a") if one.text == "Show all")
    everything = answer(seen.page(link))
    assert len(rows(everything.one("table"))) == 40
    assert "Show all" not in everything.text


def test_a_survey_has_a_section_for_every_question_and_hides_the_small_one(seen):
    shown = answer(seen.page("/tasks/survey"))
    assert [one.text for one in shown.all("h3")] == ["place", "days"]
    assert "Suppressed: fewer than 10 users answered this question" in shown.text
    assert len(shown.all("svg", class_="bars")) == len(shown.all("table")) == 1
    lines = list(csv.DictReader(io.StringIO(seen.browser.get("/tasks/survey/answer.csv").text)))
    assert [(line["question"], line["estimate"] == "") for line in lines][-1] == ("days", True)


def test_a_mean_is_a_table_with_its_interval(seen):
    shown = answer(seen.page("/tasks/mean"))
    assert [one["id"] for one in shown.all("select")] == ["level"]
    figure = content(seen, "mean")["rows"][0]
    (row,) = rows(shown.one("table"))
    assert row[0] == "mean"
    assert float(row[1].replace(",", "").replace("−", "-")) == pytest.approx(
        figure["estimate"], abs=figure["error"]
    )
    assert len(row) == 5


def test_a_figure_below_zero_is_a_figure(seen):
    (row,) = rows(answer(seen.page("/tasks/below%20zero")).one("table"))
    assert row[1].startswith("−")
    assert row[2].startswith("−")


def test_a_distribution_is_a_line_with_a_band_and_its_figures(seen):
    shown = answer(seen.page("/tasks/shape"))
    assert len(shown.one("svg", class_="band").all("polygon", "polyline")) == 2
    figures, counts = shown.all("table")
    assert [row[0] for row in rows(figures)] == [
        "mean",
        "variance",
        "5 %",
        "25 %",
        "50 %",
        "75 %",
        "95 %",
    ]
    assert len(rows(counts)) == 25


def test_many_neighbouring_numbers_are_drawn_as_a_line(seen):
    shown = answer(seen.page("/tasks/ages"))
    assert len(shown.all("svg", class_="band")) == 1
    assert [row[0] for row in rows(answer(seen.page("/tasks/ages?all=1")).one("table"))][:2] == [
        "18",
        "19",
    ]


def test_too_few_users_and_nothing_is_released(seen):
    page = seen.page("/tasks/small")
    assert page.one("p", class_="marks").one("span", class_="state").text == "failed"
    assert (
        "Too few people answered. Fewer than 10 users answered round 0: nothing is released."
        in answer(page).text
    )
    assert not answer(page).all("table", "svg")
    assert seen.browser.get("/tasks/small/answer.json").status_code == 409


def test_a_failed_task_says_why(seen):
    page = seen.page("/tasks/broken")
    assert "This task failed and has no answer." in answer(page).text
    assert "no reports yet" in answer(page).text


def test_epochs_are_shown_while_the_task_goes_on(seen):
    page = seen.page("/tasks/epochs")
    assert "The task is still collecting." in answer(page).text
    assert [one.text for one in answer(page).all("h3")] == ["epoch 1"]
    assert [row[0] for row in rows(page.one("div", id="rounds").one("table"))] == ["1", "0"]
    privacy = page.one("dl", class_="statement").text
    assert "You pay once, for 2 different values: epsilon 4 for each" in privacy


def test_a_rehearsal_says_that_its_numbers_mean_nothing(seen):
    assert "This is a rehearsal" in seen.page("/tasks/rehearsal").text
    assert "rehearsal" in seen.page("/").text


def test_the_statement_says_what_is_asked_revealed_and_promised(seen):
    said = {
        one.one("dt").text: one.one("dd").text
        for one in seen.page("/tasks/empty").one("dl", class_="statement").all("div")
    }
    assert said["Sent in clear"] == "Your device sends nothing in clear."
    assert said["Cost"].startswith("Answering costs epsilon 1 ")
    assert "factor of at most 2.72." in said["Cost"]
    assert said["Asked"] == "The task asks your device once for one of 2 possible answers."
    assert "generalised randomised response" in said["Randomised"]
    assert "nothing about fewer than 50 people" in said["Promised"]
    assert "90 days" in said["Promised"]
    assert "enrolment token" in said["Promised"]
    assert said["Digest"] == seen.api.collector.find("empty").digest
    pets = seen.page("/tasks/pets").one("dl", class_="statement").text
    assert "no value that it estimates for fewer than 8 people" in pets


def test_rounds_show_their_sealed_log_and_refusals_their_reasons(seen):
    page = seen.page("/tasks/pets")
    (line,) = rows(page.one("div", id="rounds").one("table"))
    record = seen.api.collector.find("pets").last
    assert line[:3] == ["0", "sealed", "40"]
    assert "40 reports sealed" in line[5]
    assert record.checksum in line[5]
    (refused,) = rows(page.one("div", id="refusals").one("table"))
    assert refused[0] == "malformed not an envelope of the version that this task's messages have"
    assert refused[1] == "2"


def test_arrivals_are_a_drawing_and_a_table(seen):
    page = seen.page("/tasks/pets")
    drawing = page.one("div", id="sparkline").one("svg")
    assert drawing.one("desc").text == "40 in the last 6 hours, at most 40 in 5 minutes."
    assert len(drawing.all("rect")) == 1
    assert rows(page.one("div", id="arrivals").one("table")) == [["14:10", "40"]]


def test_an_erased_round_says_so(fresh):
    task = fresh.publish(PETS)
    fresh.hear(task, VALUES[PETS])
    fresh.close(task)
    fresh.now += 91 * 86_400
    fresh.api.collector.advance()
    fresh.enter()
    page = fresh.page("/tasks/pets")
    assert "reports erased, sums kept" in page.one("div", id="rounds").text
    assert len(answer(page).all("svg")) == 1


def test_the_live_part_changes_with_the_reports_and_reloads_with_the_state(fresh):
    task = fresh.publish(HOSTILE)
    fresh.enter()
    path = f"/tasks/{quote(task.name, safe='')}"
    address = fresh.page(path).one("div", id="poll")["hx-get"]
    assert fresh.browser.get(address).status_code == 204  # nothing new
    answers = VALUES[HOSTILE]
    fresh.hear(task, answers[:4])
    part = fresh.browser.get(address)
    assert part.status_code == 200
    assert "Round 0 is open: 4 of 30 users so far." in read(part.text).text
    targets = {one["hx-swap-oob"] for one in read(part.text).all("div") if one["hx-swap-oob"]}
    ids = {f"innerHTML:#{one['id']}" for one in fresh.page(path) if one["id"]}
    assert targets - {"true"} <= ids
    fresh.hear(task, answers[4:])
    fresh.close(task)
    assert fresh.browser.get(address).headers["hx-refresh"] == "true"
    finished = fresh.page(path)
    assert finished.one("div", id="poll").attributes == {"id": "poll"}  # nothing left to wait for


@pytest.mark.parametrize("everything", ["", "?all=1"])
def test_hostile_names_and_labels_stay_text(fresh, everything):
    task = fresh.publish(HOSTILE)
    fresh.hear(task, VALUES[HOSTILE])
    fresh.close(task)
    fresh.enter()
    listed = fresh.page("/")
    path = listed.one("ul").one("a")["href"]
    page = fresh.page(path + everything)
    assert page.one("h1").text == task.name
    assert page.one("p", class_="lead").text == task.description
    for tree in (listed, page):
        assert [one["src"].split("?")[0] for one in tree.all("script")] == ["/static/htmx.min.js"]
        assert not tree.all("img")
        assert not [name for one in tree for name in one.attributes if name.startswith("on")]
    assert {row[0] for row in rows(answer(page).one("table"))} == set(VALUES[HOSTILE])
    assert {one.text for one in answer(page).all("text", class_="label")} == {
        label if len(label) <= 30 else f"{label[:29]}…" for label in VALUES[HOSTILE]
    }
    download = fresh.browser.get(
        next(one["href"] for one in page.all("a") if ".json" in one["href"])
    )
    assert download.json()["name"] == task.name
    assert "<" not in download.headers["content-disposition"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_strict_about_where_things_come_from(seen, path):
    response = seen.browser.get(path)
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "same-origin"
    assert response.headers["x-content-type-options"] == "nosniff"
    tree = read(response.text)
    assert not tree.all("style")
    assert not [one for one in tree if "style" in one.attributes]
    assert not [
        one for one in tree.all("script") if one.children or not one["src"].startswith("/static/")
    ]


@pytest.mark.parametrize("path", PAGES)
def test_pages_can_be_read_without_eyes_and_without_a_mouse(seen, path):
    seen_by = seen.browser
    if path.startswith("/login"):
        cookie = seen_by.cookies.pop("session")
        tree = read(seen_by.get("/login").text)
        seen_by.cookies.set("session", cookie)
    else:
        tree = seen.page(path)
    assert tree.one("html")["lang"] == "en"
    levels = [int(one.tag[1]) for one in tree.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tree.all("a")[0]["href"] == "#main"
    assert (
        len(tree.all("main"))
        == len(tree.all("header", class_="top"))
        == len(tree.all("footer"))
        == 1
    )
    ids = [one["id"] for one in tree if one["id"]]
    assert len(ids) == len(set(ids))
    for drawing in tree.all("svg", role="img"):
        assert drawing.one("title", id=drawing["aria-labelledby"].split()[0]).text
        assert set(drawing["aria-labelledby"].split()) <= set(ids)
    labelled = {one["for"] for one in tree.all("label")}
    for control in tree.all("input", "select", "textarea"):
        assert control["type"] == "hidden" or control["id"] in labelled
    assert all(button.text for button in tree.all("button"))
    for table in tree.all("table"):
        assert table.one("caption").text
        assert all(cell["scope"] for cell in table.all("th"))
    assert all(
        region["aria-label"] and region["tabindex"] == "0"
        for region in tree.all("div", class_="scroll")
    )
    for link in tree.all("a"):
        assert not link["href"].startswith("#") or link["href"][1:] in ids


def test_nothing_on_a_page_waits_for_a_script(seen):
    """Whatever scripts would fetch is there already, and every form works by itself."""
    page = seen.page("/tasks/pets")
    for part in ("summary", "rounds", "sparkline", "arrivals", "refusals"):
        assert page.one("div", "span", id=part).text
    assert all(form["action"] for form in page.all("form"))


def test_a_task_that_waits_says_why(seen):
    collector = seen.api.collector
    digest = collector.find("pets").digest
    for trouble, words in (
        ("the disk is full", "Waiting, and tried again: the disk is full."),
        ("", "Finished"),
    ):
        collector.store.note_trouble(digest, trouble)
        collector.refresh()
        assert seen.page("/tasks/pets").one("div", "span", id="summary").text.startswith(words)


@pytest.mark.parametrize("path", ["/nothing", "/tasks/nothing", "/static/nothing.css", "/tasks/"])
def test_browsers_get_pages_about_what_is_not_there(seen, path):
    assert seen.page(path, status=404).one("h1").text == "There is no such task or page"


def test_programs_get_documents_about_what_is_not_there(seen):
    for path, status in (("/nothing", 404), ("/v1/nothing", 404)):
        response = seen.browser.get(path, headers={"accept": "application/json"})
        assert (response.status_code, response.headers["content-type"]) == (
            status,
            "application/problem+json",
        )
    assert seen.browser.get("/v1/nothing").headers["content-type"] == "application/problem+json"
    assert seen.browser.get("/v1/tasks/pets/close").status_code == 405


@pytest.mark.parametrize(
    ("error", "status"), [(UnavailableError("the disk is full"), 503), (ValueError("x"), 500)]
)
def test_what_breaks_is_a_page_too(seen, monkeypatch, caplog, error, status):
    def broken(*_):
        raise error

    monkeypatch.setattr(seen.store, "token", broken)
    with caplog.at_level(logging.CRITICAL):
        page = seen.page("/", status=status)
    assert page.one("h1").text
    assert "ValueError" not in page.text


def test_files_are_kept_for_ever_under_an_address_that_changes_with_them(seen):
    made = assets.Assets()
    for name, kind in (
        ("style.css", "text/css"),
        ("htmx.min.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    ):
        response = seen.browser.get(made.address(name))
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert "immutable" in response.headers["cache-control"]
    assert seen.browser.get("/static/htmx.LICENSE.txt").status_code == 404


def test_logs_and_counters_know_pages_by_name_and_not_by_address(seen):
    seen.page("/tasks/pets")
    text = seen.browser.get("/metrics").text
    assert 'route="task"' in text
    assert "/tasks/pets" not in text
