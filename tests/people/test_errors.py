"""Errors and scores by people: campaigns, what is read of a download, what is set aside, and what applies."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.people.answers import UNKNOWN_ITEM, Candidate, checked, import_labels, read
from benchmark_assets.people.form import Answer, Mark
from benchmark_assets.people.forms import ESA, FORMS, MQM, MQM_FORM
from benchmark_assets.people.mqm import CATEGORIES, MISSING, WEIGHTS
from benchmark_assets.people.pearmut import CONTRASTIVE, PROTOCOLS, RESET, Plan, candidate, write_campaign
from benchmark_assets.people.places import Units
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.sheets import sheet
from benchmark_assets.translation.imports import import_outputs
from resources.errors import BadInput
from resources.harmless import unguarded
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.people.test_controls import PASSAGES as PASSAGES_OF_SAMPLE
from tests.people.test_controls import TEXTS as TEXTS_OF_SAMPLE
from tests.people.test_controls import drawn
from tests.people.test_human_label import ROW, TEXTS, materialize
from tests.people.test_sample import files, rows
from tests.support import PASSAGES, write_outputs

__all__ = ["drawn"]

ONE, TWO = candidate(1), candidate(2)


def span(start: int, end: int, **further: Any) -> dict[str, Any]:
    return {"start_i": start, "end_i": end, "severity": "Major", "category": None} | further


def submission(item: str, text: str, user: str = "mori", score: Any = 80, spans: Any = ()) -> dict[str, Any]:
    """An entry of Pearmut's log."""
    shown = {"item_id": item, "src": "Fons", "tgt": {ONE: text}, "outputs": {ONE: item}}
    answer = {"score": score, "error_spans": spans if isinstance(spans, str) else list(spans)}
    return {"annotation": [{ONE: answer}], "actions": [], "item": [shown], "user_id": user, "item_i": 0}


def download(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps({"tiny-ESA": entries}), encoding="utf-8")
    return path


def items(warehouse: Warehouse) -> list[tuple[str, str]]:
    """Item and text of each output."""
    outputs = warehouse.read("model_output", columns=["model", "passage", "text"])
    joined = warehouse.read("triage", columns=["model", "passage", "item"]).join(outputs, on=["model", "passage"])
    return list(joined.select("item", "text").iter_rows())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_campaign_has_a_list_for_each_annotator_and_names_no_model(
    drawn: Warehouse, tmp_path: Path, protocol: str
) -> None:
    sent = write_campaign(drawn, tmp_path / "c.json", "tiny", ["mori", "santos"], Plan(protocol))
    campaign = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    info = campaign["info"]
    assert (campaign["campaign_id"], info["protocol"], info["users"]) == (
        f"tiny-{protocol}",
        protocol,
        ["mori", "santos"],
    )
    shown = [[text for (segment,) in task for text in segment["tgt"].values()] for task in campaign["data"]]
    assert [len(texts) for texts in shown] == [sent.items + sent.controls] * 2
    together = max(len(segment["tgt"]) for task in campaign["data"] for (segment,) in task)
    assert together > 1 if protocol == CONTRASTIVE else together == 1
    keys = [key for (segment,) in campaign["data"][0] for key in segment["outputs"].values()]
    assert len(set(keys)) == len(keys)
    checks = [name for task in campaign["data"] for (item,) in task for name in item.get("validation", ())]
    assert len(checks) == 2 * len(drawn.read("control_item").filter(kind="attention"))
    if protocol == MQM:
        pairs = [(main, sub) for main, subs in info["mqm_categories"].items() for sub in subs or [main]]
        assert sorted(main if main == sub else f"{main}/{sub}" for main, sub in pairs) == sorted(CATEGORIES)
        assert [name.lower() for name in info["mqm_severities"]] == list(WEIGHTS)
    with pytest.raises(BadInput, match="already exists"):
        write_campaign(drawn, tmp_path / "c.json", "tiny", ["mori"], Plan(protocol))
    with pytest.raises(BadInput, match="cannot be used in a link"):
        write_campaign(drawn, tmp_path / "d.json", "tiny", ["a&b"], Plan(protocol))


@given(st.text(st.sampled_from("ab 𒀭🌞é\n"), min_size=1, max_size=12), st.data())
def test_spans_count_utf_16_and_include_their_end(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    units = [len(text[:place].encode("utf-16-le")) // 2 for place in (start, end)]
    mark = Mark("Major", "style", Units(units[0], units[1] - 1))
    known = {"i": Candidate("tiny/1", text, None, [])}
    answer = Answer(1, "i", "mori", {"score": 0, "errors": [mark]}, texts={"candidate": text})
    (error,) = checked(MQM_FORM, answer, known).parts
    assert list(error.values()) == ["output", start, end, text[start:end], "style", "major"]


def test_what_is_missing_has_no_place_in_the_output(drawn: Warehouse, tmp_path: Path) -> None:
    (item, text), *_ = items(drawn)
    marks = [span(len(text), len(text)), span(len(text), len(text), severity="critical", category="other/other")]
    import_labels(drawn, [download(tmp_path / "a.json", submission(item, text, spans=marks))])
    columns = ["side", "span_start", "text", "category", "severity"]
    assert drawn.read("imported_span", columns=columns).rows() == [
        ("source", None, "", "accuracy/omission", "major"), ("source", None, "", "other", "critical")
    ]  # fmt: skip
    assert MISSING not in text


def test_unsound_annotations_are_set_aside_and_the_others_are_taken(drawn: Warehouse, tmp_path: Path) -> None:
    texts = items(drawn)
    faulty: list[tuple[dict[str, Any], str]] = [
        ({"score": None}, "score None is not a number from 0 to 100"),
        ({"score": 101}, "score 101"),
        ({"spans": "none"}, "error_spans is not a list"),
        ({"spans": [{"start_i": 0}]}, "unknown severity None"),
        ({"spans": [span(3, 1)]}, "no position"),
        ({"spans": [span(0, 999)]}, "extends beyond"),
        ({"spans": [span(0, 1, severity="Awful")]}, "unknown severity 'Awful'"),
        ({"spans": [span(0, 1, category="Accuracy/Addition")]}, "unknown category 'Accuracy/Addition'"),
    ]
    entries = [submission(*pair, **fault) for pair, (fault, _) in zip(texts, faulty, strict=False)]
    entries += [submission("0" * 16, "x"), submission(texts[8][0], "another text"), submission(*texts[9])]
    counts = import_labels(drawn, [download(tmp_path / "a.json", *entries)])[0]
    assert (counts.taken, counts.quarantined) == (1, len(faulty) + 2)
    reasons = drawn.read("label_quarantine", columns=["place", "reason"]).sort("place")["reason"].to_list()
    wanted = [*(reason for _, reason in faulty), UNKNOWN_ITEM, "was altered"]
    assert all(part in reason for part, reason in zip(wanted, reasons, strict=True))


def test_the_last_submission_counts_and_a_reset_voids_earlier_ones(drawn: Warehouse, tmp_path: Path) -> None:
    (one, text), (two, other), *_ = items(drawn)
    reset = {"user_id": "mori", "annotation": RESET, "item_i": 0}
    path = download(
        tmp_path / "a.json",
        submission(one, text), submission(one, text, user="santos"), reset,
        submission(two, other, score=1, spans=[span(0, 1)]), submission(two, other, score=90), 
        {"user_id": "mori", "annotation": ["an answer"], "item": [{"text": "a question", "form": "string"}]},
    )  # fmt: skip
    assert [(submitted.item, submitted.annotator) for submitted in read(path).answers] == [
        (one, "santos"),
        (two, "mori"),
    ]
    assert import_labels(drawn, [path])[0] == (2, 0, 0, 0, 0, {})
    assert import_labels(drawn, [path])[0] == (0, 2, 0, 0, 0, {})
    assert drawn.read("imported_span").is_empty()
    corrected = download(tmp_path / "b.json", submission(two, other, user="MORI", score=1, spans=[span(0, 1)]))
    assert import_labels(drawn, [corrected])[0] == (0, 0, 1, 0, 0, {"MORI": "mori"})
    assert drawn.read("imported_span", columns=["annotator", "text"]).rows() == [("mori", other[:2])]


@pytest.mark.parametrize(
    "content",
    [
        "{", "[]", '{"c": 1}', '{"c": [1]}', '{"c": [{"user_id": "a"}]}',
        '{"c": [{"user_id": "a", "annotation": [{}], "item": [{"item_id": "i", "tgt": {}}]}]}',
    ],
)  # fmt: skip
def test_other_files_are_refused(warehouse: Warehouse, tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(BadInput):
        import_labels(warehouse, [tmp_path / "a.json"])


def judged(warehouse: Warehouse, *spans: dict[str, Any]) -> None:
    """Put errors that a judge marks into the warehouse."""
    base = {"passage": PASSAGES_OF_SAMPLE[0], "model": "alpha", "judge": "j", "side": "output", "text": "x"}
    rows = [base | {"place": place} | each for place, each in enumerate(spans, start=1)]
    put(warehouse, "error_span", *rows)


def test_a_judges_errors_are_marked_from_the_start_and_recorded(drawn: Warehouse, tmp_path: Path) -> None:
    located = {"span_start": 0, "span_end": 4, "category": "style", "severity": "critical"}
    missing = {"span_start": None, "span_end": None, "side": "source", "category": "accuracy/omission"}
    overlapping = located | {"span_start": 2}
    lost = located | {"span_start": None, "span_end": None}
    judged(drawn, located, overlapping, lost, missing | {"severity": "minor"})
    text = TEXTS_OF_SAMPLE["alpha", PASSAGES_OF_SAMPLE[0]]
    end = len(text)
    wanted = {
        ESA: [span(0, 3), span(end, end, severity="Minor")],
        MQM: [span(0, 3, severity="Critical", category="style/style"),
              span(end, end, severity="Minor", category="accuracy/omission")],
    }  # fmt: skip
    for protocol, marks in wanted.items():
        file = tmp_path / f"{protocol}.json"
        write_campaign(drawn, file, "tiny", ["mori"], Plan(protocol, judge="j"))
        segments = [segment for (segment,) in json.loads(file.read_text())["data"][0]]
        (segment,) = [each for each in segments if each["error_spans"][ONE]]
        assert (segment["tgt"][ONE], segment["error_spans"][ONE]) == (text, marks)
        answer = {"score": 50, "error_spans": segment["error_spans"][ONE]}
        entry = {"annotation": [{ONE: answer}], "item": [segment], "user_id": protocol}
        assert import_labels(drawn, [download(tmp_path / "a.json", entry)])[0].taken == 1
    assert drawn.read("imported_annotation")["prefilled"].to_list() == ["j", "j"]
    found = drawn.read("imported_span", columns=["annotator", "span_start", "span_end", "severity", "category"])
    assert found.rows() == [
        ("ESA", 0, 4, "major", None), ("ESA", None, None, "minor", "accuracy/omission"),
        ("MQM", 0, 4, "critical", "style"), ("MQM", None, None, "minor", "accuracy/omission"),
    ]  # fmt: skip
    with pytest.raises(BadInput, match="has marked no error"):
        write_campaign(drawn, tmp_path / "other.json", "tiny", ["mori"], Plan(judge="other"))


def test_a_dynamic_campaign_has_the_outputs_of_all_models_under_the_same_names(
    drawn: Warehouse, tmp_path: Path
) -> None:
    sent = write_campaign(drawn, tmp_path / "c.json", "tiny", ["mori", "santos"], Plan(dynamic=True))
    campaign = json.loads((tmp_path / "c.json").read_text())
    segments = [segment for (segment,) in campaign["data"]]
    assert sent.items == sum(len(segment["tgt"]) for segment in segments) == len(TEXTS_OF_SAMPLE)
    assert len(campaign["data_random"]) == sent.controls > 0
    models = {
        name: {
            model
            for segment in segments
            for (model, _), text in TEXTS_OF_SAMPLE.items()
            if segment["tgt"][name] == text
        }
        for name in (ONE, TWO)
    }
    assert sorted(map(len, models.values())) == [1, 1]
    assert models[ONE] != models[TWO]
    entry = {"annotation": [{TWO: {"score": 9, "error_spans": []}}], "item": [segments[0]], "user_id": "mori"}
    assert import_labels(drawn, [download(tmp_path / "a.json", entry)])[0].taken == 1
    assert drawn.read("imported_annotation")["item"].to_list() == [segments[0]["outputs"][TWO]]


def test_a_completed_spreadsheet_comes_back(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori"], FORMS[MQM])
    sent = [row for row in rows(files(tmp_path / "out")["items.mori.csv"]) if unguarded(row["place"])]
    words = unguarded(sent[0]["candidate"]).split()[-1]
    answers = [
        ("61,5", f"Major accuracy/mistranslation: {words}\n\nminor accuracy/omission: {MISSING}"), ("100", ""),
        ("70", "major {words}"), ("70", "major: not in it"), ("most", ""), ("", f"minor: {words}"),
    ]  # fmt: skip
    filled = [row | {"score": score, "errors": errors} for row, (score, errors) in zip(sent, answers, strict=False)]
    path = tmp_path / "items.csv"
    path.write_bytes(sheet(list(sent[0]), [list(row.values()) for row in (*filled, *sent[len(answers) :])]))
    counts = import_labels(drawn, [path])[0]
    assert (counts.taken, counts.quarantined) == (2, 4)
    assert sorted(drawn.read("imported_annotation")["esa"]) == [61.5, 100]
    found = drawn.read("imported_span", columns=["side", "text", "category", "severity"])
    assert found.rows() == [
        ("output", words, "accuracy/mistranslation", "major"), ("source", "", "accuracy/omission", "minor")
    ]  # fmt: skip
    reasons = drawn.read("label_quarantine").sort("place")["reason"].to_list()
    wanted = ["is not like", "is not in the candidate", "score 'most' is not", "score '' is not"]
    assert all(part in reason for part, reason in zip(wanted, reasons, strict=True))


def test_an_export_of_label_studio_comes_back(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori"], FORMS[MQM])
    tasks = json.loads((tmp_path / "out/tasks.mori.json").read_text())
    place = {"start": 0, "end": 4, "text": tasks[0]["data"]["candidate"][:4]}
    parts = {
        "severity": place | {"labels": ["Critical"]}, "category": place | {"choices": ["Fluency/grammar"]},
        "omission": {"choices": ["Minor"]}, "score": {"number": 12},
    }  # fmt: skip
    result = [{"from_name": name, "value": value} for name, value in parts.items()]
    tasks[0]["annotations"] = [{"completed_by": 1, "result": result}]
    tasks[1]["annotations"] = [{"completed_by": 1, "result": [], "was_cancelled": True}]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    assert import_labels(drawn, [tmp_path / "export.json"])[0].taken == 1
    assert drawn.read("imported_annotation", columns=["annotator", "esa"]).rows() == [("mori", 12)]
    found = drawn.read("imported_span", columns=["side", "span_end", "category", "severity"])
    assert found.rows() == [
        ("output", 4, "fluency/grammar", "critical"),
        ("source", None, "accuracy/omission", "minor"),
    ]


def test_annotations_apply_to_the_text_that_was_annotated(
    built: dg.Definitions,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    tmp_path: Path,
) -> None:
    def evaluated(texts: dict[str, str]) -> None:
        import_outputs(warehouse, write_outputs(tmp_path / "mine.jsonl", texts), "tiny", "mine")
        assert materialize(definitions, instance, "model_output", "drift_score", "triage", "human_span_vote", ends=ROW)

    def consistency() -> list[tuple[object, ...]]:
        return warehouse.read("annotator_consistency", columns=["annotator", "protocol", "labels"]).rows()

    instance.add_dynamic_partitions("model", ["mine"])
    evaluated(TEXTS)
    assert warehouse.read("human_span_vote").is_empty()
    sent = [(item, text) for item, text in items(warehouse) if text in TEXTS.values()]
    by_text = {text: item for item, text in sent}
    text = TEXTS["doc1:1"]
    marks = [span(0, 1), span(2, 6, severity="Minor", category="style/style")]
    import_labels(warehouse, [download(tmp_path / "a.json", submission(by_text[text], text, spans=marks, score=55))])
    assert materialize(definitions, instance, "human_span_vote", ends=ROW)
    columns = ["model", "passage", "annotator", "mqm", "esa", "minor", "major", "critical"]
    assert warehouse.read("human_span_vote", columns=columns).rows() == [("mine", PASSAGES[0], "mori", -6, 55, 1, 1, 0)]
    assert warehouse.read("human_error_span", columns=["place", "text"]).rows() == [(1, text[:2]), (2, text[2:7])]
    whole = definitions.resolve_implicit_global_asset_job_def()
    of_people = {dg.AssetKey("annotation_agreement"), dg.AssetKey("annotator_consistency")}
    agreement = whole.get_subset(asset_selection=of_people)
    for _ in range(2):
        assert agreement.execute_in_process(instance=instance).success
        assert warehouse.read("annotation_agreement").is_empty()
        assert consistency() == [("mori", "errors", 1)]
    second = submission(by_text[text], text, user="santos", spans=marks[:1], score=60)
    import_labels(warehouse, [download(tmp_path / "b.json", second)])
    assert materialize(definitions, instance, "human_span_vote", ends=ROW)
    vote = {"model": "mine", "passage": PASSAGES[0], "judge": "j"}
    put(
        warehouse, "span_vote", vote | {"mqm": -1.0, "esa": 50.0, "minor": 1, "major": 0, "critical": 0, "unlocated": 0}
    )
    located = {"place": 1, "side": "output", "span_start": 0, "span_end": 2, "text": text[:2], "category": "other"}
    put(warehouse, "error_span", vote | located | {"severity": "minor"})
    assert agreement.execute_in_process(instance=instance).success
    assert consistency() == [("mori", "errors", 1), ("santos", "errors", 1)]
    columns = ["corpus", "kind", "first", "second", "outputs", "mqm_difference", "span_f1"]
    found = warehouse.read("annotation_agreement", columns=columns).rows()
    assert found == [
        ("tiny", "judge", "j", "mori", 1, 5, 2 * 1 / (2 + 7)), ("tiny", "judge", "j", "santos", 1, 4, 2 * 1 / (2 + 2)),
        ("tiny", "people", "mori", "santos", 1, 1, 2 * 2 / (7 + 2)),
    ]  # fmt: skip
    evaluated(TEXTS | {"doc1:1": "Another text."})
    assert warehouse.read("human_span_vote").is_empty()
    assert warehouse.read("human_error_span").is_empty()
    assert len(warehouse.read("imported_annotation")) == 2
