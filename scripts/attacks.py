"""What attacks achieve against devices and collectors, before and now.

    python scripts/attacks.py a85a09b                        compares with the package of a commit
    python scripts/attacks.py a85a09b --only silence,outage  runs some cases
    python scripts/attacks.py a85a09b --only attack_javascript:silence   of one script alone
    python scripts/attacks.py --documents 100000             tries hostile documents
    python scripts/attacks.py a85a09b --write                runs everything and writes the page

Every attack runs in a process of its own, on the package of the other commit and on that of this
tree.  The attacks are in ``attack_cases.py`` (on devices and on those who read answers), in
``attack_javascript.py`` (on devices in JavaScript), in ``attack_collectors.py`` and in
``attack_loads.py`` (on a running collector).  Hostile documents are
those of ``tests/fuzz/hostile_documents.py`` and ``clients/js/support/hostile.js``, against this
tree alone.  The page is docs/evidence/attacks.md; it is always written whole.

A case that raises an error has achieved nothing that could be printed: the others go on, the page
stays as it was, and the script ends by naming what failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from other_tree import ROOT, checked_out, run

TESTS = ROOT / "tests"
sys.path.insert(0, str(TESTS))

EVIDENCE = ROOT / "docs" / "evidence" / "attacks.md"
DEVICES = Path(__file__).with_name("attack_cases.py")
COLLECTORS = Path(__file__).with_name("attack_collectors.py")
LOADS = Path(__file__).with_name("attack_loads.py")
JAVASCRIPT = Path(__file__).with_name("attack_javascript.py")
MAX_SECONDS = 1200.0
DOCUMENTS = 100_000  # hostile documents per client on the page
MAX_MEGABYTES = 16  # for a document, beside what a process holds when idle
COUNTED = 1000  # changed documents whose executed blocks are counted in JavaScript
SEED = 7
SINGLE_SIGNATURES = "de0b712"  # the last commit at which devices believed keys one by one


@dataclass(frozen=True)
class Attack:
    """An attack, what it tries, what it is given, and the tests that show it is stopped.

    ``before`` is the commit to compare with if what is attacked is younger than the one that the
    page compares with.
    """

    what: str
    case: str
    tests: tuple[str, ...]
    argument: str = ""
    script: Path = DEVICES
    before: str = ""

    @property
    def name(self) -> str:
        """Return the script and the case."""
        return f"{self.script.stem}:{self.case}"


def attacks() -> Iterator[Attack]:
    """Yield all attacks; the documents are those of the tests."""
    yield from _searches()
    yield Attack(
        "let a device rehearse whose owner allows nothing",
        "no_budget",
        ("tests/client/test_client.py", "clients/js/test/client.test.js"),
    )
    yield Attack(
        "call a private column public",
        "public_column",
        ("tests/client/test_public.py", "clients/js/test/tables.test.js"),
    )
    yield Attack(
        "ask for something else under a name that was answered",
        "another_meaning",
        ("tests/client/test_accepts.py", "clients/js/test/accepts.test.js"),
    )
    for how, what in FORGERIES.items():
        yield Attack(what, "forged_consent", _tests("tasks/limits", "wire/statement"), how)
    tracking = ("tests/client/test_transport.py", "clients/js/test/transport.test.js")
    yield Attack("mark devices by entity tags", "entity_tags", tracking)
    for how, what in OWN_ROUNDS.items():
        yield Attack(what, "own_round", _tests("tasks/round_limits", "client/device"), how)
    yield Attack(
        "mark devices by round keys, behind an honest shuffler",
        "own_keys",
        _tests("system/marking", "client/sealing", "js/shuffled"),
        before=SINGLE_SIGNATURES,
    )
    yield from _hostile_documents()
    yield Attack(
        "steal a device a month after it has sent a report",
        "kept_message",
        ("tests/client/test_ledger.py", "clients/js/test/client.test.js"),
    )
    yield Attack("listen on the way", "plain_http", tracking)
    yield Attack("answer a device one byte at a time", "dripping_server", _tests("client/deadline"))
    yield from _outages()
    yield Attack("cut the ledger to nothing", "cut_ledger", _tests("client/ledger_file"))
    yield Attack("remove the ledger", "removed_ledger", _tests("client/ledger_file"))
    yield from _in_javascript()
    yield from _on_collectors()
    yield from _loads()
    yield Attack("let a spreadsheet execute a value", "spreadsheet", _tests("answers/export"))
    yield Attack(
        "send false reports that nobody reckons with", "influence", _tests("core/influence")
    )
    yield Attack(
        "lose reports by a mistake in the collector", "known_mistakes", _tests("system/twins")
    )


SEARCHES = {
    "": "find incomes by changing the domain of a task and listening for silence",
    "new names": "find incomes in the same way, with a new task name at every step",
    "agreed": "find incomes in the same way, with the application agreeing before every step",
    "paid": "find incomes in the same way, by tasks that are no rehearsals and cost 1e-6 each",
}
FORGERIES = {
    "lines": "forge the words that the owner reads, by line breaks and direction characters",
    "quotation marks": "forge them by quotation marks in the description",
    "name": "forge them by the name of the task",
    "labels": "forge them by the labels of answers",
    "length": "hide them in a description of 21,000 characters",
    "order": "put the description before what is sent in clear and what it costs",
}
OWN_ROUNDS = {
    "number": "mark a device by a round with a number of its own",
    "question": "mark a device by an opening round with a question of its own",
    "width": "mark a device by a later round with longer reports",
    "candidates": "ask one device for candidates of its own in a later round",
}


def _searches() -> Iterator[Attack]:
    independence = "tests/properties/test_value_independence.py"
    tests = ("tests/client/test_accepts.py", independence, "clients/js/test/accepts.test.js")
    for how, what in SEARCHES.items():
        yield Attack(what, "silence", tests, how)


def _slow_documents() -> Iterator[tuple[int, str, str]]:
    """Yield the sizes, names and texts of documents that keep devices busy."""
    from fuzz.hostile_documents import extremes

    documents = extremes()
    for name in (
        "2^17 layers",
        "subset 6.55e+04 0.001",
        "a bundle of 256 wide reports",
        "a bundle of 150 reports of a million bits",
    ):
        yield len(documents[name].encode()), name, documents[name]


def _hostile_documents() -> Iterator[Attack]:
    tests = ("tests/fuzz/test_hostile_documents.py", "clients/js/test/hostile.test.js")
    for size, name, document in _slow_documents():
        what = f"hang a device with a document of {size:,} bytes ({name})"
        yield Attack(what, "slow_document", tests, document)


OUTAGES = (1, 2, 6, 24, 168)


def _hours(count: int) -> str:
    return f"{count} hour" if count == 1 else f"{count} hours"


def _outages() -> Iterator[Attack]:
    tests = ("tests/client/test_device.py", "clients/js/test/device.test.js")
    for hours in OUTAGES:
        yield Attack(f"be out of reach for {_hours(hours)}", "outage", tests, str(hours))
    what = "be out of reach for 2 hours, one report for each device"
    yield Attack(what, "lone_outage", tests, "2")
    what = "be within reach a quarter of the time for a week, one report for each device"
    yield Attack(what, "quarter_up", tests)


def _in_javascript() -> Iterator[Attack]:
    """Yield the attacks on devices in JavaScript, in Node and where it says so in Chromium."""
    independence = ("clients/js/test/accepts.test.js", "tests/js/test_trust.py")
    for how, what in SEARCHES.items():
        yield _of_javascript(what, "silence", independence, how)
    for how, what in FORGERIES.items():
        yield _of_javascript(what, "forged_consent", _javascript("statement"), how)
    for how, what in OWN_ROUNDS.items():
        yield _of_javascript(what, "own_round", _javascript("rounds"), how)
    for what, case, tests in (
        ("let a device rehearse whose owner allows nothing", "no_budget", _javascript("client")),
        ("call a private column public", "public_column", _javascript("tables")),
        ("ask for something else under a known name", "another_meaning", _javascript("accepts")),
        ("mark devices by entity tags, in Chromium", "entity_tags", _tests("js/trust")),
        ("steal a device a month after its report", "kept_message", _javascript("client")),
        ("listen on the way", "plain_http", _javascript("transport")),
        ("answer one byte at a time", "dripping_server", _javascript("transport")),
        ("cut the ledger to nothing", "cut_ledger", _javascript("node")),
        ("remove the ledger", "removed_ledger", _javascript("node")),
    ):
        yield _of_javascript(what, case, tests)
    marking = _of_javascript(
        "mark devices by round keys, behind an honest shuffler", "own_keys", _tests("js/shuffled")
    )
    yield replace(marking, before=SINGLE_SIGNATURES)
    for size, name, document in _slow_documents():
        what = f"hang a device with a document of {size:,} bytes ({name})"
        yield _of_javascript(what, "slow_document", _javascript("hostile"), document)
    for hours in OUTAGES:
        what = f"be out of reach for {_hours(hours)}, one report for each device"
        yield _of_javascript(what, "outage", _javascript("device"), str(hours))
    what = "be within reach a quarter of the time for a week, one report for each device"
    yield _of_javascript(what, "quarter_up", _javascript("device"))


def _of_javascript(what: str, case: str, tests: tuple[str, ...], argument: str = "") -> Attack:
    return Attack(f"JavaScript: {what}", case, tests, argument, JAVASCRIPT)


def _javascript(name: str) -> tuple[str, ...]:
    return (f"clients/js/test/{name}.test.js",)


def _on_collectors() -> Iterator[Attack]:
    """Yield the attacks on a running collector."""
    for what, case, tests in (
        ("send reports as fast as one address can", "flood", _tests("web/limits")),
        (
            "send reports from many IPv6 addresses of one host",
            "flood_of_a_network",
            _tests("web/limits", "web/bodies"),
        ),
        ("hold connections with headers that never end", "slow_headers", _tests("web/connections")),
        ("claim a body of five gigabytes", "claimed_length", _tests("web/bodies")),
        ("hold forty bodies of four megabytes at once", "held_bodies", _tests("web/bodies")),
        (
            "hold the collector with a body and a query when it is asked to end",
            "held_end",
            _tests("collector/run", "collector/query_workers"),
        ),
        (
            "hold two workers with bodies and queries when they are asked to end",
            "end_of_workers",
            _tests("collector/run", "web/supervisor"),
        ),
        (
            "keep another analyst waiting by eight queries at once",
            "hogged_queries",
            _tests("collector/query_queue"),
        ),
        (
            "ask one query for a hundred thousand numbers",
            "many_numbers",
            _tests("sql/reading"),
        ),
        (
            "stuff a task that anybody may answer, and whose operator does not know",
            "open_task",
            _tests("collector/task_check"),
        ),
        ("send a malformed origin", "malformed_origin", _tests("web/origins", "web/door")),
        ("send reports from a page of another site", "foreign_origin", _tests("web/origins")),
        ("find private answers in a cache", "cached_answer", _tests("web/door")),
        ("read the collector's files as another user", "open_folder", _tests("web/folder")),
        ("put a link into a backup", "linked_backup", _tests("web/folder")),
        ("leave half-written files behind", "leftovers", _tests("collector/collector")),
    ):
        yield Attack(what, case, tests, script=COLLECTORS)


def _loads() -> Iterator[Attack]:
    """Yield the loads that a collector, or whoever reads its logs, has to bear."""
    for what, case, tests in (
        ("seal a round without enough memory", "memory_limit", _tests("system/memory_limit")),
        (
            "ask for health while a round is sealed",
            "health_while_sealing",
            _tests("collector/worker"),
        ),
        (
            "ask for health while 5,000,000 reports are sealed",
            "health_while_sealing_many",
            _tests("collector/worker"),
        ),
        (
            "end a collector while it seals 600,000 reports",
            "end_while_sealing",
            _tests("collector/run", "system/crash"),
        ),
        (
            "stall uploads by layers that are seen first",
            "first_layers",
            _tests("collector/preparation"),
        ),
        ("ask a dear query and leave", "left_query", _tests("collector/query_workers")),
        (
            "lose or double a part of a sealed log, on Spark",
            "missing_part",
            _tests("engine/spark/collected"),
        ),
    ):
        yield Attack(what, case, tests, script=LOADS)


def _tests(*names: str) -> tuple[str, ...]:
    """Return the paths of tests: ``client/device`` is ``tests/client/test_device.py``."""
    folders_and_names = [name.rpartition("/") for name in names]
    return tuple(f"tests/{folder}/test_{name}.py" for folder, _, name in folders_and_names)


def main() -> None:
    """Run the attacks that are asked for on both trees, and print what each achieved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("--only", default="", help="comma-separated cases to run")
    parser.add_argument(
        "--documents",
        type=int,
        default=0,
        help=f"hostile documents per client ({DOCUMENTS:,} with --write)",
    )
    parser.add_argument("--write", action="store_true", help=f"write {EVIDENCE.relative_to(ROOT)}")
    wanted = parser.parse_args()
    if wanted.write and (wanted.only or not wanted.commit):
        parser.error("--write writes the whole page: name a commit, and leave --only out")
    count = wanted.documents or (DOCUMENTS if wanted.write else 0)
    only = set(filter(None, wanted.only.split(",")))
    page: list[str] = []
    failed: list[str] = []
    some = chosen(only)
    if wanted.commit:
        with checked_out(wanted.commit) as before:
            comparison = Comparison(wanted.commit, before, failed)
            page += [*comparison.lines(some), ""]
        print("\n".join(page))
    if count:
        documents = list(document_lines(count))
        page += [*documents, ""]
        print("\n".join(documents))
    if failed:
        sys.exit(f"The page is not written. These cases failed: {', '.join(failed)}")
    if wanted.write:
        EVIDENCE.write_text("\n".join(page))


def chosen(only: set[str]) -> list[Attack]:
    """Return the attacks with these cases, or all; a case may be named with its script."""
    everything = list(attacks())
    names = {name for attack in everything for name in (attack.case, attack.name)}
    if only - names:
        sys.exit(f"There is no case named {', '.join(sorted(only - names))}")
    return [attack for attack in everything if not only or only & {attack.case, attack.name}]


@dataclass(frozen=True)
class Comparison:
    """What attacks achieve on the tree of a commit and on this one.

    Attacks that fail to run are noted in ``failed``, by their script and case and the tree.
    """

    commit: str
    before: Path
    failed: list[str]

    def lines(self, some: Iterable[Attack]) -> Iterator[str]:
        """Yield the lines of the table, and what stands around it."""
        yield "# Attacks, before and now\n"
        yield f"Written by `python scripts/attacks.py {self.commit} --write`: every attack of"
        yield "`scripts/attack_cases.py`, `scripts/attack_javascript.py`,"
        yield "`scripts/attack_collectors.py` and `scripts/attack_loads.py`, on the package of"
        yield f"{self.commit} (before) and on that of {this_commit()} (now)."
        yield f"Printed on {date.today()}. The tests hold what is so now."
        yield "Times are those of a machine that had other work.\n"
        yield "| somebody tries to ... | before | now | tests |\n|---|---|---|---|"
        for attack in some:
            print(attack.what, file=sys.stderr, flush=True)
            cells = (attack.what, self._achieved_before(attack), self._achieved(ROOT, attack))
            yield f"| {' | '.join(cells)} | {_links(attack)} |"
        yield ""
        yield "What takes too long for this page is shown by tests, some with a twin that does as"
        yield "before:"
        for what, tests in SLOW_TESTS.items():
            yield f"{what} ({', '.join(_link(test) for test in tests)}),"
        yield "and the digest of 32 bytes ([test_envelope.py](../../tests/wire/test_envelope.py))."
        yield "Whoever serves the code of the client is trusted with values, as the"
        yield "[threat model](../threat-model.md) says."

    def _achieved_before(self, attack: Attack) -> str:
        """Return what an attack achieved against the package that it is compared with."""
        if not attack.before:
            return self._achieved(self.before, attack)
        with checked_out(attack.before) as tree:
            return f"{self._achieved(tree, attack)} (at {attack.before})"

    def _achieved(self, tree: Path, attack: Attack) -> str:
        """Return what an attack achieves against the package of a tree, or that it failed."""
        try:
            return achieved(tree, attack)
        except SystemExit as error:
            print(error, file=sys.stderr, flush=True)
            self.failed.append(f"{attack.name}, to {attack.what}, on {tree}")
            return "**failed**"


def this_commit() -> str:
    """Return the commit of this tree, marked if files differ from it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.check_output(git, text=True).strip()


SLOW_TESTS = {
    "power cuts": _tests("system/powercut"),
}


def _links(attack: Attack) -> str:
    return ", ".join(_link(test) for test in attack.tests)


def _link(test: str) -> str:
    return f"[{Path(test).name}](../../{test})"


def achieved(tree: Path, attack: Attack) -> str:
    """Return what an attack achieves against the package of a tree; raises ``SystemExit`` if it
    cannot be run to its end.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(attack.argument)
        file.flush()
        try:
            return run(tree, [str(attack.script), attack.case, file.name], MAX_SECONDS).strip()
        except subprocess.TimeoutExpired:
            return f"busy for more than {MAX_SECONDS:g} s"


def document_lines(count: int) -> Iterator[str]:
    """Yield the section on hostile documents; raises if a client breaks a bound."""
    python = _run_python(count)
    javascript = _run_javascript(count)
    yield "## Hostile documents\n"
    yield f"{count:,} documents of every plan with entries changed, and the worst that is known of"
    yield "every family, read and answered by each client. Every document is answered or refused"
    yield "with an error of the library; 100 ms of processor time and 16 MB are allowed each.\n"
    yield "| client | documents | answered | refused | untyped errors | slowest | work | memory |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    yield _python_row("Python, changed", python["changed"])
    yield _python_row("Python, the worst known", python["extremes"])
    yield from _javascript_rows(javascript)
    yield "\nWork is counted in calls of functions (Python; at most 500,000) and in executed blocks"
    yield "of code (JavaScript; at most 20,000,000, a number that was calibrated to the worst"
    yield f"known document; of {COUNTED:,} changed documents), which do"
    yield "not depend on what else the machine does; the tests assert it. Memory is what the"
    yield "largest document took (Python), and what a process was allowed that tried all of them,"
    yield "beside what it holds when idle (JavaScript; it would have died of needing more, as in"
    yield "[hostile.test.js](../../clients/js/test/hostile.test.js)). The worst documents of Python"
    yield "are tried in JavaScript as well."


def _run_python(count: int) -> Any:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{TESTS}"}
    command = [sys.executable, "-m", "fuzz.hostile_documents", str(count), str(SEED)]
    return json.loads(subprocess.check_output(command, env=environment))


def _run_javascript(count: int) -> Any:
    """Try Python's worst documents as well, so that both clients are tried on the same."""
    from fuzz.hostile_documents import extremes

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(extremes(), file)
        file.flush()
        documents = f"--documents={file.name}"
        work = _hostile_js([], "work", str(COUNTED), str(SEED), documents)
        timed = _hostile_js([], str(count), str(SEED), documents)
        idle = _hostile_js(["--expose-gc"], "0", str(SEED), "1", documents)["idle"]
        heap = int(idle / 2**20) + MAX_MEGABYTES
        flags = [f"--max-old-space-size={heap}", "--max-semi-space-size=1", "--expose-gc"]
        # A process that needs more memory dies.
        idle = _hostile_js(flags, str(count), str(SEED), "1", documents)["idle"]
    return {**timed, "work": work, "megabytes": heap - idle / 2**20}


def _hostile_js(flags: list[str], *parameters: str) -> Any:
    script = ROOT / "clients" / "js" / "support" / "hostile.js"
    return json.loads(subprocess.check_output(["node", *flags, str(script), *parameters]))


def _python_row(name: str, summary: Any) -> str:
    endings = summary["endings"]
    answered = endings.pop("answered", 0)
    cells = [
        f"{answered + sum(endings.values()):,}",
        f"{answered:,}",
        _named(endings),
        str(len(summary["untyped"])),
        f"{summary['milliseconds']:.0f} ms",
        f"{summary['calls']:,} calls",
        f"{summary['peak_bytes'] / 2**20:.1f} MB",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _javascript_rows(found: Any) -> Iterator[str]:
    changed, slow, work = found["changed"], found["slow"], found["work"]
    outcomes = changed["outcomes"]
    answered = outcomes.pop("answered", 0)
    cells = [
        f"{answered + sum(outcomes.values()) + len(changed['untyped']):,}",
        f"{answered:,}",
        _named(outcomes),
        str(len(changed["untyped"])),
        f"{changed['slowest']['milliseconds']:.0f} ms",
        f"{work['changed']:,} blocks",
        f"below {found['megabytes']:.1f} MB",
    ]
    yield f"| JavaScript, changed | {' | '.join(cells)} |"
    endings = [result["outcome"] for result in slow.values()]
    refused = {name: endings.count(name) for name in sorted(set(endings) - {"answered"})}
    cells = [
        str(len(endings)),
        str(endings.count("answered")),
        _named(refused),
        str(sum(name.startswith("untyped") for name in endings)),
        f"{max(result['milliseconds'] for result in slow.values()):.0f} ms",
        f"{max(work['slow'].values()):,} blocks",
        f"below {found['megabytes']:.1f} MB",
    ]
    yield f"| JavaScript, the worst known | {' | '.join(cells)} |"


def _named(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    main()
