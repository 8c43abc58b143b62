"""What replies of no use cost: attempts and money for twenty passages, in three runs, for every such reply.

Here: the faults and the runs. Not here: what the rows must be (test_breaker), a single question under a fault (faults).
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.translation.passage_questions import text_under, translate, translating
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.provider.asking import Ask, Template, fields, insist
from resources.provider.client import Waits, opened
from resources.provider.corrections import correct, uncertain
from resources.provider.registry import Model
from resources.provider.replies import TEXT, schema_of
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.faults import HEAD, HTML, error
from tests.provider.faulty import RESET, Faulty, Request, Response, bomb, completion, misbehaving, response, said
from tests.provider.support import NO_BUDGET, model

PASSAGES = {f"{number}": f"Sententia {number} brevis est." for number in range(20)}

BATCH = 8
"""Passages of a batch."""

IN_FLIGHT = 4


def message(**fields: object) -> bytes:
    """A completion with a message without text."""
    return completion(None, choices=[{"message": {"content": None, **fields}, "finish_reason": "stop"}])


CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}

USELESS: Mapping[str, tuple[bytes | float | None, ...]] = {
    "reasoning without a text": (response(200, message(reasoning_content="Hm.")),),
    "reasoning up to the token limit": (response(200, completion("", "length")),),
    "a call of a tool": (response(200, message(tool_calls=[CALL])),),
    "plain words in place of JSON": (response(200, completion("I am glad to help.")),),
    "an error with usage under 200": (response(200, completion("", error={"code": 502, "message": "x"})),),
    "400": (error(400),),
    "200 with a page of HTML": (response(200, HTML, content_type="text/html"),),
    "200 without a completion": (response(200, b"upstream connect error"),),
    "empty body": (response(200),),
    "408": (error(408),),
    "reset before the text": (HEAD, 0.02, RESET),
    "100 MB in 100 KB of gzip": (bomb(200, 100),),
}
"""Responses of no use."""


async def in_batches(ask: Ask, asked: Model) -> int:
    """Translate the passages in batches; return the number of translations."""
    template = translating(asked, prompts.load("translate"), language_names("la", "en"))
    keys = list(PASSAGES)
    batches = [{key: PASSAGES[key] for key in keys[start : start + BATCH]} for start in range(0, len(keys), BATCH)]
    outputs = await asyncio.gather(*(translate(ask, template, batch) for batch in batches))
    return sum(output.text is not None for batch in outputs for output in batch)


async def one_by_one(ask: Ask, asked: Model) -> int:
    """Translate each passage alone; return the number of translations."""
    template = translating(asked, prompts.load("translate"), language_names("la", "en"))
    outputs = await asyncio.gather(*(translate(ask, template, {key: text}) for key, text in PASSAGES.items()))
    return sum(output.text is not None for (output,) in outputs)


async def judged(ask: Ask, asked: Model) -> int:
    """Have each passage judged; return the number of verdicts."""
    prompt, names = prompts.load("translate"), language_names("la", "en")
    read = fields(schema_of(["1"], TEXT), partial(text_under, "1"))
    template = Template(asked, prompt, names, "judge", schema_of(["1"], TEXT), read, "passages")
    verdicts = await asyncio.gather(*(insist(ask, template, {"1": text}) for text in PASSAGES.values()))
    return sum(verdict.value is not None for verdict in verdicts)


FORMS: Mapping[str, Callable[[Ask, Model], Awaitable[int]]] = {
    "batches": in_batches, "single passages": one_by_one, "judgments": judged,
}  # fmt: skip


class Row(NamedTuple):
    """Attempts of four runs; the third comes after a person has released uncertain money, the fourth after the endpoint
    was mended. `answers` are those of the fourth run. `dollars` is what the first run cost, or may have cost."""

    reply: str
    form: str
    first: int
    next: int
    released: int
    mended: int
    answers: int
    dollars: float


def scenario(reply: str, mended: set[str], name: str) -> Callable[[Request], Response]:
    """The response of no use until the name is among those that are mended."""
    return lambda asked: iter([response(200, completion(said(asked.texts)))] if name in mended else USELESS[reply])


def rows(folder: Path, cells: Sequence[tuple[str, str]]) -> list[Row]:
    """Ask in four runs, for each pair of a reply and a form."""
    mended: set[str] = set()
    names = {f"{reply}, {form}": (reply, form) for reply, form in cells}
    scenarios = {name: scenario(reply, mended, name) for name, (reply, _) in names.items()}
    with misbehaving(scenarios) as faulty:
        return [row(faulty, folder, mended, name, *cell) for name, cell in names.items()]


def row(faulty: Faulty, folder: Path, mended: set[str], name: str, reply: str, form: str) -> Row:
    """Ask in four runs with a ledger of their own."""
    ledger = SqliteLedger(folder / "useless" / "ledger.sqlite")
    asked = replace(model(faulty.url, {"timeout": 20}, id=name, max_tokens=1000, in_flight=IN_FLIGHT), name=name)

    async def ask(run: str) -> int:
        async with opened(ledger.session(run, NO_BUDGET), Waits(0.01, 0.05, 1)) as client:
            return await FORMS[form](client.ask, asked)

    attempts, answers = [0], 0
    for run in ("first", "next", "released", "mended"):
        if run in ("released", "mended") and (unknown := uncertain(ledger)["id"].to_list()):
            correct(ledger, unknown, 0, "mori", "not on the bill")
        if run == "mended":
            mended.add(name)
        answers = asyncio.run(ask(run))
        calls = ledger.attempts()
        attempts.append(len(calls))
        if run == "first":
            dollars = calls.select(pl.coalesce("cost", "reserved").sum()).item()
    shutil.rmtree(folder / "useless")  # it reserves 8 MB
    first, following, released, late = (after - before for before, after in pairwise(attempts))
    return Row(reply, form, first, following, released, late, answers, dollars)


CELLS = [(reply, form) for reply in USELESS for form in FORMS]
