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
from benchmark_assets.corpus.readers.segments import located, passages, source_faults
from resources.errors import BadInput, collecting, raise_all


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one source file, or of all source files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no source file, or if a translator has no file. If a translator has no file, the faults
        of all documents are raised together with this fault.
    """
    names = tuple(f".{translator}" for translator in description.segmented)
    sources = [path for path in listed(description, f".{description.source.language}") if not path.stem.endswith(names)]
    files = {
        path: {name: file for name in description.segmented if (file := _file(path, name, description))}
        for path in sources
    }
    results = [result for path in sources for result in _document(path, files[path], description)]
    missing = [
        BadInput(
            description.root, translator, "no document has a file of this translator", _remedy(description, translator)
        )
        for translator in description.segmented
        if not any(translator in own for own in files.values())
    ]
    if missing:  # without a translator's files, every passage would lose a reference
        raise_all([*missing, *(result for result in results if isinstance(result, BadInput))])
    yield from results


def _file(source: Path, translator: str, description: Description) -> Path | None:
    """The file of a translator, if it exists."""
    language = description.references[translator].language
    files = [source.with_suffix(f".{translator}.{language}")]
    if len(description.segmented) == 1:
        files.append(source.with_suffix(f".{language}"))
    return next((file for file in files if file != source and file.exists()), None)


def _remedy(description: Description, translator: str) -> str:
    language = description.references[translator].language
    return f"name it <document>.{translator}.{language}, correct `language`, or drop the entry"


def _document(path: Path, files: dict[str, Path], description: Description) -> list[Document | BadInput]:
    """The document whose source is in `path`, or its faults. `files` has the files of the translators."""
    faults: list[BadInput] = []
    source = _lines(path, faults)
    texts = {translator: _lines(file, faults) for translator, file in files.items()}
    for translator, lines in texts.items():
        if len(lines) != len(source) and not faults:
            problem = f"has {len(lines)} lines, but {path.name} has {len(source)}"
            faults.append(BadInput(files[translator], "", problem, "align the files line by line"))
    if not faults and not any(source):
        faults.append(BadInput(path, "", "contains no text", "write its text, or remove the file"))
    segments: dict[str, str] = {}
    references: dict[str, dict[str, str]] = {translator: {} for translator in texts}
    for number, text in enumerate(source, start=1):
        rendered = {
            name: lines[number - 1] for name, lines in texts.items() if lines[number - 1 : number] not in ([], [""])
        }
        _, segment = located(str(number), path)
        if text:
            segments[segment] = text
            for translator, rendering in rendered.items():
                references[translator][segment] = rendering
        elif rendered and not faults:
            problem = f"is empty, but {', '.join(rendered)} translates it"
            faults.append(BadInput(path, f"line {number}", problem, "write the line, or clear it in all files"))
    faults += source_faults(path, segments)
    if faults:
        return [*faults]
    return [Document(path.stem, path, passages(description.source.language, segments, references))]


def _lines(path: Path, faults: list[BadInput]) -> list[str]:
    """Lines of a file, without surrounding white space. Its faults are added to `faults`."""
    lines: list[str] = []
    with collecting(faults):
        for number, line in enumerate(decode(path).removesuffix("\n").split("\n"), start=1):
            lines.append("")
            with collecting(faults):
                lines[-1] = clean(line, path, f"line {number}").strip()
    return lines
