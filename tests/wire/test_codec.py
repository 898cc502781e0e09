"""Documents: one meaning, one way to write it, one digest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

import sottovoce as sv
from sottovoce.errors import CodecError, ParameterError, SottovoceError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.views import Views
from sottovoce.tasks.question import Ask, Question
from sottovoce.wire import codec

TASK = sv.Task(
    "pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0, description="What lives with you?"
)
CONTENT = codec.document(TASK)

labels = some.lists(some.text(min_size=1, max_size=8), min_size=2, max_size=12, unique=True)


@given(labels, some.floats(0.01, 20), some.text(min_size=1, max_size=20))
def test_a_task_survives_its_document(names, epsilon, title):
    try:
        task = sv.Task(title, sv.Histogram(names), epsilon=epsilon)
    except ParameterError:
        return  # labels that are one after normalisation
    text = codec.canonical(codec.document(task))
    try:
        assert codec.task(codec.parse(text)) == task
    except CodecError:
        assert title.isascii() is False  # a name that is not in normal form is refused, not changed


def test_the_digest_does_not_depend_on_the_order_of_keys():
    shuffled = json.loads(json.dumps(dict(reversed(list(CONTENT.items())))))
    assert codec.digest(shuffled) == codec.digest(CONTENT)
    assert len(codec.digest(CONTENT)) == 22
    assert codec.digest_to_bytes(codec.digest(CONTENT)) == codec.digest_bytes(CONTENT)


@pytest.mark.parametrize(
    "changed", [{"name": "Pets"}, {"epsilon": "1.0000000000000002"}, {"description": ""}]
)
def test_any_change_is_another_task(changed):
    assert codec.digest({**CONTENT, **changed}) != codec.digest(CONTENT)


def test_documents_hold_no_floating_point():
    assert not any(isinstance(leaf, float) for leaf in _leaves(CONTENT))
    for text in ('{"a":1.0}', '{"a":1e3}', '{"a":NaN}', '{"a":Infinity}'):
        with pytest.raises(CodecError):
            codec.parse(text)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', "[1]", "3", "", "{", '"x"', "[" * 100_000, b"\xff"]
)
def test_anything_but_a_plain_object_is_refused(text):
    with pytest.raises(CodecError):
        codec.parse(text)


def _edit(path, value):
    content = json.loads(json.dumps(CONTENT))
    place = content
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("surprise",), 1),
        (("version",), 2),
        (("version",), None),
        (("name",), None),
        (("name",), 7),
        (("epsilon",), "1.00"),
        (("epsilon",), 1),
        (("epsilon",), "nan"),
        (("plan",), None),
        (("plan", "kind"), "../etc"),
        (("plan", "kind"), "nonexistent"),
        (("plan", "surprise"), True),
        (("domain", "labels"), ["cat"]),
        (("domain", "labels"), ["cat", "cat", "dog"]),
        (("domain", "labels"), ["cafe\u0301", "dog", "fish"]),
        (("opening", "ask", "mechanism", "size"), 4),
        (("opening", "ask", "mechanism", "keep"), None),
        (("opening", "ask", "mechanism", "keep"), 8768971294881393556),
        (("opening", "ask", "mechanism", "kind"), "os"),
        (("opening", "number"), 1),
        (("opening", "high"), "99999999999999999999999"),
    ],
)
def test_a_document_that_says_something_else_is_refused(path, value):
    with pytest.raises(SottovoceError):
        codec.task(_edit(path, value))


def test_devices_read_a_task_without_its_plan():
    """A plan that this software has never heard of does not matter to a client."""
    content = _edit(("plan", "kind"), "of_the_future")
    notice = codec.notice(content)
    assert notice.opening == TASK.opening
    with pytest.raises(ParameterError):
        codec.task(content)


def test_thresholds_travel_as_strings_and_large_sizes_too():
    mechanism = CONTENT["opening"]["ask"]["mechanism"]
    assert isinstance(mechanism["keep"], str)
    from sottovoce.mechanisms.affine_prefix import AffinePrefix

    wide = AffinePrefix(1.0, 1 << 160)
    assert codec.document(wide)["size"] == str(1 << 160)
    assert codec.mechanism(codec.document(wide)) == wide


def _leaves(content):
    if isinstance(content, dict):
        for value in content.values():
            yield from _leaves(value)
    elif isinstance(content, list):
        for value in content:
            yield from _leaves(value)
    else:
        yield content


def parsed(text):
    with pytest.raises(CodecError) as refused:
        codec.parse(text)
    return str(refused.value)


def test_a_text_is_measured_before_it_is_read():
    assert parsed(" " * (1 << 20) + "{}") == "a document may have at most 1,048,576 bytes"
    assert parsed("é" * (1 << 19) + "{}") == "a document may have at most 1,048,576 bytes"
    assert parsed('{"a":[' + "0," * 70_000 + "0]}") == "a document may have at most 65,536 entries"
    assert parsed('"' * 300_000) == "a document may have at most 65,536 entries"
    assert parsed('{"kind":1},' * 2049) == "a document may have at most 2,048 kinds"


def test_lists_and_objects_lie_at_most_32_deep_within_one_another():
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        inner = "0" if opening != "[" else ""
        assert codec.parse('{"a":' + opening * 31 + inner + closing * 31 + "}")
        deep = '{"a":' + opening * 32 + inner + closing * 32 + "}"
        assert parsed(deep) == "a document may have at most 32 levels, each of them closed"
    quoted = codec.parse('{"a":"' + "[{" * 100 + '\\"[[","b":"]"}')
    assert quoted == {"a": "[{" * 100 + '"[[', "b": "]"}


@pytest.mark.parametrize("text", ['{"a":"\\ud800"}', '{"a":"\ud800"}', b'{"a":"\xed\xa0\x80"}'])
def test_halves_of_surrogate_pairs_are_refused(text):
    assert parsed(text) == "this is not a JSON document of whole numbers, text and lists"


def test_numbers_are_short():
    content = codec.document(sv.Task("t", sv.Histogram(range(4)), 1.0))
    for high in ("9" * 161, "9" * 5000):
        with pytest.raises(CodecError, match="a whole number has at most 160 digits"):
            codec.notice({**content, "domain": {"kind": "integers", "low": 0, "high": high}})
    with pytest.raises(CodecError, match="shortest form"):
        codec.notice({**content, "epsilon": "1." + "0" * 40})


def test_equal_mechanisms_of_a_document_are_made_once():
    survey = sv.Survey({"a": ["x", "y"], "b": ["x", "y"]})
    members = codec.publish(sv.Task("s", survey, 1.0)).opening.ask.members
    assert members[0].mechanism is members[1].mechanism


def choice_of(mechanisms):
    return {"kind": "choice", "members": mechanisms, "weights": []}


def test_a_document_has_few_different_mechanisms():
    questions = [codec.document(Question(GRR(1.0, size))) for size in range(2, 300)]
    assert codec.read(Ask, choice_of(questions[:256]))
    with pytest.raises(CodecError, match="at most 256 different mechanisms"):
        codec.read(Ask, choice_of(questions[:257]))


def test_the_families_of_a_document_have_few_members_together():
    pairs = tuple((first, second) for first in range(50) for second in range(50, 100))
    views = Choice(Views((2,) * 100, pairs, (GRR(0.1, 4),)))
    others = Choice(Views((2,) * 100, pairs[1:], (GRR(0.1, 4),)))
    assert codec.read(Ask, codec.document(Bundle((views, views))))
    with pytest.raises(CodecError, match="at most 4,096 members"):
        codec.read(Ask, codec.document(Bundle((views, others))))


def test_a_notice_knows_the_kind_of_its_plan_and_no_more():
    content = codec.document(sv.Task("t", sv.Histogram(range(4)), 1.0))
    assert codec.notice({**content, "plan": {"kind": "unheard-of", "x": [1]}}).plan == "unheard-of"
    for plan in ({}, {"kind": 3}, [], "histogram"):
        with pytest.raises(CodecError, match="a task must have a plan"):
            codec.notice({**content, "plan": plan})
    with pytest.raises(ParameterError, match="`kind` must be text without control"):
        codec.notice({**content, "plan": {"kind": "a\0"}})
