"""Triage of outputs: bands, the queue for the panel, and the sample for annotation by people.

Bands divide outputs by drift, or by a number that finds more errors (`Audit.by`). In any case, the sample is drawn at
random within each model and band, so that each output is drawn with a known probability.

Not here: judging (panel), exporting the sample (people.sample), drift itself (metrics.drift).
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import polars as pl

from benchmark_assets.corpus.description import Audit
from benchmark_assets.corpus.registry import sections
from benchmark_assets.metrics.unmeasured import BAND
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

BANDED = schema("triage", "item")

FEWEST = 5
"""Fewest outputs that are drawn from a model's band if the settings give only the size of the whole sample."""


def audits(warehouse: Warehouse) -> dict[str, Audit]:
    """Settings of adjudication from the corpus descriptions, by corpus."""
    return sections(warehouse, "audit", Audit)


def band_names(edges: Sequence[float], by: str = "drift") -> list[str]:
    """Names of the bands between these edges, lowest first: '0.0-1.0', …, '>3.0'. They begin with `by` if this is not
    drift: 'support 0.0-1.0'."""
    names = [str(float(edge)) for edge in (0, *edges)]
    bands = [*(f"{low}-{high}" for low, high in pairwise(names)), f">{names[-1]}"]
    return bands if by == "drift" else [f"{by} {band}" for band in bands]


def suspicion(by: str) -> pl.Expr:
    """The number that bands divide: drift; or the length of the source, or (1 - support) times the root of that length,
    or the spread of the references, as a multiple of the median of the model's outputs. The sample of a model therefore
    does not depend on other models.

    Of frames with the columns `model`, and `drift`, or those of `outputs_of`.
    """
    if by == "drift":
        return pl.col("drift")
    lack = (1 - pl.col("support")) * pl.col("length").sqrt()
    value = {"length": pl.col("length"), "spread": pl.col("human_spread"), "support": lack}[by]
    return (value / value.median().over("model")).fill_nan(0)


def outputs_of(warehouse: Warehouse, models: pl.DataFrame, audits: Mapping[str, Audit]) -> pl.DataFrame:
    """All outputs of models with what `suspicion` needs: columns `model`, `passage`, `drift`, `length` (characters of
    the source), `support`, which is 0 for an output without a score and null if support is not computed, and
    `human_spread`."""
    outputs = warehouse.read("drift_score", models, ["model", "passage", "drift"])
    if all(audit.by == "drift" for audit in audits.values()):
        return outputs.with_columns(length=pl.lit(None, pl.Int64), support=pl.lit(None, pl.Float64))
    sources = warehouse.read("source_text", outputs.select("passage").unique(), ["passage", "text"])
    columns = ["model", "passage", "entry", "score"]
    scores = warehouse.read("segment_metric", models, columns).filter(entry="support")
    scores = scores.group_by("model", "passage").agg(support=pl.col("score").first().fill_null(0))
    lengths = sources.select("passage", length=pl.col("text").str.len_chars().cast(pl.Int64))
    spreads = warehouse.read("reference_envelope", lengths.select("passage"), ["passage", "human_spread"])
    outputs = outputs.join(lengths, on="passage", how="left").join(spreads, on="passage", how="left")
    return outputs.join(scores, on=["model", "passage"], how="left")


def without_support(outputs: pl.DataFrame, audits: Mapping[str, Audit]) -> pl.DataFrame:
    """The outputs that are to be divided by support, but have no score."""
    by_support = [corpus for corpus, audit in audits.items() if audit.by == "support"]
    needed = CORPUS.is_in(by_support) & pl.col("drift").is_not_null() & pl.col("support").is_null()
    return outputs.filter(needed).select("model", "passage")


def allocated(number: int) -> pl.Expr:
    """How many outputs of a model to draw from each output's band, if `number` are drawn in all.

    Of frames with the columns `model`, `number` (of the band) and `suspicion`. A band's part is proportional to the sum
    of the roots of its suspicions: Neyman's allocation if the error rate is proportional to the suspicion, and errors
    are rare. Each band has at least `FEWEST`, so that each output has a positive probability.
    """
    root = pl.col("suspicion").clip(0).sqrt()
    share = root.sum().over("model", "number") / root.sum().over("model")
    return (number * share).round().fill_nan(0).clip(FEWEST)


def item_key(model: str, passage: str, text: str) -> str:
    """Anonymous key of an output: a hash of 16 hexadecimal digits that changes with the text."""
    return blake2b("\0".join((model, passage, text)).encode(), digest_size=8).hexdigest()


def banded(outputs: pl.DataFrame, audits: Mapping[str, Audit]) -> pl.DataFrame:
    """Assign outputs to bands, queue outputs above the corpus's threshold, and draw the sample for people.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `drift` (may be null) and, for other orders than drift, those of `outputs_of`, with
        all outputs of each model.
    audits
        Settings by corpus.

    Returns
    -------
    Columns of `BANDED`, one row per output with a drift and the number that bands divide. A number equal to an edge is
    in the band below, and a number equal to the threshold is not queued (audit paper, section 3.3). Outputs without a
    drift are in the band `unmeasured.BAND`: as many of them are drawn as of the band with the largest sample.

    Notes
    -----
    The settings, or `allocated`, give the number of outputs to draw for each model and band; all are drawn if there are
    fewer. Outputs are drawn in the order of a hash of seed, model and passage. The sample is therefore a simple random
    sample within each model and band, does not depend on other models, and, if the settings give the numbers, changes
    by at most one output in each band when an output moves to another band. The same order selects the outputs below
    the threshold that the panel screens.
    """
    parts = [pl.DataFrame(schema=BANDED)]
    for (corpus,), rows in outputs.group_by(CORPUS, maintain_order=True):
        audit = audits[str(corpus)]
        unmeasured, rows = rows.filter(pl.col("drift").is_null()), rows.drop_nulls("drift")
        rows = rows.with_columns(suspicion=suspicion(audit.by)).drop_nulls("suspicion")
        number = np.searchsorted(audit.bands, rows["suspicion"].to_numpy(), side="left")
        numbered = rows.with_columns(pl.Series("number", number, dtype=pl.Int64), _order(rows, audit.seed))
        place = pl.col("order").rank("ordinal").over("model", "number")
        if isinstance(audit.sample, int):
            size = allocated(audit.sample)
        else:
            size = pl.col("number").replace_strict(dict(enumerate(audit.sample)), return_dtype=pl.Int64)
        name = pl.col("number").replace_strict(
            dict(enumerate(band_names(audit.bands, audit.by))), return_dtype=pl.String
        )
        queued = pl.col("suspicion") > audit.threshold
        screened = ~queued & (place <= (audit.below * pl.len().over("model", "number")).ceil())
        flags = {"queued": queued, "sampled": place <= size, "screened": screened}
        parts.append(numbered.with_columns(band=name, **flags).select(BANDED.names()))
        parts.append(_unmeasured(unmeasured, audit))
    return pl.concat(parts)


def _order(outputs: pl.DataFrame, seed: int) -> pl.Series:
    """The hashes in whose order outputs are drawn."""
    keys = outputs.select("model", "passage").rows()
    return pl.Series("order", [item_key(model, passage, str(seed)) for model, passage in keys], dtype=pl.String)


def _unmeasured(outputs: pl.DataFrame, audit: Audit) -> pl.DataFrame:
    """Rows of `banded` of outputs without a drift: a simple random sample of each model's."""
    bands = len(audit.bands) + 1
    size = max(FEWEST, audit.sample // bands) if isinstance(audit.sample, int) else max(audit.sample)
    place = _order(outputs, audit.seed)
    drawn = outputs.with_columns(place).with_columns(sampled=pl.col("order").rank("ordinal").over("model") <= size)
    flags = {"queued": pl.lit(False), "screened": pl.lit(False)}
    return drawn.with_columns(band=pl.lit(BAND), **flags).select(BANDED.names()).cast(BANDED)
