"""The same jobs in other libraries, side by side: ``make bench-peers``.

Each library gets a virtual environment of its own under ``.peers/`` and an adapter in
``scripts/peers`` that calls its public interface.  Every oracle of every library runs in a process
of its own on one core, all in one run.  What does not install or run is printed with its reason.
The table goes to standard output and to ``docs/evidence/peers.md``.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PEERS = HERE.parent / ".peers"
EVIDENCE = HERE.parent / "docs" / "evidence" / "peers.md"
PAGE = HERE.parent / "docs" / "choosing-a-mechanism.md"
MARKS = ("<!-- make bench-peers writes from here -->", "<!-- to here -->")
EPSILON = 1.0
THEIRS = 10_000  # people; times are compared per person
OURS = {"SHE": 10_000} | dict.fromkeys(("SUE", "OUE", "THE", "RAPPOR", "subset"), 100_000)
JOBS = [("GRR", 16)] + [
    (oracle, 1024)
    for oracle in (
        "GRR",
        "SUE",
        "OUE",
        "SHE",
        "THE",
        "BLH",
        "OLH",
        "fast",
        "hadamard",
        "subset",
        "RAPPOR",
    )
]
NAMES = {
    "hadamard": "Hadamard response",
    "subset": "subset selection",
    "fast": "fast local hashing",
}
HALVES = ("client", "server")
TIMEOUT = 900  # seconds


@dataclass(frozen=True)
class Library:
    """How to install a library, and which oracles it shares with us."""

    name: str
    script: str
    oracles: tuple[str, ...]
    packages: tuple[str, ...] = ()


LIBRARIES = (
    Library("sottovoce", "ours.py", tuple(dict.fromkeys(oracle for oracle, _ in JOBS))),
    Library(
        "pure-ldp",
        "for_pure_ldp.py",
        ("GRR", "SUE", "OUE", "SHE", "THE", "BLH", "OLH", "fast", "hadamard", "RAPPOR"),
        ("pure-ldp", "xxhash<3.6", "numpy<2", "bitstring<5", "scikit-learn", "statsmodels"),
    ),
    Library(
        "multi-freq-ldpy",
        "for_multi_freq_ldpy.py",
        ("GRR", "SUE", "OUE", "SHE", "THE", "BLH", "OLH", "subset"),
        ("multi-freq-ldpy", "xxhash<3.6", "scipy"),
    ),
    Library("opendp", "for_opendp.py", ("GRR", "SUE"), ("opendp", "numpy")),
)


def main() -> None:
    pythons = {library.name: python(library) for library in LIBRARIES}
    results = {(name, *job): result for name, job, result in measured(pythons)}
    text = report(results)
    print(text)
    EVIDENCE.parent.mkdir(parents=True, exist_ok=True)
    EVIDENCE.write_text(text, encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(
        before + MARKS[0] + "\n" + short(results) + MARKS[1] + rest.partition(MARKS[1])[2],
        encoding="utf-8",
    )


def measured(pythons: dict[str, str]) -> Iterator[tuple[str, tuple[str, int], dict[str, Any]]]:
    """Yield what each library took for each oracle that it has."""
    for oracle, size in JOBS:
        for library in LIBRARIES:
            if oracle in library.oracles:
                say(f"{oracle}, size {size}: {library.name}")
                result = run(library, pythons[library.name], oracle, size)
                if "error" in result:
                    say(f"  failed: {result['error']}")
                yield library.name, (oracle, size), result


def python(library: Library) -> str:
    """Return the interpreter of the library's environment, made if need be, or the reason why there
    is none.
    """
    if not library.packages:
        return sys.executable
    home = PEERS / library.name
    interpreter, stamp = home / "bin" / "python", home / ".ready"
    if stamp.exists() and stamp.read_text() == "\n".join(library.packages):
        return str(interpreter)
    say(f"installing {library.name}")
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [
            str(interpreter),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *library.packages,
        ],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"error: does not install: {reason(done.stderr)}"
    stamp.write_text("\n".join(library.packages))
    return str(interpreter)


def run(library: Library, interpreter: str, oracle: str, size: int) -> dict[str, Any]:
    """Return the adapter's JSON, or why there is none."""
    if interpreter.startswith("error: "):
        return {"error": interpreter.removeprefix("error: ")}
    users, repeats = people(library, oracle), repeated(oracle)
    script = str(HERE / "peers" / library.script)
    command = [
        interpreter,
        "-W",
        "ignore",
        script,
        oracle,
        str(size),
        str(users),
        str(repeats),
        str(EPSILON),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, preexec_fn=one_core, timeout=TIMEOUT
        )
        return json.loads(done.stdout) if done.returncode == 0 else {"error": reason(done.stderr)}
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {TIMEOUT} seconds"}


def people(library: Library, oracle: str) -> int:
    return THEIRS if library.packages else OURS.get(oracle, 1_000_000)


def repeated(oracle: str) -> int:
    return 100 if oracle == "GRR" else 5  # small domains need more runs for the same precision


def one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def reason(errors: str) -> str:
    """Return the last line of an error, without the paths and hosts of this machine."""
    lines = [line for line in errors.strip().splitlines() if line.strip() and "WARNING" not in line]
    return re.sub(r"\S*/\S*", "...", lines[-1])[:160] if lines else "no message"


def report(results: dict[tuple[str, str, int], dict[str, Any]]) -> str:
    lines = [HEAD.format(versions=versions(results), theirs=f"{THEIRS:,}", epsilon=EPSILON)]
    heads = [
        "oracle",
        "size",
        "library",
        "people",
        "client us",
        "one call each",
        "server us",
        "bytes",
        "MSE / theory",
    ]
    heads += ["client, times faster", "server, times faster", "note"]
    lines += ["| " + " | ".join(heads) + " |", "|---" * 2 + "|---" + "|---:" * 8 + "|---|"]
    for oracle, size in JOBS:
        for library in LIBRARIES:
            if (library.name, oracle, size) in results:
                lines.append(line(library, oracle, size, results))
    return "\n".join(lines) + "\n"


def short(results: dict[tuple[str, str, int], dict[str, Any]]) -> str:
    """Return the table of docs/choosing-a-mechanism.md: server time and bytes of every library."""
    names = [library.name for library in LIBRARIES]
    heads = [
        "oracle",
        "values",
        *(f"{name}: server us" for name in names),
        "our client us: in batches",
        "alone",
        "bytes",
    ]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for oracle, size in JOBS:
        found = [results.get((name, oracle, size), {}) for name in names]
        servers = [
            figure(one["server"]) if "server" in one else "failed" if one else "" for one in found
        ]
        ours = found[0]
        rest = (
            [figure(ours["client"]), figure(ours["single"]), f"{ours['bytes']:,.0f}"]
            if "server" in ours
            else [""] * 3
        )
        lines.append(
            "| " + " | ".join([NAMES.get(oracle, oracle), f"{size:,}", *servers, *rest]) + " |"
        )
    return "\n".join(lines) + "\n"


def line(
    library: Library, oracle: str, size: int, results: dict[tuple[str, str, int], dict[str, Any]]
) -> str:
    found, ours = results[library.name, oracle, size], results["sottovoce", oracle, size]
    cells = [NAMES.get(oracle, oracle), str(size), library.name, f"{people(library, oracle):,}"]
    if "error" in found:
        return "| " + " | ".join([*cells, *[""] * 7, f"**failed**: {found['error']}"]) + " |"
    single = "" if found["single"] is None else figure(found["single"])
    note = found["note"] + (
        f" ({found['top']:.0%} of the top value found)" if "biased" in found["note"] else ""
    )
    cells += [figure(found["client"]), single or figure(found["client"]), figure(found["server"])]
    cells += [f"{found['bytes']:,.0f}", accuracy(found, oracle, size, results)]
    faster = [
        figure(found[half] / ours[half]) if library.packages and "error" not in ours else ""
        for half in HALVES
    ]
    return "| " + " | ".join([*cells, *faster, note]) + " |"


def accuracy(
    found: dict[str, Any],
    oracle: str,
    size: int,
    results: dict[tuple[str, str, int], dict[str, Any]],
) -> str:
    """Return the squared error over the variance that theory states, with the standard error of
    that ratio.
    """
    shared = "OLH" if oracle == "fast" else oracle
    theory = found["theory"] or results["sottovoce", shared, size].get("theory", 0.0)
    if not theory:
        return "no formula"
    spread = (
        "" if "biased" in found["note"] else f" ± {sqrt(2 / (size - 1) / repeated(oracle)):.3f}"
    )
    return f"{found['mse'] / theory:.3f}{spread}"


def figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def versions(results: dict[tuple[str, str, int], dict[str, Any]]) -> str:
    found = {key[0]: result["versions"] for key, result in results.items() if "versions" in result}
    return "\n".join(
        f"- {library}: {', '.join(f'{name} {number}' for name, number in packages.items())}"
        for library, packages in found.items()
    )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


HEAD = """# The same jobs in other libraries

Written by `make bench-peers`: every line is a process of its own, on one core, all in one run;
times are CPU time, the best of several repeats.  Values follow Zipf's law and are the same for
everybody; epsilon is {epsilon}.

- **client us**: microseconds per person to randomise a value (ours packs the report, too), in the
  way the library offers: ours takes arrays of people, the others one person per call.  **one call
  each** is ours for a single person.
- **server us**: microseconds per person to go from the reports to an estimate of every value of the
  domain; ours starts from packed bytes and checks them.
- **bytes**: ours as sent; the others define no wire format, so arrays count as in memory and a
  number as eight.
- **MSE / theory**: squared error averaged over the domain, over the variance of equation 3.2 in
  Wang 2021, with the standard error of that ratio; 1 is what an unbiased estimate has.  Estimates
  that are clipped and normalised have less error and are biased: the note says how much of the most
  frequent value was found on average.
- **times faster**: their time over ours, per person.  The others ran with {theirs} people, which
  favours neither side where time is linear, but spreads a server's fixed costs over fewer people
  than ours.
- Random words: ours and OpenDP's are cryptographic; pure-LDP and multi-freq-ldpy use the Mersenne
  twister.

{versions}
"""

if __name__ == "__main__":
    main()
