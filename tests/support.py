"""Small real things that tests build: a corpus on disk, an embedder of letters, runs and what they reported."""

import inspect
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import numpy as np
import pytest
from hypothesis import settings

from benchmark_assets.alignment import assets as alignment
from benchmark_assets.corpus import assets as corpus
from benchmark_assets.literary import assets as literary
from benchmark_assets.metrics import assets as metrics
from benchmark_assets.partitions import range_tags
from benchmark_assets.references import assets as references
from benchmark_assets.reporting import assets as reporting
from benchmark_assets.selection import assets as selection
from benchmark_assets.translation import assets as translation
from resources import locks
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.embedders import Embedder
from resources.home import PROJECT, prepare

SOURCES = {
    "doc1": {"doc1:1.1": "Mus currit.", "doc1:1.2": "Felis sedet.", "doc1:2.1": "Sol oritur."},
    "doc2": {"doc2:1.1": "Nihil novi dicit."},
}
TRANSLATIONS = {
    "ann": {
        "doc1": {"doc1:1.1": "A mouse runs.", "doc1:1.2": "The cat sits.", "doc1:2.1": "The sun rises."},
        "doc2": {"doc2:1.1": "He says nothing new."},
    },
    "ben": {
        "doc1": {"doc1:1.1": "The mouse is running.", "doc1:1.2": "A cat sits still.", "doc1:2.1": "Up comes the sun."},
        "doc2": {"doc2:1.1": "There is no news in what he says."},
    },
    "cleo": {
        "doc1": {"doc1:1.1": "Off the mouse goes.", "doc1:1.2": "Puss stays put.", "doc1:2.1": "Sunrise."},
        "doc2": {"doc2:1.1": "Nothing he says is new."},
    },
}
CORE = [corpus, alignment, selection, references, literary, translation, metrics, reporting]
"""Rooms from the files to the leaderboard: half of the assets, for tests that are not about the others."""

CONSTRUCTED = CORE[:4]
"""Rooms from the files to the references."""

HOMES = PROJECT / ".pytest_cache" / "homes"
"""Homes that tests copy. `make clean` removes them."""

CODE = ("benchmark_assets", "resources", "warehouse/schema", "prompts")
DAY = 86400.0

MODELS = ["alpha", "beta"]
PASSAGES = ["tiny/doc1:1", "tiny/doc1:2", "tiny/doc2:1"]


def made_home(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    """The home in a folder, made where it is missing and named for this process and those that it starts."""
    patch.setenv("VARIORUM_HOME", str(folder / "home"))
    patch.setenv("DAGSTER_HOME", str(folder / "home" / "dagster"))
    if not (folder / "home").exists():
        shutil.copytree(_empty_home(), folder / "home")
    return prepare()


@cache
def _empty_home() -> Path:
    """A home whose databases have their tables and no rows: creating them takes half a second, copying them nothing."""
    return made_once("empty", _make_empty)


def _make_empty(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VARIORUM_HOME", str(folder))
        patch.setenv("DAGSTER_HOME", str(folder / "dagster"))
        DuckDBWarehouse(path=str(prepare() / "variorum.duckdb")).read("corpus")
        with dg.DagsterInstance.get() as instance:
            instance.get_runs(limit=1)
            instance.all_asset_keys()
        (folder / "dagster" / "dagster.yaml").unlink()  # a link, which `prepare` makes


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made once for each state of the code, by the first process that asks; tests work on copies."""
    folder = HOMES / name / _state(inspect.getfile(make))
    complete = folder.with_suffix(".complete")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        locks.exclusive(lock)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a killed process made
            make(folder)
            complete.touch()
            for former in folder.parent.glob("*.complete"):
                if time.time() - former.stat().st_mtime > DAY:  # no process works with it
                    former.unlink()
                    shutil.rmtree(former.with_suffix(""), ignore_errors=True)
    return folder


@cache
def _state(maker: str) -> str:
    """Digest of all that decides what a home contains: the project's code, what tests share, and a maker's module."""
    digest = blake2b(digest_size=8)
    files = [path for place in CODE for path in sorted((PROJECT / place).rglob("*.*")) if path.suffix != ".pyc"]
    shared = [path for path in sorted((PROJECT / "tests").glob("*.py")) if not path.name.startswith("test_")]
    for path in [*files, *shared, PROJECT / "constraints.txt", Path(maker)]:
        digest.update(f"{path}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def restored_home(patch: pytest.MonkeyPatch, folder: Path, copy: Path) -> Path:
    """The home in a folder that becomes what its copy is: a test starts from it without building it again."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(copy, folder, symlinks=True)
    return made_home(patch, folder)


def copy_finished(finished: Path, home: Path, corpus: Path) -> None:
    """Copy the finished home (conftest) to a place where there is none; its corpus is the one described at `corpus`."""
    shutil.copytree(finished / "home", home, symlinks=True)
    with by_hand(str(home / "variorum.duckdb")) as connection:  # not logged as a change: an update examines nothing
        connection.execute("UPDATE corpus SET description = $1, home = $2", [str(corpus), str(home)])


def write_corpus(
    folder: Path,
    sources: Mapping[str, Mapping[str, Any]] = SOURCES,
    translations: Mapping[str, Mapping[str, Mapping[str, Any]]] = TRANSLATIONS,
    name: str = "tiny",
) -> Path:
    """Write a corpus in the bilara layout; return the path of its description."""
    for document, segments in sources.items():
        _write(folder / "root/la/test" / f"{document}_root-la-test.json", segments)
    for translator, documents in translations.items():
        (folder / "translation/en" / translator).mkdir(parents=True, exist_ok=True)
        for document, segments in documents.items():
            _write(folder / f"translation/en/{translator}" / f"{document}_translation-en-{translator}.json", segments)
    description = {
        "name": name,
        "layout": "bilara",
        "root": ".",
        "source": {"language": "la", "edition": "test", "licence": "CC0-1.0"},
        "references": {each: {"language": "en", "licence": "CC0-1.0"} for each in translations},
        "sensitivity": {"passages": 12},  # of its few passages: damaged texts are part of most tests
        "examination": {"passages": 0},  # tests that count questions have none about sentinels
    }
    _write(folder / "corpus.yaml", description)  # JSON is YAML
    return folder / "corpus.yaml"


def restrict(description: Path, *texts: str) -> None:
    """Say in the description of a corpus that these texts, and no others, are restricted."""
    content = json.loads(description.read_text(encoding="utf-8"))
    for name, each in {"source": content["source"], **content["references"]}.items():
        each |= {"licence": "all rights reserved" if name in texts else "CC0-1.0", "restricted": name in texts}
    description.write_text(json.dumps(content), encoding="utf-8")


def edit_segment(description: Path, translator: str, segment: str, text: str) -> None:
    """Change one segment of one translation on disk, as an editor would."""
    document = segment.partition(":")[0]
    path = description.parent / f"translation/en/{translator}/{document}_translation-en-{translator}.json"
    _write(path, json.loads(path.read_text(encoding="utf-8")) | {segment: text})


def write_outputs(path: Path, texts: Mapping[str, str]) -> Path:
    """Write outputs as JSON lines."""
    lines = [json.dumps({"passage_id": key, "translation": text}, ensure_ascii=False) for key, text in texts.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


CONSTRUCTION = ["alignment", "verification", "passage_filter", "near_duplicate", "selection", "glossary"]
TABLES = [
    "metric_summary", "leaderboard", "translator_agreement", "system_comparison", "metric_rank", "slice_summary",
    "human_range", "reference_examination", "sensitivity",
]  # fmt: skip
STAGES = {
    "construction": CONSTRUCTION,
    "references": [
        *CONSTRUCTION, "reference", "reference_envelope", "human_baseline", "comet_baseline", "damaged_text",
        "damaged_score",
    ],
    "translate": ["model_output"],
    "score": ["drift_score", "lexical_score", "comet_score", "output_diagnostic"],
    "summary": ["model_summary"],
    "adjudicate": [
        "triage", "judge_vote", "verdict", "human_label", "comparison", "rubric_vote", "span_vote", "human_span_vote",
        "term_adherence", "aspect_vote", "head_to_head",
    ],
    "accounts": ["model_call"],
    "audit": [
        "audit_outcome", "judge_calibration", "error_estimate", "annotator_consistency", "annotation_agreement",
        "metric_agreement", "worked_example", "anchor_score", "ensemble_calibration", "understanding_board",
        "understanding_comparison", "validation",
    ],
    "table": TABLES,
}  # fmt: skip
"""Assets that a person might materialize together in Dagster's UI."""

SPARSE = {
    "judge_vote", "verdict", "human_label", "annotator_consistency", "comparison", "pairwise_score", "rubric_vote",
    "rubric_summary", "published_summary",
    "span_vote", "human_span_vote", "annotation_agreement", "span_summary",
    "audit_outcome", "judge_calibration", "error_estimate", "metric_agreement",
    "worked_example", "anchor_score",
    "sentinel", "judge_report", "judge_verdict",
    "vital_sign",
    "term_adherence", "adherence_summary", "aspect_vote", "head_to_head", "literary_score", "ensemble_calibration",
    "task_sample", "task_chance", "task_leakage", "baseline_answer", "encoder_answer", "answer", "task_score",
    "understanding_board", "understanding_comparison", "report", "segment_metric", "human_metric",
    "reproduction", "memory_vote", "memory",
}  # fmt: skip
"""Assets without rows for the small corpora, which have no judges, no tasks and no further metrics."""


def by_hand(path: str) -> duckdb.DuckDBPyConnection:
    """Open the file of a warehouse without the class, as soon as it is no longer kept open."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return duckdb.connect(path)
        except duckdb.Error:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def run(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    what: str,
    partitions: str | tuple[str, str] | None = None,
    raise_on_error: bool = True,
) -> dg.ExecuteInProcessResult:
    """Run a stage or a job in this process over one partition, a range given by its ends, or none."""
    if what in STAGES:
        graph = definitions.resolve_asset_graph()
        chosen = {dg.AssetKey(name) for name in STAGES[what]} & graph.executable_asset_keys
        definition = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=chosen)
    else:
        definition = definitions.resolve_job_def(what)
    ends = (partitions, partitions) if isinstance(partitions, str) else partitions
    return definition.execute_in_process(
        instance=instance, tags=range_tags(*ends) if ends else None, raise_on_error=raise_on_error
    )


def materialized(definitions: dg.Definitions, assets: Sequence[str], first: str, last: str) -> None:
    """Materialize assets over a range of partitions."""
    job = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.get() as instance:
        chosen = job.get_subset(asset_selection={dg.AssetKey(name) for name in assets})
        chosen.execute_in_process(instance=instance, tags=range_tags(first, last))


def reports(instance: dg.DagsterInstance) -> Counter[tuple[str, str]]:
    """How many materializations Dagster has of each partition of each asset."""
    return Counter(
        (key.to_user_string(), record.partition_key or "")
        for key in instance.all_asset_keys()
        for record in instance.fetch_materializations(key, limit=10_000).records
    )


def examples(number: int) -> settings:
    """Settings of a property with its own number of examples: all of them in proofs, a fifth elsewhere."""
    return settings(max_examples=max(2, number * settings().max_examples // 100))


def slack(full: bool, runs: int) -> float:
    """By how much a share of 95 % may be missed in so many runs: four standard errors, nothing in a full proof."""
    return 0 if full else 4 * float(np.sqrt(0.95 * 0.05 / runs))


class LetterEmbedder(Embedder):
    """Vectors of letter pair counts: similar texts are near, equal ones equal, and nothing has to be loaded."""

    @property
    def signature(self) -> str:
        return "letter pairs"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        vectors = np.full((len(texts), 64), 0.01)
        for vector, text in zip(vectors, texts, strict=True):
            for pair in zip(text.lower(), text.lower()[1:], strict=False):
                vector[(ord(pair[0]) * 31 + ord(pair[1])) % 64] += 1
        yield list(range(len(texts))), list(vectors), [False] * len(texts)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")


def write_registry(path: Path, url: str, *models: str, **more: object) -> None:
    """Write a registry of these models, all at one endpoint, at a dollar for a million tokens; a passage a request.

    `more` are further settings of each model.
    """
    settings = {"endpoint": "local", "price": {"input": 1, "output": 1}, "batch_tokens": 1} | more
    registry = {
        "endpoints": {"local": {"url": url}},
        "models": {name: settings | {"id": name} for name in models},
        "embedders": {"minilm": {}},
        "embedder": "minilm",
        "budget": {"run": 1, "day": 1},
    }
    _write(path, registry)
