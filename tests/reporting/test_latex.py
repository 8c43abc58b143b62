"""Tables for papers are LaTeX whatever the names are, and say by what their numbers were made."""

import re
import shutil
import subprocess
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.reporting.latex import Table, escaped, typeset, write
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

TRICKY = r"a_b & 50% of {x} \input{/etc/passwd} #1 $y^2$ ~ [z] <q> | ”é"


def cells(text: str) -> list[list[str]]:
    """Cells of the rows of the one table in a text, after a check of its frame."""
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    depth = 0
    for sign in re.sub(r"\\[{}\\%]", "", text):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    found = re.search(r"\\begin\{tabular\}\{([lr]+)\}\n(.*)\\end\{tabular\}", text, re.DOTALL)
    assert found
    rows = [line.removesuffix(r" \\") for line in found[2].splitlines() if line.endswith(r"\\")]
    split = [re.split(r"(?<!\\) & ", row) for row in rows]
    assert {len(row) for row in split} == {len(found[1])}
    return split


def table(rows: pl.DataFrame, caption: str = "A caption") -> Table:
    return Table("name", caption, rows, 1, ["signature_1", "signature_1"])


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5), st.text())
def test_no_name_breaks_a_table(names: list[tuple[str, str]], caption: str) -> None:
    rows = pl.DataFrame(names, schema={"Sys_tem": pl.String, "Score, %": pl.String}, orient="row")
    found = cells(typeset(table(rows, caption)))
    assert found[0] == [r"Sys\_tem", r"Score, \%"]
    assert len(found) == 1 + len(names)


def test_nothing_in_a_name_is_a_command() -> None:
    assert escaped(TRICKY) == (
        r"a\_b \& 50\% of \{x\} \textbackslash{}input\{/etc/passwd\} \#1 \$y\textasciicircum{}2\$ \textasciitilde{} "
        r"{[}z{]} \textless{}q\textgreater{} \textbar{} ”é"
    )


def test_the_caption_says_once_by_what_the_numbers_were_made() -> None:
    text = typeset(table(pl.DataFrame({"System": ["a"], "Score": ["-"]})))
    assert text.count(r"Made by: signature\_1.") == 1
    assert cells(text) == [["System", "Score"], ["a", "--"]]


@pytest.fixture
def folder(built: dg.Definitions, warehouse: Warehouse, tmp_path: Path) -> Path:
    """Tables of a finished warehouse in which a model has a tricky name."""
    board = warehouse.read("leaderboard").drop("run_id", "updated_at")
    renamed = board.with_columns(pl.col("system").replace("alpha", TRICKY))
    warehouse.write([Replacement("leaderboard", renamed, None)], run_id="test")
    write(warehouse, tmp_path / "tables", "tiny")
    return tmp_path / "tables"


def test_tables_have_the_shape_of_the_papers(folder: Path, warehouse: Warehouse) -> None:
    found = {path.stem: cells(path.read_text(encoding="utf-8")) for path in folder.glob("*.tex") if path.stem != "all"}
    assert {"palibench-5", "palibench-6", "palibench-7", "palibench-8", "audit-6"} <= set(found)
    assert found["palibench-7"][0] == ["Kind", "System", "ann", "ben", "cleo"]
    assert found["palibench-8"][0][2:] == ["Similarity", "chrF++", "BLEU", "Length", "Outliers", "Mean rank"]
    board = found["palibench-6"]
    assert [row[0] for row in board[1:]] == ["model", "model", "human", "human", "human"]
    assert escaped(TRICKY) in {row[1] for row in board}
    scores = warehouse.read("leaderboard").filter(system="beta").row(0, named=True)
    (beta,) = (row for row in board if row[1] == "beta")
    number, low, high = (f"{scores[f'sim_best{bound}']:.3f}" for bound in ("", "_low", "_high"))
    assert beta[3] == f"{number} {{[}}{low}, {high}{{]}}"
    assert r"embedder: letter pairs" in (folder / "palibench-6.tex").read_text(encoding="utf-8")
    document = (folder / "all.tex").read_text(encoding="utf-8")
    assert set(re.findall(r"\\input\{(.+)\}", document)) == set(found)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_accepts_the_tables(folder: Path) -> None:
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_what_cannot_be_written_is_named(built: dg.Definitions, warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no corpus of this warehouse"):
        write(warehouse, tmp_path / "tables", "absent")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "mine.tex").write_text("mine")
    with pytest.raises(BadInput, match="is there already"):
        write(warehouse, tmp_path / "tables", "tiny")
    assert (tmp_path / "tables" / "mine.tex").read_text() == "mine"
