"""The evaluated systems: models of the registry, and models whose outputs were imported.

Here: the interface of a system and its two implementations. Not here: readers of imported files (translation.imports),
requests (translation.requests), calls (resources.provider).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import polars as pl
from babel import Locale

from benchmark_assets.corpus.human_work import imported_outputs
from benchmark_assets.references import glossary
from benchmark_assets.studies.protocols import protocols
from benchmark_assets.translation.batches import batches
from benchmark_assets.translation.passage_questions import Output, Passages, translating
from benchmark_assets.translation.published import PublishedBatch, PublishedPassage, published_requests
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
from resources.errors import BadInput, suggestion
from resources.frozen import Frozen
from resources.provider.asking import ask_all, one_round
from resources.provider.estimate import CostEstimate, estimate, tokens
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.translation")


class System(Protocol):
    """A model with its settings. It translates source texts."""

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """For each covered passage: a hash of everything, except the source, that determines the output."""

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate the sources, and yield one Output per passage, in any order.

        `sources` maps passage keys to source texts. The budget of `run` pays for the calls.
        """

    def estimate(self, sources: Mapping[str, str]) -> CostEstimate | None:
        """Calls and cost of translating the sources; None if no model is asked."""


class ImportedSystem:
    """A model with imported outputs. Passages whose source changed after the import are not covered."""

    def __init__(self, warehouse: Warehouse, model: str) -> None:
        self._warehouse, self._model = warehouse, model

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """Hash of the imported text of each passage; passages without an imported text are not covered."""
        return dict(self._rows(passages).select("passage", "fingerprint").iter_rows())

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Yield the imported outputs."""
        rows = self._rows(list(sources)).select("passage", "text")
        yield from (Output(passage, text) for passage, text in rows.iter_rows())

    def estimate(self, sources: Mapping[str, str]) -> None:
        """Return None, because no model is asked."""

    def _rows(self, passages: Sequence[str]) -> pl.DataFrame:
        keys = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        outputs = imported_outputs(self._warehouse, keys.with_columns(model=pl.lit(self._model)))
        return outputs.filter(~pl.col("outdated"))


class CalledSystem:
    """A model of the registry.

    It is asked by the published protocol of a corpus, if there is one and the model follows it, else with the prompt
    `translate`, as in the audit (section 3.2, appendix A). Literary corpora, whose outputs
    are compared with a human translation, are translated chunk by chunk with the prompt `chunk`, or line by line with
    `translate` if the model's settings have `lines`.
    """

    def __init__(self, warehouse: Warehouse, provider: Provider, model: Model) -> None:
        self._warehouse, self._provider, self._model = warehouse, provider, model
        self._prompt, self._chunk_prompt = prompts.load("translate"), prompts.load("chunk")
        self._protocols = protocols(warehouse, "translate", model.name)
        passages = self._prompt.label
        self._labels: Mapping[type[Request], str] = {
            BatchRequest: passages, LinesRequest: f"{passages}, by line", ChunkRequest: self._chunk_prompt.label,
        }  # fmt: skip

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        """For each covered passage: a hash of endpoint, served version, settings and prompt.

        Passages outside a limited evaluation are not covered.

        The hash excludes batches, because passages are independent items. It also excludes the contexts and glossaries
        of chunks, because these come from upstream assets.
        """
        hashes: dict[tuple[object, ...], str] = {}
        columns = ["passage", "corpus", "language", "target_language", "literary"]
        covered = self._passages(self._within_limit(passages)).select(columns)
        kinds = covered.drop("passage")
        for corpus, source, target, literary in kinds.unique().iter_rows():
            if protocol := self._protocols.get(corpus):
                asked = protocol.applied(self._model)
                hashes[corpus, source, target, literary] = digest(*protocol.determinants, *asked.determinants)
                continue
            names = language_names(source, target)
            prompt = self._chunk_prompt if literary and not self._lines else self._prompt
            how = ["lines"] if literary and self._lines else []
            hashes[corpus, source, target, literary] = digest(prompt.digest(**names), *self._model.determinants, *how)
        return dict(zip(covered["passage"], map(hashes.__getitem__, kinds.iter_rows()), strict=True))

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Log the number of calls and the estimated cost, then translate the source texts."""
        requests = self._requests(sources)
        logger.info("%s: %s", self._model.name, self._estimate(requests))

        name = f"{self._model.name}, requests"
        results = ask_all(
            self._provider, name, lambda ask, request: request.outputs(ask), [self._model], run, one_round(requests)
        )
        for request, outputs in results:
            made = {"prompt": self._labels.get(type(request)), "settings": self._model.stated}
            if isinstance(request, PublishedBatch | PublishedPassage):
                made = {"prompt": request.template.prompt.label, "settings": request.template.model.stated}
            yield from (output._replace(**made) for output in outputs)

    def estimate(self, sources: Mapping[str, str]) -> CostEstimate:
        """Estimated calls and cost of the requests, assuming one call per question."""
        return self._estimate(self._requests(sources))

    def _estimate(self, requests: Sequence[Request]) -> CostEstimate:
        questions = [question for request in requests for question in request.questions()]
        return estimate(questions, self._provider.ledger)

    def _requests(self, sources: Mapping[str, str]) -> list[Request]:
        """Requests for the passages, grouped by corpus and languages; within a group, passages keep their order."""
        rows = self._passages(list(sources))
        requests: list[Request] = []
        by = ["corpus", "language", "target_language", "literary"]
        for (corpus, source, target, literary), group in rows.group_by(by, maintain_order=True):
            languages = language_names(str(source), str(target))
            template = translating(self._model, self._prompt, languages)
            keys = dict(group.select("passage_id", "passage").iter_rows())
            if protocol := self._protocols.get(str(corpus)):
                texts = {identity: sources[key] for identity, key in keys.items()}
                requests += published_requests(self._model, protocol, texts, keys)
            elif literary and self._lines:
                requests += [LinesRequest(template, key, identity, sources[key]) for identity, key in keys.items()]
            elif literary:
                requests += self._chunks(group, sources, languages)
            else:
                texts = {identity: sources[key] for identity, key in keys.items()}
                requests += [
                    BatchRequest(template, {identity: texts[identity] for identity in batch}, keys)
                    for batch in self._batches(template, texts)
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

    def _batches(self, template: Passages, texts: Mapping[str, str]) -> list[list[str]]:
        """The batches of passages. From batches without a stored reply, passages are taken that have one of their own:
        its translation may be readable by now, and if not, the next question is about the passage alone."""
        groups = batches(texts, self._model.settings.batch_tokens, tokens)

        def key(group: Sequence[str]) -> str:
            part = {passage: texts[passage] for passage in group}
            return template(part).question(part).key

        keys = {key(group): group for group in groups if len(group) > 1}
        answered = self._provider.ledger.answered(keys)
        new = [passage for found, group in keys.items() if found not in answered for passage in group]
        keys_alone = {passage: key([passage]) for passage in new}
        answered = self._provider.ledger.answered(keys_alone.values())
        alone = {passage for passage, found in keys_alone.items() if found in answered}
        parts = [[passage for passage in group if passage not in alone] for group in groups]
        return [*filter(None, parts), *([passage] for passage in new if passage in alone)]

    def _within_limit(self, passages: Sequence[str]) -> list[str]:
        """The passages without those that a limited evaluation of the model excludes, in the given order."""
        key = pl.DataFrame({"model": [self._model.name]})
        chosen = set(self._warehouse.read("limited_item", key, ["passage"])["passage"]) - {""}
        limited = {passage.partition("/")[0] for passage in chosen}
        return [each for each in passages if each in chosen or each.partition("/")[0] not in limited]

    @property
    def _lines(self) -> bool:
        return self._model.settings.lines

    def _passages(self, passages: Sequence[str]) -> pl.DataFrame:
        """The passages that the model covers, in the given order.

        Columns: `passage`, `passage_id`, `corpus`, `language`, `previous`, `following`, `target_language` and
        `literary`, which is true if outputs are compared with a human translation.
        """
        keys = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        columns = ["passage", "passage_id", "corpus", "language", "previous", "following"]
        rows = self._warehouse.read("source_text", keys, columns)
        literary = pl.col("corpus").is_in(list(glossary.literary(self._warehouse)))
        corpora = self._warehouse.read("corpus", columns=["corpus", "target_language", "translated"])
        corpora = corpora.filter(pl.col("translated").fill_null(value=True)).with_columns(literary=literary)
        if self._model.settings.corpora is not None:
            corpora = corpora.filter(pl.col("corpus").is_in(self._model.settings.corpora))
        return keys.join(rows, on="passage", maintain_order="left").join(corpora, on="corpus", maintain_order="left")


class Systems(Frozen):
    """All systems: models of the registry, and models with imported outputs or imported answers to tasks."""

    warehouse: Warehouse
    provider: Provider

    def models(self) -> list[str]:
        """Names of the systems, sorted."""
        return sorted(self._imported() | set(self.provider.registry().models))

    def known(self, models: Iterable[str]) -> set[str]:
        """The given models that are registered, or have imported outputs or answers."""
        return set(models).intersection(self.models())

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """For each output, a hash of everything, except the source, that determines the output.

        Parameters
        ----------
        partitions
            Columns `model` and `passage`.

        Returns
        -------
        Columns `model`, `passage` and `settings`, with a row for each passage that the system covers. `settings` is
        null for models that are neither registered nor imported, and an error message for systems that cannot be used.
        """
        rows: list[tuple[str, str, str | None]] = []
        systems = self.known(partitions["model"].unique())
        for (model,), outputs in partitions.group_by(["model"], maintain_order=True):
            name, passages = str(model), outputs["passage"].to_list()
            fingerprints: Mapping[str, str | None] = dict.fromkeys(passages)
            if name in systems:
                try:
                    fingerprints = self.system(name).fingerprints(passages)
                except BadInput as fault:  # makes the passages stale, and fails them when they are translated
                    fingerprints = dict.fromkeys(passages, str(fault))
            rows += [(name, passage, fingerprint) for passage, fingerprint in fingerprints.items()]
        return pl.DataFrame(rows, schema=dict.fromkeys(["model", "passage", "settings"], pl.String), orient="row")

    def estimate(self, model: str, sources: Mapping[str, str]) -> CostEstimate | None:
        """Calls and cost of translating `sources`, which maps passage keys to texts; None if no model is asked."""
        try:
            return self.system(model).estimate(sources)
        except BadInput:
            return None

    def translate(self, model: str, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        """Translate `sources`, which maps passage keys to texts.

        If the system cannot be used, each output contains the error message.
        """
        try:
            yield from self.system(model).translate(sources, run)
        except BadInput as fault:
            yield from (Output(passage, error=str(fault)) for passage in sources)

    def system(self, model: str) -> System:
        """The system of a model.

        Raises
        ------
        BadInput
            If the registry is invalid, or if the model is neither in the registry nor imported, or is both.
        """
        registry = self.provider.registry()
        imported = model in self._imported()
        if model in registry.models and imported:
            problem = "is in the registry, and outputs or answers were imported under its name"
            raise BadInput(model, "", problem, "rename it in the registry")
        if model in registry.models:
            return CalledSystem(self.warehouse, self.provider, self.provider.model(model))
        if imported:
            return ImportedSystem(self.warehouse, model)
        problem = f"no such model{suggestion(model, self.models())}"
        raise BadInput(model, "", problem, "`variorum status --models` lists the models")

    def _imported(self) -> set[str]:
        tables = ("imported_file", "imported_answer")
        return {model for table in tables for model in self.warehouse.read(table, columns=["model"])["model"]}


def language_name(tag: str) -> str:
    """English name of a language in CLDR, by its BCP 47 or ISO 639 tag; the tag itself if CLDR has no name for it."""
    return str(Locale.parse("en").languages.get(tag, tag))


def language_names(source: str, target: str) -> dict[str, str]:
    """Prompt variables with the English names of the source and target languages, from their tags."""
    return {"source_language": language_name(source), "target_language": language_name(target)}
