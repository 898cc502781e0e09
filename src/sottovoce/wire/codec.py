"""Documents: nouns as canonical JSON, and canonical JSON as nouns; both are read strictly.

Canonical JSON has its keys sorted by code point, no white space and no floating point.  Real
numbers are decimal strings, thresholds are strings of integers of 2^64, text is NFC.  A document
that would be written differently is refused, so that one meaning has one digest.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints
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

_MAX_EXACT_IN_JSON = 1 << 53  # integers from here on travel as strings
_FAMILIES = (Mechanism, Domain, Encoding, Ask, Family, Plan)  # of classes with a kind
_WITHOUT_FAMILY = {"collection": Collection}
_TASK_FIELDS = {"kind", "domain", "opening", "version", *(entry.name for entry in fields(Task))}
_OPTIONAL_TASK_FIELDS = {"collection", "distinct"}

Document = dict[str, Any]
Noun = TypeVar("Noun")


def document(noun: Any) -> Document:
    """Return the document of a noun: its kind and its fields."""
    content: Document = {"kind": _kind(noun)}
    for entry in fields(noun):
        value = getattr(noun, entry.name)
        written = _written(value, is_threshold="threshold" in entry.metadata)
        if written is not None:
            content[entry.name] = written
    if isinstance(noun, Task):
        del content["plan"]["domain"]  # stands once, where devices look for it
        content["domain"] = document(noun.plan.domain)
        content["opening"] = document(noun.opening)
        content["version"] = VERSION
    return content


def canonical(content: Document) -> str:
    """Return the one way to write a document.

    >>> canonical({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def parse(text: str | bytes) -> Document:
    """Return the document in a text.

    Refuses floating point, repeated keys and anything but an object.
    """
    try:
        plain = text.decode() if isinstance(text, bytes) else text
        content = json.loads(
            plain,
            parse_float=_refuse_float,
            parse_constant=_refuse_float,
            parse_int=_short_int,
            object_pairs_hook=_without_repeats,
        )
        canonical(content).encode()  # refuses halves of surrogate pairs
    except (ValueError, RecursionError) as error:
        raise CodecError("this is not a JSON document of whole numbers, text and lists") from error
    if not isinstance(content, dict):
        raise CodecError("a document must be a JSON object")
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


def read(noun: type[Noun], content: Any) -> Noun:
    """Return the noun in a document; refuses one that is not canonical, or of another family.

    Constructors check what they are given, so that a mechanism which spends more than it states is
    refused here.
    """
    value: Noun = _read(noun, content)
    return _refuse_other_text(value, content)


def mechanism(content: Document) -> Mechanism:
    """Return the mechanism in a document."""
    return read(Mechanism, content)  # type: ignore[type-abstract]


def round_(content: Document) -> Round:
    """Return the round in a document."""
    return read(Round, content)


def task(content: Document) -> Task:
    """Return the task in a document, plan included: what a collector reads."""
    _check_version(content)
    added = ("domain", "opening", "version")
    entries = {key: value for key, value in content.items() if key not in added}
    if not isinstance(entries.get("plan"), dict):
        raise CodecError("a task must have a plan")
    entries["plan"] = {**entries["plan"], "domain": content.get("domain")}
    value: Task = _read(Task, entries)
    return _refuse_other_text(value, content)


def notice(content: Document) -> Notice:
    """Return what a device reads of a task's document; the plan stays unread."""
    _check_version(content)
    if content.get("kind") != "task":
        raise CodecError("a task was expected")
    needed = _TASK_FIELDS - _OPTIONAL_TASK_FIELDS
    if not needed <= set(content) <= _TASK_FIELDS:
        raise CodecError(f"a task has the fields {', '.join(sorted(_TASK_FIELDS))}")
    if not isinstance(content["plan"], dict):
        raise CodecError("a task must have a plan")
    return Notice(
        name=_read(str, content["name"]),
        description=_read(str, content["description"]),
        digest=digest(content),
        domain=read(Domain, content["domain"]),  # type: ignore[type-abstract]
        epsilon=_read(float, content["epsilon"]),
        declares=_read(tuple[str, ...], content["declares"]),
        opening=read(Round, content["opening"]),
        collection=read(Collection, content["collection"]) if "collection" in content else None,
        distinct=_short_whole(content["distinct"]) if "distinct" in content else None,
    )


def publish(published: Task) -> Notice:
    """Return the notice of a task, by way of its document as a device would see it."""
    return notice(parse(canonical(document(published))))


def _kind(noun: Any) -> str:
    return noun.kind if isinstance(noun, _FAMILIES) else type(noun).__name__.lower()


def _written(value: Any, *, is_threshold: bool = False) -> Any:
    """Return the value of a field as an entry of a document."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value) if is_threshold or abs(value) >= _MAX_EXACT_IN_JSON else value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    if is_dataclass(value):
        return document(value)
    raise CodecError(f"a document cannot hold a {type(value).__name__}")


def _refuse_other_text(noun: Noun, content: Any) -> Noun:
    """Return a noun that was read from a document, if writing it gives the same document."""
    if canonical(document(noun)) != canonical(content):
        raise CodecError(
            "the document is not canonical: reading it and writing it again gives different text"
        )
    return noun


def _read(expected: Any, value: Any) -> Any:
    """Return the value as the type that a field's annotation asks for."""
    origin = get_origin(expected)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(get_args(expected)[0], item) for item in value)
    if origin in (Union, UnionType):
        return _read_union(expected, value)
    if expected is bool and isinstance(value, bool):
        return value
    if expected is str and isinstance(value, str) and normalize("NFC", value) == value:
        return value
    if expected is int and not isinstance(value, bool) and isinstance(value, (int, str)):
        return _whole(value)
    if expected is float and isinstance(value, str):
        return _real(value)
    if isinstance(value, dict) and isinstance(expected, type):
        return _read_noun(expected, value)
    name = getattr(expected, "__name__", expected)
    raise CodecError(f"a document has the wrong kind of entry: {name} was expected")


def _short_whole(value: Any) -> int:
    """Return a whole number that is not written as a string."""
    if isinstance(value, str):
        raise CodecError("a whole number below 2^53 is not written as a string")
    number: int = _read(int, value)
    return number


def _read_union(expected: Any, value: Any) -> Any:
    """Return the value as the first member of a union that can hold it."""
    members = [member for member in get_args(expected) if member is not type(None)]
    if isinstance(value, list):
        members = [member for member in members if get_origin(member) is tuple]
    elif isinstance(value, dict) and value.get("kind") in _WITHOUT_FAMILY:
        wanted = _WITHOUT_FAMILY[value["kind"]]
        members = [member for member in members if member is wanted]
    elif isinstance(value, dict):
        kind = str(value.get("kind"))
        members = [member for member in members if _has_kind(member, kind)]
    if not members:
        raise CodecError("a document has an entry of an unexpected kind")
    return _read(members[0], value)


def _has_kind(member: Any, kind: str) -> bool:
    """Return whether a member of a union is a family, or a part of one, that has a kind."""
    if not isinstance(member, type) or not issubclass(member, _FAMILIES):
        return False
    return issubclass(member.kinds[kind], member)


def _read_noun(expected: type, content: Mapping[str, Any]) -> Any:
    """Return the object that a document describes, of the expected class or family."""
    kind = content.get("kind")
    noun = _class_of(expected, kind)
    entries = {key: value for key, value in content.items() if key != "kind"}
    known = {entry.name: entry for entry in fields(noun)}
    needed = {name for name, entry in known.items() if _is_required(entry)}
    if not needed <= set(entries) <= set(known):
        raise CodecError(f"a {kind} has the fields {', '.join(known)}")
    hints = _hints(noun)
    try:
        return noun(**{name: _read(hints[name], value) for name, value in entries.items()})
    except SottovoceError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise CodecError(f"the fields of this {kind} do not fit together") from error


def _class_of(expected: type, kind: Any) -> Any:
    """Return the class that a kind names, within a family or as the expected class itself."""
    name = expected.__name__.lower()
    if not hasattr(expected, "kinds"):
        if kind != name:
            raise CodecError(f"a {name} was expected")
        return expected
    noun = expected.kinds[str(kind)]
    if not issubclass(noun, expected):
        raise CodecError(f"a {name} was expected, not a {kind}")
    return noun


def _is_required(entry: "Field[Any]") -> bool:
    return entry.default is MISSING and entry.default_factory is MISSING


@cache
def _hints(noun: type) -> dict[str, Any]:
    return get_type_hints(noun)


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
        raise CodecError("a decimal number must be written in its shortest form")
    return number


def _short_int(text: str) -> int:
    number = int(text)
    if abs(number) >= _MAX_EXACT_IN_JSON:
        raise CodecError("whole numbers of 2^53 and more must be written as strings")
    return number


def _refuse_float(_: str) -> Any:
    raise CodecError("a document must hold no floating-point number: write a decimal string")


def _without_repeats(pairs: list[tuple[str, Any]]) -> Document:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise CodecError("a key must stand only once in an object")
    return content


def _check_version(content: Document) -> None:
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise CodecError(f"this software reads task documents of version {VERSION}")
