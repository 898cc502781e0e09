"""The vectors of shuffled tasks: documents, promises, what owners read, and sealed messages.

The promises are the smallest, in thousandths, that the sums of ``amplification.py`` confirm.  The
sentences are written here by hand.
"""

import hashlib
from base64 import urlsafe_b64encode
from decimal import Decimal, localcontext

from golden import amplification, ciphers, rows, sealing
from golden import reference as ref

LABELS = ["cat", "dog", "fish", "none"]
LOCAL = "2.0"
SHARE = "0.25"  # of the labels: what a blanket report of direct response supports
GENERIC = "0.5"  # the share that holds for every mechanism
USERS, FAKES, DELTA = 300, 40, "1e-06"
URLS = ("https://mix-a.example.org", "https://mix-b.example.org:8443/hop")
HEADER, SUBJECT, TOKEN, LAYER = 60, 16, 288, 48  # bytes


def shuffled():
    about = (
        "tasks: documents of shuffled tasks, which devices read -> canonical text, digest, "
        "fingerprint, and the sentences on shuffling that owners read. sealed: document, signed "
        "keys, private keys, token and envelopes -> the message under the last layer, and how long "
        "it is at every hop. refused: documents that devices must refuse."
    )
    return "shuffled.json", {
        "about": about,
        "version": 1,
        "tasks": list(task_rows()),
        "sealed": list(sealed_rows()),
        "refused": list(refused_rows()),
    }


def text_of(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def signing_key(hop):
    return ref.sha_stream(f"shuffled signing {hop}", 32)


def hop_of(number):
    key = text_of(ciphers.ed25519_public(signing_key(number)))
    return {"kind": "hop", "url": URLS[number], "key": key}


def smallest(share, users, fakes):
    """Return the smallest thousandths that the sums confirm, as text."""
    low, high = 0, int(float(LOCAL) * 1000)  # the last is always kept
    with localcontext(prec=60):
        blanket = Decimal(LOCAL), Decimal(share), Decimal(0)
        while high - low > 1:
            middle = (low + high) // 2
            epsilon = Decimal(float(f"{middle / 1000}"))
            if amplification.delta(blanket, users, fakes, epsilon) <= Decimal(float(DELTA)):
                high = middle
            else:
                low = middle
    return repr(high / 1000)


def less(promise):
    """Return a promise that is a hundredth smaller, as text."""
    return repr(round(float(promise) * 0.99, 6))


def shuffle(hops=1, fakes=FAKES, **changes):
    made = {
        "kind": "shuffle",
        "hops": [hop_of(number) for number in range(hops)],
        "key": text_of(ciphers.ed25519_public(signing_key(hops))),
        "users": USERS,
        "fakes": fakes,
        "central": smallest(SHARE, USERS, fakes),
        "against_users": smallest(SHARE, 1, fakes) if fakes else LOCAL,
        "delta": DELTA,
    }
    return made | changes


def task(name, mixed, **more):
    return rows.histogram(name, LABELS, LOCAL, kind="grr") | {"shuffle": mixed} | more


def with_rounds(name, mixed):
    """Return a document with later rounds, whose plan devices do not read."""
    limits = {
        "kind": "roundlimits",
        "count": 3,
        "width": 4,
        "mechanisms": ["grr"],
        "encodings": [],
    }
    return task(name, mixed) | {"rounds": limits}


def collection(**changes):
    made = {
        "kind": "collection",
        "quota": 0,
        "seconds": 0,
        "grace": 300,
        "minimum": 100,
        "crowd": 0,
        "retention": 30,
        "enrolment": False,
        "sandbox": False,
    }
    return made | changes


def issuer_key():
    p, q = sealing.issuer_primes()
    return text_of(sealing.public_key(p * q))


def generic_promises():
    """Return what holds for every mechanism: fakes count as users."""
    central = smallest(GENERIC, USERS + FAKES, 0)
    return {"central": central, "against_users": smallest(GENERIC, 1 + FAKES, 0)}


def task_rows():
    one = shuffle()
    passes = "The message passes \u201cmix-a.example.org\u201d"
    mixed_one = (
        f"{passes}, which mixes the messages of at least 300 people before the collector sees them."
    )
    mixed_two = (
        f"{passes} and \u201cmix-b.example.org:8443\u201d, which mix the messages of at least 300 "
        "people before the collector sees them."
    )
    keys_one = (
        "Your device encrypts it only for keys that this shuffler has signed as the same for "
        "everybody, so that no key marks a message."
    )
    keys_two = (
        "Your device encrypts it only for keys that each of them has signed as the same for "
        "everybody, so that no key marks a message."
    )
    unchecked = (
        "Nobody checks that the messages come from different people, so this rests on how many "
        "real people take part."
    )
    checked = "Every enrolled person can send one message only, and nobody can tell which."
    alone = "If all the others work with the collector or do not exist, the mixing does not help."
    yield named(
        task("pets", one),
        [mixed_one, keys_one, central_sentence("it", one), unchecked, fakes_sentence(one)],
        "one hop",
    )
    two = shuffle(2)
    issued = collection(issuer=issuer_key())
    yield named(
        task("pets", two, collection=issued),
        [mixed_two, keys_two, central_sentence("one of them", two), checked, fakes_sentence(two)],
        "two hops and an issuer of tokens",
    )
    without = shuffle(fakes=0)
    yield named(
        task("pets", without),
        [mixed_one, keys_one, central_sentence("it", without), unchecked, alone],
        "no fakes",
    )
    nothing = shuffle(fakes=0, central=LOCAL)
    promise = "The task does not promise that this protects your answer any further."
    yield named(task("pets", nothing), [mixed_one, promise], "no promise")
    every = shuffle(**generic_promises())
    yield named(
        with_rounds("pets", every),
        [mixed_one, keys_one, central_sentence("it", every), unchecked, alone],
        "later rounds, with what every mechanism keeps: so few fakes give nothing",
    )


def central_sentence(who, mixed):
    central = mixed["central"]
    return (
        f"If {who} does both honestly, the collector alone can change its odds by a factor of at "
        f"most {odds_of(central)} (epsilon {central}), except with a probability of 1 in 1,000,000."
    )


def fakes_sentence(mixed):
    against_users = mixed["against_users"]
    return (
        "Even if all the others work with the collector or do not exist, the 40 made-up messages "
        f"that an honest one adds keep the factor at {odds_of(against_users)} or less (epsilon "
        f"{against_users})."
    )


def odds_of(epsilon):
    """Return e^epsilon with two decimals, rounded up."""
    with localcontext(prec=60):
        hundredths = (100 * Decimal(epsilon).exp()).to_integral_value("ROUND_CEILING")
    return f"{hundredths / 100:.2f}"


def named(content, sentences, comment):
    fingerprint = hashlib.sha256(ref.canonical(content).encode()).hexdigest()
    return rows.named(content, comment) | {"fingerprint": fingerprint, "sentences": sentences}


def sealed_rows():
    yield sealed_row(task("pets", shuffle()), 1, "one hop")
    two = task("pets", shuffle(2), collection=collection(issuer=issuer_key()))
    yield sealed_row(two, 2, "two hops, with a token")
    subject = task("pets", shuffle(2), declares=["subject"])
    yield sealed_row(subject, 2, "two hops, with a subject")


def sealed_row(content, hops, comment):
    text = ref.canonical(content)
    digest = hashlib.sha256(text.encode()).digest()
    opening = ref.canonical(content["opening"])
    private_keys = [ref.sha_stream(f"shuffled round {hop}", 32) for hop in range(hops + 1)]
    public_keys = [ciphers.x25519_public(key) for key in private_keys]
    keys = []
    for hop, public_key in enumerate(public_keys):
        statement = b"sottovoce/key/v1" + digest + bytes(2) + bytes([hop]) + public_key
        signature = ciphers.ed25519_sign(signing_key(hop), statement)
        keys.append({"public_key": public_key.hex(), "signature": signature.hex()})
    round_hash = hashlib.sha256(opening.encode()).digest()
    set_signatures = [
        ciphers.ed25519_sign(
            signing_key(hop), sealing.signed_set(digest, 0, round_hash, hop, public_keys)
        )
        for hop in range(hops)
    ]
    token_bytes = TOKEN if "issuer" in content.get("collection", {}) else 0
    subject_bytes = SUBJECT if "subject" in content["declares"] else 0
    envelope = ref.sha_stream(f"shuffled {comment}", HEADER + subject_bytes + 1)
    token = ref.sha_stream("shuffled token", token_bytes)
    message = token + envelope
    return {
        "text": text,
        "keys": keys,
        "set_signatures": [signature.hex() for signature in set_signatures],
        "private_keys": [key.hex() for key in private_keys],
        "token": token.hex(),
        "envelopes": envelope.hex(),
        "message": message.hex(),
        "sealed_bytes": [len(message) + LAYER * (hops + 1 - hop) for hop in range(hops + 1)],
        "comment": comment,
    }


def refused_rows():
    one = shuffle()
    every = generic_promises()
    for changes, comment in (
        ({"central": less(one["central"])}, "a central epsilon that is a hundredth too small"),
        (
            {"against_users": less(one["against_users"])},
            "an epsilon against users that is a hundredth too small",
        ),
        ({"users": USERS - 10}, "fewer users than the promise needs"),
        ({"fakes": FAKES - 2}, "fewer fakes than the promises need"),
        ({"delta": "1e-07"}, "a smaller delta"),
        ({"users": 1, "central": LOCAL}, "one user"),
        ({"users": (1 << 30) + 1}, "more users than a batch may have"),
        ({"fakes": -1}, "a negative number of fakes"),
        ({"delta": "0.0"}, "delta 0"),
        ({"delta": "1.0"}, "delta 1"),
        ({"central": "0.0"}, "a central epsilon of 0"),
        ({"hops": []}, "no hops"),
        ({"hops": [hop_of(0)] * 2}, "one hop twice"),
        ({"hops": [hop_of(0) | {"url": "http://mix-a.example.org"}]}, "an address in clear"),
        ({"hops": [hop_of(0) | {"key": "A" * 42}]}, "a short key of a hop"),
        ({"key": "A" * 42 + "B"}, "a key that is not canonical"),
        ({"cover": 3}, "an unknown field"),
    ):
        yield refused(task("pets", one | changes), comment)
    short = {name: value for name, value in one.items() if name != "delta"}
    yield refused(task("pets", short), "no delta")
    yield refused(task("pets", one, declares=["public"]), "public columns")
    yield refused(task("pets", one, distinct=2), "a longitudinal task")
    enrolled = collection(enrolment=True)
    yield refused(task("pets", one, collection=enrolled), "enrolment tokens")
    yield refused(with_rounds("pets", one), "what only the opening round keeps, with later rounds")
    for name in ("central", "against_users"):
        kept = one | every | {name: one[name]}
        comment = f"with later rounds: `{name}` as only the opening round keeps it"
        yield refused(with_rounds("pets", kept), comment)


def refused(content, comment):
    return {"text": ref.canonical(content), "reader": "notice", "comment": comment}
