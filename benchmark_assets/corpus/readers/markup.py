"""Running text from a tree of elements, by the role of each element.

Here: parsing a file, and the effect of each role. Not here: the roles of a format's elements (html, tei).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH, SPACE, RunningText
from resources.errors import BadInput

Element = Any
"""An element of lxml; the library has no type annotations."""

Role = Literal["left out", "gap", "heading", "note", "footnote", "paragraph", "line", "cell"]
"""The role of an element. A `paragraph`, `line` or `cell` is separated from the surrounding text; the text of an
element without a role continues the line. A `heading`, `note` or `footnote` becomes an aside, and a `gap` becomes
'[…]'."""

GAP = "[…]"
"""The text for a gap."""

_SEPARATORS = {"paragraph": PARAGRAPH, "line": LINE, "cell": SPACE}
_OPTIONS = {"encoding": "utf-8", "remove_comments": True, "remove_pis": True}


@dataclass(frozen=True)
class Markup:
    """The elements of a file that have a role, a number or a footnote, or at which the citation changes.

    `numbers` maps the element at which a paragraph or verse begins to its number. `footnotes` maps the mark of a
    footnote to its text; other elements with the role 'footnote' contain the text themselves. `starts` and `ends` map
    elements to the citation of the text after their start or their end.
    """

    roles: Mapping[Element, Role]
    numbers: Mapping[Element, str]
    footnotes: Mapping[Element, str]
    starts: Mapping[Element, str] = field(default_factory=dict)
    ends: Mapping[Element, str] = field(default_factory=dict)

    def write(self, element: Element, text: RunningText) -> None:
        """Add an element to a text according to its role, without the text after its end tag."""
        role = self.roles.get(element)
        text.before("number", self.numbers.get(element, ""))
        if role == "footnote":  # a milestone in it numbers the text after it
            self._beside(element, role, text.after)
        if element in self.starts:
            text.cite(self.starts[element])
        if role in ("heading", "note"):
            text.separate(PARAGRAPH if role == "heading" else SPACE)
            self._beside(element, role, text.before)
        elif role == "gap":
            text.add(GAP)
        elif role not in ("left out", "footnote"):
            text.separate(_SEPARATORS.get(role or "", ""))
            self._contents(element, text)
            text.separate(_SEPARATORS.get(role or "", ""))

    def plain(self, element: Element) -> str:
        """The text of an element, whatever its role, on one line and without asides."""
        return self._parts(element)[0]

    def _beside(self, element: Element, role: Role, add: Callable[[str, str], None]) -> None:
        """Add an element as an aside, and the notes and headings in it as asides of their own."""
        content, inner = (stated, ()) if (stated := self.footnotes.get(element)) else self._parts(element)
        add(role, content)
        for aside in inner:
            if aside.kind in ("heading", "note", "footnote"):
                add(aside.kind, aside.text)

    def _parts(self, element: Element) -> tuple[str, tuple[Aside, ...]]:
        """The text of an element, whatever its role, on one line, and its asides."""
        text = RunningText()
        self._contents(element, text)
        content, asides = text.finish()
        return " ".join(content.split()), asides

    def _contents(self, element: Element, text: RunningText) -> None:
        text.add(element.text or "")
        for child in element:
            self.write(child, text)
            if child in self.ends:
                text.cite(self.ends[child])
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
    return html_of(decode(path), path)


def html_of(content: str, path: Path) -> Element:
    """The root element of a page with this content; `path` names it in faults, as for `parse_html`."""
    parser = etree.HTMLParser(**_OPTIONS)
    root = etree.fromstring(content.encode(), parser)
    for fault in parser.error_log:
        if fault.level == etree.ErrorLevels.FATAL:
            problem = f"cannot be parsed as HTML ({fault.message})"
            raise BadInput(path, f"line {fault.line}", problem, "correct the file")
    return etree.Element("html") if root is None else root


_NAMED = {name.removesuffix(";"): text for name, text in html5.items() if name.endswith(";")}
_ENTITY = re.compile(r"&([A-Za-z][\w.-]*);")
_EXTERNAL = re.compile(
    r"<!ENTITY\s+([^\s%]+)\s+(?:SYSTEM|PUBLIC\s+(?:\"[^\"]*\"|'[^']*'))\s+(?:\"([^\"]*)\"|'([^']*)')"
)


class _Definitions(etree.Resolver):  # type: ignore[misc]
    """Supplies the definitions of named characters in place of every DTD, so that no DTD is fetched.

    A header may use entities that only its publisher's DTD defines (`&Perseus.publish;`): these are replaced by their
    names.
    """

    def __init__(self, content: str, path: Path) -> None:
        header = content.partition("</teiHeader>")[0]
        names = {**{name: name for name in _ENTITY.findall(header)}, **_NAMED}
        self._dtd = "".join(f'<!ENTITY {name} "{_escaped(text)}">' for name, text in names.items())
        self._external = {double or single: name for name, double, single in _EXTERNAL.findall(content)}
        self._path = path

    def resolve(self, system_url: str, public_id: str, context: Any) -> Any:
        """The definitions. Raises BadInput for an entity whose content is another file."""
        if system_url in self._external:
            problem = f"is the content of another file, {system_url}"
            remedy = "copy that file's text into this one"
            raise BadInput(self._path, f"&{self._external[system_url]};", problem, remedy)
        return self.resolve_string(self._dtd, context)


def _escaped(text: str) -> str:
    return "".join(f"&#38;#{ord(letter)};" if letter in "&<" else f"&#{ord(letter)};" for letter in text)


def parse_xml(path: Path) -> Element:
    """The root element of an XML file. Tags are local names, without namespaces.

    No DTD and no other file is read. An entity is known if HTML or the file itself defines it; the file needs no
    DOCTYPE.

    Raises
    ------
    BadInput
        If the file cannot be read as UTF-8, is not well-formed, or uses any other entity.
    """
    return xml_of(decode(path), path)


def xml_of(content: str, path: Path) -> Element:
    """The root element of an XML file with this content; `path` names it in faults, as for `parse_xml`.

    An `xml:id` that occurs twice is no fault of form.
    """
    if "<!DOCTYPE" not in content:
        content = re.sub(r"\A(\s*<\?xml[^>]*\?>)?", r'\1<!DOCTYPE names SYSTEM "names">', content, count=1)
    parser = etree.XMLParser(**_OPTIONS, load_dtd=True, resolve_entities=True, no_network=True, collect_ids=False)
    parser.resolvers.add(_Definitions(content, path))
    try:
        root = etree.fromstring(content.encode(), parser)
    except etree.XMLSyntaxError as error:
        problem = f"is not well-formed XML ({error.msg.partition(', line ')[0]})"
        raise BadInput(path, f"line {error.lineno}", problem, "correct the file") from error
    for element in root.iter():
        element.tag = etree.QName(element).localname
    return root
