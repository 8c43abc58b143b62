"""Faults of an endpoint, each as a scenario, and the table of what becomes of a question under each.

Here: scenarios, runs under them, and rows of the table in docs/reference/faults.md. Not here: the wire (faulty), what
the rows must be (test_faults).
"""

import asyncio
import json
import shutil
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.translation.passage_questions import Output, translate, translating
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.home import PROJECT
from resources.provider.breaker import MOST
from resources.provider.client import CallFailed, Client, Waits, opened
from resources.provider.ledger import Ledger
from resources.provider.reading import Outcome, Policy
from resources.provider.registry import Model
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.faulty import (
    RESET,
    Faulty,
    Request,
    Response,
    Scenario,
    bomb,
    completion,
    long,
    misbehaving,
    response,
    said,
    translated,
)
from tests.provider.support import NO_BUDGET, model, question

PAGE = PROJECT / "docs/reference/faults.md"
BEGIN, END = "<!-- faults: begin -->\n", "<!-- faults: end -->"

PASSAGES = {
    "1": "Arma virumque cano, Troiae qui primus ab oris Italiam.",
    "2": "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae.",
    "3": "Quo usque tandem abutere, Catilina, patientia nostra?",
    "4": "Aurea prima sata est aetas.",
}


@dataclass(frozen=True)
class Fault:
    """A scenario, and what is asked under it: a batch of four passages, or so many questions one after the other."""

    scenario: Scenario
    questions: int = 1
    batch: bool = False
    timeout: float = 20
    cancelled: float = 0


def always(*parts: bytes | float | None) -> Fault:
    """The same response to each request."""
    return Fault(lambda _: iter(parts))


def error(status: int, message: str = "No.", **headers: str) -> bytes:
    return response(status, json.dumps({"error": {"message": message}}).encode(), **headers)


def spoken(*args: str, **fields: Any) -> Fault:
    """A completion of these words to each request."""
    return always(response(200, completion(*args, **fields)))


def once(spoilt: Callable[[Mapping[str, str]], str]) -> Fault:
    """A batch whose first reply is spoilt; the others are right."""
    return Fault(
        lambda asked: iter([response(200, completion((said if asked.number else spoilt)(asked.texts)))]), batch=True
    )


def then_right(*first: bytes | float | None) -> Fault:
    """A response, then the right ones."""
    return Fault(lambda asked: iter([response(200, completion(said(asked.texts)))] if asked.number else first))


def dumped(pairs: Mapping[str, str]) -> str:
    return json.dumps(pairs, ensure_ascii=False)


def swapped(texts: Mapping[str, str]) -> str:
    right = translated(texts)
    return dumped({**right, "1": right["2"], "2": right["1"]})


def circle(asked: Request) -> Response:
    return iter([response(307, location=f"{asked.url}/chat/completions")])


def moved(asked: Request) -> Response:
    to = response(308, location=f"{asked.url}/chat/completions")
    return iter([response(200, completion(said(asked.texts))) if asked.number else to])


def elsewhere(asked: Request) -> Response:
    return iter([response(307, location=f"{asked.url.replace('127.0.0.1', 'localhost')}/chat/completions")])


def closed(host: str = "127.0.0.1") -> str:
    """The URL of a port at which nothing listens."""
    with socket.socket() as free:
        free.bind((host, 0))
        return f"http://{host}:{free.getsockname()[1]}/v1"


RIGHT = completion('{"1": "Sing."}')
STRAY = RIGHT.replace(b"Sing", b"S\xe4ng")
HALF = response(200, b"", content_length=str(len(RIGHT))) + RIGHT[: RIGHT.index(b"ing.")]
HEAD = response(200, b"", content_length=str(len(RIGHT))) + RIGHT[:20]
HTML = b"<html><body>Bad Gateway</body></html>"
FILTER = {"message": "Flagged by content_filter.", "code": "content_filter"}

AWAY: Mapping[str, Callable[[], str]] = {
    "connection refused by another machine": partial(closed, "127.0.0.2"),
    "connection refused by this machine": closed,
    "an unknown host": lambda: "http://nobody.invalid/v1",
}
"""URLs at which nobody answers."""

FAULTS: Mapping[str, Fault] = {
    "none": spoken('{"1": "Sing."}'),
    "429, `Retry-After: 86400`": always(error(429, retry_after="86400")),
    "429, `Retry-After: 0.05`, without end": always(error(429, retry_after="0.05")),
    "429 without a header, once": then_right(error(429)),
    "500": always(error(500)),
    "502, a page of HTML": always(response(502, HTML, content_type="text/html")),
    "503": always(error(503)),
    "529": always(error(529)),
    **{name: Fault(lambda _: iter([])) for name in AWAY},
    "100 MB to 200 tokens": Fault(lambda _: long(200, 100)),
    "100 MB in 100 KB of gzip": Fault(lambda _: iter([bomb(200, 100)])),
    "usage of 1e9 tokens": spoken("Sing.", usage={"prompt_tokens": 10**9, "completion_tokens": 10**9}),
    "no usage": spoken("Sing.", usage=None),
    "307 to another host": Fault(elsewhere),
    "307 to itself, without end": Fault(circle),
    "308 within the host, once": Fault(moved),
    "400, to 20 questions": replace(always(error(400)), questions=20),
    "400, to a batch": replace(always(error(400)), batch=True),
    "400, context length": always(error(400, "This model's maximum context length is 8192 tokens.")),
    "400, content filter": always(response(400, json.dumps({"error": FILTER}).encode())),
    "401": always(error(401)),
    "402": always(error(402)),
    "403": always(error(403)),
    "404": always(error(404)),
    "408": always(error(408)),
    "413": always(response(413, HTML, content_type="text/html")),
    "no reply in time, once": replace(then_right(60.0), timeout=2),
    "a body that stalls, once": replace(then_right(HEAD, 60.0), timeout=2),
    "a body that stalls within the text": replace(always(HALF, 60.0), timeout=2),
    "reset before the text": always(HEAD, 0.1, RESET),
    "reset within the text": always(HALF, 0.1, RESET),
    "JSON that ends within the text": always(response(200, RIGHT[: RIGHT.index(b"ing.")])),
    "content type `text/plain`": always(response(200, RIGHT, content_type="text/plain")),
    "200 with a page of HTML": always(response(200, HTML, content_type="text/html")),
    "200 with plain words": always(response(200, b"upstream connect error")),
    "empty body": always(response(200)),
    "no choices": spoken("", choices=[]),
    "an error with usage under 200": spoken("", error={"code": 502, "message": "x"}),
    "`finish_reason: length`": spoken('{"1": "Si', "length"),
    "`finish_reason: content_filter`": spoken("", "content_filter"),
    "refusal": spoken("", choices=[{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]),
    "a stray byte": always(response(200, STRAY)),
    "run cancelled during the call": replace(always(60.0), cancelled=2),
    "plain words, to a batch": replace(spoken("I am glad to help."), batch=True),
    "a key twice": once(lambda texts: f'{said(texts)[:-1]}, "4": "Once more."}}'),
    "a key missing": once(lambda texts: dumped({key: text for key, text in texts.items() if key != "4"})),
    "a key too many": once(lambda texts: dumped({**translated(texts), "note": "A free translation."})),
    "keys of another question": once(lambda texts: dumped({f"9{key}": text for key, text in texts.items()})),
    "two texts under each other's keys": once(swapped),
}
"""Faults of an endpoint. They last, except faults named `once` and faults of keys: only the first reply has them."""


WAITING = [outcome for outcome in Outcome if outcome.policy is Policy.WAIT]


class Row(NamedTuple):
    """A row of the table."""

    fault: str
    outcome: str
    requests: str
    result: str
    booked: str
    next_run: str


HEADINGS = Row("fault", "outcome", "requests", "result", "booked", "next run asks")


def run(faulty: Faulty, ledger: Ledger, name: str, run: str) -> list[Output | str]:
    """Ask under a fault in a run; the outputs of a batch, or 'reply' or the failure of each question."""
    fault = FAULTS[name]
    url = AWAY[name]() if name in AWAY else faulty.url
    asked = replace(model(url, {"timeout": fault.timeout}, id=name, max_tokens=200), name=name)

    async def main() -> list[Output | str]:
        async with opened(ledger.session(run, NO_BUDGET), Waits(0.02, 0.1, 0.5)) as client:
            if fault.batch:
                template = translating(asked, prompts.load("translate"), language_names("la", "en"))
                return [*await translate(client.ask, template, PASSAGES)]
            return [await _result(client, asked, number, fault.cancelled) for number in range(fault.questions)]

    return asyncio.run(main())


async def _result(client: Client, asked: Model, number: int, cancelled: float) -> str:
    try:
        await asyncio.wait_for(client.ask(question(asked, number)), cancelled or None)
    except (CallFailed, TimeoutError) as failure:
        return str(failure) or "cancelled"
    return "reply"


def rows(folder: Path) -> list[Row]:
    """Run all faults, each twice; return the table's rows."""
    with misbehaving({name: fault.scenario for name, fault in FAULTS.items()}) as faulty, ThreadPoolExecutor(4) as pool:
        folders = [folder / f"{number}" for number in range(len(FAULTS))]
        return list(pool.map(partial(row, faulty), folders, FAULTS))


def row(faulty: Faulty, folder: Path, name: str) -> Row:
    """Run a fault twice with a ledger in a folder of its own; return its row."""
    ledger = SqliteLedger(folder / "ledger.sqlite")
    results = run(faulty, ledger, name, "first")
    calls, requests = ledger.attempts(), faulty.requests[name]
    run(faulty, ledger, name, "next")
    further = len(ledger.attempts()) - len(calls)
    again = "nothing" if not further else "once, as a trial" if further == 1 and len(calls) >= MOST else "again"
    shutil.rmtree(folder)  # each reserves 8 MB
    outcomes = ", ".join(calls["outcome"].unique(maintain_order=True))
    return Row(name, outcomes, _requests(calls, requests), _results(results), _booked(calls), again)


def _requests(calls: pl.DataFrame, requests: int) -> str:
    """The number of requests, but where it depends on random pauses."""
    waiting = [each for each in calls["outcome"] if each in WAITING]
    if len(waiting) > 1:
        return "until patience ends" if requests else "none arrives"
    return str(requests or "none arrives")


def _results(results: list[Output | str]) -> str:
    texts = [each for each in results if isinstance(each, Output) and each.text is not None]
    if isinstance(results[0], Output):
        return f"{len(texts)} of {len(results)} translated"
    last = str(results[-1])
    return "model stopped" if last.startswith("stopped") else last if last in ("reply", "cancelled") else "failed"


def _booked(calls: pl.DataFrame) -> str:
    counts = {"paid": int((calls["cost"] > 0).sum()), "uncertain": calls["cost"].null_count()}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count) or "nothing"


def table(found: Sequence[Row]) -> str:
    """The rows as a Markdown table; faults with the same results share a row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for fault, *results in found:
        alike.setdefault(tuple(results), []).append(fault)
    lines = [HEADINGS, ["---"] * len(HEADINGS), *(["; ".join(faults), *results] for results, faults in alike.items())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page[:start] + table(rows(Path(folder))) + page[end:], encoding="utf-8")
