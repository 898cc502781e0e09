"""The straw-man falls to counting; the real reports leave an attacker with little more than a
guess.
"""

from math import exp, inf, sqrt

import numpy as np
import pytest

from plans.tables.laws import everybody, holding, law, laws, worst_log_ratio
from plans.tables.plans import layout
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.lab.baselines import straw_man
from sottovoce.lab.baselines.straw_man import StrawMan, frequency_attack, likeliest_sizes
from sottovoce.lab.seeded import SeededRng

PEOPLE, MOST = 200_000, 10
TWO = Records(("a",), (Categories(("no", "yes")),))
VALUES = 5
SHOP = Tables(("people", "shop"), (TWO, Lists(Records(("spent",), (Integers(1, VALUES),)), MOST)))
PUBLISHED = {1.0: 0.095, 2.0: 0.097, 5.0: 0.107, 10.0: 0.112}


def crowd():
    """Everybody from no record to ten, as likely as each other."""
    generator = np.random.default_rng(1)
    sizes = generator.integers(0, MOST + 1, PEOPLE)
    cells = generator.integers(0, VALUES, (int(sizes.sum()), 1))
    return generator.integers(0, 2, PEOPLE), Rows.of(
        np.repeat(np.arange(PEOPLE), sizes), cells, PEOPLE
    )


def test_counting_reports_recovers_how_many_records_everybody_has():
    """AT-8: with a prior that ties income to the number of transactions, the income itself, without
    an error.
    """
    single, many = crowd()
    seen = StrawMan(1.0, (2, VALUES)).report(single, many, SeededRng(2))
    found = frequency_attack(seen, PEOPLE)
    assert (found == many.sizes).all()
    assert (100 * found == 100 * many.sizes).all()
    assert np.bincount(seen.tables).tolist() == [PEOPLE, len(many.cells)]
    assert np.bincount(seen.owners[seen.tables == 0]).tolist() == [1] * PEOPLE


def test_the_values_alone_are_protected_as_stated():
    """Each report spends its part: composition over them is within epsilon, which is why it looks
    harmless.
    """
    collector = StrawMan(1.0, (2, VALUES))
    for records in range(MOST + 1):
        parts = [collector.mechanism(0, records), *[collector.mechanism(1, records)] * records]
        assert sum(one.epsilon_realised for one in parts) == pytest.approx(1.0, abs=1e-9)


def given_away(collector, people, most):
    """The law of the straw-man's reports: the first column of every slot of the second table is
    silence.
    """
    slots = []
    for place in range(most + 1):
        chances = np.zeros((len(people), 3))
        for row, person in enumerate(people):
            records = person.tables[1].cells[:, 0]
            held = [int(person.tables[0][0, 0]), *records.tolist()]
            if place < len(held):
                mechanism = collector.mechanism(int(place > 0), len(records))
                chances[row, 1:] = mechanism.likelihood(mechanism.outcomes())[:, held[place]]
            else:
                chances[row, 0] = 1.0
        slots.append(chances)
    return slots


def test_no_epsilon_bounds_what_the_straw_man_tells():
    """AT-7: the very check that finds exactly epsilon for the real collection finds infinity
    here.
    """
    tables = Tables(("people", "visits"), (TWO, Lists(TWO, 2)))
    made = layout(tables, (1, 1), "hio", fanout=5, published=True, epsilon=1.0)
    people = everybody(made, beyond=0)
    assert worst_log_ratio(laws(made, people)) == pytest.approx(1.0, abs=1e-9)
    assert worst_log_ratio(given_away(StrawMan(1.0, (2, 2)), people, 2)) == inf
    alike = [person for person in people if person.tables[1].sizes[0] == 2]
    assert worst_log_ratio(given_away(StrawMan(1.0, (2, 2)), alike, 2)) == pytest.approx(
        1.0, abs=1e-9
    )


def by_number(encoding):
    """(numbers, cells): the law of a cell for so many records of any values; exact, by the mean
    over equal ones.
    """
    chances = np.zeros((MOST + 1, max(2, encoding.cells)))
    for count in range(MOST + 1):
        for value in range(VALUES):
            for cell, chance in law(encoding, holding((0,), [(value,)] * count)).items():
                chances[count, cell] += float(chance) / VALUES
    return chances


def real_reports(epsilon):
    """Every layer's question, the people whose coin picks it, and their reports about the second
    table.
    """
    single, many = crowd()
    slot = (
        layout(SHOP, (1, 1), "ahio", fanout=5, published=True, epsilon=epsilon).factors[1].slots[0]
    )
    members = slot.choice.pick(
        np.random.default_rng(3).integers(0, 1 << 64, PEOPLE, dtype=np.uint64)
    )
    for member in range(len(slot.family)):
        people = np.flatnonzero(members == member)
        question = slot.family[member]
        reports = question.privatize(
            PersonTables((single[people, None], many[people])), SeededRng(member)
        )
        yield question, many.sizes[people], reports


@pytest.mark.parametrize("epsilon", PUBLISHED)
def test_the_best_attack_on_real_reports_hardly_beats_a_guess(epsilon):
    """AT-8: the success of the likeliest number, near those simulated before, and within what
    epsilon / 2 allows.
    """
    right = 0
    for question, sizes, reports in real_reports(epsilon):
        cells = by_number(question.encoding)
        right += int((likeliest_sizes(question.mechanism, cells, reports) == sizes).sum())
        told = cells @ question.mechanism.likelihood(question.mechanism.outcomes()).T
        assert worst_log_ratio([told]) <= epsilon / 2 + 1e-9
    success, simulated = right / PEOPLE, PUBLISHED[epsilon]
    deviation = sqrt(simulated * (1 - simulated) / PEOPLE)
    assert abs(success - simulated) <= 5 * sqrt(2) * deviation + 0.0005, success
    assert success <= exp(epsilon / 2) / (exp(epsilon / 2) + MOST) + 5 * deviation


def test_the_attack_succeeds_where_the_reports_tell_more():
    """The same attacker, reports that state the number of records instead of a coin: the bound
    would be broken.
    """
    sizes = crowd()[1].sizes
    mechanism = StrawMan(20.0, (2, MOST + 1)).mechanism(1, 1)  # epsilon 10 about the number itself
    guessed = likeliest_sizes(mechanism, np.eye(MOST + 1), mechanism.privatize(sizes, SeededRng(5)))
    assert (guessed == sizes).mean() > exp(1.0) / (exp(1.0) + MOST)


def test_nothing_that_collects_knows_the_straw_man():
    """Its name, its module and its docstring say what it is for; it is no plan, no mechanism and no
    encoding.
    """
    assert "Never collect like this" in straw_man.__doc__
    assert not hasattr(StrawMan, "kind")
    assert StrawMan.__module__.startswith("sottovoce.lab.")
