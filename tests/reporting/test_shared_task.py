"""A test set has no gaps, is read as the layout says, and holds no restricted text."""

import ast
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.reporting.shared_task import folded, write
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.audit.stored import add
from tests.support import MODELS, PASSAGES, SOURCES, TRANSLATIONS, restrict

PAIR = "la-en"


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def read(folder: Path) -> dict[str, dict[str, list[float | None]]]:
    """Scores by file and system, read by the rules of mt-metrics-eval: it refuses what does not fit.

    The rules are those of `EvalSet` with `strict`, of its module `ratings`, and of `MetaInfo`.
    """
    sources = lines(folder / f"sources/{PAIR}.txt")
    documents = [line.split() for line in lines(folder / f"documents/{PAIR}.docs")]
    assert len(documents) == len(sources)
    assert all(len(each) == 2 for each in documents)
    names = [name for _, name in documents]
    assert len(set(names)) == 1 + sum(a != b for a, b in pairwise(names))
    references = [path.name.split(".")[-2] for path in (folder / "references").glob(f"{PAIR}.*.*")]
    assert not any("-" in name or name in ("all", "src") for name in references)
    systems = {path.name.removesuffix(".txt") for path in (folder / "system-outputs" / PAIR).iterdir()}
    for name in systems & set(references):
        assert (folder / f"system-outputs/{PAIR}/{name}.txt").read_bytes() == (
            folder / f"references/{PAIR}.{name}.txt"
        ).read_bytes()
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
            used = set(references) if against == "all" else set(against.split("."))
            assert used <= set(references)
            assert systems - used <= set(rows)
            assert not any(None in scores for scores in rows.values())
        found[path.name] = rows
    for path in folder.rglob("*.rating"):
        ratings = [line.split("\t") for line in lines(path)]
        assert len(ratings) % len(sources) == 0
        assert {row[0] for row in ratings} <= systems
        for row in ratings:
            assert row[1:] == ["None"] or len(row) == 3
            for error in [] if row[1] == "None" else json.loads(row[1])["errors"]:
                assert 0 <= error["start"] <= error["end"]
                assert set(error) == {"start", "end", "category", "severity", "is_source_error"}
    info = metainfo(folder)
    assert info["std_ref"] in references
    assert all(f"{PAIR}.{name}.{level}.score" in found for level, name in info["std_gold"].items())
    return found


def metainfo(folder: Path) -> dict[str, Any]:
    """Arguments of `MetaInfo` in the file with which mt-metrics-eval reads the folder."""
    tree = ast.parse((folder / "metainfo.py").read_text(encoding="utf-8"))
    (call,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("MetaInfo")
    )
    return {str(each.arg): ast.literal_eval(each.value) if each.arg in ("std_ref", "std_gold") else set()
            for each in call.keywords}  # fmt: skip


def errors(path: Path, system: str) -> list[list[dict[str, Any]] | None]:
    """The errors of each passage of a system in a rating file; None where there is no rating."""
    rows = [line.split("\t") for line in lines(path)]
    return [None if row[1] == "None" else json.loads(row[1])["errors"] for row in rows if row[0] == system]


def test_a_test_set_has_the_texts_and_scores_of_the_warehouse(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    label = {"error_category": "OTHER", "severity": "low", "confidence": "high", "notes": ""}
    add(warehouse, "human_label",
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


def test_translators_are_systems_and_marked_errors_are_ratings(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    add(warehouse, "model_output", *({"model": "broken", "passage": p, "text": "One  bad\r\nline."} for p in PASSAGES))
    counts = {"prefilled": "", "minor": 0, "major": 1, "critical": 0}
    by_mori = {"model": "broken", "annotator": "mori@example.org", "esa": 50.0, "mqm": -5.0, **counts}
    add(warehouse, "human_span_vote",
        {**by_mori, "passage": PASSAGES[0]}, {**by_mori, "passage": PASSAGES[1], "mqm": 0.0, "esa": 100.0})  # fmt: skip
    error = {
        "model": "broken",
        "annotator": "mori@example.org",
        "passage": PASSAGES[0],
        "severity": "major",
        "text": "",
    }
    add(warehouse, "human_error_span",
        {**error, "place": 1, "side": "output", "span_start": 5, "span_end": 14, "category": "style"},
        {**error, "place": 2, "side": "source", "category": "accuracy/omission"})  # fmt: skip
    judged = {"model": "broken", "judge": "a/b.c", "passage": PASSAGES[2]}
    add(warehouse, "span_vote", {**judged, **counts, "mqm": -1.0, "esa": 90.0})
    add(warehouse, "error_span",
        {**judged, "place": 1, "side": "source", "span_start": 0, "span_end": 5, "text": "Nihil", "category": "style",
         "severity": "minor"})  # fmt: skip
    write(warehouse, tmp_path / "set", "tiny", ["alpha", "broken"])
    scores = read(tmp_path / "set")
    human = tmp_path / "set/human-scores"
    marked, none, nothing = errors(human / f"{PAIR}.annotator-1.seg.rating", "broken")
    assert (none, nothing) == ([], None)
    place = {"start": 4, "end": 12, "category": "style", "severity": "major", "is_source_error": False}
    missing = {"start": 0, "end": 0, "category": "accuracy/omission", "severity": "major", "is_source_error": True}
    assert marked == [place, missing]
    assert lines(tmp_path / f"set/system-outputs/{PAIR}/broken.txt")[0][4:12] == "bad line"
    (by_judge,) = (path for path in human.glob("*.seg.rating") if "judge" in path.name)
    assert by_judge.name == f"{PAIR}.judge-a%2Fb%2Ec.seg.rating"
    assert errors(by_judge, "broken")[2] == [
        place | {"start": 0, "end": 5, "severity": "minor", "is_source_error": True}
    ]
    assert scores[f"{PAIR}.mqm.sys.score"]["broken"] == [-2.5]
    assert scores[f"{PAIR}.esa.seg.score"]["broken"] == [50.0, 100.0, None]
    assert metainfo(tmp_path / "set")["std_gold"] == {"sys": "mqm", "seg": "mqm"}
    assert b"mori" not in b"".join(path.read_bytes() for path in (tmp_path / "set").rglob("*") if path.is_file())
    similar = warehouse.read("reference_similarity").filter(translator="ann", other="ben").sort("passage")["similarity"]
    assert "similarity-ann.seg.score" not in scores  # the model without scores
    write(warehouse, tmp_path / "other", "tiny", ["alpha"])
    assert read(tmp_path / "other")["similarity-ann.seg.score"]["ben"] == similar.to_list()


def test_who_lacks_a_passage_is_left_out_unless_asked_for(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    add(warehouse, "model_output", {"model": "a b/c", "passage": PASSAGES[1], "text": "One\nline\u2028more."})
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
    text = "Off goes the mouse behind the oven, while Puss on the sill keeps her seat and stays put."
    row = {"passage": PASSAGES[0], "translator": "mora", "text": text, "complete": True}
    add(warehouse, "reference", row)
    by_heart = {PASSAGES[0]: text.upper(), PASSAGES[1]: "x", PASSAGES[2]: "y"}
    add(warehouse, "model_output", *({"model": "parrot", "passage": p, "text": t} for p, t in by_heart.items()))
    public = write(warehouse, tmp_path / "public", "tiny")
    assert (public.references, public.incomplete, public.left_out) == (["ann", "ben"], ["parrot"], ["cleo", "mora"])
    read(tmp_path / "public")
    whole = b"".join(path.read_bytes() for path in (tmp_path / "public").rglob("*") if path.is_file())
    assert b"puss" not in whole.lower()
    assert b"Sunrise" not in whole
    private = write(warehouse, tmp_path / "private", "tiny", private=True)
    assert (private.references, private.left_out) == ([*TRANSLATIONS, "mora"], [])
    assert "do not pass on" in lines(tmp_path / "private" / "README.md")[0]
    restrict(corpus, "source")
    with pytest.raises(BadInput, match="a test set requires it"):
        write(warehouse, tmp_path / "refused", "tiny")
    assert not (tmp_path / "refused").exists()


@given(st.text())
def test_a_folded_text_is_one_line(text: str) -> None:
    assert len(f"{folded(text)}\n".splitlines()) == 1
    assert folded(text).split() == text.split()
