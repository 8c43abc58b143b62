"""Names of annotators, by which their work is attributed. Not here: accounts of annotation tools (label_imports)."""

import unicodedata
from collections.abc import Iterable


def same_name(name: str) -> str:
    """A form of a name that is equal for all spellings of one person: NFC, without case, white space squeezed."""
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", name).casefold().split()))


def first_spellings(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """The first spelling of each name: among the known names, in order, or else among the names themselves."""
    spellings: dict[str, str] = {}
    names = list(names)
    for name in (*known, *names):
        spellings.setdefault(same_name(name), name)
    return {name: spellings[same_name(name)] for name in names}
