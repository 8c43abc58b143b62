"""How many calls of one model are in flight: more while it goes well, fewer when the server throttles.

Here: the adaptive limit and the pauses that a server asks for. Not here: what a call is (client).
"""

import asyncio
import time
from collections import deque

START = 8
"""Calls at a time in the beginning: small beside any provider's limit, and doubled within a few round trips."""


class Lane:
    """Admission of calls, by additive increase and multiplicative decrease as in TCP's congestion control.

    The limit doubles each time as many calls succeed as it allows, until the server throttles for the first time; then
    it is halved, and from there grows by one for as many successes as it allows. Calls that were under way when it was
    last halved do not halve it again, for they say nothing about the new limit.

    Parameters
    ----------
    most
        The limit that is never exceeded, at least 1.
    """

    def __init__(self, most: int) -> None:
        self.most, self.limit = most, min(START, most)
        self.in_flight = 0
        self._successes = 0
        self._throttled = False
        self._last_cut = self._open_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> float:
        """Wait for admission; return its time, for `throttled`. Every `enter` is followed by one `leave`."""
        while True:
            if (pause := self._open_at - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            elif self.in_flight < self.limit:
                self.in_flight += 1
                return time.monotonic()
            else:
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                try:
                    await turn
                except asyncio.CancelledError:
                    if turn.done() and not turn.cancelled():
                        self._wake()  # the place that this one was given goes to the next
                    raise

    def leave(self) -> None:
        """Give the place to the next."""
        self.in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        """A call was answered."""
        self._successes += 1
        if self._successes >= self.limit:
            self._successes = 0
            self.limit = min(self.most, self.limit + 1 if self._throttled else self.limit * 2)
            self._wake()

    def throttled(self, entered: float, pause: float) -> None:
        """The server asks for fewer calls: none is admitted for `pause` seconds, afterwards half as many."""
        now = time.monotonic()
        self._open_at = max(self._open_at, now + pause)
        if entered >= self._last_cut:
            self._throttled, self._successes, self._last_cut = True, 0, now
            self.limit = max(1, self.limit // 2)

    def _wake(self) -> None:
        free = self.limit - self.in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
