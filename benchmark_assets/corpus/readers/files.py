"""Files of a corpus: files that its layout reads, and files of documents that a pattern names."""

import re
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from benchmark_assets.corpus.description import Description
from resources.errors import BadInput


def listed(description: Description, *endings: str) -> list[Path]:
    """The root itself if it is a file, else the files in it with one of these endings, by name.

    Raises
    ------
    BadInput
        If the folder holds no such file.
    """
    root = description.root
    if not root.is_dir():
        return [root]
    files = sorted(path for path in root.iterdir() if path.suffix in endings)
    if not files:
        raise BadInput(
            root,
            "",
            f"holds no {' or '.join(endings)} file",
            f"correct `root` in the description of {description.name}",
        )
    return files


def fitting(folder: Path, pattern: str, documents: Collection[str] | None = None) -> dict[str, list[Path]]:
    """Files anywhere under a folder whose relative path fits a pattern, by the document in their name.

    Parameters
    ----------
    pattern
        A relative path, in which `{document}` stands for the document's id, `*` for any part of a name and `**/` for
        any folders. A word ends between an id and a `*`: `{document}*.txt` does not match `mn10.txt` for `mn1`.
    documents
        The ids; of two that fit, the longer one counts. By default, any name is an id.

    Returns
    -------
    Files in order of their paths, by document, for documents with files; under '' if the pattern has no `{document}`.
    """
    ids = "[^/]+" if documents is None else "|".join(map(re.escape, sorted(documents, key=len, reverse=True)))
    expression = re.compile(_expression(pattern, ids))
    files = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        match = expression.fullmatch(path.relative_to(folder).as_posix())
        if match and not path.is_dir():
            files[match["document"] if "document" in match.groupdict() else ""].append(path)
    return files


def _expression(pattern: str, ids: str) -> str:
    """The pattern as a regular expression; the group `document` has the id, which is the same at every occurrence."""
    expression = ""
    for token in re.finditer(r"(\*?)\{document\}(\*?)|\*\*/|\*|[^*{]+|\{", PurePosixPath(pattern).as_posix()):
        if "{document}" in token[0]:
            document = "(?P=document)" if "(?P<document>" in expression else f"(?P<document>{ids})"
            left, right = r"[^/]*(?<![^\W_])" * bool(token[1]), r"(?![^\W_])[^/]*" * bool(token[2])
            expression += left + document + right
        else:
            expression += {"**/": "(?:.*/)?", "*": "[^/]*"}.get(token[0]) or re.escape(token[0])
    return expression
