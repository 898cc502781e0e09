"""Documents: nouns as canonical JSON, and canonical JSON as nouns; both are read strictly.

Canonical JSON has its keys sorted by code point, no white space and no floating point.  Real
numbers are decimal strings, thresholds are strings of integers of 2^64, text is NFC.  A document
that would be written differently is refused, so that one meaning has one digest.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints
from unicodedata import is_normalized

from sottovoce.core import bounds, settings
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
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.tasks.task import Task

VERSION = 1
DIGEST_BYTES = 16

_NO_DOCUMENT = "this is not a JSON document of whole numbers, text and lists"

_MAX_EXACT_IN_JSON = 1 << 53  # integers from here on travel as strings
_FAMILIES = (Mechanism, Domain, Encoding, Ask, Family, Plan)  # of classes with a kind
_TEXT_IN_QUOTES = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_ALL_BUT_BRACKETS = re.compile(r"[^\[\]{}]+")
_ONE_KIND = str.maketrans("{}", "[]")  # of brackets: that they match is the reader's business
_WITHOUT_FAMILY = {"collection": Collection, "shuffle": Shuffle}
_ADDED_TASK_FIELDS = {"domain", "opening", "rounds", "version"}  # that follow from the plan
_TASK_FIELDS = {"kind", *_ADDED_TASK_FIELDS, *(entry.name for entry in fields(Task))}
_OPTIONAL_TASK_FIELDS = {"collection", "distinct", "rounds", "shuffle"}

Document = dict[str, Any]
Noun = TypeVar("Noun")


def document(noun: Any) -> Document:
    """Return the document of a noun: its kind and its fields."""
    content: Document = {"kind": _kind(noun)}
    for entry in fields(noun):
        value = getattr(noun, entry.name)
        if "omitted" in entry.metadata and value == entry.default:
            continue  # so that documents from before the field keep their digests
        written = _written(value, is_threshold="threshold" in entry.metadata)
        if written is not None:
            content[entry.name] = written
    if isinstance(noun, Task):
        del content["plan"]["domain"]  # stands once, where devices look for it
        content["domain"] = document(noun.plan.domain)
        content["opening"] = document(noun.opening)
        if noun.rounds is not None:
            content["rounds"] = document(noun.rounds)
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

    Refuses floating point, repeated keys and anything but an object, and a text that is too long,
    too deep or has too many entries before it is read.
    """
    _check_length(len(text))  # at least: a character has one byte or more
    try:
        plain = text.decode() if isinstance(text, bytes) else text
        plain.encode()  # refuses halves of surrogate pairs
    except ValueError as error:
        raise CodecError(_NO_DOCUMENT) from error
    _check_size(plain)
    try:
        content = json.loads(
            plain,
            parse_float=_refuse_float,
            parse_constant=_refuse_float,
            parse_int=_short_int,
            object_pairs_hook=_without_repeats,
        )
        if "\\u" in plain:  # an escape may be half of a surrogate pair: refused
            canonical(content).encode()
    except (ValueError, RecursionError) as error:
        raise CodecError(_NO_DOCUMENT) from error
    if not isinstance(content, dict):
        raise CodecError("a document must be a JSON object")
    return content


def digest(content: Document) -> str:
    """Return the name that a document's content gives it: 16 bytes of SHA-256 in base64url."""
    return digest_text(fingerprint(canonical(content)))


def digest_text(document_fingerprint: bytes) -> str:
    """Return the digest of a document with a fingerprint."""
    beginning = document_fingerprint[:DIGEST_BYTES]
    return base64.urlsafe_b64encode(beginning).rstrip(b"=").decode()


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
    for follows in ("opening", "rounds"):
        content.pop(follows, None)
    return hashlib.sha256(b"sottovoce/seed/v1" + canonical(content).encode()).digest()


def read(noun: type[Noun], content: Any) -> Noun:
    """Return the noun in a document; refuses one that is not canonical, or of another family.

    Constructors check what they are given, so that a mechanism which spends more than it states is
    refused here.
    """
    value: Noun = _Reader().read(noun, content)
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
    entries = {key: value for key, value in content.items() if key not in _ADDED_TASK_FIELDS}
    if not isinstance(entries.get("plan"), dict):
        raise CodecError("a task must have a plan")
    entries["plan"] = {**entries["plan"], "domain": content.get("domain")}
    value: Task = _Reader().read(Task, entries)
    return _refuse_other_text(value, content)


def notice(content: Document) -> Notice:
    """Return what a device reads of a task's document; the plan stays unread."""
    _check_version(content)
    if content.get("kind") != "task":
        raise CodecError("a task was expected")
    needed = _TASK_FIELDS - _OPTIONAL_TASK_FIELDS
    if not needed <= set(content) <= _TASK_FIELDS:
        raise CodecError(f"a task has the fields {', '.join(sorted(_TASK_FIELDS))}")
    reader = _Reader()
    text_fingerprint = fingerprint(canonical(content))
    return Notice(
        name=reader.read(str, content["name"]),
        description=reader.read(str, content["description"]),
        digest=digest_text(text_fingerprint),
        fingerprint=text_fingerprint,
        domain=read(Domain, content["domain"]),  # type: ignore[type-abstract]
        epsilon=reader.read(float, content["epsilon"]),
        declares=reader.read(tuple[str, ...], content["declares"]),
        opening=read(Round, content["opening"]),
        collection=read(Collection, content["collection"]) if "collection" in content else None,
        distinct=_short_whole(content["distinct"]) if "distinct" in content else None,
        plan=_plan_kind(content["plan"]),
        rounds=read(RoundLimits, content["rounds"]) if "rounds" in content else None,
        shuffle=read(Shuffle, content["shuffle"]) if "shuffle" in content else None,
    )


def publish(published: Task) -> Notice:
    """Return the notice of a task, by way of its document as a device would see it."""
    return notice(parse(canonical(document(published))))


def _plan_kind(content: Any) -> str:
    """Return the kind of a plan that stays unread otherwise."""
    if not isinstance(content, dict) or not isinstance(content.get("kind"), str):
        raise CodecError("a task must have a plan")
    return settings.plain_text("kind", content["kind"], bounds.MAX_COLUMN_NAME)


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
        types = set(map(type, value))  # there may be many labels and numbers
        if types == {str} or (types == {int} and _are_exact_in_json(value)):
            return list(value)
        return [_written(item) for item in value]
    if is_dataclass(value):
        return document(value)
    raise CodecError(f"a document cannot hold a {type(value).__name__}")


def _are_exact_in_json(numbers: tuple[int, ...]) -> bool:
    return min(numbers) > -_MAX_EXACT_IN_JSON and max(numbers) < _MAX_EXACT_IN_JSON


def _refuse_other_text(noun: Noun, content: Any) -> Noun:
    """Return a noun that was read from a document, if writing it gives the same document."""
    # Entries are read strictly, so that equal entries of another type, such as 1 and true, are no
    # question here.
    if document(noun) != content:
        raise CodecError(
            "the document is not canonical: reading it and writing it again gives different text"
        )
    return noun


class _Reader:
    """Reads the entries of one document; equal mechanisms and families are made once."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}
        self._mechanisms = 0
        self._members = 0

    def read(self, expected: Any, value: Any) -> Any:
        """Return the value as the type that a field's annotation asks for."""
        origin = get_origin(expected)
        if origin is tuple and isinstance(value, list):
            return self._tuple(get_args(expected)[0], value)
        if origin in (Union, UnionType):
            return self._union(expected, value)
        if expected is bool and isinstance(value, bool):
            return value
        if expected is str and _is_composed(value):
            return value
        if expected is int and not isinstance(value, bool) and isinstance(value, (int, str)):
            return _whole(value)
        if expected is float and isinstance(value, str):
            return _real(value)
        if isinstance(value, dict) and isinstance(expected, type):
            return self._noun(expected, value)
        name = getattr(expected, "__name__", expected)
        raise CodecError(f"a document has the wrong kind of entry: {name} was expected")

    def _tuple(self, expected: Any, values: list[Any]) -> tuple[Any, ...]:
        # There may be many labels and numbers: they are not read one by one.
        if expected is str and all(map(_is_composed, values)):
            return tuple(values)
        if expected is int and set(map(type, values)) == {int}:
            return tuple(values)
        if expected == tuple[int, ...] and all(map(_is_list_of_integers, values)):
            return tuple(map(tuple, values))
        return tuple(self.read(expected, value) for value in values)

    def _union(self, expected: Any, value: Any) -> Any:
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
        return self.read(members[0], value)

    def _noun(self, expected: type, content: Mapping[str, Any]) -> Any:
        """Return the object that a document describes, of the expected class or family."""
        noun = _class_of(expected, content.get("kind"))
        if not issubclass(noun, (Mechanism, Family)):
            return self._new(noun, content)
        text = canonical(dict(content))
        if text not in self._made:
            self._count_mechanism(noun)
            self._made[text] = self._new(noun, content)
            self._count_members(self._made[text])
        return self._made[text]

    def _new(self, noun: Any, content: Mapping[str, Any]) -> Any:
        kind = content.get("kind")
        entries = {key: value for key, value in content.items() if key != "kind"}
        known = {entry.name: entry for entry in fields(noun)}
        needed = {name for name, entry in known.items() if _is_required(entry)}
        if not needed <= set(entries) <= set(known):
            raise CodecError(f"a {kind} has the fields {', '.join(known)}")
        hints = _hints(noun)
        try:
            return noun(**{name: self.read(hints[name], value) for name, value in entries.items()})
        except SottovoceError:
            raise
        except (TypeError, ValueError, AttributeError) as error:
            raise CodecError(f"the fields of this {kind} do not fit together") from error

    def _count_mechanism(self, noun: Any) -> None:
        self._mechanisms += issubclass(noun, Mechanism)
        if self._mechanisms > bounds.MAX_DOCUMENT_MECHANISMS:
            most = bounds.MAX_DOCUMENT_MECHANISMS
            raise CodecError(f"a document may have at most {most} different mechanisms")

    def _count_members(self, noun: Any) -> None:
        if isinstance(noun, Family):
            self._members += noun.examined
        if self._members > bounds.MAX_DOCUMENT_MEMBERS:
            most = bounds.MAX_DOCUMENT_MEMBERS
            raise CodecError(f"the families of a document may have at most {most:,} members")


def _is_list_of_integers(value: Any) -> bool:
    return isinstance(value, list) and set(map(type, value)) == {int}


def _is_composed(value: Any) -> bool:
    return isinstance(value, str) and is_normalized("NFC", value)


def _short_whole(value: Any) -> int:
    """Return a whole number that is not written as a string."""
    if isinstance(value, str):
        raise CodecError("a whole number below 2^53 is not written as a string")
    number: int = _Reader().read(int, value)
    return number


def _has_kind(member: Any, kind: str) -> bool:
    """Return whether a member of a union is a family, or a part of one, that has a kind."""
    if not isinstance(member, type) or not issubclass(member, _FAMILIES):
        return False
    return issubclass(member.kinds[kind], member)


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


def _check_size(text: str) -> None:
    """Refuse the text of a document that would take too long to read, or too much memory."""
    _check_length(len(text.encode()))
    entries = sum(map(text.count, ",[{"))
    keys_and_texts = text.count('"') // 4  # an entry of an object has two texts in quotes
    if max(entries, keys_and_texts) > bounds.MAX_DOCUMENT_ENTRIES:
        raise CodecError(f"a document may have at most {bounds.MAX_DOCUMENT_ENTRIES:,} entries")
    if text.count('"kind"') > bounds.MAX_DOCUMENT_NOUNS:
        raise CodecError(f"a document may have at most {bounds.MAX_DOCUMENT_NOUNS:,} kinds")
    # Lists and objects alone remain, and every step takes away the innermost of them.
    brackets = _ALL_BUT_BRACKETS.sub("", _TEXT_IN_QUOTES.sub("", text)).translate(_ONE_KIND)
    for _ in range(bounds.MAX_DOCUMENT_DEPTH):
        brackets = brackets.replace("[]", "")
    if brackets:
        raise CodecError(
            f"a document may have at most {bounds.MAX_DOCUMENT_DEPTH} levels, each of them closed"
        )


def _check_length(byte_count: int) -> None:
    if byte_count > bounds.MAX_DOCUMENT_BYTES:
        raise CodecError(f"a document may have at most {bounds.MAX_DOCUMENT_BYTES:,} bytes")


def _whole(value: int | str) -> int:
    if isinstance(value, str) and len(value) > bounds.MAX_INTEGER_DIGITS:
        raise CodecError(f"a whole number has at most {bounds.MAX_INTEGER_DIGITS} digits")
    try:
        return int(value)
    except ValueError:
        raise CodecError("a whole number was expected") from None


def _real(text: str) -> float:
    if len(text) > bounds.MAX_REAL_CHARACTERS:
        raise CodecError("a decimal number must be written in its shortest form")
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
