"""A real `/v1/embeddings` server on this machine that answers as a test tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Answer = Callable[[dict[str, Any]], Response]


def embedding(text: str) -> list[float]:
    """A vector that tells texts apart."""
    return [float(len(text)), float(text.count("a")), 1.0]


def numbered(vectors: list[Any]) -> list[dict[str, Any]]:
    """Vectors as the protocol lists them."""
    return [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]


def reply(data: Any, status: int = 200, model: str = "tiny") -> Response:
    """A reply of the protocol; Python writes NaN as other servers do, though JSON has none."""
    content = json.dumps({"object": "list", "model": model, "data": data})
    return Response(content, status, media_type="application/json")


def good(request: dict[str, Any]) -> Response:
    """What the protocol promises."""
    return reply(numbered([embedding(text) for text in request["input"]]))


class Endpoint:
    """The server: what it was asked, under which keys, and how it answers."""

    def __init__(self) -> None:
        self.url = ""
        self.answer: Answer = good
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []

    async def embeddings(self, request: Request) -> Response:
        """Note the request and answer it."""
        self.asked.append(await request.json())
        self.keys.append(request.headers["authorization"])
        return self.answer(self.asked[-1])


@contextmanager
def serve() -> Iterator[Endpoint]:
    """Run an endpoint on a free port of 127.0.0.1 until the block ends."""
    endpoint = Endpoint()
    app = Starlette(routes=[Route("/v1/embeddings", endpoint.embeddings, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert time.monotonic() < deadline, "the endpoint did not start"
        time.sleep(0.01)
    endpoint.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.should_exit = True
        thread.join(timeout=10)
