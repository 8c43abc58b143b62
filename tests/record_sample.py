"""Records the samples' systems, aligner and judges anew: `make recording`, after a prompt or a sample has changed.

Translations are those of the recording in place, alignments those of `alignment.osei.jsonl`, judgements and comparisons
follow from `labels.jsonl` by the rules below; a real server gives them, and the real client asks for them. The base set
is written anew from its comparisons.
"""

import json
import math
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, ERRORS, MAJOR, MINOR, NO_CATEGORY, REFERENCE, UNSURE, VALID
from benchmark_assets.adjudication.panel import panel
from benchmark_assets.alignment.aligner_questions import ModelAligner
from benchmark_assets.alignment.documents import aligners, documents
from benchmark_assets.automation import runs
from benchmark_assets.corpus.description import load as load_description
from benchmark_assets.corpus.model import Document, joined
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.pairwise.base_sets import TRANSLATOR, Identity
from benchmark_assets.pairwise.building import judge_pool, manifest, write_base_set
from benchmark_assets.pairwise.comparing import judged_by
from benchmark_assets.studies.study import Item, ask_about
from benchmark_assets.translation.systems import Systems, language_names
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.embedders import PackagedEmbedder
from resources.home import PROJECT, prepare
from resources.provider.provider import Provider
from resources.provider.registry import default_path, load
from resources.provider.transport import record
from resources.warehouse import Warehouse
from tests.provider.server import Server, serve

SAMPLE = PROJECT / "warehouse" / "sample"
RECORDING = SAMPLE / "recording.jsonl"
DIALOGUES = PROJECT / "warehouse" / "dialogues"
ALIGNER = "recorded-aligner"
JUDGES = SAMPLE / "judges.jsonl"
COMPARISONS = SAMPLE / "comparisons.jsonl"
BASE_SET = SAMPLE / "baseset"

SAYS: dict[str, dict[str, dict[str, float]]] = {
    "brisk": {
        MAJOR: {MAJOR: 0.75, MINOR: 0.20, VALID: 0.05},
        MINOR: {MINOR: 0.65, VALID: 0.30, MAJOR: 0.05},
        VALID: {VALID: 0.95, MINOR: 0.04, UNSURE: 0.01},
    },
    "exacting": {
        MAJOR: {MAJOR: 0.97, MINOR: 0.03},
        MINOR: {MINOR: 0.90, MAJOR: 0.10},
        VALID: {VALID: 0.90, MINOR: 0.10},
    },
    "lenient": {
        MAJOR: {MAJOR: 0.60, MINOR: 0.20, VALID: 0.20},
        MINOR: {MINOR: 0.50, VALID: 0.50},
        VALID: {VALID: 0.99, REFERENCE: 0.01},
    },
}
"""How often each judge gives which label, by what is true of the output."""

OTHER_CATEGORY = {"brisk": 0.25, "exacting": 0.05, "lenient": 0.10}
"""How often each of them names another category than the error has."""

FENCED = {"brisk": 0.0, "exacting": 0.05, "lenient": 0.0}
"""How often each of them answers in Markdown."""

UNUSUAL = {
    ("brisk", "free", "fab2:4"): "in lower case",
    ("brisk", "free", "ep2:3"): "category for label",  # at first
    ("lenient", "free", "ep1:3"): "refusal",
}
"""Replies of another form, to outputs that lie far enough from the references to be judged."""

CAUSES = {
    MINOR: "The wording goes further from the Latin than it has to.", VALID: "It says what the Latin says.",
    UNSURE: "Only the passage before this one could decide it.",
    REFERENCE: "The references say more than this passage does.",
}  # fmt: skip

COMPARER = "comparer"
IDENTITY = Identity(name="sample-anchors", version="1.0.0", judge=COMPARER)
ITEMS = {
    "easy": ("ep1:1", "ep1:3", "ep1:5", "ep1:7", "ep2:1", "ep2:3", "ep2:5", "ep2:7"),
    "hard": ("fab1:2", "fab1:4", "fab2:3", "fab2:7", "sent1:2", "sent1:6", "sent2:2", "sent2:7"),
}
"""The items of the base set: letters are taken to be easy, fables and maxims to be hard."""

ANCHORS = (*(f"{TRANSLATOR}{name}" for name in ("harrow", "lindqvist", "okafor")), "truncating", "verbose")

STRENGTHS = {
    f"{TRANSLATOR}harrow": 0.7, f"{TRANSLATOR}lindqvist": 1.1, f"{TRANSLATOR}okafor": 0.4,
    "erring": 0.9, "free": 0.3, "literal": -0.8, "truncating": 0.2, "verbose": -0.2,
}  # fmt: skip
"""What the comparing judge thinks of each system where it makes no error, in logits."""

LOST = {MAJOR: 2.5, MINOR: 1.0, VALID: 0.0}
"""What an error costs, by its gravity."""

ITEM_EFFECT, FIRST = 0.7, 0.4
"""Standard deviation of what it thinks of a system on one item only, and what it adds to the text shown first."""

COMPARED_UNUSUALLY = {
    (f"{TRANSLATOR}okafor", "free", "ep2:3"): "refusal",
    ("verbose", f"{TRANSLATOR}harrow", "fab2:3"): "refusal",
    ("literal", "verbose", "sent2:2"): "in lower case",  # at first
}
"""Replies of another form, by the text shown first, the other, and the passage."""


def translations() -> dict[str, dict[str, str]]:
    """Texts by passage id, by model."""
    texts: dict[str, dict[str, str]] = {}
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        content = json.loads(reply["body"])["choices"][0]["message"]["content"]
        texts.setdefault(reply["model"], {}).update(json.loads(content))
    return texts


def alignments() -> dict[str, str | None]:
    """Texts by segment id, as the aligner of `dialogues` answers."""
    texts: dict[str, str | None] = {}
    for line in (DIALOGUES / "alignment.osei.jsonl").read_text(encoding="utf-8").splitlines():
        texts |= json.loads(line)
    return texts


def main() -> None:
    """Write the recordings."""
    with tempfile.TemporaryDirectory() as folder, serve() as server:
        os.environ["VARIORUM_HOME"] = folder
        os.environ["DAGSTER_HOME"] = f"{folder}/dagster"
        registry = load(default_path())
        models = {
            name: {"endpoint": "server", "id": own.id, "family": "recorded-system"}
            for name, own in registry.models.items() if own.corpora
        }  # fmt: skip
        judges = {name: {"endpoint": "server", "id": name, "family": "recorded-judge"} for name in [*SAYS, COMPARER]}
        content = {
            "endpoints": {"server": {"url": server.url}}, "models": models, "embedders": {"minilm": {}},
            "aligners": {ALIGNER: {"endpoint": "server", "id": ALIGNER}}, "judges": judges, "embedder": "minilm",
        }  # fmt: skip
        path = Path(folder) / "models.yaml"
        path.write_text(json.dumps(content), encoding="utf-8")
        os.environ["VARIORUM_MODELS"] = str(path)
        warehouse = DuckDBWarehouse(path=str(prepare() / "variorum.duckdb"))
        overrides = {"warehouse": warehouse, "embedder": PackagedEmbedder()}
        definitions = build_definitions(resource_overrides=overrides)
        resources = definitions.resources or {}
        for description in (SAMPLE / "corpus.yaml", DIALOGUES / "corpus.yaml"):
            register(warehouse, description)
        with dg.DagsterInstance.get() as instance:
            runs.look(definitions, instance)
        write(RECORDING, systems(warehouse, resources["systems"], resources["provider"], server))
        write(DIALOGUES / "recording.jsonl", aligner(warehouse, resources["provider"], server))
        write(JUDGES, panelists(resources["provider"], server))
        write(COMPARISONS, comparer(resources["provider"], server))


def systems(warehouse: Warehouse, systems: Systems, provider: Provider, server: Server) -> Iterator[str]:
    """Replies of the sample's systems."""
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": ["sample"]}))
    sources = dict(passages.select("passage", "text").iter_rows())
    for model, texts in translations().items():
        if missing := set(passages["passage_id"]) - set(texts):
            sys.exit(f"{model} has no translation of {sorted(missing)}: add a line with it to {RECORDING}")
        server.configure(answers=texts)
        outputs = list(systems.system(model).translate(sources, "recording"))
        assert all(output.text for output in outputs), outputs
        yield from record(provider.ledger, model)


def aligner(warehouse: Warehouse, provider: Provider, server: Server) -> Iterator[str]:
    """Replies of the aligner of `dialogues`."""
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": ["dialogues"]}), ["passage"])
    works = [
        document.work([each.id for each in document.segments])
        for document in documents(warehouse, passages)
        if aligners(warehouse)[document.corpus, document.translator].model
    ]
    server.configure(answers=alignments())
    found = ModelAligner(provider, provider.model(ALIGNER)).align(works, "recording")
    assert not any(each.error for extracted in found.values() for each in extracted), found
    yield from record(provider.ledger, ALIGNER)


def panel_work(provider: Provider) -> list[Item]:
    """All outputs of the sample, once for each judge."""
    description = load_description(SAMPLE / "corpus.yaml")
    audit = description.audit.model_copy(update={"judges": tuple(SAYS)})
    languages = language_names(description.source.language, str(description.target_language))
    panels = {model: panel(provider, "sample", audit, languages, model) for model in translations()}
    passages = [each for own in read(description) if isinstance(own, Document) for each in own.passages]
    return [
        item
        for model, texts in translations().items()
        for passage in passages
        for source in [joined([segment.text for segment in passage.segments])]
        for references in [{each.translator: joined(each.segments) for each in passage.references}]
        for item in panels[model].items(model, f"sample/{passage.id}", source, references, texts[passage.id])
    ]


def panelists(provider: Provider, server: Server) -> Iterator[str]:
    """Replies of the judges to all outputs of the sample: where a drift comes out different, others are judged."""
    work = panel_work(provider)
    candidates = {
        (model, passage.removeprefix("sample/")): item.content["candidate"]
        for item in work
        for model, passage in [item.partition]
    }
    truth = _defects()
    server.configure(
        answer="judge",
        judgements={
            f"{judge}|{candidate}": contents(judge, *output, truth.get(output, {}))
            for judge in SAYS
            for output, candidate in candidates.items()
        },
        by_key={
            f"{judge}|{candidates[model, passage]}": "refusal"
            for (judge, model, passage), form in UNUSUAL.items()
            if form == "refusal"
        },
    )
    assert not [vote for _, vote in ask_about(provider, "panel", work, "recording") if vote.error]
    yield from sorted(bare(line) for judge in SAYS for line in record(provider.ledger, judge))


def contents(judge: str, model: str, passage: str, defect: dict[str, Any]) -> list[str]:
    """What a judge answers about an output, one content for each time it is asked."""
    draw = random.Random(f"1 {judge} {model} {passage}")
    true = defect.get("label", VALID)
    (label,) = draw.choices(list(SAYS[judge][true]), list(SAYS[judge][true].values()))
    category = defect.get("error_category") or draw.choice(["OVERLY_FREE_PARAPHRASE", "GRAMMAR_OR_FLUENCY_PROBLEM"])
    if draw.random() < OTHER_CATEGORY[judge]:
        category = draw.choice([each for each in CATEGORIES if each != category])
    severity = {MAJOR: "medium", MINOR: "low"}.get(label, "none")
    right, fenced = label == true, draw.random() < FENCED[judge]
    words = {
        "cause_summary": defect["note"] if defect and label in ERRORS else CAUSES[label],
        "evidence": "Compare the Latin with the references." if label in ERRORS else "",
        "problem_phrase": "",
        "suggested_correction": "",
    }
    judgement = {
        "label": label,
        "error_category": category if label in ERRORS else NO_CATEGORY,
        "severity": defect["severity"] if right and defect else severity,
        "confidence": draw.choices(["high", "medium", "low"], [0.75, 0.25, 0] if right else [0, 0.6, 0.4])[0],
        "is_major_error": label == MAJOR,
        "is_valid_variation": label == VALID,
        **{name: text for name, text in words.items() if text or fenced},
    }
    answer = json.dumps(judgement, ensure_ascii=False, separators=(",", ":"))
    if fenced:
        return [f"```json\n{answer}\n```"]
    match UNUSUAL.get((judge, model, passage)):
        case "in lower case":
            return [answer.lower()]
        case "category for label":
            return [answer.replace(label, category, 1), answer]
    return [answer]


def pool_work() -> tuple[pl.DataFrame, pl.DataFrame]:
    """The items of the base set, and what all systems made of them, as `judge_pool` takes both."""
    description = load_description(SAMPLE / "corpus.yaml")
    passages = {each.id: each for own in read(description) if isinstance(own, Document) for each in own.passages}
    source, target = description.source.language, str(description.target_language)
    items, outputs = [], []
    for difficulty, own in ITEMS.items():
        for passage in own:
            key, text = f"sample/{passage}", joined([each.text for each in passages[passage].segments])
            items.append((key, f"{source}-{target}", difficulty, text, source, target))
            outputs += [(model, key, texts[passage]) for model, texts in translations().items()]
            outputs += [
                (f"{TRANSLATOR}{each.translator}", key, joined(each.segments)) for each in passages[passage].references
            ]
    names = ["passage", "direction", "difficulty", "source", "source_language", "target_language"]
    return (
        pl.DataFrame(items, schema=names, orient="row"),
        pl.DataFrame(outputs, schema=["system", "passage", "text"], orient="row").sort("system", "passage"),
    )


def comparer(provider: Provider, server: Server) -> Iterator[str]:
    """Replies of the comparing judge to every two systems on every item in both orders; writes the base set, too."""
    items, outputs = pool_work()
    texts = {(system, passage): text for system, passage, text in outputs.iter_rows()}
    judgements, refused = {}, {}
    for passage in items["passage"]:
        for first, second in permutations(STRENGTHS, 2):
            key = "|".join((COMPARER, texts[first, passage], texts[second, passage]))
            own = first, second, passage.removeprefix("sample/")
            judgements[key] = preferences(*own)
            if COMPARED_UNUSUALLY.get(own) == "refusal":
                refused[key] = "refusal"
    server.configure(answer="judge", judgements=judgements, by_key=refused)
    judgments = judge_pool(provider, COMPARER, items, outputs, "recording")
    if BASE_SET.exists():
        shutil.rmtree(BASE_SET)
    judged = judged_by(provider, COMPARER).model_copy(update={"served": ""})  # recordings do not say what answers
    write_base_set(BASE_SET, manifest(IDENTITY, judged, ANCHORS, items, []), outputs, judgments)
    yield from sorted(bare(line) for line in record(provider.ledger, COMPARER))


def preferences(first: str, second: str, passage: str) -> list[str]:
    """What the comparing judge answers, one content for each time it is asked.

    One draw decides a pair on an item in both orders: where it lies between the chances that the two orders give, the
    judge changes its mind with the order.
    """
    defects = {system: _defects().get((system, passage), {}) for system in (first, second)}
    worth = {
        system: STRENGTHS[system] - LOST[defects[system].get("label", VALID)]
        + ITEM_EFFECT * random.Random(f"1 {system} {passage}").gauss()
        for system in (first, second)
    }  # fmt: skip
    one, other = sorted((first, second))
    bias = FIRST if first == one else -FIRST
    chance = 1 / (1 + math.exp(worth[other] - worth[one] - bias))
    winner = one if random.Random(f"1 {one} {other} {passage}").random() < chance else other
    loser, letter = (second, "A") if winner == first else (first, "B")
    fault = defects[loser].get("error_category", "").replace("_", " ").capitalize()
    answer = json.dumps(
        {"analysis": f"{fault} in the other." if fault else "Both say what the Latin says.",
         "summary": f"{letter} reads better.", "answer": letter}, separators=(",", ":"),
    )  # fmt: skip
    if COMPARED_UNUSUALLY.get((first, second, passage)) == "in lower case":
        return [answer.replace(f'"answer":"{letter}"', f'"answer":"{letter.lower()}"'), answer]
    return [answer]


@cache
def _defects() -> dict[tuple[str, str], dict[str, Any]]:
    """The planted defects, by model and passage."""
    lines = (SAMPLE / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return {(each["model"], each["passage_id"]): each for each in map(json.loads, lines)}


def bare(line: str) -> str:
    """A recorded reply without what differs from one recording to the next, and what nobody reads."""
    reply = json.loads(line)
    body = json.loads(reply["body"])
    (choice,) = body["choices"]
    kept = {
        "choices": [
            {
                "message": {name: text for name, text in choice["message"].items() if text and name != "role"},
                "finish_reason": choice["finish_reason"],
            }
        ],
        "usage": {name: body["usage"][name] for name in ("prompt_tokens", "completion_tokens")},
    }
    return json.dumps(reply | {"body": json.dumps(kept, ensure_ascii=False, separators=(",", ":"))}, ensure_ascii=False)


def write(path: Path, replies: Iterator[str]) -> None:
    """Write replies, one a line, once all of them are there."""
    lines = list(replies)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
