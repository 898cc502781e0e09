"""All marginals: everybody reports the cell of one table of the order, which a public coin picks.

MargRR and MargPS report it by unary encoding and by direct response; AM (all marginals) takes the
mechanism with the least variance for each table.  The users are divided over all tables of the
order, so these methods are for few attributes.

Source: Cormode 2018, section 4.4; Wang 2021, section 6.1.
"""

from itertools import combinations
from math import prod

from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.marginal_table import shape_of
from sottovoce.plans.marginals.reported_views import ask_views
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.views import Views


def ask_marginal(
    epsilon: float, sizes: tuple[int, ...], order: int, mechanism: type[Mechanism] | None = None
) -> Choice:
    """Return the question about one of all tables of an order.

    Without a named mechanism the one with the least variance is asked.  Tables of two cells are
    always answered by randomised response.
    """
    views = tuple(combinations(range(len(sizes)), order))
    if mechanism is None:
        return ask_views(epsilon, sizes, views)
    mechanisms: list[Mechanism] = []
    for cells in sorted({prod(shape_of(sizes, view)) for view in views}):
        chosen = GRR if cells == 2 else mechanism
        mechanisms.append(chosen(epsilon=epsilon, size=cells))  # type: ignore[call-arg]
    return Choice(Views(sizes, views, tuple(mechanisms)))
