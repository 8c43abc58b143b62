"""Translation as a study: it reads sources from the warehouse, has systems translate them, and returns output rows.

Not here: producing outputs (translation.systems), questions to models (translation.passage_questions).
"""

from collections.abc import Iterator, Mapping

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.selection.candidates import selected
from benchmark_assets.studies.study import CALLS, Study
from benchmark_assets.translation.passage_questions import Output
from benchmark_assets.translation.systems import Systems
from resources.provider.estimate import CostEstimate, total

_COLUMNS = dict.fromkeys(["model", *Output._fields], pl.String)


class Translation(Study):
    """Translation of a selected passage by a system.

    An output becomes stale only if the system, the source (for a chunk, including its context) or, in a literary
    corpus, the glossary changes. Outputs of a model that was removed from the registry are kept.
    """

    name = "model_output"
    tables = ("refusal",)
    sparse = False
    systems: Systems

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """One row for each selected passage that a system covers; `settings` is null for unregistered models."""
        passages = selected(self.warehouse, partitions)["passage"].to_list()
        rows = self.systems.settings(partitions)
        return rows.filter(pl.col("passage").is_in(passages) | pl.col("settings").is_null())

    def cost(self, stale: pl.DataFrame) -> CostEstimate | None:
        """Calls and cost, assuming one call per request; None if no system has to ask a model."""
        estimates = [self.systems.estimate(model, sources) for model, sources in self._sources(stale)]
        return total(each for each in estimates if each) if any(estimates) else None

    def compute(self, stale: pl.DataFrame, run: str) -> Computed:
        """Rows of outputs, refusals and calls. A passage with neither an output nor a refusal fails."""
        rows = [
            (model, *output)
            for model, sources in self._sources(stale) for output in self.systems.translate(model, sources, run)
        ]  # fmt: skip
        outputs = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
        texts, refusals, answered = (outputs.filter(pl.col(name).is_not_null()) for name in ("text", "refusal", "call"))
        failed = outputs.filter(pl.col("text").is_null() & pl.col("refusal").is_null())
        silent = stale.join(outputs, on=self.dims, how="anti")
        nothing = silent.select(*self.dims, error=pl.lit("the system returned nothing"))
        calls = answered.filter(pl.col("error").is_null()).select(
            *self.dims, "call", "parsing", "prompt", "settings", study=pl.lit(self.name), task=pl.lit(""), item="batch",
            asked=pl.lit(None, pl.Int32),
        )  # fmt: skip
        return Computed(
            {
                "model_output": texts.select(*self.dims, "text"),
                "refusal": refusals.select(*self.dims, words="refusal"),
            },
            pl.concat([failed.select(*self.dims, "error"), nothing]),
            {CALLS: calls},
        )

    def _sources(self, stale: pl.DataFrame) -> Iterator[tuple[str, Mapping[str, str]]]:
        """For each model: its name, and the source texts of its stale passages by passage key."""
        rows = self.warehouse.read("source_text", stale.select("passage"), ["passage", "text"])
        texts = dict(rows.iter_rows())
        for (model,), outputs in stale.group_by(["model"], maintain_order=True):
            yield str(model), {key: texts[key] for key in outputs["passage"]}
