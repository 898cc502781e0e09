"""A collector with a mistake is found out, and one without it is not."""

import pytest

from system.twins import TWINS, is_found_out, run_sound, run_twin


@pytest.mark.parametrize("name", TWINS)
def test_a_collector_with_a_mistake_is_found_out(tmp_path, name):
    result = run_twin(name, tmp_path / "data", 2)
    assert is_found_out(name, result), result.findings


@pytest.mark.papers  # every day the crash tests are such trials of a collector without a mistake
@pytest.mark.parametrize("name", ["seals one page", "tests last", "does not sync files"])
def test_a_collector_without_the_mistake_passes_the_same_trial(tmp_path, name):
    assert run_sound(name, tmp_path / "data", 2).findings == []
