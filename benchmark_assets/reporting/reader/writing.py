"""A reader as a folder of static files that a browser opens from the disk, for reading or for labelling blind.

Here: the files, how they hold content, and where they may be put. Not here: what a passage shows (content), which items
people label, in which order and by which guide (adjudication.annotation), what happens in the browser (reader.js).

A page from the disk may fetch nothing, but it may load scripts: so content comes as scripts that hand it to `READER`,
the index at once and the texts, in shards, when they are looked at.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotation import (
    ANSWERS,
    SentItem,
    SheetItem,
    checked_names,
    drawn_items,
    guide,
    in_order,
)
from benchmark_assets.adjudication.labels import CATEGORIES, CONFIDENCES, ERRORS, LABELS, SEVERITIES
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import named, rights_of
from benchmark_assets.reporting.reader.content import Record, shown
from resources.errors import BadInput
from resources.folders import PRIVATE, README, Kind, check_replaceable, put
from resources.warehouse import Warehouse

READER = Kind("reader", "# Variorum reader: ", "# Variorum reader, private, do not pass on: ")
_OURS = re.compile(rf"(?:{PRIVATE}/)?(?:index\.html|index\.js|reader\.css|reader\.js|texts/\d+\.js)|{README}")

SHARD = 400_000
"""Characters of JSON after which a shard ends: some dozen passages, which a browser reads in a few milliseconds."""

STATIC = Path(__file__).parent


class WrittenReader(NamedTuple):
    """Content of a folder: number of passages, number of outputs (including refusals), restricted texts of the corpus.

    A restricted text is named by its translator, or 'source'.
    """

    passages: int
    outputs: int
    restricted: list[str]


def write_reader(warehouse: Warehouse, folder: Path, corpus: str, private: bool = False) -> WrittenReader:
    """Write the reader of a corpus; the same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        Appears whole or not at all. A former reader there is replaced.
    private
        Whether restricted texts are shown, and the words of judges and annotators, who may quote them. Everything that
        holds texts then lies in a folder of its own, named as in a private export.

    Raises
    ------
    BadInput
        As `content.shown`, and for a folder that is no former reader, has files of others or cannot be written, and one
        that may be shared and would become private.
    """
    folder = folder.resolve()
    _check_place(folder, private)
    content = shown(warehouse, corpus, private)
    restricted = f"restricted texts ({', '.join(content.restricted) or 'none'})"
    quoting = "the words of judges and annotators, who may quote them"
    said = f"In it are {restricted} and" if private else f"Left out are {restricted}, outputs that repeat one, and"
    made = "".join(f"\n- scores made by {each}\n" for each in content.signatures)
    readme = f"{said} {quoting}.\n\n{len(content.passages)} passages of the benchmark with all outputs.\n{made}"
    _put(folder, corpus, private, readme, content.overview, content.passages, content.signatures)
    return WrittenReader(len(content.passages), content.outputs, content.restricted)


def write_blind(warehouse: Warehouse, folder: Path, corpus: str, annotator: str) -> SentItem:
    """Write the sample of a corpus that people label, for one of them: items, order and guide are those of `annotate`.

    Restricted texts are shown, for nobody can judge without them; where there are any, everything that quotes a text
    lies in a folder of its own. Answers stay in the browser until they are saved as a sheet that `import_labels` reads.

    Raises
    ------
    BadInput
        As `adjudication.annotation.export_items`, but a former reader is replaced.
    """
    folder = folder.resolve()
    (name,) = checked_names([annotator])
    with warehouse.exclusively():  # consistent tables
        current(warehouse, corpus)
        items = drawn_items(warehouse, corpus)
        texts = ["", *sorted({who for item in items for who in item.references})]
        rights = rights_of(warehouse, corpus, texts).filter(pl.col("restricted"), pl.col("translator").is_in(texts))
        items = in_order(items, name, audits(warehouse)[corpus].seed)
        key = pl.DataFrame({"corpus": [corpus]})
        described = warehouse.read("corpus", key, ["source_language", "target_language"]).row(0, named=True)
    restricted = named(rights["translator"])
    _check_place(folder, bool(restricted))
    index: Record = {
        "corpus": corpus, "private": bool(restricted), "annotator": name, "items": [each.item for each in items],
        "places": [each.place for each in items], "answers": list(ANSWERS), "errors": list(ERRORS),
        "words": {"label": LABELS, "error_category": CATEGORIES, "severity": SEVERITIES, "confidence": CONFIDENCES},
    }  # fmt: skip
    passages = [_blind(each, described["source_language"] or "", described["target_language"] or "") for each in items]
    warning = f"Texts that may not be passed on are in it: {', '.join(restricted)}.\n\n" if restricted else ""
    readme = (
        f"{warning}{len(items)} items for {name}. Answers are kept by this browser on this machine only: save the "
        f"labels often, and send the file back. `variorum import labels FILE` takes it in.\n"
    )
    _put(folder, f"{corpus}, items for {name}", bool(restricted), readme, index, passages)
    return SentItem(len(items), restricted)


def _blind(item: SheetItem, source_language: str, target_language: str) -> Record:
    texts = [
        ("", source_language, item.source),
        *((who, target_language, item.references[who]) for who in sorted(item.references)),
    ]
    return {
        "texts": [
            {"name": who, "language": language, "text": text, "complete": True, "drift": None, "characters": len(text)}
            for who, language, text in texts
        ],
        "language": target_language, "candidate": item.candidate,
    }  # fmt: skip


def _put(
    folder: Path, title: str, private: bool, readme: str, index: Record, passages: Iterable[Record],
    signatures: Iterable[str] = (),
) -> None:  # fmt: skip
    """Write the files. The index learns in which shard each passage is."""
    room = f"{PRIVATE}/" if private else ""
    shards = list(_shards(passages))
    index["shards"] = [number for number, shard in enumerate(shards) for _ in shard]
    page = Template((STATIC / "reader.html").read_text(encoding="utf-8"))
    filled = page.substitute(
        title=escape(f"{'PRIVATE, do not pass on: ' if private else ''}{title}"),
        guide=page_of(guide()) if "annotator" in index else "",
        made=f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in signatures)}</ul>",
        mode="blind" if "annotator" in index else "reading",
    )
    files = {
        f"{room}index.html": filled.encode(),
        f"{room}index.js": _script("index", index),
        **{f"{room}{name}": (STATIC / name).read_bytes() for name in ("reader.js", "reader.css")},
        **{f"{room}texts/{n:03}.js": _script("texts", n, shard) for n, shard in enumerate(shards)},
        README: (
            f"{READER.private if private else READER.public}{title}\n\nOpen `{room}index.html` in a browser; nothing "
            f"is loaded from any network. {readme}"
        ).encode(),
    }
    put(files, folder)


def _shards(passages: Iterable[Record]) -> Iterator[list[Record]]:
    """Passages in groups of similar size in characters."""
    group: list[Record] = []
    size = 0
    for each in passages:
        group.append(each)
        size += len(_json(each))
        if size > SHARD:
            yield group
            group, size = [], 0
    if group:
        yield group


def _script(name: str, *content: object) -> bytes:
    return f"READER.{name}({', '.join(map(_json, content))});\n".encode()


def _json(content: object) -> str:
    """JSON that is also valid JavaScript, and cannot close a script element if it is inlined into a page."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")


def page_of(text: str) -> str:
    """Convert Markdown to HTML: paragraphs, tables and lists only."""
    return "\n".join(_block(block.splitlines()) for block in text.strip().split("\n\n"))


def _block(lines: Sequence[str]) -> str:
    if lines[0].startswith("|"):
        head, _, *rows = ([_inline(cell.strip()) for cell in line.strip("|").split("|")] for line in lines)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        names = "".join(f'<th scope="col">{cell}</th>' for cell in head)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
    if lines[0].startswith("- "):
        return f"<ul>{''.join(f'<li>{_inline(line[2:])}</li>' for line in lines)}</ul>"
    return f"<p>{_inline(' '.join(lines))}</p>"


def _inline(text: str) -> str:
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)


def _check_place(folder: Path, private: bool) -> None:
    """Refuse a folder that holds anything but an earlier reader, or a public reader if this one is private."""
    if not check_replaceable(folder, READER, private):
        return
    files = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if not each.is_dir())
    if others := [file for file in files if not _OURS.fullmatch(file)]:
        raise BadInput(
            folder, others[0], "is no file of a reader, perhaps labels", "move it away, or give another folder"
        )
