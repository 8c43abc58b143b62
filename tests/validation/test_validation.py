"""Figures of whole gold sets: a composed one with a known answer, and labels of a corpus."""

import json
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics.entries import KINDS
from benchmark_assets.metrics.further import Named
from benchmark_assets.people import assets as people
from benchmark_assets.validation import assets as validation
from benchmark_assets.validation.certificates import certificate, rows_for
from benchmark_assets.validation.own import rows_of_people
from benchmark_assets.validation.readers import read
from benchmark_assets.validation.rows import rows_of
from benchmark_assets.validation.scoring import Scored, scored, short
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.audit.stored import put
from tests.processes import here
from tests.support import CORE, LetterEmbedder, made_home, run

WORDS = ("the river ran past a mill and an old stone bridge where two boys fished until night fell on the town").split()  # noqa: SIM905
BROKEN = "qx zv jk wq"


def talks(folder: Path, documents: int = 12) -> Path:
    """A set in the form of WMT's MQM table: two passages a document, two references, three systems. The system `bad`
    always errs, and `mixed` in each second passage. Two raters agree."""
    rows = [["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]]
    for segment in range(2 * documents):
        sound = " ".join(WORDS[(segment + place) % len(WORDS)] for place in range(8))
        source = f"fons {segment} " * (1 + segment % 3)
        for system in ("good", "mixed", "bad", "ref", "refB"):
            errs = system == "bad" or (system == "mixed" and segment % 2)
            text = sound + {"ref": " yesterday", "refB": " again"}.get(system, "")
            marked = f"{text} <v>{BROKEN} {BROKEN}</v>" if errs else text
            found = ["Accuracy/Mistranslation", "Major"] if errs else ["No-error", "No-error"]
            for rater in "a" if system == "mixed" else "ab":
                rows.append([system, f"d{segment // 2}", "1", str(segment), rater, source, marked, *found])
    folder.mkdir()
    (folder / "mqm.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def figures(rows: pl.DataFrame, metric: str, kind: str = "") -> dict[str, tuple[float, int]]:
    own = rows.filter(metric=metric, kind=kind)
    return {name: (value, n) for name, value, n in own.select("figure", "value", "n").iter_rows()}


def test_a_metric_that_sees_every_error_has_perfect_figures(tmp_path: Path) -> None:
    (gold,) = read(talks(tmp_path / "talks"))
    letters = {LetterEmbedder().signature: embedded}
    rows = rows_of(gold, scored(gold, letters, {"ter": Named(KINDS["ter"])}))
    chrf = figures(rows, "chrf")
    assert chrf["auc_pooled"] == (1, 72)
    assert chrf["auc_within"] == (1, 12 * 2 + 12 * 2)  # one of three outputs errs, or two of three
    assert chrf["auc_gap10"][1] == 0 if "auc_gap10" in chrf else True
    assert chrf["system_accuracy"] == (1, 3)
    assert chrf["recall_25"][0] == pytest.approx(18 / 36)
    assert figures(rows, "chrf", "accuracy/mistranslation")["auc_within"] == (1, 48)
    assert figures(rows, "source_length")["auc_within"][0] == 0.5
    raters = figures(rows, "")
    assert raters["raters"][0] == 2
    assert raters["kappa"][0] == 1
    assert chrf["auc_same_rater"] == (1, 24 * 3)  # two pairs by rater a in each passage, one by rater b
    assert figures(rows, "ter")["auc_within"][0] == 1
    assert {*rows["unit_kind"]} == {"documents"}
    assert rows["note"].null_count() == len(rows)
    assert (rows.filter(metric="drift")["embedder"] == short(LetterEmbedder().signature)).all()


def embedded(texts: pl.Series) -> pl.DataFrame:
    vectors, cut = LetterEmbedder().embed(texts.to_list())
    return pl.DataFrame({"text": texts, "vector": vectors, "cut": cut})


def test_few_documents_give_intervals_by_blocks_and_a_warning(tmp_path: Path) -> None:
    (gold,) = read(talks(tmp_path / "talks", documents=6))
    rows = rows_of(gold, scored(gold, {}, {}))
    assert "blocks" in rows["unit_kind"][0]
    assert "too narrow" in rows["note"][0]


def test_marked_words_are_compared_with_those_of_raters(tmp_path: Path) -> None:
    (gold,) = read(talks(tmp_path / "talks"))
    base = next(part for part in scored(gold, {}, {}) if "chrf" in part.rows.columns)
    marks = gold.spans.select("system", "passage", "start", "end").unique()
    part = Scored(base.metrics[:1], "", "", base.rows, marks)
    assert figures(rows_of(gold, [part]), part.metrics[0].name)["span_f1"][0] == 1


def test_the_command_prints_writes_and_records_what_metrics_are_worth(tmp_path: Path) -> None:
    folder, home, table = talks(tmp_path / "talks", documents=5), tmp_path / "home", tmp_path / "figures.csv"
    done = here(home, "validate", str(folder), "--embedder", "minilm", "--record", "--to", str(table))
    assert "talks: 90 ratings of 50 outputs" in done.stdout
    assert any(line.startswith("chrf ") and "1.0 [1.0, 1.0]" in line for line in done.stdout.splitlines())
    assert any(line.startswith("support ") for line in done.stdout.splitlines())
    within = pl.read_csv(table).filter(figure="auc_within", metric="chrf", kind="")
    assert within["value"].to_list() == [1]
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    assert len(warehouse.read("gold_validation")) == len(pl.read_csv(table))
    here(home, "update")
    assert len(warehouse.read("validation")) == len(pl.read_csv(table))

    fault = here(home, "validate", str(folder), "--embedder", "nobody", code=1).stderr
    assert "embedders.nobody: is not in the registry; name one of minilm, e5" in fault


def test_the_command_says_what_a_set_lacks_and_keeps_the_other_sets(tmp_path: Path) -> None:
    rows = [
        {"langs": pair, "line_id": n, "doc_id": f"d{n}", "src": f"Source {n}", "tgt": text, "system": system,
         "annotator": "x", "esa_score": score}
        for pair, text in (("en-cs", "Ahoj světe"), ("en-ja", "こんにちは世界"))
        for n in range(6) for system, score in (("A", 20 * (n % 2)), ("B", 90), ("refA", 95))
    ]  # fmt: skip
    (tmp_path / "esa.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    clean = "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity\nA\t1\tx\tFons\tA spring\tNo-error\tNo-error\n"
    for name in ("clean", "other/clean"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "m.tsv").write_text(clean, encoding="utf-8")
    home, table, places = tmp_path / "home", tmp_path / "a.csv", (str(tmp_path / "esa.jsonl"), str(tmp_path / "clean"))
    done = here(home, "validate", *places, "--embedder", "minilm", "--to", str(table), "--record").stdout
    found = pl.read_csv(table)
    assert {*found["gold_set"]} == {"esa en-cs", "esa en-ja", "clean"}
    assert "chrf" in found.filter(gold_set="esa en-ja")["metric"]
    without = "without BLEU and what divides texts as it does, because of ja-mecab" in done
    assert without != ("bleu" in found.filter(gold_set="esa en-ja")["metric"])
    assert "clean: 1 ratings of 1 outputs" in done
    assert "no references, so only source_length" in done
    assert "no output has a major error" in done
    assert "no figures" in done
    assert len(DuckDBWarehouse(path=str(home / "variorum.duckdb")).read("gold_validation")) == len(found)

    fault = here(home, "validate", str(tmp_path / "clean"), str(tmp_path / "other" / "clean"), code=1).stderr
    assert "clean: is the name of 2 gold sets; rename their folders" in fault


def test_labels_of_a_corpus_certify_metrics_from_a_hundred_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = DuckDBWarehouse(path=str(made_home(monkeypatch, tmp_path) / "variorum.duckdb"))
    definitions = build_definitions(
        rooms=[*CORE, adjudication, people, validation],
        resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()},
    )
    passages = [f"c/d{n // 2}:{n}" for n in range(100)]
    keys = [{"model": model, "passage": passage} for passage in passages for model in ("good", "bad")]
    put(warehouse, "source_text", *(
        {"passage": passage, "corpus": "c", "passage_id": passage[2:], "document": f"d{n // 2}", "position": n,
         "text": "fons", "language": "la", "segment_ids": [], "segments": []}
        for n, passage in enumerate(passages)
    ))  # fmt: skip
    place = {"band": "0.0-1.0", "queued": False, "sampled": True}
    put(warehouse, "triage", *({**key, **place, "drift": 1.0, "item": str(n)} for n, key in enumerate(keys)))
    put(warehouse, "model_output", *({**key, "text": "words"} for key in keys))
    put(warehouse, "drift_score", *({**key, "embedder": "e", "drift": 1.0 + (key["model"] == "bad")} for key in keys))
    put(warehouse, "lexical_score", *({**key, "chrf": 50.0} for key in keys))
    judgement = {"error_category": "OTHER", "severity": "high", "notes": "", "annotator": "a"}
    label = {"good": "VALID_VARIATION", "bad": "MAJOR_ERROR"}

    with dg.DagsterInstance.get() as instance:
        put(warehouse, "human_label", *({**key, **judgement, "label": label[key["model"]]} for key in keys[:98]))
        assert rows_of_people(warehouse).is_empty()
        put(warehouse, "human_label", *({**key, **judgement, "label": label[key["model"]]} for key in keys))
        run(definitions, instance, "audit")
    rows = rows_for(warehouse, "c")
    assert {*rows["origin"]} == {"people"}
    assert figures(rows, "drift")["auc_within"] == (1, 100)
    assert figures(rows, "chrf")["auc_within"] == (0.5, 100)
    found = certificate("drift", "e", rows)
    assert (found.ranks, found.marks) == (False, True)
    assert "100 % of 100 pairs [100, 100] (labels by people of this corpus)" in found.worth
    assert not certificate("chrf", "", rows).marks
    assert rows_for(warehouse, "other").is_empty()
