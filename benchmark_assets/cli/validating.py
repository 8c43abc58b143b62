"""The command that measures metrics beside people's ratings."""

from collections import Counter
from functools import partial
from pathlib import Path

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.words import PATH
from benchmark_assets.metrics.further import named
from benchmark_assets.validation.certificates import WRITTEN
from benchmark_assets.validation.gold import GoldSet
from benchmark_assets.validation.readers import read
from benchmark_assets.validation.references import page
from benchmark_assets.validation.rows import lacks, overview, rows_of
from benchmark_assets.validation.scoring import competing, scored, without_tokenizer
from resources.digest import digest
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.errors import BadInput, collecting, raise_all
from resources.provider.registry import Registry, default_path
from resources.tables import plain
from resources.warehouse import Replacement
from resources.whole_files import hand_over


@click.command()
@click.argument("folders", type=PATH, nargs=-1, required=True)
@click.option("--embedder", "names", multiple=True, help="Embedder in the registry; may be repeated.")
@click.option("--record", is_flag=True, help="Store the figures in the home, so that boards show them.")
@click.option("--references", is_flag=True, help="Also compare the references, and leave out each in turn.")
@click.option("--to", type=PATH, help="Write all figures to this CSV file.")
def validate(
    folders: tuple[Path, ...], names: tuple[str, ...], record: bool, references: bool, to: Path | None
) -> None:
    """Measure every metric beside people's ratings of translations: AUC, order of systems, recall, ceiling.

    FOLDERS hold gold sets: tables of MQM or ESA ratings by WMT, mt-metrics-eval's folders, exports of Label Studio or
    Pearmut, or completed spreadsheets. Vectors are kept in the home, each text's once.
    """
    home = Deployment()
    registry = home.provider.registry()
    embed = partial(embed_unique, warehouse=home.warehouse, run_id="validate")
    embedders = {
        embedder.signature: partial(embed, embedder=embedder)
        for embedder in (_embedder(registry, name) for name in names or _default(registry))
    }
    multilingual = registry.multilingual_embedder()
    metrics = competing(named(registry.metrics))
    sets = [gold for folder in folders for gold in read(folder, home.warehouse)]
    for name, count in Counter(gold.name for gold in sets).items():
        if count > 1:
            raise BadInput(name, "", f"is the name of {count} gold sets", "rename their folders")
    parts, faults = list[pl.DataFrame](), list[BadInput]()
    for gold in sets:
        with collecting(faults):
            rows = rows_of(gold, scored(gold, embedders, metrics, registry.chosen_comet()))
            parts.append(rows)
            _print(gold, rows)
            if to:
                hand_over(to, pl.concat(parts).select(WRITTEN).write_csv(float_precision=4))
            if record:
                stored = rows.with_columns(fingerprint=pl.lit(digest(rows.rows())))
                whole = pl.DataFrame({"gold_set": [gold.name]})
                home.warehouse.write([Replacement("gold_validation", stored, whole)], "validate")
            if references:
                across = partial(embed, embedder=multilingual) if multilingual else None
                click.echo(f"{page(gold, *next(iter(embedders.items())), across)}\n")
    if to and parts:
        click.echo(f"{to}: {sum(map(len, parts)):,} figures")
    if record and parts:
        click.echo("stored; `variorum update` shows them on the boards")
    raise_all(faults)


def _print(gold: GoldSet, rows: pl.DataFrame) -> None:
    click.echo(f"{gold.name}: {len(gold.ratings):,} ratings of {len(gold.outputs):,} outputs")
    warnings = rows["note"].drop_nulls().unique(maintain_order=True)
    for note in filter(None, (*gold.notes, *lacks(gold), without_tokenizer(gold), *warnings)):
        click.echo(f"  {note}")
    table = overview(rows)
    click.echo(f"{plain(table) if len(table) else '  no figures'}\n")


def _default(registry: Registry) -> list[str]:
    """The embedder for scoring, and the multilingual one where it is installed."""
    return [registry.embedder, *([registry.multilingual] if registry.multilingual_embedder() else [])]


def _embedder(registry: Registry, name: str) -> Embedder:
    if name not in registry.embedders:
        remedy = f"name one of {', '.join(registry.embedders)}"
        raise BadInput(default_path(), f"embedders.{name}", "is not in the registry", remedy)
    return registry.embedder_of(name)
