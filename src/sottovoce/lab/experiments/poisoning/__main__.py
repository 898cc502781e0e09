"""Write the evidence about poisoned frequency collections.

python -m sottovoce.lab.experiments.poisoning > docs/evidence/poisoning.md
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.engine.defended import defended
from sottovoce.integrity.examine import examine
from sottovoce.lab.experiments.poisoning.clean_rounds import examined, rounds
from sottovoce.lab.experiments.poisoning.scenario import (
    ADDRESS,
    Errors,
    Measured,
    Scenario,
    measure,
    poisoned,
)

FIRST_SEED = 93_000  # none of these seeds was looked at while the tests were written
CLEAN_SEED = 670_000

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
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05)
TARGETS = (2, 5, 10, 20)
TRIES = (1, 10, 1000)
METHODS = ("Norm-Sub", "normalised", "LDPRecover", "LDPRecover*", "targets removed", "ours")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page; 0 runs of a section leave it out."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--other-runs", type=int, default=10)
    options.add_argument("--power-runs", type=int, default=10)
    options.add_argument("--clean", type=int, default=1000)
    options.add_argument("--coverage-runs", type=int, default=5)
    chosen = options.parse_args(arguments)
    print(_HEAD)
    if chosen.runs:
        _print_table("## The setting of the papers", MAIN, chosen.runs)
    if chosen.other_runs:
        _print_table("## Other settings", OTHERS, chosen.other_runs)
        _print_table("## Attackers who try not to be seen", EVASIVE, chosen.other_runs)
    if chosen.power_runs:
        _print_power(chosen.power_runs)
    if chosen.coverage_runs:
        _print_coverage(chosen.coverage_runs)
    if chosen.clean:
        _print_clean(chosen.clean)


def _print_table(title: str, scenarios: Sequence[Scenario], runs: int) -> None:
    print(f"\n{title}\n\n{_TABLE.format(runs=runs)}")
    print("| attack | seen | raw gain | honest alone | " + " | ".join(METHODS) + " |")
    print("|---|---|---:|---:|" + "---:|" * len(METHODS))
    for number, scenario in enumerate(scenarios):
        first = FIRST_SEED + 1000 * len(scenarios) + 100 * number
        seeds = range(first, first + runs)
        print(_row(scenario, [measure(poisoned(scenario, seed)) for seed in seeds]), flush=True)


def _row(scenario: Scenario, results: Sequence[Measured]) -> str:
    seen = Counter(name for result in results for name in result.integrity.alarms)
    named = ", ".join(f"{name} {count}" for name, count in seen.most_common()) or "**not seen**"
    if scenario.share == 0:
        named = "no alarm" if not seen else f"FALSE ALARM: {named}"
    raw_gain = np.mean([result.raw_gain for result in results])
    cells = [f"{_mean(results, 'honest alone').squared:.2f}"]
    for method in METHODS:
        errors = _mean(results, method)
        cells.append(f"{errors.squared:.2f} ({errors.gain:.3f})")
    return f"| {scenario.name} | {named} | {raw_gain:.3f} | " + " | ".join(cells) + " |"


def _mean(results: Sequence[Measured], method: str) -> Errors:
    """Return the mean errors of a method, the squared one in 1e-6."""
    errors = [result.errors[method] for result in results]
    return Errors(
        1e6 * float(np.mean([error.squared for error in errors])),
        float(np.mean([error.gain for error in errors])),
    )


def _print_power(runs: int) -> None:
    print(f"\n## Power\n\n{_POWER.format(runs=runs)}")
    print("| tries | targets | " + " | ".join(f"{100 * share:g} %" for share in SHARES) + " |")
    print("|---:|---:|" + "---:|" * len(SHARES))
    seed = FIRST_SEED + 10_000
    for tries in TRIES:
        for targets in TARGETS:
            cells = []
            for share in SHARES:
                scenario = Scenario("power", share=share, target_count=targets, tries=tries)
                alarms = 0
                for _ in range(runs):
                    alarms += _alarms(scenario, seed)
                    seed += 1
                cells.append(f"{alarms / runs:.1f}")
            print(f"| {tries:,} | {targets} | " + " | ".join(cells) + " |", flush=True)


def _alarms(scenario: Scenario, seed: int) -> bool:
    collection = poisoned(scenario, seed)
    return examine(collection.collected.task.plan, collection.collected, 0).alarm


def _print_coverage(runs: int) -> None:
    print(f"\n## Intervals of corrected answers\n\n{_COVERAGE.format(runs=runs)}")
    print("| attack | all values | targets | ten largest |")
    print("|---|---:|---:|---:|")
    for number, scenario in enumerate(MAIN[3:]):
        covered: dict[str, list[float]] = {"all": [], "targets": [], "largest": []}
        first = FIRST_SEED + 20_000 + 100 * number
        for seed in range(first, first + runs):
            collection = poisoned(scenario, seed)
            estimate = defended(collection.collected).estimate(ADDRESS)
            low, high = estimate.interval(0.95)
            truth = collection.truth * estimate.users
            inside = (low <= truth) & (truth <= high)
            covered["all"].append(float(inside.mean()))
            covered["targets"].append(float(inside[collection.targets].mean()))
            covered["largest"].append(float(inside[np.argsort(-collection.truth)[:10]].mean()))
        means = " | ".join(f"{np.mean(shares):.3f}" for shares in covered.values())
        print(f"| {scenario.name} | {means} |", flush=True)


def _print_clean(count: int) -> None:
    print(f"\n## False alarms\n\n{_CLEAN.format(count=count)}")
    alarms = []
    nearest: dict[str, float] = {}
    made: Counter[str] = Counter()
    for clean in rounds(count, CLEAN_SEED):
        integrity = examined(clean)
        for test in integrity.tests:
            made[test.name] += 1
            nearest[test.name] = min(nearest.get(test.name, 1.0), test.p_value)
        if integrity.alarm:
            alarms.append((clean, integrity.alarms))
            print(f"alarm: {clean} {integrity.alarms}", file=sys.stderr, flush=True)
    print("| test | rounds | least p-value |")
    print("|---|---:|---:|")
    for name, times in made.items():
        print(f"| {name} | {times} | {nearest[name]:.2g} |")
    print(f"\nRounds with an alarm: {len(alarms)} of {count}.")
    for clean, names in alarms:
        print(f"\n* {clean}: {', '.join(names)}")


_HEAD = """# Poisoned frequency collections

Printed by `python -m sottovoce.lab.experiments.poisoning`.  100,000 reports, 1,024 values, a Zipf
population with exponent 1.3, epsilon 1, 10 unpopular targets and 5 % false reports, unless a row
says otherwise.  Populations, targets, honest and false reports are drawn anew for every seed.

RIA: follow the protocol for a target.  SPA: always support one target.  MGA-t: search t seeds for
the one that puts the most targets into one bucket, and name it.  Ours knows neither targets nor
share; LDPRecover is given the true share, LDPRecover* and *targets removed* the targets as well."""
_TABLE = """Mean squared error after Norm-Sub in 1e-6 (in brackets the total gain of all targets),
means of {runs} runs.  *Seen* lists the tests that alarmed and in how many runs.  *Honest alone* is
the error without any false report, from the honest reports only."""
_POWER = """Share of {runs} runs in which any test alarmed, by the share of false reports."""
_COVERAGE = """Share of values whose 95 % interval contains the truth about the honest people,
means of {runs} runs.  Errors come from the bootstrap given the suspects."""
_CLEAN = """{count} honest rounds: Zipf 0 to 1.8 and five shapes after real data, 16 to 2^20
values, 1,000 to 1,000,000 people, epsilon 0.5 to 3, affine response, OLH
and OUE.  The least p-value of so many independent rounds is expected near 1 / rounds, or above
where the bound is not tight."""

if __name__ == "__main__":
    main()
