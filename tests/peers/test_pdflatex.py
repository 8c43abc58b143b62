"""pdflatex: it typesets the tables for papers without a warning, in scalable fonts and two sizes (text and tables)."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.reporting.latex import DOCUMENT, LatexTable, typeset
from tests.processes import variorum
from tests.reporting.test_latex import TRICKY

PEER = "pdflatex"
pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(
        None in map(shutil.which, ("pdflatex", "pdffonts")),
        reason="needs pdflatex and pdffonts: apt-get install texlive-latex-extra lmodern poppler-utils",
    ),
]


@pytest.fixture(autouse=True)
def named(record_property: Callable[[str, object], None]) -> None:
    shown = subprocess.run(["pdflatex", "--version"], capture_output=True, text=True, check=True).stdout
    record_property("version", shown.splitlines()[0].partition("(")[2].rstrip(")"))


def pages(folder: Path) -> set[str]:
    """Fonts of the pages of `all.tex`, which is typeset twice, because of its labels. No line is too wide."""
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-2000:]
    assert not [line for line in done.stdout.splitlines() if re.match("Overfull|LaTeX Warning", line)]
    fonts = subprocess.run(["pdffonts", "all.pdf"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert all(" Type 1 " in line for line in fonts.splitlines()[2:])
    return {line.split()[0].partition("+")[2] for line in fonts.splitlines()[2:]}


def test_tables_of_a_corpus_are_typeset(
    demo: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """`variorum export --as latex`: all tables of a corpus in one document."""
    variorum(demo, "export", "--as", "latex", str(tmp_path / "tables"), "sample")
    assert pages(tmp_path / "tables") == {"LMRoman10-Regular", "LMRoman8-Regular"}
    tables = len([*(tmp_path / "tables").glob("*.tex")]) - 1
    record_property("result", f"{tables} tables, no line too wide, scalable fonts, one size for all tables")


def test_a_wide_table_with_tricky_names_is_typeset(tmp_path: Path) -> None:
    """A table of 30 columns in panels, with LaTeX's special characters in names, caption and note."""
    rows = pl.DataFrame(
        {"System": [TRICKY, "b"], **{f"T{at}_{TRICKY[:4]}": ["94.25 (1.0 %)", None] for at in range(30)}}
    )
    (tmp_path / "wide.tex").write_text(typeset(LatexTable("wide", TRICKY, rows, 1, [TRICKY])), encoding="utf-8")
    (tmp_path / "all.tex").write_text(DOCUMENT.format(inputs=r"\input{wide}"), encoding="utf-8")
    pages(tmp_path)
