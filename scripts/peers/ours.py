"""This package: clients and servers work on arrays; random words come from the operating system."""

from collections.abc import Callable
from functools import partial

import numpy as np
from harness import Job, main

from sottovoce.core.rng import SystemRng
from sottovoce.lab.baselines.she import SHE
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.bloom import Bloom
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.hadamard import HadamardResponse
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.mechanisms.sue import SUE
from sottovoce.mechanisms.the import THE

KINDS = {
    "GRR": GRR,
    "SUE": SUE,
    "OUE": OUE,
    "THE": THE,
    "BLH": BLH,
    "OLH": OLH,
    "hadamard": HadamardResponse,
    "subset": SubsetSelection,
    "fast": AffineResponse,
    "RAPPOR": partial(Bloom, hashes=1),
}
NOTES = {
    "fast": "affine response",
    "RAPPOR": "Bloom filter of 128 bits, 8 cohorts; biased regression, bootstrap",
}


def packed(oracle: str) -> Callable[[float, int], Job]:
    def made(epsilon: float, size: int) -> Job:
        mechanism, rng = KINDS[oracle](epsilon=epsilon, size=size), SystemRng()
        return Job(
            client=lambda values: mechanism.pack(mechanism.privatize(np.array(values), rng)),
            server=lambda data: mechanism.estimate(
                mechanism.tally(mechanism.unpack(data))
            ).totals.tolist(),
            bytes=lambda _: mechanism.width,
            single=lambda value: one(mechanism, value, rng),
            theory=variance(mechanism),
            note=NOTES.get(oracle, ""),
        )

    return made


def variance(mechanism: Mechanism) -> float:
    """Return equation 3.2 averaged over the domain, or 0 where there is no formula."""
    noise = getattr(mechanism, "noise", None)
    return noise.unheld + noise.held / mechanism.size if noise else 0.0


def one(mechanism: Mechanism, value: int, rng: SystemRng) -> bytes:
    return mechanism.pack(mechanism.privatize(np.array([value]), rng))


def she(epsilon: float, size: int) -> Job:
    mechanism, rng = SHE(epsilon=epsilon, size=size), SystemRng()
    return Job(
        client=lambda values: mechanism.privatize(np.array(values), rng),
        server=lambda reports: mechanism.estimate_reports(reports).totals.tolist(),
        bytes=lambda reports: reports.nbytes / len(reports),
        single=lambda value: mechanism.privatize(np.array([value]), rng),
        theory=mechanism.noise.unheld,
        note="laboratory only: floats in memory",
    )


if __name__ == "__main__":
    main({oracle: packed(oracle) for oracle in KINDS} | {"SHE": she}, "sottovoce", "numpy", "numba")
