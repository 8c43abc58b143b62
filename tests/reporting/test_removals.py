"""What a package or home lacks apart from a list of removals, and the list of this version."""

from pathlib import Path

import duckdb
import polars as pl
import pytest

from benchmark_assets.cli import main
from benchmark_assets.cli.words import FORMER
from benchmark_assets.reporting import removals
from resources import catalogue
from resources.backups import WAREHOUSE
from resources.errors import BadInput
from resources.home import PROJECT
from tests.processes import here

SHIPPED = PROJECT / "docs" / "removals.txt"


def written(folder: Path, home: bool, **tables: pl.DataFrame) -> Path:
    """A home or a package with these tables."""
    (folder / "parquet").mkdir(parents=True)
    with duckdb.connect(str(folder / WAREHOUSE) if home else ":memory:") as engine:
        for name, rows in tables.items():
            engine.register("rows", rows)
            engine.execute(f'CREATE TABLE "{name}" AS FROM rows')
            if not home:
                rows.write_parquet(folder / f"parquet/{name}.parquet")
    return folder


@pytest.mark.parametrize("home", [True, False])
def test_only_listed_removals_may_be_missing(tmp_path: Path, home: bool) -> None:
    rank = "metric_rank" if home else "ranks"
    before = pl.DataFrame(
        {"system": ["a", "b", "c"], "value": [0.5, float("nan"), None], "run_id": ["1"] * 3, "by": [1] * 3}
    )
    after = before.with_columns(pl.lit(0.7).alias("value"), run_id=pl.lit("2")).head(2).drop("by")
    old = written(tmp_path / "old", home, gone=before, **{rank: before})
    same = written(tmp_path / "same", home, new=before, gone=before, **{rank: before.with_columns(run_id=pl.lit("3"))})
    new = written(tmp_path / "new", home, **{rank: after})
    kind = "table" if home else "file"

    def missing(other: Path, *lines: str) -> list[tuple[str, str, int]]:
        (tmp_path / "list.txt").write_text("\n".join(lines), encoding="utf-8")
        found = removals.missing(old, other, removals.read(tmp_path / "list.txt"))
        return [(table, what.partition(", such")[0], count) for table, what, count in found.iter_rows()]

    assert missing(same) == []  # provenance and what is new are no differences
    assert missing(new) == [("gone", f"the {kind}", 3), (rank, "the column by", 3), (rank, "rows, by system, value", 3)]
    listed = [f"{kind} gone  # a reason", "column metric_rank.by", "# another reason", "option other"]
    assert missing(new, *listed, "number metric_rank.value") == [(rank, "rows, by system", 1)]  # one system fewer
    assert missing(new, *listed, "number metric_rank.value", "rows metric_rank.system=c") == []
    assert missing(new, *listed, "rows metric_rank") == []


def test_a_list_with_another_line_and_two_kinds_of_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("table a\nvalue b\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"list.txt: line 2: 'value b' is not a removal"):
        removals.read(tmp_path / "list.txt")
    rows = pl.DataFrame({"a": [1]})
    home, package = written(tmp_path / "home", True, t=rows), written(tmp_path / "package", False, t=rows)
    with pytest.raises(BadInput, match="compare two packages or two homes"):
        removals.missing(home, package, removals.read(SHIPPED))
    with pytest.raises(BadInput, match="neither a package nor a home"):
        removals.missing(package, tmp_path / "absent", removals.read(SHIPPED))


def test_the_command_fails_if_anything_is_missing(tmp_path: Path) -> None:
    rows = pl.DataFrame({"corpus": ["a"]})
    old, new = (
        written(tmp_path / "old", True, triage=rows, confusion=rows),
        written(tmp_path / "new", True, triage=rows),
    )
    told = here(tmp_path / "none", "compare", str(old), str(new), str(SHIPPED)).stdout
    assert told.startswith(f"{new} has all that {old} has")
    assert (
        "triage"
        in here(
            tmp_path / "none",
            "compare",
            str(old),
            str(written(tmp_path / "empty", True, other=rows)),
            str(SHIPPED),
            code=1,
        ).stdout
    )


def test_what_the_shipped_list_names_is_gone_or_still_has_the_named_values() -> None:
    listed = removals.read(SHIPPED)
    assert not listed["table"] & catalogue.tables().keys()
    assert not listed["file"] & {table.file for table in catalogue.declared().values()}
    for name in listed["number"] | {removal.partition("=")[0] for removal in listed["rows"]}:
        table, _, column = name.partition(".")
        assert column in catalogue.declared()[table].columns, name
    assert not [
        name
        for name in listed["column"]
        if name.partition(".")[2] in catalogue.declared()[name.partition(".")[0]].columns
    ]
    assert listed["command"] <= FORMER.keys()
    assert not listed["command"] & main.commands.keys()
