"""Pages of operators: who may see them, and what their forms do."""

import pytest

import sottovoce as sv
from cli.collecting import TOML
from collector.dashboard.collecting import ORIGIN
from collector.dashboard.reading import rows
from sottovoce.collector import access
from sottovoce.tasks.collection import Collection

OPEN = sv.Task("open", sv.Histogram(["a", "b"]), 2.0, collection=Collection(minimum=2, grace=0))
FORMS = {
    "/operate/task": {"text": TOML, "action": "publish"},
    "/operate/tokens": {"scope": "analyst"},
    "/operate/tokens/revoke": {"id": "000000000000"},
    "/tasks/open/close": {"now": "yes"},
}


@pytest.fixture
def operated(fresh):
    """A collector with an open task, and an operator who has logged in."""
    fresh.publish(OPEN)
    fresh.enter(fresh.token(access.OPERATOR, label="me"))
    return fresh


def put(place, path, status=200, **fields):
    response = place.browser.post(path, data=fields, headers=ORIGIN)
    assert response.status_code == status, response.text
    return response


def test_analysts_and_strangers_get_nothing_of_it(fresh):
    fresh.publish(OPEN)
    for path, fields in FORMS.items():
        put(fresh, path, status=303, **fields)  # to the log-in
    fresh.enter(fresh.token(access.ANALYST))
    for path, fields in FORMS.items():
        put(fresh, path, status=403, **fields)
    fresh.page("/operate", status=403)
    assert "/operate" not in [link["href"] for link in fresh.page("/").all("a")]
    assert not fresh.page("/tasks/open").all("form", action="/tasks/open/close")
    assert [task.record.name for task in fresh.api.collector.tasks()] == ["open"]
    assert len(fresh.store.tokens()) == 1


def test_forms_of_other_sites_are_refused(operated):
    for path, fields in FORMS.items():
        foreign = {"origin": "https://elsewhere.example"}
        assert operated.browser.post(path, data=fields, headers=foreign).status_code == 403
    assert len(operated.store.tokens()) == 1


def test_a_task_is_checked_and_then_published(operated):
    assert "/operate" in [link["href"] for link in operated.page("/").all("a")]
    operated.page("/operate")
    checked = put(operated, "/operate/task", text=TOML, action="check").text
    assert "Answering costs epsilon 2" in checked
    assert "Nothing is published yet." in checked
    assert len(operated.api.collector.tasks()) == 1
    published = put(operated, "/operate/task", status=303, text=TOML, action="publish")
    assert published.headers["location"] == "/tasks/browser"
    assert operated.page("/tasks/browser").one("h1").text == "browser"


def test_a_file_that_is_no_task_stays_in_the_form(operated):
    wrong = TOML.replace("histogram", "histgram") + "# <b>\n"
    page = put(operated, "/operate/task", status=400, text=wrong, action="publish").text
    assert "did you mean" in page.lower()
    assert "# &lt;b&gt;" in page


def test_a_round_is_closed_only_by_force_if_the_task_then_fails(operated):
    form = operated.page("/tasks/open").one("form", action="/tasks/open/close")
    assert "2 more people must answer" in form.text
    put(operated, "/tasks/open/close", status=409, now="yes")
    operated.hear(OPEN, ["a", "b", "a"])
    enough = operated.page("/tasks/open").one("form", action="/tasks/open/close")
    assert "must answer" not in enough.text
    put(operated, "/tasks/open/close", status=303, now="yes")
    assert not operated.page("/tasks/open").all("form", action="/tasks/open/close")


def test_a_token_is_shown_once_works_and_can_be_revoked(operated):
    page = put(operated, "/operate/tokens", scope="analyst", label="<Ada>", days="7").text
    token = page.partition('<code id="token">')[2].partition("</code>")[0]
    record = access.admit(operated.store, token, access.ANALYST, int(operated.now))
    assert (record.label, record.expires - record.created) == ("<Ada>", 7 * 86_400)
    assert token not in operated.browser.get("/operate").text
    listed = {row[0]: row for row in rows(operated.page("/operate").one("table"))}
    assert listed[access.identity(record)][2] == "<Ada>"
    assert [row[5] for row in listed.values() if row[2] == "me"] == ["this session"]
    put(operated, "/operate/tokens/revoke", status=303, id=access.identity(record))
    assert len(operated.store.tokens()) == 1


@pytest.mark.parametrize("wrong", [{"scope": "session"}, {"days": "0"}, {"days": "x"}])
def test_a_token_that_cannot_be_is_refused(operated, wrong):
    put(operated, "/operate/tokens", status=400, **({"scope": "analyst"} | wrong))
    put(operated, "/operate/tokens/revoke", status=400, id="nothing")
