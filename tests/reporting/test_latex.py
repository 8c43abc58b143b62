"""Tables for papers are LaTeX whatever the names are, and say by what their numbers were made."""

import json
import re
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.reporting.latex import LatexTable, escaped, typeset, write
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.reporting.report.made import made, put

TRICKY = r"a_b & 50% of {x} \input{/etc/passwd} #1 $y^2$ ~ [z] <q> | ”é"


def cells(text: str) -> list[list[str]]:
    """Cells of the rows of the one table in a text, after a check of its frame. Panels are joined."""
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    assert [text.count(rule) for rule in (r"\toprule", r"\bottomrule")] == [1, 1]
    depth = 0
    for sign in re.sub(r"\\[{}\\%]", "", text):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    found = re.search(r"\\begin\{tabular\}\{([lr]+)\}\n(.*)\\end\{tabular\}", text, re.DOTALL)
    assert found
    rows = [line.removesuffix(r" \\") for line in found[2].splitlines() if line.endswith(r"\\")]
    split = [re.split(r"(?<!\\) & ", row) for row in rows]
    assert max(len(row) for row in split) == len(found[1])
    panels = text.count(r"\midrule") // 2 + 1
    texts, height = found[1].count("l"), len(split) // panels
    parts = [split[at : at + height] for at in range(0, len(split), height)]
    assert [[row[:texts] for row in part] for part in parts] == [[row[:texts] for row in parts[0]]] * panels
    return [[*rows[0][:texts], *(cell for row in rows for cell in row[texts:])] for rows in zip(*parts, strict=True)]


def table(rows: pl.DataFrame, caption: str = "A caption") -> LatexTable:
    return LatexTable("name", caption, rows, 1, ["signature_1", "signature_1"])


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


def test_the_note_says_once_by_what_the_numbers_were_made() -> None:
    text = typeset(table(pl.DataFrame({"System": ["a"], "Score": [None]})))
    assert text.count(r"Method: signature\_1.") == 1
    assert cells(text) == [["System", "Score"], ["a", "--"]]


@pytest.mark.parametrize(("columns", "panels"), [(10, 1), (11, 2), (21, 3), (1, 1)])
def test_a_wide_table_has_panels(columns: int, panels: int) -> None:
    """Ten columns of ten characters, each with a gap of two, fit beside one of one character."""
    rows = pl.DataFrame({"a": ["b"], **{f"number{at:4d}": [f"{at}"] for at in range(columns)}})
    text = typeset(table(rows))
    assert text.count(r"\midrule") == 2 * panels - 1
    assert cells(text)[1] == ["b", *map(str, range(columns))]


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
    assert found["palibench-7"][0] == ["kind", "system", "ann", "ben", "cleo"]
    measures = ["similarity", "mean chrF++", "mean BLEU", "length error", "outliers", "mean rank"]
    assert found["palibench-8"][0][2:] == measures
    board = found["palibench-6"]
    assert [row[0] for row in board[1:]] == ["model", "model"]
    assert [row[0] for row in found["palibench-6-2"][1:]] == ["human", "human", "human"]
    assert escaped(TRICKY) in {row[1] for row in board}
    scores = warehouse.read("leaderboard").filter(system="beta").row(0, named=True)
    (beta,) = (row for row in board if row[1] == "beta")
    assert f"{scores['sim_best']:.3f}" in beta  # three passages are too few for an interval
    assert r"embedder: letter pairs" in (folder / "palibench-6.tex").read_text(encoding="utf-8")
    document = (folder / "all.tex").read_text(encoding="utf-8")
    assert set(re.findall(r"\\input\{(.+)\}", document)) == set(found)


def test_who_has_tasks_alone_needs_no_corpus(warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no tables yet"):
        write(warehouse, tmp_path / "tables")
    rows = [
        ("linear", "trained", "DharmaBench", "bo", "VPCT", 94.25, 0.01),
        ("linear", "trained", "DharmaBench", "bo", "", 94.25, None),
        ("linear", "trained", "", "bo", "OWN", 50.0, 0.5),
    ]  # fmt: skip
    keys = ["system", "kind", "benchmark", "language", "task", "score", "near"]
    board = pl.DataFrame(rows, schema=keys, orient="row").with_columns(
        tasks=pl.lit(1, pl.Int32), evaluated=pl.lit(10, pl.Int32), available=pl.lit(10, pl.Int32),
        score_low=pl.lit(None, pl.Float64), score_high=pl.lit(None, pl.Float64),
        score_sd=pl.lit(None, pl.Float64), missing=pl.lit(""), signature=pl.lit("made"), fingerprint=pl.lit("f"),
    )  # fmt: skip
    warehouse.write([Replacement("understanding_board", board, None)], run_id="test")
    assert write(warehouse, tmp_path / "tables") == ["dharmabench-bo.tex", "understanding-bo.tex"]
    found = cells((tmp_path / "tables" / "dharmabench-bo.tex").read_text(encoding="utf-8"))
    assert found == [["kind", "system", "VPCT", "mean"], ["trained", "linear", r"94.25 (1.0 \% near)", "94.25"]]
    own = cells((tmp_path / "tables" / "understanding-bo.tex").read_text(encoding="utf-8"))
    assert own[0] == ["kind", "system", "OWN"]


def test_scores_that_do_not_compare_are_in_tables_of_their_own(tmp_path: Path) -> None:
    warehouse = made(tmp_path, ["alpha", "beta", "untriaged"], 3)
    put(
        warehouse,
        "corpus",
        [{"corpus": "made", "audit": json.dumps({"bands": [0.5, 2.5], "threshold": 0.5, "sample": [1, 1, 1]})}],
    )
    triage = warehouse.read("triage").drop("run_id", "updated_at").filter(pl.col("model") != "untriaged")
    put(warehouse, "triage", triage.with_columns(drift=pl.lit(1.0)))
    source = {"corpus": "made", "segment_ids": ["1"], "segments": ["a"]}
    put(warehouse, "source_text", [{**source, "passage": f"made/p{at}:1"} for at in range(3)])
    put(warehouse, "base_set_item", [{"base_set": "anchors@1.0.0", "passage": "made/p0:1"}])
    scores = warehouse.read("pairwise_score").drop("run_id", "updated_at")
    contract = pl.when(model="alpha").then(pl.lit("one")).otherwise(pl.lit("other")).alias("contract")
    put(warehouse, "pairwise_score", scores.with_columns(contract, signature=pl.lit("LT = 10 σ(strength)")))
    write(warehouse, tmp_path / "tables", "made")
    text = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "tables").glob("*.tex")}
    first, second = (text[f"jp-tl-bench-anchors-1.0.0-{place}"] for place in (1, 2))
    assert [row[0] for row in cells(first)] == ["model", "alpha"]
    assert {row[0] for row in cells(second)} == {"model", "beta", "untriaged"}
    assert r"other; LT = 10 \ensuremath{\sigma}(strength)" in second
    models = cells(text["audit-6"])
    assert models[0][-2:] == ["drift above 0.5", "drift above 2.5"]
    assert {row[0]: row[-2:] for row in models[1:]} == {
        "alpha": ["3", "0"], "beta": ["3", "0"], "untriaged": ["--", "--"],
    }  # fmt: skip


def test_what_cannot_be_written_is_named(built: dg.Definitions, warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a corpus of this warehouse"):
        write(warehouse, tmp_path / "tables", "absent")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "mine.tex").write_text("mine")
    with pytest.raises(BadInput, match="already exists"):
        write(warehouse, tmp_path / "tables", "tiny")
    assert (tmp_path / "tables" / "mine.tex").read_text() == "mine"
