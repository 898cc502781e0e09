"""A document that promises 1 % too much is refused, in Python, in Node and in Chromium."""

import pytest

from client.shuffling import Chain
from sottovoce.accounting import amplification
from sottovoce.errors import SottovoceError
from sottovoce.tasks.shuffle import accounted_blankets
from sottovoce.wire import codec

CHAIN = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))
REFUSED = 'async (text) => (await import("/clients/js/support/shuffled.js")).refusedTask(text)'


def document(factor):
    """Return a document whose central epsilon is this multiple of what its numbers give."""
    task = CHAIN.task()
    shuffle = task.shuffle
    (blanket, _) = accounted_blankets(task.opening.ask.blanket)
    batch = blanket.batch(shuffle.users, shuffle.fakes)
    content = codec.document(task)
    content["shuffle"]["central"] = repr(
        factor * amplification.epsilon(blanket, batch, shuffle.delta)
    )
    return codec.canonical(content)


def refused_in_python(text):
    try:
        codec.notice(codec.parse(text))
    except SottovoceError as error:
        return type(error).__name__
    return None


@pytest.mark.parametrize(("factor", "expected"), [(0.99, "ParameterError"), (1.0001, None)])
def test_one_percent_too_much_is_refused_by_python_and_node(worker, factor, expected):
    text = document(factor)
    assert refused_in_python(text) == expected
    refused = worker.run("refusedTask", text)
    assert (refused and refused[0]) == expected


def test_one_percent_too_much_is_refused_by_a_page(tabs):
    page = tabs()
    assert page.evaluate(REFUSED, document(1.0001)) is None
    name, reason = page.evaluate(REFUSED, document(0.99))
    assert name == refused_in_python(document(0.99))
    assert "central" in reason
