"""The page of evaluations under way: passages as they come, failures, money, and what remains, by model.

Here: the page and the JSON that it asks for every few seconds. Not here: the journal that an update keeps
(resources.journal), the accounts (resources.provider.ledger).

The JSON is made from the journal and from the ledger, which several processes may use at once. The warehouse is read
only when there are new outputs, to see whether they copy a restricted text.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from benchmark_assets.corpus.rights import disclosure
from benchmark_assets.reporting.cards import address
from benchmark_assets.reporting.reader.serving import NOT_STORED
from benchmark_assets.reporting.report.page import document
from benchmark_assets.reporting.served import ServedHome
from resources import journal
from resources.errors import BadInput
from resources.journal import Entry, Journal
from resources.keys import CORPUS
from resources.provider.reading import REPLIES

LIVE = "/live"
"""Address of the page on the web server."""

LAST = 12
"""Number of the latest outputs that are shown."""

COMPARED = 200
"""Number of the latest outputs that are compared with restricted texts together: a model may have divided one."""

TRANSLATIONS = "model_output"
"""The asset whose partitions are outputs for passages."""

WORDS = "This page refreshes itself every two seconds."

REDUCED = "Outputs that copy a restricted text are reduced to their length."

BODY = """<noscript><p>This page needs JavaScript. `variorum costs` prints what was spent.</p></noscript>
<p id="state" role="status">Asking the server …</p>
<div id="updates"></div>
<p><a href="/report">The report</a> · <a href="/readers/">All passages in the readers</a> · <a href="/">Start</a></p>
"""


def routes(home: ServedHome) -> Sequence[BaseRoute]:
    """Routes of the page and of its JSON."""
    watch = _Watch(home)
    return [Route(LIVE, watch.page), Route(f"{LIVE}/state", watch.state)]


class _Watch:
    """What runs on a home. `_shown` are the latest outputs of each run as they may be shown."""

    def __init__(self, home: ServedHome) -> None:
        self._home, self._turn = home, Lock()
        self._shown: dict[str, tuple[int, list[Entry]]] = {}

    def page(self, _: Request) -> Response:
        """The page, which is the same at all times."""
        script = Path(__file__).with_name("live.js").read_text(encoding="utf-8")
        words = f"<p>{WORDS if self._home.private else f'{WORDS} {REDUCED}'}</p>"
        page = document("Variorum: live", words, BODY, scripts=[f"\n{script}"], asks=True)
        return HTMLResponse(page, headers=NOT_STORED)

    def state(self, _: Request) -> Response:
        """Everything that runs, as JSON; status 503 while a database cannot be read."""
        try:
            with self._turn:
                journals = journal.running(self._home.warehouse.folder)
                self._shown = {each.run: self._shown.get(each.run, (0, [])) for each in journals}
                content = json.dumps({"updates": [self._update(each) for each in journals]})
                return Response(content, media_type="application/json", headers=NOT_STORED)
        except BadInput as error:
            return PlainTextResponse(str(error), 503)

    def _update(self, kept: Journal) -> dict[str, Any]:
        """An update under way."""
        calls = self._home.provider.ledger.charged(kept.run, kept.beginning["since"])
        plans: dict[str, Entry] = {}
        for entry in kept.entries:
            if "asset" in entry:
                plans.setdefault(entry["asset"], entry)
        planned = dict.fromkeys(kept.beginning["models"] or ()) | plans.get(TRANSLATIONS, {}).get("partitions", {})
        outputs = {(entry["model"], entry["passage"]): entry for entry in kept.entries if "passage" in entry}
        return {
            "began": kept.beginning["began"],
            "cap": kept.beginning["cap"],
            "dollars": calls["dollars"].sum(),
            "calls": calls["calls"].sum(),
            "planned": sum(plan["calls"] for plan in plans.values()),
            "models": list(_by_model(outputs.values(), planned, calls)),
            "passages": self._latest(kept.run, list(outputs.values())),
            "failures": _failures(outputs.values(), calls),
        }

    def _latest(self, run: str, outputs: list[Entry]) -> list[Entry]:
        """The latest outputs, the last one first. They are compared with restricted texts only once."""
        number, shown = self._shown[run]
        if number < len(outputs):
            shown = self._reduced([each for each in outputs[-COMPARED:] if not each["error"]])
            self._shown[run] = len(outputs), shown
        return shown

    def _reduced(self, outputs: list[Entry]) -> list[Entry]:
        rows = pl.DataFrame(
            [(each["model"], each["passage"], each["text"]) for each in outputs],
            dict.fromkeys(["model", "passage", "text"], pl.String), orient="row",
        ).with_row_index()  # fmt: skip
        reasons: dict[int, str | None] = {}
        for (corpus,), group in rows.group_by(CORPUS.alias("corpus")):
            shown = disclosure(self._home.warehouse, str(corpus), [], self._home.private)
            reasons |= dict(zip(group["index"], shown.withheld(group.drop("index")), strict=True))
        return [
            {
                "model": model, "passage": passage, "address": address(passage, model),
                "text": None if reasons[index] else text, "reason": reasons[index] or "refused to translate",
                "characters": len(text or ""),
            }
            for index, model, passage, text in rows.tail(LAST).reverse().iter_rows()
        ]  # fmt: skip


def _by_model(outputs: Collection[Entry], planned: Entry, calls: pl.DataFrame) -> Iterator[Entry]:
    """A row for each model that is evaluated or asked: outputs, failures, what remains, and money.

    `planned` are the passages that each model is to translate, null while they are not known. Judges have none.
    """
    came = Counter(each["model"] for each in outputs if not each["error"])
    failed = Counter(each["model"] for each in outputs if each["error"])
    for model in dict.fromkeys([*planned, *came, *failed, *calls["model"]]):
        own = calls.filter(model=model)
        done, lost = came[model], failed[model]
        yield {
            "model": model, "done": done, "failed": lost, "calls": own["calls"].sum(), "dollars": own["dollars"].sum(),
            "left": None if planned.get(model) is None else planned[model] - done - lost,
        }  # fmt: skip


def _failures(outputs: Collection[Entry], calls: pl.DataFrame) -> list[Entry]:
    """Failed passages by model and reason, with one of the passages; then calls without a reply by outcome."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in outputs:
        if each["error"]:
            groups.setdefault((each["model"], each["error"]), []).append(each["passage"])
    lost = calls.filter(pl.col("outcome").is_not_null() & ~pl.col("outcome").is_in(REPLIES))
    return [
        *(
            {"model": model, "reason": reason, "count": len(passages), "passage": passages[-1]}
            for (model, reason), passages in groups.items()
        ),
        *(
            {"model": model, "reason": f"{outcome} (asked again, or failed)", "count": count, "passage": None}
            for model, outcome, count in lost.select("model", "outcome", "calls").iter_rows()
        ),
    ]
