"""Names of annotators: which spellings belong to one person. Not here: accounts of annotation tools (label_imports)."""

import unicodedata
from collections.abc import Iterable


def same_name(name: str) -> str:
    """Normalize a name so that all spellings of one person are equal: NFC, case folded, white space collapsed."""
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", name).casefold().split()))


def first_spellings(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Map each name to its first spelling: the first match in `known`, or else the first one in `names`."""
    spellings: dict[str, str] = {}
    names = list(names)
    for name in (*known, *names):
        spellings.setdefault(same_name(name), name)
    return {name: spellings[same_name(name)] for name in names}
