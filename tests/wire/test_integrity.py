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
from sottovoce.tasks.moved_number import MovedNumber
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


ISSUER = "A" * 456
SEEDED = sv.Histogram(range(1024), "affine")


def test_a_free_seed_and_a_dealt_one_support_different_numbers_of_values():
    free = statement(notice(SEEDED))["influence"]
    assert free["seeds"] == {"fixed": False, "chosen": 10, "supported": 9.0}
    assert "can support 9 of 10 chosen values together" in " ".join(sentences(notice(SEEDED)))
    tokens_alone = notice(SEEDED, collection=Collection(issuer=ISSUER))
    assert not statement(tokens_alone)["influence"]["seeds"]["fixed"]
    defended = notice(SEEDED, collection=Collection(issuer=ISSUER, defence="seeds"))
    dealt = statement(defended)["influence"]
    assert dealt["seeds"] == {
        "fixed": True,
        "chosen": 10,
        "supported": pytest.approx(4.1975, abs=1e-4),
    }
    assert (dealt["up"], dealt["down"]) == (free["up"], free["down"]), (
        "of one value nothing changes"
    )
    assert "of 10 chosen values it supports 4.2 on average" in " ".join(sentences(defended))


def test_reports_without_a_seed_say_what_remains():
    defended = notice(PETS, collection=Collection(issuer=ISSUER, defence="seeds"))
    assert statement(defended)["influence"]["seeds"] is None
    assert any("carry no hash that a forger could choose" in text for text in sentences(defended))
    assert not any("no hash" in text for text in sentences(notice(PETS)))


def test_a_small_domain_has_fewer_values_to_choose():
    plan = sv.Histogram(range(4), "olh")
    facts = statement(notice(plan))["influence"]["seeds"]
    assert facts == {"fixed": False, "chosen": 4, "supported": 4.0}


def test_the_numbers_of_a_plan_are_told_instead_of_the_counts_of_one_question():
    task = sv.Task("people", sv.Table({"age": range(4), "state": ["x", "y"]}), 3.0)
    count, total = task.moved_numbers
    told = sentences(codec.publish(task), task.moved_numbers)
    assert told[0] == (
        "One false report can add at most 1.81 to the count of people.age = 0, "
        "and take at most 0.269 from it."
    )
    assert (count.influence.up, count.influence.down) == pytest.approx((1.81, 0.269), abs=5e-3)
    assert told[1] == (
        "It can add at most 4.62 to the sum of people.age, whose values lie from 0 to 3, "
        "and take at most 1.62 from it, 1.54 times the most that one honest value can change it."
    )
    assert (total.influence.up, total.influence.down) == pytest.approx((4.62, 1.62), abs=5e-3)
    assert told[2].startswith("Conditions and groups change these numbers")
    assert not any("one value" in text for text in told)


def test_of_several_sums_the_one_that_is_moved_furthest_is_told():
    low, high = Influence(10.0, 5.0), Influence(3.0, 6.0)
    moved = (
        MovedNumber("count", "people.age = 0", low),
        MovedNumber("sum", "people.age", low, 0.0, 100.0),
        MovedNumber("sum", "people.size", high, 1.0, 3.0),
        MovedNumber("join", "people.age = 0, pets.kind = cat", Influence(41_691.98, 0.0)),
    )
    told = sentences(notice(PETS), moved)
    assert "sum of people.size, whose values lie from 1 to 3" in told[1]
    assert "2 times the most that one honest value can change it" in told[1]
    assert "can add at most 41,700 to the count of people with people.age = 0, pets" in told[2]
