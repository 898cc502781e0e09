"""Compile all kernels ahead, with tiny inputs of the types that decoding uses.

Compiled code is kept on disk (``kernels.jit``), so that a process started later reads it in a
fraction of a second instead of compiling it for many.
"""

import numpy as np

from sottovoce.kernels import affine, loads, olh, unary, walsh
from sottovoce.kernels.affine import AffineReports, PointLayout

NARROW_BITS = 6
LONG_BITS = 40
WIDE_BITS = 70


def compile_all() -> None:
    """Run every kernel once."""
    _compile_affine()
    _compile_others()
    for kind in (np.int32, np.int64, np.float64):
        walsh.transform(np.zeros(8, kind))


def _compile_affine() -> None:
    layout = PointLayout(NARROW_BITS)
    narrow = _reports(NARROW_BITS)
    affine.supports(affine.spectrum(narrow), layout, narrow.rank, 1 << NARROW_BITS)
    half = np.ones(1 << NARROW_BITS // 2)
    affine.scores(narrow, affine.placed(np.ones(1 << NARROW_BITS), layout))
    affine.placed_product(half, half, NARROW_BITS)
    affine.placed_terms(half[None], half[None], NARROW_BITS)
    widths = (NARROW_BITS // 2, NARROW_BITS // 2)
    affine.factor_scores(narrow, (half, half), widths)
    affine.term_scores(narrow, (half[:, None], half[:, None]), widths)
    for bits in (LONG_BITS, WIDE_BITS):
        reports = _reports(bits)
        affine.block_supports(reports, [0], 2)
        points = np.zeros(1, np.uint64)
        if bits == WIDE_BITS:
            points = np.zeros((1, -(-WIDE_BITS // 32)), np.uint32)
        affine.candidate_supports(reports, points)


def _reports(bits: int) -> AffineReports:
    return AffineReports(np.arange(4, dtype=np.uint64), np.zeros(4, np.uint16), bits, 2)


def _compile_others() -> None:
    words = np.zeros(4, np.uint32)
    candidates = np.zeros((2, 1), np.uint32)
    olh.support_counts(words, words, candidates, 4)
    olh.weighted_scores(words, words, candidates, np.ones(2), 4)
    unary.bit_counts(np.zeros((64, 8), np.uint8), 64)
    table = np.zeros((2, 2), np.uint16)
    loads.load_sums(loads.Hashed(table, table[:, 0], 4), np.ones(2, bool))
