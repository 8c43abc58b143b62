"""A test set has no gaps, is read as the layout says, and holds no restricted text."""

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.reporting.shared_task import folded, write
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.support import MODELS, PASSAGES, SOURCES, TRANSLATIONS

PAIR = "la-en"


def put(warehouse: Warehouse, table: str, *rows: Mapping[str, Any]) -> None:
    """Write rows beside those that a table has."""
    old = warehouse.read(table).drop("run_id", "updated_at")
    stamped = [{**dict.fromkeys(old.columns), "fingerprint": "of a test", **row} for row in rows]
    whole = pl.concat([old, pl.DataFrame(stamped, schema=old.schema)])
    warehouse.write([Replacement(table, whole, None)], run_id="test")


def restrict(description: Path, *texts: str) -> None:
    content = json.loads(description.read_text(encoding="utf-8"))
    for name, each in {"source": content["source"], **content["references"]}.items():
        each |= {"licence": "all rights reserved" if name in texts else "CC0-1.0", "restricted": name in texts}
    description.write_text(json.dumps(content), encoding="utf-8")


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def read(folder: Path) -> dict[str, dict[str, list[float | None]]]:
    """Scores by file and system, read by the rules of mt-metrics-eval: it refuses what does not fit."""
    sources = lines(folder / f"sources/{PAIR}.txt")
    documents = [line.split() for line in lines(folder / f"documents/{PAIR}.docs")]
    assert len(documents) == len(sources)
    assert all(len(each) == 2 for each in documents)
    names = [name for _, name in documents]
    assert len(set(names)) == 1 + sum(a != b for a, b in pairwise(names))
    references = [path.name.split(".")[-2] for path in (folder / "references").glob(f"{PAIR}.*.*")]
    assert not any("-" in name or name in ("all", "src") for name in references)
    systems = {path.name.removesuffix(".txt") for path in (folder / "system-outputs" / PAIR).iterdir()}
    for text in [*(folder / "references").iterdir(), *(folder / "system-outputs" / PAIR).iterdir()]:
        assert len(lines(text)) == len(sources)
    found: dict[str, dict[str, list[float | None]]] = {}
    for path in sorted(folder.rglob("*.score")):
        rows: dict[str, list[float | None]] = {}
        for line in lines(path):
            system, score = line.split()
            rows.setdefault(system, []).append(None if score == "None" else float(score))
        name, level, _ = path.name.rsplit(".", 2)
        assert {len(scores) for scores in rows.values()} == {1 if level == "sys" else len(sources)}
        assert set(rows) <= systems
        if path.parent.name == PAIR:
            against = name.rpartition("-")[2]
            assert against == "all" or set(against.split(".")) <= set(references)
            assert set(rows) == systems
            assert not any(None in scores for scores in rows.values())
        found[path.name] = rows
    return found


def test_a_test_set_has_the_texts_and_scores_of_the_warehouse(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    label = {"error_category": "OTHER", "severity": "low", "confidence": "high", "notes": ""}
    put(warehouse, "human_label",
        {"model": "alpha", "passage": PASSAGES[0], "annotator": "a", "label": "MAJOR_ERROR", **label},
        {"model": "alpha", "passage": PASSAGES[0], "annotator": "b", "label": "MINOR_ERROR", **label},
        {"model": "alpha", "passage": PASSAGES[1], "annotator": "a", "label": "UNSURE_CONTEXT_NEEDED", **label},
        {"model": "beta", "passage": PASSAGES[2], "annotator": "a", "label": "VALID_VARIATION", **label})  # fmt: skip
    written = write(warehouse, tmp_path / "set", "tiny")
    assert written == (3, MODELS, [*TRANSLATIONS], [], [], 0)
    scores = read(tmp_path / "set")
    assert lines(tmp_path / f"set/sources/{PAIR}.txt")[0] == " ".join([*SOURCES["doc1"].values()][:2])
    assert lines(tmp_path / f"set/references/{PAIR}.ann.txt")[2] == TRANSLATIONS["ann"]["doc2"]["doc2:1.1"]
    drift = warehouse.read("drift_score").filter(model="alpha").sort("passage")
    assert scores["simbest-all.seg.score"]["alpha"] == drift["sim_best"].to_list()
    assert scores["negdrift-all.seg.score"]["alpha"] == (-drift["drift"]).to_list()
    board = warehouse.read("leaderboard").filter(system="beta").row(0, named=True)
    for name, column in (("chrF2++", "chrf"), ("BLEU", "bleu"), ("simbest", "sim_best")):
        assert scores[f"{name}-all.sys.score"]["beta"] == [pytest.approx(board[column])]
    assert scores[f"{PAIR}.people.seg.score"] == {"alpha": [-3.0, None, None], "beta": [None, None, 0.0]}
    assert f"{PAIR}.panel.seg.score" not in scores
    assert "COMETavg-all.seg.score" not in scores  # no checkpoint is configured: there is no score


def test_who_lacks_a_passage_is_left_out_unless_asked_for(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    put(warehouse, "model_output", {"model": "a b/c", "passage": PASSAGES[1], "text": "One\nline\u2028more."})
    assert write(warehouse, tmp_path / "all", "tiny").incomplete == ["a b/c"]
    asked = write(warehouse, tmp_path / "asked", "tiny", ["a b/c", "alpha"])
    assert (asked.passages, asked.systems, asked.incomplete) == (1, ["a b/c", "alpha"], [])
    assert lines(tmp_path / f"asked/system-outputs/{PAIR}/a%20b%2Fc.txt") == ["One line more."]
    assert not any((tmp_path / "asked").rglob("*.score"))  # one system has no scores, and metrics have no gaps
    with pytest.raises(BadInput, match="no outputs"):
        write(warehouse, tmp_path / "none", "tiny", ["absent"])


def test_restricted_texts_are_left_out(
    built: dg.Definitions, warehouse: Warehouse, corpus: Path, tmp_path: Path
) -> None:
    restrict(corpus, "cleo")
    by_heart = {PASSAGES[0]: "Off the mouse goes. Puss stays put.", PASSAGES[1]: "x", PASSAGES[2]: "y"}
    put(warehouse, "model_output", *({"model": "parrot", "passage": p, "text": t} for p, t in by_heart.items()))
    public = write(warehouse, tmp_path / "public", "tiny")
    assert (public.references, public.incomplete, public.left_out) == (["ann", "ben"], ["parrot"], ["cleo"])
    read(tmp_path / "public")
    whole = b"".join(path.read_bytes() for path in (tmp_path / "public").rglob("*") if path.is_file())
    assert b"Puss" not in whole
    assert b"Sunrise" not in whole
    private = write(warehouse, tmp_path / "private", "tiny", private=True)
    assert (private.references, private.left_out) == ([*TRANSLATIONS], [])
    assert "do not pass on" in lines(tmp_path / "private" / "README.md")[0]
    restrict(corpus, "source")
    with pytest.raises(BadInput, match="a test set requires it"):
        write(warehouse, tmp_path / "refused", "tiny")
    assert not (tmp_path / "refused").exists()


@given(st.text())
def test_a_folded_text_is_one_line(text: str) -> None:
    assert len(f"{folded(text)}\n".splitlines()) == 1
    assert folded(text).split() == text.split()
