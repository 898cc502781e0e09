"""The worst documents that are known in Python, given to the client in JavaScript."""

import json
import re
import subprocess

import pytest

from fuzz.hostile_documents import ending, extremes
from js.collector import PACKAGE

SCRIPT = PACKAGE / "support" / "hostile.js"
TEST = PACKAGE / "test" / "hostile.test.js"
MAX_EXTRA = 16  # megabytes beside what an idle process holds
SEED = "7"


@pytest.fixture(scope="module")
def worst(tmp_path_factory):
    """Return the option that names a file with the documents."""
    path = tmp_path_factory.mktemp("hostile") / "extremes.json"
    path.write_text(json.dumps(extremes()), "ascii")
    return f"--documents={path}"


def run(node, flags, *parameters):
    return json.loads(subprocess.check_output([node, *flags, str(SCRIPT), *parameters]))


def test_the_worst_documents_of_python_take_little_work(node, worst):
    (stated,) = re.findall(r"const MAX_BLOCKS = ([\d_]+);", TEST.read_text("utf-8"))
    slow = run(node, [], "work", "0", SEED, worst)["slow"]
    name = max(slow, key=slow.get)
    print(f"{name}: {slow[name]:,} blocks of at most {stated}")
    assert set(extremes()) <= set(slow)
    assert slow[name] <= int(stated.replace("_", ""))


def test_the_worst_documents_of_python_end_as_there_in_little_memory(node, worst):
    idle = run(node, ["--expose-gc"], "0", SEED, "1", worst)["idle"]
    heap = int(idle / 2**20) + MAX_EXTRA
    flags = [f"--max-old-space-size={heap}", "--max-semi-space-size=1", "--expose-gc"]
    slow = run(node, flags, "0", SEED, "1", worst)["slow"]  # dies of needing more
    outcomes = {name: slow[name]["outcome"] for name in extremes()}
    untyped = {name: outcome for name, outcome in outcomes.items() if outcome.startswith("untyped")}
    assert not untyped
    in_python = {name for name, text in extremes().items() if ending(text) == "answered"}
    in_javascript = {name for name, outcome in outcomes.items() if outcome == "answered"}
    print(f"{len(in_python)} of {len(outcomes)} are answered in Python")
    assert in_javascript == in_python
