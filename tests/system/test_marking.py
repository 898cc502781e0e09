"""A collector cannot mark devices by keys of its own, as long as one hop is honest."""

from system.marking import PEOPLE, mark_devices


def test_a_key_for_every_device_links_no_message():
    """No device seals for a key that the honest hop has not signed."""
    assert mark_devices() == (0, 0)


def test_devices_answer_a_collector_that_shows_everybody_the_same_keys():
    assert mark_devices(marks=False) == (PEOPLE, 0)


def test_a_device_that_believes_single_signatures_is_linked(monkeypatch):
    """A broken twin, and what devices did before hops signed all keys as one set."""
    monkeypatch.setattr("sottovoce.wire.key_set.KeySet.verify_all", lambda *given: None)
    assert mark_devices() == (PEOPLE, PEOPLE)
