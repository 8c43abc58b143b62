"""Readers over HTTP, for the web server that also serves Dagster's pages.

Here: addresses, when a reader is written, and who may save corrections. Not here: its files (writing), the page of
corrections (correcting), the server (automation.webserver).

A reader lies in `readers/public/CORPUS/VERSION` in the home, or in `readers/private`. The address of a corpus and the
pages of former versions lead to the current version. The files of a version never change: a page that is open would
show texts of another version at wrong passages.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from getpass import getuser
from html import escape
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from benchmark_assets.corpus.corrections import Overtaken
from benchmark_assets.corpus.registry import current, paths
from benchmark_assets.reporting.reader import correcting
from benchmark_assets.reporting.reader.writing import STATIC, write_reader
from benchmark_assets.reporting.served import version_of
from benchmark_assets.reporting.terms import glossary
from resources.errors import BadInput
from resources.folders import room
from resources.warehouse import Warehouse

LOCAL = ("127.0.0.1", "localhost")
"""Hosts that only this machine reaches."""

NOT_STORED = {"Cache-Control": "no-cache"}
"""Headers of pages: a browser asks again each time, and so learns that there is a new version."""


def routes(warehouse: Warehouse, private: bool, read_only: bool = False) -> list[BaseRoute]:
    """Routes below the address of all readers, which ends with a slash.

    Parameters
    ----------
    private
        Whether to serve private readers, which have the restricted texts, instead of public ones.
    read_only
        Whether nobody may save corrections.
    """
    readers, editing = _Readers(warehouse, private), _Editing(warehouse, private, read_only)
    return [
        Route("/", readers.list),
        Route("/{corpus}", lambda request: RedirectResponse(f"./{request.path_params['corpus']}/")),
        Route("/{corpus}/", readers.find),
        Route("/{corpus}/corrections/shown", editing.shown),
        Route("/{corpus}/corrections/save", editing.save, methods=["POST"]),
        Route("/{corpus}/corrections/recompute", editing.recompute, methods=["POST"]),
        Route("/{corpus}/corrections/{file:path}", editing.file),
        Route(f"/{{corpus}}/{{version}}/{room(private)}", readers.page),
        Mount("/", StaticFiles(directory=readers.folder, check_dir=False)),
    ]


class _Editing:
    """The page on which corrections are made. Only a browser on this machine may save, under a local name of the
    server: such requests pass the gate only from this server's own pages."""

    def __init__(self, warehouse: Warehouse, private: bool, read_only: bool) -> None:
        self._warehouse, self._private, self._read_only = warehouse, private, read_only
        self._turn = Lock()

    def file(self, request: Request) -> Response:
        """The page and what it loads."""
        name = request.path_params["file"] or "corrections.html"
        if name not in ("corrections.html", "corrections.css", "corrections.js", "elements.js", "reader.css"):
            return PlainTextResponse(f"{name}: no such file", 404)
        if name == "corrections.html":
            page = (STATIC / name).read_text(encoding="utf-8").replace("$terms", glossary(("segment", "verbatim")))
            return HTMLResponse(page, headers=NOT_STORED)
        return FileResponse(STATIC / name, headers=NOT_STORED)

    def shown(self, request: Request) -> Response:
        """A document, as JSON, with the name of the user and whether changes may be saved."""
        corpus, where = request.path_params["corpus"], request.query_params.get("at", "")
        try:
            content = correcting.shown(self._warehouse, corpus, where, self._private)
        except BadInput as error:
            return PlainTextResponse(str(error), 404)
        may, account = self._refusal(request) is None, getuser()
        author = account if may and account != "root" else ""  # the name of no person
        return JSONResponse(content | {"may": may, "author": author}, headers=NOT_STORED)

    async def save(self, request: Request) -> Response:
        """Store changes: 409 with both versions if another editor corrected the same segment, 422 for bad input."""
        corpus = request.path_params["corpus"]
        if refusal := self._refusal(request):
            return refusal
        try:
            body = json.loads(await request.body())
            await run_in_threadpool(correcting.saved, self._warehouse, corpus, body, self._private)
        except Overtaken as fault:
            return JSONResponse({"conflicts": correcting.conflicts(fault)}, 409)
        except (BadInput, ValueError) as error:
            return PlainTextResponse(str(error), 422)
        return JSONResponse({})

    def recompute(self, request: Request) -> Response:
        """Scan the corpus and materialize its stale references, in a process of its own."""
        if refusal := self._refusal(request):
            return refusal
        if (corpus := request.path_params["corpus"]) not in paths(self._warehouse):
            return PlainTextResponse(f"{corpus}: no such corpus", 404)
        program = Path(sys.executable).with_name("variorum")
        with self._turn:
            done = subprocess.run(
                [sys.executable, program, "--quiet", "update", "--scan", "--references", corpus],
                capture_output=True,
                text=True,
            )
        if done.returncode:
            return PlainTextResponse(done.stderr.strip(), 422)
        return PlainTextResponse("the references are up to date; scores follow with `variorum update`")

    def _refusal(self, request: Request) -> Response | None:
        """Why a request may not save anything; None if it may."""
        client = request.client.host if request.client else ""
        if self._read_only or request.url.hostname not in LOCAL or client not in (*LOCAL, "::1"):
            return PlainTextResponse(
                "corrections are saved only at 127.0.0.1 or localhost, and not with --read-only", 403
            )
        if request.method == "POST" and request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return PlainTextResponse(
                "needs Content-Type: application/json, which no form of another site can send", 403
            )
        return None


class _Readers:
    """The readers of a warehouse. Starlette calls the methods in threads, so a reader that is written delays no other
    page."""

    def __init__(self, warehouse: Warehouse, private: bool) -> None:
        self.folder = warehouse.folder / "readers" / ("private" if private else "public")
        self.folder.mkdir(parents=True, exist_ok=True)  # StaticFiles requires it before there is a reader
        self._warehouse = warehouse
        self._private = private
        self._room = room(private)
        self._turn = Lock()

    def list(self, _: Request) -> Response:
        """The corpora, as links."""
        links = "".join(f'<li><a href="{quote(name)}/">{escape(name)}</a></li>' for name in self._corpora())
        page = f'<!DOCTYPE html><html lang="en"><title>Readers</title><h1>Readers</h1><ul>{links}</ul></html>'
        return HTMLResponse(page, headers=NOT_STORED)

    def find(self, request: Request) -> Response:
        """A redirection to the current version of a corpus's reader. A browser keeps the fragment."""
        version = self._written(request.path_params["corpus"])
        return version if isinstance(version, Response) else RedirectResponse(f"{version}/{self._room}")

    def page(self, request: Request) -> Response:
        """The page of a version; if it is not the current one, a redirection to the corpus."""
        corpus, asked = request.path_params["corpus"], request.path_params["version"]
        version = self._written(corpus)
        if isinstance(version, Response):
            return version
        if asked != version:
            return RedirectResponse("../../" if self._private else "../")
        return FileResponse(self.folder / corpus / version / self._room / "index.html", headers=NOT_STORED)

    def _corpora(self) -> Iterable[str]:
        return sorted(paths(self._warehouse))

    def _written(self, corpus: str) -> str | Response:
        """The current version of a corpus's reader, which is written unless it exists; or a response with an error."""
        corpora = self._corpora()
        if corpus not in corpora:
            return PlainTextResponse(f"{corpus}: no such corpus; there are: {', '.join(corpora) or 'none'}", 404)
        try:
            with self._turn:
                version = self._version(corpus)
                folder = self.folder / corpus / version
                if not folder.exists():
                    write_reader(self._warehouse, folder, corpus, self._private)
                    for other in folder.parent.glob("[!.]*"):  # hidden ones are being written by another server
                        if other != folder:
                            shutil.rmtree(other, ignore_errors=True)
        except BadInput as error:
            return PlainTextResponse(str(error), 503)
        return version

    def _version(self, corpus: str) -> str:
        """Name of the current version: a digest of everything on which a reader depends."""
        described, state = current(self._warehouse, corpus), self._warehouse.state(corpus).sort("table")
        code = [each.read_bytes() for each in sorted(STATIC.iterdir()) if each.is_file()]
        return version_of(described.model_dump_json().encode(), state.write_json().encode(), *code)
