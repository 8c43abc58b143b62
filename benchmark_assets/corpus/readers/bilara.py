"""SuttaCentral's bilara layout: one JSON file per document and edition or translator, mapping segment ids to texts.

The paths are `root/<language>/<edition>/**/<document>_root-<language>-<edition>.json` for sources and
`translation/<language>/<translator>/**/<document>_translation-<language>-<translator>.json` for translations. A segment
that is missing from a translation's file is untranslated. Without a file for a document, a translator has no reference
for it. A segment of the source may be empty if its passage has other text.
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
    """Documents of a bilara tree in natural order of their ids (sn1.2 before sn1.10).

    Raises
    ------
    BadInput
        If the folder of the source's edition contains no document, or a translator has no folder.
    """
    source, root = description.source, description.root
    faults: dict[str, list[BadInput]] = defaultdict(list)
    sources = _files(
        root / "root" / source.language / source.edition, f"_root-{source.language}-{source.edition}", faults
    )
    if not sources:
        raise BadInput(
            root, f"root/{source.language}/{source.edition}", "contains no source document",
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
            remedy = "correct the translator's name or language, or drop the entry"
            raise BadInput(folder, translator, "is not a folder", remedy)
        for document in set(files) - set(sources):
            faults[document].append(
                BadInput(
                    files[document], document, f"{translator} translates a document without a source file",
                    "add the source file, or remove this one",
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
    """Files in a folder and its subfolders by document, in natural order; a second file of a document is a fault."""
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob(f"*{suffix}.json")):
        document = path.name.removesuffix(f"{suffix}.json")
        if document in files:
            problem = f"the document is also in {files[document]}"
            faults[document].append(BadInput(path, document, problem, "remove one of the files"))
        files[document] = path
    return dict(
        sorted(files.items(), key=lambda item: [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", item[0])])
    )


def _texts(path: Path, faults: list[BadInput]) -> dict[str, str] | None:
    """Texts of a file by segment id; None for an unreadable file, whose fault is added to `faults`."""
    try:
        return parse(decode(path), path)
    except BadInput as fault:
        faults.append(fault)
        return None


def _faults(
    path: Path, segments: dict[str, str], references: dict[str, tuple[Path, dict[str, str]]]
) -> Iterator[BadInput]:
    """Faults of a document, whose source is in `path`; `references` maps translators to a file and its texts."""
    if not segments:
        yield BadInput(path, "", "contains no segments", "write its segments, or remove the file")
        return
    for key, text in segments.items():
        if not isinstance(text, str):
            yield BadInput(path, key, "is not a string", "put the text in quotation marks")
    yield from source_faults(path, {key: text for key, text in segments.items() if isinstance(text, str)})
    for file, texts in references.values():
        for key, text in texts.items():
            if key not in segments:
                yield BadInput(file, key, f"has no source in {path.name}", "add the source segment, or drop this one")
            elif not isinstance(text, str) or not text.strip():
                problem = "is empty" if isinstance(text, str) else "is not a string"
                yield BadInput(
                    file, key, problem, "write the text, or leave the key out if the segment is untranslated"
                )
