"""What a task asks, costs and promises: as plain data, and in plain words for whoever is asked.

Everything comes from the task's document, so a device, a collector and a dashboard all say the same.
"""

from math import exp
from typing import Any

from sottovoce.collection import Collection
from sottovoce.task import Ask, Bundle, Choice, Notice

_BITS = "sends a yes or a no for every possible answer, each of them turned by chance"
_CODE = "sends a random code, which fits your answer more often than another"
_NUMBER = "sends a random number, which is right only on average over many people"
_WAYS = {
    "grr": "sends your answer or, by chance, another possible answer",
    "subset": "sends a random set of possible answers, with yours among them more often than another",
    **dict.fromkeys(("sue", "oue", "the"), _BITS),
    **dict.fromkeys(("blh", "olh", "rmp", "hadamard", "bloom", "affine", "affine_prefix"), _CODE),
    **dict.fromkeys(("duchi", "piecewise", "hybrid", "square_wave"), _NUMBER),
}


def statement(notice: Notice) -> dict[str, Any]:
    """Return what a task asks, costs and promises, ready for JSON."""
    ask = notice.opening.ask
    lasting = None
    if notice.distinct is not None:
        lasting = {"distinct": notice.distinct, "epsilon_response": ask.epsilon, "epsilon_once": _once(ask)}
    return {
        "task": notice.name,
        "description": notice.description,
        "digest": notice.digest,
        "mechanisms": sorted(_kinds(ask)),
        "epsilon": notice.epsilon,
        "odds": exp(notice.epsilon),
        "longitudinal": lasting,
        "collector": _promises(notice.collection),
    }


def explain(said: dict[str, Any]) -> str:
    """Return a statement in plain words."""
    return " ".join([*_asked(said), *_randomised(said), *_lasting(said), *_promised(said)])


def _asked(said: dict[str, Any]) -> list[str]:
    often = "in every round" if said["longitudinal"] else "once"
    about = f" It is about: {said['description']}" if said["description"] else ""
    return [f"Task {said['task']!r} asks this device {often}.{about}"]


def _randomised(said: dict[str, Any]) -> list[str]:
    if _rehearsed(said):
        return ["It is a rehearsal: your device sends an answer drawn at random, yours is not used and costs nothing."]
    ways = sorted({_WAYS.get(kind, f"randomises your answer ({kind})") for kind in said["mechanisms"]})
    reach = "all messages together" if said["longitudinal"] else "the message"
    return [
        f"Your answer is randomised here before anything is sent: your device {', or '.join(ways)}.",
        f"Whoever sees {reach} can shift their odds about your answer by a factor of at most {said['odds']:.2f} "
        f"(epsilon {said['epsilon']:g}).",
    ]


def _lasting(said: dict[str, Any]) -> list[str]:
    lasting = said["longitudinal"]
    if not lasting or _rehearsed(said):
        return []
    values = "1 value" if lasting["distinct"] == 1 else f"{lasting['distinct']} different values"
    return [
        f"This is paid once and covers {values}: epsilon {lasting['epsilon_response']:.4g} for each, however often "
        f"it is reported, and {lasting['epsilon_once']:.4g} to somebody who sees a single message.",
        "That your answer changed, though not what it was, may be noticed.",
    ]


def _promised(said: dict[str, Any]) -> list[str]:
    collector = said["collector"]
    if not collector:
        return ["The collector has stated no minimum group and no time of erasure."]
    enrolled = ["Answering needs an enrolment token."] if collector["enrolment"] else []
    return [
        f"The collector promises to release nothing about fewer than {collector['minimum']} people "
        f"and to erase messages after {collector['retention_days']} days.",
        *enrolled,
    ]


def _rehearsed(said: dict[str, Any]) -> bool:
    return bool((said["collector"] or {}).get("sandbox"))


def _promises(collection: Collection | None) -> dict[str, Any] | None:
    if collection is None:
        return None
    return {
        "minimum": collection.minimum,
        "crowd": collection.crowd,
        "retention_days": collection.retention,
        "enrolment": collection.enrolment,
        "sandbox": collection.sandbox,
    }


def _kinds(ask: Ask) -> set[str]:
    parts = _parts(ask)
    return {kind for part in parts for kind in _kinds(part)} if parts else {ask.mechanism.kind}  # type: ignore[union-attr]


def _once(ask: Ask) -> float:
    """Return the epsilon of one message to somebody who sees no other."""
    if isinstance(ask, (Choice, Bundle)):
        return (max if isinstance(ask, Choice) else sum)(_once(part) for part in _parts(ask))
    return float(getattr(ask.mechanism, "epsilon_once", ask.epsilon))


def _parts(ask: Ask) -> list[Ask]:
    if isinstance(ask, Choice):
        return [ask.members[index] for index in range(len(ask.members))]
    return list(ask.parts) if isinstance(ask, Bundle) else []
