"""Support counting for local hashing: which candidates hash to the bucket that a report names.

The hash is xxh32 under the report's own seed.  Inner loops run over a tile of reports for one
candidate, in 32-bit words and without a branch, so that LLVM vectorises them.  "The bucket of h is
y" is the range test ``h - low <= span``, which needs neither product nor division.

Source: Wang 2021, section 3.3.3; xxHash specification 0.1.1.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints, Words
from sottovoce.errors import DomainError, ParameterError
from sottovoce.kernels import jit
from sottovoce.kernels.pool import run

TILE = 1024  # reports at a time: their seeds, ranges and hashes stay in the first cache
PRIME_1 = np.uint32(2654435761)
PRIME_2 = np.uint32(2246822519)
PRIME_3 = np.uint32(3266489917)
PRIME_4 = np.uint32(668265263)
PRIME_5 = np.uint32(374761393)
STARTS = (606290984, 2246822519, 0, 1640531535)  # of the four lanes: P1 + P2, P2, 0, -P1
TURNS = (1, 7, 12, 18)


def support_counts(
    seeds: Words, reported: Words, candidates: Words, buckets: int, threads: int | None = None
) -> Ints:
    """Return how many reports support each candidate, a row of 32-bit words.

    >>> seeds = np.array([0, 1], np.uint32)
    >>> reported = np.array([1, 25], np.uint32)
    >>> candidates = np.array([[0], [1]], np.uint32)
    >>> support_counts(seeds, reported, candidates, 55).tolist()
    [2, 0]
    """
    seeds, reported, candidates = _checked(seeds, reported, candidates, buckets)

    def part(users: slice) -> Ints:
        return _counts(seeds[users], reported[users], candidates, np.uint64(buckets))

    counts: Ints = np.sum(run(part, len(seeds), threads), axis=0)
    return counts


def weighted_scores(
    seeds: Words, reported: Words, candidates: Words, coefficients: Floats, buckets: int
) -> Floats:
    """Return, for each report, the sum of the coefficients of the candidates that it supports."""
    seeds, reported, candidates = _checked(seeds, reported, candidates, buckets)
    weights = np.ascontiguousarray(coefficients, np.float64)
    if weights.shape != candidates.shape[:1]:
        raise ParameterError(
            f"`coefficients` must have one entry per candidate: {len(candidates)},"
            f" not {weights.shape}"
        )

    def part(users: slice) -> Floats:
        return _scores(seeds[users], reported[users], candidates, weights, np.uint64(buckets))

    return np.concatenate(run(part, len(seeds)))


def _checked(
    seeds: Words, reported: Words, candidates: Words, buckets: int
) -> tuple[Words, Words, Words]:
    if not 1 <= buckets <= 1 << 32:
        raise ParameterError(f"`buckets` must be a whole number from 1 to 2^32, not {buckets}")
    if seeds.shape != reported.shape:
        raise ParameterError(
            f"`reported` must have one entry per seed: {seeds.shape}, not {reported.shape}"
        )
    if len(reported) and int(reported.max()) >= buckets:
        raise DomainError(f"reported buckets must lie below {buckets}")
    if candidates.ndim != 2 or not candidates.shape[1]:
        raise ParameterError(f"`candidates` must be rows of words, not {candidates.shape}")
    return _words(seeds), _words(reported), _words(candidates)


def _words(array: Words) -> Words:
    """Return contiguous read-only words: the loops are compiled for that kind of array alone."""
    words = np.ascontiguousarray(array, np.uint32).view()
    words.flags.writeable = False
    return words


@jit
def _counts(seeds: Words, reported: Words, candidates: Words, buckets: np.uint64) -> Ints:
    counts = np.zeros(len(candidates), np.int64)
    low = np.empty(TILE, np.uint32)
    span = np.empty(TILE, np.uint32)
    state = np.empty((2, TILE), np.uint32)
    for start in range(0, len(seeds), TILE):
        tile = seeds[start : start + TILE]
        fill_ranges(reported[start : start + TILE], buckets, low, span)
        for candidate in range(len(candidates)):
            _absorb(candidates[candidate], tile, state)
            counts[candidate] += _count_hits(state[0, : len(tile)], low, span)
    return counts


@jit
def _scores(
    seeds: Words, reported: Words, candidates: Words, weights: Floats, buckets: np.uint64
) -> Floats:
    """Return the scores; the coefficients of a report are added in the order of the candidates."""
    scores = np.zeros(len(seeds), np.float64)
    low = np.empty(TILE, np.uint32)
    span = np.empty(TILE, np.uint32)
    state = np.empty((2, TILE), np.uint32)
    for start in range(0, len(seeds), TILE):
        tile = seeds[start : start + TILE]
        fill_ranges(reported[start : start + TILE], buckets, low, span)
        for candidate in range(len(candidates)):
            _absorb(candidates[candidate], tile, state)
            hashes = state[0, : len(tile)]
            _add_weight(hashes, low, span, weights[candidate], scores[start : start + TILE])
    return scores


@jit
def fill_ranges(reported: Words, buckets: np.uint64, low: Words, span: Words) -> None:
    """Write the first hash of each bucket y, ceil(y 2^32 / buckets), and how many follow it."""
    share = (np.uint64(1) << np.uint64(32)) // buckets
    excess = (np.uint64(1) << np.uint64(32)) % buckets
    for j in range(len(reported)):
        scaled = (np.uint64(reported[j]) << np.uint64(32)) + buckets - np.uint64(1)
        first = scaled // buckets
        longer = np.uint64(scaled - first * buckets + excess >= buckets)
        low[j] = np.uint32(first)
        span[j] = np.uint32(share + longer - np.uint64(1))


@jit
def _count_hits(state: Words, low: Words, span: Words) -> np.uint32:
    """Return how many hashes fall into their ranges.

    The sum has 32 bits: with a wider one the loop is not vectorised.
    """
    hits = np.uint32(0)
    for j in range(len(state)):
        hits = np.uint32(hits + np.uint32(np.uint32(_avalanche(state[j]) - low[j]) <= span[j]))
    return hits


@jit
def _add_weight(state: Words, low: Words, span: Words, weight: float, scores: Floats) -> None:
    """Add the weight to the score of each hash that falls into its range."""
    for j in range(len(state)):
        scores[j] += weight if np.uint32(_avalanche(state[j]) - low[j]) <= span[j] else 0.0


@jit
def _absorb(words: Words, seeds: Words, state: Words) -> None:
    """Leave in ``state[0]`` the xxh32 of the words under each seed, before its avalanche.

    ``state[1]`` is scratch.
    """
    hashes = state[0, : len(seeds)]
    striped = len(words) - len(words) % 4
    if striped:
        hashes[:] = np.uint32(4 * len(words))
        for lane in range(4):
            _absorb_lane(words[lane:striped:4], seeds, lane, state[1])
            for j in range(len(seeds)):
                hashes[j] = np.uint32(hashes[j] + _rotated(state[1, j], TURNS[lane]))
    else:
        length = np.uint32(PRIME_5 + np.uint32(4 * len(words)))
        start = np.uint32(length + np.uint32(words[0] * PRIME_3))
        for j in range(len(seeds)):
            hashes[j] = np.uint32(_rotated(np.uint32(seeds[j] + start), 17) * PRIME_4)
    for word in words[max(1, striped) :]:
        product = np.uint32(word * PRIME_3)
        for j in range(len(seeds)):
            hashes[j] = np.uint32(_rotated(np.uint32(hashes[j] + product), 17) * PRIME_4)


@jit
def _absorb_lane(words: Words, seeds: Words, lane: int, state: Words) -> None:
    """Absorb every fourth word into one of the four lanes."""
    start = np.uint32(STARTS[lane])
    for j in range(len(seeds)):
        state[j] = np.uint32(seeds[j] + start)
    for word in words:
        product = np.uint32(word * PRIME_2)
        for j in range(len(seeds)):
            state[j] = np.uint32(_rotated(np.uint32(state[j] + product), 13) * PRIME_1)


@jit
def _avalanche(state: np.uint32) -> np.uint32:
    state = np.uint32(np.uint32(state ^ np.uint32(state >> np.uint32(15))) * PRIME_2)
    state = np.uint32(np.uint32(state ^ np.uint32(state >> np.uint32(13))) * PRIME_3)
    return np.uint32(state ^ np.uint32(state >> np.uint32(16)))


@jit
def _rotated(word: np.uint32, turn: int) -> np.uint32:
    return np.uint32(np.uint32(word << np.uint32(turn)) | np.uint32(word >> np.uint32(32 - turn)))
