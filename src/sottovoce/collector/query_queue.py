"""Turns for queries in SQL: a few at once, one for every token, round robin between tokens.

A query may keep a core busy for a minute.  Somebody who sends many of them waits for their own
queries, and nobody else does: when a turn is free it goes to the token that has waited longest for
one, whatever the others have in the queue.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sottovoce.web.problems import RequestError

Turn = asyncio.Future[None]


class QueryQueue:
    """Who may run a query now, and who waits.

    At most ``max_running`` queries run at once.  At most ``max_waiting`` of one token wait, and
    ``max_tokens`` tokens with them.
    """

    def __init__(self, max_running: int, max_waiting: int, max_tokens: int) -> None:
        self._max_running = max_running
        self._max_waiting = max_waiting
        self._max_tokens = max_tokens
        self._running: set[str] = set()
        self._waiting: OrderedDict[str, deque[Turn]] = OrderedDict()  # next in turn first

    @asynccontextmanager
    async def turn(self, token: str) -> AsyncIterator[None]:
        """Wait for the turn of a token, and hold it."""
        turn = self._line_up(token)
        try:
            await turn
        except asyncio.CancelledError:
            self._leave(token, turn)
            raise
        try:
            yield
        finally:
            self._end(token)

    def _line_up(self, token: str) -> Turn:
        """Return the turn of one more query; it is done when the query may run."""
        waiting = self._waiting.get(token, deque())
        if len(waiting) >= self._max_waiting:
            raise RequestError("too-many-queries", retry_after=1.0)
        if not waiting and len(self._waiting) >= self._max_tokens:
            raise RequestError("unavailable", "too many queries are waiting", retry_after=1.0)
        turn: Turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        self._waiting[token] = waiting
        self._give_turns()
        return turn

    def _give_turns(self) -> None:
        """Give free turns to the tokens that have none, in their order."""
        for token in list(self._waiting):
            if len(self._running) >= self._max_running:
                return
            if token in self._running:
                continue
            waiting = self._waiting.pop(token)
            while waiting and waiting[0].cancelled():  # given up, but not gone yet
                waiting.popleft()
            if not waiting:
                continue
            waiting.popleft().set_result(None)
            self._running.add(token)
            if waiting:
                self._waiting[token] = waiting

    def _leave(self, token: str, turn: Turn) -> None:
        """Give up a turn that was waited for, or was given at the last moment."""
        if turn.done() and not turn.cancelled():
            self._end(token)
            return
        waiting = self._waiting.get(token, deque())
        if turn in waiting:
            waiting.remove(turn)
        if not waiting:
            self._waiting.pop(token, None)

    def _end(self, token: str) -> None:
        """End the turn of a token, which goes behind all others."""
        self._running.discard(token)
        if token in self._waiting:
            self._waiting.move_to_end(token)
        self._give_turns()
