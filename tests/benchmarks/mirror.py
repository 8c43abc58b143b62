"""A web server on this machine that serves the folder of real data under the paths of the public repositories."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from resources.downloads.sources import SOURCES

MIRROR = "VARIORUM_MIRROR"
"""Environment variable with a folder of public repositories, as OWNER/REPOSITORY/COMMIT/PATH."""


@dataclass
class Mirror:
    """Folders by the beginning of the paths that they serve.

    `pages` has text files by the path under which each is served as a page of dhammatalks.org. `spoiled` has bodies
    that replace those of files, by path, and `lost` paths that are not found. `asked` has the paths of all requests.
    """

    folders: dict[str, Path]
    hidden: set[str] = field(default_factory=set)
    pages: dict[str, Path] = field(default_factory=dict)
    spoiled: dict[str, bytes] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def body(self, path: str) -> bytes | None:
        """The content of a path; None if there is no such file, or it is not as published."""
        if path in self.spoiled:
            return self.spoiled[path]
        if path in self.pages:
            return page(self.pages[path].read_text(encoding="utf-8")).encode()
        for start, folder in self.folders.items():
            file = folder / path.removeprefix(start)
            hidden = self.lost if start == "/" else self.hidden | self.lost  # a mirror has files as published
            if path.startswith(start) and path not in hidden and file.is_file():
                return file.read_bytes()
        return None


def page(text: str) -> str:
    """A text in the form of a page of dhammatalks.org: paragraphs in the element with the id `sutta`."""
    paragraphs = "\n".join(f"<p>{escape(each.strip())}</p>" for each in text.split("\n\n") if each.strip())
    return f'<!DOCTYPE html>\n<html><body><div id="sutta">\n{paragraphs}\n</div></body></html>\n'


def published(data: Path) -> Mirror:
    """The mirror of the repositories that `mirror.json` lists, and of those in the folder `MIRROR`, if there is one.

    Thanissaro's translations are those of Access to Insight, put into the form of the pages of dhammatalks.org.
    """
    folders, hidden = {}, set()
    for repository, entry in json.loads((data / "mirror.json").read_text(encoding="utf-8")).items():
        start = f"/{repository}/{entry['below']}"
        folders[start] = data / entry["folder"]
        hidden |= {start + name for name in entry["not_as_published"]}
    pages = dict[str, Path]()
    for file in (data / "accesstoinsight/text").glob("*.than.txt"):
        uid = file.name.removesuffix(".than.txt")
        if file.read_text(encoding="utf-8").strip():  # one is blank
            pages |= {f"/www.dhammatalks.org/{path}": file for path in SOURCES["dhammatalks"].paths(uid)}
    if folder := os.environ.get(MIRROR):
        folders["/"] = Path(folder)
    return Mirror(folders, hidden, pages)


@contextmanager
def serving(mirror: Mirror) -> Iterator[Mirror]:
    """Serve a mirror on a free port during the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            mirror.asked.append(self.path)
            body = mirror.body(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("content-type", "text/plain")
            self.send_header("content-length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            """Keep the tests' output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    mirror.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
