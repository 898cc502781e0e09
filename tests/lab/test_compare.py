"""Mechanisms compared on one's own data: errors as the theory says, table and plot."""

import json

import pytest

import sottovoce as sv
from sottovoce.errors import NoDataError, ParameterError

PEOPLE = ["cat"] * 500 + ["dog"] * 300 + ["newt"] * 200


@pytest.fixture(scope="module")
def compared():
    return sv.compare(PEOPLE, mechanisms=["grr", "oue"], epsilons=[1.0, 4.0], seeds=40)


def test_measured_errors_are_the_expected_ones(compared):
    """A sum of 120 squares: five standard errors of it are sqrt(2 / 120) * 5 = 65 %."""
    assert [(row.mechanism, row.epsilon) for row in compared.table] == [
        ("grr", 1.0),
        ("oue", 1.0),
        ("grr", 4.0),
        ("oue", 4.0),
    ]
    for row in compared.table:
        print(
            f"{row.mechanism} at {row.epsilon}: {row.error:.5f}, expected {row.expected_error:.5f}"
        )
        assert 0.35 < (row.error / row.expected_error) ** 2 < 1.65
        assert row.covered > 0.85
    assert compared.best(1.0).mechanism == "grr"
    with pytest.raises(ParameterError, match="was not compared"):
        compared.best(3.0)


def test_it_is_shown_written_and_drawn(compared, tmp_path):
    assert str(compared).count("best") == 2
    assert "1,000 people, 3 values, 40 seeds" in str(compared)
    assert json.loads(compared.to_json())["rows"] == compared.rows()
    assert compared.frame()["mechanism"].tolist() == ["grr", "oue", "grr", "oue"]
    assert "<table>" in compared._repr_html_()
    (axes,) = compared.plot(tmp_path / "errors.png").axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["grr", "oue"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_without_mechanisms_those_of_the_advice_are_compared():
    rows = sv.compare(PEOPLE, ["cat", "dog", "newt", "owl"], epsilons=[1.0], seeds=1).rows()
    advised = [row["mechanism"] for row in sv.advise(users=1000, size=4, epsilon=1.0).rows()]
    assert [row["mechanism"] for row in rows] == advised


def test_nothing_to_compare_is_refused():
    with pytest.raises(NoDataError):
        sv.compare([])
    with pytest.raises(ParameterError, match="epsilons"):
        sv.compare(PEOPLE, epsilons=[])
    with pytest.raises(ParameterError, match="seeds"):
        sv.compare(PEOPLE, seeds=0)
