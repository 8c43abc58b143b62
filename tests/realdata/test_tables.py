"""The tables of two books with the real MiniLM, every translator scored against the others."""

import json
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.reporting.exhibits import shares, slice_tables
from benchmark_assets.reporting.leaderboard import further, readable
from resources.tables import plain, shown
from resources.warehouse import Warehouse
from tests.support import CORE

pytestmark = [pytest.mark.realdata, pytest.mark.proof]

SPREADS = {"source_length", "reference_length", "human_spread"}


@pytest.mark.parametrize(
    ("file", "translators"),
    [
        pytest.param("daodejing/daodejing.jsonl", 8, marks=pytest.mark.large),
        ("dhammapada/dhammapada_units.jsonl", 3),
    ],
)
def test_every_translator_is_a_row_of_every_table(
    realdata: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, file: str, translators: int,
    full: bool,
) -> None:  # fmt: skip
    texts = (realdata / file).read_text(encoding="utf-8").splitlines()[: None if full else 12]
    (tmp_path / "book.jsonl").write_text("\n".join(texts), encoding="utf-8")
    lines = [json.loads(line) for line in texts]
    names = sorted({name for line in lines for name in line["references"]})
    assert len(names) == translators
    description = tmp_path / "book.yaml"
    content = {
        "name": "book",
        "layout": "jsonl",
        "root": str(tmp_path / "book.jsonl"),
        "source": {"language": lines[0]["lang"], "licence": "public domain"},
        "references": {name: {"language": "en", "licence": "public domain in the USA"} for name in names},
        "sensitivity": {"passages": 2},
        "ignore": ["chapter", "source_alt", "verses", "segment_ids", "latin_fausboll"],
    }
    description.write_text(json.dumps(content), encoding="utf-8")
    register(warehouse, description)
    definitions = build_definitions(rooms=CORE, resource_overrides={"warehouse": warehouse})
    runs.take_in(definitions, instance, "book")

    board = warehouse.read("leaderboard")
    assert sorted(board["system"]) == names
    assert board.select("sim_best", "drift", "outlier_rate", "bleu", "chrf", "length_ratio").null_count().row(0) == (
        0, 0, 0, 0, 0, 0
    )  # fmt: skip
    for measure in ("sim_best", "drift", "chrf", "bleu", "length_ratio"):
        low, value, high = (board[f"{measure}{bound}"] for bound in ("_low", "", "_high"))
        assert ((low < value) & (value < high)).all(), measure
    pairs = translators * (translators - 1) // 2
    compared = warehouse.read("system_comparison").filter(measure="sim_best")
    assert len(compared) == pairs
    assert sorted(set(warehouse.read("closest_share")["system"])) == names
    slices = warehouse.read("slice_summary").filter(pl.col("dimension").is_in(list(SPREADS)))
    assert set(slices.group_by("dimension", "slice").len()["len"]) == {translators}
    print(f"\n{file}, {len(lines)} passages\n{plain(readable(board))}\n\n{plain(further(board))}")
    for text in (
        shown(warehouse.read("translator_agreement"), "translator_agreement"),
        shares(warehouse.read("closest_share")),
        slice_tables(warehouse.read("slice_summary")),
    ):
        print(f"\n{text}")
