"""Files as they should not be: every reader reads them, or names the file, what is wrong, and what to do.

A file is sound for its reader first, and then damaged in one of the ways of `DAMAGES`, or written as one of `INVENTED`.
The proof prints the table of messages: `pytest -m proof -s tests/corpus/test_hostile_files.py`.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

import polars as pl
import pytest
import xlsxwriter

from benchmark_assets.corpus.description import BY_CITATION, load
from benchmark_assets.corpus.scan import scan
from resources.errors import BadInput
from resources.tables import plain
from tests.corpus.readers.test_pages import BOOK, archive, document, paragraph
from tests.corpus.support import describe, edit

ROWS = [("1", "Mus currit per agrum.", "The mouse runs through the field."), ("2", "Sol oritur.", "The sun is rising.")]


def workbook(rows: list[tuple[str, ...]]) -> bytes:
    """The bytes of a workbook with these rows."""
    file = BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    return file.getvalue()


def table(delimiter: str) -> bytes:
    rows = [("segment_id", "source", "ann"), *ROWS]
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


def lines(column: int) -> bytes:
    return "".join(row[column] + "\n" for row in ROWS).encode()


def zipped(write: Callable[[Path], Path]) -> bytes:
    """The bytes of an archive that a function writes."""
    with TemporaryDirectory() as folder:
        return write(Path(folder) / "d").read_bytes()


def word_document() -> bytes:
    return zipped(lambda path: document(path, "".join(paragraph(row[2]) for row in ROWS)))


def book() -> bytes:
    return zipped(lambda path: archive(path, BOOK))


def bilara(column: int) -> bytes:
    return json.dumps({f"d:{row[0]}.1": row[column] for row in ROWS}).encode()


def markup(column: int) -> bytes:
    paragraphs = "".join(f'<p n="{row[0]}">{row[column]}</p>' for row in ROWS)
    head = "<teiHeader><fileDesc><titleStmt><title>d</title></titleStmt></fileDesc></teiHeader>"
    body = f"<text><body>{paragraphs}</body></text>"
    return f'<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0">{head}{body}</TEI>'.encode()


JSONL = "".join(
    json.dumps({"passage_id": f"d:{key}", "lang": "la", "source": source, "references": {"ann": text}}) + "\n"
    for key, source, text in ROWS
).encode()
UNITS = "".join(
    f'<tu tuid="{key}"><tuv xml:lang="la"><seg>{source}</seg></tuv><tuv xml:lang="en"><seg>{text}</seg></tuv></tu>'
    for key, source, text in ROWS
)
SENTENCES = "".join(
    f"# sent_id = {key}\n# text = {source}\n# text_en = {text}\n1\t{source}\t" + "_\t" * 7 + "_\n\n"
    for key, source, text in ROWS
).encode()
USFM = b"\\id JAS\n\\c 1\n\\p\n" + b"".join(f"\\v {key} {source}\n".encode() for key, source, _ in ROWS)
VERSES = "".join(f'<verse osisID="Jas.1.{key}">{source}</verse>' for key, source, _ in ROWS)
PAGE = b'<html><body><article><p>The mouse runs.</p></article><div id="sutta"><p>It runs.</p></div></body>'
CORRECTION = b'{"segment": "d:1.1", "translator": "ann", "text": "The mouse runs."}\n'
DESCRIPTION = b"""name: c
layout: table
root: .
source: {language: la, licence: x}
references: {ann: {language: en, licence: x}}
"""


class Reader(NamedTuple):
    """A reader, a sound file for it, and the sound files beside that file. `layout` is that of the corpus.

    If `prose` is a layout, the file is a continuous translation into it.
    """

    layout: str
    file: str
    content: bytes
    beside: Mapping[str, bytes] = MappingProxyType({})
    prose: str = ""


SOURCE_TABLE = {"d.tsv": b"segment_id\tsource\n1\tMus currit per agrum.\n2\tSol oritur.\n"}
BILARA = {
    "root/la/e/d_root-la-e.json": bilara(1), "translation/en/ann/d_translation-en-ann.json": bilara(2),
}  # fmt: skip
READERS = {
    "bilara source": Reader("bilara", "root/la/e/d_root-la-e.json", bilara(1), BILARA),
    "bilara translation": Reader("bilara", "translation/en/ann/d_translation-en-ann.json", bilara(2), BILARA),
    "bilara comment": Reader("bilara", "comment/en/ann/d_comment-en-ann.json", bilara(2), BILARA),
    "bilara variant": Reader("bilara", "variant/la/e/d_variant-la-e.json", bilara(1), BILARA),
    "bilara html": Reader("bilara", "html/la/e/d_html.json", b'{"d:1.1": "<h1>{}</h1>", "d:2.1": "<p>{}</p>"}', BILARA),
    "jsonl": Reader("jsonl", "d.jsonl", JSONL),
    "table tsv": Reader("table", "d.tsv", table("\t")),
    "table csv": Reader("table", "d.csv", table(";")),
    "table xlsx": Reader("table", "d.xlsx", workbook([("segment_id", "source", "ann"), *ROWS])),
    "moses source": Reader("moses", "d.la", lines(1), {"d.en": lines(2)}),
    "moses translation": Reader("moses", "d.en", lines(2), {"d.la": lines(1)}),
    "tmx": Reader("tmx", "d.tmx", f"<tmx><body>{UNITS}</body></tmx>".encode()),
    "usfm": Reader("usfm", "d.usfm", USFM),
    "osis": Reader("osis", "d.xml", f"<osis><div type='book' osisID='Jas'>{VERSES}</div></osis>".encode()),
    "sefaria": Reader("sefaria", "d.json", json.dumps({"title": "d", "text": [row[1] for row in ROWS]}).encode()),
    "cbeta": Reader("cbeta", "d.xml", markup(1)),
    "kanripo": Reader("kanripo", "d.txt", "# -*- mode: mandoku-view -*-\n1.1道可道¶\n1.2名可名¶\n".encode()),
    "html": Reader("html", "d.html", b"<p>1. Mus.</p><p>2. It currit.</p><p>3. Sol.</p>"),
    "epub prose": Reader("table", "prose/d.epub", book(), SOURCE_TABLE, "epub"),
    "docx prose": Reader("table", "prose/d.docx", word_document(), SOURCE_TABLE, "docx"),
    "conllu": Reader("conllu", "d.conllu", SENTENCES),
    "usfm prose": Reader("table", "prose/d.usfm", USFM, SOURCE_TABLE, "usfm"),
    "chunks": Reader("chunks", "d.txt", "道可道，非常道。名可名，非常名。\n無名天地之始。".encode()),
    "paragraphs": Reader("paragraphs", "d.txt", lines(1)),
    "numbered text": Reader("numbered-text", "d.txt", b"1. Mus.\n2. It currit.\n3. Sol.\n"),
    "tei source": Reader("tei", "d.xml", markup(1)),
    "tei prose": Reader("table", "prose/d.xml", markup(2), SOURCE_TABLE, "tei"),
    "text prose": Reader("table", "prose/d.txt", lines(2), SOURCE_TABLE, "text"),
    "suttacentral-html prose": Reader("table", "prose/d.html", PAGE, SOURCE_TABLE, "suttacentral-html"),
    "dhammatalks-html prose": Reader("table", "prose/d.html", PAGE, SOURCE_TABLE, "dhammatalks-html"),
    "corrections": Reader(
        "table", "corrections.jsonl", CORRECTION, SOURCE_TABLE | {"prose/d.txt": lines(2)}, prose="text"
    ),
    "description": Reader("table", "c.yaml", DESCRIPTION, {"d.tsv": table("\t")}),
}

Damage = Callable[[bytes, random.Random], bytes]


def at_random(piece: bytes) -> Damage:
    """Put a piece at a random place of a file."""

    def damaged(content: bytes, chance: random.Random) -> bytes:
        at = chance.randrange(len(content) + 1)
        return content[:at] + piece + content[at:]

    return damaged


def in_text(piece: str) -> Damage:
    """Put a piece into a text of the file."""

    def damaged(content: bytes, chance: random.Random) -> bytes:
        for word in (b"currit", b"mouse", "可".encode(), b"It"):
            content = content.replace(word, word + piece.encode("utf-8", "surrogatepass"))
        return content

    return damaged


def flipped(content: bytes, chance: random.Random) -> bytes:
    """Change eight bytes."""
    damaged = bytearray(content)
    for at in chance.sample(range(len(content)), 8):
        damaged[at] = chance.randrange(256)
    return bytes(damaged)


def shuffled(content: bytes, chance: random.Random) -> bytes:
    """Swap two stretches."""
    first, second, third = sorted(chance.sample(range(len(content)), 3))
    return content[:first] + content[second:third] + content[first:second] + content[third:]


DAMAGES: dict[str, Damage] = {
    "truncated": lambda content, chance: content[: chance.randrange(1, len(content))],
    "bytes changed": flipped,
    "stretches swapped": shuffled,
    "doubled": lambda content, chance: content * 2,
    "NUL": at_random(b"\0"),
    "stray byte": at_random(b"\xe9"),
    "half a surrogate, encoded": at_random(b"\xed\xa0\xbd"),
    "half a surrogate, escaped": at_random(rb"\ud83d"),
    "U+FFFD": in_text("\ufffd"),
    "mojibake": in_text("â€™"),
    "zero-width": in_text("\u200b\ufeff"),
    "combining accent": in_text("e\u0301"),
    "control characters": in_text("\x01\x1b\x7f"),
    "line separators": in_text("\u2028\x85\x0b\x0c"),
    "right-to-left marks": in_text("\u202e\u200f"),
    "long word": in_text("a" * 200_000),
    "mark of the byte order": lambda content, _: b"\xef\xbb\xbf" + content,
    "two marks of the byte order": lambda content, _: b"\xef\xbb\xbf\xef\xbb\xbf" + content,
    "CRLF": lambda content, _: content.replace(b"\n", b"\r\n"),
    "CR": lambda content, _: content.replace(b"\n", b"\r"),
    "UTF-16": lambda content, _: content.decode("utf-8", "replace").encode("utf-16"),
    "Latin-1": lambda content, _: content.replace(b"u", b"\xfb"),
    "quotation marks": at_random(b'"\n'),
    "delimiters": at_random(b";\t,;\t,"),
    "brackets": at_random(b"[{<"),
}

DEEP = 100_000
TEI = b"<TEI><text><body><p n='1'>%b</p></body></text></TEI>"
BOMB = b'<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)
)  # fmt: skip
INVENTED: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\n\t ",
    "zero-width only": "\u200b\u2060\ufeff".encode(),
    "deep lists": b"[" * DEEP,
    "deep objects": b'{"d:1.1": ' * DEEP + b"1" + b"}" * DEEP,
    "deep value": b'{"d:1.1": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep markup": b"<TEI><text><body>" + b"<p>" * DEEP + b"x",
    "10,000 digits": b'{"d:1.1": ' + b"9" * 10_000 + b"}",
    "duplicate keys": b'{"d:1.1": "a", "d:1.1": "b", "d:2.1": "c"}\n{"passage_id": "d:1", "passage_id": "d:2"}',
    "wrong types": b'{"d:1.1": 1, "d:2.1": null, "d:3.1": ["x"], "d:4.1": {}, "d:5.1": true, "d:6.1": 1e999}',
    "wrong types in a line": b'{"passage_id": "d:1", "lang": 5, "source": [], "references": 7, "flags": "x"}',
    "not a number": b'{"d:1.1": NaN, "d:2.1": Infinity}',
    "a number": b"7",
    "a string": b'"d:1.1"',
    "half surrogates in keys": rb'{"\ud83d": "a", "d:1.1": "\udc00", "passage_id": "\ud83d"}',
    "odd keys": b'{"": "a", ":": "b", ".": "c", "d:": "d", "..": "e", "d:1/../2.1": "f", "\xc3\xbc:1.1": "g"}',
    "entity bomb": BOMB + b"]>" + TEI % b"&j;",
    "external entity": b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + TEI % b"&x;",
    "external DTD": b'<!DOCTYPE TEI SYSTEM "http://127.0.0.1:1/x.dtd">' + TEI % b"&y;",
    "another encoding declared": b'<?xml version="1.0" encoding="ISO-8859-1"?>' + TEI % b"\xc3\xa9",
    "unclosed markup": b"<html><body><article><p>a<div><p>b",
    "ragged rows": b"segment_id\tsource\tann\n1\n2\ta\tb\tc\td\n3\te\tf\n",
    "doubled columns": b"segment_id,source,ann,source\n1,a,b,c\n",
    "unknown columns": b"segment_id,source,ann,bne\n1,a,b,c\n",
    "no columns": b"1,a,b\n2,c,d\n",
    "an archive": b"PK\x05\x06" + b"\0" * 18,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "YAML that runs code": b"name: !!python/object/apply:os.system ['true']",
    "YAML with anchors": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nname: *c",
    "YAML of the wrong kinds": b"name: 5\nlayout: []\nroot: {}\nsource: x\nchunks: {least: x}\nunknown: 1",
}  # fmt: skip


def write(folder: Path, reader: Reader) -> Path:
    """Write a corpus whose files are all sound; return its description."""
    for name, content in {**reader.beside, reader.file: reader.content}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if reader.file == "c.yaml":
        return folder / "c.yaml"
    segmented = [] if reader.layout in ("chunks", "paragraphs", *BY_CITATION) or reader.prose else ["ann"]
    path = describe(folder / "c.yaml", reader.layout, folder, segmented, edition="e")
    if reader.prose:
        terms = {"language": "en", "licence": "CC0-1.0", "layout": reader.prose, "root": "prose"}
        edit(path, {"references": {"ann": terms}})
    elif not segmented:
        edit(path, {"target": "en"})
    if reader.file == "corrections.jsonl":
        edit(path, {"corrections": reader.file})
    return path


def outcome(description: Path) -> tuple[int, list[BadInput]]:
    """Number of passages that are read, and all faults. Whatever else is raised fails the test."""
    try:
        contents = scan([load(description)])
    except BadInput as fault:
        return 0, list(fault.faults)
    return len(contents.versions), contents.faults


def hostile(name: str, chance: random.Random) -> Iterator[tuple[str, bytes | str]]:
    """For a reader, the kind of each hostile file with its bytes; or, for a link, with the path that it links to."""
    for damage, damaged in DAMAGES.items():
        yield damage, damaged(READERS[name].content, chance)
    yield from INVENTED.items()
    yield "a folder", "."
    yield "a broken link", "nowhere"
    yield "a link to itself", Path(READERS[name].file).name


def check(name: str, seed: int, folder: Path) -> list[tuple[str, str, str]]:
    """Read every hostile file of a reader; return what came of each."""
    results = []
    for kind, content in hostile(name, random.Random(seed)):
        shutil.rmtree(folder, ignore_errors=True)
        description = write(folder, READERS[name])
        file = folder / READERS[name].file
        if isinstance(content, str):
            file.unlink()
            file.symlink_to(content)
        else:
            file.write_bytes(content)
        passages, faults = outcome(description)
        assert passages or faults, (name, kind)
        for fault in faults:
            assert fault.where, (name, kind)
            assert fault.problem, (name, kind)
            assert fault.remedy, (name, kind)
            str(fault).encode()  # can be printed
            assert "\n" not in str(fault), (name, kind)
        told = str(faults[0]).replace(str(folder), "")[:150] if faults else f"read: {passages} passages"
        results.append((name, kind, told))
    return results


@pytest.mark.parametrize("name", READERS)
def test_a_sound_file_is_read(name: str, tmp_path: Path) -> None:
    passages, faults = outcome(write(tmp_path, READERS[name]))
    assert not faults
    assert passages


@pytest.mark.parametrize("name", READERS)
def test_a_hostile_file_is_read_or_named(name: str, tmp_path: Path) -> None:
    assert len(check(name, 1, tmp_path / "c")) > 50


@pytest.mark.proof
def test_what_hostile_files_are_told(tmp_path: Path, full: bool) -> None:
    """At full size, with three seeds, and with the table of messages of the first."""
    results = [
        result
        for seed in range(3 if full else 1)
        for name in (READERS if full else ["jsonl"])
        for result in check(name, seed, tmp_path / "c")
    ]
    if full:
        first = results[: len(results) // 3]
        print(plain(pl.DataFrame(first, schema=["reader", "file", "message"], orient="row")))
        print(f"{len(results)} hostile files, {len(set(first))} messages of the first {len(first)}")
