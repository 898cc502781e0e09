"""The JavaScript on the pages runs as readers would run it: in Node, or in a page of Chromium.

Only the addresses are replaced, by those of a collector of the test.  Node imports the package by
its name.
"""

import base64
import hashlib
import json
import re
import subprocess

import pytest

import sottovoce as sv
from js.collector import PACKAGE, ROOT, Case
from sottovoce.wire import codec

README = PACKAGE / "README.md"
GUIDE = ROOT / "docs" / "guides" / "web-developer.md"
TOUR = ROOT / "docs" / "tour.md"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK_COUNTS = {README: 9, GUIDE: 1, TOUR: 1}  # of all pages; the tests below run every one
COLLECTORS = r"https://(?:collector\.example|reports\.example\.org)"
FILES_ELSEWHERE = r"https://cdn\.example(?:/sottovoce(?=/))?"
IN_A_BROWSER = "/clients/js/dist/browser.js"

# The module runs in a page; returned is its error.
MODULE = """async ({ source }) => {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    return import(url).then(() => null, (error) => `${error}`);
}"""
WAITING = """async () => {
    const { Device } = await import("/clients/js/dist/browser.js");
    const device = new Device(location.origin, { delay: 0 });
    const waiting = (await device.waiting()).length;
    const { sent } = await device.flush({ force: true });
    return { waiting, sent, ...(await device.ledger.spent()) };
}"""


def blocks(page):
    """Return the blocks of a page that a browser or Node runs."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language in ("js", "html")]


def policy(page, number):
    """Return the Content Security Policy of a page: its blocks that begin with ``script-src``."""
    found = [text for _, text in BLOCK.findall(page.read_text("utf-8")) if "script-src" in text]
    return " ".join(found[number].split())


def in_a_page(source, collector):
    """Return a block whose imports and addresses lead to a collector of the test."""
    source = re.sub(
        r'"\./sottovoce/(?:dist/)?browser\.js"', f'"{collector.url}{IN_A_BROWSER}"', source
    )
    return re.sub(COLLECTORS, collector.url, source)


def scripts_of(html):
    """Return the modules in a block of HTML."""
    return re.findall(r'<script type="module"[^>]*>\n(.*?)</script>', html, re.DOTALL)


def run(tab, source, collector):
    """Run a block as a module of a page, where the person says yes to every question.

    Returns the questions.
    """
    asked = []

    def agree(dialog):
        asked.append(dialog.message)
        dialog.accept()

    tab.on("dialog", agree)
    failure = tab.evaluate(MODULE, {"source": in_a_page(source, collector)})
    assert failure is None, failure
    return asked


def in_node(node, source, *arguments):
    """Run a block as a module that belongs to the package, and return what it prints."""
    command = [node, "--input-type=module", "--eval", source, "--", *arguments]
    ended = subprocess.run(
        command, cwd=PACKAGE, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def sha384(path):
    return f"sha384-{base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()}"


def test_no_block_is_left_out():
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), README]
    counts = {page: len(blocks(page)) for page in pages}
    assert {page: count for page, count in counts.items() if count} == BLOCK_COUNTS


def test_the_first_page_asks_and_stores_an_answer_that_leaves_later(tabs, collector):
    """The blocks 'In a page', its flush, the notice, and 'For the owner', as one person meets them.

    Later blocks speak of the ``device`` of the first, which a page that is opened later makes anew.
    """
    first, flush, *_, notice, owner, _ = blocks(README)
    (script,) = scripts_of(first)
    tab = tabs()
    (statement,) = run(tab, script, collector)
    tab.close()  # the message waits in the ledger, for a minute at most
    assert statement.startswith("Your device sends nothing in clear. Answering costs epsilon 1 of")

    again = """import { Device } from "./sottovoce/dist/browser.js";
        const device = new Device("https://collector.example", { delay: 60 });
    """
    assert run(tabs(), again + flush, collector) == []
    seen = tabs().evaluate(WAITING)
    assert seen["spent"] == 1
    assert seen["waiting"] == seen["sent"]  # one, unless it was due before
    assert len(collector.posts) == 1

    assert len(run(tabs(), again + notice, collector)) == 1
    run(tabs(), again + owner, collector)
    assert tabs().evaluate(WAITING)["spent"] == 1  # charges stay after opting out


def test_an_answer_in_the_language_of_the_browser(browser, collector):
    language = next(text for text in blocks(README) if "navigator.languages" in text)
    for tag, start in (("de-AT", "Ihr Gerät sendet nichts im Klartext"), ("nl", "Your device")):
        context = browser.new_context(locale=tag)
        tab = context.new_page()
        tab.goto(f"{collector.url}/page")
        answer = 'await device.answer("browser", "firefox");'
        (statement,) = run(tab, language + answer, collector)
        assert statement.startswith(start)
        context.close()


@pytest.mark.parametrize("page", [GUIDE, TOUR], ids=lambda page: page.stem)
def test_the_shortest_page_stores_an_answer(tabs, collector, page):
    (block,) = blocks(page)
    assert run(tabs(), block, collector) == []  # nobody is asked where there is no `consent`
    seen = tabs().evaluate(WAITING)
    assert (seen["waiting"], seen["spent"]) == (1, 1)


def fulfilled(body, kind, **headers):
    """Return what serves a text that a test writes."""
    headers = {"content-type": kind, **headers}
    return lambda route: route.fulfill(body=body, headers=headers)


def served(tab, collector, body, **headers):
    """Open a page that a test writes, and return its ``outcome``."""
    tab.route("**/shop", fulfilled(body, "text/html", **headers))
    tab.goto(f"{collector.url}/shop")
    return tab.evaluate("() => window.outcome")


def import_in_page(name):
    """Return a script that tells whether the page could import something."""
    return f"""window.outcome = import({json.dumps(name)})
        .then(({{ Device }}) => typeof Device, (error) => error.name);"""


@pytest.mark.parametrize("altered", [False, True])
def test_a_page_pins_a_module_with_its_hash(tabs, collector, altered):
    pinned = next(text for text in blocks(README) if "browser.js" in text and "sha384" in text)
    code = re.sub(FILES_ELSEWHERE, f"{collector.url}/clients/js/dist", pinned)
    stated = f"sha384-{'A' * 64}" if altered else sha384(PACKAGE / "dist" / "browser.js")
    code = code.replace("sha384-...", stated)
    body = f"{code}<script>{import_in_page(f'{collector.url}{IN_A_BROWSER}')}</script>"
    outcome = served(tabs(), collector, body)
    assert outcome == ("TypeError" if altered else "function")


@pytest.mark.parametrize("altered", [False, True])
def test_a_page_pins_the_one_file_under_its_policy(tabs, collector, altered):
    """With the policy that stands below it, and with the script that the page would add."""
    pinned = next(text for text in blocks(README) if "sottovoce.min.js" in text)
    hashes = json.loads((PACKAGE / "dist" / "integrity.json").read_text())
    stated = f"sha384-{'A' * 64}" if altered else hashes["sottovoce.min.js"]
    here = f"{collector.url}/clients/js/dist"

    def rewritten(text):
        text = re.sub(FILES_ELSEWHERE, here, text).replace("sha384-...", stated)
        text = text.replace('nonce="..."', 'nonce="abc"').replace("'nonce-...'", "'nonce-abc'")
        return re.sub(COLLECTORS, collector.url, text)

    script = f'<script nonce="abc">{import_in_page("sottovoce")}</script>'
    used = rewritten(pinned).replace("</script>\n", f"</script>\n{script}", 1)
    stated_policy = {"content-security-policy": rewritten(policy(README, 1))}
    outcome = served(tabs(), collector, used, **stated_policy)
    assert outcome == ("TypeError" if altered else "function")


def test_the_first_policy_lets_a_page_answer_and_nothing_else_in(tabs, collector):
    """The module of the first block as a file of the page's own, as ``script-src 'self'`` wants."""
    (script,) = scripts_of(blocks(README)[0])
    script = f'{in_a_page(script, collector)}\nwindow.tell("answered");'
    start = "window.outcome = new Promise((told) => { window.tell = told; });"
    stated = re.sub(COLLECTORS, collector.url, policy(README, 0))
    tab = tabs()
    tab.on("dialog", lambda dialog: dialog.accept())
    for name, code in (("start.js", start), ("app.js", script)):
        tab.route(f"**/{name}", fulfilled(code, "text/javascript"))
    body = (
        '<script src="/start.js"></script><script type="module" src="/app.js"></script>'
        "<script>window.tell('an inline script ran')</script>"
    )
    assert served(tab, collector, body, **{"content-security-policy": stated}) == "answered"


def test_a_program_of_node_answers(node, collector, tmp_path):
    """A number under a budget with a window; the ledger lies in a folder of the test."""
    (source,) = (text for text in blocks(README) if '"sottovoce/node"' in text)
    task = sv.Task("temperature", sv.Mean(30.0, 45.0), epsilon=1.0)
    text, digest = codec.canonical(codec.document(task)), codec.digest(codec.document(task))
    collector.cases["node"] = Case(text, digest, json.loads(text)["opening"])
    source = re.sub(COLLECTORS, f"{collector.url}/cases/node", source)
    ledger = json.dumps(str(tmp_path / "ledger.json"))
    in_node(node, source.replace('"ledger.json"', ledger))
    posted = [request for request in collector.requests if request.method == "POST"]
    assert [request.path for request in posted] == ["/cases/node/v1/tasks/temperature/reports"]


def test_a_program_without_a_network_makes_a_message(node):
    source = blocks(README)[-1]
    assert '"sottovoce"' in source
    task = sv.Task("browser", sv.Histogram(["chrome", "firefox"]), epsilon=1.0)
    given = f"const taskDocument = {json.dumps(codec.canonical(codec.document(task)))};\n"
    printed = in_node(node, f'{given}{source}\nconsole.log(Buffer.from(message).toString("hex"));')
    assert sv.answer(task, [bytes.fromhex(printed)]).users == 1


def test_a_block_that_is_broken_is_caught(tabs, node, collector):
    """What the checks above must see: a name that does not exist, and a device that refuses."""
    (block,) = blocks(GUIDE)
    with pytest.raises(AssertionError, match="MismatchError"):
        run(tabs(), block.replace('"browser"', '"another"'), collector)
    with pytest.raises(AssertionError, match="does not provide an export"):
        run(tabs(), block.replace("{ Device }", "{ Devices }"), collector)
    with pytest.raises(AssertionError, match="does not provide an export"):
        in_node(node, blocks(README)[-1].replace("MemoryLedger }", "Memory }"))
