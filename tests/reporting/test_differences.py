"""What changed between two packages: real ones, of a warehouse before and after."""

from pathlib import Path

import dagster as dg
import numpy as np
import polars as pl
import pytest

from benchmark_assets.reporting.differences import Package, compare, page, read
from benchmark_assets.reporting.export import export
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse


def changed(warehouse: Warehouse, table: str, *changes: pl.Expr) -> None:
    rows = warehouse.read(table).drop("run_id", "updated_at").with_columns(*changes)
    warehouse.write([Replacement(table, rows, None)], run_id="test")


@pytest.fixture
def old(built: dg.Definitions, warehouse: Warehouse, tmp_path: Path) -> Path:
    """The package of a finished warehouse."""
    export(warehouse, tmp_path / "old", "tiny")
    return tmp_path / "old"


def test_a_package_does_not_differ_from_itself(old: Path) -> None:
    found = compare(read(old), read(old))
    assert (found.provenance, found.texts) == ([], {})
    assert found.models == found.passages == {"added": [], "removed": []}
    assert found.scores["difference"].unique().to_list() == [0.0]
    assert found.scores["verdict"].unique().to_list() == ["equal"]
    assert page(found).startswith("Method\nno recorded difference\n")


def held(**sim_best: list[float]) -> Package:
    """A package of these models, as it is in memory."""
    rows = [(model, f"p{at}", value) for model, values in sim_best.items() for at, value in enumerate(values)]
    scores = pl.DataFrame(rows, schema=["model", "passage_id", "sim_best"], orient="row").with_columns(
        length_ratio=pl.lit(1.0),
        **{name: pl.lit(None, pl.Float64) for name in ("drift", "sim_centroid", "chrf", "bleu")},
        bleu_statistics=pl.lit(None, pl.List(pl.Int64)), chrf_statistics=pl.lit(None, pl.List(pl.Int64)),
    )  # fmt: skip
    keys = scores.select("model", "passage_id")
    passages = keys.select("passage_id", document="passage_id", position=pl.lit(0)).unique()
    board = pl.DataFrame({"kind": "model", "system": [*sim_best], "signature": "embedder: e"})
    tables = {
        "scores": scores, "comet_scores": keys.with_columns(comet_avg=pl.lit(None, pl.Float64)), "leaderboard": board,
        "passages": passages, "outputs": keys.with_columns(sha256=pl.lit("hash")),
    }  # fmt: skip
    return Package(Path("held"), tables, [], {})


def test_more_than_noise_is_named_with_its_direction() -> None:
    steps = np.linspace(0.01, 0.03, 12)
    mixed = np.where(np.arange(12) % 2, 0.02, -0.02)
    old = held(up=[0.5] * 12, down=[0.5] * 12, mixed=[0.5] * 12)
    new = held(up=(0.5 + steps).tolist(), down=(0.5 - steps).tolist(), mixed=(0.5 + mixed).tolist())
    found = compare(old, new).scores.filter(measure="sim_best")
    assert dict(found.select("model", "verdict").iter_rows()) == {
        "up": "better",
        "down": "worse",
        "mixed": "cannot be told",
    }
    up = found.filter(model="up").row(0, named=True)
    assert up["difference"] == pytest.approx(steps.mean())
    assert 0.01 < up["difference_low"] < up["difference"] < up["difference_high"] < 0.03
    assert up["p_family"] >= up["p"]
    lengths = compare(old, new).scores.filter(measure="length_error")
    assert lengths["verdict"].unique().to_list() == ["equal"]


def test_a_difference_of_method_is_named_first_and_is_no_difference_of_models(
    old: Path, warehouse: Warehouse, tmp_path: Path
) -> None:
    changed(warehouse, "drift_score", pl.lit("another").alias("embedder"), pl.col("sim_best") - 0.2)
    changed(warehouse, "leaderboard", pl.col("signature").str.replace("letter pairs", "another"))
    export(warehouse, tmp_path / "new", "tiny")
    found = compare(read(old), read(tmp_path / "new"))
    assert [line[:2] for line in found.provenance] == ["- ", "+ "]
    assert "embedder: letter pairs" in found.provenance[0]
    assert "embedder: another" in found.provenance[1]
    verdicts = dict(found.scores.filter(model="alpha").select("measure", "verdict").iter_rows())
    assert {name for name, verdict in verdicts.items() if verdict == "method differs"} == {"sim_best", "outlier_rate"}
    text = page(found).splitlines()
    assert text[0] == "Method"
    assert text[1:3] == found.provenance


def test_metrics_of_the_registry_are_compared_with_their_direction_and_signature() -> None:
    def package(values: list[float], signature: str = "s") -> Package:
        base = held(alpha=[0.5] * 12)
        rows = [
            ("alpha", f"p{at}", name, kind, signature, value)
            for name, kind in (("own", "metricx-24"), ("kiwi", "kiwi"))
            for at, value in enumerate(values)
        ]
        columns = ["model", "passage_id", "metric", "entry", "signature", "score"]
        return base._replace(tables=base.tables | {"segment_metrics": pl.DataFrame(rows, schema=columns, orient="row")})

    lower = (2 - np.linspace(0.1, 0.3, 12)).tolist()
    names = ("own", "kiwi")
    found = [
        dict(
            compare(package([2.0] * 12), new)
            .scores.filter(pl.col("measure").is_in(names))
            .select("measure", "verdict")
            .iter_rows()
        )
        for new in (package(lower), package(lower, "other"))
    ]
    assert found == [{"own": "better", "kiwi": "worse"}, dict.fromkeys(names, "method differs")]
    assert set(compare(held(alpha=[0.5]), package([2.0])).scores["measure"]).isdisjoint(names)


def test_scores_are_compared_on_the_passages_of_both() -> None:
    same = [0.5, 0.6, 0.7, 0.5, 0.6, 0.7, 0.5]
    old, new = held(alpha=[*[0.5, 0.6] * 3, 0.1], beta=same), held(alpha=[0.6, 0.7] * 3, beta=same)
    other = pl.when(model="alpha").then(pl.lit("other")).otherwise("sha256")
    tables = new.tables | {"outputs": new.tables["outputs"].with_columns(sha256=other)}
    found = compare(old, new._replace(tables=tables))
    alpha, beta = found.scores.filter(measure="sim_best").sort("model").to_dicts()
    assert (alpha["passages"], alpha["changed"], beta["passages"], beta["changed"]) == (6, 6, 7, 0)
    for name in ("difference", "difference_low", "difference_high"):
        assert alpha[name] == pytest.approx(0.1)
    assert (alpha["old"], alpha["new"], beta["difference"]) == (pytest.approx(0.55), pytest.approx(0.65), 0)
    assert (alpha["p"] < 1e-9, beta["p"]) == (True, 1)
    assert (alpha["verdict"], beta["verdict"]) == ("better", "equal")


def test_other_texts_of_common_passages_are_another_method_too() -> None:
    old, new = held(alpha=[0.5, 0.6]), held(alpha=[0.5, 0.6, 0.7])
    texts: dict[tuple[str, ...], str] = {("references", "p0", "ann"): "a", ("source", "p0", ""): "b"}
    same = compare(old._replace(texts=texts), new._replace(texts=texts | {("source", "p2", ""): "c"}))
    assert (same.texts, same.passages["added"]) == ({}, ["p2"])
    assert set(same.scores["verdict"]) == {"equal"}
    found = compare(old._replace(texts=texts), new._replace(texts=texts | {("source", "p0", ""): "x"}))
    assert found.texts == {"changed": ["source p0"]}
    assert set(found.scores["verdict"]) == {"method differs"}


def test_models_that_come_and_go_are_named() -> None:
    found = compare(held(alpha=[0.5], beta=[0.5]), held(alpha=[0.5], gamma=[0.5]))
    assert found.models == {"added": ["gamma"], "removed": ["beta"]}
    assert set(found.scores["model"]) == {"alpha"}
    assert "removed: beta" in page(found)


def judged(folder: str, lt: float, contract: str = "c", of: str = "tiny") -> Package:
    """A package with an LT, whose interval is half a point to each side."""
    score = {"model": ["alpha"], "base_set": ["b@1.0.0"], "slice": ["overall"], "lt": [lt], "contract": [contract]}
    rows = pl.DataFrame(score).with_columns(
        signature=pl.lit("s"), lt_low=pl.col("lt") - 0.5, lt_high=pl.col("lt") + 0.5
    )
    return held(alpha=[0.5])._replace(folder=Path(folder), tables=held(alpha=[0.5]).tables | {"pairwise_scores": rows},
                                      of=of)  # fmt: skip


def test_scores_by_judges_stand_beside_each_other_with_their_intervals() -> None:
    old = judged("old", 5)
    found = compare(old, judged("new", 5.8)).further
    assert found.select("score", "of", "system", "old", "new", "verdict").row(0) == (
        "LT", "b@1.0.0 overall", "alpha", 5.0, 5.8, "intervals overlap",
    )  # fmt: skip
    verdicts = [compare(old, judged("new", *each)).further["verdict"].item() for each in ((7,), (3,), (7, "other"))]
    assert verdicts == ["better", "worse", "method differs"]
    assert "LT" in page(compare(old, judged("new", 7)))
    assert compare(old, held(alpha=[0.5])._replace(of="tiny")).further.is_empty()


def test_packages_of_two_corpora_are_not_compared(old: Path, warehouse: Warehouse) -> None:
    assert read(old).of == "tiny"
    with pytest.raises(BadInput, match="is a package of huge, but old is a package of tiny"):
        compare(judged("old", 5), judged("new", 5, of="huge"))


def test_what_is_no_package_is_refused(old: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a package"):
        read(tmp_path / "absent")
    (old / "outputs.csv").write_text("other")  # nothing that is read
    read(old)
    (old / "parquet" / "scores.parquet").write_bytes(b"other")
    with pytest.raises(BadInput, match="differs from its checksum"):
        read(old)
