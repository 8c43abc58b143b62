"""Charts say what they draw: ticks stand where their numbers are, intervals are named where there are any."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
import vl_convert

from benchmark_assets.reporting.plots import SVG
from benchmark_assets.reporting.report import charts
from benchmark_assets.reporting.report.content import parts
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.exhibits import Ranges
from tests.reporting.report.made import made

UNIT = "points, 95 % interval"


def rows(*ends: tuple[float, float, float], panel: str = "") -> pl.DataFrame:
    return pl.DataFrame([
        {"panel": panel, "row": f"m{at}", "kind": "model", "value": value, "low": low, "high": high}
        for at, (low, value, high) in enumerate(ends)
    ])  # fmt: skip


def misplaced(chart: charts.Spec) -> list[str]:
    """Numbers on axes that are not where they say: equal steps of numbers need equal steps of pixels, on a logarithmic
    axis equal ratios."""
    picture = ElementTree.fromstring(vl_convert.vegalite_to_svg(chart))
    wrong: list[str] = []
    for group in picture.iter(f"{{{SVG}}}g"):
        if "role-axis-label" not in group.get("class", ""):
            continue
        labels = [(text.text or "", text.get("transform", ""), text.get("opacity", "1")) for text in group]
        shown = [(float(re.sub("[%,]", "", label).replace("−", "-")), float(re.findall(r"-?[\d.]+", place)[0]))
                 for label, place, opacity in labels
                 if opacity != "0" and re.fullmatch(r"−?[\d.,]+%?", label)]  # fmt: skip
        if len(shown) != len(labels) or len({place for _, place in shown}) < 2:
            continue  # names, an axis of rows, or labels that would overlap
        steps = {round((b - a) / (y - x), 3) if y != x else None for (a, x), (b, y) in pairwise(shown)}
        wrong += [label for label, _, _ in labels] if len(steps) > 1 or None in steps else []
    return wrong


def test_ticks_stand_where_their_numbers_are_on_every_chart_of_a_home(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "variorum.duckdb"
    copy.write_bytes((finished / "home" / "variorum.duckdb").read_bytes())
    (tmp_path / "made").mkdir()
    homes = DuckDBWarehouse(path=str(copy)), made(tmp_path / "made", ["alpha", "beta"], 4)
    drawn = [each.chart for home in homes for part in parts(home) for each in part.exhibits if each.chart is not None]
    assert len(drawn) > 20
    for chart in drawn:
        assert misplaced(chart) == []
    assert misplaced(_with_a_wrong_tick()) != []


def _with_a_wrong_tick() -> charts.Spec:
    """What was drawn of a single value: the axis of 1.85 had the tick 2."""
    chart = charts.ranges(rows((0, 1, 3), (1, 2, 3)), Ranges("value"))
    assert chart is not None
    chart["layer"][-1]["encoding"]["x"]["axis"] = {"values": [0.5, 1.85, 3], "format": ".0f"}
    return chart


def test_a_panel_with_all_at_one_place_is_left_out() -> None:
    assert charts.ranges(rows((1.85, 1.85, 1.85)), Ranges("value")) is None
    assert charts.ranges(rows((1.85, 1.85, 1.85)), Ranges("value", rule=0)) is not None
    assert charts.ranges(rows((1.85, 1.85, 1.85)), Ranges("value", domain=(0, 10))) is not None
    both = pl.concat([rows((2, 2, 2), (2, 2, 2), panel="equal"), rows((1, 2, 3), panel="apart")])
    chart = charts.ranges(both, Ranges("value"))
    assert chart is not None
    assert {row["panel"] for row in chart["data"]["values"]} == {"apart"}


@pytest.mark.parametrize(
    ("ends", "unit"),
    [
        ([(1, 2, 3), (2, 3, 4)], UNIT),
        ([(1, 2, 3), (3, 3, 3)], f"{UNIT} where there is one"),
        ([(1, 1, 1), (3, 3, 3)], "points"),
    ],
)  # fmt: skip
def test_an_interval_is_named_only_where_one_is_drawn(ends: list[tuple[float, float, float]], unit: str) -> None:
    chart = charts.ranges(rows(*ends), Ranges("value", unit="points"))
    assert chart is not None
    assert chart["title"] == {"text": unit}
    assert charts.dodged(rows(*ends), "points", ["model"], domain=[0, 5])["title"] == {"text": unit}
    assert charts.scatter(rows(*ends).with_columns(x=1.0), "dollars", "points")["title"] == {"text": unit}
