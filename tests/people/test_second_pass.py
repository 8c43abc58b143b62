"""Second passes: what is drawn, how often, and which label is final."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, MINOR, REFERENCE, UNCERTAIN, UNSURE, VALID
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.second_pass import DRAWS, FEWEST, RATING, draw, finals
from benchmark_assets.people.sheets import sheet
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.people.test_controls import PASSAGES, TEXTS, drawn, table_of  # noqa: F401 - a fixture

NONE = pl.DataFrame(schema=DRAWS)


def labeled(*counts: tuple[str, str | None, int]) -> pl.DataFrame:
    """So many outputs of each pair of a verdict by people and one by the panel."""
    pairs = [(label, judged) for label, judged, count in counts for _ in range(count)]
    rows = [(f"i{at}", f"x/{at}", *pair) for at, pair in enumerate(pairs)]
    return pl.DataFrame(rows, ["item", "passage", "label", "judged"], orient="row")


def test_all_doubtful_outputs_are_drawn_and_a_share_of_the_others() -> None:
    outputs = labeled(
        (MAJOR, VALID, 3), (VALID, MINOR, 2), (UNCERTAIN, VALID, 1), (VALID, UNCERTAIN, 1), (VALID, None, 1),
        (MINOR, MAJOR, 8), (VALID, VALID, 100),
    )  # fmt: skip
    rows = draw(outputs, NONE, 0.25, 1)
    counts = rows.group_by("stratum").agg(pl.len(), pl.col("drawn").sum(), pl.col("probability").unique())
    assert sorted(counts.rows()) == [("doubtful", 8, 8, [1.0]), ("error", 8, 8, [1.0]), ("sound", 100, 25, [0.25])]
    few = draw(outputs, NONE, 0.01, 1).filter("drawn", stratum="sound")
    assert (len(few), few["probability"][0]) == (FEWEST, 0.1)
    later = labeled((VALID, VALID, 2))
    both = draw(pl.concat([outputs, later.with_columns(item="j" + pl.col("item"))]), rows, 0.25, 1)
    assert both.select("original", "drawn").rows() == [("ji0", True), ("ji1", True)]


def test_every_agreed_output_is_as_likely_to_be_drawn() -> None:
    outputs = labeled((VALID, VALID, 40))
    seen = Counter(key for seed in range(400) for key in draw(outputs, NONE, 0.25, seed).filter("drawn")["original"])
    assert sum(seen.values()) == 4000
    assert all(60 < count < 140 for count in seen.values())  # 100 on average, with a standard deviation of 9


@pytest.mark.parametrize(
    ("first", "second", "final"),
    [
        ([VALID], [MAJOR], MAJOR),
        ([VALID], [VALID], VALID),
        ([MAJOR], [VALID, MAJOR], MAJOR),
        ([MAJOR], [VALID, VALID], VALID),
        ([VALID], [UNSURE, MAJOR], None),
        ([REFERENCE], [MINOR], MINOR),
        ([MAJOR], [MINOR], MINOR),
        ([VALID], [], None),
    ],
)
def test_the_majority_of_both_passes_is_final_or_else_the_second(
    first: list[str], second: list[str], final: str | None
) -> None:
    def rating(labels: list[str]) -> pl.DataFrame:
        rows = [("m", "x/1", label, "OTHER" if "ERROR" in label else "NONE") for label in labels]
        return pl.DataFrame(rows, dict.fromkeys(RATING, pl.String), orient="row")

    draws = pl.DataFrame({"model": ["m"], "passage": ["x/1"], "stratum": ["doubtful"], "probability": [1.0]})
    assert finals(rating(first), rating(second), draws)["label"].to_list() == [final]


def test_a_second_pass_goes_to_other_people_under_other_keys(drawn: Warehouse, tmp_path: Path) -> None:  # noqa: F811
    with pytest.raises(BadInput, match="no output with a label by people and a verdict"):
        export_items(drawn, tmp_path / "early", "tiny", ["kim"], second=0.25)
    export_items(drawn, tmp_path / "first", "tiny", ["mori"])
    sent = table_of(tmp_path / "first", "mori")
    labels = [[row["item"], "mori", row["candidate"], "VALID_VARIATION", "", "none"] for row in sent]
    columns = ["item", "annotator", "candidate", "label", "error_category", "severity"]
    (tmp_path / "mori.csv").write_bytes(sheet(columns, labels))
    import_labels(drawn, [tmp_path / "mori.csv"])
    outputs = drawn.read("triage").filter("sampled").sort("passage")
    votes = [{"model": m, "passage": p, "label": MAJOR if n < 4 else VALID, "error_category": "OTHER", "judges": 1}
             for n, (m, p) in enumerate(outputs.select("model", "passage").rows())]  # fmt: skip
    counts = dict.fromkeys(["major", "minor", "valid", "reference", "unsure", "abstained"], 0)
    put(drawn, "verdict", *(vote | counts | {"split": False} for vote in votes))
    with pytest.raises(BadInput, match="mori: labeled outputs of tiny in the first pass"):
        export_items(drawn, tmp_path / "same", "tiny", ["Mori"], second=0.25)
    assert drawn.read("second_pass").is_empty()
    assert export_items(drawn, tmp_path / "second", "tiny", ["kim"], second=0.25).items == 4 + 14
    rows = drawn.read("second_pass")
    assert rows.filter("drawn")["stratum"].value_counts().sort("stratum").rows() == [("doubtful", 4), ("sound", 14)]
    assert not {*rows["item"]} & {*outputs["item"]}
    sent = table_of(tmp_path / "second", "kim")
    assert {*rows.filter("drawn")["item"]} < {row["item"] for row in sent}
    assert export_items(drawn, tmp_path / "again", "tiny", ["lee"], second=0.5).items == 18  # the same outputs
