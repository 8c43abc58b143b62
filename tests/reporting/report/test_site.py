"""The site of a home: its pages, their links, what is left out, and what it replaces."""

import re
from pathlib import Path

import pytest

from benchmark_assets.reporting.report.site import write_site
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.reporting.reader.world import CLOSED, CORPUS, build


def test_a_site_has_a_page_for_everything_and_no_restricted_text(tmp_path: Path) -> None:
    warehouse, folder = build(tmp_path, restricted=True, count=6), tmp_path / "site"
    pages = write_site(warehouse, folder)
    assert pages == ["index.html", f"read/{CORPUS}/index.html", "report.html"]
    front = (folder / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"#]+)"', front)
    assert links
    assert all((folder / link).is_file() for link in links)
    report = (folder / "report.html").read_text(encoding="utf-8")
    parts = re.findall(r'href="report\.html#([^"]+)"', front)
    assert parts[0] == f"corpus-{CORPUS}"
    assert all(f'id="{part}"' in report for part in parts)
    assert all(CLOSED not in path.read_text(encoding="utf-8").lower() for path in folder.rglob("*") if path.is_file())
    assert write_site(warehouse, folder) == pages


def test_a_site_replaces_nothing_else_and_is_of_something(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("Mine.")
    with pytest.raises(BadInput, match="is not a Variorum site"):
        write_site(build(tmp_path, count=2), tmp_path / "thesis")
    with pytest.raises(BadInput, match="neither a corpus with passages, nor a task"):
        write_site(DuckDBWarehouse(path=str(tmp_path / "empty" / "variorum.duckdb")), tmp_path / "site")
