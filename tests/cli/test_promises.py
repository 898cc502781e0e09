"""The promises of a shuffled task on the command line: always all three."""

from cli.collecting import said
from collector.shuffled import shuffled
from sottovoce.cli import promises
from sottovoce.collector import key_files

FILE = """
name = "browser"
epsilon = 3.0
[plan]
kind = "histogram"
mechanism = "grr"
domain = {low = 0, high = 15}
[shuffle]
hops = ["https://mix-a.example#AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
users = 10_000
central = 0.5
delta = "1e-6"
fakes = 500
"""


def test_all_three_promises_and_the_errors_are_printed(run, tmp_path):
    file = tmp_path / "browser.toml"
    file.write_text(FILE)
    data = tmp_path / "data"
    made = run("task", "create", file, "--data", data)
    shown = run("task", "show", "browser", "--data", data)
    for output in (made.stdout, shown.stdout):
        assert "Against the collector alone: epsilon 0.5, except with probability 1e-06" in output
        assert "Against the collector with all other users: epsilon " in output
        assert "Against everybody, the hops included: epsilon 3." in output
        assert "a trusted curator" in output
    facts = said(run("task", "show", "browser", "--data", data, "--json"))
    assert facts["shuffle"]["hops"] == ["https://mix-a.example"]
    assert facts["document"]["shuffle"]["key"] == key_files.public_signing_key(data)
    assert facts["expected_errors"]["laplace"] < facts["expected_errors"]["shuffled"]


def test_a_task_that_is_not_shuffled_promises_nothing_more(run, tmp_path):
    from collector.people import counting

    assert promises.lines(counting()) == []
    assert promises.facts(counting()) == {}
    assert promises.facts(shuffled())["shuffle"]["local"] == 1.0
