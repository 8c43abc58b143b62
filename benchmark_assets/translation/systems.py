"""The systems on trial, which turn source passages into outputs.

Here: the interface of every system, outputs that were made elsewhere, models of the registry. Not here: readers of
imported files (translation.imports), requests (translation.requests), calls (resources.provider).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import polars as pl
from babel import Locale
from pydantic import BaseModel, ConfigDict

from benchmark_assets.references import glossary
from benchmark_assets.translation.asking import Output, translating
from benchmark_assets.translation.batches import batches
from benchmark_assets.translation.requests import (
    BatchRequest,
    ChunkRequest,
    LinesRequest,
    Request,
    chunk_item,
    chunk_template,
)
from resources import prompts
from resources.digest import digest
from resources.errors import BadInput
from resources.provider.asking import ask_all, one_round
from resources.provider.estimate import Estimate, estimate
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.provider.tokens import counter
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.translation")


class System(Protocol):
    """One model with its settings."""

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of everything besides the source that determines the output, for each passage that the system covers."""

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate source texts by passage key; yield one Output each, in order of arrival. The run pays."""

    def estimate(self, sources: Mapping[str, str]) -> Estimate | None:
        """Calls and cost of translating the sources; None if no model is asked."""


class ImportedSystem:
    """Outputs that were made elsewhere and imported."""

    def __init__(self, warehouse: Warehouse, model: str) -> None:
        self._warehouse, self._model = warehouse, model

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of the imported text; passages that were not imported are not covered."""
        rows = self._rows(passages, "fingerprint")
        return dict(zip(rows["passage"], rows["fingerprint"], strict=True))

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Yield the imported outputs."""
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
    """A model of the registry.

    It is asked with the prompt `translate`, as in the audit (section 3.2, appendix A); in corpora that are compared
    with a human translation (`literary`), chunk by chunk with `chunk`, or line by line with `translate`.
    """

    def __init__(self, warehouse: Warehouse, provider: Provider, model: Model) -> None:
        self._warehouse, self._provider, self._model = warehouse, provider, model
        self._prompt, self._chunk_prompt = prompts.load("translate"), prompts.load("chunk")

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of endpoint, served version, settings, prompt; passages of corpora that it leaves out are not covered.

        Batches are no part of it: passages are independent items, and the manifest records the request of each. Nor are
        contexts and glossary of a chunk: the assets that hold them are inputs of an output.
        """
        hashes: dict[tuple[object, ...], str] = {}
        covered = self._passages(passages).select("passage", "language", "target_language", "literary")
        kinds = covered.drop("passage")
        for source, target, literary in kinds.unique().iter_rows():
            names = language_names(source, target)
            prompt = self._chunk_prompt if literary and not self._lines else self._prompt
            how = ["lines"] if literary and self._lines else []
            hashes[source, target, literary] = digest(prompt.digest(**names), *self._model.determinants, *how)
        return dict(zip(covered["passage"], map(hashes.__getitem__, kinds.iter_rows()), strict=True))

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Log the number of calls and the estimated cost, then ask for the passages."""
        requests = self._requests(sources)
        logger.info("%s: %s", self._model.name, self._estimate(requests))

        name = f"{self._model.name}, requests"
        asked = ask_all(
            self._provider, name, lambda ask, request: request.outputs(ask), [self._model], run, one_round(requests)
        )
        for _, outputs in asked:
            yield from outputs

    def estimate(self, sources: Mapping[str, str]) -> Estimate:
        """Calls and cost of the requests, assuming one reply for each."""
        return self._estimate(self._requests(sources))

    def _estimate(self, requests: Sequence[Request]) -> Estimate:
        questions = [question for request in requests for question in request.questions()]
        return estimate(questions, self._provider.ledger)

    def _requests(self, sources: Mapping[str, str]) -> list[Request]:
        """The requests for the passages, by corpus and language, in order."""
        rows = self._passages(list(sources))
        requests: list[Request] = []
        by = ["corpus", "language", "target_language", "literary"]
        for (_, source, target, literary), group in rows.group_by(by, maintain_order=True):
            languages = language_names(str(source), str(target))
            template = translating(self._model, self._prompt, languages)
            keys = dict(group.select("passage_id", "passage").iter_rows())
            if literary and self._lines:
                requests += [LinesRequest(template, key, identity, sources[key]) for identity, key in keys.items()]
            elif literary:
                requests += self._chunks(group, sources, languages)
            else:
                texts = {identity: sources[key] for identity, key in keys.items()}
                requests += [
                    BatchRequest(template, {identity: texts[identity] for identity in batch}, keys)
                    for batch in self._batches(texts)
                ]
        return requests

    def _chunks(
        self, rows: pl.DataFrame, sources: Mapping[str, str], languages: Mapping[str, str]
    ) -> list[ChunkRequest]:
        template = chunk_template(self._model, self._chunk_prompt, languages)
        glossaries = glossary.entries(self._warehouse, rows.select("passage"))
        return [
            ChunkRequest(template, key, chunk_item(sources[key], previous, following, glossaries.get(key, [])))
            for key, previous, following in rows.select("passage", "previous", "following").iter_rows()
        ]

    def _batches(self, texts: Mapping[str, str]) -> list[list[str]]:
        return batches(texts, self._model.settings.batch_tokens, counter(self._model.settings.tokenizer))

    @property
    def _lines(self) -> bool:
        return self._model.settings.lines

    def _passages(self, passages: Sequence[str]) -> pl.DataFrame:
        """The covered passages, in the given order, with ids, languages, contexts; `literary` is true if they are
        compared with a human translation."""
        keys = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        columns = ["passage", "passage_id", "corpus", "language", "previous", "following"]
        rows = self._warehouse.read("source_text", keys, columns)
        literary = pl.col("corpus").is_in(list(glossary.literary(self._warehouse)))
        corpora = self._warehouse.read("corpus", columns=["corpus", "target_language"]).with_columns(literary=literary)
        if self._model.settings.corpora is not None:
            corpora = corpora.filter(pl.col("corpus").is_in(self._model.settings.corpora))
        return keys.join(rows, on="passage", maintain_order="left").join(corpora, on="corpus", maintain_order="left")


class Systems(BaseModel):
    """All systems by the name of their partition: models of the registry, and models with imported outputs or answers
    to tasks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    warehouse: Warehouse
    provider: Provider

    def models(self) -> list[str]:
        """Names of the systems, sorted."""
        return sorted(self._imported() | set(self.provider.registry().models))

    def known(self, models: Iterable[str]) -> set[str]:
        """The models that are still systems: in the registry, or imported."""
        return set(models).intersection(self.models())

    def settings(self, asked: pl.DataFrame) -> pl.DataFrame:
        """Everything besides its source that determines an output: columns `model`, `passage` and `settings`.

        Passages that a system does not cover are left out; `settings` is null for systems that are no longer
        registered.

        Parameters
        ----------
        asked
            Columns `model` and `passage`.
        """
        rows: list[tuple[str, str, str | None]] = []
        systems = self.known(asked["model"].unique())
        for (model,), outputs in asked.group_by(["model"], maintain_order=True):
            name, passages = str(model), outputs["passage"].to_list()
            fingerprints: Mapping[str, str | None] = dict.fromkeys(passages)
            if name in systems:
                try:
                    fingerprints = self.system(name).fingerprints(passages)
                except BadInput as fault:  # becomes the error of each of its passages when they are translated
                    fingerprints = dict.fromkeys(passages, str(fault))
            rows += [(name, passage, fingerprint) for passage, fingerprint in fingerprints.items()]
        return pl.DataFrame(rows, schema=dict.fromkeys(["model", "passage", "settings"], pl.String), orient="row")

    def estimate(self, model: str, sources: Mapping[str, str]) -> Estimate | None:
        """Calls and cost of translating; None if no model is asked."""
        try:
            return self.system(model).estimate(sources)
        except BadInput:
            return None

    def translate(self, model: str, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate source texts; a fault of a system is an error of its own passages only."""
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
                model,
                "",
                "is in the registry, and outputs or answers were imported under its name",
                "rename it in the registry",
            )
        if model in registry.models:
            return CalledSystem(self.warehouse, self.provider, self.provider.model(model))
        if imported:
            return ImportedSystem(self.warehouse, model)
        raise BadInput(model, "", "is no model of this warehouse", "`variorum models` lists those that are")

    def _imported(self) -> set[str]:
        tables = ("imported_file", "imported_answer")
        return {model for table in tables for model in self.warehouse.read(table, columns=["model"])["model"]}


def language_name(tag: str) -> str:
    """English name (CLDR's) of a language by its BCP 47 or ISO 639 tag; the tag itself if it has no name."""
    return str(Locale.parse("en").languages.get(tag, tag))


def language_names(source: str, target: str) -> dict[str, str]:
    """Names of a source's and a translation's language by their tags, as prompts use them."""
    return {"source_language": language_name(source), "target_language": language_name(target)}
