"""The page of evidence about poisoned frequency collections, section by section.

Every run is one piece of the experiment, named after its section, row and seed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from sottovoce.integrity.examine import examine
from sottovoce.lab.experiments.pieces import Pieces
from sottovoce.lab.experiments.poisoning.clean_rounds import CleanRound, examined, rounds
from sottovoce.lab.experiments.poisoning.coverage import coverage
from sottovoce.lab.experiments.poisoning.scenario import (
    Errors,
    Measured,
    Scenario,
    measure,
    poisoned,
)

# No seed from here on was looked at before the tests were as they are.
FIRST_SEED = 8_315_000
CLEAN_SEED = 9_200_000
CLEAN_AT_ONCE = 10  # rounds of one piece

MAIN = (
    Scenario("none", share=0.0),
    Scenario("RIA", tries=0),
    Scenario("SPA", each=1),
    Scenario("MGA-1", tries=1),
    Scenario("MGA-10", tries=10),
    Scenario("MGA-1000", tries=1000),
)
OTHERS = tuple(
    replace(scenario, name=f"MGA-{tries}, {name}", tries=tries)
    for tries in (1, 1000)
    for name, scenario in (
        ("epsilon 2", Scenario("", epsilon=2.0)),
        ("1 % of reports", Scenario("", share=0.01)),
        ("5 targets", Scenario("", target_count=5)),
        ("10 %, 20 targets", Scenario("", share=0.1, target_count=20)),
    )
)
EVASIVE = (
    Scenario("2 each, 1 try", each=2),
    Scenario("3 each, 1 try", each=3),
    Scenario("5 each, 1 try", each=5),
    Scenario("2 each, 8 tries", each=2, tries=8),
    Scenario("3 each, 32 tries", each=3, tries=32),
    Scenario("5 each, 300 tries", each=5, tries=300),
)
CORRECTED = tuple(scenario for scenario in MAIN if scenario.name.startswith("MGA"))
COVERED = tuple(
    replace(scenario, users=30_000, size=256, epsilon=2.0, target_count=8)
    for scenario in (*CORRECTED, *(each for each in EVASIVE if each.tries > 8))
)
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05)
TARGETS = (2, 5, 10, 20)
TRIES = (1, 10, 1000)
METHODS = ("Norm-Sub", "normalised", "LDPRecover", "LDPRecover*", "targets removed", "ours")


@dataclass(frozen=True)
class Sizes:
    """How many runs every row of a section has; 0 leaves the section out."""

    runs: int = 10
    other_runs: int = 10
    power_runs: int = 10
    coverage_runs: int = 16
    clean_rounds: int = 1000


def page(pieces: Pieces, sizes: Sizes) -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    if sizes.runs:
        parts.append(_main_section(pieces, sizes.runs))
    if sizes.other_runs:
        others = _runs(pieces, OTHERS, 10, sizes.other_runs)
        evasive = _runs(pieces, EVASIVE, 20, sizes.other_runs)
        parts.append(_table("## Other settings", OTHERS, others))
        parts.append(_table("## Attackers who try not to be seen", EVASIVE, evasive))
    if sizes.power_runs:
        parts.append(_power_section(pieces, sizes.power_runs))
    if sizes.coverage_runs:
        parts.append(_coverage_section(pieces, sizes.coverage_runs))
    if sizes.clean_rounds:
        parts.append(_clean_section(pieces, sizes.clean_rounds))
    return "\n\n".join(parts) + "\n"


def _main_section(pieces: Pieces, runs: int) -> str:
    results = _runs(pieces, MAIN, 0, runs)
    lines = [_table("## The setting of the papers", MAIN, results), "", _ACHIEVED, ""]
    lines += ["| attack | of LDPRecover's error | of the honest error | gain of the targets |"]
    lines += ["|---|---:|---:|---:|"]
    for scenario, row in zip(MAIN, results, strict=True):
        if scenario in CORRECTED:
            ours, others, honest = (
                mean_errors(row, method) for method in ("ours", "LDPRecover", "honest alone")
            )
            parts = f"{ours.squared / others.squared:.2f} | {ours.squared / honest.squared:.2f}"
            lines.append(f"| {scenario.name} | {parts} | {ours.gain:.3f} |")
    return "\n".join(lines)


def _runs(
    pieces: Pieces, scenarios: Sequence[Scenario], section: int, runs: int
) -> list[list[Measured]]:
    """Return the results of every row."""
    results = []
    for number, scenario in enumerate(scenarios):
        first = FIRST_SEED + 1000 * (section + number)
        row = [_measured(pieces, scenario, seed) for seed in range(first, first + runs)]
        results.append(row)
    return results


def _measured(pieces: Pieces, scenario: Scenario, seed: int) -> Measured:
    def compute() -> dict[str, Any]:
        return asdict(measure(poisoned(scenario, seed)))

    found = pieces.get(f"run {scenario.name} {seed}", compute)
    errors = {name: Errors(**error) for name, error in found["errors"].items()}
    return Measured(tuple(found["alarms"]), found["raw_gain"], errors, tuple(found["steps"]))


def _table(title: str, scenarios: Sequence[Scenario], results: list[list[Measured]]) -> str:
    lines = [
        title,
        "",
        _TABLE.format(runs=len(results[0])),
        "",
        "| attack | seen | raw gain | honest alone | " + " | ".join(METHODS) + " |",
        "|---|---|---:|---:|" + "---:|" * len(METHODS),
    ]
    lines += [_row(scenario, row) for scenario, row in zip(scenarios, results, strict=True)]
    return "\n".join(lines)


def _row(scenario: Scenario, results: Sequence[Measured]) -> str:
    seen = Counter(name for result in results for name in result.alarms)
    named = ", ".join(f"{name} {count}" for name, count in seen.most_common()) or "**not seen**"
    if scenario.share == 0:
        named = "no alarm" if not seen else f"FALSE ALARM: {named}"
    raw_gain = np.mean([result.raw_gain for result in results])
    cells = [f"{mean_errors(results, 'honest alone').squared:.2f}"]
    for method in METHODS:
        errors = mean_errors(results, method)
        cells.append(f"{errors.squared:.2f} ({errors.gain:.3f})")
    return f"| {scenario.name} | {named} | {raw_gain:.3f} | " + " | ".join(cells) + " |"


def mean_errors(results: Sequence[Measured], method: str) -> Errors:
    """Return the mean errors of a method, the squared one in 1e-6."""
    errors = [result.errors[method] for result in results]
    return Errors(
        1e6 * float(np.mean([error.squared for error in errors])),
        float(np.mean([error.gain for error in errors])),
    )


def _power_section(pieces: Pieces, runs: int) -> str:
    lines = ["## Power", "", _POWER.format(runs=runs), ""]
    lines += ["| tries | targets | " + " | ".join(f"{100 * share:g} %" for share in SHARES) + " |"]
    lines += ["|---:|---:|" + "---:|" * len(SHARES)]
    for number, (tries, targets) in enumerate(product(TRIES, TARGETS)):
        scenario = Scenario("power", share=max(SHARES), target_count=targets, tries=tries)
        first = FIRST_SEED + 100_000 + 100 * number
        seen = [_seen_at(pieces, scenario, seed) for seed in range(first, first + runs)]
        cells = [f"{mean:.1f}" for mean in np.mean(seen, axis=0)]
        lines.append(f"| {tries:,} | {targets} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _seen_at(pieces: Pieces, scenario: Scenario, seed: int) -> list[bool]:
    """Return whether a test alarms, for every share of false reports among the same honest ones."""

    def compute() -> list[bool]:
        collection = poisoned(scenario, seed)
        diluted = [collection.diluted(share) for share in SHARES]
        return [examine(each.task.plan, each, 0).alarm for each in diluted]

    name = f"power {scenario.tries} {scenario.target_count} {seed}"
    seen: list[bool] = pieces.get(name, compute)
    return seen


def _coverage_section(pieces: Pieces, runs: int) -> str:
    lines = ["## Intervals of corrected answers", "", _COVERAGE.format(runs=runs), ""]
    lines += [
        "| attack | corrected | all values | ten largest | targets | targets, honest alone "
        "| error | of targets |"
    ]
    lines += ["|---|---:|---:|---:|---:|---:|---:|---:|"]
    for number, scenario in enumerate(COVERED):
        first = FIRST_SEED + 200_000 + 1000 * number
        measured = [_covered(pieces, scenario, seed) for seed in range(first, first + runs)]
        found = [list(each.values()) for each in measured if each is not None]
        cells = [f"{part:.3f}" for part in np.mean(found, axis=0)]
        lines.append(f"| {scenario.name} | {len(found)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _covered(pieces: Pieces, scenario: Scenario, seed: int) -> dict[str, float] | None:
    def compute() -> dict[str, float] | None:
        found = coverage(poisoned(scenario, seed))
        return None if found is None else asdict(found)

    covered: dict[str, float] | None = pieces.get(f"coverage {scenario.name} {seed}", compute)
    return covered


def _clean_section(pieces: Pieces, count: int) -> str:
    clean = list(rounds(count, CLEAN_SEED))
    results: list[dict[str, Any]] = []
    for start in range(0, count, CLEAN_AT_ONCE):
        part = clean[start : start + CLEAN_AT_ONCE]
        results += pieces.get(f"clean {CLEAN_SEED + start} {len(part)}", _examining(part))
    alarms = [(each, found) for each, found in zip(clean, results, strict=True) if found["alarms"]]
    lines = ["## False alarms", "", _CLEAN.format(count=count), ""]
    lines += ["| test | rounds | least p-value |", "|---|---:|---:|"]
    names = dict.fromkeys(name for found in results for name in found["p_values"])
    for name in names:
        values = [found["p_values"][name] for found in results if name in found["p_values"]]
        lines.append(f"| {name} | {len(values)} | {min(values):.2g} |")
    without = [each for each, found in zip(clean, results, strict=True) if not found["p_values"]]
    quiet = [found["unchanged"] for found in results if not found["alarms"]]
    lines += ["", f"Rounds by mechanism or plan: {_by_kind(clean)}.", ""]
    lines += [f"Rounds without any test, for want of one: {_by_kind(without) or 'none'}.", ""]
    lines += [_UNCHANGED.format(unchanged=sum(quiet), quiet=len(quiet)), ""]
    lines += [f"Rounds with an alarm: {len(alarms)} of {count}."]
    lines += [f"* {each}: {', '.join(found['alarms'])}" for each, found in alarms]
    return "\n".join(lines)


def _by_kind(clean: Sequence[CleanRound]) -> str:
    kinds = Counter(each.kind for each in clean)
    return ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())


def _examining(part: Sequence[CleanRound]) -> Callable[[], list[dict[str, Any]]]:
    def compute() -> list[dict[str, Any]]:
        found = []
        for clean in part:
            result = examined(clean)
            p_values = {test.name: test.p_value for test in result.integrity.tests}
            alarms = result.integrity.alarms
            found.append({"alarms": alarms, "p_values": p_values, "unchanged": result.unchanged})
        return found

    return compute


_HEAD = """# Poisoned frequency collections

Printed by `python -m sottovoce.lab.experiments.poisoning`.  100,000 reports, 1,024 values, a Zipf
population with exponent 1.3, epsilon 1, 10 unpopular targets and 5 % false reports, unless a row
says otherwise.  Populations, targets, honest and false reports are drawn anew for every seed.  No
seed was looked at while the tests and the corrections were written.

RIA: follow the protocol for a target.  SPA: always support one target.  MGA-t: search t seeds for
the one that puts the most targets into one bucket, and name it.  Ours knows neither targets nor
share; LDPRecover is given the true share, LDPRecover* and *targets removed* the targets as well.
RIA and SPA are not seen, and cannot be: their reports are draws of the law of honest ones."""
_TABLE = """Mean squared error after Norm-Sub in 1e-6 (in brackets the total gain of all targets),
means of {runs} runs.  *Seen* lists the tests that alarmed and in how many runs.  *Honest alone* is
the error without any false report, from the honest reports only."""
_ACHIEVED = """What correction achieves: the error of ours in parts of that of LDPRecover, and of
that of the honest reports alone."""
_POWER = """Share of {runs} runs in which any test alarmed, by the share of false reports among
95,000 honest ones."""
_COVERAGE = """Share of values whose 95 % interval contains the truth about the honest people,
means of {runs} runs with 30,000 reports, 256 values, epsilon 2 and 8 targets.  Runs without an
alarm are not *corrected* and left out.  Errors come from doing the correction again on halves of
the reports.  *Honest alone* is what the honest reports of the same runs cover.  The last columns
are the mean standard errors of all values and of the targets, in parts of those from the honest
reports alone."""
_CLEAN = """{count} honest rounds: Zipf 0 to 1.8 and five shapes after real data, 3 to 2^20
values, 1,000 to 1,000,000 people, epsilon 0.5 to 3.  *Least variance* is the default of tasks,
here with up to 80 values.  The least p-value of so many independent rounds is expected near
1 / rounds, or above where the bound is not tight."""
_UNCHANGED = """Rounds without an alarm whose corrected answer is the raw one bit for bit:
{unchanged} of {quiet}."""
