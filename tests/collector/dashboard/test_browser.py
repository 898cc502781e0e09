"""A real browser against a real server: keyboard, live parts, the policy of contents, contrast."""

import base64
import json
import shutil
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright

import sottovoce as sv
from cli.collecting import TOML
from collector.dashboard.collecting import Place, message
from collector.dashboard.kinds import FEW, PETS, VALUES

BROWSER = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", event =>
  window.violations.push(event.violatedDirective));
"""
COLOURS = """
element => {
  let under = element;
  const clear = one =>
    getComputedStyle(one).backgroundColor === "rgba(0, 0, 0, 0)" && one.parentElement;
  while (clear(under)) under = under.parentElement;
  const style = getComputedStyle(element);
  const drawn = element instanceof SVGElement ? style.fill : style.color;
  return [drawn, getComputedStyle(under).backgroundColor];
}
"""
FOCUS = "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
TEXTS = [
    "h1",
    ".lead",
    ".crumbs a",
    ".state",
    ".summary",
    "caption",
    "thead th",
    "tbody td.num",
    "tbody th",
    "dt",
    "dd",
]
DRAWN = [
    "label",
    "select",
    ".choose button",
    "figcaption",
    "svg .label",
    "svg .value",
    "svg .tick",
    "footer p",
]
AA, AA_DRAWN = 4.5, 3.0  # for letters, and for what is drawn
PAINT = "one => one.tagName === 'line' ? getComputedStyle(one).stroke : getComputedStyle(one).fill"
OPEN = replace(PETS, name="open")
PEOPLE = sv.Task("people", sv.Table({"city": ["Rome", "Oslo"]}), 6.0, collection=FEW)
COUNT = "SELECT COUNT(*) AS number FROM people"
BY_CITY = "SELECT city, COUNT(*) AS number FROM people GROUP BY city"

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="chromium is not installed: nothing was seen by a browser"
)


@contextmanager
def serving(app):
    """Serve an application on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A served collector with a task that has its answer and one that is open, and a browser."""
    made = Place(tmp_path_factory.mktemp("served"))
    made.publish(PETS)
    made.publish(OPEN)
    made.publish(PEOPLE)
    with serving(made.app) as made.address, sync_playwright() as driver:
        hear(made, PETS, VALUES[PETS])
        hear(made, PEOPLE, [{"city": "Rome"}] * 30 + [{"city": "Oslo"}] * 20)
        made.close(PETS)
        made.close(PEOPLE)
        made.chromium = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield made
        made.chromium.close()
    made.store.close()


@contextmanager
def looking(there, **options):
    """A page whose complaints are collected: there must be none."""
    context = there.chromium.new_context(**options)
    context.add_init_script(LISTEN)
    page, complaints = context.new_page(), []
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert page.evaluate("window.violations") == []
    assert complaints == []
    context.close()


def enter(page, there, path):
    """Log in with the keyboard alone: the field has the focus."""
    page.goto(f"{there.address}{path}")
    expect(page.locator("#token")).to_be_focused()
    page.keyboard.type(there.token())
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(path.rpartition("/")[2])


def hear(there, task, values):
    """Let devices answer over HTTP."""
    reports = [base64.b64encode(message(task, value)).decode() for value in values]
    httpx2.post(
        f"{there.address}/v1/tasks/{task.name}/reports", json={"reports": reports}
    ).raise_for_status()
    there.api.collector.refresh()


def test_a_collection_is_followed_from_the_log_in_to_the_chart(there):
    with looking(there) as page:
        page.clock.install()
        enter(page, there, "/tasks/open")
        expect(page.locator("#summary")).to_have_text("Round 0 is open: 0 users so far.")
        page.locator("details summary").click()
        hear(there, OPEN, VALUES[PETS])
        page.clock.run_for(5100)
        expect(page.locator("#summary")).to_have_text("Round 0 is open: 40 users so far.")
        expect(page.locator("#arrivals td")).to_have_text("40")  # the table stays unfolded
        hear(there, OPEN, ["cat"])
        page.clock.run_for(5100)
        expect(page.locator("#summary")).to_have_text("Round 0 is open: 41 users so far.")
        there.close(OPEN)
        page.clock.run_for(5100)
        expect(page.locator("#answer svg.bars")).to_be_visible()  # the page was loaded again
        expect(page.get_by_role("img", name="open: estimates")).to_be_visible()
        assert page.locator("#poll").get_attribute("hx-get") is None
        page.locator("#fakes").focus()
        page.keyboard.press("ArrowRight")  # by half a percent, and the page follows
        expect(page.locator("#answer .slide output")).to_contain_text("0.5")
        expect(page.locator("#answer thead").first).to_contain_text("of the reports were false")
        assert "fakes=0.005" in page.url
        page.select_option("#method", "norm-sub")
        expect(page.locator("#answer .facts")).to_contain_text("norm-sub")
        assert "method=norm-sub" in page.url
        page.go_back()
        expect(page.locator("#answer .facts")).to_contain_text("none (raw)")
        assert page.evaluate("localStorage.length") == 0  # nothing released stays in the browser


def test_everything_is_reached_by_the_keyboard_and_nothing_is_wider_than_a_phone(there):
    with looking(there, viewport={"width": 360, "height": 740}) as page:
        enter(page, there, "/login?next=/tasks/pets")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
        reached = []
        for _ in range(25):
            page.keyboard.press("Tab")
            focused = page.evaluate(
                "[document.activeElement.tagName, "
                "getComputedStyle(document.activeElement).outlineStyle]"
            )
            reached.append(focused[0])
            assert focused[0] == "BODY" or focused[1] != "none"
            if focused[0] == "SUMMARY":
                break
        assert {"A", "SELECT", "BUTTON", "DIV", "SUMMARY"} <= set(reached)
        page.goto(f"{there.address}/")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("button", name="Log out").press("Enter")
        expect(page.locator("h1")).to_have_text("Log in")


def test_pages_are_complete_without_scripts(there):
    with there.chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{there.address}/tasks/pets")
        page.fill("#token", there.token())
        page.press("#token", "Enter")
        expect(page.locator("#answer svg.bars")).to_be_visible()
        page.select_option("#level", "0.99")
        page.get_by_role("button", name="Show").press("Enter")
        expect(page.locator("#answer .facts")).to_contain_text("99")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_what_is_under_them(there, scheme):
    with looking(there, color_scheme=scheme) as page:
        enter(page, there, "/tasks/pets")
        for text in TEXTS + DRAWN:
            above, under = page.locator(text).first.evaluate(COLOURS)
            assert contrast(above, under) >= AA, (text, above, under)
        bar, line = (
            page.locator(one).first.evaluate(PAINT)
            for one in ("svg .bar:not(.noise)", "svg .whisker")
        )
        background = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
        assert (luminance(background) < 0.2) == (scheme == "dark")
        assert (
            min(contrast(bar, background), contrast(line, bar), contrast(line, background))
            >= AA_DRAWN
        )


def contrast(one, other):
    """Return the ratio of WCAG 2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """Return the relative luminance of an opaque colour."""
    red, green, blue = (
        int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")
    )
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red, green, blue)
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_the_ratio_is_that_of_the_guidelines():
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") < AA  # a grey that is known to fail


def test_operators_and_their_forms_fit_a_phone_without_complaints(there):
    with looking(there, viewport={"width": 390, "height": 800}) as page:
        page.goto(f"{there.address}/operate")
        page.keyboard.type(there.token("operator"))
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Operate")
        page.locator("#text").fill(TOML)
        page.get_by_role("button", name="Check").click()
        expect(page.locator("#publish")).to_contain_text("Nothing is published yet")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def ask(page, query):
    """Send a question by the form, and wait for its answer."""
    page.fill("#sql", query)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer-title")).to_be_visible()


def asked_before(page):
    """The questions in the list of this tab."""
    return page.locator("#questions li").all_inner_texts()


def test_a_question_stays_in_the_address_and_in_the_list_of_its_tab(there):
    with looking(there) as page:
        page.goto(f"{there.address}/tasks/people/sql")
        page.keyboard.type(there.token())
        page.keyboard.press("Enter")
        expect(page.locator("#questions")).to_be_hidden()  # nothing was asked yet
        ask(page, COUNT)
        assert parse_qs(urlsplit(page.url).query)["sql"] == [COUNT]
        assert urlsplit(page.url).fragment == "answer"
        ask(page, BY_CITY)
        assert asked_before(page) == [BY_CITY, COUNT]
        ask(page, COUNT)
        assert asked_before(page) == [COUNT, BY_CITY]  # each once, the latest first
        page.locator("#questions a").last.click()
        expect(page.locator("#sql")).to_have_value(BY_CITY)  # filled in, and not asked
        assert page.locator("#answer").count() == 0
        page.reload()
        assert asked_before(page) == [COUNT, BY_CITY]
        shared = page.url
        other = page.context.new_page()
        other.goto(shared)
        expect(other.locator("#sql")).to_have_value(BY_CITY)
        expect(other.locator("#questions")).to_be_hidden()  # the list is that of one tab
        assert page.evaluate("localStorage.length") == 0


def test_what_somebody_else_left_in_the_storage_becomes_no_link(there):
    """The list survives entries of another site, of another page and of no sense."""
    with looking(there) as page:
        page.goto(f"{there.address}/tasks/people/sql")
        page.keyboard.type(there.token())
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Questions in SQL")
        hostile = ["https://elsewhere.example/tasks/people/sql?sql=x", "/operate?sql=x", 7]
        store = "list => sessionStorage.setItem('sottovoce.questions.people', list)"
        for content in (json.dumps(hostile), "{", "7"):
            page.evaluate(store, content)
            page.reload()
            expect(page.locator("#questions")).to_be_hidden()
        page.evaluate(store, json.dumps(["?sql=%3Cimg%20src%3Dx%3E"]))
        page.reload()
        assert asked_before(page) == ["<img src=x>"]
