"""Running text from a tree of elements, by the role of each element.

Here: parsing, and the effect of a role. Not here: the roles of a format's elements (html, tei).
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
"""The role of an element. A `paragraph`, `line` or `cell` is separated from the text around it; an element without a
role continues its line. A `heading`, `note` or `footnote` is an aside, a `gap` reads '[…]'."""

_SEPARATORS = {"paragraph": PARAGRAPH, "line": LINE, "cell": SPACE}
_OPTIONS = {"encoding": "utf-8", "remove_comments": True, "remove_pis": True}


@dataclass(frozen=True)
class Markup:
    """The roles of the elements of a file.

    Parameters
    ----------
    roles
        Role by element.
    numbers
        By element, the number of the text that begins with it.
    footnotes
        By element that marks a footnote, the footnote's text. Other `footnote` elements contain their own text.
    """

    roles: Mapping[Element, Role]
    numbers: Mapping[Element, str]
    footnotes: Mapping[Element, str]

    def write(self, element: Element, text: RunningText) -> None:
        """Add an element to a text, without its tail."""
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
        """The text of an element of any role, on one line and without asides."""
        text = RunningText()
        self._contents(element, text)
        return " ".join(text.finish()[0].split())

    def _contents(self, element: Element, text: RunningText) -> None:
        text.add(element.text or "")
        for child in element:
            self.write(child, text)
            text.add(child.tail or "")


def roles(root: Element, rules: Mapping[Role, str]) -> dict[Element, Role]:
    """Roles of the elements that the rules' XPaths find; the first rule that finds an element counts."""
    by_element: dict[Element, Role] = {}
    for role, xpath in rules.items():
        for element in root.xpath(xpath):
            by_element.setdefault(element, role)
    return by_element


def parse_html(path: Path) -> Element:
    """The root of an HTML page, repaired as browsers do.

    Raises
    ------
    BadInput
        If it cannot be read as UTF-8, or the parser gives up, as it does at 256 nested elements.
    """
    parser = etree.HTMLParser(**_OPTIONS)
    root = etree.fromstring(decode(path).encode(), parser)
    for fault in parser.error_log:
        if fault.level == etree.ErrorLevels.FATAL:
            raise BadInput(path, f"line {fault.line}", f"is no HTML ({fault.message})", "correct the file")
    return etree.Element("html") if root is None else root


def parse_xml(path: Path) -> Element:
    """The root of an XML file. Elements have their local names; no external entity is fetched.

    Raises
    ------
    BadInput
        If it cannot be read as UTF-8, is not well-formed, or uses an entity that it does not define itself.
    """
    try:
        root = etree.fromstring(decode(path).encode(), etree.XMLParser(**_OPTIONS))
    except etree.XMLSyntaxError as error:
        problem = f"is no XML ({error.msg.partition(', line ')[0]})"
        raise BadInput(path, f"line {error.lineno}", problem, "correct the file") from error
    for element in root.iter():
        element.tag = etree.QName(element).localname
    return root
