"""The contract of outcomes: what a shell may ask of any of them, by a very small one."""

import json
from dataclasses import dataclass, replace

import pytest

from sottovoce.answers.guarantee import Guarantee
from sottovoce.answers.outcome import Outcome
from sottovoce.answers.side_views import SideViews
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Tiny(Outcome):
    name: str = "tiny"
    level: float = 0.95

    @property
    def guarantee(self):
        return Guarantee(1.0)

    @property
    def users(self):
        return 3

    @property
    def about(self):
        return {"name": self.name, "users": self.users}

    def rows(self):
        return [{"value": letter, "estimate": 1.0} for letter in "abc"]

    def at(self, level):
        return replace(self, level=level)

    def plot(self, path=None, *, truth=None, ax=None):
        return path, truth


TINY = Tiny()


def test_an_outcome_of_one_part_is_its_own_part():
    assert TINY.single
    assert TINY.questions() == {"tiny": TINY}
    assert TINY.highlights() is TINY
    assert TINY.kept() is TINY


def test_it_takes_the_name_of_its_task():
    assert TINY.named("pets") == Tiny("pets")


def test_rows_are_written_by_the_one_encoder_of_each_format():
    assert TINY.to_dict() == {"name": "tiny", "users": 3, "rows": TINY.rows()}
    assert json.loads(TINY.to_json()) == TINY.to_dict()
    assert TINY.to_csv() == "value,estimate\na,1.0\nb,1.0\nc,1.0\n"
    assert TINY.frame("pandas")["value"].tolist() == ["a", "b", "c"]


def test_a_summary_has_at_most_so_many_rows_and_names_their_members():
    assert [row["members"] for row in TINY.summary(2)] == [("a",), ("b",)]


def test_what_an_outcome_cannot_do_is_refused_or_empty():
    assert TINY.methods == ("none",)
    assert TINY.views() == SideViews()
    with pytest.raises(ParameterError, match="does not apply here"):
        TINY.postprocess("norm_sub")
    with pytest.raises(ParameterError, match="not about joint tables"):
        TINY.select(["a"])
