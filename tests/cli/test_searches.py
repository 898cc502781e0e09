"""``sottovoce simulate`` for searches: frequent texts, items and sets of items."""

import json

import duckdb
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.wire import codec

WORDS = ["yes"] * 900 + ["no"] * 500 + ["ça va"] * 300 + ["why"] * 60
DICE = np.random.default_rng(2)
FOODS = ["bread", "milk", "tea", "oats", "rye", "figs", "salt", "peas", "rice", "plums"]
BASKETS = [
    [food for place, food in enumerate(FOODS) if DICE.random() < 0.8 / (1 + place)]
    for _ in range(2000)
]


@pytest.fixture
def texts(write):
    return write(["word"], [[word] for word in WORDS], "texts.csv")


@pytest.fixture
def baskets(write):
    return write(
        ["foods"],
        [[";".join(basket)] for basket in BASKETS] + [["rust; milk ;"]] * 3,
        "baskets.csv",
    )


@pytest.fixture
def listed(tmp_path):
    (tmp_path / "foods.txt").write_text("\n".join(FOODS), encoding="utf-8")
    return tmp_path / "foods.txt"


def answer(result):
    assert result.exit_code == 0, result.stderr
    (one,) = json.loads(result.stdout)["answers"]
    return one


def holding(*foods):
    return sum(set(foods) <= set(basket) for basket in BASKETS) + 3 * (foods == ("milk",))


def test_frequent_texts_stand_beside_their_true_counts(run, texts):
    options = (
        "--column",
        "word",
        "--heavy-hitters",
        "--bytes",
        5,
        "--top",
        3,
        "--epsilon",
        6,
        "--seed",
        1,
        "--json",
    )
    result = run("simulate", texts, *options)
    found = answer(result)
    true = {"yes": 900, "no": 500, "ça v": 300}  # cut after whole characters
    assert {row["value"]: row["truth"] for row in found["rows"]} == found["sought"] == true
    assert found["f1"] == found["ncr"] == 1.0
    assert found["groups"] >= 1
    assert result.stderr == ""


def test_all_texts_above_a_threshold_are_sought(run, texts):
    options = (
        "--column",
        "word",
        "--heavy-hitters",
        "--bytes",
        5,
        "--threshold",
        0.2,
        "--epsilon",
        8,
        "--seed",
        1,
    )
    assert list(answer(run("simulate", texts, *options, "--json"))["sought"]) == ["yes", "no"]


def test_frequent_items_stand_beside_the_people_who_have_them(run, baskets, listed):
    options = (
        "--column",
        "foods",
        "--items",
        "--domain-file",
        listed,
        "--top",
        3,
        "--epsilon",
        4,
        "--seed",
        1,
    )
    result = run("simulate", baskets, *options, "--json")
    found = answer(result)
    assert {row["value"]: row["truth"] for row in found["rows"]} == {
        food: holding(food) for food in ("bread", "milk", "tea")
    }
    assert found["f1"] == 1.0
    assert found["padded_to"] >= 1
    assert result.stderr == (
        f"Warning: 3 of {sum(map(len, BASKETS)) + 6:,} entries are no items of the domain and are "
        "left out, "
        "as on a device\n"
    )
    table = run("simulate", baskets, *options).stdout
    for words in ("truth", "bread", "contain the truth", "found: F1 1.00", "the 3 that really are"):
        assert words in table


def test_sets_of_items_stand_beside_the_people_who_have_them_whole(run, baskets, listed):
    options = (
        "--column",
        "foods",
        "--items",
        "--itemsets",
        "--top",
        6,
        "--domain-file",
        listed,
        "--epsilon",
        4,
    )
    found = answer(run("simulate", baskets, *options, "--seed", 1, "--json"))
    truth = {row["value"]: row["truth"] for row in found["rows"]}
    assert "bread + milk" in truth
    assert truth == {value: holding(*value.split(" + ")) for value in truth}


def test_items_are_asked_about_one_at_a_time_in_rounds(run, baskets, listed):
    options = (
        "--column",
        "foods",
        "--items",
        "--adaptive",
        "--rounds",
        3,
        "--top",
        2,
        "--domain-file",
        listed,
    )
    found = answer(run("simulate", baskets, *options, "--epsilon", 4, "--seed", 1, "--json"))
    assert {row["value"]: row["truth"] for row in found["rows"]} == {
        food: holding(food) for food in ("bread", "milk")
    }
    assert 1 <= found["adaptive_rounds"] <= 3


def test_items_found_in_the_data_are_warned_about(run, baskets):
    result = run(
        "simulate",
        baskets,
        "--column",
        "foods",
        "--items",
        "--top",
        3,
        "--epsilon",
        4,
        "--seed",
        1,
        "--json",
    )
    assert answer(result)["rows"]
    assert "a real task must state it" in result.stderr


def test_lists_in_parquet_and_other_separators_are_read(run, tmp_path, write):
    options = (
        "--column",
        "foods",
        "--items",
        "--domain",
        ",".join(FOODS),
        "--top",
        3,
        "--epsilon",
        4,
        "--seed",
        1,
    )
    other = write(["foods"], [[" | ".join(basket)] for basket in BASKETS], "other.csv")
    with duckdb.connect() as book:
        book.execute("create table people (foods varchar[])")
        book.executemany("insert into people values (?)", [[basket] for basket in BASKETS[:200]])
        book.table("people").write_parquet(str(tmp_path / "lists.parquet"))
    whole = answer(run("simulate", other, *options, "--separator", "|", "--json"))
    assert whole["sought"]["bread"] == holding("bread")
    lists = answer(run("simulate", tmp_path / "lists.parquet", *options, "--json"))
    assert lists["sought"]["bread"] == sum("bread" in basket for basket in BASKETS[:200])


def test_whole_numbers_may_be_items(run, write):
    data = write(["songs"], [["1;2;7"]] * 300 + [["1"]] * 200 + [[""]] * 50)
    options = (
        "--column",
        "songs",
        "--items",
        "--range",
        "1:9",
        "--top",
        2,
        "--epsilon",
        6,
        "--seed",
        1,
        "--json",
    )
    assert answer(run("simulate", data, *options))["sought"] == {"1": 500, "2": 300}
    bad = write(["songs"], [["1;x"]] * 60, "bad.csv")
    assert run("simulate", bad, *options).exit_code == 3


DOCUMENTS = {
    "pem": (sv.HeavyHitters(sv.Strings(5), 3), "texts", "word"),
    "svim": (sv.TopItems(FOODS, 3), "baskets", "foods"),
    "svsm": (sv.Itemsets(FOODS, 6), "baskets", "foods"),
    "dbs": (sv.AdaptiveTopItems(FOODS, 2000, 2, rounds=2), "baskets", "foods"),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_of_searches_are_simulated(run, request, tmp_path, kind):
    plan, data, column = DOCUMENTS[kind]
    (tmp_path / "task.json").write_text(
        codec.canonical(codec.document(sv.Task("t", plan, 6.0))), encoding="utf-8"
    )
    options = ("--task", tmp_path / "task.json", "--column", column, "--seed", 1, "--json")
    assert answer(run("simulate", request.getfixturevalue(data), *options))["f1"] >= 0.6


def test_identifiers_are_read_in_decimal_and_hexadecimal(run, write, tmp_path):
    task = sv.Task("t", sv.HeavyHitters(sv.Bits(16), 2), 8.0)
    (tmp_path / "task.json").write_text(codec.canonical(codec.document(task)))
    data = write(["id"], [["0x00ff"]] * 400 + [["255"]] * 100 + [["7"]] * 300)
    options = ("--task", tmp_path / "task.json", "--column", "id", "--seed", 1, "--json")
    assert answer(run("simulate", data, *options))["sought"] == {"0x00ff": 500, "0x0007": 300}


def test_a_search_is_drawn_and_written(run, baskets, listed, tmp_path):
    options = (
        "--column",
        "foods",
        "--items",
        "--domain-file",
        listed,
        "--top",
        3,
        "--epsilon",
        4,
        "--seed",
        1,
    )
    files = (
        "--plot",
        tmp_path / "a.png",
        "--csv",
        tmp_path / "a.csv",
        "--save-task",
        tmp_path / "t.json",
    )
    assert run("simulate", baskets, *options, *files).exit_code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.csv").read_text().count("\n") == 4
    assert codec.task(codec.parse((tmp_path / "t.json").read_text())).plan == sv.TopItems(FOODS, 3)


BAD = {
    "two searches": ("--heavy-hitters", "--items"),
    "sets of nothing": ("--itemsets",),
    "two ways": ("--items", "--itemsets", "--adaptive"),
    "a domain of what cannot be listed": ("--heavy-hitters", "--domain", "a,b"),
    "a mechanism": ("--items", "--mechanism", "grr"),
    "a number, too": ("--items", "--mean", "0:1"),
    "no separator": ("--items", "--separator", ""),
    "too many": ("--items", "--domain", "a,b", "--top", 3),
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
def test_options_that_do_not_go_together_are_refused(run, baskets, options):
    result = run("simulate", baskets, "--column", "foods", "--epsilon", 1, *options)
    assert result.exit_code == 2, result.output
    assert result.stderr.strip().splitlines()[-1].startswith("Error: ")


def test_empty_texts_are_refused(run, write):
    data = write(["word", "x"], [["yes", "1"], ["", "2"]] * 50)
    result = run("simulate", data, "--column", "word", "--heavy-hitters", "--epsilon", 1)
    assert result.exit_code == 3
    assert "50 empty cells" in result.stderr


def test_what_speaks_against_a_search_is_said_once(run, write):
    data = write(["songs"], [["1;2"]] * 400)
    options = (
        "--column",
        "songs",
        "--items",
        "--adaptive",
        "--range",
        "1:2000",
        "--top",
        2,
        "--rounds",
        2,
    )
    result = run("simulate", data, *options, "--epsilon", 0.5, "--seed", 1, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("Warning: pruning 2,000 items") == 1
