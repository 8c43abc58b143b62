"""What the report says: exhibits out of the warehouse's aggregates, by corpus, and those that are of no corpus.

Here: which rows, in which order, under which words. Texts of sources, references, outputs, judges and annotators are
not read at all: a report may be passed on. Not here: tables of detail, which have no chart (details), how a table
or a chart is shown (exhibits, charts, page).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from benchmark_assets.accounts.costs import summed
from benchmark_assets.adjudication.triage import audits, band_names
from benchmark_assets.audit.outcomes import LABELS
from benchmark_assets.audit.rated import PEOPLE
from benchmark_assets.literary.scores import PARITY, places
from benchmark_assets.metrics.measures import MEAN_RANK, RANKED
from benchmark_assets.metrics.summary import DRIFT
from benchmark_assets.reporting.leaderboard import HEADLINE
from benchmark_assets.reporting.report import ASSETS, charts, details
from benchmark_assets.reporting.report.exhibits import (
    Exhibit,
    Home,
    Part,
    column,
    columns,
    exhibit,
    named,
    points,
    signatures,
)  # fmt: skip
from resources import catalogue
from resources.keys import CORPUS
from resources.tables import ENDS, cell, cells, text
from resources.warehouse import Warehouse

ANY = "any"
"""In a filter of the reader: whatever it is, if there is one."""
MOST_BARS = 30
BINS = 45
BEYOND = 1.5
"""How far beyond the last edge of the bands a histogram goes, as a multiple of it."""
QUANTILES = {"5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95}


def parts(warehouse: Warehouse, corpora: Sequence[str] = ()) -> list[Part]:
    """The parts of the report that have anything to say.

    Parameters
    ----------
    corpora
        Corpora to report; by default all, and also base sets, understanding and costs, which belong to no corpus.
    """
    with warehouse.exclusively():  # consistent tables
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
    """Systems by similarity, and the clusters of models that are not significantly different."""
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
    behind = _where(board.with_columns(model=pl.when(kind="model").then("model")), corpus, "model", closest=ANY)
    shown = [
        *columns(board, "leaderboard", "rank", "system", "kind"), column(board, "metric_rank", "cluster"),
        *columns(board, "leaderboard", *HEADLINE, passages=behind),
    ]  # fmt: skip
    drawn = [
        board.select(
            "kind", panel=pl.lit(catalogue.label(name)), row=named("system", "kind"), **points("leaderboard", name)
        )
        for name in ("sim_best", "drift", "chrf", "bleu", "comet_avg")
    ]
    several = clusters["cluster"].drop_nulls()
    words = (
        "Models and human translators, best first. A human translator's row scores that translator against the others, "
        "with one reference fewer than a model has: it says how far apart people are. "
        + (
            "Models of the same cluster cannot be told apart by similarity, at 5 % corrected for the number of pairs."
            if len(several) else ""
        )
    )  # fmt: skip
    found = [exhibit(
        "Leaderboard", words, shown, _intervals(drawn, "95 % interval"), signatures(board),
        home.rests(corpus, "leaderboard", "metric_rank", "drift_score", "human_baseline"),
    )]  # fmt: skip
    overall = ranks.filter(measure=MEAN_RANK).sort("value", "system")
    if len(overall):
        found.append(_ranks(home, corpus, ranks, overall))
    return found


def _ranks(home: Home, corpus: str, ranks: pl.DataFrame, overall: pl.DataFrame) -> Exhibit:
    """Ranks in each measure, best mean rank first."""
    keys = ["kind", "system"]
    shown = [
        *columns(overall, "metric_rank", "system", "kind"),
        column(overall, "metric_rank", "value", heading=catalogue.label(MEAN_RANK)),
    ]
    for name in [each.name for each in RANKED if each.name in set(ranks["measure"])]:
        own = overall.select(keys).join(ranks.filter(measure=name), on=keys, how="left", maintain_order="left")
        shown.append(column(own, "metric_rank", "rank", heading=catalogue.label(name)))
    rows = overall.select("kind", panel=pl.lit(""), row=named("system", "kind"), **points("metric_rank", "value"))
    words = "Rank of each system among the models in every measure, and the mean of its ranks; 1 is best."
    chart = _intervals([rows], "mean rank, 95 % interval", width=charts.WIDE)
    return exhibit("Ranks", words, shown, chart, signatures(overall), home.rests(corpus, "metric_rank"))


def drift(home: Home, corpus: str) -> list[Exhibit]:
    """Distribution of drift, and number of outputs in each band, by system."""
    warehouse = home.warehouse
    models = _of(warehouse.read("drift_score", columns=["model", "passage", "drift", "embedder"]), corpus)
    people = _of(warehouse.read("human_baseline", columns=["translator", "passage", "drift", "embedder"]), corpus)
    both = pl.concat([
        models.select("drift", "embedder", system="model", kind=pl.lit("model")),
        people.select("drift", "embedder", system="translator", kind=pl.lit("human")),
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
    middle = middle.with_columns(model=pl.when(kind="model").then("system"))
    shown = columns(
        middle, "drift_score", "system", "kind", "outputs", outputs=_where(middle, corpus, "model", band=ANY)
    )
    shown += [column(middle.select(drift=name), "drift_score", "drift", heading=name) for name in QUANTILES]
    for at, band in enumerate(bands):
        own = places.filter(band=at).group_by("kind", "system").agg(outputs=pl.len())
        own = middle.drop("outputs").join(own, on=["kind", "system"], how="left", maintain_order="left")
        own = own.with_columns(pl.col("outputs").fill_null(0))
        behind = _where(own, corpus, "model", band=band)
        shown.append(column(own, "drift_score", "outputs", behind, heading=f"drift {band}"))
    most = max(edges) * BEYOND
    chart = charts.distribution(_histogram(both, middle, most), edges, most, "drift")
    words = (
        "How far outputs lie from the centre of the references, in units of the spread of the human translations. "
        "Dashed lines part the bands, the thick line is the median; what lies beyond the axis stands in its last bar. "
        "Quantiles and counts describe these outputs and are no estimates: they have no intervals."
    )
    rests = home.rests(corpus, "drift_score", "human_baseline", "triage")
    made = [f"embedder: {each}; {DRIFT}" for each in both["embedder"].unique().sort()]
    return [exhibit("Drift", words, shown, chart, made, rests)]


def _histogram(both: pl.DataFrame, middle: pl.DataFrame, most: float) -> pl.DataFrame:
    """Share of each system's values in bins of equal width up to `most`; the last bin has all greater values too."""
    width = most / BINS
    place = (pl.col("drift") / width).floor().clip(0, BINS - 1).cast(pl.Int32)
    bins = both.group_by("kind", "system", place.alias("bin")).agg(count=pl.len())
    bins = middle.join(bins, on=["kind", "system"], maintain_order="left_right").sort("median", "kind", "system", "bin")
    return bins.select(
        "kind", row=named("system", "kind"), start=pl.col("bin") * width, end=(pl.col("bin") + 1) * width,
        share=pl.col("count") / pl.col("outputs"), median=pl.col("median").clip(upper_bound=most),
    )  # fmt: skip


def severity(home: Home, corpus: str) -> list[Exhibit]:
    """Error rates by band of drift and by model: from the panel's verdicts, and from people's labels on a sample."""
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
        outputs = _where(own, corpus, by, band=ANY) if by == "model" else _where(own, corpus, by)
        judged = _where(own, corpus, by, label=ANY, raters=_by_people())
        labeled = {
            name: _where(own, corpus, by, label=label, raters=_by_people()) for name, label in LABELS.items()
        }  # fmt: skip
        shown = columns(
            own, "audit_outcome", by, "raters", "outputs", "judged", *LABELS, "major_rate", "any_rate",
            outputs=outputs, judged=judged, **labeled,
        )  # fmt: skip
        order = list(bands) if by == "band" else own[by].unique(maintain_order=True).to_list()
        chart = charts.shares(_stacked(own, by), order, "share of the outputs judged")
        found.append(exhibit(title, whole, shown, chart, signatures(own), rests))
    estimates = home.read("error_estimate", corpus).filter(region="all").sort("any_rate", "model")
    if len(estimates):
        found.append(_estimates(home, corpus, estimates))
    return found


def _stacked(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Share of each label in each row, and the sum of the shares of the labels before it."""
    levels = list(LABELS)
    total = pl.sum_horizontal(levels)
    return pl.concat([
        rows.select(
            panel="raters", row=by, level=pl.lit(level), count=level,
            share=pl.col(level) / total, before=pl.sum_horizontal(pl.lit(0), *levels[:at]) / total,
        ) for at, level in enumerate(levels)
    ])  # fmt: skip


def _estimates(home: Home, corpus: str, rows: pl.DataFrame) -> Exhibit:
    rates = ("minor_rate", "major_rate", "any_rate")
    shown = columns(
        rows, "error_estimate", "model", "outputs", "labelled", "covered", *rates,
        outputs=_where(rows, corpus, "model", band=ANY),
        labelled=_where(rows, corpus, "model", label=ANY, raters=PEOPLE),
    )  # fmt: skip
    (model,) = cells("error_estimate", "model")
    drawn = [
        rows.select(
            panel=pl.lit(catalogue.column("error_estimate", name).label), row=model, kind=pl.lit("people"),
            **points("error_estimate", name),
        ) for name in rates
    ]  # fmt: skip
    words = (
        "Error rates, from a sample that was drawn by model and band and that people labelled. They speak of the "
        "outputs of those models and bands from which some are labelled"
    )
    least = float(rows["covered"].min() or 0)  # type: ignore[arg-type]
    words += ", which are all." if least == 1 else f", the share covered: {100 * least:.1f} % or more of a row."
    chart = _intervals(drawn, "% of the outputs covered, 95 % interval", width=220, columns=3)
    rests = home.rests(corpus, "error_estimate")
    return exhibit("Errors of all outputs", words, shown, chart, signatures(rows), rests)


def categories(home: Home, corpus: str) -> list[Exhibit]:
    """Errors by category."""
    rows = home.read("error_category", corpus).filter(pl.col("minor") + pl.col("major") > 0, model="")
    rows = rows.sort("raters", "major", "minor", "error_category", descending=[False, True, True, False])
    if rows.is_empty():
        return []
    labeled = {
        name: _where(rows, corpus, category=pl.col("error_category"), label=LABELS[name], raters=_by_people())
        for name in ("minor", "major")
    }
    names = ("raters", "error_category", "minor", "minor_share", "major", "major_share")
    shown = columns(rows, "error_category", *names, **labeled)
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
    return [exhibit("Errors by category", words, shown, chart, signatures(rows), rests)]


def closest(home: Home, corpus: str) -> list[Exhibit]:
    """Share of passages for which each translator's reference is the closest to a system's output."""
    rows = home.read("closest_share", corpus).sort("kind", "system", "translator", descending=[True, False, False])
    if rows.is_empty():
        return []
    keys = ["kind", "system"]
    systems = rows.group_by(keys, maintain_order=True).agg(pl.col("passages").max())
    systems = systems.with_columns(model=pl.when(kind="model").then("system"))
    behind = _where(systems, corpus, "model", closest=ANY)
    shown = columns(systems, "closest_share", "system", "kind", "passages", passages=behind)
    for translator in sorted(rows["translator"].unique()):
        own = systems.join(rows.filter(translator=translator), on=keys, how="left", maintain_order="left")
        where = _where(own, corpus, "model", closest=translator)
        shown.append(column(own, "closest_share", "share", where, heading=f"{translator} %"))
    drawn = rows.select(row=named("system", "kind"), kind="translator", **points("closest_share", "share"))
    chart = charts.dodged(drawn, "% of passages, 95 % interval", domain=[0, 100])
    words = "In how many passages each translator's reference is the one most similar to what a system wrote."
    rests = home.rests(corpus, "closest_share")
    return [exhibit("Closest reference", words, shown, chart, signatures(rows), rests)]


def concordance(home: Home, corpus: str) -> list[Exhibit]:
    """Concordance of the measures: whether they order the models alike."""
    rows = home.read("metric_concordance", corpus).filter(pl.col("value").is_not_null())
    pairs = rows.filter(statistic="tau_b").sort("value", "measure", "other", descending=[True, False, False])
    if pairs.is_empty():
        return []
    together = rows.filter(statistic="W")
    shown = [
        *columns(pairs, "metric_concordance", "measure", "other", "models"),
        column(pairs, "metric_concordance", "value", heading="Kendall's τ-b"),
    ]
    drawn = pairs.select(
        panel=pl.lit(""), row=pl.format("{} / {}", *cells("metric_concordance", "measure", "other")),
        kind=pl.lit("model"), **points("metric_concordance", "value"),
    )  # fmt: skip
    words = "Whether each two measures order the models alike: 1 the same order, -1 the reverse, 0 unrelated."
    if len(together):
        value, models = together.select(cells("metric_concordance", "value", "models")).row(0)
        words += f" Kendall's W of all: {value}, over {models} models."
    chart = _intervals([drawn], "τ-b, 95 % interval", width=charts.WIDE, rule=0, domain=[-1, 1])
    rests = home.rests(corpus, "metric_rank")
    return [exhibit("Concordance of measures", words, shown, chart, signatures(rows), rests)]


def calibration(home: Home, corpus: str) -> list[Exhibit]:
    """Agreement of judges and the panel with people."""
    rows = home.read("judge_calibration", corpus).sort("kappa", "judge", descending=[True, False], nulls_last=True)
    if rows.is_empty():
        return []
    names = ("judge", "outputs", "exact", "major_precision", "major_recall", "major_f1", "any_f1", "kappa")
    shown = columns(rows, "judge_calibration", *names)
    kind = pl.when(pl.col("judge").str.starts_with("panel")).then(pl.lit("panel")).otherwise(pl.lit("judge"))
    judged = [
        rows.select(
            panel=pl.lit(catalogue.column("judge_calibration", name).heading), row="judge", kind=kind,
            **points("judge_calibration", name),
        ) for name in ("exact", "major_f1", "any_f1", "kappa")
    ]  # fmt: skip
    words = "Each judge, the panel, and the panel without one of them, against what people labelled."
    chart = _intervals(judged, "95 % interval")
    rests = home.rests(corpus, "judge_calibration")
    found = [exhibit("Calibration of the judges", words, shown, chart, signatures(rows), rests)]
    sure = home.read("judge_reliability", corpus).sort("judge", "confidence")
    if len(sure):
        shown = columns(sure, "judge_reliability")
        drawn = sure.select(row="judge", kind="confidence", **points("judge_reliability", "agreement"))
        chart = charts.dodged(drawn, "% that agree with people, 95 % interval", domain=[0, 100])
        words = "How often a judge says what people say, by how sure it says it is."
        found.append(exhibit("Confidence of the judges", words, shown, chart, signatures(sure), rests))
    return found


def literary(home: Home, corpus: str) -> list[Exhibit]:
    """Scores of models against the human translations."""
    rows = home.read("literary_score", corpus)
    if rows.is_empty():
        return []
    best = rows.filter(aspect="").select("model", best="score")
    first = places(home.warehouse.read("aspect_vote", rows.select("model").unique())).filter(corpus=corpus)
    first = first.select("model", pl.col("^first_rate.*$"), aspect=pl.lit(""))
    rows = (
        rows.join(best, on="model", how="left")
        .join(first, on=["model", "aspect"], how="left")
        .sort("aspect", "best", "model", descending=[False, True, False], nulls_last=True)
    )
    whole = rows.with_columns(model=pl.when(aspect="").then("model"))  # the reader knows verdicts, not those of aspects
    verdicts = ("machine", "unsure", "human")
    shown = columns(
        rows, "literary_score", "aspect", "model", "chunks", "works", *verdicts, "score", "interval_of", "first_rate",
        chunks=_where(whole, corpus, "model", verdict=ANY),
        **{verdict: _where(whole, corpus, "model", verdict=verdict) for verdict in verdicts},
    )  # fmt: skip
    (aspect,) = cells("literary_score", "aspect")
    drawn = rows.select(panel=aspect, row="model", kind=pl.lit("model"), **points("literary_score", "score"))
    chart = _intervals([drawn], "score, 95 % interval", rule=PARITY, domain=[0, 100])
    words = (
        "Models against the human translation: 50 (dashed) is parity, above it the model is found better. Judges that "
        "do not look at the place prefer the first text in 50 %."
    )
    rests = home.rests(corpus, "literary_score", "head_to_head")
    return [exhibit("Literary scores", words, shown, chart, signatures(rows), rests)]


def pairwise(home: Home) -> list[Exhibit]:
    """LT of models and anchors by slice.

    Each base set and contract has its own exhibit, since scores under different contracts are not comparable.
    """
    models, anchors = (home.warehouse.read(table) for table in ("pairwise_score", "anchor_score"))
    shared = ["base_set", "slice", "items", "matches", "wins", "ties", "excluded", "win_rate", "win_rate_low",
              "win_rate_high", "problem", "contract", "signature"]  # fmt: skip
    every = pl.concat([
        models.select(
            *shared, *(f"{name}{end}" for name in ("first_rate", "lt", "lt_fixed", "en") for end in ENDS),
            kind=pl.lit("model"), system="model",
        ),
        anchors.select(
            *shared, kind=pl.lit("anchor"), system="anchor", **{f"lt_fixed{end}": f"lt{end}" for end in ENDS}
        ),
    ], how="diagonal")  # fmt: skip
    groups = every.select("base_set", "contract").unique().sort("base_set", "contract")
    several = groups.filter(pl.col("base_set").is_duplicated())["base_set"].to_list()
    found, rests = [], home.rests("", "pairwise_score", "anchor_score")
    for number, (base_set, contract) in enumerate(groups.iter_rows(), start=1):
        rows = every.filter(base_set=base_set, contract=contract)
        overall = rows.filter(slice="overall").select("kind", "system", best="lt_fixed")
        rows = rows.join(overall, on=["kind", "system"], how="left").with_columns(first=pl.col("slice") != "overall")
        rows = rows.sort("first", "slice", "best", "system", descending=[False, False, True, False], nulls_last=True)
        shown = columns(
            rows, "pairwise_score", "slice", "system", "kind", "items", "matches", "ties", "excluded", "wins",
            "win_rate", "lt_fixed", "lt", "en", "first_rate",
        )  # fmt: skip
        drawn = rows.select("kind", panel="slice", row="system", **points("pairwise_score", "lt_fixed"))
        chart = _intervals([drawn], "LT beside the anchors, 95 % interval", domain=[0, 10])
        words = (
            "Strength of models and anchors on one scale of 0 to 10, on which anchors are where they are without any "
            "model (lt_fixed), overall and by slice. LT and EN are the paper's, in which each model has a scale of its "
            "own with the anchors. A judge that does not look at the place prefers the first text in 50 %. "
        ) + _problems(rows)
        title = f"LT against {base_set}" + (f", contract {number} of {len(groups)}" if base_set in several else "")
        signed = signatures(rows.select(signature=pl.format("{}; {}", "contract", "signature")))
        found.append(exhibit(title, words, shown, chart, signed, rests))
    return found


def _problems(rows: pl.DataFrame) -> str:
    """The reasons why strengths cannot be estimated, one sentence for each slice and problem.

    A sentence names the systems with the problem, unless all systems of the slice have it.
    """
    sizes = dict(rows.group_by("slice").len().iter_rows())
    found = rows.drop_nulls("problem").group_by("slice", "problem", maintain_order=True).agg(pl.col("system").sort())
    return " ".join(
        f"{part}{'' if len(who) == sizes[part] else ', ' + ', '.join(who)}: {problem}."
        for part, problem, who in found.iter_rows()
    )


def understanding(home: Home) -> list[Exhibit]:
    """Mean scores over the tasks of each benchmark and language, scores by task, and comparisons of models."""
    rows = home.warehouse.read("understanding_board").with_columns(benchmark=_scope())
    rests = home.rests("", "understanding_board")
    found: list[Exhibit] = []
    means = rows.filter(task="").sort("benchmark", "score", "system", descending=[False, True, False], nulls_last=True)
    if means["score"].count():
        shown = columns(means, "understanding_board", "benchmark", "system", "kind", "tasks", "score", "missing")
        drawn = means.select(
            "kind", panel="benchmark", row="system", value="score", low=pl.coalesce("score_low", "score"),
            high=pl.coalesce("score_high", "score"),
        )  # fmt: skip
        chart = _intervals([drawn], "score, 95 % interval", domain=[0, 100])
        words = (
            "Mean over the tasks of a benchmark in a language, in points of 100; who lacks a task that a model has "
            "gets no mean."
        )
        found.append(exhibit("Mean scores", words, shown, chart, signatures(means), rests))
    of_tasks = rows.filter(pl.col("task") != "").sort("benchmark")
    for (scope,), own in of_tasks.group_by(["benchmark"], maintain_order=True):
        keys = ["kind", "system"]
        systems = own.group_by(keys).agg(pl.col("score").mean()).sort("score", "system", descending=[True, False])
        shown = columns(systems, "understanding_board", "system", "kind")
        for task in sorted(own["task"].unique()):
            of_task = systems.select(keys).join(own.filter(task=task), on=keys, how="left", maintain_order="left")
            shown.append(column(of_task, "understanding_board", "score", heading=task))
        words = "Every system on every task, in points of 100."
        found.append(exhibit(f"Tasks of {scope}", words, shown, None, signatures(own), rests))
        trained = own.drop_nulls("near").sort("task", "score", descending=[False, True])
        if len(trained):
            shown = columns(trained, "understanding_board", "task", "system", "score", "near")
            words = "What was trained, and how much of the test split it could have by heart."
            found.append(exhibit(f"Trained on {scope}", words, shown, None, signatures(trained), rests))
    pairs = home.warehouse.read("understanding_comparison").filter(task="").with_columns(benchmark=_scope())
    if len(pairs):
        pairs = pairs.sort("benchmark", "difference", descending=[False, True])
        names = ("benchmark", "model", "other", "difference", "p_holm")
        shown = columns(pairs, "understanding_comparison", *names)
        words = "Means of each two models: the first less the other, on the samples of both."
        rests = home.rests("", "understanding_comparison")
        found.append(exhibit("Differences of means", words, shown, None, signatures(pairs), rests))
    return found


def costs(home: Home) -> list[Exhibit]:
    """Amounts paid, by model and purpose."""
    calls = home.warehouse.read("model_call")
    if calls.is_empty():
        return []
    rows = summed(calls, "model", "purpose").sort("paid", "model", "purpose", descending=[True, False, False],
                                                  nulls_last=True)  # fmt: skip
    names = ("model", "purpose", "calls", "prompt_tokens", "completion_tokens", "paid", "uncertain", "at_most")
    shown = columns(rows, "package_cost", *names)
    paid = catalogue.column("package_cost", "paid")
    drawn = rows.filter(pl.col("paid") > 0).select(
        row=pl.format("{}, {}", "model", "purpose"), kind=pl.lit("paid"), value="paid",
        words=cell(paid),
    )  # fmt: skip
    chart = charts.amounts(drawn.head(MOST_BARS), "US dollars", {"paid": "blue"}) if len(drawn) else None
    words = f"Known to be paid: {text(float(rows['paid'].sum()), paid)} US dollars; of {len(calls):,} calls, "
    words += f"{int(rows['uncertain'].sum()):,} are of unknown cost."
    if len(drawn) > MOST_BARS:
        words += f" The chart shows the {MOST_BARS} largest of {len(drawn)}."
    signed = [
        "as the endpoint reports it, else by the registry's price; of calls of unknown cost the worst case, none where "
        "there is no price"
    ]
    return [exhibit("Costs", words, shown, chart, signed, home.rests("", "model_call"))]


OF_CORPUS: list[Callable[[Home, str], list[Exhibit]]] = [
    leaderboard, drift, closest, concordance, severity, categories, calibration, literary, details.differences,
    details.slices, details.agreement, details.sensitivity, details.recall, details.marks, details.seats,
    details.glossaries,
]  # fmt: skip
OF_NONE: dict[str, Callable[[Home], list[Exhibit]]] = {
    "Base sets": pairwise, "Understanding": understanding, "Costs": costs,
}  # fmt: skip


def _where(rows: pl.DataFrame, corpus: str, *same: str, **fixed: str | pl.Expr) -> list[Mapping[str, str]]:
    """The filter behind each row: its values in the columns `same`, and `fixed` (values or expressions by key).

    A row with a null has an empty filter. The filter leaves out keys whose value is ''.
    """
    wanted = rows.select(*same, **{key: pl.lit(each) if isinstance(each, str) else each for key, each in fixed.items()})
    return [
        {} if None in row.values() else {"corpus": corpus} | {key: value for key, value in row.items() if value}
        for row in wanted.iter_rows(named=True)
    ]


def _by_people() -> pl.Expr:
    """The raters as filters of the reader name them: '' for the panel, which the reader shows by default."""
    return pl.when(raters=PEOPLE).then("raters").otherwise(pl.lit(""))


def _intervals(
    drawn: Iterable[pl.DataFrame], axis: str, *, width: int = 340, columns: int = 2, rule: float | None = None,
    domain: Sequence[float] | None = None,
) -> charts.Spec | None:  # fmt: skip
    """A chart by `charts.ranges` of the frames that have a value; None if no frame has a value."""
    found = [rows for rows in drawn if rows["value"].count()]
    if not found:
        return None
    return charts.ranges(pl.concat(found), axis, width=width, columns=columns, rule=rule, domain=domain)


def _of(rows: pl.DataFrame, corpus: str) -> pl.DataFrame:
    return rows.filter(rows.select(CORPUS)["corpus"] == corpus)


def _scope() -> pl.Expr:
    """Benchmark, if there is one, and language."""
    return pl.when(pl.col("benchmark") == "").then("language").otherwise(pl.format("{}, {}", "benchmark", "language"))
