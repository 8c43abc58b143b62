"""Content of the gallery: for each added benchmark its size, terms, tables with published systems, and what is missing.

Here: parts and explanations that only the gallery has. Not here: tables of scores (content), HTML (page), Markdown
(markdown).
"""

import json
from collections.abc import Iterator

import polars as pl

from benchmark_assets.benchmarks.exhibits import RULE, counts, summary
from benchmark_assets.benchmarks.recipe import FILE, REMEDY, Recipe
from benchmark_assets.reporting.report import content
from benchmark_assets.reporting.report.display import Display, Home, Part, of_frame
from benchmark_assets.selection.funnel import LISTED
from resources import yaml_files
from resources.downloads.sources import SOURCES
from resources.home import restored
from resources.warehouse import Warehouse


def gallery(warehouse: Warehouse) -> list[Part]:
    """A part for each added benchmark, by name. Tables cover the corpora and tasks of its highest added version."""
    with warehouse.consistently():
        home = content.opened(warehouse)
        added = warehouse.read("benchmark").sort("benchmark", "version").partition_by("benchmark", maintain_order=True)
        return [Part(rows["benchmark"][0], list(_exhibits(home, rows))) for rows in added]


def _exhibits(home: Home, versions: pl.DataFrame) -> Iterator[Display]:
    """Exhibits of a benchmark. `versions` has its rows of the table `benchmark`, the highest version last."""
    row = versions.row(-1, named=True)
    folder = restored(row["recipe"], row["home"], home.warehouse.folder)
    recipe = yaml_files.read(folder / FILE, Recipe, REMEDY)
    yield _about(home, recipe, versions)
    yield _sources(home, recipe, set(json.loads(row["left_out"])))
    explained, unscored = set[str](), list[str]()
    for corpus in row["corpora"]:
        exhibits = [*content.boards(home, corpus), *content.published_boards(home, corpus)]
        unscored += [] if exhibits else [corpus]
        for exhibit in exhibits:
            words = exhibit.words if exhibit.words not in explained else ""
            explained.add(words)
            yield exhibit._replace(title=f"{exhibit.title}, {corpus}", words=words)
    if unscored:
        yield _unscored(home, row["benchmark"], unscored)
    names = pl.DataFrame({"benchmark": [row["benchmark"]]})
    yield from content.strengths(home, home.warehouse.read("published_base_set", names, ["base_set"]))
    if row["tasks"]:
        yield from content.of_understanding(home, row["tasks"])
    numbers = home.warehouse.read("reproduction", names)
    if len(numbers):
        yield _reproduction(home, numbers)
    if recipe.needs:
        yield _missing(home, recipe)


def _about(home: Home, recipe: Recipe, versions: pl.DataFrame) -> Display:
    """Title, versions and paper in words; a row for each corpus and task."""
    row = versions.row(-1, named=True)
    words = f"{recipe.title}. Version {row['version']}, recipe {row['recipe_hash'][:8]}."
    if recipe.paper:
        words += f" Paper: {recipe.paper.citation}."
    for earlier in versions[:-1].iter_rows(named=True):
        names = ", ".join([*earlier["corpora"], *earlier["tasks"]])
        words += f" Version {earlier['version']} was added before, with {names}; its results are kept."
    frame = pl.concat([_corpora(home.warehouse, row["corpora"]), _tasks(home.warehouse, row["tasks"])])
    if frame.is_empty():
        words += " Its corpora and tasks were left out, because a source is missing."
    return home.display("", "Corpora and tasks", words, of_frame(frame), [], None)


def _corpora(warehouse: Warehouse, corpora: list[str]) -> pl.DataFrame:
    """Languages, size, translators and licences of each corpus."""
    keys = pl.DataFrame({"corpus": corpora}, {"corpus": pl.String})
    passages = warehouse.read("source_text", keys, ["corpus", "listed"]).filter(LISTED)
    passages = passages.group_by("corpus").agg(size=pl.len().cast(pl.Int64))
    texts = warehouse.read("licence", keys).sort("corpus", "translator")
    licence = pl.col("licence") + pl.when("restricted").then(pl.lit(" (restricted)")).otherwise(pl.lit(""))
    terms = texts.group_by("corpus").agg(
        translators=pl.col("translator").filter(pl.col("translator") != "").str.join(", "),
        licences=licence.unique().sort().str.join("; "),
    )
    rows = warehouse.read("corpus", keys, ["corpus", "source_language", "target_language"])
    languages = pl.format("{} → {}", "source_language", "target_language")
    joined = rows.join(passages, on="corpus", how="left").join(terms, on="corpus", how="left").sort("corpus")
    return joined.select(
        pl.col("corpus").alias("name"), languages.alias("languages"), "size", pl.lit("passages").alias("of"),
        "translators", "licences",
    )  # fmt: skip


def _tasks(warehouse: Warehouse, tasks: list[str]) -> pl.DataFrame:
    """Language, test samples and licence of each task."""
    keys = pl.DataFrame({"task": tasks}, {"task": pl.String})
    samples = warehouse.read("task_sample", keys.with_columns(split=pl.lit("test")), ["task"])
    sizes = samples.group_by("task").agg(size=pl.len().cast(pl.Int64))
    rows = warehouse.read("task", keys, ["task", "language", "licence"]).join(sizes, on="task", how="left")
    return rows.sort("task").select(
        pl.col("task").alias("name"), pl.col("language").alias("languages"), "size", pl.lit("test samples").alias("of"),
        pl.lit("").alias("translators"), pl.col("licence").alias("licences"),
    )  # fmt: skip


def _sources(home: Home, recipe: Recipe, left_out: set[str]) -> Display:
    """Publisher, licence and terms of each source."""
    rows = []
    for name, source in recipe.sources.items():
        publisher = f"{source.repository} at {source.commit[:7]}" if source.commit else source.how
        if source.texts:
            publisher = SOURCES[source.source].base
        need = "required" if source.required else "optional"
        licence = source.licence or SOURCES[source.source].licence
        rows.append({
            "source": name, "publisher": publisher, "licence": licence, "terms": source.terms,
            "state": f"{need}, left out" if name in left_out else need,
        })  # fmt: skip
    words = (
        "Where the files are from, and what their licences allow. Files are compared with their digests in the recipe, "
        "if it has any."
    )
    return home.display("", "Sources", words, of_frame(pl.DataFrame(rows)), [], None)


def _unscored(home: Home, benchmark: str, corpora: list[str]) -> Display:
    """Corpora without a leaderboard, and the reason."""
    words = (
        f"These corpora have no outputs of models, and fewer than two translators to score against each other. "
        f"`variorum evaluate MODEL --on {benchmark}` adds a model, unless a corpus only shows how passages were chosen."
    )
    return home.display("", "Corpora without scores", words, of_frame(pl.DataFrame({"name": corpora})), [], None)


def _reproduction(home: Home, numbers: pl.DataFrame) -> Display:
    """How many of the paper's numbers have which outcome, by table of the paper."""
    frame = counts(numbers).drop("benchmark")
    words = (
        f"{summary(numbers)}. What follows from counts that the paper prints itself is not recomputed. Other numbers "
        "are only stated by the paper (quoted), or need what is not here. `variorum reproduce` lists each with its "
        "reason."
    )
    return home.display("", "Published numbers", words, of_frame(frame), [RULE], None, "reproduction")


def _missing(home: Home, recipe: Recipe) -> Display:
    """What cannot be fetched, why, and how to obtain it."""
    rows = [{"what": need.what, "why": need.why, "how to obtain it": need.how} for need in recipe.needs]
    words = "What cannot be fetched, and how to obtain it."
    return home.display("", "What is missing", words, of_frame(pl.DataFrame(rows)), [], None)
