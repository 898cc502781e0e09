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
from sottovoce.web.waiting import DATABASE_SECONDS, when_available


@contextmanager
def opened_shuffler(settings: ShufflerSettings, patience: float = 0.0) -> Iterator[Shuffler]:
    """Yield the shuffler of a folder, whose key must be there; a server may be running on it.

    A database that does not answer is tried again for ``patience`` seconds.
    """
    url = hop_store_url(settings.data, settings.database)
    with folder.kept_private():
        signing = load_signing_key(settings.data)
        store = when_available(lambda: open_hop_store(url), patience)
        try:
            yield Shuffler(store, settings, signing, configuration.clock)
        finally:
            store.close()


def serve(
    settings: ShufflerSettings,
    announce: Callable[[str], None] = lambda url: None,
    warned: Callable[[str], None] = lambda concern: None,
) -> None:
    """Serve until a signal says stop; then finish what is under way, and only then let go of the
    store.
    """
    server.prepare(settings, warned)
    make_signing_key(settings.data)
    patience = DATABASE_SECONDS if settings.database else 0.0
    with opened_shuffler(settings, patience) as shuffler:
        server.run(settings, lambda: create_hop(shuffler), announce)
