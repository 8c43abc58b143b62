"""A small corpus with everything that the reader shows, in tables as the pipeline leaves them."""

import json
import random
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, ERRORS, LABELS, NO_CATEGORY
from benchmark_assets.adjudication.triage import audits, banded, item_key
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.corpus.registry import register
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.support import write_corpus

CORPUS = "tiny"
MODELS = ["zq/alpha", "zq beta & <b>", "__proto__"]
ENDPOINT = "https://endpoint.of-the-home.example/v1"
CLOSED = "marker of the closed translation, which nobody may pass on to anybody"
TIBETAN = "བདག་ཅག་གིས་འདི་སྐད་ཐོས་པ་དུས་གཅིག་ན། " * 12
WEDGES = "𒀭"
HOSTILE = {
    "evil<1>": '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked=1"> &amp; ${x} \\u003c '
    "\u2028",
    "rtl:1": "שלום עולם (abc) 123 \u202e reversed",
    "tib:1": TIBETAN,
    "marks:1": "e\u0301 ā\u0304 q\u0307\u0323 Zalgo Z\u0336a\u0336 \U0001d538 𒀭 👩\u200d👩\u200d👧",
    "long:1": "word and another one, " * 910,
    "quote\"'&#:1": "'; window.hacked = 1; //\r\n\ttabbed\n\nlines",
}
"""Passages whose source and first output are these texts."""


def build(
    folder: Path,
    restricted: bool = False,
    count: int = 30,
    hostile: Mapping[str, str] = MappingProxyType(HOSTILE),
    sample: int = 4,
) -> Warehouse:
    """Three models on `count` plain passages and on the hostile ones; `cleo` is restricted, or is not there. `sample`
    is the number of outputs of a band in the sample for annotators."""
    description = write_corpus(folder / "corpus")
    content = json.loads(description.read_text(encoding="utf-8"))
    content["references"].pop("cleo", None)
    if restricted:
        content["references"]["cleo"] = {"language": "en", "licence": "all rights reserved", "restricted": True}
    content["audit"] = {"sample": [sample] * 5}
    description.write_text(json.dumps(content), encoding="utf-8")
    warehouse = DuckDBWarehouse(path=str(folder / "variorum.duckdb"))
    with warehouse.kept_open():
        register(warehouse, description)
        texts = {f"{'ab'[n % 2]}{n}:1": f"Fons {n} currit." for n in range(count)} | dict(hostile)
        keys = [f"{CORPUS}/{name}" for name in texts]
        put(warehouse, "source_text", *(
            {"passage": key, "corpus": CORPUS, "passage_id": name, "document": name.partition(":")[0], "position": 0,
             "language": "bo" if name == "tib:1" else "la", "segment_ids": [name], "segments": [text], "text": text}
            for key, (name, text) in zip(keys, texts.items(), strict=True)
        ))  # fmt: skip
        put(warehouse, "selection", *({"passage": key, "selected": True, "reasons": []} for key in keys))
        asides = [("", "reference", "Sen. ep. 1.1"), *([("cleo", "note", CLOSED)] if restricted else [])]
        put(warehouse, "aside", *(
            {"corpus": CORPUS, "document": "a0", "translator": translator, "segment_id": "a0:1", "position": 0,
             "kind": kind, "text": text} for translator, kind, text in asides
        ))  # fmt: skip
        names = ["ann", "ben", *(["cleo"] if restricted else [])]
        put(warehouse, "reference", *(
            {"passage": key, "translator": name, "complete": name != "ben",
             "text": f"{CLOSED} {key}." if name == "cleo" else f"The spring {key} runs quickly, {name} says."}
            for key in keys for name in names
        ))  # fmt: skip
        outputs = {
            (model, f"{CORPUS}/{name}"): text if name in hostile and model == MODELS[0]
            else f"The well {CORPUS}/{name} runs very quickly, {model} says."
            for model in MODELS for name, text in texts.items()
        }  # fmt: skip
        if restricted:
            outputs[MODELS[1], keys[0]] = f"Lo! {CLOSED.upper()} {keys[0]}"
        refused = {"model": MODELS[2], "passage": keys[-1]}
        del outputs[MODELS[2], keys[-1]]
        put(warehouse, "refusal", refused | {"words": CLOSED})
        put(warehouse, "model_output", *({"model": m, "passage": p, "text": text} for (m, p), text in outputs.items()))
        _judge(warehouse, outputs)
        _record(warehouse, outputs)
    return warehouse


def _judge(warehouse: Warehouse, outputs: dict[tuple[str, str], str]) -> None:
    chance = random.Random(7)
    drifts = pl.DataFrame([{"model": m, "passage": p, "drift": chance.uniform(0.2, 4)} for m, p in outputs])
    triage = banded(drifts, audits(warehouse)).rows(named=True)
    put(warehouse, "triage", *(
        row | {"item": item_key(row["model"], row["passage"], outputs[row["model"], row["passage"]])} for row in triage
    ))  # fmt: skip
    put(warehouse, "drift_score", *(
        {"model": m, "passage": p, "embedder": "e", "sim_best": 0.71234, "closest_reference": "ann", "drift": 1.0}
        for m, p in outputs
    ))  # fmt: skip

    put(warehouse, "output_diagnostic", *(
        {"model": m, "passage": p, "empty": False, "truncated": m == MODELS[0], "evidence": ""} for m, p in outputs
    ))  # fmt: skip

    def judgement() -> dict[str, str]:
        label = chance.choice(LABELS[:4])
        category = chance.choice(CATEGORIES) if label in ERRORS else NO_CATEGORY
        return {"label": label, "error_category": category, "severity": "low", "confidence": "high"}

    def keys(flag: str) -> list[dict[str, str]]:
        return [{"model": row["model"], "passage": row["passage"]} for row in triage if row[flag] or row["sampled"]]

    words = dict.fromkeys(["cause", "evidence", "problem_phrase", "correction"], f"quotes the {CLOSED}")
    votes = [key | {"judge": name} | judgement() | words for key in keys("queued") for name in ("zqj1", "zqj2", "zqj3")]
    people = [key | {"annotator": name} | judgement() for key in keys("sampled") for name in ("mori@zq", "santos@zq")]
    put(warehouse, "judge_vote", *votes)
    notes = {"notes": f"notes the {CLOSED}", "span_start": 0, "span_end": 3}
    put(warehouse, "human_label", *({**said, **notes} for said in people))
    put(warehouse, "verdict", *verdicts(pl.DataFrame(votes)).rows(named=True))
    _mark(warehouse, outputs)
    put(warehouse, "head_to_head", *(
        {"model": m, "passage": p, "verdict": "machine", "points": 1.0, "balance": 0.5, "seats": 6, "abstained": 0}
        for m, p in outputs
    ))  # fmt: skip


def _record(warehouse: Warehouse, outputs: dict[tuple[str, str], str]) -> None:
    """Materializations of sources, outputs and scores, and the call of each output. The scores of the second model were
    computed from earlier outputs."""
    sources = [
        {"asset": "source_text", "model": "", "passage": passage, "version": "5" * 16, "made_from": "code:1"}
        for passage in sorted({passage for _, passage in outputs})
    ]
    made = [
        {"asset": asset, "model": model, "passage": passage, "version": version * 16, "made_from": made_from}
        for model, passage in outputs
        for asset, version, made_from in (
            ("model_output", "a", f"code:7 settings:8 source_text:{'5' * 8}"),
            ("drift_score", "b", f"code:9 model_output:{('c' if model == MODELS[1] else 'a') * 8}"),
        )
    ]
    put(warehouse, "materialization", *({"row_count": 1, "task": ""} | row for row in [*sources, *made]))
    asked = {"study": "model_output", "task": "", "item": "", "parsing": 0}
    put(warehouse, "study_call", *({**asked, "model": m, "passage": p, "call": f"call of {m}"} for m, p in outputs))
    put(warehouse, "model_call", *(
        {"attempt": n, "call": f"call of {model}", "replicate": 0, "run": "r", "model": model, "purpose": "translate",
         "place": ENDPOINT, "asked": datetime(2026, 11, 24), "outcome": "answered", "served_model": "zq-2026",
         "prompt_tokens": 2000, "completion_tokens": 30, "cost": 0.25, "reserved": 1.0}
        for n, model in enumerate(MODELS)
    ))  # fmt: skip


def _mark(warehouse: Warehouse, outputs: dict[tuple[str, str], str]) -> None:
    """Errors of every output: two that overlap, one without a position and one in the source."""
    errors: list[dict[str, object]] = [
        {"side": "output", "span_start": 0, "span_end": 8, "category": "style", "severity": "minor"},
        {"side": "output", "span_start": 4, "span_end": 8, "category": "accuracy/mistranslation", "severity": "major"},
        {"side": "output", "text": f"unlike the {CLOSED}", "category": "other", "severity": "minor"},
        {"side": "source", "span_start": 0, "span_end": 5, "category": "accuracy/omission", "severity": "critical"},
    ]
    keys = [{"model": model, "passage": passage, "judge": "zqj1"} for model, passage in outputs]
    start = HOSTILE["marks:1"].index(WEDGES)
    wedges = keys[list(outputs).index((MODELS[0], f"{CORPUS}/marks:1"))] | {
        "place": 5, "side": "output", "text": "", "category": "fluency/spelling", "severity": "minor",
        "span_start": start, "span_end": start + 1,
    }  # fmt: skip
    put(warehouse, "span_vote", *(
        key | {"mqm": -25.0, "esa": 60.0, "minor": 2, "major": 1, "critical": 1, "unlocated": 1} for key in keys
    ))  # fmt: skip
    put(warehouse, "error_span", *(
        key | {"place": place, "text": ""} | error for key in keys for place, error in enumerate(errors, start=1)
    ), wedges)  # fmt: skip
