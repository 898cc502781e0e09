"""How coefficients are made: one way to write conditions, one to measure.

    add     the fewest disjoint nodes of the tree of intervals
    signed  the fewest nodes, some of them subtracted
    rdc     the k smallest of these decompositions, weighted by their sizes, as published
    gls     the same with the weights of least variance
    blue    all nodes of all levels: the least variance of all unbiased combinations

    lin     a measured column as one linear functional of its tree, the least variance
    enum    a measured column value by value
    round   a measured column by its rounding coins, where they were collected

Source: Wang 2021, section 7.3; Xu 2020, sections 3 to 6.
"""

from dataclasses import dataclass

NAMES = ("add", "signed", "rdc", "gls", "blue")
WEIGHTED = ("rdc", "gls")  # several decompositions, weighted against each other


@dataclass(frozen=True)
class Method:
    """A method for conditions and one for measures.

    ``signal`` is what holding a node adds to the variance of its votes, in units of that of a node
    nobody holds; BLUE takes it into account where it is not 0.
    """

    name: str = "blue"
    measure: str = "lin"
    k: int = 0
    signal: float = 0.0

    def __str__(self) -> str:
        k = f"({self.k})" if self.name in WEIGHTED and self.k else ""
        return f"{self.name.upper()}{k}" + (" by level" if self.signal else "")
