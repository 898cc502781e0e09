"""The JavaScript client answers joint statistics by every method, and the collector reads and adds up what it sends."""

import json
import subprocess
from base64 import b64decode, b64encode
from itertools import product
from math import prod

import numpy as np
import pytest
from sottovoce.mechanisms.hcms import HCMS
from sottovoce.mechanisms.product import Product
from sottovoce.tasks.families.parities import Parities

import sottovoce as sv
from js.collector import PACKAGE
from sottovoce.engine.memory import batches_of
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.marginals import METHODS, Marginals
from sottovoce.wire import codec

USERS, MANY = 12, 100
PEOPLE = {"home": ["flat", "house", "other"], "car": ["no", "yes"], "rooms": range(1, 5), "pet": range(2)}
HELD = {"home": "other", "car": "yes", "rooms": 2, "pet": 1}
INDICES, OTHERS = (2, 1, 1, 1), (0, 0, 0, 1)
HONEST = [method for method in METHODS if not method.endswith("_rr")]  # whose reports show the truth at a high epsilon

ANSWER = """
import { Client, MemoryLedger } from "./dist/index.js";
const tasks = JSON.parse(await new Response(process.stdin).text());
const sent = {};
for (const [name, { text, value, users }] of Object.entries(tasks)) {
  sent[name] = [];
  for (let user = 0; user < users; user++) {
    const client = await Client.open(text, new MemoryLedger({ cap: 20 }));
    sent[name].push(Buffer.from(await client.answer(value)).toString("base64"));
  }
}
process.stdout.write(JSON.stringify(sent));
"""

# What every member of a family makes of some records.
FAMILY = """
import { load, readFamily } from "./dist/kinds.js";
const { families } = JSON.parse(await new Response(process.stdin).text());
const found = [];
for (const { content, records } of families) {
  await load(content);
  const family = readFamily(content);
  const row = (place) => records.map((one) => family.at(place).encoding.encode(one)).join("");
  found.push(Array.from({ length: family.length }, (_, place) => row(place)));
}
process.stdout.write(JSON.stringify(found));
"""

# What a mechanism says of values under recorded words.
SAY = """
import { load, readMechanism } from "./dist/kinds.js";
import { RecordedRandom } from "./support/recorded.js";
const { mechanisms } = JSON.parse(await new Response(process.stdin).text());
const found = [];
for (const { content, values, stream } of mechanisms) {
  await load(content);
  const mechanism = readMechanism(content);
  const random = new RecordedRandom(new Uint8Array(Buffer.from(stream, "base64")));
  found.push(values.map((value) => Buffer.from(mechanism.permanent(value, random)).toString("hex")));
}
process.stdout.write(JSON.stringify(found));
"""


def run(node, script, given):
    command = [node, "--input-type=module", "--eval", script]
    done = subprocess.run(command, cwd=PACKAGE, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def answered(node, methods, epsilon, users):
    """Return the tasks and the messages of so many people, by method."""
    tasks = {name: sv.Task(name, Marginals(PEOPLE, 10_000, 2, name), epsilon=epsilon) for name in methods}
    written = {name: codec.canonical(codec.document(task)) for name, task in tasks.items()}
    given = {name: {"text": text, "value": HELD, "users": users} for name, text in written.items()}
    sent = run(node, ANSWER, given)
    return {name: (tasks[name], [b64decode(one) for one in messages]) for name, messages in sent.items()}


@pytest.fixture(scope="module")
def answers(node):
    return answered(node, METHODS, 2.0, USERS)


@pytest.mark.parametrize("method", METHODS)
def test_the_collector_reads_what_the_client_sends(method, answers):
    task, messages = answers[method]
    batches = batches_of(task, task.opening, messages)
    assert sum(len(batch.reports) for batch in batches.values()) == len(messages) == USERS


def test_the_reports_of_people_who_hardly_lie_support_what_they_hold(node):
    """At epsilon 20 fewer than one report in 20 is a lie; of 100 more than 80 are true but for a chance below 1e-6."""
    frank = answered(node, HONEST, 20.0, MANY)
    held, other = ({name: support(*frank[name], indices) for name in frank} for indices in (INDICES, OTHERS))
    assert all(count > 0.8 * MANY for count in held.values()), held
    assert all(count < 0.8 * MANY for count in other.values()), other  # the same check of what they do not hold


def support(task, messages, indices):
    """Return how many reports are what somebody with these indices sends."""
    found = 0
    for address, batch in batches_of(task, task.opening, messages).items():
        question = task.opening.question(address)
        encoded = question.encoding(np.array([indices]), None)
        if isinstance(question.mechanism, Product):
            found += np.count_nonzero(batch.reports == encoded)
        else:
            found += question.mechanism.count(batch.reports, encoded)[0]
    return found


@pytest.mark.parametrize("within", [False, True])
def test_every_coefficient_has_the_same_number_in_both_languages(node, within):
    families = [
        Parities(GRR(1.0, 2), sizes, order, within)
        for sizes, order in (((3, 2, 4, 2), 2), ((5, 2, 3), 3), ((2,) * 9, 4), ((17, 3), 1), ((9, 2, 2, 6), 3))
    ]
    records = [[list(one) for one in product(*(powers(size) for size in family.sizes))][:48] for family in families]
    given = [
        {"content": codec.document(family), "records": some} for family, some in zip(families, records, strict=True)
    ]
    found = run(node, FAMILY, {"families": given})
    for family, some, rows in zip(families, records, found, strict=True):
        members = np.arange(len(family))
        columns = [family.encoded(members, np.tile(record, (len(family), 1)), None) for record in some]
        assert rows == ["".join(map(str, row)) for row in np.stack(columns, axis=1).tolist()]


def powers(size):
    return [0, *(1 << bit for bit in range((size - 1).bit_length()))]


def test_mechanisms_say_the_same_under_the_same_words(node):
    drawn = np.random.default_rng(20)
    mechanisms = [
        *(Product(4.0, prod(sizes), sizes) for sizes in ((2, 3), (5, 2, 7, 4), (300, 300), (70_000, 3, 50_000))),
        *(
            HCMS(2.0, size, rows, columns)
            for size, rows, columns in ((10, 1, 2), (1000, 5, 256), (1 << 20, 1024, 1 << 16))
        ),
    ]
    given, wanted = [], []
    for mechanism in mechanisms:
        values, stream = drawn.integers(mechanism.size, size=200), drawn.bytes(1 << 15)
        rng = RecordedRng(stream)
        wanted.append([mechanism.pack(mechanism.privatize(values[[place]], rng)).hex() for place in range(200)])
        words = b64encode(stream).decode()
        given.append({"content": codec.document(mechanism), "values": values.tolist(), "stream": words})
    assert run(node, SAY, {"mechanisms": given}) == wanted
