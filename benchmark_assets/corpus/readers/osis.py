"""OSIS, the form of CrossWire: the books of a Bible in one file.

A book is a `div` of the type `book`; its id is the code that USFM has for it, so that both forms meet. A verse is an
element, or the text between two milestones (`sID`, `eID`). Its `osisID` is its number: `Jas.2.20`. A verse with several
ids (`Jas.1.2 Jas.1.3`) has a range of numbers. Titles and speakers become headings, and notes become footnotes. The
quotation marks that `marker` states are text.

Here: the text of a file. Not here: which books a corpus has, and how they are divided (cited).
"""

import re
from pathlib import Path

from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.citations import Citation
from benchmark_assets.corpus.readers.citing import CitedText, Citing
from benchmark_assets.corpus.readers.markup import Element, Markup, Role, parse_xml, roles
from resources.errors import BadInput

_RULES: dict[Role, str] = {
    "left out": "//figure | //header | //rdg",
    "heading": "//title | //head | //speaker",
    "footnote": "//note",
    "note": "//div[@type = 'introduction']",
    "paragraph": "//p | //div | //lg | //list | //table | //chapter[text()]",
    "line": "//l | //item | //row | //lb",
    "cell": "//cell",
}

_CODES = {
    "Judg": "JDG", "Ps": "PSA", "Song": "SNG", "Ezek": "EZK", "Joel": "JOL", "Nah": "NAM", "Mark": "MRK", "John": "JHN",
    "Phil": "PHP", "Phlm": "PHM", "1John": "1JN", "2John": "2JN", "3John": "3JN", "EsthGr": "ESG", "EpJer": "LJE",
    "PrAzar": "S3Y", "PrMan": "MAN", "AddPs": "PS2", "AddEsth": "ESG", "AddDan": "DAG", "DanGr": "DAG",
}  # fmt: skip
"""Codes of books in USFM that are not the first three letters of the code in OSIS."""


def read(path: Path) -> dict[str, CitedText]:
    """The books in a file, by their code in USFM.

    Raises
    ------
    BadInput
        If the file is not well-formed OSIS in UTF-8, has no book with verses, or lost letters in conversion.
    """
    root = parse_xml(path)
    if root.tag != "osis":
        problem = f"is not OSIS (its root element is <{root.tag}>)"
        raise BadInput(path, "", problem, "correct `layout`, or fetch the file again")
    by_element = roles(root, _RULES)
    books: dict[str, CitedText] = {}
    for book in root.xpath("//div[@type = 'book'][.//verse]"):
        name = (book.get("osisID") or book.xpath("string(.//verse/@osisID)").partition(".")[0]).strip()
        code = _CODES.get(name, name[:3].upper())
        if code in books:
            raise BadInput(path, f"line {book.sourceline} {name}", "the book occurs twice", "keep one of them")
        books[code] = _book(book, by_element)
        clean(books[code].content, path, name)
    if not books:
        raise BadInput(path, "", "has no book with verses", "fetch the file again, or remove it")
    return books


def _book(book: Element, by_element: dict[Element, Role]) -> CitedText:
    found = Citing("chapter", "verse")
    starts: dict[Element, str] = {}
    ends: dict[Element, str] = {}
    for element in book.iter("chapter", "verse", "q"):
        if element.tag == "q":
            if marker := element.get("marker"):  # the milestone stands for the quotation mark
                element.text = marker + (element.text or "")
            continue
        if element.get("eID"):
            starts[element] = ".".join(_citation(element.get("eID"))[:-1])
        elif citation := _citation(element.get("osisID") or element.get("sID")):
            starts[element] = found.cite(citation, element.sourceline)
            if not element.get("sID"):
                ends[element] = ".".join(citation[:-1])
    Markup(by_element, {}, {}, starts, ends).write(book, found.text)
    return found.finish()


def _citation(identity: str | None) -> Citation:
    """Chapter and verse, or chapter, of an id such as `Jas.1.2 Jas.1.3`, `Gen.4.8!a` or `Bible:Jas.1`."""
    parts = (re.sub(r"^[^:]*:|!", "", each).split(".")[1:] for each in (identity or "").split())
    ids = [numbers for numbers in parts if numbers]
    if not ids:
        return ()
    first, last = ids[0], ids[-1]
    return (*first[:-1], first[-1] if first == last else f"{first[-1]}-{last[-1]}")
