"""Pages of tasks that search for what is frequent: before, between and after their rounds."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import StateError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection

DICE = np.random.default_rng(6)
FOODS = ["bread", "milk", "tea", "oats", "rye", "figs", "<b>salt</b>", "peas", "rice", "plums"]
BASKETS = [
    [food for place, food in enumerate(FOODS) if DICE.random() < 0.7 / (1 + place)]
    for _ in range(400)
]
WORDS = ["yes"] * 200 + ["<i>"] * 120 + ["ça"] * 80
PLANS = {
    "pem": (sv.HeavyHitters(sv.Strings(3), 3), WORDS),
    "svim": (sv.TopItems(FOODS, 3), BASKETS),
    "svsm": (sv.Itemsets(FOODS, 5), BASKETS),
    "dbs": (sv.AdaptiveTopItems(FOODS, 400, 2, rounds=2, holdout=20), BASKETS),
}
FACTS = {
    "pem": {
        "Groups of users",
        "Values are seen from a share of",
        "Candidates",
        "Bits of the prefixes",
    },
    "svim": {"Sets are padded to", "Correction for longer sets"},
    "svsm": {"Sets are padded to", "Candidates"},
    "dbs": {"Adaptive rounds", "Users per round", "Doubt"},
}


def task(kind, **settings):
    plan, values = PLANS[kind]
    made = Collection(**({"minimum": 10, "grace": 0} | settings))
    return sv.Task(kind, plan, 6.0, collection=made), values


def text(page, **where):
    return page.one("section", **where).text if where else page.text


def answer_round(place, asking, values, rng, coins):
    """Let everybody answer whose coin lies in the open round."""
    published = place.api.collector.find(asking.name)
    asked = published.asked[published.last.number]
    people = [value for value, coin in zip(values, coins, strict=True) if asked.asks(coin)]
    place.send(asking.name, crowd.messages(asking, people, asked, rng))
    return asked


@pytest.mark.parametrize("kind", PLANS)
def test_a_search_has_a_page_at_every_moment(fresh, kind):
    asking, values = task(kind)
    rng = SeededRng(3)
    coins = rng.longs(len(values)).astype(object)
    fresh.publish(asking)
    fresh.enter()
    rounds = 0
    while fresh.api.collector.find(kind).record.finished is None:
        page = fresh.page(f"/tasks/{kind}")
        assert f"Round {rounds} is open" in text(page, id="answer")
        asked = answer_round(fresh, asking, values, rng, coins)
        said = text(fresh.page(f"/tasks/{kind}"), id="answer")
        assert ("once it is closed" if asked.high == 1 << 64 else "after the last round") in said
        with pytest.raises(StateError):
            fresh.api.collector.answer(kind)
        fresh.api.collector.close(kind, at_once=True)
        assert f"Round {rounds} is being sealed" in text(fresh.page(f"/tasks/{kind}"), id="answer")
        fresh.api.collector.advance()
        rounds += 1
    assert not fresh.api.collector.find(kind).record.failure
    page = fresh.page(f"/tasks/{kind}")
    shown = page.one("section", id="answer")
    labels = [row.one("th").text for row in shown.one("tbody").all("tr")]
    assert set(labels) == set(fresh.api.collector.answer(kind).labels)
    assert f"Finished after {rounds} round" in page.text
    headings = [each.text for each in shown.one("thead").all("th")]
    assert ("Robust to" in headings) is (kind != "svsm")
    assert len(headings) == len(shown.one("tbody").all("tr")[0].all("th", "td"))
    assert [one["value"] for one in shown.one("select", name="method").all("option")] == [
        "none",
        "base",
        "base-pos",
    ]
    facts = {
        one.one("dt").text: one.one("dd").text for one in shown.one("dl", class_="facts").all("div")
    }
    assert set(facts) >= FACTS[kind]
    assert all(facts.values())
    fresh.page(f"/tasks/{kind}?method=base-pos&level=0.9&all=1")
    fresh.page("/")


def test_a_round_says_its_share_of_the_quota(fresh):
    asking, _ = task("svim", quota=300)
    fresh.publish(asking)
    fresh.enter()
    assert "Closes at 150 users, its share of the task's 300." in fresh.page("/tasks/svim").text
    assert "0 of 150 users (quota)" in fresh.page("/").text
    few, _ = task("pem", quota=300)
    fresh.publish(few)
    assert "Closes at 300 users." in fresh.page("/tasks/pem").text
