"""A measure of an outcome against the truth: data for programs, and lines for people."""

from sottovoce.answers.measure import Measure


def test_a_measure_without_lines_is_for_programs_alone():
    assert Measure("f1", 0.75).lines == ()
    assert Measure("f1", 0.75) == Measure("f1", 0.75, ())


def test_its_data_may_have_any_shape():
    measure = Measure("tables", {"age & pet": 0.01}, ("age & pet: off by 1 %",))
    assert measure.value["age & pet"] == 0.01
    assert measure.lines == ("age & pet: off by 1 %",)
