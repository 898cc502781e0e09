"""Which method for which question, as its authors conclude.

Source: Wang et al. 2020, sections V-E and VII.
"""

from sottovoce.errors import ParameterError

_METHODS = {"full": "base-cut", "frequent": "norm", "sets": "power-ns"}


def recommend(query: str, *, power_law: bool = False) -> str:
    """Return the method for all single values, the most frequent ones, or sets of values.

    For sets that are known in advance ``select`` looks at the data instead.

    >>> recommend("full"), recommend("full", power_law=True), recommend("sets")
    ('base-cut', 'power-ns', 'power-ns')
    """
    if query not in _METHODS:
        raise ParameterError(f"a query is one of: {', '.join(_METHODS)}")
    return "power-ns" if power_law and query == "full" else _METHODS[query]
