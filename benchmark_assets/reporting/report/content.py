"""What the report says: exhibits out of the warehouse's aggregates, by corpus, and those that are of no corpus.

Here: which rows, in which order, under which words. Texts of sources, references, outputs, judges and annotators are
not read at all: a report may be passed on. Not here: how a table or a chart is shown (exhibits, charts, page).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import audits, band_names
from benchmark_assets.literary.scores import PARITY
from benchmark_assets.partitions import CORPUS
from benchmark_assets.reporting.comparisons import MEAN_RANK
from benchmark_assets.reporting.report import ASSETS, charts
from benchmark_assets.reporting.report.exhibits import (
    NONE,
    Column,
    Exhibit,
    Part,
    Source,
    counts,
    names,
    numbers,
    signatures,
    sources,
)  # fmt: skip
from resources.warehouse import Warehouse

MEASURES = {
    "sim_best": "similarity to the closest reference", "drift": "drift", "chrf": "chrF++", "bleu": "BLEU",
    "comet_avg": "COMET", "length_offset": "length offset", "outlier_rate": "outliers",
}  # fmt: skip
LABELS = {"valid": "VALID_VARIATION", "minor": "MINOR_ERROR", "major": "MAJOR_ERROR", "uncertain": "UNCERTAIN"}
RATERS = {"panel": "the panel", "people": "people"}
ALL = "all"
BINS = 45
BEYOND = 1.5
"""How far beyond the last edge of the bands a histogram goes, as a multiple of it."""
QUANTILES = {"5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95}


class Home(NamedTuple):
    """Where exhibits are read from; `states` are all rows of `materialization`."""

    warehouse: Warehouse
    states: pl.DataFrame

    def read(self, table: str, corpus: str) -> pl.DataFrame:
        """Rows of a table of one corpus."""
        return self.warehouse.read(table, pl.DataFrame({"corpus": [corpus]}))

    def rests(self, corpus: str, *assets: str) -> list[Source]:
        """What an exhibit of these assets rests on."""
        return sources(self.states, assets, corpus)


def parts(warehouse: Warehouse, corpora: Sequence[str] = ()) -> list[Part]:
    """The parts of the report that have anything to say.

    Parameters
    ----------
    corpora
        Of which it is; by default all, and with them what is of no corpus: base sets, understanding and costs.
    """
    with warehouse.exclusively():  # the tables of one moment
        columns = ["asset", "model", "passage", "task", "version", "updated_at"]
        home = Home(warehouse, warehouse.read("materialization", pl.DataFrame({"asset": ASSETS}), columns))
        chosen = corpora or sorted(warehouse.read("corpus", columns=["corpus"])["corpus"])
        found = [Part(corpus, [e for make in OF_CORPUS for e in make(home, corpus)]) for corpus in chosen]
        if not corpora:
            found += [
                Part(title, exhibits) for title, make in OF_NONE.items() if (exhibits := list(make(home)))
            ]  # fmt: skip
    return [part for part in found if part.exhibits]


def leaderboard(home: Home, corpus: str) -> list[Exhibit]:
    """Systems by similarity, with the clusters of those that cannot be told apart."""
    board = home.read("leaderboard", corpus).sort("rank")
    if board.is_empty():
        return []
    ranks = home.read("metric_rank", corpus)
    clusters = ranks.filter(measure="sim_best", kind="model").select("kind", "system", "cluster")
    board = board.join(clusters, on=["kind", "system"], how="left", maintain_order="left")
    board = board.with_columns(
        pl.col("system") + pl.when("removed").then(pl.lit(" (removed)")).otherwise(pl.lit("")),
        model=pl.col("system"),
    )
    behind = _where(board.with_columns(model=pl.when(kind="model").then("model")), corpus, "model")
    columns = [
        counts(board, "rank", "rank"), names(board, "system", "system"), names(board, "kind", "kind"),
        counts(board, "cluster", "cluster"), counts(board, "passages", "passages", behind),
        numbers(board, "mean_references", "references", 1), numbers(board, "sim_best", "similarity", 3),
        numbers(board, "drift", "drift", 2), numbers(board, "outlier_rate", "outliers, %", 1, 100),
        numbers(board, "chrf", "chrF++", 1), numbers(board, "bleu", "BLEU", 1),
        numbers(board, "comet_avg", "COMET", 3), numbers(board, "length_ratio", "length ratio", 2),
    ]  # fmt: skip
    drawn = [name for name in ("sim_best", "drift", "chrf", "bleu", "comet_avg") if board[name].count()]
    rows = pl.concat([
        board.select(
            "kind", panel=pl.lit(MEASURES[name]), row=_named("system", "kind"), value=name, low=f"{name}_low",
            high=f"{name}_high",
        ) for name in drawn
    ])  # fmt: skip
    several = clusters["cluster"].drop_nulls()
    words = (
        "Models and human translators, best first. A human translator's row scores that translator against the others, "
        "with one reference fewer than a model has: it says how far apart people are. "
        + (
            "Models of the same cluster cannot be told apart by similarity, at 5 % corrected for the number of pairs."
            if len(several) else ""
        )
    )  # fmt: skip
    found = [_exhibit(
        "Leaderboard", words, columns, charts.ranges(rows, "95 % interval", width=340), signatures(board),
        home.rests(corpus, "leaderboard", "metric_rank", "drift_score", "human_baseline"),
    )]  # fmt: skip
    overall = ranks.filter(measure=MEAN_RANK).sort("value", "system")
    if len(overall):
        found.append(_ranks(home, corpus, ranks, overall))
    return found


def _ranks(home: Home, corpus: str, ranks: pl.DataFrame, overall: pl.DataFrame) -> Exhibit:
    """Ranks in each measure, best mean rank first."""
    measures = [name for name in MEASURES if name in set(ranks["measure"])]
    keys = ["kind", "system"]
    columns = [
        names(overall, "system", "system"), names(overall, "kind", "kind"), numbers(overall, "value", "mean rank", 2)
    ]  # fmt: skip
    for name in measures:
        own = overall.select(keys).join(ranks.filter(measure=name), on=keys, how="left", maintain_order="left")
        columns.append(numbers(own, "rank", MEASURES[name], 1))
    rows = overall.select(
        "kind", panel=pl.lit(""), row=_named("system", "kind"), value="value", low="value_low", high="value_high"
    )
    words = "Rank of each system among the models in every measure, and the mean of its ranks; 1 is best."
    chart = charts.ranges(rows, "mean rank, 95 % interval", width=560)
    return _exhibit("Ranks", words, columns, chart, signatures(overall), home.rests(corpus, "metric_rank"))


def drift(home: Home, corpus: str) -> list[Exhibit]:
    """Distribution of drift by model, and how many outputs lie in each band."""
    warehouse = home.warehouse
    models = _of(warehouse.read("drift_score", columns=["model", "passage", "drift"]), corpus)
    people = _of(warehouse.read("human_baseline", columns=["translator", "passage", "drift"]), corpus)
    both = pl.concat([
        models.select("drift", system="model", kind=pl.lit("model")),
        people.select("drift", system="translator", kind=pl.lit("human")),
    ]).drop_nulls("drift")  # fmt: skip
    if both.is_empty():
        return []
    edges = audits(warehouse)[corpus].bands
    middle = both.group_by("kind", "system").agg(
        outputs=pl.len(), **{name: pl.col("drift").quantile(at, "linear") for name, at in QUANTILES.items()}
    )
    middle = middle.sort("median", "kind", "system")
    bands = band_names(edges)
    places = both.with_columns(band=pl.sum_horizontal(pl.lit(0), *(pl.col("drift") > edge for edge in edges)))
    columns = [names(middle, "system", "system"), names(middle, "kind", "kind"), counts(middle, "outputs", "outputs")]
    columns += [numbers(middle, name, name, 2) for name in QUANTILES]
    for at, band in enumerate(bands):
        own = places.filter(band=at).group_by("kind", "system").agg(count=pl.len())
        cells = middle.join(own, on=["kind", "system"], how="left", maintain_order="left")
        cells = cells.with_columns(pl.col("count").fill_null(0), model=pl.when(kind="model").then("system"))
        columns.append(counts(cells, "count", f"drift {band}", _where(cells, corpus, "model", band=band)))
    most = max(edges) * BEYOND
    chart = charts.distribution(_histogram(both, middle, most), edges, most, "drift")
    words = (
        "How far outputs lie from the centre of the references, in units of the spread of the human translations. "
        "Dashed lines part the bands, the thick line is the median; what lies beyond the axis stands in its last bar."
    )
    rests = home.rests(corpus, "drift_score", "human_baseline", "triage")
    signed = warehouse.read("drift_score", columns=["passage", "embedder"], most=1)
    made = [f"embedder: {each}" for each in signed["embedder"].unique()]
    return [_exhibit("Drift", words, columns, chart, made, rests)]


def _histogram(both: pl.DataFrame, middle: pl.DataFrame, most: float) -> pl.DataFrame:
    """Shares of each system's values in bins of one width, from 0 to `most`; what lies beyond is in the last."""
    width = most / BINS
    place = (pl.col("drift") / width).floor().clip(0, BINS - 1).cast(pl.Int32)
    bins = both.group_by("kind", "system", place.alias("bin")).agg(count=pl.len())
    bins = middle.join(bins, on=["kind", "system"], maintain_order="left_right").sort("median", "kind", "system", "bin")
    return bins.select(
        "kind", row=_named("system", "kind"), start=pl.col("bin") * width, end=(pl.col("bin") + 1) * width,
        share=pl.col("count") / pl.col("outputs"), median=pl.col("median").clip(upper_bound=most),
    )  # fmt: skip


def severity(home: Home, corpus: str) -> list[Exhibit]:
    """Verdicts by band of drift and by model; errors of all outputs by people's sample."""
    rows = home.read("audit_outcome", corpus).filter(pl.col("judged") > 0)
    if rows.is_empty():
        return []
    rests = home.rests(corpus, "audit_outcome", "triage")
    bands = {band: at for at, band in enumerate(band_names(audits(home.warehouse)[corpus].bands))}
    found = []
    whole = "By the panel's verdicts on what lies far from the references, and by people's labels on a sample of all."
    for title, by, other in (("Errors by band of drift", "band", "model"), ("Errors by model", "model", "band")):
        own = rows.filter(pl.col(by) != "", pl.col(other) == "")
        place = pl.col("band").replace_strict(bands, default=len(bands), return_dtype=pl.Int32)
        own = own.sort("raters", place if by == "band" else "any_rate", by)
        if own.is_empty():
            continue
        columns = [names(own, by, by), names(own, "raters", "raters"), counts(own, "outputs", "outputs"),
                   counts(own, "judged", "judged")]  # fmt: skip
        for name, label in LABELS.items():
            columns.append(counts(own, name, name, _where(own, corpus, by, label=label, raters="raters")))
        columns += [numbers(own, "major_rate", "major, %", 1, 100), numbers(own, "any_rate", "any error, %", 1, 100)]
        order = list(bands) if by == "band" else own[by].unique(maintain_order=True).to_list()
        chart = charts.shares(_stacked(own, by), order, "share of the outputs judged")
        found.append(_exhibit(title, whole, columns, chart, signatures(own), rests))
    estimates = home.read("error_estimate", corpus).filter(region="all").sort("any_rate", "model")
    if len(estimates):
        found.append(_estimates(home, corpus, estimates))
    return found


def _stacked(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Shares of the labels of each row, and the sum of those before."""
    levels = list(LABELS)
    total = pl.sum_horizontal(levels)
    return pl.concat([
        rows.select(
            pl.col("raters").replace_strict(RATERS).alias("panel"), row=by, level=pl.lit(level), count=level,
            share=pl.col(level) / total, before=pl.sum_horizontal(pl.lit(0), *levels[:at]) / total,
        ) for at, level in enumerate(levels)
    ])  # fmt: skip


def _estimates(home: Home, corpus: str, rows: pl.DataFrame) -> Exhibit:
    columns = [
        names(rows, "model", "model", ALL),
        counts(rows, "outputs", "outputs"),
        counts(rows, "labelled", "labelled"),
    ]
    levels = {"minor_rate": "minor", "major_rate": "major", "any_rate": "any error"}
    columns += [numbers(rows, name, f"{word}, %", 1, 100) for name, word in levels.items()]
    drawn = pl.concat([
        rows.select(
            panel=pl.lit(word), row=_or_all("model"), kind=pl.lit("people"), value=100 * pl.col(name),
            low=100 * pl.col(f"{name}_low"), high=100 * pl.col(f"{name}_high"),
        ) for name, word in levels.items()
    ])  # fmt: skip
    words = "Error rates of all outputs, of which people labelled a sample that was drawn by model and band."
    chart = charts.ranges(drawn, "% of all outputs, 95 % interval", width=220, columns=3)
    rests = home.rests(corpus, "error_estimate")
    return _exhibit("Errors of all outputs", words, columns, chart, signatures(rows), rests)


def categories(home: Home, corpus: str) -> list[Exhibit]:
    """Errors by category."""
    rows = home.read("error_category", corpus).filter(pl.col("minor") + pl.col("major") > 0, model="")
    rows = rows.sort("raters", "major", "minor", "error_category", descending=[False, True, True, False])
    if rows.is_empty():
        return []
    columns = [names(rows, "raters", "raters"), names(rows, "error_category", "category")]
    for name in ("minor", "major"):
        where = _where(rows, corpus, category="error_category", label=LABELS[name], raters="raters")
        columns.append(counts(rows, name, name, where))
        columns.append(numbers(rows, f"{name}_share", f"% of all {name}", 1, 100))
    drawn = pl.concat([
        rows.select(
            row=pl.format("{} ({})", "error_category", "raters"), kind=pl.lit(name), value=name,
            words=pl.col(name).cast(pl.String),
        ) for name in ("minor", "major")
    ])  # fmt: skip
    levels = {"minor": charts.LEVELS["minor"], "major": charts.LEVELS["major"]}
    chart = charts.amounts(drawn, "errors", levels)
    words = "What kind of errors were found, by the panel and by people."
    rests = home.rests(corpus, "audit_outcome")
    return [_exhibit("Errors by category", words, columns, chart, signatures(rows), rests)]


def closest(home: Home, corpus: str) -> list[Exhibit]:
    """How often each translator is the one that a system comes closest to."""
    rows = home.read("closest_share", corpus).sort("kind", "system", "translator", descending=[True, False, False])
    if rows.is_empty():
        return []
    keys = ["kind", "system"]
    systems = rows.group_by(keys, maintain_order=True).agg(pl.col("passages").max())
    behind = _where(systems.with_columns(model=pl.when(kind="model").then("system")), corpus, "model")
    columns = [names(systems, "system", "system"), names(systems, "kind", "kind"),
               counts(systems, "passages", "passages", behind)]  # fmt: skip
    for translator in sorted(rows["translator"].unique()):
        own = systems.join(rows.filter(translator=translator), on=keys, how="left", maintain_order="left")
        columns.append(numbers(own, "share", f"{translator}, %", 1, 100))
    drawn = rows.select(
        row=_named("system", "kind"), kind="translator", value=100 * pl.col("share"), low=100 * pl.col("share_low"),
        high=100 * pl.col("share_high"),
    )  # fmt: skip
    chart = charts.dodged(drawn, "% of passages, 95 % interval", domain=[0, 100])
    words = "In how many passages each translator's reference is the one most similar to what a system wrote."
    rests = home.rests(corpus, "closest_share")
    return [_exhibit("Closest reference", words, columns, chart, signatures(rows), rests)]


def concordance(home: Home, corpus: str) -> list[Exhibit]:
    """Whether the measures order the models alike."""
    rows = home.read("metric_concordance", corpus).filter(pl.col("value").is_not_null())
    pairs = rows.filter(statistic="tau_b").sort("value", "measure", "other", descending=[True, False, False])
    if pairs.is_empty():
        return []
    together = rows.filter(statistic="W")
    known = [pl.col(name).replace(MEASURES) for name in ("measure", "other")]
    pairs = pairs.with_columns(known)
    columns = [names(pairs, "measure", "measure"), names(pairs, "other", "other"), counts(pairs, "models", "models"),
               numbers(pairs, "value", "Kendall's τ-b", 3)]  # fmt: skip
    drawn = pairs.select(
        panel=pl.lit(""), row=pl.format("{} / {}", "measure", "other"), kind=pl.lit("model"), value="value",
        low="value_low", high="value_high",
    )  # fmt: skip
    words = "Whether each two measures order the models alike: 1 the same order, -1 the reverse, 0 unrelated."
    if len(together):
        value, low, high, models = together.select("value", "value_low", "value_high", "models").row(0)
        words += f" Kendall's W of all: {value:.3f} [{low:.3f}, {high:.3f}], over {models} models."
    chart = charts.ranges(drawn, "τ-b, 95 % interval", width=560, rule=0, domain=[-1, 1])
    rests = home.rests(corpus, "metric_rank")
    return [_exhibit("Concordance of measures", words, columns, chart, signatures(rows), rests)]


def calibration(home: Home, corpus: str) -> list[Exhibit]:
    """Judges against people."""
    rows = home.read("judge_calibration", corpus).sort("kappa", "judge", descending=[True, False], nulls_last=True)
    if rows.is_empty():
        return []
    percent = {"exact": "same label", "major_precision": "major: precision", "major_recall": "major: recall",
               "major_f1": "major: F1", "any_f1": "any error: F1"}  # fmt: skip
    columns = [names(rows, "judge", "judge"), counts(rows, "outputs", "outputs")]
    columns += [numbers(rows, name, f"{word}, %", 1, 100) for name, word in percent.items()]
    columns.append(numbers(rows, "kappa", "κ", 3))
    kind = pl.when(pl.col("judge").str.starts_with("panel")).then(pl.lit("panel")).otherwise(pl.lit("judge"))
    shown = {**{name: percent[name] for name in ("exact", "major_f1", "any_f1")}, "kappa": "κ of the labels"}
    drawn = pl.concat([
        rows.select(panel=pl.lit(word), row="judge", kind=kind, value=name, low=f"{name}_low", high=f"{name}_high")
        for name, word in shown.items()
    ])  # fmt: skip
    words = "Each judge, the panel, and the panel without one of them, against what people labelled."
    chart = charts.ranges(drawn, "95 % interval", width=340)
    rests = home.rests(corpus, "judge_calibration")
    found = [_exhibit("Calibration of the judges", words, columns, chart, signatures(rows), rests)]
    sure = home.read("judge_reliability", corpus).sort("judge", "confidence")
    if len(sure):
        columns = [
            names(sure, "judge", "judge"),
            names(sure, "confidence", "confidence"),
            counts(sure, "outputs", "outputs"),
            numbers(sure, "agreement", "agrees with people, %", 1, 100),
        ]
        drawn = sure.select(
            row="judge", kind="confidence", value=100 * pl.col("agreement"), low=100 * pl.col("agreement_low"),
            high=100 * pl.col("agreement_high"),
        )  # fmt: skip
        chart = charts.dodged(drawn, "% that agree with people, 95 % interval", domain=[0, 100])
        words = "How often a judge says what people say, by how sure it says it is."
        found.append(_exhibit("Confidence of the judges", words, columns, chart, signatures(sure), rests))
    return found


def literary(home: Home, corpus: str) -> list[Exhibit]:
    """Models against the human translators."""
    rows = home.read("literary_score", corpus)
    if rows.is_empty():
        return []
    best = rows.filter(aspect="").select("model", best="score")
    rows = rows.join(best, on="model", how="left").sort(
        "aspect", "best", "model", descending=[False, True, False], nulls_last=True
    )
    columns = [
        names(rows, "aspect", "aspect", "ensemble"),
        names(rows, "model", "model"),
        counts(rows, "chunks", "chunks", _where(rows, corpus, "model")),
        counts(rows, "works", "works"),
    ]
    columns += [counts(rows, "machine", "model better"), counts(rows, "unsure", "unsure"),
                counts(rows, "human", "human better"), numbers(rows, "score", "score", 1),
                names(rows, "resampled", "resampled")]  # fmt: skip
    drawn = rows.select(
        panel=pl.when(aspect="").then(pl.lit("ensemble")).otherwise("aspect"), row="model", kind=pl.lit("model"),
        value="score", low="score_low", high="score_high",
    )  # fmt: skip
    chart = charts.ranges(drawn, "score, 95 % interval", width=340, rule=PARITY, domain=[0, 100])
    words = "Models against the human translation: 50 (dashed) is parity, above it the model is found better."
    rests = home.rests(corpus, "literary_score")
    return [_exhibit("Literary scores", words, columns, chart, signatures(rows), rests)]


def pairwise(home: Home) -> list[Exhibit]:
    """LT of models and anchors by slice, an exhibit for each base set."""
    models, anchors = (home.warehouse.read(table) for table in ("pairwise_score", "anchor_score"))
    found = []
    for base_set in sorted({*models["base_set"], *anchors["base_set"]}):
        shared = ["slice", "items", "matches", "wins", "ties", "excluded", "win_rate", "win_rate_low", "win_rate_high",
                  "lt", "lt_low", "lt_high", "problem", "contract", "signature"]  # fmt: skip
        rows = pl.concat([
            own.filter(base_set=base_set).select(pl.lit(kind).alias("kind"), pl.col(kind).alias("name"), *shared)
            for kind, own in (("model", models), ("anchor", anchors))
        ])  # fmt: skip
        overall = rows.filter(slice="overall").select("kind", "name", best="lt")
        rows = rows.join(overall, on=["kind", "name"], how="left").with_columns(first=pl.col("slice") != "overall")
        rows = rows.sort("first", "slice", "best", "name", descending=[False, False, True, False], nulls_last=True)
        columns = [names(rows, "slice", "slice"), names(rows, "name", "system"), names(rows, "kind", "kind")]
        columns += [counts(rows, name, name) for name in ("items", "matches", "ties", "excluded")]
        columns += [numbers(rows, "wins", "wins", 1), numbers(rows, "win_rate", "win rate, %", 1, 100),
                    numbers(rows, "lt", "LT", 2)]  # fmt: skip
        if rows["problem"].count():
            columns.append(names(rows, "problem", "problem"))
        drawn = rows.select("kind", panel="slice", row="name", value="lt", low="lt_low", high="lt_high")
        chart = charts.ranges(drawn, "LT, 95 % interval", width=340, domain=[0, 10]) if drawn["value"].count() else None
        words = "Strength of each model among the anchors of the base set, 0 to 10, overall and by slice."
        signed = signatures(rows.select(signature=pl.format("{}; {}", "contract", "signature")))
        rests = home.rests("", "pairwise_score", "anchor_score")
        found.append(_exhibit(f"LT against {base_set}", words, columns, chart, signed, rests))
    return found


def understanding(home: Home) -> list[Exhibit]:
    """Scores by language, and by task."""
    rows = home.warehouse.read("understanding_board")
    rests = home.rests("", "understanding_board")
    found = []
    means = rows.filter(task="").sort("language", "score", "system", descending=[False, True, False], nulls_last=True)
    if means["score"].count():
        columns = [
            names(means, "language", "language"),
            names(means, "system", "system"),
            names(means, "kind", "kind"),
            counts(means, "tasks", "tasks"),
            numbers(means, "score", "score", 1),
            names(means, "missing", "missing"),
        ]
        drawn = means.select(
            "kind", panel="language", row="system", value="score", low=pl.coalesce("score_low", "score"),
            high=pl.coalesce("score_high", "score"),
        )  # fmt: skip
        chart = charts.ranges(drawn, "score, 95 % interval", width=340, domain=[0, 100])
        words = "Mean over the tasks of a language, in points of 100; who lacks a task that a model has gets no mean."
        found.append(_exhibit("Score by language", words, columns, chart, signatures(means), rests))
    of_tasks = rows.filter(pl.col("task") != "").sort("language")
    for (language,), own in of_tasks.group_by("language", maintain_order=True):
        keys = ["kind", "system"]
        systems = own.group_by(keys).agg(pl.col("score").mean()).sort("score", "system", descending=[True, False])
        columns = [names(systems, "system", "system"), names(systems, "kind", "kind")]
        for task in sorted(own["task"].unique()):
            cells = systems.select(keys).join(own.filter(task=task), on=keys, how="left", maintain_order="left")
            columns.append(numbers(cells, "score", task, 1))
        title = f"Tasks of {language}"
        words = "Every system on every task, in points of 100."
        found.append(_exhibit(title, words, columns, None, signatures(own), rests))
    return found


def costs(home: Home) -> list[Exhibit]:
    """What was paid, by model and purpose."""
    calls = home.warehouse.read("model_call")
    if calls.is_empty():
        return []
    unknown = pl.col("cost").is_null() & pl.col("outcome").is_not_null()
    rows = calls.group_by("model", "purpose").agg(
        calls=pl.len(), prompt=pl.col("prompt_tokens").sum(), completion=pl.col("completion_tokens").sum(),
        paid=pl.when(pl.col("cost").is_not_null().any()).then(pl.col("cost").sum()), unknown=unknown.sum(),
        at_most=pl.col("reserved").filter(unknown).sum(),
    ).sort("paid", "model", "purpose", descending=[True, False, False], nulls_last=True)  # fmt: skip
    columns = [names(rows, "model", "model"), names(rows, "purpose", "purpose"), counts(rows, "calls", "calls"),
               counts(rows, "prompt", "tokens asked"), counts(rows, "completion", "tokens answered"),
               numbers(rows, "paid", "paid, US $", 4), counts(rows, "unknown", "of unknown cost"),
               numbers(rows, "at_most", "these at most, US $", 4)]  # fmt: skip
    paid = float(rows["paid"].sum())
    drawn = rows.filter(pl.col("paid") > 0).select(
        row=pl.format("{}, {}", "model", "purpose"), kind=pl.lit("paid"), value="paid",
        words=pl.col("paid").map_elements(lambda value: f"{value:.4f}", return_dtype=pl.String),
    )  # fmt: skip
    chart = charts.amounts(drawn.head(30), "US dollars", {"paid": "blue"}) if len(drawn) else None
    words = f"Paid in all: {paid:.4f} US dollars for {len(calls):,} calls."
    signed = ["as the endpoint reports it, else by the registry's price; calls of unknown cost at their worst case"]
    return [_exhibit("Costs", words, columns, chart, signed, home.rests("", "model_call"))]


OF_CORPUS: list[Callable[[Home, str], list[Exhibit]]] = [
    leaderboard, drift, severity, categories, closest, concordance, calibration, literary,
]  # fmt: skip
OF_NONE: dict[str, Callable[[Home], list[Exhibit]]] = {
    "Base sets": pairwise, "Understanding": understanding, "Costs": costs,
}  # fmt: skip


def _exhibit(
    title: str, words: str, columns: Sequence[Column], chart: charts.Spec | None, signed: Sequence[str],
    rests: Sequence[Source],
) -> Exhibit:  # fmt: skip
    """An exhibit without the columns in which nothing stands."""
    kept = [each for each in columns if any(cell.text not in ("", NONE) for cell in each.cells)]
    return Exhibit(title, words.strip(), kept, chart, signed, rests)


def _where(rows: pl.DataFrame, corpus: str, *same: str, **fixed: str) -> list[Mapping[str, str]]:
    """The filter behind each row: its columns `same`, and `fixed`, of which a name of a column stands for its value."""
    found: list[Mapping[str, str]] = []
    for row in rows.iter_rows(named=True):
        own = {name: row[name] for name in same} | {key: row.get(value, value) for key, value in fixed.items()}
        found.append({"corpus": corpus} | own if None not in own.values() else {})
    return found


def _of(rows: pl.DataFrame, corpus: str) -> pl.DataFrame:
    return rows.filter(rows.select(CORPUS)["corpus"] == corpus)


def _named(system: str, kind: str) -> pl.Expr:
    """The name of a system; that of a human translator says so, for a model may have the same."""
    return pl.col(system) + pl.when(pl.col(kind) == "human").then(pl.lit(" (human)")).otherwise(pl.lit(""))


def _or_all(column: str) -> pl.Expr:
    return pl.when(pl.col(column) == "").then(pl.lit(ALL)).otherwise(column)
