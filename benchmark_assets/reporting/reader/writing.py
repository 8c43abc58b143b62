"""Readers: folders of static files for a browser, to read a corpus or to label a corpus's sample blind.

Here: files and folders. Not here: content of the passages (content), items and guide for annotators
(people.sample), code that runs in the browser (reader.js).

A page that is opened from disk cannot fetch data, but it can load scripts. Therefore, content is written as scripts
that pass it to `READER`. The index is loaded with the page; texts are loaded in shards, on demand.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS
from benchmark_assets.people.controls import record_controls
from benchmark_assets.people.form import Choice
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.sample import SentItem, drawn, fitted
from benchmark_assets.reporting.reader.content import Record, shown
from benchmark_assets.reporting.terms import LABELING, TERMS, glossary
from resources.errors import BadInput
from resources.folders import PRIVATE, README, Kind, check_replaceable, put, room
from resources.warehouse import Warehouse

READER = Kind("reader", "# Variorum reader: ", "# Variorum reader, private, do not pass on: ")
_OURS = re.compile(rf"(?:{PRIVATE}/)?(?:index\.html|reader\.css|(?:elements|index|reader)\.js|texts/\d+\.js)|{README}")

SHARD = 400_000
"""Number of characters of JSON after which a shard ends: a few dozen passages, parsed in a few milliseconds."""

STATIC = Path(__file__).parent


class WrittenReader(NamedTuple):
    """Summary of a written reader: numbers of passages and of outputs (including refusals), and restricted texts.

    `restricted` has the translator's name for each restricted reference, and 'source' for a restricted source.
    `withheld` is the number of outputs that are reduced to their length because they copy a restricted text.
    """

    passages: int
    outputs: int
    restricted: list[str]
    withheld: int


def write_reader(warehouse: Warehouse, folder: Path, corpus: str, private: bool = False) -> WrittenReader:
    """Write the reader of a corpus. The same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        Written completely or not at all. An earlier reader is replaced.
    private
        Whether to include restricted texts, and free text by judges and annotators, which may quote them. If so, all
        files with texts are in the subfolder `PRIVATE`.

    Raises
    ------
    BadInput
        As `content.shown`; also if the folder cannot be written or contains anything other than an earlier reader, or
        if a private reader would replace a public one.
    """
    folder = folder.resolve()
    _check_place(folder, private)
    content = shown(warehouse, corpus, private)
    copies = "" if private else f" ({content.withheld})"
    named_texts = ", ".join(content.restricted) or "none"
    restricted = f"restricted texts ({named_texts}), outputs that copy a restricted text{copies}"
    rights = f"{'Includes' if private else 'Leaves out'} {restricted}, and free text by judges and annotators."
    methods = "".join(f"\n- scores: {signature}\n" for signature in content.signatures)
    readme = f"{rights}\n\n{len(content.passages)} passages of the benchmark with all outputs.\n{methods}"
    _put(folder, corpus, private, readme, content.overview, content.passages, content.signatures, content.worth)
    return WrittenReader(len(content.passages), content.outputs, content.restricted, content.withheld)


def write_blind(warehouse: Warehouse, folder: Path, corpus: str, annotator: str) -> SentItem:
    """Write a page on which an annotator labels the sample of a corpus.

    Items, their order and the guide are as in `people.sample.export_items`. Restricted texts are included,
    because annotators need them. If the sample has restricted texts, all files with texts are in the subfolder
    `PRIVATE`. The browser keeps the answers until the annotator saves them as a spreadsheet, which `import_labels`
    reads.

    Raises
    ------
    BadInput
        As `people.sample.export_items`, except that an earlier reader is replaced without an error.
    """
    folder = folder.resolve()
    with warehouse.consistently():
        sample, form = drawn(warehouse, corpus, [annotator]), fitted(warehouse, corpus)
        ((name, groups),) = sample.lists.items()
        items, restricted = [item for (item,) in groups], sample.restricted
        key = pl.DataFrame({"corpus": [corpus]})
        described = warehouse.read("corpus", key, ["source_language", "target_language"]).row(0, named=True)
    _check_place(folder, bool(restricted))
    index: Record = {
        "corpus": corpus, "private": bool(restricted), "annotator": name, "items": [item.item for item in items],
        "places": [item.place for item in items], "answers": form.columns, "errors": list(ERRORS),
        "words": {field.name: list(field.words) for field in form.fields if isinstance(field, Choice)},
    }  # fmt: skip
    passages = [_blind(item, described["source_language"] or "", described["target_language"] or "") for item in items]
    warning = f"Includes restricted texts ({', '.join(restricted)}): do not pass it on.\n\n" if restricted else ""
    readme = (
        f"{warning}{len(items)} items for {name}. Only this browser on this machine keeps the answers: save the labels "
        "often, and send back the saved file. `variorum import labels FILE` imports it.\n"
    )
    _put(folder, f"{corpus}, items for {name}", bool(restricted), readme, index, passages, guide=as_html(form.guide))
    record_controls(warehouse, corpus, sample.controls)
    return sample.sent


def _blind(item: SheetItem, source_language: str, target_language: str) -> Record:
    """Record of an item: source, references and the candidate, without its model."""
    texts = [("", source_language, item.source)]
    texts += [(translator, target_language, item.references[translator]) for translator in sorted(item.references)]
    return {
        "texts": [
            {"name": name, "language": language, "text": text, "complete": True, "drift": None, "characters": len(text)}
            for name, language, text in texts
        ],
        "language": target_language, "candidate": item.candidate,
    }  # fmt: skip


def _listed(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _put(
    folder: Path, title: str, private: bool, readme: str, index: Record, passages: Iterable[Record],
    signatures: Sequence[str] = (), worth: Mapping[str, str] = MappingProxyType({}), guide: str = "",
) -> None:  # fmt: skip
    """Write the files of a page. Adds `shards` to `index`: for each passage, the number of the shard that contains
    it."""
    shards = list(_shards(passages))
    index["shards"] = [number for number, shard in enumerate(shards) for _ in shard]
    lines = [f"{label}: {words}" for label, words in worth.items()]
    page = Template((STATIC / "reader.html").read_text(encoding="utf-8"))
    filled = page.substitute(
        title=escape(f"{'PRIVATE, do not pass on: ' if private else ''}{title}"),
        guide=guide,
        made="<p>What they are worth:</p>".join(map(_listed, (signatures, lines))) if signatures else "",
        terms=glossary(LABELING if "annotator" in index else TERMS),
        mode="blind" if "annotator" in index else "reading",
    )
    place = room(private)
    files = {
        f"{place}index.html": filled.encode(),
        f"{place}index.js": _script("index", index),
        **{f"{place}{name}": (STATIC / name).read_bytes() for name in ("elements.js", "reader.js", "reader.css")},
        **{f"{place}texts/{n:03}.js": _script("texts", n, shard) for n, shard in enumerate(shards)},
        README: (
            f"{READER.private if private else READER.public}{title}\n\nOpen `{place}index.html` in a browser; the page "
            f"uses no network. {readme}"
        ).encode(),
    }
    put(files, folder)


def as_html(guide: str) -> str:
    """A guide, Markdown, as HTML; HTML in it is escaped."""
    from markdown_it import MarkdownIt

    html: str = MarkdownIt("js-default", {"linkify": False}).render(guide)
    return html


def _shards(passages: Iterable[Record]) -> Iterator[list[Record]]:
    """Passages in groups of about `SHARD` characters."""
    group: list[Record] = []
    size = 0
    for passage in passages:
        group.append(passage)
        size += len(_json(passage))
        if size > SHARD:
            yield group
            group, size = [], 0
    if group:
        yield group


def _script(name: str, *content: object) -> bytes:
    return f"READER.{name}({', '.join(map(_json, content))});\n".encode()


def _json(content: object) -> str:
    """JSON that is valid JavaScript. It contains no `<`, so it cannot end a script element."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")


def _check_place(folder: Path, private: bool) -> None:
    """Raise BadInput unless the folder is vacant or may be replaced (see `write_reader`)."""
    if not check_replaceable(folder, READER, private):
        return
    files = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if not each.is_dir())
    if others := [file for file in files if not _OURS.fullmatch(file)]:
        problem = "does not belong to the reader; it may contain labels"
        raise BadInput(folder, others[0], problem, "move it away, or name another folder")
