"""Checkpoints that modules of tests build in COMET's environment."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import polars as pl

from resources.comet.comet import Comet
from resources.home import PROJECT

PYTHON = Path(Comet().python)


def built(module: str, folder: Path, rows: pl.DataFrame) -> dict[str, Any]:
    """Run a module, which builds checkpoints in a folder, and return what it found of them with these rows of texts."""
    assert PYTHON.exists(), "these tests need COMET's environment: run `make comet`"
    rows.write_parquet(folder / "rows.parquet")
    arguments = [str(PYTHON), "-m", module, str(folder), str(folder / "rows.parquet")]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = subprocess.run(arguments, cwd=PROJECT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return found
