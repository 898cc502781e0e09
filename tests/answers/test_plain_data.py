"""Plain data is written as JSON in one way, whatever it is about."""

import json
from dataclasses import dataclass

import sottovoce as sv
from sottovoce.answers.exported import ExportedAnswer
from sottovoce.answers.outcome import Outcome
from sottovoce.answers.plain_data import PlainData, PlainRows
from sottovoce.lab.compare import MechanismComparison
from sottovoce.plans.tables.result import Explanation
from sottovoce.tasks.advice import Advice


@dataclass(frozen=True)
class Drink(PlainData):
    name: str

    def to_dict(self):
        return {"name": self.name}


def test_json_is_the_plain_data_with_letters_as_they_are():
    assert Drink("caff\u00e8").to_json() == '{"name": "caff\u00e8"}'


@dataclass(frozen=True)
class Menu(PlainRows):
    drinks: tuple[str, ...]

    def rows(self):
        return [{"drink": name, "letters": len(name)} for name in self.drinks]

    def to_dict(self):
        return {"rows": self.rows()}


def test_rows_are_also_csv_and_a_frame():
    menu = Menu(("tea", "milk"))
    assert menu.to_csv().splitlines() == ["drink,letters", "tea,3", "milk,4"]
    assert menu.frame().to_dict("records") == menu.rows()


def test_everything_with_rows_is_written_by_the_same_code():
    classes = (Outcome, ExportedAnswer, MechanismComparison)
    assert all(issubclass(kind, PlainRows) for kind in classes)
    assert all(kind.frame is PlainRows.frame for kind in classes)


def test_outcomes_advice_and_explanations_are_all_plain_data():
    assert all(issubclass(kind, PlainData) for kind in (Outcome, Advice, Explanation))
    advice = sv.advise(users=10_000, size=10, epsilon=1.0)
    assert json.loads(advice.to_json())["users"] == 10_000
