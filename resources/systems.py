"""The systems on trial: what turns a source passage into an output.

Here: the interface that every system fills, and outputs that were made elsewhere. Not here: readers of the files from
which those come (translation.imports).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import dagster as dg
import polars as pl

from resources.errors import BadInput
from resources.warehouse import Warehouse


class Output(NamedTuple):
    """What came of one passage: its text, or the reason why there is none."""

    passage: str
    text: str | None
    error: str | None = None


class System(Protocol):
    """One model with its settings."""

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of what determines the output besides the source, for each passage that the system covers."""

    def translate(self, sources: Mapping[str, str]) -> Iterator[Output]:
        """Translate source texts by passage key; one Output each, in any order, as they come."""


class ImportedSystem:
    """Outputs that were made elsewhere and imported."""

    def __init__(self, warehouse: Warehouse, model: str) -> None:
        self._warehouse, self._model = warehouse, model

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of the imported text; passages that were not imported are not covered."""
        rows = self._rows(passages, "fingerprint")
        return dict(zip(rows["passage"], rows["fingerprint"], strict=True))

    def translate(self, sources: Mapping[str, str]) -> Iterator[Output]:
        """Give the imported outputs."""
        rows = self._rows(list(sources), "text")
        yield from (Output(passage, text) for passage, text in rows.iter_rows())

    def _rows(self, passages: Sequence[str], column: str) -> pl.DataFrame:
        keys = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        return self._warehouse.read(
            "imported_output", keys.with_columns(model=pl.lit(self._model)), ["passage", column]
        )


class Systems(dg.ConfigurableResource):  # type: ignore[type-arg]
    """All systems by the name of their partition."""

    warehouse: dg.ResourceDependency[Warehouse]

    def models(self) -> list[str]:
        """Names of the systems, sorted."""
        return sorted(self.warehouse.read("imported_file", columns=["model"])["model"].unique())

    def system(self, model: str) -> System:
        """The system of a model.

        Raises
        ------
        BadInput
            For a model that nobody imported.
        """
        if model not in self.models():
            raise BadInput(model, "", "is no model of this warehouse", "`variorum models` lists those that are")
        return ImportedSystem(self.warehouse, model)
