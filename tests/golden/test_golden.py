"""Every golden row against sottovoce: integers and bytes exactly, estimates to 1e-12.

A row that fails means that reports already sent would be read differently: mend the code, never the
row.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from cryptography.hazmat.primitives import hpke, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from golden import ciphers
from golden import reference as ref
from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket
from sottovoce.client import client as device
from sottovoce.client.accepts import Accepts
from sottovoce.client.ledger import DiskLedger, tag_of
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import RoundKeys
from sottovoce.core import coin
from sottovoce.core.rng import KeyedRng
from sottovoce.domains.base import Domain
from sottovoce.domains.person_tables import Rows
from sottovoce.encodings.base import Encoding
from sottovoce.engine import memory
from sottovoce.errors import (
    BudgetError,
    CodecError,
    DomainError,
    MismatchError,
    ParameterError,
    SottovoceError,
)
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.lab.checks import RecordedRng
from sottovoce.maths import hashing
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.tables.joint import Joint
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import blind_rsa, codec, envelope, statement, tokens
from sottovoce.wire import seal as sealing
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, SignedKey
from sottovoce.wire.shuffled_message import MessageFormat, seal_context
from sottovoce.wire.token_message import TokenMessage

HERE = Path(__file__).parent
MADE = (
    *(
        "amplification",
        "choice",
        "decode",
        "discovery",
        "envelope",
        "envelope_2",
        "hash",
        "key_set",
        "ledger",
        "longitudinal",
        "marginals",
        "memo",
        "numbers",
    ),
    *(
        "perturb",
        "reject",
        "seal",
        "seeds",
        "shuffled",
        "tables",
        "task_id",
        "thresholds",
        "tokens",
    ),
)
COPIED = ("affine", "rfc")
FILES = {path.stem: json.loads(path.read_text("ascii")) for path in sorted(HERE.glob("*.json"))}


def one(rows):
    assert len(rows) == 1
    return rows[0]


def values(mechanism, listed):
    """The values of rows as the mechanism takes them: integers, or rows of words beyond 63 bits."""
    if isinstance(listed[0], list):
        return np.array(listed, np.uint32)
    return np.array([int(value) for value in listed], np.int64)


def content_of(row):
    return codec.parse(json.dumps(row["content"]))


def check_document(row):
    content = content_of(row)
    assert codec.canonical(content) == row["canonical"]
    assert codec.digest(content) == row["digest"]
    assert (
        codec.digest_bytes(content).hex()
        == codec.digest_to_bytes(row["digest"]).hex()
        == row["digest_hex"]
    )


def check_text(row):
    assert codec.canonical(codec.parse(row["text"])) == row["canonical"]
    assert codec.canonical(codec.parse(row["canonical"].encode())) == row["canonical"]


def check_task(row):
    check_document(row)
    task, notice = codec.task(content_of(row)), codec.notice(content_of(row))
    assert codec.canonical(codec.document(task)) == row["canonical"]
    assert codec.publish(task) == notice
    assert notice.digest == row["digest"]


def check_refused_text(row):
    read = {"parse": lambda content: content, "task": codec.task, "notice": codec.notice}[
        row["reader"]
    ]
    with pytest.raises((CodecError, ParameterError)):
        read(codec.parse(row["text"]))


def check_xxh32(row):
    hashed = hashing.xxh32(np.array([row["words"]], np.uint32), row["seed"])
    assert one(hashed) == row["hash"]
    assert one(hashing.bucket(hashed, row["buckets"])) == row["bucket"]


def check_words(row):
    assert (
        one(hashing.words_of(np.array([int(row["value"])]), row["bits"])).tolist() == row["words"]
    )


def check_affine(row):
    bits, rank, seeds = row["bits"], row["rank"], np.array([int(row["seed"])], np.uint64)
    table, offsets = hashing.masks(seeds, bits, rank)
    if bits > hashing.MAX_INTEGER_BITS:
        points = np.array([row["point"]], np.uint32)
        masks = [ref.value_of(mask.tolist()) for mask in one(table)]
    else:
        points = np.array([ref.value_of(row["point"])], np.uint64)
        masks = one(table).tolist()
    if row["permuted"]:
        held = np.array([ref.value_of(row["value"])], np.uint64)
        assert hashing.permute(held, bits, row["groups"]).tolist() == points.tolist()
        assert hashing.unpermute(points, bits, row["groups"]).tolist() == held.tolist()
    assert masks == [ref.value_of(mask) for mask in row["masks"]]
    assert one(offsets) == row["offsets"]
    assert one(hashing.affine_hash(seeds, points, bits, rank)) == row["hash"]
    assert one(one(hashing.affine_hash_table(seeds, points, bits, rank))) == row["hash"]


def check_computed(row):
    given = {name: setting(value) for name, value in row["given"].items() if name != "kind"}
    mechanism = Mechanism.kinds[row["given"]["kind"]](**given)
    assert codec.document(mechanism) == row["document"]
    assert str(mechanism.worst_ratio) == row["ratio"]
    assert codec.mechanism(row["document"]) == mechanism


def setting(value):
    return tuple(value) if isinstance(value, list) else number(value)


def number(value):
    return float(value) if isinstance(value, str) and not value.isdigit() else int(value)


def check_checked(row):
    if row["accepted"]:
        assert codec.document(codec.mechanism(row["document"])) == row["document"]
    else:
        with pytest.raises((CodecError, ParameterError)):
            codec.mechanism(row["document"])


def check_draw(row):
    rng = RecordedRng(bytes.fromhex(row["random"]))
    if row["draw"] == "bernoulli":
        assert rng.bernoulli(int(row["threshold"]), row["count"]).tolist() == row["drawn"]
    else:
        assert rng.integers(int(row["limit"]), row["count"]).tolist() == [
            int(drawn) for drawn in row["drawn"]
        ]
    assert rng.consumed == row["consumed"]


def check_report(row):
    mechanism, rng = codec.mechanism(row["mechanism"]), RecordedRng(bytes.fromhex(row["random"]))
    payload = mechanism.pack(mechanism.privatize(values(mechanism, [row["value"]]), rng))
    assert payload.hex() == row["payload"]
    assert rng.consumed == row["consumed"]
    assert len(payload) == mechanism.width
    assert mechanism.pack(mechanism.unpack(payload)) == payload


def check_pick(row):
    choice = Choice((QUESTION,) * row["members"], tuple(row["weights"]))
    assert one(choice.pick(np.array([int(row["coin"])], np.uint64))) == row["member"]


QUESTION = Question(Mechanism.kinds["grr"](epsilon=1.0, size=2))


class FixedLedger(DiskLedger):
    """A ledger whose public coin, and secret of a memory, were drawn beforehand."""

    def __init__(self, kept, secret=""):
        super().__init__(":memory:")
        self.kept, self.behind = bytes.fromhex(kept), bytes.fromhex(secret)

    def coin(self, task, enrolled=None):
        return self.kept

    def secret(self, task):
        return self.behind


def check_coin(row):
    task = codec.publish(codec.task(FILES["task_id"]["tasks"][0]["content"]))
    object.__setattr__(task, "digest", row["digest"])
    assert device.Client(task, FixedLedger(row["secret"])).coin == int(row["coin"])


def check_picks(row):
    choice = Choice((QUESTION,) * len(row["weights"]), tuple(row["weights"]))
    kept, number, slot = bytes.fromhex(row["secret"]), row["round"], row["slot"]
    assert coin.choice_coin(kept, number, slot) == int(row["coin"])
    dealt = Round(number, Bundle((choice,) * (slot + 1))).addresses(
        lambda place: coin.choice_coin(kept, number, place)
    )
    assert dealt[slot] == Address(number, row["member"], slot)
    assert one(choice.pick(np.array([int(row["coin"])], np.uint64))) == row["member"]


def check_enrolled(row):
    task = codec.publish(codec.task(FILES["task_id"]["tasks"][0]["content"]))
    object.__setattr__(task, "digest", row["digest"])
    client = device.Client(task, ":memory:", row["token"])
    assert client.coin == int(row["coin"])
    assert client.ledger.coin(row["digest"]).hex() == row["secret"]


def check_share(row):
    assert (
        Round(0, QUESTION, int(row["low"]), int(row["high"])).asks(int(row["coin"])) == row["asked"]
    )


def octets(text):
    return np.frombuffer(bytes.fromhex(text), np.uint8)[None, :]


def written(row):
    return envelope.Envelopes(
        bytes.fromhex(row["digest"]),
        row["round"],
        np.array([row["member"]]),
        octets(row["id"]),
        octets(row["payload"]),
        octets(row["subject"]) if "subject" in row else None,
        np.array([row["slot"]]) if "slot" in row else None,
        (row["public"].encode(),) if "public" in row else (),
        envelope.VERSIONS[row.get("version", 1)],
    ).write()


def fields(group, index):
    found = {
        "digest": group.digest.hex(),
        "round": group.round,
        "member": int(group.members[index]),
        "id": group.ids[index].tobytes().hex(),
        "payload": group.payloads[index].tobytes().hex(),
    }
    if group.version != envelope.VERSION_1:
        found["version"] = group.version.number
    if group.subjects is not None:
        found["subject"] = group.subjects[index].tobytes().hex()
    if group.slots is not None:
        found["slot"] = int(group.slots[index])
    return found | ({"public": group.public[index].decode()} if group.public else {})


def check_envelope(row):
    data, width = bytes.fromhex(row["hex"]), len(row["payload"]) // 2
    assert written(row) == data
    group = one(envelope.read([data], width))
    assert fields(group, 0) == {name: value for name, value in row.items() if name != "hex"}
    assert group.write() == data


def check_stream(row):
    groups = envelope.read([bytes.fromhex(row["hex"])], row["width"])
    found = [fields(group, index) for group in groups for index in range(len(group))]
    assert sorted(found, key=json.dumps) == sorted(row["envelopes"], key=json.dumps)


def check_malformed(row):
    with pytest.raises(CodecError):
        envelope.read([bytes.fromhex(row["hex"])], row["width"])


def check_unwritable(row):
    with pytest.raises(ParameterError):
        written(row)


def check_misplaced(row):
    task = codec.task(row["task"])
    with pytest.raises((CodecError, MismatchError)):
        memory.batches_of(task, task.opening, [bytes.fromhex(row["hex"])])


def check_message(row, task=None):
    notice = codec.notice(codec.parse(json.dumps(row["task"])))
    accepts = Accepts(public=notice.domain.public_names)
    client = device.Client(notice, FixedLedger(row["secret"]), accepts=accepts)
    asked = codec.round_(row["round"]) if "round" in row else client.notice.opening
    rng = RecordedRng(bytes.fromhex(row["random"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "SystemRng", lambda: rng)
        assert client.answer(value_of(row), asked=asked).hex() == row["message"]
    assert rng.consumed == row["consumed"]
    message = bytes.fromhex(row["message"])
    if "round" in row:  # of no plan: the task states it for the sake of the row
        reports = sum(len(group) for group in envelope.read([message], asked.width))
    else:
        batches = memory.batches_of(task or codec.task(row["task"]), asked, [message])
        reports = sum(len(batch.reports) for batch in batches.values())
    assert reports == len(client.check(asked))


def value_of(row):
    return int(row["number"]) if "number" in row else row["value"]


def noun(family, content):
    """Read a domain, an encoding or a family as a document, strictly."""
    wanted = {"domain": Domain, "encoding": Encoding, "family": Family}[family]
    return codec.read(wanted, codec.parse(json.dumps(content)))


def listed(indices):
    """Write indices as rows do: the items of a set, words of long values, or one number."""
    if isinstance(indices, Baskets):
        assert len(indices) == 1
        return indices.items.tolist()
    found = one(indices)
    return found.tolist() if indices.ndim == 2 else exactly(int(found))


def exactly(number):
    return number if number < 1 << 53 else str(number)


def check_held(row):
    domain = noun("domain", row["domain"])
    if row.get("refused"):
        with pytest.raises(DomainError):
            domain.indices([value_of(row)])
    else:
        assert listed(domain.indices([value_of(row)])) == row["index"]


def check_encoding(row):
    domain, encoding = noun("domain", row["domain"]), noun("encoding", row["encoding"])
    rng = RecordedRng(bytes.fromhex(row["random"]))
    assert listed(encoding(domain.indices([value_of(row)]), rng)) == row["index"]
    assert rng.consumed == row["consumed"]
    assert exactly(encoding.outputs(domain)) == row["outputs"]


def check_misfit(row):
    domain, encoding = noun("domain", row["domain"]), noun("encoding", row["encoding"])
    with pytest.raises(ParameterError):
        encoding.outputs(domain)


def check_malformed_noun(row):
    if row["accepted"]:
        assert codec.document(noun(row["family"], row["document"])) == row["document"]
    else:
        with pytest.raises((CodecError, ParameterError)):
            noun(row["family"], row["document"])


def asking(ask):
    """Return the round that puts this to everybody."""
    return codec.round_({"kind": "round", "number": 0, "ask": ask, "low": 0, "high": str(1 << 64)})


def check_question(row):
    if row["accepted"]:
        asked = asking(row["question"]).ask
        assert asked.epsilon == float(row["question"]["epsilon"])
        assert str(asked.encoding.worst_ratio(asked.mechanism) if asked.encoding else None) in (
            row["ratio"],
            "None",
        )
    else:
        with pytest.raises(ParameterError):
            asking(row["question"])


def check_family(row):
    choice = asking(row["ask"]).ask
    assert one(choice.pick(np.array([int(row["coin"])], np.uint64))) == row["member"]
    assert codec.document(choice.members[row["member"]]) == row["question"]


def check_refused_unpaid(row):
    client = device.Client(codec.parse(json.dumps(row["task"])), ":memory:")
    with pytest.raises(MismatchError):
        client.answer(row["value"])
    assert client.ledger.spent == 0


def check_holdings(row):
    domain = noun("domain", row["domain"])
    for value, wanted in row["held"]:
        holdings = domain.indices([value])
        assert [kept(table) for table in holdings.tables] == wanted["tables"]
        assert [text.decode() for text in holdings.public] == [wanted["public"]]
        domain.check_public(holdings.public[0])
    for value in row["refused"]:
        with pytest.raises(DomainError):
            domain.indices([value])


def kept(table):
    """Write what one person holds in a table as rows do: a record, or a list of them."""
    return table.cells.tolist() if isinstance(table, Rows) else one(table).tolist()


def check_cells(row):
    domain = noun("domain", row["domain"])
    for each in row["rows"]:
        encoding, rng = (
            noun("encoding", each["encoding"]),
            RecordedRng(bytes.fromhex(each["random"])),
        )
        held = domain.indices([{"people": row["person"], "trips": row["trips"][: each["held"]]}])
        assert listed(encoding(held, rng)) == each["index"]
        assert (rng.consumed, exactly(encoding.outputs(domain))) == (
            each["consumed"],
            each["cells"],
        )


def check_misfits(row):
    assert noun("encoding", row["encoding"]).outputs(noun("domain", row["domain"]))
    for change in row["changes"]:
        check_misfit({"domain": row["domain"], "encoding": row["encoding"] | change})


def check_changes(row):
    for change in ({}, *row["accepted"]):
        check_malformed_noun(
            {"family": row["family"], "document": row["document"] | change, "accepted": True}
        )
    removed = [name for name in row["document"] if (row["family"], name) != ("domain", "public")]
    broken = [
        {key: value for key, value in row["document"].items() if key != name} for name in removed
    ]
    for document in (*broken, *(row["document"] | change for change in row["refused"])):
        check_malformed_noun({"family": row["family"], "document": document, "accepted": False})


def check_layers(row):
    family = noun("family", row["family"])
    assert len(family) == row["length"] == len(row["members"])
    for number, own, mechanism in row["members"]:
        question, shared = family[number], ("table", "columns", "sizes", "most")
        blank = {"weighted": False, "rounded": [], "mirrored": [], "aligned": False}
        wanted = {"kind": "cell"} | {name: row["family"][name] for name in shared} | blank | own
        assert codec.document(question.encoding) == wanted
        assert codec.document(question.mechanism) == row["family"]["mechanisms"][mechanism]


def check_answers(row):
    content = codec.parse(json.dumps(row["task"]))
    task = (
        laboratory_task(content)
        if content["plan"]["kind"] == "published_tables"
        else codec.task(content)
    )
    assert codec.canonical(codec.document(task)) == codec.canonical(content)
    assert codec.digest(content) == codec.notice(content).digest == row["digest"]
    for answer in row["answers"]:
        check_message({"task": row["task"]} | answer, task)


def laboratory_task(content):
    """Return a task with a plan of the laboratory, which no document can name to a collector."""
    with pytest.raises(ParameterError, match="unknown plan kind"):
        codec.task(content)
    plan = content["plan"]
    tables = Joint(noun("domain", content["domain"]), tuple(plan["rows"]))
    published = PublishedTables(
        tables, plan["method"], fanout=plan["fanout"], published=plan["published"]
    )
    return Task(content["name"], published, float(content["epsilon"]))


def check_lasting(row):
    client = device.Client(codec.parse(json.dumps(row["task"])), ":memory:")
    if row["accepted"]:
        client.answer(row["value"])
    else:
        with pytest.raises(ParameterError):
            client.answer(row["value"])
        assert client.ledger.spent == 0


def check_pure(row):
    mechanism = codec.mechanism(row["mechanism"])
    reports = mechanism.unpack(bytes.fromhex(row["payloads"]))
    if "candidates" in row:
        candidates = values(mechanism, row["candidates"])
        counts, estimate = (
            mechanism.count(reports, candidates),
            mechanism.estimate_among(reports, candidates),
        )
    else:
        candidates, tally = np.arange(mechanism.size), mechanism.tally(reports)
        counts, estimate = mechanism.supports(tally), mechanism.estimate(tally)
    assert estimate.users == row["users"]
    assert counts.tolist() == row["counts"]
    assert mechanism.support(reports, candidates).sum(axis=0).tolist() == row["counts"]
    assert_close(estimate.totals, row["totals"])
    assert_close(estimate.variance, row["variances"])


def assert_close(found, listed):
    """To 1e-12 of the number, or of one person where counts cancel."""
    np.testing.assert_allclose(found, [float(number) for number in listed], rtol=1e-12, atol=1e-12)


def check_bloom(row):
    mechanism = codec.mechanism(row["mechanism"])
    tally = mechanism.tally(mechanism.unpack(bytes.fromhex(row["payloads"])))
    assert tally["users"].tolist() == row["users"]
    assert tally["bits"].tolist() == row["bits"]


def check_mean(row):
    mechanism = codec.mechanism(row["mechanism"])
    tally = mechanism.tally(mechanism.unpack(bytes.fromhex(row["payloads"])))
    counts = tally["outputs"]
    assert tally.users == row["users"]
    assert [[int(output), int(counts[output])] for output in np.flatnonzero(counts)] == row[
        "outputs"
    ]
    found = mechanism.mean(tally)
    assert_close([found.total, found.variance], [row["mean"], row["variance"]])


def check_index(row):
    domain = noun("domain", row["domain"])
    assert codec.document(domain) == row["domain"]
    for held in ([float(row["value"])], np.array([float(row["value"])])):
        if row.get("refused"):
            with pytest.raises(DomainError):
                domain.indices(held)
        else:
            assert domain.indices(held).tolist() == [row["index"]]


def check_reject(row):
    mechanism, payload = codec.mechanism(row["mechanism"]), bytes.fromhex(row["payload"])
    if row["refused"]:
        with pytest.raises(CodecError):
            mechanism.unpack(payload)
    else:
        assert mechanism.pack(mechanism.unpack(payload)) == payload


def check_keyed(row):
    whole, halved = (
        KeyedRng(bytes.fromhex(row["secret"]), bytes.fromhex(row["context"])) for _ in range(2)
    )
    assert whole.bytes(96).hex() == row["bytes"]
    assert (halved.bytes(5) + halved.bytes(91)).hex() == row["bytes"]


def check_judged_document(row):
    if not row["refused"]:
        assert codec.canonical(codec.parse(row["text"])) == row["text"]
        assert codec.notice(codec.parse(row["text"])).digest
        return
    with pytest.raises((CodecError, ParameterError)):
        codec.notice(codec.parse(row["text"]))


def check_short_secret(row):
    with pytest.raises(SottovoceError):
        KeyedRng(bytes.fromhex(row["secret"]), bytes.fromhex(row["context"]))


def check_response(row):
    mechanism = codec.mechanism(row["mechanism"])
    for _ in range(2):  # the same memory, the same response
        keyed = KeyedRng(bytes.fromhex(row["secret"]), bytes.fromhex(row["context"]))
        rows = mechanism.permanent(np.array([row["value"]]), keyed)
        assert mechanism.pack(rows).hex() == row["permanent"]
    rng = RecordedRng(bytes.fromhex(row["random"]))
    assert mechanism.pack(mechanism.instantaneous(rows, rng)).hex() == row["payload"]
    assert rng.consumed == row["consumed"]


def check_tag(row):
    assert tag_of(bytes.fromhex(row["secret"]), row["slot"], row["index"]).hex() == row["tag"]


def check_life(row):
    client = device.Client(
        codec.parse(json.dumps(row["task"])), FixedLedger(row["coin"], row["secret"])
    )
    for answer in row["answers"]:
        asked = codec.round_(answer["round"]) if "round" in answer else client.notice.opening
        rng = RecordedRng(bytes.fromhex(answer["random"]))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(device, "SystemRng", lambda rng=rng: rng)
            assert client.answer(answer["value"], asked=asked).hex() == answer["message"]
        assert rng.consumed == answer["consumed"]
        assert client.resend(asked.number).hex() == answer["message"]
        assert client.ledger.spent == float(row["task"]["epsilon"])


def check_refused_round(row):
    client = device.Client(row["task"], ":memory:")
    with pytest.raises((DomainError, MismatchError, ParameterError)):
        client.answer(row["value"], asked=codec.round_(row["round"]))
    assert client.ledger.spent == 0


def check_script(row):
    windows = [
        SpendingWindow(one["seconds"], float(one["epsilon"]), one["reports"])
        for one in row["windows"]
    ]
    times = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        ledger = DiskLedger(
            path, cap=float(row["cap"]), windows=windows, clock=lambda: times[-1] if times else 0.0
        )
        for event in row["events"]:
            if event["event"] == "answer":
                times.append(event["time"])
                assert accepted(ledger, event) == event["accepted"], event
            elif event["event"] == "opt-out":
                ledger.opt_out(event["task"])
            else:
                ledger.close()
                ledger = DiskLedger(path, clock=lambda: times[-1] if times else 0.0)
        assert repr(ledger.spent) == row["spent"]
        ledger.close()


def accepted(ledger, event):
    spend = Spend(event["task"], float(event["epsilon"]), event["round"], event["lasting"])
    try:
        return ledger.answer(spend, lambda: b"message") == b"message"
    except BudgetError:
        return False


def unhexed(row):
    """Return a row whose texts in hex are bytes."""
    return {name: _unhexed(name, value) for name, value in row.items()}


def _unhexed(name, value):
    if name in ("comment", "error", "round_document", "seed_draw"):
        return value
    if isinstance(value, list):
        return [bytes.fromhex(text) for text in value]
    return bytes.fromhex(value) if isinstance(value, str) and name not in "pq" else value


def error_of(row):
    """Return the class of the error that a row expects, if it expects one."""
    errors = (CodecError, MismatchError, ParameterError)
    return {error.__name__: error for error in errors}.get(row["error"])


def refuses(row, work):
    """Check that some work ends as the row says: with its error, or without one."""
    if row["error"] is None:
        return work()
    with pytest.raises(error_of(row)):
        work()
    return None


def check_sealed(row):
    row = unhexed(row)
    hops, message = row["hops"], row["message"]
    context = sealing.SealContext(row["digest"], row["round"], hops, len(message))
    layers = [*row["layers"], message]
    for hop, private_key in enumerate(row["private_keys"]):
        assert len(layers[hop]) == context.sealed_bytes(hop)
        assert sealing.open_layer(layers[hop], private_key, context, hop) == layers[hop + 1]
    sealed = sealing.seal(message, row["public_keys"], context)
    assert len(sealed) == len(layers[0])
    assert sealed != layers[0]
    for hop, private_key in enumerate(row["private_keys"]):
        sealed = sealing.open_layer(sealed, private_key, context, hop)
    assert sealed == message


def check_unopened(row):
    row = unhexed(row)
    context = sealing.SealContext(row["digest"], row["round"], row["hops"], row["message_bytes"])
    work = (row["sealed"], row["private_key"], context, row["hop"])
    refuses(row, lambda: sealing.open_layer(*work))


def check_weak_key(row):
    context = sealing.SealContext(bytes(32), 0, 0, 1)
    with pytest.raises(ParameterError):
        sealing.seal(b"x", [bytes.fromhex(row["public_key"])], context)


def statement_of(row):
    return KeyStatement(row["digest"], row["round"], row["hop"], row["public_key"])


def check_statement(row):
    row = unhexed(row)
    statement = statement_of(row)
    assert statement.to_bytes() == row["signed"]
    assert statement.sign(row["signing_key"]) == row["signature"]
    statement.verify(row["signature"], row["verifying_key"])


def check_unsigned(row):
    row = unhexed(row)
    refuses(row, lambda: statement_of(row).verify(row["signature"], row["verifying_key"]))


def check_signed_set(row):
    document = row["round_document"]
    row = unhexed(row)
    round_hash = codec.fingerprint(document)
    assert round_hash == row["round_hash"]
    key_set = KeySet(row["digest"], row["round"], round_hash, tuple(row["public_keys"]))
    for hop, signing_key in enumerate(row["signing_keys"]):
        assert key_set.to_bytes(hop) == row["signed"][hop]
        assert key_set.sign(hop, signing_key) == row["signatures"][hop]
    key_set.verify_all(row["signatures"], row["verifying_keys"])


def check_refused_set(row):
    row = unhexed(row)

    def verify():
        public_keys = tuple(row["public_keys"])
        key_set = KeySet(row["digest"], row["round"], row["round_hash"], public_keys)
        key_set.verify_all(row["signatures"], row["verifying_keys"])

    refuses(row, verify)


def check_shuffled_task(row):
    check_document(row)
    notice = codec.notice(content_of(row))
    assert notice.digest == row["digest"]
    assert notice.fingerprint.hex() == row["fingerprint"]
    said = statement.statement(notice)
    assert statement.topics(said)["shuffled"] == row["sentences"]
    assert " ".join(row["sentences"]) in statement.explain(said)


def check_sealed_answer(row):
    notice = codec.notice(codec.parse(row["text"]))
    keys = tuple(
        SignedKey(hop, bytes.fromhex(key["public_key"]), bytes.fromhex(key["signature"]))
        for hop, key in enumerate(row["keys"])
    )
    signatures = tuple(bytes.fromhex(signature) for signature in row["set_signatures"])
    sealer = Sealing(notice, notice.opening, RoundKeys(keys, signatures))
    token, envelopes = bytes.fromhex(row["token"]), bytes.fromhex(row["envelopes"])
    sealed = sealer.seal(envelopes, token)
    context = seal_context(notice, notice.opening, notice.fingerprint)
    for hop, private_key in enumerate(row["private_keys"]):
        assert len(sealed) == row["sealed_bytes"][hop]
        sealed = sealing.open_layer(sealed, bytes.fromhex(private_key), context, hop)
    assert sealed.hex() == row["message"]
    assert MessageFormat.of(notice, notice.opening).split(sealed) == (token, envelopes)


def pending_token(row):
    key = tokens.IssuerPublicKey(row["key"])
    return tokens.PendingToken(key, row["digest"], row["nonce"], row["salt"], row["factor"])


def issuer_of(row):
    """Return the issuer whose primes a row states, through the PEM that an operator would keep."""
    p, q = int(row["p"], 16), int(row["q"], 16)
    exponent = pow(65537, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(
        p=p,
        q=q,
        d=exponent,
        dmp1=exponent % (p - 1),
        dmq1=exponent % (q - 1),
        iqmp=pow(q, -1, p),
        public_numbers=rsa.RSAPublicNumbers(65537, p * q),
    )
    pem = numbers.private_key().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return tokens.Issuer(pem)


def check_issued(row):
    row = unhexed(row)
    pending, issuer = pending_token(row), issuer_of(row)
    assert pending.blinded == row["blinded"]
    assert issuer.public_key == pending.key
    assert issuer.sign(row["blinded"]) == row["blind_signature"]
    token = tokens.finalize(pending, row["blind_signature"])
    assert token.to_bytes() == row["token"]
    assert tokens.Token.from_bytes(row["token"]) == token
    tokens.verify(token, pending.key, row["digest"])
    assert token.seed_draw(row["digest"], row["slot"]) == int(row["seed_draw"])
    assert token.coin_bytes(row["digest"]) == row["coin_bytes"]


def check_derived(row):
    row = unhexed(row)
    token = tokens.Token(bytes(32), row["signature"])
    assert token.seed_draw(row["digest"], row["slot"]) == int(row["seed_draw"])
    assert token.coin_bytes(row["digest"]) == row["coin_bytes"]


def check_refused_token(row):
    row = unhexed(row)
    key = tokens.IssuerPublicKey(row["key"])

    def work():
        tokens.verify(tokens.Token.from_bytes(row["token"]), key, row["digest"])

    refuses(row, work)


def check_blind_signature(row):
    row = unhexed(row)
    refuses(row, lambda: tokens.finalize(pending_token(row), row["blind_signature"]))


def check_issuer_key(row):
    data = bytes.fromhex(row["key"])
    if row["accepted"]:
        assert tokens.IssuerPublicKey(data).data == data
    else:
        with pytest.raises(ParameterError):
            tokens.IssuerPublicKey(data)


def check_published_hpke(row):
    """What the library opens is made with the published key and nonce, without associated data."""
    row = unhexed(row)
    cipher = AESGCM(row["key"])
    assert cipher.encrypt(row["nonce"], row["message"], row["associated"]) == row["ciphertext"]
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
    sealed = row["encapsulated_key"] + cipher.encrypt(row["nonce"], row["message"], None)
    private_key = x25519.X25519PrivateKey.from_private_bytes(row["private_key"])
    assert suite.decrypt(sealed, private_key, row["info"]) == row["message"]
    given = (row["ephemeral_key"], row["public_key"], row["info"], row["message"])
    assert ciphers.hpke_seal(*given) == sealed
    made = ciphers.hpke_seal(*given, row["associated"])
    assert made == row["encapsulated_key"] + row["ciphertext"]
    assert ciphers.x25519_public(row["private_key"]) == row["public_key"]


def check_published_ed25519(row):
    row = unhexed(row)
    key = ed25519.Ed25519PrivateKey.from_private_bytes(row["private_key"])
    assert key.sign(row["message"]) == row["signature"]
    assert ciphers.ed25519_sign(row["private_key"], row["message"]) == row["signature"]
    assert ciphers.ed25519_public(row["private_key"]) == row["public_key"]


def check_published_blind_rsa(row):
    p, q = int(row["p"], 16), int(row["q"], 16)
    modulus = p * q
    factor = pow(int(row["inverse"], 16), -1, modulus)
    message, salt = bytes.fromhex(row["message"]), bytes.fromhex(row["salt"])
    encoded = blind_rsa.encode(message, salt, modulus.bit_length())
    assert encoded == ciphers.pss_encode(message, salt, modulus.bit_length() - 1)
    blinded = blind_rsa.blind(encoded, factor, modulus, 65537)
    assert blinded == int(row["blinded"], 16)
    exponent = pow(65537, -1, (p - 1) * (q - 1))
    numbers = blind_rsa.RsaNumbers(
        modulus, 65537, p, q, exponent % (p - 1), exponent % (q - 1), pow(q, -1, p)
    )
    blinds = blind_rsa.SigningBlinds(factor=3, first_multiple=5, second_multiple=0)
    blind_signature = blind_rsa.sign(blinded, numbers, blinds)
    assert blind_signature == int(row["blind_signature"], 16)
    assert blind_rsa.unblind(blind_signature, factor, modulus) == int(row["signature"], 16)


def check_published_token(row):
    issuer, row = issuer_of(row), unhexed(row)
    assert issuer.public_key.data == row["key"]
    modulus, factor = issuer.public_key.modulus, int.from_bytes(row["blind"])
    challenge = hashlib.sha256(row["challenge"]).digest()
    content = tokens.token_input(row["nonce"], challenge, issuer.public_key.key_id)
    assert row["token"].startswith(content)
    encoded = blind_rsa.encode(content, row["salt"], modulus.bit_length())
    blinded = blind_rsa.blind(encoded, factor, modulus, 65537)
    assert row["request"][3:] == blinded.to_bytes(256)
    assert issuer.sign(row["request"][3:]) == row["response"]
    signature = blind_rsa.unblind(int.from_bytes(row["response"]), factor, modulus)
    assert row["token"] == content + signature.to_bytes(256)


def check_bound(row):
    given = {name: float(number) for name, number in row["blanket"].items()}
    blanket = Blanket(**given)
    batch = blanket.batch(row["users"], row["fakes"])
    found = amplification.delta(blanket, batch, float(row["epsilon"]))
    assert found == pytest.approx(float(row["delta"]), rel=1e-9)


def check_seeded_report(row):
    mechanism, rng = codec.mechanism(row["mechanism"]), RecordedRng(bytes.fromhex(row["random"]))
    draws = np.array([int(row["seed_draw"])], np.uint64)
    given = values(mechanism, [row["value"]])
    report = mechanism.privatize_seeded(given, draws, rng)
    assert mechanism.pack(report).hex() == row["payload"]
    assert rng.consumed == row["consumed"]
    assert mechanism.carries_seeds(report, draws).tolist() == [True]
    assert mechanism.carries_seeds(report, draws ^ np.uint64(1)).tolist() == [
        not mechanism.has_seed
    ]


def check_token_message(row):
    notice = codec.notice(codec.parse(json.dumps(row["task"])))
    asked = codec.round_(row["round"]) if "round" in row else notice.opening
    token, message = bytes.fromhex(row["token"]), bytes.fromhex(row["message"])
    ledger = DiskLedger(":memory:")
    ledger.pending_token(notice.digest, lambda: b"pending")
    ledger.keep_blind_token(notice.digest, token)
    client = device.Client(notice, ledger)
    rng = RecordedRng(bytes.fromhex(row["random"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "SystemRng", lambda: rng)
        assert client.answer(value_of(row), asked=asked) == message
    assert rng.consumed == row["consumed"]
    layout = TokenMessage.of(asked, notice.declares, notice.domain.public_bytes)
    assert layout.message_bytes == len(message)
    assert layout.split(message) == (token, bytes.fromhex(row["envelopes"]))


def check_uncut(row):
    """The layout is that of one slot of 54 bytes, or of two of 56."""
    layout = TokenMessage(row["envelope_bytes"], row["slots"])
    with pytest.raises(CodecError):
        layout.split(bytes.fromhex(row["message"]))


SECTIONS = {
    ("amplification", "bounds"): (check_bound, 18),
    ("choice", "pick"): (check_pick, 121),
    ("choice", "coins"): (check_coin, 16),
    ("choice", "picks"): (check_picks, 56),
    ("choice", "shares"): (check_share, 21),
    ("choice", "enrolled"): (check_enrolled, 16),
    ("decode", "pure"): (check_pure, 31),
    ("decode", "bloom"): (check_bloom, 3),
    ("decode", "mean"): (check_mean, 56),
    ("discovery", "indices"): (check_held, 276),
    ("discovery", "encodings"): (check_encoding, 300),
    ("discovery", "misfits"): (check_misfit, 10),
    ("discovery", "malformed"): (check_malformed_noun, 112),
    ("discovery", "questions"): (check_question, 53),
    ("discovery", "picks"): (check_family, 44),
    ("discovery", "tasks"): (check_task, 9),
    ("discovery", "refused"): (check_refused_text, 50),
    ("discovery", "messages"): (check_message, 43),
    ("discovery", "lasting"): (check_lasting, 3),
    ("envelope", "envelopes"): (check_envelope, 21),
    ("envelope", "streams"): (check_stream, 6),
    ("envelope", "malformed"): (check_malformed, 20),
    ("envelope", "misplaced"): (check_misplaced, 12),
    ("envelope", "messages"): (check_message, 45),
    ("envelope_2", "envelopes"): (check_envelope, 21),
    ("envelope_2", "streams"): (check_stream, 4),
    ("envelope_2", "malformed"): (check_malformed, 11),
    ("envelope_2", "unwritable"): (check_unwritable, 4),
    ("envelope_2", "misplaced"): (check_misplaced, 2),
    ("hash", "xxh32"): (check_xxh32, 1075),
    ("hash", "words"): (check_words, 37),
    ("hash", "affine"): (check_affine, 175),
    ("ledger", "scripts"): (check_script, 36),
    ("longitudinal", "tasks"): (check_task, 9),
    ("longitudinal", "tags"): (check_tag, 15),
    ("longitudinal", "lives"): (check_life, 24),
    ("longitudinal", "refused"): (check_refused_round, 6),
    ("marginals", "encodings"): (check_encoding, 24),
    ("marginals", "misfits"): (check_misfit, 5),
    ("marginals", "malformed"): (check_malformed_noun, 72),
    ("marginals", "picks"): (check_family, 16),
    ("marginals", "tasks"): (check_task, 8),
    ("marginals", "refused"): (check_refused_text, 7),
    ("marginals", "messages"): (check_message, 13),
    ("memo", "streams"): (check_keyed, 13),
    ("memo", "refused"): (check_short_secret, 2),
    ("memo", "responses"): (check_response, 16),
    ("numbers", "indices"): (check_index, 387),
    ("perturb", "draws"): (check_draw, 52),
    ("perturb", "reports"): (check_report, 436),
    ("reject", "reports"): (check_reject, 143),
    ("reject", "documents"): (check_judged_document, 122),
    ("rfc", "hpke"): (check_published_hpke, 1),
    ("rfc", "ed25519"): (check_published_ed25519, 2),
    ("rfc", "blind_rsa"): (check_published_blind_rsa, 1),
    ("rfc", "tokens"): (check_published_token, 2),
    ("key_set", "signed"): (check_signed_set, 5),
    ("key_set", "refused"): (check_refused_set, 27),
    ("seal", "messages"): (check_sealed, 8),
    ("seal", "refused"): (check_unopened, 28),
    ("seal", "weak_keys"): (check_weak_key, 5),
    ("seal", "statements"): (check_statement, 4),
    ("seal", "unsigned"): (check_unsigned, 15),
    ("seeds", "reports"): (check_seeded_report, 96),
    ("seeds", "tasks"): (check_task, 5),
    ("seeds", "refused"): (check_refused_text, 22),
    ("seeds", "messages"): (check_token_message, 12),
    ("seeds", "uncut"): (check_uncut, 9),
    ("shuffled", "tasks"): (check_shuffled_task, 5),
    ("shuffled", "sealed"): (check_sealed_answer, 3),
    ("shuffled", "refused"): (check_refused_text, 24),
    ("tables", "indices"): (check_holdings, 3),
    ("tables", "cells"): (check_cells, 2),
    ("tables", "misfits"): (check_misfits, 1),
    ("tables", "malformed"): (check_changes, 5),
    ("tables", "layers"): (check_layers, 7),
    ("tables", "messages"): (check_answers, 4),
    ("tables", "undeclared"): (check_refused_unpaid, 2),
    ("task_id", "documents"): (check_document, 13),
    ("task_id", "texts"): (check_text, 6),
    ("task_id", "tasks"): (check_task, 38),
    ("task_id", "refused"): (check_refused_text, 317),
    ("thresholds", "computed"): (check_computed, 268),
    ("thresholds", "checked"): (check_checked, 270),
    ("tokens", "issued"): (check_issued, 6),
    ("tokens", "derived"): (check_derived, 24),
    ("tokens", "refused"): (check_refused_token, 21),
    ("tokens", "answers"): (check_blind_signature, 8),
    ("tokens", "keys"): (check_issuer_key, 13),
}


@pytest.mark.parametrize(("file", "section"), SECTIONS)
def test_every_row_holds(file, section):
    check, count = SECTIONS[file, section]
    failed, seen = [], 0
    for place, row in enumerate(FILES[file][section]):
        seen += 1
        try:
            check(row)
        except Exception as error:
            failed.append(
                f"{file}.json {section}[{place}] {row.get('comment', '')}: {type(error).__name__} "
                f"{error}"
            )
        except pytest.fail.Exception:
            failed.append(
                f"{file}.json {section}[{place}] {row.get('comment', '')}: was not refused"
            )
    assert not failed, "\n".join(failed)
    assert seen == count


def test_no_section_is_skipped():
    """A section that nobody checks is as bad as one that fails."""
    found = {
        (file, section)
        for file in (*MADE, "rfc")
        for section, rows in FILES[file].items()
        if isinstance(rows, list)
    }
    assert found == set(SECTIONS)
    assert set(FILES) == {*MADE, *COPIED}


def test_the_reference_writes_the_committed_files_again(tmp_path):
    """Without site packages: the reference can share no code with what it judges."""
    subprocess.run([sys.executable, "-S", str(HERE / "reference.py"), str(tmp_path)], check=True)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(MADE)
    for file in MADE:
        assert (tmp_path / f"{file}.json").read_bytes() == (HERE / f"{file}.json").read_bytes(), (
            file
        )


def test_the_reference_reproduces_the_vectors_of_affine_response():
    """They were made by another hand, before any of this code."""
    given = FILES["affine"]
    assert [ref.mix(word) for word, _ in given["mix"]] == [mixed for _, mixed in given["mix"]]
    assert [ref.seed_word(int(seed, 16), place) for seed, place, _ in given["word"]] == [
        w for *_, w in given["word"]
    ]
    for bits, table in given["pi_full"].items():
        assert [ref.permute(value, int(bits)) for value in range(1 << int(bits))] == table
    for row in given["rows"]:
        seed, bits, rank = int(row["seed"], 16), row["m"], row["k"]
        masks, offsets, attempts = ref.affine_map(seed, bits, rank)
        assert [f"{mask:016x}" for mask in masks] == row["masks"]
        assert (offsets, attempts) == (row["offsets"], row["attempts"])
        for held, permuted, through, plain in row["values"]:
            value, point = int(held, 16), int(permuted, 16)
            assert ref.permute(value, bits) == point
            assert ref.affine_hash(seed, point, bits, rank) == through
            assert ref.affine_hash(seed, value, bits, rank) == plain
    tally = given["tally"]
    points = [ref.permute(value, tally["m"]) for value in range(tally["size"])]
    reports = [(int(seed, 16), said) for seed, said in tally["reports"]]
    counts = [
        sum(ref.affine_hash(seed, point, tally["m"], tally["k"]) == said for seed, said in reports)
        for point in points
    ]
    assert counts == tally["support"]


def test_the_vectors_stay_small():
    assert sum(path.stat().st_size for path in HERE.glob("*.json")) < 2_500_000
    assert len(FILES["hash"]["xxh32"]) >= 1000
    assert len(FILES["thresholds"]["computed"]) >= 100
    kinds = [row["mechanism"]["kind"] for row in FILES["perturb"]["reports"]]
    assert min(kinds.count(kind) for kind in ref.REPORTS) >= 10
