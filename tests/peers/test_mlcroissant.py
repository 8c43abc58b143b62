"""mlcroissant, the reference implementation of Croissant: it validates each package, and reads its tables."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.peers.environments import Peer

PEER = "mlcroissant"
pytestmark = pytest.mark.peer
RECORDS = """
import json, sys
import mlcroissant
dataset = mlcroissant.Dataset(sys.argv[1])
tables = {each.id: [*dataset.records(each.id)] for each in dataset.metadata.record_sets}
print(json.dumps(tables, default=bytes.decode))
"""


def test_packages_are_valid(
    peer: Peer, packages: dict[str, Path], record_property: Callable[[str, object], None]
) -> None:
    """`mlcroissant validate` of the packages of two corpora, and of tasks and costs."""
    for folder in packages.values():
        peer.run("mlcroissant", "validate", "--jsonld", str(folder / "croissant.json"))
    record_property("result", f"{len(packages)} packages without an error")


def test_tables_are_read(peer: Peer, package: Path, record_property: Callable[[str, object], None]) -> None:
    """Records of all tables of a package."""
    tables = json.loads(peer.python(RECORDS, str(package / "croissant.json")))
    files = {path.stem: pl.read_parquet(path) for path in (package / "parquet").iterdir()}
    assert {name: len(records) for name, records in tables.items()} == {name: len(rows) for name, rows in files.items()}
    for name, records in tables.items():
        assert not records or {key.partition("/")[2] for key in records[0]} == set(files[name].columns)
    found = [(row["passages/passage_id"], row["passages/segment_ids"]) for row in tables["passages"]]
    assert found == files["passages"].select("passage_id", "segment_ids").rows()
    record_property("result", f"{len(tables)} tables, {sum(map(len, tables.values())):,} records")


def test_columns_are_the_same_in_all_corpora(packages: dict[str, Path]) -> None:
    """Names of columns do not depend on a corpus."""
    columns = [
        {field["@id"] for each in json.loads((packages[name] / "croissant.json").read_text())["recordSet"]
         for field in each["field"]}
        for name in ("sample", "dialogues")
    ]  # fmt: skip
    assert columns[0] == columns[1]
