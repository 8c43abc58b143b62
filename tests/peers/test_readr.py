"""R's readr: it guesses the types of the columns of a package's CSV files as the dictionary declares them."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

PEER = "readr"
READ = """
folder <- commandArgs(TRUE)[1]
for (file in list.files(folder, pattern = "[.]csv$")) {
  rows <- readr::read_csv(file.path(folder, file), show_col_types = FALSE, guess_max = Inf)
  stopifnot(nrow(readr::problems(rows)) == 0)
  for (name in names(rows)) {
    total <- if (is.numeric(rows[[name]])) sum(rows[[name]], na.rm = TRUE) else NA
    cat(file, name, class(rows[[name]])[1], nrow(rows), format(total, digits = 15), sep = "\\t")
    cat("\\n")
  }
}
"""
CLASSES = {"number": "numeric", "integer": "numeric", "boolean": "logical", "string": "character", "array": "character"}


def version() -> str:
    """Version of R and readr; '' without them."""
    if shutil.which("Rscript") is None:
        return ""
    shown = ["Rscript", "-e", 'cat(paste0(packageVersion("readr"), ", R ", getRversion()))']
    done = subprocess.run(shown, capture_output=True, text=True)
    return "" if done.returncode else done.stdout


pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(not version(), reason="needs R with readr: apt-get install r-cran-readr"),
]


def test_columns_have_the_declared_types(
    package: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """`read_csv` of every file: types, numbers of rows, and sums of numbers."""
    record_property("version", version())
    (tmp_path / "read.R").write_text(READ)
    done = subprocess.run(["Rscript", str(tmp_path / "read.R"), str(package)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    resources = json.loads((package / "datapackage.json").read_text())["resources"]
    declared = {
        (each["path"], field["name"]): field["type"] for each in resources for field in each["schema"]["fields"]
    }
    tables = {path.stem: pl.read_parquet(path) for path in (package / "parquet").iterdir()}
    checked = 0
    for file, name, kind, rows, total in (line.split("\t") for line in done.stdout.splitlines()):
        if (file, name) not in declared:
            assert file == "dictionary.csv"
            continue
        values = tables[file.removesuffix(".csv")][name]
        assert int(rows) == len(values)
        filled = values.drop_nulls()
        if not len(filled) or (declared[file, name] == "string" and set(filled) == {""}):
            continue  # without a value there is no type
        assert kind == CLASSES[declared[file, name]], (file, name)
        if kind == "numeric":
            assert float(total) == pytest.approx(float(filled.sum()), rel=1e-9, abs=1e-9), (file, name)
        checked += 1
    record_property("result", f"{checked} columns with values: types as declared, sums equal")
