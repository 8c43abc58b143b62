"""Adaptive concurrency per model: more calls in flight while they succeed, fewer when the server throttles.

Here: the limit, and the pauses that a server requests. Not here: calls (client).
"""

import asyncio
import time
from collections import deque

START = 8
"""Initial limit: lower than any provider's limit, and doubled within a few round trips."""


class Lane:
    """Admission of calls, with additive increase and proportional decrease as in Data Center TCP (RFC 8257).

    The limit is updated each time that `limit` calls have finished. It doubles until the server first throttles. From
    then on, with s the throttled share of the calls, limit = limit * (1 - s / 2) + (1 - s). So the limit halves if all
    calls are throttled. It settles near 5 if 30% of the calls are throttled whatever the limit is.

    Parameters
    ----------
    most
        Upper bound of the limit, at least 1.
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
        """Number of calls that may be in flight now."""
        return int(self._limit)

    async def enter(self) -> None:
        """Wait for admission. Every `enter` must be followed by one `leave`."""
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
            self._wake()  # pass the place on, if this caller has just received it
            raise

    def leave(self) -> None:
        """Release the place of a finished call to the next caller."""
        self.in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        """Record a successful call."""
        self._succeeded += 1
        self._set_limit()

    def throttled(self, pause: float) -> None:
        """Record a throttled call; admit no call for `pause` seconds."""
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
