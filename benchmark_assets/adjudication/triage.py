"""Triage: the drift band of an output, whether the panel judges it, whether people label it.

Here: bands, the queue, and the draw of the people's sample. Not here: judging (panel), exporting the sample
(annotation), drift itself (metrics.drift).
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import polars as pl

from benchmark_assets.corpus.description import Audit
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

BANDED = schema("triage", "item")


def audits(warehouse: Warehouse) -> dict[str, Audit]:
    """Settings of adjudication in the corpora's descriptions, by corpus."""
    rows = warehouse.read("corpus", columns=["corpus", "audit"]).iter_rows()
    return {corpus: Audit.model_validate_json(text or "{}") for corpus, text in rows}


def band_names(edges: Sequence[float]) -> list[str]:
    """Names of the bands that the edges divide, lowest first: '0.0-1.0', …, '>3.0'."""
    names = [str(float(edge)) for edge in (0, *edges)]
    return [*(f"{low}-{high}" for low, high in pairwise(names)), f">{names[-1]}"]


def item_key(model: str, passage: str, text: str) -> str:
    """Anonymous key of an output, 16 hexadecimal digits: it reveals nothing, and changes with the text."""
    return blake2b("\0".join((model, passage, text)).encode(), digest_size=8).hexdigest()


def banded(drifts: pl.DataFrame, audits: Mapping[str, Audit]) -> pl.DataFrame:
    """Put outputs into bands, queue outputs above their corpus's threshold, draw the people's sample.

    Parameters
    ----------
    drifts
        Columns `model`, `passage` and `drift`, null where there is none. All outputs of a model must be present.

    Returns
    -------
    Columns of `BANDED`, one row per output with a drift. A drift on an edge belongs to the band below it, and a drift
    equal to the threshold is not queued (audit, section 3.3).

    Notes
    -----
    The description sets how many outputs to draw for each model, band and corpus; where there are fewer, all are drawn.
    They are drawn in the order of a hash of seed, model and passage. So the sample is balanced by model, each draw is a
    simple random one, a new model does not change the sample of other models, and an output that moves to another band
    displaces at most one output there.
    """
    parts = [pl.DataFrame(schema=BANDED)]
    for (corpus,), rows in drifts.drop_nulls("drift").group_by(CORPUS, maintain_order=True):
        audit = audits[str(corpus)]
        number = np.searchsorted(audit.bands, rows["drift"].to_numpy(), side="left")
        order = [item_key(model, passage, str(audit.seed)) for model, passage in rows.select("model", "passage").rows()]
        numbered = rows.with_columns(pl.Series("number", number, dtype=pl.Int64), pl.Series("order", order))
        place = pl.col("order").rank("ordinal").over("model", "number")
        wanted = pl.col("number").replace_strict(dict(enumerate(audit.sample)), return_dtype=pl.Int64)
        name = pl.col("number").replace_strict(dict(enumerate(band_names(audit.bands))), return_dtype=pl.String)
        parts.append(
            numbered.with_columns(band=name, queued=pl.col("drift") > audit.threshold, sampled=place <= wanted).select(
                BANDED.names()
            )
        )
    return pl.concat(parts)
