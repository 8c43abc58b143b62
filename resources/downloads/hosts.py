"""Limits on requests to a host: one request at a time, a pause after each request, and longer pauses if the host asks
for them.

Here: when a host may receive a request. Not here: requests and responses (transfer).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Unreachable(Exception):  # noqa: N818 - a state of the server
    """The server gave no usable response, so the state of the file is unknown. The message gives the reason."""


class Hosts:
    """Tracks when each host may receive its next request: at least `pause` seconds after the end of the last
    request."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._open_at: dict[str, float] = {}
        self._closed: dict[str, str] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until a request to the host is allowed. The caller makes the request within the block.

        Raises
        ------
        Unreachable
            If `close` was called for the host.
        """
        if host in self._closed:
            raise Unreachable(self._closed[host])
        await asyncio.sleep(max(0.0, self._open_at.get(host, 0.0) - time.monotonic()))
        try:
            yield
        finally:
            self.hold(host, self.pause)

    def hold(self, host: str, seconds: float) -> None:
        """Allow no request to the host for this many seconds, or longer if an earlier call set a later time."""
        self._open_at[host] = max(self._open_at.get(host, 0.0), time.monotonic() + seconds)

    def close(self, host: str, reason: str) -> Unreachable:
        """Allow no further requests to the host; return the exception to raise."""
        self._closed[host] = reason
        return Unreachable(reason)
