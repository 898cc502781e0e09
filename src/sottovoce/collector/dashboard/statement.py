"""What a task asks, reveals and promises, for whoever reads its answer: the facts that a device tells its owner."""

from typing import Any

from sottovoce.collector.dashboard import formatting
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.domains.tables import Tables
from sottovoce.tasks.notice import Notice
from sottovoce.wire.statement import statement

Line = tuple[str, str]

_PARTS = {
    "sample": ", of which one item or none, drawn at random, is used",
    "size": ", of which the number of items is used",
    "holds": ", of which one item, picked by a public coin, is used",
    "segment": ", of which one part, picked by a public coin, is used",
    "channel": ", of which one part, picked by a public coin, and a hash of the whole are used",
    "view": ", of which a few attributes together, picked by a public coin, are used",
    "cell": ", of which a random selection of columns, each more or less coarsely, is used; a public coin picks which",
    "parity": ", of which one yes-or-no summary of a few attributes, picked by a public coin, is used",
}

MECHANISMS = {
    "grr": "generalised randomised response: the answer itself or, by chance, another one",
    "subset": "subset selection: a random set of values, which holds the answer more often than another",
    "sue": "symmetric unary encoding: a yes or no for every value, each turned by chance",
    "oue": "optimised unary encoding: a yes or no for every value, each turned by chance",
    "the": "thresholded histogram encoding: a yes or no for every value, each turned by chance",
    "blh": "binary local hashing: one random bit that fits the answer more often than another",
    "olh": "optimised local hashing: a random code that fits the answer more often than another",
    "rmp": "random matrix projection: one random bit that fits the answer more often than another",
    "hadamard": "Hadamard response: a random code that fits the answer more often than another",
    "hcms": "a Hadamard sketch: one random bit that fits the answer more often than another",
    "bloom": "a randomised Bloom filter: a few bits that fit the answer more often than another",
    "affine": "affine response: a random code that fits the answer more often than another",
    "affine_prefix": "affine response: a random code that fits the answer more often than another",
    "channels": "a bit for every channel: that of the answer's channel turned by chance, all others drawn at random",
    "product": "direct response to every attribute: each answer itself or, by chance, another one",
    "duchi": "Duchi's mechanism: one of two numbers, right only on average",
    "piecewise": "the piecewise mechanism: a random number, right only on average",
    "hybrid": "the hybrid mechanism: a random number, right only on average",
    "square_wave": "square wave: a random number, near the answer more often than far from it",
}


def lines(notice: Notice) -> list[Line]:
    """Return the statement of a task, a term and a sentence at a time."""
    said = statement(notice)
    return [
        ("Asked", _asked(said, notice.domain)),
        *_open(said),
        ("Randomised by", _mechanisms(said["mechanisms"], alone=not said["public"])),
        ("Reveals", _reveals(said)),
        *_lasting(said),
        *_promises(said["collector"]),
    ]


def _asked(said: dict[str, Any], domain: Domain) -> str:
    often = "Every device is asked in every round" if said["longitudinal"] else "Every device is asked once"
    if isinstance(domain, Records) and "attribute" not in said["encodings"]:
        asked = f"a record of {formatting.many(len(domain.names), 'attribute')}"
    elif isinstance(domain, Tables):
        asked = _tables(said, domain)
    else:
        asked = _values(domain)
    coin = any(table["coin"] for table in said["tables"]) if said["tables"] else said["coin"]
    used = [kind for kind in said["encodings"] if kind in _PARTS and (coin or kind not in ("view", "cell"))]
    return f"{often} for {asked}{''.join(_PARTS[kind] for kind in used)}."


def _open(said: dict[str, Any]) -> list[Line]:
    if not said["public"]:
        return []
    told = f"These answers are sent as they are, not randomised: {', '.join(said['public'])}."
    return [("Public", told)]


def _tables(said: dict[str, Any], domain: Tables) -> str:
    """Return what is asked of every table: its record, or some of many."""
    asked = []
    for place, table in enumerate(said["tables"]):
        columns = f"{formatting.many(len(domain.records(place).names), 'column')} in {table['name']}"
        drawn = "one of them, or a made-up one, is" if table["rows"] == 1 else f"{table['rows']} draws of them are"
        most = formatting.count(table["most"])
        many = f"any number of records of {columns} (at most {most} count, and {drawn} reported)"
        asked.append(many if table["most"] else f"a record of {columns}")
    return " and ".join(asked)


def _values(domain: Domain) -> str:
    if isinstance(domain, Records):
        return f"one of {formatting.many(len(domain.names), 'question')}, drawn by a public coin"
    if isinstance(domain, Integers):
        return f"a whole number from {domain.low:,} to {domain.high:,}"
    if isinstance(domain, Buckets):
        return f"the interval, one of {domain.count:,}, of a number from {domain.low:g} to {domain.high:g}"
    if isinstance(domain, Numbers):
        return f"a number from {domain.low:g} to {domain.high:g}"
    if isinstance(domain, Strings):
        return f"a text of up to {formatting.many(domain.length, 'byte')}"
    if isinstance(domain, Bits):
        return f"a value of {domain.bits} bits"
    if isinstance(domain, Sets):
        return f"a set of {domain.items.size:,} items"
    declined = " (or prefer not to say)" if isinstance(domain, Categories) and domain.declinable else ""
    return f"one of {domain.size:,} values{declined}"


def _mechanisms(kinds: list[str], *, alone: bool = True) -> str:
    told = "; ".join(MECHANISMS.get(kind, kind) for kind in kinds)
    leaves = "Only this leaves the device." if alone else "Only this and what is public leave the device."
    return f"{told[0].upper()}{told[1:]}. {leaves}"


def _reveals(said: dict[str, Any]) -> str:
    if (said["collector"] or {}).get("sandbox"):
        return "Nothing: this is a rehearsal, in which devices send answers drawn at random."
    reach = "all messages of a device together" if said["longitudinal"] else "the message of a device"
    if said["reports"] > 1 and said["tables"]:
        reach = f"all {said['reports']} reports of a device together, which are sent in one message,"
    return (
        f"Whoever sees {reach} can shift the odds about its owner's answer by a factor of at most "
        f"{said['odds']:,.2f} (epsilon {said['epsilon']:g})."
    )


def _lasting(said: dict[str, Any]) -> list[Line]:
    lasting = said["longitudinal"]
    if not lasting:
        return []
    values = formatting.many(lasting["distinct"], "different value")
    return [
        (
            "Over a lifetime",
            f"The price covers {values} of one person, however often they are reported: epsilon "
            f"{lasting['epsilon_response']:.4g} for each, and {lasting['epsilon_once']:.4g} for a single message.",
        )
    ]


def _promises(collector: dict[str, Any] | None) -> list[Line]:
    if collector is None:
        return []
    crowd = collector["crowd"]
    few = f"Nothing is released about fewer than {formatting.many(collector['minimum'], 'user')}."
    below = f" A value with an estimate below {formatting.many(crowd, 'user')} is suppressed." if crowd else ""
    days = formatting.many(collector["retention_days"], "day")
    enrolled = "Reports need an enrolment token, which buys one message."
    anyone = "Anyone may report; one person with many devices is not noticed."
    return [
        ("Released", few + below),
        ("Kept", f"Reports are erased {days} after their round was sealed; only sums and the answer remain."),
        ("Enrolment", enrolled if collector["enrolment"] else anyone),
    ]
