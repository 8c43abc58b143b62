"""TMX: translation units with a text in each language, as translation memories export them.

Each .tmx file is a document, and each unit is a segment. The id of a unit is its `tuid` or, without one, its number in
the file; `segments.located` explains such ids. Texts are read in the languages of the description; `en` also matches
`en-GB`. A unit without a text in the reference's language is untranslated. Inline codes of the original format (`bpt`,
`ept`, `it`, `ph`, `ut`) are left out, highlighted text (`hi`) is kept.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.markup import Element, parse_xml
from benchmark_assets.corpus.readers.segments import Unit, documents_of, located
from resources.errors import BadInput, collecting

_TEXT = ".//text()[not(ancestor::bpt or ancestor::ept or ancestor::it or ancestor::ph or ancestor::ut)]"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .tmx file, or of all .tmx files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no .tmx file, or the corpus has several segmented references.
    """
    if len(description.segmented) > 1:
        remedy = "keep one of them, give the others a `layout` of their own, or write a table"
        raise BadInput(description.name, "references", "a TMX file has one translation per language", remedy)
    for path in listed(description, ".tmx"):
        faults: list[BadInput] = []
        with collecting(faults):
            units = list(_units(path, description, faults))
        yield from faults or documents_of(path, units, description)


def _units(path: Path, description: Description, faults: list[BadInput]) -> Iterator[Unit]:
    """The units of a file. Faults of single units are added to `faults`."""
    root = parse_xml(path)
    if root.tag != "tmx":
        remedy = "correct `layout`, or export the file again"
        raise BadInput(path, "", f"is not TMX (its root element is <{root.tag}>)", remedy)
    units, texts = root.xpath("body/tu"), {"source": description.source, **description.segmented}
    if not units:
        raise BadInput(path, "", "contains no translation units", "export the file again, or remove it")
    for number, unit in enumerate(units, start=1):
        with collecting(faults):
            _, segment = located((unit.get("tuid") or "").strip() or str(number), path)
            own: dict[str, str] = {}
            for name, text in texts.items():
                with collecting(faults):
                    own[name] = _text(unit, text.language, path)
            yield Unit(path.stem, segment, unit.sourceline, own)


def _text(unit: Element, language: str, path: Path) -> str:
    """Text of a unit in a language; '' if it has none."""
    texts = []
    for variant in unit.xpath("tuv"):
        tag = (variant.get(_LANGUAGE) or variant.get("lang") or "").casefold()
        if tag == language.casefold() or tag.startswith(f"{language.casefold()}-"):
            texts += ["".join(seg.xpath(_TEXT)) for seg in variant.xpath("seg")]
    if len(texts) > 1:
        problem = f"has {len(texts)} texts in {language!r}"
        raise BadInput(path, f"line {unit.sourceline}", problem, "keep one of them in each unit")
    return clean(texts[0], path, f"line {unit.sourceline}").strip() if texts else ""
