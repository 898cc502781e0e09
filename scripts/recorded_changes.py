"""Compare the first recording and the first golden vectors with those of this tree.

    python scripts/recorded_changes.py > docs/evidence/recorded-changes.md

Before the house was rebuilt, a recorder wrote down what every plan answers, and golden vectors
pinned bytes.  Both were written again whenever something was meant to change.  This script says of
every old entry whether it is still the same, and if not, what became of it:

    equal      the present file has the same entry
    holds      the present code still does what the old entry says; the file has other rows now
    device     a device still sends the same bytes for the old document; collectors refuse it, or it
               states one thing more today: the limits of its rounds, or how layers are weighed
    more       everything that was recorded is equal, and there are more facts beside it
    removed    the entry is about a kind that no longer exists, or is the laboratory's alone
    changed    something that was recorded is different now, for a reason that is given

Golden rows are checked with the checks of ``tests/golden/test_golden.py``.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIRST = "7347ba3"  # the commit that recorded the old house
RECORDED = "tests/recorder/recorded.json"
GOLDEN = "tests/golden"
STATES = ("equal", "holds", "device", "more", "removed", "changed")

# Why golden rows changed, by file and section: those that do not hold for the present code.
GOLDEN_REASONS = {
    "choice picks": (
        "a message has at most 256 reports, and these rows ask for the 301st. The coin of that"
        " report is the same as before. Decision [23](../decisions/0023-what-the-app-agreed-to.md):"
        " what a document can make a device build is bounded."
    ),
    "ledger scripts": (
        "a rehearsal counts as a report in every window and needs a cap above 0. Decision"
        " [13](../decisions/0013-rehearsals.md)."
    ),
    "longitudinal refused": (
        "a value outside the domain is answered with the response to a random one, instead of being"
        " refused. Decision [23](../decisions/0023-what-the-app-agreed-to.md)."
    ),
    "discovery tasks": (
        "the document of a task of several rounds states their limits (`rounds`), so that its"
        " digest differs. Decision [23](../decisions/0023-what-the-app-agreed-to.md)."
    ),
    "marginals tasks": (
        "methods that no user should choose are the laboratory's. Decisions"
        " [8](../decisions/0008-marginals.md) and"
        " [18](../decisions/0018-product-and-laboratory.md)."
    ),
}
# What changed in the recording, by the first words of a key.
RECORDER_REASONS = {
    "advice/frequencies": "advice compares subset selection too, and finds values exactly"
    " (decisions [46](../decisions/0046-exact-findings.md),"
    " [77](../decisions/0077-the-default-rule.md)).",
    "advice/marginals": "views are pooled, and advice says which views; the comparison of methods"
    " is the laboratory's, `advice/marginals-compared` (decisions"
    " [48](../decisions/0048-pooled-views.md), [49](../decisions/0049-planning-views.md)).",
    "advice/tables": "advice weighs layers for the queries, and calls questions queries"
    " (decision [55](../decisions/0055-weights-of-layers.md)).",
    "advice/values": "the layout of a search is chosen by measured loss"
    " (decisions [45](../decisions/0045-the-layout-of-a-search.md),"
    " [47](../decisions/0047-choices-by-measured-loss.md)).",
    "audit": "an audit has more facts; its sentence is worded anew.",
    "collector": "intervals and findings are exact, and tasks without a named mechanism follow the"
    " rule of least variance (decisions [46](../decisions/0046-exact-findings.md),"
    " [77](../decisions/0077-the-default-rule.md)).",
    "device": "digests of messages. Every device draws the random index that stands for a value"
    " outside the domain, from a source of its own that the recorder seeds too; documents of"
    " several rounds state their limits, those of tables their method, those without a mechanism"
    " the new rule. All lengths are equal, and all charges but that of the rehearsal, which is an"
    " entry of 0 now.",
    "mechanism": "intervals and thresholds of findings are exact (decision"
    " [46](../decisions/0046-exact-findings.md)). Reports, tallies, estimates and variances are"
    " equal.",
    "plan": "digests of documents that gained fields or follow the new rule; intervals, thresholds"
    " and findings that are exact; better estimates of joint tables, searches and quantiles; the"
    " order of the facts in JSON. A statement is its table of facts now"
    " (decisions [26](../decisions/0026-influence.md),"
    " [40](../decisions/0040-intervals-of-quantiles.md),"
    " [45](../decisions/0045-the-layout-of-a-search.md), [46](../decisions/0046-exact-findings.md),"
    " [48](../decisions/0048-pooled-views.md), [77](../decisions/0077-the-default-rule.md)).",
    "postprocess": "intervals and thresholds of findings are exact (decision"
    " [46](../decisions/0046-exact-findings.md)).",
    "sql": "intervals of quotients and deviations, methods compared by EXPLAIN, more questions that"
    " are answered and more exact refusals. EXPLAIN and its texts are written anew"
    " (decisions [50](../decisions/0050-errors-of-sql-answers.md),"
    " [86](../decisions/0086-bias-of-deviations.md)).",
}


@dataclass
class Group:
    """What became of the entries of one group."""

    name: str
    states: Counter[str] = field(default_factory=Counter)
    kinds: set[str] = field(default_factory=set)  # removed ones
    removed: set[str] = field(default_factory=set)  # the first words of removed keys
    keys: set[str] = field(default_factory=set)  # changed ones
    parts: Counter[str] = field(default_factory=Counter)  # what changed in them
    errors: list[str] = field(default_factory=list)


def main() -> None:
    """Print the page."""
    golden, recorded = list(golden_groups()), list(recorded_groups())
    print("# What changed since the first recording\n")
    print("Printed by `python scripts/recorded_changes.py`.\n")
    print(f"Compared with commit {FIRST}, which recorded the old house before it was rebuilt.\n")
    print(_legend())
    print("\n## Golden vectors\n")
    print(_table(golden))
    print("\nSections that are not listed have equal rows only.")
    print("\n### Removed kinds\n")
    kinds = sorted(set().union(*(group.kinds for group in golden)))
    print(
        f"{', '.join(f'`{kind}`' for kind in kinds)}: baselines of the laboratory, without a wire"
    )
    print("kind. They run in `lab/baselines`")
    print("(decision [18](../decisions/0018-product-and-laboratory.md)).")
    print("\n### Rows that changed\n")
    for group in golden:
        if group.states["changed"]:
            print(f"- **{group.name}** ({group.states['changed']}): {GOLDEN_REASONS[group.name]}")
    print("\n### Bytes on the wire\n")
    print(_bytes_on_the_wire(golden))
    print("\n## The recorder\n")
    print(_table(recorded))
    print("\n### Removed entries\n")
    cases = sorted(set().union(*(group.removed for group in recorded)))
    print(f"{', '.join(f'`{case}`' for case in cases)}: plans and methods of the laboratory")
    print("(decisions [18](../decisions/0018-product-and-laboratory.md) and")
    print("[22](../decisions/0022-one-way-to-collect-tables.md)), and what SQL answers now.")
    print("\n### Entries that changed, and the commits that recorded them anew\n")
    for group in recorded:
        if group.states["changed"]:
            print(f"- **{group.name}**: {RECORDER_REASONS[group.name]}")
            print(f"  Differs: {_most_common(group.parts)}.")
            for commit in commits_that_changed(group.keys):
                print(f"    - {commit}")


def _legend() -> str:
    lines = (__doc__ or "").split("different now, for a reason that is given")[0].splitlines()
    states = [line for line in lines if line.startswith("    ")][1:]
    return "```text\n" + "\n".join(states) + "different now, for a reason that is given\n```"


def _table(groups: list[Group]) -> str:
    rows = [f"| group | {' | '.join(STATES)} |", f"|---|{'---:|' * len(STATES)}"]
    total: Counter[str] = Counter()
    for group in groups:
        total += group.states
        if set(group.states) != {"equal"}:
            rows.append(_table_row(group.name, group.states))
    return "\n".join([*rows, _table_row("all", total)])


def _table_row(name: str, states: Counter[str]) -> str:
    return f"| {name} | {' | '.join(f'{states[state]:,}' for state in STATES)} |"


def _most_common(parts: Counter[str]) -> str:
    return ", ".join(f"`{part}` in {count}" for part, count in parts.most_common(6))


def _bytes_on_the_wire(groups: list[Group]) -> str:
    rows: Counter[str] = Counter()
    for group in groups:
        if group.name.endswith((" messages", " undeclared", " reports")):
            rows += group.states
    kept = rows["equal"] + rows["holds"] + rows["device"]
    return (
        f"Of {sum(rows.values()):,} rows about messages and reports {rows['removed']} are about"
        f" removed kinds. Of the other {kept + rows['changed']}, {kept} are sent as before, byte"
        " for byte, from the same document and the same randomness"
        f" ({rows['device']} of them by devices alone: collectors refuse these documents, or"
        " documents of several rounds state their limits today)."
        f" {rows['changed'] or 'None'} changed."
    )


# --- golden vectors -----------------------------------------------------------------------------


def golden_groups() -> Iterator[Group]:
    """Yield what became of the rows of every section of the golden vectors."""
    gone = removed_kinds()
    for name in _first_files():
        for section, rows in at_first(f"{GOLDEN}/{name}.json").items():
            if isinstance(rows, list):
                yield golden_group(name, section, rows, gone)


def golden_group(name: str, section: str, rows: list[Any], gone: set[str]) -> Group:
    """Return what became of the rows of a section."""
    group = Group(f"{name} {section}")
    present = {_text(row) for row in _present(f"{GOLDEN}/{name}.json").get(section, [])}
    for row in rows:
        kinds = set(_kinds(row)) & gone
        if _text(row) in present:
            group.states["equal"] += 1
        elif kinds:
            group.states["removed"] += 1
            group.kinds |= kinds
        else:
            group.states[_state(name, section, row, group)] += 1
    return group


def removed_kinds() -> set[str]:
    """Return the kinds that golden vectors had and have no more."""
    first: set[str] = set()
    for name in _first_files():
        first |= set(_kinds(at_first(f"{GOLDEN}/{name}.json")))
    named = {kind for name in _first_files() for kind in _kinds(_present(f"{GOLDEN}/{name}.json"))}
    return first - named - {"table"}  # a table is a plan that has another name now


def _state(name: str, section: str, row: Any, group: Group) -> str:
    """Return whether a row that is no longer in its file still holds."""
    checks = _checks().SECTIONS
    check, _ = checks.get((name, section), (None, 0))
    if check is None:
        group.errors.append("no such section")
        return "removed"
    error = _error(check, row)
    if not error:
        return "holds"
    if "message" in row or "answers" in row:
        error = _error(device_sends_the_same, row)
        if not error:
            return "device"
    if "`method` must be one of" in error:
        return "removed"
    group.errors.append(error)
    return "changed"


def _error(check: Any, row: Any) -> str:
    """Return how a check of a row fails; nothing if it does not."""
    import pytest

    try:
        check(row)
    except (Exception, pytest.fail.Exception) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def device_sends_the_same(row: dict[str, Any]) -> None:
    """Check what a device sends for a row, whatever a collector thinks of its document.

    A document of several rounds is given the limits of its rounds, which it must state today.  Its
    digest, which picks the share of a round and is part of every message, stays the old one.
    """
    from sottovoce.wire import codec

    for answer in row.get("answers", [row]):
        document = dict(row["task"])
        old = codec.digest(codec.parse(json.dumps(document)))
        if "round" in answer and "rounds" not in document:
            document["rounds"] = _limits(document, answer["round"])
        new = codec.digest(codec.parse(json.dumps(document)))
        sent, consumed = _sent(document, old, answer)
        old_bytes, new_bytes = (codec.digest_to_bytes(digest).hex() for digest in (old, new))
        assert sent.replace(new_bytes, old_bytes) == answer["message"], (
            "the device sends other bytes"
        )
        assert consumed == answer["consumed"], "the device uses other randomness"


def _limits(document: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the limits of the rounds of a task that has the round of a row."""
    from sottovoce.tasks.round_limits import RoundLimits
    from sottovoce.wire import codec

    opening, later = codec.round_(document["opening"]), codec.round_(asked)
    limits = RoundLimits.of(max(2, later.number + 1), [opening.ask, later.ask])
    content: dict[str, Any] = codec.document(limits)
    return content


def _sent(document: dict[str, Any], digest: str, answer: dict[str, Any]) -> tuple[str, int]:
    """Return the message of a device in hexadecimal, and how many random bytes it took."""
    from unittest.mock import patch

    from sottovoce.client.accepts import Accepts
    from sottovoce.wire import codec

    golden = _checks()
    notice = codec.notice(codec.parse(json.dumps(document)))
    object.__setattr__(notice, "digest", digest)
    accepts = Accepts(public=notice.domain.public_names)
    ledger = golden.FixedLedger(answer["secret"])
    client = golden.device.Client(notice, ledger, accepts=accepts)
    asked = codec.round_(answer["round"]) if "round" in answer else client.notice.opening
    rng = golden.RecordedRng(bytes.fromhex(answer["random"]))
    with patch.object(golden.device, "SystemRng", lambda: rng):
        message = client.answer(golden.value_of(answer), asked=asked)
    return message.hex(), rng.consumed


@cache
def _checks() -> Any:
    """Return the module that checks golden rows."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from golden import test_golden

    return test_golden


def _kinds(value: Any) -> Iterator[str]:
    """Yield the kinds that a row mentions, also within documents that are texts."""
    if isinstance(value, dict):
        if isinstance(value.get("kind"), str):
            yield value["kind"]
        for part in value.values():
            yield from _kinds(part)
    elif isinstance(value, list):
        for part in value:
            yield from _kinds(part)
    elif isinstance(value, str):
        yield from re.findall(r'"kind":\s*"(\w+)"', value)


# --- the recorder -------------------------------------------------------------------------------


def recorded_groups() -> Iterator[Group]:
    """Yield what became of the entries of the recording, by the first words of their keys."""
    before, now = at_first(RECORDED), _present(RECORDED)
    groups: dict[str, Group] = {}
    for key, entry in before.items():
        group = groups.setdefault(group_of(key), Group(group_of(key)))
        if key not in now:
            group.states["removed"] += 1
            group.removed.add("/".join(key.split("/")[:3]))
        elif entry == now[key]:
            group.states["equal"] += 1
        elif not (different := list(differences(entry, now[key]))):
            group.states["more"] += 1
        else:
            group.states["changed"] += 1
            group.keys.add(key)
            last = "text" if key.endswith("/text") else key.rsplit("/", 1)[-1]
            for part in {path.split(".")[1] if "." in path else last for path in different}:
                group.parts[part] += 1
    yield from groups.values()


def group_of(key: str) -> str:
    """Return the group of a key."""
    first, second, *_ = key.split("/")
    return f"{first}/{second}" if first == "advice" else first


def differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield where something that was recorded is not there any more, or is different."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            if key in now:
                yield from differences(value, now[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif before != now:
        yield path


def commits_that_changed(keys: set[str]) -> Iterator[str]:
    """Yield the commits that recorded some of these keys anew."""
    for commit, changed in _recordings():
        if changed & keys:
            yield f"{commit} ({len(changed & keys)})"


@cache
def _recordings() -> list[tuple[str, set[str]]]:
    """Return every commit that wrote the recording, oldest first, with the keys that it changed."""
    order = ("--no-merges", "--topo-order", "--reverse", "--format=%h %s")
    recordings = []
    for commit in _git("log", *order, f"{FIRST}..HEAD", "--", RECORDED).splitlines():
        code = commit.split()[0]
        before, after = _at(f"{code}~1", RECORDED), _at(code, RECORDED)
        changed = {key for key in before if before[key] != after.get(key)}
        recordings.append((commit, changed))
    return recordings


# --- files --------------------------------------------------------------------------------------


@cache
def _first_files() -> list[str]:
    listed = _git("ls-tree", "-r", "--name-only", FIRST, GOLDEN).split()
    return [Path(path).stem for path in listed if path.endswith(".json")]


def at_first(path: str) -> Any:
    """Return the content of a JSON file in the first commit."""
    return _at(FIRST, path)


@cache
def _at(commit: str, path: str) -> Any:
    return json.loads(_git("show", f"{commit}:{path}"))


@cache
def _present(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def _text(row: Any) -> str:
    return json.dumps(row, sort_keys=True)


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
