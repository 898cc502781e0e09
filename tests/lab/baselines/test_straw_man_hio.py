"""The straw man on HIO: right answers with the variance of the formulas, and no secrets."""

from functools import cache

import numpy as np
import pytest

from plans.tables.enumeration import outcomes
from sottovoce.domains.person_tables import PersonTables
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines import straw_man_hio
from sottovoce.lab.baselines.straw_man_hio import StrawManHIO
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.source import Source

PEOPLE, MOST, EPSILON = 20_000, 3, 6.0
TABLES = {
    "people": {"sex": ["f", "m"], "city": ["x", "y"]},
    "orders": {"kind": ["a", "b"], "paid": ["no", "yes"]},
}
LAYERS = 2 * 2  # of either table
JOINED = "SELECT COUNT(*) FROM people JOIN {orders} USING (uid) WHERE sex = 'f' AND kind = 'b'"


@cache
def data():
    dice = np.random.default_rng(1)
    sizes = dice.integers(0, MOST + 1, PEOPLE)
    owners = dice.permutation(np.repeat(np.arange(PEOPLE), sizes))
    people = {"sex": dice.choice(["f", "m"], PEOPLE), "city": dice.choice(["x", "y"], PEOPLE)}
    kind = np.where(dice.random(len(owners)) < 0.7, "b", "a")
    return {
        "people": people,
        "orders": {"uid": owners, "kind": kind, "paid": dice.choice(["no", "yes"], len(owners))},
    }


@cache
def collected():
    return StrawManHIO(EPSILON, TABLES).collect(data(), seed=3)


def held():
    """Everybody's number of records, how many are of the kind, and whether they meet the first."""
    orders = data()["orders"]
    sizes = np.bincount(orders["uid"], minlength=PEOPLE)
    chosen = np.bincount(orders["uid"][orders["kind"] == "b"], minlength=PEOPLE)
    return sizes, chosen, (data()["people"]["sex"] == "f").astype(float)


def second_moments(epsilon):
    """s0 and s1 of section 3.1."""
    noise = OLH(epsilon, 4).noise
    return noise.unheld, 1 + noise.held + noise.unheld


def expected_squares(*, split=True):
    """Everybody's mean squared contribution to the joined count; one node in either table.

    E[S1^2] E[(sum of S2)^2], with E[S^2] = L (s0 + (s1 - s0) [held]) for epsilon / (1 + records);
    not ``split``: for the whole epsilon.
    """
    sizes, chosen, first = held()
    squares = np.zeros(PEOPLE)
    for records in range(1, MOST + 1):
        s0, s1 = second_moments(EPSILON / (1 + records) if split else EPSILON)
        group = sizes == records
        of_first = LAYERS * (s0 + (s1 - s0) * first)
        of_records = LAYERS * (records * s0 + (s1 - s0) * chosen) + chosen**2 - chosen
        squares[group] = (of_first * of_records)[group]
    return squares


def excess_squares(expected):
    """How far the sum of squared contributions is from the expected one, in standard errors."""
    parts = collected().contributions(JOINED)
    return ((parts**2).sum() - expected.sum()) / np.sqrt((parts**4).sum())


def test_a_joined_count_is_unbiased_with_the_variance_of_the_formula():
    sizes, chosen, first = held()
    truth = (chosen * first).sum()
    squares = expected_squares()
    deviation = np.sqrt(squares.sum() - ((chosen * first) ** 2).sum())
    figure = collected().total(JOINED)
    assert abs(figure.value - truth) < FIVE_SIGMA * deviation
    assert abs(excess_squares(squares)) < FIVE_SIGMA
    assert (collected().contributions(JOINED)[sizes == 0] == 0).all()


def test_every_report_has_exactly_the_moments_of_its_part_of_the_budget():
    """Every layer, hash and bucket is listed, for everybody with up to two records."""
    epsilon = 0.9
    for records in (1, 2):
        plan = StrawManHIO(epsilon, TABLES).plan(records)
        s0, s1 = second_moments(epsilon / (1 + records))
        for place in range(records):
            text = JOINED.format(orders=f"orders_{place}")
            source = Source(plan.layout(epsilon))
            query = plan_query(read(text, source), source)
            for table, scoring in enumerate(query.scorings.values()):
                for row in np.ndindex(2, 2):
                    has = float(row[0] == table)  # f is the first sex, b the second kind
                    mean, square = moments(scoring, row, 1 + records)
                    assert mean == pytest.approx(has, abs=1e-9)
                    assert square == pytest.approx(LAYERS * (s0 + (s1 - s0) * has))


def moments(scoring, row, tables):
    """Mean and mean square of the score of a report about a record."""
    person = PersonTables((np.array([row]),) * tables)
    (slot,) = scoring.factor.slots
    mean = square = 0.0
    for member in range(len(slot.family)):
        asked = slot.family[member]
        reports, chances = outcomes(asked.mechanism)
        probability = slot.chance(member) * chances[:, asked.encoding(person, None)[0]]
        scores = scoring(slot.number, member, reports)[:, 0]
        mean += probability @ scores
        square += probability @ scores**2
    return mean, square


def test_reports_that_each_spend_the_whole_epsilon_are_caught():
    """Broken: the same statistic against the formula without the split of the budget."""
    assert abs(excess_squares(expected_squares(split=False))) > FIVE_SIGMA


def test_what_is_true_of_all_records_is_counted_exactly():
    """Their number is no secret: a count without conditions has no noise."""
    figure = collected().total("SELECT COUNT(*) FROM people JOIN {orders} USING (uid)")
    assert figure.value == len(data()["orders"]["uid"])
    women = collected().total("SELECT COUNT(*) FROM people WHERE sex = 'f'")
    assert abs(women.value - (data()["people"]["sex"] == "f").sum()) < FIVE_SIGMA * women.error


def test_counting_reports_recovers_how_many_records_everybody_has():
    """AT-8: without an error, whatever epsilon is."""
    assert (collected().frequency_attack() == held()[0]).all()


def test_every_person_spends_epsilon_on_the_values():
    for records in range(MOST + 1):
        layout = StrawManHIO(EPSILON, TABLES).plan(records).layout(EPSILON)
        assert layout.record_epsilon * (1 + records) == pytest.approx(EPSILON)
        assert len(layout.factors) == 1 + records


def test_its_name_and_docstring_say_what_it_is_for():
    assert "Never collect like this" in straw_man_hio.__doc__
    assert not hasattr(StrawManHIO, "kind")
    with pytest.raises(ParameterError, match="two tables"):
        StrawManHIO(1.0, {"people": {"a": ["x", "y"]}})
