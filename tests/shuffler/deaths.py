"""Where a hop can die: in what, at which of its functions, and at which of its calls."""

from sottovoce.shuffler import batch_file, fake_messages, shuffler
from sottovoce.shuffler.batch_file import BatchFiles
from sottovoce.shuffler.delivery import Delivery
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.shuffler.store.sql import SqlHopStore

POINTS = (
    (SqlHopStore, "open_round", 1),
    (OtherServer, "send_json", 1),
    (SqlHopStore, "note_key_sent", 1),
    (SqlHopStore, "keep_key_set", 1),
    (OtherServer, "send_json", 2),
    (SqlHopStore, "note_set_sent", 1),
    (SqlHopStore, "take", 1),
    (SqlHopStore, "take", 2),
    (SqlHopStore, "close_inbox", 1),
    (fake_messages.FakeMessages, "make", 1),
    (shuffler, "mix", 1),
    (batch_file, "sync", 3),
    (batch_file, "sync", 4),
    (BatchFiles, "write", 1),
    (SqlHopStore, "note_mixed", 1),
    (BatchFiles, "check", 1),
    (OtherServer, "put_bytes", 1),
    (OtherServer, "put_bytes", 2),
    (Delivery, "send", 1),
    (SqlHopStore, "note_delivered", 1),
    (batch_file, "erase_file", 1),
    (SqlHopStore, "erase", 1),
)
# Only where fakes carry tokens.
TOKEN_POINTS = (
    (SqlHopStore, "keep_fake_tokens", 1),
    (OtherServer, "send_json", 3),
    (SqlHopStore, "keep_fake_tokens", 2),
)
# Only at a hop behind another one.
CHAIN_POINTS = (
    (SqlHopStore, "take_part", 1),
    (SqlHopStore, "take_part", 2),
    (SqlHopStore, "absorb_parts", 1),
)


def arm(point, when, die, replace=setattr):
    """Call ``die`` before or after the n-th call of a function; returns how often it was called."""
    home, name, times = point
    plain, calls = getattr(home, name), []

    def dying(*given, **named):
        calls.append(1)
        number = len(calls)
        if number == times and when == "before":
            die()
        result = plain(*given, **named)
        if number == times and when == "after":
            die()
        return result

    replace(home, name, dying)
    return lambda: len(calls)


def title(point):
    return f"{point[1]} {point[2]}"
