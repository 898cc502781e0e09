"""Which attributes hang together in a census that nobody's answers are known of: heat map, tree,
invented records.

python examples/census.py [people] [picture.png]
"""

import sys
from collections import Counter

import numpy as np

import sottovoce as sv
from sottovoce.errors import NoDataError
from sottovoce.lab.populations.census import SCHEMA, census
from sottovoce.plans.marginals.chow_liu import mutual_information, pairwise

people = int(sys.argv[1]) if len(sys.argv) > 1 else 262_144
picture = sys.argv[2] if len(sys.argv) > 2 else "census.png"

records = census(people, seed=4)
task = sv.Task("census", sv.Marginals(SCHEMA, users=people, order=2), epsilon=2.0)
answer = sv.simulate(task, records, seed=4)

print(answer.marginal("school", "income"))
print()

names = list(SCHEMA)
columns = [[SCHEMA[name].index(value) for value in records[name]] for name in names]


def really(pair):
    """The true table of a pair of attributes."""
    sizes = [len(SCHEMA[names[one]]) for one in pair]
    table = np.zeros(sizes)
    np.add.at(table, tuple(np.array(columns[one]) for one in pair), 1 / people)
    return table


truth = pairwise(len(names), lambda pair: mutual_information(really(pair)))
tree = answer.tree()
print("The tree of most mutual information:")
for one, other in tree.edges:
    print(f"  {names[one]:>9} - {names[other]:<9} really {truth[one, other]:.3f} nats")
for one, other in (("age", "work"), ("sex", "commute")):
    try:
        found = answer.dependence(one, other)
    except NoDataError:
        print(f"{one} and {other}: nobody was asked about both")
        continue
    print(
        f"{one} and {other}: {'dependent' if found.rejects() else 'no sign of dependence'} (p = "
        f"{found.p_value:.2g})"
    )

invented = answer.synthetic(10_000)
print("\nshare of        really  estimated  among 10,000 invented records")
for school in SCHEMA["school"]:
    share = records["school"].count(school) / people
    made = Counter(record["school"] for record in invented)[school] / len(invented)
    estimate = answer.marginal("school").estimate.frequencies[SCHEMA["school"].index(school)]
    print(f"{school:<14} {100 * share:6.1f} % {100 * estimate:8.1f} % {100 * made:8.1f} %")

answer.heat(picture, truth=truth)
print(f"\nDrawn to {picture}")
