"""Continuous translations as HTML pages of SuttaCentral and dhammatalks.org.

Here: the element of a page that contains the text, and the roles of elements. Not here: assembling the text (markup).

The mark of a footnote becomes an aside with the text of the footnote or, if the page lacks that text, with the mark
itself. Footnotes without a mark are added at the end. On SuttaCentral, a reference anchor at the beginning of a
paragraph contains the paragraph's number; an anchor within a paragraph marks a page of an edition and is left out. On
dhammatalks.org, the translator's introduction becomes notes. The introduction is the text before the first row of stars
or, without stars, the leading paragraphs in italics. The text under a heading of class `intro` becomes notes,
too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.markup import Element, Markup, Role, parse_html, roles
from benchmark_assets.corpus.readers.running_text import RunningText
from resources.errors import BadInput


class _Dialect(NamedTuple):
    """The markup of one site.

    `content` is the XPath of the element that contains the text; `container` names it in messages. `numbers` is the
    XPath of elements with paragraph numbers. `rules` has XPaths by role, for elements whose role is specific to the
    site. If `introduced` is true, an introduction may precede the text.
    """

    container: str
    content: str
    numbers: str
    rules: dict[Role, str]
    introduced: bool


def _is(*names: str) -> str:
    """XPath condition for an element with one of these classes."""
    return " or ".join(f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')" for name in names)


def _typed(*names: str) -> str:
    """XPath condition for an element whose `epub:type`, or `role` with `doc-` before it, is one of these."""
    types, role = "concat(' ', @*[name() = 'epub:type'], ' ')", "concat(' ', @role, ' ')"
    return " or ".join(f"contains({types}, ' {name} ') or contains({role}, ' doc-{name} ')" for name in names)


_HEAD = f"self::header or self::div[{_is('hgroup')}]"
_HEADING = "self::h1 or self::h2 or self::h3 or self::h4 or self::h5 or self::h6"
_NOTES = _typed("footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes")
_ANY_PAGE: dict[Role, str] = {
    "left out": "//script | //style | //template | //noscript | //nav | //form | //button | //footer"
    f" | //aside[not({_NOTES})]"
    f" | //a[{_is('footnote-back')}] | //*[@*[name() = 'epub:type'] = 'pagebreak']",
    "heading": f"//*[{_HEAD}] | //*[{_HEADING}][not(ancestor::*[{_HEAD}])]",
    "note": f"//span[{_is('note')}]",
    "footnote": f"//a[{_is('footnote-ref', 'noteref')} or {_typed('noteref')}]"
    " | //sup[.//a or translate(normalize-space(), '0123456789[]*†‡', '') = '']",
    "paragraph": "//p | //div | //section | //article | //blockquote | //ul | //ol | //dl | //table | //pre | //hr",
    "line": "//li | //dt | //dd | //tr | //br",
    "cell": "//td | //th",
}
_BOX = (
    "(self::div or self::section or self::aside or self::ol)"
    f" and ({_is('note', 'notes', 'footnote', 'footnotes', 'endnotes')} or {_NOTES})"
)
"""XPath condition for an element that contains footnotes."""
_SHORT_MARK = re.compile(r"[\s\[(]*(?:\d{1,3}|[a-z]|[ivx]{1,5}|[*†‡§¶]{1,4})[\])\s]*")
_BLOCK = f"//p | //li[not(.//p)] | //*[self::div or {_BOX}][not(.//p or .//li or .//div)]"

_REFERENCE = f"a[{_is('ref')} or @id and not(normalize-space())]"
_SUTTACENTRAL = _Dialect(
    container="<article>",
    content="//article[not(ancestor::article)]",
    numbers=f"//{_REFERENCE}[not(preceding-sibling::node()[not(self::{_REFERENCE})][normalize-space()])]",
    rules={"left out": f"//{_REFERENCE}"},
    introduced=False,
)

_UPRIGHT = (
    f".//text()[normalize-space()][not(ancestor::em or ancestor::i or ancestor::sup or ancestor::*[{_is('fn')}])]"
)
_DHAMMATALKS = _Dialect(
    container='<div id="sutta">',
    content="//*[@id = 'sutta']",
    numbers="/..",
    rules={
        "left out": f"//*[{_is('stars', 'verse_stars', 'notetitle')}]",
        "note": f"//*[{_is('seealso', 'suttaCite', 'intro', 'iblock')}][not({_HEADING})]"
        " | //p[starts-with(normalize-space(), 'See also:')]"
        f" | //*[{_is('intro')}]/following-sibling::p[preceding-sibling::*[{_HEADING}][1][{_is('intro')}]]",
        "footnote": f"//span[{_is('fn')}]",
        "line": f"//div[{_is('verse')}]//p",
    },
    introduced=True,
)


def _introductions(root: Element, known_roles: dict[Element, Role]) -> Iterator[Element]:
    """Paragraphs of each sutta's introduction.

    The introduction is the text before the first row of stars. In a sutta without stars, it consists of the leading
    paragraphs in italics.
    """
    suttas: list[list[Element]] = [[]]
    for element in root.xpath("//*[@id = 'sutta']//*[self::h1 or self::p]"):
        if element.tag == "h1":
            suttas.append([])
        else:
            suttas[-1].append(element)
    for paragraphs in suttas:
        stars = next(
            (at for at, element in enumerate(paragraphs) if element.xpath(f"boolean(self::*[{_is('stars')}])")), None
        )
        leading_italics = takewhile(
            lambda element: known_roles.get(element) in ("note", "left out") or not element.xpath(_UPRIGHT), paragraphs
        )
        yield from leading_italics if stars is None else paragraphs[:stars]


def _running_text(path: Path, dialect: _Dialect) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a page. Raises BadInput if the page is not valid UTF-8 or lacks the dialect's container."""
    root = parse_html(path)
    contents = root.xpath(dialect.content)
    if not contents:
        problem = f"contains no text of a translation (no {dialect.container}); it may be a login or error page"
        raise BadInput(path, "", problem, "fetch the page again, or correct `layout`")
    by_element = page_roles(root) | roles(root, dialect.rules)
    if dialect.introduced:
        by_element |= dict.fromkeys(list(_introductions(root, by_element)), "note")
    numbers = {
        element: element.xpath("normalize-space()") or element.get("id") for element in root.xpath(dialect.numbers)
    }
    text = RunningText()
    write(root, contents, Markup(by_element, numbers, {}), text)
    return text.finish()


def page_roles(root: Element) -> dict[Element, Role]:
    """Roles by element that hold for pages of any site.

    A link from a short mark is that of a footnote if it leads to a box of footnotes further below, or to a paragraph
    that links back.
    """
    by_element = roles(root, _ANY_PAGE)
    places = {each.get("id"): (at, each) for at, each in enumerate(root.iter(etree.Element)) if each.get("id")}
    for at, link in enumerate(root.iter(etree.Element)):
        target = (link.get("href") or "").partition("#")[2]
        below, note = places.get(target, (0, None))
        if link.tag == "a" and below > at and _SHORT_MARK.fullmatch("".join(link.itertext())):
            ids = link.xpath(
                "descendant-or-self::*/@id | parent::*[not(self::p or self::div)]/@id | preceding-sibling::a[1]/@id"
            )
            back = note.xpath(
                "(ancestor-or-self::*[self::p or self::li or self::div[not(.//p or .//div)]])[last()]//a/@href"
            )
            boxed = note.xpath(f"boolean(ancestor-or-self::*[{_BOX}])")
            marked = any(by_element.get(each) == "footnote" for each in link.iterancestors())
            if (boxed or {f"#{each}" for each in ids} & {*back}) and not marked:
                by_element.setdefault(link, "footnote")
    return by_element


def write(root: Element, contents: Iterable[Element], markup: Markup, text: RunningText) -> None:
    """Add the contents of a page to a text, with the page's footnotes at their marks."""
    footnotes = _footnotes(root, markup)
    by_element: dict[Element, Role] = {**markup.roles, **dict.fromkeys(footnotes.blocks, "left out")}
    markup = replace(markup, roles=by_element, footnotes=footnotes.by_mark)
    for content in contents:
        markup.write(content, text)
    for footnote in footnotes.without_mark:
        text.after("footnote", footnote)


suttacentral = partial(_running_text, dialect=_SUTTACENTRAL)
"""Text and asides of a page of SuttaCentral's legacy texts (`html_text` of sc-data)."""

dhammatalks = partial(_running_text, dialect=_DHAMMATALKS)
"""Text and asides of a sutta's page on dhammatalks.org."""


class _Footnotes(NamedTuple):
    """Elements that contain footnotes, texts of footnotes by their mark, and texts of footnotes without a mark."""

    blocks: list[Element]
    by_mark: dict[Element, str]
    without_mark: list[str]


def _footnotes(root: Element, markup: Markup) -> _Footnotes:
    """Find footnotes: blocks in a box of footnotes, and blocks that an earlier mark links to.

    In a box of footnotes, a block without a link from a mark continues the previous footnote.
    """
    position = {element: number for number, element in enumerate(root.iter())}
    targets = {
        mark: mark.xpath("string((descendant-or-self::a/@href)[1])").partition("#")[2]
        for mark, role in markup.roles.items()
        if role == "footnote"
    }
    marked: dict[str, int] = {}
    for mark, target in targets.items():
        marked[target] = min(position[mark], marked.get(target, len(position)))
    boxes = set(root.xpath(f"//*[{_BOX}]"))
    blocks, texts, current = [], defaultdict[str, list[str]](list), ""
    for block in root.xpath(_BLOCK):
        ids = block.xpath(f"descendant-or-self::*/@id | ancestor::*[self::li or {_BOX}]/@id")
        targeted = [target for target in ids if marked.get(target, len(position)) < position[block]]
        boxed = block in boxes or not boxes.isdisjoint(block.iterancestors())
        if (targeted or boxed) and markup.roles.get(block) != "left out":
            current = targeted[0] if targeted else current
            texts[current].append(markup.plain(block))
            blocks.append(block)
    by_mark = {mark: " ".join(texts[target]) for mark, target in targets.items() if target in texts and target}
    return _Footnotes([*blocks, *boxes], by_mark, texts.get("", []))
