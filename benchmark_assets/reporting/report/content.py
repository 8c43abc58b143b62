"""Content of the report: exhibits from the warehouse's aggregates, for each corpus and across corpora.

Here: the rows of each exhibit, the order of exhibits, and the explanations. A report contains no texts of sources,
references, outputs, judges or annotators, so it may be passed on. Not here: exhibits without a chart (details), the
rendering of tables and charts (exhibits, charts, page).
"""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from benchmark_assets.accounts.costs import summed
from benchmark_assets.adjudication.labels import CONFIDENCES, WORDS
from benchmark_assets.adjudication.triage import audits, band_names
from benchmark_assets.audit.outcomes import LABELS
from benchmark_assets.audit.rated import PEOPLE
from benchmark_assets.literary.scores import PARITY
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import MEAN_RANK, MEASURES
from benchmark_assets.metrics.summary import DRIFT
from benchmark_assets.reporting import leaderboard as boards_of
from benchmark_assets.reporting import readings
from benchmark_assets.reporting.leaderboard import COVERAGE, best_first, groups, headline, marked
from benchmark_assets.reporting.report import ASSETS, charts, details, people
from benchmark_assets.reporting.report.exhibits import Exhibit, Home, Part, closed, column, columns, named, plotted
from benchmark_assets.reporting.report.findings import findings
from benchmark_assets.understanding.score_tables import limited_name
from resources import catalogue
from resources.keys import CORPUS
from resources.tables import ENDS, cell, cells, text
from resources.warehouse import Warehouse

ANY = "any"
"""Filter value for the reader; it matches every value that is not missing."""
MOST_BARS = 30
BINS = 45
BEYOND = 1.5
"""End of a histogram's axis, as a multiple of the last edge between bands."""
BOARD = (
    "Models and human translators, best first. Models are ranked over the same passages: a missing or refused output "
    "gets the worst scores. A human translator is scored against the other translators, with one fewer reference than "
    "a model. The scores of translators show how much human translations differ from each other."
)
"""Explanation of the leaderboard."""
QUANTILES = {"5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95}
AGREEMENTS = {
    ("soft_pairwise_accuracy", "means"): ("soft pairwise accuracy", True),
    ("acc_eq", "passage"): ("acc-eq within passages", True),
    ("acc_eq", "pooled"): ("acc-eq, all outputs", False),
    ("kendall", "passage"): ("tau-b within passages", False),
    ("kendall", "pooled"): ("tau-b, all outputs", True),
    ("pearson", "passage"): ("r within passages", False),
    ("pearson", "model"): ("r within models", False),
    ("pearson", "pooled"): ("r, all outputs", True),
    ("pearson", "means"): ("r of means", False),
    ("pairwise_accuracy", "means"): ("pairwise accuracy", False),
}
"""For each pair of statistic and grouping in `metric_agreement`: its heading, and whether the chart shows the pair."""


def parts(warehouse: Warehouse, corpora: Sequence[str] = ()) -> list[Part]:
    """The parts of the report that have exhibits.

    Parameters
    ----------
    corpora
        Corpora to report. By default all corpora, followed by the parts that belong to no corpus: judges, base sets,
        understanding, published numbers and costs.
    """
    with warehouse.consistently():
        home = opened(warehouse)
        names = corpora or sorted(warehouse.read("corpus", columns=["corpus"])["corpus"])
        sections = [
            Part(
                corpus,
                [e for make in OF_CORPUS for e in make(home, corpus)],
                findings(home, corpus),
                _systems(home, corpus),
            )
            for corpus in names
        ]
        if not corpora:
            sections += [Part(title, make(home)) for title, make in OF_NONE.items()]
    return [part for part in sections if part.exhibits]


def opened(warehouse: Warehouse) -> Home:
    """The source of exhibits about a warehouse."""
    columns = ["asset", "model", "passage", "task", "version", "updated_at"]
    return Home(warehouse, warehouse.read("materialization", pl.DataFrame({"asset": ASSETS}), columns))


def leaderboard(home: Home, corpus: str) -> list[Exhibit]:
    """The leaderboard, and further exhibits of the same rows: faults of outputs, ranks by measure."""
    exhibits = boards(home, corpus)
    board = best_first(home.read("leaderboard", corpus)).with_columns(model="system", system=marked())
    models = board.filter(pl.any_horizontal(pl.col(DIAGNOSES).is_not_null()))
    if len(models):
        exhibits.append(_faults(home, corpus, models))
    ranks = home.read("metric_rank", corpus)
    overall = ranks.filter(measure=MEAN_RANK).sort("apart", "value", "system")
    if len(overall):
        exhibits.append(_ranks(home, corpus, ranks, overall))
    return exhibits


def boards(home: Home, corpus: str) -> list[Exhibit]:
    """Systems ranked by similarity, with clusters of models that do not differ significantly; origin of the outputs.

    Rows that are not comparable are in exhibits of their own.
    """
    board = best_first(boards_of.read(home.warehouse, keys=pl.DataFrame({"corpus": [corpus]})))
    if board.is_empty():
        return []
    ranks = home.read("metric_rank", corpus).filter(measure="sim_best", kind="model")
    clusters = ranks.select("kind", "system", "cluster")
    board = board.join(clusters, on=["kind", "system"], how="left", maintain_order="left")
    board = board.with_columns(system=marked(), model=pl.col("system"))
    exhibits = [_group(home, corpus, rows, heading) for heading, rows in groups(board).items()]
    if len(models := board.filter(pl.col("origin").is_not_null())):
        exhibits.append(_origins(home, corpus, models))
    return exhibits


def published(home: Home, corpus: str) -> list[Exhibit]:
    """Published scores of systems, which are not comparable with the leaderboard. Each basis has an exhibit."""
    exhibits = []
    for heading, rows in readings.published(home.read("published_summary", corpus)).items():
        systems = rows.filter(measure="sim_best").sort("value", descending=True).select("system", "passages")
        table = columns(systems, "published_summary", "system", "passages")
        for measure in (each.name for each in MEASURES if each.name in set(rows["measure"])):
            values = systems.select("system").join(rows.filter(measure=measure), on="system", how="left")
            table.append(column(values, "published_summary", "value", heading=catalogue.label(measure)))
        title = "Means of published scores" if rows["basis"][0] == "passages" else "Published scores"
        exhibits.append(home.exhibit(corpus, title, f"{heading}.", table, [], None, "published_summary"))
    return exhibits


def _group(home: Home, corpus: str, board: pl.DataFrame, heading: str) -> Exhibit:
    """Comparable rows of the leaderboard; `heading` says why they are kept apart, '' if they are not."""
    behind = _where(board.with_columns(model=pl.when(kind="model").then("model")), corpus, "model", closest=ANY)
    table = [
        *columns(board, "leaderboard", "rank", "system", "kind"), column(board, "metric_rank", "cluster"),
        *columns(
            board, "leaderboard", *COVERAGE, *headline(board), **dict.fromkeys(["passages", *headline(board)], behind)
        ),
    ]  # fmt: skip
    plot_rows = pl.concat(
        plotted(board, "leaderboard", name, named("system", "kind"), "kind", pl.lit(catalogue.label(name)))
        for name in headline(board, "chart")
    )
    words = f"{heading}." if heading else BOARD
    if board["cluster"].count():
        words += (
            " Models in the same cluster do not differ significantly in similarity (5 % level, corrected for the "
            "comparisons of each model)."
        )
    return home.exhibit(
        corpus, "Leaderboard, kept apart" if heading else "Leaderboard", words, table, board,
        _intervals(plot_rows, "95 % interval"), "leaderboard", "metric_rank", "drift_score", "human_baseline",
    )  # fmt: skip


def _origins(home: Home, corpus: str, models: pl.DataFrame) -> Exhibit:
    """How the outputs of the models were made and scored."""
    table = columns(models, "leaderboard", "system", "origin", "prompt", "settings", "embedder")
    words = "Outputs were published with a benchmark, imported from a file, or requested from the model here."
    return home.exhibit(corpus, "Origin of the outputs", words, table, models, None, "leaderboard", "model_output")


def _faults(home: Home, corpus: str, models: pl.DataFrame) -> Exhibit:
    """Number of outputs with each diagnosis, by model."""
    behind = {name: _where(models, corpus, "model", fault=name) for name in DIAGNOSES}
    table = columns(models, "leaderboard", "system", "passages", *DIAGNOSES, **behind)
    words = (
        "Number of each model's outputs with faults that are visible without judging the meaning. An output may have "
        "several faults. Some faults can be found only with references; their columns are empty without references."
    )
    return home.exhibit(corpus, "Faults", words, table, models, None, "leaderboard", "output_diagnostic")


def _ranks(home: Home, corpus: str, ranks: pl.DataFrame, overall: pl.DataFrame) -> Exhibit:
    """Ranks of the systems by each measure, sorted by mean rank."""
    keys = ["kind", "system"]
    table = [
        *columns(overall, "metric_rank", "system", "kind", "apart"),
        column(overall, "metric_rank", "value", heading=catalogue.label(MEAN_RANK)),
    ]
    for name in readings.measures(ranks)[:-1]:
        rows = overall.select(keys).join(ranks.filter(measure=name), on=keys, how="left", maintain_order="left")
        table.append(column(rows, "metric_rank", "rank", heading=catalogue.label(name)))
    plot_rows = plotted(overall, "metric_rank", "value", named("system", "kind"), "kind")
    words = "Rank of each system among the models, by each measure, and the mean of its ranks. Rank 1 is the best."
    chart = _intervals(plot_rows, "mean rank, 95 % interval", width=charts.WIDE)
    return home.exhibit(corpus, "Ranks", words, table, overall, chart, "metric_rank")


def drift(home: Home, corpus: str) -> list[Exhibit]:
    """Distribution of drift, and number of outputs in each band of drift, by system."""
    warehouse = home.warehouse
    models = _of(warehouse.read("drift_score", columns=["model", "passage", "drift", "embedder"]), corpus)
    people = _of(warehouse.read("human_baseline", columns=["translator", "passage", "drift", "embedder"]), corpus)
    scores = pl.concat([
        models.select("drift", "embedder", system="model", kind=pl.lit("model")),
        people.select("drift", "embedder", system="translator", kind=pl.lit("human")),
    ]).drop_nulls("drift")  # fmt: skip
    if scores.is_empty():
        return []
    edges = audits(warehouse)[corpus].bands
    systems = scores.group_by("kind", "system").agg(
        outputs=pl.len(), **{name: pl.col("drift").quantile(at, "linear") for name, at in QUANTILES.items()}
    )
    systems = systems.sort("median", "kind", "system").with_columns(model=pl.when(kind="model").then("system"))
    banded = scores.with_columns(band=pl.sum_horizontal(pl.lit(0), *(pl.col("drift") > edge for edge in edges)))
    table = columns(
        systems, "drift_score", "system", "kind", "outputs", outputs=_where(systems, corpus, "model", band=ANY)
    )
    table += [column(systems.select(drift=name), "drift_score", "drift", heading=name) for name in QUANTILES]
    for at, band in enumerate(band_names(edges)):
        counts = banded.filter(band=at).group_by("kind", "system").agg(outputs=pl.len())
        counts = systems.drop("outputs").join(counts, on=["kind", "system"], how="left", maintain_order="left")
        counts = counts.with_columns(pl.col("outputs").fill_null(0))
        behind = _where(counts, corpus, "model", band=band)
        table.append(column(counts, "drift_score", "outputs", behind, heading=f"drift {band}"))
    most = max(edges) * BEYOND
    chart = charts.distribution(_histogram(scores, systems, most), edges, most, "drift")
    words = (
        "Distance of outputs from the centroid of the references, in units of the spread of the human translations. "
        "Dashed lines separate the bands, the thick line is the median, and the last bar includes all higher values. "
        "Quantiles and counts describe these outputs. They are not estimates, so they have no intervals."
    )
    methods = [f"embedder: {embedder}; {DRIFT}" for embedder in scores["embedder"].unique().sort()]
    return [home.exhibit(
        corpus, "Drift", words, table, methods, chart, "drift_score", "human_baseline", "triage"
    )]  # fmt: skip


def _histogram(scores: pl.DataFrame, systems: pl.DataFrame, most: float) -> pl.DataFrame:
    """Share of each system's values in bins of equal width up to `most`. The last bin includes higher values."""
    width = most / BINS
    place = (pl.col("drift") / width).floor().clip(0, BINS - 1).cast(pl.Int32)
    bins = scores.group_by("kind", "system", place.alias("bin")).agg(count=pl.len())
    bins = systems.join(bins, on=["kind", "system"], maintain_order="left_right").sort(
        "median", "kind", "system", "bin"
    )
    return bins.select(
        "kind", row=named("system", "kind"), start=pl.col("bin") * width, end=(pl.col("bin") + 1) * width,
        share=pl.col("count") / pl.col("outputs"), median=pl.col("median").clip(upper_bound=most),
    )  # fmt: skip


def severity(home: Home, corpus: str) -> list[Exhibit]:
    """Error rates by band of drift and by model: from the panel's verdicts, and from people's labels of a sample."""
    rows = home.read("audit_outcome", corpus).filter(pl.col("judged") > 0)
    if rows.is_empty():
        return []
    bands = {band: at for at, band in enumerate(band_names(audits(home.warehouse)[corpus].bands))}
    exhibits = []
    words = "Errors found by the panel in outputs with high drift, and by people in a sample of all outputs."
    for title, by, other in (("Errors by band of drift", "band", "model"), ("Errors by model", "model", "band")):
        group = rows.filter(pl.col(by) != "", pl.col(other) == "")
        place = pl.col("band").replace_strict(bands, default=len(bands), return_dtype=pl.Int32)
        group = group.sort("raters", place if by == "band" else "any_rate", by)
        if group.is_empty():
            continue
        outputs = _where(group, corpus, by, band=ANY) if by == "model" else _where(group, corpus, by)
        judged = _where(group, corpus, by, label=ANY, raters=_by_people())
        labeled = {
            name: _where(group, corpus, by, label=label, raters=_by_people()) for name, label in LABELS.items()
        }  # fmt: skip
        table = columns(
            group, "audit_outcome", by, "raters", "outputs", "judged", *LABELS, "major_rate", "any_rate",
            "judge_standing", "problem", outputs=outputs, judged=judged, **labeled,
        )  # fmt: skip
        order = list(bands) if by == "band" else group[by].unique(maintain_order=True).to_list()
        chart = charts.shares(_stacked(group, by), order, "share of the judged outputs")
        exhibits.append(home.exhibit(corpus, title, words, table, group, chart, "audit_outcome", "triage"))
    estimates = home.read("error_estimate", corpus).filter(region="all").sort("any_rate", "model")
    if len(estimates):
        exhibits.append(_estimates(home, corpus, estimates))
    return exhibits


def _stacked(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Rows for `charts.shares`: share of each label, and sum of the shares of the labels before it."""
    levels = list(LABELS)
    total = pl.sum_horizontal(levels)
    return pl.concat([
        rows.select(
            panel="raters", row=by, level=pl.lit(level), count=level,
            share=pl.col(level) / total, before=pl.sum_horizontal(pl.lit(0), *levels[:at]) / total,
        ) for at, level in enumerate(levels)
    ])  # fmt: skip


def _estimates(home: Home, corpus: str, rows: pl.DataFrame) -> Exhibit:
    """For each model, estimated error rates over all its outputs."""
    rates = ("minor_rate", "major_rate", "any_rate")
    table = columns(
        rows, "error_estimate", "model", "outputs", "labelled", "covered", *rates,
        outputs=_where(rows, corpus, "model", band=ANY),
        labelled=_where(rows, corpus, "model", label=ANY, raters=PEOPLE),
    )  # fmt: skip
    (model,) = cells("error_estimate", "model")
    plot_rows = pl.concat(
        plotted(
            rows,
            "error_estimate",
            name,
            model,
            pl.lit("people"),
            pl.lit(catalogue.column("error_estimate", name).label),
        )
        for name in rates
    )
    least = float(rows["covered"].min() or 0)  # type: ignore[arg-type]
    extent = "all outputs" if least == 1 else f"at least {100 * least:.1f} % of each model's outputs"
    words = (
        "Error rates, estimated from a sample that people labeled. The sample was drawn separately for each model and "
        f"band of drift. The estimates cover the models and bands with labeled outputs, that is, {extent}."
    )
    chart = _intervals(plot_rows, "% of the covered outputs, 95 % interval", width=220, columns=3)
    return home.exhibit(corpus, "Errors of all outputs", words, table, rows, chart, "error_estimate")


def categories(home: Home, corpus: str) -> list[Exhibit]:
    """Number of errors by category, as found by the panel and by people."""
    rows = home.read("error_category", corpus).filter(pl.col("minor") + pl.col("major") > 0, model="")
    rows = rows.sort("raters", "major", "minor", "error_category", descending=[False, True, True, False])
    if rows.is_empty():
        return []
    labeled = {
        name: _where(rows, corpus, category=pl.col("error_category"), label=LABELS[name], raters=_by_people())
        for name in ("minor", "major")
    }
    rows = rows.with_columns(pl.col("error_category").replace(WORDS))
    names = ("raters", "error_category", "minor", "minor_share", "major", "major_share")
    table = columns(rows, "error_category", *names, **labeled)
    plot_rows = pl.concat([
        rows.select(
            row=pl.format("{}: {}", "raters", "error_category"), kind=pl.lit(name), value=name,
            words=pl.col(name).cast(pl.String),
        ) for name in ("minor", "major")
    ])  # fmt: skip
    levels = {"minor": charts.LEVELS["minor"], "major": charts.LEVELS["major"]}
    chart = charts.amounts(plot_rows, "errors", levels)
    words = "Number of errors of each category, as found by the panel and by people."
    return [home.exhibit(corpus, "Errors by category", words, table, rows, chart, "audit_outcome")]


def closest(home: Home, corpus: str) -> list[Exhibit]:
    """Share of passages in which each translator's reference is the closest to a system's output."""
    rows = home.read("closest_share", corpus).sort("kind", "system", "translator", descending=[True, False, False])
    if rows.is_empty():
        return []
    keys = ["kind", "system"]
    systems = rows.group_by(keys, maintain_order=True).agg(pl.col("passages").max())
    systems = systems.with_columns(model=pl.when(kind="model").then("system"))
    behind = _where(systems, corpus, "model", closest=ANY)
    table = columns(systems, "closest_share", "system", "kind", "passages", passages=behind)
    translators = sorted(rows["translator"].unique())
    for translator in translators:
        shares = systems.join(rows.filter(translator=translator), on=keys, how="left", maintain_order="left")
        where = _where(shares, corpus, "model", closest=translator)
        table.append(column(shares, "closest_share", "share", where, heading=f"{translator} %"))
    plot_rows = plotted(rows, "closest_share", "share", named("system", "kind"), "translator")
    chart = charts.dodged(plot_rows, "% of passages, 95 % interval", translators, domain=[0, 100])
    words = "Share of passages in which each translator's reference is the most similar to a system's output."
    return [home.exhibit(corpus, "Closest reference", words, table, rows, chart, "translator_agreement")]


def concordance(home: Home, corpus: str) -> list[Exhibit]:
    """Concordance of the measures: how similarly they rank the models."""
    rows = home.read("metric_concordance", corpus).filter(pl.col("value").is_not_null())
    pairs = rows.filter(statistic="tau_b").sort("value", "measure", "other", descending=[True, False, False])
    if pairs.is_empty():
        return []
    together = rows.filter(statistic="W")
    table = [
        *columns(pairs, "metric_concordance", "measure", "other", "models"),
        column(pairs, "metric_concordance", "value", heading="Kendall's τ-b"),
    ]
    pair = pl.format("{} / {}", *cells("metric_concordance", "measure", "other"))
    plot_rows = plotted(pairs, "metric_concordance", "value", pair, pl.lit("model"))
    words = "Rank correlation of each pair of measures over the models: 1 means the same order, -1 the reverse order."
    if len(together):
        value, models = together.select(cells("metric_concordance", "value", "models")).row(0)
        words += f" Kendall's W of all measures: {value}, over {models} models."
    chart = _intervals(plot_rows, "τ-b, 95 % interval", width=charts.WIDE, rule=0, domain=[-1, 1])
    return [home.exhibit(corpus, "Concordance of measures", words, table, rows, chart, "metric_rank")]


def calibration(home: Home, corpus: str) -> list[Exhibit]:
    """Agreement of the panel and the judges with people, for each judge also by the confidence that it stated."""
    rows = home.read("judge_calibration", corpus).sort("kappa", "judge", descending=[True, False], nulls_last=True)
    if rows.is_empty():
        return []
    names = ("judge", "outputs", "exact", "major_precision", "major_recall", "major_f1", "any_f1", "kappa")
    table = columns(rows, "judge_calibration", *names)
    kind = pl.when(pl.col("judge").str.starts_with("panel")).then(pl.lit("panel")).otherwise(pl.lit("judge"))
    plot_rows = pl.concat(
        plotted(
            rows, "judge_calibration", name, "judge", kind, pl.lit(catalogue.column("judge_calibration", name).heading)
        )
        for name in ("exact", "major_f1", "any_f1", "kappa")
    )
    words = "How far each judge, the panel, and the panel without one of its judges agree with people's labels."
    chart = _intervals(plot_rows, "95 % interval")
    exhibits = [home.exhibit(corpus, "Calibration of the judges", words, table, rows, chart, "judge_calibration")]
    levels = CONFIDENCES[::-1]
    reliability = home.read("judge_reliability", corpus).sort("judge", pl.col("confidence").cast(pl.Enum(levels)))
    if len(reliability):
        table = columns(reliability, "judge_reliability")
        agreements = plotted(reliability, "judge_reliability", "agreement", "judge", "confidence")
        axis = "% of verdicts that agree with people, 95 % interval"
        chart = charts.dodged(agreements, axis, levels, domain=[0, 100])
        words = "How often each judge agrees with people, by the confidence that the judge states."
        exhibits.append(
            home.exhibit(corpus, "Confidence of the judges", words, table, reliability, chart, "judge_calibration")
        )
    return exhibits


def metric_agreement(home: Home, corpus: str) -> list[Exhibit]:
    """Several statistics of each metric's agreement with people's labels, and tests between each pair of metrics."""
    rows = home.read("metric_agreement", corpus).drop_nulls("value")
    if rows.is_empty():
        return []
    metrics = rows.group_by("metric").agg(pl.col("outputs").max(), best=pl.col("value").mean())
    metrics = metrics.sort("best", "metric", descending=[True, False])
    table = columns(metrics, "metric_agreement", "metric", "outputs")
    plot_rows = []
    for (statistic, grouping), (heading, drawn) in AGREEMENTS.items():
        values = metrics.select("metric").join(
            rows.filter(statistic=statistic, grouping=grouping), on="metric", how="left", maintain_order="left"
        )
        table.append(column(values, "metric_agreement", "value", heading=heading))
        if drawn:
            names = values.with_columns(cell(catalogue.column("metric_agreement", "metric")))
            plot_rows.append(plotted(names, "metric_agreement", "value", "metric", pl.lit("metric"), pl.lit(heading)))
    chart = _intervals(pl.concat(plot_rows), "agreement, 95 % interval")
    words = (
        "Agreement of metrics with people's labels of the sample; 1 is full agreement. Metrics are oriented so that "
        "higher is better, and sorted by their mean agreement. Soft pairwise accuracy measures whether a metric ranks "
        "models as people do; acc-eq within passages measures whether it ranks outputs of the same passage as people "
        "do. The share of outputs with high drift is larger in the sample than in the corpus."
    )
    exhibits = [home.exhibit(corpus, "Agreement of metrics with people", words, table, rows, chart, "metric_agreement")]
    pairs = home.read("metric_comparison", corpus).drop_nulls("difference")
    if len(pairs):
        pairs = pairs.sort("statistic", "difference", descending=[False, True])
        table = columns(pairs, "metric_comparison")
        words = "Agreement of the first metric minus agreement of the other, on the outputs that both metrics score."
        exhibits.append(home.exhibit(corpus, "Tests of metrics", words, table, pairs, None, "metric_agreement"))
    return exhibits


def literary(home: Home, corpus: str) -> list[Exhibit]:
    """Scores of models by aspect, from comparisons of their outputs with the human translations."""
    rows = home.read("literary_score", corpus)
    if rows.is_empty():
        return []
    best = rows.filter(aspect="").select("model", best="score")
    rows = rows.join(best, on="model", how="left").sort(
        "aspect", "best", "model", descending=[False, True, False], nulls_last=True
    )
    overall = rows.with_columns(model=pl.when(aspect="").then("model"))  # the reader has only the ensemble's verdicts
    verdicts = ("machine", "unsure", "human")
    table = columns(
        rows, "literary_score", "aspect", "model", "chunks", "abstained", "works", *verdicts, "score",
        "score_controlled", "interval_of",
        "judge_standing", "problem",
        chunks=_where(overall, corpus, "model", verdict=ANY),
        **{verdict: _where(overall, corpus, "model", verdict=verdict) for verdict in verdicts},
    )  # fmt: skip
    (aspect,) = cells("literary_score", "aspect")
    plot_rows = plotted(rows, "literary_score", "score", "model", pl.lit("model"), aspect)
    chart = _intervals(plot_rows, "score, 95 % interval", rule=PARITY, domain=[0, 100])
    words = (
        "Models compared with the human translation. 50 (dashed) is parity; above 50, the model is preferred. The "
        "score at equal length excludes the effect of length on the judges. A seat (a judge of one aspect) that "
        "contradicts itself abstains; a vote for neither text is a tie."
    )
    return [home.exhibit(corpus, "Literary scores", words, table, rows, chart, "literary_score", "head_to_head")]


def pairwise(home: Home, base_sets: pl.DataFrame | None = None) -> list[Exhibit]:
    """Scores (LT of JP-TL-Bench) of models and anchors by slice, against all base sets or those given (`base_set`).

    One exhibit for each base set and contract, since scores under different contracts are not comparable.
    """
    models, anchors = (home.warehouse.read(table, base_sets) for table in ("pairwise_score", "anchor_score"))
    shared = ["base_set", "slice", "items", "matches", "wins", "ties", "excluded", "win_rate", "win_rate_low",
              "win_rate_high", "problem", "contract", "signature"]  # fmt: skip
    scores = pl.concat([
        models.select(
            *shared, *(f"{name}{end}" for name in ("first_rate", "lt", "lt_fixed", "lt_controlled",
                                                   "lt_fixed_controlled", "en", "length_coefficient") for end in ENDS),
            "length_problem", "judge_standing", kind=pl.lit("model"), system="model",
        ),
        anchors.select(
            *shared, "length_problem", kind=pl.lit("anchor"), system="anchor",
            **{f"lt_fixed{name}{end}": f"lt{name}{end}" for name in ("", "_controlled") for end in ENDS},
        ),
    ], how="diagonal")  # fmt: skip
    groups = scores.select("base_set", "contract").unique().sort("base_set", "contract")
    several = groups.filter(pl.col("base_set").is_duplicated())["base_set"].to_list()
    exhibits = []
    for number, (base_set, contract) in enumerate(groups.iter_rows(), start=1):
        rows = scores.filter(base_set=base_set, contract=contract)
        overall = rows.filter(slice="overall").select("kind", "system", best="lt_fixed")
        rows = rows.join(overall, on=["kind", "system"], how="left").with_columns(first=pl.col("slice") != "overall")
        rows = rows.sort("first", "slice", "best", "system", descending=[False, False, True, False], nulls_last=True)
        table = columns(
            rows, "pairwise_score", "slice", "system", "kind", "items", "matches", "ties", "excluded", "wins",
            "win_rate", "lt_fixed", "lt_fixed_controlled", "lt", "lt_controlled", "en", "first_rate", "judge_standing",
        )  # fmt: skip
        plot_rows = plotted(rows, "pairwise_score", "lt_fixed", "system", "kind", pl.col("slice"))
        chart = _intervals(plot_rows, "LT beside the anchors, 95 % interval", domain=[0, 10])
        words = (
            "Strength of models and anchors on one scale from 0 to 10, overall and by slice. For LT beside the "
            "anchors, the positions of the anchors are estimated without the models. LT and EN are defined as in the "
            "paper on JP-TL-Bench: each model is fitted together with the anchors, without other models. LT at equal "
            "length excludes the effect of length on the judge. A judge without position bias prefers the first text "
            "in 50 % of the comparisons. "
        ) + _problems(rows)
        title = f"LT against {base_set}" + (f", contract {number} of {len(groups)}" if base_set in several else "")
        signed = rows.select(signature=pl.format("{}; {}", "contract", "signature"))
        exhibits.append(home.exhibit("", title, words, table, signed, chart, "pairwise_score", "anchor_score"))
    return exhibits


def _problems(rows: pl.DataFrame) -> str:
    """Reasons why systems have no strength: one sentence for each slice and problem.

    A sentence names the systems with the problem, unless all systems of the slice have it.
    """
    sizes = dict(rows.group_by("slice").len().iter_rows())
    problems = rows.drop_nulls("problem").group_by("slice", "problem", maintain_order=True).agg(pl.col("system").sort())
    return " ".join(
        f"{part}{'' if len(systems) == sizes[part] else ', ' + ', '.join(systems)}: {problem}."
        for part, problem, systems in problems.iter_rows()
    )


def understanding(home: Home, tasks: Sequence[str] = ()) -> list[Exhibit]:
    """Mean scores over the tasks of each benchmark and language, scores by task, and comparisons of models.

    With `tasks`, only the benchmarks and languages of these tasks are included.
    """
    rows, pairs = (home.warehouse.read(table) for table in ("understanding_board", "understanding_comparison"))
    if tasks:
        scopes = rows.filter(pl.col("task").is_in(tasks)).select("benchmark", "language").unique()
        rows, pairs = (frame.join(scopes, on=scopes.columns, how="semi") for frame in (rows, pairs))
    rows = rows.with_columns(limited_name(), benchmark=_scope())
    exhibits: list[Exhibit] = []
    means = rows.filter(task="").sort("benchmark", "score", "system", descending=[False, True, False], nulls_last=True)
    if means["score"].count():
        table = columns(means, "understanding_board", "benchmark", "system", "kind", "tasks", "score", "missing")
        plot_rows = closed(plotted(means, "understanding_board", "score", "system", "kind", pl.col("benchmark")))
        chart = _intervals(plot_rows, "score, 95 % interval", domain=[0, 100])
        words = (
            "Mean over the tasks of a benchmark in a language, from 0 to 100. A system has no mean if it has no score "
            "in a task in which some model has a score."
        )
        exhibits.append(home.exhibit("", "Mean scores", words, table, means, chart, "understanding_board"))
    of_tasks = rows.filter(pl.col("task") != "").sort("benchmark")
    for (scope,), group in of_tasks.group_by(["benchmark"], maintain_order=True):
        keys = ["kind", "system"]
        systems = group.group_by(keys).agg(pl.col("score").mean()).sort("score", "system", descending=[True, False])
        table = columns(systems, "understanding_board", "system", "kind")
        for task in sorted(group["task"].unique()):
            of_task = systems.select(keys).join(group.filter(task=task), on=keys, how="left", maintain_order="left")
            table.append(column(of_task, "understanding_board", "score", heading=task))
        words = "Score of every system on every task, from 0 to 100."
        exhibits.append(home.exhibit("", f"Tasks of {scope}", words, table, group, None, "understanding_board"))
        trained = group.drop_nulls("near").sort("task", "score", descending=[False, True])
        if len(trained):
            table = columns(trained, "understanding_board", "task", "system", "score", "near")
            words = (
                "Systems trained on a task, and the share of its test split with a near neighbor in the train split."
            )
            exhibits.append(home.exhibit("", f"Trained on {scope}", words, table, trained, None, "understanding_board"))
    pairs = pairs.filter(task="").with_columns(benchmark=_scope())
    if len(pairs):
        pairs = pairs.sort("benchmark", "difference", descending=[False, True])
        names = ("benchmark", "model", "other", "difference", "p_holm")
        table = columns(pairs, "understanding_comparison", *names)
        words = "Mean score of the first model minus mean score of the other, on the samples that both models answered."
        exhibits.append(home.exhibit("", "Differences of means", words, table, pairs, None, "understanding_comparison"))
    return exhibits


def costs(home: Home) -> list[Exhibit]:
    """Costs of the calls of models, by model and purpose."""
    calls = home.warehouse.read("model_call")
    if calls.is_empty():
        return []
    rows = summed(calls, "model", "purpose").sort("paid", "model", "purpose", descending=[True, False, False],
                                                  nulls_last=True)  # fmt: skip
    names = (
        "model", "purpose", "calls", "prompt_tokens", "completion_tokens", "paid", "uncertain", "at_most", "corrected",
    )  # fmt: skip
    table = columns(rows, "package_cost", *names)
    paid = catalogue.column("package_cost", "paid")
    plot_rows = rows.filter(pl.col("paid") > 0).select(
        row=pl.format("{}: {}", "purpose", "model"), kind=pl.lit("paid"), value="paid", words=cell(paid)
    )
    chart = charts.amounts(plot_rows.head(MOST_BARS), "US dollars", {"paid": "blue"}) if len(plot_rows) else None
    words = f"Known costs: {text(float(rows['paid'].sum()), paid)} US dollars."
    if uncertain := int(rows["uncertain"].sum()):
        words += f" The cost of {uncertain:,} of {len(calls):,} calls is unknown."
    if len(plot_rows) > MOST_BARS:
        words += f" The chart shows the {MOST_BARS} largest of {len(plot_rows)} costs."
    method = (
        "cost of a call: the cost that a person entered as a correction, else the cost that the endpoint reported, "
        "else the cost by the registry's price; a call of unknown cost is counted at its worst case, or as free "
        "if the model has no price"
    )
    return [home.exhibit("", "Costs", words, table, [method], chart, "model_call")]


OF_CORPUS: list[Callable[[Home, str], list[Exhibit]]] = [
    leaderboard, published, people.human_range, details.outdated, drift, people.outliers, closest, concordance,
    severity, categories, calibration, metric_agreement, literary, details.differences, details.slices,
    details.agreement, details.sensitivity, details.anchored, details.recall, details.marks, details.error_spans,
    details.vital_signs, details.seats, details.scores_by_people, details.glossaries,
]  # fmt: skip
OF_NONE: dict[str, Callable[[Home], list[Exhibit]]] = {
    "Judges": details.judges, "Base sets": pairwise, "Preferences of people": details.win_rates,
    "Understanding": understanding, "Published numbers": details.published_numbers, "Costs": costs,
}  # fmt: skip


def _where(rows: pl.DataFrame, corpus: str, *same: str, **fixed: str | pl.Expr) -> list[Mapping[str, str]]:
    """The reader's filter for each row: the corpus, the row's values in the columns `same`, and the values in `fixed`.

    A value of '' sets no condition. If any value in a row is null, the row has an empty filter.
    """
    literals = {key: pl.lit(value) if isinstance(value, str) else value for key, value in fixed.items()}
    return [
        {} if None in row.values() else {"corpus": corpus} | {key: value for key, value in row.items() if value}
        for row in rows.select(*same, **literals).iter_rows(named=True)
    ]


def _systems(home: Home, corpus: str) -> dict[str, Mapping[str, str]]:
    """The reader's filter for each system of a corpus, by the names in tables: the outputs of a model, or all outputs
    compared with a translator. A name that a model shares with a translator has none."""
    board = home.read("leaderboard", corpus).with_columns(shown=marked())
    people, models = (dict(board.filter(kind=kind).select("shown", "system").rows()) for kind in ("human", "model"))
    models |= {name: name for name in models.values()}
    filters: dict[str, Mapping[str, str]] = {
        shown: {"corpus": corpus, "model": model} for shown, model in models.items() if model not in people
    }
    names = {name: name for name in people if name not in models} | {f"{name} (human)": name for name in people}
    return filters | {shown: {"corpus": corpus, "against": name} for shown, name in names.items()}


def _by_people() -> pl.Expr:
    """Value of the reader's filter `raters`: '' for the panel, which is the default."""
    return pl.when(raters=PEOPLE).then("raters").otherwise(pl.lit(""))


def _intervals(
    rows: pl.DataFrame, axis: str, *, width: int = 340, columns: int = 2, rule: float | None = None,
    domain: Sequence[float] | None = None,
) -> charts.Spec | None:  # fmt: skip
    """A chart made by `charts.ranges`; None if there are no values."""
    if not rows["value"].count():
        return None
    return charts.ranges(rows, axis, width=width, columns=columns, rule=rule, domain=domain)


def _of(rows: pl.DataFrame, corpus: str) -> pl.DataFrame:
    """Rows about the passages of a corpus."""
    return rows.filter(rows.select(CORPUS)["corpus"] == corpus)


def _scope() -> pl.Expr:
    """Heading of a group of tasks: benchmark (if it has one) and language."""
    return pl.when(pl.col("benchmark") == "").then("language").otherwise(pl.format("{}, {}", "benchmark", "language"))
