"""Which fan-out a tree over so many values should have: the least error, averaged over all ranges.

As published, a range of P nodes on a tree of h levels has an error of about h P times that of one
oracle.  Without padding that is least for a fan-out of 5; with it, the height being whole, other
fan-outs may be better.

Source: Wang 2021, section 7.3.
"""

import numpy as np

from sottovoce.maths.interval_tree import Hierarchy

FANOUTS = range(2, 17)


def best_fanout(size: int) -> int:
    """Return the fan-out with the least average error, ties to the smaller.

    >>> best_fanout(625), best_fanout(1000)
    (5, 4)
    """
    return min(FANOUTS, key=lambda fanout: average_error(size, fanout))


def bounded_fanout(size: int) -> int:
    """Return the fan-out with the least bound on the error of the worst range, (b - 1) h^2.

    >>> bounded_fanout(1024)
    4
    """
    return min(FANOUTS, key=lambda fanout: (fanout - 1) * Hierarchy(size, fanout).height ** 2)


def average_error(size: int, fanout: int) -> float:
    """Return the height times the nodes of a range, averaged over all ranges."""
    tree = Hierarchy(size, fanout)
    return tree.height * average_nodes(tree)


def average_nodes(tree: Hierarchy) -> float:
    """Return how many disjoint nodes make up a range, averaged over all ranges.

    A node is one of them where the range holds it and not its parent.
    """
    size, holding = tree.size, np.ones(1)  # how many ranges hold each node
    total = 1.0  # everything
    for level in range(1, tree.height + 1):
        width = tree.width(level)
        low = np.arange(-(-size // width)) * width
        high = np.minimum(low + width, size)
        above = np.repeat(holding, tree.children(level - 1))[: len(low)]
        holding = (low + 1.0) * (size - high + 1.0)
        total += float((holding - above).sum())
    return total / (size * (size + 1) / 2)
