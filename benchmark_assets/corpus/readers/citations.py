"""Citations of a TEI file: the schemes that number its text, and the citation of every word.

Here: which elements have a number in a scheme, and where each citation begins and ends. Not here: the text itself
(tei), the choice of a scheme for a corpus, of passages and of segments (tei, editions).

A citation has one number for each level, from the highest level down: book, chapter, section. A file can be cited by
the schemes that it declares in a `refsDecl` (`citeStructure`, `cRefPattern` of CTS, `refState` or `step`; CTS first),
by the nesting of its elements with an `n` or `xml:id`, and by its numbered divisions, lines and milestones alone. Below
the last level of a scheme, numbered `div`, `l` and `milestone` elements are added as further levels, if hardly any of
the new citations occurs twice, and nearly all text of the last level gets such a citation.

A milestone is not a container: its number holds until the next number of its level or of a higher level. The number of
a container holds until the end of the container. A milestone in a note numbers the text that follows the note.

A number with question marks (`2??`) is read without them. Text whose citation occurs again, and is no continuation of a
divided line or chapter, belongs to the citation before it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, NamedTuple

from lxml import etree

from benchmark_assets.corpus.readers.markup import Element

Citation = tuple[str, ...]
"""One number for each level of the scheme, the highest level first. Text outside the lowest levels has a shorter
citation."""

Level = tuple[str, Mapping[Element, str]]
"""The name of a level, and the number of each element at this level."""

ID = "{http://www.w3.org/XML/1998/namespace}id"
UNITS = "starts-with(name(), 'div') or self::lg or self::ab or self::p or self::l or self::seg"
"""XPath condition for elements that may contain the text of a citation in a file without a declaration."""

LINE = "line"
_NAMELESS = {"textpart", "edition", "translation", "commentary", "other"}
_NAMES = {"l": LINE, "p": "paragraph", "lg": "stanza", "seg": "segment"}
_PREFIX = r"\btei:"
_COVERED = 0.9
_UNIQUE = 0.95

COMPLETE = 0.98
"""Minimum share of a text's characters that a scheme has to give a citation."""


class Scheme(NamedTuple):
    """Names of the levels (`levels`). For each element with numbers, the depth of its first number, and a tuple of all
    its numbers (`places`)."""

    levels: tuple[str, ...]
    places: dict[Element, tuple[int, Citation]]


class Odd(NamedTuple):
    """A number that is not taken as it stands: its citation, the citation that its text has, the element, and why."""

    citation: Citation
    taken: Citation
    element: Element
    why: Literal["repeated", "doubtful"]


@dataclass
class Cited:
    """The citations of a text by one scheme.

    - `levels`: names of the levels of the scheme.
    - `units`: the citations in order, each with the first element that has it.
    - `odd`: numbers that occur again or are doubtful, in order. A line that is divided into several `l`, or a chapter
      that is divided into adjacent `div`, does not occur again.
    - `starts`, `ends`: the citation of the text that follows the start or the end of an element.
    - `divisions`: citations at which a numbered or unnumbered division begins.
    - `outside`: the first element with text outside all citations.
    - `letters`: number of characters of text, by the length of the text's citation.
    """

    levels: tuple[str, ...]
    units: dict[Citation, Element] = field(default_factory=dict)
    odd: list[Odd] = field(default_factory=list)
    starts: dict[Element, Citation] = field(default_factory=dict)
    ends: dict[Element, Citation] = field(default_factory=dict)
    divisions: set[Citation] = field(default_factory=set)
    outside: Element | None = None
    letters: Counter[int] = field(default_factory=Counter)

    @property
    def read(self) -> float:
        """Share of the text that has a citation."""
        return 1 - self.letters[0] / max(self.letters.total(), 1)

    @property
    def is_complete(self) -> bool:
        """Whether nearly all text has a citation, and hardly any citation occurs again."""
        repeated = sum(odd.why == "repeated" for odd in self.odd)
        return self.read >= COMPLETE and repeated <= 2 + (1 - _UNIQUE) * len(self.units)


def readings(root: Element, bodies: Sequence[Element], excluded: frozenset[Element], document: str) -> Iterator[Cited]:
    """The citations of a file's bodies by each scheme that the file can be cited by, in order of preference.

    Parameters
    ----------
    excluded
        Elements whose content is not part of the text, such as notes.
    document
        The document's id, which an `xml:id` may begin with.
    """
    seen: list[tuple[str, ...]] = []
    for scheme in _schemes(root, bodies, excluded, document):
        found = _extended(_with_lines(scheme, bodies, excluded), bodies, excluded)
        if found.units and found.levels not in seen:
            seen.append(found.levels)
            yield found


def _schemes(root: Element, bodies: Sequence[Element], excluded: frozenset[Element], document: str) -> Iterator[Scheme]:
    yield from (scheme for scheme in _declared(root, bodies) if scheme.levels)
    yield _nesting(bodies, excluded, document)
    yield Scheme((), {})


def _extended(scheme: Scheme, bodies: Sequence[Element], excluded: frozenset[Element]) -> Cited:
    """The citations of the text by a scheme, and by further levels below it."""
    found = _walk(scheme, bodies, excluded)
    for name, elements in sorted(_further(scheme, bodies).items(), key=lambda item: len(item[1])):
        if name in scheme.levels:
            continue
        depth = len(scheme.levels)
        places = scheme.places | {each: (depth, (_n(each),)) for each in elements}
        extended = _with_lines(Scheme((*scheme.levels, name), places), bodies, excluded)
        deeper = _walk(extended, bodies, excluded)
        units = sum(len(citation) > depth for citation in deeper.units)
        repeated = sum(odd.why == "repeated" and len(odd.citation) > depth for odd in deeper.odd)
        letters = sum(number for length, number in deeper.letters.items() if length >= depth)
        covers = deeper.letters[depth + 1] >= _COVERED * letters
        if covers and units >= _UNIQUE * (units + repeated):
            scheme, found = extended, deeper
    return found


def _n(element: Element) -> str:
    """The number of an element in its attribute `n`; '' for a URN, which names a work."""
    number = (element.get("n") or "").strip()
    return "" if ":" in number else number


# Declarations


def _declared(root: Element, bodies: Sequence[Element]) -> Iterator[Scheme]:
    """The schemes that a file declares, each cut off before the first level for which the file has no element."""
    declarations = root.xpath("//refsDecl")
    for declaration in sorted(declarations, key=lambda element: element.get("n") != "CTS"):
        for read in (_cite_structure, _patterns, _states):
            levels = []
            for name, numbers in read(declaration, bodies):
                if not numbers:
                    break
                levels.append((name.casefold(), numbers))
            places: dict[Element, tuple[int, Citation]] = {}
            for depth, (_, numbers) in enumerate(levels):
                places |= {element: (depth, (number,)) for element, number in numbers.items()}
            yield Scheme(tuple(name for name, _ in levels), places)


def _cite_structure(declaration: Element, _: Sequence[Element]) -> Iterator[Level]:
    """Levels of nested `citeStructure` elements. If a level has several such elements, only the first is used."""
    structures, parents = declaration.xpath("citeStructure"), [declaration.getroottree()]
    for depth in count(1):
        if not structures:
            return
        structure, numbers = structures[0], {}
        use = structure.get("use") or "@n"
        for parent in parents:
            elements = _matches(parent, structure.get("match") or "")
            for position, element in enumerate(elements, start=1):
                number = position if use == "position()" else _selected(element, f"string({use})") or ""
                if number := str(number).strip():
                    numbers[element] = number
        yield structure.get("unit") or f"level {depth}", numbers
        structures, parents = structure.xpath("citeStructure"), list(numbers)


def _patterns(declaration: Element, _: Sequence[Element]) -> Iterator[Level]:
    """Levels of `cRefPattern`. The longest path is divided after the steps with $1, $2 and so on, one part for each
    level."""
    patterns: dict[int, Element] = {}
    for pattern in declaration.xpath("cRefPattern"):
        patterns.setdefault(len(set(re.findall(r"\$\d", pattern.get("replacementPattern") or ""))), pattern)
    if not patterns:
        return
    path = re.sub(r"^#xpath\((.*)\)$", r"\1", patterns[max(patterns)].get("replacementPattern") or "")
    steps = re.split(r"(?<!/)(?=/)(?![^\[]*\])", path)
    parents: list[Element] = [declaration.getroottree()]
    for depth in range(1, max(patterns) + 1):
        end = next((at for at, step in enumerate(steps, start=1) if f"${depth}" in step), 0)
        numbered = re.sub(r"\s*=\s*(['\"])\$\d\1", "", "".join(steps[:end]))
        steps = steps[end:]
        elements = [each for parent in parents for each in _matches(parent, f".{numbered}" if depth > 1 else numbered)]
        parents = [each for each in elements if _n(each)]
        name = patterns[depth].get("n") if depth in patterns else None
        yield name or f"level {depth}", {each: _n(each) for each in parents}


def _states(declaration: Element, bodies: Sequence[Element]) -> Iterator[Level]:
    """Levels of `refState` (P5), `state` or `step` (P4). A level's elements have the name of the declared unit."""
    for state in declaration.xpath("refState | state | step"):
        unit = (state.get("unit") or state.get("refunit") or "").casefold()
        elements = [element for body in bodies for element in body.iter() if _n(element)]
        yield unit, {each: _n(each) for each in elements if unit in _names(each)}


def _names(element: Element) -> set[str]:
    names = {(element.get(key) or "").casefold() for key in ("type", "subtype", "unit")}
    return {*names, _NAMES.get(element.tag, "")} - {""}


def _selected(start: Element, path: str) -> Any:
    """What an XPath selects; nothing if the XPath is invalid."""
    try:
        return start.xpath(re.sub(_PREFIX, "", path))
    except etree.XPathError:
        return []


def _matches(start: Element, path: str) -> list[Element]:
    """Elements that an XPath selects; none if it selects anything other than elements."""
    found = _selected(start, path)
    return [each for each in found if etree.iselement(each)] if isinstance(found, list) else []


# Nesting


def _nesting(bodies: Sequence[Element], excluded: frozenset[Element], document: str) -> Scheme:
    """The scheme of a file without a declaration, from the nesting of its elements with an `xml:id` or `n`.

    An `xml:id`, without a leading document id, is a complete citation; so is its end that begins with the numbers of
    the containing element (`verse_1.2` in 1). An `n` that begins with the numbers of the
    containing element is also a complete citation. Other numbers are appended to the containing element's citation.
    """
    places: dict[Element, tuple[int, Citation]] = {}
    names: dict[int, Counter[str]] = defaultdict(Counter)
    citations: dict[Element, Citation] = {}
    for element in (each for body in bodies for each in body.xpath(f".//*[{UNITS}]")):
        ancestors = [*element.iterancestors()]
        if not excluded.isdisjoint(ancestors):
            continue
        outer = next((citations[ancestor] for ancestor in ancestors if ancestor in citations), ())
        if identity := (element.get(ID) or "").strip():
            inside = rf"(?:\D*[\W_](?={re.escape('.'.join(outer))}\.))?" if outer else ""
            outer, number = (), re.sub(rf"^(?:{re.escape(document)}[._-]+(?!$))?{inside}", "", identity)
        elif number := _n(element):
            number = number.removeprefix(".".join(outer) + ".") if outer else number
        else:
            continue
        parts = tuple(part for part in number.split(".") if part) or (number,)
        citations[element] = (*outer, *parts)
        places[element] = (len(outer), parts)
        for depth in range(len(outer), len(outer) + len(parts)):
            names[depth][_name(element)] += 1
    return Scheme(tuple(names[depth].most_common(1)[0][0] for depth in sorted(names)), places)


def _name(element: Element) -> str:
    """The name of the level of an element: its subtype, type or unit, else the name of its tag."""
    named = [(element.get(key) or "").casefold() for key in ("subtype", "type", "unit")]
    return next((name for name in named if name and name not in _NAMELESS), _NAMES.get(element.tag, element.tag))


def _further(scheme: Scheme, bodies: Sequence[Element]) -> dict[str, list[Element]]:
    """Numbered divisions, lines and milestones that are not in the scheme, by the name of their level."""
    found: dict[str, list[Element]] = defaultdict(list)
    for body in bodies:
        for element in body.xpath(".//*[starts-with(name(), 'div') or self::l or self::milestone]"):
            if element not in scheme.places and _n(element):
                found[_name(element)].append(element)
    return found


def _with_lines(scheme: Scheme, bodies: Sequence[Element], excluded: frozenset[Element]) -> Scheme:
    """The scheme, extended by a number for each `l` in a container that numbers some of its lines.

    Lines without a number continue the count of the preceding line if the next number agrees with that count. Otherwise
    they belong to the preceding line or, at the beginning, to the first numbered line. The continuation of a divided
    line (`part` M or F) belongs to the preceding line.
    """
    groups: dict[Element, list[Element]] = defaultdict(list)
    for line in (line for body in bodies for line in body.iter("l")):
        ancestors = [*line.iterancestors()]
        if excluded.isdisjoint(ancestors):
            groups[next(each for each in ancestors if each in scheme.places or each in bodies)].append(line)
    places, given = dict(scheme.places), set(scheme.places.values())
    for lines in groups.values():
        first = next((line for line in lines if line in scheme.places), None)
        if first is not None:
            depth, numbers = before = scheme.places[first]
            for line, number in zip(lines, _counted(lines, scheme), strict=True):
                place = (depth, (*numbers[:-1], number))
                if line not in places:  # another element may have the next number as a complete citation
                    places[line] = before if depth == 0 < len(numbers) - 1 and place in given else place
                before = places[line]
    return scheme._replace(places=places)


def _counted(lines: Sequence[Element], scheme: Scheme) -> list[str]:
    """Numbers of the lines of a container that numbers at least one line."""
    numbers = [scheme.places[line][1][-1] if line in scheme.places else "" for line in lines]
    begins = [line.get("part") not in ("M", "F") for line in lines]
    before = "0"
    for at in range(len(lines)):
        if not numbers[at]:
            end = next((later for later in range(at, len(lines)) if numbers[later]), len(lines))
            following = numbers[end] if end < len(lines) else ""
            expected = int(before) + sum(begins[at:end]) + 1 if before.isdecimal() else None
            fits = expected is not None and (not following or following == str(expected))
            number = int(before) if fits else 0
            for unnumbered in range(at, end):
                number += begins[unnumbered]
                numbers[unnumbered] = str(max(number, 1)) if fits else following if before == "0" else before
        before = numbers[at]
    return numbers


# Citations of the text


def _walk(scheme: Scheme, bodies: Sequence[Element], excluded: frozenset[Element]) -> Cited:
    """The citations of the text, in order.

    `current` is the citation by the numbers as they stand; `taken` is the citation that the text gets.
    """
    found = Cited(scheme.levels)
    last: dict[int, Citation] = {}
    latest: Citation = ()
    for body in bodies:
        current: Citation = ()
        taken: Citation = ()
        outer: list[tuple[Citation, Citation]] = []
        begins = False
        walker = etree.iterwalk(body, events=("start", "end"))
        for event, element in walker:
            place = None if element in excluded else scheme.places.get(element)
            if event == "start":
                numbered = [element] if place is not None else []
                if element in excluded:
                    walker.skip_subtree()
                    numbered = _milestones(element, scheme)
                elif place is not None and _contains(element):
                    outer.append((current, taken))
                begins = begins or str(element.tag).startswith("div")
                for each in numbered:
                    depth, numbers = scheme.places[each]
                    if len(current) < depth:
                        continue
                    number = numbers[0].removeprefix(".".join(current[:depth]) + ".") if depth else numbers[0]
                    current = (*current[:depth], number, *numbers[1:])
                    divided = each.tag.startswith(("l", "div")) and last.get(len(current)) == current
                    written, current = current, (*current[:-1], current[-1].rstrip("?") or current[-1])
                    if current in found.units and not divided:
                        taken = latest
                        found.odd.append(Odd(written, taken, each, "repeated"))
                    else:
                        taken = current
                        if written != current:
                            found.odd.append(Odd(written, taken, each, "doubtful"))
                    found.units.setdefault(taken, each)
                    latest = taken
                    last[len(current)] = current
                    if begins:
                        found.divisions.add(taken)
                        begins = False
                    found.starts[element] = taken
                if element not in excluded:
                    _count(found, element.text, taken, element)
            else:
                if place is not None and _contains(element):
                    current, taken = outer.pop()
                    found.ends[element] = taken
                if element is not body:
                    _count(found, element.tail, taken, element.getparent())
    return found


def _milestones(element: Element, scheme: Scheme) -> list[Element]:
    """Milestones in an element that is not part of the text. A milestone in a note numbers the text around the note."""
    if element.tag in ("rdg", "rdgGrp", "sic", "orig", "abbr"):
        return []
    return [each for each in element.iter("milestone") if each in scheme.places]


def _contains(element: Element) -> bool:
    """Whether the number of an element holds only until the end of the element, unlike the number of a milestone."""
    return element.tag not in ("milestone", "pb", "cb", "lb", "gb")


def _count(found: Cited, text: str | None, citation: Citation, element: Element) -> None:
    if text and (length := len(text.strip())):
        found.letters[len(citation)] += length
        if not citation and found.outside is None:
            found.outside = element
