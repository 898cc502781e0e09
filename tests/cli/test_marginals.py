"""Joint tables on the command line: simulated beside the truth, answered by a collector, advised
about.
"""

import json

import numpy as np
import pytest

import sottovoce as sv
from cli.collecting import said
from collector.people import text
from collector.sending import send
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.heavy_hitters.advice import advise_values
from sottovoce.plans.itemsets.advice import advise_items
from sottovoce.plans.marginals.advice import advise_marginals
from sottovoce.tasks.collection import Collection
from sottovoce.web.settings import clock
from sottovoce.wire import codec

DICE = np.random.default_rng(3)
PETS = DICE.choice(["cat", "dog"], 2000).tolist()
RECORDS = {
    "pet": PETS,
    "food": [
        {"cat": "fish", "dog": "bone"}[pet] if DICE.random() < 0.9 else "oats" for pet in PETS
    ],
    "age": [str(age) for age in DICE.integers(1, 5, 2000)],
}
DOMAINS = ("--domain", "pet=cat,dog", "--domain", "food=fish,bone,oats", "--range", "age=1:4")
COLUMNS = ("--column", "pet", "--column", "food", "--column", "age")
ASKED = (*COLUMNS, "--marginals", *DOMAINS, "--epsilon", 4, "--seed", 1)
PLAN = {"pet": ["cat", "dog"], "food": ["fish", "bone", "oats"], "age": range(1, 5)}


@pytest.fixture
def people(write):
    return write(list(RECORDS), zip(*RECORDS.values(), strict=True), "people.csv")


def true(**cell):
    rows = zip(*(RECORDS[name] for name in cell), strict=True)
    return sum(row == tuple(cell.values()) for row in rows)


def test_tables_stand_beside_their_true_counts(run, people):
    result = run("simulate", people, *ASKED, "--json")
    made = said(result)
    assert result.stderr == ""
    tables = {one["name"]: one for one in made["answers"]}
    assert list(tables) == ["pet", "food", "age", "pet & food"]
    truth = {row["value"]: row["truth"] for row in tables["pet & food"]["rows"]}
    assert truth["dog & bone"] == true(pet="dog", food="bone")
    assert sum(truth.values()) == 2000
    assert {row["value"]: row["truth"] for row in tables["age"]["rows"]}["3"] == true(age="3")
    for one in tables.values():
        inside = [row["low"] <= row["truth"] <= row["high"] for row in one["rows"]]
        assert (one["covered"], one["intervals"]) == (sum(inside), len(inside))
    assert made["tables"] == 3
    assert 0 < made["distance"] < 0.2
    assert (made["tree"][0]["first"], made["tree"][0]["second"]) == ("pet", "food")
    assert len(made["tree"]) == 2


def test_the_tables_are_printed_and_written_and_the_heat_map_drawn(run, people, tmp_path):
    files = (
        "--plot",
        tmp_path / "a.png",
        "--csv",
        tmp_path / "a.csv",
        "--save-task",
        tmp_path / "t.json",
    )
    result = run("simulate", people, *ASKED, *files)
    for words in (
        "pet & food",
        "truth",
        "distance of the 3 tables of 2: 0.",
        "tree: pet - food: 0.",
        "really 0.",
    ):
        assert words in result.stdout
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.csv").read_text().count("\n") == 1 + 2 + 3 + 4 + 6
    plan = codec.task(codec.parse((tmp_path / "t.json").read_text())).plan
    assert plan == sv.Marginals(PLAN, users=2000, order=2)
    again = run("simulate", people, "--task", tmp_path / "t.json", "--seed", 1)
    assert again.stdout == result.stdout


def test_single_attributes_are_three_tables(run, people):
    made = said(run("simulate", people, *ASKED, "--order", 1, "--json"))
    assert made["tables"] == 3


BAD = {
    "a number, too": ("--mean", "0:1"),
    "a search, too": ("--items",),
    "a mechanism": ("--mechanism", "grr"),
    "a method, which there is not": ("--method", "inp_ht"),
    "more than there are": ("--order", 4),
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
def test_options_that_do_not_go_together_are_refused(run, people, options):
    assert run("simulate", people, *ASKED, *options).exit_code == 2


def test_one_column_has_no_joint_table(run, people):
    refused = run(
        "simulate", people, "--column", "pet", "--marginals", "--domain", "cat,dog", "--epsilon", 1
    )
    assert refused.exit_code == 2
    assert "at least two columns" in refused.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collector's folder with a finished task."""
    made = tmp_path_factory.mktemp("collector")
    store = SqliteStore(made / "collector.db")
    collector = Collector(store, made, clock)
    plan = sv.Marginals(PLAN, users=2000, order=2)
    task = sv.Task("pets", plan, 4.0, collection=Collection(minimum=10, grace=0))
    collector.create(text(task), toml=False)
    held = {**RECORDS, "age": [int(age) for age in RECORDS["age"]]}
    assert set(send(collector, "pets", crowd.messages(task, held, rng=SeededRng(1)))) == {
        "accepted"
    }
    collector.close("pets", at_once=True)
    collector.advance()
    store.close()
    return made


def test_any_table_is_answered_by_the_names_of_its_attributes(run, folder, tmp_path):
    made = said(run("answer", "pets", "--data", folder, "--marginal", "food,pet", "--json"))
    assert (made["name"], len(made["rows"])) == ("pet & food", 6)
    assert made == said(
        run("answer", "pets", "--data", folder, "--marginal", "pet", "--marginal", "food", "--json")
    )
    everything = said(run("answer", "pets", "--data", folder, "--json"))["answers"]
    assert list(everything) == ["pet", "food", "age", "pet & food", "pet & age", "food & age"]
    assert everything["pet & food"] == made
    shown = run(
        "answer", "pets", "--data", folder, "--marginal", "age", "--csv", tmp_path / "age.csv"
    ).stdout
    assert "age  (2,000 users, epsilon 4)" in shown
    assert (tmp_path / "age.csv").read_text().count("\n") == 5


@pytest.mark.parametrize("names", ["pet,cat", "pet,pet", ""])
def test_a_table_that_cannot_be_had_is_refused(run, folder, names):
    refused = run("answer", "pets", "--data", folder, "--marginal", names)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Error: ")


ADVICE = {
    "tables": (
        ("--marginals", "2,2,3,4", "--order", 2),
        lambda users, epsilon: advise_marginals(users, [2, 2, 3, 4], epsilon, 2),
    ),
    "long values": (
        ("--bits", 48, "--top", 8, "--share", 0.01),
        lambda users, epsilon: advise_values(users, 48, epsilon, top=8, share=0.01),
    ),
    "items": (
        ("--items", 1000, "--basket", 6, "--top", 10),
        lambda users, epsilon: advise_items(users, 1000, epsilon, top=10, basket=6.0),
    ),
}


@pytest.mark.parametrize(("options", "expected"), ADVICE.values(), ids=ADVICE)
def test_advice_is_that_of_the_library(run, options, expected):
    advice = expected(100_000, 2.0)
    settings = ("advise", "--users", 100_000, "--epsilon", 2, *options)
    assert run(*settings).stdout == f"{advice}\n"
    assert said(run(*settings, "--json")) == json.loads(advice.to_json())


@pytest.mark.parametrize(
    "options", [("--marginals", "2,x"), ("--size", 4, "--bits", 8), ("--marginals", "2,2"), ()]
)
def test_advice_is_about_one_thing_that_can_be(run, options):
    assert run("advise", "--users", 1000, "--epsilon", 1, *options).exit_code == 2
