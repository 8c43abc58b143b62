"""The systems on trial: what turns source passages into outputs.

Here: the interface that every system fills, outputs that were made elsewhere, models of the registry. Not here: readers
of imported files (translation.imports), the protocol of a request (translation.asking), calls (resources.provider).
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import dagster as dg
import polars as pl
from babel import Locale

from benchmark_assets.lineage import digest
from benchmark_assets.partitions import check_key
from benchmark_assets.translation.asking import Output, Task, translate
from benchmark_assets.translation.batches import batches
from resources import prompts
from resources.errors import BadInput
from resources.provider import estimate
from resources.provider.client import complete, each
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.provider.tokens import counter
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.translation")

SECONDS_BETWEEN_WORDS = 5.0
"""How often progress is reported."""


class System(Protocol):
    """One model with its settings."""

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of what determines the output besides the source, for each passage that the system covers."""

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate source texts by passage key; one Output each, in any order, as they come. The run pays."""


class ImportedSystem:
    """Outputs that were made elsewhere and imported."""

    def __init__(self, warehouse: Warehouse, model: str) -> None:
        self._warehouse, self._model = warehouse, model

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of the imported text; passages that were not imported are not covered."""
        rows = self._rows(passages, "fingerprint")
        return dict(zip(rows["passage"], rows["fingerprint"], strict=True))

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Give the imported outputs."""
        rows = self._rows(list(sources), "text")
        yield from (Output(passage, text) for passage, text in rows.iter_rows())

    def _rows(self, passages: Sequence[str], column: str) -> pl.DataFrame:
        keys = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        return self._warehouse.read(
            "imported_output", keys.with_columns(model=pl.lit(self._model)), ["passage", column]
        )


class CalledSystem:
    """A model of the registry, asked with the prompt `translate`, as the audit does it (section 3.2, appendix A)."""

    def __init__(self, warehouse: Warehouse, provider: Provider, model: Model) -> None:
        self._warehouse, self._provider, self._model = warehouse, provider, model
        self._prompt = prompts.load("translate")

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of endpoint, settings and prompt; passages of corpora that the registry leaves out are not covered.

        How passages are batched is no part of it: they are independent items, and the manifest says how each was asked.
        """
        settings = (self._model.place, sorted(self._model.fields.items()), self._model.endpoint.structured)
        hashes: dict[tuple[str, str], str] = {}
        covered = self._passages(passages).select("passage", "language", "target_language")
        for source, target in covered.select("language", "target_language").unique().iter_rows():
            names = {"source_language": language_name(source), "target_language": language_name(target)}
            hashes[source, target] = digest(self._prompt.digest(**names), *settings)
        return {passage: hashes[source, target] for passage, source, target in covered.iter_rows()}

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Ask for the passages in batches, after saying how many calls that is and about what it will cost."""
        work = [
            (task, {identity: sources[passages[identity]] for identity in batch}, passages)
            for task, passages in self._tasks(list(sources))
            for batch in self._batches({identity: sources[key] for identity, key in passages.items()})
        ]
        questions = [task.question(texts) for task, texts, _ in work]
        logger.info("%s: %s", self._model.name, estimate.estimate(questions, Path(self._provider.ledger_path)))

        async def ask_all() -> list[Output]:
            outputs: list[Output] = []
            said = time.monotonic()
            async with self._provider.opened(run) as client:

                async def one(item: tuple[Task, Mapping[str, str], Mapping[str, str]]) -> list[Output]:
                    task, texts, passages = item
                    outputs = await translate(client.ask, task, texts)
                    return [
                        output._replace(passage=passages[output.passage], batch=passages[str(output.batch)])
                        for output in outputs
                    ]

                async for some in each(one, work, client.width(self._model)):
                    outputs += some
                    if time.monotonic() > said + SECONDS_BETWEEN_WORDS or len(outputs) == len(sources):
                        logger.info("%s: %d of %d passages", self._model.name, len(outputs), len(sources))
                        said = time.monotonic()
            return outputs

        yield from complete(ask_all())

    def _batches(self, texts: Mapping[str, str]) -> list[list[str]]:
        return batches(texts, self._model.settings.batch_tokens, counter(self._model.settings.tokenizer))

    def _tasks(self, passages: Sequence[str]) -> Iterator[tuple[Task, Mapping[str, str]]]:
        """The passages by corpus and language, in order: what they are asked with, and their keys by passage id."""
        rows = self._passages(passages)
        for (_, source, target), own in rows.group_by(["corpus", "language", "target_language"], maintain_order=True):
            keys = dict(own.select("passage_id", "passage").iter_rows())
            yield self._task(str(source), str(target)), keys

    def _task(self, source: str, target: str) -> Task:
        return Task(self._model, self._prompt, language_name(source), language_name(target))

    def _passages(self, passages: Sequence[str]) -> pl.DataFrame:
        """Those of the passages that are covered, in the order given, with ids and languages."""
        keys = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        rows = self._warehouse.read("source_text", keys, ["passage", "passage_id", "corpus", "language"])
        corpora = self._warehouse.read("corpus", columns=["corpus", "target_language"])
        if self._model.settings.corpora is not None:
            corpora = corpora.filter(pl.col("corpus").is_in(self._model.settings.corpora))
        return keys.join(rows, on="passage", maintain_order="left").join(corpora, on="corpus", maintain_order="left")


class Systems(dg.ConfigurableResource):  # type: ignore[type-arg]
    """All systems by the name of their partition: models of the registry, and models whose outputs were imported."""

    warehouse: dg.ResourceDependency[Warehouse]
    provider: dg.ResourceDependency[Provider]

    def models(self) -> list[str]:
        """Names of the systems, sorted."""
        return sorted(self._imported() | set(self.provider.registry().models))

    def system(self, model: str) -> System:
        """The system of a model.

        Raises
        ------
        BadInput
            For a model that is neither in the registry nor imported, is both, or has a name that is no slug.
        """
        registry = self.provider.registry()
        imported = model in self._imported()
        if model in registry.models and imported:
            raise BadInput(
                model, "", "is in the registry, and outputs were imported under its name", "rename it in the registry"
            )
        if model in registry.models:
            check_key(model, "model", self.provider.registry_path)
            return CalledSystem(self.warehouse, self.provider, registry.model(model))
        if imported:
            return ImportedSystem(self.warehouse, model)
        raise BadInput(model, "", "is no model of this warehouse", "`variorum models` lists those that are")

    def _imported(self) -> set[str]:
        return set(self.warehouse.read("imported_file", columns=["model"])["model"])


def language_name(tag: str) -> str:
    """English name of a language by its BCP 47 or ISO 639 tag (CLDR's); a tag without a name stands for itself."""
    return str(Locale.parse("en").languages.get(tag, tag))
