"""The page of `variorum open`: what was taken for what, questions as controls of a form, and a button that imports.

A person answers on the page; the command that serves it imports, and the page leads to the reader. Here: the page and
its addresses. Not here: what files contain (corpus.opening), importing (cli.opening), the gate and readers (webserver).
"""

import logging
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from queue import SimpleQueue

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from benchmark_assets.corpus.opening import Asked, Opening, Taken, opened
from benchmark_assets.reporting.cards import READERS
from resources.errors import BadInput
from resources.harmless import shortened

ADDRESS = "/open/"
NOT_STORED = {"Cache-Control": "no-store"}
LONGEST = 400
"""Characters that are shown of a text."""

TEMPLATE = (Path(__file__).parent / "pages" / "opening.html").read_text(encoding="utf-8")
STYLE = (Path(__file__).parents[1] / "reporting" / "report" / "style.css").read_text(encoding="utf-8")


class OpeningPage:
    """The page of one file or folder. `chosen` gets the answers with which it is to be imported.

    Attributes
    ----------
    progress
        What is being done with the answers; '' before and after.
    reader
        The address of the reader, once everything is imported.
    failure
        Why the last import failed.
    """

    def __init__(self, place: Path) -> None:
        self.chosen: SimpleQueue[Mapping[str, str]] = SimpleQueue()
        self.progress = self.failure = self.reader = ""
        self._place = place

    def application(self) -> Starlette:
        """The addresses of the page. Starlette calls them in threads."""
        return Starlette(
            routes=[
                Route(ADDRESS, self._show),
                Route(f"{ADDRESS}import", self._import, methods=["POST"]),
                Route(f"{ADDRESS}progress", self._state),
            ]
        )

    def _show(self, request: Request) -> Response:
        """What the files were taken for, with the answers in the address."""
        if self.progress:
            return _page(self._place.name, f'<p id="progress" role="status">{escape(self.progress)}</p>')
        answers = _answers(request.query_params)
        try:
            opening = opened(self._place, answers)
        except BadInput as fault:
            back = f'<p><a href="{ADDRESS}">Begin again</a></p>' if answers else ""
            return _page(self._place.name, f'<p class="findings" role="alert">{escape(str(fault))}</p>{back}', 422)
        return _page(self._place.name, "".join(_body(opening, answers, self.failure)))

    async def _import(self, request: Request) -> Response:
        """Hand the answers over; the page then shows what is being done."""
        answers = _answers(QueryParams(await request.body()))
        if not self.progress:
            self.progress, self.reader, self.failure = "Reading the files", "", ""
            self.chosen.put(answers)
        return RedirectResponse(ADDRESS, 303)

    def _state(self, _: Request) -> Response:
        """What is being done, and where the reader is once it is done."""
        return JSONResponse({"progress": self.progress, "reader": self.reader}, headers=NOT_STORED)


class Progress(logging.Handler):
    """Shows on a page what is logged while something is imported."""

    def __init__(self, page: OpeningPage) -> None:
        super().__init__(logging.INFO)
        self._page = page

    def emit(self, record: logging.LogRecord) -> None:
        """Replace the message."""
        if self._page.progress:
            self._page.progress = record.getMessage().partition("\n")[0]


def _answers(given: QueryParams) -> dict[str, str]:
    """The answers in an address or a form; empty ones are left out."""
    return {key: value.strip() for key, value in given.items() if value.strip()}


def _page(name: str, body: str, code: int = 200) -> Response:
    parts = {"name": escape(name), "style": STYLE, "body": body, "address": ADDRESS, "readers": f"{READERS}/"}
    page = TEMPLATE
    for key, part in parts.items():
        page = page.replace(f"{{{{{key}}}}}", part)
    return HTMLResponse(page, code, NOT_STORED)


def _body(opening: Opening, answers: Mapping[str, str], failure: str) -> Iterator[str]:
    """The form with the questions, and a table for each text."""
    if failure:
        yield f'<p class="findings" role="alert">The import failed. {escape(failure)}</p>'
    yield f"<p>{opening.segments:,} segments in {opening.passages:,} passages were found. Nothing is imported yet.</p>"
    yield f'<form id="questions" method="get" action="{ADDRESS}">'
    yield f"<h2>Questions</h2>{''.join(_control(each, answers) for each in opening.asked)}" if opening.asked else ""
    yield '<p class="actions">'
    yield '<button type="submit">Look again with these answers</button>' if opening.asked else ""
    yield f'<button class="main" type="submit" formmethod="post" formaction="{ADDRESS}import">Import and read</button>'
    yield "</p></form><h2>What was taken for what</h2>"
    yield from (_taken(each) for each in opening.taken if each.role)
    if unread := [each for each in opening.taken if not each.role]:
        yield f"<h2>Not read as text</h2>{''.join(map(_taken, unread))}"
    if opening.remarks:
        yield f"<h2>Remarks</h2><ul>{''.join(f'<li>{escape(each)}</li>' for each in opening.remarks)}</ul>"


def _control(asked: Asked, answers: Mapping[str, str]) -> str:
    """A question as a control of a form, with its default or its answer."""
    value, key = answers.get(asked.key, asked.default), escape(asked.key)
    if not asked.choices:
        return f'<label>{escape(asked.text)} <input name="{key}" value="{escape(value)}"></label>'
    options = "".join(
        f'<option value="{escape(name)}"{" selected" * (name == value)}>{escape(words)}</option>'
        for name, words in asked.choices.items()
    )
    return f'<label>{escape(asked.text)} <select name="{key}">{options}</select></label>'


def _taken(taken: Taken) -> str:
    """What a column or file was taken for, with its first texts."""
    language = "" if taken.language in ("", "und") else f' lang="{escape(taken.language)}"'
    role = {"source": "the source", "": "not read"}.get(taken.role, f"translated by {taken.role}")
    about = ", ".join(filter(None, [taken.language, f"{taken.number:,} texts" * bool(taken.number), taken.reason]))
    items = "".join(f"<li>{escape(shortened(text, LONGEST))}</li>" for text in taken.texts)
    texts = f'<ol{language} dir="auto">{items}</ol>' if items else ""
    return f"<section><h3>{escape(taken.name)}: {escape(role)}</h3><p>{escape(about)}</p>{texts}</section>"
