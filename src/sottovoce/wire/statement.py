"""The statement of a task: what it asks, costs and promises, as facts and in plain words.

``statement`` returns the facts, ready for JSON.  They come from the task's document alone, so a
device, a collector and a dashboard agree on them.  ``topics`` and ``explain`` turn facts into the
sentences of ``statement_texts.json``, which the dashboard and the JavaScript client use as well.

The text begins with what is sent in clear and what answering costs.  Words that the collector
chose are quoted one by one, and quotation marks within them become apostrophes, so that they cannot
pass for ours.  The name of the task and its description come last.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from math import ceil, exp, floor
from pathlib import Path
from typing import Any

from sottovoce.domains.base import Domain
from sottovoce.tasks.collection import SEEDS, Collection
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.wire import integrity

_TABLE = Path(__file__).with_name("statement_texts.json")
TEXTS: dict[str, Any] = json.loads(_TABLE.read_text("utf-8"))

Facts = dict[str, Any]

_DIGITS = 6  # significant digits of a number
_QUOTATION_MARKS = str.maketrans(dict.fromkeys('"\u201c\u201d\u201e\u201f\u00ab\u00bb', "'"))
_DAY = 86_400  # seconds
_MAX_CASES = 10**15  # up to which a number of cases is written with all its digits


# --- facts ---------------------------------------------------------------------------------------


def statement(notice: Notice, asked: Round | None = None) -> Facts:
    """Return the facts of a task, ready for JSON; ``asked`` is its round (default: the opening)."""
    current = asked or notice.opening
    questions = list(current.ask.representatives())
    encodings = {question.encoding.kind for question in questions if question.encoding}
    return {
        "task": notice.name,
        "description": notice.description,
        "digest": notice.digest,
        "values": _value_facts(notice.domain),
        "mechanisms": sorted({question.mechanism.kind for question in questions}),
        "encodings": sorted(encodings),
        "coin": current.ask.has_coin,
        "reports": current.slots,
        "tables": _table_facts(notice.domain, current.ask),
        "public": _public_columns(notice.domain),
        "epsilon": notice.epsilon,
        "odds": exp(notice.epsilon),
        "longitudinal": _longitudinal_facts(notice, current.ask),
        "shuffle": _shuffle_facts(notice.shuffle, notice.epsilon),
        "collector": _collector_facts(notice.collection),
        "influence": integrity.influence(current.ask, notice.collection),
    }


# The settings of a domain that its phrase mentions, by kind.
_VALUE_FACTS: dict[str, Callable[[Any], Facts]] = {
    "bits": lambda domain: {"bits": domain.bits},
    "buckets": lambda domain: {"low": domain.low, "high": domain.high, "count": domain.count},
    "categories": lambda domain: {"count": domain.size},
    "dates": lambda domain: {"unit": domain.unit, "first": domain.first, "last": domain.last},
    "integers": lambda domain: {"low": domain.low, "high": domain.high},
    "lists": lambda domain: {},
    "numbers": lambda domain: {"low": domain.low, "high": domain.high},
    "records": lambda domain: {"count": len(domain.names)},
    "services": lambda domain: {"names": list(domain.names)},
    "sets": lambda domain: {"count": domain.items.size},
    "strings": lambda domain: {"length": domain.length},
}


def _value_facts(domain: Domain) -> Facts:
    settings = _VALUE_FACTS.get(domain.kind, lambda domain: {"described": domain.described})(domain)
    return {"kind": domain.kind, **settings}


def _table_facts(domain: Any, ask: Ask) -> list[Facts]:
    """Return how many records of every table count and are sent, and if a coin picks columns."""
    if domain.kind != "services":
        return []
    families = ask.families()
    tables = []
    for index, name in enumerate(domain.names):
        own = [family for family in families if getattr(family, "table", None) == index]
        max_records = domain.most(index)
        tables.append(
            {
                "name": name,
                "most": max_records,
                "rows": len(own) if max_records else 1,
                "coin": any(len(family) > 1 for family in own),
            }
        )
    return tables


def _public_columns(domain: Any) -> list[str]:
    if domain.kind != "services" or domain.public is None:
        return []
    return list(domain.public.names)


def _longitudinal_facts(notice: Notice, ask: Ask) -> Facts | None:
    if notice.distinct is None:
        return None
    return {
        "distinct": notice.distinct,
        "epsilon_response": ask.epsilon,
        "epsilon_once": ask.epsilon_once,
    }


def _shuffle_facts(shuffle: Shuffle | None, epsilon: float) -> Facts | None:
    """Return who shuffles and the two promises; none is larger than what holds anyway."""
    if shuffle is None:
        return None
    central = min(shuffle.central, epsilon)
    against_users = min(shuffle.against_users, epsilon)
    return {
        "hops": [hop.url.split("/")[2] for hop in shuffle.hops],
        "users": shuffle.users,
        "fakes": shuffle.fakes,
        "central": central,
        "central_odds": exp(central),
        "against_users": against_users,
        "against_users_odds": exp(against_users),
        "delta": shuffle.delta,
    }


def _collector_facts(collection: Collection | None) -> Facts | None:
    if collection is None:
        return None
    return {
        "minimum": collection.minimum,
        "crowd": collection.crowd,
        "retention_days": collection.retention,
        "enrolment": collection.enrolment,
        "blind_tokens": collection.issuer is not None,
        "defence": collection.defence,
        "sandbox": collection.sandbox,
    }


# --- sentences -----------------------------------------------------------------------------------


def explain(said: Facts) -> str:
    """Return the facts in plain words; facts with a ``device`` entry tell what it has spent."""
    return " ".join(sentence for sentences in topics(said).values() for sentence in sentences)


def topics(said: Facts) -> dict[str, list[str]]:
    """Return the sentences of a statement by topic, in the order in which people read them."""
    if _is_rehearsal(said):
        about_answer = {
            "clear": [],
            "cost": [_sentence("rehearsal"), *_device_sentences(said)],
            "shuffled": [],
            "asked": [_asked_sentence(said)],
            "randomised": [],
        }
    else:
        about_answer = {
            "clear": [_clear_sentence(said)],
            "cost": _cost_sentences(said),
            "shuffled": _shuffle_sentences(said),
            "asked": [_asked_sentence(said), *_used_sentences(said)],
            "randomised": [_randomised_sentence(said["mechanisms"])],
        }
    return {
        **about_answer,
        "promised": _promise_sentences(said["collector"]),
        "described": [_described_sentence(said)],
    }


def _is_rehearsal(said: Facts) -> bool:
    return said["collector"] is not None and said["collector"]["sandbox"]


def _clear_sentence(said: Facts) -> str:
    if not said["public"]:
        return _sentence("nothing_clear")
    return _sentence("clear", columns=_quoted_list(said["public"]))


def _cost_sentences(said: Facts) -> list[str]:
    sentences = [_sentence("cost", epsilon=_number(said["epsilon"]))]
    if said["reports"] > 1:
        sentences.append(_sentence("reports", reports=_count(said["reports"])))
    seen = "odds"
    if said["longitudinal"]:
        seen = "odds_all"
    elif said["shuffle"]:
        seen = "odds_named"
    sentences.append(_sentence(seen, odds=_odds(said["odds"])))
    return [*sentences, *_longitudinal_sentences(said), *_device_sentences(said)]


def _longitudinal_sentences(said: Facts) -> list[str]:
    facts = said["longitudinal"]
    if facts is None:
        return []
    if facts["distinct"] == 1:
        paid = _sentence("paid_once_for_one")
    else:
        response = _number(facts["epsilon_response"])
        paid = _sentence("paid_once", distinct=_count(facts["distinct"]), epsilon=response)
    once = _sentence("single_message", epsilon=_number(facts["epsilon_once"]))
    return [paid, once, _sentence("changes")]


def _device_sentences(said: Facts) -> list[str]:
    device = said.get("device")
    if device is None:
        return []
    sentences = [_sentence("spent", spent=_number(device["spent"]), cap=_number(device["cap"]))]
    if device["collectors"] is not None:
        epsilon = _number(device["collectors"]["epsilon"])
        cases = _cases(device["collectors"]["delta"])
        sentences.append(_sentence("collectors", epsilon=epsilon, cases=cases))
    return [*sentences, *(_window_sentence(window) for window in device["windows"])]


def _window_sentence(window: Facts) -> str:
    return _sentence(
        "window",
        duration=_duration(window["seconds"]),
        epsilon=_number(window["epsilon"]),
        answers=_counted(TEXTS["counts"]["answers"], window["reports"]),
        spent=_number(window["spent"]),
        used=_count(window["used"]),
    )


def _shuffle_sentences(said: Facts) -> list[str]:
    """Return what happens to the message on its way, and what that promises against whom."""
    facts = said["shuffle"]
    if facts is None:
        return []
    has_one_hop = len(facts["hops"]) == 1
    mixed = _sentence(
        "mixed_one" if has_one_hop else "mixed",
        hops=_joined(facts["hops"]),
        users=_count(facts["users"]),
    )
    if facts["central"] >= said["epsilon"]:
        return [mixed, _sentence("mixing_promises_nothing")]
    same_keys = _sentence("same_keys_one" if has_one_hop else "same_keys")
    central = _sentence(
        "central_one" if has_one_hop else "central",
        odds=_odds(facts["central_odds"]),
        epsilon=_number(facts["central"]),
        cases=_cases(facts["delta"]),
    )
    people = _people_sentence(said["collector"])
    return [mixed, same_keys, central, people, _fakes_sentence(said)]


def _people_sentence(collector: Facts | None) -> str:
    """Return who sees to it that the other messages come from people."""
    is_checked = collector is not None and collector["blind_tokens"]
    return _sentence("people_checked" if is_checked else "people_unchecked")


def _fakes_sentence(said: Facts) -> str:
    facts = said["shuffle"]
    if facts["against_users"] >= said["epsilon"]:
        return _sentence("no_fakes")
    return _sentence(
        "fakes",
        fakes=_count(facts["fakes"]),
        odds=_odds(facts["against_users_odds"]),
        epsilon=_number(facts["against_users"]),
    )


def _asked_sentence(said: Facts) -> str:
    kind = said["values"]["kind"]
    other = said["values"].get("described", TEXTS["sentences"]["other_values"])
    phrase = TEXTS["values"].get(kind, other)
    settings = {name: _setting(setting) for name, setting in said["values"].items()}
    often = "asked_often" if said["longitudinal"] else "asked_once"
    return _sentence(often, values=phrase.format(**settings))


def _setting(setting: Any) -> str:
    if isinstance(setting, str):
        return setting
    if isinstance(setting, list):
        return _quoted_list(setting)
    return _count(setting) if isinstance(setting, int) else _number(setting)


def _used_sentences(said: Facts) -> list[str]:
    """Return which part of an answer is used: by encoding, or table by table."""
    sentences = [_encoding_sentence(kind, picked=said["coin"]) for kind in said["encodings"]]
    for table in said["tables"]:
        several = len(said["tables"]) > 1
        where = _sentence("where", table=_quoted(table["name"])) if several else ""
        sentences.extend(_table_sentences(table, where))
    return [sentence for sentence in sentences if sentence]


def _encoding_sentence(kind: str, *, picked: bool) -> str:
    texts: Mapping[str, str] | None = TEXTS["encodings"].get(kind)
    if texts is None:
        return _sentence("other_encoding", kind=kind)
    return texts["picked" if picked else "always"]


def _table_sentences(table: Facts, where: str) -> list[str]:
    if not table["most"]:
        return [_sentence("used_columns" if table["coin"] else "used_record", where=where)]
    if table["rows"] == 1:
        rows = _sentence("used_one_row", where=where)
    else:
        rows = _sentence("used_rows", rows=_count(table["rows"]), where=where)
    return [rows, _sentence("row_columns" if table["coin"] else "row_record")]


def _randomised_sentence(kinds: Iterable[str]) -> str:
    """Return what the mechanisms send; those that send the same are named together."""
    names: dict[str, list[str]] = {}
    for kind in kinds:
        other = {"does": TEXTS["sentences"]["other_way"], "name": kind}
        texts = TEXTS["mechanisms"].get(kind, other)
        known = names.setdefault(texts["does"], [])
        if texts["name"] not in known:
            known.append(texts["name"])
    ways = [_sentence("way", does=does, names=", ".join(names[does])) for does in names]
    return _sentence("randomised", ways=", or ".join(ways))


def _promise_sentences(collector: Facts | None) -> list[str]:
    if collector is None:
        return [_sentence("no_promises")]
    minimum = _count(collector["minimum"])
    retention = _duration(_DAY * collector["retention_days"])
    sentences = [_sentence("promises", minimum=minimum, retention=retention)]
    if collector["crowd"]:
        sentences.append(_sentence("crowd", crowd=_count(collector["crowd"])))
    admission = "open"
    if collector["enrolment"]:
        admission = "enrolment"
    elif collector["blind_tokens"]:
        admission = "blind_tokens"
    sentences.append(_sentence(admission))
    if collector["defence"] == SEEDS:
        sentences.append(_sentence("fixed_seeds"))
    return sentences


def _described_sentence(said: Facts) -> str:
    task = _harmless(said["task"])  # the sentences have quotation marks of their own
    if not said["description"]:
        return _sentence("named", task=task)
    return _sentence("described", task=task, description=_harmless(said["description"]))


def _quoted_list(words: Iterable[str]) -> str:
    return ", ".join(_quoted(word) for word in words)


def _joined(words: list[str]) -> str:
    """Return quoted words as people list them: a, b and c."""
    if len(words) == 1:
        return _quoted(words[0])
    return _sentence("and", first=_quoted_list(words[:-1]), last=_quoted(words[-1]))


def _quoted(words: str) -> str:
    """Return words that the collector chose, so that a reader sees where they begin and end.

    >>> print(_quoted("age\u201d and \u201cname"))
    \u201cage' and 'name\u201d
    """
    return f"\u201c{_harmless(words)}\u201d"


def _harmless(words: str) -> str:
    return words.translate(_QUOTATION_MARKS)


def _sentence(name: str, **entries: str) -> str:
    text: str = TEXTS["sentences"][name]
    return text.format(**entries)


def _count(count: int) -> str:
    return f"{count:,}"


def _number(number: float) -> str:
    """Return a number with at most six digits, as the JavaScript client writes it.

    >>> _number(2.0), _number(1234567.0), _number(0.30000000000000004), _number(1e-7)
    ('2', '1,234,570', '0.3', '1e-07')
    """
    rounded = float(f"{number:.{_DIGITS}g}")
    return f"{rounded:,}".removesuffix(".0")


def _odds(odds: float) -> str:
    """Return a factor, rounded up, so that "at most" is true.

    >>> _odds(1.6487212707001282)
    '1.65'
    """
    return f"{ceil(100 * odds) / 100:,.2f}"


def _cases(delta: float) -> str:
    """Return among how many cases one has the probability ``delta``, rounded down.

    >>> _cases(1e-9), _cases(1e-20)
    ('1,000,000,000', '1e+20')
    """
    cases = floor((1 + 1e-12) / delta)  # 1 / 1e-9 is a little below 10^9
    return _count(cases) if cases < _MAX_CASES else _number(float(cases))


def _duration(seconds: float) -> str:
    """Return a time in the largest unit that divides it.

    >>> _duration(86_400), _duration(5_400.0), _duration(0.5)
    ('1 day', '90 minutes', '0.5 seconds')
    """
    units = TEXTS["durations"]
    unit = next((unit for unit in units if not seconds % unit["seconds"]), units[-1])
    return _counted(unit, seconds / unit["seconds"])


def _counted(texts: Mapping[str, str], count: float) -> str:
    if count == 1:
        return texts["one"]
    written = _count(int(count)) if count == int(count) else _number(count)
    return texts["many"].format(count=written)
