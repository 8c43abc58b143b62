"""Names of annotators: valid names, and which spellings belong to one person. Not here: accounts of annotation tools
(label_studio)."""

import unicodedata
from collections.abc import Iterable, Sequence

import polars as pl

from resources.errors import BadInput
from resources.warehouse import Warehouse

ANSWERS = ("imported_label", "imported_annotation", "pair_label", "match_label", "pair_control")
"""Tables of answers to all forms. A person has one name in all of them."""


def known_names(warehouse: Warehouse) -> pl.Series:
    """Names of annotators in the answers to all forms, first ones first."""
    names = [warehouse.read(table, columns=["annotator", "updated_at"]) for table in ANSWERS]
    return pl.concat(names).sort("updated_at", "annotator")["annotator"]


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


def checked_names(annotators: Sequence[str]) -> list[str]:
    """Names of annotators without surrounding blanks.

    Raises BadInput if a name is empty, has several lines, or occurs twice regardless of case and white space.
    """
    names = [name.strip() for name in annotators]
    for name in names:
        if not name or not name.isprintable():
            raise BadInput("annotator", repr(name), "is not a name", "give a name on one line")
        if [same_name(other) for other in names].count(same_name(name)) > 1:
            raise BadInput("annotator", name, "is given twice", "give names that differ by more than case")
    return names
