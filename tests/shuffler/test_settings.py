"""The settings of a shuffler: those of every server, and its own."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.web.settings import read_settings


def test_settings_come_from_the_environment_too(tmp_path):
    environment = {"SOTTOVOCE_MIX_BYTES": str(1 << 22), "SOTTOVOCE_PORT": "9"}
    read = read_settings(ShufflerSettings, {"data": tmp_path, "port": 7}, environment)
    assert (read.mix_bytes, read.port, read.poll_seconds) == (1 << 22, 7, 10.0)


@pytest.mark.parametrize(
    "wrong", [{"poll_seconds": 0}, {"mix_bytes": 10}, {"mix_processes": -1}, {"port": -1}]
)
def test_a_wrong_setting_is_named(tmp_path, wrong):
    with pytest.raises(ParameterError, match=f"`{next(iter(wrong))}`"):
        ShufflerSettings(data=tmp_path, **wrong)
