"""Lines of entries: those of the reader, whatever stands in comments and in texts."""

import pytest

from sottovoce.collector.entry_lines import MAX_LENGTH, line_of

TOML = '''# low stands here
text = """
low = 3
"""
[one]
other = "low"   # low
lowest = 2
[two]
low.low = 1
[three.low]
x = {low = 2}
[[four]]
low = 1
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("one", "lowest"), 7),
        (("two",), 8),
        (("two", "low"), 9),
        (("two", "low", "low"), 9),
        (("three", "low"), 10),
        (("three", "low", "x"), 11),
        (("three", "low", "x", "low"), 11),
        (("text",), 2),
        (("nothing",), None),
        ((), None),
    ],
)
def test_a_line_of_toml(path, line):
    assert line_of(TOML, path, toml=True) == line


JSON = """{ "low": [{"low":
 {}}],
 "one": "low", "two" :
 { "low": {"a": "}{\\"low\\":"},
   "\\u006cow": 3
 }
}"""


@pytest.mark.parametrize(
    ("path", "line"),
    [(("low",), 1), (("one",), 3), (("two", "low"), 5), (("one", "low"), None), (("x",), None)],
)
def test_a_line_of_json(path, line):
    assert line_of(JSON, path, toml=False) == line


def test_long_files_are_not_searched():
    assert line_of("low = 1\n" + "#" * MAX_LENGTH, ("low",), toml=True) is None
