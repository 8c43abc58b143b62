"""Sums by unit: after any edits, tables from kept sums equal those from nothing, and few scores are read."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.reporting.human_range import TABLES, among_people
from benchmark_assets.reporting.unit_sums import UnitSums
from resources import catalogue
from resources.catalogue import PROVENANCE
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Replacement, Warehouse, noting
from tests.vectors import exchangeable_translations

TRANSLATORS, MODELS = ("ann", "ben", "cleo"), ("alpha", "beta")
DOCUMENTS, EACH = 8, 5
PASSAGES = [f"x/d{number // EACH}:{number}" for number in range(DOCUMENTS * EACH)]


def put(warehouse: Warehouse, rows: Mapping[str, pl.DataFrame], keys: pl.DataFrame | None) -> None:
    """Replace rows of tables, with an empty value in each required column that is not given."""

    def completed(table: str, given: pl.DataFrame) -> pl.DataFrame:
        empty = {"VARCHAR": "", "BOOLEAN": False, "VARCHAR[]": []}
        declared = catalogue.table(table).content
        values = {name: None if column.nullable else empty.get(column.type, 0) for name, column in declared.items()}
        added = (
            pl.lit(values[name], declared[name].polars).alias(name) for name in declared if name not in given.columns
        )
        return given.with_columns(added).select(pl.col(name).cast(declared[name].polars) for name in declared)

    warehouse.write([Replacement(table, completed(table, given), keys) for table, given in rows.items()], "run")


def sources(*passages: str) -> pl.DataFrame:
    names = pl.DataFrame({"passage": passages}, {"passage": pl.String}).with_columns(
        corpus=pl.lit("x"), passage_id=pl.col("passage").str.slice(2)
    )
    place = pl.col("passage_id").str.extract(r":(\d+)").cast(pl.Int32) % EACH
    return names.with_columns(document=pl.col("passage_id").str.extract(r"^(\w+)"), position=place)


def scored(seed: int, *passages: str) -> dict[str, pl.DataFrame]:
    """Similarities of made texts: three references (in some passages two) and two outputs of each passage."""
    rows: dict[str, list[tuple[object, ...]]] = {"output_similarity": [], "reference_similarity": []}
    drawn = exchangeable_translations(seed, len(passages), 5)
    for at, passage in enumerate(passages):
        names = TRANSLATORS[: 2 if (seed + at) % 7 == 0 else 3]
        for number, name in enumerate(names):
            others = [(other, names[other]) for other in range(number + 1, len(names))]
            rows["reference_similarity"] += [
                (passage, name, other, float(drawn[at, number] @ drawn[at, place])) for place, other in others
            ]
            rows["output_similarity"] += [
                (model, passage, name, float(drawn[at, 3 + place] @ drawn[at, number]))
                for place, model in enumerate(MODELS)
            ]
    embedded = pl.DataFrame({"passage": passages}).with_columns(embedder=pl.lit("an embedder"))
    return {
        "output_similarity": pl.DataFrame(
            rows["output_similarity"], ["model", "passage", "translator", "similarity"], orient="row"
        ),
        "reference_similarity": pl.DataFrame(
            rows["reference_similarity"], ["passage", "translator", "other", "similarity"], orient="row"
        ),
        "reference_envelope": embedded.with_columns(reference_count=3),
        "drift_score": embedded.join(pl.DataFrame({"model": MODELS}), how="cross"),
    }


@pytest.fixture
def warehouse(home: Path) -> Iterator[DuckDBWarehouse]:
    made = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    corpus = pl.DataFrame({"corpus": ["x"], "description": ["x.yaml"]})
    with made.kept_open():
        put(made, {"corpus": corpus, "source_text": sources(*PASSAGES), **scored(1, *PASSAGES)}, None)
        yield made


def computed(warehouse: Warehouse, *, anew: bool = False) -> Mapping[str, pl.DataFrame]:
    """The tables of `human_range`; thresholds are stored, as its asset stores them."""
    former = warehouse.read("outlier_threshold").drop(PROVENANCE)
    sums = UnitSums(warehouse, TABLES, "run", anew=anew)
    tables = among_people(warehouse, sums, former.clear() if anew else former, "a version")
    put(warehouse, {"outlier_threshold": tables["outlier_threshold"]}, None)
    return tables


def edit(warehouse: Warehouse, dice: random.Random) -> None:
    """Change, remove or add a passage: its texts, or the outputs of a model."""
    passage = dice.choice(PASSAGES)
    keys = pl.DataFrame({"passage": [passage]})
    tables = scored(dice.randrange(1000), passage)
    match dice.choice(["text", "text", "output", "lost output", "removed"]):
        case "text":
            put(warehouse, {"source_text": sources(passage), **tables}, keys)
        case "removed":
            put(
                warehouse,
                {name: rows.clear() for name, rows in {"source_text": sources(passage), **tables}.items()},
                keys,
            )
        case kind:
            keys = keys.with_columns(model=pl.lit(dice.choice(MODELS)))
            of_model = {
                name: tables[name]
                .join(keys, on=["model", "passage"], how="semi")
                .head(0 if kind == "lost output" else 9)
                for name in ("output_similarity", "drift_score")
            }
            put(warehouse, of_model, keys)


@pytest.mark.proof
def test_tables_after_edits_equal_tables_from_nothing(warehouse: DuckDBWarehouse, full: bool) -> None:
    dice, edits, between = random.Random(5), *((2000, 100) if full else (12, 4))
    computed(warehouse)
    for number in range(1, edits + 1):
        edit(warehouse, dice)
        found = computed(warehouse)
        if number % between == 0:
            for table, rows in computed(warehouse, anew=True).items():
                assert len(rows) > 0, table
                keys = [name for name in catalogue.table(table).key if name in rows.columns]
                one, other = rows.sort(keys), found[table].sort(keys)
                exact = [name for name, kind in rows.schema.items() if not kind.is_float()]
                assert one.select(exact).equals(other.select(exact)), table
                for name in {*rows.columns} - {*exact}:
                    assert one[name].is_null().equals(other[name].is_null()), (table, name)
                    assert ((one[name] - other[name]).abs().max() or 0) < 1e-12, (table, name)  # type: ignore[operator]


def test_scores_of_other_documents_are_not_read(warehouse: DuckDBWarehouse) -> None:
    computed(warehouse)
    with noting() as reads:
        computed(warehouse)
    assert {table for table, keys in reads if keys is not None} <= {"materialization", "unit_sum"}
    keys = pl.DataFrame({"passage": [PASSAGES[7]], "model": [MODELS[0]]})
    other = scored(3, PASSAGES[7])["output_similarity"].join(keys, on=keys.columns, how="semi")
    put(warehouse, {"output_similarity": other}, keys)
    with noting() as reads:
        computed(warehouse)
    read = Counter(len(keys) for table, keys in reads if table in TABLES and keys is not None)
    assert read.keys() == {EACH}
    removed = pl.DataFrame({"passage": PASSAGES[-EACH:]})
    put(warehouse, {"source_text": sources().clear()}, removed)
    computed(warehouse)
    assert warehouse.read("unit_sum")["document"].n_unique() == DOCUMENTS - 1
