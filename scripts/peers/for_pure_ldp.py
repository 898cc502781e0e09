"""pure-LDP: one call per person on both sides."""

from collections.abc import Callable
from math import exp
from typing import Any

from harness import Job, main, memory
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import (
    HadamardResponseClient,
    HadamardResponseServer,
)
from pure_ldp.frequency_oracles.histogram_encoding import HEClient, HEServer
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, FastLHServer, LHClient, LHServer
from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

HASHES = 1000  # of fast local hashing
FILTER, COHORTS = 128, 8  # of RAPPOR: bits, and groups of people


def itself(value: int) -> int:
    return value


def job(
    client: Any, server: Any, size: int, note: str = "", forget: Callable[[], None] | None = None
) -> Job:
    def estimate(reports: list[Any]) -> Any:
        (forget or server.reset)()
        server.aggregate_all(reports)
        return server.estimate_all(range(size), suppress_warnings=True)

    return Job(
        lambda values: [client.privatise(value) for value in values],
        estimate,
        lambda r: memory(r[0]),
        note=note,
    )


def pair(client: Any, server: Any, **both: Any) -> Callable[[float, int], Job]:
    def made(epsilon: float, size: int) -> Job:
        return job(
            client(epsilon, size, index_mapper=itself, **both),
            server(epsilon, size, index_mapper=itself, **both),
            size,
        )

    return made


def histogram(**how: Any) -> Callable[[float, int], Job]:
    def made(epsilon: float, size: int) -> Job:
        server = HEServer(epsilon, size, index_mapper=itself, **how)
        return job(HEClient(epsilon, size, index_mapper=itself), server, size)

    return made


def hadamard(epsilon: float, size: int) -> Job:
    server = HadamardResponseServer(epsilon, size, index_mapper=itself)
    client = HadamardResponseClient(epsilon, size, server.get_hash_funcs(), index_mapper=itself)
    return job(client, server, size)


def fast(epsilon: float, size: int) -> Job:
    client = FastLHClient(epsilon, size, HASHES, use_olh=True, index_mapper=itself)
    server = FastLHServer(epsilon, size, HASHES, use_olh=True, index_mapper=itself)

    def forget() -> None:
        server.reset()
        server.hash_counts[:] = 0

    return job(
        client, server, size, f"fast local hashing, {HASHES} hashes, table built beforehand", forget
    )


def rappor(epsilon: float, size: int) -> Job:
    f = round(2 / (exp(epsilon / 2) + 1), 2)  # the library rounds it so
    server = RAPPORServer(f, FILTER, 1, size, num_of_cohorts=COHORTS, index_mapper=itself)
    client = RAPPORClient(
        f, FILTER, server.get_hash_funcs(), num_of_cohorts=COHORTS, index_mapper=itself
    )

    def forget() -> None:
        server.reset()
        server.cohort_count[:] = 0
        for bits in server.bloom_filters:
            bits[:] = 0

    made = job(
        client,
        server,
        size,
        f"Bloom filter of {FILTER} bits, {COHORTS} cohorts; biased regression",
        forget,
    )
    made.warm_up = 10_000  # with fewer its regression may select no value at all, and raises
    return made


ORACLES = {
    "GRR": pair(DEClient, DEServer),
    "SUE": pair(UEClient, UEServer),
    "OUE": pair(UEClient, UEServer, use_oue=True),
    "SHE": histogram(),
    "THE": histogram(use_the=True),
    "BLH": pair(LHClient, LHServer, g=2),
    "OLH": pair(LHClient, LHServer, use_olh=True),
    "hadamard": hadamard,
    "fast": fast,
    "RAPPOR": rappor,
}

if __name__ == "__main__":
    main(ORACLES, "pure-ldp", "numpy", "xxhash")
