"""Plots in the metadata of assets: every asset that has rows to draw is drawn, small, whatever stands in its names."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import polars as pl
import pytest

from benchmark_assets.corpus.filters import Filters
from benchmark_assets.corpus.registry import register
from benchmark_assets.reporting import drawings
from benchmark_assets.reporting.plots import MOST, SVG, WIDTH, pictured, plots, svg
from benchmark_assets.reporting.report import charts
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.exhibits import Ranges
from resources.warehouse import Replacement, Warehouse

pytestmark = pytest.mark.usefixtures("drawn")

IMAGE = re.compile(r"!\[(.*?)\]\(data:image/svg\+xml,([\w%/:;,=.~-]+)\)")
HOSTILE = [
    "</text><script>alert(1)</script>", 'quoted" onload="alert(1)', "![x](http://192.0.2.1/x.png) | `code`",
    "\u202eright to left", "བཀྲ་ཤིས་བདེ་ལེགས།", "e\u0301\u0323 n\u0303", "]]>&amp;<!--", "long " * 4000,
]  # fmt: skip
MOMENT = datetime(2026, 11, 21)
MODELS = {"model": ["alpha", "beta", "gamma"]}
MADE: dict[str, dict[str, Mapping[str, Sequence[object]]]] = {
    "pairwise_score": {"pairwise_score": {**MODELS, "slice": ["overall"], "base_set": ["basis"]}},
    "anchor_score": {"anchor_score": {"anchor": ["first", "second"], "slice": ["overall"], "base_set": ["basis"]}},
    "rubric_summary": {"rubric_summary": {**MODELS, "corpus": ["tiny"], "judge": ["one", "two"]}},
    "memory": {"memory": {**MODELS, "corpus": ["tiny"], "translator": ["ann"]}},
    "span_summary": {"span_summary": {**MODELS, "corpus": ["tiny"], "judge": ["one", "two"]}},
    "adherence_summary": {"adherence_summary": {**MODELS, "corpus": ["tiny"]}},
    "literary_score": {"literary_score": {**MODELS, "corpus": ["tiny"], "aspect": ["", "voice"]}},
    "ensemble_calibration": {
        "ensemble_calibration": {"corpus": ["tiny"], "kind": ["seat"], "judge": ["one", "two"], "aspect": ["voice"]}
    },
    "task_score": {"task_score": {**MODELS, "task": ["T1", "T2"]}},
    "understanding_board": {
        "understanding_board": {
            "system": ["alpha", "chance"],
            "kind": ["model"],
            "language": ["bo", "sa"],
            "task": [""],
        }
    },
    "understanding_comparison": {
        "understanding_comparison": {"language": ["bo"], "task": [""], "model": ["alpha", "beta"], "other": ["gamma"]}
    },
    "model_call": {"model_call": {**MODELS, "purpose": ["translate", "judge"], "outcome": ["ok"], "asked": [MOMENT]}},
    "audit_outcome": {
        "audit_outcome": {"corpus": ["tiny"], "raters": ["panel", "people"], "model": ["alpha", "beta"], "band": [""]}
    },
    "error_estimate": {
        "audit_outcome": {"corpus": ["tiny"], "raters": ["panel"], "model": ["alpha"], "band": [""]},
        "error_estimate": {"corpus": ["tiny"], "model": ["", "alpha"], "region": ["all"]},
    },
    "judge_calibration": {"judge_calibration": {"corpus": ["tiny"], "judge": ["one", "panel"]}},
    "metric_agreement": {
        "metric_agreement": {
            "corpus": ["tiny"],
            "metric": ["drift", "chrf"],
            "statistic": ["acc_eq"],
            "grouping": ["passage"],
        }
    },
    "selection": {
        "selection": {"passage": ["tiny/1"], "selected": [False], "reasons": [["short"]]},
        "corpus": {"corpus": ["tiny"], "filters": [Filters().model_dump_json()]},
    },
}
"""Rows of assets that are empty for the small corpora: by table, values of columns, in all combinations."""


@pytest.fixture
def known(warehouse: Warehouse, corpus: Path) -> Warehouse:
    """A warehouse that knows the small corpus."""
    register(warehouse, corpus)
    return warehouse


def put(warehouse: Warehouse, table: str, columns: Mapping[str, Sequence[object]]) -> None:
    """Rows for all combinations of values; numbers are 0.4 with an interval of 0.1 to each side, counts 3."""
    schema = warehouse.empty(table).schema
    rows = pl.DataFrame({"fingerprint": ["f"]})
    for name, values in columns.items():
        rows = rows.join(pl.DataFrame({name: values}), how="cross")
    for place, (name, kind) in enumerate(item for item in schema.items() if item[0] not in rows.columns):
        number = 0.3 if name.endswith("_low") else 0.5 if name.endswith("_high") else 0.4
        value = number if kind.is_float() else 3 + place % 2 if kind.is_integer() else None
        same = pl.lit("" if kind == pl.String else value)
        own = pl.int_range(pl.len()) if name in ("attempt", "call", "step") else same
        rows = rows.with_columns(own.cast(kind).alias(name))
    warehouse.write([Replacement(table, rows.select(*schema), None)], run_id="test")


def pictures(markdown: str) -> list[ElementTree.Element]:
    """The pictures in Markdown, in which nothing else is a picture or a link."""
    found = IMAGE.findall(markdown)
    rest = re.sub(r"\\.", "", IMAGE.sub("", markdown))
    assert "](" not in rest
    assert "<" not in rest
    return [ElementTree.fromstring(unquote(encoded)) for _, encoded in found]


def texts(picture: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in picture.iter(f"{{{SVG}}}text")]


@pytest.mark.parametrize("asset", sorted(MADE))
def test_what_has_rows_is_drawn_with_its_names(asset: str, known: Warehouse) -> None:
    assert not plots(known, asset)
    for table, columns in MADE[asset].items():
        put(known, table, columns)
    markdown = plots(known, asset)["plot"]
    shown = [text for picture in pictures(markdown) for text in texts(picture)]
    names = [name for columns in MADE[asset].values() for key in ("model", "judge", "anchor", "reason", "system")
             for name in columns.get(key, []) if name]  # fmt: skip
    for name in names:
        assert any(str(name) in text for text in shown), (name, shown)


def ranges(rows: pl.DataFrame, width: int = 340, columns: int = 2) -> charts.Spec:
    drawn = charts.ranges(rows, Ranges("value", width=width, columns=columns))
    assert drawn is not None
    return drawn


def test_names_are_shown_as_they_are_and_nothing_in_them_is_markup() -> None:
    rows = pl.DataFrame({"row": HOSTILE}).with_columns(panel=pl.lit(""), kind=pl.lit("model"), value=1, low=0.5, high=2)
    for title in (HOSTILE[0] + HOSTILE[1], HOSTILE[2] + HOSTILE[6], HOSTILE[-1]):
        markdown = pictured([(title, ranges(rows))])
        assert len(markdown) < MOST
        (picture,) = pictures(markdown)
        kinds = {element.tag.rpartition("}")[2] for element in picture.iter()}
        assert kinds <= {"svg", "g", "path", "line", "rect", "text", "title", "defs", "clipPath"}
        assert not any(key.startswith("on") or "href" in key for each in picture.iter() for key in each.attrib)
    shown = texts(picture)
    for name in HOSTILE[:-1]:
        assert any(text == name or (text.endswith("…") and name.startswith(text[:-1])) for text in shown), name


def test_plots_take_no_more_room_than_they_may_and_say_what_is_left_out() -> None:
    def board(systems: int) -> charts.Spec:
        rows = [
            {"panel": panel, "row": f"system {at}", "kind": "model", "value": at, "low": at - 1, "high": at + 1}
            for panel in ("similarity", "drift") for at in range(systems)
        ]  # fmt: skip
        return ranges(pl.DataFrame(rows))

    whole = pictured([("few", board(3))])
    assert "**few**" in whole
    large = pictured([("many", board(90))])
    drawn = re.findall(r"\*\*many: the first (\d+) of 90\*\*", large)
    assert len(large) <= MOST
    assert len(pictures(large)) == len(drawn) == 1
    shown = texts(pictures(large)[0])
    assert {f"system {at}" for at in range(90)} & set(shown) == {f"system {at}" for at in range(int(drawn[0]))}
    several = pictured([(f"corpus {at}", board(30)) for at in range(4)])
    assert len(several) <= MOST
    assert 1 <= len(pictures(several)) < 4
    assert f"{4 - len(pictures(several))} more" in several


def test_pictures_fit_the_window_and_have_a_ground_of_their_own() -> None:
    rows = pl.DataFrame([{"panel": p, "row": "a", "kind": "model", "value": 1, "low": 0, "high": 2} for p in "xyz"])
    picture = ElementTree.fromstring(svg(ranges(rows, width=900, columns=3)))
    assert float(picture.get("width", 0)) == WIDTH
    ground = picture.find(f"{{{SVG}}}rect")
    assert ground is not None
    assert ground.get("fill") == "#ffffff"


def test_what_cannot_be_drawn_is_said_and_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "variorum.duckdb"
    file.write_text("no database")
    value = plots(DuckDBWarehouse(path=str(file)), "leaderboard")["plot"]
    assert value.startswith("could not be drawn: ")
    assert "no plot of leaderboard" in caplog.text


def test_the_made_rows_and_the_small_corpora_cover_every_drawing() -> None:
    corpora = {"metric_summary", "model_summary", "leaderboard", "metric_rank", "translator_agreement",
               "system_comparison", "slice_summary", "sensitivity", "human_range", "reference_examination",
               "contamination"}  # fmt: skip
    assert {*drawings.OF_CORPORA, *drawings.OF_ALL} == corpora | set(MADE)
