"""What changed between two packages of a corpus, or of the tasks: how they were made, texts, passages, models, scores.

Here: reading packages, and the comparison. Not here: the tests (metrics.significance), writing packages (export).
Packages are compared and not warehouses, because they are what people keep and pass on: one needs no home, no lock and
no restricted text to say what has changed since a paper.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics import significance
from benchmark_assets.metrics.measures import RANKED, Measure, panel
from benchmark_assets.reporting.contents import CHECKSUMS
from benchmark_assets.reporting.export import EXPORT
from resources.catalogue import column
from resources.errors import BadInput
from resources.folders import README
from resources.tables import cell, cells, computed, plain
from resources.whole_files import sha256

NEEDED = ("scores", "comet_scores", "leaderboard", "passages", "outputs")
TEXTS = ("source.jsonl", "references.jsonl")
SECTION = "## Made from"
PARTS = {
    "embedder:": {"sim_best", "outlier_rate"}, "drift:": {"outlier_rate"}, "outlier:": {"outlier_rate"},
    "BLEU|": {"bleu"}, "chrF2++|": {"chrf"}, "COMET:": {"comet_avg"},
    "95 % intervals:": set[str](), "rates:": set[str](),
}  # fmt: skip
"""On which parts of a signature the measures rest. Intervals are computed here, anew. A part that is not among these is
of all measures."""

SCORES = pl.Schema({
    "measure": pl.String(), "model": pl.String(), "passages": pl.Int32(), "changed": pl.Int32(),
    "old": pl.Float64(), "new": pl.Float64(),
    "difference": pl.Float64(), "difference_low": pl.Float64(), "difference_high": pl.Float64(),
    "p_randomization": pl.Float64(), "p_holm": pl.Float64(), "verdict": pl.String(),
})  # fmt: skip


FURTHER = {
    "pairwise_scores": ("LT", "model", ("base_set", "slice"), "lt", ("contract", "signature")),
    "literary_scores": ("literary score", "model", ("aspect",), "score", ("signature",)),
    "understanding_board": (
        "understanding",
        "system",
        ("kind", "benchmark", "language", "task"),
        "score",
        ("signature",),
    ),
}
"""Scores that packages hold with their intervals, by table: name, system, of what they are, column, and what they must
have in common to be compared."""

BESIDE = pl.Schema({
    **dict.fromkeys(["score", "of", "system"], pl.String()),
    **{f"{when}{end}": pl.Float64() for when in ("old", "new") for end in ("", "_low", "_high")},
    "verdict": pl.String(),
})  # fmt: skip


class Package(NamedTuple):
    """Content of a package that is compared.

    Attributes
    ----------
    tables
        Tables by name.
    made
        Lines that say how the package was made.
    texts
        SHA-256 of the texts by file and place.
    of
        Subject of the package: a corpus or understanding.
    """

    folder: Path
    tables: dict[str, pl.DataFrame]
    made: list[str]
    texts: dict[tuple[str, ...], str]
    of: str = ""


class Differences(NamedTuple):
    """What changed. `made` are lines, the old ones with '-' before them and the new ones with '+'.

    `texts` (of passages that both packages have), `models` and `passages` are lists of names by what became of them:
    'added', 'removed', 'changed'. `scores` has the columns of `SCORES`, a row for each measure and model that both
    packages have, on the passages that both have; the outputs of `changed` passages differ. `verdict` is 'better',
    'worse', 'noise', or 'made differently' if the difference says nothing about the model. `further` has the columns of
    `BESIDE`: scores by judges and on tasks that both packages have with an interval. Its `verdict` is 'better' or
    'worse' if the intervals are disjoint (a conservative test), else 'intervals overlap' or 'made differently'.
    """

    made: list[str]
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
        Where the folder is none, lacks a file, or holds one that is not as it was written.
    """
    sums = folder / CHECKSUMS
    readme = folder / README
    titles = EXPORT.public, EXPORT.private
    if not sums.is_file() or not readme.is_file() or not readme.read_text("utf-8", "replace").startswith(titles):
        raise BadInput(folder, "", "is no package", "`variorum export` writes one")
    written = {path: digest for digest, _, path in (line.partition("  ") for line in sums.read_text().splitlines())}
    of_tasks = "parquet/tasks.parquet" in written
    needed, texts = ((), ()) if of_tasks else (NEEDED, TEXTS)
    further = [name for name in FURTHER if f"parquet/{name}.parquet" in written]
    for path in (*(f"parquet/{name}.parquet" for name in (*needed, *further)), *texts, README):
        if path not in written:
            raise BadInput(folder, path, "is not in the package", "export the corpus anew")
        if not (folder / path).is_file() or sha256(folder / path) != written[path]:
            raise BadInput(folder, path, "is not as it was written", "get the package anew")
    tables = {name: pl.read_parquet(folder / f"parquet/{name}.parquet") for name in (*needed, *further)}
    head, _, section = readme.read_text(encoding="utf-8").partition(SECTION)
    made = [line[2:] for line in section.partition("\n## ")[0].splitlines() if line.startswith("- ")]
    _, _, of = head.partition("\n")[0].partition(": ")
    return Package(folder, tables, made, {} if of_tasks else dict(_texts(folder)), of)


def compare(old: Package, new: Package) -> Differences:
    """What changed from one package to the other.

    Raises
    ------
    BadInput
        Where they are not of the same corpus.
    """
    if old.of != new.of:
        raise BadInput(
            new.folder, "", f"is of {new.of}, and {old.folder} of {old.of}", "compare two of the same corpus"
        )
    before, after = set(old.made), set(new.made)
    made = [f"- {line}" for line in old.made if line not in after] + [
        f"+ {line}" for line in new.made if line not in before
    ]
    further = _further(old, new)
    if "scores" not in old.tables:
        systems = _sets(old, new, "understanding_board", "system")
        return Differences(made, {}, {}, systems, pl.DataFrame(schema=SCORES), further)
    texts = _changed_texts(old, new)
    return Differences(
        made,
        texts,
        _sets(old, new, "passages", "passage_id"),
        _sets(old, new, "scores", "model"),
        _compared(old, new, bool(texts)),
        further,
    )


def page(found: Differences) -> str:
    """Differences as text, how the packages were made first: a difference of method is none of models."""
    parts = ["Made differently", *(found.made or ["in nothing that the packages tell"]), ""]
    for title, own in (("Texts", found.texts), ("Passages", found.passages), ("Models", found.models)):
        lines = [f"{what}: {_listed(names)}" for what, names in own.items() if names]
        parts += [title, *(lines or ["the same"]), ""]
    if len(found.further):
        value = column("metric_rank", "value")
        scores = (cell(value._replace(name=name)) for name in ("old", "new"))
        beside = found.further.select("score", "of", "system", *scores, "verdict")
        parts += ["Scores by judges and on tasks, with their intervals", plain(beside), ""]
    if found.scores.is_empty():
        return "\n".join([*parts, *([] if len(found.further) else ["No model has scores in both."])])
    table = found.scores.select(
        *cells("system_comparison", "measure", "model", "passages"), pl.col("changed").alias("outputs changed"),
        *(computed(pl.col(name), "measure", name) for name in ("old", "new")),
        *cells("system_comparison", "difference", "p_holm"), "verdict",
    )  # fmt: skip
    note = (
        "difference: new less old, 95 % interval by paired bootstrap; p by approximate randomization, Holm over models"
    )
    return "\n".join([*parts, "Scores on the passages that both have", plain(table), note])


def _further(old: Package, new: Package) -> pl.DataFrame:
    """Rows with columns `BESIDE`: scores with an interval that both packages have."""
    parts = [pl.DataFrame(schema=BESIDE)]
    for table, (name, system, of, value, method) in FURTHER.items():
        if table not in old.tables or table not in new.tables:
            continue
        before, after = (
            each.tables[table].drop_nulls([f"{value}_low", f"{value}_high"]).select(
                of=pl.concat_str(pl.col(of).replace("", None), separator=" ", ignore_nulls=True), system=system,
                made=pl.concat_str(method, separator="; "),
                **{f"{when}{end}": f"{value}{end}" for end in ("", "_low", "_high")},
            ) for each, when in ((old, "old"), (new, "new"))
        )  # fmt: skip
        both = before.join(after, on=["of", "system"], suffix="_new").sort("of", "system")
        above, below = pl.col("new_low") > pl.col("old_high"), pl.col("new_high") < pl.col("old_low")
        told = pl.when(above).then(pl.lit("better")).when(below).then(pl.lit("worse"))
        told_or_not = told.otherwise(pl.lit("intervals overlap"))
        verdict = pl.when(pl.col("made") != pl.col("made_new")).then(pl.lit("made differently")).otherwise(told_or_not)
        parts.append(both.with_columns(score=pl.lit(name), verdict=verdict).select(BESIDE.names()).cast(BESIDE))
    return pl.concat(parts)


def _texts(folder: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    for file in TEXTS:
        for line in (folder / file).read_text(encoding="utf-8").split("\n"):
            if line:
                row: Mapping[str, Any] = json.loads(line)
                yield (file.removesuffix(".jsonl"), row["passage_id"], row.get("translator", "")), row["sha256"]


def _sets(old: Package, new: Package, table: str, column: str) -> dict[str, list[str]]:
    before, after = (set(each.tables[table][column]) for each in (old, new))
    return {"added": sorted(after - before), "removed": sorted(before - after)}


def _changed_texts(old: Package, new: Package) -> dict[str, list[str]]:
    """Texts that were added, removed or changed, among the passages that both packages have."""
    both = {*old.tables["passages"]["passage_id"]} & {*new.tables["passages"]["passage_id"]}
    found: dict[str, list[str]] = {}
    for key in sorted(key for key in old.texts.keys() | new.texts.keys() if key[1] in both):
        if old.texts.get(key) != new.texts.get(key):
            what = "added" if key not in old.texts else "removed" if key not in new.texts else "changed"
            found.setdefault(what, []).append(" ".join(part for part in key if part))
    return found


def _compared(old: Package, new: Package, other_texts: bool) -> pl.DataFrame:
    scores = [_scores(each).with_columns(system=pl.lit(name)) for each, name in ((new, "new"), (old, "old"))]
    both = pl.concat(scores, how="diagonal_relaxed")
    models = sorted(set(scores[0]["model"]) & set(scores[1]["model"]))
    rows: list[dict[str, object]] = []
    for model in models:
        own = panel(both.filter(model=model), RANKED)
        apart = {each.name for each in RANKED} if other_texts else _apart(old, new, model)
        changed = _changed(old, new, model)
        for measure in RANKED:
            statistics = own.statistics[measure.name]  # of 'new', then of 'old'
            for found in significance.differences(statistics, measure).iter_rows(named=True):
                common = np.all(statistics[:, :, 0] > 0, axis=0)
                first, second = measure.of(statistics[:, common].sum(axis=1))
                kept = [own.passages[at] for at in common.nonzero()[0]]
                rows.append({
                    "measure": measure.name, "model": model, "changed": len(changed.intersection(kept)),
                    "new": float(first), "old": float(second), "apart": measure.name in apart, **found,
                })  # fmt: skip
    table = pl.DataFrame(rows) if rows else pl.DataFrame(schema={**SCORES, "apart": pl.Boolean()})
    parts = [pl.DataFrame(schema=SCORES)]
    for measure in RANKED if rows else ():
        own_rows = table.filter(measure=measure.name)
        holm = pl.Series("p_holm", significance.holm(own_rows["p_randomization"].to_numpy()), dtype=pl.Float64)
        family = own_rows.with_columns(holm).with_columns(verdict=_verdict(measure))
        parts.append(family.select(SCORES.names()).cast(SCORES))
    return pl.concat(parts)


def _scores(package: Package) -> pl.DataFrame:
    on = ["model", "passage_id"]
    comet = package.tables["comet_scores"].select(*on, "comet_avg")
    rows = package.tables["scores"].drop_nulls("sim_best").join(comet, on=on, how="left")
    return rows.rename({"passage_id": "passage"}).with_columns(kind=pl.lit("model"), references=pl.lit(1))


def _apart(old: Package, new: Package, model: str) -> set[str]:
    """Measures of a model that the two packages made differently."""
    before, after = (
        {part for signature in _board(each, model)["signature"] for part in signature.split("; ")}
        for each in (old, new)
    )
    every = {measure.name for measure in RANKED}
    measures: set[str] = set()
    for part in before ^ after:
        measures |= next((names for start, names in PARTS.items() if part.startswith(start)), every)
    return measures


def _board(package: Package, model: str) -> pl.DataFrame:
    return package.tables["leaderboard"].filter(kind="model", system=model)


def _changed(old: Package, new: Package, model: str) -> set[str]:
    """Passages for which the model's outputs in the two packages differ."""
    before, after = (
        dict(each.tables["outputs"].filter(model=model).select("passage_id", "sha256").iter_rows())
        for each in (old, new)
    )
    return {passage for passage in before.keys() & after.keys() if before[passage] != after[passage]}


def _verdict(measure: Measure) -> pl.Expr:
    better = measure.better * pl.col("difference") > 0
    told = pl.when(better).then(pl.lit("better")).otherwise(pl.lit("worse"))
    sure = pl.when(pl.col("p_holm") < significance.LEVEL).then(told).otherwise(pl.lit("noise"))
    return pl.when("apart").then(pl.lit("made differently")).otherwise(sure)


def _listed(names: list[str], most: int = 10) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
