"""The statement of integrity: what one false report can do, from the document of a task alone."""

from importlib import import_module
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.core.influence import Influence
from sottovoce.encodings.sample import Sample
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.wire import codec
from sottovoce.wire.integrity import TEXTS, influence, sentences
from sottovoce.wire.statement import statement

PETS = sv.Histogram(["cat", "dog", "fish"])
SURVEY = sv.Survey({"pet": ["cat", "dog"], "size": ["s", "m", "l"]}, weights=(3, 1))


def notice(plan, epsilon=1.0, **settings):
    return codec.publish(sv.Task("task", plan, epsilon, **settings))


def test_a_histogram_has_the_influence_of_its_mechanism():
    single = GRR(1.0, 3).influence
    facts = statement(notice(PETS))["influence"]
    assert (facts["up"], facts["down"]) == pytest.approx((single.up, single.down))
    assert (facts["stands_for"], facts["dealt"], facts["numbers"]) == (1.0, False, False)
    expected = f"add at most {single.up:,.3g} people to the count of one value, and take at most"
    assert expected in sentences(notice(PETS))[0]


def test_the_rarest_question_counts_unless_tokens_deal_it():
    """The second question is asked of one in four."""
    single = GRR(1.0, 3).influence
    chosen = statement(notice(SURVEY))["influence"]
    assert chosen["up"] == pytest.approx(4 * single.up)
    assert any("Whoever reports chooses" in text for text in sentences(notice(SURVEY)))
    enrolled = notice(SURVEY, collection=Collection(enrolment=True))
    dealt = statement(enrolled)["influence"]
    assert dealt["up"] == pytest.approx(single.up)
    assert dealt["dealt"]
    assert any("Tokens deal the questions" in text for text in sentences(enrolled))
    assert "as many false reports as tokens" in sentences(enrolled)[-1]


def test_a_mean_is_stated_on_the_scale_of_its_range():
    facts = statement(notice(sv.Mean(0, 10, "duchi")))["influence"]
    assert facts["numbers"]
    assert facts["up"] == pytest.approx(2.164, abs=5e-4)
    assert "2.16 times half the range" in sentences(notice(sv.Mean(0, 10, "duchi")))[0]


def test_a_bloom_filter_says_that_no_bound_is_known():
    plan = sv.Histogram(["cat", "dog", "fish"], "bloom")
    assert statement(notice(plan))["influence"] is None
    assert sentences(notice(plan))[0].startswith("No bound is known")
    assert "only" not in " ".join(sentences(notice(plan)))


def test_padding_multiplies_the_influence():
    question = Question(GRR(1.0, 14), Sample(10, 4))
    facts = influence(question, None)
    assert facts["up"] == pytest.approx(4 * GRR(1.0, 14).influence.up)
    assert Sample(10, 4).reports_per_value == 4


def test_a_report_of_a_choice_stands_for_all_of_them():
    question = Question(GRR(1.0, 4))
    assert question.most_people == 1.0
    even = Choice((question, question, question))
    assert even.most_people == 3.0
    uneven = Choice((question, question), (9, 1))
    assert uneven.most_people == 10.0
    assert Bundle((even, question)).most_people == 3.0


def test_every_sentence_ends_and_is_used():
    source = Path(import_module("sottovoce.wire.integrity").__file__).read_text("utf-8")
    for name, text in TEXTS["sentences"].items():
        assert f'"{name}"' in source, name
        assert text.endswith("."), text


def test_every_mechanism_of_the_wire_states_its_influence_or_none():
    for mechanism in Mechanism.kinds.classes():
        stated = mechanism(epsilon=1.0, size=8).influence
        assert stated is None or isinstance(stated, Influence)
