"""The JavaScript client with its own randomness: its reports follow the law of their mechanism.

The draws are the system's and cannot be seeded; a bound of six standard deviations is left by chance once in 10^9.
"""

import json
import subprocess
from base64 import b64decode

import numpy as np
import pytest

import sottovoce as sv
from js.collector import PACKAGE
from sottovoce.encodings.sample import Sample
from sottovoce.engine.memory import batches_of
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.itemsets.padding import amplified
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

USERS, VALUE, SIGMAS = 1500, 2, 6
LENGTH = 4
BASKETS = {"short": ["b", "e"], "long": list("abcdefg"), "empty": []}
KINDS = ("grr", "oue", "sue", "the", "olh", "blh", "affine", "hadamard", "subset", "rmp")

ANSWER = """
import { Client, MemoryLedger } from "./dist/index.js";
const tasks = JSON.parse(await new Response(process.stdin).text());
const sent = {};
for (const [kind, text] of Object.entries(tasks)) {
  sent[kind] = [];
  for (let user = 0; user < USERS; user++) {
    const client = await Client.open(text, new MemoryLedger());
    sent[kind].push(Buffer.from(await client.answer("c")).toString("base64"));
  }
}
process.stdout.write(JSON.stringify(sent));
""".replace("USERS", str(USERS))


SAMPLE = """
import { Client, MemoryLedger } from "./dist/index.js";
const { task, round, baskets } = JSON.parse(await new Response(process.stdin).text());
const sent = {};
const client = await Client.open(task, new MemoryLedger());
const asked = await client.round(round);
for (const [name, basket] of Object.entries(baskets)) {
  sent[name] = [];
  for (let user = 0; user < USERS; user++) {
    sent[name].push(Buffer.from(await client.answer(basket, asked)).toString("base64"));
    await client.ledger.update((file) => { Object.assign(file, { tasks: {}, charges: [] }); });  // another device
  }
}
process.stdout.write(JSON.stringify(sent));
""".replace("USERS", str(USERS))


def task_of(kind):
    return sv.Task(kind, sv.Histogram(list("abcdefgh"), kind), epsilon=1.5)


@pytest.fixture(scope="module")
def reports(node):
    """Return the reports of people who all hold one value, by mechanism."""
    documents = json.dumps({kind: codec.canonical(codec.document(task_of(kind))) for kind in KINDS})
    command = [node, "--input-type=module", "--eval", ANSWER]
    done = subprocess.run(command, cwd=PACKAGE, input=documents, capture_output=True, text=True, check=True)
    sent = {kind: [b64decode(message) for message in messages] for kind, messages in json.loads(done.stdout).items()}
    return {kind: batches_of(task_of(kind), task_of(kind).opening, sent[kind])[Address()].reports for kind in KINDS}


def deviations(mechanism, reports):
    """Return how many standard deviations each value's support lies from what p and q say."""
    counts = mechanism.count(reports, np.arange(8))
    chances = np.where(np.arange(8) == VALUE, mechanism.p, mechanism.q)
    return (counts - USERS * chances) / np.sqrt(USERS * chances * (1 - chances))


@pytest.mark.parametrize("kind", KINDS)
def test_reports_follow_the_law_of_their_mechanism(kind, reports):
    found = deviations(task_of(kind).opening.ask.mechanism, reports[kind])
    assert np.abs(found).max() < SIGMAS, found


def test_a_client_that_spends_twice_its_epsilon_would_be_seen(reports):
    found = deviations(Mechanism.kinds["grr"](epsilon=0.75, size=8), reports["grr"])
    assert np.abs(found).max() > SIGMAS, found


def sampling():
    """Return a search among sets, and a round that asks for one item of a set padded to four."""
    task = sv.Task("basket", TopItems(list("abcdefgh"), top=2), epsilon=1.5)
    question = Question(Mechanism.kinds["grr"](amplified(1.5, LENGTH) - 1e-9, 8 + LENGTH), Sample(8, LENGTH), 1.5)
    return task, Round(1, question)


@pytest.fixture(scope="module")
def sampled(node):
    """Return the reports of people who all hold one set, by the set's name."""
    task, asked = sampling()
    given = {"task": codec.canonical(codec.document(task)), "round": codec.document(asked), "baskets": BASKETS}
    command = [node, "--input-type=module", "--eval", SAMPLE]
    done = subprocess.run(command, cwd=PACKAGE, input=json.dumps(given), capture_output=True, text=True, check=True)
    sent = {name: [b64decode(message) for message in messages] for name, messages in json.loads(done.stdout).items()}
    return {name: batches_of(task, asked, messages)[Address(1)].reports for name, messages in sent.items()}


def sampled_deviations(reports, basket, dummies=LENGTH):
    """Return how many standard deviations each output lies from its chance if so many dummies fill a short set."""
    mechanism, held = sampling()[1].ask.mechanism, ["abcdefgh".index(item) for item in basket]
    drawn = np.zeros(8 + LENGTH)
    drawn[held] = 1 / max(len(held), LENGTH)
    drawn[8 : 8 + dummies] = (1 - drawn.sum()) / dummies
    chances = mechanism.q + (mechanism.p - mechanism.q) * drawn
    counts = np.bincount(reports, minlength=8 + LENGTH)
    return (counts - USERS * chances) / np.sqrt(USERS * chances * (1 - chances))


@pytest.mark.parametrize("name", BASKETS)
def test_one_element_of_a_padded_set_is_drawn_evenly(name, sampled):
    found = sampled_deviations(sampled[name], BASKETS[name])
    assert np.abs(found).max() < SIGMAS, found


def test_one_dummy_for_all_would_be_seen(sampled):
    found = sampled_deviations(sampled["short"], BASKETS["short"], dummies=1)
    assert np.abs(found).max() > SIGMAS, found
