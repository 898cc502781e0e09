"""The vectors of reports whose hash seeds follow from blind tokens, and of messages with tokens."""

import base64

from golden import reference as ref
from golden import rows, sealing

SETTINGS = {
    "kind": "collection",
    "quota": 0,
    "seconds": 0,
    "grace": 60,
    "minimum": 50,
    "crowd": 0,
    "retention": 90,
    "enrolment": False,
    "sandbox": False,
}
TOKEN_BYTES = 288


def seeds():
    about = (
        "reports: mechanism, draw of 64 bits that fixes the seed, value, recorded bytes -> packed "
        "report of one user; kinds without a seed do not look at the draw. tasks: whole documents "
        "with an issuer, and a defence or none. refused: text that the named reader refuses. "
        "messages: task, round (absent: the opening one), token, value, recorded bytes -> message "
        "that goes straight to the collector: token, envelopes, zeros. uncut: messages that are "
        "not made of a token, whole envelopes and zeros."
    )
    return "seeds.json", {
        "about": about,
        "version": 1,
        "reports": list(report_rows()),
        "tasks": [rows.named(content, comment) for content, comment in tasks()],
        "refused": list(refused_rows()),
        "messages": list(message_rows()),
        "uncut": list(uncut_rows()),
    }


def issuer():
    p, q = sealing.issuer_primes()
    return base64.urlsafe_b64encode(sealing.public_key(p * q)).rstrip(b"=").decode()


def guarded(task, **settings):
    """Return a task whose tokens fix the hash seeds."""
    given = {"issuer": issuer(), "defence": "seeds"} | settings
    return task | {"collection": SETTINGS | given}


def report_rows():
    make = ref.mechanism
    for document in (
        make("affine", "1.0", 3),
        make("affine", "1.0", 1000),
        make("affine", "1.0", 1 << 15, groups=[5, 3, 7]),
        make("affine", "3.0", 1 << 20),
        make("affine_prefix", "2.0", 1 << 63),
        make("affine_prefix", "2.0", 1 << 160),
        make("olh", "2.0", 1000),
        make("olh", "3.0", 1000, buckets=1 << 20),
        make("blh", "1.0", 1 << 32),
        make("rmp", "1.0", 1000),
        make("rmp", "1.0", 1000, rows=100),
        make("bloom", "2.0", 1000, bits=32, hashes=5, cohorts=1000),
        make("bloom", "4.0", 60, bits=13, hashes=1, cohorts=1 << 16),
        make("grr", "1.0", 7),
        make("oue", "1.0", 9),
        make("hadamard", "1.0", 100),
    ):
        size = ref.Settings(document).size
        for place, draw in enumerate(
            (0, 1, 0xFFFFFFFF, 1 << 32, 0x0123456789ABCDEF, (1 << 64) - 1)
        ):
            value = (0, size // 3, size - 1)[place % 3]
            yield report_row(document, draw, value)


def report_row(document, draw, value):
    label = f"seeded {ref.canonical(document)} {draw} {value}"
    data = ref.sha_stream(label, 1 << 10)
    stream, bits = ref.Stream(data), ref.Settings(document).index_bits
    payload = ref.report(document, value, stream, draw)
    return {
        "mechanism": document,
        "seed_draw": str(draw),
        "value": ref.words_of(value, bits) if bits > 63 else ref.whole(value),
        "random": data[: stream.consumed + 8].hex(),
        "payload": payload.hex(),
        "consumed": stream.consumed,
    }


LABELS = ["chrome", "firefox", "safari", "other"]


def tasks():
    yield guarded(rows.histogram("browser", LABELS, "1.0")), "tokens fix coins and seeds"
    yield guarded(rows.ages("height", 0, 300, "1.0")), "affine response"
    yield guarded(rows.survey("household", [1, 3], "1.0")), "a choice"
    undefended = guarded(rows.histogram("browser", LABELS, "1.0"))
    del undefended["collection"]["defence"]
    yield undefended, "tokens fix coins alone"
    yield guarded(rows.mean("weight", "0.0", "200.0", "1.0")), "numbers have no seeds"


def refused_rows():
    good = guarded(rows.ages("height", 0, 300, "1.0"))
    settings = good["collection"]
    longitudinal = rows.tracking(LABELS, "2.0", 4, 2)
    for content, comment in (
        (good | {"collection": settings | {"defence": ""}}, "no defence is not written"),
        (good | {"collection": settings | {"defence": "graded"}}, "an unknown defence"),
        (good | {"collection": settings | {"defence": "Seeds"}}, "defences are in lower case"),
        (good | {"collection": settings | {"defence": None}}, "what is absent is not written"),
        (good | {"collection": settings | {"defence": True}}, "a defence is a text"),
        (good | {"collection": rows.without(settings, "issuer")}, "seeds need an issuer"),
        (good | {"collection": settings | {"enrolment": True}}, "one kind of token only"),
        (good | {"collection": settings | {"issuer": ""}}, "an empty key"),
        (good | {"collection": settings | {"issuer": settings["issuer"][:-1]}}, "a cut key"),
        (good | {"collection": settings | {"issuer": settings["issuer"] + "A"}}, "a longer key"),
        (longitudinal | {"collection": settings}, "a token pays for one message"),
    ):
        for reader in ("task", "notice"):
            yield {"reader": reader, "text": ref.canonical(content), "comment": comment}


def message_rows():
    histogram = guarded(rows.histogram("browser", LABELS, "1.0", kind="olh"))
    yield message_row(histogram, None, 0, "firefox", 1)
    height = guarded(rows.ages("height", 0, 300, "1.0"))
    for place, value in enumerate((0, 180, 300)):
        yield message_row(height, None, place, value, value)
    undefended = guarded(rows.ages("height", 0, 300, "1.0"))
    del undefended["collection"]["defence"]
    yield message_row(undefended, None, 0, 180, 180) | {"comment": "the seed is drawn"}
    named = guarded(rows.ages("height", 0, 300, "1.0", declares=["subject"]))
    yield message_row(named, None, 0, 180, 180)
    home = guarded(rows.survey("household", [1, 3], "1.0"))
    record, indices = {"home": "other", "square metres": 400}, [2, 400]
    for place in range(2):
        yield message_row(home, None, place, record, indices)
    area = rows.question(
        ref.mechanism("affine", "0.25", 401), encoding={"kind": "attribute", "column": 1}
    )
    pair = {"kind": "bundle", "parts": [area, area, area]}
    alone = {"kind": "bundle", "parts": [area]}
    yield message_row(home, rows.round_(1, pair), 0, record, indices) | {
        "comment": "every slot has a seed of its own"
    }
    choice = {"kind": "choice", "members": [pair, alone], "weights": [1, 1]}
    for place in range(3):
        yield message_row(home, rows.round_(2, choice), place, record, indices) | {
            "comment": "zeros fill a shorter bundle up"
        }


def message_row(task, asked, place, value, indices):
    if asked:
        task = rows.allowing(task, asked)
    label = f"token message {ref.digest(task)} {asked} {place}"
    token = ref.sha_stream(label + " token", TOKEN_BYTES)
    data = ref.sha_stream(label, 4096)
    stream, fingerprint = ref.Stream(data), ref.fingerprint(task)
    secret = sealing.coin_bytes(fingerprint, token[32:])
    defended = "defence" in task["collection"]

    def draw_of(slot):
        return sealing.seed_draw(fingerprint, token[32:], slot)

    opening = asked or task["opening"]
    sent = ref.message(task, opening, secret, indices, stream, draw_of if defended else None)
    slots = ref.slots(opening["ask"])
    fields = 44 + (16 if "subject" in task["declares"] else 0) + (2 if slots > 1 else 0)
    length = TOKEN_BYTES + slots * (fields + ref.width(opening["ask"]))
    row = {"task": task} | ({"round": asked} if asked else {})
    return row | {
        "token": token.hex(),
        "value": value,
        "random": data[: stream.consumed + 8].hex(),
        "envelopes": sent.hex(),
        "message": (token + sent).ljust(length, b"\0").hex(),
        "consumed": stream.consumed,
    }


def uncut_rows():
    token = ref.sha_stream("uncut token", TOKEN_BYTES)
    fields = {"digest": ref.sha_stream("uncut", 16), "round": 0, "member": 0}
    fields |= {"id": ref.sha_stream("uncut id", 16), "payload": bytes(10)}
    one = ref.envelope(fields)
    two = ref.envelope(fields | {"slot": 0}) + ref.envelope(fields | {"slot": 1})
    for slots, message, comment in (
        (1, b"", "nothing"),
        (1, token, "no envelope"),
        (1, token[:-1] + one, "a cut token"),
        (1, token + one[:-1], "a cut envelope"),
        (1, token + one + b"\0", "one zero too many"),
        (1, token + bytes(len(one)), "zeros alone"),
        (1, token + b"\3" + one[1:], "an envelope of another version"),
        (2, (token + two)[:-1], "a cut second envelope"),
        (2, token + two[: len(two) // 2] + bytes(len(two) // 2 - 1) + b"\1", "no zeros at the end"),
    ):
        width = len(one) if slots == 1 else len(two) // 2
        row = {"slots": slots, "envelope_bytes": width, "message": message.hex()}
        yield row | {"comment": comment}
