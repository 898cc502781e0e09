"""Everything observable is as it was recorded; see recording.py for how to record it again."""

import pytest

from recorder.recording import GROUPS, differences, read_recorded, record_group

RECORDED = read_recorded()


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_as_recorded(group):
    expected = {key: entry for key, entry in RECORDED.items() if key.startswith(f"{group}/")}
    lines = differences(expected, record_group(group))
    assert not lines, "\n" + "\n".join(lines)


def test_every_recorded_key_belongs_to_a_group():
    prefixes = tuple(f"{group}/" for group in GROUPS)
    assert [key for key in RECORDED if not key.startswith(prefixes)] == []


def test_a_difference_is_told_by_its_key():
    expected = {"a/1": {"x": [1.0, 2]}, "a/2": "old"}
    nearly = {"a/1": {"x": [1.0 + 1e-12, 2]}, "a/2": "old"}
    other = {"a/1": {"x": [1.0 + 1e-6, 2]}, "a/3": "new"}
    assert differences(expected, nearly) == []
    assert [line.split(":")[0] for line in differences(expected, other)] == [
        "a/1['x'][0]",
        "a/2",
        "a/3",
    ]
