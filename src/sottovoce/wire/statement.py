"""What a task asks, costs and promises: as plain data, and in plain words for whoever is asked.

Everything comes from the task's document, so a device, a collector and a dashboard all say the same.
"""

from math import exp
from typing import Any

from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round

_ROW = "sends a row of random bits, one of which fits your answer more often than not"
_BITS = "sends a yes or a no for every possible answer, each of them turned by chance"
_CODE = "sends a random code, which fits your answer more often than another"
_NUMBER = "sends a random number, which is right only on average over many people"
_PIECE = "Only a part of your answer is used, such as its beginning; a public coin picks which part."
_USES = {
    "sample": "One of your items, or none, is drawn at random; only that is used.",
    "size": "Only the number of your items, of those in question, is used.",
    "holds": "Only whether you have one particular item is used; a public coin picks which.",
    "view": "Only a random part of your record is used, a few attributes together; a public coin picks which.",
    "parity": "Only one yes-or-no summary of a few attributes of your record is used; a public coin picks which.",
    **dict.fromkeys(("segment", "channel"), _PIECE),
}
_WHOLE = "All attributes of your record are used together."
_CELLS = "a random selection of its columns, each more or less coarsely, is used; a public coin picks which."
_WAYS = {
    "grr": "sends your answer or, by chance, another possible answer",
    "subset": "sends a random set of possible answers, with yours among them more often than another",
    "channels": _ROW,
    "product": "sends for each of your answers that answer or, by chance, another possible one",
    **dict.fromkeys(("sue", "oue", "the"), _BITS),
    **dict.fromkeys(("blh", "olh", "rmp", "hadamard", "hcms", "bloom", "affine", "affine_prefix"), _CODE),
    **dict.fromkeys(("duchi", "piecewise", "hybrid", "square_wave"), _NUMBER),
}


def statement(notice: Notice, asked: Round | None = None) -> dict[str, Any]:
    """Return what a task asks, costs and promises, ready for JSON; ``asked`` is its round, if not the opening."""
    ask = (asked or notice.opening).ask
    questions, lasting = list(ask.representatives()), None
    if notice.distinct is not None:
        lasting = {"distinct": notice.distinct, "epsilon_response": ask.epsilon, "epsilon_once": ask.epsilon_once}
    return {
        "task": notice.name,
        "description": notice.description,
        "digest": notice.digest,
        "mechanisms": sorted({one.mechanism.kind for one in questions}),
        "encodings": sorted({one.encoding.kind for one in questions if one.encoding}),
        "coin": isinstance(ask, Choice),
        "reports": (asked or notice.opening).slots,
        "tables": _tables(notice, ask),
        "public": _public(notice),
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
        *sorted({_used(said, kind) for kind in said["encodings"] if kind in _USES}),
        *(_held(table, len(said["tables"])) for table in said["tables"]),
        *_open(said),
        f"Your answer is randomised here before anything is sent: your device {', or '.join(ways)}.",
        *_several(said),
        _odds(said["odds"], said["epsilon"], reach),
    ]


def _used(said: dict[str, Any], kind: str) -> str:
    return _USES[kind] if said["coin"] or kind != "view" else _WHOLE


def _held(table: dict[str, Any], tables: int) -> str:
    """Return what is used of a table: of its record, or of those that somebody has in it."""
    name = f" in {table['name']}" if tables > 1 else ""
    every = _CELLS if table["coin"] else "all columns are used."
    if not table["most"]:
        return f"Of your record{name} {every}"
    drawn = "One of your records" if table["rows"] == 1 else f"A draw of {table['rows']} of your records"
    made_up = "a made-up one" if table["rows"] == 1 else "made-up ones"
    return f"{drawn}{name}, or {made_up}, is used; how many you have is hidden too. Of it {every}"


def _open(said: dict[str, Any]) -> list[str]:
    if not said["public"]:
        return []
    return [f"These answers are sent as they are, not randomised: {', '.join(said['public'])}."]


def _several(said: dict[str, Any]) -> list[str]:
    if not said["tables"] or said["reports"] == 1:
        return []
    return [f"It makes {said['reports']} reports, and all of them together cost what is stated here, not each of them."]


def _odds(factor: float, epsilon: float, reach: str) -> str:
    return (
        f"Whoever sees {reach} can shift their odds about your answer by a factor of at most {factor:.2f} "
        f"(epsilon {epsilon:g})."
    )


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


def _tables(notice: Notice, ask: Ask) -> list[dict[str, Any]]:
    """Return the tables that a task asks about: how many records count and are reported, and whether a coin picks."""
    domain = _services(notice)
    if domain is None:
        return []
    slots = [part for part in (ask.parts if isinstance(ask, Bundle) else (ask,)) if isinstance(part, Choice)]
    found = []
    for place, name in enumerate(domain.names):
        own = [one.members for one in slots if getattr(one.members, "table", -1) == place]
        most = domain.most(place)
        rows = len(own) if most else 1
        found.append({"name": name, "most": most, "rows": rows, "coin": any(len(one) > 1 for one in own)})
    return found


def _public(notice: Notice) -> list[str]:
    domain = _services(notice)
    return list(domain.public.names) if domain and domain.public else []


def _services(notice: Notice) -> Any:
    """Return the domain of a task about tables; nothing for others."""
    return notice.domain if notice.domain.kind == "services" else None


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
