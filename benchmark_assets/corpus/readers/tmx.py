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
from benchmark_assets.corpus.readers.segments import located, passages, source_faults
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
            root = parse_xml(path)
            if root.tag != "tmx":
                remedy = "correct `layout`, or export the file again"
                raise BadInput(path, "", f"is not TMX (its root element is <{root.tag}>)", remedy)
            document = _document(path, root.xpath("body/tu"), description, faults)
        if faults:
            yield from faults
        else:
            yield document


def _document(path: Path, units: list[Element], description: Description, faults: list[BadInput]) -> Document:
    """The document of a file. Its faults are added to `faults`."""
    segments: dict[str, str] = {}
    lines: dict[str, int] = {}
    references: dict[str, dict[str, str]] = {translator: {} for translator in description.segmented}
    if not units:
        faults.append(BadInput(path, "", "contains no translation units", "export the file again, or remove it"))
    for number, unit in enumerate(units, start=1):
        _, segment = located((unit.get("tuid") or "").strip() or str(number), path)
        if segment in lines:
            where, problem = f"line {unit.sourceline} {segment}", f"the unit is also in line {lines[segment]}"
            faults.append(BadInput(path, where, problem, "keep one of the units"))
            continue
        lines[segment] = unit.sourceline
        with collecting(faults):
            segments[segment] = _text(unit, description.source.language, path)
        for translator, texts in references.items():
            with collecting(faults):
                if text := _text(unit, description.references[translator].language, path):
                    texts[segment] = text
    faults += source_faults(path, segments, lines)
    return Document(path.stem, path, passages(description.source.language, segments, references))


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
