"""TEI P4 and P5: the text of a file, its citations, and its asides.

An apparatus is reduced to its lemma or, without a lemma, to its first reading. A choice is reduced to its correction,
regularization or expansion or, without any of these, to its first alternative. Deleted and superfluous text is left
out, supplied and unclear text is kept, and a gap becomes '[…]'. Heads, arguments, stage directions, speakers and notes
do not belong to the text. A line, column or page break separates words, unless it has `break="no"`.

Here: text and citations of one file. Not here: the scheme of citations (citations), documents and their passages
(editions).
"""

from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.citations import UNITS, Citation, cited
from benchmark_assets.corpus.readers.markup import Markup, Role, parse_xml, roles
from benchmark_assets.corpus.readers.running_text import RunningText
from resources.errors import BadInput

_BETTER = "self::corr or self::reg or self::expan"
_RULES: dict[Role, str] = {
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
    "cell": "//cell | //space | //*[self::lb or self::cb or self::pb or self::gb][not(@break = 'no')]",
}
_NO_TEXT = frozenset[Role | None](["left out", "heading", "footnote", "note"])
"""Roles of elements whose content is not part of the text."""


class Edition(NamedTuple):
    """A text by citation.

    - `levels`: names of the levels of its scheme, from the highest; `declared`: whether the file declares the scheme.
    - `units`: the citations in order, each with its line in the file. Citations of higher levels are included, each
      before its first part.
    - `pieces`: the text, in order, each piece with its citation; () for text outside the scheme.
    - `notes`: notes and footnotes, in order, each with the citation of its place.
    - `repeated`: citations that occur again, each with the line where it occurs again.
    - `outside`: line and name of the first element with text outside the scheme.
    """

    levels: tuple[str, ...]
    declared: bool
    units: dict[Citation, int]
    pieces: list[tuple[Citation, str]]
    notes: list[tuple[Citation, str]]
    repeated: list[tuple[Citation, int]]
    outside: tuple[int, str] | None


def running_text(path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a translation. Each citation becomes an aside 'number' where its text begins: `1`, `1.3`.

    Raises
    ------
    BadInput
        If the file is not well-formed TEI in UTF-8, or has no <body>.
    """
    text, asides, found = _read(path, path.stem)
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


def edition(path: Path, document: str) -> Edition:
    """The text of a file by citation. `document` is its id, which an `xml:id` may begin with.

    Raises
    ------
    BadInput
        If the file is not well-formed TEI in UTF-8, has no <body>, or lost letters in conversion.
    """
    content, _, found = _read(path, document)
    clean(content, path)
    return found


def _read(path: Path, document: str) -> tuple[str, tuple[Aside, ...], Edition]:
    root = parse_xml(path)
    if root.tag not in ("TEI", "TEI.2", "teiCorpus"):
        problem = f"is not TEI (its root element is <{root.tag}>)"
        raise BadInput(path, "", problem, "correct `layout`, or fetch the file again")
    bodies = root.xpath("//body[not(ancestor::body)]")
    if not bodies:
        raise BadInput(path, "", "has no <body>", "write its text, or remove the file")
    by_element = roles(root, _RULES)
    excluded = frozenset(element for element, role in by_element.items() if role in _NO_TEXT)
    found = cited(root, bodies, excluded, document)
    starts, ends = (
        {each: ".".join(citation) for each, citation in part.items()} for part in (found.starts, found.ends)
    )
    markup, text = Markup(by_element, {}, {}, starts, ends), RunningText()
    for body in bodies:
        text.cite("")
        markup.write(body, text)
    content, asides = text.finish()
    citations = {".".join(citation): citation for citation in (*found.units, ())}
    numbers = [((), 0), *((citations[aside.text], aside.at) for aside in asides if aside.kind == "number")]
    places = [at for _, at in numbers]
    pieces = [
        (citation, " ".join(content[start:end].split()))
        for (citation, start), end in zip(numbers, [*places[1:], len(content)], strict=True)
        if content[start:end].strip()
    ]
    notes = [
        (numbers[bisect_right(places, aside.at) - 1][0], aside.text)
        for aside in asides
        if aside.kind in ("footnote", "note")
    ]
    outside = (found.outside.sourceline, found.outside.tag) if found.outside is not None else None
    lines = {citation: element.sourceline for citation, element in found.units.items()}
    repeated = [(citation, element.sourceline) for citation, element in found.repeated]
    return content, asides, Edition(found.levels, found.declared, lines, pieces, notes, repeated, outside)
