"""What a task asks, reveals and promises, for whoever reads its answer: the facts that a device tells its owner."""

from typing import Any

from sottovoce.dashboard import words
from sottovoce.domain import Buckets, Categories, Domain, Integers, Numbers, Records
from sottovoce.statement import statement
from sottovoce.task import Notice

Line = tuple[str, str]

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
    "bloom": "a randomised Bloom filter: a few bits that fit the answer more often than another",
    "affine": "affine response: a random code that fits the answer more often than another",
    "affine_prefix": "affine response: a random code that fits the answer more often than another",
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
        ("Randomised by", _mechanisms(said["mechanisms"])),
        ("Reveals", _reveals(said)),
        *_lasting(said),
        *_promises(said["collector"]),
    ]


def _asked(said: dict[str, Any], domain: Domain) -> str:
    often = "Every device is asked in every round" if said["longitudinal"] else "Every device is asked once"
    return f"{often} for {_values(domain)}."


def _values(domain: Domain) -> str:
    if isinstance(domain, Records):
        return f"one of {words.many(len(domain.names), 'question')}, drawn by a public coin"
    if isinstance(domain, Integers):
        return f"a whole number from {domain.low:,} to {domain.high:,}"
    if isinstance(domain, Buckets):
        return f"the interval, one of {domain.count:,}, of a number from {domain.low:g} to {domain.high:g}"
    if isinstance(domain, Numbers):
        return f"a number from {domain.low:g} to {domain.high:g}"
    declined = " (or prefer not to say)" if isinstance(domain, Categories) and domain.declinable else ""
    return f"one of {domain.size:,} values{declined}"


def _mechanisms(kinds: list[str]) -> str:
    told = "; ".join(MECHANISMS.get(kind, kind) for kind in kinds)
    return f"{told[0].upper()}{told[1:]}. Only this leaves the device."


def _reveals(said: dict[str, Any]) -> str:
    if (said["collector"] or {}).get("sandbox"):
        return "Nothing: this is a rehearsal, in which devices send answers drawn at random."
    reach = "all messages of a device together" if said["longitudinal"] else "the message of a device"
    return (
        f"Whoever sees {reach} can shift the odds about its owner's answer by a factor of at most "
        f"{said['odds']:,.2f} (epsilon {said['epsilon']:g})."
    )


def _lasting(said: dict[str, Any]) -> list[Line]:
    lasting = said["longitudinal"]
    if not lasting:
        return []
    values = words.many(lasting["distinct"], "different value")
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
    few = f"Nothing is released about fewer than {words.many(collector['minimum'], 'user')}."
    below = f" A value with an estimate below {words.many(crowd, 'user')} is suppressed." if crowd else ""
    days = words.many(collector["retention_days"], "day")
    enrolled = "Reports need an enrolment token, which buys one message."
    anyone = "Anyone may report; one person with many devices is not noticed."
    return [
        ("Released", few + below),
        ("Kept", f"Reports are erased {days} after their round was sealed; only sums remain."),
        ("Enrolment", enrolled if collector["enrolment"] else anyone),
    ]
