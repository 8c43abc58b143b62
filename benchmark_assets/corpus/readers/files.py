"""Finding the files of a corpus: the files that its layout reads, and the files that match a pattern."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from benchmark_assets.corpus.description import Description
from resources.errors import BadInput, meant


def listed(description: Description, *endings: str) -> list[Path]:
    """The root of a corpus if it is a file; else all files in the root folder with one of the given extensions.

    The files are in order of their paths. Subfolders are searched, too, except hidden subfolders (`.downloads`) and the
    root folders of continuous translations. Lock files of open workbooks, and files that the description names for
    other purposes (`corrections`), are left out.

    Raises
    ------
    BadInput
        If the folder contains no such file.
    """
    root = description.root
    if not root.is_dir():
        return [root]
    elsewhere, beside = {text.root for text in description.continuous.values()} - {root}, description.beside.values()
    files = [
        path for path in visible(root)
        if path.suffix in endings and elsewhere.isdisjoint(path.parents)
        and path not in beside and not path.name.startswith("~$")
    ]  # fmt: skip
    if not files:
        remedy = f"correct `root` in the description of {description.name}"
        raise BadInput(root, "", f"contains no {' or '.join(endings)} file", remedy)
    return files


def check_sources_only(description: Description) -> None:
    """Raise BadInput if a reference has no layout of its own. Called for layouts whose files contain only sources."""
    for translator in description.segmented:
        problem = f"is missing; files of the layout `{description.layout}` contain only sources"
        remedy = "give the `layout` of the translation's files, for example `text`, and their `root`"
        raise BadInput(description.name, f"references.{translator}.layout", problem, remedy)


def fitting(folder: Path, pattern: str, documents: Collection[str] | None = None) -> dict[str, list[Path]]:
    """Files in a folder and its subfolders whose relative path matches a pattern, grouped by document.

    Parameters
    ----------
    pattern
        A relative path, in which `{document}` matches the id of a document, `*` any part of a name, and `**/` any
        folders. An id and an adjacent `*` must be separated by a word boundary: `{document}*.txt` does not match
        `mn10.txt` for the id `mn1`.
    documents
        Ids of the documents; if several ids match a path, the longest id is used. By default, any name is an id.

    Returns
    -------
    For each document with files, its files in order of their paths. The key is '' if the pattern has no `{document}`.
    """
    ids = "[^/]+" if documents is None else "|".join(map(re.escape, sorted(documents, key=len, reverse=True)))
    expression = re.compile(_expression(pattern, ids))
    files = defaultdict(list)
    for path in visible(folder):
        match = expression.fullmatch(path.relative_to(folder).as_posix())
        if match and not path.is_dir():
            files[match["document"] if "document" in match.groupdict() else ""].append(path)
    return files


def visible(root: Path) -> Iterator[Path]:
    """Files and folders below a folder, in order of their paths, or the root itself if it is a file. Hidden ones are
    left out."""
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path


def translations(
    description: Description, translator: str, ending: str, documents: Collection[str], all_read: bool
) -> dict[str, list[Path]]:
    """Files of a continuous translation, by document. `ending` is the file name extension of the translation's layout.

    `all_read` tells whether all documents of the corpus could be read. If files match the pattern, but none belongs to
    a document in `documents`, BadInput is raised only if `all_read` is true. Otherwise the files may belong to
    documents that could not be read, and the result is empty.

    Raises
    ------
    BadInput
        If no file matches the pattern, or the pattern names one file for several documents.
    """
    if not documents:
        return {}
    reference, key = description.references[translator], f"references.{translator}"
    pattern, root = reference.files or f"**/{{document}}{ending}", reference.root or description.root
    folder = root.parent if root.is_file() else root
    if not folder.exists():
        raise BadInput(folder, key, f"does not exist{meant(folder)}", "correct the reference's `root`")
    if "{document}" not in pattern and len(documents) > 1:
        problem = f"{pattern!r} names one file, but the corpus has {len(documents)} documents"
        remedy = "write {document} in place of the document's id in the file name"
        raise BadInput(description.name, f"{key}.files", problem, remedy)
    files = fitting(folder, pattern, documents)
    if "" in files:  # a pattern without {document} is for the only document
        return dict.fromkeys(documents, files[""])
    if files:
        return files
    if not fitting(folder, pattern):
        remedy = "correct `files` or `root` of the reference, or drop it"
        raise BadInput(folder, key, f"no file matches {pattern!r}", remedy)
    if all_read:
        problem = f"no file that matches {pattern!r} has the id of a document in its name"
        example = pattern.replace("{document}", min(documents))
        raise BadInput(folder, key, problem, f"put the id into the name, as in {example!r}")
    return {}


def _expression(pattern: str, ids: str) -> str:
    """The pattern as a regular expression, whose group `document` matches the id.

    If `{document}` occurs more than once, all occurrences match the same id.
    """
    expression = ""
    for token in re.finditer(r"(\*?)\{document\}(\*?)|\*\*/|\*|[^*{]+|\{", PurePosixPath(pattern).as_posix()):
        if "{document}" in token[0]:
            document = "(?P=document)" if "(?P<document>" in expression else f"(?P<document>{ids})"
            left, right = r"[^/]*(?<![^\W_])" * bool(token[1]), r"(?![^\W_])[^/]*" * bool(token[2])
            expression += left + document + right
        else:
            expression += {"**/": "(?:.*/)?", "*": "[^/]*"}.get(token[0]) or re.escape(token[0])
    return expression
