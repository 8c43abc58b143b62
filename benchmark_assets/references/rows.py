"""Rows of the envelope's tables, from embedded references. Not here: the geometry (envelope), storage."""

import polars as pl

from benchmark_assets.references.envelope import envelope

ENVELOPE = pl.Schema({
    "passage": pl.String(), "reference_count": pl.Int32(), "human_spread": pl.Float64(),
    "euclidean_spread": pl.Float64(), "mean_similarity": pl.Float64(), "least_similarity": pl.Float64(),
    "centroid": pl.List(pl.Float32), "cut_references": pl.Int32(),
})  # fmt: skip
SIMILARITY = pl.Schema(
    {"passage": pl.String(), "translator": pl.String(), "other": pl.String(), "similarity": pl.Float64()}
)


def envelope_rows(passages: pl.DataFrame, references: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of `reference_envelope` for every passage, and of `reference_similarity` for every pair of references.

    Parameters
    ----------
    passages
        Column `passage`, each once.
    references
        Columns `passage`, `translator`, `vector` (array of float32, unit length) and `cut`, for complete references.
    """
    by_passage = references.sort("passage", "translator").partition_by("passage", as_dict=True)
    envelopes: list[tuple[object, ...]] = []
    pairs: list[tuple[object, ...]] = []
    for (passage,) in passages.select("passage").iter_rows():
        own = by_passage.get((passage,), references.clear())
        if len(own) < 2:
            envelopes.append((passage, len(own), None, None, None, None, None, None))
            continue
        found = envelope(own["vector"].to_numpy())
        names = own["translator"].to_list()
        similarities = [
            (passage, names[i], names[j], float(found.similarities[i, j]))
            for i in range(len(names))
            for j in range(i + 1, len(names))
        ]
        pairs += similarities
        values = [similarity for *_, similarity in similarities]
        cut = None if own["cut"].null_count() else int(own["cut"].sum())
        mean = sum(values) / len(values)
        vector = found.centroid.astype("float32").tolist()
        envelopes.append((passage, len(own), found.spread, found.euclidean_spread, mean, min(values), vector, cut))
    return {
        "reference_envelope": pl.DataFrame(envelopes, schema=ENVELOPE, orient="row"),
        "reference_similarity": pl.DataFrame(pairs, schema=SIMILARITY, orient="row"),
    }
