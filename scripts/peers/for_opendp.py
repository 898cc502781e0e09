"""OpenDP: one call per person; it has an estimator for bit vectors, none for categories."""

from collections import Counter
from collections.abc import Sequence
from math import exp

import numpy as np
import opendp.prelude as dp
from harness import Job, main, memory

dp.enable_features("contrib")


def categories(epsilon: float, size: int) -> Job:
    p = exp(epsilon) / (exp(epsilon) + size - 1)
    q = (1 - p) / (size - 1)
    respond = dp.m.make_randomized_response(list(range(size)), p)

    def estimate(reports: Sequence[int]) -> list[float]:
        counts = Counter(reports)
        return [(counts[value] - len(reports) * q) / (p - q) for value in range(size)]

    return Job(
        client=lambda values: [respond(value) for value in values],
        server=estimate,
        bytes=lambda reports: memory(reports[0]),
        note="no estimator: counted by the adapter",
    )


def bits(epsilon: float, size: int) -> Job:
    f = 2 / (exp(epsilon / 2) + 1)
    respond = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f
    )
    rows = [
        row.tobytes()
        for row in np.packbits(np.eye(size, dtype=np.uint8), axis=1, bitorder="little")
    ]
    return Job(
        client=lambda values: [respond(rows[value]) for value in values],
        server=lambda reports: dp.m.debias_randomized_response_bitvec(reports, f),
        bytes=lambda reports: memory(reports[0]),
    )


ORACLES = {"GRR": categories, "SUE": bits}

if __name__ == "__main__":
    main(ORACLES, "opendp", "numpy")
