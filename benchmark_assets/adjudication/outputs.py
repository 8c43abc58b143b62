"""Outputs on trial: what all protocols have in common that put outputs to judges.

Here: texts of outputs and which outputs lost one, what determines judgements, the calls of a run, what came of these as
rows. Not here: who may judge whom (impartial), what is asked about which outputs (seats, pairwise.matches,
pairwise.rubric, literary.ensemble), asking one judge until its answer is one (resources.provider.asking).
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.translation.systems import Systems
from resources.provider.asking import Ask, Task, at_once, estimate_asking
from resources.provider.client import complete
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

OUTPUT = ["model", "passage"]
FAILURE = dict.fromkeys([*OUTPUT, "error"], pl.String)
LOST = "it lost a text: materialize source_text, reference and model_output first"

Output = tuple[str, str]
"""Model and passage."""

Case = TypeVar("Case")
Value = TypeVar("Value")


class Said(NamedTuple):
    """What came of one question about an output.

    `key` is the key of its row, model and passage first; `row` what else the row has; `call` the question in the
    ledger, None or '' where nobody was asked; `error`, with whose it is, stands in place of all that.
    """

    key: tuple[str, ...]
    row: tuple[object, ...]
    call: str | None
    error: str | None


def languages(warehouse: Warehouse) -> dict[str, tuple[str, str]]:
    """Tags of the source's and of the references' language, by corpus."""
    corpora = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    return {corpus: (source, target) for corpus, source, target in corpora.iter_rows()}


def texts(warehouse: Warehouse, outputs: pl.DataFrame) -> dict[Output, str]:
    """Texts of outputs by model and passage; '' where the model declined to translate."""
    declined = warehouse.read("refusal", outputs.select(OUTPUT), OUTPUT)
    found = warehouse.read("model_output", outputs.select(OUTPUT), [*OUTPUT, "text"])
    own = {(model, passage): text for model, passage, text in found.iter_rows()}
    return dict.fromkeys(declined.rows(), "") | own


def whole(
    outputs: pl.DataFrame, own: Collection[Output], *beside: Collection[str]
) -> tuple[list[Output], dict[Output, str]]:
    """The outputs that are among those with a text, their passages among all of `beside`; and why others are not."""
    every = [(model, passage) for model, passage in outputs.select(OUTPUT).iter_rows()]
    kept = [output for output in every if output in own and all(output[1] in texts for texts in beside)]
    return kept, dict.fromkeys(set(every) - set(kept), LOST)


def settings(systems: Systems, asked: pl.DataFrame, groups: Iterable[tuple[pl.DataFrame, str]]) -> pl.DataFrame:
    """What determines the judgements of each output besides its texts: columns `model`, `passage` and `settings`.

    Parameters
    ----------
    groups
        Outputs of one model each, and what determines their judgements; an output may be in several. Those that are in
        none are left out.

    Returns
    -------
    A row for each output; of models that are known no more, `settings` is null.
    """
    known = systems.known(asked["model"].unique())
    rows = [pl.DataFrame(schema=dict.fromkeys([*OUTPUT, "settings"], pl.String))]
    for outputs, fingerprint in groups:
        of_known = fingerprint if outputs["model"][0] in known else None
        rows.append(outputs.select(*OUTPUT, settings=pl.lit(of_known, pl.String)))
    together = pl.when(pl.col("settings").has_nulls()).then(None).otherwise(pl.col("settings").sort().str.join(" "))
    return pl.concat(rows).group_by(OUTPUT, maintain_order=True).agg(settings=together)


def cost(provider: Provider, questions: Iterable[tuple[Task, Mapping[str, Any]]]) -> Estimate | None:
    """What questions, of a task and an item each, would cost; None where there are none."""
    said = estimate_asking(provider.ledger, questions)
    return said if said.calls else None


def ask_all(
    provider: Provider,
    name: str,
    one: Callable[[Ask, Case], Awaitable[Value]],
    cases: Sequence[Case],
    task: Callable[[Case], Task],
    run: str,
    following: Callable[[Sequence[tuple[Case, Value]]], Sequence[Case]] = lambda _: (),
) -> list[tuple[Case, Value]]:
    """What `one` makes of each case, in their order. The run pays.

    Parameters
    ----------
    name
        For the line that says how many cases are done.
    task
        By which a case is asked about.
    following
        The cases of the next round, from all that came so far; none ends the asking.
    """
    given: list[tuple[Case, Value]] = []
    if not cases:
        return given

    async def asked() -> None:
        async with provider.opened(run) as client:

            async def each(case: Case) -> Value:
                return await one(client.ask, case)

            batch = cases
            while batch:
                found = await at_once(client, each, batch, (task(case).model for case in batch), name)
                given.extend(zip(batch, found, strict=True))
                batch = following(given)

    complete(asked())
    return given


def tabulate(
    table: str, key: Sequence[str], columns: Mapping[str, Any], said: Sequence[Said], failures: Mapping[Output, str]
) -> Computed:
    """Sort what was said into the rows of a table and of `{table}_call`; an output of which one is an error failed.

    Parameters
    ----------
    key, columns
        Of the table: names of its key, all of which are texts, and the types of what else it has.
    failures
        Why others have no rows.
    """
    errors = {output: [words] for output, words in failures.items()}
    for each in said:
        if each.error:
            errors.setdefault((each.key[0], each.key[1]), []).append(each.error)
    good = [each for each in said if (each.key[0], each.key[1]) not in errors]
    names = dict.fromkeys(key, pl.String)
    rows = [(*each.key, *each.row) for each in good]
    calls = [(*each.key, each.call) for each in good if each.call]
    failed = [(*output, "; ".join(dict.fromkeys(words))) for output, words in errors.items()]
    return Computed(
        {table: pl.DataFrame(rows, schema={**names, **columns}, orient="row")},
        pl.DataFrame(failed, schema=FAILURE, orient="row"),
        {f"{table}_call": pl.DataFrame(calls, schema={**names, "call": pl.String}, orient="row")},
    )
