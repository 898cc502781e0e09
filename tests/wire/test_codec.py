"""Documents: one meaning, one way to write it, one digest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

import sottovoce as sv
from sottovoce.errors import CodecError, ParameterError, SottovoceError
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
