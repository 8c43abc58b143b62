"""The command that opens a file or folder: what it holds, at most three questions, an import, and the reader."""

import logging
import os
import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import sleep

import click

from benchmark_assets.cli import Interruption
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.imports import taken_in
from benchmark_assets.cli.words import PATH
from benchmark_assets.corpus.opening import Asked, Opening, opened
from benchmark_assets.reporting.cards import READERS
from benchmark_assets.reporting.reader.serving import LOCAL
from benchmark_assets.reporting.served import ServedHome
from resources import whole_files
from resources.errors import BadInput, RunFailedError
from resources.harmless import shortened

WIDTH = 100
"""Characters of a text that the terminal shows."""

UNANSWERED = (
    "interrupted at a question: nothing was written or imported, and no answer is kept. Run the same command again; "
    "with --yes, it takes the defaults"
)


@click.command(name="open")
@click.argument("place", type=PATH)
@click.option("--terminal", is_flag=True, help="Ask in the terminal, and open no browser.")
@click.option("--yes", is_flag=True, help="Answer each question with its default; implies --terminal.")
@click.option("--port", default=0, help="Port of the page; by default, any free one.")
def open_place(place: Path, terminal: bool, yes: bool, port: int) -> None:
    """Open a file or folder with a source and its translations: say what was taken for what, ask at most three
    questions, import, and open the reader.

    Takes tables (.xlsx, .ods, .csv, .tsv, .docx, .json), prose (.txt, .docx, .epub), TEI, TMX, USFM, OSIS, Sefaria, and
    clones of Perseus or SuttaCentral. The description is written beside PLACE, where you can edit it. If it exists, it
    is used as it is.
    """
    place = Path(os.path.abspath(place))
    opening = opened(place, {})
    if not (terminal or yes) and _has_browser():
        _in_browser(place, port)
        return
    if not (terminal or yes):
        click.echo("no browser found here: asking in the terminal")
    try:
        opening = _in_terminal(place, opening, yes)
    except click.Abort as abort:
        raise Interruption(UNANSWERED) from abort
    for name in _import(Deployment(), place, opening):
        click.echo(f"read {name}: `variorum reader FOLDER {name}` writes its pages; `variorum ui` serves all readers")


def _in_terminal(place: Path, opening: Opening, yes: bool) -> Opening:
    """Ask in the terminal; return what is to be imported."""
    answers: dict[str, str] = {}
    if opening.works:
        answers |= _asked(opening.asked[:1], yes)
        opening = opened(place, answers)
    for line in _lines(opening):
        click.echo(line)
    if more := _asked(opening.asked[bool(opening.works) :], yes):
        answers |= more
        opening = opened(place, answers)
    return opening


def _in_browser(place: Path, port: int) -> None:
    """Serve the page, import what is answered there, and serve the reader until Ctrl-C."""
    import uvicorn

    from benchmark_assets.automation import webserver
    from benchmark_assets.automation.opening_page import ADDRESS, OpeningPage, Progress

    host = LOCAL[0]
    with suppress(KeyboardInterrupt), webserver.listener(host, port, private=False) as listening:
        home, page = Deployment(), OpeningPage(place)
        names = webserver.hosts(host, listening, ())
        application = webserver.application(page.application(), ServedHome(home.warehouse, home.provider, False), names)
        server = uvicorn.Server(uvicorn.Config(application, log_level="warning"))
        serving = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        serving.start()
        while serving.is_alive() and not server.started:  # the socket must not be closed while the server starts
            sleep(0.02)
        url = f"http://{host}:{listening.getsockname()[1]}{ADDRESS}"
        click.echo(f"{url}    Ctrl-C ends")
        webbrowser.open(url)
        logging.getLogger("variorum").addHandler(Progress(page))
        while True:
            answers = page.chosen.get()
            try:
                corpora = _import(home, place, opened(place, answers))
                page.reader = f"{READERS}/{f'{corpora[0]}/' if len(corpora) == 1 else ''}"
                click.echo(f"reader: {url.removesuffix(ADDRESS)}{page.reader}    Ctrl-C ends")
            except (BadInput, RunFailedError) as error:
                page.failure = str(error)
                click.echo(f"{error}", err=True)
            page.progress = ""


def _import(home: Deployment, place: Path, opening: Opening) -> list[str]:
    """Write the descriptions of corpora, with empty files of corrections, unless they exist, and import them."""
    names = []
    for name, text in opening.descriptions.items():
        path = place.parent / f"{name}.yaml"
        corrections = place.parent / f"{name}.corrections.jsonl"
        if path.exists():
            click.echo(f"{path}: exists, and is used as it is")
        else:
            if not corrections.exists():
                whole_files.hand_over(corrections, "")
            whole_files.hand_over(path, text)
            click.echo(f"{path}: written; write the texts' licences into it before you pass on a page or a package")
        names.append(taken_in(home, path, accept=False))
    return names


def _has_browser() -> bool:
    """Whether a browser with windows can be opened."""
    if not (os.environ.keys() & {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} or sys.platform in ("darwin", "win32")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _asked(questions: Sequence[Asked], yes: bool) -> Mapping[str, str]:
    """The answers that differ from the defaults."""
    answers = {}
    for each in questions:
        for name, words in each.choices.items():
            click.echo(f"  {words if words.startswith(name) else f'{name}: {words}'}")
        choice = click.Choice(list(each.choices)) if each.choices else None
        answer = each.default if yes else click.prompt(each.text, each.default, type=choice, show_choices=False)
        click.echo(f"{each.text} {answer}" if yes else "", nl=yes)
        if answer != each.default:
            answers[each.key] = str(answer)
    return answers


def _lines(opening: Opening) -> Iterator[str]:
    """What was taken for what, with five texts each."""
    yield f"{opening.name}: {opening.segments} segments in {opening.passages} passages"
    for each in opening.taken:
        role = {"source": "source", "": "not read"}.get(each.role, f"translated by {each.role}")
        about = ", ".join(filter(None, [each.language, f"{each.number} texts" * bool(each.number), each.reason]))
        yield f"\n{each.name}: {role} ({about})"
        yield from (f"  {' '.join(shortened(text, WIDTH).split())}" for text in each.texts)
    yield from (f"\n{remark}" for remark in opening.remarks)
