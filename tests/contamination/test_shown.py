"""What readers see of copied references: on the board, in the report, in the reader."""

import json

import pytest

from benchmark_assets.reporting.leaderboard import listed, read
from benchmark_assets.reporting.reader import content
from benchmark_assets.reporting.report.content import parts
from resources.warehouse import Replacement, Warehouse
from tests.rows import rows_of
from tests.support import MODELS, PASSAGES

pytestmark = pytest.mark.usefixtures("built")


@pytest.fixture
def copied(warehouse: Warehouse) -> Warehouse:
    """The warehouse of the finished home, in which a model copies two translators."""
    pairs = rows_of(
        "contamination", 3, corpus=["tiny"] * 3, model=[MODELS[0], MODELS[0], MODELS[1]],
        translator=["ann", "ben", "ann"], verdict=["copies", "copies", "independent"], share=[0.004, 0.25, 0.0],
    )  # fmt: skip
    passages = rows_of(
        "copied_passage", 2, model=[MODELS[0]] * 2, passage=PASSAGES[:2], translator=["ann", "ben"],
        copied_from=["", PASSAGES[2]],
    )  # fmt: skip
    tables = {"contamination": pairs, "copied_passage": passages}
    warehouse.write(
        [Replacement(name, rows.drop("run_id", "updated_at"), None) for name, rows in tables.items()], "test"
    )
    return warehouse


def test_the_board_names_the_references_that_a_model_copies(copied: Warehouse) -> None:
    board = read(copied)
    assert dict(board.drop_nulls("copies").select("system", "copies").iter_rows()) == {
        MODELS[0]: "ben (25 %), ann (below 1 %)"
    }
    assert "ben (25 %), ann (below 1 %)" in listed(board)


def test_a_board_without_copies_has_no_column_for_them(warehouse: Warehouse) -> None:
    warehouse.write([Replacement("contamination", warehouse.empty("contamination"), None)], "test")
    assert "copies" not in listed(read(warehouse))


def test_the_report_shows_pairs_and_the_column(copied: Warehouse) -> None:
    (part, *_) = parts(copied)
    columns = {display.title: [column.heading for column in display.columns] for display in part.exhibits}
    assert "copies" in columns["Leaderboard"]
    assert "verdict" in columns["Copied references"]


def test_the_reader_marks_outputs_that_repeat_a_reference(copied: Warehouse) -> None:
    reader = content.shown(copied, "tiny", private=False)
    names = reader.overview["names"]
    assert isinstance(names, dict)
    place = names["fault"].index(content.REPEATED)
    columns = reader.overview["outputs"]
    assert isinstance(columns, dict)
    assert sum(bits >> place & 1 for bits in columns["fault"]) == 2
    written = json.dumps(reader.passages)
    assert '"repeats ann"' in written
    assert f'"repeats ben of {PASSAGES[2]}"' in written
