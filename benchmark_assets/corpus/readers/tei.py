"""TEI P4 and P5: the text of a file, its citations, and its asides.

An apparatus is reduced to its lemma or, without a lemma, to its first reading. A choice is reduced to its correction,
regularization or expansion or, without any of these, to its first alternative. Deleted and superfluous text is left
out, supplied and unclear text is kept, and a gap becomes '[…]'. Heads, arguments, stage directions, speakers and notes
do not belong to the text. A line, column or page break separates words, unless it has `break="no"`.

Here: text and citations of one file, by the scheme that reads it. Not here: the schemes of a file (citations),
documents and their passages (editions).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.model import Aside, Lengths
from benchmark_assets.corpus.readers.characters import clean, mended
from benchmark_assets.corpus.readers.citations import UNITS, Citation, Cited, Odd, readings
from benchmark_assets.corpus.readers.markup import GAP, Element, Markup, Role, parse_xml, roles
from benchmark_assets.corpus.readers.running_text import RunningText
from resources.errors import BadInput

_BETTER = "self::corr or self::reg or self::expan"
RULES: dict[Role, str] = {
    "left out": "//del | //surplus | //fw | //figDesc | //app//note"
    " | //rdg[../lem or preceding-sibling::rdg] | //rdgGrp[../lem or preceding-sibling::rdgGrp]"
    f" | //choice[*[{_BETTER}]]/*[not({_BETTER}) or preceding-sibling::*[{_BETTER}]]"
    f" | //choice[not(*[{_BETTER}])]/*[position() > 1]",
    "gap": "//gap",
    "heading": "//head | //trailer | //speaker",
    "footnote": "//note[ancestor::p or ancestor::ab or ancestor::l or ancestor::seg]",
    "note": "//note | //argument | //stage | //cit/bibl",
    "paragraph": f"//body | //*[{UNITS}][not(self::l or self::seg)] | //sp | //list | //table | //opener | //closer",
    "line": "//l | //item | //row",
    "cell": "//cell | //space | //dateline | //salute | //signed | //address | //addrLine | //postscript"
    " | //*[self::lb or self::cb or self::pb or self::gb][not(@break = 'no')]",
}
"""XPaths of elements with a role."""
_NO_TEXT = frozenset[Role | None](["left out", "heading", "footnote", "note"])
"""Roles of elements whose content is not part of the text."""


class Edition(NamedTuple):
    """A text by citation.

    - `levels`: names of the levels of its scheme, from the highest.
    - `units`: the citations in order, each with its line in the file. Citations of higher levels are included, each
      before its first part.
    - `pieces`: the text, in order, each piece with its citation; () for text outside the scheme.
    - `notes`: notes and footnotes, in order, each with the citation of its place.
    - `odd`: numbers and words that are not taken as they stand, each with the citation of its text, and a sentence.
    - `outside`: line and name of the first element with text outside the scheme.
    - `lengths`: what became of the characters.
    - `divisions`: the citations at which an act, a scene or another division begins.
    """

    levels: tuple[str, ...]
    units: dict[Citation, int]
    pieces: list[tuple[Citation, str]]
    notes: list[tuple[Citation, str]]
    odd: list[tuple[Citation, str]]
    outside: tuple[int, str] | None
    lengths: Lengths
    divisions: frozenset[Citation] = frozenset()


def lengths_of(pieces: Sequence[tuple[Citation, str]], asides: Iterable[Aside], apparatus: int = 0) -> Lengths:
    """What became of the characters of a text with these pieces and asides."""
    beside: Counter[str] = Counter()
    for aside in asides:
        beside[aside.kind] += len(aside.text)
    inside, outside = ([text for citation, text in pieces if bool(citation) == cited] for cited in (True, False))
    gaps = sum(text.count(GAP) for text in inside) * len(GAP)
    return Lengths(
        sum(map(len, inside)), beside["note"] + beside["footnote"], beside["heading"], apparatus, gaps,
        sum(map(len, outside)),
    )  # fmt: skip


Fitting = Callable[[Cited], bool]
"""Whether the citations of a scheme fit a purpose."""


def running_text(path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a translation. Each citation becomes an aside 'number' where its text begins: `1`, `1.3`.

    Raises
    ------
    BadInput
        If the file is not well-formed TEI in UTF-8, or has no <body>.
    """
    source = _Source(path, path.stem)
    text, asides, found = source.written(_best(source.readings()))
    citations = {".".join(citation): citation for citation in found.units}
    placed: list[Aside] = []
    begun: set[Citation] = set()
    for aside in asides:
        if aside.kind != "number":
            placed.append(aside)
            continue
        citation = citations.get(aside.text, ())
        levels = [citation[:end] for end in range(1, len(citation) + 1)]
        placed += [Aside("number", aside.at, ".".join(level)) for level in levels if level not in begun]
        begun.update(levels)
    return text, tuple(placed)


def edition(path: Path, document: str, fits: Fitting = lambda cited: True) -> Edition:
    """The text of a file by citation.

    The first scheme that the file declares is used if it fits and gives nearly all text a citation. Otherwise, the
    scheme with the most citations that does both; otherwise, one that fits; otherwise, one that does not.

    Parameters
    ----------
    document
        The document's id, which an `xml:id` may begin with.

    Raises
    ------
    BadInput
        If the file is not well-formed TEI in UTF-8, has no <body>, or lost letters in conversion beyond restoring.
    """
    source = _Source(path, document)
    _, _, found = source.written(_best(source.readings(), fits))
    pieces, odd = [], list(found.odd)
    for citation, text in found.pieces:
        restored, mends = mended(text)
        pieces.append((citation, restored))
        odd += [(citation, mend) for mend in mends]
    clean("\n".join(text for _, text in pieces), path)
    return found._replace(pieces=pieces, odd=odd)


def complete_levels(path: Path, document: str) -> list[str]:
    """The schemes that give nearly all text of a file a citation: levels, number of citations and share of the text."""
    return [
        f"{', '.join(cited.levels)} ({len(cited.units):,} citations, {cited.read:.1%} of the text)"
        for cited in _Source(path, document).readings() if cited.is_complete
    ]  # fmt: skip


def _best(found: Iterator[Cited], fits: Fitting = lambda cited: True) -> Cited:
    """The citations by the best scheme; none if there is no scheme."""
    first = next(found, Cited(()))
    if first.is_complete and fits(first):
        return first
    every = [first, *found]
    return max(every, key=lambda one: (fits(one), one.is_complete, len(one.units) if one.is_complete else one.read))


class _Source:
    """The elements of a TEI file, and its text by the citations of each scheme."""

    def __init__(self, path: Path, document: str) -> None:
        self.root = parse_xml(path)
        if self.root.tag not in ("TEI", "TEI.2", "teiCorpus"):
            problem = f"is not TEI (its root element is <{self.root.tag}>)"
            raise BadInput(path, "", problem, "correct `layout`, or fetch the file again")
        self.bodies: list[Element] = self.root.xpath("//body[not(ancestor::body)]")
        if not self.bodies:
            raise BadInput(path, "", "has no <body>", "write its text, or remove the file")
        self.roles = roles(self.root, RULES)
        self.document = document

    def readings(self) -> Iterator[Cited]:
        excluded = frozenset(element for element, role in self.roles.items() if role in _NO_TEXT)
        return readings(self.root, self.bodies, excluded, self.document)

    def written(self, cited: Cited) -> tuple[str, tuple[Aside, ...], Edition]:
        """The text, its asides, and the text by citation."""
        starts, ends = (
            {each: ".".join(citation) for each, citation in part.items()} for part in (cited.starts, cited.ends)
        )
        markup, text = Markup(self.roles, {}, {}, starts, ends), RunningText()
        for body in self.bodies:
            text.cite("")
            markup.write(body, text)
        content, asides = text.finish()
        citations = {".".join(citation): citation for citation in (*cited.units, ())}
        numbers = [((), 0), *((citations[aside.text], aside.at) for aside in asides if aside.kind == "number")]
        places = [at for _, at in numbers]
        pieces = [
            (citation, " ".join(content[start:end].split()))
            for (citation, start), end in zip(numbers, [*places[1:], len(content)], strict=True)
            if content[start:end].strip()
        ]
        notes = [(citations[citation], note) for citation, note in text.notes]
        left_out = {element for element, role in self.roles.items() if role == "left out"}
        apparatus = [
            markup.plain(each) for body in self.bodies for each in body.iter()
            if each in left_out and left_out.isdisjoint(each.iterancestors())
        ]  # fmt: skip
        lengths = lengths_of(pieces, asides, sum(map(len, apparatus)))
        outside = (cited.outside.sourceline, cited.outside.tag) if cited.outside is not None else None
        lines = {citation: element.sourceline for citation, element in cited.units.items()}
        odd = [(number.taken, _sentence(number)) for number in cited.odd]
        divisions = frozenset(cited.divisions)
        return content, asides, Edition(cited.levels, lines, pieces, notes, odd, outside, lengths, divisions)


def _sentence(number: Odd) -> str:
    written, taken = ".".join(number.citation), ".".join(number.taken) or "no number"
    if number.why == "doubtful":
        return f"line {number.element.sourceline}: {written} is read as {taken}"
    return f"line {number.element.sourceline}: {written} occurs again, and its text is joined to {taken}"
