"""The version of a model that its endpoint serves, and the detection of changes.

An endpoint may start to serve another version under the same name. Every reply names its version; a probe, a short
question that is asked at most once a day, finds the current version. Here: the probe and its consequences. Not here:
the record of versions (ledger).
"""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime

from resources import prompts
from resources.errors import BadInput
from resources.provider.client import CallFailed, Client
from resources.provider.ledger import PROBE, Ledger
from resources.provider.question import Question
from resources.provider.registry import Model

SECONDS = 60.0
"""Timeout of a probe, so that a model that is down does not delay the others."""

TOKENS = 64
"""Token limit of a reply to a probe. A truncated reply also names the version."""

logger = logging.getLogger("variorum.provider")


def versioned(model: Model, ledger: Ledger) -> Model:
    """Return the model with `served` set to the current version, or to '' if the first version seen is still current.

    The key of a question to the first version contains no version. The key of a question to another version contains
    that version, so the question is asked again. If the first version is served again, its replies are found again.
    """
    first, now = ledger.served(model.place, model.settings.id)
    return replace(model, served=now if now and first and now != first else "")


def worth_probing(model: Model, ledger: Ledger) -> bool:
    """Whether to probe the model today: true if it has reported a version before, and has not answered a probe today.

    False for a recording, whose version cannot change, and for a model that was never called, because its first reply
    names the version without a probe.
    """
    if model.endpoint.recording is not None or not ledger.served(model.place, model.settings.id)[0]:
        return False
    key = question(model).key
    return not ledger.answered([key])


def question(model: Model) -> Question:
    """Make today's probe of a model."""
    short = model.settings.model_copy(update={"max_tokens": min(TOKENS, model.settings.max_tokens)})
    messages = tuple(prompts.load("probe").render())
    day = datetime.now(UTC).toordinal()
    return Question(replace(model, settings=short), messages, PROBE, replicate=day, usable=lambda reading: True)


async def probe(client: Client, model: Model) -> None:
    """Probe a model, so that the ledger records its version. Log a warning if there is no reply."""
    try:
        async with asyncio.timeout(SECONDS):
            await client.ask(question(model))
    except (CallFailed, BadInput, TimeoutError) as failure:
        reason = str(failure) or f"no reply within {SECONDS:g} s"
        logger.warning("%s: the served version is unknown; %s", model.name, reason)
