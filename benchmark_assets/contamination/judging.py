"""Which systems copy which reference, in which passages, and which translators are related.

Here: rows of `contamination`, `copied_passage` and `kinship` from measures of shared wording. Not here: the measures
(wording, elsewhere), the evidence of one pair (evidence), scores without a copied reference (without).
"""

import numpy as np
import polars as pl

from benchmark_assets.contamination.elsewhere import FOUND
from benchmark_assets.contamination.evidence import EVIDENCE, FEWEST, LEAST, RELATED, SIGNATURE, judged
from benchmark_assets.metrics.intervals import rate_interval
from resources.keys import CORPUS

COPIES, IS_RELATED, INDEPENDENT = "copies", "related", "independent"

SEVERAL, LONG = 3, 40
"""Copied passages, or words in a row, that it takes to say that a system copies: single short sentences coincide."""

PAIR = ["corpus", "model", "translator"]

CONTAMINATION: dict[str, pl.DataType] = {
    **dict.fromkeys(PAIR, pl.String()), "verdict": pl.String(), "passages": pl.Int32(), "copied_passages": pl.Int32(),
    "share": pl.Float64(), "share_low": pl.Float64(), "share_high": pl.Float64(), "near": pl.Float64(),
    "others_near": pl.Float64(), "log_ratio": pl.Float64(), "longest": pl.Int32(), "signature": pl.String(),
}  # fmt: skip

COPIED: dict[str, pl.DataType] = {
    "model": pl.String(), "passage": pl.String(), "translator": pl.String(), "copied_from": pl.String(),
    "words": pl.Int32(), "run": pl.Int32(), "others_run": pl.Int32(), "overlap": pl.Float64(), "near": pl.Float64(),
    "others": pl.Float64(), "posterior": pl.Float64(),
}  # fmt: skip


_MEASURED = ["words", "run", "overlap", "near"]
_ADDED = {"copied_passages", "longest", "share", "share_low", "share_high", "signature"}


def with_others(wordings: pl.DataFrame, people: pl.DataFrame, kin: pl.DataFrame) -> pl.DataFrame:
    """Add what independent translators share in each passage: columns `others` and `others_run`, null without any.

    Parameters
    ----------
    wordings
        Rows of `shared_wording`, or of `translator_wording` with each translator as `model`.
    people
        Rows of `translator_wording`.
    kin
        Pairs of related translators (as `related` returns them), who are no evidence for each other.

    Returns
    -------
    The rows, with `others` (mean near-identity) and `others_run` (longest run) of each other translator with the
    reference, and of the system with each other translator's reference.
    """
    on = ["model", "passage", "translator"]
    pairs = people.select("passage", third="translator", translator="other", theirs="near", their_run="run")
    kin = kin.rename({"other": "third"})
    pairs = pairs.with_columns(CORPUS).join(kin, on=kin.columns, how="anti", maintain_order="left").drop("corpus")
    own = wordings.select("model", "passage", third="translator", own="near", own_run="run")
    rows = wordings.select(on).join(pairs, on=["passage", "translator"]).join(own, on=["model", "passage", "third"])
    shared = rows.group_by(on).agg(
        others=(pl.mean("theirs") + pl.mean("own")) / 2,
        others_run=pl.max_horizontal(pl.max("their_run"), pl.max("own_run")),
    )
    return wordings.join(shared, on=on, how="left", maintain_order="left")


def contamination(
    wordings: pl.DataFrame, people: pl.DataFrame, kin: pl.DataFrame, found: pl.DataFrame, units: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judge each system and reference of each corpus.

    Parameters
    ----------
    wordings, people, kin
        As for `with_others`.
    found
        Rows of `elsewhere`.
    units
        Columns `passage` and `unit`, for intervals.

    Returns
    -------
    Rows with the columns of `CONTAMINATION`, and of `COPIED` for the copied passages of systems that copy.

    Notes
    -----
    Of related references that a text is like, only the nearest counts as copied. A system that is like a reference
    throughout, but not nearly equal to it, is `related`: it revises the reference, or both come from a third text, such
    as the output of another system.
    """
    on = ["model", "passage", "translator"]
    rows = with_others(wordings, people, kin).filter(pl.col("words") >= LEAST).with_columns(CORPUS)
    places = found.select(*on, "copied_from", "elsewhere", *(pl.col(name).alias(f"{name}_there") for name in _MEASURED))
    rows = rows.join(places, on=on, how="left").join(units.select("passage", "unit"), on="passage", how="left")
    pairs, passages = [], []
    for names, group in rows.sort(*PAIR, "passage").group_by(PAIR, maintain_order=True):
        judgment = judged(group) if len(group) >= FEWEST else None
        near = group["near"].median()
        known = {"passages": len(group), "near": near, "others_near": group["others"].median()}
        if judgment is None:
            pairs.append({**dict(zip(PAIR, names, strict=True)), **known, "verdict": None})
            continue
        verdict = IS_RELATED if judgment.level >= RELATED else COPIES if judgment.evidence >= EVIDENCE else INDEPENDENT
        pairs.append(
            {**dict(zip(PAIR, names, strict=True)), **known, "verdict": verdict, "log_ratio": judgment.evidence}
        )
        marked = group.with_columns(posterior=pl.Series(judgment.posterior)).filter(pl.Series(judgment.copied))
        passages.append(marked if verdict == COPIES else marked.clear())
    copied = pl.concat(passages) if passages else rows.clear().with_columns(posterior=pl.lit(0.0))
    copied = _at_home_or_there(copied)
    nearer = copied.select("model", "passage", other="translator", nearest="near")
    rivals = copied.join(kin, on=["corpus", "translator"]).join(nearer, on=["model", "passage", "other"])
    copied = copied.join(rivals.filter(pl.col("nearest") > pl.col("near")), on=on, how="anti")
    counts = copied.group_by(PAIR).agg(copied_passages=pl.len(), longest=pl.max("run"))
    table = pl.DataFrame(pairs, schema={name: kind for name, kind in CONTAMINATION.items() if name not in _ADDED})
    table = table.join(counts, on=PAIR, how="left", maintain_order="left").with_columns(
        verdict=pl.when((pl.col("verdict") == COPIES) & ~_enough()).then(pl.lit(INDEPENDENT)).otherwise("verdict"),
        signature=pl.lit(SIGNATURE),
    )
    copied = copied.join(table.filter(verdict=COPIES), on=PAIR, how="semi")
    table = table.join(_shares(rows, copied), on=PAIR, how="left", maintain_order="left").with_columns(
        copied_passages=pl.when(verdict=COPIES).then("copied_passages").when(pl.col("verdict").is_not_null()).then(0),
        longest=pl.when(verdict=COPIES).then("longest"),
    )
    return _typed(table, CONTAMINATION), _typed(copied, COPIED).sort(on)


def _enough() -> pl.Expr:
    """Whether a pair has enough copied passages, or a long one."""
    return ((pl.col("copied_passages") >= SEVERAL) | (pl.col("longest") >= LONG)).fill_null(value=False)


def _at_home_or_there(copied: pl.DataFrame) -> pl.DataFrame:
    """Replace the measures of texts that are nearer to another passage's reference by those; else no other passage."""
    there = (pl.col("near_there") > pl.col("near")).fill_null(value=False)
    return copied.with_columns(
        pl.when(there).then("copied_from").otherwise(pl.lit("")).alias("copied_from"),
        *(pl.when(there).then(f"{name}_there").otherwise(name).alias(name) for name in _MEASURED),
    )


def _shares(rows: pl.DataFrame, copied: pl.DataFrame) -> pl.DataFrame:
    """Share of copied passages of each pair, with its interval by units."""
    marked = copied.select("model", "passage", "translator", hit=pl.lit(value=True))
    rows = rows.join(marked, on=["model", "passage", "translator"], how="left")
    shares = []
    for names, group in rows.group_by(PAIR):
        if len(group) >= FEWEST:
            hits, units = group["hit"].fill_null(value=False).to_numpy(), group["unit"].rank("dense").to_numpy()
            low, high = rate_interval(hits, units.astype(np.int64) - 1)
            shares.append(
                {**dict(zip(PAIR, names, strict=True)), "share": hits.mean(), "share_low": low, "share_high": high}
            )
    columns = [*PAIR, "share", "share_low", "share_high"]
    return pl.DataFrame(shares, schema={name: CONTAMINATION[name] for name in columns})


def kinship(people: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Judge each pair of translators like a system and a reference: `corpus`, `translator`, `other`, and the others of
    `CONTAMINATION`."""
    systems = people.rename({"translator": "model", "other": "translator"})
    nobody = dict.fromkeys(["corpus", "translator", "other"], pl.String())
    rows, _ = contamination(systems, people, pl.DataFrame(schema=nobody), pl.DataFrame(schema=FOUND), units)
    return rows.rename({"translator": "other", "model": "translator"})


def related(kinships: pl.DataFrame) -> pl.DataFrame:
    """Pairs of translators that are not independent, in both orders: columns `corpus`, `translator` and `other`."""
    pairs = kinships.filter(pl.col("verdict").is_in([COPIES, IS_RELATED])).select("corpus", "translator", "other")
    return pl.concat([pairs, pairs.select("corpus", translator="other", other="translator")]).unique()


def _typed(rows: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    return rows.select(pl.col(name).cast(kind) for name, kind in schema.items())
