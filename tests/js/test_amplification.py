"""Amplification by shuffling in JavaScript: golden rows, and large batches beside Python."""

import json
import subprocess

import numpy as np
import pytest

from js.collector import PACKAGE, ROOT
from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket

EQUAL = 1e-9  # relative
LARGE_BATCHES = 24

SCRIPT = """
import { batchOf, delta, epsilon, genericBlanket } from "./dist/accounting/amplification.js";
let text = "";
for await (const chunk of process.stdin) text += chunk;
const answer = ({ blanket, users, fakes, epsilon: at, delta: target }) => {
  const batch = batchOf(blanket, users, fakes);
  return target === undefined ? delta(blanket, batch, at) : epsilon(blanket, batch, target);
};
const refused = (row) => {
  try {
    return answer({ blanket: genericBlanket(1), users: 10, fakes: 0, epsilon: 0.1, ...row });
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
const { rows, wrong } = JSON.parse(text);
console.log(JSON.stringify({ rows: rows.map(answer), wrong: wrong.map(refused) }));
"""

WRONG = {
    "`users` must be a whole number of at least 1": {"users": 0},
    "`fakes` must be a whole number of at least 0": {"fakes": -1},
    "`epsilon` must be a number of at least 0": {"epsilon": -1},
    "`delta` must be a number above 0 and below 1": {"delta": 0},
}


def computed(node, rows, wrong=()):
    """Return what Node computes for some rows, and how it refuses others."""
    done = subprocess.run(
        [node, "--input-type=module", "--eval", SCRIPT],
        cwd=PACKAGE,
        input=json.dumps({"rows": rows, "wrong": list(wrong)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def row_of(blanket, users, fakes, **asked):
    written = {
        "epsilonLocal": blanket.epsilon_local,
        "share": blanket.share,
        "overlap": blanket.overlap,
        "drawable": blanket.drawable,
    }
    return {"blanket": written, "users": users, "fakes": fakes, **asked}


def test_every_golden_row_holds(node):
    golden = json.loads((ROOT / "tests" / "golden" / "amplification.json").read_text("ascii"))
    rows = []
    for row in golden["bounds"]:
        blanket = Blanket(**{name: float(number) for name, number in row["blanket"].items()})
        rows.append(row_of(blanket, row["users"], row["fakes"], epsilon=float(row["epsilon"])))
    expected = [float(row["delta"]) for row in golden["bounds"]]
    assert computed(node, rows)["rows"] == pytest.approx(expected, rel=EQUAL)


def large_batches():
    """Return seeded blankets and batches of up to a million people."""
    generator = np.random.default_rng(24)
    for number in range(LARGE_BATCHES):
        buckets = int(generator.integers(2, 600))
        overlap = (0.0, 1 / buckets)[number % 2]
        local = float(generator.uniform(0.5, 7))
        blanket = (
            Blanket.generic(local) if number % 6 == 5 else Blanket(local, 1 / buckets, overlap)
        )
        users = int(10 ** generator.uniform(2, (6, 4)[number % 2]))
        yield blanket, users, int(generator.choice([0, users // 4]))


def test_large_batches_are_equal_in_both_languages(node):
    rows = []
    expected = []
    for blanket, users, fakes in large_batches():
        batch = blanket.batch(users, fakes)
        at = amplification.epsilon(blanket, batch, 1e-8)
        rows += [
            row_of(blanket, users, fakes, delta=1e-8),
            row_of(blanket, users, fakes, epsilon=0.9 * at),
        ]
        expected += [at, amplification.delta(blanket, batch, 0.9 * at)]
    assert computed(node, rows)["rows"] == pytest.approx(expected, rel=EQUAL)


def test_settings_out_of_range_are_refused_in_the_same_words(node):
    found = computed(node, [], WRONG.values())["wrong"]
    assert found == [f"ParameterError: {rule}" for rule in WRONG]
