"""What a collector refuses to publish because it lacks the keys."""

from dataclasses import replace

import pytest

from collector.shuffled import shuffled
from sottovoce.collector import key_files, shuffled_tasks
from sottovoce.core.base64url import text_of
from sottovoce.errors import ParameterError


def test_a_shuffled_task_must_name_the_key_of_its_collector(tmp_path):
    own = key_files.public_signing_key(tmp_path)
    task = shuffled(key=own)
    shuffled_tasks.check(task, tmp_path)
    with pytest.raises(ParameterError, match="`key` of the shuffle must be the key of this"):
        shuffled_tasks.check(shuffled(key="B" * 42 + "A"), tmp_path)


def test_the_issuer_must_be_that_of_the_collector(tmp_path):
    own = key_files.public_signing_key(tmp_path)
    foreign = text_of(key_files.make_issuer(tmp_path / "other").public_key.data)
    with pytest.raises(ParameterError, match="`sottovoce token issuer` prints"):
        shuffled_tasks.check(shuffled(key=own, issuer=foreign), tmp_path)
    known = text_of(key_files.make_issuer(tmp_path).public_key.data)
    shuffled_tasks.check(shuffled(key=own, issuer=known), tmp_path)


def test_blind_tokens_need_no_shuffler(tmp_path):
    known = text_of(key_files.make_issuer(tmp_path).public_key.data)
    task = replace(shuffled(issuer=known), shuffle=None)
    shuffled_tasks.check(task, tmp_path)
    with pytest.raises(ParameterError, match="`sottovoce token issuer` prints"):
        shuffled_tasks.check(task, tmp_path / "other")
    shuffled_tasks.check(replace(shuffled(), shuffle=None), tmp_path)
