"""The base sets of a recipe: their checks before anything is imported, and their import with its provenance.

Here: base sets as parts of recipes, the table `published_base_set`. Not here: the import of a base set
(pairwise.base_sets), published files and totals (pairwise.published, pairwise.totals).
"""

from pathlib import Path

import polars as pl

from benchmark_assets.benchmarks.fetching import Stock, provenance
from benchmark_assets.benchmarks.recipe import FETCHED, ReadRecipe, RecipeBaseSet
from benchmark_assets.pairwise.base_sets import ImportedSet, import_base_set, read_base_set
from benchmark_assets.pairwise.published import PublishedSet, write_published
from benchmark_assets.pairwise.totals import import_totals
from resources import whole_files
from resources.errors import BadInput, collecting, raise_all
from resources.warehouse import Replacement, Warehouse

FOLDER = "base_sets"
"""Folder below an added recipe with a subfolder for each base set that is made from published files."""


def check_names(warehouse: Warehouse, recipe: ReadRecipe) -> None:
    """Check that no base set would take the name of another.

    Raises
    ------
    BadInput
        If a base set of the same name and version was imported from elsewhere.
    """
    owners = dict(warehouse.read("published_base_set", columns=["base_set", "benchmark"]).iter_rows())
    present, faults = set(warehouse.read("base_set", columns=["base_set"])["base_set"]), []
    for description, identity in recipe.base_sets.items():
        if identity.key in present and owners.get(identity.key) != recipe.recipe.name:
            remedy = f"remove it first: `variorum remove baseset {identity.key}`"
            problem = f"{identity.key} was imported from elsewhere"
            faults.append(BadInput(recipe.folder / description, "name", problem, remedy))
    raise_all(faults)


def check_content(place: Path, recipe: ReadRecipe, stock: Stock) -> None:
    """Read the base sets of a recipe that is copied into `place`, except those whose source is left out. Published
    files are made into folders of base sets.

    Raises
    ------
    BadInput
        If a file of a base set has a fault.
    """
    faults: list[BadInput] = []
    for base_set in recipe.recipe.base_sets:
        if base_set.source not in stock.left_out:
            with collecting(faults):
                folder, identity = _folder(place, recipe, base_set), recipe.base_sets[base_set.description]
                if isinstance(identity, PublishedSet):
                    write_published(identity, place / FETCHED / base_set.source, folder)
                read_base_set(folder)
    raise_all(faults)


def import_base_sets(warehouse: Warehouse, place: Path, recipe: ReadRecipe, stock: Stock) -> list[ImportedSet]:
    """Import the base sets of a recipe that `check_content` found sound. A base set whose source is left out has its
    published totals instead, if the recipe names them.

    Raises
    ------
    BadInput
        If a base set cannot be imported (see `import_base_set`).
    """
    imported, origins = [], []
    for base_set in recipe.recipe.base_sets:
        key = recipe.base_sets[base_set.description].key
        if base_set.totals:
            import_totals(warehouse, place / base_set.totals.file, key)
        if base_set.source not in stock.left_out:
            imported.append(import_base_set(warehouse, _folder(place, recipe, base_set)))
            file = recipe.base_sets[base_set.description]
            origins.append({"base_set": key, "url": "", "commit": "", "licence": ""} | (
                provenance(recipe, place, base_set.source, str(file.judgments)) if isinstance(file, PublishedSet)
                else {"sha256": whole_files.sha256(place / base_set.description)}
            ))  # fmt: skip
        elif base_set.totals:
            published = base_set.totals.model_dump(include={"url", "commit", "licence"})
            sha256 = whole_files.sha256(place / base_set.totals.file)
            origins.append({"base_set": key, **published, "sha256": sha256})
    if origins:
        stamps = {"benchmark": pl.lit(recipe.recipe.name), "fingerprint": pl.col("sha256")}
        rows = pl.DataFrame(origins).with_columns(**stamps)
        warehouse.write([Replacement("published_base_set", rows, rows.select("base_set"))], run_id="add")
    return imported


def _folder(place: Path, recipe: ReadRecipe, base_set: RecipeBaseSet) -> Path:
    """The folder of a base set: that of its manifest, or the one that is made from published files."""
    made = place / FOLDER / recipe.base_sets[base_set.description].key
    return made if base_set.source else (place / base_set.description).parent
