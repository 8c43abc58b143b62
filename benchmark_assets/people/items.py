"""Items of a sample: an output with its source and references, as sheets and tasks show it.

Here: names and texts of the columns and fields. Not here: drawing the sample (adjudication.triage), answers (form).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from benchmark_assets.people.form import storable

ABSENT = "—"
"""Shown in Label Studio in place of a missing or incomplete reference, because Label Studio requires a text."""

SOURCES = ("source", "source_text")
"""Names of the field that contains the source. The first name is used in sheets, and in tasks of earlier versions; the
second one is used in current tasks, because Label Studio would show the whole task in place of a field `source`."""

SHOWN = ("item", "made_for", "place", *SOURCES, "candidate")
"""Fields of an item, without its references. They are columns in a sheet, and fields of a task in Label Studio. `place`
is not read."""

_REFERENCE = re.compile(r"reference[ _].*", re.DOTALL)


class SheetItem(NamedTuple):
    """An output as annotators see it: anonymous key (`item`), passage id (`place`), and texts.

    `references` maps translators to texts.
    """

    item: str
    place: str
    source: str
    references: Mapping[str, str]
    candidate: str

    def cells(self, translators: Sequence[str], annotator: str) -> list[str]:
        """The item in a sheet (see `columns`); missing references are empty."""
        references = [self.references.get(name, "") for name in translators]
        return [self.item, annotator, self.place, self.source, *references, self.candidate]

    def fields(self, translators: Sequence[str], annotator: str) -> dict[str, str]:
        """The item in Label Studio. `made_for` is the annotator's name."""
        texts = {f"reference_{n}": self.references.get(name, ABSENT) for n, name in enumerate(translators, start=1)}
        return {
            "item": self.item, "made_for": annotator, "place": self.place, "source_text": self.source, **texts,
            "candidate": self.candidate,
        }  # fmt: skip


def columns(translators: Sequence[str]) -> list[str]:
    """Columns of an item in a sheet."""
    return ["item", "annotator", "place", "source", *(f"reference {name}" for name in translators), "candidate"]


def is_reference(name: str) -> bool:
    """Whether a column or field has a reference."""
    return bool(_REFERENCE.fullmatch(name))


def shown_texts(fields: Mapping[str, Any], ignore: Collection[str]) -> dict[str, str]:
    """The texts of an item in a row or a task, by column or field."""
    texts = {name: storable(value).strip() for name, value in fields.items() if name not in ignore}
    return {
        name: text for name, text in texts.items()
        if (name in ("candidate", *SOURCES) or is_reference(name)) and text not in ("", ABSENT)
    }  # fmt: skip
