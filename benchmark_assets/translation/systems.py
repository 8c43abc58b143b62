"""The systems on trial: what turns source passages into outputs.

Here: the interface that every system fills, outputs that were made elsewhere, models of the registry. Not here: readers
of imported files (translation.imports), the protocol of a request (translation.asking), calls (resources.provider).
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import dagster as dg
import polars as pl
from babel import Locale

from benchmark_assets.lineage.standing import digest
from benchmark_assets.translation.asking import Output, Task, translate
from benchmark_assets.translation.batches import batches
from resources import prompts
from resources.errors import BadInput
from resources.provider.client import complete, each
from resources.provider.estimate import Estimate, estimate
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.provider.tokens import counter
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.translation")

SECONDS_BETWEEN_WORDS = 5.0
"""How often progress is reported."""


Batch = tuple[Task, Mapping[str, str], Mapping[str, str]]
"""What is asked in one request: how, source texts by passage id, and all keys of passages by their id."""


class System(Protocol):
    """One model with its settings."""

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of what determines the output besides the source, for each passage that the system covers."""

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate source texts by passage key; one Output each, in any order, as they come. The run pays."""

    def estimate(self, sources: Mapping[str, str]) -> Estimate | None:
        """What translating them would ask of a provider; None where nothing is asked."""


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

    def estimate(self, sources: Mapping[str, str]) -> None:
        """Nothing is asked."""

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
        """Hash of endpoint, version served, settings, prompt; passages of corpora that it leaves out are not covered.

        How passages are batched is no part of it: they are independent items, and the manifest says how each was asked.
        """
        hashes: dict[tuple[str, str], str] = {}
        covered = self._passages(passages).select("passage", "language", "target_language")
        for source, target in covered.select("language", "target_language").unique().iter_rows():
            names = {"source_language": language_name(source), "target_language": language_name(target)}
            hashes[source, target] = digest(self._prompt.digest(**names), *self._model.determinants)
        return {passage: hashes[source, target] for passage, source, target in covered.iter_rows()}

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Ask for the passages in batches, after saying how many calls that is and about what it will cost."""
        work = self._work(sources)
        logger.info("%s: %s", self._model.name, self._estimate(work))

        async def ask_all() -> list[Output]:
            outputs: list[Output] = []
            said = time.monotonic()
            async with self._provider.opened(run) as client:

                async def one(item: Batch) -> list[Output]:
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

    def estimate(self, sources: Mapping[str, str]) -> Estimate:
        """Calls and cost of the batches, each taken to be answered at once."""
        return self._estimate(self._work(sources))

    def _estimate(self, work: Sequence[Batch]) -> Estimate:
        return estimate([task.question(texts) for task, texts, _ in work], self._provider.ledger)

    def _work(self, sources: Mapping[str, str]) -> list[Batch]:
        return [
            (task, {identity: sources[passages[identity]] for identity in batch}, passages)
            for task, passages in self._tasks(list(sources))
            for batch in self._batches({identity: sources[key] for identity, key in passages.items()})
        ]

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

    def known(self, models: Iterable[str]) -> set[str]:
        """Those of the models that are systems still: in the registry, or imported."""
        return set(models).intersection(self.models())

    def settings(self, asked: pl.DataFrame) -> pl.DataFrame:
        """What determines each output besides its source: columns `model`, `passage` and `settings`.

        Passages that a system does not cover are left out; of systems that are known no more, `settings` is null.

        Parameters
        ----------
        asked
            Columns `model` and `passage`.
        """
        found: list[tuple[str, str, str | None]] = []
        known = self.known(asked["model"].unique())
        for (model,), own in asked.group_by(["model"], maintain_order=True):
            name, passages = str(model), own["passage"].to_list()
            fingerprints: Mapping[str, str | None] = dict.fromkeys(passages)
            if name in known:
                try:
                    fingerprints = self.system(name).fingerprints(passages)
                except BadInput as fault:  # is the error of each of its passages, once they are to be translated
                    fingerprints = dict.fromkeys(passages, str(fault))
            found += [(name, passage, fingerprint) for passage, fingerprint in fingerprints.items()]
        return pl.DataFrame(found, schema=dict.fromkeys(["model", "passage", "settings"], pl.String), orient="row")

    def estimate(self, model: str, sources: Mapping[str, str]) -> Estimate | None:
        """What translating would ask of a provider; None where nothing is asked."""
        try:
            return self.system(model).estimate(sources)
        except BadInput:
            return None

    def translate(self, model: str, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate source texts; what keeps one system from being asked is the error of its passages alone."""
        try:
            yield from self.system(model).translate(sources, run)
        except BadInput as fault:
            yield from (Output(passage, error=str(fault)) for passage in sources)

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
            return CalledSystem(self.warehouse, self.provider, self.provider.model(model))
        if imported:
            return ImportedSystem(self.warehouse, model)
        raise BadInput(model, "", "is no model of this warehouse", "`variorum models` lists those that are")

    def _imported(self) -> set[str]:
        return set(self.warehouse.read("imported_file", columns=["model"])["model"])


def language_name(tag: str) -> str:
    """English name of a language by its BCP 47 or ISO 639 tag (CLDR's); a tag without a name stands for itself."""
    return str(Locale.parse("en").languages.get(tag, tag))
