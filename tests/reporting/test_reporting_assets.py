"""The tables as assets, on the small corpus: what they hold together, and what one sees of them in the UI."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.reporting.assets import stored
from benchmark_assets.reporting.headline import words
from resources.harmless import in_markdown
from resources.warehouse import Warehouse
from tests.support import MODELS, TRANSLATIONS

TABLES = [
    "leaderboard", "closest_share", "system_comparison", "metric_rank", "slice_summary",
]  # fmt: skip
SYSTEMS = {*(("model", name) for name in MODELS), *(("human", name) for name in TRANSLATIONS)}


@pytest.fixture
def tables(built: dg.Definitions, warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    return {name: warehouse.read(name) for name in [*TABLES, "translator_agreement", "metric_concordance"]}


def test_every_table_has_models_and_translators_and_says_how_many_references_they_had(
    tables: dict[str, pl.DataFrame],
) -> None:
    for name in TABLES:
        rows = tables[name]
        assert rows.select("kind", "system").unique().n_unique() >= 4, name
        assert set(rows.select("kind", "system").rows()) <= SYSTEMS
        counts = rows.group_by("kind").agg(pl.col("mean_references").unique())
        assert dict(counts.iter_rows()) == {"model": [3.0], "human": [2.0]}, name
    for name in TABLES[:2]:
        assert set(tables[name].select("kind", "system").rows()) == SYSTEMS
    for name, rows in tables.items():
        assert rows["signature"].str.contains("95 % intervals").all(), name


def test_a_number_is_the_same_in_every_table(tables: dict[str, pl.DataFrame]) -> None:
    board = {(row["kind"], row["system"]): row for row in tables["leaderboard"].iter_rows(named=True)}
    for row in tables["metric_rank"].filter(pl.col("measure") != "mean_rank").iter_rows(named=True):
        own = board[row["kind"], row["system"]]
        for end in ("", "_low", "_high"):
            assert row[f"value{end}"] == pytest.approx(own[f"{row['measure']}{end}"])
    for row in tables["system_comparison"].iter_rows(named=True):
        gap = board[row["kind"], row["system"]][row["measure"]] - board[row["other_kind"], row["other"]][row["measure"]]
        assert row["difference"] == pytest.approx(gap)
    for _, shares in tables["closest_share"].group_by("kind", "system"):
        assert shares["closest"].sum() == 3
        assert shares["share"].sum() == pytest.approx(1)
    for _, parts in tables["slice_summary"].group_by("dimension", "kind", "system"):
        assert parts["passages"].sum() == 3
    spread = tables["translator_agreement"].filter(measure="human_spread")["value"].item()
    distances = tables["translator_agreement"].filter(measure="centroid_distance")["value"]
    assert distances.mean() == pytest.approx(spread)


def test_every_asset_shows_its_table_with_the_signature(
    tables: dict[str, pl.DataFrame], instance: dg.DagsterInstance
) -> None:
    shown = {
        "leaderboard": ["further"], "translator_agreement": ["agreement", "shares"],
        "system_comparison": ["differences"], "metric_rank": ["ranks", "concordance"], "slice_summary": ["slices"],
    }  # fmt: skip
    for asset, names in shown.items():
        event = instance.get_latest_materialization_event(dg.AssetKey(asset))
        assert event is not None
        assert event.asset_materialization is not None
        for name in names:
            shown_text = event.asset_materialization.metadata[name].value
            assert isinstance(shown_text, str)
            assert shown_text.startswith("| corpus | ")
            assert "| tiny | " in shown_text
            own = tables["closest_share" if name == "shares" else asset]
            assert in_markdown(own["signature"][0]) in shown_text
    event = instance.get_latest_materialization_event(dg.AssetKey("leaderboard"))
    assert event is not None
    assert event.asset_materialization is not None
    board = str(event.asset_materialization.metadata["leaderboard of tiny"].value)
    assert board.startswith(f"{words('')}\n\n| kind | system | ")
    assert in_markdown(tables["leaderboard"]["signature"][0]) in board


def test_the_report_is_made_in_a_home_of_which_many_assets_have_nothing(
    built: dg.Definitions, instance: dg.DagsterInstance, home: Path, warehouse: Warehouse
) -> None:
    states = warehouse.read("materialization", columns=["asset"])["asset"]
    assert not {"understanding_board", "anchor_score", "audit_outcome"} & set(states)
    job = built.resolve_implicit_global_asset_job_def()
    job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("report")])
    assert "Parts of the corpus" in (home / "reports" / "report.html").read_text(encoding="utf-8")
    assert warehouse.read("report")["file"].to_list() == ["reports/report.html"]


def test_rows_that_a_user_wants_anew_are_not_kept(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    kept = stored(warehouse, "slice_summary")
    assert len(kept) > 0
    assert (kept["basis"] != "").all()
    runs.forget(built, instance, "slice_summary")
    assert stored(warehouse, "slice_summary").is_empty()
    assert len(stored(warehouse, "system_comparison")) > 0
