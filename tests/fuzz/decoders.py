"""Everything that reads bytes from outside, with valid inputs to start from and the laws of what it
accepts.

``fuzz`` feeds a decoder inputs and counts the outcomes. The only refusals are errors raised on
purpose; anything else, and any input that is accepted although it breaks a law, is a ``Finding``
with the input in it.
"""

import asyncio
import base64
import json
import random
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from starlette.testclient import TestClient

from fuzz.mutate import mutated, mutated_inside, mutated_text
from plans.tables.plans import table_plan
from sottovoce.collector import taskfile, wire
from sottovoce.collector.admission import admit
from sottovoce.collector.app import create
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, State, TaskRecord
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.domains.integers import Integers
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.tables.joint import Joint
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.web import uploads
from sottovoce.web.problems import CATALOGUE
from sottovoce.web.settings import Settings
from sottovoce.web.uploads import decoded
from sottovoce.wire import codec, envelope, seal, tokens
from sottovoce.wire.round_keys import KeyStatement
from system.chain import Chain, People, chain_task
from web.line import Line, split

_GOLDEN = Path(__file__).parents[1] / "golden"
_UPLOADS = "/v1/tasks/chain/reports"
_BODY_SECONDS = 0.05
_SECONDS = 20  # after which an input hangs its decoder


Opened = Callable[[], AbstractContextManager["list[Case]"]]


class Finding(AssertionError):  # noqa: N818 - what it is called on the page
    """An input that is neither accepted lawfully nor refused on purpose."""


@dataclass(frozen=True)
class Case:
    """Valid inputs of one decoder, and what reads them: it returns a word for what it accepted."""

    seeds: Sequence[bytes]
    read: Callable[[bytes], str]
    change: Callable[[Sequence[bytes], random.Random], bytes] = mutated


def fuzz(
    name: str, seed: int, count: int, decoders: "Mapping[str, Opened] | None" = None
) -> Counter[str]:
    """Return how often a decoder accepted, and how often it refused with which error."""
    dice, outcomes = random.Random(f"{name} {seed}"), Counter[str]()
    with (DECODERS if decoders is None else decoders)[name]() as cases, _watched():
        for _ in range(count):
            case = dice.choice(cases)
            outcomes[_outcome(name, case, case.change(case.seeds, dice))] += 1
    return outcomes


def _outcome(name: str, case: Case, data: bytes) -> str:
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        return case.read(data)
    except SottovoceError as error:
        return type(error).__name__
    except Exception as error:
        shown = data.hex() if len(data) < 4000 else f"{data[:2000].hex()}... ({len(data)} bytes)"
        raise Finding(f"{name}: {type(error).__name__}: {error}; input {shown}") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _watched() -> Iterator[None]:
    def hung(*_: Any) -> None:
        raise TimeoutError(f"a decoder took more than {_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, hung)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def law(holds: bool, what: str) -> None:
    """Refuse what a decoder accepted against a law."""
    if not holds:
        raise AssertionError(what)


@cache
def _vectors(name: str) -> Any:
    return json.loads((_GOLDEN / f"{name}.json").read_text())


def _payloads() -> dict[str, dict[str, list[bytes]]]:
    """Return the payloads of the golden vectors by kind and mechanism."""
    found: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for row in _vectors("perturb")["reports"]:
        found[row["mechanism"]["kind"]][codec.canonical(row["mechanism"])].append(
            bytes.fromhex(row["payload"])
        )
    return found


def _cases(made: Callable[[], list[Case]]) -> Opened:
    """Return cases that need nothing to be closed."""
    return lambda: nullcontext(made())


def _unpack_cases(kind: str) -> list[Case]:
    cases = []
    for text, payloads in _payloads()[kind].items():
        mechanism = codec.mechanism(codec.parse(text))
        cases.append(Case([*payloads, b"".join(payloads)], partial(_unpack, mechanism)))
    return cases


def _unpack(mechanism: Mechanism, data: bytes) -> str:
    reports = mechanism.unpack(data)
    law(mechanism.pack(reports) == data, "what unpacks packs to the same bytes")
    law(len(reports) * mechanism.width == len(data), "all reports pack to one length")
    return "accepted"


def _read_envelopes(width: int, data: bytes) -> str:
    groups = envelope.read([data], width)
    law(sum(len(group.write()) for group in groups) == len(data), "left-over bytes are an error")
    if len(groups) == 1:
        law(groups[0].write() == data, "what is read is written as the same bytes")
    return "accepted"


def _rounds(data: bytes) -> str:
    messages = [data[: len(data) // 2], data] if len(data) % 2 else [data]
    law(
        sum(map(len, envelope.by_round(messages).values())) == len(messages),
        "every message has a round",
    )
    return "accepted"


def _parse(data: bytes) -> str:
    content = codec.parse(data)
    law(codec.parse(codec.canonical(content)) == content, "a document survives being written")
    return "accepted"


def _noun(read: Callable[[Any], Any], data: bytes) -> str:
    content = codec.parse(data)
    made = read(content)
    law(
        codec.canonical(codec.document(made)) == codec.canonical(content),
        "one meaning has one document",
    )
    return "accepted"


def _notice(data: bytes) -> str:
    content = codec.parse(data)
    law(
        codec.notice(content).digest == codec.digest(content),
        "a notice has the digest of its document",
    )
    return "accepted"


def _taskfile(toml: bool, data: bytes) -> str:
    task = taskfile.read(data.decode(errors="replace"), toml=toml)
    codec.publish(task)
    return "accepted"


def _upload(decoder: Any, data: bytes) -> str:
    upload = decoded(decoder, data)
    law(1 <= len(upload.reports) <= uploads.MAX_REPORTS, "an upload has from 1 to 1,000 reports")
    return "accepted"


def _token_request(data: bytes) -> str:
    wanted = decoded(wire.token_request, data)
    law(wanted.scope in ("operator", "analyst", "enrolment"), "tokens have known scopes")
    return "accepted"


def _task_rows() -> list[dict[str, Any]]:
    listed = [
        row for name in ("task_id", "discovery", "marginals") for row in _vectors(name)["tasks"]
    ]
    documents = [codec.document(task) for task in _tables()]
    return listed + [{"canonical": codec.canonical(one), "content": one} for one in documents]


def _tables() -> list[Task]:
    """Return tasks about tables: a record and a list with a public column, and every way to
    round.
    """
    shop = {
        "a": {"columns": {"n": range(9)}, "public": {"p": ["x", "y"]}},
        "b": {"columns": {"m": range(5)}, "most": 3},
    }
    methods = ("hio", "ahio", "ehio", "sr_hio", "sc_join")
    tables = [
        table_plan({"n": range(9), "l": ["x", "y"]}, method=method, fanout=3) for method in methods
    ]
    return [
        Task("shop", Joint(shop, fanout=3), 2.0),
        *(Task("table", table, 2.0) for table in tables),
    ]


def _task_texts() -> list[bytes]:
    return [row["canonical"].encode() for row in _task_rows()]


def _round_texts() -> list[bytes]:
    texts = [codec.canonical(row["content"]["opening"]).encode() for row in _task_rows()]
    return texts + [
        codec.canonical(codec.document(asked)).encode() for asked in published().asked.values()
    ]


def _mechanism_texts() -> list[bytes]:
    return [text.encode() for kind in _payloads().values() for text in kind]


TOML = (
    b'name = "words"\nepsilon = 2.0\n[plan]\nkind = "pem"\ndomain = {bytes = 12}\ntop = 20\n',
    b'name = "songs"\nepsilon = 2.0\n[plan]\nkind = "svim"\ndomain = ["a", "b", "c"]\ntop = 1\n',
    b'name = "joint"\nepsilon = 2.0\n[plan]\nkind = "marginals"\norder = 2\n'
    b'[plan.domain]\na = ["x", "y"]\nb = {low = 1, high = 5}\n',
    b'name = "browser"\nepsilon = 1.0\ndescription = "Which?"\n'
    b'[plan]\nkind = "histogram"\ndomain = ["a", "b", "c"]\n'
    b"[collection]\nquota = 100\nminimum = 60\ngrace = 0\nenrolment = true\n",
    b'name = "table"\nepsilon = 2.0\n[plan]\nkind = "table"\nmost = 4\nrows = 2\nfanout = 3\n'
    b"[plan.columns]\nage = {low = 1, high = 9}\nincome = {low = 0, high = 100, buckets = 5}\n",
    b'name = "shop"\nepsilon = 2.0\n[plan]\nkind = "joint"\n'
    b"[plan.services.users.columns]\nage = {low = 1, high = 9}\n"
    b'[plan.services.users.public]\nos = ["i", "a"]\n'
    b'[plan.services.txn]\nmost = 3\n[plan.services.txn.columns]\nkind = ["x", "y"]\n',
    b'name = "age"\nepsilon = 2\n[plan]\nkind = "mean"\ndomain = {low = 18, high = 99}\n',
    b'name = "ages"\nepsilon = 2.5\ndeclares = ["subject"]\n[plan]\nkind = "distribution"\n'
    b"domain = {low = 0, high = 63}\n",
    b'name = "s"\nepsilon = 1.5\n[plan]\nkind = "survey"\n[plan.domain]\npet = ["cat", "dog"]\n'
    b"age = {low = 1, high = 9}\n",
    b'name = "t"\nepsilon = 4.0\ndistinct = 2\n'
    b'[plan]\nkind = "tracking"\ndomain = ["x", "y"]\nepochs = 12\n',
)
JSON_FILES = (
    b'{"name": "browser", "epsilon": 1.0, "plan":'
    b' {"kind": "histogram", "domain": ["a", "b"], "mechanism": "oue"}}',
    b'{"name": "age", "epsilon": 1, "plan":'
    b' {"kind": "mean", "domain": {"low": 0, "high": 100}}, "collection": {}}',
)


@cache
def published() -> Published:
    """Return a task with three rounds open: a question, a bundle, and a choice between both."""
    return _published(chain_task(3, 100))


def _published(task: Task) -> Published:
    people, collected, records = People(task, 1), MemoryCollected(task), []
    digest = people.digest
    for number in range(3):
        asked = task.plan.step(collected)
        assert isinstance(asked, Round)
        text = codec.canonical(codec.document(asked))
        records.append(RoundRecord(digest, number, text, State.OPEN, 0, 0, 0))
        messages = [one.data for one in people.messages(asked, 40)]
        collected = collected.after(asked, batches_of(task, asked, messages))
    return Published.of(
        TaskRecord(task.name, digest, codec.canonical(codec.document(task)), 0), records
    )


@cache
def _declaring() -> Published:
    """Return the same with everything that a task may declare."""
    plan = Chain(Integers(0, 11), 3)
    task = Task(
        "declaring",
        plan,
        2.0,
        declares=("subject", "public"),
        collection=chain_task(3, 100).collection,
    )
    record = TaskRecord(
        task.name, codec.digest(codec.document(task)), codec.canonical(codec.document(task)), 0
    )
    opening = codec.canonical(codec.document(task.opening))
    return Published.of(record, [RoundRecord(record.digest, 0, opening, State.OPEN, 0, 0, 0)])


@cache
def _messages() -> list[bytes]:
    people = People(published().task, 2)
    return [one.data for asked in published().asked.values() for one in people.messages(asked, 9)]


def _declared_messages() -> list[bytes]:
    """Return messages with a subject, and with a public field after it."""
    declaring = _declaring()
    digest = envelope.VERSION_1.task_digest(declaring.fingerprint)
    subject = np.zeros((1, envelope.ID_BYTES), np.uint8)
    declared = []
    for message in envelope.by_round(_messages())[0]:
        (plain,) = envelope.read([message], declaring.asked[0].width)
        declared.append(
            replace(plain, digest=digest, subjects=subject, public=(b'{"a":1}',)).write()
        )
    return declared


def _admit(kept: Published, tokens: Sequence[str], data: bytes) -> str:
    honest = [_messages()[0], data, data[: len(data) // 2], _messages()[-1]]
    admitted = admit(kept, honest, tokens)
    offered = [int(index) for indices in admitted.indices for index in indices]
    law(
        sorted([*offered, *admitted.codes]) == [0, 1, 2, 3],
        "every message is offered or refused, once",
    )
    law(set(admitted.codes.values()) <= set(CATALOGUE), "every code is in the catalogue")
    for offer, indices in zip(admitted.offers, admitted.indices, strict=True):
        law(len(offer) == len(indices) == len(offer.ids), "an offer has a row for every message")
        batches_of(
            kept.task, kept.asked[offer.round], [row.tobytes() for row in offer.data]
        )  # sealing must read it
    return admitted.codes.get(1, "accepted")


def _bodies() -> tuple[list[bytes], list[bytes]]:
    """Return uploads as JSON and as MessagePack."""
    bodies = [_messages()[:4], _messages()[9:15], _messages()[20:21]]
    as_json = [
        json.dumps({"reports": [base64.b64encode(one).decode() for one in body]}).encode()
        for body in bodies
    ]
    as_msgpack = [
        msgspec.msgpack.encode({"reports": body, "tokens": ["a"] * len(body)}) for body in bodies
    ]
    as_msgpack += [msgspec.msgpack.encode({"reports": body}) for body in bodies]
    return as_json, as_msgpack


@contextmanager
def _route_cases() -> Iterator[list[Case]]:
    as_json, as_msgpack = _bodies()
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-fuzz-") as folder,
        _application(Path(folder)) as client,
    ):
        yield [
            Case(as_json, partial(_ask, client, "application/json"), mutated_text),
            Case(as_msgpack, partial(_ask, client, "application/msgpack")),
            Case(as_json, partial(_ask, client, "application/json; charset=utf-8")),
            Case(as_msgpack, partial(_ask, client, "text/plain")),
        ]


@contextmanager
def _application(folder: Path) -> Iterator[TestClient]:
    """Run a whole collector with three open rounds; it is asked without a socket in between.

    It does not wait long for the rest of a body.
    """
    kept, store = published(), SqliteStore(folder / "collector.db")
    store.publish(kept.record, kept.rounds[0].document)
    for one in kept.rounds[1:]:
        store.open_round(kept.digest, one.number, one.document, 0)
    settings = Settings(
        data=folder, rate=0, tick=3600.0, largest_body=1 << 16, body_seconds=_BODY_SECONDS
    )
    with closing(store), TestClient(create(store, settings)) as client:
        yield client


def _ask(client: TestClient, kind: str, data: bytes) -> str:
    headers = {"content-type": kind, "accept": "application/json"}
    response = client.post(_UPLOADS, content=data, headers=headers)
    return _outcome_of_upload(response.status_code, response.json())


def _outcome_of_upload(status: int, content: Any) -> str:
    """Return what became of an upload whose answer is lawful."""
    if status == 200:
        law(
            all(one["code"] in CATALOGUE for one in content["refused"]),
            "every code is in the catalogue",
        )
        return "accepted in part" if content["refused"] else "accepted"
    law(
        content["status"] == status == CATALOGUE[content["code"]].status,
        "problems are catalogued",
    )
    law(status in (400, 413, 415), f"a body gave {status}")
    return str(content["code"])


class _Connections:
    """Connections to a whole collector, one for every input, as a server without a socket has them.

    Plain requests take the way without ASGI (``web/direct.py``).
    """

    def __init__(self, client: TestClient) -> None:
        self._app: Any = client.app
        self._app.state.api.collector.find("chain").prepare()
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()

    def post(self, kind: str, data: bytes) -> str:
        """Send a body with an honest head."""
        head = _head(kind, len(data))
        answers, by_asgi = self._loop.run_until_complete(self._talk([head + data]))
        ((status, _, content),) = answers
        law(not by_asgi, "an upload that states its short length needs no ASGI")
        return _outcome_of_upload(status, json.loads(content))

    def send(self, data: bytes) -> str:
        """Send bytes in two pieces, head and all."""
        pieces = [data[: len(data) // 2], data[len(data) // 2 :]]
        answers, by_asgi = self._loop.run_until_complete(self._talk(pieces))
        statuses = sorted({status for status, _, _ in answers})
        way = "ASGI" if by_asgi else "direct"
        for status in statuses:
            law(status < 500, f"bytes gave {status}")
        if statuses == [200]:
            return "accepted" if way == "direct" else "accepted through ASGI"
        return f"{way} {statuses}" if statuses else "no answer"

    async def _talk(self, pieces: Sequence[bytes]) -> tuple[list[Any], bool]:
        """Return the answers to what is sent, and whether a request went through ASGI."""
        line = Line(self._app)
        by_asgi = False
        for piece in pieces:
            if not line.wire.closed:
                by_asgi |= line.send(piece)
        deadline = time.monotonic() + _SECONDS
        while self._app.state.api.intake.waiting or not _is_quiet(line):
            law(time.monotonic() < deadline, "a request whose head is complete is answered")
            await asyncio.sleep(0.0005)
        line.protocol.connection_lost(None)
        await asyncio.gather(*line.state.tasks)
        law(self._app.door.bodies.bytes_in_memory == 0, "a connection that is over holds no bytes")
        return split(line.wire.written), by_asgi


def _is_quiet(line: Line) -> bool:
    """Return whether nothing is under way on a connection."""
    cycle: Any = line.protocol.cycle
    return line.wire.closed or cycle is None or cycle.response_complete


def _head(kind: str, length: int) -> bytes:
    lines = [f"POST {_UPLOADS} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}"]
    lines += ["Accept: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def _direct_cases() -> Iterator[list[Case]]:
    as_json, as_msgpack = _bodies()
    with _connections() as connections:
        yield [
            Case(as_json, partial(connections.post, "application/json"), mutated_text),
            Case(as_msgpack, partial(connections.post, "application/msgpack")),
            Case(as_json, partial(connections.post, "application/json; charset=utf-8")),
            Case(as_msgpack, partial(connections.post, "text/plain")),
        ]


@contextmanager
def _connection_cases() -> Iterator[list[Case]]:
    as_json, as_msgpack = _bodies()
    packed = [_head("application/msgpack", len(body)) + body for body in as_msgpack]
    texts = [_head("application/json", len(body)) + body for body in as_json]
    with _connections() as connections:
        yield [Case(texts, connections.send), Case(packed, connections.send)]


@contextmanager
def _connections() -> Iterator[_Connections]:
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-fuzz-") as folder,
        _application(Path(folder)) as client,
        closing(_Connections(client)) as connections,
    ):
        yield connections


def _simple(
    seeds: Callable[[], Sequence[bytes]], read: Callable[[bytes], str], *, text: bool = False
) -> Opened:
    return _cases(lambda: [Case(seeds(), read, mutated_text if text else mutated)])


def _uploads(*, packed: bool) -> list[bytes]:
    contents: list[dict[str, list[Any]]] = []
    for body in (_messages()[:3], _messages()[10:11]):
        reports: list[Any] = body if packed else [base64.b64encode(one).decode() for one in body]
        contents += [{"reports": reports}, {"reports": reports, "tokens": ["token"] * len(body)}]
    return [msgspec.msgpack.encode(one) if packed else json.dumps(one).encode() for one in contents]


def _envelope_cases() -> list[Case]:
    asked = published().asked
    by_round = {number: [one for one in _messages() if one[2] == number] for number in asked}
    cases = [
        Case([*some, b"".join(some)], partial(_read_envelopes, asked[n].width))
        for n, some in by_round.items()
    ]
    declared = _declared_messages()
    return [*cases, Case([*declared, b"".join(declared)], partial(_read_envelopes, 1))]


def _admission_cases() -> list[Case]:
    enrolled = _published(chain_task(3, 100, enrolment=True))
    return [
        Case(_messages(), partial(_admit, published(), ())),
        Case(_messages(), partial(_admit, enrolled, ("a", "", "b", "c"))),
        Case(_declared_messages(), partial(_admit, _declaring(), ())),
        Case(_messages(), partial(_admit, published(), ()), mutated_inside),
        Case(_declared_messages(), partial(_admit, _declaring(), ()), mutated_inside),
    ]


def _sealed_cases() -> list[Case]:
    """Return the messages of the golden vectors as their first hops receive them."""
    cases = []
    for row in _vectors("seal")["messages"]:
        message, sealed = bytes.fromhex(row["message"]), bytes.fromhex(row["layers"][0])
        digest = bytes.fromhex(row["digest"])
        context = seal.SealContext(digest, row["round"], row["hops"], len(message))
        opener = seal.LayerOpener(bytes.fromhex(row["private_keys"][0]), context, 0)
        cases.append(Case([sealed], partial(_open, opener, sealed)))
    return cases


def _open(opener: seal.LayerOpener, sealed: bytes, data: bytes) -> str:
    opener.open(data)
    law(data == sealed, "only what was sealed opens")
    return "accepted"


def _signature_cases() -> list[Case]:
    cases = []
    for row in _vectors("seal")["statements"]:
        digest, public_key, verifying_key, signature = (
            bytes.fromhex(row[name])
            for name in ("digest", "public_key", "verifying_key", "signature")
        )
        statement = KeyStatement(digest, row["round"], row["hop"], public_key)
        read = partial(_signature, statement, verifying_key, signature)
        cases.append(Case([signature], read))
    return cases


def _signature(statement: KeyStatement, key: bytes, signature: bytes, data: bytes) -> str:
    statement.verify(data, key)
    law(data == signature, "only the signature passes")
    return "accepted"


def _blind_token_cases() -> list[Case]:
    rows = _vectors("tokens")["issued"]
    key = tokens.IssuerPublicKey(bytes.fromhex(rows[0]["key"]))
    return [
        Case(
            [bytes.fromhex(row["token"])],
            partial(_blind_token, key, bytes.fromhex(row["digest"]), bytes.fromhex(row["token"])),
        )
        for row in rows
    ]


def _blind_token(key: tokens.IssuerPublicKey, digest: bytes, token: bytes, data: bytes) -> str:
    tokens.verify(tokens.Token.from_bytes(data), key, digest)
    law(data == token, "only what the issuer signed passes")
    return "accepted"


def _issuer_key(data: bytes) -> str:
    law(tokens.IssuerPublicKey(data).data == data, "a key is kept as it was given")
    return "accepted"


DECODERS: dict[str, Opened] = {
    "envelope.read": _cases(_envelope_cases),
    "envelope.by_round": _simple(lambda: _messages(), _rounds),
    **{f"unpack {kind}": _cases(partial(_unpack_cases, kind)) for kind in sorted(_payloads())},
    "codec.parse": _simple(_task_texts, _parse, text=True),
    "codec.task": _simple(_task_texts, partial(_noun, codec.task), text=True),
    "codec.notice": _simple(_task_texts, _notice, text=True),
    "codec.round_": _simple(_round_texts, partial(_noun, codec.round_), text=True),
    "codec.mechanism": _simple(_mechanism_texts, partial(_noun, codec.mechanism), text=True),
    "taskfile.read TOML": _simple(lambda: TOML, partial(_taskfile, True), text=True),
    "taskfile.read JSON": _simple(
        lambda: [*JSON_FILES, *_task_texts()], partial(_taskfile, False), text=True
    ),
    "wire JSON": _simple(
        lambda: _uploads(packed=False), partial(_upload, wire.json_upload), text=True
    ),
    "wire MessagePack": _simple(
        lambda: _uploads(packed=True), partial(_upload, wire.msgpack_upload)
    ),
    "wire token request": _simple(
        lambda: [b'{"scope":"analyst","label":"x","count":3,"days":7}'], _token_request, text=True
    ),
    "seal.open_layer": _cases(_sealed_cases),
    "round_keys.verify": _cases(_signature_cases),
    "tokens.verify": _cases(_blind_token_cases),
    "tokens.IssuerPublicKey": _simple(
        lambda: [bytes.fromhex(_vectors("tokens")["keys"][0]["key"])], _issuer_key
    ),
    "admission.admit": _cases(_admission_cases),
    "the upload route": _route_cases,
    "uploads without ASGI": _direct_cases,
    "bytes of a connection": _connection_cases,
}
