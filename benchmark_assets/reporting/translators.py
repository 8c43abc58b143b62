"""The human translators of a corpus, examined as references: how far each is from the other translators, from the
source and from the systems, and what leaving one out changes in the scores of the models.

Here: contrasts within passages, their intervals and verdicts. Not here: distances of pairs of translators (agreement),
models among translators (people), scores without a translator (left_out). No verdict removes a reference.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import polars as pl

from benchmark_assets.metrics import significance
from benchmark_assets.metrics.contrasts import SUMS, compared, contrasts, summed
from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.reporting.left_out import comparable, left_out_scores
from benchmark_assets.reporting.unit_sums import KEYS, UnitSums
from benchmark_assets.sensitivity.sample import chosen
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

EXAMINED = schema("reference_examination", "signature")
WITHOUT = schema("without_reference", "signature")

TABLES = ("drift_score", "output_similarity", "reference_envelope", "reference_similarity")
"""Tables from which the sums of `against_systems` are made."""

SAMPLE, SEED = 100, 1
"""Passages of a corpus whose references are compared with the source, and the seed of their draw. A text costs about
15 ms."""

FEWEST = {"translators": 3, "source": 2, "systems": 2}
"""Fewest translations of a passage by view. Two translations are as far from each other as the other is from the one,
so that three are needed to say which of them stands apart."""

AMONG = ("sim_best", "drift_adjusted", "chrf")
"""Measures of a translation against the other translations."""

CHANGED = ("sim_best", "drift_adjusted")
"""Measures of a model's outputs that are computed without each reference."""

SIGNATURE = (
    f"each translator and the mean of the others, on the same passages; source: cosine to the source on {SAMPLE} "
    f"passages or all of them, seed {SEED}; systems: mean cosine to the outputs; p_family: over the translators of "
    f"a corpus in a measure; farther, closer: p_family at most {significance.LEVEL}; alike: within the metric's margin"
)


def examined(comparisons: pl.DataFrame, translators: pl.DataFrame, missing: Mapping[str, str]) -> pl.DataFrame:
    """A verdict on each translator in each view.

    Parameters
    ----------
    comparisons
        As `compared` returns them for the keys `view`, `measure` and `translator`.
    translators
        Columns `corpus` and `translator`.
    missing
        By view, why a translator may have no comparison.

    Returns
    -------
    Columns of `EXAMINED`. `verdict` is 'farther' if the translator is significantly farther from the others (from the
    source, from the systems) than the others are, 'closer' if closer, 'alike' if the interval of the difference is
    within the metric's margin, else 'cannot be told'.
    """
    wanted = translators.join(pl.DataFrame({"view": list(missing), "note": list(missing.values())}), how="cross")
    without = wanted.join(comparisons, on=["corpus", "view", "translator"], how="anti").with_columns(measure=pl.lit(""))
    rows = pl.concat([comparisons, without], how="diagonal")
    better = {name: BY_NAME[name].better for name in AMONG}
    nearer = pl.col("difference") * pl.col("measure").replace_strict(better, default=1)
    verdict = (
        pl.when((pl.col("p_family") <= significance.LEVEL) & (nearer < 0)).then(pl.lit("farther"))
        .when(pl.col("p_family") <= significance.LEVEL).then(pl.lit("closer"))
        .when(answer=significance.EQUAL).then(pl.lit("alike")).otherwise(pl.lit(significance.OPEN))
    )  # fmt: skip
    few = pl.when(pl.col("p").is_null()).then(pl.lit("too few units for an interval"))
    rows = rows.rename({"other": "others"}).with_columns(
        pl.col("note").fill_null(few), pl.col("passages", "units").fill_null(0), verdict=verdict
    )
    return rows.select(pl.col(name).cast(kind) for name, kind in EXAMINED.items()).sort(EXAMINED.names()[:4])


def doubts(examination: pl.DataFrame) -> pl.DataFrame:
    """Translators who are farther both from the source and from the other translators: `corpus`, `translator`, `doubt`.

    Distance from the other translators alone is no doubt: the best translation may stand apart. A free translation may
    be doubted, too.
    """
    farther = examination.filter(verdict="farther").group_by("corpus", "translator").agg(pl.col("view").unique())
    both = farther.filter(pl.col("view").list.contains("source") & pl.col("view").list.contains("translators"))
    words = pl.lit("farther from the source and from the other translators than they are: free, or faulty")
    return both.select("corpus", "translator", doubt=words)


def changes(comparisons: pl.DataFrame, doubted: pl.DataFrame) -> pl.DataFrame:
    """What leaving out each translator changes in the scores of models, and in their order.

    Parameters
    ----------
    comparisons
        As `compared` returns them for the keys `measure`, `translator` and `model`, where `value` is the score without
        the translator and `other` the score with all.
    doubted
        As `doubts` returns them.

    Returns
    -------
    Columns of `WITHOUT`. `place` and `place_without` are the model's places among the models, on the passages of the
    translator, with all references and without this one; 1 is best.
    """
    better = pl.col("measure").replace_strict({name: BY_NAME[name].better for name in CHANGED})
    group = ["corpus", "measure", "translator"]
    rows = comparisons.rename({"value": "without", "other": "value", **{
        f"difference{end}": f"change{end}" for end in ("", "_low", "_high")
    }}).with_columns(
        place=(better * pl.col("value")).rank("min", descending=True).over(group),
        place_without=(better * pl.col("without")).rank("min", descending=True).over(group),
    ).join(doubted, on=["corpus", "translator"], how="left")  # fmt: skip
    return rows.select(pl.col(name).cast(kind) for name, kind in WITHOUT.items()).sort(WITHOUT.names()[:4])


def among_translators(warehouse: Warehouse) -> pl.DataFrame:
    """Contrasts of each translator's scores against the other translators; `passage`, `measure`, `translator`, `SUMS`
    without `passages`."""
    texts = warehouse.read("human_baseline", columns=["passage", "translator", *AMONG])
    values = texts.unpivot(AMONG, index=["passage", "translator"], variable_name="measure")
    return contrasts(values.with_columns(pl.col("value").fill_nan(None)), FEWEST["translators"])


def sampled(warehouse: Warehouse) -> pl.DataFrame:
    """Sources and complete references of the sample: `passage`, `translator` ('' for the source) and `text`."""
    references = warehouse.read("reference", columns=["passage", "translator", "complete"]).filter("complete")
    several = references.filter(pl.len().over("passage") >= FEWEST["source"]).with_columns(CORPUS)
    names = [
        passage
        for _, own in several.group_by("corpus", maintain_order=True)
        for passage in chosen(own["passage"].unique().to_list(), SAMPLE, SEED)
    ]
    keys = pl.DataFrame({"passage": names}, schema={"passage": pl.String})
    sources = warehouse.read("source_text", keys, ["passage", "text"]).with_columns(translator=pl.lit(""))
    texts = warehouse.read("reference", keys, ["passage", "translator", "text", "complete"]).filter("complete")
    return pl.concat([sources, texts.drop("complete")], how="diagonal")


def beside_source(texts: pl.DataFrame, vectors: pl.DataFrame) -> pl.DataFrame:
    """Contrasts of the similarities of translations to their source.

    `texts` is as `sampled` returns them, `vectors` has `text` and `vector` (unit length). The result is as that of
    `among_translators`; the measure is 'similarity'.
    """
    rows = texts.join(vectors, on="text", maintain_order="left").drop("text")
    sources = rows.filter(translator="").select("passage", source="vector")
    pairs = rows.filter(pl.col("translator") != "").join(sources, on="passage", maintain_order="left")
    cosines = np.einsum("ij,ij->i", *(pairs[name].to_numpy().astype(np.float64) for name in ("vector", "source")))
    values = pairs.select("passage", "translator", measure=pl.lit("similarity"), value=pl.Series(cosines))
    return contrasts(values, FEWEST["source"])


def against_systems(warehouse: Warehouse, sums: UnitSums, code: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sums of the contrasts of translators by their similarity to the systems' outputs, and of the scores of models
    without and with each translator. `code` is the version of the code."""
    found = sums.of("references", SUMS, partial(_with_and_without, warehouse), {}, code)
    systems = found.filter(item="systems").with_columns(view=pl.col("item"), measure=pl.lit("similarity"))
    return systems, found.filter(pl.col("item") != "systems").rename({"item": "measure"})


def _with_and_without(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    outputs, pairs = comparable(warehouse, passages)
    means = outputs.group_by("passage", "translator", "embedder").agg(value=pl.mean("similarity"))
    systems = contrasts(means.with_columns(measure=pl.lit("systems")), FEWEST["systems"])
    index = ["passage", "model", "measure"]
    without = left_out_scores(outputs, pairs).filter(kind="model").rename({"system": "model", "left_out": "translator"})
    without = without.unpivot(CHANGED, index=["passage", "embedder", "model", "translator"], variable_name="measure")
    scores = warehouse.read("drift_score", passages.select("passage"), ["model", "passage", *CHANGED])
    every = scores.unpivot(CHANGED, index=["passage", "model"], variable_name="measure", value_name="other")
    models = without.join(every, on=index).drop_nulls(["value", "other"])
    rows = pl.concat([systems.with_columns(model=pl.lit("")), models], how="diagonal_relaxed")
    rows = rows.rename({"measure": "item"}).join(passages, on="passage")
    # The order of addition differs from run to run.
    return rows.group_by(KEYS).agg(pl.len().alias("passages"), pl.sum("value", "other").round(9))


def examination(
    warehouse: Warehouse, contrasted: Mapping[str, pl.DataFrame], sums: UnitSums, multilingual: str, code: str
) -> dict[str, pl.DataFrame]:
    """Rows of `reference_examination` and `without_reference`.

    Parameters
    ----------
    contrasted
        Contrasts by view, without the view of the systems, whose sums are kept.
    multilingual
        Signature of the embedder that compares translations with the source; '' without one.
    code
        Version of the code.
    """
    texts = warehouse.read("reference", columns=["passage", "translator", "complete"]).filter("complete")
    systems, models = against_systems(warehouse, sums, code)
    own = summed(contrasted, sums.passages().select("passage", "unit"))
    views = compared(pl.concat([own, systems.select(own.columns)]), ["view", "measure", "translator"], "translator")
    missing = {
        "translators": "no passage has three translations",
        "source": "no passage has two translations" if multilingual else "the registry names no multilingual embedder",
        "systems": "no passage has outputs and two translations",
    }
    rows = examined(views, texts.select(CORPUS, "translator").unique(), missing)
    changed = changes(compared(models, ["measure", "translator", "model"], "model"), doubts(rows))
    signed = _signatures(warehouse, sums.kinds, multilingual)
    return {
        name: table.join(signed, on="corpus", how="left", maintain_order="left")
        for name, table in (("reference_examination", rows), ("without_reference", changed))
    }


def _signatures(warehouse: Warehouse, kinds: pl.DataFrame, multilingual: str) -> pl.DataFrame:
    """Signature of each corpus: columns `corpus` and `signature`."""
    embedders = warehouse.read("reference_envelope", columns=["passage", "embedder"]).group_by(CORPUS).agg(
        pl.col("embedder").unique().sort().str.join(", ")
    )  # fmt: skip
    words = pl.format("embedder: {}; {}; units: {}", "embedder", pl.lit(f"{multilingual}; {SIGNATURE}"), "unit_kind")
    rows = kinds.join(embedders, on="corpus", how="left").with_columns(pl.col("embedder").fill_null("none"))
    return rows.select("corpus", signature=words)
