"""Moses: one plain text file per language in UTF-8; the files are aligned line by line.

Each file `<document>.<language>` in the source's language is a document. A reference is in `<document>.<language>`, or,
if the corpus has several references, in `<document>.<translator>.<language>`. A document without such a file has no
reference by the translator. Line 3 of doc is the passage `doc:3` with the segment `doc:3.1`. An empty line is an
untranslated segment; a line that is empty in all files is not a segment.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.segments import Unit, documents_of, located
from resources.errors import BadInput, collecting, raise_all


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one source file, or of all source files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no source file, or if a translator has no file. If a translator has no file, the faults
        of all documents are raised together with this fault.
    """
    translators = {translator: text.language for translator, text in description.segmented.items()}
    names = tuple(f".{translator}" for translator in translators)
    sources = [path for path in listed(description, f".{description.source.language}") if not path.stem.endswith(names)]
    files: dict[Path, dict[str, Path]] = {path: {} for path in sources}
    for path in sources:
        for name, language in translators.items():
            endings = [f".{name}.{language}", *([f".{language}"] if len(translators) == 1 else [])]
            for file in map(path.with_suffix, endings):
                if file != path and file.exists():
                    files[path].setdefault(name, file)
    results = [result for path in sources for result in _documents(path, files[path], description)]
    missing = [
        BadInput(
            description.root, name, "no document has a file of this translator",
            f"name it <document>.{name}.{language}, correct `language`, or drop the entry",
        )
        for name, language in translators.items() if not any(name in own for own in files.values())
    ]  # fmt: skip
    if missing:  # without a translator's files, every passage would lose a reference
        raise_all([*missing, *(result for result in results if isinstance(result, BadInput))])
    yield from results


def _documents(path: Path, files: dict[str, Path], description: Description) -> Iterator[Document | BadInput]:
    """The document whose source is in `path`, or its faults. `files` has the files of the translators."""
    faults: list[BadInput] = []
    files = {"source": path, **files}
    columns = {name: _lines(file, faults) for name, file in files.items()}
    source = columns["source"]
    if not faults:
        faults += [
            BadInput(
                files[name], "", f"has {len(lines)} lines, but {path.name} has {len(source)}",
                "align the files line by line",
            )
            for name, lines in columns.items() if len(lines) != len(source)
        ]  # fmt: skip
    if not faults and not any(source):
        faults.append(BadInput(path, "", "contains no text", "write its text, or remove the file"))
    units = []
    for number, texts in enumerate(() if faults else zip(*columns.values(), strict=True), start=1):
        filled = {name: text for name, text in zip(columns, texts, strict=True) if text}
        if "source" in filled:
            units.append(Unit(path.stem, located(str(number), path)[1], number, filled))
        elif filled:
            problem = f"is empty, but {', '.join(filled)} translates it"
            faults.append(BadInput(path, f"line {number}", problem, "write the line, or clear it in all files"))
    yield from faults or documents_of(path, units, description)


def _lines(path: Path, faults: list[BadInput]) -> list[str]:
    """Lines of a file, without surrounding white space. Its faults are added to `faults`."""
    lines: list[str] = []
    with collecting(faults):
        for number, line in enumerate(decode(path).removesuffix("\n").split("\n"), start=1):
            lines.append("")
            with collecting(faults):
                lines[-1] = clean(line, path, f"line {number}").strip()
    return lines
