"""HTML pages, EPUB books and Word documents, with or without numbered verses.

Numbers are those of the marks (`<sup>12</sup>`, `<span class="verse">12</span>`) or beginnings of paragraphs (`12.`,
`[12]`, `2:12`) that count upwards best. A chapter has the last number in the heading above it, else the count of the
times at which numbers begin again; its number may stand in place of that of verse 1. A text without numbers is prose.
Headings and footnotes become asides (html).

A Word document may also be a table: `rows` are those of its largest table or, without a table, a numbered paragraph
with the paragraphs that follow it.

Here: the text of a file. Not here: roles of elements (html), what is refused in archives (archives).
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers.expat import ExpatError

import mammoth
from lxml import etree

from benchmark_assets.corpus.readers.archives import unpacked
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.citations import Citation
from benchmark_assets.corpus.readers.citing import CitedText, Citing
from benchmark_assets.corpus.readers.html import page_roles, write
from benchmark_assets.corpus.readers.markup import Element, Markup, Role, html_of, roles, xml_of
from resources.errors import BadInput
from resources.keys import slug

logger = logging.getLogger("variorum.corpus")

_NUMBER = re.compile(r"\W*(?:(\d{1,3})[.:])?(\d{1,4})\W*")
_REFUSED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that a page may hold and no element takes."""
_BEGINNING = re.compile(r"\s*[\[(]?(?:(\d{1,3})[.:])?(\d{1,4})[\]).:]*\s+(?=\S)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ("p", "li", "div", "td", "dd", "blockquote", "section")
_BESIDE = ("toc", "landmarks", "copyright-page", "titlepage", "cover", "index")
_BOOKS: dict[Role, str] = {
    "left out": "//li/p/a[normalize-space() = '↑']",  # the link that mammoth puts after a footnote
    "note": " | ".join(f"//*[contains(concat(' ', @*[name() = 'epub:type'], ' '), ' {name} ')]" for name in _BESIDE),
}
"""Roles of elements of Word and EPUB: parts of a book beside its text (`epub:type`) become notes."""
FEWEST = 3
"""Fewest numbers of a text that are taken for numbers of verses."""
COUNTING = 0.8
"""Least share of these numbers that follow the number before by one, or begin again at 1."""


class _VerseMark(NamedTuple):
    """A number: the element at which its text begins, its chapter if it states one, and itself. `inside` is true if the
    element contains nothing but the number."""

    element: Element
    chapter: str | None
    number: int
    inside: bool


def html(path: Path) -> dict[str, CitedText]:
    """The text of a page. Raises BadInput if it cannot be read as UTF-8, or contains no text."""
    return _text(html_of(decode(path), path), path)


def epub(path: Path) -> dict[str, CitedText]:
    """The text of a book, in the order of its spine.

    Raises
    ------
    BadInput
        If the archive is refused (archives), or has no spine or no text.
    """
    files = unpacked(path, r"(?i)\.(x?html?|xml|opf)$")
    remedy = "save it again with the program that made it"
    container = files.get("META-INF/container.xml")
    places = xml_of(_decoded(container), path).xpath("//rootfile/@full-path") if container else []
    if not places or places[0] not in files:
        raise BadInput(path, "META-INF/container.xml", "names no package of a book", remedy)
    package, folder = xml_of(_decoded(files[places[0]]), path), PurePosixPath(places[0]).parent
    hrefs = {item.get("id"): unquote(item.get("href") or "") for item in package.xpath("//manifest/item")}
    spine = [str(folder / hrefs.get(item.get("idref"), "")) for item in package.xpath("//spine/itemref")]
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    for number, name in enumerate(spine):
        if name in files:
            body.append(_renamed(_page(files[name], path), number, spine, PurePosixPath(name)))
    return _text(root, path)


def docx(path: Path) -> dict[str, CitedText]:
    """The text of a Word document. Raises BadInput if the archive is refused (archives), or contains no text."""
    return _text(word(path), path)


def word(path: Path) -> Element:
    """A Word document as HTML.

    Raises
    ------
    BadInput
        If the archive is refused (archives), or is no Word document.
    """
    for name, content in unpacked(path, r"\.(xml|rels)$").items():
        if b"<!DOCTYPE" in content:
            problem = "has a document type declaration, which may define entities"
            raise BadInput(path, name, problem, "save the document again with a word processor")
    try:
        with path.open("rb") as file:
            page = mammoth.convert_to_html(file, convert_image=mammoth.images.img_element(lambda _: {"src": ""})).value
    except (KeyError, ValueError, AttributeError, IndexError, TypeError, ExpatError, RecursionError) as error:
        problem = f"cannot be read as a Word document ({type(error).__name__}: {error})"
        raise BadInput(path, "", problem, "save it again as .docx") from error
    return html_of(f"<html><body>{page}</body></html>", path)


def rows(path: Path) -> list[tuple[int, list[str]]]:
    """Rows of a Word document, each with its number in the table: the header first. Text outside the table is logged.

    Raises
    ------
    BadInput
        If the document is refused, or has neither a table nor numbered paragraphs.
    """
    root = word(path)
    tables = root.xpath("//table[not(ancestor::table)]")
    if tables:
        table = max(tables, key=lambda each: len(each.xpath(".//tr")))
        outside = sum(len(" ".join(text.split())) for text in root.xpath("//text()[not(ancestor::table)]"))
        outside += sum(len(" ".join(text.split())) for each in tables if each is not table for text in each.itertext())
        if outside:
            logger.warning("%s: %s characters outside the largest table are not read", path, f"{outside:,}")
        found = [[_words(cell) for cell in row.xpath("td | th")] for row in table.xpath(".//tr")]
        return [(number, cells) for number, cells in enumerate(found, start=1) if any(cells) or number == 1]
    paragraphs: list[list[str]] = []
    for words in map(_words, root.xpath("//body/p | //body/ol/li | //body/ul/li")):
        if match := _BEGINNING.match(words):
            paragraphs.append([".".join(filter(None, match.groups())), words[match.end() :]])
        elif paragraphs and words:
            paragraphs[-1].append(words)
    if not paragraphs:
        problem = "has neither a table nor paragraphs that begin with a number"
        raise BadInput(path, "", problem, "write the segments as a table, or use the layout `docx` for running text")
    width = max(map(len, paragraphs))
    header = ["segment_id", "source", *(f"translation {number}" for number in range(1, width - 1))]
    return list(enumerate([header, *([*cells, *[""] * (width - len(cells))] for cells in paragraphs)], start=1))


def _words(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _decoded(content: bytes) -> str:
    return content.decode("utf-8-sig", errors="replace")


def _page(content: bytes, path: Path) -> Element:
    """A page of a book: XHTML, or HTML if it is not well-formed."""
    text = _decoded(content)
    try:
        return xml_of(text, path)
    except BadInput:
        return html_of(text, path)


def _renamed(page: Element, number: int, spine: list[str], name: PurePosixPath) -> Element:
    """The body of a page as a section whose ids are unique in the book."""
    for element in page.iter(etree.Element):
        if identity := element.get("id"):
            element.set("id", f"{number}-{identity}")
        file, hash_sign, target = (element.get("href") or "").partition("#")
        if hash_sign:
            place = str(name.parent / unquote(file)) if file else str(name)
            element.set("href", f"#{spine.index(place) if place in spine else number}-{target}")
    section = etree.Element("section")
    for body in page.xpath("//body"):
        section.extend(list(body))
    return section


def _text(root: Element, path: Path) -> dict[str, CitedText]:
    """The text of a page, with the numbers of its verses as citations."""
    bodies = root.xpath("//body") or [root]
    found, by_element = Citing("chapter", "verse"), page_roles(root) | roles(root, _BOOKS)
    starts: dict[Element, str] = {}
    for mark, citation in _cited(root, _marks(root, by_element)):
        starts[mark.element] = found.cite(citation, mark.element.sourceline or 1)
        if mark.inside:
            by_element[mark.element] = "left out"
    write(root, bodies, Markup(by_element, {}, {}, starts), found.text)
    text = found.finish()
    if not text.content:
        raise BadInput(path, "", "contains no text", "correct `layout`, or fetch the file again")
    clean(text.content, path)
    return {slug(path.stem): text}


def _marks(root: Element, by_element: dict[Element, Role]) -> list[_VerseMark]:
    """The numbers of verses: the kind of marks that counts upwards best; empty if none does."""
    groups: dict[tuple[str, str], list[_VerseMark]] = defaultdict(list)
    for element in root.iter("sup", "b", "strong", "a", "span", "small", "i", "em", "li", "p", "div", "td", "dd"):
        text = "".join(element.itertext())
        kind = (element.tag, element.get("class") or "")
        if any(by_element.get(each) in ("left out", "heading", "note") for each in (element, *element.iterancestors())):
            continue
        if element.tag in _BLOCKS:
            if (match := _BEGINNING.match(element.text or "")) and not element.xpath("boolean(.//p | .//li)"):
                groups["beginning", ""].append(_VerseMark(element, match[1], int(match[2]), inside=False))
        elif (match := _NUMBER.fullmatch(text)) and not element.xpath(
            "boolean(descendant-or-self::a[contains(@href, '#')])"
        ):
            groups[kind].append(_VerseMark(element, match[1], int(match[2]), inside=True))
    best = max(groups.values(), key=_steps, default=[])
    marks = best if len(best) >= FEWEST and _steps(best) >= COUNTING * (len(best) - 1) else []
    firsts = [mark for mark in marks if mark.inside and mark.number == 1]
    if not all(map(_begins, firsts)):
        return []
    return _with_chapters(root, marks, [group for group in groups.values() if group is not best])


def _steps(marks: list[_VerseMark]) -> int:
    """How many numbers follow the one before, or begin again."""
    return sum(
        later.number in (earlier.number + 1, 1, 2) or later.chapter != earlier.chapter
        for earlier, later in pairwise(marks)
    )


def _with_chapters(root: Element, marks: list[_VerseMark], others: list[list[_VerseMark]]) -> list[_VerseMark]:
    """The marks, and a mark of verse 1 for each number of a chapter that stands in its place, before the mark of verse
    2, as in printed Bibles."""
    order, verses = (
        {element: at for at, element in enumerate(root.iter(etree.Element))},
        {each.element for each in marks},
    )
    for group in others:
        both = sorted((*marks, *group), key=lambda mark: order[mark.element])
        following = {one.element: other for one, other in pairwise(both)}
        chapters = [
            mark for mark in group
            if mark.inside and (after := following.get(mark.element)) and after.element in verses and after.number == 2
        ]  # fmt: skip
        if chapters and len(chapters) >= COUNTING * len(group):
            firsts = [mark._replace(chapter=str(mark.number), number=1) for mark in chapters]
            return sorted((*marks, *firsts), key=lambda mark: order[mark.element])
    return marks


def _begins(mark: _VerseMark) -> bool:
    """Whether a mark begins a block, as the mark of a footnote does not."""
    element = mark.element
    while element.tag not in _BLOCKS and (parent := element.getparent()) is not None:
        before = element.itersiblings(preceding=True)
        if (parent.text or "").strip() or any("".join((*each.itertext(), each.tail or "")).strip() for each in before):
            return False
        element = parent
    return True


def _cited(root: Element, marks: list[_VerseMark]) -> Iterator[tuple[_VerseMark, Citation]]:
    """The citation of each mark: chapter and verse."""
    by_element = {mark.element: mark for mark in marks}
    chapter, heading, last = 0, "", 0
    for element in root.iter(etree.Element):
        if element.tag in _HEADINGS:
            numbers = re.findall(r"\d+", "".join(element.itertext()))
            heading = numbers[-1] if numbers else heading
        elif mark := by_element.get(element):
            if mark.chapter:
                chapter = int(mark.chapter)
            elif mark.number <= last or not chapter:
                chapter = int(heading) if heading else chapter + 1
                heading = ""
            last = mark.number
            if not mark.inside:
                element.text = _REFUSED.sub(" ", _BEGINNING.sub("", element.text or "", count=1))
            yield mark, (str(chapter), str(mark.number))
