"""Running a shuffler: its key, the store that the settings name, and the application over both."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sottovoce.shuffler.app import create_hop
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.signing_key import load_signing_key, make_signing_key
from sottovoce.shuffler.store.base import hop_store_url, open_hop_store
from sottovoce.web import folder, server
from sottovoce.web import settings as configuration


@contextmanager
def opened_shuffler(settings: ShufflerSettings) -> Iterator[Shuffler]:
    """Yield the shuffler of a folder, whose key must be there; a server may be running on it."""
    with folder.kept_private():
        signing = load_signing_key(settings.data)
        store = open_hop_store(hop_store_url(settings.data, settings.database))
        try:
            yield Shuffler(store, settings, signing, configuration.clock)
        finally:
            store.close()


def serve(
    settings: ShufflerSettings,
    told: Callable[[str], None] = lambda url: None,
    warned: Callable[[str], None] = lambda concern: None,
) -> None:
    """Serve until a signal says stop; then finish what is under way, and only then let go of the
    store.
    """
    server.prepare(settings, warned)
    make_signing_key(settings.data)
    with opened_shuffler(settings) as shuffler:
        server.run(settings, lambda: create_hop(shuffler), told)
