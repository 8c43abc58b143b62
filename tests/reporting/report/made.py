"""A warehouse of made rows: as many models and passages as a test wants, in every table that the report reads."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, MAJOR
from benchmark_assets.adjudication.triage import band_names
from benchmark_assets.metrics.entries import MEAN_RANK
from benchmark_assets.reporting.report import ASSETS
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Replacement, Warehouse

CORPUS = "made"
TRANSLATORS = ["ann", "ben", "cleo"]
JUDGES = ["brisk", "exacting", "lenient", "panel", "panel without brisk"]
BANDS = band_names((1.0, 1.5, 2.0, 3.0))
MEASURES = ["sim_best", "chrf", "bleu", "comet_avg", "length_offset", "outlier_rate"]
SLICES = ["overall", "easy", "hard", "la-en"]
SECRET = "MARKER-of-a-restricted-text"
SIGNATURE = "95 % intervals: made up"

TERMS = "Texts may be passed on under the same licence."
NEED = {"what": "a fourth translation", "why": "nobody may copy it", "how": "Buy the book."}

Row = Mapping[str, object]


def put(warehouse: Warehouse, table: str, rows: Sequence[Row] | pl.DataFrame) -> None:
    """Rows with the named columns only; by default names are '', numbers lie within their interval."""
    schema = {k: v for k, v in warehouse.empty(table).schema.items() if k not in ("run_id", "updated_at")}
    frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(list(rows), infer_schema_length=None)
    random = np.random.default_rng(len(table))
    added: dict[str, pl.Series] = {}
    for name, kind in schema.items():
        if name in frame.columns:
            continue
        stem, _, end = name.rpartition("_")
        if name == "signature":
            added[name] = pl.Series([SIGNATURE] * len(frame))
        elif kind == pl.Float64 and end in ("low", "high") and stem in (added | dict.fromkeys(frame.columns)):
            value = added[stem] if stem in added else frame[stem]
            added[name] = value * (0.9 if end == "low" else 1.1)
        elif kind == pl.Float64:
            added[name] = pl.Series(random.uniform(0.1, 0.9, len(frame)))
        elif name in ("evaluated", "available"):
            added[name] = pl.Series([40] * len(frame))
        elif kind.is_integer():
            added[name] = pl.Series(random.integers(1, 40, len(frame)))
        elif kind == pl.Boolean:
            added[name] = pl.Series([False] * len(frame))
        elif kind == pl.String:
            added[name] = pl.Series([""] * len(frame))
        elif isinstance(kind, pl.List):
            added[name] = pl.Series([[]] * len(frame), dtype=kind)
        else:
            added[name] = pl.Series([None] * len(frame), dtype=kind)
    full = frame.with_columns(**added).select(pl.col(name).cast(kind) for name, kind in schema.items())
    warehouse.write([Replacement(table, full, None)], run_id="made")


def benchmark(
    warehouse: Warehouse, folder: Path, corpora: Sequence[str] = (CORPUS,), tasks: Sequence[str] = ("SMDS",)
) -> None:
    """Two versions of a benchmark, by default of the made corpus and a task, with published outputs of alpha."""
    source = {"repository": "people/texts", "commit": "c0ffee" + "0" * 34, "licence": "CC0-1.0", "terms": TERMS}
    recipe = {
        "name": "small", "version": 2, "title": "A small benchmark", "needs": [NEED],
        "paper": {"citation": "Mori, Small Benchmarks"},
        "sources": {
            "texts": {**source, "files": "texts.sha256"}, "more": {**source, "files": "m.sha256", "required": False},
        },
    }  # fmt: skip
    folder.mkdir()
    (folder / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    parts = {"corpora": [*corpora], "tasks": [*tasks], "recipe": folder.name, "home": str(warehouse.folder)}
    row = {**parts, "benchmark": "small", "version": 2, "recipe_hash": "fedcba98", "left_out": '{"more": "is missing"}'}
    put(warehouse, "benchmark", [{**row, "version": 1, "corpora": ["older"], "tasks": []}, row])
    put(warehouse, "licence", [{"corpus": CORPUS, "translator": each, "licence": "CC0-1.0"} for each in TRANSLATORS])
    text = {"text": SECRET, "segments": [SECRET], "segment_ids": ["1"]}
    put(warehouse, "source_text", [{"passage": f"{CORPUS}/p0:1", "corpus": CORPUS, **text}])
    summary = {"benchmark": "small", "corpus": CORPUS, "basis": "passages", "embedder": "theirs"}
    scores = [("alpha", "sim_best", 0.8), ("alpha", "chrf", 60.0), ("gamma", "sim_best", 0.9)]
    names = ("system", "measure", "value")
    put(warehouse, "published_summary", [{**summary, **dict(zip(names, each, strict=True))} for each in scores])
    put(warehouse, "published_base_set", [{"benchmark": "small", "base_set": "anchors@1.0.0"}])
    numbers = {"benchmark": "small", "paper_table": "4", "row": "r", "published": "0.5"}
    outcomes = ["recomputed and equal", "follows from printed counts", "needs outputs"]
    put(warehouse, "reproduction", [{**numbers, "column": each, "outcome": each} for each in outcomes])
    board = warehouse.read("leaderboard").drop("run_id", "updated_at")
    published = pl.when(pl.col("system") == "alpha").then(pl.lit("published")).otherwise("origin")
    late = pl.when(pl.col("system") == "beta").then(pl.lit("prompt translate v3 instead of small's"))
    put(warehouse, "leaderboard", board.with_columns(origin=published, apart=late.otherwise("apart")))


def made(folder: Path, models: Sequence[str], passages: int, problem: str = "") -> Warehouse:
    """A warehouse in a folder that is filled (`fill`): once in each process, and then copied."""
    path = folder / "variorum.duckdb"
    path.write_bytes(_filled(tuple(models), passages, problem))
    return DuckDBWarehouse(path=str(path))


@cache
def _filled(models: Sequence[str], passages: int, problem: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "variorum.duckdb"
        fill(DuckDBWarehouse(path=str(path)), models, passages, problem)
        return path.read_bytes()


def fill(
    warehouse: Warehouse, models: Sequence[str], passages: int, problem: str = "", without: Sequence[str] = ()
) -> None:
    """Write rows of one corpus with models, translators, judges, a base set, tasks and calls.

    `without` names assets that were never made.
    """
    with warehouse.kept_open():
        _details(warehouse, models)
        keys = [f"{CORPUS}/p{at}:1" for at in range(passages)]
        systems = [*(("model", each) for each in models), *(("human", each) for each in TRANSLATORS)]
        corpus = {"corpus": CORPUS}
        named = [{**corpus, "kind": kind, "system": system} for kind, system in systems]
        put(warehouse, "corpus", [{**corpus, "audit": "{}"}])
        systems_in_order = [{**row, "rank": at, "passages": passages} for at, row in enumerate(named, start=1)]
        put(warehouse, "leaderboard", [{**row, "origin": None} for row in systems_in_order])
        put(warehouse, "metric_rank", [
            {**row, "measure": each, "cluster": 1 if row["kind"] == "model" else None}
            for row, each in product(named, [*MEASURES, MEAN_RANK])
        ])  # fmt: skip
        put(warehouse, "metric_concordance", [
            {**corpus, "statistic": "tau_b", "measure": one, "other": other}
            for at, one in enumerate(MEASURES) for other in MEASURES[:at]
        ])  # fmt: skip
        shares = [{**row, "translator": each} for row, each in product(named, TRANSLATORS) if each != row["system"]]
        put(warehouse, "closest_share", shares)
        random = np.random.default_rng(1)
        grid = pl.DataFrame({"model": models}).join(pl.DataFrame({"passage": keys}), how="cross")
        drifts = grid.with_columns(pl.Series("drift", random.gamma(3, 0.5, len(grid))))
        put(warehouse, "drift_score", drifts.with_columns(embedder=pl.lit("an embedder")))
        put(warehouse, "triage", drifts)
        read = pl.DataFrame({"passage": keys}).with_columns(corpus=pl.lit(CORPUS), document="passage", selected=True)
        put(warehouse, "source_text", read)
        put(warehouse, "selection", read)
        faulty = grid.filter(pl.col("passage").is_in(keys[:2])).with_columns(
            truncated=pl.col("passage").is_in(keys[1:2])
        )
        put(warehouse, "output_diagnostic", faulty)
        wrong = grid.filter(pl.col("passage").is_in(keys[:1])).with_columns(
            label=pl.lit(MAJOR), error_category=pl.lit(CATEGORIES[0])
        )
        put(warehouse, "verdict", wrong)
        people = pl.DataFrame({"translator": TRANSLATORS}).join(pl.DataFrame({"passage": keys}), how="cross")
        put(warehouse, "human_baseline", people.with_columns(pl.Series("drift", random.gamma(4, 0.5, len(people)))))
        raters = ("panel", "people")
        groups = [("", ""), *((each, "") for each in models), *(("", each) for each in BANDS)]
        put(warehouse, "audit_outcome", [
            {**corpus, "raters": each, "model": model, "band": band} for each, (model, band) in product(raters, groups)
        ])  # fmt: skip
        categories = [{**corpus, "raters": each, "error_category": letter} for each, letter in product(raters, "ABCDE")]
        put(warehouse, "error_category", categories)
        put(warehouse, "error_estimate", [{**corpus, "model": each, "region": "all"} for each in ("", *models)])
        put(warehouse, "judge_calibration", [{**corpus, "judge": each} for each in JUDGES])
        agreed = [("acc_eq", "passage"), ("pearson", "pooled"), ("soft_pairwise_accuracy", "means")]
        put(warehouse, "metric_agreement", [
            {**corpus, "metric": metric, "statistic": statistic, "grouping": grouping}
            for metric in ("drift", "chrf") for statistic, grouping in agreed
        ])  # fmt: skip
        tested = {**corpus, "grouping": "pooled", "metric": "drift", "other": "chrf"}
        put(warehouse, "metric_comparison", [{**tested, "statistic": "pearson"}])
        sure = product(JUDGES, ("high", "medium", "low"))
        put(warehouse, "judge_reliability", [{**corpus, "judge": judge, "confidence": each} for judge, each in sure])
        base = {"base_set": "anchors@1.0.0"}
        scored: list[dict[str, object]] = [
            {**base, "model": each, "slice": part, "problem": None} for each in models for part in SLICES
        ]
        scored[0]["problem"] = problem or None
        put(warehouse, "pairwise_score", scored)
        anchored = [{**base, "anchor": f"a{at}", "slice": part, "problem": None} for at in range(5) for part in SLICES]
        put(warehouse, "anchor_score", anchored)
        aspects = product(models, ("", "style", "accuracy"))
        put(warehouse, "literary_score", [
            {**corpus, "model": name, "aspect": each, "score": 45.0, "interval_of": "chunks"} for name, each in aspects
        ])  # fmt: skip
        put(warehouse, "aspect_vote", [
            {"model": m, "passage": keys[0], "judge": each, "aspect": "style", "shown": shown, "better": "human"}
            for m, shown, each in product(models, ("A", "B"), JUDGES[:3])
        ])  # fmt: skip
        put(warehouse, "understanding_board", [
            {"system": s, "kind": "model", "benchmark": "b", "language": lang, "task": task, "score": 60.0}
            for s, lang, task in product(models, ("sa", "bo"), ("", "SMDS", "RCMS"))
        ])  # fmt: skip
        attempts = [
            {"attempt": at, "model": model, "purpose": purpose, "outcome": "answered", "cost": 0.25, "detail": SECRET,
             "asked": None, "fingerprint": "f"}
            for at, (model, purpose) in enumerate(product(models, ("translate", "judge")))
        ]  # fmt: skip
        put(warehouse, "model_call", pl.DataFrame(attempts).with_columns(asked=pl.datetime(2026, 11, 21)))
        others = [each for each in ASSETS if each not in ("drift_score", *without)]
        states = pl.concat([
            grid.with_columns(asset=pl.lit("drift_score")),
            *(pl.DataFrame({"model": "", "passage": "", "asset": each}) for each in others),
        ])  # fmt: skip
        put(warehouse, "materialization", states.with_columns(version=pl.lit("0123456789abcdef" * 2)))


def _details(warehouse: Warehouse, models: Sequence[str]) -> None:
    """Rows of the aggregates that are shown as tables alone."""
    corpus, pairs = {"corpus": CORPUS}, list(combinations(models, 2))
    compared = {**corpus, "kind": "model", "other_kind": "model"}
    put(warehouse, "system_comparison", [
        {**compared, "measure": each, "system": one, "other": other} for each in MEASURES for one, other in pairs
    ])  # fmt: skip
    put(warehouse, "translator_agreement", [
        {**corpus, "measure": "similarity", "translator": one, "other": other}
        for one, other in [*combinations(TRANSLATORS, 2), (TRANSLATORS[0], "–")]
    ])  # fmt: skip
    systems = [*(("model", each) for each in models), *(("human", each) for each in TRANSLATORS)]
    parts = product(("source_length", "human_spread"), ("first third", "second third", "last third"), systems)
    put(warehouse, "slice_summary", [
        {**corpus, "dimension": by, "slice": part, "kind": kind, "system": system} for by, part, (kind, system) in parts
    ])  # fmt: skip
    put(warehouse, "sensitivity", [
        {**corpus, "metric": metric, "kind": kind, "severity": severity}
        for metric, kind, severity in product(("drift", "chrf"), ("all", "omission"), range(4))
    ])  # fmt: skip
    against = list(product(("sim_best", "drift_adjusted"), models))
    put(warehouse, "human_range", [
        {**corpus, "measure": measure, "model": each, "verdict": "among"} for measure, each in against
    ])  # fmt: skip
    put(warehouse, "human_difference", [
        {**corpus, "measure": measure, "model": each, "translator": other}
        for (measure, each), other in product(against, TRANSLATORS)
    ])  # fmt: skip
    put(warehouse, "reference_examination", [
        {**corpus, "view": "source", "measure": "similarity", "translator": each} for each in TRANSLATORS
    ])  # fmt: skip
    put(warehouse, "without_reference", [
        {**corpus, "measure": "sim_best", "translator": TRANSLATORS[0], "model": each} for each in models
    ])  # fmt: skip
    put(warehouse, "outlier_threshold", [{**corpus, "embedder": "an embedder", "references": 2}])
    put(warehouse, "calibrated_outliers", [{**corpus, "kind": kind, "system": system} for kind, system in systems])
    put(warehouse, "anchored_estimate",
        [{**corpus, "model": each, "region": "all", "level": "any"} for each in ("", *models)])  # fmt: skip
    put(warehouse, "recall_cost", [{**corpus, "ranking": each, "recall": 0.9} for each in ("drift", "combined")])
    put(warehouse, "rubric_summary", [{**corpus, "judge": judge, "model": each} for judge, each in
                                      product(JUDGES[:2], models)])  # fmt: skip
    put(warehouse, "span_summary", [{**corpus, "judge": judge, "model": each} for judge, each in
                                    product(JUDGES[:2], models)])  # fmt: skip
    put(warehouse, "span_rate", [
        {**corpus, "judge": judge, "model": each, "category": category, "severity": severity}
        for judge, each, (category, severity) in product(
            JUDGES[:2], models, [("accuracy/omission", "critical"), ("accuracy/omission", "minor"), ("style", "minor")]
        )
    ])  # fmt: skip
    number = {"benchmark": "b", "paper_table": "4", "row": "r", "published": "0.5"}
    put(warehouse, "reproduction", [
        {**number, "column": "one", "value": 0.7, "difference": 0.2, "outcome": "differs"},
        {**number, "column": "two", "value": None, "difference": None, "outcome": "needs outputs"},
    ])  # fmt: skip
    put(warehouse, "adherence_summary", [{**corpus, "model": each} for each in models])
    put(warehouse, "anchored_score", [{**corpus, "model": each} for each in models])
    put(warehouse, "ensemble_calibration", [{**corpus, "kind": "seat", "judge": each} for each in JUDGES[:3]])
    put(warehouse, "understanding_comparison", [
        {"benchmark": "b", "language": "bo", "model": one, "other": other} for one, other in pairs
    ])  # fmt: skip
