"""Views reported by people who are drawn from a population, from their exact law."""

from math import prod

from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.marginal_table import project, shape_of, table_of_estimate
from sottovoce.plans.marginals.reported_views import ReportedViews


def drawn(joint, views, users, epsilon, generator):
    """Return views of as many users each, by GRR."""
    everything = tuple(range(joint.ndim))
    tables = {}
    for view in views:
        mechanism = GRR(epsilon, prod(shape_of(joint.shape, view)))
        shares = project(joint, everything, view).ravel()
        group = users // len(views)
        counts = generator.multinomial(group, mechanism.q + (mechanism.p - mechanism.q) * shares)
        estimate = mechanism.estimate_counts(counts, group).of(users)
        tables[view] = table_of_estimate(view, joint.shape, estimate)
    return ReportedViews(tables, users)
