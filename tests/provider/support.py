"""What tests of the provider share: a registry over the test server, questions, and a client without a ledger."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resources.postgres.postgres_ledger import PostgresLedger
from resources.provider.client import CallFailed, Client, Reply
from resources.provider.ledger import Ledger, Standing
from resources.provider.question import Question
from resources.provider.reading import Raw, Reading
from resources.provider.registry import Budget, Endpoint, Model, Price, Settings
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.server import Server


def model(url: str, endpoint: Mapping[str, Any] | None = None, **settings: Any) -> Model:
    """A model at a server, at a dollar for a million tokens of either kind. It waits for a reply longer than
    a busy machine takes."""
    own = {"endpoint": "server", "id": "m", "price": Price(input=1, output=1), "max_tokens": 1000} | settings
    return Model(
        "m", Settings.model_validate(own), Endpoint.model_validate({"url": url, "timeout": 60} | dict(endpoint or {}))
    )


def question(model: Model, number: int, passages: int = 1, filler: str = "") -> Question:
    """A request for the translation of some passages, different for each number."""
    texts = {f"d{number}:{i}": f"Sententia {number} {i}. {filler}" for i in range(passages)}
    messages = ({"role": "system", "content": "Translate."}, {"role": "user", "content": json.dumps(texts)})
    return Question(model, messages, "translate")


def says(server: Server, *contents: str | Mapping[str, Any], **settings: Any) -> None:
    """Have the server answer with these contents, one after the other, and with the last for good."""
    texts = [content if isinstance(content, str) else json.dumps(content) for content in contents]
    server.configure(answer="judge", judgements={"m": texts} if texts else {}, **settings)


NO_BUDGET = Budget()

Result = Reply | CallFailed


async def outcome(client: Client, asked: Question) -> Result:
    """The reply to a question, or the failure that took its place."""
    try:
        return await client.ask(asked)
    except CallFailed as failure:
        return failure


def address(ledger: Ledger) -> str:
    """What another process finds a ledger by."""
    return ledger.url if isinstance(ledger, PostgresLedger) else ledger.place


def at(address: str) -> Ledger:
    """The ledger at an address. Leases are short, so that a killed session need not be waited for."""
    return PostgresLedger(address, lease=3) if address.startswith("postgresql:") else SqliteLedger(Path(address))


def expire(ledger: Ledger) -> None:
    """Have the leases of all sessions end, as if their processes had been silent for long."""
    if isinstance(ledger, PostgresLedger):
        with ledger.changing() as connection:
            connection.execute("UPDATE session SET lease = clock_timestamp()")


class NoLedger:
    """In place of a ledger where a measurement wants none: remembers nothing."""

    def __enter__(self) -> "NoLedger":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    run = "run"

    async def find(self, key: str) -> None:
        return None

    async def standing(self, model: str, purpose: str) -> Standing:
        return Standing()

    async def claim(self, question: Question) -> int:
        return 0

    async def receive(self, attempt: int, raw: Raw) -> None:
        pass

    def settle(self, attempt: int, reading: Reading) -> None:
        pass

    async def drained(self) -> None:
        pass
