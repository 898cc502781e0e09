"""What blind tokens cost: the device, the issuer and the collector, in processor time.

A collector verifies one token and computes one seed per report.  ``admit`` is all that it does
with a message before it stores it, beside the same messages of a task without tokens.
"""

from collections.abc import Callable, Iterator
from functools import partial

from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.collector.admission import admit
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, State, TaskRecord
from sottovoce.core.base64url import text_of
from sottovoce.lab.bench.row import BenchmarkRow
from sottovoce.lab.bench.timing import Timing, race, scaled
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.collection import SEEDS, Collection
from sottovoce.tasks.task import Task
from sottovoce.wire import codec, tokens

TOKENS = 200
REPEATS = 3
SIZE = 1024


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the cost of every step of a token's life, and of admitting messages with tokens."""
    count = scaled(TOKENS, scale)
    issuer = tokens.Issuer(tokens.new_issuer_key())
    key = issuer.public_key
    defended = _task(Collection(issuer=text_of(key.data), defence=SEEDS))
    digest = codec.publish(defended).fingerprint
    pending = [tokens.blind(key, digest) for _ in range(count)]
    blinded = [each.blinded for each in pending]
    signatures = list(map(issuer.sign, blinded))
    finished = [tokens.finalize(*pair) for pair in zip(pending, signatures, strict=True)]
    steps: dict[str, Callable[[], object]] = {
        "blind, on the device": lambda: [tokens.blind(key, digest).blinded for _ in pending],
        "sign, at the issuer": lambda: list(map(issuer.sign, blinded)),
        "finish, on the device": lambda: list(map(tokens.finalize, pending, signatures)),
        "verify, at the collector": lambda: _verify(finished, key, digest),
        "seed, on both sides": lambda: [token.seed_draw(digest, 0) for token in finished],
    }
    for name, timing in zip(steps, race(*steps.values(), repeats=REPEATS), strict=True):
        yield _row(name, timing, count)
    yield _admitting(defended, finished)


def _verify(finished: list[tokens.Token], key: tokens.IssuerPublicKey, digest: bytes) -> None:
    for token in finished:
        tokens.verify(token, key, digest)


def _admitting(defended: Task, finished: list[tokens.Token]) -> BenchmarkRow:
    plain = _task(Collection())
    with_tokens = [_message(defended, token) for token in finished]
    without = [_message(plain, None) for _ in finished]
    ours, bare = race(
        partial(admit, _published(defended), with_tokens, ()),
        partial(admit, _published(plain), without, ()),
        repeats=REPEATS,
    )
    row = _row("admit a message with a token", ours, len(finished))
    return BenchmarkRow(
        row.topic, row.name, row.figure, row.unit, "without tokens", ours.cpu / bare.cpu
    )


def _row(name: str, timing: Timing, count: int) -> BenchmarkRow:
    return BenchmarkRow("tokens", name, 1e6 * timing.cpu / count, "us/token")


def _task(collection: Collection) -> Task:
    return Task("benchmark", Histogram(range(SIZE), "affine"), 1.0, collection=collection)


def _message(task: Task, token: tokens.Token | None) -> bytes:
    notice = codec.publish(task)
    with DiskLedger(":memory:") as ledger:
        if token is not None:
            ledger.pending_token(notice.digest, bytes)
            ledger.keep_blind_token(notice.digest, token.to_bytes())
        return Client(notice, ledger).answer(SIZE // 3)


def _published(task: Task) -> Published:
    document = codec.document(task)
    record = TaskRecord(task.name, codec.digest(document), codec.canonical(document), 0)
    asked = codec.canonical(codec.document(task.opening))
    return Published.of(record, [RoundRecord(record.digest, 0, asked, State.OPEN, 0, 0, 0)])
