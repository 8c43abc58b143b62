"""The trial of a model: one small request with all settings of its entry, and what to change if it is refused.

Here: the request, and the remedy for each refusal. Not here: calls (client), money (ledger), the printed report (cli).
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from resources import prompts
from resources.errors import BadInput, suggestion
from resources.provider.asking import fields as reader
from resources.provider.breaker import Breaker
from resources.provider.client import Waits, complete
from resources.provider.dialects import DIALECTS
from resources.provider.ledger import Refusal
from resources.provider.names import Unusable
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Policy, Raw, Reading, retry_after
from resources.provider.registry import Model
from resources.provider.replies import TEXT, object_of

PURPOSE = "trial"

WAITS = Waits(patience=60.0)
"""A trial waits at most a minute in all for a server that throttles or has an error, because a person waits for it."""

ANSWER = object_of({"word": TEXT})

PASSING = (Outcome.RATE_LIMITED, Outcome.SERVER_ERROR)
"""Outcomes that a server may not have a moment later, and that cost nothing."""

_UNROUTABLE = re.compile(r"parameters|allowed providers|data policy", re.I)
"""Words in a gateway's 404 that show that no upstream provider supports all fields. Any other 404 is about the model or
the URL."""

_FIELDS = {
    "temperature": "write `temperature: null`",
    "top_p": "leave out `top_p`",
    "seed": "leave out `seed`",
    "provider": "leave out `pin`",
    "response_format": "set the endpoint's `structured` to `json` or `text`",
}
"""What to change if an endpoint refuses a field that has the same name in all dialects."""

_REMEDIES = {
    Outcome.UNREACHABLE: "check `url`, and whether the server runs",
    Outcome.NOT_FOUND: "check `id` and `url`: API addresses often end in /v1",
    Outcome.NO_CREDIT: "pay for credit at the endpoint",
    Outcome.RATE_LIMITED: "wait, then try again",
    Outcome.TIMEOUT: "try again, or raise `timeout`",
    Outcome.REDIRECTED: "give the address as `url`",
    Outcome.WEB_PAGE: "check `url`: API addresses often end in /v1",
}


@dataclass(frozen=True)
class Trial:
    """The result of a trial.

    `fault` says why the request was not accepted; None if it was accepted. `call` is the row of the request in
    `ledger.attempts()`. `before` are the outcomes after which it was sent again.
    """

    model: Model
    reading: Reading
    fault: BadInput | None
    call: Mapping[str, Any] = field(repr=False)
    before: Sequence[str] = ()

    @property
    def problem(self) -> str:
        """The reason why no study could read such a reply; '' if it can be read."""
        try:
            reader(ANSWER, _word)(self.reading)
        except Unusable as reason:
            return str(reason)
        return ""


def _word(values: Mapping[str, Any]) -> str:
    if isinstance(word := values.get("word"), str):
        return word
    raise ValueError("the reply has no `word`")


def check(provider: Provider, name: str, waits: Waits = WAITS) -> Trial:
    """Send a small request with the settings of a model, judge or aligner.

    It is charged to the budget and recorded in the ledger. Each trial asks anew, since it is about the endpoint as it
    is now. If the server throttles or has an error, the request is sent again, as by the client, until `waits` end.

    Raises
    ------
    BadInput
        If the registry has no such model, or the model has a recording, no API key, or no budget left.
    """
    registry = provider.registry()
    try:
        model = registry.model(name)
    except KeyError:
        known = [each for entries in registry.sections.values() for each in entries]
        problem = f"no such model in the registry{suggestion(name, known)}"
        raise BadInput(name, "", problem, f"add it to {provider.registry_path}") from None
    if model.endpoint.recording is not None:
        raise BadInput(name, "endpoint", "is a recording, which accepts everything", "check a model with a `url`")
    now = datetime.now(UTC)
    run = f"{PURPOSE} {now:%Y-%m-%d %H:%M:%S.%f}"
    question = Question(
        model, tuple(prompts.load(PURPOSE).render()), PURPOSE, ANSWER, replicate=int(now.timestamp() * 1000)
    )

    before: list[str] = []

    async def send() -> tuple[Raw, Reading]:
        left, pause = waits.patience, waits.first
        async with provider.opened(run) as client:
            while True:
                raw, reading = await client.attempt(question, Breaker())
                delay = retry_after(raw.headers) or pause
                if reading.outcome not in PASSING or raw.status is None or delay > left:
                    return raw, reading
                before.append(f"{reading.outcome}: {reading.detail} (status {raw.status})")
                left, pause = left - delay, min(2 * pause, waits.longest)
                await asyncio.sleep(delay)

    try:
        raw, reading = complete(send())
    except Refusal as refusal:
        reason = str(refusal) or "calls in flight have reserved the rest of the budget"
        raise BadInput(model.name, "", reason, "raise `budget`, lower `max_tokens`, or wait") from refusal
    section = next(section for section, entries in registry.sections.items() if name in entries)
    fault = None if reading.policy is Policy.USE else _fault(provider.registry_path, section, question, raw, reading)
    return Trial(model, reading, fault, provider.ledger.attempts().filter(run=run).row(-1, named=True), before)


def _fault(registry: str, section: str, question: Question, raw: Raw, reading: Reading) -> BadInput:
    """The reason why a request was not accepted, with the entry of the registry to change."""
    model = question.model
    entry, endpoint = f"{section}.{model.name}", f"endpoints.{model.settings.endpoint}"
    words = f"{reading.outcome}: {reading.detail}" + (f" (status {raw.status})" if raw.status else "")
    if reading.outcome is Outcome.UNAUTHORIZED:
        remedy = f"check the key in {model.endpoint.key}" if model.endpoint.key else "name the key's variable in `key`"
        return BadInput(registry, endpoint, words, remedy)
    if reading.outcome is Outcome.NO_SERVER:
        problem, _, remedy = reading.detail.partition("; ")
        return BadInput(registry, endpoint, problem, remedy)
    unroutable = reading.outcome is Outcome.NOT_FOUND and _UNROUTABLE.search(reading.detail)
    if unroutable or reading.outcome in (Outcome.REJECTED, Outcome.TOO_LONG):
        return BadInput(registry, entry, words, _remedy(question, raw))
    return BadInput(registry, entry, words, _REMEDIES.get(reading.outcome, "try again later"))


def _remedy(question: Question, raw: Raw) -> str:
    """What to change for each field of a request that its refusal names."""
    model, dialect = question.model, DIALECTS[question.model.endpoint.dialect]
    remedies = {dialect.most_tokens: "lower `max_tokens`, or use another `dialect`", **_FIELDS}
    for name in dialect.efforts[model.settings.effort] if model.settings.effort else ():
        remedies[name] = "leave out `effort`, or use another `dialect`"
    body = raw.body.decode(errors="replace")
    named = [name for name in question.body if name in remedies and re.search(rf"\b{re.escape(name)}\b", body)]
    if named:
        return "; ".join(dict.fromkeys(remedies[name] for name in named))
    present = ", ".join(name for name in question.body if name in remedies)
    return f"compare the entry with the endpoint's documentation: the request has {present}"
