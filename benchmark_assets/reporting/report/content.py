"""Content of the report: displays of exhibits from the warehouse's aggregates, for each corpus and across corpora.

Here: the order of exhibits, and the rows, links and charts of those whose declaration does not suffice. A report
contains no texts of sources, references, outputs, judges or annotators, so it may be passed on. Not here: declarations
(the rooms' modules `exhibits`), the rendering of tables and charts (display, charts, page).
"""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from benchmark_assets.accounts.costs import summed
from benchmark_assets.adjudication.labels import CONFIDENCES, WORDS
from benchmark_assets.adjudication.triage import audits, band_names
from benchmark_assets.audit import exhibits as audit
from benchmark_assets.audit.outcomes import LABELS
from benchmark_assets.audit.rated import PEOPLE
from benchmark_assets.benchmarks import exhibits as benchmarks
from benchmark_assets.benchmarks.reproduction import OUTCOMES
from benchmark_assets.contamination.exhibits import KINSHIP, KNOWN, MEMORY
from benchmark_assets.corpus.description import Audit, Scoring
from benchmark_assets.corpus.units import scoring
from benchmark_assets.error_spans import exhibits as error_spans
from benchmark_assets.examination.exhibits import REPORTS
from benchmark_assets.literary import exhibits as literary
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import MEAN_RANK, MEASURES
from benchmark_assets.metrics.summary import DRIFT
from benchmark_assets.metrics.unmeasured import BAND
from benchmark_assets.pairwise.exhibits import MARKS, STRENGTHS
from benchmark_assets.people.mqm import WEIGHTS
from benchmark_assets.reporting import contrast, exhibits, frontier, leaderboard
from benchmark_assets.reporting.exhibits import COST_RULE, COSTS, measures, named, published
from benchmark_assets.reporting.headline import RATE
from benchmark_assets.reporting.leaderboard import COVERAGE, groups, headline, in_order, marked
from benchmark_assets.reporting.report import ASSETS, charts
from benchmark_assets.reporting.report.display import (
    Display,
    Home,
    Part,
    column,
    columns,
    drawn,
    numbers,
    of_frame,
    plotted,
    spread,
)
from benchmark_assets.reporting.report.findings import findings
from benchmark_assets.reporting.report.models import chapters
from benchmark_assets.sensitivity.detection import ALL
from benchmark_assets.sensitivity.exhibits import SENSITIVITY
from benchmark_assets.understanding import exhibits as understanding
from benchmark_assets.understanding.exhibits import limited_name
from benchmark_assets.validation.exhibits import CERTIFICATES
from benchmark_assets.vital_signs.exhibits import SIGNS
from resources import catalogue
from resources.exhibits import Exhibit, Ranges
from resources.keys import CORPUS
from resources.tables import ENDS, cell, cells, text
from resources.warehouse import Warehouse

ANY = "any"
"""Filter value for the reader; it matches every value that is not missing."""
MOST_BARS = 30
BINS = 45
BEYOND = 1.5
"""End of a histogram's axis, as a multiple of the last edge between bands."""
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
    """The parts of the report that have content: corpora, models, and what belongs to no corpus.

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
                [display for section in OF_CORPUS for display in displays(home, section, corpus)],
                *findings(home, corpus),
                "corpus",
                _systems(home, corpus),
            )
            for corpus in names
        ]
        sections += chapters(home, names)
        if not corpora:
            sections += [Part(title, section(home)) for title, section in OF_NONE.items()]
    return [part for part in sections if part.exhibits or part.findings or part.unsaid]


def opened(warehouse: Warehouse) -> Home:
    """The source of displays of a warehouse."""
    columns = ["asset", "model", "passage", "task", "version", "updated_at"]
    return Home(warehouse, warehouse.read("materialization", pl.DataFrame({"asset": ASSETS}), columns))


def displays(home: Home, section: Exhibit | Callable[[Home, str], list[Display]], corpus: str) -> list[Display]:
    """The displays of an exhibit, or those that a function makes, for a corpus."""
    return home.show(section, corpus) if isinstance(section, Exhibit) else section(home, corpus)


def of_leaderboard(home: Home, corpus: str) -> list[Display]:
    """The leaderboard, and the faults of the models' outputs."""
    board = in_order(home.read("leaderboard", corpus)).with_columns(model="system", system=marked())
    models = board.filter(pl.any_horizontal(pl.col(DIAGNOSES).is_not_null()))
    behind = {name: _where(models, corpus, "model", fault=name) for name in DIAGNOSES}
    return [*boards(home, corpus), *home.show(exhibits.FAULTS, corpus, models, behind=behind)]


def ranks(home: Home, corpus: str) -> list[Display]:
    """Ranks of the systems by each measure."""
    rows = exhibits.RANKS.frame(home.warehouse, corpus)
    overall = exhibits.RANKS.brief(rows)
    headings = {name: catalogue.label(name) for name in measures(rows) if name != MEAN_RANK}
    table = [
        *columns(overall, "metric_rank", *exhibits.RANKS.columns.split()),
        column(overall, "metric_rank", "value", heading=catalogue.label(MEAN_RANK)),
        *spread(overall, rows, ["kind", "system"], "metric_rank", "measure", "rank", headings),
    ]
    words = f"{exhibits.RANKS.words}{_unranked(home, corpus, overall)}"
    return home.show(exhibits.RANKS, corpus, overall, table=table, words=words)


def _unranked(home: Home, corpus: str, ranked: pl.DataFrame) -> str:
    """Which models of a corpus have no rank, and why: a sentence, or '' if all have one."""
    rows = home.read("leaderboard", corpus).filter(kind="model").join(ranked, on=["kind", "system"], how="anti")
    setting = scoring(home.warehouse).get(corpus, Scoring())
    least = 1.0 if setting.missing == "omit" else setting.coverage
    reasons = [
        f"{name} ({f'usable outputs for {share:.0%} of the passages' if share < least else 'no value to rank'})"
        for name, share in rows.sort("system").select("system", pl.col("coverage").fill_null(1.0)).iter_rows()
    ]
    return f" Without a rank, which takes {least:.0%} of the passages: {', '.join(reasons)}." if reasons else ""


def boards(home: Home, corpus: str) -> list[Display]:
    """Models, with clusters of those that do not differ significantly in what orders them; translators; origins.

    Rows that are not comparable are in displays of their own.
    """
    board = in_order(leaderboard.read(home.warehouse, keys=pl.DataFrame({"corpus": [corpus]})))
    clusters = home.read("metric_rank", corpus).select("kind", "system", "cluster", ordered_by="measure")
    board = board.join(clusters, on=["kind", "system", "ordered_by"], how="left", maintain_order="left")
    board = board.with_columns(system=marked(), model=pl.col("system"))
    models = board.filter(pl.col("origin").is_not_null())
    shown = [_group(home, corpus, rows, heading) for heading, rows in groups(board).items()]
    return [display for part in (*shown, home.show(exhibits.ORIGINS, corpus, models)) for display in part]


def published_boards(home: Home, corpus: str) -> list[Display]:
    """Published scores of systems, which are not comparable with the leaderboard. Each basis has a display."""
    shown = []
    copies = leaderboard.known(home.warehouse, pl.DataFrame({"corpus": [corpus]}))
    for heading, rows in published(home.read("published_summary", corpus)).items():
        systems = exhibits.published_systems(rows, copies)
        headings = {each.name: catalogue.label(each.name) for each in MEASURES if each.name in set(rows["measure"])}
        table = [
            *columns(systems, "published_summary", "system", "passages"),
            *spread(systems, rows, ["system"], "published_summary", "measure", "value", headings),
            *of_frame(systems.select("copies") if "copies" in systems.columns else pl.DataFrame()),
        ]
        title = "Means of published scores" if rows["basis"][0] == "passages" else "Published scores"
        shown.append(home.display(corpus, title, f"{heading}.", table, [], None, "published_summary"))
    return shown


def _group(home: Home, corpus: str, board: pl.DataFrame, heading: str) -> list[Display]:
    """A group of rows of the leaderboard under its heading (see `leaderboard.groups`)."""
    behind = _where(board.with_columns(model=pl.when(kind="model").then("model")), corpus, "model", closest=ANY)
    table = [
        *columns(board, "leaderboard", "rank", "system", "kind"), column(board, "metric_rank", "cluster"),
        *columns(board, "leaderboard", *COVERAGE, *headline(board),
                 behind=dict.fromkeys(["passages", *headline(board)], behind)),
        *of_frame(board.select("copies") if board["copies"].count() else pl.DataFrame()),
    ]  # fmt: skip
    values = Ranges(" ".join(headline(board, "chart")), named("system", "kind"), "kind")
    words = f"{heading} {exhibits.BOARD.words}"
    if board["cluster"].count():
        words += " Models in the same cluster do not differ significantly in what orders them (5 % level)."
    title = "Translators" if board["kind"][0] == "human" else "Leaderboard, kept apart" if board["apart"][0] else ""
    declared = exhibits.BOARD._replace(chart=values)
    if board["kind"][0] == "human":
        declared = declared._replace(question="How far are the translators from each other?")
    elif RATE in headline(board):
        declared = declared._replace(
            question="How often are the models wrong, and how near are they to the translators?"
        )
    return home.show(declared, corpus, board, title=title, words=words, table=table)


def of_drift(home: Home, corpus: str) -> list[Display]:
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
    behind = {"outputs": _where(systems, corpus, "model", band=ANY)}
    table = columns(systems, "drift_score", "system", "kind", "outputs", behind=behind)
    table += [column(systems.select(drift=name), "drift_score", "drift", heading=name) for name in QUANTILES]
    for at, band in enumerate(band_names(edges)):
        counts = banded.filter(band=at).group_by("kind", "system").agg(outputs=pl.len())
        counts = systems.drop("outputs").join(counts, on=["kind", "system"], how="left", maintain_order="left")
        counts = counts.with_columns(pl.col("outputs").fill_null(0))
        links = _where(counts, corpus, "model", band=band)
        table.append(column(counts, "drift_score", "outputs", links, heading=f"drift {band}"))
    most = max(edges) * BEYOND
    chart = charts.distribution(
        _histogram(scores, systems, most), edges, most, "drift, in units of the references' spread"
    )
    methods = [f"embedder: {embedder}; {DRIFT}" for embedder in scores["embedder"].unique().sort()]
    return home.show(exhibits.DRIFT, corpus, scores, table=table, chart=chart, signatures=methods)


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


def severity(home: Home, corpus: str) -> list[Display]:
    """Error rates by band of drift and by model: from the panel's verdicts, and from people's labels of a sample."""
    rows = home.rows(audit.OUTCOMES, corpus)
    settings = audits(home.warehouse)[corpus] if len(rows) else Audit()
    bands = {band: at for at, band in enumerate([*band_names(settings.bands, settings.by), BAND])}
    shown = []
    for title, by, other in (
        (f"Errors by band of {settings.by}", "band", "model"),
        ("Errors by model", "model", "band"),
    ):
        group = rows.filter(pl.col(by) != "", pl.col(other) == "")
        place = pl.col("band").replace_strict(bands, default=len(bands), return_dtype=pl.Int32)
        group = group.sort("raters", place if by == "band" else "any_rate", by)
        behind = {
            "outputs": _where(group, corpus, by, **({"band": ANY} if by == "model" else {})),
            "judged": _where(group, corpus, by, label=ANY, raters=_by_people()),
            **{name: _where(group, corpus, by, label=each, raters=_by_people()) for name, each in LABELS.items()},
        }
        table = columns(group, "audit_outcome", by, *audit.OUTCOMES.columns.split(), behind=behind)
        order = list(bands) if by == "band" else group[by].unique(maintain_order=True).to_list()
        chart = charts.shares(_stacked(group, by), order, "share of the judged outputs") if len(group) else None
        shown += home.show(audit.OUTCOMES, corpus, group, title=title, table=table, chart=chart)
    return shown


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


def error_estimates(home: Home, corpus: str) -> list[Display]:
    """For each model, estimated error rates over all its outputs."""
    rows = home.rows(audit.ESTIMATES, corpus)
    behind = {
        "outputs": _where(rows, corpus, "model", band=ANY),
        "labelled": _where(rows, corpus, "model", label=ANY, raters=PEOPLE),
    }
    least = float(rows["covered"].min() or 0)  # type: ignore[arg-type]
    extent = "all outputs" if least == 1 else f"at least {100 * least:.1f} % of each model's outputs"
    words = (
        "Error rates, estimated from a sample that people labeled. The sample was drawn separately for each model and "
        f"band of drift. The estimates cover the models and bands with labeled outputs, that is, {extent}."
    )
    return home.show(audit.ESTIMATES, corpus, rows, words=words, behind=behind)


def categories(home: Home, corpus: str) -> list[Display]:
    """Number of errors by category, as found by the panel and by people."""
    rows = home.rows(audit.CATEGORIES, corpus)
    behind = {
        name: _where(rows, corpus, category=pl.col("error_category"), label=LABELS[name], raters=_by_people())
        for name in ("minor", "major")
    }
    rows = rows.with_columns(pl.col("error_category").replace(WORDS))
    plot_rows = pl.concat([
        rows.select(
            row=pl.format("{}: {}", "raters", "error_category"), kind=pl.lit(name), value=name,
            words=pl.col(name).cast(pl.String),
        ) for name in behind
    ])  # fmt: skip
    chart = charts.amounts(plot_rows, "errors", {name: charts.LEVELS[name] for name in behind})
    return home.show(audit.CATEGORIES, corpus, rows, chart=chart, behind=behind)


def closest(home: Home, corpus: str) -> list[Display]:
    """Share of passages in which each translator's reference is the closest to a system's output."""
    rows, keys = home.rows(exhibits.CLOSEST, corpus), ["kind", "system"]
    systems = rows.group_by(keys, maintain_order=True).agg(pl.col("passages").max())
    systems = systems.with_columns(model=pl.when(kind="model").then("system"))
    behind = {"passages": _where(systems, corpus, "model", closest=ANY)}
    table = columns(systems, "closest_share", *exhibits.CLOSEST.columns.split(), behind=behind)
    translators = sorted(rows["translator"].unique())
    for translator in translators:
        shares = systems.join(rows.filter(translator=translator), on=keys, how="left", maintain_order="left")
        where = _where(shares, corpus, "model", closest=translator)
        table.append(column(shares, "closest_share", "share", where, heading=f"{translator} %"))
    plot_rows = plotted(rows, "closest_share", "share", named("system", "kind"), "translator")
    chart = charts.dodged(plot_rows, "% of passages", translators, domain=[0, 100])
    return home.show(exhibits.CLOSEST, corpus, rows, table=table, chart=chart)


def concordance(home: Home, corpus: str) -> list[Display]:
    """Concordance of the measures: how similarly they rank the models."""
    every = exhibits.CONCORDANCE.frame(home.warehouse, corpus)
    pairs = exhibits.CONCORDANCE.brief(every)
    together, words = every.filter(pl.col("value").is_not_null(), statistic="W"), exhibits.CONCORDANCE.words
    if len(together):
        value, models = together.select(cells("metric_concordance", "value", "models")).row(0)
        words += f" Kendall's W of all measures: {value}, over {models} models."
    table = [
        *columns(pairs, "metric_concordance", *exhibits.CONCORDANCE.columns.split()),
        column(pairs, "metric_concordance", "value", heading="Kendall's τ-b"),
    ]
    return home.show(exhibits.CONCORDANCE, corpus, pairs, words=words, table=table, signatures=every)


def confidence(home: Home, corpus: str) -> list[Display]:
    """Agreement of the judges with people, by the confidence that they stated."""
    levels = CONFIDENCES[::-1]
    rows = home.rows(audit.RELIABILITY, corpus).sort("judge", pl.col("confidence").cast(pl.Enum(levels)))
    agreements = plotted(rows, "judge_reliability", "agreement", "judge", "confidence")
    unit = "% of verdicts that agree with people"
    chart = charts.dodged(agreements, unit, levels, domain=[0, 100])
    return home.show(audit.RELIABILITY, corpus, rows, chart=chart)


def metric_agreement(home: Home, corpus: str) -> list[Display]:
    """Several statistics of each metric's agreement with people's labels."""
    rows = home.rows(audit.METRICS, corpus)
    metrics = rows.group_by("metric").agg(pl.col("outputs").max(), best=pl.col("value").mean())
    metrics = metrics.sort("best", "metric", descending=[True, False])
    statistic = pl.concat_list("statistic", "grouping").list.join(" ")
    rows = rows.with_columns(of=statistic)
    headings = {" ".join(names): heading for names, (heading, _) in AGREEMENTS.items()}
    table = [
        *columns(metrics, "metric_agreement", "metric", "outputs"),
        *spread(metrics, rows, ["metric"], "metric_agreement", "of", "value", headings),
    ]
    shown = {headings[" ".join(names)] for names, (_, in_chart) in AGREEMENTS.items() if in_chart}
    panels = rows.with_columns(pl.col("of").replace(headings)).filter(pl.col("of").is_in(shown))
    places = {heading: at for at, heading in enumerate(headings.values())}
    order = metrics.with_row_index("best_first").select("metric", "best_first")
    panels = panels.join(order, on="metric").sort(pl.col("of").replace_strict(places, default=None), "best_first")
    values = Ranges("value", "metric", pl.lit("metric"), pl.col("of"), "agreement")
    chart = drawn(audit.METRICS._replace(chart=values), panels)
    return home.show(audit.METRICS, corpus, rows, table=table, chart=chart)


def literary_scores(home: Home, corpus: str) -> list[Display]:
    """Scores of models by aspect, from comparisons of their outputs with the human translations."""
    rows = home.rows(literary.SCORES, corpus)
    best = rows.filter(aspect="").select("model", best="score")
    rows = rows.join(best, on="model", how="left").sort(
        "aspect", "best", "model", descending=[False, True, False], nulls_last=True
    )
    overall = rows.with_columns(model=pl.when(aspect="").then("model"))  # the reader has only the ensemble's verdicts
    verdicts = {each: _where(overall, corpus, "model", verdict=each) for each in ("machine", "unsure", "human")}
    behind = {"chunks": _where(overall, corpus, "model", verdict=ANY), **verdicts}
    return home.show(literary.SCORES, corpus, rows, behind=behind)


def strengths(home: Home, base_sets: pl.DataFrame | None = None) -> list[Display]:
    """Scores (LT of JP-TL-Bench) of models and anchors by slice, against all base sets or those given (`base_set`).

    One display for each base set and contract, since scores under different contracts are not comparable.
    """
    models, anchors = (home.warehouse.read(table, base_sets) for table in ("pairwise_score", "anchor_score"))
    shared = ["base_set", "slice", "items", "matches", "wins", "ties", "excluded", "win_rate", "win_rate_low",
              "win_rate_high", "problem", "contract", "signature"]  # fmt: skip
    scores = pl.concat([
        models.select(
            *shared, *(f"{name}{end}" for name in ("first_rate", "lt", "lt_fixed", "lt_controlled",
                                                   "lt_fixed_controlled", "lt_corrected", "reliability", "en",
                                                   "length_coefficient") for end in ENDS),
            "length_problem", "correction_problem", "judge_standing", "missing_share", "lt_fixed_least",
            "lt_fixed_most", kind=pl.lit("model"), system="model",
        ),
        anchors.select(
            *shared, "length_problem", "correction_problem", *(f"lt_corrected{end}" for end in ENDS),
            kind=pl.lit("anchor"), system="anchor",
            **{f"lt_fixed{name}{end}": f"lt{name}{end}" for name in ("", "_controlled") for end in ENDS},
        ),
    ], how="diagonal")  # fmt: skip
    groups = scores.select("base_set", "contract").unique().sort("base_set", "contract")
    several = groups.filter(pl.col("base_set").is_duplicated())["base_set"].to_list()
    shown = []
    for number, (base_set, contract) in enumerate(groups.iter_rows(), start=1):
        rows = scores.filter(base_set=base_set, contract=contract)
        overall = rows.filter(slice="overall").select("kind", "system", best="lt_fixed")
        rows = rows.join(overall, on=["kind", "system"], how="left").with_columns(first=pl.col("slice") != "overall")
        rows = rows.sort("first", "slice", "best", "system", descending=[False, False, True, False], nulls_last=True)
        title = f"LT against {base_set}" + (f", contract {number} of {len(groups)}" if base_set in several else "")
        words = f"{STRENGTHS.words} {_problems(rows)}"
        shown += home.show(STRENGTHS, "", STRENGTHS.rows(rows), title=title, words=words)
    return shown


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


def of_understanding(home: Home, tasks: Sequence[str] = ()) -> list[Display]:
    """Mean scores over the tasks of each benchmark and language, scores by task, and comparisons of models.

    With `tasks`, only the benchmarks and languages of these tasks are included.
    """
    rows, pairs = (home.rows(exhibit) for exhibit in (understanding.MEANS, understanding.DIFFERENCES))
    if tasks:
        scopes = rows.filter(pl.col("task").is_in(tasks)).select("benchmark", "language").unique()
        rows, pairs = (frame.join(scopes, on=scopes.columns, how="semi") for frame in (rows, pairs))
    rows = rows.with_columns(limited_name(), benchmark=_scope())
    means = rows.filter(task="").sort("benchmark", "score", "system", descending=[False, True, False], nulls_last=True)
    shown = home.show(understanding.MEANS, "", means) if means["score"].count() else []
    of_tasks = rows.filter(pl.col("task") != "").sort("benchmark")
    for (scope,), group in of_tasks.group_by(["benchmark"], maintain_order=True):
        keys = ["kind", "system"]
        systems = group.group_by(keys).agg(pl.col("score").mean()).sort("score", "system", descending=[True, False])
        headings = {task: task for task in sorted(group["task"].unique())}
        table = [
            *columns(systems, "understanding_board", "system", "kind"),
            *spread(systems, group, keys, "understanding_board", "task", "score", headings),
        ]
        trained = group.drop_nulls("near").sort("task", "score", descending=[False, True])
        shown += home.show(understanding.OF_TASKS, "", group, title=f"Tasks of {scope}", table=table)
        shown += home.show(understanding.TRAINED_ON, "", trained, title=f"Trained on {scope}")
    pairs = pairs.with_columns(benchmark=_scope()).sort("benchmark", "difference", descending=[False, True])
    return [*shown, *home.show(understanding.DIFFERENCES, "", pairs)]


def costs(home: Home) -> list[Display]:
    """Costs of the calls of models, by model and purpose."""
    calls = home.warehouse.read("model_call")
    if calls.is_empty():
        return []
    rows = summed(calls, "model", "purpose").sort("paid", "model", "purpose", descending=[True, False, False],
                                                  nulls_last=True)  # fmt: skip
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
    return home.show(COSTS, "", rows, words=words, chart=chart, signatures=[COST_RULE])


def costs_and_scores(home: Home, corpus: str) -> list[Display]:
    """What the models cost beside how they score."""
    board = home.read("leaderboard", corpus).filter(kind="model", apart="")
    name = frontier.measure(board)
    rows = frontier.frontier(board.join(frontier.paid(home.warehouse, corpus), on="system"), name)
    points = plotted(rows, "leaderboard", name, "system", pl.lit("model")).with_columns(x=rows["dollars"])
    points = points.filter(pl.col("x") > 0)
    unit = catalogue.column("leaderboard", name).heading
    chart = charts.scatter(points, frontier.AXIS, unit) if len(points) > 1 else None
    table = [
        *columns(rows, "leaderboard", "system"), numbers(frontier.AXIS, rows["dollars"], "{:.4f}"),
        column(rows, "leaderboard", name), *of_frame(rows.select(pl.col("beaten").alias("beaten by"))),
    ]  # fmt: skip
    return home.show(exhibits.FRONTIER, corpus, rows, table=table, chart=chart, signatures=[COST_RULE])


def families(home: Home, corpus: str) -> list[Display]:
    """Systems that ask the same model, and the spread of their values."""
    board = home.read("leaderboard", corpus).filter(kind="model", apart="")
    name = frontier.measure(board)
    groups = frontier.families(home.warehouse, corpus, board, name)
    label = catalogue.label(name)
    spreads = [numbers(f"{label}, {each}", groups[each], "{:.4f}") for each in ("lowest", "mean", "highest", "sd")]
    words = groups.select(pl.col("asked").alias("model"), pl.col("systems").list.join(", "))
    return home.show(exhibits.FAMILIES, corpus, groups, table=[*of_frame(words), *spreads], signatures=[])


def words_found(home: Home, corpus: str) -> list[Display]:
    """Share of the references' words that outputs have, by kind and model."""
    models = home.read("leaderboard", corpus).filter(kind="model")["system"].sort()
    rows = contrast.found(home.warehouse, corpus, models.to_list()) if len(models) else pl.DataFrame()
    if rows.is_empty():
        return []
    percent = rows.with_columns(pl.col("share", "low", "high") * 100)
    points = percent.with_columns(panel="kind", row="model", kind=pl.lit("model"))
    words = Ranges("share", unit="% of the words", width=250)
    chart = charts.ranges(points.rename({"share": "value"}), words)
    of_models = percent.pivot("kind", index="model", values=["share", "low", "high"])
    kinds = [kind for kind in contrast.KINDS if f"share_{kind}" in of_models.columns]
    ends = {kind: of_models.select(f"low_{kind}", f"high_{kind}") for kind in kinds}
    table = [numbers(f"{kind}, %", of_models[f"share_{kind}"], "{:.1f}", ends[kind]) for kind in kinds]
    table = [*of_frame(of_models.select("model")), *table]
    return home.show(exhibits.WORDS, corpus, rows, table=table, chart=chart, signatures=[contrast.SIGNED])


def human_range(home: Home, corpus: str) -> list[Display]:
    """Verdict on each model, and differences between each model and each translator."""
    differences = home.rows(exhibits.FROM_TRANSLATORS, corpus)
    chart = drawn(exhibits.FROM_TRANSLATORS, differences)
    return [
        *home.show(exhibits.RANGE, corpus, chart=chart),
        *home._replace(every_chart=False).show(exhibits.FROM_TRANSLATORS, corpus, differences),
    ]


def slices(home: Home, corpus: str) -> list[Display]:
    """Scores of the systems by slice of the corpus."""
    rows = leaderboard.read(home.warehouse, "slice_summary", pl.DataFrame({"corpus": [corpus]}))
    rows = rows.filter(pl.col("passages") > 0).with_columns(system=named("system", "kind"))
    rows = rows.sort("dimension", "least", "slice", "kind", "system", descending=[False, False, False, True, False])
    names = ("dimension", "slice", "system", "passages", *headline(rows, "chart"))
    return home.show(exhibits.SLICES, corpus, rows, table=columns(rows, "slice_summary", *names))


def sensitivity(home: Home, corpus: str) -> list[Display]:
    """Detection of damaged translations by each metric."""
    rows, keys = home.rows(SENSITIVITY, corpus), ["kind", "severity"]
    groups = rows.group_by(keys, maintain_order=True).agg(pl.col("texts").max())
    level = pl.when(severity=0).then(pl.lit(ALL)).otherwise(pl.col("severity").cast(pl.String))
    headings = {metric: catalogue.label(metric) for metric in rows["metric"].unique().sort()}
    table = [
        *columns(groups.with_columns(severity=level), "sensitivity", *keys, "texts"),
        *spread(groups, rows, keys, "sensitivity", "metric", "auc", headings),
    ]
    return home.show(SENSITIVITY, corpus, rows, table=table)


def span_rates(home: Home, corpus: str) -> list[Display]:
    """Errors per output by category and severity."""
    rows, keys = home.rows(error_spans.RATES, corpus), ["judge", "model", "category"]
    kinds = rows.group_by(keys).agg(pl.col("rate").sum()).sort(
        "judge", "model", "rate", descending=[False, False, True]
    )  # fmt: skip
    headings = {severity: f"{severity} errors per output" for severity in WEIGHTS}
    table = [*columns(kinds, "span_rate", *keys), *spread(kinds, rows, keys, "span_rate", "severity", "rate", headings)]
    return home.show(error_spans.RATES, corpus, rows, table=table)


def published_numbers(home: Home) -> list[Display]:
    """For each benchmark, the numbers of its paper that were recomputed, those that follow from its own counts, and how
    many have which outcome."""
    shown: list[Display] = []
    for (benchmark,), rows in home.warehouse.read("reproduction").group_by(["benchmark"], maintain_order=True):
        counts = [f"{count} {name}" for name in OUTCOMES if (count := rows["outcome"].to_list().count(name))]
        words = f"Numbers that the paper prints: {', '.join(counts)}."
        title, rule = f"Numbers of {benchmark}", [benchmarks.RULE]
        shown += home.show(
            benchmarks.NUMBERS, "", benchmarks.recomputed(rows), title=title, words=words, signatures=rule
        )
        words, title = (
            "Not recomputed: these follow from counts that the paper prints itself.",
            f"{title}, from its counts",
        )
        shown += home.show(
            benchmarks.NUMBERS, "", benchmarks.from_counts(rows), title=title, words=words, signatures=rule
        )
    return shown


OF_CORPUS: list[Exhibit | Callable[[Home, str], list[Display]]] = [
    of_leaderboard, CERTIFICATES, exhibits.REFERENCES, exhibits.WITHOUT, KNOWN, KINSHIP, MEMORY, ranks,
    published_boards, human_range, exhibits.OUTDATED, of_drift, exhibits.OUTLIER_THRESHOLDS, exhibits.OUTLIERS,
    exhibits.UNMEASURED, closest, concordance, severity, error_estimates, categories, audit.CALIBRATION, confidence,
    metric_agreement,
    audit.TESTS, literary_scores, exhibits.DIFFERENCES, slices, words_found, costs_and_scores, families,
    exhibits.AGREEMENT, sensitivity, audit.ANCHORED, audit.RECALL, MARKS, error_spans.SPANS, span_rates, SIGNS,
    literary.SEATS, literary.BY_PEOPLE, literary.GLOSSARY,
]  # fmt: skip
OF_NONE: dict[str, Callable[[Home], list[Display]]] = {
    "Judges": lambda home: home.show(REPORTS), "Base sets": strengths,
    "Preferences of people": lambda home: home.show(literary.WIN_RATES), "Understanding": of_understanding,
    "Published numbers": published_numbers, "Costs": costs,
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


def _of(rows: pl.DataFrame, corpus: str) -> pl.DataFrame:
    """Rows about the passages of a corpus."""
    return rows.filter(rows.select(CORPUS)["corpus"] == corpus)


def _scope() -> pl.Expr:
    """Heading of a group of tasks: benchmark (if it has one) and language."""
    return pl.when(pl.col("benchmark") == "").then("language").otherwise(pl.format("{}, {}", "benchmark", "language"))
