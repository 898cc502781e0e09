"""How well distributions of a number are recovered.

Shapes are known, distances are measured, and Square Wave stands beside plain histograms.

``python -m sottovoce.lab.experiments.numbers`` prints the page that is kept in
``docs/evidence/numbers.md``.

Source: Li et al. 2020.
"""

from math import comb

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.em import em
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.square_wave import TOLERANCE, SquareWave
from sottovoce.plans.numbers.distribution import DistributionAnswer
from sottovoce.postprocess.norm_sub import norm_sub

BUCKETS = 512
USERS = 100_000
RUNS = 5
EPSILONS = (0.5, 1.0, 2.0, 4.0)
COLLECTIONS = 300
COVERED_USERS = 20_000
COVERED_BUCKETS = 128
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = {"GRR, 16 bins": 16, "GRR, 32 bins": 32}
DECODERS = ("EMS", "EM", *BINS)


def shapes(size: int) -> dict[str, Floats]:
    """Return the shares of ``size`` equal buckets of [0, 1].

    There are a smooth, a bimodal and a spiky population.
    """
    edges = np.linspace(0, 1, size + 1)
    smooth, left, right = (np.diff(_beta(edges, a, b)) for a, b in ((2, 5), (8, 24), (24, 8)))
    spikes = np.zeros(size)
    spikes[(np.array([0.1, 0.2, 0.25, 0.5, 0.75]) * size).astype(np.int64)] = 0.2  # round numbers
    return {"Beta(2, 5)": smooth, "bimodal": (left + right) / 2, "spiky": 0.8 * spikes + 0.2 / size}


def wasserstein(first: Floats, second: Floats) -> float:
    """Return how far mass must move on the average, in parts of the range."""
    return float(np.abs(np.cumsum(first - second)).mean())


def kolmogorov(first: Floats, second: Floats) -> float:
    """Return the largest difference of the two distribution functions."""
    return float(np.abs(np.cumsum(first - second)).max())


def recovered(decoder: str, shares: Floats, epsilon: float, seed: int) -> Floats:
    """Return the shares that one collection of ``USERS`` people gives."""
    values = np.random.default_rng(seed).choice(len(shares), USERS, p=shares)
    if decoder in BINS:
        return _binned(values, len(shares), GRR(epsilon, BINS[decoder]), seed)
    wave = SquareWave(epsilon, len(shares))
    counts = wave.tally(wave.privatize(values, SeededRng(seed)))["outputs"]
    return em(counts, wave.sliding, smooth=decoder == "EMS", tolerance=TOLERANCE).frequencies


def distances(decoder: str, shares: Floats, epsilon: float) -> tuple[float, float]:
    """Return the mean Wasserstein and Kolmogorov distances over ``RUNS`` collections."""
    runs = [recovered(decoder, shares, epsilon, seed) for seed in range(RUNS)]
    means = [
        float(np.mean([far(run, shares) for run in runs])) for far in (wasserstein, kolmogorov)
    ]
    return means[0], means[1]


def page() -> str:
    """Return the distances of every shape and decoder as a page."""
    rows = [_HEAD]
    for epsilon in EPSILONS:
        for name, shares in shapes(BUCKETS).items():
            cells = [
                f"{mean:.4f} / {largest:.4f}"
                for mean, largest in (distances(decoder, shares, epsilon) for decoder in DECODERS)
            ]
            rows.append(f"| {epsilon:g} | {name} | {' | '.join(cells)} |")
    return "\n".join([*rows, *_covered(), ""])


def coverage(shares: Floats, epsilon: float, runs: int = COLLECTIONS) -> dict[str, float]:
    """Return how often 95 % intervals of the bootstrap contain the mean and quantiles.

    They are counted over whole collections.
    """
    edges = np.linspace(0, 1, len(shares) + 1)
    labels = tuple(map(str, range(len(shares))))
    wave = SquareWave(epsilon, len(shares))
    hits = dict.fromkeys(("mean", *(f"{share:g}" for share in SHARES)), 0)
    for seed in range(runs):
        values = np.random.default_rng(seed).choice(len(shares), COVERED_USERS, p=shares)
        estimate = wave.estimate(wave.tally(wave.privatize(values, SeededRng(seed))))
        answer = DistributionAnswer("number", labels, estimate, wave.kind, edges=edges)
        truth = np.bincount(values, minlength=len(shares)) / COVERED_USERS
        figures = {
            "mean": answer.mean(),
            **{f"{share:g}": answer.quantile(share) for share in SHARES},
        }
        true = [truth @ answer.middles, *np.interp(SHARES, [0, *truth.cumsum()], edges)]
        for (name, figure), number in zip(figures.items(), true, strict=True):
            low, high = figure.interval()
            hits[name] += low <= number <= high
    return {name: hit / runs for name, hit in hits.items()}


def _covered() -> list[str]:
    lines = [
        "",
        "Coverage of 95 % intervals by a bootstrap of the smoothed decoding, over"
        f" {COLLECTIONS} collections of {COVERED_USERS:,} people,",
        f"{COVERED_BUCKETS} buckets, epsilon 1 (a share of 0.95 has a standard error of 0.013"
        " here).",
        "Smoothing flattens narrow peaks, and a bootstrap of smoothed shares cannot see all of it:",
        "spiky numbers are not for smoothing.  Answers have other [intervals of"
        " quantiles](quantiles.md).",
        "",
        "| shape | mean | " + " | ".join(f"{share:g} quantile" for share in SHARES) + " |",
        "|---|" + "---:|" * (1 + len(SHARES)),
    ]
    for name, shares in shapes(COVERED_BUCKETS).items():
        lines.append(
            f"| {name} | "
            + " | ".join(f"{share:.3f}" for share in coverage(shares, 1.0).values())
            + " |"
        )
    return lines


def _binned(values: Ints, size: int, grr: GRR, seed: int) -> Floats:
    reports = grr.privatize(values * grr.size // size, SeededRng(seed))
    shares = norm_sub(grr.estimate(grr.tally(reports)).frequencies)
    return np.asarray(np.repeat(shares, size // grr.size) * grr.size / size)


def _beta(x: Floats, a: int, b: int) -> Floats:
    """Return the distribution function for whole a and b.

    At x it is the chance that at least a of a + b - 1 uniform numbers lie below x.
    """
    n = a + b - 1
    terms = np.array([comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1)])
    return np.asarray(terms.sum(axis=0))


_HEAD = f"""# Distributions of a number

Printed by `python -m sottovoce.lab.experiments.numbers`.
{USERS:,} people hold a number in one of {BUCKETS} buckets; means of {RUNS} seeded collections.
Square Wave is decoded with EMS and with plain EM.  Beside it stands randomised response on a few
bins, made a distribution by Norm-Sub and spread evenly within each bin.  Distances from the true
distribution function: Wasserstein, the mean difference, then Kolmogorov, the largest one.

| epsilon | shape | {" | ".join(DECODERS)} |
|---:|---|{"---:|" * len(DECODERS)}"""

if __name__ == "__main__":
    print(page(), end="")
