"""The default mechanism of tasks: what it gains over the earlier one, and what it costs.

``python -m sottovoce.lab.experiments.default_mechanism`` prints the page that is kept in
``docs/evidence/default-mechanism.md``.  All variances are exact, per user and averaged over the
domain; nothing is sampled.

Source: Ye and Barg 2018; docs/affine-response.md.
"""

from collections.abc import Sequence
from math import exp

import numpy as np

from sottovoce.mechanisms.affine import AffineResponse, average_variance
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.plans.frequencies.choose_mechanism import DEFAULT_RULE, UNSTATED_RULE, choose

SMALL_SIZES = range(2, 81)
SHOWN_SMALL = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 72, 80)
EPSILONS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
LARGE_SIZES = tuple(sorted({round(2 * 1.25**step) for step in range(59)} | {10**6}))
SHOWN_LARGE = (100, 1_000, 10_000, 30_000, 70_000, 100_000, 200_000, 500_000, 1_000_000)
LARGE_EPSILONS = tuple(8 + step / 2 for step in range(25))
SHOWN_EPSILONS = (8.0, 9.0, 10.0, 10.5, 11.0, 12.0, 13.0, 14.0, 16.0, 20.0)
NEAR = 1.1  # times the least variance
CHOSEN = 10  # values that a false report promotes


def variance(mechanism: PureMechanism) -> float:
    """Return the variance per user of a mechanism."""
    return average_variance(mechanism.p, mechanism.q, mechanism.size)


def gain(size: int, epsilon: float) -> float:
    """Return how many times the earlier default's variance is that of the default."""
    earlier, now = (choose(size, epsilon, rule) for rule in (UNSTATED_RULE, DEFAULT_RULE))
    return variance(earlier.mechanism) / variance(now.mechanism)


def least_variance(size: int, epsilon: float) -> float:
    """Return the variance of subset selection, whatever the size of its report."""
    odds = exp(epsilon)
    chosen = max(1, round(size / (odds + 1)))
    p = chosen * odds / (chosen * odds + size - chosen)
    return average_variance(p, (chosen - p) / (size - 1), size)


def loss(size: int, epsilon: float, rule: str = DEFAULT_RULE) -> float:
    """Return how many times the least variance a rule's is."""
    return variance(choose(size, epsilon, rule).mechanism) / least_variance(size, epsilon)


# --- the page ------------------------------------------------------------------------------------


def page() -> str:
    """Return the page as Markdown."""
    parts = (_small_domains(), _large_epsilons(), _false_reports())
    return "\n".join([_HEAD, *(line for part in parts for line in part)]) + "\n"


def _small_domains() -> list[str]:
    lines = [_SMALL, *_header(["values", *(f"{epsilon:g}" for epsilon in EPSILONS)])]
    lines += [
        _row([str(size), *(_gain(size, epsilon) for epsilon in EPSILONS)]) for size in SHOWN_SMALL
    ]
    lines += ["", f"Over all sizes from {SMALL_SIZES[0]} to {SMALL_SIZES[-1]}:", ""]
    lines += _header(["epsilon", "median", "largest", "at", "sizes with subset selection"])
    return [*lines, *map(_gains, EPSILONS)]


def _gain(size: int, epsilon: float) -> str:
    kind = choose(size, epsilon).mechanism.kind
    return f"{gain(size, epsilon):.2f} {kind}"


def _gains(epsilon: float) -> str:
    gains = [gain(size, epsilon) for size in SMALL_SIZES]
    chosen = [choose(size, epsilon).mechanism.kind for size in SMALL_SIZES]
    at = SMALL_SIZES[int(np.argmax(gains))] if max(gains) > 1 else "-"
    cells = [f"{np.median(gains):.3f}", f"{max(gains):.3f}", str(at), str(chosen.count("subset"))]
    return _row([f"{epsilon:g}", *cells])


def _large_epsilons() -> list[str]:
    head = _header(["values", *(f"{epsilon:g}" for epsilon in SHOWN_EPSILONS)])
    lines = [_LARGE, *head]
    for size in SHOWN_LARGE:
        losses = [f"{loss(size, epsilon):.2f}" for epsilon in SHOWN_EPSILONS]
        lines.append(_row([f"{size:,}", *losses]))
    swept = [(size, epsilon) for epsilon in LARGE_EPSILONS for size in LARGE_SIZES]
    lines.append("")
    for name, rule in (("The default", DEFAULT_RULE), ("The earlier default", UNSTATED_RULE)):
        lines.append(f"{name}: {_swept(swept, rule)}")
    return [*lines, "", _BEYOND, *_beyond(swept)]


def _swept(swept: Sequence[tuple[int, float]], rule: str) -> str:
    losses = [loss(size, epsilon, rule) for size, epsilon in swept]
    near = sum(each <= NEAR for each in losses)
    size, epsilon = swept[int(np.argmax(losses))]
    return (
        f"within {NEAR:g} of the least in {near:,} of {len(swept):,} settings, at worst"
        f" {max(losses):.2f} ({size:,} values, epsilon {epsilon:g})."
    )


def _beyond(swept: Sequence[tuple[int, float]]) -> list[str]:
    """Return the settings in which the default is not near the least variance."""
    lines = _header(["values", "epsilon", "default", "", "OLH", "OUE: bytes"])
    for size, epsilon in swept:
        excess = loss(size, epsilon)
        if excess > NEAR:
            hashed = variance(OLH(epsilon, size)) / least_variance(size, epsilon)
            kind = choose(size, epsilon).mechanism.kind
            cells = [f"{size:,}", f"{epsilon:g}", f"{excess:.2f}", kind, f"{hashed:.2f}"]
            lines.append(_row([*cells, f"{-(-size // 8):,}"]))
    return lines


def _false_reports() -> list[str]:
    lines = [_FALSE, *_header(["values", "epsilon", "subset", "affine", "affine, seeds dealt"])]
    for size in (16, 32, 64, 80):
        for epsilon in (0.5, 1.0, 2.0):
            sets = SubsetSelection(epsilon, size)
            hashed = AffineResponse(epsilon, size)
            cells = [str(size), f"{epsilon:g}", f"{sets.mean_supported(CHOSEN):.0f}"]
            most = min(CHOSEN, hashed.max_supported)
            lines.append(_row([*cells, str(most), f"{hashed.mean_supported(CHOSEN):.1f}"]))
    return lines


def _header(names: Sequence[str]) -> list[str]:
    return [_row(names), "|" + "---:|" * len(names)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_HEAD = """# The default mechanism

Printed by `python -m sottovoce.lab.experiments.default_mechanism`. Variances are exact, per user
and averaged over the domain. The default of tasks is the rule "least variance": the least of GRR,
of subset selection up to 80 values and of affine response with up to 2^16 buckets ([decision
77](../decisions/0077-the-default-rule.md)). The earlier default, which documents without a rule
keep, is the better one of GRR and affine response with up to 2^12 buckets.
"""

_SMALL = """## Small domains

The earlier default's variance over that of the default, by epsilon, and what is chosen.
"""

_LARGE = """
## Large epsilons

The default's variance over the least of all mechanisms, which is that of subset selection with a
report of one bit per value.
"""

_BEYOND = f"""Where the default is above {NEAR:g} times the least. OLH would help in some of them,
and is decoded with a hash for every report and value; a report of unary encoding has as many bytes
as shown.
"""

_FALSE = f"""
## What a false report can do

How many of {CHOSEN} chosen values one false report supports at the most: a set holds what its
sender likes; a hash has to be searched for. With `defence = "seeds"` the hash is dealt, and the
sender has the fullest bucket, on average.
"""

if __name__ == "__main__":
    print(page(), end="")
