"""SEMF, the segmented filter: which outputs may be poisoned.

The outputs are cut into 2, then 4, 8, ... segments of neighbours.  EMF is run for every segment as
if it alone could be poisoned, always from the same start.  At the first level on which some segment
holds less than a threshold T of false reports, all such segments are taken for clean, and the
others for poisoned:

    for count in 2, 4, ..., max_segments / 2:
        sums = [sum of y of EMF(segment) for each of count segments]
        if some sum is below T: poisoned = the segments with sums of at least T; stop
    if no level had one: poisoned = all but the segment with the smallest sum of the last level

    T = 0.02 * (interquartile range of the reports, in parts of the range of values)

If every segment is clean, no output is poisoned: no attack was found.

Source: Du 2025, section 6.2.2 (algorithm 7, corrected).
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core import settings
from sottovoce.plans.numbers.emf import OutputCounts, emf

THRESHOLD = 0.02  # of the interquartile range of the reports
MAX_SEGMENTS = 64  # exclusive: the last level has half of them


@dataclass(frozen=True)
class SegmentSearch:
    """How segments are searched.

    ``threshold`` is the largest count of a clean segment, in interquartile ranges of the reports.
    Levels have fewer than ``max_segments`` segments.
    """

    threshold: float = THRESHOLD
    max_segments: int = MAX_SEGMENTS

    def __post_init__(self) -> None:
        settings.positive("threshold", self.threshold)
        settings.power_of_two("max_segments", self.max_segments, 4, 1 << 12)

    def levels(self, outputs: int) -> list[int]:
        """Return the numbers of segments that are tried; a segment has at least one output."""
        counts = [1 << level for level in range(1, self.max_segments.bit_length() - 1)]
        return [count for count in counts if count <= outputs]


def semf(observed: OutputCounts, search: SegmentSearch | None = None) -> Bools:
    """Return (rows, outputs): whether each output may be poisoned.

    >>> from sottovoce.mechanisms.grr import GRR
    >>> from sottovoce.maths.em import Dense
    >>> grr = GRR(epsilon=0.0625, size=8)
    >>> counts = np.array([[1000.0, 1000, 1000, 1000, 1000, 1000, 3000, 1000]])
    >>> channel = Dense(grr.likelihood(grr.outcomes()))
    >>> semf(OutputCounts(counts, channel, 8, 0.0625)).astype(int).tolist()
    [[0, 0, 0, 0, 1, 1, 1, 1]]
    """
    search = search or SegmentSearch()
    limits = search.threshold * interquartile_range(observed)
    poisoned = np.zeros(observed.counts.shape, bool)
    undecided = np.arange(len(observed.counts))
    for count in search.levels(observed.outputs):
        segments = segment_of_outputs(observed.outputs, count)
        sums = segment_sums(observed.rows(undecided), segments)
        suspected = sums >= limits[undecided, None]
        decided = ~suspected.all(axis=1)
        # Of a row that is decided nowhere, the segment with the smallest sum is left out.
        suspected[np.arange(len(sums)), sums.argmin(axis=1)] &= decided
        poisoned[undecided] = suspected[:, segments]
        undecided = undecided[~decided]
        if not len(undecided):
            break
    return poisoned


def segment_of_outputs(outputs: int, count: int) -> Ints:
    """Return the segment of every output, for segments of nearly equal length.

    >>> segment_of_outputs(6, 4).tolist()
    [0, 0, 1, 2, 2, 3]
    """
    return np.asarray(np.arange(outputs) * count // outputs)


def segment_sums(observed: OutputCounts, segments: Ints) -> Floats:
    """Return (rows, segments): the share of false reports if a segment alone may be poisoned."""
    count = int(segments.max()) + 1
    masks = segments == np.arange(count)[:, None]
    rows = len(observed.counts)
    repeated = observed.rows(np.repeat(np.arange(rows), count))
    return emf(repeated, np.tile(masks, (rows, 1))).share.reshape(rows, count)


def interquartile_range(observed: OutputCounts) -> Floats:
    """Return the interquartile range of the reports of every row, in parts of the value range.

    An output is as wide as a value.  Reports are taken as uniform within their output.
    """
    shares = observed.counts / observed.reports[:, None]
    sums = np.concatenate([np.zeros((len(shares), 1)), shares.cumsum(axis=1)], axis=1)
    edges = np.arange(observed.outputs + 1) / observed.size
    low, high = (np.array([np.interp(share, row, edges) for row in sums]) for share in (0.25, 0.75))
    return np.asarray(high - low)
