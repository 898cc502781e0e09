"""The client for browsers and Node: its own tests, and what only a real browser can show."""

import json
import os
import re
import subprocess
import time

import pytest

from js.collector import PACKAGE, ROOT

FOR_COLLECTORS = {
    *(("envelope", section) for section in ("streams", "malformed", "misplaced")),
    *(("envelope_2", section) for section in ("streams", "malformed", "misplaced")),
    ("reject", "reports"),
    ("seeds", "uncut"),
}
FILES = (
    *(
        "choice",
        "discovery",
        "envelope",
        "envelope_2",
        "hash",
        "ledger",
        "longitudinal",
        "marginals",
        "memo",
        "numbers",
        "perturb",
    ),
    *("key_set", "reject", "rfc", "seal", "seeds", "shuffled", "tables", "task_id"),
    *("thresholds", "tokens"),
)
FILES_FOR_COLLECTORS = ("affine", "decode")
FILES_WITH_THEIR_OWN_TEST = ("amplification",)  # compared to 1e-9 by test_amplification.py

GOLDEN = """async () => {
    const { runGolden } = await import("/clients/js/support/golden.js");
    const { BrowserLedger } = await import("/clients/js/dist/browser.js");
    const read = async (file) => (await fetch(`/tests/golden/${file}.json`)).json();
    return runGolden(read, (name, options) => new BrowserLedger({ name, ...options }));
}"""

# Tells how an answer ended and which messages were made for it.  Tabs start when the clock says so,
# not when their
# script happens to be run.
ANSWER = """async ({ url, at, careless }) => {
    const { BrowserLedger, Client, Device } = await import("/clients/js/dist/browser.js");
    const { respond } = Client.prototype;
    const made = [];
    Client.prototype.respond = function (...given) {
        const answer = respond.apply(this, given);
        made.push(answer.message.join());
        return answer;
    };
    const ledger = new BrowserLedger();
    if (careless) ledger.exchange = window.exchangeCarelessly;
    while (Date.now() < at) await new Promise((done) => setTimeout(done, 1));
    const answered = new Device(url, { ledger, delay: 0 }).answer("browser", "firefox");
    return { outcome: await answered.then(() => "answered", (error) => error.name), made };
}"""

# What a ledger without a lock, and without one transaction around both, may do: two tabs read
# before either writes.
# They are made to, in the six steps that lead to an answer: coin, check, token, explanation, room
# in the outbox, message.
CARELESS = """() => {
    const other = new BroadcastChannel("careless");
    let heard = 0, said = 0, wake = () => {};
    other.onmessage = () => { heard++; wake(); };
    const bothHaveRead = async () => {
        said++;
        other.postMessage(said);
        const patience = Date.now() + 20000;
        while (heard < said && said <= 6 && Date.now() < patience) {
            await new Promise((done) => { wake = done; setTimeout(done, 100); });
        }
    };
    const done = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    window.exchangeCarelessly = async (work) => {
        const opening = indexedDB.open("sottovoce", 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore("ledger");
        const database = await done(opening);
        const reading = database.transaction("ledger").objectStore("ledger");
        const stored = await done(reading.get("ledger"));
        await bothHaveRead();
        const [file, result] = work(stored);
        const writing = database.transaction("ledger", "readwrite").objectStore("ledger");
        await done(writing.put(file, "ledger"));
        database.close();
        return result;
    };
}"""

SPENT = """async () => {
    const { BrowserLedger } = await import("/clients/js/dist/browser.js");
    const ledger = new BrowserLedger();
    const outbox = await ledger.update((file) => file.outbox);
    return { ...(await ledger.spent()), entries: await ledger.entries(), outbox };
}"""

QUEUE = """async (url) => {
    const { Device } = await import("/clients/js/dist/browser.js");
    window.device = new Device(url, { delay: 3600 });
    await window.device.answer("browser", "safari");
    return window.device.flush();
}"""


def test_the_built_files_are_up_to_date(node, tmp_path):
    compiler = PACKAGE / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip(
            "typescript is not installed: run npm ci in clients/js to check that dist is up to date"
        )
    subprocess.run([node, str(compiler), "--outDir", str(tmp_path)], cwd=PACKAGE, check=True)
    for script in ("minify", "bundle"):
        subprocess.run([node, f"scripts/{script}.js", str(tmp_path)], cwd=PACKAGE, check=True)
    assert contents(tmp_path) == contents(PACKAGE / "dist")


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_built_files_are_not_ignored():
    found = subprocess.run(
        ["git", "check-ignore", "-q", str(PACKAGE / "dist" / "index.js")], cwd=ROOT, check=False
    )
    assert found.returncode == 1


HOSTILE = "hostile.test.js"  # takes half of the time: a test of its own, so that two can share it


def test_its_own_tests_pass_in_node(node):
    files = sorted(path.name for path in (PACKAGE / "test").glob("*.test.js"))
    assert passed_in_node(node, [name for name in files if name != HOSTILE]) > 40


@pytest.mark.parametrize("documents", [1000, pytest.param(10_000, marks=pytest.mark.papers)])
def test_its_own_tests_of_hostile_documents_pass_in_node(node, documents):
    assert passed_in_node(node, [HOSTILE], HOSTILE_DOCUMENTS=str(documents)) == 5


def passed_in_node(node, files, **environment):
    """Run tests of the package; return how many passed, for none may fail or be skipped."""
    run = subprocess.run(
        [node, "--test", *(f"test/{name}" for name in files)],
        cwd=PACKAGE,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8000:]
    assert re.search(r"^# skipped 0$", run.stdout, re.MULTILINE)
    return int(re.search(r"^# pass (\d+)", run.stdout, re.MULTILINE)[1])


def test_every_golden_row_holds_in_a_browser(tabs):
    found = tabs().evaluate(GOLDEN)
    assert found["failures"] == []
    assert found["rows"] == expected_rows()


def test_no_golden_file_is_overlooked():
    """A new file is for clients or for collectors: somebody has to say which."""
    found = {path.stem for path in (ROOT / "tests" / "golden").glob("*.json")}
    assert found == {*FILES, *FILES_FOR_COLLECTORS, *FILES_WITH_THEIR_OWN_TEST}


def expected_rows():
    """Count the rows of a client, and apart from them those that only a collector's reader
    refuses.
    """
    expected = {}
    for file in FILES:
        content = json.loads((ROOT / "tests" / "golden" / f"{file}.json").read_text("ascii"))
        for section, rows in content.items():
            if isinstance(rows, list) and (file, section) not in FOR_COLLECTORS:
                others = sum(row.get("reader") == "task" for row in rows)
                expected[f"{file}.{section}"] = len(rows) - others
                expected |= {f"{file}.{section} (for collectors)": others} if others else {}
    return expected


def both(tabs, collector, *, careless):
    """Answer in two tabs at once; returns how that ended in each, and the messages that were
    made.
    """
    pages = [tabs(), tabs()]
    for page in pages:
        page.evaluate(CARELESS)
    at = int(1000 * time.time()) + 500
    start = f"(given) => {{ window.answered = ({ANSWER})(given); }}"
    for page in pages:
        page.evaluate(start, {"url": collector.url, "at": at, "careless": careless})
    found = [page.evaluate("() => window.answered") for page in pages]
    return sorted(one["outcome"] for one in found), {
        message for one in found for message in one["made"]
    }


def test_two_tabs_that_answer_at_once_spend_once(tabs, collector):
    outcomes, made = both(tabs, collector, careless=False)
    assert outcomes == ["BudgetError", "answered"]
    assert len(made) == len(collector.posts) == 1
    ledger = tabs().evaluate(SPENT)
    assert ledger["spent"] == 1
    assert len(ledger["entries"]) == 1
    assert ledger["outbox"] == []


def test_without_lock_and_transaction_two_tabs_would_spend_twice(tabs, collector):
    """The same with a careless ledger: this is what the test above must be able to see."""
    outcomes, made = both(tabs, collector, careless=True)
    assert outcomes == ["answered", "answered"]
    assert len(made) == 2


def test_what_was_answered_while_the_network_is_cut_arrives_once_with_the_same_bytes(
    tabs, collector
):
    page = tabs()
    assert page.evaluate(QUEUE, collector.url) == {"sent": 0, "refused": 0, "waiting": 1}
    (waiting,) = page.evaluate(SPENT)["outbox"]
    collector.stop()
    for _ in range(2):
        assert page.evaluate("() => device.flush({ force: true })") == {
            "sent": 0,
            "refused": 0,
            "waiting": 1,
        }
    assert collector.posts == []
    collector.start()
    assert page.evaluate("() => device.flush({ force: true })") == {
        "sent": 1,
        "refused": 0,
        "waiting": 0,
    }
    assert page.evaluate("() => device.flush({ force: true })") == {
        "sent": 0,
        "refused": 0,
        "waiting": 0,
    }
    assert [message.hex() for message in collector.posts] == [waiting["message"]]
    assert page.evaluate(SPENT)["spent"] == 1


def test_a_request_carries_neither_cookies_nor_a_referrer(tabs, collector):
    page = tabs()
    page.evaluate("() => { document.cookie = 'person=42'; }")
    page.evaluate(ANSWER, {"url": collector.url, "at": 0, "careless": False})
    (headers,) = collector.asked
    assert not {"cookie", "referer", "authorization"} & set(headers)


def test_what_is_due_leaves_when_the_page_is_hidden(tabs, collector):
    page = tabs()
    page.evaluate(QUEUE, collector.url)
    page.evaluate("""async () => {
        await device.ledger.update((file) => { file.outbox[0].due = file.outbox[0].posted; });
        Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
        document.dispatchEvent(new Event("visibilitychange"));
        for (;;) if (!(await device.ledger.update((file) => file.outbox)).length) return;
    }""")
    assert len(collector.posts) == 1


def test_a_global_signal_against_tracking_is_a_no_unless_the_owner_says_yes(tabs, collector):
    page = tabs()
    page.evaluate("() => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })")
    assert (
        page.evaluate(ANSWER, {"url": collector.url, "at": 0, "careless": False})["outcome"]
        == "BudgetError"
    )
    assert page.evaluate(SPENT)["spent"] == 0
    page.evaluate(
        """async (url) => {
            const { Device } = await import("/clients/js/dist/browser.js");
            const consent = async (notice, text) => /epsilon 1 /.test(text);
            await new Device(url, { delay: 0, consent }).answer("browser", "firefox");
        }""",
        collector.url,
    )
    assert len(collector.posts) == 1


@pytest.mark.parametrize("missing", ["navigator.locks", "window.indexedDB"])
def test_without_a_lock_or_a_database_nothing_is_answered(tabs, missing):
    holder, name = missing.split(".")
    found = tabs().evaluate(
        """async ([holder, name]) => {
            Object.defineProperty(globalThis[holder], name, { value: undefined });
            const { BrowserLedger } = await import("/clients/js/dist/browser.js");
            try {
                new BrowserLedger();
                return "made";
            } catch (error) {
                return error.name;
            }
        }""",
        [holder, name],
    )
    assert found == "MissingExtraError"


# --- one file that a page pins by its hash ---

BUNDLE = "/clients/js/dist/sottovoce.min.js"
PINNED_PAGE = """<!doctype html><title>pinned</title>
<script type="importmap" nonce="abc">%s</script>
<script type="module" nonce="abc">
  const shown = [];
  const consent = (notice, text) => shown.push(text);
  window.outcome = import("sottovoce").then(async ({ Device }) => {
    const device = new Device(location.origin, { delay: 0, consent, language: "de" });
    await device.answer("browser", "firefox");
    return shown[0];
  }).catch((error) => error.name);
</script>"""
POLICY = "default-src 'none'; script-src 'self' 'nonce-abc'; connect-src 'self'"


def pinned_outcome(page, collector, integrity):
    """Return how an answer ended in a page that takes the one file only with this hash."""
    import_map = {"imports": {"sottovoce": BUNDLE}, "integrity": {BUNDLE: integrity}}
    headers = {"content-type": "text/html", "content-security-policy": POLICY}
    body = PINNED_PAGE % json.dumps(import_map)
    page.route("**/pinned", lambda route: route.fulfill(body=body, headers=headers))
    page.goto(f"{collector.url}/pinned")
    return page.evaluate("() => window.outcome")


def test_one_file_answers_in_a_page_that_pins_it_and_allows_nothing_else(tabs, collector):
    hashes = json.loads((PACKAGE / "dist" / "integrity.json").read_text())
    text = pinned_outcome(tabs(), collector, hashes["sottovoce.min.js"])
    assert text.startswith(
        "Ihr Ger\u00e4t sendet nichts im Klartext. Eine Antwort kostet Epsilon 1"
    )
    assert len(collector.posts) == 1
    scripts = [request.path for request in collector.requests if request.path.endswith(".js")]
    assert scripts == [BUNDLE]


def test_a_file_with_another_hash_is_not_run(tabs, collector):
    assert pinned_outcome(tabs(), collector, f"sha384-{'A' * 64}") == "TypeError"
    assert collector.posts == []
