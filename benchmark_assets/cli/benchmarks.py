"""Commands that list benchmarks, add them, and compare their published numbers with the warehouse."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import polars as pl

from benchmark_assets.benchmarks import base_sets, checkout, fetching, folders, numbers, parts, protocols, reproduction
from benchmark_assets.benchmarks.costs import cost, likely_costs, of_adding, of_evaluation
from benchmark_assets.benchmarks.exhibits import counts, from_counts, number_table, reasons, recomputed, summary
from benchmark_assets.benchmarks.fetching import Stock
from benchmark_assets.benchmarks.forecast import ASKED, Forecast, forecast, lacking
from benchmark_assets.benchmarks.parts import Added, RecipePart
from benchmark_assets.benchmarks.recipe import ReadRecipe, UserFolder, find, read, shipped
from benchmark_assets.benchmarks.writing import TODO, write_recipe
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.legends import explained, explanations
from benchmark_assets.cli.words import PATH
from benchmark_assets.corpus.languages import plain as shortest
from benchmark_assets.pairwise.scores import OVERALL
from benchmark_assets.reporting import exhibits, leaderboard
from benchmark_assets.reporting.headline import worth
from benchmark_assets.reporting.leaderboard import listed, origins, readable
from benchmark_assets.understanding.exhibits import boards
from resources.downloads.downloads import Downloads
from resources.errors import BadInput, suggestion
from resources.provider.estimate import SPEED, WAIT, CostEstimate, total
from resources.tables import cells, markdown, plain
from resources.warehouse import Warehouse


def _list_benchmarks(home: Deployment) -> None:
    """Print the benchmarks that can be added: languages, sizes, licences, costs, and what they need."""
    added = dict(home.warehouse.read("benchmark", columns=["benchmark", "version"]).sort("version").iter_rows())
    registry = home.provider.registry()
    recipes = [read(folder) for folder in shipped().values()]
    click.echo(explained(pl.DataFrame([_overview(recipe, added.get(recipe.recipe.name)) for recipe in recipes])))
    for recipe in recipes:
        click.echo(f"\n{recipe.recipe.name}: {recipe.recipe.title}")
        for name, expected in likely_costs(registry, partial(of_evaluation, recipe)).items():
            click.echo(f"  {name}: {expected}")
        for name, source in recipe.recipe.sources.items():
            if isinstance(recipe.downloads[name], UserFolder):
                kind = "required" if source.required else "optional"
                click.echo(f"  takes a folder of yours ({kind}): {folders.way(name, source)}")
        for need in recipe.recipe.needs:
            click.echo(f"  needs {need.what}, because {need.why}. {need.how}")
    click.echo("\nadd one with `variorum add NAME`")


def _size(recipe: ReadRecipe) -> str:
    """Numbers of passages and samples, such as `63 passages`."""
    passages = sum(corpus.passages for corpus in recipe.recipe.corpora)
    samples = sum(task.samples for task in recipe.recipe.tasks)
    return ", ".join(f"{count} {unit}" for count, unit in ((passages, "passages"), (samples, "samples")) if count)


def _overview(recipe: ReadRecipe, version: int | None) -> dict[str, str]:
    """The row of a benchmark; `version` is the added version, None if the benchmark was not added."""
    about = recipe.recipe
    licences = {text.licence for c in recipe.corpora.values() for text in (c.source, *c.references.values())}
    licences |= {task.licence for task in recipe.tasks.values()}
    licences |= {download.licence for download in recipe.downloads.values()} - {""}
    consent = [name for name, source in about.sources.items() if source.consent]
    return {
        "benchmark": about.name, "languages": ", ".join(recipe.languages),
        "size": _size(recipe),
        "systems": str(len(about.outputs)), "licences": "; ".join(sorted(licences)),
        "consent": ", ".join(consent) or "-", "added": f"version {version}" if version else "no",
    }  # fmt: skip


@click.command(name="benchmarks")
@click.option("--language", default="", help="ISO 639 code of a source language, such as grc or lat.")
def list_benchmarks(language: str) -> None:
    """List the benchmarks that ship with this project, by the language of their sources.

    `variorum add` without a NAME also prints licences, likely costs, and what is missing.
    """
    recipes = [read(folder) for folder in shipped().values()]
    known = sorted({shortest(each) for recipe in recipes for each in recipe.source_languages})
    if language and shortest(language) not in known:
        raise BadInput("--language", "", f"no benchmark has sources in {language!r}", f"use one of {', '.join(known)}")
    rows = [
        {"benchmark": each.recipe.name, "languages": ", ".join(each.languages), "size": _size(each),
         "title": each.recipe.title}
        for each in recipes
        if not language or shortest(language) in map(shortest, each.source_languages)
    ]  # fmt: skip
    click.echo(explained(pl.DataFrame(rows), "benchmark"))


@click.command()
@click.argument("benchmark", metavar="[NAME|FOLDER|URL]", required=False)
@click.option("--accept", is_flag=True, help="Consent to the terms and costs that are printed.")
@click.option("--base", default="", help="URL of a mirror to fetch from.")
@click.option("--systems", multiple=True, metavar="NAME,…", help="Published systems to import, or `all`, the default.")
@click.option("--folder", "brought", multiple=True, metavar="SOURCE=PATH", help="Your folder with files of a source.")
@click.option("--no-update", is_flag=True, help="Import only; the next `variorum update` computes scores and tables.")
def add(
    benchmark: str | None, accept: bool, base: str, systems: Sequence[str], brought: Sequence[str], no_update: bool
) -> None:
    """Add a benchmark: fetch its sources, import its corpora, tasks and published systems, and compute.

    Without a NAME, list the benchmarks: languages, sizes, licences, costs, and what they need. FOLDER contains a recipe
    of your own. URL is the address of a git repository with a recipe: URL[@COMMIT][#FOLDER].
    """
    if benchmark is None:
        _list_benchmarks(Deployment())
        return
    recipe = _recipe(benchmark)
    home = Deployment()
    registry = home.provider.registry()
    recipe = parts.with_systems(home.warehouse, recipe, [name for names in systems for name in names.split(",")])
    for line in fetching.offer(recipe):
        click.echo(line)
    if questions := list(of_adding(recipe, registry)):
        click.echo(f"calls by this command: {cost(registry, questions)}")
    for name, expected in likely_costs(registry, partial(of_evaluation, recipe)).items():
        click.echo(f"evaluating {name}: {expected}")
    fetching.check_consent(recipe, accept)
    paths, place = folders.given(recipe, brought), parts.place(home.warehouse, recipe)
    folders.check_folders(recipe, place, paths)
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
    families = {name: judge.family for name, judge in registry.judges.items()}
    fetched, stock = stock, parts.import_parts(home.warehouse, recipe, wanted, stock, families)
    for name in stock.left_out.keys() - fetched.left_out.keys():
        click.echo(f"left out, {name}: {stock.left_out[name]}")
    wanted = [part for part in wanted if part in parts.parts(recipe, stock.left_out)]
    scope = _import(home, recipe, wanted, stock)
    if not no_update:
        from benchmark_assets.automation import runs
        from benchmark_assets.automation.due import Scope

        runs.update(home.definitions, home.instance, Scope(*scope, accepted=accept))
    for line in parts.sizes(home.warehouse, recipe, stock):
        click.echo(line)
    if no_update:
        click.echo("scores and tables: not computed; run `variorum update`")
        return
    show_results(home.warehouse, recipe.recipe.name)
    click.echo(f"\nnext: `variorum evaluate MODEL --on {recipe.recipe.name}`, which prints its costs before it asks")


def _recipe(name: str) -> ReadRecipe:
    """The recipe of a name, folder or address. The files from a repository are kept until the command ends."""
    if not checkout.is_address(name):
        return read(find(name))
    address = checkout.parse(name)
    folder = Path(click.get_current_context().with_resource(TemporaryDirectory()))
    origin = checkout.check_out(address, folder)
    click.echo(f"recipe from {origin}")
    return read(find(str(folder)))._replace(origin=origin)


def _import(
    home: Deployment, recipe: ReadRecipe, wanted: Sequence[RecipePart], stock: Stock
) -> tuple[list[str], list[str]]:
    """Import passages, published outputs, base sets and published scores; return models, and corpora with tasks, that
    an update is to compute."""
    corpora = [part.name for part in wanted if part.kind == "corpus"]
    tasks = [part.name for part in wanted if part.kind == "task"]
    if tasks:
        home.instance.add_dynamic_partitions("task", tasks)
    if corpora:
        from benchmark_assets.automation import runs

        runs.look(home.definitions, home.instance, corpora)
    published = parts.import_published(home.warehouse, recipe, stock)
    for base_set in base_sets.import_base_sets(home.warehouse, parts.place(home.warehouse, recipe), recipe, stock):
        click.echo(f"base set {base_set}")
    parts.import_scores(home.warehouse, recipe, stock)
    for subject in protocols.import_protocols(home.warehouse, recipe, stock, parts.place(home.warehouse, recipe)):
        click.echo(f"{subject}: asked as the paper asks; `evaluate --protocol variorum` asks in this project's wording")
    if published:
        home.instance.add_dynamic_partitions("model", list(published))
    parts.record(home.warehouse, recipe, stock)  # before the update, which compares the benchmark's published numbers
    translated = {outputs.corpus for outputs in recipe.recipe.outputs if outputs.model in published}
    return list(published), sorted({*corpora, *tasks, *translated})


def show_results(warehouse: Warehouse, benchmark: str) -> None:
    """Print the leaderboards of a benchmark: published systems are marked, and what is not comparable is separate."""
    added = parts.added(warehouse, benchmark)
    board = leaderboard.read(warehouse).filter(pl.col("corpus").is_in(added.corpora))
    if len(board):
        click.echo(f"\n{listed(board)}")
        click.echo("\n".join(explanations(readable(board).columns, "leaderboard")) + "\n\nWhat the measures are worth:")
        click.echo("\n".join(worth(warehouse, added.corpora)))
        if len(made := origins(board)):
            click.echo(f"\nOrigin of the outputs\n{explained(made, 'leaderboard')}")
    corpora = pl.DataFrame({"corpus": added.corpora}, {"corpus": pl.String})
    copies = leaderboard.known(warehouse, corpora)
    for heading, rows in exhibits.published(warehouse.read("published_summary", corpora)).items():
        click.echo(f"\n{heading}\n{explained(exhibits.published_table(rows, copies), 'published_summary')}")
    literary = warehouse.read("literary_score").filter(pl.col("corpus").is_in(added.corpora), aspect="")
    if len(literary):
        names = ("corpus", "model", "chunks", "machine", "unsure", "human", "score")
        ranked = literary.sort("corpus", "score", descending=[False, True])
        click.echo(f"\n{explained(ranked.select(cells('literary_score', *names)), 'literary_score')}")
    published = warehouse.read("published_base_set", pl.DataFrame({"benchmark": [benchmark]}), ["base_set"])
    key = published.with_columns(slice=pl.lit(OVERALL))
    for scored, system in (("anchor_score", "anchor"), ("pairwise_score", "model")):
        scores = warehouse.read(scored, key).sort("lt", descending=True, nulls_last=True)
        if len(scores):
            names = ("base_set", system, "items", "matches", "win_rate", "lt", "en")
            click.echo(f"\n{explained(scores.select(cells(scored, *names)), scored)}")
    tasks = warehouse.read("task", columns=["task"]).filter(pl.col("task").is_in(added.tasks))
    if len(tasks):
        for title, table in boards(warehouse.read("understanding_board")).items():
            click.echo(f"\n{title}\n{plain(table)}")


def forecasts(home: Deployment, added: Added, models: Sequence[str], limits: pl.DataFrame) -> list[Forecast]:
    """What the evaluation of models on corpora and tasks would ask, under the given limits. Nothing is asked."""
    from dagster import AssetKey

    from benchmark_assets.automation.due import Scope, due

    registry, rows = home.provider.registry(), list[Forecast]()
    for model in models:
        scope = Scope([model], added.corpora)
        stale = {
            study: due(home.definitions, home.instance, AssetKey(study), scope)
            for study in ("model_output", *(study.name for study in ASKED))
        }
        passages = lacking(
            home.warehouse, model, registry.models.get(model), added, limits, stale.pop("model_output").rows["passage"]
        )
        rows += forecast(home.warehouse, home.systems, model, passages, added.tasks, limits)
        rows += [Forecast(model, study, each.estimate) for study, each in stale.items() if each.estimate]
    if probed := home.provider.worth_probing([*models, *sorted(registry.judges)]):
        rows.append(Forecast(", ".join(probed), "probe of the served version", home.provider.cost_of_probing(probed)))
    return rows


def announce(rows: Sequence[Forecast]) -> CostEstimate:
    """Print what models would be asked; return the sum."""
    whole = total(row.estimate for row in rows)
    if rows:
        click.echo(explained(pl.DataFrame([_shown(row.model, row.study, row.estimate) for row in rows])))
        click.echo(f"\n{whole}; about {whole.tokens:,} tokens and {whole.seconds / 3600:.2f} hours")
        measured = {row.model for row in rows if row.estimate.measured}
        assumed = sorted({row.study for row in rows if not row.estimate.measured})
        if assumed:
            click.echo(f"hours of {', '.join(assumed)}: assumed, {WAIT:g} s a call and {SPEED:g} tokens a second")
        if measured:
            click.echo("all other hours: from the pace of earlier calls in the ledger")
    return whole


def _shown(model: str, study: str, estimate: CostEstimate) -> dict[str, str]:
    """The row of a forecast."""
    about, most = ("unknown" if cost is None else f"{cost:.4f}" for cost in (estimate.about, estimate.most))
    return {
        "model": model, "study": study, "calls": str(estimate.calls), "in the ledger": str(estimate.recorded),
        "tokens": f"{estimate.tokens:,}", "dollars": about, "at most": most, "hours": f"{estimate.seconds / 3600:.2f}",
    }  # fmt: skip


@click.command(name="benchmark")
@click.argument("name")
@click.option("--corpus", "corpora", multiple=True, help="A corpus to include; may be repeated.")
@click.option("--task", "codes", multiple=True, help="A task to include; may be repeated.")
@click.option("--into", type=PATH, help="Folder to write to; by default, NAME in the current folder.")
def new_benchmark(name: str, corpora: Sequence[str], codes: Sequence[str], into: Path | None) -> None:
    """Write the recipe of a benchmark from this warehouse, by default with all corpora and tasks.

    The published systems and base sets of the corpora are included, except base sets with restricted texts. Texts to
    be replaced by the author of the recipe begin with TODO.
    """
    warehouse = Deployment().warehouse
    if not (corpora or codes):
        corpora = warehouse.read("corpus", columns=["corpus"])["corpus"].to_list()
        codes = warehouse.read("task", columns=["task"])["task"].to_list()
    keys = pl.DataFrame({"corpus": corpora}, {"corpus": pl.String})
    people = warehouse.read("leaderboard", keys).filter(kind="human")
    scores = markdown(readable(people).drop("rank", "kind", strict=False)) if len(people) else ""
    folder = into or Path(name)
    recipe, left_out = write_recipe(warehouse, name, corpora, codes, folder, scores)
    for source, content in recipe.sources.items():
        place = f"{content.repository} at {content.commit[:7]}" if content.repository else "a folder of the user's"
        click.echo(f"source {source}: {content.files}, from {place}")
    for base_set in recipe.base_sets:
        click.echo(f"base set {base_set.description}")
    for key, reason in left_out.items():
        click.echo(f"left out, base set {key}: {reason}")
    click.echo(f"{folder}: replace the texts that begin with {TODO}, then try `variorum add {folder}` in another home")


@click.command(name="reproduce")
@click.argument("benchmark", metavar="NAME")
@click.option("--all", "every", is_flag=True, help="Also list the numbers that were not recomputed.")
def show_reproduction(benchmark: str, every: bool) -> None:
    """Compare every number in the paper of the benchmark NAME with the warehouse, and count the outcomes.

    The exit code is 1 if a number differs and the benchmark's recipe gives no reason.
    """
    warehouse = Deployment().warehouse
    files = reproduction.known(warehouse)
    if benchmark not in files:
        problem = f"no such benchmark with published numbers{suggestion(benchmark, files)}"
        raise BadInput(benchmark, "", problem, f"use one of {', '.join(files)}")
    folder = files[benchmark].parent
    rows = reproduction.reproduce(warehouse, benchmark, numbers.read(files[benchmark]), folder)
    lacking = rows.filter(pl.col("outcome").is_in(reproduction.REASONS))
    of_counts = number_table(from_counts(rows)).drop("reason", "link")
    sections = {
        "": number_table(recomputed(rows)),
        "Not recomputed: these follow from counts that the paper prints itself\n": of_counts,
        "Not recomputed\n": number_table(lacking if every else lacking.clear()),
    }
    for title, table in sections.items():
        if len(table):
            click.echo(f"{title}{plain(table)}\n")
    click.echo(plain(counts(rows)))
    if len(lacking):
        click.echo(f"\n{plain(reasons(rows))}")
    click.echo(f"\n{summary(rows)}")
    if contradicted := len(rows.filter(outcome=reproduction.CONTRADICTS)):
        raise click.ClickException(
            f"numbers that contradict the counts in their paper: {contradicted}; compare them with the paper, and "
            f"correct {files[benchmark]}"
        )
    if unexplained := len(rows.filter(outcome=reproduction.DIFFERS)):
        raise click.ClickException(
            f"numbers that differ from the paper without a reason: {unexplained}; find the cause, "
            f"or explain the difference under `differs` in {files[benchmark]}"
        )
