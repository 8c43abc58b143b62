"""Compare two packages of a corpus or of task results: changes in method, texts, passages, models and scores.

Here: reading packages, and the comparison. Not here: the tests (metrics.significance), writing packages (export).
Packages are compared instead of warehouses, because people keep and share packages. A comparison with the numbers of
a paper therefore needs no warehouse, no lock and no restricted texts.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.corpus.units import divided
from benchmark_assets.metrics import significance
from benchmark_assets.metrics.entries import COMET, DRIFT, MEASURES, ranked
from benchmark_assets.metrics.further import by_metric, named_among
from benchmark_assets.metrics.measures import panel
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.reporting.contents import CHECKSUMS
from benchmark_assets.reporting.export import TITLE, recorded
from resources.catalogue import column
from resources.errors import BadInput
from resources.folders import README, title
from resources.tables import cell, cells, computed, plain
from resources.whole_files import sha256

NEEDED = ("scores", "comet_scores", "leaderboard", "passages", "outputs")
TEXTS = ("source.jsonl", "references.jsonl")
SECTION = "## Made from"
NAMED = "segment_metrics"
PARTS: Mapping[str, Callable[[Metric], bool]] = {
    "embedder:": lambda metric: metric.family == DRIFT, "COMET:": lambda metric: metric.family == COMET,
    **dict.fromkeys(["drift:", "outlier:"], lambda metric: metric.proportion),
    "BLEU|": lambda metric: metric.exported == "BLEU", "chrF2++|": lambda metric: metric.exported == "chrF2++",
    **dict.fromkeys(["95 % intervals:", "rates:", "other statistics:", "units:"], lambda _: False),
}  # fmt: skip
"""Whether a metric changes if a part of the signature changes. The keys are the beginnings of the parts. A part that is
not listed changes every measure. Parts about intervals change no measure, since the comparison computes its own
intervals."""

SCORES = pl.Schema({
    "measure": pl.String(), "model": pl.String(), "passages": pl.Int32(), "changed": pl.Int32(),
    "old": pl.Float64(), "new": pl.Float64(),
    "difference": pl.Float64(), "difference_low": pl.Float64(), "difference_high": pl.Float64(),
    "p": pl.Float64(), "p_family": pl.Float64(), "detectable": pl.Float64(), "verdict": pl.String(),
})  # fmt: skip

FURTHER = {
    "pairwise_scores": ("LT", "model", ("base_set", "slice"), "lt", ("contract", "signature")),
    "literary_scores": ("literary score", "model", ("aspect",), "score", ("signature",)),
    "understanding_board": (
        "understanding", "system", ("kind", "benchmark", "language", "task"), "score", ("signature",),
    ),
}  # fmt: skip
"""Scores with intervals, by table of the package. An entry has the displayed name of the score, the column with the
system, the columns that identify the score, the column with the score, and the columns that state the method. Scores
are comparable only if their methods are equal."""

ANOTHER_METHOD = "method differs"
"""Verdict if the method changed: the difference says nothing about the model."""

BESIDE = pl.Schema({
    **dict.fromkeys(["score", "of", "system"], pl.String()),
    **{f"{when}{end}": pl.Float64() for when in ("old", "new") for end in ("", "_low", "_high")},
    "verdict": pl.String(),
})  # fmt: skip


class Package(NamedTuple):
    """The parts of a package that are compared.

    Attributes
    ----------
    tables
        Tables by name.
    provenance
        Versions and settings that the package was made with, one per line.
    texts
        SHA-256 of each text by file ('source' or 'references'), passage id and translator ('' for the source).
    of
        What the package is about: the name of a corpus, or 'understanding and costs'.
    """

    folder: Path
    tables: dict[str, pl.DataFrame]
    provenance: list[str]
    texts: dict[tuple[str, ...], str]
    of: str = ""


class Differences(NamedTuple):
    """Changes from an old package to a new one.

    Attributes
    ----------
    provenance
        Lines of `Package.provenance` that only one package has, each with the prefix '-' (old package) or '+' (new
        package).
    texts, passages, models
        Names by kind of change: 'added', 'removed' or 'changed'. Only texts of passages in both packages are
        included.
    scores
        Columns of `SCORES`: a row for each measure and each model that is in both packages. Only passages with a score
        in both packages count.
        `changed` is the number of passages whose outputs differ. `verdict` is 'better', 'worse', 'equal' (within
        the metric's margin), 'cannot be told' or `ANOTHER_METHOD`. The family of `p_family` are the models.
    further
        Columns of `BESIDE`: judges' scores and task scores, with intervals. `verdict` is 'better' or 'worse' if the
        intervals are disjoint (a conservative test), else 'intervals overlap' or `ANOTHER_METHOD`.
    """

    provenance: list[str]
    texts: dict[str, list[str]]
    passages: dict[str, list[str]]
    models: dict[str, list[str]]
    scores: pl.DataFrame
    further: pl.DataFrame


def read(folder: Path) -> Package:
    """Read a package that `variorum export` wrote.

    Raises
    ------
    BadInput
        If the folder is not a package, lacks a file, or contains a file that was modified.
    """
    readme = folder / README
    if not (folder / CHECKSUMS).is_file() or not title(folder).startswith(TITLE):
        raise BadInput(folder, "", "is not a package", "`variorum export` writes packages")
    written = recorded(folder)
    of_tasks = "parquet/tasks.parquet" in written
    needed, texts = ((), ()) if of_tasks else (NEEDED, TEXTS)
    further = [name for name in (NAMED, *FURTHER) if f"parquet/{name}.parquet" in written]
    for path in (*(f"parquet/{name}.parquet" for name in (*needed, *further)), *texts, README):
        if path not in written:
            raise BadInput(folder, path, "is missing from the package", "export it again")
        if not (folder / path).is_file() or sha256(folder / path) != written[path]:
            raise BadInput(folder, path, "differs from its checksum", "export or copy the package again")
    tables = {name: pl.read_parquet(folder / f"parquet/{name}.parquet") for name in (*needed, *further)}
    _, _, section = readme.read_text(encoding="utf-8").partition(SECTION)
    provenance = [line[2:] for line in section.partition("\n## ")[0].splitlines() if line.startswith("- ")]
    _, _, of = title(folder).partition(": ")
    return Package(folder, tables, provenance, {} if of_tasks else dict(_texts(folder)), of)


def compare(old: Package, new: Package) -> Differences:
    """Changes from the old package to the new one.

    Raises
    ------
    BadInput
        If the packages have different subjects.
    """
    if old.of != new.of:
        problem = f"is a package of {new.of}, but {old.folder} is a package of {old.of}"
        raise BadInput(new.folder, "", problem, "compare two packages of the same corpus")
    provenance = [f"- {line}" for line in old.provenance if line not in new.provenance]
    provenance += [f"+ {line}" for line in new.provenance if line not in old.provenance]
    further = _further(old, new)
    if "scores" not in old.tables:
        systems = _changed_names(old, new, "understanding_board", "system")
        return Differences(provenance, {}, {}, systems, pl.DataFrame(schema=SCORES), further)
    texts = _changed_texts(old, new)
    passages, models = _changed_names(old, new, "passages", "passage_id"), _changed_names(old, new, "scores", "model")
    return Differences(provenance, texts, passages, models, _compared(old, new, bool(texts)), further)


def page(changes: Differences) -> str:
    """Differences as text. Changes in method come first, because they may explain changes in scores."""
    parts = ["Method", *(changes.provenance or ["no recorded difference"]), ""]
    for heading, names_by_change in (
        ("Texts", changes.texts),
        ("Passages", changes.passages),
        ("Models", changes.models),
    ):
        lines = [f"{change}: {_listed(names)}" for change, names in names_by_change.items() if names]
        parts += [heading, *(lines or ["no difference"]), ""]
    if len(changes.further):
        value = column("metric_rank", "value")
        scores = (cell(value.but(name=name)) for name in ("old", "new"))
        beside = changes.further.select("score", "of", "system", *scores, "verdict")
        parts += ["Scores by judges and on tasks, with 95 % intervals", plain(beside), ""]
    if changes.scores.is_empty():
        return "\n".join([*parts, *([] if len(changes.further) else ["No model has scores in both packages."])])
    table = changes.scores.select(
        *cells("system_comparison", "measure", "model", "passages"), pl.col("changed").alias("outputs changed"),
        *(computed(pl.col(name), "measure", name) for name in ("old", "new")),
        *cells("system_comparison", "difference", "p", "detectable"), "verdict",
    )  # fmt: skip
    note = (
        "difference: new score minus old score, with 95 % interval; p: from a test of documents, or of blocks of "
        "passages if there are few documents; detectable: true difference that such a test finds in 4 of 5 cases"
    )
    return "\n".join([*parts, "Scores on the passages in both packages", plain(table), note])


def _further(old: Package, new: Package) -> pl.DataFrame:
    """Changes of the scores in `FURTHER` that have intervals in both packages: rows with the columns of `BESIDE`."""
    parts = [pl.DataFrame(schema=BESIDE)]
    for table, (name, system, of, value, method) in FURTHER.items():
        if table not in old.tables or table not in new.tables:
            continue
        before, after = (
            each.tables[table].drop_nulls([f"{value}_low", f"{value}_high"]).select(
                of=pl.concat_str(pl.col(of).replace("", None), separator=" ", ignore_nulls=True), system=system,
                provenance=pl.concat_str(method, separator="; "),
                **{f"{when}{end}": f"{value}{end}" for end in ("", "_low", "_high")},
            ) for each, when in ((old, "old"), (new, "new"))
        )  # fmt: skip
        pairs = before.join(after, on=["of", "system"], suffix="_new").sort("of", "system")
        above, below = pl.col("new_low") > pl.col("old_high"), pl.col("new_high") < pl.col("old_low")
        disjoint = pl.when(above).then(pl.lit("better")).when(below).then(pl.lit("worse"))
        change = disjoint.otherwise(pl.lit("intervals overlap"))
        verdict = (
            pl.when(pl.col("provenance") != pl.col("provenance_new")).then(pl.lit(ANOTHER_METHOD)).otherwise(change)
        )
        parts.append(pairs.with_columns(score=pl.lit(name), verdict=verdict).select(BESIDE.names()).cast(BESIDE))
    return pl.concat(parts)


def _texts(folder: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    for file in TEXTS:
        for line in (folder / file).read_text(encoding="utf-8").split("\n"):
            if line:
                row: Mapping[str, Any] = json.loads(line)
                yield (file.removesuffix(".jsonl"), row["passage_id"], row.get("translator", "")), row["sha256"]


def _changed_names(old: Package, new: Package, table: str, column: str) -> dict[str, list[str]]:
    """Values of a column that are only in the new package ('added') or only in the old package ('removed')."""
    before, after = (set(each.tables[table][column]) for each in (old, new))
    return {"added": sorted(after - before), "removed": sorted(before - after)}


def _changed_texts(old: Package, new: Package) -> dict[str, list[str]]:
    """Names of added, removed and changed texts of the passages in both packages."""
    common = {*old.tables["passages"]["passage_id"]} & {*new.tables["passages"]["passage_id"]}
    changes: dict[str, list[str]] = {}
    for key in sorted(key for key in old.texts.keys() | new.texts.keys() if key[1] in common):
        if old.texts.get(key) != new.texts.get(key):
            change = "added" if key not in old.texts else "removed" if key not in new.texts else "changed"
            changes.setdefault(change, []).append(" ".join(part for part in key if part))
    return changes


def _compared(old: Package, new: Package, other_texts: bool) -> pl.DataFrame:
    """Differences between each model's new and old scores (`SCORES`). `other_texts` is true if any text changed."""
    scores = [_scores(package).with_columns(system=pl.lit(name)) for package, name in ((new, "new"), (old, "old"))]
    all_scores = pl.concat(scores, how="diagonal_relaxed")
    of_new, of_old = ({metric.name: metric for metric in named_among(_named(package))} for package in (new, old))
    measures = ranked([*MEASURES, *(metric for name, metric in of_new.items() if name in of_old)])
    models = sorted(set(scores[0]["model"]) & set(scores[1]["model"]))
    versions = all_scores.filter(pl.col("model").is_in(models))
    both = panel(versions.with_columns(system=pl.format("{} {}", "system", "model")), measures)
    parts = [pl.DataFrame(schema=SCORES)]
    changed = {model: _changed(old, new, model) for model in models}
    for measure in measures if models else ():
        statistics = both.statistics[measure.name]  # the new scores of all models, then the old ones
        pairs = [(at, len(models) + at) for at in range(len(models))]
        rows = []
        for tests in significance.differences(statistics, both.units, measure, pairs).iter_rows(named=True):
            pair = statistics[[tests["first"], tests["second"]]]
            model, common = models[tests["first"]], np.all(pair[:, :, 0] > 0, axis=0)
            first, second = measure.of(pair[:, common].sum(axis=1))
            kept = [both.passages[at] for at in common.nonzero()[0]]
            apart = other_texts or _is_apart(old, new, model, measure)
            rows.append({
                "measure": measure.name, "model": model, "changed": len(changed[model].intersection(kept)),
                "new": float(first), "old": float(second), "apart": apart, **tests,
            })  # fmt: skip
        if rows:
            table = pl.DataFrame(rows, infer_schema_length=None).with_columns(verdict=_verdict(measure))
            parts.append(table.select(pl.col(name).cast(kind) for name, kind in SCORES.items()))
    return pl.concat(parts)


def _scores(package: Package) -> pl.DataFrame:
    """Scores of a package as `panel` takes them: one row per output."""
    on = ["model", "passage_id"]
    comet = package.tables["comet_scores"].select(*on, "comet_avg")
    passages = package.tables["passages"].with_columns(passage="passage_id")
    rows = package.tables["scores"].drop_nulls("sim_best").join(comet, on=on, how="left")
    rows = rows.join(by_metric(_named(package).select(*on, "metric", "score"), on), on=on, how="left")
    rows = rows.rename({"passage_id": "passage"}).join(divided(passages), on="passage")
    return rows.with_columns(kind=pl.lit("model"), references=pl.lit(1), ranked=pl.lit(value=True))


def _named(package: Package) -> pl.DataFrame:
    """Scores of a package by metrics of its registry; earlier packages lack the metric's `entry`, or all of them."""
    names = ("model", "passage_id", "metric", "entry", "signature")
    empty = pl.DataFrame(schema=dict.fromkeys(names, pl.String) | {"score": pl.Float64})
    return pl.concat([empty, package.tables.get(NAMED, empty)], how="diagonal").select(empty.columns)


def _is_apart(old: Package, new: Package, model: str, metric: Metric) -> bool:
    """Whether the packages computed a metric differently for a model, by the signatures of scores or leaderboards."""
    if metric.score:
        before, after = (set(_named(each).filter(metric=metric.name, model=model)["signature"]) for each in (old, new))
        return before != after
    boards = (each.tables["leaderboard"].filter(kind="model", system=model) for each in (old, new))
    before, after = ({part for signature in board["signature"] for part in signature.split("; ")} for board in boards)
    return any(
        next((changes(metric) for start, changes in PARTS.items() if part.startswith(start)), True)
        for part in before ^ after
    )


def _changed(old: Package, new: Package, model: str) -> set[str]:
    """Passages for which the two packages have different outputs of the model."""
    before, after = (
        dict(each.tables["outputs"].filter(model=model).select("passage_id", "sha256").iter_rows())
        for each in (old, new)
    )
    return {passage for passage in before.keys() & after.keys() if before[passage] != after[passage]}


def _verdict(measure: Metric) -> pl.Expr:
    better = measure.better * pl.col("difference") > 0
    direction = pl.when(better).then(pl.lit("better")).otherwise(pl.lit("worse"))
    change = pl.when(answer=significance.DIFFERENT).then(direction).otherwise("answer")
    return pl.when("apart").then(pl.lit(ANOTHER_METHOD)).otherwise(change)


def _listed(names: list[str], most: int = 10) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
