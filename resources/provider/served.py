"""Which version of a model its endpoint serves, and noticing that it is another one.

An endpoint may put another version behind the same name. Replies say which one answered; a short question, asked at
most once a day, says which one answers now. Here: asking it, and what follows. Not here: the record (ledger).
"""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from resources import prompts
from resources.errors import BadInput
from resources.provider import ledger
from resources.provider.client import CallFailed, Client
from resources.provider.question import Question
from resources.provider.registry import Model

SECONDS = 60.0
"""How long an answer is waited for; work on other models should not wait for one that is down."""

TOKENS = 64
"""Most tokens of an answer. One that is cut off says as well who answered."""

logger = logging.getLogger("variorum.provider")


def versioned(model: Model, path: Path) -> Model:
    """The model with the version served now, if it is known and another than the first one.

    What the first version was asked keeps its keys; what another version is asked has keys of its own, so that it is
    asked again, and found again should the first return.
    """
    first, now = ledger.served(path, model.place, model.settings.id)
    return replace(model, served=now if now and first and now != first else "")


def worth_probing(model: Model, path: Path) -> bool:
    """Whether a version has been heard of that may have been replaced, and nobody has asked today.

    A recording does not change, and the first reply of a model says its version by itself.
    """
    if model.endpoint.recording is not None or not ledger.served(path, model.place, model.settings.id)[0]:
        return False
    key = question(model).key
    return not ledger.answered(path, [key])


def question(model: Model) -> Question:
    """The question of the day, which takes a short answer."""
    short = model.settings.model_copy(update={"max_tokens": min(TOKENS, model.settings.max_tokens)})
    messages = tuple(prompts.load("probe").render())
    return Question(replace(model, settings=short), messages, ledger.PROBE, replicate=datetime.now(UTC).toordinal())


async def probe(client: Client, model: Model) -> None:
    """Have the ledger note which version answers; a model that cannot be reached is passed over with a warning."""
    try:
        async with asyncio.timeout(SECONDS):
            await client.ask(question(model))
    except (CallFailed, BadInput, TimeoutError) as failure:
        reason = str(failure) or f"no answer within {SECONDS:g} s"
        logger.warning("%s: which version is served is unknown; %s", model.name, reason)
