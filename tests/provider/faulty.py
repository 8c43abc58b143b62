"""An endpoint that misbehaves by scenario, at the level of bytes: the name of the model is that of the scenario.

Here: the wire, and the requests that reached it. Not here: faults with a probability, limits and latency
(tests.provider.server), what a client should make of a fault (test_faults).
"""

import asyncio
import gzip
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

RESET = None
"""In a response: the connection is reset."""

Response = Iterator[bytes | float | None]
"""Bytes to write, seconds to wait, or RESET."""

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Request:
    """A request to a scenario, the `number`th from 0; `texts` are the passages that it asks for."""

    number: int
    texts: Mapping[str, str]
    url: str


Scenario = Callable[[Request], Response]


def response(status: int, body: bytes = b"", **headers: str) -> bytes:
    """A whole response; JSON if no `content_type` is given."""
    lines = {"content_type": "application/json", "content_length": str(len(body)), "connection": "close"} | headers
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body


def completion(content: str | None, finish: str = "stop", **fields: Any) -> bytes:
    """The body of a completion of 100 and 50 tokens."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 50}
    return json.dumps({"model": "v1", "choices": [choice], "usage": usage, **fields}, ensure_ascii=False).encode()


def translated(texts: Mapping[str, str]) -> dict[str, str]:
    """The right answer."""
    return {key: f"EN {text}" for key, text in texts.items()}


def said(texts: Mapping[str, str]) -> str:
    """The right answer as JSON."""
    return json.dumps(translated(texts), ensure_ascii=False)


def long(status: int, megabytes: int, begin: bytes = b"", **headers: str) -> Response:
    """A body of so many megabytes, written as the client reads it."""
    yield response(status, b"", content_length=str(len(begin) + megabytes * MEGABYTE), **headers) + begin
    for _ in range(megabytes):
        yield b" " * MEGABYTE


@cache
def bomb(status: int, megabytes: int) -> bytes:
    """A response of so many megabytes in a thousandth of the bytes."""
    return response(status, gzip.compress(b" " * (megabytes * MEGABYTE), 9), content_encoding="gzip")


class Faulty:
    """The running endpoint: its URL, and how many requests each scenario has had."""

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self._scenarios = scenarios
        self.url, self.requests = "", Counter[str]()
        self._stop = asyncio.Event()

    async def serve(self, ready: Callable[[], None]) -> None:
        """Answer requests until `stop` is called."""
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._loop = asyncio.get_running_loop()
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready()
        await self._stop.wait()
        server.close()

    def stop(self) -> None:
        """End `serve`, from another thread."""
        self._loop.call_soon_threadsafe(self._stop.set)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length:")[2].partition("\r\n")[0])
            request = json.loads(await reader.readexactly(size))
            name = request["model"]
            number, self.requests[name] = self.requests[name], self.requests[name] + 1
            texts = json.loads(request["messages"][-1]["content"])
            for part in self._scenarios[name](Request(number, texts, self.url)):
                if part is RESET:
                    writer.transport.abort()
                elif isinstance(part, float):
                    await asyncio.sleep(part)
                else:
                    writer.write(part)
                    await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client had enough, or the test
        finally:
            writer.close()


@contextmanager
def misbehaving(scenarios: Mapping[str, Scenario]) -> Iterator[Faulty]:
    """Run the endpoint in a thread of its own until the block ends."""
    faulty, ready = Faulty(scenarios), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(faulty.serve(ready.set)), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield faulty
    finally:
        faulty.stop()
        thread.join(10)
