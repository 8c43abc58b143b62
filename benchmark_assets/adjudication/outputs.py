"""The common base of all studies that ask judges about outputs.

Here: texts and languages, and outputs grouped by model and corpus. Not here: the protocol of a study (studies.study),
the choice of impartial judges (impartial), the questions (panel, pairwise, literary).
"""

from abc import ABC
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.studies.study import Group, ItemStudy
from benchmark_assets.translation.systems import language_names
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse

OUTPUT = ["model", "passage"]
How = TypeVar("How")


class OutputStudy(ItemStudy[How], ABC):
    """A study that asks about outputs, with partitions by model and passage."""

    lost = "it lost a text: materialize source_text, reference and model_output first"

    def by_corpus(self, outputs: pl.DataFrame, how: Callable[[str, str], tuple[How, str]]) -> Iterator[Group[How]]:
        """Outputs grouped by model and corpus.

        Given a model and a corpus, `how` returns the settings by which the outputs are judged, and their fingerprint.
        If `how` raises BadInput because the outputs cannot be judged, their group has the error in place of settings,
        and the error message as its fingerprint.
        """
        for (model, corpus), rows in outputs.group_by("model", CORPUS, maintain_order=True):
            try:
                yield Group(rows.select(OUTPUT), *how(str(model), str(corpus)))
            except BadInput as fault:
                yield Group(rows.select(OUTPUT), fault, str(fault))

    def languages(self) -> dict[str, Mapping[str, str]]:
        """Names of the source language and of the references' language for use in prompts, by corpus."""
        return {corpus: language_names(*tags) for corpus, tags in corpus_languages(self.warehouse).items()}

    def texts(self, table: str, partitions: pl.DataFrame) -> dict[str, str]:
        """Texts by passage, from the rows of a table that match `partitions`."""
        return dict(self.warehouse.read(table, partitions, ["passage", "text"]).iter_rows())


def texts(warehouse: Warehouse, outputs: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Texts of outputs by model and passage; '' where the model declined to translate."""
    declined = warehouse.read("refusal", outputs.select(OUTPUT), OUTPUT)
    rows = warehouse.read("model_output", outputs.select(OUTPUT), [*OUTPUT, "text"])
    stored = {(model, passage): text for model, passage, text in rows.iter_rows()}
    return dict.fromkeys(declined.rows(), "") | stored
