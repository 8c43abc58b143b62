"""People's preferences between outputs and anchors: what they see, what comes back, and the win rates that follow."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.literary.anchored import win_rates
from benchmark_assets.literary.pairs import COLUMNS, applicable_matches, export_pairs, import_pairs, matches
from benchmark_assets.people.controls import REPEATED
from resources.errors import BadInput
from resources.harmless import unguarded
from resources.warehouse import Replacement
from tests.audit.stored import put
from tests.pairwise.arena import ANCHORS, OUTPUTS, SET, Arena
from tests.support import PASSAGES

MATCHES = {model: len(OUTPUTS) * len(ANCHORS.keys() - {model}) for model in ("ours", "theirs")}
"""Matches of each model; an anchor does not meet itself."""


def answered(file: Path, better: str) -> Path:
    """Prefer the text of the output (`machine`) or of the anchor in every row."""
    rows = [
        {name: unguarded(cell) for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig")))
    ]
    text = io.StringIO()
    sheet = csv.DictWriter(text, COLUMNS)
    sheet.writeheader()
    outputs = set(OUTPUTS.values())
    for row in rows:
        machine = "A" if row["A"] in outputs else "B"
        sheet.writerow(row | {"better": machine if better == "machine" else "BA"["AB".index(machine)]})
    file.write_text(text.getvalue(), encoding="utf-8")
    return file


def test_preferences_between_outputs_and_anchors_become_win_rates(arena: Arena, tmp_path: Path) -> None:
    file, number = tmp_path / "pairs.csv", sum(MATCHES.values())
    sent = export_pairs(arena.warehouse, file, "tiny", "mori", base_set=SET)
    assert (sent.pairs, sent.controls) == (number, number // REPEATED)
    assert not any(name in file.read_text(encoding="utf-8-sig") for name in (*ANCHORS, "tiny/", SET))
    counts = import_pairs(arena.warehouse, answered(file, "machine"))
    assert counts == (number + sent.controls, 0, 0, 0)
    assert import_pairs(arena.warehouse, file) == (0, number + sent.controls, 0, 0)
    again = arena.warehouse.read("pair_control", columns=["base_set", "kind", "better"])
    assert again.rows() == [(SET, "repeat", "machine")] * sent.controls
    rates = win_rates(arena.warehouse)
    counts_of = rates.select("model", "matches", "labelled", "judged").rows()
    assert counts_of == [(model, count, count, 0) for model, count in MATCHES.items()]
    assert rates["win_rate"].to_list() == pytest.approx([1, 1])
    key = pl.DataFrame({"passage": PASSAGES[:1]})
    changed = arena.warehouse.read("model_output", key).with_columns(text=pl.lit("Another text."))
    changed = changed.drop("run_id", "updated_at")
    arena.warehouse.write([Replacement("model_output", changed, key)], run_id="test")
    assert len(applicable_matches(arena.warehouse)) == number * 2 // 3
    with pytest.raises(BadInput, match="texts have changed"):
        import_pairs(arena.warehouse, file)


def test_the_judge_counts_on_matches_that_nobody_labeled(arena: Arena, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    export_pairs(arena.warehouse, file, "tiny", "mori", per_model=2, base_set=SET)
    import_pairs(arena.warehouse, answered(file, "anchor"))
    votes = [
        {"model": model, "passage": passage, "base_set": SET, "anchor": anchor, "shown": side, "winner": winner,
         "asked": 1}
        for model in MATCHES for passage in PASSAGES for anchor in ANCHORS
        for side, winner in (("A", "output"), ("B", "anchor"))
    ]  # fmt: skip
    put(arena.warehouse, "comparison", *votes)
    rates = win_rates(arena.warehouse)
    assert rates.select("model", "labelled", "judged", "win_rate", "win_rate_low").rows() == [
        (model, 2, count, 0.0, None) for model, count in MATCHES.items()
    ]


def test_matches_that_were_drawn_and_not_labeled_are_counted(arena: Arena, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    export_pairs(arena.warehouse, file, "tiny", "mori", per_model=4, base_set=SET)
    first = min((pair for pair in matches(arena.warehouse) if pair.model == "ours"), key=lambda pair: pair.item)
    lines = answered(file, "machine").read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if first.key("mori") not in line), encoding="utf-8")
    import_pairs(arena.warehouse, file)
    rows = win_rates(arena.warehouse).select("model", "labelled", "missing_share", "win_rate_least", "lt_fixed")
    assert rows.rows() == [("ours", 3, 0.25, 0.75, None), ("theirs", 4, 0.0, None, None)]
    missing, alone = win_rates(arena.warehouse)["problem"]
    assert missing == f"{alone}; 25.0 % of the labels are missing"
    assert alone.startswith("among the anchors alone, no finite strengths exist: high, low and theirs have no match")


def test_an_unknown_base_set_is_refused(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not an imported base set"):
        export_pairs(arena.warehouse, tmp_path / "pairs.csv", "tiny", "mori", base_set="other@1.0.0")
