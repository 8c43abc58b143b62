"""The registry of what can be called: endpoints, models, judges, aligners, embedders, prices, caps, in one YAML file.

Here: the form of `resources/models.yaml` (COMET's checkpoint, too) and its faults. Not here: how a call is made
(client), what may be spent (ledger).
"""

import os
import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from resources import yaml_files
from resources.comet.comet import Comet
from resources.embedders import Embedder, EndpointEmbedder, SentenceTransformerEmbedder
from resources.errors import BadInput
from resources.home import PROJECT
from resources.keys import check_key
from resources.provider.dialects import DIALECTS

NANO = 1_000_000_000
"""Money is counted in whole nanodollars: sums of many small prices then come out the same in any order."""

MOST_DRAWS = 1000
"""So many numbers lie between one seed and the next: a draw has a number of its own, whatever else is drawn."""


class _RegistryEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Endpoint(_RegistryEntry):
    """An OpenAI-compatible chat-completions API at `url`, or a file of recorded replies.

    `key` names the environment variable that holds the API key, '' where none is needed. `dialect` is one of
    `resources.provider.dialects`, `structured` what it can promise of a reply's form. `in_flight` bounds the calls at a
    time, `timeout` (seconds) one call.
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
            raise ValueError(f"no dialect {self.dialect!r}: use one of {sorted(DIALECTS)}")
        return self


class Price(_RegistryEntry):
    """US dollars for a million tokens; reasoning counts as output. `cached` is the price of cached input, if lower."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _cached_is_cheaper(self) -> "Price":
        if self.cached is not None and self.cached > self.input:
            raise ValueError("`cached` is above `input`: give the lower price of cached input, or leave it out")
        return self

    def cost(self, prompt: int, completion: int, cached: int = 0) -> int:
        """Nanodollars for so many tokens; `cached` is part of `prompt`."""
        cached = min(cached, prompt)  # some endpoints count it beside the prompt
        cheap = self.input if self.cached is None else self.cached
        dollars = ((prompt - cached) * self.input + cached * cheap + completion * self.output) / 1e6
        return round(dollars * NANO)


class Answering(_RegistryEntry):
    """How a model is asked about the samples of tasks of understanding.

    `shots` is the number of examples out of a task's train split that it is shown, `draws` how often it is asked about
    a sample, of which the majority counts. All of it is done once for each of `seeds`, with other examples.
    """

    shots: int = Field(default=0, ge=0)
    draws: int = Field(default=1, ge=1, le=MOST_DRAWS)
    seeds: tuple[Annotated[int, Field(ge=0, lt=1_000_000)], ...] = Field(default=(1,), min_length=1)

    @model_validator(mode="after")
    def _different(self) -> "Answering":
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("`seeds` has one twice")
        return self


class Settings(_RegistryEntry):
    """A model, a judge or an aligner, as the registry has it.

    `max_tokens` bounds a reply, reasoning included. `batch_tokens` bounds the source tokens of one translation request
    (audit, section 3.2). `pin` names upstream providers, where the endpoint has several. `in_flight` bounds the calls
    at a time. `budget` is the most, in US dollars, that this model may ever cost. `corpora` are those that it
    translates, and the tasks of understanding that it answers, by default all: codes of tasks and names of corpora
    share a space. `answering` says how it is asked about samples of tasks. `lines` has it translate chunks of literary
    corpora line by line, without context and glossary (the baseline of LiTERatE). `tokenizer` is a tokenizer.json that
    counts the source's tokens exactly. `family` names whose model it is; a judge is never of a family on trial.
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
    tokenizer: Path | None = None
    family: str = ""


class Budget(_RegistryEntry):
    """The most, in US dollars, that a run may cost, and all calls of a day (UTC)."""

    run: float | None = Field(default=None, gt=0)
    day: float | None = Field(default=None, gt=0)


class CometEntry(_RegistryEntry):
    """The COMET checkpoint that scores are made with: a path that ends in `.ckpt`, or a name on the hub; '' for none.

    `token_budget` bounds the tokens that are encoded at a time.
    """

    checkpoint: str = ""
    device: Literal["cpu", "cuda"] = "cpu"
    token_budget: int = Field(default=2048, ge=1)


class EmbedderEntry(_RegistryEntry):
    """An embedder: a model of an endpoint's /embeddings, or one that sentence-transformers loads ('' is MiniLM)."""

    endpoint: str | None = None
    model: str = ""
    dimensions: int = Field(0, ge=0)


class EncoderEntry(_RegistryEntry):
    """A checkpoint that is fine-tuned as a baseline of tasks of classes, a folder or a name on the hub; once a seed."""

    checkpoint: str = Field(min_length=1)
    seeds: tuple[Annotated[int, Field(ge=0, lt=2**31)], ...] = Field((1, 2, 3), min_length=1)

    @model_validator(mode="after")
    def _different(self) -> "EncoderEntry":
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("`seeds` has one twice")
        return self


@dataclass(frozen=True)
class Model:
    """A model, judge or aligner with its endpoint: everything that a call needs.

    `served` names the version that its endpoint serves, once that is another than at first (see served).
    """

    name: str
    settings: Settings
    endpoint: Endpoint
    served: str = ""

    @cached_property
    def place(self) -> str:
        """The URL that is called, or name and hash of the file that replies come from."""
        recording = self.endpoint.recording
        if recording is None:
            return self.endpoint.url
        content = recording.read_bytes() if recording.is_file() else b""  # the transport says what is wrong
        return f"recording {recording.name} {blake2b(content, digest_size=4).hexdigest()}"

    @property
    def price(self) -> Price | None:
        """Price of a call; None where it is not known. A recording costs nothing."""
        return Price(input=0, output=0) if self.endpoint.recording else self.settings.price

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """What goes into the body of every request and determines the reply, besides the messages."""
        own, dialect = self.settings, DIALECTS[self.endpoint.dialect]
        sampling = {"temperature": own.temperature, "top_p": own.top_p, "seed": own.seed}
        return {
            "model": own.id,
            dialect.most_tokens: own.max_tokens,
            **{name: value for name, value in sampling.items() if value is not None},
            **(dialect.efforts[own.effort] if own.effort else {}),
            **(dialect.pin(own.pin) if own.pin and dialect.pin else {}),
        }

    @property
    def determinants(self) -> tuple[object, ...]:
        """What determines its replies besides the messages."""
        return self.place, self.served, sorted(self.fields.items()), self.endpoint.structured


class Registry(_RegistryEntry):
    """The file as a whole. `embedder` names the one that scores are made with.

    `models` are on trial, `judges` compare what they say, `aligners` align continuous translations with their source.
    `encoders` are fine-tuned as baselines of tasks of classes. `families` are those of models whose outputs were
    imported, by name. `schedule` says when the schedule looks for what is due, as a cron expression in UTC.
    """

    endpoints: dict[str, Endpoint] = {}
    models: dict[str, Settings] = {}
    judges: dict[str, Settings] = {}
    aligners: dict[str, Settings] = {}
    families: dict[str, str] = {}
    embedders: dict[str, EmbedderEntry] = {}
    embedder: str
    encoders: dict[str, EncoderEntry] = {}
    comet: CometEntry = CometEntry()
    budget: Budget = Budget()
    schedule: str = "0 3 * * 1"

    @property
    def sections(self) -> Mapping[str, Mapping[str, Settings]]:
        """The models, judges and aligners by name, by the key of their section."""
        return {"models": self.models, "judges": self.judges, "aligners": self.aligners}

    def family(self, model: str) -> str:
        """The family of a model on trial, '' where nobody declares it."""
        return self.models[model].family if model in self.models else self.families.get(model, "")

    def model(self, name: str) -> Model:
        """A model, judge or aligner by its name.

        Raises
        ------
        KeyError
            For a name that is not in the registry.
        """
        settings = ChainMap(self.models, self.judges, self.aligners)[name]
        return Model(name, settings, self.endpoints[settings.endpoint])

    def chosen_embedder(self) -> Embedder:
        """The embedder that scores are made with."""
        entry = self.embedders[self.embedder]
        if entry.endpoint is None:
            return SentenceTransformerEmbedder(model=entry.model)
        endpoint = self.endpoints[entry.endpoint]
        return EndpointEmbedder(
            base_url=endpoint.url, model=entry.model, key_variable=endpoint.key, dimensions=entry.dimensions
        )

    def chosen_comet(self) -> Comet:
        """The COMET checkpoint that scores are made with."""
        return Comet(**self.comet.model_dump())


BASELINES = ("linear", "overlap", "scansion")
"""Baselines that no encoder may be called like."""


def default_path() -> Path:
    """The registry's file: `VARIORUM_MODELS`, by default `resources/models.yaml` of the project."""
    return Path(os.environ.get("VARIORUM_MODELS", PROJECT / "resources" / "models.yaml"))


def load(path: Path) -> Registry:
    """Read the registry; paths in it come back absolute.

    Raises
    ------
    BadInput
        For a fault of the file: a wrong or unknown key, an endpoint that is not there, a setting that the endpoint's
        dialect does not have, a budget over a model without a price.
    """
    registry = yaml_files.read(path, Registry, "README.md, Models and providers, has the keys")
    owners: dict[str, str] = {}
    for section, entries in registry.sections.items():
        for name, settings in entries.items():
            if name in owners:
                problem = f"is the name of a {owners[name]}, too"
                raise BadInput(path, f"{section}.{name}", problem, "give one of them another name")
            owners[name] = section.removesuffix("s")
            check_key(name, "model", path)
            _check(registry, settings, path, f"{section}.{name}")
    for name, entry in registry.embedders.items():
        endpoint = registry.endpoints.get(entry.endpoint or "")
        if entry.endpoint is not None and not (endpoint and endpoint.url and entry.model):
            raise BadInput(path, f"embedders.{name}", "needs an `endpoint` with a `url` and a `model`", "give both")
    for name in registry.encoders:
        if name in BASELINES:
            raise BadInput(path, f"encoders.{name}", "is the name of another baseline", "give it another name")
        check_key(name, "encoder", path)
    if registry.embedder not in registry.embedders:
        raise BadInput(path, "embedder", f"{registry.embedder!r} is not one of `embedders`", "name one of them")
    return _absolute(registry, path.resolve().parent)


def _check(registry: Registry, settings: Settings, path: Path, key: str) -> None:
    endpoint = registry.endpoints.get(settings.endpoint)
    if endpoint is None:
        raise BadInput(
            path, f"{key}.endpoint", f"no endpoint {settings.endpoint!r}", f"use one of {sorted(registry.endpoints)}"
        )
    dialect = DIALECTS[endpoint.dialect]
    if settings.effort and settings.effort not in dialect.efforts:
        choice = f"use one of {sorted(dialect.efforts)}" if dialect.efforts else "leave it out"
        raise BadInput(path, f"{key}.effort", f"{endpoint.dialect!r} has no effort {settings.effort!r}", choice)
    if settings.pin and dialect.pin is None:
        raise BadInput(path, f"{key}.pin", f"{endpoint.dialect!r} has no upstream providers to pin", "leave it out")
    if settings.answering.draws > 1 and settings.temperature == 0:
        raise BadInput(
            path, f"{key}.answering.draws", "is above 1 at temperature 0, where all draws are the same",
            "set a `temperature` above 0, or ask for 1 draw",
        )  # fmt: skip
    capped = settings.budget or registry.budget.run or registry.budget.day
    if capped and settings.price is None and endpoint.url:
        raise BadInput(
            path, f"{key}.price", "is missing, so that no budget can hold",
            "give dollars for a million tokens as {input: …, output: …}, 0 for a server of your own",
        )  # fmt: skip


def _absolute(registry: Registry, folder: Path) -> Registry:
    """Paths in the file are relative to it."""

    def settled(settings: Settings) -> Settings:
        return settings.model_copy(update={"tokenizer": settings.tokenizer and folder / settings.tokenizer})

    comet = registry.comet
    if comet.checkpoint.endswith(".ckpt"):
        comet = comet.model_copy(update={"checkpoint": str(folder / comet.checkpoint)})
    encoders = {
        name: each.model_copy(update={"checkpoint": str(folder / each.checkpoint)})
        for name, each in registry.encoders.items()
        if (folder / each.checkpoint).is_dir()  # else it is a name on the hub
    }
    return registry.model_copy(
        update={
            "comet": comet,
            "encoders": {**registry.encoders, **encoders},
            "endpoints": {
                name: each.model_copy(update={"recording": each.recording and folder / each.recording})
                for name, each in registry.endpoints.items()
            },
            **{
                section: {name: settled(each) for name, each in entries.items()}
                for section, entries in registry.sections.items()
            },
        }
    )
