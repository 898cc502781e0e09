"""``sottovoce simulate``."""

import csv
import json
import re
import subprocess
import sys

import duckdb
import pytest

PETS = [["cat", 30 + index % 3] for index in range(600)] + [["dog", 40] for _ in range(400)]


@pytest.fixture
def pets(write):
    return write(["pet", "age"], PETS)


@pytest.fixture
def parquet(pets, tmp_path):
    path = tmp_path / "pets.parquet"
    with duckdb.connect() as book:
        book.read_csv(str(pets)).write_parquet(str(path))
    return path


@pytest.fixture(params=["pets", "parquet"])
def data(request):
    return request.getfixturevalue(request.param)


def answers(result):
    assert result.exit_code == 0, result.stderr
    return {one["name"]: one for one in json.loads(result.stdout)["answers"]}


def test_csv_and_parquet_give_the_same_answer(run, pets, parquet):
    first, second = (
        run(
            "simulate",
            data,
            "--column",
            "pet",
            "--epsilon",
            1,
            "--domain",
            "cat,dog",
            "--seed",
            1,
            "--json",
        )
        for data in (pets, parquet)
    )
    assert first.stdout == second.stdout
    assert [row["truth"] for row in answers(first)["pet"]["rows"]] == [600, 400]
    assert first.stderr == ""


def test_several_columns_make_a_survey(run, data):
    options = (
        "--column",
        "pet",
        "--column",
        "age",
        "--domain",
        "pet=cat,dog,none",
        "--range",
        "age=18:99",
    )
    found = answers(run("simulate", data, *options, "--epsilon", 4, "--seed", 1, "--json"))
    assert [row["truth"] for row in found["pet"]["rows"]] == [600, 400, 0]
    assert len(found["age"]["rows"]) == 82
    assert found["pet"]["users"] + found["age"]["users"] == found["pet"]["population"] == 1000


def test_the_table_shows_truth_beside_estimate(run, pets):
    text = run(
        "simulate", pets, "--column", "pet", "--epsilon", 4, "--domain", "cat,dog", "--level", 0.9
    ).stdout
    for words in ("truth", "estimate", "90 % interval", "cat", "600", "contain the truth"):
        assert words in text


def test_a_domain_taken_from_the_data_is_warned_about(run, pets):
    result = run("simulate", pets, "--column", "age", "--epsilon", 4, "--json")
    assert [row["value"] for row in answers(result)["age"]["rows"]] == ["30", "31", "32", "40"]
    assert "a real task must state it" in result.stderr


def test_a_domain_may_stand_in_a_file(run, pets, tmp_path):
    (tmp_path / "domain.txt").write_text("cat\ndog\n\nparrot\n")
    found = answers(
        run(
            "simulate",
            pets,
            "--column",
            "pet",
            "--epsilon",
            4,
            "--domain-file",
            tmp_path / "domain.txt",
            "--json",
        )
    )
    assert [row["value"] for row in found["pet"]["rows"]] == ["cat", "dog", "parrot"]


def test_a_named_mechanism_is_used(run, pets):
    options = (
        "--column",
        "age",
        "--range",
        "18:99",
        "--epsilon",
        4,
        "--mechanism",
        "grr",
        "--json",
    )
    assert answers(run("simulate", pets, *options))["age"]["mechanism"] == "grr"


def test_empty_cells_are_refused_unless_declining_is_an_answer(run, write):
    data = write(["pet"], [["cat"], [""], ["dog"]] * 100)
    options = ("simulate", data, "--column", "pet", "--epsilon", 2, "--domain", "cat,dog", "--json")
    refused = run(*options)
    assert refused.exit_code == 3
    assert "100 empty cells" in json.loads(refused.stderr)["error"]
    found = answers(run(*options, "--decline"))
    assert [(row["value"], row["truth"]) for row in found["pet"]["rows"]] == [
        ("cat", 100),
        ("dog", 100),
        ("prefer not to say", 100),
    ]


def test_declining_works_with_a_range(run, write):
    data = write(["x", "age"], [["a", "3"], ["a", ""], ["a", "4"]])
    found = answers(
        run(
            "simulate",
            data,
            "--column",
            "age",
            "--epsilon",
            2,
            "--range",
            "3:4",
            "--decline",
            "--json",
        )
    )
    assert [row["truth"] for row in found["age"]["rows"]] == [1, 1, 1]


def test_rows_figures_and_tasks_are_written(run, pets, tmp_path):
    options = (
        "--plot",
        tmp_path / "a.png",
        "--csv",
        tmp_path / "a.csv",
        "--save-task",
        tmp_path / "task.json",
    )
    result = run(
        "simulate",
        pets,
        "--column",
        "pet",
        "--epsilon",
        1,
        "--domain",
        "cat,dog",
        "--seed",
        3,
        *options,
    )
    assert result.exit_code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [(row["question"], row["truth"]) for row in csv.DictReader(file)] == [
            ("pet", "600"),
            ("pet", "400"),
        ]
    again = answers(
        run(
            "simulate",
            pets,
            "--task",
            tmp_path / "task.json",
            "--column",
            "pet",
            "--seed",
            3,
            "--json",
        )
    )
    assert [row["truth"] for row in again["pet"]["rows"]] == [600, 400]


def test_a_survey_is_drawn_and_simulated_again_from_its_document(run, pets, tmp_path):
    task, figure = tmp_path / "task.json", tmp_path / "a.png"
    options = (
        "--column",
        "pet",
        "--column",
        "age",
        "--epsilon",
        2,
        "--save-task",
        task,
        "--plot",
        figure,
    )
    assert run("simulate", pets, *options).exit_code == 0
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert set(answers(run("simulate", pets, "--task", task, "--json"))) == {"pet", "age"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--column", "pet"], 2),
        (["--epsilon", "1"], 2),
        (["--column", "fish", "--epsilon", "1"], 2),
        (["--column", "pet", "--column", "pet", "--epsilon", "1"], 2),
        (["--column", "pet", "--epsilon", "-1"], 2),
        (["--column", "pet", "--epsilon", "1", "--level", "2"], 2),
        (["--column", "pet", "--epsilon", "1", "--domain", "cat,cow"], 3),
        (["--column", "pet", "--epsilon", "1", "--domain", "cat,cat"], 2),
        (
            ["--column", "pet", "--epsilon", "1", "--domain", "cat,dog", "--domain", "pet=cat,dog"],
            2,
        ),
        (["--column", "pet", "--epsilon", "1", "--range", "1:9"], 3),
        (["--column", "age", "--epsilon", "1", "--range", "1:9"], 3),
        (["--column", "age", "--epsilon", "1", "--range", "nine"], 2),
        (["--column", "age", "--epsilon", "1", "--domain-file", "/nowhere"], 2),
        (["--column", "age", "--column", "pet", "--epsilon", "1", "--range", "1:99"], 2),
        (["--column", "pet", "--epsilon", "1", "--mechanism", "divination"], 2),
        (["--column", "pet", "--epsilon", "1", "--mechanism", "affine"], 2),
        (["--column", "pet", "--epsilon", "1", "--plot", "a.docx"], 2),
        (["--column", "pet", "--epsilon", "1", "--csv", "/nowhere/a.csv"], 1),
        (["--task", "/nowhere.json"], 2),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else str(one),
)
def test_bad_input_has_an_exit_code_and_never_shows_a_value(run, pets, options, code):
    result = run("simulate", pets, *options)
    assert result.exit_code == code, result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "dog" not in result.stderr


def test_a_task_document_and_options_that_contradict_it_are_refused(run, pets, tmp_path):
    task = tmp_path / "task.json"
    run("simulate", pets, "--column", "pet", "--epsilon", 1, "--save-task", task)
    assert run("simulate", pets, "--column", "pet", "--task", task, "--epsilon", 1).exit_code == 2
    assert run("simulate", pets, "--task", task).exit_code == 2
    assert (
        run("simulate", pets, "--task", task, "--column", "pet", "--column", "age").exit_code == 2
    )
    task.write_text("{}")
    assert run("simulate", pets, "--task", task, "--column", "pet").exit_code == 4


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"pet\n", 7),
        (b"", 2),
        (b"pet,age\ncat\n", 4),
        (b"pet\n\xff\xfe\n", 4),
        (b'pet\n"cat\n', 4),
        (b"PAR1nonsense", 4),
    ],
    ids=["no rows", "empty", "ragged", "not UTF-8", "open quote", "not Parquet"],
)
def test_a_broken_file_is_refused(run, tmp_path, content, code):
    (tmp_path / "broken").write_bytes(content)
    result = run(
        "simulate", tmp_path / "broken", "--column", "pet", "--epsilon", 1, "--domain", "cat,dog"
    )
    assert result.exit_code == code, result.stderr


def test_json_on_a_real_command_line_is_the_only_output(pets):
    arguments = [
        "simulate",
        str(pets),
        "--column",
        "pet",
        "--epsilon",
        "1",
        "--domain",
        "cat,dog",
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", *arguments], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["name"] == "pet"
    assert done.stderr == ""


def test_what_chance_may_reach_is_marked_as_noise(run, write):
    words = write(["word"], [["ja"]] * 400 + [[f"w{index}"] for index in range(100)])
    found = run(
        *("simulate", words, "--column", "word", "--heavy-hitters", "--bytes", 4, "--top", 4),
        *("--epsilon", 4, "--seed", 1),
    )
    assert found.exit_code == 0, found.stderr
    lines = {line.split(" ")[0]: line for line in found.stdout.splitlines()}
    assert "within noise" not in lines["ja"]
    assert any(line.rstrip().endswith("within noise") for line in lines.values())


def test_most_noise_of_a_search_is_folded_and_stays_in_the_files(run, write, tmp_path):
    words = write(["word"], [["ja"]] * 400 + [[f"w{index}"] for index in range(100)])
    found = run(
        *("simulate", words, "--column", "word", "--heavy-hitters", "--bytes", 4, "--top", 12),
        *("--epsilon", 4, "--seed", 1, "--csv", tmp_path / "rows.csv"),
    )
    assert found.exit_code == 0, found.stderr
    rows = [line for line in found.stdout.splitlines() if line.rstrip().endswith("within noise")]
    assert len(rows) == 3
    (remark,) = re.findall(r"within noise: (\d+) more rows", found.stdout)
    written = (tmp_path / "rows.csv").read_text().splitlines()[1:]
    assert sum("False" in line or "false" in line for line in written) >= 3 + int(remark)
    assert len(written) == 12
