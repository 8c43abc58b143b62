"""Triage of outputs: drift bands, the queue for the panel, and the sample for annotation by people.

Not here: judging (panel), exporting the sample (people.sample), drift itself (metrics.drift).
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import polars as pl

from benchmark_assets.corpus.description import Audit
from benchmark_assets.corpus.registry import sections
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

BANDED = schema("triage", "item")


def audits(warehouse: Warehouse) -> dict[str, Audit]:
    """Settings of adjudication from the corpus descriptions, by corpus."""
    return sections(warehouse, "audit", Audit)


def band_names(edges: Sequence[float]) -> list[str]:
    """Names of the bands between these edges, lowest first: '0.0-1.0', …, '>3.0'."""
    names = [str(float(edge)) for edge in (0, *edges)]
    return [*(f"{low}-{high}" for low, high in pairwise(names)), f">{names[-1]}"]


def item_key(model: str, passage: str, text: str) -> str:
    """Anonymous key of an output: a hash of 16 hexadecimal digits that changes with the text."""
    return blake2b("\0".join((model, passage, text)).encode(), digest_size=8).hexdigest()


def banded(drifts: pl.DataFrame, audits: Mapping[str, Audit]) -> pl.DataFrame:
    """Assign outputs to drift bands, queue outputs above the corpus's threshold, and draw the sample for people.

    Parameters
    ----------
    drifts
        Columns `model`, `passage` and `drift` (may be null), with all outputs of each model.
    audits
        Settings by corpus.

    Returns
    -------
    Columns of `BANDED`, one row per output with a drift. A drift equal to an edge is in the band below, and a drift
    equal to the threshold is not queued (audit paper, section 3.3).

    Notes
    -----
    The settings give the number of outputs to draw for each model and band; all are drawn if there are fewer. Outputs
    are drawn in the order of a hash of seed, model and passage. The sample is therefore a simple random sample within
    each model and band, does not depend on other models, and changes by at most one output in each band when an output
    moves to another band. The same order selects the outputs below the threshold that the panel screens.
    """
    parts = [pl.DataFrame(schema=BANDED)]
    for (corpus,), rows in drifts.drop_nulls("drift").group_by(CORPUS, maintain_order=True):
        audit = audits[str(corpus)]
        number = np.searchsorted(audit.bands, rows["drift"].to_numpy(), side="left")
        order = [item_key(model, passage, str(audit.seed)) for model, passage in rows.select("model", "passage").rows()]
        numbered = rows.with_columns(pl.Series("number", number, dtype=pl.Int64), pl.Series("order", order))
        place = pl.col("order").rank("ordinal").over("model", "number")
        size = pl.col("number").replace_strict(dict(enumerate(audit.sample)), return_dtype=pl.Int64)
        name = pl.col("number").replace_strict(dict(enumerate(band_names(audit.bands))), return_dtype=pl.String)
        queued = pl.col("drift") > audit.threshold
        screened = ~queued & (place <= (audit.below * pl.len().over("model", "number")).ceil())
        flags = {"queued": queued, "sampled": place <= size, "screened": screened}
        parts.append(numbered.with_columns(band=name, **flags).select(BANDED.names()))
    return pl.concat(parts)
