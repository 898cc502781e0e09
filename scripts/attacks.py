"""What attacks achieve against devices and collectors, before and now.

    python scripts/attacks.py a85a09b                        compares with the package of a commit
    python scripts/attacks.py a85a09b --only silence,outage  runs some cases; other rows stay
    python scripts/attacks.py a85a09b --only attack_javascript:silence   of one script alone
    python scripts/attacks.py --documents 100000             tries hostile documents
    python scripts/attacks.py a85a09b --documents 100000 --write   both; writes the page

Every attack runs in a process of its own, on the package of the other commit and on that of this
tree.  The attacks are in ``attack_cases.py`` (on devices and on those who read answers), in
``attack_javascript.py`` (on devices in JavaScript), in ``attack_collectors.py`` and in
``attack_loads.py`` (on a running collector).  Hostile documents are
those of ``tests/fuzz/hostile_documents.py`` and ``clients/js/support/hostile.js``, against this
tree alone.  The page is docs/evidence/attacks.md; a part that is not asked for stays as it was.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
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
DOCUMENTS_TITLE = "## Hostile documents"
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


def attacks() -> Iterator[Attack]:
    """Yield all attacks; the documents are those of the tests."""
    independence = "tests/properties/test_value_independence.py"
    yield Attack(
        "find incomes by changing the domain of a task and listening for silence",
        "silence",
        ("tests/client/test_accepts.py", independence, "clients/js/test/accepts.test.js"),
    )
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
    yield Attack(
        "forge the words that the owner reads",
        "forged_consent",
        ("tests/tasks/test_limits.py", "clients/js/test/statement.test.js"),
    )
    tracking = ("tests/client/test_transport.py", "clients/js/test/transport.test.js")
    yield Attack("mark devices by entity tags", "entity_tags", tracking)
    yield Attack(
        "mark a device by a round of its own",
        "own_round",
        ("tests/tasks/test_round_limits.py", "clients/js/test/rounds.test.js"),
    )
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


def _slow_documents() -> Iterator[tuple[int, str, str]]:
    """Yield the sizes, names and texts of documents that keep devices busy."""
    from fuzz.hostile_documents import extremes

    documents = extremes()
    for name in ("2^17 layers", "subset 6.55e+04 0.001", "a bundle of 256 wide reports"):
        yield len(documents[name].encode()), name, documents[name]


def _hostile_documents() -> Iterator[Attack]:
    tests = ("tests/fuzz/test_hostile_documents.py", "clients/js/test/hostile.test.js")
    for size, name, document in _slow_documents():
        what = f"hang a device with a document of {size:,} bytes ({name})"
        yield Attack(what, "slow_document", tests, document)


def _outages() -> Iterator[Attack]:
    tests = ("tests/client/test_device.py", "clients/js/test/device.test.js")
    for days in (0.25, 1, 7):
        hours = 24 * days
        yield Attack(f"be out of reach for {hours:g} hours", "outage", tests, str(hours))
    what = "be out of reach for 2 hours, one report for each device"
    yield Attack(what, "lone_outage", tests, "2")
    what = "be within reach a quarter of the time for a week, one report for each device"
    yield Attack(what, "quarter_up", tests)


def _in_javascript() -> Iterator[Attack]:
    """Yield the attacks on devices in JavaScript, in Node and where it says so in Chromium."""
    independence = ("clients/js/test/accepts.test.js", "tests/js/test_trust.py")
    for what, case, tests in (
        ("find incomes by changing the domain of a task", "silence", independence),
        ("let a device rehearse whose owner allows nothing", "no_budget", _javascript("client")),
        ("call a private column public", "public_column", _javascript("tables")),
        ("ask for something else under a known name", "another_meaning", _javascript("accepts")),
        ("forge the words that the owner reads", "forged_consent", _javascript("statement")),
        ("mark devices by entity tags, in Chromium", "entity_tags", _tests("js/trust")),
        ("mark a device by a round of its own", "own_round", _javascript("rounds")),
        ("remove the ledger", "removed_ledger", _javascript("node")),
    ):
        yield _of_javascript(what, case, tests)
    for size, name, document in _slow_documents():
        what = f"hang a device with a document of {size:,} bytes ({name})"
        yield _of_javascript(what, "slow_document", _javascript("hostile"), document)
    for hours in (2, 24):
        what = f"be out of reach for {hours} hours, one report for each device"
        yield _of_javascript(what, "outage", _javascript("device"), str(hours))


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
    """Run every attack on both trees and print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("--only", default="", help="comma-separated cases; other rows stay")
    parser.add_argument("--documents", type=int, default=0, help="hostile documents per client")
    parser.add_argument("--write", action="store_true", help=f"write {EVIDENCE.relative_to(ROOT)}")
    wanted = parser.parse_args()
    table, documents = "", ""
    if wanted.documents:
        documents = "\n".join(document_lines(wanted.documents)) + "\n"
        print(documents)
    if wanted.commit:
        with checked_out(wanted.commit) as before:
            only = set(filter(None, wanted.only.split(",")))
            table = "\n".join(lines(wanted.commit, before, only)) + "\n"
        print(table)
    if wanted.write:
        _write(table, documents)


def _write(table: str, documents: str) -> None:
    """Write the page; a part that is empty stays as it was."""
    text = EVIDENCE.read_text() if EVIDENCE.exists() else ""
    old_table, title, section = text.partition(DOCUMENTS_TITLE)
    parts = (table or old_table.strip() + "\n", documents or title + section)
    EVIDENCE.write_text("\n".join(part for part in parts if part.strip()))


def lines(commit: str, before: Path, only: set[str]) -> Iterator[str]:
    """Yield the lines of the table; rows of other cases than ``only`` stay, if some are named."""
    old_rows = EVIDENCE.read_text().splitlines() if EVIDENCE.exists() else []
    yield "# Attacks, before and now\n"
    yield f"Written by `python scripts/attacks.py {commit} --write`: every attack of"
    yield "`scripts/attack_cases.py`, `scripts/attack_javascript.py`,"
    yield "`scripts/attack_collectors.py` and `scripts/attack_loads.py`,"
    yield f"on the package of {commit} and on that of this tree. The tests hold what is so now."
    yield "Times are those of a machine that had other work.\n"
    yield "| somebody tries to ... | before | now | tests |\n|---|---|---|---|"
    for attack in attacks():
        if only and not only & {attack.case, f"{attack.script.stem}:{attack.case}"}:
            yield from (row for row in old_rows if row.startswith(f"| {attack.what} |"))
            continue
        print(attack.what, file=sys.stderr, flush=True)
        cells = (attack.what, _achieved_before(before, attack), achieved(ROOT, attack))
        yield f"| {' | '.join(cells)} | {_links(attack)} |"
    yield ""
    yield "What takes too long for this page is shown by tests, some with a twin that does as"
    yield "before:"
    for what, tests in SLOW_TESTS.items():
        yield f"{what} ({', '.join(_link(test) for test in tests)}),"
    yield "and the digest of 32 bytes ([test_envelope.py](../../tests/wire/test_envelope.py))."
    yield "Whoever serves the code of the client is trusted with values, as the"
    yield "[threat model](../threat-model.md) says."


SLOW_TESTS = {
    "power cuts": _tests("system/powercut"),
}


def _links(attack: Attack) -> str:
    return ", ".join(_link(test) for test in attack.tests)


def _link(test: str) -> str:
    return f"[{Path(test).name}](../../{test})"


def _achieved_before(before: Path, attack: Attack) -> str:
    """Return what an attack achieved against the package that it is compared with."""
    if not attack.before:
        return achieved(before, attack)
    with checked_out(attack.before) as tree:
        return f"{achieved(tree, attack)} (at {attack.before})"


def achieved(tree: Path, attack: Attack) -> str:
    """Return what an attack achieves against the package of a tree."""
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
    yield f"{DOCUMENTS_TITLE}\n"
    yield f"Written by `python scripts/attacks.py --documents {count} --write`:"
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
    yield "largest document took (Python), and what the process needs beside what it holds when"
    yield "idle (JavaScript; asserted by [hostile.test.js](../../clients/js/test/hostile.test.js))."


def _run_python(count: int) -> Any:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{TESTS}"}
    command = [sys.executable, "-m", "fuzz.hostile_documents", str(count), str(SEED)]
    return json.loads(subprocess.check_output(command, env=environment))


def _run_javascript(count: int) -> Any:
    script = ROOT / "clients" / "js" / "support" / "hostile.js"
    node = ["node", str(script)]
    timed = json.loads(subprocess.check_output([*node, str(count), str(SEED)]))
    work = json.loads(subprocess.check_output([*node, "work", str(COUNTED), str(SEED)]))
    return {**timed, "work": work}


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
        "",
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
        "below 16 MB",
    ]
    yield f"| JavaScript, the worst known | {' | '.join(cells)} |"


def _named(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    main()
