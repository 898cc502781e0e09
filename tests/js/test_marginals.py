"""The JavaScript client answers joint statistics by every method, and the collector reads and adds up what it sends."""

import json
import subprocess
from base64 import b64decode
from itertools import product
from math import prod

import numpy as np
import pytest

import sottovoce as sv
from js.collector import PACKAGE
from sottovoce import codec
from sottovoce.encodings.parities import Parities
from sottovoce.engine.local import shelve
from sottovoce.marginals.marginals import METHODS, Marginals
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.hcms import HCMS
from sottovoce.mechanisms.product import Product

USERS = 12
PEOPLE = {"home": ["flat", "house", "other"], "car": ["no", "yes"], "rooms": range(1, 5), "pet": range(2)}
HELD = {"home": "other", "car": "yes", "rooms": 2, "pet": 1}
CELL = (2, 1, 1, 1)

ANSWER = """
import { Client, MemoryLedger } from "./dist/index.js";
const tasks = JSON.parse(await new Response(process.stdin).text());
const sent = {};
for (const [name, { text, value, users }] of Object.entries(tasks)) {
  sent[name] = [];
  for (let user = 0; user < users; user++) {
    const client = await Client.open(text, new MemoryLedger());
    sent[name].push(Buffer.from(await client.answer(value)).toString("base64"));
  }
}
process.stdout.write(JSON.stringify(sent));
"""

# Every index of a family, and what its encoding makes of some records.
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

# What a mechanism says of every value under given words.
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


def task(method, epsilon):
    return sv.Task(method, Marginals(PEOPLE, 10_000, 2, method), epsilon=epsilon)


def openings(methods, epsilon, users):
    tasks = {method: task(method, epsilon) for method in methods}
    written = {name: codec.canonical(codec.document(one)) for name, one in tasks.items()}
    return tasks, {name: {"text": text, "value": HELD, "users": users} for name, text in written.items()}


@pytest.fixture(scope="module")
def answers(node):
    """Return the tasks and the messages of some people, by method."""
    tasks, given = openings(METHODS, 2.0, USERS)
    sent = run(node, ANSWER, given)
    return {name: (tasks[name], [b64decode(one) for one in messages]) for name, messages in sent.items()}


@pytest.mark.parametrize("method", METHODS)
def test_the_collector_reads_what_the_client_sends(method, answers):
    made, messages = answers[method]
    shelves = shelve(made, made.opening, messages)
    assert sum(len(shelf.reports) for shelf in shelves.values()) == len(messages) == USERS


@pytest.fixture(scope="module")
def certain(node):
    """Return what people send who nearly always tell the truth: one in 480 million lies at epsilon 20."""
    methods = ("inp_ht", "inp_ps", "inp_htcms", "inp_rr", "marg_ps", "marg_ht")
    tasks, given = openings(methods, 20.0, 60)
    sent = run(node, ANSWER, given)
    return {name: (tasks[name], [b64decode(one) for one in messages]) for name, messages in sent.items()}


@pytest.mark.parametrize("method", ["inp_ht", "inp_ps", "inp_htcms", "inp_rr", "marg_ps", "marg_ht"])
def test_the_cell_that_everybody_holds_is_the_one_that_is_supported(method, certain):
    made, messages = certain[method]
    for address, shelf in shelve(made, made.opening, messages).items():
        question = made.opening.question(address)
        encoded = question.encoding(np.array([CELL]), None)
        said = question.mechanism.support(question.mechanism.unpack(b"".join(payloads(shelf))), encoded)
        assert said.all()
        other = question.encoding(np.array([(0, 0, 0, 0)]), None)
        assert encoded[0] == other[0] or not said_all(question.mechanism, shelf, other)


def payloads(shelf):
    return [shelf.reports] if isinstance(shelf.reports, bytes) else shelf.reports


def said_all(mechanism, shelf, values):
    return bool(mechanism.support(mechanism.unpack(b"".join(payloads(shelf))), values).all())
