"""multi-freq-ldpy: one call per person at the client; its estimates are clipped at 0 and
normalised.
"""

from collections.abc import Callable
from typing import Any

from harness import Job, main, memory
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Aggregator_MI, HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client


def job(client: Callable[[int], Any], server: Callable[[Any], Any]) -> Job:
    return Job(
        client=lambda values: [client(value) for value in values],
        server=lambda reports: server(reports) * len(reports),
        bytes=lambda reports: memory(reports[0]),
        note="biased: clipped and normalised",
    )


def grr(epsilon: float, size: int) -> Job:
    return job(
        lambda value: GRR_Client(value, size, epsilon),
        lambda reports: GRR_Aggregator_MI(reports, size, epsilon),
    )


def unary(optimal: bool) -> Callable[[float, int], Job]:
    return lambda epsilon, size: job(
        lambda value: UE_Client(value, size, epsilon, optimal),
        lambda reports: UE_Aggregator_MI(reports, epsilon, optimal),
    )


def histogram(thresholded: bool) -> Callable[[float, int], Job]:
    return lambda epsilon, size: job(
        lambda value: HE_Client(value, size, epsilon),
        lambda reports: HE_Aggregator_MI(reports, size, epsilon, thresholded),
    )


def hashing(optimal: bool) -> Callable[[float, int], Job]:
    return lambda epsilon, size: job(
        lambda value: LH_Client(value, size, epsilon, optimal),
        lambda reports: LH_Aggregator_MI(reports, size, epsilon, optimal),
    )


def subset(epsilon: float, size: int) -> Job:
    return job(
        lambda value: SS_Client(value, size, epsilon),
        lambda reports: SS_Aggregator_MI(reports, size, epsilon),
    )


ORACLES = {
    "GRR": grr,
    "SUE": unary(False),
    "OUE": unary(True),
    "SHE": histogram(False),
    "THE": histogram(True),
    "BLH": hashing(False),
    "OLH": hashing(True),
    "subset": subset,
}

if __name__ == "__main__":
    main(ORACLES, "multi-freq-ldpy", "numpy", "numba", "xxhash")
