"""Undo fixes one by one and see that a test fails: ``python scripts/mutations.py``.

Each mutation is a text of one file, what it becomes without a fix, and the test that must notice.
The package and the client in JavaScript are copied, so that the tree stays as it is.
``--only WORD`` tries those whose name has the word.  A mutation that no test notices, or whose text
is not there any more, makes the exit code 1.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "sottovoce"
CLIENT = ROOT / "clients" / "js"
FAILED = 1  # the exit code of pytest and of node if tests failed; others are errors of their own
MAX_SECONDS = 120.0  # of a test; without some fixes it would wait for ever


@dataclass(frozen=True)
class Mutation:
    """A fix that is undone: ``old`` becomes ``new`` in a file, and a test must fail."""

    name: str
    path: str
    old: str
    new: str
    test: str

    def file(self, folder: Path) -> Path:
        """Return the file in a folder with copies."""
        return folder / "sottovoce" / self.path

    def exit_code(self, folder: Path) -> int:
        """Run the test with the package in a folder; one that hangs has failed."""
        pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        return exit_code([*pytest, *shlex.split(f"tests/{self.test}")], ROOT, folder)


@dataclass(frozen=True)
class ClientMutation(Mutation):
    """A fix of the client in JavaScript: ``test`` is a file of its tests and the name of one."""

    def file(self, folder: Path) -> Path:
        return folder / "clients" / "js" / "src" / self.path

    def exit_code(self, folder: Path) -> int:
        """Compile the copy of the client and run the test on it."""
        client = folder / "clients" / "js"
        subprocess.run(["node_modules/.bin/tsc"], cwd=client, check=True)
        file, _, name = self.test.partition("::")
        test = ["node", "--test", f"--test-name-pattern=^{re.escape(name)}$", f"test/{file}"]
        return exit_code(test, client, folder)


MUTATIONS = (
    Mutation(
        "silence about values outside",
        "client/held.py",
        "        refusal = str(error)\n",
        "        raise\n",
        "client/test_accepts.py::test_no_sequence_of_domains_finds_a_value_by_silence",
    ),
    Mutation(
        "columns in clear by the word of the collector",
        "client/accepts.py",
        "            if column not in self.public:\n",
        "            if False:\n",
        "client/test_public.py::test_columns_leave_in_clear_only_if_the_application_says_so",
    ),
    Mutation(
        "no refusal of a further value in a longitudinal task",
        "client/ledger.py",
        "                tag = next(iter(remembered))\n",
        '                raise BudgetError("this task pays for fewer values")\n',
        "properties/test_value_independence.py -k remembers -m 'not papers'",
    ),
    Mutation(
        "one deadline for an exchange",
        "client/deadline.py",
        "    def recv_into(self, *arguments: Any) -> int:\n"
        "        self.settimeout(self.deadline.left())\n",
        "    def recv_into(self, *arguments: Any) -> int:\n",
        "client/test_deadline.py::test_an_exchange_is_over_at_its_deadline",
    ),
    Mutation(
        "the search for an address within the deadline",
        "client/deadline.py",
        "    return found.result(deadline.left())",
        "    return found.result()",
        "client/test_deadline.py::test_a_resolver_that_says_nothing_holds_nobody",
    ),
    Mutation(
        "the marker of a ledger",
        "client/ledger_file.py",
        "had_tables = self._path is not None and _marker(self._path).exists()",
        "had_tables = False",
        "client/test_ledger_file.py::test_a_ledger_that_is_gone_is_noticed_and_nothing_is_sent",
    ),
    Mutation(
        "one query of a token",
        "collector/query_queue.py",
        "            if token in self._running:\n",
        "            if False:\n",
        "collector/test_query_queue.py::test_a_token_runs_one_query_at_a_time",
    ),
    Mutation(
        "fair turns",
        "collector/query_queue.py",
        "            self._waiting.move_to_end(token)\n",
        "            self._waiting.move_to_end(token, last=False)\n",
        "collector/test_query_queue.py"
        "::test_turns_go_round_between_tokens_whatever_one_has_in_the_queue",
    ),
    Mutation(
        "bounded waiting",
        "collector/query_queue.py",
        "        if len(waiting) >= self._max_waiting:\n",
        "        if False:\n",
        "collector/test_query_queue.py::test_the_queries_of_a_token_that_wait_are_bounded",
    ),
    Mutation(
        "turns that workers share",
        "collector/api.py",
        "    if settings.workers == 1:\n",
        "    if True:\n",
        "collector/test_query_workers.py::test_workers_at_one_door_run_one_query_of_a_token",
    ),
    Mutation(
        "fair turns of workers",
        "collector/shared_turns.py",
        "            if mine.state == _RUNS and name.state == _WAITS",
        "            if False and name.state == _WAITS",
        "collector/test_shared_turns.py"
        "::test_whoever_asks_all_workers_waits_behind_those_who_ask_one",
    ),
    Mutation(
        "bounded groups",
        "sql/reading.py",
        "            if count > MOST_GROUPS:\n",
        "            if False:\n",
        "sql/test_reading.py -k 'makes_no_sense or other_limits'",
    ),
    Mutation(
        "bounded numbers",
        "sql/reading.py",
        "        if count > MOST_NUMBERS:\n",
        "        if False:\n",
        "sql/test_reading.py -k 'makes_no_sense or other_limits'",
    ),
    Mutation(
        "a process for the work of a task",
        "collector/worker.py",
        "            moved = self._moved(order, meanwhile)\n",
        "            moved = _work(order)\n",
        "collector/test_worker.py::test_health_checks_are_answered_while_a_round_is_sealed",
    ),
    Mutation(
        "checked coins",
        "collector/admission.py",
        "        if members != [address.member for address in asked_for]:\n",
        "        if False:\n",
        "collector/test_admission.py"
        "::test_a_device_that_picks_another_member_than_its_token_says_is_refused",
    ),
    Mutation(
        "influence of layers",
        "plans/tables/influence.py",
        "each.mean_span if coins_checked else each.widest_span for",
        "each.mean_span for",
        "plans/tables/test_influence.py::test_no_report_scores_beyond_the_influence",
    ),
    Mutation(
        "the checksum on Spark",
        "engine/spark/collected.py",
        "            if frames.checksum(log) != checksum:\n",
        "            if False:\n",
        "engine/spark/test_collected.py::"
        "test_a_part_that_is_missing_or_there_twice_is_refused_and_so_is_a_log_without_a_seal",
    ),
    Mutation(
        "the budget of bodies",
        "web/bodies.py",
        "        if self.held + size > self._max_held or of_address > self._max_of_address:\n",
        "        if False:\n",
        "web/test_bodies.py::"
        "test_all_bodies_share_a_budget_and_who_comes_too_late_is_told_to_come_back",
    ),
    Mutation(
        "the deadline of headers",
        "web/connections.py",
        "connection.loop.call_later(self._seconds,",
        "connection.loop.call_later(1000 * self._seconds,",
        "web/test_connections.py::test_headers_that_do_not_come_close_the_connection",
    ),
    ClientMutation(
        "silence about values outside, in JavaScript",
        "client/client.ts",
        "      const isOurs = error instanceof DomainError;\n",
        "      const isOurs = error instanceof DomainError;\n      if (isOurs) throw error;\n",
        "accepts.test.js::a search over smaller and smaller domains learns nothing from silence",
    ),
    ClientMutation(
        "columns in clear by the word of the collector, in JavaScript",
        "client/accepts.ts",
        "      !columns.includes(column),\n",
        "      columns === undefined,\n",
        "accepts.test.js::no column leaves in clear that the app has not named",
    ),
    ClientMutation(
        "random columns in clear beside values outside, in JavaScript",
        "client/client.ts",
        "domain.withPublicPart?.(fallback, value) ?? fallback",
        "fallback",
        "tables.test.js::what is public does not tell that another column was outside",
    ),
    ClientMutation(
        "the random delay, in JavaScript",
        "client/device.ts",
        "    const wait = this.#uniform(",
        "    const wait = 0 * this.#uniform(",
        "device.test.js::a message waits at most the delay, which is a minute by default",
    ),
)


def main() -> None:
    """Try the mutations, print what became of each, and exit with 1 if one was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="a word in the names of those to try")
    only = parser.parse_args().only
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="sottovoce-mutations-") as folder:
        copy_all(Path(folder))
        for mutation in MUTATIONS:
            if only in mutation.name:
                verdicts.append(verdict_on(mutation, Path(folder)))
                print(f"{verdicts[-1]:12} {mutation.name}", flush=True)
    sys.exit(any(verdict != "noticed" for verdict in verdicts))


def copy_all(folder: Path) -> None:
    """Copy the package and the client, which is compiled and tested where it is."""
    shutil.copytree(PACKAGE, folder / "sottovoce")
    client = folder / "clients" / "js"
    shutil.copytree(CLIENT, client, ignore=shutil.ignore_patterns("node_modules"))
    (client / "node_modules").symlink_to((CLIENT / "node_modules").resolve())
    (folder / "tests").mkdir()
    (folder / "tests" / "golden").symlink_to(ROOT / "tests" / "golden")


def verdict_on(mutation: Mutation, folder: Path) -> str:
    """Return whether the test passes with the fix and fails without it."""
    path = mutation.file(folder)
    text = path.read_text()
    if text.count(mutation.old) != 1:
        return "outdated"
    if mutation.exit_code(folder) != 0:
        return "fails before"
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        return "noticed" if mutation.exit_code(folder) == FAILED else "NOT NOTICED"
    finally:
        path.write_text(text)


def exit_code(command: list[str], where: Path, folder: Path) -> int:
    """Return the exit code of a command that imports the package in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=environment,
            capture_output=True,
            check=False,
            timeout=MAX_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return FAILED
    return done.returncode


if __name__ == "__main__":
    main()
