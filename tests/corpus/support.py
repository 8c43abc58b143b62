"""Corpora on disk for the tests of this room, and what the readers make of them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.readers.characters import clean
from resources.errors import BadInput


def read_back(description: Path) -> tuple[list[Document], list[BadInput]]:
    """Documents and faults of the corpus of a description."""
    found = list(read(load(description)))
    return [each for each in found if isinstance(each, Document)], [
        each for each in found if isinstance(each, BadInput)
    ]


def is_text(text: str) -> bool:
    """Whether readers take a text as it is: visible, in NFC, and not misread UTF-8."""
    try:
        return clean(text, Path()) == text
    except BadInput:
        return False


def write_lines(path: Path, records: Iterable[Mapping[str, Any] | str]) -> None:
    """Write JSON lines; a string is written as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def describe(path: Path, layout: str, root: Path, translators: Iterable[str], **source: str) -> Path:
    """Write the description of a corpus of English translations."""
    content = {
        "name": path.stem,
        "layout": layout,
        "root": str(root),
        "source": {"language": "la", "licence": "CC0-1.0"} | source,
        "references": {each: {"language": "en", "licence": "CC0-1.0"} for each in translators},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def edit(path: Path, changes: Mapping[str, Any]) -> None:
    """Change or add segments of one bilara file, as an editor would."""
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | dict(changes), ensure_ascii=False), encoding="utf-8")
