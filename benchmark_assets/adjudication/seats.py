"""The panel on the grid: which outputs it judges, what determines their votes, their votes as rows.

Here: what stands between the warehouse and the panel. Not here: judging (panel, judging).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.judging import Scores, Vote, Words
from benchmark_assets.adjudication.labels import Judgement
from benchmark_assets.adjudication.outputs import FAILURE, OUTPUT
from benchmark_assets.adjudication.panel import Item, Panel, Work, estimate, panel, votes
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.translation.systems import Systems
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

DECIMALS = 3
"""Of the scores that judges are shown: the last digits of an embedding differ between machines."""

_VOTE = dict.fromkeys([*OUTPUT, "judge", *Judgement._fields, *Words._fields, "abstention"], pl.String)
_CALL = {**dict.fromkeys([*OUTPUT, "judge", "call"], pl.String), "asked": pl.Int32, "parsing": pl.String}


class Seats(NamedTuple):
    """Outputs of one model and corpus (`model`, `passage`), and who judges them: a panel, or why there is none."""

    outputs: pl.DataFrame
    panel: Panel | BadInput


def seats(warehouse: Warehouse, provider: Provider, outputs: pl.DataFrame) -> Iterator[Seats]:
    """The panels of those outputs that are queued or sampled and whose corpus names judges."""
    wanted = warehouse.read("triage", outputs.select(OUTPUT), [*OUTPUT, "queued", "sampled"])
    wanted = wanted.filter(pl.col("queued") | pl.col("sampled")).select(OUTPUT)
    judged = {corpus: audit for corpus, audit in audits(warehouse).items() if audit.judges}
    languages = on_trial.languages(warehouse)
    for (model, corpus), own in wanted.group_by("model", CORPUS, maintain_order=True):
        if corpus in judged:
            name = str(corpus)
            try:
                yield Seats(own, panel(provider, name, judged[name], languages[name], str(model)))
            except BadInput as fault:
                yield Seats(own, fault)


def settings(warehouse: Warehouse, systems: Systems, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the votes on each output besides its texts: see outputs.settings.

    Outputs that no panel judges are left out.
    """
    return on_trial.settings(systems, asked, _fingerprints(warehouse, seats(warehouse, systems.provider, asked)))


def cost_of(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> Estimate | None:
    """What judging outputs would ask of the judges; None where they are asked nothing."""
    work = _work(warehouse, seats(warehouse, provider, due))
    said = estimate(provider, work)
    return said if said.calls else None


def judge_outputs(warehouse: Warehouse, provider: Provider, due: pl.DataFrame, run: str) -> Computed:
    """Have outputs judged, each by its panel. The run pays.

    An output has failed where it has no panel or lost a text, or where a call of one of its judges failed. It has no
    votes then; what was answered is in the ledger.
    """
    seated = list(seats(warehouse, provider, due))
    work = _work(warehouse, seated)
    failures = {
        output: str(own.panel)
        for own in seated if isinstance(own.panel, BadInput) for output in own.outputs.iter_rows()
    }  # fmt: skip
    asked = {(item.model, item.passage) for _, item in work}
    for output in due.select(OUTPUT).iter_rows():
        if output not in asked:
            failures.setdefault(output, "it is not queued any more, or lacks a text: materialize triage first")
    return tabulate(work, votes(provider, work, run), failures)


def tabulate(work: Work, given: Sequence[Sequence[Vote]], failures: Mapping[tuple[str, ...], str]) -> Computed:
    """Sort votes, of each item those of its panel's judges, into tables; an output of which one is an error failed.

    Parameters
    ----------
    failures
        By model and passage, why others were not judged.
    """
    rows: list[tuple[str | None, ...]] = []
    calls: list[tuple[str | int | None, ...]] = []
    failed = [(*output, why) for output, why in failures.items()]
    for (seated, item), own in zip(work, given, strict=True):
        output = item.model, item.passage
        named = [(task.model.name, vote) for task, vote in zip(seated.tasks, own, strict=True)]
        if errors := [f"{name}: {vote.error}" for name, vote in named if vote.error]:
            failed.append((*output, "; ".join(errors)))
            continue
        for name, vote in named:
            judgement, words = vote.judgement or [None] * 4, vote.words or [None] * 4
            rows.append((*output, name, *judgement, *words, vote.abstention))
            calls.append((*output, name, vote.call, vote.asked, vote.parsing))
    return Computed(
        {"judge_vote": pl.DataFrame(rows, schema=_VOTE, orient="row")},
        pl.DataFrame(failed, schema=FAILURE, orient="row"),
        {"judge_call": pl.DataFrame(calls, schema=_CALL, orient="row")},
    )


def _fingerprints(warehouse: Warehouse, seated: Iterable[Seats]) -> Iterator[tuple[pl.DataFrame, str]]:
    """Outputs and what determines the votes on them besides their texts; of a fault, its words."""
    for outputs, own in seated:
        if isinstance(own, BadInput):
            yield outputs, str(own)
        elif own.audit.show_scores:
            shown = _scores(warehouse, outputs)
            for output in outputs.iter_slices(1):
                yield output, digest(own.fingerprint, shown.get(output.row(0)))
        else:
            yield outputs, own.fingerprint


def _work(warehouse: Warehouse, seated: Iterable[Seats]) -> list[tuple[Panel, Item]]:
    """The outputs that have a panel and all their texts, as items."""
    work: list[tuple[Panel, Item]] = []
    for outputs, own in seated:
        if isinstance(own, BadInput):
            continue
        passages = outputs.select("passage")
        sources = dict(warehouse.read("source_text", passages, ["passage", "text"]).iter_rows())
        references = complete_texts(warehouse, passages)
        scores = _scores(warehouse, outputs) if own.audit.show_scores else {}
        work += [
            (own, Item(model, passage, sources[passage], references[passage], text, scores.get((model, passage))))
            for model, passage, text in warehouse.read("model_output", outputs, [*OUTPUT, "text"]).iter_rows()
            if passage in sources and passage in references
        ]
    return work


def _scores(warehouse: Warehouse, outputs: pl.DataFrame) -> dict[tuple[str, ...], Scores]:
    """Scores by model and passage, as judges are shown them."""
    rows = warehouse.read("drift_score", outputs, [*OUTPUT, "drift", "sim_best"]).drop_nulls()
    return {
        (model, passage): Scores(round(drift, DECIMALS), round(similarity, DECIMALS))
        for model, passage, drift, similarity in rows.iter_rows()
    }
