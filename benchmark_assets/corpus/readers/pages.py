"""HTML pages, EPUB books and Word documents, with or without numbered verses.

Verses are numbered by the marks (`<sup>12</sup>`, `<span class="verse">12</span>`) or the beginnings of paragraphs
(`12.`, `[12]`, `2:12`) that count upwards best. A chapter has the last number in the heading above it, else the count
of the times at which numbers begin again; its number may stand in place of that of verse 1. A text without numbers is
prose. Headings and footnotes become asides (html).

A Word document may also be read as a table: `rows` gives the rows of its tables or, if it has none, one row for each
numbered paragraph with the paragraphs that follow it.

Here: the text of a file. Not here: roles of elements (html), what is refused in archives (archives).
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers.expat import ExpatError

import mammoth
from lxml import etree

from benchmark_assets.corpus.readers.archives import unpacked
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.citations import COMPLETE, Citation
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
_HEAD = re.compile(r"(?!\W*\d).{1,40}(?<![.,;:!?。！？])|(?!\W*\d).{1,5}", re.DOTALL)
"""The head of a column in a Word document: a name, or a short abbreviation."""
_LINE_END, _NOTE_SIGN = "\u2028", "\ufdd0"
_NOTE_MARK = re.compile(f"{_NOTE_SIGN}(\\d+){_NOTE_SIGN}")
"""Signs that no text has: the end of a line, and what encloses the place of a footnote."""
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


def numbered_text(path: Path) -> dict[str, CitedText]:
    """A plain text whose paragraphs or lines begin with numbers. Raises BadInput if it is not UTF-8, or contains no
    text."""
    body = etree.SubElement(root := etree.Element("html"), "body")
    for block in re.split(r"\n\s*\n|\n(?=\s*[\[(]?\d)", decode(path)):
        if block.strip():
            etree.SubElement(body, "p").text = _REFUSED.sub("", block.strip())
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
    """Rows of the tables of a Word document, each with its number: the heads first. Text that is not read is logged.

    The tables are read as one if they have the columns of the largest one: the same heads or, without heads, as many
    columns. A cell that covers several stands in the first of them. A row that is one cell is a heading, and is not
    read. Footnotes are written as HTML, which becomes asides (plain).

    Raises
    ------
    BadInput
        If the document is refused, has neither a table nor numbered paragraphs, or if its other tables have more than
        2 % of the text.
    """
    root = word(path)
    notes = _notes_as_marks(root)
    for element in root.iter("br", "p", "li", "tr", *_HEADINGS):
        element.tail = f"{_LINE_END}{element.tail or ''}"
    if root.xpath("boolean(//table)"):
        return _with_notes(_table_rows(root, path), notes)
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
    whole = [header, *([*cells, *[""] * (width - len(cells))] for cells in paragraphs)]
    return _with_notes(list(enumerate(whole, start=1)), notes)


class _WordTable(NamedTuple):
    """The texts of a table's cells, row by row; a heading between its rows is a row without cells. `heads` is the row
    that names the columns, None without one; only titles precede it. `left` counts the characters of headings."""

    rows: list[list[str]]
    heads: int | None
    left: int

    @property
    def names(self) -> list[str] | None:
        return None if self.heads is None else self.rows[self.heads]

    @property
    def size(self) -> int:
        return sum(len(cell) for row in self.rows for cell in row)


def _table_rows(root: Element, path: Path) -> list[tuple[int, list[str]]]:
    tables = [_word_table(each) for each in root.xpath("//table[not(ancestor::table)]")]
    largest = max(tables, key=lambda table: len(table.rows))
    width = max(map(len, largest.rows), default=0)
    fitting = [table for table in tables if max(map(len, table.rows), default=0) == width]
    names = next((each.names for each in (largest, *fitting) if each.names), None)
    fitting = [table for table in fitting if table.names in (None, names)]
    others = [table for table in tables if table not in fitting]
    left = sum(map(len, map(_words, root.xpath("//body/*[not(self::table)]"))))
    lost = sum(table.size + table.left for table in others)
    if lost > (1 - COMPLETE) * sum(table.size for table in tables):
        beginning = " | ".join(next((row for row in others[0].rows if any(row)), []))[:60]
        problem = f"has a table with other columns than its largest one ({beginning})"
        raise BadInput(path, "", problem, "give the tables the same heads, or move it to another document")
    found = list[list[str]]()
    for table in fitting:
        start = 0
        if table.names and found:
            found = found if table.names in found else [table.names, *found]
            start = (table.heads or 0) + 1
            left += sum(map(len, chain.from_iterable(table.rows[: start - 1])))
        found += table.rows[start:]
        left += table.left
    if left + lost:
        logger.warning("%s: %s characters outside the rows of its tables are not read", path, f"{left + lost:,}")
    for number, row in enumerate(found, start=1):
        if row and len(row) != width:
            problem = f"has {len(row)} cells, but the table has {width} columns"
            raise BadInput(path, f"row {number}", problem, "give all rows the same number of cells")
    return [(number, cells) for number, cells in enumerate(found, start=1) if any(cells)]


def _word_table(table: Element) -> _WordTable:
    rows, marked, alone, left = list[list[str]](), list[bool](), list[int](), 0
    covered: dict[int, int] = defaultdict(int)  # by column, the number of rows that a cell above covers
    for row in table.xpath("tr | thead/tr | tbody/tr"):
        cells, own = list[str](), row.xpath("td | th")
        for cell in [*own, None]:
            while covered[len(cells)]:
                covered[len(cells)] -= 1
                cells.append("")
            if cell is not None:
                for place in range(int(cell.get("colspan") or 1)):
                    covered[len(cells)] = int(cell.get("rowspan") or 1) - 1
                    cells.append("" if place else _words(cell))
        rows.append(cells)
        marked.append(row.getparent().tag == "thead")
        if len(own) == 1 and int(own[0].get("colspan") or 1) == len(cells):
            alone.append(len(rows) - 1)
    if max(map(len, rows), default=0) > 1:
        left = sum(len(rows[at][0]) for at in alone)
        rows = [[] if at in alone else cells for at, cells in enumerate(rows)]
    is_head = [named or _names_columns(row) for row, named in zip(rows, marked, strict=True)]
    first = next((at for at, row in enumerate(rows) if len(list(filter(None, row))) > 1), None)
    is_named = first is not None and is_head[first] and (marked[first] or 2 * sum(is_head) <= len(rows))
    return _WordTable(rows, first if is_named else None, left)


def _names_columns(row: Sequence[str]) -> bool:
    """Whether the cells of a row may be heads: two or more, short, no sentences, no numbers."""
    filled = [cell for cell in row if cell]
    return len(filled) > 1 and all(map(_HEAD.fullmatch, filled))


def _notes_as_marks(root: Element) -> list[str]:
    """The footnotes of a Word document, without their list; each mark in the text is replaced by its place here."""
    texts = {item.get("id"): item for item in root.xpath("//ol/li[.//a[normalize-space() = '↑']]")}
    notes: list[str] = []
    for mark in root.xpath("//sup[a[contains(@href, '#')]]"):
        if (item := texts.get(mark.xpath("string(a/@href)").partition("#")[2])) is not None:
            notes.append(" ".join("".join(item.itertext()).removesuffix("↑").split()).removesuffix("↑").strip())
            for child in list(mark):
                mark.remove(child)
            mark.text = f"{_NOTE_SIGN}{len(notes) - 1}{_NOTE_SIGN}"
    for item in texts.values():
        item.getparent().remove(item)
    return notes


def _with_notes(found: list[tuple[int, list[str]]], notes: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Rows with their footnotes as HTML, in columns that have some; heads are without notes."""

    def note(match: re.Match[str]) -> str:
        return f'<span class="footnote">{escape(notes[int(match[1])])}</span>'

    noted = {at for _, cells in found[1:] for at, cell in enumerate(cells) if _NOTE_SIGN in cell}
    for _, cells in found[:1]:
        cells[:] = [_NOTE_MARK.sub("", cell) for cell in cells]
    for _, cells in found[1:]:
        cells[:] = [
            _NOTE_MARK.sub(note, escape(cell, quote=False)) if at in noted else cell for at, cell in enumerate(cells)
        ]
    return found


def _words(element: Element) -> str:
    """The text of an element, line by line."""
    lines = "".join(element.itertext()).split(_LINE_END)
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


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
        if any(by_element.get(each) == "footnote" for each in element.iterancestors()):
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
    """How many numbers follow the one before, or begin again. Numbers with a chapter, as in 2.7, may leave some out."""
    return sum(
        later.number in (earlier.number + 1, 1, 2)
        or later.chapter != earlier.chapter
        or bool(later.chapter and later.number > earlier.number)
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
