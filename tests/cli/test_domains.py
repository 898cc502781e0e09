"""Domains from the command line: listed, filed, ranged, or found in the data with a warning."""

import pytest

from sottovoce.cli.domains import DomainOptions
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.errors import ParameterError

CELLS = {"age": ["9", "10", None], "pet": ["dog", "cat", "cat"]}


def options(domains=(), files=(), ranges=(), decline=False):
    return DomainOptions(tuple(domains), tuple(files), tuple(ranges), decline)


def test_values_are_listed_ranged_or_read_from_a_file(tmp_path):
    (tmp_path / "pets.txt").write_text("cat\n\n dog \n", encoding="utf-8")
    stated = options(ranges=["age=0:120"], files=[f"pet={tmp_path / 'pets.txt'}"]).stated(CELLS)
    assert stated == {"age": Integers(0, 120), "pet": Categories(("cat", "dog"))}
    assert options(["a, b"]).stated(["pet"]) == {"pet": Categories(("a", "b"))}


def test_an_equals_sign_belongs_to_the_values_of_the_only_column():
    assert options(["x=1,x=2"]).stated(["pet"]) == {"pet": Categories(("x=1", "x=2"))}


def test_declining_makes_categories_of_everything():
    stated = options(ranges=["1:3"], decline=True).stated(["age"])
    assert stated["age"] == Categories(("1", "2", "3"), declinable=True)


def test_values_found_in_the_data_are_ordered_and_come_with_a_warning(capsys):
    found = options(["pet=cat,dog,fish"]).of(CELLS)
    assert found["age"].labels == ("9", "10"), "numbers by size, not by letter"
    assert found["pet"] == Categories(("cat", "dog", "fish"))
    warnings = capsys.readouterr().err
    assert "column 'age'" in warnings
    assert "'pet'" not in warnings


def test_any_option_counts_as_given():
    assert not options().given
    assert all(
        each.given for each in (options(["a"]), options(ranges=["1:2"]), options(decline=True))
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (options(["a,b"]), "NAME one of: age, pet"),
        (options(["pet=a,b", "pet=c,d"]), "stated twice"),
        (options(ranges=["age=0-120"]), "--range must be LOW:HIGH"),
        (options(files=["pet=/no/such/file"]), "--domain-file cannot be read"),
    ],
)
def test_a_domain_that_cannot_be_meant_is_refused(wrong, said):
    with pytest.raises(ParameterError, match=said):
        wrong.stated(CELLS)
