"""SuttaCentral's bilara layout: one JSON file a document and edition, an object of segment ids and texts.

`root/<language>/<edition>/**/<document>_root-<language>-<edition>.json` and
`translation/<language>/<translator>/**/<document>_translation-<language>-<translator>.json`. A segment that a
translation leaves out is untranslated there; a translator without a file for a document has no reference in it. An
edition may leave a segment of the source empty, as long as its passage has text.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.segments import passages, source_faults
from benchmark_assets.corpus.readers.strict_json import parse
from resources.errors import BadInput


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of a bilara tree in natural order of their names (sn1.2 before sn1.10).

    Raises
    ------
    BadInput
        If the folder of the root edition holds no document, or a translator of the description has no folder.
    """
    source, root = description.source, description.root
    faults: dict[str, list[BadInput]] = defaultdict(list)
    sources = _files(
        root / "root" / source.language / source.edition, f"_root-{source.language}-{source.edition}", faults
    )
    if not sources:
        raise BadInput(
            root, f"root/{source.language}/{source.edition}", "holds no source document",
            "correct `root`, or `language` and `edition` of the source",
        )  # fmt: skip
    translations = {
        translator: _files(
            root / "translation" / text.language / translator, f"_translation-{text.language}-{translator}", faults
        )
        for translator, text in description.segmented.items()
    }
    for translator, files in translations.items():
        folder = root / "translation" / description.references[translator].language / translator
        if not folder.is_dir():
            raise BadInput(
                folder, translator, "is no folder", "correct the translator's name or language, or drop the entry"
            )
        for document in set(files) - set(sources):
            faults[document].append(
                BadInput(
                    files[document], document, f"{translator} translates a document without a source",
                    "add its source file, or remove this one",
                )
            )  # fmt: skip
    for document in sorted(set(faults) - set(sources)):
        yield from faults[document]
    for document, path in sources.items():
        problems = faults[document]
        segments = _texts(path, problems)
        references = {
            translator: (files[document], _texts(files[document], problems) or {})
            for translator, files in translations.items()
            if document in files
        }
        if segments is not None:
            problems += _faults(path, segments, references)
        if problems or segments is None:
            yield from problems
        else:
            texts = {translator: content for translator, (_, content) in references.items()}
            yield Document(document, path, passages(source.language, segments, texts))


def _files(folder: Path, suffix: str, faults: dict[str, list[BadInput]]) -> dict[str, Path]:
    """Files by document, in natural order; a document that lies in the folder twice is a fault."""
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob(f"*{suffix}.json")):
        document = path.name.removesuffix(f"{suffix}.json")
        if document in files:
            faults[document].append(
                BadInput(path, document, f"the document is also in {files[document]}", "remove one of them")
            )
        files[document] = path
    return dict(
        sorted(files.items(), key=lambda item: [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", item[0])])
    )


def _texts(path: Path, faults: list[BadInput]) -> dict[str, str] | None:
    try:
        return parse(decode(path), path)
    except BadInput as fault:
        faults.append(fault)
        return None


def _faults(
    path: Path, segments: dict[str, str], references: dict[str, tuple[Path, dict[str, str]]]
) -> Iterator[BadInput]:
    if not segments:
        yield BadInput(path, "", "holds no segment", "write its segments, or remove the file")
        return
    for key, text in segments.items():
        if not isinstance(text, str):
            yield BadInput(path, key, "is no text", "put the text in quotation marks")
    yield from source_faults(path, {key: text for key, text in segments.items() if isinstance(text, str)})
    for file, texts in references.values():
        for key, text in texts.items():
            if key not in segments:
                yield BadInput(file, key, f"has no source in {path.name}", "add the source segment or drop this one")
            elif not isinstance(text, str) or not text.strip():
                problem = "is empty" if isinstance(text, str) else "is no text"
                yield BadInput(file, key, problem, "write the text, or leave the key out where it is untranslated")
