"""Exhibits of leaderboards and of the other aggregates over all systems, and their texts in Dagster's UI.

Not here: the numbers; the leaderboard as text, which the command line also prints (leaderboard).
"""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.corpus.human_work import outdated_counts
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import MEAN_RANK, METRICS, OUTLIER
from benchmark_assets.metrics.unmeasured import BAND, WORTH, unmeasured
from benchmark_assets.reporting.leaderboard import COVERAGE, headline
from resources import catalogue
from resources.exhibits import WIDE, Exhibit, Ranges, ordered
from resources.tables import cells, shown, with_signatures


def named(system: str, kind: str) -> pl.Expr:
    """The name of a system. A translator's name is followed by "(human)", since a model may have the same name."""
    return pl.col(system) + pl.when(pl.col(kind) == "human").then(pl.lit(" (human)")).otherwise(pl.lit(""))


def _models_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `system_comparison`, pairs of models first."""
    models = (pl.col("kind") == "model") & (pl.col("other_kind") == "model")
    return rows.sort(models, descending=True, maintain_order=True)


def _by_similarity(rows: pl.DataFrame) -> pl.DataFrame:
    """Differences in similarity between models, or between all systems if there are fewer than two models."""
    rows = rows.filter(measure="sim_best")
    models = rows.filter(kind="model", other_kind="model")
    rows = (models if len(models) else rows).sort("difference", descending=True)
    return rows.with_columns(system=named("system", "kind"), other=named("other", "other_kind"))


def _by_model(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `human_difference` by measure; models with the highest mean difference come first."""
    order = pl.col("difference").mean().over("measure", "model")
    return rows.sort("measure", order, "model", "translator", descending=[True, True, False, False])


OUTDATED = Exhibit(
    "imported_output", "", "Outputs of an earlier source",
    "Number of imported outputs that translate an earlier version of the source. These outputs are not scored.",
    columns="model passages", read=outdated_counts,
)  # fmt: skip
BOARD = Exhibit(
    "leaderboard", "", "Leaderboard",
    "All models are scored over the same passages: a missing or refused output gets the worst scores. BLEU, chrF++ and "
    "the length offset of a corpus can improve if a bad output is missing, so ranks are by means over passages. A "
    "human translator is scored against the other translators, which shows how much human translations differ.",
    sources="leaderboard metric_rank drift_score human_baseline",
    question="How near are the models to the translators?",
)  # fmt: skip
ORIGINS = Exhibit(
    "leaderboard", "", "Origin of the outputs",
    "Outputs were published with a benchmark, imported from a file, or requested from the model here.",
    columns="system origin prompt settings embedder", sources="leaderboard model_output",
)  # fmt: skip
FAULTS = Exhibit(
    "leaderboard", "", "Faults",
    "Number of each model's outputs with faults that are visible without judging the meaning. An output may have "
    "several faults. Some faults can be found only with references; their columns are empty without references.",
    columns=f"system passages {' '.join(DIAGNOSES)}", sources="leaderboard output_diagnostic",
)  # fmt: skip
DRIFT = Exhibit(
    "drift_score", "", "Drift",
    "Distance of outputs from the centroid of the references, in units of the spread of the human translations. "
    "Dashed lines separate the bands, the thick line is the median, and the last bar includes all higher values. "
    "Quantiles and counts describe these outputs. They are not estimates, so they have no intervals.",
    sources="drift_score human_baseline triage", question="How far are the texts from the references?",
)  # fmt: skip
COSTS = Exhibit(
    "package_cost", "", "Costs", sources="model_call", question="What was the money spent on?",
    columns="model purpose calls prompt_tokens completion_tokens paid uncertain at_most corrected",
)  # fmt: skip
COST_RULE = (
    "cost of a call: the cost that a person entered as a correction, else the cost that the endpoint reported, else "
    "the cost by the registry's price; a call of unknown cost is counted at its worst case, or as free if the model "
    "has no price"
)
FRONTIER = Exhibit(
    "leaderboard", "", "Cost and scores",
    "What the outputs of each model cost beside what orders the models, or else beside their similarity, which is a "
    "distance, not quality. Beaten by: the cheapest model that costs no more and scores no worse, by the values alone. "
    "Models with a call of unknown cost, and outputs that were imported, are left out.",
    sources="leaderboard model_call", question="What does a better value cost?",
)  # fmt: skip
UNMEASURED = Exhibit(
    "unmeasured_output", "", "Outputs without a measure",
    "Outputs of passages with one translator or none: nothing shows how far translators differ there, so there is no "
    "drift, and no number says how good the outputs are. A random sample of them goes to judges and people; its error "
    f"rate is the band '{BAND}' of the errors. {WORTH}",
    "model", sources="triage drift_score output_diagnostic", read=unmeasured,
)  # fmt: skip
FAMILIES = Exhibit(
    "leaderboard", "", "Systems that ask one model",
    "Systems whose requests name the same model, with other prompts, settings, seeds, contexts, retrieval or choices "
    "among outputs. The spread of their values is what such choices change; it is no interval.",
)  # fmt: skip
WORDS = Exhibit(
    "leaderboard", "", "Words of the references",
    "Share of the words in the references that a model's outputs have: the mean over passages. A good translation may "
    "use other words; compare the kinds and the models. `variorum contrast` shows the words of two models.",
    sources="drift_score", question="Which words of the references do the models have?",
)  # fmt: skip
RANKS = Exhibit(
    "metric_rank", "", "Ranks",
    "Rank of each system among the models, by each measure, and the mean of its ranks. Rank 1 is the nearest to the "
    "references. These are ranks of distance, not of quality, so systems are listed by name.",
    "apart system", "system kind apart", brief=lambda rows: rows.filter(measure=MEAN_RANK),
    chart=Ranges("value", named("system", "kind"), "kind", unit="mean rank", width=WIDE),
    question="Where do the models stand by all measures together?",
)  # fmt: skip
CONCORDANCE = Exhibit(
    "metric_concordance", "concordance", "Concordance of measures",
    "Rank correlation of each pair of measures over the models: 1 means the same order, -1 the reverse order.",
    "statistic -value measure other", "measure other models",
    brief=lambda rows: rows.filter(statistic="tau_b").drop_nulls("value"), sources="metric_rank",
    chart=Ranges("value", pl.format("{} / {}", *cells("metric_concordance", "measure", "other")),
                 unit="τ-b", width=WIDE, rule=0, domain=(-1, 1)),
    question="Do the measures put the models in the same order?",
)  # fmt: skip
DIFFERENCES = Exhibit(
    "system_comparison", "differences", "Differences of similarity",
    "Similarity to the closest reference: score of the first system minus score of the other, on the passages for "
    "which both systems have a score. Two systems are equal if the interval is within the margin of the measure. The "
    "detectable difference is found in 80 % of corpora of this size.",
    columns="system other passages difference answer detectable", rows=_models_first, brief=_by_similarity,
    full="corpus measure system other passages units difference p p_family answer detectable",
    chart=Ranges("difference", pl.format("{} – {}", "system", "other"), "answer", columns=1, rule=0,
                 unit="difference of similarity to the closest reference", in_report=False),
)  # fmt: skip
MEANS = Exhibit(
    "metric_summary", "means", "Means of further metrics", chart=Ranges(
        "value", "system", "kind", "metric", width=170, in_report=False,
        rows=lambda rows: ordered(rows.filter(dimension=""), "metric value"),
    ),
)  # fmt: skip
AGREEMENT = Exhibit(
    "translator_agreement", "agreement", "Agreement of the translators",
    "Similarity of each pair of human translations, and distance of each human translation from the centroid.",
    "measure translator other", chart=Ranges(
        "value",
        pl.when(pl.col("other") != "").then(pl.format("{} – {}", "translator", "other")).otherwise("translator"),
        pl.lit("human"), "measure", width=170, in_report=False,
        rows=lambda rows: ordered(
            rows.filter(pl.col("measure").is_in(["similarity", "centroid_distance"])), "measure value"
        ),
    ),
)  # fmt: skip
CLOSEST = Exhibit(
    "closest_share", "", "Closest reference",
    "Share of passages in which each translator's reference is the most similar to a system's output.",
    "-kind system translator", "system kind passages", sources="translator_agreement",
    question="To whose translation are the texts closest?",
)  # fmt: skip
SLICES = Exhibit(
    "slice_summary", "", "Parts of the corpus",
    "Scores by part of the corpus: collections, and thirds of the passages by length and by human spread.",
)  # fmt: skip
FURTHEST = 20
"""Largest multiple of the units of a corpus to which the number that an answer takes is extrapolated."""

RANGE = Exhibit(
    "human_range", "range", "Models among people",
    "Whether a model is as far from the human translators as they are from each other. A model and a translator are "
    "compared on the same passages, and both are scored against the references of the other translators. A model is "
    "nearer or farther if it differs significantly from every translator. It is among them if it is equal to one of "
    "them within the margin, or nearer than one and farther than another. Otherwise it cannot be told, and the table "
    "says how many units are needed, up to 20 times those that there are. Nearness is not quality: models may be "
    "nearer than a good translator.",
    "-measure model", sources="human_range drift_score reference_envelope",
    brief=lambda rows: rows.with_columns(needed=pl.when(pl.col("needed") <= FURTHEST * pl.col("units")).then("needed")),
    question="Are the models as far from the translators as these are from each other?",
)  # fmt: skip
FROM_TRANSLATORS = Exhibit(
    "human_difference", "differences", "Models and each translator",
    "Mean scores of each model and each translator, scored against the references of the other translators.",
    "-measure model translator", brief=_by_model, sources="human_range", chart=Ranges(
        "difference", pl.format("{} – {}", "model", "translator"), panel="measure",
        unit="model – translator", width=250, rule=0, in_report=False,
    ),
)  # fmt: skip
REFERENCES = Exhibit(
    "reference_examination", "examination", "References examined",
    "Each human translator beside the others, on the same passages: similarity to the other translators, to the source "
    "by a multilingual embedder on a sample of passages, and to the systems' outputs. A translator may be farther "
    "because of an error, or because all others follow one tradition: only people who rate the translations can tell. "
    "No reference is removed.",
    "-view measure difference translator",
    "view measure translator passages value others difference p_family verdict note",
    chart=Ranges(
        "difference", "translator", "verdict",
        pl.format("{}: {}", "view", *cells("reference_examination", "measure")),
        unit="translator – others", width=170, columns=3, rule=0, in_report=False,
        rows=lambda rows: rows.drop_nulls("difference"),
    ),
)  # fmt: skip
WITHOUT = Exhibit(
    "without_reference", "without", "Scores without a reference",
    "Scores of the models with all references and without one, and their places among the models. Shown for "
    "translators who are doubted, or without whom the order changes.",
    "-measure translator place model",
    "measure translator model passages value without change place place_without doubt",
    brief=lambda rows: rows.filter(
        pl.col("doubt").is_not_null() | (pl.col("place") != pl.col("place_without")).any().over("measure", "translator")
    ),
    sources="reference_examination",
)  # fmt: skip
OUTLIER_THRESHOLDS = Exhibit(
    "outlier_threshold", "thresholds", "Thresholds of outliers",
    "Adjusted drift that the given share of human translations exceeds, by number of references. The last column has "
    f"the share of human translations that are outliers by the published threshold, a drift above {OUTLIER}.",
    "embedder references", sources="human_range reference_envelope",
)  # fmt: skip
OUTLIERS = Exhibit(
    "calibrated_outliers", "outliers", "Calibrated outliers",
    "Share of each system's texts above the threshold. Every text is scored against the references of all translators "
    "except one, so that models and translators have the same number of references.",
    "share kind system", sources="human_range",
    chart=Ranges("share", named("system", "kind"), "kind", unit="% of texts above the threshold"),
    question="How many texts are farther away than human translations are?",
)  # fmt: skip
EXHIBITS = [
    CONCORDANCE, DIFFERENCES, MEANS, AGREEMENT, RANGE, FROM_TRANSLATORS, REFERENCES, WITHOUT, OUTLIER_THRESHOLDS,
    OUTLIERS,
    Exhibit("published_summary", "published", rows=lambda rows: rows.filter(pl.col("system") != "")),
]  # fmt: skip


def across(rows: pl.DataFrame, table: str, keys: Sequence[str], by: str, cell: pl.Expr | str) -> pl.DataFrame:
    """Pivot rows of a table: one row per combination of keys, one column per value of `by`, sorted by name.

    `cell`, an expression or the name of a column, is the content of the cells. Values and the names of the key columns
    are formatted as the catalogue declares.
    """
    value = cells(table, cell)[0] if isinstance(cell, str) else cell
    headings = [catalogue.column(table, key).heading for key in keys]
    long = rows.select(*cells(table, *keys), across=cells(table, by)[0], cell=value)
    return long.pivot("across", index=headings, values="cell", sort_columns=True)


def ranked(rows: pl.DataFrame, rank: pl.Expr, keys: Sequence[str]) -> pl.DataFrame:
    """Rows of `metric_rank` pivoted to one row for each combination of keys, best mean rank of comparable rows first.

    Columns of measures show the expression `rank`; the column of the mean rank shows the mean rank itself.
    """
    overall = pl.col("measure") == MEAN_RANK
    by = [*(key for key in keys if key == "corpus"), "apart", "value", "system"]
    order = rows.filter(overall).sort(by).select(cells("metric_rank", *keys))
    value, *_ = cells("metric_rank", "value")
    table = across(rows, "metric_rank", keys, "measure", pl.when(overall).then(value).otherwise(rank))
    names = [catalogue.label(name) for name in measures(rows)]
    return order.join(table, on=order.columns, maintain_order="left", nulls_equal=True).select(*order.columns, *names)


def measures(rows: pl.DataFrame) -> list[str]:
    """Names of the metrics in rows of `metric_rank`, in the order of the entries; the mean rank is the last."""
    known = [metric.name for metric in METRICS]
    present = set(rows["measure"])
    named = sorted(present - {*known, MEAN_RANK})
    return [name for name in (*known, *named, MEAN_RANK) if name in present]


def published(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of `published_summary` about systems and their measures, by heading.

    Under a heading are the rows of one corpus with the same basis. It says why the values are not comparable with the
    leaderboard.
    """
    of_systems = rows.filter(pl.col("system") != "", translator="")
    parts = of_systems.group_by("benchmark", "corpus", "basis", "embedder", maintain_order=True)
    words = "Not comparable with our scores: published with {}, of {}, {}, similarity by {}"
    return {
        words.format(benchmark, corpus, _BASIS[str(basis)], embedder): part
        for (benchmark, corpus, basis, embedder), part in parts
    }


_BASIS = {"all passages": "over all passages", "passages": "computed from published scores of passages"}


def published_systems(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The systems of rows that `published` returns under a heading, most similar first: `system`, `passages`, and
    `copies` where a system of this name copies references with its outputs in the home (`known`, as
    `leaderboard.known` returns it)."""
    order = rows.filter(measure="sim_best").sort("value", descending=True).select("corpus", "system", "passages")
    of_corpus = known.filter(kind="model").select("corpus", "system", "copies")
    systems = order.join(of_corpus, on=["corpus", "system"], how="left", maintain_order="left").drop("corpus")
    return systems if systems["copies"].count() else systems.drop("copies")


def published_table(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Rows that `published` returns under a heading, in the order of `published_systems`, one column per measure."""
    systems = published_systems(rows, known).drop("passages")
    values = across(rows, "published_summary", ["system"], "measure", "value")
    shown = systems.select("system").join(values, on="system", maintain_order="left")
    return shown.with_columns(systems.select(pl.exclude("system")))


def shares(rows: pl.DataFrame) -> str:
    """Rows of `closest_share`, one column per translator; null if the system was not compared with that translator."""
    return with_signatures(across(rows, "closest_share", ["corpus", "kind", "system"], "translator", "share"), rows)


def ranks(rows: pl.DataFrame) -> str:
    """Rows of `metric_rank` of ranked models, best mean rank first: ranks with bounds, and clusters in parentheses."""
    rank, *_ = cells("metric_rank", "rank")
    with_cluster = pl.concat_str(rank, pl.format(" ({})", "cluster"), ignore_nulls=True)
    keys = ["corpus", "kind", "system", "mean_references", *separating(rows)]
    return with_signatures(ranked(rows, with_cluster, keys), rows)


def separating(rows: pl.DataFrame) -> list[str]:
    """The column `apart` if it distinguishes any rows."""
    return ["apart"] if (rows["apart"] != "").any() else []


def slice_tables(rows: pl.DataFrame) -> str:
    """Rows of `slice_summary`, models first within each slice."""
    keys = ["corpus", "dimension", "least", "slice", "kind", "system"]
    return shown(
        rows.sort(keys, descending=[False] * 4 + [True, False]), "slice_summary", "corpus", "dimension", "slice",
        "least", "most", "kind", "system", *COVERAGE, *headline(rows),
    )  # fmt: skip
