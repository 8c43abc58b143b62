"""How many calls of one model are in flight: more while it goes well, fewer when the server throttles.

Here: the adaptive limit and the pauses that a server asks for. Not here: what a call is (client).
"""

import asyncio
import time
from collections import deque

START = 8
"""Calls at a time in the beginning: small beside any provider's limit, and doubled within a few round trips."""


class Lane:
    """Admission of calls, by additive increase and proportional decrease as in Data Center TCP (RFC 8257).

    After as many calls as the limit allows, the limit is set anew: it doubles as long as the server has never
    throttled; from then on it loses half of the share that was throttled, and gains the share that succeeded, as one
    call. So it halves where everything is throttled, and stands still near 5 where three calls in ten are, whatever
    the reason.

    Parameters
    ----------
    most
        The limit that is never exceeded, at least 1.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self._limit = float(min(START, most))
        self._succeeded = self._throttled = 0  # since the limit was set
        self._ever_throttled = False
        self._open_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return int(self._limit)

    async def enter(self) -> None:
        """Wait for admission. Every `enter` is followed by one `leave`."""
        try:
            while True:
                if (pause := self._open_at - time.monotonic()) > 0:
                    await asyncio.sleep(pause)
                elif self.in_flight < self.limit:
                    self.in_flight += 1
                    return
                else:
                    turn = asyncio.get_running_loop().create_future()
                    self._waiting.append(turn)
                    await turn
        except asyncio.CancelledError:
            self._wake()  # the place that this one may have been given goes to the next
            raise

    def leave(self) -> None:
        """Give the place to the next."""
        self.in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        """A call was answered."""
        self._succeeded += 1
        self._set_limit()

    def throttled(self, pause: float) -> None:
        """The server asks for fewer calls, and for none within `pause` seconds."""
        self._throttled += 1
        self._ever_throttled = True
        self._open_at = max(self._open_at, time.monotonic() + pause)
        self._set_limit()

    def _set_limit(self) -> None:
        finished = self._succeeded + self._throttled
        if finished < self.limit:
            return
        share = self._throttled / finished
        limit = self._limit * (1 - share / 2) + (1 - share) if self._ever_throttled else 2 * self._limit
        self._limit = min(float(self.most), max(1.0, limit))
        self._succeeded = self._throttled = 0
        self._wake()

    def _wake(self) -> None:
        free = self.limit - self.in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
