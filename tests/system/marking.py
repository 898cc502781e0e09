"""A collector that would like to know whose message is whose, in front of an honest hop.

It serves every device a key of its own, properly signed, and tries all of them on every message of
the mixed batch: the key that opens a message tells who sent it.  The hop and the devices are those
of the package; only the collector is written here.  ``scripts/attack_cases.py`` runs the attack on
an earlier tree as well, so that this module uses nothing but what both offer.
"""

import json
import threading
import time
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import sottovoce as sv
from sottovoce.client.device import Device
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.route import Route, message_of
from sottovoce.client.transport import Receipt
from sottovoce.errors import MismatchError, SottovoceError
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.shuffler.store.base import SealedOffer, hop_store_url, open_hop_store
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.wire import batch_part, codec
from sottovoce.wire.batch_part import PartPlace
from sottovoce.wire.round_keys import KeyStatement, new_round_key, new_signing_key
from sottovoce.wire.seal import LayerOpener
from sottovoce.wire.shuffled_message import seal_context

PEOPLE = 20
EPSILON = 6.0
PLAN = sv.Histogram([str(number) for number in range(16)], mechanism="grr")


def text_of(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes_of(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class MarkingCollector:
    """Serves keys and receives a batch; ``marks`` says whether every device gets its own key."""

    def __init__(self):
        self.signing = new_signing_key()
        self.marks = True
        self.shown = new_round_key()  # what the hop is shown, and every device that is not marked
        self.own_keys = []  # the keys of marked devices, in the order in which they asked
        self.hop_key = None
        self.set_signatures = []
        self.batch = b""
        self.hop = None  # for the messages that come over HTTP

    def publish(self, hop_key):
        """Make a task with one hop, whose long-term public key this is."""
        hop = Hop("https://mix.example.org", text_of(hop_key))
        key = text_of(self.signing.public_key)
        shuffle = Shuffle((hop,), key, PEOPLE, 0, EPSILON, EPSILON, 1e-9)
        collection = Collection(quota=PEOPLE, minimum=2)
        self.task = sv.Task("browser", PLAN, EPSILON, collection=collection, shuffle=shuffle)
        self.notice = codec.publish(self.task)
        self.document = codec.canonical(codec.document(self.task)).encode()

    def keys(self, pair):
        """Return the keys of the round with some key of the collector, signed one by one."""
        statement = KeyStatement(self.notice.fingerprint, 0, 1, pair.public_key)
        own = {
            "hop": 1,
            "public_key": text_of(pair.public_key),
            "signature": text_of(statement.sign(self.signing.private_key)),
        }
        return {"digest": self.notice.digest, "round": 0, "keys": [{"hop": 0, **self.hop_key}, own]}

    def answer(self, method, path, body):
        """Return the status and the body of the answer to a request."""
        match method, path.removeprefix("/v1/tasks/browser").split("/")[1:]:
            case "GET", []:
                return 200, self.document
            case "GET", ["round"]:
                asked = codec.document(self.task.opening)
                return 200, {"digest": self.notice.digest, "state": "open", "round": asked}
            case "GET", ["rounds", "0", "keys"]:
                return 200, self._keys_of_a_device()
            case "PUT", ["rounds", "0", "keys", "0"]:
                self.hop_key = json.loads(body)
                return 201, {}
            case "GET", ["rounds", "0", "key-set"]:
                return 200, self.keys(self.shown)
            case "PUT", ["rounds", "0", "key-set", "0"]:
                self.set_signatures.append(json.loads(body)["signature"])
                return 201, {}
            case "POST", _ if path.endswith("/rounds/0/messages"):
                return 200, self._relay(json.loads(body)["reports"])
            case "PUT", ["rounds", "0", "batch", part]:
                place = PartPlace(self.notice.fingerprint, 0, 0, int(part))
                read = batch_part.read(body, place, self.task.shuffle.hops[0].key_bytes)
                self.batch += read.messages
                return 200, {"received": 1, "parts": 1, "complete": True}
        return 404, {}

    def _relay(self, messages):
        """Hand messages to the hop, as a relay in front of it does."""
        sealed = [b64decode(message) for message in messages]
        self.hop.store.take([SealedOffer(self.notice.fingerprint, 0, sealed)])
        return {"accepted": len(messages), "duplicates": 0, "refused": []}

    def _keys_of_a_device(self):
        pair = self.shown
        if self.marks:
            pair = new_round_key()
            self.own_keys.append(pair)
        keys = self.keys(pair)
        if self.set_signatures:
            keys["set_signatures"] = self.set_signatures
        return keys

    def linked(self):
        """Return how many messages of the batch open under the key of exactly one device."""
        context = seal_context(self.task, self.task.opening, self.notice.fingerprint)
        length = context.sealed_bytes(1)
        messages = [self.batch[i : i + length] for i in range(0, len(self.batch), length)]
        openers = [LayerOpener(pair.private_key, context, 1) for pair in self.own_keys]
        return sum(sum(_opens(opener, message) for opener in openers) == 1 for message in messages)


def _opens(opener, message):
    try:
        opener.open(message)
    except MismatchError:
        return False
    return True


class InHand(Route):
    """Hands sealed messages to a hop in this process."""

    url = "https://mix.example.org"

    def __init__(self, hop):
        self.hop = hop

    def send(self, report):
        self.hop.store.take([SealedOffer(report.fingerprint, report.round, [message_of(report)])])
        return Receipt(1, 0)


@contextmanager
def serving(collector):
    """Serve a collector while the block lasts; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._reply()

        def do_PUT(self):
            self._reply()

        def do_POST(self):
            self._reply()

        def _reply(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, content = collector.answer(self.command, self.path, body)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.send_header("etag", f'"{collector.notice.digest}"')
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def mark_devices(*, marks=True, answer_all=None):
    """Run a round; return how many devices answered, and how many messages were linked.

    ``answer_all`` gets the address of the collector and the hop, lets all devices answer and
    returns how many did (default: devices in Python).
    """
    collector = MarkingCollector()
    collector.marks = marks
    with TemporaryDirectory() as folder:
        data = Path(folder) / "hop"
        settings = ShufflerSettings(data=data, poll_seconds=0.001, mix_processes=1)
        signing = make_signing_key(data)
        hop = Shuffler(open_hop_store(hop_store_url(data)), settings, signing, time.time)
        collector.hop = hop
        collector.publish(signing.public_key)
        with serving(collector) as url:
            hop.add(collector.document.decode(), url)
            hop.advance()
            answered = (answer_all or answer_in_python)(url, hop)
            hop.advance()
        hop.store.close()
    return answered, collector.linked()


def answer_in_python(url, hop):
    """Let all devices answer; return how many did."""
    answered = 0
    for person in range(PEOPLE):
        device = Device(url, DiskLedger(":memory:"), delay=0.0, route=InHand(hop))
        with suppress(SottovoceError):
            device.answer("browser", str(person % 16))
            answered += device.flush(force=True).sent
    return answered
