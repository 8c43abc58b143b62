"""Commands that print what a home contains, and change nothing.

All start without Dagster, except those that ask it which partitions there are. They import what they alone use.
"""

from collections.abc import Iterable, Iterator

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.legends import explained
from benchmark_assets.corpus.human_work import notices
from benchmark_assets.corpus.registry import paths
from benchmark_assets.metrics import unmeasured
from benchmark_assets.reporting import overview
from resources.errors import BadInput, suggestion
from resources.keys import KEYS
from resources.tables import cells, plain
from resources.warehouse import Warehouse

_OF_ANNOTATORS = (
    "corpus annotator protocol labels repeats agreement checks passed early_peers late_peers standing problem"
)
"""Columns of `annotator_consistency` that a leader of a campaign looks at."""


@click.command()
@click.option("--assets", "by_asset", is_flag=True, help="Also count the partitions of each asset.")
@click.option(
    "--annotators", "show", flag_value="annotators", help="Print how consistent annotators are, and whose labels count."
)
@click.option("--models", "show", flag_value="models", help="List the registry's models and the imported outputs.")
@click.option("--tasks", "show", flag_value="tasks", help="Show the results of all systems on understanding tasks.")
def status(by_asset: bool, show: str | None) -> None:
    """Show the corpora and models of the home, and what to do next.

    Also lists people's work on passages that are no longer in the files, and imported outputs that translate an
    earlier source. With --assets, counts the partitions of each asset that are materialized, failed or missing.
    """
    home = Deployment()
    if show:
        parts = {"annotators": _annotators, "models": _models, "tasks": _tasks}[show](home)
        click.echo("\n\n".join(parts))
        return
    corpora = overview.corpora(home.warehouse)
    models = overview.models(home.warehouse, {*home.provider.registry().models}.intersection(home.systems.applicable()))
    tasks = home.warehouse.read("task", columns=["task", "kind", "language"])
    tables = [corpora, tasks, models, *(_assets(home) if by_asset else [])]
    for table in tables:
        if len(table):
            click.echo(f"{explained(table)}\n")
    for notice in notices(home.warehouse):
        click.echo(f"{notice}\n")
    for line in unmeasured.words(home.warehouse):
        click.echo(f"{line}\n")
    click.echo("next:")
    for step in overview.next_steps(corpora, models, overview.unread(home.warehouse)):
        click.echo(f"  {step}")


def _assets(home: Deployment) -> Iterator[pl.DataFrame]:
    """Counts of the partitions of each asset, which Dagster knows."""
    from benchmark_assets.automation import runs

    yield runs.status(home.definitions, home.instance)


def _annotators(home: Deployment) -> Iterator[str]:
    """Agreement of annotators with themselves and with others, checks, and standing."""
    rows = home.warehouse.read("annotator_consistency").sort("corpus", "annotator", "protocol")
    shown = cells("annotator_consistency", *_OF_ANNOTATORS.split())
    yield (
        explained(rows.select(shown), "annotator_consistency")
        if len(rows)
        else ("no labels yet: run `variorum import labels FILES`, then `variorum update`")
    )


def _models(home: Deployment) -> Iterator[str]:
    """The models of the registry, and the models with imported outputs."""
    registry = home.provider.registry()
    entries = [(name, registry.model(name).place, entry.id, entry.effort) for name, entry in registry.models.items()]
    columns = ["model", "from", "id", "effort"]
    yield explained(pl.DataFrame(entries, schema=dict.fromkeys(columns, pl.String), orient="row"))
    if len(rows := home.warehouse.read("imported_file", columns=["model", "corpus", "outputs", "file"])):
        yield explained(rows, "imported_file")


def _tasks(home: Deployment) -> Iterator[str]:
    """Results on understanding tasks: scores, means by benchmark and language, overlap of test and train splits, and
    problems with answers."""
    from benchmark_assets.understanding import stored
    from benchmark_assets.understanding.exhibits import boards, confusions, neighbours, troubles, two_ways

    warehouse = home.warehouse
    if warehouse.read("task", columns=["task"], most=1).is_empty():
        yield "no tasks yet: `variorum import tasks FILE`"
        return
    tables = boards(warehouse.read("understanding_board")) | {
        "Similarity of test samples to the train split, and scores with and without similar test samples": neighbours(
            warehouse.read("task_leakage"), stored.baseline_scores(warehouse)
        ),
        "Span scores: averaged over samples as in the paper, and pooled": two_ways(warehouse.read("task_score")),
        "Most frequent confusions over all seeds": confusions(stored.confusions(warehouse)).head(20),
        "Repairs of answers, and reasons for unusable answers": troubles(warehouse.read("answer")),
    }
    blocks = [f"{title}\n{explained(table, 'task_score')}" for title, table in tables.items() if len(table)]
    yield from blocks or ["no scores yet: run `variorum update`"]


@click.command()
@click.argument("corpora", nargs=-1)
@click.option("--all", "every", is_flag=True, help="List every partition.")
def stale(corpora: tuple[str, ...], every: bool) -> None:
    """List stale partitions with reasons and estimated costs. Computes nothing and asks no model.

    With CORPORA, list only partitions of these corpora and tasks, and of tables about all corpora.
    """
    from benchmark_assets.automation.due import EVERYTHING, Scope, due, following, order
    from benchmark_assets.benchmarks.parts import added

    home = Deployment()
    scope = Scope(corpora=[name for corpus in corpora for names in added(home.warehouse, corpus)[:2] for name in names])
    looks = home.looks()
    news = looks.news()
    parts = [
        due(home.definitions, home.instance, asset, scope if corpora else EVERYTHING, looks, news)
        for asset in order(home.definitions)
    ]
    rows = pl.concat(
        [part.rows.select(pl.lit(part.asset.to_user_string()).alias("asset"), *KEYS, "reason") for part in parts]
    )
    if rows.is_empty():
        click.echo("everything is up to date")
        return
    partition = pl.concat_str([pl.when(pl.col(key) != "").then(key) for key in KEYS], separator="|", ignore_nulls=True)
    rows = rows.select("asset", "reason", partition=partition)
    if not every:
        groups = rows.group_by("asset", "reason", maintain_order=True)
        rows = groups.agg(partitions=pl.len(), first=pl.col("partition").first())
    click.echo(explained(rows))
    assets = [part.asset for part in parts if len(part.rows)]
    if downstream := [key.to_user_string() for key in following(home.definitions, assets)]:
        names = ", ".join(downstream) if every else f"{len(downstream)}; `variorum stale --all` names them"
        click.echo(f"\ndownstream assets that may become stale: {names}")
    for part in parts:
        if part.estimate:
            click.echo(f"\n{part.asset.to_user_string()}: {part.estimate}")
    click.echo("\nmaterialize them with `variorum update`")


@click.command(name="trace")
@click.argument("names", nargs=-1, required=True, metavar="[MODEL] CORPUS/PASSAGE|CORPUS|BASESET@VERSION")
def show_trace(names: tuple[str, ...]) -> None:
    """Print where a number of MODEL comes from, without any text. Without MODEL, print how it came to the benchmark.

    For a passage: every asset from the files to the verdicts, with versions, inputs, calls, costs, scores and labels,
    and what is stale. For a corpus: the row on the leaderboard and its most distant passages. For a base set: LT.

    Without MODEL: for a passage, why it is selected or not; for a corpus, how many passages each filter drops, and how
    its references compare; for a base set, how its anchors compare in each slice.

    A passage may be named by its ID alone, if no other one has it.
    """
    from benchmark_assets.reporting import trace

    if len(names) > 2:
        raise click.UsageError("name at most a MODEL and a passage, corpus or base set")
    *models, what = names
    warehouse = Deployment().warehouse
    if "@" not in what and what.partition("/")[0] not in (known := paths(warehouse)):
        what = _passage_with(warehouse, what, known)
    kind = "base set" if "@" in what else "passage" if "/" in what else "corpus"
    lines: Iterable[str]
    if not models:
        lines = {"base set": _of_anchors, "passage": _of_passage, "corpus": _of_corpus}[kind](warehouse, what)
    elif kind == "base set":
        lines = trace.of_strength(warehouse, models[0], what)
    elif kind == "passage":
        lines = trace.words(trace.of_output(warehouse, models[0], what))
    else:
        lines = trace.of_cell(warehouse, models[0], what)
    for line in lines:
        click.echo(line)


def _passage_with(warehouse: Warehouse, name: str, corpora: Iterable[str]) -> str:
    """The passage whose ID, which pages show without the corpus, is a name that begins with no corpus."""
    passages = warehouse.read("source_text", columns=["passage"])["passage"]
    found = passages.filter(passages.str.splitn("/", 2).struct.field("field_1") == name).sort()
    if len(found) > 1:
        raise BadInput(name, "", f"is the ID of several passages: {', '.join(found)}", "write CORPUS/ID")
    if found.is_empty():
        problem = f"no such corpus in this warehouse, nor a passage with this ID{suggestion(name, corpora)}"
        raise BadInput(name, "", problem, "`variorum status` lists the corpora; a passage is CORPUS/ID")
    return str(found[0])


def _of_corpus(warehouse: Warehouse, corpus: str) -> Iterator[str]:
    """How many passages of a corpus each filter drops, its references, and scores without a doubted one."""
    from benchmark_assets.reporting.exhibits import REFERENCES, WITHOUT
    from benchmark_assets.selection.funnel import funnels, steps

    rows = funnels(warehouse).filter(corpus=corpus)
    yield explained(steps(rows), "funnel") if len(rows) else f"{corpus} has no filters: every passage is selected"
    for exhibit in (REFERENCES, WITHOUT):
        if len(rows := exhibit.brief(exhibit.frame(warehouse, corpus))):
            table = explained(rows.select(cells(exhibit.table, *exhibit.columns.split())), exhibit.table)
            yield f"\n{exhibit.title}. {exhibit.words}\n\n{table}"


def _of_passage(warehouse: Warehouse, passage: str) -> Iterator[str]:
    """Why a passage is selected or not, and what its alignment lacks."""
    from benchmark_assets.selection.funnel import reasons

    key = pl.DataFrame({"passage": [passage]})
    selection = warehouse.read("selection", key)
    if selection.is_empty():
        raise BadInput(passage, "", "no such passage", "write CORPUS/ID; after a change of files run `variorum update`")
    yield explained(reasons(selection, warehouse.read("passage_filter", key)))
    stages = warehouse.read("verification", key).drop("passage", "fingerprint", "run_id", "updated_at")
    doubts = warehouse.read("alignment", key, ["translator", "doubt"]).drop_nulls()
    pairs = warehouse.read("pair_doubt", key, ["translator", "segment_id", "kind", "evidence", "accepted"])
    unassigned = warehouse.read("unassigned", key, ["translator", "start_at", "end_at", "after", "before", "text"])
    tables = {"pair_doubt": pairs, "alignment": doubts, "unassigned": unassigned, "verification": stages}
    yield from (f"\n{explained(rows, table)}" for table, rows in tables.items() if len(rows))


def _of_anchors(warehouse: Warehouse, base_set: str) -> Iterator[str]:
    """How the anchors of a base set compare in each slice: matches, win rate, LT and EN with intervals."""
    from benchmark_assets.pairwise.building import report

    rows = report(warehouse, base_set)
    names = ("slice", "anchor", "items", "matches", "ties", "excluded", "win_rate", "lt", "en")
    first = rows.row(0, named=True)
    yield f"{explained(rows.select(cells('anchor_score', *names)), 'anchor_score')}"
    yield f"\n{first['contract']}; {first['signature']}"
    if first["problem"]:
        yield f"\n{first['problem']}"


@click.command(name="contrast")
@click.argument("model")
@click.argument("other")
@click.argument("corpus")
def show_contrast(model: str, other: str, corpus: str) -> None:
    """Show where MODEL and OTHER differ on CORPUS: passages, words and n-grams of the references, parts of the corpus.

    The reader sorts all passages by the difference, if you choose both models there.
    """
    from benchmark_assets.reporting.contrast import SHOWN, SIGNED, contrast

    found = contrast(Deployment().warehouse, model, other, corpus)
    tables = {
        f"Passages on which one is furthest ahead, up to {SHOWN} each": found.passages,
        "Words of the references that the outputs have": found.kinds,
        f"N-grams of the references that only one has, by passages, up to {SHOWN} each": found.grams,
        "Parts of the corpus": found.parts,
    }
    for title, table in tables.items():
        click.echo(f"{title}\n{plain(table.with_columns(pl.selectors.float().round(2)))}\n")
    click.echo(SIGNED)


@click.command()
def snapshot() -> None:
    """Copy the warehouse, so that notebooks can read while runs write, and print the path of the copy.

    The copy contains restricted texts: do not pass it on.
    """
    click.echo(Deployment().warehouse.snapshot())
