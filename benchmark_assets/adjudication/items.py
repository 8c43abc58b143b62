"""An item of a sample for people. Not here: drawing the sample (triage), files (annotation)."""

from collections.abc import Mapping
from typing import NamedTuple


class SheetItem(NamedTuple):
    """An output as annotators see it: anonymous key (`item`), passage id (`place`), and texts.

    `references` maps translators to texts.
    """

    item: str
    place: str
    source: str
    references: Mapping[str, str]
    candidate: str
