"""The shuffle model at full size, on processes of their own: ``make chain``.

Each part can be run alone, as in ``python scripts/shuffle_chain.py --only hop``.

- ``people``: many people answer through two hops; the collector's answer must be, bit for bit, that
  of the same reports without a shuffler (``sottovoce/lab/shuffle_chain.py``).
- ``tokens``: fewer people, with blind tokens and fakes; every person is counted once.
- ``hop``: the processor time of one hop beside bare decryption, and its memory, for two numbers of
  messages (``sottovoce/lab/hop_cost.py``).

What was seen goes to ``docs/evidence/shuffle-chain.md``, a section per part; other sections stay.
Anything wrong is printed and makes the exit code 1.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sottovoce.lab.hop_cost import HopCost, hop_cost
from sottovoce.lab.populations.zipf import zipf
from sottovoce.lab.shuffle_chain import (
    SIZE,
    ChainSettings,
    RunningChain,
    answer_all,
    is_unshuffled_answer,
    running_chain,
)

EVIDENCE = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "shuffle-chain.md"
FAKES = 500
PATIENCE = 3600.0  # seconds until a batch that was sent counts as lost
MIX_BYTES = 32 << 20
MAX_RATIO = 2.0
MAX_GROWTH = 1.1  # of a hop's memory from the smaller number of messages to the larger
MEBIBYTE = 1 << 20

_TITLE = "# The shuffle model at full size\n"


@dataclass
class Seen:
    """The lines of a section, and what is wrong."""

    lines: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def check(self, condition: bool, finding: str) -> None:
        """Note a finding unless a condition holds."""
        if not condition:
            self.findings.append(finding)


def main() -> None:
    """Run what was asked for, write the page, and exit with 1 if anything was found."""
    wanted = arguments()
    findings = []
    for name in wanted.only.split(",") if wanted.only else PARTS:
        seen = PARTS[name].run(wanted)
        findings += [f"{name}: {finding}" for finding in seen.findings]
        write(PARTS[name].title, seen)
    for finding in findings:
        print(f"FOUND: {finding}")
    print(f"{len(findings)} findings; {EVIDENCE.name} is written")
    sys.exit(bool(findings))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help=f"comma-separated parts: {', '.join(PARTS)}")
    parser.add_argument("--people", type=int, default=100_000, help="people through two hops")
    parser.add_argument("--tokens", type=int, default=2_000, help="people with blind tokens")
    parser.add_argument("--messages", type=int, default=1_000_000, help="messages through one hop")
    wanted = parser.parse_args()
    unknown = set(filter(None, wanted.only.split(","))) - set(PARTS)
    if unknown:
        parser.error(f"--only: no such part: {', '.join(sorted(unknown))}")
    return wanted


def people(wanted: argparse.Namespace) -> Seen:
    """Let everybody answer, and compare the answer with that of the unshuffled reports."""
    seen = Seen()
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-chain-") as folder,
        running_chain(Path(folder), ChainSettings(wanted.people)) as chain,
    ):
        reports = answer_all(chain, values_of(wanted.people))
        answer = chain.answer(PATIENCE)
        lines = usage(chain)
    is_same = is_unshuffled_answer(chain.task, reports, answer)
    is_same_in_any_order = is_unshuffled_answer(chain.task, reports[::-1], answer)
    is_same_with_another = is_unshuffled_answer(chain.task, [*reports[:-1], reports[0]], answer)
    seen.check(is_same, "the answer is not that of the same reports without a shuffler")
    seen.check(is_same_in_any_order, "the answer depends on the order of the reports")
    seen.check(not is_same_with_another, "a report replaced by another does not change the answer")
    seen.lines = [
        f"{wanted.people:,} devices, each a `Client` with a ledger of its own, answered one"
        f" histogram of {SIZE:,} values.",
        "Each sealed its own message in three layers. Messages went over HTTP to the first of two"
        " hops; collector and",
        "hops were three processes, started by their commands, without fakes.\n",
        "| | |\n|---|---:|",
        f"| people counted | {answer['users']:,} |",
        f"| rows of the answer | {len(answer['rows']):,} |",
        f"| equal, bit for bit, to the answer of the same reports unshuffled | {yes(is_same)} |",
        "| the same comparison with one report replaced (broken twin) finds a difference |"
        f" {yes(not is_same_with_another)} |",
        *lines,
        f"| from start to answer, on a shared machine | {time.monotonic() - started:,.0f} s |",
    ]
    return seen


def tokens(wanted: argparse.Namespace) -> Seen:
    """Let people answer with blind tokens through hops that add fakes."""
    seen = Seen()
    count = wanted.tokens
    settings = ChainSettings(count, fakes=FAKES, has_tokens=True)
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-chain-") as folder,
        running_chain(Path(folder), settings) as chain,
    ):
        values = values_of(count)
        answer_all(chain, values)
        answer = chain.answer(PATIENCE)
        lines = usage(chain)
    truth = np.bincount(values, minlength=SIZE)
    misses = sum(
        not row["low"] <= held <= row["high"]
        for row, held in zip(answer["rows"], truth, strict=True)
    )
    seen.check(answer["users"] == count, f"{answer['users']} people were counted, not {count}")
    guarantee = answer["guarantee"]
    seen.check(guarantee["fakes"] == FAKES, "the answer states another number of fakes")
    seen.lines = [
        f"{count:,} devices bought a blind token each over HTTP and answered; both hops added"
        f" {FAKES:,} fakes with tokens.\n",
        "| | |\n|---|---:|",
        f"| people counted | {answer['users']:,} |",
        f"| fakes of each hop, as the answer states them | {guarantee['fakes']:,} |",
        f"| epsilon against the collector, against all users, local | {guarantee['central']:.3f},"
        f" {guarantee['against_users']:.3f}, {guarantee['local']:.1f} |",
        f"| 95 % intervals that miss the truth, of {SIZE:,} | {misses} |",
        *lines,
    ]
    return seen


def hop(wanted: argparse.Namespace) -> Seen:
    """Measure one hop at a tenth of the messages and at all of them."""
    seen = Seen()
    bound = str(MIX_BYTES)
    small = hop_cost(wanted.messages // 10, "--mix-bytes", bound)
    large = hop_cost(wanted.messages, "--mix-bytes", bound)
    growth = large.peak_bytes / small.peak_bytes
    seen.check(large.ratio <= MAX_RATIO, f"one hop costs {large.ratio:.2f} times bare decryption")
    seen.check(growth <= MAX_GROWTH, f"the memory of a hop grows by {growth:.2f}")
    seen.lines = [
        "One hop as a process, on one core: it takes messages over HTTP, stores, opens, mixes,"
        " delivers and erases them.",
        "*Bare* is the processor time of opening messages of the same length, measured in between"
        " in the same run. Memory is",
        f"the largest resident size; `--mix-bytes` was {MIX_BYTES // MEBIBYTE} MiB.\n",
        "| messages | processor time | bare | ratio, at most 2 | peak memory |",
        "|---:|---:|---:|---:|---:|",
        hop_row(small),
        hop_row(large),
        f"\nThe larger batch takes {growth:.2f} times the memory of the smaller one.",
    ]
    return seen


def hop_row(cost: HopCost) -> str:
    each, bare = cost.cpu_seconds / cost.messages, cost.bare_seconds / cost.messages
    cells = [
        f"{cost.messages:,}",
        f"{cost.cpu_seconds:,.1f} s, {1e6 * each:.1f} us each",
        f"{1e6 * bare:.1f} us each",
        f"{cost.ratio:.2f}",
        f"{cost.peak_bytes / MEBIBYTE:.0f} MiB",
    ]
    return "| " + " | ".join(cells) + " |"


def usage(chain: RunningChain) -> list[str]:
    """Return what each server has used."""
    servers = [(f"hop {number}", server) for number, server in enumerate(chain.hops)]
    servers.append(("collector, with its workers", chain.collector))
    return [
        f"| {name}: processor time, peak memory | {server.cpu_seconds:.1f} s,"
        f" {server.peak_bytes / MEBIBYTE:.0f} MiB |"
        for name, server in servers
    ]


def values_of(count: int) -> list[int]:
    """Return what people hold: shares fall as 1 / rank."""
    held: list[int] = np.repeat(np.arange(SIZE), zipf(SIZE, count, exponent=1.0)).tolist()
    return held


def yes(condition: bool) -> str:
    return "yes" if condition else "no"


def write(title: str, seen: Seen) -> None:
    """Put a section into the page, in place of its last form."""
    page = EVIDENCE.read_text(encoding="utf-8") if EVIDENCE.exists() else _TITLE
    section = "\n".join([f"## {title}\n", *seen.lines, f"\nFindings: {len(seen.findings)}.\n"])
    before, found, rest = page.partition(f"## {title}\n")
    if not found:
        EVIDENCE.write_text(f"{page.rstrip()}\n\n{section}", encoding="utf-8")
        return
    _, following, after = rest.partition("\n## ")
    ending = f"\n## {after}" if following else ""
    EVIDENCE.write_text(before + section + ending, encoding="utf-8")


@dataclass(frozen=True)
class Part:
    """A part of the run: the title of its section, and what runs it."""

    title: str
    run: Callable[[argparse.Namespace], Seen]


PARTS = {
    "people": Part("Everybody through two hops", people),
    "tokens": Part("With blind tokens and fakes", tokens),
    "hop": Part("What one hop costs", hop),
}


if __name__ == "__main__":
    main()
