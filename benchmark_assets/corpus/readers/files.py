"""Files of a corpus: those that its layout reads, and those of the documents that a pattern names."""

import re
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from benchmark_assets.corpus.description import Description
from resources.errors import BadInput


def listed(description: Description, *endings: str) -> list[Path]:
    """The root itself where it is a file, else the files in it with one of these endings, by name.

    Raises
    ------
    BadInput
        Where the folder holds none.
    """
    root = description.root
    if not root.is_dir():
        return [root]
    files = sorted(path for path in root.iterdir() if path.suffix in endings)
    if not files:
        raise BadInput(
            root, "", f"holds no {' or '.join(endings)} file", f"mend `root` in the description of {description.name}"
        )
    return files


def fitting(folder: Path, pattern: str, documents: Collection[str] | None = None) -> dict[str, list[Path]]:
    """Files anywhere under a folder whose path in it fits a pattern, by the document that they are named for.

    Parameters
    ----------
    pattern
        A relative path, in which `{document}` stands for the document's id, `*` for any part of a name and `**/` for
        any folders. Between an id and a `*` a word ends: `{document}*.txt` is not `mn10.txt` for `mn1`.
    documents
        The ids; of two that fit, the longer one counts. By default, any name is one.

    Returns
    -------
    Of each document that has any, the files in order of their paths; under '' where the pattern has no `{document}`.
    """
    ids = (
        "[^/]+" if documents is None else "|".join(re.escape(each) for each in sorted(documents, key=len, reverse=True))
    )
    expression = re.compile(_expression(pattern, ids))
    found = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        match = expression.fullmatch(path.relative_to(folder).as_posix())
        if match and not path.is_dir():
            found[match["document"] if "document" in match.groupdict() else ""].append(path)
    return found


def _expression(pattern: str, ids: str) -> str:
    """The pattern as a regular expression; the group `document` has the id, which is the same wherever it stands."""
    expression = ""
    for token in re.finditer(r"(\*?)\{document\}(\*?)|\*\*/|\*|[^*{]+|\{", PurePosixPath(pattern).as_posix()):
        if "{document}" in token[0]:
            document = "(?P=document)" if "(?P<document>" in expression else f"(?P<document>{ids})"
            left, right = r"[^/]*(?<![^\W_])" * bool(token[1]), r"(?![^\W_])[^/]*" * bool(token[2])
            expression += left + document + right
        else:
            expression += {"**/": "(?:.*/)?", "*": "[^/]*"}.get(token[0]) or re.escape(token[0])
    return expression
