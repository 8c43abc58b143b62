"""Passages are made up so that their counts are those of the audit paper, section 4.8 and table E7."""

import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.audit.overlap import failing_passages, overlap
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.printed_counts import NO_LABELS

MODELS = ["claude", "gemini", "gpt", "grok"]


def passages() -> list[tuple[str, list[str]]]:
    """Name of each passage and the verdicts of its outputs above the threshold.

    150 passages with a major error (132 of one model, 17 of two, 1 of three) and 258 with any (195, 47, 15, 1); 278 of
    the 600 outputs of the former are judged. The first three are as table E8 shows them.
    """
    shown = [
        ("sn4.24:10", [MAJOR] * 3),
        ("an4.24:5", [MAJOR, MAJOR, MINOR, MINOR]),
        ("sn4.25:2", [MAJOR, MAJOR, MINOR]),
    ]
    made = [[MAJOR, MAJOR]] * 15 + [[MAJOR, VALID]] * 106 + [[MAJOR]] * 26
    made += [[MINOR]] * 63 + [[MINOR] * 2] * 32 + [[MINOR] * 3] * 13 + [[VALID] * 4] * 50
    return [*shown, *((f"made{number:03}", labels) for number, labels in enumerate(made))]


@pytest.fixture(scope="module")
def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Triage, and the queue with its verdicts."""
    names = [name for name, _ in passages()]
    triage = pl.DataFrame({"passage": [f"pali/{name}" for name in names]}).join(
        pl.DataFrame({"model": MODELS}), how="cross"
    )
    judged = [
        (model, f"pali/{name}", label, "OTHER", False)
        for name, labels in passages()
        for model, label in zip(MODELS, labels, strict=False)
    ]
    panel = pl.DataFrame(judged, ["model", "passage", "label", "error_category", "split"], orient="row")
    queued = panel.select("model", "passage", queued=pl.lit(True))
    triage = triage.join(queued, on=["model", "passage"], how="left").with_columns(
        pl.col("queued").fill_null(False), sampled=pl.lit(False), drift=pl.lit(1.0), band=pl.lit(""), unit="passage"
    )
    return triage, rated(triage, panel, NO_LABELS)


def test_section_4_8_and_table_e7(frames: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    found = overlap(*frames)
    counts = found.select("level", "models", "passages").rows()
    assert [row for row in counts if row[0] == "major"] == [("major", n, c) for n, c in enumerate([132, 17, 1, 0], 1)]
    assert [row for row in counts if row[0] == "any"] == [("any", n, c) for n, c in enumerate([195, 47, 15, 1], 1)]
    major = found.filter(level="major")
    assert (major["passages"].sum(), major["judged"].sum(), major["possible"].sum()) == (150, 278, 600)
    assert found.filter(level="any")["passages"].sum() == 258
    first = major.row(0, named=True)
    assert first["share"] == 132 / 150
    assert first["share_low"] < 0.88 < first["share_high"]


def test_table_e8_worst_passages_first(frames: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    found = failing_passages(*frames)
    assert found["place"].to_list() == list(range(1, 259))
    assert found.select("passage", "major", "minor", "valid", "unjudged").head(4).rows() == [
        ("pali/sn4.24:10", 3, 0, 0, 1),
        ("pali/an4.24:5", 2, 2, 0, 0),
        ("pali/sn4.25:2", 2, 1, 0, 1),
        ("pali/made000", 2, 0, 0, 2),
    ]
    assert (found["major"].sum(), found["minor"].sum()) == (169, 169)


def test_a_queue_without_errors_has_no_overlap(frames: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    triage, rows = frames
    sound = rows.with_columns(label=pl.lit(VALID))
    assert overlap(triage, sound).is_empty()
    assert failing_passages(triage, sound).is_empty()
