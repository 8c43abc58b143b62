"""TMX: translation units with a text in each language, as translation memories export them.

Each .tmx file is a document, and each unit is a segment. The id of a unit is its `tuid` or, without one, its number in
the file; `segments.located` explains such ids. Texts are read in the languages of the description; `en` also matches
`en-GB`. If a language has several variants (several translations), `edition` of the source or reference names one: its
`creationid`, `changeid`, a property (`prop`) or its tag (`en-GB`), or its number among the variants of the unit (`2`).
In a file with one variant, `edition` says nothing about its texts. A number names no variant if units have different
numbers of variants. A log message names the languages and variants that are not read.
A unit without a text in the reference's language is untranslated. Inline codes of the original format (`bpt`,
`ept`, `it`, `ph`, `ut`) are left out, highlighted text (`hi`) is kept.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmark_assets.corpus.description import Description, Text
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.editions import some
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.markup import Element, parse_xml
from benchmark_assets.corpus.readers.segments import Unit, documents_of, located
from resources.errors import BadInput, collecting

logger = logging.getLogger("variorum.corpus")

_TEXT = ".//text()[not(ancestor::bpt or ancestor::ept or ancestor::it or ancestor::ph or ancestor::ut)]"
VARIANTS = "a `creationid`, `changeid`, `prop` or tag of the file, or the variant's number in its unit"
LOOKED_AT = 200
"""Number of units by which languages and variants are proposed."""
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .tmx file, or of all .tmx files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no .tmx file, or several references have the same variant.
    """
    variants = [text.edition.casefold() for text in description.segmented.values()]
    if len(set(variants)) < len(variants):
        problem = "are in one language, and do not name different variants"
        raise BadInput(description.name, "references", problem, f"give each an `edition`: {VARIANTS}")
    for path in listed(description, ".tmx"):
        faults: list[BadInput] = []
        with collecting(faults):
            units = list(_units(path, description, faults))
        yield from faults or documents_of(path, units, description)


def proposed(path: Path) -> tuple[str, dict[str, tuple[str, str]]]:
    """The language of the source, and for each translation, by a name, its language and what names its variant."""
    root = parse_xml(path)
    units = root.xpath("body/tu")[:LOOKED_AT]
    tags = Counter(tag for unit in units for tag in {_tag(variant) for variant in unit.xpath("tuv")})
    stated = root.xpath("string(header/@srclang)").casefold()
    source = stated if stated in tags else next(iter(tags), "")
    others = Counter({tag: number for tag, number in tags.items() if tag != source})
    language = "en" if any(tag.startswith("en") for tag in others) else _base(next(iter(others), "en"))
    variants = [[each for _, each in _variants(unit, language)] for unit in units]
    if max(map(len, variants), default=0) < 2:
        return source, {"translation": (language, "")}
    for place in ("@creationid", "@changeid", "prop", "@xml:lang | @lang"):
        found = [[str(each.xpath(f"string({place})")) for each in own] for own in variants]
        if all(all(own) and len(set(own)) == len(own) for own in found):
            return source, {name: (language, name) for name in dict.fromkeys(name for own in found for name in own)}
    numbers = map(str, range(1, max(map(len, variants)) + 1))
    return source, {f"translation-{number}": (language, number) for number in numbers}


def _tag(variant: Element) -> str:
    return (variant.get(_LANGUAGE) or variant.get("lang") or "").casefold()


def _base(tag: str) -> str:
    return tag.partition("-")[0]


def _units(path: Path, description: Description, faults: list[BadInput]) -> Iterator[Unit]:
    """The units of a file. Faults of single units are added to `faults`."""
    root = parse_xml(path)
    if root.tag != "tmx":
        remedy = "correct `layout`, or export the file again"
        raise BadInput(path, "", f"is not TMX (its root element is <{root.tag}>)", remedy)
    units, texts = root.xpath("body/tu"), {"source": description.source, **description.segmented}
    if not units:
        raise BadInput(path, "", "contains no translation units", "export the file again, or remove it")
    several = {text.language for text in texts.values() if any(len([*_variants(u, text.language)]) > 1 for u in units)}
    for name, text in texts.items():
        with collecting(faults):
            _check_number(units, name, text, path)
    unread: Counter[str] = Counter()
    for number, unit in enumerate(units, start=1):
        with collecting(faults):
            _, segment = located((unit.get("tuid") or "").strip() or str(number), path)
            own: dict[str, str] = {}
            left = set(unit.xpath("tuv"))
            for name, text in texts.items():
                edition = text.edition.casefold() if text.language in several else ""
                variants = [each for names, each in _named(unit, text.language) if not edition or edition in names]
                left.difference_update(variants)
                with collecting(faults):
                    own[name] = _text(unit, text, path, edition, variants)
            unread.update(map(_tag, left))
            yield Unit(path.stem, segment, unit.sourceline, own)
    if unread:
        logger.warning("%s: not read: %s", path, ", ".join(f"{n} texts in {tag!r}" for tag, n in unread.items()))


def _check_number(units: Sequence[Element], name: str, text: Text, path: Path) -> None:
    """Raise BadInput if a text is named by the number of its variant, and units have different numbers of variants."""
    variants = [[names - {str(number)} for number, (names, _) in enumerate(_named(unit, text.language), start=1)]
                for unit in units]  # fmt: skip
    if not text.edition.isdecimal() or any(text.edition in names for own in variants for names in own):
        return
    most = max(map(len, variants))
    if short := [str(number) for number, own in enumerate(variants, start=1) if 0 < len(own) < most]:
        problem = f"names one of {most} variants by its number, but fewer are in {len(short)} units: {some(short)}"
        remedy = "name the translator of each `tuv` by `creationid`, or write an empty `tuv` where a text is missing"
        raise BadInput(path, f"{name} edition", problem, remedy)


def _text(unit: Element, text: Text, path: Path, edition: str, variants: Sequence[Element]) -> str:
    """Text of a unit, which may be in one of these variants; '' if it has none."""
    texts = ["".join(seg.xpath(_TEXT)) for variant in variants for seg in variant.xpath("seg")]
    if len(texts) > 1:
        named = f"of the variant {edition!r}" if edition else f"in {text.language!r}"
        remedy = f"name the variant by `edition`: {VARIANTS}"
        raise BadInput(path, f"line {unit.sourceline}", f"has {len(texts)} texts {named}", remedy)
    return clean(texts[0], path, f"line {unit.sourceline}").strip() if texts else ""


def _named(unit: Element, language: str) -> Iterator[tuple[set[str], Element]]:
    """The variants of a unit in a language, each with what it may be named by, in small letters."""
    for number, (tag, variant) in enumerate(_variants(unit, language), start=1):
        names = (tag, str(number), variant.get("creationid"), variant.get("changeid"), *variant.xpath("prop/text()"))
        yield {name.strip().casefold() for name in names if name}, variant


def _variants(unit: Element, language: str) -> Iterator[tuple[str, Element]]:
    """The variants of a unit in a language, each with its tag."""
    for variant in unit.xpath("tuv"):
        tag = _tag(variant)
        if tag == language.casefold() or tag.startswith(f"{language.casefold()}-"):
            yield tag, variant
