"""Bytes and JSON on one side, nouns on the other; both are read strictly.

Documents are canonical JSON: keys sorted by code point, no white space, no floating point.
Real numbers are decimal strings, thresholds are strings of integers of 2^64, text is NFC.
A document that would be written differently is refused, so that one meaning has one digest.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from unicodedata import normalize

from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import CodecError, SottovoceError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task

VERSION = 1
DIGEST_BYTES = 16
_EXACT_IN_JSON = 1 << 53  # integers from here on travel as strings
_REGISTERED = (Mechanism, Domain, Encoding, Ask, Family, Plan)
_TASK_FIELDS = {"kind", "domain", "opening", "version", *(one.name for one in fields(Task))}
_MAY_BE_ABSENT = {"collection", "distinct"}
_PLAIN = {"collection": Collection}

Document = dict[str, Any]


def document(noun: Any) -> Document:
    """Return the document of a noun: its kind and its fields."""
    made: Document = {"kind": _kind(noun)}
    for one in fields(noun):
        written = _written(getattr(noun, one.name), threshold="threshold" in one.metadata)
        if written is not None:
            made[one.name] = written
    if isinstance(noun, Task):
        del made["plan"]["domain"]  # stands once, where devices look for it
        made |= {"domain": document(noun.plan.domain), "opening": document(noun.opening), "version": VERSION}
    return made


def canonical(content: Document) -> str:
    """Return the one way to write a document.

    >>> canonical({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parse(text: str | bytes) -> Document:
    """Return the document in a text; refuses floating point, repeated keys and anything but an object."""
    try:
        plain = text.decode() if isinstance(text, bytes) else text
        content = json.loads(
            plain,
            parse_float=_no_float,
            parse_constant=_no_float,
            parse_int=_short_int,
            object_pairs_hook=_no_repeats,
        )
        canonical(content).encode()  # refuses halves of surrogate pairs
    except (ValueError, RecursionError) as error:
        raise CodecError("this is not a JSON document of whole numbers, text and lists") from error
    if not isinstance(content, dict):
        raise CodecError("a document is a JSON object")
    return content


def digest(content: Document) -> str:
    """Return the name that a document's content gives it: 16 bytes of SHA-256 in base64url."""
    return base64.urlsafe_b64encode(digest_bytes(content)).rstrip(b"=").decode()


def digest_bytes(content: Document) -> bytes:
    """Return the digest as bytes: the first 16 of the fingerprint."""
    return fingerprint(canonical(content))[:DIGEST_BYTES]


def fingerprint(text: str) -> bytes:
    """Return the SHA-256 of a document's canonical text; digests are its beginning."""
    return hashlib.sha256(text.encode()).digest()


def digest_to_bytes(name: str) -> bytes:
    """Return the 16 bytes that a digest's text stands for."""
    return base64.urlsafe_b64decode(name + "==")


def seed(task: Task) -> bytes:
    """Return the public randomness of a task: tie-breaks drawn from it replay exactly."""
    content = document(task)
    del content["opening"]
    return hashlib.sha256(b"sottovoce/seed/v1" + canonical(content).encode()).digest()


def mechanism(content: Document) -> Mechanism:
    """Return the mechanism in a document; one that spends more than it states is refused."""
    made: Mechanism = _strict(Mechanism, content)
    return made


def round_(content: Document) -> Round:
    """Return the round in a document."""
    made: Round = _strict(Round, content)
    return made


def task(content: Document) -> Task:
    """Return the task in a document, plan included: what a collector reads."""
    _check_version(content)
    own = {key: value for key, value in content.items() if key not in ("domain", "opening", "version")}
    if not isinstance(own.get("plan"), dict):
        raise CodecError("a task has a plan")
    own["plan"] = {**own["plan"], "domain": content.get("domain")}
    made: Task = _same(_read(Task, own), content)
    return made


def notice(content: Document) -> Notice:
    """Return what a device reads of a task's document; the plan stays unread."""
    _check_version(content)
    complete = _TASK_FIELDS - _MAY_BE_ABSENT <= set(content) <= _TASK_FIELDS
    if content.get("kind") != "task" or not isinstance(content.get("plan"), dict) or not complete:
        raise CodecError(f"a task has the fields {', '.join(sorted(_TASK_FIELDS))}")
    return Notice(
        name=_read(str, content.get("name")),
        description=_read(str, content.get("description")),
        digest=digest(content),
        domain=_strict(Domain, content.get("domain")),
        epsilon=_read(float, content.get("epsilon")),
        declares=_read(tuple[str, ...], content.get("declares")),
        opening=_strict(Round, content.get("opening")),
        collection=_strict(Collection, content["collection"]) if "collection" in content else None,
        distinct=_same_number(content["distinct"]) if "distinct" in content else None,
    )


def publish(made: Task) -> Notice:
    """Return the notice of a task, by way of its document as a device would see it."""
    return notice(parse(canonical(document(made))))


def _kind(noun: Any) -> str:
    return noun.kind if isinstance(noun, _REGISTERED) else type(noun).__name__.lower()


def _written(value: Any, *, threshold: bool = False) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value) if threshold or abs(value) >= _EXACT_IN_JSON else value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    if is_dataclass(value):
        return document(value)
    raise CodecError(f"a document cannot hold a {type(value).__name__}")


def _strict(wanted: Any, content: Any) -> Any:
    return _same(_read(wanted, content), content)


def _same(noun: Any, content: Any) -> Any:
    if canonical(document(noun)) != canonical(content):
        raise CodecError("this document is not written the way its meaning would be")
    return noun


def _read(wanted: Any, value: Any) -> Any:
    """Return the value as the type that a field's annotation asks for."""
    if get_origin(wanted) is tuple and isinstance(value, list):
        return tuple(_read(get_args(wanted)[0], item) for item in value)
    if get_origin(wanted) in (Union, UnionType):
        return _read_union(wanted, value)
    if wanted is bool and isinstance(value, bool):
        return value
    if wanted is str and isinstance(value, str) and normalize("NFC", value) == value:
        return value
    if wanted is int and not isinstance(value, bool) and isinstance(value, (int, str)):
        return _whole(value)
    if wanted is float and isinstance(value, str):
        return _real(value)
    if isinstance(value, dict) and isinstance(wanted, type):
        return _read_noun(wanted, value)
    raise CodecError(f"a document has the wrong kind of entry: {getattr(wanted, '__name__', wanted)} was expected")


def _same_number(value: Any) -> int:
    if isinstance(value, str):
        raise CodecError("a whole number below 2^53 is not written as a string")
    number: int = _read(int, value)
    return number


def _read_union(wanted: Any, value: Any) -> Any:
    choices = [choice for choice in get_args(wanted) if choice is not type(None)]
    if isinstance(value, list):
        choices = [choice for choice in choices if get_origin(choice) is tuple]
    elif isinstance(value, dict) and value.get("kind") in _PLAIN:
        choices = [choice for choice in choices if choice is _PLAIN[value["kind"]]]
    elif isinstance(value, dict):
        registered = [choice for choice in choices if isinstance(choice, type) and issubclass(choice, _REGISTERED)]
        choices = [choice for choice in registered if issubclass(choice.kinds[str(value.get("kind"))], choice)]
    if not choices:
        raise CodecError("a document has an entry of an unexpected kind")
    return _read(choices[0], value)


def _read_noun(wanted: type, content: Mapping[str, Any]) -> Any:
    kind = content.get("kind")
    made: Any = wanted.kinds[str(kind)] if hasattr(wanted, "kinds") else wanted
    if not hasattr(wanted, "kinds") and kind != wanted.__name__.lower():
        raise CodecError(f"a {wanted.__name__.lower()} was expected")
    if not issubclass(made, wanted):
        raise CodecError(f"a {wanted.__name__.lower()} was expected, not a {kind}")
    hints, entries = _hints(made), {key: value for key, value in content.items() if key != "kind"}
    known = {one.name: one for one in fields(made)}
    needed = {name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING}
    if set(entries) - set(known) or needed - set(entries):
        raise CodecError(f"a {kind} has the fields {', '.join(known)}")
    try:
        return made(**{name: _read(hints[name], value) for name, value in entries.items()})
    except SottovoceError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise CodecError(f"the fields of this {kind} do not fit together") from error


@cache
def _hints(made: type) -> dict[str, Any]:
    return get_type_hints(made)


def _whole(value: int | str) -> int:
    try:
        return int(value)
    except ValueError:
        raise CodecError("a whole number was expected") from None


def _real(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise CodecError("a decimal number in quotes was expected") from None
    if repr(number) != text:
        raise CodecError("a decimal number is written in its shortest form")
    return number


def _short_int(text: str) -> int:
    if abs(number := int(text)) >= _EXACT_IN_JSON:
        raise CodecError("whole numbers of 2^53 and more are written as strings")
    return number


def _no_float(_: str) -> Any:
    raise CodecError("documents hold no floating-point numbers: write a decimal string")


def _no_repeats(pairs: list[tuple[str, Any]]) -> Document:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise CodecError("a key stands twice in one object")
    return content


def _check_version(content: Document) -> None:
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise CodecError(f"this software reads task documents of version {VERSION}")
