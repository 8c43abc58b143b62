"""A real web server on this machine with the layouts of the sources, that answers as a test tells it to."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any


@dataclass
class Page:
    """What lies under a path; without `etag` it is a digest of the body, '' stands for none."""

    body: bytes
    kind: str = "text/plain; charset=utf-8"
    etag: str | None = None
    last_modified: str = ""

    @property
    def tag(self) -> str:
        return f'"{sha256(self.body).hexdigest()[:16]}"' if self.etag is None else self.etag


@dataclass
class Asked:
    """A request that came."""

    path: str
    headers: dict[str, str]
    at: float


@dataclass
class Site:
    """Pages by path, and answers that take the place of the next ones to a path."""

    pages: dict[str, Page] = field(default_factory=dict)
    answers: dict[str, list["Answer"]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    sent: int = 0
    at_once: int = 0
    most_at_once: int = 0
    port: int = 0
    scheme: str = "http"
    lock: Lock = field(default_factory=Lock)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def other_url(self) -> str:
        """The same server under the name of another host."""
        return f"{self.scheme}://localhost:{self.port}"

    def put(self, path: str, text: str, **properties: Any) -> Page:
        """Publish a page."""
        self.pages[path] = Page(text.encode(), **properties)
        return self.pages[path]

    def paths(self) -> list[str]:
        """Paths that were asked for, in order."""
        return [each.path for each in self.asked]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for its headers to be acknowledged
    site: Site

    def do_GET(self) -> None:
        with self.site.lock:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.site.asked.append(Asked(self.path, headers, time.monotonic()))
            self.site.at_once += 1
            self.site.most_at_once = max(self.site.most_at_once, self.site.at_once)
            answers = self.site.answers.get(self.path)
            answer = answers.pop(0) if answers else Handler.publish
        answer(self)

    def publish(self, most: int | None = None) -> None:
        """Answer as the page and the conditions say; break off after `most` bytes of the body."""
        page = self.site.pages.get(self.path)
        if page is None:
            self.reply(404, b"no such page", {"content-type": "text/plain"})
            return
        said = {"etag": page.tag, "last-modified": page.last_modified, "content-type": page.kind}
        if self.is_current(page):
            self.reply(304, b"", said)
        else:
            self.reply(200, page.body, said, most)

    def is_current(self, page: Page) -> bool:
        tag = self.headers["if-none-match"]
        if tag is not None:
            return tag == page.tag
        return bool(page.last_modified) and self.headers["if-modified-since"] == page.last_modified

    def reply(self, status: int, body: bytes, headers: dict[str, str], most: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        if status != 304 and "content-length" not in headers:
            self.send_header("content-length", str(len(body)))
        time.sleep(0.002)  # so that two requests at once would be seen
        with self.site.lock:
            self.site.at_once -= 1
            self.site.sent += len(body[:most])
        self.end_headers()
        self.wfile.write(body[:most])
        if most is not None:
            self.hang_up()

    def hang_up(self) -> None:
        """Close the connection."""
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""


Answer = Callable[[Handler], None]


def status(code: int, body: str = "", **headers: str) -> Answer:
    """Answer with a status; underscores in names of headers stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.reply(code, body.encode(), named)


def cut(most: int) -> Answer:
    """Promise the page and break off after so many bytes of its body."""
    return lambda handler: handler.publish(most)


def silence(handler: Handler) -> None:
    """Close the connection without a word."""
    handler.hang_up()


def endless(start: bytes, block: bytes, pause: float) -> Answer:
    """Send the start of a response, and then blocks with pauses between them, as long as the other side listens."""

    def answer(handler: Handler) -> None:
        with suppress(OSError):  # the other side has had enough
            handler.wfile.write(start)
            while True:
                handler.wfile.write(block)
                time.sleep(pause)
        handler.close_connection = True

    return answer


@contextmanager
def serve(certificate: Path | None = None) -> Iterator[Site]:
    """Run a site on a free port of 127.0.0.1 until the block ends; encrypted where it has a certificate."""
    site = Site()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"site": site})) as server:
        server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            site.scheme = "https"
        site.port = server.server_port
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join(10)
