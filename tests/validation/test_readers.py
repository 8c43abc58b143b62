"""Gold sets in all forms. Files of WMT are real where the folder of real data has them. Files of other forms are
composed here, as their publishers describe them."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people.form import Form
from benchmark_assets.people.forms import ESA_FORM, LABEL_FORM
from benchmark_assets.people.sheets import sheet
from benchmark_assets.validation.gold import Error, GoldSet, is_human, labels, points
from benchmark_assets.validation.readers import read
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.audit.stored import put

MQM_HEADER = [
    "system",
    "doc",
    "docSegId",
    "globalSegId",
    "rater",
    "source",
    "target",
    "category",
    "severity",
    "metadata",
]


def only(place: Path) -> GoldSet:
    (gold,) = read(place)
    return gold


def ratings(gold: GoldSet) -> dict[tuple[str, str, str], float]:
    return {(system, passage, rater): score for system, passage, rater, score in
            gold.ratings.select("system", "passage", "rater", "score").iter_rows()}  # fmt: skip


def spans(gold: GoldSet) -> list[tuple[object, ...]]:
    return gold.spans.select("system", "start", "end", "severity", "category").rows()


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def tsv(*rows: list[str]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


# Real files


@pytest.mark.realdata
def test_scores_of_the_talks_follow_from_their_ratings(realdata: Path) -> None:
    gold = only(realdata / "gold" / "ted-zhen")
    assert "7,935 of 7,935 published segment scores follow from the ratings" in gold.notes
    assert gold.language == "en"  # identified
    rows = labels(gold)
    assert rows.group_by("human").len().sort("human").rows() == [(False, 6877), (True, 1058)]
    assert rows["document"].n_unique() == 5
    assert sorted(gold.references["translator"].unique()) == ["ref", "refB"]
    texts = gold.outputs.join(gold.spans.drop_nulls("start"), on=["system", "passage"])
    assert (texts["end"] <= texts["text"].str.len_chars()).all()


@pytest.mark.realdata
def test_news_by_line_with_average_scores_has_documents_and_references(realdata: Path) -> None:
    gold = only(realdata / "gold" / "newstest2021-ende")
    rows = labels(gold)
    assert rows.filter(~pl.col("human"))["system"].n_unique() == 8
    assert rows.filter("human")["system"].unique().sort().to_list() == ["ref-A", "ref-C", "ref-D"]
    assert (rows["passage"].n_unique(), rows["document"].n_unique()) == (240, 14)
    assert "NVIDIA-NeMo" in rows["system"]  # `Nemo` in the scores
    assert gold.language == "de"


# WMT's tables, composed


def test_mqm_of_later_years_has_several_raters_and_weights(tmp_path: Path) -> None:
    def row(system: str, rater: str, target: str, category: str, severity: str, segment: str = "7") -> list[str]:
        return [system, "talk", "1", segment, rater, "Quelle", target, category, severity, "{}"]

    folder = written(tmp_path / "made", {"mqm.tsv": tsv(
        MQM_HEADER,
        row("S", "a", "a <v>wrong</v> text", "Accuracy/Mistranslation", "Major"),
        row("S", "a", "a wrong text<v>,</v>", "Fluency/Punctuation", "Minor"),
        row("S", "b", "a wrong text,", "No-error", "no-error"),
        row("S", "b", "<v>a</v> wrong text,", "Accuracy/Omission", "HOTW-test"),
        row("T", "a", "<v>???</v>", "Non-translation!", "Major"),
        row("refA", "b", "one <v>right text", "Fluency/Grammar", "Minor"),
    )})  # fmt: skip
    gold = only(folder)
    assert ratings(gold) == {("S", "7", "a"): -5.1, ("S", "7", "b"): 0, ("T", "7", "a"): -25, ("refA", "7", "b"): -1}
    assert ("S", 2, 7, "major", "accuracy/mistranslation") in spans(gold)
    assert ("refA", 4, 14, "minor", "fluency/grammar") in spans(gold)
    assert gold.references.rows() == [("7", "refA", "one right text")]
    assert dict(labels(gold).select("system", "major").iter_rows()) == {"S": True, "T": True, "refA": False}
    assert "3 rows show another text" in gold.notes[0]


def test_penalties_are_those_of_wmt() -> None:
    assert points([]) == 0
    assert points([Error("minor", "fluency/punctuation"), Error("minor", "style"), Error("major")]) == -6.1
    assert points([Error("major", "non-translation")]) == -25
    assert points([Error("neutral"), Error("no-error")]) == 0


def test_esa_of_wmt24_has_a_set_for_each_language_pair(tmp_path: Path) -> None:
    def row(pair: str, system: str, score: float | None, *marks: object) -> str:
        return json.dumps({
            "langs": pair, "line_id": 3, "src": "Source", "tgt": "a text", "doc_id": "d", "system": system,
            "annotator": "x", "esa_score": score, "esa_spans": list(marks),
        })  # fmt: skip

    whole = {"start_i": 0, "end_i": 5, "severity": "major"}
    missing = {"start_i": "missing", "end_i": "missing", "severity": "minor"}
    lines = [
        row("en-cs", "S", 40, whole, missing),
        row("en-cs", "T", 90),
        row("en-ja", "S", 70, missing),
        row("en-cs", "U", None),
    ]
    written(tmp_path, {"esa.jsonl": "\n".join(lines)})
    czech, japanese = read(tmp_path)
    assert (czech.language, japanese.language, czech.scale) == ("cs", "ja", "esa")
    assert spans(czech) == [("S", 0, 6, "major", ""), ("S", None, None, "minor", "")]
    assert dict(labels(czech).select("system", "major").iter_rows()) == {"S": True, "T": False}


# mt-metrics-eval, composed


MTME = {
    "sources/en-de.txt": "One.\nTwo.\n", "documents/en-de.docs": "news d1\nnews d2\n",
    "references/en-de.refA.txt": "Eins.\nZwei.\n", "system-outputs/en-de/refA.txt": "Eins.\nZwei.\n",
    "system-outputs/en-de/S.txt": "Ein.\nZwo.\n", "metric-scores/en-de/BLEU-refA.seg.score": "S\t1\nS\t2\n",
    "human-scores/en-de.mqm.seg.score": "S\t-5\nS\tNone\nrefA\t0\nrefA\t-1\n",
    "human-scores/en-de.mqm.sys.score": "S\t-5\nrefA\t-0.5\n",
    "sources/en-zh.txt": "One.\n", "system-outputs/en-zh/S.txt": "一。\n", "references/en-zh.refA.txt": "壹。\n",
}  # fmt: skip


def test_a_folder_of_mt_metrics_eval_has_a_set_for_each_rated_pair(tmp_path: Path) -> None:
    gold = only(written(tmp_path / "wmt", MTME))
    assert (gold.name, gold.language) == ("wmt en-de", "de")
    assert ratings(gold) == {("S", "1", ""): -5, ("refA", "1", ""): 0, ("refA", "2", ""): -1}
    assert labels(gold).select("system", "passage", "document", "human", "major").rows() == [
        ("S", "1", "d1", False, True), ("refA", "1", "d1", True, False), ("refA", "2", "d2", True, False),
    ]  # fmt: skip


def test_ratings_with_spans_are_preferred_to_scores(tmp_path: Path) -> None:
    error = {"start": 0, "end": 3, "category": "Accuracy/Mistranslation", "severity": "Major", "score": 5.0}
    source = {**error, "severity": "minor", "is_source_error": True}
    files = {"human-scores/en-de.mqm.merged.seg.rating": tsv(
        ["S", json.dumps({"errors": [error, source]}), "rater1"], ["S", "None"],
        ["refA", json.dumps({"errors": []}), "rater2"], ["refA", "None"],
    )}  # fmt: skip
    gold = only(written(tmp_path, MTME | files))
    assert ratings(gold) == {("S", "1", "rater1"): -6, ("refA", "1", "rater2"): 0}
    assert spans(gold)[0] == ("S", 0, 3, "major", "accuracy/mistranslation")
    assert spans(gold)[1][1:3] == (None, None)


def test_penalties_of_an_early_year_become_scores(tmp_path: Path) -> None:
    gold = only(written(tmp_path, MTME | {"human-scores/en-de.mqm.seg.score": "S\t5\nS\t1\n"}))
    assert sorted(ratings(gold).values()) == [-5, -1]


# Annotation tools, composed


def test_literary_paragraphs_come_in_as_label_studio_exports_them(tmp_path: Path) -> None:
    def task(system: str, text: str, *result: Mapping[str, object], account: int = 1) -> dict[str, object]:
        data = {"id": 5, "book": "Emma", "source": "Quelle", "translation": text, "system": system}
        return {"data": data, "annotations": [{"completed_by": account, "result": list(result)}]}

    def region(start: int, end: int, text: str, kind: str, name: str, *words: str) -> dict[str, object]:
        return {"from_name": name, "type": kind, "value": {"start": start, "end": end, "text": text, kind: [*words]}}

    export = [
        task("S", "a wrong word", region(2, 7, "wrong", "labels", "category", "Mistranslation"),
             region(2, 7, "wrong", "choices", "severity", "Major error")),
        task("S", "a wrong word", account=2),
        task("T", "a word", region(0, 6, "Quelle", "labels", "category", "Omission: minor")),
        task("human_1", "one word"),
    ]  # fmt: skip
    gold = only(written(tmp_path, {"export.json": json.dumps(export)}))
    assert ratings(gold) == {("S", "5", "1"): -5, ("S", "5", "2"): 0, ("T", "5", "1"): -1, ("human_1", "5", "1"): 0}
    assert spans(gold)[0] == ("S", 2, 7, "major", "mistranslation")
    assert spans(gold)[1][1:4] == (None, None, "minor")
    assert gold.references.rows() == [("5", "human_1", "one word")]
    assert gold.passages["document"].to_list() == ["Emma"]


def test_a_download_from_pearmut_leaves_checks_and_voided_ratings_out(tmp_path: Path) -> None:
    def entry(user: str, score: float, *marks: object, **item: object) -> dict[str, object]:
        shown = {"src": "Source", "ref": "One text", "tgt": {"S": "𝔞 text"}, "item_id": "i", **item}
        return {"user_id": user, "item_i": 0, "item": [shown],
                "annotation": [{"S": {"score": score, "error_spans": list(marks)}}]}  # fmt: skip

    mark = {"start_i": 3, "end_i": 6, "severity": "major", "category": None}
    void = {"user_id": "v", "item": [], "annotation": "__RESET__"}
    download = {"c": [entry("v", 10), void, entry("u", 20), entry("u", 30, mark), entry("w", 90, validation={})]}
    gold = only(written(tmp_path, {"download.json": json.dumps(download)}))
    assert (gold.scale, ratings(gold)) == ("esa", {("S", "Source", "u"): 30})
    assert spans(gold) == [("S", 2, 6, "major", "")]  # Pearmut counts UTF-16
    assert gold.references["text"].to_list() == ["One text"]


@pytest.mark.parametrize(
    ("form", "cells", "score", "span"),
    [
        (LABEL_FORM, {"label": "MAJOR_ERROR", "error_category": "OTHER", "severity": "high", "error_span": "wrong"},
         -5, ("i1", 2, 7, "major", "other")),
        (ESA_FORM, {"score": "40", "errors": "major: wrong"}, 40, ("i1", 2, 7, "major", "")),
    ],
    ids=["labels", "ESA"],
)  # fmt: skip
def test_completed_sheets_of_the_project_come_in(
    tmp_path: Path, form: Form, cells: dict[str, str], score: float, span: tuple[object, ...]
) -> None:
    texts = {"source": "Fons", "reference Reed": "A right word", "candidate": "a wrong word"}
    row = {"item": "i1", "annotator": "A", "place": "p1", **texts, **dict.fromkeys(form.columns, ""), **cells}
    other = {**row, "item": "i2", **dict.fromkeys(form.columns, "")}  # not answered
    (tmp_path / "items.csv").write_bytes(sheet(list(row), [list(row.values()), list(other.values())]))
    gold = only(tmp_path)
    assert ratings(gold) == {("i1", "Fons", "A"): score}
    assert spans(gold) == [span]
    assert gold.references["text"].to_list() == ["A right word"]


# What a hostile tester composed


def mqm(*rows: str, header: str = "system doc seg_id rater source target category severity") -> str:
    """A table of MQM ratings; cells of a row are separated by `|`."""
    return tsv(header.split(), *(row.split("|") for row in rows))


def clean(*texts: str) -> str:
    """An export of Label Studio: paragraph 1 of a book for each text, without errors."""
    return json.dumps([
        {"data": {"translation": text, "system": "S", "book": f"B{text}", "paragraph": 1},
         "annotations": [{"completed_by": 1, "result": []}]}
        for text in texts
    ])  # fmt: skip


def pearmut(*items: tuple[str, float], campaign: str = "c") -> str:
    """A download in which `u` scores outputs of S for the source Amen, each an item of its own."""
    shown = [{"src": "Amen.", "tgt": {"S": text}, "item_id": f"i{n}"} for n, (text, _) in enumerate(items)]
    answers = [{"S": {"score": score, "error_spans": []}} for _, score in items]
    return json.dumps({campaign: [{"user_id": "u", "item_i": 0, "item": shown, "annotation": answers}]})


ESA_HEADER = "system annotator doc_id line_id src tgt esa_score"
NO_DOCUMENTS = "system seg_id rater source target category severity"
EMPTY = dict.fromkeys(("rater", "source", "category"))


@pytest.mark.parametrize(
    ("files", "scores"),
    [
        ({"m.tsv": mqm("S|A|1|x|Qa|out A|No-error|No-error", "S|B|1|x|Qb|<v>out</v> B|a|Major", "S|B|2|x|Q|c|a|Minor")},
         {("A 1", "out A"): 0, ("B 1", "out B"): -5, ("2", "c"): -1}),
        ({"m.tsv": mqm("S|1|x|Qa|out A|a|Minor", "S|1|x|Qb|out B|a|Major", header=NO_DOCUMENTS)},
         {("1 1", "out A"): -1, ("2 1", "out B"): -5}),
        ({"e.tsv": mqm("S|x|d1|1|q1|one|90", "S|x|d2|1|q2|two|10", header=ESA_HEADER)},
         {("d1 1", "one"): 90, ("d2 1", "two"): 10}),
        ({"x.json": clean("1", "2")}, {("B1 1", "1"): 0, ("B2 1", "2"): 0}),
        ({"x.json": clean("1"), "y.json": clean("2")}, {("B1 1", "1"): 0, ("B2 1", "2"): 0}),
        ({"d.json": pearmut(("So", 95), ("So", 5))}, {("1 Amen.", "So"): 95, ("2 Amen.", "So"): 5}),
        ({"d.json": pearmut(("So", 95)), "e.json": pearmut(("Other", 5), campaign="k"), "meta.json": '{"y": 1}'},
         {("1 Amen.", "So"): 95, ("2 Amen.", "Other"): 5}),
        ({"m.csv": f'{",".join(NO_DOCUMENTS.split())}\nS,1,x,q,"a, <v>b</v>",c,Major\n', "README.txt": "{a note}"},
         {("1", "a, b"): -5}),
        ({"m.jsonl": json.dumps({**EMPTY, "system": "S", "seg_id": "²", "target": "t", "severity": "Major"})},
         {("²", "t"): -5}),
        ({"m.tsv": mqm("S|x|1|q|t|-7", header="system rater seg_id source target mqm_avg_score")}, {("1", "t"): -7}),
    ],
)  # fmt: skip
def test_ids_restart_texts_repeat_and_cells_are_empty(
    tmp_path: Path, files: dict[str, str], scores: dict[tuple[str, str], float]
) -> None:
    gold = only(written(tmp_path, files))
    rows = gold.ratings.join(gold.outputs, on=["system", "passage"]).select("passage", "text", "score")
    assert {(passage, text): score for passage, text, score in rows.iter_rows()} == scores
    assert all(any(name in note for note in gold.notes) for name in {"README.txt", "meta.json"} & files.keys())


TWO = {"sources/en-de.txt": "One.\nTwo.\n"}


def systems(*names: str, scores: str = "", ending: str = "human-scores/en-de.mqm.seg.score") -> dict[str, str]:
    """Texts of two lines by some systems, with these scores."""
    return TWO | {f"system-outputs/en-de/{name}.txt": "a.\nb.\n" for name in names} | {ending: scores}


AVERAGES = "system\tseg_id\t{}\nS\t1\t{}\nS\t2\t{}\n"


@pytest.mark.parametrize(
    ("files", "scores"),
    [
        (systems("系统甲", "系统乙", scores="系统甲\t-5\n系统甲\t-25\n系统乙\t0\n系统乙\t0\n"),
         {"系统甲": [-25, -5], "系统乙": [0, 0]}),
        (systems("GPT-4.1", "GPT-41", scores="GPT-4.1\t-5\nGPT-4.1\t-25\nGPT-41\t0\nGPT-41\t0\n"),
         {"GPT-4.1": [-25, -5], "GPT-41": [0, 0]}),
        (systems("NVIDIA-NeMo", "Nemo-2", "ref", scores="NVIDIANemo\t0\nNVIDIANemo\t-1\nrefA\t0\nrefA\t0\n"),
         {"NVIDIA-NeMo": [-1, 0], "ref": [0, 0]}),
        (systems("S", scores=AVERAGES.format("score", 1.5, 0), ending="a.tsv"), {"S": [-1.5, 0]}),
        (systems("S", scores=AVERAGES.format("esa_score", 95, 5), ending="a.tsv"), {"S": [5, 95]}),
    ],
)  # fmt: skip
def test_names_of_systems_and_scales_of_averages(
    tmp_path: Path, files: dict[str, str], scores: dict[str, list[float]]
) -> None:
    rows = only(written(tmp_path, files)).ratings.sort("score").group_by("system").agg("score")
    assert dict(rows.iter_rows()) == scores


def test_only_names_of_references_are_people() -> None:
    people = (
        "ref",
        "refA",
        "ref-A",
        "ref_B",
        "refb",
        "Human-A",
        "Human-A.0",
        "human_1",
        "reference Müller",
        "human Lee",
    )
    others = ("Refact", "Reflex", "Refiner", "Humanist-7B", "humanMT", "Ref-4B", "Human-7B-chat", "GPT")
    assert [name for name in (*people, *others) if is_human(name)] == [*people]


def test_notes_count_what_is_odd_in_ratings(tmp_path: Path) -> None:
    spans = json.dumps([{"start_i": 0, "end_i": 99, "severity": "major"}])
    table = "S|A|1|x|Quelle|<v>这是</v>一个错误的翻译结果|Accuracy|Major"
    files = {
        "e.tsv": mqm(f"S|x|d|1|Quelle|a text|40|{spans}", header=f"{ESA_HEADER} esa_spans"),
        "m.tsv": mqm(table, table),
    }
    files |= {"sources/en-de.txt": "Quelle\n", "references/en-de.refA.txt": "Eins.\n"}
    by_name = {gold.name: gold for gold in read(written(tmp_path / "both", files))}
    assert by_name.keys() == {"both mqm", "both esa"}
    esa, points = by_name["both esa"], by_name["both mqm"]
    assert esa.spans["start"].to_list() == [None]
    assert "1 marked errors lie outside their text: they count, without a place" in esa.notes
    assert (points.language, points.ratings["score"].to_list()) == ("zh", [-10])
    assert "m.tsv: 1 rows repeat an earlier row, and count again" in points.notes
    assert "1 of 1 passages are lines of sources by number and text" in points.notes
    assert points.references["text"].to_list() == ["Eins."]


def test_control_items_of_a_home_are_no_outputs(tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(tmp_path / "w.duckdb"))
    put(warehouse, "model_output", {"model": "S", "passage": "c/1", "text": "a text"})
    put(
        warehouse,
        "control_item",
        {"item": "check", "kind": "attention", "original": "o", "passage": "c/1", "text": "b"},
    )
    row = {"source": "Fons", "annotator": "A", "label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low"}
    rows = [{**row, "item": item, "candidate": item} for item in (item_key("S", "c/1", "a text"), "check", "unknown")]
    header = [*row, "item", "candidate", "confidence", "notes", "error_span"]
    (tmp_path / "items.csv").write_bytes(sheet(header, [[each.get(name, "") for name in header] for each in rows]))
    (gold,) = read(tmp_path / "items.csv", warehouse)
    assert sorted(gold.outputs["system"]) == sorted([rows[0]["item"], "unknown"])
    assert gold.notes[:2] == (
        "items.csv: 1 answers about control items are left out",
        "items.csv: this home lacks 1 of 3 items, and cannot tell controls",
    )


# Faults


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"readme.txt": "nothing"}, "holds no rated translations in a known form"),
        ({"m.tsv": tsv(MQM_HEADER, ["S", "d"])}, "line 2: has 2 cells, but the header has 10"),
        ({"m.tsv": tsv(MQM_HEADER, [*"Sd17rst", "c", "Grave", ""])}, "line 2: has the unknown severity 'Grave'"),
        (MTME | {"system-outputs/en-de/S.txt": "Ein.\n"}, "has 1 lines, but en-de.txt has 2"),
        (MTME | {"human-scores/en-de.mqm.seg.score": "S\t-5\n"}, "S: has 1 rows of S, but the source has 2 lines"),
        (MTME | {"human-scores/en-de.mqm.seg.score": "S\tx\nS\t0\n"}, "line 1: has the score 'x'"),
        (MTME | {"human-scores/en-de.mqm.seg.rating": "S\t{}\nS\tNone\n"}, "line 1: has a rating that cannot be read"),
        ({"e.json": json.dumps([{"data": {"mt": "x"}, "annotations": []}])}, "task 1: has no field for the system"),
        ({"e.json": json.dumps([{"data": {"mt": "x", "translation": "y", "system": "s"}}])}, "several translations"),
        ({"e.json": '{"c": [{"user_id": 1}]}'}, "c 1: is not an annotation of Pearmut"),
        ({"e.json": "{"}, "is not valid JSON"),
        ({"e.tsv": mqm("S|x|d|1|q|t|nan", header=ESA_HEADER)}, "line 2: has the score 'nan'"),
        ({"e.tsv": mqm("S|x|d|1|q|t|-20", header=ESA_HEADER)}, "line 2: has the ESA score -20; give ESA from 0 to 100"),
        ({"e.tsv": mqm("S|x|1|q|t|5", header="system rater seg_id source target score")}, "name it esa_score or mqm"),
        ({"m.jsonl": json.dumps(dict.fromkeys(MQM_HEADER, "x")) + '\n{"system": "S"}'}, "line 2: has no category"),
        (systems("S", scores=AVERAGES.format("score", 95, 5), ending="a.tsv"), "scores from 5 to 95, so it is not MQM"),
        (systems("S", scores="S\t-5\nS\t5\n"), "has MQM scores of both signs, from -5 to 5"),
        (systems("GPT-4.1", "GPT41", scores="GPT-41\t0\nGPT-41\t0\n"), "GPT-4.1 and GPT-41 and GPT41, which differ"),
        (systems("S", scores="Z\t0\nZ\t0\n"), "scores without texts: Z"),
        ({"table.csv": "a,b\n1,2\n"}, "(looked at table.csv)"),
    ],
)  # fmt: skip
def test_a_fault_names_file_place_and_remedy(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    with pytest.raises(BadInput, match=r".+") as fault:
        read(written(tmp_path, files))
    assert problem in str(fault.value)


def test_a_folder_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        read(tmp_path / "none")
