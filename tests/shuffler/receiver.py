"""A small server that stands for the collector of a shuffled task, in a thread of the test.

It asks rounds, keeps round keys and what hops sign, signs the tokens of fakes and receives batches.
It remembers every part and every signature on a set of keys that it was ever sent.
"""

import hashlib
import json
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from sottovoce.errors import SottovoceError
from sottovoce.wire import batch_part, codec
from sottovoce.wire.batch_part import PartPlace
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, new_round_key, new_signing_key
from sottovoce.wire.seal import LayerOpener
from sottovoce.wire.shuffled_message import seal_context
from sottovoce.wire.tokens import Issuer, new_issuer_key


def text_of(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes_of(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Receiver:
    """The collector of one task; make it, then publish the task that names its key and address."""

    def __init__(self, *, issuer=False):
        self.signing = new_signing_key()
        self.key = text_of(self.signing.public_key)
        self.issuer = Issuer(new_issuer_key()) if issuer else None
        self.lock = threading.Lock()
        self.state = "open"
        self.task = self.notice = None
        self.rounds = []
        self.own_keys = {}
        self.keys = defaultdict(dict)  # by round, then by hop: public key and signature
        self.set_signatures = defaultdict(set)  # by round and hop, of all keys that are here
        self.sent_signatures = set()  # of sets, whatever they are on
        self.parts = defaultdict(dict)  # by round, then by number
        self.sent = []  # every part that came: round, number, hash of the batch, messages
        self.batches = {}  # by round: the sealed messages in order
        self.signed_blinded = set()
        self.failing = 0  # requests that are answered with 503 from now on
        self.requests = []  # method and path of all requests
        handler = type("Handler", (_Handler,), {"receiver": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def publish(self, task):
        self.task, self.notice = task, codec.publish(task)
        self.document = codec.canonical(codec.document(task))
        self.ask(task.opening)

    def ask(self, asked):
        keys = new_round_key()
        self.rounds.append(asked)
        self.own_keys[asked.number] = keys
        hop = len(self.task.shuffle.hops)
        statement = KeyStatement(self.notice.fingerprint, asked.number, hop, keys.public_key)
        signature = statement.sign(self.signing.private_key)
        self.keys[asked.number][hop] = (keys.public_key, signature)

    def round_keys(self, number=0):
        """Return the public keys of all layers, or None until every hop has signed all of them."""
        hops = range(len(self.task.shuffle.hops))
        if any(not self.set_signatures[number, hop] for hop in hops):
            return None
        return self.public_keys(number)

    def public_keys(self, number=0):
        """Return the public keys of all layers, or None as long as one is missing."""
        known = self.keys[number]
        if len(known) <= len(self.task.shuffle.hops):
            return None
        return [known[hop][0] for hop in sorted(known)]

    def play_hop(self, hop, signing, number=0):
        """Push a round key in the name of a hop that does not run; returns its key pair."""
        pair = new_round_key()
        statement = KeyStatement(self.notice.fingerprint, number, hop, pair.public_key)
        self.keys[number][hop] = (pair.public_key, statement.sign(signing.private_key))
        return pair

    def sign_set(self, hop, signing, number=0):
        """Sign all keys in the name of a hop that does not run."""
        keys = self.public_keys(number)
        key_set = KeySet.of(self.notice.fingerprint, self.rounds[number], keys)
        self.set_signatures[number, hop].add(key_set.sign(hop, signing.private_key))

    def opened(self, number=0):
        """Return the messages of a batch, without their last layer."""
        asked = self.rounds[number]
        context = seal_context(self.task, asked, self.notice.fingerprint)
        private_key = self.own_keys[number].private_key
        opener = LayerOpener(private_key, context, context.hops)
        return [opener.open(sealed) for sealed in self.batches[number]]

    def batch_hashes(self, number=0):
        """Return the hashes of all batches of which a part was ever sent."""
        return {batch_hash for of, _, batch_hash, _ in self.sent if of == number}

    # Requests

    def get_round(self):
        asked = self.rounds[-1] if self.state == "open" else None
        document = None if asked is None else codec.document(asked)
        return 200, {"digest": self.notice.digest, "state": self.state, "round": document}

    def put_key(self, number, hop, body):
        content = json.loads(body)
        public_key = bytes_of(content["public_key"])
        signature = bytes_of(content["signature"])
        statement = KeyStatement(self.notice.fingerprint, number, hop, public_key)
        statement.verify(signature, self.task.shuffle.signing_keys[hop])
        kept = self.keys[number].setdefault(hop, (public_key, signature))
        return (200, {}) if kept[0] == public_key else (409, {"code": "conflict"})

    def put_set_signature(self, number, hop, body):
        signature = bytes_of(json.loads(body)["signature"])
        self.sent_signatures.add(signature)
        public_keys = self.public_keys(number)
        key_set = KeySet.of(self.notice.fingerprint, self.rounds[number], public_keys)
        key_set.verify(hop, signature, self.task.shuffle.signing_keys[hop])
        self.set_signatures[number, hop].add(signature)
        return 200, {}

    def get_keys(self, number):
        if self.public_keys(number) is None:
            return 409, {"code": "not-ready"}
        entries = [
            {"hop": hop, "public_key": text_of(key), "signature": text_of(signature)}
            for hop, (key, signature) in sorted(self.keys[number].items())
        ]
        return 200, {"digest": self.notice.digest, "round": number, "keys": entries}

    def put_part(self, number, part, body):
        hop = len(self.task.shuffle.hops) - 1
        place = PartPlace(self.notice.fingerprint, number, hop, part)
        read = batch_part.read(body, place, self.task.shuffle.hops[hop].key_bytes)
        self.sent.append((number, part, read.batch_hash, read.messages))
        if len(self.batch_hashes(number)) > 1:
            return 409, {"code": "conflict"}
        kept = self.parts[number].setdefault(part, read.messages)
        if kept != read.messages:
            return 409, {"code": "conflict"}
        received = len(self.parts[number])
        complete = received == read.parts
        if complete:
            self._complete(number, read.batch_hash)
        return 200, {"received": received, "parts": read.parts, "complete": complete}

    def _complete(self, number, batch_hash):
        whole = b"".join(self.parts[number][part] for part in sorted(self.parts[number]))
        assert hashlib.sha256(whole).digest() == batch_hash
        asked = self.rounds[number]
        context = seal_context(self.task, asked, self.notice.fingerprint)
        length = context.sealed_bytes(context.hops)
        self.batches[number] = [whole[i : i + length] for i in range(0, len(whole), length)]

    def sign_tokens(self, number, hop, body):
        content = json.loads(body)
        blinded = [bytes_of(text) for text in content["blinded"]]
        wanted = self.signed_blinded | {(number, hop, each) for each in blinded}
        mine = [entry for entry in wanted if entry[:2] == (number, hop)]
        if len(mine) > self.task.shuffle.fakes:
            return 409, {"code": "conflict"}
        self._check_signature(number, hop, blinded, bytes_of(content["signature"]))
        self.signed_blinded = wanted
        signatures = [text_of(self.issuer.sign(each)) for each in blinded]
        return 200, {"blind_signatures": signatures}

    def _check_signature(self, number, hop, blinded, signature):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        place = number.to_bytes(2, "little") + bytes([hop])
        hashed = hashlib.sha256(b"".join(blinded)).digest()
        signed = b"sottovoce/fakes/v1" + self.notice.fingerprint + place + hashed
        key = Ed25519PublicKey.from_public_bytes(self.task.shuffle.hops[hop].key_bytes)
        key.verify(signature, signed)


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_GET(self):
        self._answer("GET")

    def do_PUT(self):
        self._answer("PUT")

    def do_POST(self):
        self._answer("POST")

    def log_message(self, *arguments):
        pass

    def _answer(self, method):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with self.receiver.lock:
            self.receiver.requests.append((method, self.path))
            if self.receiver.failing:
                self.receiver.failing -= 1
                status, content = 503, {"code": "unavailable"}
            else:
                try:
                    status, content = self._route(method, body)
                except SottovoceError:
                    status, content = 409, {"code": "conflict"}
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _route(self, method, body):
        receiver = self.receiver
        words = [unquote(word) for word in self.path.split("/")[1:]]
        if words[:3] != ["v1", "tasks", receiver.notice.name]:
            return 404, {"code": "not-found"}
        match method, words[3:]:
            case "GET", []:
                return 200, receiver.document.encode()
            case "GET", ["round"]:
                return receiver.get_round()
            case "GET", ["rounds", number, "key-set"]:
                return receiver.get_keys(int(number))
            case "PUT", ["rounds", number, "key-set", hop]:
                return receiver.put_set_signature(int(number), int(hop), body)
            case "PUT", ["rounds", number, "keys", hop]:
                return receiver.put_key(int(number), int(hop), body)
            case "PUT", ["rounds", number, "batch", part]:
                return receiver.put_part(int(number), int(part), body)
            case "POST", ["rounds", number, "fake-tokens", hop]:
                return receiver.sign_tokens(int(number), int(hop), body)
        return 404, {"code": "not-found"}
