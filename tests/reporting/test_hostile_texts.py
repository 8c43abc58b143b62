"""Texts of others do nothing, wherever they leave a home: no script, formula, remote image or terminal code acts, and a
sheet that comes back has the texts that went out.

That a browser runs nothing: reader.test_reading, report.test_report. Files that are read: corpus.test_hostile_files.
"""

import csv
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.cli.progress import HomeLog, Shown, Terminal
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.pearmut import Plan, write_campaign
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.sheets import sheet
from benchmark_assets.reporting import cards, latex
from benchmark_assets.reporting.contents import as_csv, as_parquet
from benchmark_assets.reporting.export import export
from benchmark_assets.reporting.reader.writing import write_blind, write_reader
from benchmark_assets.reporting.report import display
from benchmark_assets.reporting.report.examples import examples_page
from benchmark_assets.reporting.report.markdown import markdown as gallery
from resources import tables
from resources.errors import BadInput
from resources.harmless import in_markdown, unguarded, visible
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.processes import here
from tests.reporting.reader.world import CORPUS, HOSTILE, MODELS, build

TERMINAL = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;b3duZWQ=\x07 \x9b31m \x08\x08\x7f back\rhome"
ATTACKS = {
    "image:1": "![seen](http://evil.example/i.png) [click](javascript:alert(1)) | [a]: http://evil.example",
    "media:1": '<img src=x onerror="window.hacked=1">',
    "frame:1": '<iframe src="http://evil.example"></iframe>',
    "formula:1": '=HYPERLINK("http://evil.example";"click")',
    "plus:1": "+1+cmd|' /C calc'!A0",
    "minus:1": "-2+3+cmd|' /C calc'!A0",
    "at:1": "@SUM(1+1)*cmd|' /C calc'!A0",
    "wide:1": "＝1+1",
    "tab:1": "\t=1+1",
    "return:1": "\r=1+1",
    "terminal:1": TERMINAL,
    "bidi:1": "\u202egpj.exe \u2066 \u2069 \u200f \u061c",
    "tags:1": "plain \U000e0001\U000e0070\U000e0061 words",
    "nul:1": "before\0after",
    "tex:1": r"\input{/etc/passwd} \write18{id} $x$ ^^5cinput %",
    "huge:1": "x" * 1_000_000,
}
"""Passages whose source and first output are these texts, beside those of the reader's tests."""

TEXTS = HOSTILE | ATTACKS
ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Characters that a terminal obeys."""

EVALUATED = re.compile(r"[=+\-@＝＋－＠\t\r]")
REMOTE = re.compile(r"\]\(\s*(?:http|javascript)|^\s*(?:>\s*)?\[[^\]]*\]:|<(?:script|img|iframe|b)\b", re.MULTILINE)
"""What Markdown would load, link to, define or take for HTML."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    own = build(tmp_path_factory.mktemp("hostile"), count=2, hostile=TEXTS, sample=100)
    with own.kept_open():
        put(own, "worked_example", *(
            {"corpus": CORPUS, "rule": "split panel", "place": n, "model": MODELS[0], "passage": f"{CORPUS}/{name}",
             "why": "split"} for n, name in enumerate(TEXTS, 1)
        ))  # fmt: skip
        yield own


class Acting(HTMLParser):
    """Collects what a page would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Notice elements and attributes that act."""
        given = dict(attributes)
        if tag in ("img", "iframe", "object", "embed") or any(name.startswith("on") for name in given):
            self.found.append(f"{tag} {given}")

    def handle_data(self, data: str) -> None:
        """Notice the attack's script as a script."""
        if self.lasttag == "script" and data.startswith("window.hacked"):
            self.found.append(data)


def html_of(text: str) -> list[str]:
    parser = Acting()
    parser.feed(text)
    return parser.found


def cells_of(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")) for cell in row]


# Exits: what each writes, and what in it would act.


def pages(stored: Warehouse, out: Path) -> list[str]:
    write_reader(stored, out, CORPUS, private=True)
    return [each for path in out.rglob("*.html") for each in html_of(path.read_text(encoding="utf-8"))]


def blind_pages(stored: Warehouse, out: Path) -> list[str]:
    write_blind(stored, out, CORPUS, '=cmd"<img src=x>')
    return [each for path in out.rglob("*.html") for each in html_of(path.read_text(encoding="utf-8"))]


def examples(stored: Warehouse, _: Path) -> list[str]:
    text = examples_page(stored, CORPUS, private=True)
    assert "window.hacked" in text
    return html_of(text)


def sheets(stored: Warehouse, out: Path) -> list[str]:
    export_items(stored, out, CORPUS, ["=cmd"])
    (text,) = [path.read_text(encoding="utf-8-sig") for path in out.rglob("items.*.csv")]
    return [cell for cell in cells_of(text) if EVALUATED.match(cell)]


def package(stored: Warehouse, out: Path) -> list[str]:
    export(stored, out, CORPUS, private=True)
    found = [each for path in out.rglob("*.md") for each in REMOTE.findall(path.read_text(encoding="utf-8"))]
    texts = [path.read_text(encoding="utf-8") for path in out.rglob("*.csv")]
    return found + [cell for text in texts for cell in cells_of(text) if re.match("[=+@\t\r]|-[^0-9]", cell)]


def dagster(stored: Warehouse, _: Path) -> list[str]:
    of_asset = {
        "reference": pl.DataFrame({"model": "", "passage": [f"{CORPUS}/{name}" for name in TEXTS]}),
        "drift_score": pl.DataFrame({"model": MODELS[0], "passage": [f"{CORPUS}/{name}" for name in TEXTS]}),
    }
    texts = [card.text for asset, rows in of_asset.items() for card in cards.cards(stored, asset, rows).values()]
    assert len(texts) == 2 * len(TEXTS)
    texts.append(tables.markdown(stored.read("model_output").select("passage", "text")))
    assert max(map(len, texts)) < 100_000
    return [found for text in texts for pattern in (REMOTE, ACTING) for found in pattern.findall(text)]


def gallery_page(stored: Warehouse, _: Path) -> list[str]:
    cells = [display.Cell(text, None) for text in TEXTS.values()]
    exhibit = display.Display("exhibit", "Words.", [display.ExhibitColumn("texts", cells, of_names=True)], None, [], [])
    text = gallery("Gallery", "Words.", [display.Part("part", [exhibit])])
    return [found for pattern in (REMOTE, ACTING) for found in pattern.findall(text)]


def terminal(stored: Warehouse, _: Path) -> list[str]:
    raw = io.StringIO()
    print(tables.plain(stored.read("model_output")), file=Shown(raw))
    assert max(map(len, raw.getvalue().splitlines())) < 10_000
    return ACTING.findall(raw.getvalue())


def messages(_: Warehouse, out: Path) -> list[str]:
    texts = [str(BadInput(text, text, text[:2000], text[:2000])) for text in TEXTS.values()]
    return [found for text in texts for found in ACTING.findall(text)]


def papers(_: Warehouse, out: Path) -> list[str]:
    texts = [latex.escaped(text[:2000]) for text in TEXTS.values()]
    return [found for text in texts for found in [*ACTING.findall(text), *re.findall(r"\\(?:input|write)", text)]]


EXITS = [
    pages, blind_pages, examples, sheets, package, dagster, gallery_page, terminal, messages, papers,
]  # fmt: skip


@pytest.mark.parametrize("leave", EXITS, ids=lambda leave: leave.__name__)
def test_no_text_acts_where_it_leaves(
    leave: Callable[[Warehouse, Path], list[str]], stored: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIORUM_PLOTS", "on")  # else there are no cards
    assert leave(stored, tmp_path / "out") == []


# What comes back, and what programs read, are the texts themselves.


def test_a_sheet_that_comes_back_has_the_texts_that_went_out(stored: Warehouse, tmp_path: Path) -> None:
    export_items(stored, tmp_path / "out", CORPUS, ["=cmd"])
    (file,) = (tmp_path / "out").rglob("items.*.csv")
    header, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8-sig"), newline=""))
    answers = {"label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "notes": "=1+1"}
    filled = [[answers.get(name, cell) for name, cell in zip(header, row, strict=True)] for row in rows]
    back = tmp_path / "back.csv"
    back.write_bytes(sheet(header, [[unguarded(cell) for cell in row] for row in filled]))
    (counts,) = import_labels(stored, [back])
    assert counts.taken == len({row[0] for row in rows})
    stored_notes = stored.read("imported_label")["notes"]
    assert set(stored_notes) == {"=1+1"}


def test_label_studio_gets_the_texts_as_data(stored: Warehouse, tmp_path: Path) -> None:
    export_items(stored, tmp_path / "out", CORPUS, ["mori"])
    (file,) = (tmp_path / "out").rglob("tasks.mori.json")
    shown = {task["data"]["candidate"] for task in json.loads(file.read_text(encoding="utf-8"))}
    assert {*TEXTS.values()} <= shown
    (config,) = (tmp_path / "out").rglob("labeling-config.xml")
    assert {each.tag for each in ElementTree.parse(config).iter()} >= {"View", "Text", "Header"}
    assert "HyperText" not in config.read_text(encoding="utf-8")


def test_pearmut_takes_no_text_for_html(stored: Warehouse, tmp_path: Path) -> None:
    """Pearmut 1.1.6 shows a text that begins with one of four elements as HTML."""
    write_campaign(stored, tmp_path / "campaign.json", CORPUS, ["mori"], Plan())
    content = json.loads((tmp_path / "campaign.json").read_text(encoding="utf-8"))
    segments = [segment for task in content["data"] for document in task for segment in document]
    texts = [text for segment in segments for text in (segment["src"], *segment["tgt"].values())]
    assert not [text for text in texts if text.startswith(("<audio ", "<video ", "<img ", "<iframe "))]
    squeezed = {"".join(text.split()): len(text) for text in texts}
    for text in TEXTS.values():
        assert squeezed["".join(text.split())] == len(text)  # so that places of errors are right


def test_a_package_has_the_texts_themselves_but_for_an_apostrophe_in_csv() -> None:
    texts = pl.DataFrame({"text": [*TEXTS.values()], "number": [-1.5] * len(TEXTS)})
    assert pl.read_parquet(as_parquet(texts)).equals(texts)
    written = cells_of(as_csv(texts).decode())
    assert written[:2] == ["text", "number"]
    assert written[3::2] == ["-1.5"] * len(TEXTS)
    for cell, text in zip(written[2::2], TEXTS.values(), strict=True):
        assert cell in (text, f"'{text}")
        assert not EVALUATED.match(cell)


@given(st.text(st.characters(codec="utf-8")))
def test_what_is_shown_has_no_character_that_acts_and_loses_none_that_does_not(text: str) -> None:
    assert not ACTING.search(visible(text))
    assert len(visible(text)) >= len(text)
    assert visible(visible(text)) == visible(text)
    if text.isprintable():
        assert visible(text) == text
    assert not REMOTE.search(f"x {in_markdown(text)}")


def test_logs_and_progress_show_what_a_terminal_would_obey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARIORUM_HOME", str(tmp_path))
    printed = io.StringIO()
    terminal, log = Terminal(), HomeLog()
    terminal.setStream(printed)
    record = logging.LogRecord("variorum.x", logging.WARNING, "", 0, "endpoint says %s", (TERMINAL,), None)
    for handler in (terminal, log):
        handler.emit(record)
        handler.close()
    for text in (printed.getvalue(), (tmp_path / "logs/variorum.log").read_text(encoding="utf-8")):
        assert r"\x1b]0;owned\x07" in text
        assert not ACTING.search(text)


def test_a_command_prints_what_a_terminal_would_obey(tmp_path: Path) -> None:
    done = here(tmp_path / "home", "trace", TERMINAL, "\u202etiny@1", code=1)
    assert r"\x1b]0;owned\x07" in done.output
    assert not ACTING.search(done.output)
