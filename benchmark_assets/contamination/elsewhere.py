"""Outputs that repeat the reference of another passage.

Here: finding the passage by 6-grams, and the evidence that it is copied. Not here: the passage's own references.
"""

import numpy as np
import polars as pl

from benchmark_assets.contamination.evidence import LEAST, deviation, log_ratio
from benchmark_assets.contamination.wording import Codes, shared
from resources.keys import CORPUS

GRAM = 6
"""Words of the n-grams by which passages are found."""

PLACES = 20
"""Texts in which an n-gram may occur: others are refrains and name no passage."""

SHARE = 0.2
"""Share of the shorter text's 6-grams that make another passage a candidate. Of a copy with a tenth of the words
exchanged, half are left."""

_UNRELATED, _NARROWER = 0.3, 0.8  # near-identity to expect of texts of different passages, and its deviation

FOUND = {
    "model": pl.String(), "passage": pl.String(), "translator": pl.String(), "copied_from": pl.String(),
    "words": pl.Int32(), "run": pl.Int32(), "overlap": pl.Float64(), "near": pl.Float64(), "elsewhere": pl.Float64(),
}  # fmt: skip


def elsewhere(outputs: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """For each output and translator, the reference of another passage of the corpus that the output is most like.

    Parameters
    ----------
    outputs
        Columns `model`, `passage` and `text`, without null.
    references
        Columns `passage`, `translator` and `text`.

    Returns
    -------
    Columns of `FOUND`, only for outputs with a candidate. `elsewhere` is the log-likelihood ratio of a copy, less the
    logarithm of the number of passages, since any might be alike by chance. The near-identity that is expected is
    that of the output and of all references of its passage with the other passage's reference or with each other:
    passages may be alike.
    """
    texts = pl.concat([outputs["text"], references["text"]]).unique(maintain_order=True)
    codes = Codes.of(texts)
    number = pl.DataFrame({"text": texts, "number": np.arange(len(texts)), "size": np.diff(codes.ends)})
    own = outputs.select("model", "passage", "text", CORPUS).join(number, on="text").with_row_index("output")
    their = references.select("translator", CORPUS, "text", copied_from="passage").join(number, on="text")
    grams = codes.grams(GRAM).unique(["text", "gram"]).select("gram", number="text")
    of_references = their.join(grams, on="number").filter(pl.len().over("corpus", "gram") <= PLACES)
    matches = own.join(grams, on="number").join(of_references, on=["corpus", "gram"], suffix="_other")
    matches = matches.filter(pl.col("passage") != pl.col("copied_from"))
    counts = matches.group_by("output", "translator", "copied_from").agg(
        pl.first("model", "passage", "text", "text_other"),
        hits=pl.len(),
        size=pl.min_horizontal("size", "size_other").first(),
    )
    enough = (pl.col("hits") >= SHARE * (pl.col("size") - GRAM + 1)) & (pl.col("size") >= LEAST)
    best = counts.filter(enough).sort("hits", "copied_from", descending=[True, False])
    best = best.unique(["output", "translator"], keep="first", maintain_order=True)
    measured = shared(
        best.select("output", "model", "passage", "translator", "copied_from", "text", reference="text_other")
    )
    alike = references.select("passage", other="text").join(
        best.select("passage", "translator", "copied_from", reference="text_other").unique(), on="passage"
    )
    alike = (
        shared(alike.rename({"other": "text"}))
        .group_by("passage", "translator", "copied_from")
        .agg(alike=pl.max("near"))
    )
    home = references.select("passage", reference="text").join(best.select("output", "passage", "text"), on="passage")
    home = shared(home).group_by("output").agg(home=pl.max("near"))
    rows = measured.join(alike, on=["passage", "translator", "copied_from"], how="left").join(
        home, on="output", how="left"
    )
    expected = rows.select(pl.max_horizontal(pl.lit(_UNRELATED), "alike", "home")).to_series().to_numpy()
    ratio = log_ratio(rows["near"].to_numpy(), expected, _NARROWER * deviation(rows["words"].to_numpy()), same=False)
    passages = outputs.select(CORPUS, "passage").group_by("corpus").agg(passages=pl.n_unique("passage"))
    rows = rows.with_columns(CORPUS, ratio=pl.Series(ratio, dtype=pl.Float64)).join(passages, on="corpus", how="left")
    return rows.with_columns(elsewhere=pl.col("ratio") - pl.col("passages").log()).select(
        pl.col(name).cast(kind) for name, kind in FOUND.items()
    )
