"""Passages with their references as JSON lines: the general layout.

A line is `{"passage_id": …, "lang": …, "source": …, "references": {translator: text}, "flags": {translator: note}}`.
`references` and `flags` are optional. A chunk of running text also has `previous` and `next`: its context, '' at the
beginning or end of its document. Other keys are faults, unless the corpus description lists them under `ignore`.

Each passage is a single segment with the same id. Its document is the part of the id before the last colon or, without
a colon, the name of the file. A line with an unreadable id excludes the whole file, because the line could belong to
any document in it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Reference, Segment
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.corpus.readers.unknown_keys import DESCRIBED, unknown_keys
from resources.errors import BadInput, collecting, raise_all
from resources.keys import escaped

KEYS = frozenset(["passage_id", "lang", "source", "references", "flags", "previous", "next"])
"""Keys of a line."""


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .jsonl file, or of all .jsonl files in a folder, in order of occurrence.

    Raises
    ------
    BadInput
        If the folder contains no .jsonl file.
    """
    for path in listed(description, ".jsonl"):
        yield from _file(path, description)


def _file(path: Path, description: Description) -> Iterator[Document | BadInput]:
    try:
        lines = decode(path).split("\n")  # not splitlines: JSON strings may contain U+2028 and U+0085
    except BadInput as fault:
        yield fault
        return
    passages_by_document: dict[str, list[Passage]] = {}
    faulty: set[str | None] = set()
    passage_ids: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        document = None
        try:
            record = parse(line, path, number)
            identity = _text(record, "passage_id", path, f"line {number}")
            document = identity.rpartition(":")[0] or path.stem
            if identity in passage_ids:
                raise BadInput(path, f"line {number} {identity}", "the passage occurs twice", "keep one of the lines")
            passage_ids.add(identity)
            passage = _passage(identity, record, path, number, description)
            passages_by_document.setdefault(document, []).append(passage)
        except BadInput as fault:
            faulty.add(document)
            yield from fault.faults
    if None in faulty:  # a line without an id could belong to any document of the file
        return
    if not passages_by_document and not faulty:
        yield BadInput(path, "", "contains no passages", "write its passages, or remove the file")
    for name, passages in passages_by_document.items():
        if name not in faulty:
            yield Document(name, path, tuple(passages))


def _passage(identity: str, record: dict[str, Any], path: Path, number: int, description: Description) -> Passage:
    where = f"line {number} {identity}"
    faults = unknown_keys(path, dict.fromkeys(record, where), KEYS, DESCRIBED, description.ignore)
    texts: dict[str, str] = {}
    for key in ("lang", "source", "previous", "next"):
        with collecting(faults):
            texts[key] = _text(record, key, path, where, is_context=key in ("previous", "next"))
    renderings: list[Reference] = []
    references, flags = record.get("references", {}), record.get("flags", {})
    if isinstance(references, dict) and isinstance(flags, dict):
        for translator in sorted({*references, *flags} - set(description.segmented)):
            problem, remedy = (
                "the corpus description does not name this translator", "add it there with its language and licence"
            )  # fmt: skip
            faults.append(BadInput(path, f"{where} {translator}", problem, remedy))
        for translator, flag in flags.items():
            if not isinstance(flag, str):
                problem = "the flag is not a string"
                faults.append(BadInput(path, f"{where} {translator}", problem, "write a word, or drop the flag"))
        for translator in references:
            with collecting(faults):
                text = _text(references, translator, path, where)
                renderings.append(Reference(translator, (text,), flags.get(translator)))
    else:
        problem = "`references` and `flags` must be objects keyed by translator"
        faults.append(BadInput(path, where, problem, "correct the line"))
    raise_all(faults)
    is_chunk = "previous" in record or "next" in record
    return Passage(
        escaped(identity), texts["lang"], (Segment(identity, texts["source"]),), tuple(renderings),
        previous=texts["previous"] if is_chunk else None, following=texts["next"] if is_chunk else None,
    )  # fmt: skip


def _text(record: dict[str, Any], key: str, path: Path, where: str, is_context: bool = False) -> str:
    """A text of a line; a context may be empty or missing."""
    value = record.get(key, "" if is_context else None)
    if not isinstance(value, str) or not (value.strip() or is_context):
        problem = "is missing" if value is None else "is empty" if isinstance(value, str) else "is not a string"
        raise BadInput(path, f"{where} {key}", problem, "write the text, or leave the entry out")
    return clean(value, path, f"{where} {key}").strip()
