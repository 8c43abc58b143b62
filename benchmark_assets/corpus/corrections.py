"""Manual alignments: a file in which an editor specifies the text of a segment in a continuous translation.

The file has JSON lines, `{"segment": id, "translator": name, "text": …}`; a null text means that the translator left
the segment out. Corrected segments are not aligned automatically, but are verified like all others. Not here:
corrections of segmented references, which are made in the translators' own files. A line `{"segment": id, "translator":
name, "right": true}` says that a doubted pair of a segmented reference is right; with the id of a document in place of
a segment's, all pairs of the document are.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.corpus.readers.unknown_keys import FIXED, unknown_keys
from resources.errors import BadInput, collecting, one_of, raise_all

Corrections = Mapping[tuple[str, str], str | None]
"""Texts by segment id and translator."""

KEYS = frozenset(["segment", "translator", "text"])
"""Keys of a line."""

RIGHT = "right"
"""Key that replaces the text in a line about a pair that is right."""


def load(description: Description) -> Corrections:
    """The corrections of a corpus; empty if its description names no file of corrections.

    Raises
    ------
    BadInput
        If the file cannot be read, a line is malformed, a translator has no continuous translation in the corpus, or a
        segment is corrected twice for the same translator. All faults are raised together.
    """
    path = description.corrections
    if path is None:
        return {}
    corrections: dict[tuple[str, str], str | None] = {}
    faults: list[BadInput] = []
    for number, line in enumerate(decode(path).split("\n"), start=1):
        with collecting(faults):
            if line.strip() and RIGHT not in parse(line, path, number):
                key, text = _correction(description, line, path, number)
                if key in corrections:
                    where = f"line {number} {key[0]}"
                    raise BadInput(path, where, "the segment is corrected twice", "keep one of the lines")
                corrections[key] = text
    raise_all(faults)
    return corrections


def right(description: Description) -> frozenset[tuple[str, str]]:
    """Segments or documents, and translators, whose pairs a person calls right.

    Raises
    ------
    BadInput
        If a line has further keys, another value than true, or a translator without a segmented reference.
    """
    path, said = description.corrections, set()
    if path is None:
        return frozenset()
    for number, line in enumerate(decode(path).split("\n"), start=1):
        record = parse(line, path, number) if line.strip() else {}
        if RIGHT not in record:
            continue
        key = (str(record.get("segment")), str(record.get("translator")))
        if record != {"segment": key[0], "translator": key[1], RIGHT: True} or key[1] not in description.references:
            remedy = f"write the id of a segment or document, one of {', '.join(description.references)}, and true"
            raise BadInput(path, f"line {number}", "does not say which pair is right", remedy)
        said.add(key)
    return frozenset(said)


def _correction(description: Description, line: str, path: Path, number: int) -> tuple[tuple[str, str], str | None]:
    """The segment, translator and text of a line; raises BadInput."""
    record, where = parse(line, path, number), f"line {number}"
    raise_all(unknown_keys(path, dict.fromkeys(record, where), KEYS, FIXED))
    if record.keys() != KEYS or not all(isinstance(record[k], str) for k in ("segment", "translator")):
        raise BadInput(path, where, "needs exactly the keys segment, translator and text", "write these three keys")
    text = record["text"]
    if not (text is None or (isinstance(text, str) and text.strip())):
        remedy = "write the text, or null if the translator left the segment out"
        raise BadInput(path, f"{where} text", "is neither a text nor null", remedy)
    key = (record["segment"], record["translator"])
    if key[1] not in description.continuous:
        remedy = f"name {one_of(sorted(description.continuous))}, or edit the translator's own files"
        problem = "this translator has no continuous translation in the corpus"
        raise BadInput(path, f"{where} {key[1]}", problem, remedy)
    return key, clean(text, path, f"{where} text").strip() if text else None


def check(
    description: Description, corrections: Corrections, right: Iterable[tuple[str, str]], documents: list[Document]
) -> None:
    """Check that every correction names an existing segment, and a translator who translated the segment's document.

    What `right` names must be a segment or a document.

    Raises
    ------
    BadInput
        For all lines that fail the check.
    """
    translators = {
        segment.id: {prose.translator for prose in document.prose}
        for document in documents
        for passage in document.passages
        for segment in passage.segments
    }
    faults = []
    for segment, translator in sorted(corrections):
        remedy = "correct the id or the translator, or drop the line"
        if segment not in translators:
            faults.append(BadInput(description.corrections, segment, "the corpus has no such segment", remedy))
        elif translator not in translators[segment]:
            problem = f"{translator} has no translation of this segment's document"
            faults.append(BadInput(description.corrections, segment, problem, remedy))
    first = {passage.id: passage.segments[0].id for document in documents for passage in document.passages}
    for id in sorted({id for id, _ in right} - translators.keys() - {document.id for document in documents}):
        problem = "is a passage" if id in first else "the corpus has no such segment or document"
        remedy = f"write the id of a segment{f', such as {first[id]},' if id in first else ''} or of a document"
        faults.append(BadInput(description.corrections, id, problem, remedy))
    raise_all(faults)
