"""The trial of a model: one small request with all settings of its entry, and the fields that its endpoint refuses.

If a request is refused, settings are changed one at a time until a request is accepted. A refused field is renamed if
another dialect has another name for it, and otherwise gets another value or is left out. Every change can be made in
the registry, so the accepted settings can be written there.

Here: the choice of changes, and the findings. Not here: calls (client), money (ledger), the printed report (cli).
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from resources import prompts
from resources.errors import BadInput
from resources.provider.asking import fields as reader
from resources.provider.client import complete
from resources.provider.dialects import DIALECTS, Dialect
from resources.provider.ledger import Refusal
from resources.provider.names import Unusable
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Policy, Raw, Reading
from resources.provider.registry import Model, Registry
from resources.provider.replies import schema_of

MOST = 12
"""Maximum number of requests of a trial. An entry has at most seven fields that can be refused."""

FEW_TOKENS = 1024
"""Token limit that is tried if the endpoint refuses the limit of the entry."""

PURPOSE = "trial"

ANSWER = schema_of(["word"], {"type": "string"})

_NUMBERED = re.compile(r"\w*\d\w*")
"""Words with digits, such as ids of requests, which differ between refusals that are otherwise the same."""

_UNROUTABLE = re.compile(r"parameters|allowed providers|data policy", re.I)
"""Words in a gateway's 404 that show that no upstream provider supports all fields. Any other 404 is about the model or
the URL."""

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
class Change:
    """A change of the registry by which one field of the request, or all fields of an effort, are left out, renamed or
    given another value.

    `called` is the new name of the field, '' if it is left out or has another value. `settings` are the changed
    settings, by their place in the registry's file.
    """

    fields: tuple[str, ...]
    model: Model
    settings: Mapping[str, Any]
    called: str = ""


@dataclass(frozen=True)
class Refused:
    """A change that the endpoint requires, and the words with which it refused the field."""

    change: Change
    words: str


@dataclass(frozen=True)
class Trial:
    """The findings of a trial.

    `reading` is the last reply. `refused` lists the required changes. `fault` is the reason why no request was
    accepted; None if a request was accepted. `calls` are the attempts, with the columns of `ledger.attempts()`.
    """

    model: Model
    reading: Reading
    refused: tuple[Refused, ...]
    fault: BadInput | None
    calls: pl.DataFrame = field(repr=False)

    @property
    def problem(self) -> str:
        """The reason why no study could read such a reply; '' if it can be read."""
        try:
            reader(ANSWER, _word)(self.reading)
        except Unusable as reason:
            return str(reason)
        return ""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings to write into the registry, by their place; the last change of a setting counts."""
        return {name: value for each in self.refused for name, value in each.change.settings.items()}

    @property
    def costs(self) -> dict[str, float]:
        """Known costs in US dollars, by their source: 'reported' by the endpoint, or 'priced' by the registry."""
        known = self.calls.filter(pl.col("cost") > 0).with_columns(
            account=pl.when(pl.col("reported_cost").is_null()).then(pl.lit("priced")).otherwise(pl.lit("reported"))
        )
        return dict(known.group_by("account").agg(pl.col("cost").sum()).sort("account").iter_rows())

    @property
    def unknown(self) -> int:
        """Number of calls whose cost is unknown."""
        return self.calls["cost"].null_count()


def _word(values: Mapping[str, Any]) -> str:
    if isinstance(word := values.get("word"), str):
        return word
    raise ValueError("the reply has no `word`")


def check(provider: Provider, name: str) -> Trial:
    """Send a small request with the settings of a model, judge or aligner, and find the fields that are refused.

    At most MOST requests are sent. They are charged to the budget and recorded in the ledger. Each request is a new
    question, so no reply comes from the ledger.

    Raises
    ------
    BadInput
        If the registry has no such model, or the model has a recording, no API key, or no budget left.
    """
    registry = provider.registry()
    try:
        model = registry.model(name)
    except KeyError:
        raise BadInput(name, "", "no such model in the registry", f"add it to {provider.registry_path}") from None
    if model.endpoint.recording is not None:
        raise BadInput(name, "endpoint", "is a recording, which accepts everything", "check a model with a `url`")
    run = f"{PURPOSE} {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
    places = _places(registry, name)
    last, raw, reading, refused = _mend(provider, run, model, places)
    fault = None if reading.policy is Policy.USE else _fault(provider, last, places, raw, reading)
    return Trial(last, reading, tuple(refused), fault, provider.ledger.attempts().filter(run=run))


def _places(registry: Registry, name: str) -> tuple[str, str]:
    """Places of a model's entry and of its endpoint in the registry's file, such as 'models.x' and 'endpoints.y'."""
    section = next(section for section, entries in registry.sections.items() if name in entries)
    return f"{section}.{name}", f"endpoints.{registry.model(name).settings.endpoint}"


def _changes(model: Model, places: tuple[str, str]) -> Iterator[Change]:
    """Yield changes of a model, each of a single setting. If a setting can be changed in several ways, the mildest
    change comes first."""
    yield from _token_limits(model, places)
    yield from _efforts(model, places)
    for name in ("temperature", "top_p", "seed"):
        if getattr(model.settings, name) is not None:
            yield Change((name,), *_set(model, places, name, None))
    forms = ("schema", "json", "text")
    for form in forms[forms.index(model.endpoint.structured) + 1 :]:
        yield Change(("response_format",), *_at_endpoint(model, places, "structured", form))
    if model.settings.pin:
        yield Change(("provider",), *_set(model, places, "pin", ()))
    if model.settings.max_tokens > FEW_TOKENS:
        limit = DIALECTS[model.endpoint.dialect].most_tokens
        yield Change((limit,), *_set(model, places, "max_tokens", FEW_TOKENS))


def _token_limits(model: Model, places: tuple[str, str]) -> Iterator[Change]:
    now = DIALECTS[model.endpoint.dialect]
    others = [each for each in _dialects(model) if DIALECTS[each].most_tokens != now.most_tokens]
    for name in sorted(others, key=lambda each: _effort(model, DIALECTS[each]) != _effort(model, now))[:1]:
        called = DIALECTS[name].most_tokens
        yield Change((now.most_tokens,), *_at_endpoint(model, places, "dialect", name), called)


def _efforts(model: Model, places: tuple[str, str]) -> Iterator[Change]:
    now = DIALECTS[model.endpoint.dialect]
    fields, seen = _effort(model, now), [_effort(model, now)]
    for name in sorted(_dialects(model), key=lambda each: DIALECTS[each].most_tokens != now.most_tokens):
        if (other := _effort(model, DIALECTS[name])) not in seen:
            seen.append(other)
            yield Change(tuple(fields), *_at_endpoint(model, places, "dialect", name), ", ".join(other))
    if fields:
        yield Change(tuple(fields), *_set(model, places, "effort", None))


def _dialects(model: Model) -> list[str]:
    """Dialects that can express the effort and the pin of a model."""
    effort, pin = model.settings.effort, model.settings.pin
    return [
        name
        for name, dialect in DIALECTS.items()
        if (not effort or effort in dialect.efforts) and (not pin or dialect.pin is not None)
    ]


def _effort(model: Model, dialect: Dialect) -> Mapping[str, Any]:
    return dialect.efforts[model.settings.effort] if model.settings.effort else {}


def _set(model: Model, places: tuple[str, str], name: str, value: Any) -> tuple[Model, dict[str, Any]]:
    settings = model.settings.model_copy(update={name: value})
    return replace(model, settings=settings), {f"{places[0]}.{name}": value}


def _at_endpoint(model: Model, places: tuple[str, str], name: str, value: Any) -> tuple[Model, dict[str, Any]]:
    endpoint = model.endpoint.model_copy(update={name: value})
    return replace(model, endpoint=endpoint), {f"{places[1]}.{name}": value}


def _mend(
    provider: Provider, run: str, model: Model, places: tuple[str, str]
) -> tuple[Model, Raw, Reading, list[Refused]]:
    """Change a model until a request is accepted; return it with its last reply and the changes that were needed.

    A change is kept if the endpoint then accepts the request, or refuses it in other words. Settings whose field the
    endpoint names are changed first. If no single change helps, all fields that can be left out are left out at once.
    """
    raw, reading = _ask(provider, run, model, 0)
    refused: list[Refused] = []
    sent, tried = 1, set[str]()
    while _refuses(reading) and sent < MOST:
        left = [each for each in _changes(model, places) if str(each.settings) not in tried]
        change = min(left, key=lambda each: _rank(each, raw)) if left and sent < MOST - 1 else _bare(model, places)
        if not change.settings:
            break
        tried.add(str(change.settings))
        then = _ask(provider, run, change.model, sent)
        sent += 1
        if then[1].policy is not Policy.USE and not _refuses(then[1]):  # throttled, for instance: nothing is learned
            return change.model, *then, refused
        if not _refuses(then[1]) or (_words(then[1]) != _words(reading) and not _renamed_in_vain(change, then[0])):
            refused.append(Refused(change, f"{raw.status}: {reading.detail}"))
            model, (raw, reading), tried = change.model, then, set()
        elif not left:
            break
    return model, raw, reading, refused


def _bare(model: Model, places: tuple[str, str]) -> Change:
    """The change that leaves out all fields that can be left out, and renames no field."""
    settings: dict[str, Any] = {}
    names = list(dict.fromkeys(each.fields for each in _changes(model, places) if not each.called))
    for fields in names:
        last = [each for each in _changes(model, places) if each.fields == fields and not each.called][-1]
        model, settings = last.model, {**settings, **last.settings}
    return Change(tuple(name for fields in names for name in fields), model, settings)


def _ask(provider: Provider, run: str, model: Model, number: int) -> tuple[Raw, Reading]:
    messages = tuple(prompts.load(PURPOSE).render())
    # A new question each time: a trial is about the endpoint as it is now.
    question = Question(model, messages, PURPOSE, ANSWER, int(datetime.now(UTC).timestamp() * 1000) + number)

    async def send() -> tuple[Raw, Reading]:
        async with provider.opened(run) as client:
            return await client.attempt(question)

    try:
        return complete(send())
    except Refusal as refusal:
        reason = str(refusal) or "calls in flight have reserved the rest of the budget"
        raise BadInput(model.name, "", reason, "raise `budget`, lower `max_tokens`, or wait") from refusal


def _refuses(reading: Reading) -> bool:
    """Whether a reply is a refusal that a field of the request may have caused."""
    unroutable = reading.outcome is Outcome.NOT_FOUND and _UNROUTABLE.search(reading.detail)
    return reading.outcome in (Outcome.REJECTED, Outcome.TOO_LONG) or bool(unroutable)


def _words(reading: Reading) -> str:
    return _NUMBERED.sub("", reading.detail)


def _rank(change: Change, raw: Raw) -> int:
    """Rank of a change; the change with the lowest rank is tried first. The rank is 0 if the endpoint blames a field of
    the change, 1 if the endpoint's reply mentions one, otherwise 2."""
    if _blamed(raw) in change.fields:
        return 0
    return 1 if any(_mentions(raw, name) for name in change.fields) else 2


def _renamed_in_vain(change: Change, raw: Raw) -> bool:
    """Whether an endpoint refuses not only the old name of a field but also the new one."""
    return any(_mentions(raw, name) for name in change.called.split(", ") if name)


def _mentions(raw: Raw, name: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", raw.body.decode(errors="replace")))


def _blamed(raw: Raw) -> str:
    """The field that `error.param` of a reply names; '' if it names none.

    For 'response_format.type', the field is `response_format`.
    """
    with suppress(ValueError, AttributeError, TypeError, KeyError):
        return str(json.loads(raw.body)["error"]["param"]).partition(".")[0]
    return ""


def _fault(provider: Provider, model: Model, places: tuple[str, str], raw: Raw, reading: Reading) -> BadInput:
    """The reason why no request was accepted."""
    words = f"{reading.outcome}: {reading.detail}" + (f" (status {raw.status})" if raw.status else "")
    if reading.outcome is Outcome.UNAUTHORIZED:
        remedy = f"check the key in {model.endpoint.key}" if model.endpoint.key else "name the key's variable in `key`"
        return BadInput(provider.registry_path, places[1], words, remedy)
    if _refuses(reading):
        remedy = "changing a single setting does not help; compare the entry with the endpoint's documentation"
        return BadInput(provider.registry_path, places[0], words, remedy)
    if reading.outcome is Outcome.NO_SERVER:
        problem, _, remedy = reading.detail.partition("; ")
        return BadInput(provider.registry_path, places[1], problem, remedy)
    return BadInput(provider.registry_path, places[0], words, _REMEDIES.get(reading.outcome, "try again later"))
