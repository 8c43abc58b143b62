"""Passages with their references as JSON lines: the general layout.

A line is `{"passage_id": …, "lang": …, "source": …, "references": {translator: text}, "flags": {translator: note}}`;
`flags` and further keys are optional. A chunk of running text also has `previous` and `next`, the text before and after
it, '' where its document begins or ends. The passage is one segment, whose id is the passage's. Its document is the
part of the id before a colon or, without one, the name of the file. A line with an unreadable id excludes the whole
file, because it could belong to any of its documents.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Reference, Segment
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.strict_json import parse
from resources.errors import BadInput
from resources.keys import check_key


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .jsonl file, or of all in a folder, in order of occurrence.

    Raises
    ------
    BadInput
        If the folder holds no .jsonl file.
    """
    for path in listed(description, ".jsonl"):
        yield from _file(path, description)


def _file(path: Path, description: Description) -> Iterator[Document | BadInput]:
    try:
        lines = decode(path).split("\n")  # not splitlines: JSON lets U+2028 and U+0085 stand in a text
    except BadInput as fault:
        yield fault
        return
    documents_read: dict[str, list[Passage]] = {}
    broken: set[str | None] = set()
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        document = None
        try:
            record = parse(line, path, number)
            identity = _text(record, "passage_id", path, f"line {number}")
            document = identity.rpartition(":")[0] or path.stem
            if identity in seen:
                raise BadInput(path, f"line {number} {identity}", "the passage occurs twice", "keep one of them")
            seen.add(identity)
            documents_read.setdefault(document, []).append(_passage(identity, record, path, number, description))
        except BadInput as fault:
            broken.add(document)
            yield fault
    if None in broken:  # a line without an id could belong to any document of the file
        return
    if not documents_read and not broken:
        yield BadInput(path, "", "holds no passage", "write its passages, or remove the file")
    for name, passages in documents_read.items():
        if name not in broken:
            yield Document(name, path, tuple(passages))


def _passage(identity: str, record: dict[str, Any], path: Path, number: int, description: Description) -> Passage:
    where = f"line {number} {identity}"
    references, flags = record.get("references", {}), record.get("flags", {})
    if not isinstance(references, dict) or not isinstance(flags, dict):
        raise BadInput(
            path, where, "`references` and `flags` are objects of translators", "see the layout's description"
        )
    if unknown := sorted({*references, *flags} - set(description.segmented)):
        raise BadInput(
            path, f"{where} {unknown[0]}", "the corpus description does not name this translator",
            "add it there with its language and licence",
        )  # fmt: skip
    for translator, flag in flags.items():
        if not isinstance(flag, str):
            raise BadInput(path, f"{where} {translator}", "the flag is no text", "write a word or leave the flag out")
    is_chunk = "previous" in record or "next" in record
    return Passage(
        id=check_key(identity, "passage", path),
        language=_text(record, "lang", path, where),
        segments=(Segment(identity, _text(record, "source", path, where)),),
        references=tuple(
            Reference(translator, (_text(references, translator, path, where),), flags.get(translator))
            for translator in references
        ),
        previous=_context(record, "previous", path, where) if is_chunk else None,
        following=_context(record, "next", path, where) if is_chunk else None,
    )


def _context(record: dict[str, Any], key: str, path: Path, where: str) -> str:
    value = record.get(key, "")
    if not isinstance(value, str):
        raise BadInput(path, f"{where} {key}", "is no text", "write the text of the context, or '' for none")
    return value.strip()


def _text(record: dict[str, Any], key: str, path: Path, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        problem = "is missing" if value is None else "is empty" if isinstance(value, str) else "is no text"
        raise BadInput(path, f"{where} {key}", problem, "write the text, or leave the entry out")
    return value.strip()
