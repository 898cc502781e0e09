"""The statement of a task: what it asks, costs and promises, as facts and in plain words.

``statement`` returns the facts, ready for JSON.  They come from the task's document alone, so a
device, a collector and a dashboard agree on them.  ``topics`` and ``explain`` turn facts into the
sentences of a language, in the same order in all of them.  Every language is one table in
``statement_texts/``, which the dashboard and the JavaScript client use as well.

The text begins with what is sent in clear and what answering costs.  Words that the collector
chose are quoted one by one, and quotation marks within them become apostrophes, so that they cannot
pass for ours.  The name of the task and its description come last.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import ceil, exp, floor
from pathlib import Path
from typing import Any

from sottovoce.core import settings
from sottovoce.domains.base import Domain
from sottovoce.tasks.collection import SEEDS, Collection
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.wire import integrity

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de", "es", "fr", "it", "pt")

_TABLES = Path(__file__).with_name("statement_texts")

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
        "public": list(notice.domain.public_names),
        "epsilon": notice.epsilon,
        "odds": exp(notice.epsilon),
        "longitudinal": _longitudinal_facts(notice, current.ask),
        "shuffle": _shuffle_facts(notice.shuffle, notice.epsilon),
        "collector": _collector_facts(notice.collection),
        "influence": integrity.influence(current.ask, notice.collection),
    }


def _value_facts(domain: Domain) -> Facts:
    phrases = {"phrases": dict(domain.phrases)} if domain.phrases else {}
    return {"kind": domain.kind, **domain.statement_facts(), **phrases}


def _table_facts(domain: Domain, ask: Ask) -> list[Facts]:
    """Return how many records of every table count and are sent, and if a coin picks columns."""
    families = ask.families()
    tables = []
    for index, table in enumerate(domain.table_limits):
        own = [family for family in families if getattr(family, "table", None) == index]
        tables.append(
            {
                "name": table.name,
                "most": table.most,
                "rows": len(own) if table.most else 1,
                "coin": any(len(family) > 1 for family in own),
            }
        )
    return tables


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


@cache
def texts(language: str = ENGLISH) -> Mapping[str, Any]:
    """Return the table of a language: sentences, phrases and how numbers are written."""
    name = settings.choice("language", language, LANGUAGES)
    table: Mapping[str, Any] = json.loads((_TABLES / f"{name}.json").read_text("utf-8"))
    return table


def explain(said: Facts, language: str = ENGLISH) -> str:
    """Return the facts in plain words; facts with a ``device`` entry tell what it has spent."""
    return " ".join(chain.from_iterable(topics(said, language).values()))


def topics(said: Facts, language: str = ENGLISH) -> dict[str, list[str]]:
    """Return the sentences of a statement by topic, in the order in which people read them."""
    return _Writer(language, texts(language)).topics(said)


@dataclass(frozen=True)
class _Writer:
    """Turns facts into sentences of one language."""

    language: str
    texts: Mapping[str, Any]

    def topics(self, said: Facts) -> dict[str, list[str]]:
        """Return the sentences of a statement by topic, in the order in which people read them."""
        if _is_rehearsal(said):
            about_answer = {
                "clear": [],
                "cost": [self._sentence("rehearsal"), *self._device_sentences(said)],
                "shuffled": [],
                "asked": [self._asked_sentence(said)],
                "randomised": [],
            }
        else:
            about_answer = {
                "clear": [self._clear_sentence(said)],
                "cost": self._cost_sentences(said),
                "shuffled": self._shuffle_sentences(said),
                "asked": [self._asked_sentence(said), *self._used_sentences(said)],
                "randomised": [self._randomised_sentence(said["mechanisms"])],
            }
        return {
            **about_answer,
            "promised": self._promise_sentences(said["collector"]),
            "described": [self._described_sentence(said)],
        }

    def _clear_sentence(self, said: Facts) -> str:
        if not said["public"]:
            return self._sentence("nothing_clear")
        return self._sentence("clear", columns=self._quoted_list(said["public"]))

    def _cost_sentences(self, said: Facts) -> list[str]:
        sentences = [self._sentence("cost", epsilon=self._number(said["epsilon"]))]
        if said["reports"] > 1:
            sentences.append(self._sentence("reports", reports=self._count(said["reports"])))
        seen = "odds"
        if said["longitudinal"]:
            seen = "odds_all"
        elif said["shuffle"]:
            seen = "odds_named"
        sentences.append(self._sentence(seen, odds=self._odds(said["odds"])))
        return [*sentences, *self._longitudinal_sentences(said), *self._device_sentences(said)]

    def _longitudinal_sentences(self, said: Facts) -> list[str]:
        facts = said["longitudinal"]
        if facts is None:
            return []
        if facts["distinct"] == 1:
            paid = self._sentence("paid_once_for_one")
        else:
            response = self._number(facts["epsilon_response"])
            paid = self._sentence(
                "paid_once", distinct=self._count(facts["distinct"]), epsilon=response
            )
        once = self._sentence("single_message", epsilon=self._number(facts["epsilon_once"]))
        return [paid, once, self._sentence("changes")]

    def _device_sentences(self, said: Facts) -> list[str]:
        device = said.get("device")
        if device is None:
            return []
        sentences = [
            self._sentence(
                "spent", spent=self._number(device["spent"]), cap=self._number(device["cap"])
            )
        ]
        if device["collectors"] is not None:
            epsilon = self._number(device["collectors"]["epsilon"])
            cases = self._cases(device["collectors"]["delta"])
            sentences.append(self._sentence("collectors", epsilon=epsilon, cases=cases))
        return [*sentences, *(self._window_sentence(window) for window in device["windows"])]

    def _window_sentence(self, window: Facts) -> str:
        return self._sentence(
            "window",
            duration=self._duration(window["seconds"]),
            epsilon=self._number(window["epsilon"]),
            answers=self._counted(self.texts["counts"]["answers"], window["reports"]),
            spent=self._number(window["spent"]),
            used=self._count(window["used"]),
        )

    def _shuffle_sentences(self, said: Facts) -> list[str]:
        """Return what happens to the message on its way, and what that promises against whom."""
        facts = said["shuffle"]
        if facts is None:
            return []
        has_one_hop = len(facts["hops"]) == 1
        mixed = self._sentence(
            "mixed_one" if has_one_hop else "mixed",
            hops=self._joined(facts["hops"]),
            users=self._count(facts["users"]),
        )
        if facts["central"] >= said["epsilon"]:
            return [mixed, self._sentence("mixing_promises_nothing")]
        same_keys = self._sentence("same_keys_one" if has_one_hop else "same_keys")
        central = self._sentence(
            "central_one" if has_one_hop else "central",
            odds=self._odds(facts["central_odds"]),
            epsilon=self._number(facts["central"]),
            cases=self._cases(facts["delta"]),
        )
        people = self._people_sentence(said["collector"])
        return [mixed, same_keys, central, people, self._fakes_sentence(said)]

    def _people_sentence(self, collector: Facts | None) -> str:
        """Return who sees to it that the other messages come from people."""
        is_checked = collector is not None and collector["blind_tokens"]
        return self._sentence("people_checked" if is_checked else "people_unchecked")

    def _fakes_sentence(self, said: Facts) -> str:
        facts = said["shuffle"]
        if facts["against_users"] >= said["epsilon"]:
            return self._sentence("no_fakes")
        return self._sentence(
            "fakes",
            fakes=self._count(facts["fakes"]),
            odds=self._odds(facts["against_users_odds"]),
            epsilon=self._number(facts["against_users"]),
        )

    def _asked_sentence(self, said: Facts) -> str:
        values = {name: fact for name, fact in said["values"].items() if name != "phrases"}
        phrase = self.texts["values"].get(values["kind"], self._other_phrase(said["values"]))
        entries = {name: self._setting(setting) for name, setting in values.items()}
        often = "asked_often" if said["longitudinal"] else "asked_once"
        return self._sentence(often, values=phrase.format(**entries))

    def _other_phrase(self, values: Facts) -> str:
        """Return the phrase for a domain without an entry: its own, or else a general one.

        A domain without phrases still describes itself in English.
        """
        phrases: Mapping[str, str] = values.get("phrases", {})
        if self.language in phrases:
            return phrases[self.language]
        if self.language == ENGLISH and "described" in values:
            return "{described}"
        return str(self.texts["sentences"]["other_values"])

    def _setting(self, setting: Any) -> str:
        if isinstance(setting, str):
            return str(self.texts["units"].get(setting, setting))  # a unit of time, or a date
        if isinstance(setting, list):
            return self._quoted_list(setting)
        return self._count(setting) if isinstance(setting, int) else self._number(setting)

    def _used_sentences(self, said: Facts) -> list[str]:
        """Return which part of an answer is used: by encoding, or table by table."""
        sentences = [
            self._encoding_sentence(kind, picked=said["coin"]) for kind in said["encodings"]
        ]
        for table in said["tables"]:
            several = len(said["tables"]) > 1
            where = self._sentence("where", table=self._quoted(table["name"])) if several else ""
            sentences.extend(self._table_sentences(table, where))
        return [sentence for sentence in sentences if sentence]

    def _encoding_sentence(self, kind: str, *, picked: bool) -> str:
        entry: Mapping[str, str] | None = self.texts["encodings"].get(kind)
        if entry is None:
            return self._sentence("other_encoding", kind=kind)
        return entry["picked" if picked else "always"]

    def _table_sentences(self, table: Facts, where: str) -> list[str]:
        if not table["most"]:
            return [self._sentence("used_columns" if table["coin"] else "used_record", where=where)]
        if table["rows"] == 1:
            rows = self._sentence("used_one_row", where=where)
        else:
            rows = self._sentence("used_rows", rows=self._count(table["rows"]), where=where)
        return [rows, self._sentence("row_columns" if table["coin"] else "row_record")]

    def _randomised_sentence(self, kinds: Iterable[str]) -> str:
        """Return what the mechanisms send; those that send the same are named together."""
        names: dict[str, list[str]] = {}
        for kind in kinds:
            other = {"does": self.texts["sentences"]["other_way"], "name": kind}
            entry = self.texts["mechanisms"].get(kind, other)
            known = names.setdefault(entry["does"], [])
            if entry["name"] not in known:
                known.append(entry["name"])
        ways = [self._sentence("way", does=does, names=", ".join(names[does])) for does in names]
        return self._sentence("randomised", ways=self.texts["writing"]["or"].join(ways))

    def _promise_sentences(self, collector: Facts | None) -> list[str]:
        if collector is None:
            return [self._sentence("no_promises")]
        minimum = self._count(collector["minimum"])
        retention = self._duration(_DAY * collector["retention_days"])
        sentences = [self._sentence("promises", minimum=minimum, retention=retention)]
        if collector["crowd"]:
            sentences.append(self._sentence("crowd", crowd=self._count(collector["crowd"])))
        admission = "open"
        if collector["enrolment"]:
            admission = "enrolment"
        elif collector["blind_tokens"]:
            admission = "blind_tokens"
        sentences.append(self._sentence(admission))
        if collector["defence"] == SEEDS:
            sentences.append(self._sentence("fixed_seeds"))
        return sentences

    def _described_sentence(self, said: Facts) -> str:
        task = _harmless(said["task"])  # the sentences have quotation marks of their own
        if not said["description"]:
            return self._sentence("named", task=task)
        return self._sentence("described", task=task, description=_harmless(said["description"]))

    def _quoted_list(self, words: Iterable[str]) -> str:
        return ", ".join(self._quoted(word) for word in words)

    def _joined(self, words: list[str]) -> str:
        """Return quoted words as people list them: a, b and c."""
        if len(words) == 1:
            return self._quoted(words[0])
        return self._sentence(
            "and", first=self._quoted_list(words[:-1]), last=self._quoted(words[-1])
        )

    def _quoted(self, words: str) -> str:
        """Return words that the collector chose, so that a reader sees where they begin and end.

        >>> print(_Writer("de", texts("de"))._quoted("age\u201d and \u201cname"))
        \u201eage' and 'name\u201c
        """
        writing = self.texts["writing"]
        return f"{writing['open']}{_harmless(words)}{writing['close']}"

    def _sentence(self, name: str, **entries: str) -> str:
        text: str = self.texts["sentences"][name]
        return text.format(**entries)

    def _count(self, count: int) -> str:
        return self._written(f"{count:,}")

    def _written(self, number: str) -> str:
        """Return a number with the marks of the language in place of the English ones.

        >>> _Writer("de", texts("de"))._written("1,234.5")
        '1.234,5'
        """
        writing = self.texts["writing"]
        return number.translate({ord(","): writing["thousands"], ord("."): writing["decimal"]})

    def _number(self, number: float) -> str:
        """Return a number with at most six digits, as the JavaScript client writes it.

        >>> number = _Writer("en", texts("en"))._number
        >>> number(2.0), number(1234567.0), number(0.30000000000000004), number(1e-7)
        ('2', '1,234,570', '0.3', '1e-07')
        """
        rounded = float(f"{number:.{_DIGITS}g}")
        return self._written(f"{rounded:,}".removesuffix(".0"))

    def _odds(self, odds: float) -> str:
        """Return a factor, rounded up, so that "at most" is true.

        >>> _Writer("en", texts("en"))._odds(1.6487212707001282)
        '1.65'
        """
        return self._written(f"{ceil(100 * odds) / 100:,.2f}")

    def _cases(self, delta: float) -> str:
        """Return among how many cases one has the probability ``delta``, rounded down.

        >>> cases = _Writer("en", texts("en"))._cases
        >>> cases(1e-9), cases(1e-20)
        ('1,000,000,000', '1e+20')
        """
        cases = floor((1 + 1e-12) / delta)  # 1 / 1e-9 is a little below 10^9
        return self._count(cases) if cases < _MAX_CASES else self._number(float(cases))

    def _duration(self, seconds: float) -> str:
        """Return a time in the largest unit that divides it.

        >>> duration = _Writer("en", texts("en"))._duration
        >>> duration(86_400), duration(5_400.0), duration(0.5)
        ('1 day', '90 minutes', '0.5 seconds')
        """
        units = self.texts["durations"]
        unit = next((unit for unit in units if not seconds % unit["seconds"]), units[-1])
        return self._counted(unit, seconds / unit["seconds"])

    def _counted(self, forms: Mapping[str, str], count: float) -> str:
        if count == 1:
            return forms["one"]
        written = self._count(int(count)) if count == int(count) else self._number(count)
        return forms["many"].format(count=written)


def _is_rehearsal(said: Facts) -> bool:
    return said["collector"] is not None and said["collector"]["sandbox"]


def _harmless(words: str) -> str:
    return words.translate(_QUOTATION_MARKS)
