"""The bounds of documents: numbers that other languages repeat."""

from sottovoce.core import bounds


def test_the_bounds_are_those_that_every_client_has():
    stated = {name: value for name, value in vars(bounds).items() if name.startswith("MAX_")}
    assert stated == {
        "MAX_DOCUMENT_BYTES": 1_048_576,
        "MAX_DOCUMENT_DEPTH": 32,
        "MAX_DOCUMENT_ENTRIES": 65_536,
        "MAX_DOCUMENT_NOUNS": 2048,
        "MAX_DOCUMENT_MECHANISMS": 256,
        "MAX_DOCUMENT_MEMBERS": 4096,
        "MAX_INTEGER_DIGITS": 160,
        "MAX_REAL_CHARACTERS": 32,
        "MAX_TASK_NAME": 200,
        "MAX_DESCRIPTION": 500,
        "MAX_COLUMN_NAME": 100,
        "MAX_MESSAGE_BYTES": 262_144,
        "MAX_SLOTS": 256,
        "MAX_LISTED_MEMBERS": 4096,
        "MAX_COLUMNS": 2048,
        "MAX_CANDIDATES": 16_384,
        "MAX_REMEMBERED_BYTES": 8192,
        "MAX_STEPS": 1024,
    }
