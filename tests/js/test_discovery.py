"""The JavaScript client answers every plan of discovery, and the collector reads what it sends."""

import json
import subprocess
from base64 import b64decode

import pytest

import sottovoce as sv
from js.collector import PACKAGE
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.engine.memory import batches_of
from sottovoce.tasks.plan import Plan
from sottovoce.wire import codec

USERS = 12
ITEMS = [f"item {place}" for place in range(40)]

ANSWER = """
import { Client, MemoryLedger, MismatchError } from "./dist/index.js";
const tasks = JSON.parse(await new Response(process.stdin).text());
const sent = {};
for (const [name, { text, value }] of Object.entries(tasks)) {
  sent[name] = [];
  for (let tries = 0; sent[name].length < USERS && tries < 4000; tries++) {
    const client = await Client.open(text, new MemoryLedger());
    try {
      sent[name].push(Buffer.from(await client.answer(value)).toString("base64"));
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;  // this device is asked in another round
    }
  }
}
process.stdout.write(JSON.stringify(sent));
""".replace("USERS", str(USERS))


def plan(kind, *settings, **more):
    return Plan.kinds[kind](*settings, **more)


def searches():
    """Return every search, and what everybody holds."""
    address, word, basket = 0xC0A80101, "hello, world", ["item 3", "item 39", "nothing listed"]
    return {
        "prefixes": (plan("pem", Bits(48)), address),
        "prefixes of words": (plan("pem", Strings(6)), word),
        "prefixes of long values": (plan("pem", Bits(80), 2), address),
        "items": (plan("svim", ITEMS, 4), basket),
        "few items": (plan("svim", ITEMS, 20), basket),
        "items, classical": (plan("svim", ITEMS, 4, paper=True), basket),
        "itemsets": (plan("svsm", ITEMS, 8), basket),
        "items, adaptive": (plan("dbs", ITEMS, 100_000, 4), basket),
    }


@pytest.fixture(scope="module")
def answers(node):
    """Return the tasks and the messages of some people, by name."""
    tasks = {name: (sv.Task(name, plan, epsilon=2.0), value) for name, (plan, value) in searches().items()}
    given = {
        name: {"text": codec.canonical(codec.document(task)), "value": value} for name, (task, value) in tasks.items()
    }
    command = [node, "--input-type=module", "--eval", ANSWER]
    done = subprocess.run(command, cwd=PACKAGE, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return {name: (tasks[name][0], [b64decode(one) for one in sent]) for name, sent in json.loads(done.stdout).items()}


@pytest.mark.parametrize("name", searches())
def test_the_collector_reads_what_the_client_sends(name, answers):
    task, messages = answers[name]
    assert len(messages) == USERS
    batches = batches_of(task, task.opening, messages)
    assert sum(len(batch.reports) for batch in batches.values()) == sum(map(envelopes, messages)) >= USERS


def envelopes(message):
    """Return how many envelopes of one length a message has."""
    return len(message) // int.from_bytes(message[4:8], "little")
