"""Support counting for local hashing: which candidates hash, under a report's own seed, to the bucket it names.

Inner loops run over a tile of reports for one candidate, in 32-bit words and without a branch, so that LLVM vectorises
them; "the bucket of h is y" is the range test ``h - low <= span``, which needs neither product nor division.

Source: Wang 2021, section 3.3.3; xxHash specification 0.1.1.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints, Words
from sottovoce.errors import DomainError, ParameterError
from sottovoce.kernels import jit
from sottovoce.kernels.pool import run

TILE = 1024  # reports worked on together: seeds, ranges and hashes of a tile stay in the first cache
PRIME_1 = np.uint32(2654435761)
PRIME_2 = np.uint32(2246822519)
PRIME_3 = np.uint32(3266489917)
PRIME_4 = np.uint32(668265263)
PRIME_5 = np.uint32(374761393)
STARTS = (606290984, 2246822519, 0, 1640531535)  # of the four lanes, less the seed: P1 + P2, P2, 0, -P1
TURNS = (1, 7, 12, 18)


def support_counts(seeds: Words, reported: Words, candidates: Words, buckets: int, threads: int | None = None) -> Ints:
    """How many reports support each candidate, a row of 32-bit words.

    >>> seeds, reported, candidates = (np.array(words, np.uint32) for words in ([0, 1], [1, 25], [[0], [1]]))
    >>> support_counts(seeds, reported, candidates, 55).tolist()
    [2, 0]
    """
    seeds, reported, candidates = _checked(seeds, reported, candidates, buckets)
    width = np.uint64(buckets)
    parts = run(lambda part: _counts(seeds[part], reported[part], candidates, width), len(seeds), threads)
    counts: Ints = np.sum(parts, axis=0)
    return counts


def weighted_scores(
    seeds: Words,
    reported: Words,
    candidates: Words,
    coefficients: Floats,
    buckets: int,
    threads: int | None = None,
) -> Floats:
    """The sum, for each report, of the coefficients of the candidates it supports, added in their order."""
    seeds, reported, candidates = _checked(seeds, reported, candidates, buckets)
    weights, width = np.ascontiguousarray(coefficients, np.float64), np.uint64(buckets)
    if weights.shape != candidates.shape[:1]:
        raise ParameterError(f"{len(candidates)} candidates need as many coefficients, not {weights.shape}")
    parts = run(lambda part: _scores(seeds[part], reported[part], candidates, weights, width), len(seeds), threads)
    return np.concatenate(parts)


def _checked(seeds: Words, reported: Words, candidates: Words, buckets: int) -> tuple[Words, Words, Words]:
    if not 1 <= buckets <= 1 << 32:
        raise ParameterError(f"buckets must lie in 1..2^32, not {buckets}")
    if seeds.shape != reported.shape:
        raise ParameterError(f"each report has one seed and one bucket, not {seeds.shape} and {reported.shape}")
    if len(reported) and int(reported.max()) >= buckets:
        raise DomainError(f"reported buckets must lie below {buckets}")
    if candidates.ndim != 2 or not candidates.shape[1]:
        raise ParameterError(f"candidates are rows of at least one word, not {candidates.shape}")
    return _words(seeds), _words(reported), _words(candidates)


def _words(array: Words) -> Words:
    """Contiguous and read-only, as reports from a store are: the loops are compiled for one kind of array."""
    words = np.ascontiguousarray(array, np.uint32).view()
    words.flags.writeable = False
    return words


@jit
def _counts(seeds: Words, reported: Words, candidates: Words, buckets: np.uint64) -> Ints:
    counts = np.zeros(len(candidates), np.int64)
    low, span, state = np.empty(TILE, np.uint32), np.empty(TILE, np.uint32), np.empty((2, TILE), np.uint32)
    for start in range(0, len(seeds), TILE):
        tile = seeds[start : start + TILE]
        _ranges(reported[start : start + TILE], buckets, low, span)
        for candidate in range(len(candidates)):
            _absorb(candidates[candidate], tile, state)
            counts[candidate] += _hits(state[0, : len(tile)], low, span)
    return counts


@jit
def _scores(seeds: Words, reported: Words, candidates: Words, weights: Floats, buckets: np.uint64) -> Floats:
    scores = np.zeros(len(seeds), np.float64)
    low, span, state = np.empty(TILE, np.uint32), np.empty(TILE, np.uint32), np.empty((2, TILE), np.uint32)
    for start in range(0, len(seeds), TILE):
        tile = seeds[start : start + TILE]
        _ranges(reported[start : start + TILE], buckets, low, span)
        for candidate in range(len(candidates)):
            _absorb(candidates[candidate], tile, state)
            _weigh(state[0, : len(tile)], low, span, weights[candidate], scores[start : start + TILE])
    return scores


@jit
def _ranges(reported: Words, buckets: np.uint64, low: Words, span: Words) -> None:
    """The hashes of bucket y: from ``ceil(y 2^32 / buckets)``, and how many more follow it."""
    share, excess = (np.uint64(1) << np.uint64(32)) // buckets, (np.uint64(1) << np.uint64(32)) % buckets
    for j in range(len(reported)):
        scaled = (np.uint64(reported[j]) << np.uint64(32)) + buckets - np.uint64(1)
        first = scaled // buckets
        longer = np.uint64(scaled - first * buckets + excess >= buckets)
        low[j], span[j] = np.uint32(first), np.uint32(share + longer - np.uint64(1))


@jit
def _hits(state: Words, low: Words, span: Words) -> np.uint32:
    """How many hashes fall into their ranges; a 32-bit sum, or the loop is not vectorised."""
    hits = np.uint32(0)
    for j in range(len(state)):
        hits = np.uint32(hits + np.uint32(np.uint32(_avalanche(state[j]) - low[j]) <= span[j]))
    return hits


@jit
def _weigh(state: Words, low: Words, span: Words, weight: float, scores: Floats) -> None:
    """Add the weight to the score of each hash that falls into its range."""
    for j in range(len(state)):
        scores[j] += weight if np.uint32(_avalanche(state[j]) - low[j]) <= span[j] else 0.0


@jit
def _absorb(words: Words, seeds: Words, state: Words) -> None:
    """Leave in ``state[0]`` the xxh32 of the words under each seed, before its avalanche; ``state[1]`` is scratch."""
    hashes, striped = state[0, : len(seeds)], len(words) - len(words) % 4
    if striped:
        hashes[:] = np.uint32(4 * len(words))
        for lane in range(4):
            _stripe(words[lane:striped:4], seeds, lane, state[1])
            for j in range(len(seeds)):
                hashes[j] = np.uint32(hashes[j] + _rotated(state[1, j], TURNS[lane]))
    else:
        start = np.uint32(np.uint32(PRIME_5 + np.uint32(4 * len(words))) + np.uint32(words[0] * PRIME_3))
        for j in range(len(seeds)):
            hashes[j] = np.uint32(_rotated(np.uint32(seeds[j] + start), 17) * PRIME_4)
    for word in words[max(1, striped) :]:
        product = np.uint32(word * PRIME_3)
        for j in range(len(seeds)):
            hashes[j] = np.uint32(_rotated(np.uint32(hashes[j] + product), 17) * PRIME_4)


@jit
def _stripe(words: Words, seeds: Words, lane: int, state: Words) -> None:
    """One of the four lanes that take every fourth word."""
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
