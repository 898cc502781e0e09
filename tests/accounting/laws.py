"""The laws of small pure mechanisms, listed report by report.

Mechanisms with a public seed are listed under every hash function of their family, each of them
equally likely: that is the law which their closed forms describe.
"""

from itertools import product

import numpy as np

from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.hadamard import HadamardResponse
from sottovoce.mechanisms.olh import OLH, LocalHashing
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.rmp import RMP
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.mechanisms.sue import SUE
from sottovoce.mechanisms.the import THE

LISTED = [
    GRR(2.0, 2),
    GRR(1.0, 4),
    SubsetSelection(1.0, 4, 2),
    SubsetSelection(2.0, 4, 1),
    SubsetSelection(0.5, 4, 3),
    OUE(1.5, 3),
    SUE(1.5, 4),
    SUE(2.0, 3, second_keep=3 << 62, second_flip=1 << 62),
    THE(1.5, 3),
    HadamardResponse(1.0, 4),
    HadamardResponse(1.0, 3),
]
HASHED = [
    BLH(1.0, 3),
    OLH(1.0, 3, 3),
    OLH(2.0, 2, 4),
    RMP(1.0, 4),
    AffineResponse(1.0, 4, 2),
    AffineResponse(1.0, 3, 2),
    AffinePrefix(2.0, 4, 2),
    AffineResponse(2.0, 8, 4),
]
MECHANISMS = LISTED + HASHED


def name(mechanism):
    return f"{mechanism.kind}-{mechanism.size}"


def hash_functions(mechanism):
    """Return (functions, size): the bucket of every value under every function of the family."""
    if not isinstance(mechanism, AffineResponse):
        functions = list(product(range(mechanism.buckets), repeat=mechanism.size))
        return np.array(functions)
    points = np.arange(mechanism.size)
    masks = [m for m in product(range(1, mechanism.cells), repeat=mechanism.rank) if independent(m)]
    rows = []
    for chosen, offset in product(masks, range(mechanism.buckets)):
        bits = [np.bitwise_count(mask & points) % 2 << bit for bit, mask in enumerate(chosen)]
        rows.append(np.sum(bits, axis=0) ^ offset)
    return np.array(rows)


def independent(masks):
    """Return whether no XOR of some of the masks is 0."""
    sums = {0}
    for mask in masks:
        if mask in sums:
            return False
        sums |= {mask ^ held for held in sums}
    return True


def law(mechanism):
    """Return (reports, values): which reports support which values, and their probabilities."""
    values = np.arange(mechanism.size)
    if not isinstance(mechanism, (AffineResponse, LocalHashing)):
        reports = mechanism.outcomes()
        if not isinstance(mechanism, SUE) or not mechanism.second_keep:
            return mechanism.support(reports, values), mechanism.likelihood(reports)
        bits = mechanism.support(reports, values)
        one = np.where(bits, mechanism.q, 1 - mechanism.q)
        held = np.where(bits, mechanism.p, 1 - mechanism.p)
        return bits, one.prod(axis=1, keepdims=True) * held / one
    functions = hash_functions(mechanism)
    buckets = np.arange(mechanism.buckets)
    supports = (functions[:, None, :] == buckets[None, :, None]).reshape(-1, mechanism.size)
    chances = np.where(supports, mechanism.response.p, mechanism.response.q)
    return supports, chances / len(functions)
