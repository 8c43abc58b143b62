"""A corpus on disk one of whose translations is continuous."""

from pathlib import Path

from tests.corpus.support import edit, write_lines
from tests.support import SOURCES, TRANSLATIONS, write_corpus

DORA = {
    "doc1": "1. A mouse hurries by. The cat sits down.\n\n2. The sun comes up.\n",
    "doc2": "1. He says nothing that is new.\n",
}
"""What Dora wrote; she numbered her paragraphs."""


def write_with_prose(folder: Path, name: str = "tiny") -> Path:
    """Write the small corpus with Ann's translation in segments and Dora's in prose; return its description."""
    path = write_corpus(folder, SOURCES, {"ann": TRANSLATIONS["ann"]}, name)
    for document in DORA:
        write_prose(path, document, DORA[document])
    terms = {"language": "en", "licence": "CC0-1.0"}
    prose = {"layout": "text", "root": "prose", "files": "{document}.txt", "numbering": r"\d+\."}
    edit(path, {"references": {"ann": terms, "dora": terms | prose}})
    return path


def write_prose(description: Path, document: str, text: str) -> Path:
    """Write what Dora wrote of a document."""
    path = description.parent / "prose" / f"{document}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def correct(description: Path, *lines: dict[str, object] | str) -> Path:
    """Write a file of corrections and name it in the description."""
    path = description.parent / "corrections.jsonl"
    write_lines(path, lines)
    edit(description, {"corrections": path.name})
    return path


def correction(segment: str, text: str | None, translator: str = "dora") -> dict[str, object]:
    """A line of a file of corrections."""
    return {"segment": segment, "translator": translator, "text": text}
