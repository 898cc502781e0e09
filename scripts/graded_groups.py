"""Graded groups at full size through a real collector that is killed: ``make graded``.

10,000 enrolled devices, a quarter of them Byzantine, report over HTTP to a collector that is killed
in the middle of the round (``sottovoce/lab/graded_collection.py``).  What was seen goes to
``docs/evidence/graded-groups.md``.  Anything wrong is printed and makes the exit code 1.
"""

import argparse
import sys
from pathlib import Path

from sottovoce.lab.graded_collection import GradedRun, GradedSettings, graded_run

EVIDENCE = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "graded-groups.md"
MOST = 0.4  # of the divergence of plain EM, which has no defence


def main() -> None:
    """Run it, write the page, and exit with 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--devices", type=int, default=GradedSettings.devices)
    parser.add_argument("--epsilon", type=float, default=GradedSettings.epsilon)
    wanted = parser.parse_args()
    settings = GradedSettings(wanted.devices, epsilon=wanted.epsilon)
    run = graded_run(settings)
    findings = found(run)
    EVIDENCE.write_text(page(settings, run, findings), encoding="utf-8")
    for finding in findings:
        print(f"FOUND: {finding}")
    print(f"{len(findings)} findings; {EVIDENCE.name} is written")
    sys.exit(bool(findings))


def found(run: GradedRun) -> list[str]:
    """Return what is wrong."""
    far = run.divergences
    findings = [
        f"{refusal.sent}: {', '.join(refusal.codes) or 'taken'} instead of {refusal.expected}"
        for refusal in run.refusals
        if not refusal.is_right
    ]
    if not run.is_same_answer:
        findings.append("the answer is not that of the same messages without a collector")
    if not run.answer["attack_seen"]:
        findings.append("the attack was not seen")
    if far["defended"] > MOST * far["plain EM"]:
        findings.append(f"the divergence is more than {MOST} of that without the defence")
    return findings


def page(settings: GradedSettings, run: GradedRun, findings: list[str]) -> str:
    """Return the page as Markdown."""
    far = run.divergences
    lines = [
        "# Graded groups through a collector\n",
        "Printed by `python scripts/graded_groups.py`.",
        f"{settings.devices:,} enrolled devices, {settings.byzantine:.0%} of them Byzantine"
        f" (Poi(8, 2)), report {settings.buckets} buckets at epsilon {settings.epsilon:g} over"
        " HTTP.",
        "The collector is a process of its own. It was killed (signal 9) when half of the devices"
        " had been heard, and",
        "started again on the same folder; then everybody sent. Divergences are Jensen-Shannon, in"
        " nats.\n",
        "| | |\n|---|---:|",
        f"| people counted | {run.answer['users']:,} |",
        f"| starts of the collector | {run.starts} |",
        f"| the answer is that of the same messages without a collector | "
        f"{'yes' if run.is_same_answer else 'no'} |",
        f"| share of false reports, as found | {run.answer['false_share']:.3f} |",
        *(f"| divergence from honest people, {name} | {each:.4f} |" for name, each in far.items()),
        f"| defended / plain EM, at most {MOST:g} | {far['defended'] / far['plain EM']:.3f} |",
        *(f"| {each.sent} | refused: {', '.join(each.codes)} |" for each in run.refusals),
        f"| from start to answer, on a shared machine | {run.seconds:,.0f} s |",
        f"\nFindings: {len(findings)}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
