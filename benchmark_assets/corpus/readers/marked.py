"""TEI that is cited by marks in its text: CBETA's lines, chunks of 84000, any numbered `milestone` or `lb`.

- `cbeta` (CBETA P5): the divisions of a text, and its paragraphs and verse groups, each by the line in which it begins
  (`2.0001b02`; a second one in the same line is `0001b02b`). Characters of CBETA's own list are replaced by the
  characters of Unicode that the header names. Apparatus, notes in lines and Sanskrit below Chinese are not text.
- `tei-milestones` (84000): the milestones of the most frequent unit, by `n` or by what follows the common beginning of
  their ids. Folios (`ref type="folio"`) become notes.
- `tei-lines`: lines by the `n` of `lb`, below the last `pb` or `cb` if lines are numbered anew.

Here: the text of a file. Not here: TEI that is cited by elements (tei), the documents of a corpus (cited).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.citations import ID, Citation
from benchmark_assets.corpus.readers.citing import CitedText, Citing
from benchmark_assets.corpus.readers.markup import Element, Markup, Role, parse_xml, roles
from benchmark_assets.corpus.readers.tei import RULES
from resources.errors import BadInput
from resources.keys import slug

Marks = Iterator[tuple[Element, Citation]]
"""Elements at which the text of a citation begins, in order."""


class _Marking(NamedTuple):
    """The names of the levels, a function that finds the marks of a body, and XPaths by role, which precede TEI's."""

    levels: tuple[str, ...]
    marks: Callable[[Element], Marks]
    rules: dict[Role, str]


def read(dialect: str, path: Path) -> dict[str, CitedText]:
    """The text of a file, by the file's name.

    Raises
    ------
    BadInput
        If the file is not well-formed TEI in UTF-8, has no body or no marks, or lost letters in conversion.
    """
    levels, marks, rules = _DIALECTS[dialect]
    root = parse_xml(path)
    bodies = root.xpath("//body[not(ancestor::body)]")
    if not bodies:
        problem = f"is not TEI with a text (its root element is <{root.tag}>, and it has no <body>)"
        raise BadInput(path, "", problem, "correct `layout`, or fetch the file again")
    _replace_characters(root)
    by_element = roles(root, rules)
    for element, role in roles(root, RULES).items():
        by_element.setdefault(element, role)
    found = Citing(*levels)
    starts = {element: found.cite(citation, element.sourceline) for body in bodies for element, citation in marks(body)}
    if not starts:
        raise BadInput(path, "", f"has no marks of the form `{dialect}`", "use the layout `tei`, or number its text")
    for folio in root.xpath("//ref[@type = 'folio'][not(node())]"):
        folio.text = folio.get("cRef") or ""
    markup = Markup(by_element, {}, {}, starts)
    for body in bodies:
        markup.write(body, found.text)
    text = found.finish()
    clean(text.content, path)
    return {slug(path.stem): text}


def _replace_characters(root: Element) -> None:
    """Write characters of the file's own list (`g`) as the header defines them, unless the text has them already."""
    defined: dict[str, str] = {}
    for char in root.xpath("//charDecl/*"):
        mapped = {each.get("type"): each.xpath("normalize-space()") for each in char.xpath("mapping")}
        code = re.fullmatch(r"U\+([0-9A-F]{4,6})", mapped.get("unicode") or mapped.get("normal_unicode") or "")
        composed = char.xpath("string(charProp[localName = 'composition' or localName = 'normalized form']/value)")
        defined[f"#{char.get(ID)}"] = chr(int(code[1], 16)) if code else composed.strip()
    for element in root.iter("g"):
        if not (element.text or "").strip():
            element.text = defined.get(element.get("ref") or "") or "〓"


_UNITS = ("p", "lg", "list", "table", "entry")


def _cbeta_marks(body: Element) -> Marks:
    division, line = 0, ""
    for element in body.iter():  # Chinese is written without spaces: lines of the file and of the page are joined
        element.text = re.sub(r"\s*\n\s*", "", element.text or "")
        element.tail = re.sub(r"\s*\n\s*", "", element.tail or "")
    parent: Element = None
    seen: Counter[str] = Counter()
    for element in body.iter("lb", "head", *_UNITS):
        if element.tag == "lb":
            line = element.get("n") or line if element.get("type") != "old" else line
        elif element.tag != "head" and not any(
            each.tag in (*_UNITS, "note", "rdg") for each in element.iterancestors()
        ):
            around = next(each for each in element.iterancestors() if each.tag in ("div", "body"))
            if around is not parent:
                parent, division = around, division + 1
            identity = re.search(r"p(\d{4}[a-z]\d\d)\d*$", element.get(ID) or "")
            place = identity[1] if identity else line
            seen[place] += 1
            yield element, (str(division), place if seen[place] == 1 else f"{place}{_letters(seen[place])}")


def _letters(number: int) -> str:
    """b for 2, c for 3, …; ba for 27."""
    return ("" if number <= 26 else _letters((number - 1) // 26 + 1)) + chr(ord("a") + (number - 1) % 26)


def _milestones(body: Element) -> Marks:
    units = Counter(each.get("unit") for each in body.iter("milestone") if each.get("n") or each.get(ID))
    unit = units.most_common(1)[0][0] if units else None
    elements = [each for each in body.iter("milestone") if each.get("unit") == unit and (each.get("n") or each.get(ID))]
    ids = [each.get(ID) or "" for each in elements]
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*ids, strict=False))
    common = re.sub(r"[^-_.:]*$", "", "".join(letters[0] for letters in same))
    for element in elements:
        yield element, (slug(element.get("n") or element.get(ID).removeprefix(common)),)


def _lines(body: Element) -> Marks:
    lines = [each for each in body.iter("lb") if each.get("n")]
    again = len({each.get("n") for each in lines}) < len(lines)
    page = "0"
    for element in body.iter("pb", "cb", "lb"):
        if element.tag == "pb" or (element.tag == "cb" and element.get("n")):
            column = element.get("n") or ""
            page = column if element.tag == "pb" else f"{page.rpartition('-')[0] or page}-{column}"
        elif element.get("n"):
            yield element, (slug(page), slug(element.get("n"))) if again else ("1", slug(element.get("n")))


_DIALECTS = {
    "cbeta": _Marking(
        ("division", "paragraph"), _cbeta_marks,
        {
            "left out": "//mulu | //rdg | //t[@place = 'foot'] | //foreign[@place = 'foot'] | //docNumber | //lb"
            " | //pb",
            "heading": "//head | //jhead | //byline",
            "footnote": "//note",
            "cell": "//caesura | //space",
            "paragraph": "//lg | //p",
        },
    ),
    "tei-lines": _Marking(("page", "line"), _lines, {}),
    "tei-milestones": _Marking(
        ("chunk",), _milestones, {"footnote": "//note | //ref[@type = 'folio']", "paragraph": "//trailer"}
    ),
}  # fmt: skip
