"""What remains of a finished task when its reports are erased: its answer, to the last digit."""

import json
from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from collector.people import text
from collector.sending import send
from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.collector import archive
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise, SetNoise, StatedNoise
from sottovoce.domains.integers import Integers
from sottovoce.errors import MismatchError, NoDataError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from tasks.toys import shuffle

FOODS = ["bread", "milk", "tea", "oats", "rye", "figs", "plums", "salt", "peas", "rice"]
DICE = np.random.default_rng(4)
NUMBERS = DICE.integers(0, 16, 240)
BASKETS = [
    [FOODS[item] for item in range(10) if DICE.random() < 0.7 / (1 + item)] for _ in range(240)
]
WORDS = [["ja", "no", "si", "da"][place] for place in DICE.choice(4, 240, p=[0.6, 0.2, 0.15, 0.05])]
TRAITS = {"sex": ["f", "m"], "age": range(4), "car": ["yes", "no"]}
TRAITED = [
    {
        "sex": "fm"[DICE.integers(2)],
        "age": int(DICE.integers(4)),
        "car": ("yes", "no")[DICE.integers(2)],
    }
    for _ in range(240)
]
PLANS = {
    **{
        kind: (sv.Histogram(Integers(0, 15), kind), NUMBERS)
        for kind in ("affine", "hadamard", "rmp", "oue", "grr")
    },
    "survey": (
        sv.Survey({"pet": ["cat", "dog"], "age": range(8)}),
        [{"pet": "cat", "age": 3}] * 240,
    ),
    "mean": (sv.Mean(0, 15), NUMBERS),
    "distribution": (sv.Distribution(0, 16, 8), NUMBERS),
    "pem": (sv.HeavyHitters(sv.Strings(2), 3), WORDS),
    "svim": (sv.TopItems(FOODS, 3), BASKETS),
    "svsm": (sv.Itemsets(FOODS, 5), BASKETS),
    "dbs": (sv.AdaptiveTopItems(FOODS, 240, 2, rounds=2, holdout=20), BASKETS),
    "calm": (sv.Marginals(TRAITS, 5000, 2), TRAITED),
}


def finished(collector, plan, values, between=lambda: None):
    """Collect a task to its end; everybody is asked in the round that a coin deals them to."""
    settings = Collection(minimum=2, grace=0, retention=1)
    task, rng = sv.Task("task", plan, 4.0, collection=settings), SeededRng(1)
    collector.create(text(task), toml=False)
    coins = rng.longs(len(values)).astype(object)
    while collector.find("task").record.finished is None:
        asked = collector.find("task").asked[collector.find("task").last.number]
        people = [value for value, coin in zip(values, coins, strict=True) if asked.asks(coin)]
        assert set(send(collector, "task", crowd.messages(task, people, asked, rng))) == {
            "accepted"
        }
        collector.close("task", at_once=True)
        collector.advance()
        between()
    assert not collector.find("task").record.failure
    return task


def said(answer):
    """Everything an answer says: raw, at another level, and after a step of post-processing where
    one applies.
    """
    made = [answer.to_dict(), answer.at(0.9).to_dict()]
    parts = (
        answer.values()
        if isinstance(answer, Answers)
        else [answer]
        if type(answer) is Answer
        else []
    )
    steps = (
        ("base-pos", "norm-sub")
        if all(part.estimate.noise.complete for part in parts)
        else ("base-pos",)
    )
    return made + [part.postprocess(step).to_dict() for part in parts for step in steps]


@pytest.mark.parametrize("kind", PLANS)
def test_the_answer_outlives_its_reports_to_the_last_digit(collector, clock, tmp_path, kind):
    finished(collector, *PLANS[kind])
    before = said(collector.answer("task"))
    clock.pass_(DAY)
    assert collector.advance()
    assert not list(tmp_path.rglob("*.parquet"))
    assert said(collector.answer("task")) == before
    again = Collector(collector.store, tmp_path, clock)
    assert said(again.answer("task")) == before, "from the file alone"
    assert json.dumps(said(again.answer("task"))) == json.dumps(before), (
        "lists are lists and whole numbers whole"
    )


def test_any_joint_table_can_be_asked_for_after_reports_are_erased(collector, clock, tmp_path):
    """Where sums of reports give every table there is no need to keep some."""
    task, names = finished(collector, *PLANS["calm"]), ("sex", "age", "car")
    before = task.plan.select(collector.answer("task"), names).to_dict()
    clock.pass_(DAY)
    collector.advance()
    assert not list(tmp_path.rglob("*.parquet"))
    assert not list(tmp_path.rglob("answer.json"))
    again = Collector(collector.store, tmp_path, clock).answer("task")
    assert task.plan.select(again, names).to_dict() == before
    assert again.tree().edges == collector.answer("task").tree().edges


def test_sums_alone_would_not_give_a_search_for_prefixes_its_answer(collector, clock, tmp_path):
    """The twin of the test above: without the archive nothing remains to answer from."""
    finished(collector, *PLANS["pem"])
    clock.pass_(DAY)
    collector.advance()
    (kept,) = tmp_path.rglob("answer.json")
    kept.unlink()
    with pytest.raises(NoDataError):
        Collector(collector.store, tmp_path, clock).answer("task")


def test_an_answer_erased_round_by_round_is_the_whole_one(collector, clock, tmp_path):
    """Half a day lies between rounds: the first expires while the task is finished and the last
    does not.
    """
    task = sv.Task(
        "task", sv.TopItems(FOODS, 3), 4.0, collection=Collection(minimum=2, grace=0, retention=1)
    )
    collector.create(text(task), toml=False)
    rng = SeededRng(2)
    for number in range(3):
        asked = collector.find("task").asked[number]
        send(
            collector,
            "task",
            crowd.messages(task, BASKETS[80 * number : 80 * number + 80], asked, rng),
        )
        collector.close("task", at_once=True)
        collector.advance()
        clock.pass_(DAY // 2 - 1)
    before = said(collector.answer("task"))
    while collector.find("task").last.erased is None:
        clock.pass_(DAY // 2)
        collector.advance()
        assert said(Collector(collector.store, tmp_path, clock).answer("task")) == before


ROUNDED = {kind: PLANS[kind] for kind in ("svim", "dbs")}


@pytest.mark.parametrize("kind", ROUNDED)
def test_rounds_that_expire_before_the_search_ends_leave_enough_to_go_on(
    collector, clock, tmp_path, kind
):
    """The sums of erased rounds give the same questions and the same answer as their reports."""
    plan, values = ROUNDED[kind]
    finished(collector, plan, values)
    before, rounds = (
        said(collector.answer("task")),
        [one.document for one in collector.find("task").rounds],
    )
    (tmp_path / "slow").mkdir()
    store = SqliteStore(tmp_path / "slow" / "collector.db")
    slow = Collector(store, tmp_path / "slow", clock)
    finished(slow, plan, values, between=lambda: (clock.pass_(DAY), slow.advance()))
    assert not list((tmp_path / "slow").rglob("*.parquet"))
    published = slow.find("task")
    assert [one.document for one in published.rounds] == rounds
    assert said(slow.answer("task")) == before
    store.close()


BAD = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"0\n[1, 2]",
    "another letter": None,
}


@pytest.mark.parametrize("bad", BAD)
def test_a_damaged_archive_is_refused(collector, clock, tmp_path, bad):
    finished(collector, *PLANS["pem"])
    clock.pass_(DAY)
    collector.advance()
    (kept,) = tmp_path.rglob("answer.json")
    good = kept.read_bytes()
    kept.write_bytes(good.replace(b"ja", b"na") if BAD[bad] is None else BAD[bad])
    with pytest.raises(MismatchError, match="damaged"):
        Collector(collector.store, tmp_path, clock).answer("task")
    kept.write_bytes(good)
    assert Collector(collector.store, tmp_path, clock).answer("task").labels[0] == "ja"


def test_an_archive_is_written_once(collector, clock, tmp_path):
    finished(collector, *PLANS["svim"])
    clock.pass_(DAY)
    collector.advance()
    (kept,) = tmp_path.rglob("answer.json")
    before = kept.read_bytes(), kept.stat().st_mtime_ns
    clock.pass_(400 * DAY)
    assert not collector.advance()
    assert (kept.read_bytes(), kept.stat().st_mtime_ns) == before


def test_a_task_that_failed_leaves_no_answer(collector, clock, tmp_path):
    task = sv.Task(
        "task",
        sv.Histogram(["a", "b"]),
        1.0,
        collection=Collection(minimum=50, grace=0, retention=1),
    )
    collector.create(text(task), toml=False)
    send(collector, "task", crowd.messages(task, ["a"] * 10))
    collector.close("task", at_once=True)
    collector.advance()
    clock.pass_(DAY)
    collector.advance()
    assert not list(tmp_path.rglob("answer.json"))


NOISES = [
    IndependentNoise(1.0, 0.25),
    SetNoise(2.0, 0.5),
    StatedNoise(np.array([1.0, 1 / 3])),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_numbers_names_and_details_come_back_as_they_were(tmp_path, noise):
    estimate = Estimate(np.array([0.1 + 0.2, -1e-300]), noise, 7, 1.0, 9, ("a step",), tested=5)
    estimate = replace(estimate, raw=estimate)
    details = {
        "lengths": [1, 2],
        "pair": (1, 2.5),
        "flag": True,
        "none": None,
        "count": np.int64(3),
        "in": {"a": [0.1]},
    }
    answer = Answer("näme", ("x", "\u2028"), estimate, "no kind", 0.9, details)
    archive.write(tmp_path / "answer.json", Answers("both", {"one": answer}))
    back = archive.read(tmp_path / "answer.json")["one"]
    assert back.to_dict() == answer.to_dict()
    assert back.details == details
    assert isinstance(back.details["lengths"], list)
    assert back.raw.to_dict() == answer.raw.to_dict()
    assert type(back.estimate.noise) is type(noise)


@pytest.mark.parametrize("kind", ["grr", "affine", "oue"])
def test_an_answer_with_fakes_keeps_their_noise_and_its_guarantee(tmp_path, kind):
    plan = sv.Histogram(Integers(0, 15), kind)
    task = sv.Task("dice", plan, 2.0, shuffle=shuffle(2.0, fakes=100, hops=2))
    answer = sv.simulate(task, NUMBERS, seed=1)
    archive.write(tmp_path / "answer", answer)
    again = archive.read(tmp_path / "answer")
    assert again.to_dict() == answer.to_dict()
    assert again.estimate.noise == answer.estimate.noise
    assert again.guarantee == answer.guarantee
