"""What an operator reads before a task is added, and where it comes from."""

import pytest

from sottovoce.errors import MismatchError, ParameterError
from sottovoce.shuffler.review import fetch, review


def test_a_document_comes_from_the_collector_or_a_file(tmp_path, receiver):
    text, collector = fetch(f"{receiver.url}/v1/tasks/count", None)
    assert (text, collector) == (receiver.document, receiver.url)
    (tmp_path / "task.json").write_text(receiver.document)
    assert fetch(str(tmp_path / "task.json"), receiver.url) == (text, receiver.url)
    with pytest.raises(ParameterError, match="--collector"):
        fetch(str(tmp_path / "task.json"), None)
    with pytest.raises(ParameterError, match="/v1/tasks/NAME"):
        fetch(receiver.url, None)


def test_the_review_states_the_whole_triple(hop, receiver):
    text = "\n".join(review(receiver.document, receiver.url, hop.signing.public_key))
    for words in ("against the collector", "with all other users", "against everybody"):
        assert words in text
    assert "hop 1 of 1" in text
    with pytest.raises(MismatchError):
        review(receiver.document, receiver.url, b"k" * 32)
