"""Commands that list benchmarks and add them."""

from collections.abc import Sequence

import click
import polars as pl

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope
from benchmark_assets.benchmarks import base_sets, fetching, folders, parts
from benchmark_assets.benchmarks.costs import likely_costs
from benchmark_assets.benchmarks.fetching import Stock
from benchmark_assets.benchmarks.parts import Part
from benchmark_assets.benchmarks.recipe import ReadRecipe, UserFolder, find, read, shipped
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.pairwise.scores import OVERALL
from benchmark_assets.reporting.leaderboard import listed, origins
from benchmark_assets.understanding.readings import boards
from resources.downloads.downloads import Downloads
from resources.tables import cells, plain
from resources.warehouse import Warehouse


@click.command(name="benchmarks")
def list_benchmarks() -> None:
    """List the benchmarks that can be added: languages, sizes, licences, costs, and what they need."""
    home = Deployment()
    added = dict(home.warehouse.read("benchmark", columns=["benchmark", "version"]).sort("version").iter_rows())
    registry = home.provider.registry()
    recipes = [read(folder) for folder in shipped().values()]
    click.echo(plain(pl.DataFrame([_overview(recipe, added.get(recipe.recipe.name)) for recipe in recipes])))
    for recipe in recipes:
        click.echo(f"\n{recipe.recipe.name}: {recipe.recipe.title}")
        for name, (tokens, dollars) in likely_costs(registry, recipe).items():
            click.echo(f"  {name} translates about {tokens:,} tokens into as many, for about {dollars:.2f} dollars")
        for name, source in recipe.recipe.sources.items():
            if isinstance(recipe.downloads[name], UserFolder):
                kind = "required" if source.required else "optional"
                click.echo(f"  takes a folder of yours ({kind}): {folders.way(name, source)}")
        for need in recipe.recipe.needs:
            click.echo(f"  needs {need.what}, because {need.why}. {need.how}")
    click.echo("\nadd one with `variorum add NAME`")


def _overview(recipe: ReadRecipe, version: int | None) -> dict[str, str]:
    """The row of a benchmark; `version` is the added version, None if the benchmark was not added."""
    about = recipe.recipe
    passages, samples = (
        sum(sizes) for sizes in ([c.passages for c in about.corpora], [t.samples for t in about.tasks])
    )
    licences = {text.licence for c in recipe.corpora.values() for text in (c.source, *c.references.values())}
    licences |= {task.licence for task in recipe.tasks.values()}
    licences |= {download.licence for download in recipe.downloads.values()} - {""}
    consent = [name for name, source in about.sources.items() if source.consent]
    return {
        "benchmark": about.name, "languages": ", ".join(recipe.languages),
        "size": ", ".join(f"{count} {unit}" for count, unit in ((passages, "passages"), (samples, "samples")) if count),
        "systems": str(len(about.outputs)), "licences": "; ".join(sorted(licences)),
        "consent": ", ".join(consent) or "-", "added": f"version {version}" if version else "no",
    }  # fmt: skip


@click.command()
@click.argument("benchmark", metavar="NAME|FOLDER")
@click.option("--accept", is_flag=True, help="Consent to the terms that are printed.")
@click.option("--base", default="", help="URL of a mirror to fetch from.")
@click.option("--folder", "brought", multiple=True, metavar="SOURCE=PATH", help="Your folder with files of a source.")
def add(benchmark: str, accept: bool, base: str, brought: Sequence[str]) -> None:
    """Add a benchmark: fetch its sources, import its corpora, tasks and published systems, and compute.

    NAME is one of `variorum benchmarks`; FOLDER contains a recipe of your own.
    """
    recipe = read(find(benchmark))
    for line in fetching.offer(recipe):
        click.echo(line)
    fetching.check_consent(recipe, accept)
    home = Deployment()
    paths, place = folders.given(recipe, brought), parts.place(home.warehouse, recipe)
    folders.check_folders(recipe, place, paths)
    registry = home.provider.registry()
    wanted = parts.to_import(home.warehouse, recipe)
    parts.check_outputs(home.warehouse, recipe, registry.models)
    base_sets.check_names(home.warehouse, recipe)
    downloads: Downloads = (home.definitions.resources or {})["downloads"]
    if base:
        downloads = downloads.model_copy(update={"pause": 0.0})  # a mirror of one's own needs no rest
    stock = fetching.fetch(recipe, place, downloads, accept, base, paths)
    click.echo(f"\n{stock.files} files, {stock.bytes / 1e6:.1f} MB, as the recipe names them")
    for name, reason in stock.left_out.items():
        click.echo(f"left out, {name}: {reason}")
    wanted = [part for part in wanted if part in parts.parts(recipe, stock.left_out)]
    families = {name: judge.family for name, judge in registry.judges.items()}
    parts.import_parts(home.warehouse, recipe, wanted, stock, families)
    _compute(home, recipe, wanted, stock)
    parts.record(home.warehouse, recipe, stock)
    for line in parts.sizes(home.warehouse, recipe, stock):
        click.echo(line)
    show_results(home.warehouse, recipe.recipe.name)
    _say_cost(home, recipe)


def _compute(home: Deployment, recipe: ReadRecipe, wanted: Sequence[Part], stock: Stock) -> None:
    """Materialize everything that needs no model, then the scores of the published systems."""
    corpora = [part.name for part in wanted if part.kind == "corpus"]
    tasks = [part.name for part in wanted if part.kind == "task"]
    if tasks:
        home.instance.add_dynamic_partitions("task", tasks)
    if corpora:
        runs.look(home.definitions, home.instance, corpora)
    published = parts.import_published(home.warehouse, recipe, stock)
    for base_set in base_sets.import_base_sets(home.warehouse, parts.place(home.warehouse, recipe), recipe, stock):
        click.echo(f"base set {base_set}")
    if published:
        home.instance.add_dynamic_partitions("model", list(published))
    translated = {outputs.corpus for outputs in recipe.recipe.outputs if outputs.model in published}
    runs.update(home.definitions, home.instance, Scope(list(published), sorted({*corpora, *tasks, *translated})))


def show_results(warehouse: Warehouse, benchmark: str) -> None:
    """Print the leaderboards of a benchmark: published systems are marked, and what is not comparable is separate."""
    added = parts.added(warehouse, benchmark)
    board = warehouse.read("leaderboard").filter(pl.col("corpus").is_in(added.corpora))
    if len(board):
        click.echo(f"\n{listed(board)}\n\nOrigin of the outputs\n{plain(origins(board))}")
    key = warehouse.read("published_base_set", pl.DataFrame({"benchmark": [benchmark]}), ["base_set"])
    anchors = warehouse.read("anchor_score", key.with_columns(slice=pl.lit(OVERALL))).sort("lt", descending=True)
    if len(anchors):
        names = ("base_set", "anchor", "items", "matches", "win_rate", "lt", "en")
        click.echo(f"\n{plain(anchors.select(cells('anchor_score', *names)))}")
    tasks = warehouse.read("task", columns=["task"]).filter(pl.col("task").is_in(added.tasks))
    if len(tasks):
        for title, table in boards(warehouse.read("understanding_board")).items():
            click.echo(f"\n{title}\n{plain(table)}")


def _say_cost(home: Deployment, recipe: ReadRecipe) -> None:
    """Print what the registry's models would cost on the corpora of a benchmark. Nothing is asked."""
    names = [corpus.name for corpus in recipe.corpora.values()]
    columns = ["passage", "text"]
    rows = home.warehouse.read("source_text", pl.DataFrame({"corpus": names}, {"corpus": pl.String}), columns)
    selection = home.warehouse.read("selection", rows.select("passage"), ["passage", "selected"]).filter("selected")
    sources = dict(rows.join(selection, on="passage", how="semi").iter_rows())
    for model in home.provider.registry().models:
        estimate = home.systems.estimate(model, sources)
        if estimate and estimate.calls:
            click.echo(f"\n`variorum evaluate {model} --on {recipe.recipe.name}`: {estimate}")


COMMANDS = [list_benchmarks, add]
