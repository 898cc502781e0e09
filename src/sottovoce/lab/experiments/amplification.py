"""How tight the accountant is, and what shuffled reports gain.

``python -m sottovoce.lab.experiments.amplification`` prints the page that is kept in
``docs/evidence/amplification.md``.

Source: Balle et al. 2019; Wang 2021, chapter 9.
"""

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.targets import CentralTarget, fakes_for
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import closed_forms, solh
from sottovoce.lab.truth.shuffled import DirectResponse
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.shuffled_choice import ShuffledChoice, Yardsticks, choose_shuffled

DELTA = 1e-9
UNCAPPED = 14.0
# users, values, local epsilon, delta
BATCHES = (
    (10**3, 4, 2.0, 1e-6),
    (10**4, 16, 4.0, DELTA),
    (10**5, 16, 3.42, DELTA),
    (10**5, 1024, 5.03, DELTA),
    (10**6, 1024, 6.33, DELTA),
)
# local epsilon, users
ANY_MECHANISM = ((1.0, 10**5), (4.0, 10**6))
# values, users, central epsilon
HISTOGRAMS = (
    (16, 10**5, 0.1),
    (16, 10**6, 0.5),
    (1024, 10**5, 0.1),
    (1024, 10**5, 0.5),
    (1024, 10**6, 0.25),
    (1024, 10**6, 1.0),
    (65_536, 10**5, 0.25),
    (65_536, 10**6, 0.5),
)
CAPS = (2.0, 4.0, 6.0, 8.0)
CAPPED_USERS = (10**5, 10**6)


def page() -> str:
    """Return the page."""
    sections = (_tightness(), _any_mechanism(), _errors(), _caps(), _fakes())
    return _HEAD + "".join("\n".join(lines) + "\n" for lines in sections)


def published_mse(size: int, epsilon: float, users: int) -> float:
    """Return the error of the better one of the two methods of Wang 2021 under its own bounds."""
    target = solh.PublishedTarget(epsilon, users, DELTA)
    return min(solh.local_hashing(target).mse(size), solh.direct_response(target, size).mse(size))


def _tightness() -> list[str]:
    lines = [
        "",
        "## Direct response",
        "",
        "The lower bound is the exact divergence for one population: all others hold the same",
        "third value. No valid bound can be below it. The last column is the published closed",
        "form, which holds up to a central epsilon of 1; a dash stands where it would state more.",
        "",
        "| people | values | local epsilon | delta | at least | 24 blocks | 8 blocks | 1 block"
        " | closed |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for users, size, local, delta in BATCHES:
        blanket = Blanket(local, 1 / size)
        lower = DirectResponse(local, size, users).epsilon(delta)
        bounds = [blanket.epsilon(users, 0, delta, blocks) for blocks in (24, 8, 1)]
        numbers = " | ".join(f"{bound:.5f}" for bound in (lower, *bounds))
        closed = _closed_form(local, size, users, delta)
        lines.append(f"| {users:,} | {size:,} | {local:g} | {delta:g} | {numbers} | {closed} |")
    return lines


def _closed_form(local: float, size: int, users: int, delta: float) -> str:
    try:
        return f"{closed_forms.balle(local, size, users, delta):.4f}"
    except ParameterError:
        return "–"


def _any_mechanism() -> list[str]:
    lines = [
        "",
        "## Any mechanism",
        "",
        "Nothing is known but the local epsilon; delta is 1e-6.",
        "",
        "| people | local epsilon | ours, 24 blocks | closed form of 2023 | closed form of 2021 |",
        "|---:|---:|---:|---:|---:|",
    ]
    for local, users in ANY_MECHANISM:
        ours = Blanket.generic(local).epsilon(users, 0, 1e-6, 24)
        stronger = closed_forms.stronger_clones(local, users, 1e-6)
        clones = closed_forms.clones(local, users, 1e-6)
        lines.append(f"| {users:,} | {local:g} | {ours:.5f} | {stronger:.4f} | {clones:.4f} |")
    return lines


def _errors() -> list[str]:
    lines = [
        "",
        "## Errors at one central guarantee",
        "",
        "Mean squared errors of shares, exact, at delta 1e-9 and without a cap on the local",
        "epsilon (up to 14). *Published* is the better one of the two methods of Wang 2021 under",
        "its bounds, *Gaussian* and *Laplace* a trusted curator, *local* the same epsilon without",
        "a shuffler.",
        "",
        "| values | people | epsilon | chosen | ours | published | Gaussian | Laplace | local |",
        "|---:|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    for size, users, epsilon in HISTOGRAMS:
        target = CentralTarget(epsilon, DELTA)
        chosen = choose_shuffled(size, target, ShuffledBatch(users), UNCAPPED)
        beside = Yardsticks.of(size, target, users)
        errors = (chosen.mse, published_mse(size, epsilon, users), beside.gaussian)
        numbers = " | ".join(f"{mse:.2g}" for mse in (*errors, beside.laplace, beside.local))
        lines.append(f"| {size:,} | {users:,} | {epsilon:g} | {_named(chosen)} | {numbers} |")
    return lines


def _caps() -> list[str]:
    lines = [
        "",
        "## The price of a cap on the local epsilon",
        "",
        "1,024 values, central epsilon 0.5, delta 1e-9.",
        "",
        "| people | cap | chosen | error |",
        "|---:|---:|---|---:|",
    ]
    for users in CAPPED_USERS:
        for cap in CAPS:
            target = CentralTarget(0.5, DELTA)
            chosen = choose_shuffled(1024, target, ShuffledBatch(users), cap)
            lines.append(f"| {users:,} | {cap:g} | {_named(chosen)} | {chosen.mse:.2g} |")
    return lines


def _fakes() -> list[str]:
    lines = [
        "",
        "## Fakes",
        "",
        "How many fakes keep a collector that colludes with all other users to epsilon 1, delta",
        "1e-9, and what the published formula 14 ln(2/delta) D / epsilon^2 asks for.",
        "",
        "| mechanism | local epsilon | fakes | published |",
        "|---|---:|---:|---:|",
    ]
    mechanisms: list[tuple[str, PureMechanism]] = [
        ("direct response, 16 values", GRR(6.0, 16)),
        ("direct response, 1,024 values", GRR(6.0, 1024)),
        ("affine response, 1,024 values, 512 buckets", AffineResponse(6.0, 1024, 512)),
    ]
    for name, mechanism in mechanisms:
        fakes = fakes_for(mechanism.blanket, CentralTarget(1.0, DELTA))
        cells = round(1 / mechanism.blanket.share)
        published = solh.against_users(cells, 1, DELTA) ** 2
        lines.append(f"| {name} | {mechanism.epsilon:g} | {fakes:,} | {published:,.0f} |")
    return lines


def _named(choice: ShuffledChoice) -> str:
    mechanism = choice.mechanism
    if isinstance(mechanism, AffineResponse):
        return f"affine, {mechanism.buckets:,} buckets, local {mechanism.epsilon:.2f}"
    return f"direct, local {mechanism.epsilon:.2f}"


_HEAD = """# Amplification by shuffling

Printed by `python -m sottovoce.lab.experiments.amplification`. Everything here is computed,
nothing is sampled. [How it works](../shuffling.md).
"""

if __name__ == "__main__":
    print(page(), end="")
