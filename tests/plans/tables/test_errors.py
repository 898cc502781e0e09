"""Stated errors where little noise is left, and layers weighed by how many people were really
asked.
"""

import numpy as np
import pytest

import sottovoce as sv
from plans.tables.plans import plan
from sottovoce.lab.experiments.tables import contributions
from sottovoce.sql.reading import read

USERS = 8_000
QUESTION = "SELECT COUNT(*) FROM people WHERE a < 4"


def even(epsilon, seed=1):
    """A collection of people who are spread evenly, so that predicted variances are the true
    ones.
    """
    held = {"a": np.arange(USERS) % 8, "b": np.array(["x", "y"])[np.arange(USERS) // 8 % 2]}
    return sv.simulate(
        sv.Task("t", sv.Table({"a": range(8), "b": ["x", "y"]}, fanout=2), epsilon), held, seed=seed
    )


def test_a_count_of_records_that_everybody_has_one_of_leaves_out_how_people_differ(monkeypatch):
    database = even(8.0)
    work = plan(database.layout, read(QUESTION, database.layout.tables))
    true = USERS * work.variances[0]
    scores = contributions(database, QUESTION)[:, 0]
    near = (
        5 * np.sqrt(USERS) * (scores**2 - scores).std()
    )  # the stated variance is a sum of squares less a sum
    stated = database.sql(QUESTION).figure.variance
    assert abs(stated - true) < near
    monkeypatch.setattr(
        "sottovoce.plans.tables.covariance.Covariances.one_record_each",
        property(lambda self: False),
    )
    assert database.sql(QUESTION).figure.variance - true > near  # people who differ taken for noise


def test_hajek_weights_are_unbiased_and_leave_what_is_known_exact():
    runs = [even(2.0, seed) for seed in range(40)]
    values = {
        option: np.array([one.sql(QUESTION + option).figure.value for one in runs])
        for option in ("", " WITH (SCALE = HAJEK)")
    }
    plain, weighed = values.values()
    assert (plain != weighed).any()
    for found in (plain, weighed):
        assert abs(found.mean() - USERS / 2) < 5 * found.std() / np.sqrt(len(found))
    assert weighed.std() < 1.5 * plain.std()
    assert runs[0].sql("SELECT COUNT(*) FROM people WITH (SCALE = HAJEK)").figure.value == USERS


def test_where_nobody_was_asked_about_a_layer_chances_stay():
    database = even(2.0)
    (scoring,) = plan(database.layout, read(QUESTION, database.layout.tables)).scorings.values()
    answered = dict(database.collected.report_counts(0))
    assert scoring.by_share(answered).shares
    answered.pop(next(iter(answered)))
    assert scoring.by_share(answered) is scoring


@pytest.mark.parametrize("name", ["", "n"])
def test_groups_are_drawn_with_their_intervals(tmp_path, name):
    result = even(4.0).sql("SELECT b, COUNT(*) AS n, AVG(a) AS m FROM people GROUP BY b")
    figure = result.plot(tmp_path / "groups.png", name=name, truth={"x": USERS / 2, "y": USERS / 2})
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y"]
    assert [bar.get_width() for bar in axes.patches] == [row[0].value for row in result.figures]
    assert (tmp_path / "groups.png").stat().st_size > 5_000
