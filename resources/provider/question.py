"""A question to a model: its request body, and the key under which the reply is stored.

Not here: sending (client), reading a reply (reading), parsing its text (replies).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

from resources.provider.reading import Reading
from resources.provider.registry import Model

Messages = tuple[Mapping[str, str], ...]

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
"""Answer of a request that asks for a JSON object without a schema."""

TOKENS_OF_A_MESSAGE = 16
"""Upper bound for the tokens that a chat template adds to a message."""


def hashed(place: str, replicate: int, body: bytes) -> str:
    """Return the key of a question, 32 hexadecimal digits: a hash of its place, its replicate and its request body."""
    return blake2b(f"{place}\0{replicate}\0".encode() + body, digest_size=16).hexdigest()


def has_text(reading: Reading) -> bool:
    """Whether a reply has a text."""
    return bool(reading.text.strip())


@dataclass(frozen=True)
class Question:
    """One request to one model.

    `answer` is the JSON schema of the reply, None for free text; one without properties asks for any JSON object.
    `replicate` distinguishes samples of the same request.
    `purpose` ('translate', …) is for the accounts, and for the circuit breaker: questions of one purpose are alike.
    `usable` tells whether a reply has an answer; replies that have none are counted by the breaker. A `batch` is a
    question whose asker can ask about its items one by one instead. A question that is `free` is answered only from the
    ledger. None of these determines the reply.
    """

    model: Model
    messages: Messages
    purpose: str
    answer: Mapping[str, Any] | None = None
    replicate: int = 0
    usable: Callable[[Reading], bool] = field(default=has_text, compare=False, repr=False)
    batch: bool = field(default=False, compare=False)
    free: bool = field(default=False, compare=False)

    @cached_property
    def body(self) -> dict[str, Any]:
        """The request body. All of its fields determine the reply."""
        return {**self.model.fields, "messages": list(self.messages), **self._form()}

    @cached_property
    def canonical(self) -> bytes:
        """The body as canonical JSON in UTF-8."""
        return json.dumps(self.body, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()

    @cached_property
    def key(self) -> str:
        """Hash of everything that determines the reply: endpoint, served version, body, replicate."""
        return hashed(
            f"{self.model.place}\0{self.model.served}" if self.model.served else self.model.place,
            self.replicate,
            self.canonical,
        )

    @property
    def worst_case(self) -> int | None:
        """Upper bound of the call's cost at the registry's price, in nanodollars; None without a price."""
        # Byte-level tokenizers make at most one token per byte; a schema is part of the prompt.
        prompt = len(self.canonical) + TOKENS_OF_A_MESSAGE * len(self.messages)
        price = self.model.price
        return None if price is None else price.cost(prompt, self.model.settings.max_tokens)

    @property
    def recording_key(self) -> str:
        """Key of the question in a recording. It excludes the endpoint, which the recording replaces."""
        return hashed("", self.replicate, self.canonical)

    def _form(self) -> dict[str, Any]:
        mode = self.model.endpoint.structured
        if self.answer is None or mode == "text":
            return {}
        if mode == "json" or "properties" not in self.answer:
            return {"response_format": {"type": "json_object"}}
        schema = {"name": "answer", "strict": True, "schema": self.answer}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
