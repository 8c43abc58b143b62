"""Hugging Face's `datasets`: it loads each table of a package from disk, by the front matter of the README."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.peers.environments import Peer

PEER = "datasets"
pytestmark = pytest.mark.peer
LOAD = """
import json, sys
import datasets
folder = sys.argv[1]
names = datasets.get_dataset_config_names(folder)
tables = {name: datasets.load_dataset(folder, name, split="train") for name in names}
default = datasets.load_dataset(folder, split="train")
shapes = {name: [table.num_rows, table.column_names] for name, table in tables.items()}
print(json.dumps([shapes, default.column_names]))
"""
CARD = """
import sys
from huggingface_hub import DatasetCard
card = DatasetCard.load(sys.argv[1])
print(card.data.pretty_name, card.data.license, card.data.language, sep="|")
"""


def test_tables_are_loaded(
    peer: Peer, packages: dict[str, Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """`load_dataset` for each table of each package."""
    number = 0
    for name, folder in packages.items():
        offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / name)}
        shapes, default = json.loads(peer.python(LOAD, str(folder), **offline))
        files = {path.stem: pl.read_parquet(path) for path in (folder / "parquet").iterdir()}
        assert shapes == {each: [len(rows), rows.columns] for each, rows in files.items() if len(rows)}
        if name:
            assert default == files["leaderboard"].columns
        number += len(shapes)
    record_property("result", f"{number} tables of {len(packages)} packages loaded, which are all with rows")


def test_the_readme_is_a_dataset_card(peer: Peer, package: Path) -> None:
    """The README as a dataset card."""
    shown = peer.python(CARD, str(package / "README.md"), HF_HUB_OFFLINE="1")
    assert shown.strip() == "Variorum: sample|['cc0-1.0']|['en', 'la']"
