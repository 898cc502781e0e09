"""Errors: one exit code and one HTTP status each, under one root."""

import inspect

from sottovoce import errors
from sottovoce.errors import SottovoceError, UnavailableError

CLASSES = [
    member
    for _, member in inspect.getmembers(errors, inspect.isclass)
    if issubclass(member, SottovoceError)
]


def test_every_class_has_an_exit_code_of_its_own():
    codes = sorted(member.exit_code for member in CLASSES)
    assert codes == list(range(1, len(CLASSES) + 1))


def test_every_class_has_a_status_of_an_error():
    assert all(400 <= member.status < 600 for member in CLASSES)


def test_only_unavailability_says_when_to_try_again():
    assert UnavailableError("busy").retry_after is None
    assert UnavailableError("busy", 3.5).retry_after == 3.5
