"""Manual alignments: a file in which an editor gives the text of a segment in a continuous translation.

JSON lines, `{"segment": id, "translator": name, "text": …}`; a text of null means that the translator left the segment
out. Corrected segments are not aligned, but are verified like all others. Not here: corrections of segmented
references, which are edited in their own files.
"""

from collections.abc import Mapping

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.strict_json import parse
from resources.errors import BadInput

Corrections = Mapping[tuple[str, str], str | None]
"""Texts by segment id and translator."""


def load(description: Description) -> Corrections:
    """The corrections of a corpus; none if its description names no file.

    Raises
    ------
    BadInput
        For a file that cannot be read, a line of another form, a translator without a continuous translation, or a
        segment that is corrected twice.
    """
    path = description.corrections
    if path is None:
        return {}
    corrections: dict[tuple[str, str], str | None] = {}
    for number, line in enumerate(decode(path).split("\n"), start=1):
        if not line.strip():
            continue
        record, where = parse(line, path, number), f"line {number}"
        if set(record) != {"segment", "translator", "text"} or not all(
            isinstance(record[k], str) for k in ("segment", "translator")
        ):
            raise BadInput(path, where, "does not have the keys segment, translator and text", "write all three")
        text = record["text"]
        if not (text is None or (isinstance(text, str) and text.strip())):
            raise BadInput(path, f"{where} text", "is neither a text nor null", "write the text, or null for none")
        key = (record["segment"], record["translator"])
        if key[1] not in description.continuous:
            raise BadInput(
                path, f"{where} {key[1]}", "has no continuous translation here",
                f"name one of {sorted(description.continuous)}, or edit the translator's own files",
            )  # fmt: skip
        if key in corrections:
            raise BadInput(path, f"{where} {key[0]}", "is corrected twice", "keep one of the lines")
        corrections[key] = text.strip() if text else None
    return corrections


def check(description: Description, corrections: Corrections, documents: list[Document]) -> None:
    """Check that every correction names an existing segment, and a translation of its document.

    Raises
    ------
    BadInput
        For the first correction that does not.
    """
    translators = {
        segment.id: {prose.translator for prose in document.prose}
        for document in documents
        for passage in document.passages
        for segment in passage.segments
    }
    for segment, translator in sorted(corrections):
        if segment not in translators:
            raise BadInput(
                description.corrections, segment, "is no segment of this corpus", "correct the id, or drop the line"
            )
        if translator not in translators[segment]:
            raise BadInput(
                description.corrections, segment, f"is of a document without a text of {translator}",
                "correct the id or the translator, or drop the line",
            )  # fmt: skip
