"""TEI P5: sources with numbered segments, and continuous translations.

A segment is an innermost `div`, `lg`, `ab`, `p`, `l` or `seg` with an `xml:id` or `n`. Its id is the file's name, a
colon, and

- its `xml:id`, without a leading file name (`mn1.1.2` or `mn1_1.2` in mn1.xml: `mn1:1.2`); or
- the `n` of its ancestors and its own `n`, joined by dots (`<div n="1"><p n="2">`: `mn1:1.2`). An `n` that already
  begins with the numbers of the ancestors is complete. An `n` with a colon names a work, as a URN does, and is ignored.

Text outside the segments is a fault, because it would be lost. Of an apparatus, only the lemma is kept; if there is no
lemma, the first reading. Of a choice, only the correction, regularization or expansion is kept; if there is none, the
first alternative. Deleted and superfluous text is left out, supplied and unclear text is kept, and a gap becomes '[…]'.
Heads, stage directions, speakers and notes do not belong to the text. A line, column or page break separates words,
unless it has `break="no"`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Aside, Document
from benchmark_assets.corpus.readers.files import check_sources_only, listed
from benchmark_assets.corpus.readers.markup import Element, Markup, Role, parse_xml, roles
from benchmark_assets.corpus.readers.running_text import RunningText
from benchmark_assets.corpus.readers.segments import passages, source_faults
from resources.errors import BadInput

_ID = "{http://www.w3.org/XML/1998/namespace}id"
_UNIT = "starts-with(name(), 'div') or self::lg or self::ab or self::p or self::l or self::seg"
_NUMBER = "normalize-space(@n) and not(contains(@n, ':'))"
_BETTER = "self::corr or self::reg or self::expan"
_RULES: dict[Role, str] = {
    "left out": "//del | //surplus | //fw | //figDesc | //app//note"
    " | //rdg[../lem or preceding-sibling::rdg] | //rdgGrp[../lem or preceding-sibling::rdgGrp]"
    f" | //choice[*[{_BETTER}]]/*[not({_BETTER}) or preceding-sibling::*[{_BETTER}]]"
    f" | //choice[not(*[{_BETTER}])]/*[position() > 1]",
    "gap": "//gap",
    "heading": "//head | //trailer | //speaker",
    "footnote": "//note[ancestor::p or ancestor::ab or ancestor::l or ancestor::seg]",
    "note": "//note | //stage | //cit/bibl",
    "paragraph": f"//body | //*[{_UNIT}][not(self::l or self::seg)] | //sp | //list | //table | //opener | //closer",
    "line": "//l | //item | //row",
    "cell": "//cell | //space | //*[self::lb or self::cb or self::pb or self::gb][not(@break = 'no')]",
}
_NO_TEXT = frozenset[Role | None](["left out", "heading", "footnote", "note"])


def running_text(path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a translation. The `n` of an element or milestone becomes an aside of the kind 'number'.

    Raises
    ------
    BadInput
        If the file is not well-formed TEI in UTF-8, or has no <body>.
    """
    bodies, markup = _parse(path)
    text = RunningText()
    for body in bodies:
        markup.write(body, text)
    return text.finish()


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .xml file, or of all .xml files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no .xml file, or a reference has no layout of its own.
    """
    check_sources_only(description)
    for path in listed(description, ".xml"):
        try:
            bodies, markup = _parse(path)
        except BadInput as fault:
            yield fault
        else:
            yield from _document(path, description.source.language, bodies, markup)


def _parse(path: Path) -> tuple[list[Element], Markup]:
    root = parse_xml(path)
    if root.tag not in ("TEI", "TEI.2", "teiCorpus"):
        raise BadInput(
            path, "", f"is not TEI (its root element is <{root.tag}>)", "correct `layout`, or fetch the file again"
        )
    bodies = root.xpath("//body[not(ancestor::body)]")
    if not bodies:
        raise BadInput(path, "", "has no <body>", "write its text, or remove the file")
    numbered = root.xpath(f"//*[{_UNIT} or self::milestone][{_NUMBER}]")
    return bodies, Markup(roles(root, _RULES), {element: element.get("n").strip() for element in numbered}, {})


def _document(path: Path, language: str, bodies: list[Element], markup: Markup) -> Iterator[Document | BadInput]:
    elements = [element for body in bodies for element in _segments(body, markup)]
    if not elements:
        yield BadInput(path, "", "contains no numbered segments", "give its segments an `xml:id` or `n`")
        return
    faults = list(_outside(path, bodies, elements, markup))
    segments: dict[str, str] = {}
    lines: dict[str, int] = {}
    for element in elements:
        key, line = _segment_id(element, path.stem), element.sourceline
        if key in segments:
            faults.append(BadInput(path, f"line {line} {key}", "the segment occurs twice", "renumber one of them"))
        else:
            segments[key], lines[key] = markup.plain(element), line
    faults += source_faults(path, segments, lines)
    if faults:
        yield from faults
    else:
        yield Document(path.stem, path, passages(language, segments, {}))


def _segments(body: Element, markup: Markup) -> list[Element]:
    """Innermost numbered elements of a body that contain text, in document order."""
    units = [
        element
        for element in body.xpath(f".//*[{_UNIT}][normalize-space(@xml:id) or {_NUMBER}]")
        if all(markup.roles.get(ancestor) not in _NO_TEXT for ancestor in element.iterancestors())
    ]
    ancestors = {ancestor for element in units for ancestor in element.iterancestors()}
    return [element for element in units if element not in ancestors]


def _outside(path: Path, bodies: list[Element], segments: list[Element], markup: Markup) -> Iterator[BadInput]:
    """A fault for the first text outside all segments."""
    covered = {*segments, *(element for element, role in markup.roles.items() if role in _NO_TEXT)}
    for string in (text for body in bodies for text in body.xpath(".//text()[normalize-space()]")):
        element = string.getparent().getparent() if string.is_tail else string.getparent()
        if covered.isdisjoint([element, *element.iterancestors()]):
            yield BadInput(
                path, f"line {element.sourceline}", f"has text outside the segments, in <{element.tag}>",
                "give the element an `xml:id` or `n`",
            )  # fmt: skip
            return


def _segment_id(element: Element, document: str) -> str:
    """Id of a segment (see the module)."""
    if identity := element.get(_ID):
        match = re.fullmatch(rf"{re.escape(document)}[._-]+(.+)", identity)
        return f"{document}:{match[1] if match else identity}"
    number = ""
    for part in element.xpath(f"ancestor-or-self::*[{_UNIT}][{_NUMBER}]/@n"):
        number = part if not number or part.startswith(f"{number}.") else f"{number}.{part}"
    return f"{document}:{number}"
