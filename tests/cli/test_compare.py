"""``sottovoce compare``: a column of a file, mechanisms by epsilons."""

import csv

from cli.collecting import said


def test_a_table_json_csv_and_a_plot(run, write, tmp_path):
    data = write(["pet", "age"], [["cat", 3]] * 60 + [["dog", 4]] * 40)
    options = ("--column", "pet", "--mechanism", "grr", "--epsilon", 2, "--seeds", 2)
    files = ("--csv", tmp_path / "rows.csv", "--plot", tmp_path / "errors.png")
    shown = run("compare", data, *options, *files)
    assert "100 people, 2 values, 2 seeds" in shown.stdout
    assert "define its domain" in shown.stderr
    (row,) = csv.DictReader((tmp_path / "rows.csv").read_text().splitlines())
    assert (row["mechanism"], row["epsilon"]) == ("grr", "2.0")
    assert (tmp_path / "errors.png").stat().st_size > 5_000
    stated = run("compare", data, *options, "--domain", "cat,dog,newt", "--json")
    assert said(stated)["values"] == 3


def test_a_column_that_is_not_there_is_refused(run, write):
    data = write(["pet"], [["cat"]])
    assert run("compare", data, "--column", "dog").exit_code == 2
