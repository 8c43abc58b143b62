"""The version of a model that its endpoint serves, and detection of changes.

An endpoint may serve another version under the same name. Each reply names its version; a short question, asked at most
once a day, finds the current one. Here: that question and its consequences. Not here: the record (ledger).
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
"""Timeout of a probe, so that a model that is down does not delay the others."""

TOKENS = 64
"""Most tokens of a reply to a probe; a truncated reply names the version, too."""

logger = logging.getLogger("variorum.provider")


def versioned(model: Model, path: Path) -> Model:
    """The model with the version served now, if that is known and differs from the first one.

    Questions to the first version have keys without a version; questions to another version have keys of their own. So
    they are asked again, and old replies are found again if the first version returns.
    """
    first, now = ledger.served(path, model.place, model.settings.id)
    return replace(model, served=now if now and first and now != first else "")


def worth_probing(model: Model, path: Path) -> bool:
    """Whether the model has reported a version, and was not probed today.

    A recording does not change, and the first reply of a model names its version without a probe.
    """
    if model.endpoint.recording is not None or not ledger.served(path, model.place, model.settings.id)[0]:
        return False
    key = question(model).key
    return not ledger.answered(path, [key])


def question(model: Model) -> Question:
    """Today's probe, a question with a short reply."""
    short = model.settings.model_copy(update={"max_tokens": min(TOKENS, model.settings.max_tokens)})
    messages = tuple(prompts.load("probe").render())
    return Question(replace(model, settings=short), messages, ledger.PROBE, replicate=datetime.now(UTC).toordinal())


async def probe(client: Client, model: Model) -> None:
    """Ask a model for its version, which the ledger records; log a warning if the model gives no reply."""
    try:
        async with asyncio.timeout(SECONDS):
            await client.ask(question(model))
    except (CallFailed, BadInput, TimeoutError) as failure:
        reason = str(failure) or f"no answer within {SECONDS:g} s"
        logger.warning("%s: which version is served is unknown; %s", model.name, reason)
