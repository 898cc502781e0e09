"""What a malicious collector achieves against a device, before and now.

    python scripts/attacks.py a85a09b             a commit to compare with; prints the table
    python scripts/attacks.py a85a09b --write     also writes docs/evidence/attacks.md

Every attack runs in a process of its own, on the package of the other commit and on that of this
tree.  The attacks are in ``attack_cases.py``.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from other_tree import ROOT, checked_out, run

sys.path.insert(0, str(ROOT / "tests"))

EVIDENCE = ROOT / "docs" / "evidence" / "attacks.md"
CASES = Path(__file__).with_name("attack_cases.py")
MAX_SECONDS = 120.0


@dataclass(frozen=True)
class Attack:
    """An attack, what it tries, and what it is given."""

    what: str
    case: str
    argument: str = ""


def attacks() -> Iterator[Attack]:
    """Yield all attacks; the documents are those of the tests."""
    from fuzz.hostile_documents import extremes

    yield Attack("find incomes by changing the domain of a task", "silence")
    yield Attack("call a private column public", "public_column")
    yield Attack("mark devices by entity tags", "entity_tags")
    yield Attack("forge the words that the owner reads", "forged_consent")
    documents = extremes()
    for name in ("2^17 layers", "subset 6.55e+04 0.001", "a bundle of 256 wide reports"):
        size = len(documents[name].encode())
        yield Attack(
            f"hang a device with a document of {size:,} bytes ({name})",
            "slow_document",
            documents[name],
        )
    for days in (0.25, 1, 7):
        yield Attack(f"be out of reach for {24 * days:g} hours", "outage", str(24 * days))
    yield Attack("cut the ledger to nothing", "cut_ledger")
    yield Attack("let a spreadsheet execute a value", "spreadsheet")


def main() -> None:
    """Run every attack on both trees and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--write", action="store_true", help=f"write {EVIDENCE.relative_to(ROOT)}")
    wanted = parser.parse_args()
    with checked_out(wanted.commit) as before:
        page = "\n".join(lines(wanted.commit, before)) + "\n"
    print(page)
    if wanted.write:
        EVIDENCE.write_text(page)


def lines(commit: str, before: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# A malicious collector, before and now\n"
    yield f"Written by `python scripts/attacks.py {commit} --write`: every attack of"
    yield f"`scripts/attack_cases.py`, on the package of {commit} and on that of this tree.\n"
    yield "| a collector tries to ... | before | now |\n|---|---|---|"
    for attack in attacks():
        print(attack.what, file=sys.stderr, flush=True)
        yield f"| {attack.what} | {achieved(before, attack)} | {achieved(ROOT, attack)} |"


def achieved(tree: Path, attack: Attack) -> str:
    """Return what an attack achieves against the package of a tree."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(attack.argument)
        file.flush()
        try:
            return run(tree, [str(CASES), attack.case, file.name], MAX_SECONDS).strip()
        except subprocess.TimeoutExpired:
            return f"busy for more than {MAX_SECONDS:g} s"


if __name__ == "__main__":
    main()
