"""Building a cited text: an edition, from pieces of text and the citations at which they begin.

Here: from pieces of text with citations to an edition. Not here: reading a form (usfm, osis, sefaria), the documents
of a corpus (cited).
"""

from typing import NamedTuple

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.citations import Citation
from benchmark_assets.corpus.readers.running_text import RunningText
from benchmark_assets.corpus.readers.tei import Edition, lengths_of


class CitedText(NamedTuple):
    """A text by citation, and the same text in one piece with its asides, where each citation is an aside 'number'."""

    edition: Edition
    content: str
    asides: tuple[Aside, ...]


class Citing:
    """A cited text under construction. `levels` are the names of the levels of its citations, from the highest.

    `text` takes the text and its asides; `cite` returns the name of a citation for `text.cite`.
    """

    def __init__(self, *levels: str) -> None:
        self.text = RunningText()
        self._levels = levels
        self._units: dict[Citation, int] = {}
        self._odd: list[tuple[Citation, str]] = []
        self._latest: Citation = ()
        self._names: dict[str, Citation] = {"": ()}

    def cite(self, citation: Citation, line: int) -> str:
        """Begin the text of a citation at a line of the file. Text of a repeated one belongs to the one before."""
        if len(citation) == len(self._levels) and citation in self._units:
            sentence = f"line {line}: {'.'.join(citation)} occurs again, and its text is joined to "
            self._odd.append((self._latest, sentence + ".".join(self._latest)))
            return ".".join(self._latest)
        self._latest = citation
        for depth in range(1, len(citation) + 1):
            self._units.setdefault(citation[:depth], line)
            self._names.setdefault(".".join(citation[:depth]), citation[:depth])
        return ".".join(citation)

    def finish(self) -> CitedText:
        """The text so far. Text before the first citation is outside the scheme."""
        content, asides = self.text.finish()
        numbers = [((), 0), *((self._names[each.text], each.at) for each in asides if each.kind == "number")]
        places = [at for _, at in numbers]
        pieces = [
            (citation, " ".join(content[start:end].split()))
            for (citation, start), end in zip(numbers, [*places[1:], len(content)], strict=True)
            if content[start:end].strip()
        ]
        notes = [(self._names.get(citation, ()), note) for citation, note in self.text.notes]
        outside = (1, "text without a number") if any(not citation for citation, _ in pieces) else None
        edition = Edition(self._levels, self._units, pieces, notes, self._odd, outside, lengths_of(pieces, asides))
        return CitedText(edition, content, asides)
