"""Every page in a real browser under axe-core, which knows the rules of WCAG 2.2: no violation.

Pages are made by a collector in this process; the browser draws them, in light and in dark, on a
wide screen and on a phone.  ``make papers`` looks at every page in all four ways.  The daily test
looks at the pages that are made quickly, at each in one of the four.
"""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from cli.collecting import TOML
from collector import poisoning
from collector.dashboard.collecting import ORIGIN, place
from collector.dashboard.kinds import (
    AGES,
    EMPTY,
    MEAN,
    MEMBERS,
    PETS,
    SHAPE,
    SMALL,
    SURVEY,
    VALUES,
)
from collector.dashboard.test_browser import ARGUMENTS, BROWSER
from collector.dashboard.test_marginals import RECORDS
from collector.dashboard.test_marginals import task as joint_table
from collector.test_queries import MESSAGES, shop
from sottovoce.collector import access
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng

ROOT = Path(__file__).parents[3]
AXE = ROOT / "clients" / "js" / "node_modules" / "axe-core" / "axe.min.js"
SITE = "http://dashboard.test"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LOOKS = ((WIDE, "light"), (PHONE, "dark"), (WIDE, "dark"), (PHONE, "light"))
QUERY = "SELECT state, COUNT(*) AS people FROM users GROUP BY state"
CROSS = "SELECT state, age, COUNT(*) AS people FROM users GROUP BY state, age"
JOURNEY = ROOT / "docs" / "journeys" / "web-developer.md"
BUILT = ("index.html", "sql/index.html", "guides/analyst/index.html")  # of the site
RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.map(
    rule => `${rule.id}: ${rule.help}: ${rule.nodes.map(node => node.html).join(" | ")}`);
}"""

pytestmark = [
    pytest.mark.skipif(
        BROWSER is None, reason="chromium is not installed: nothing was seen by a browser"
    ),
    pytest.mark.skipif(
        not AXE.exists(), reason="axe-core is not installed: run npm ci in clients/js"
    ),
]


def made_pages(made):
    """Return the text of the pages that are made quickly, by their names."""
    texts = {
        "log-in": made.browser.get("/login").text,
        "log-in refused": made.enter("nothing").text,
    }
    made.publish(EMPTY)
    for task in (PETS, SURVEY, MEAN, SHAPE, AGES, SMALL):
        made.publish(task)
        made.hear(task, VALUES[task], MEMBERS.get(task, ()))
        made.close(task)
    _send(made, shop(), MESSAGES)
    made.enter(made.token(access.OPERATOR, label="me"))
    made.token(access.ANALYST, label="Ada")
    made.token(access.ANALYST, label="gone")
    revoke(made, "gone")
    paths = ("/", "/operate", "/tasks/unknown", "/tasks/pets?fakes=0.01&all=1", "/tasks/empty")
    for path in (*paths, "/tasks/survey", "/tasks/mean", "/tasks/shape", "/tasks/empty/integrity"):
        texts[path] = made.browser.get(path).text
    for path in ("/tasks/ages", "/tasks/ages?bins=10", "/tasks/small"):  # the last one failed
        texts[path] = made.browser.get(path).text
    texts["the page of a web developer"] = example_page()
    for name, path, form in (
        ("task refused", "/operate/task", {"text": "name = 1", "action": "check"}),
        ("task checked", "/operate/task", {"text": TOML, "action": "check"}),
        ("token", "/operate/tokens", {"scope": "analyst", "label": "Bob"}),
        ("answer in SQL", "/tasks/shop/sql", {"sql": QUERY, "fakes": "0.01"}),
        ("a cross table", "/tasks/shop/sql", {"sql": CROSS}),
        ("a close refused", "/tasks/empty/close", {"now": "yes"}),
        ("SQL refused", "/tasks/shop/sql", {"sql": "SELECT nothing FROM users"}),
    ):
        texts[name] = made.browser.post(path, data=form, headers=ORIGIN).text
    return texts


def revoke(made, label):
    """Revoke a token on the page of operators, by the word it was given."""
    (revoked,) = (record for record in made.store.tokens() if record.label == label)
    form = {"id": access.identity(revoked)}
    sent = made.browser.post("/operate/tokens/revoke", data=form, headers=ORIGIN)
    assert sent.status_code in (200, 303), sent.text


def example_page():
    """Return the page that a web developer writes in the recorded journey."""
    text = JOURNEY.read_text(encoding="utf-8")
    typed = re.compile(r"^\$ cat > index\.html <<'END'\n((?:> .*\n)*?)> END$", re.MULTILINE)
    (lines,) = typed.findall(text)
    return re.sub("^> ", "", lines, flags=re.MULTILINE)


def slow_pages(made):
    """Return the text of the others: a joint table, and a poisoned collection."""
    drinks, table = poisoning.survey(), joint_table()
    _send(made, drinks, poisoning.honest(drinks) + poisoning.false(drinks))
    _send(made, table, crowd.messages(table, RECORDS, rng=SeededRng(2)))
    paths = ("/tasks/calm", "/tasks/drinks", "/tasks/drinks/integrity", "/tasks/shop/sql")
    texts = {path: made.browser.get(path).text for path in paths}
    plan = made.browser.post("/tasks/shop/sql", data={"sql": f"EXPLAIN {QUERY}"}, headers=ORIGIN)
    return {**texts, "plan of SQL": plan.text}


def _send(made, task, messages):
    made.publish(task)
    for start in range(0, len(messages), 1000):
        made.send(task.name, messages[start : start + 1000])
    made.close(task)


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    with place(tmp_path_factory.mktemp("pages")) as made:
        yield made


@pytest.fixture(scope="module")
def pages(collector):
    """The pages that are open in the browser: their texts by name."""
    return made_pages(collector)


@pytest.fixture(scope="module")
def screen(collector, pages):
    """A page of a browser in which the pages have their numbers as addresses."""

    def fulfil(route):
        path = route.request.url.removeprefix(SITE)
        if path.startswith("/static/"):
            file = collector.browser.get(path)
            kind = file.headers["content-type"]
            route.fulfill(body=file.content, headers={"content-type": kind})
        elif path.endswith(".js"):  # of the page of a web developer, whose collector is not there
            file = ROOT / "clients" / "js" / "dist" / path.strip("/")
            route.fulfill(body=file.read_bytes(), headers={"content-type": "text/javascript"})
        elif not path.strip("/").isdecimal():
            route.abort()
        else:
            text = pages[list(pages)[int(path.strip("/"))]]
            route.fulfill(body=text, headers={"content-type": "text/html"})

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        page = browser.new_page()
        page.add_init_script(path=AXE)
        page.route("**/*", fulfil)
        yield page
        browser.close()


def violations(screen, size, scheme):
    """Return what axe finds on the page that is open."""
    screen.set_viewport_size(size)
    screen.emulate_media(color_scheme=scheme)
    return screen.evaluate(RUN)


def test_no_page_violates_a_rule(pages, screen):
    found = {}
    for number, name in enumerate(pages):
        screen.goto(f"{SITE}/{number}")
        found[name] = violations(screen, *LOOKS[number % len(LOOKS)])
    assert not any(found.values()), json.dumps(found, indent=1)


@pytest.mark.papers
def test_no_page_violates_a_rule_however_it_is_looked_at(collector, pages, screen):
    pages.update(slow_pages(collector))
    found = {}
    for number, name in enumerate(pages):
        screen.goto(f"{SITE}/{number}")
        for size, scheme in LOOKS:
            found[f"{name}, {size['width']}, {scheme}"] = violations(screen, size, scheme)
    assert len(found) >= 80
    assert not any(found.values()), json.dumps(found, indent=1)


@pytest.mark.parametrize("path", BUILT)
def test_no_page_of_the_built_site_violates_a_rule(screen, path):
    built = ROOT / "site" / path
    if not built.exists():
        pytest.skip("the site is not built: run make docs")
    page = screen.context.new_page()
    page.add_init_script(path=AXE)
    page.goto(built.as_uri())
    found = {f"{look}": violations(page, *look) for look in LOOKS[:2]}
    page.close()
    assert not any(found.values()), json.dumps(found, indent=1)


def test_a_page_that_breaks_rules_is_noticed(screen):
    screen.goto(f"{SITE}/0")
    screen.evaluate("document.querySelector('label').remove()")
    screen.evaluate("document.querySelector('.note').style.color = '#bbb'")
    seen = violations(screen, WIDE, "light")
    assert {each.partition(":")[0] for each in seen} >= {"color-contrast", "label"}
