"""Manners towards hosts: one request at a time, a pause between two, and none to one that asks to be left alone.

Here: when a host may be asked. Not here: what is asked, and what follows from its answer (transfer).
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_WAIT = 300.0
"""Seconds that a host may ask to wait; one that asks for more is left alone until the next fetch."""


class Unreachable(Exception):  # noqa: N818 - it says what the server is
    """The server gave no usable answer: nothing is known about the file. The message says why."""


class Hosts:
    """When each host may be asked again. For one thread.

    Parameters
    ----------
    pause
        Seconds from the end of one request to a host to the beginning of the next.
    """

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._open_at: dict[str, float] = {}
        self._closed: dict[str, str] = {}

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until a request to the host is allowed; the block is the request.

        Raises
        ------
        Unreachable
            Where the host was closed.
        """
        if host in self._closed:
            raise Unreachable(self._closed[host])
        time.sleep(max(0.0, self._open_at.get(host, 0.0) - time.monotonic()))
        try:
            yield
        finally:
            self.hold(host, self.pause)

    def hold(self, host: str, seconds: float) -> None:
        """Ask nothing of the host for so long, or for longer where that was said before."""
        self._open_at[host] = max(self._open_at.get(host, 0.0), time.monotonic() + seconds)

    def obey(self, host: str, seconds: float) -> None:
        """Ask nothing of the host for as long as it says.

        Raises
        ------
        Unreachable
            Where that is longer than `LONGEST_WAIT`; the host is closed.
        """
        if seconds > LONGEST_WAIT:
            raise self.close(host, f"{host} asks to be left alone for {seconds:.0f} s")
        self.hold(host, seconds)

    def close(self, host: str, reason: str) -> Unreachable:
        """Ask nothing more of the host; return what to raise."""
        self._closed[host] = reason
        return Unreachable(reason)
