"""Plain data is written as JSON in one way, whatever it is about."""

import json
from dataclasses import dataclass

import sottovoce as sv
from sottovoce.answers.outcome import Outcome
from sottovoce.answers.plain_data import PlainData
from sottovoce.plans.tables.result import Explanation
from sottovoce.tasks.advice import Advice


@dataclass(frozen=True)
class Drink(PlainData):
    name: str

    def to_dict(self):
        return {"name": self.name}


def test_json_is_the_plain_data_with_letters_as_they_are():
    assert Drink("caff\u00e8").to_json() == '{"name": "caff\u00e8"}'


def test_outcomes_advice_and_explanations_are_all_plain_data():
    assert all(issubclass(kind, PlainData) for kind in (Outcome, Advice, Explanation))
    advice = sv.advise(users=10_000, size=10, epsilon=1.0)
    assert json.loads(advice.to_json())["users"] == 10_000
