"""How often judges of single texts err: the shares of damaged and of sound sentinels in which they find an error.

Here: these shares, for a judge and for the majority of a panel, and rates corrected with them. Not here: verdicts on
judges (sequential, reports), the correction itself (metrics.misclassification).
"""

from collections.abc import Iterable, Sequence

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.sentinels import DAMAGING
from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units
from benchmark_assets.metrics.misclassification import SIGNATURE, ErrorShares, without_errors
from resources.warehouse import Warehouse


def damaging(warehouse: Warehouse, purpose: str) -> pl.DataFrame:
    """Rows of `sentinel` about damaged texts and the sound texts beside them, with a verdict that rates the text."""
    columns = ["judge", "direction", "trait", "kind", "passage", "shown", "worth"]
    rows = warehouse.read("sentinel", pl.DataFrame({"purpose": [purpose]}), columns)
    return rows.filter(pl.col("trait").is_in(DAMAGING)).drop_nulls("worth")


def of_majority(rows: pl.DataFrame, judges: Sequence[str], seats: int, faultless: float) -> ErrorShares | None:
    """The errors of the majority of `seats` seats, from rows of `damaging` of the judges whose votes count; None if
    these have no sentinel in common. A verdict below `faultless`, in [0, 1], says that there is an error.

    Errors that judges share count as they are: a majority errs where most judges err about the same text. A sound text
    counts once, whatever the number of damaged ones beside it.
    """
    votes = rows.filter(pl.col("judge").is_in(judges)).with_columns(
        kind=pl.when(pl.col("shown") == "sound").then(pl.lit("")).otherwise("kind")
    ).unique(["judge", "passage", "kind", "shown"])  # fmt: skip
    errors = (pl.col("worth") < faultless).sum()
    texts = votes.group_by("passage", "kind", "shown").agg(seen=pl.len(), errors=errors)
    texts = texts.filter(seen=len(judges)).with_columns(error=2 * pl.col("errors") > seats).sort("passage", "kind")
    found, false = (_share(texts.filter(shown=shown)) for shown in ("trial", "sound"))
    return None if found.low is None or false.low is None else ErrorShares(found, false)


def _share(texts: pl.DataFrame) -> Estimate:
    if texts.is_empty():
        return NONE
    errors = texts["error"].to_numpy()
    return Estimate(float(errors.mean()), *rate_interval(errors, numbered_units(texts["passage"])))


def of_single(warehouse: Warehouse, purpose: str, faultless: float = 1.0) -> dict[tuple[str, str], ErrorShares]:
    """The errors of each examined judge, by corpus and judge; `faultless` as for `of_majority`."""
    rows, found = damaging(warehouse, purpose), {}
    for corpus, languages in corpus_languages(warehouse).items():
        of_corpus = rows.filter(direction="-".join(languages))
        for judge in of_corpus["judge"].unique():
            if errors := of_majority(of_corpus, [judge], 1, faultless):
                found[corpus, judge] = errors
    return found


def with_corrected(
    rows: pl.DataFrame, rate: str, corrected: str, errors: Sequence[ErrorShares | None]
) -> pl.DataFrame:  # fmt: skip
    """Fill the columns of `corrected` with the rates that judges without errors would find.

    `errors` has one element for each row, None where nothing is known about the judges; the result is then null.
    """
    given = rows.select(*NONE.columns(rate)).iter_rows()
    found: Iterable[Estimate] = (
        without_errors(Estimate(*each), known) if known else NONE for each, known in zip(given, errors, strict=True)
    )
    columns = dict.fromkeys(NONE.columns(corrected), pl.Float64)
    filled = pl.DataFrame(list(found), schema=columns, orient="row")
    signed = pl.format("{}; {}: {}", "signature", pl.lit(corrected), pl.lit(SIGNATURE))
    return rows.with_columns(*filled.iter_columns(), signature=signed)
