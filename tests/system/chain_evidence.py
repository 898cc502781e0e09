"""Trials of whole chains for ``make soak``, and the sections of its page about them."""

import random
from collections import Counter

from system.chain_crash import FAKES, PEOPLE, RANDOM_MOMENT, ChainTrial, random_chain_scenario
from system.chain_twins import TWINS, is_chain_found_out


def run_chain(job, folder, databases):
    """Run one trial, on SQLite or on PostgreSQL, and return its result."""
    urls = ["", "", ""]
    if job.kind == "postgres":
        urls = [databases.create(f"chain{place}_{job.seed}").url for place in range(3)]
    scenario = random_chain_scenario(random.Random(f"chain {job.seed}"))
    return ChainTrial(folder, job.seed, scenario, urls).run()


def chain_section(trials):
    """Return what the trials did, in columns by kind."""
    head = f"| | {' | '.join(trials)} |\n|---|{'---:|' * len(trials)}"
    rows = {
        "trials": lambda one: 1,
        "deaths of the first hop": lambda one: _deaths(one, "hop 0"),
        "deaths of the second hop": lambda one: _deaths(one, "hop 1"),
        "deaths of the collector": lambda one: _deaths(one, "collector"),
        "all deaths": lambda one: one.kills.total(),
        "of these at a random moment": lambda one: sum(
            count for name, count in one.kills.items() if name.endswith(RANDOM_MOMENT)
        ),
        "messages acknowledged": lambda one: one.messages,
        "sent again, and acknowledged as duplicates": lambda one: one.sent_again,
        "parts of batches sent again": lambda one: one.parts_again,
        "acknowledged and lost": lambda one: _found(one, "lost"),
        "counted twice": lambda one: _found(one, "doubled"),
        "second orders sent": lambda one: _found(one, "second order"),
        "trials with any finding": lambda one: int(bool(one.findings)),
    }
    return [
        f"Each trial is a batch of {PEOPLE} people, each a device of its own, through two real"
        " shufflers to the real\n"
        f"collector. In some trials shufflers add {FAKES} fakes each, and reports need blind"
        " tokens. All three get SIGKILL at\n"
        "random moments and at named points of their own code, while they take, mix, deliver, open"
        " and erase, and are\n"
        "started again. Afterwards every acknowledged report must be in the collector's log once,"
        " beside nothing but the\n"
        "fakes; without fakes the answer must be that of the same reports without a shuffler, bit"
        " for bit; no part may\n"
        "ever have been sent with another content; and no sealed message, batch file or private"
        " key may be left.\n",
        head,
        *(f"| {name} | {_cells(trials, count)} |" for name, count in rows.items()),
        "\nWho died where:\n",
        head,
        *_kills(trials),
    ]


def chain_twins_section(trials):
    """Return which chains with a mistake were found out."""
    lines = [
        "Chains with one mistake each, in the trials above; one that is not found out is a"
        " finding.\n",
        "| mistake | trials | found out | for example |",
        "|---|---:|---:|---|",
    ]
    for name, results in trials.items():
        caught = [result for result in results if is_chain_found_out(name, result)]
        found = [finding for result in caught for finding in result.findings]
        example = next((finding for finding in found if TWINS[name].word in finding), "")
        lines.append(f"| {name} | {len(results)} | {len(caught)} | {example[:90]} |")
    return lines


def missed_chain_twins(trials):
    """Return a finding for every trial in which a mistake was not found out."""
    return [
        f"{name}, trial {result.seed}: not found out"
        for name, results in trials.items()
        for result in results
        if not is_chain_found_out(name, result)
    ]


def _deaths(result, who):
    return sum(count for name, count in result.kills.items() if name.startswith(f"{who}:"))


def _found(result, word):
    return sum(word in finding for finding in result.findings)


def _cells(trials, count):
    return " | ".join(f"{sum(map(count, results)):,}" for results in trials.values())


def _kills(trials):
    totals = [sum((one.kills for one in results), Counter()) for results in trials.values()]
    names = sorted({name for total in totals for name in total})
    return [f"| {name} | {' | '.join(str(total[name]) for total in totals)} |" for name in names]
