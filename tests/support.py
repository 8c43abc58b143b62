"""Small real things that tests build: a corpus on disk, an embedder of letters, runs of the code location."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np

from benchmark_assets.partitions import range_tags
from resources.embedders import Embedder

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
PASSAGES = ["tiny/doc1:1", "tiny/doc1:2", "tiny/doc2:1"]


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
    }
    _write(folder / "corpus.yaml", description)  # JSON is YAML
    return folder / "corpus.yaml"


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


def run(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    job: str,
    partitions: str | tuple[str, str] | None = None,
    raise_on_error: bool = True,
) -> dg.ExecuteInProcessResult:
    """Run a job in this process over one partition, a range given by its ends, or none."""
    definition = definitions.resolve_job_def(job)
    if isinstance(partitions, tuple):
        tags = range_tags(*partitions)
        return definition.execute_in_process(instance=instance, tags=tags, raise_on_error=raise_on_error)
    return definition.execute_in_process(instance=instance, partition_key=partitions, raise_on_error=raise_on_error)


class LetterEmbedder(Embedder):
    """Vectors of letter pair counts: similar texts are near, equal ones equal, and nothing has to be loaded."""

    @property
    def signature(self) -> str:
        return "letter pairs"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        for position, text in enumerate(texts):
            vector = np.full(64, 0.01)
            for pair in zip(text.lower(), text.lower()[1:], strict=False):
                vector[(ord(pair[0]) * 31 + ord(pair[1])) % 64] += 1
            yield [position], [vector], [False]


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
