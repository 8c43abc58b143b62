"""Running text from a tree of elements, by the role of each element.

Here: parsing a file, and the effect of each role. Not here: the roles of a format's elements (html, tei).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH, SPACE, RunningText
from resources.errors import BadInput

Element = Any
"""An element of lxml, which has no types."""

Role = Literal["left out", "gap", "heading", "note", "footnote", "paragraph", "line", "cell"]
"""The role of an element. A `paragraph`, `line` or `cell` is separated from the surrounding text; an element without a
role continues its line. A `heading`, `note` or `footnote` becomes an aside, and a `gap` becomes '[…]'."""

_SEPARATORS = {"paragraph": PARAGRAPH, "line": LINE, "cell": SPACE}
_OPTIONS = {"encoding": "utf-8", "remove_comments": True, "remove_pis": True}


@dataclass(frozen=True)
class Markup:
    """The elements of a file that have a role, a number or a footnote.

    `numbers` maps the element at which a paragraph or verse begins to its number. `footnotes` maps the mark of a
    footnote to its text; other elements with the role 'footnote' contain the text themselves.
    """

    roles: Mapping[Element, Role]
    numbers: Mapping[Element, str]
    footnotes: Mapping[Element, str]

    def write(self, element: Element, text: RunningText) -> None:
        """Add an element to a text according to its role, without the text after its end tag."""
        role = self.roles.get(element)
        text.before("number", self.numbers.get(element, ""))
        if role in ("heading", "note"):
            text.separate(PARAGRAPH if role == "heading" else SPACE)
            text.before(role, self.plain(element))
        elif role == "footnote":
            text.after(role, self.footnotes.get(element) or self.plain(element))
        elif role == "gap":
            text.add("[…]")
        elif role != "left out":
            text.separate(_SEPARATORS.get(role or "", ""))
            self._contents(element, text)
            text.separate(_SEPARATORS.get(role or "", ""))

    def plain(self, element: Element) -> str:
        """The text of an element, whatever its role, on one line and without asides."""
        text = RunningText()
        self._contents(element, text)
        return " ".join(text.finish()[0].split())

    def _contents(self, element: Element, text: RunningText) -> None:
        text.add(element.text or "")
        for child in element:
            self.write(child, text)
            text.add(child.tail or "")


def roles(root: Element, rules: Mapping[Role, str]) -> dict[Element, Role]:
    """Roles by element. `rules` has an XPath for each role; an element gets the role of the first rule that matches."""
    by_element: dict[Element, Role] = {}
    for role, xpath in rules.items():
        for element in root.xpath(xpath):
            by_element.setdefault(element, role)
    return by_element


def parse_html(path: Path) -> Element:
    """The root element of an HTML page, repaired as browsers do.

    Raises
    ------
    BadInput
        If the page cannot be read as UTF-8, or the parser gives up, for example at 256 nested elements.
    """
    parser = etree.HTMLParser(**_OPTIONS)
    root = etree.fromstring(decode(path).encode(), parser)
    for fault in parser.error_log:
        if fault.level == etree.ErrorLevels.FATAL:
            raise BadInput(
                path, f"line {fault.line}", f"cannot be parsed as HTML ({fault.message})", "correct the file"
            )
    return etree.Element("html") if root is None else root


def parse_xml(path: Path) -> Element:
    """The root element of an XML file. Tags are local names, without namespaces; no external entity is fetched.

    Raises
    ------
    BadInput
        If the file cannot be read as UTF-8, is not well-formed, or uses an entity that it does not define itself.
    """
    try:
        root = etree.fromstring(decode(path).encode(), etree.XMLParser(**_OPTIONS))
    except etree.XMLSyntaxError as error:
        problem = f"is not well-formed XML ({error.msg.partition(', line ')[0]})"
        raise BadInput(path, f"line {error.lineno}", problem, "correct the file") from error
    for element in root.iter():
        element.tag = etree.QName(element).localname
    return root
