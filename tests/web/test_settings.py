"""Settings: what an operator may choose."""

from pathlib import Path

import pytest

from sottovoce.errors import ParameterError
from sottovoce.web.settings import Settings, from_environment


def test_what_is_given_comes_before_the_environment_and_that_before_defaults():
    environment = {
        "SOTTOVOCE_DATA": "/there",
        "SOTTOVOCE_PORT": "81",
        "SOTTOVOCE_RATE": "7",
        "SOTTOVOCE_TICK": "0.25",
    }
    made = from_environment({"port": 80, "rate": None}, environment)
    assert made == Settings(Path("/there"), port=80, rate=7, tick=0.25)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "many"),
        ("RATE", "1.5"),
        ("TICK", "soon"),
        ("PORT", "65536"),
        ("RATE", "-1"),
        ("TICK", "0"),
    ],
)
def test_an_environment_that_cannot_work_is_refused(name, value):
    with pytest.raises(ParameterError):
        from_environment({"data": Path()}, {f"SOTTOVOCE_{name}": value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", 1 << 16),
        ("rate", -1),
        ("largest_body", 1023),
        ("most_waiting", 0),
        ("session", -1),
        ("tick", -1.0),
        ("health_rate", -1),
        ("origins", "https://example.org/path"),
        ("proxies", "nonsense"),
        ("proxies", "127.0.0.1,proxy.example.org"),
        ("root_path", "sottovoce"),
        ("root_path", "/sottovoce/"),
        ("root_path", "//elsewhere"),
        ("root_path", "/a/../b"),
        ("root_path", "/a?b"),
    ],
)
def test_a_setting_that_cannot_work_is_named(name, value):
    with pytest.raises(ParameterError, match=f"`{name}` must be"):
        Settings(Path(), **{name: value})


def test_a_collector_needs_a_folder():
    with pytest.raises(ParameterError, match="folder"):
        from_environment({}, {})


@pytest.mark.parametrize("proxies", ["", "127.0.0.1", "127.0.0.1, ::1", "10.0.0.0/8", "*"])
def test_proxies_are_addresses_and_networks(proxies):
    assert Settings(Path(), proxies=proxies).proxies == proxies


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_a_server_for_this_machine_alone_needs_no_encryption(host):
    assert Settings(Path(), host=host).concerns == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "reports.example.org"])
def test_a_server_for_others_without_a_proxy_is_a_concern(host):
    assert "without encryption" in Settings(Path(), host=host).concerns[0]
    assert Settings(Path(), host=host, proxies="10.0.0.1").concerns == []
