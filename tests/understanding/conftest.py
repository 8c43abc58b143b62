"""Two small tasks on disk: one of classes, one of spans. Their texts were composed for these tests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

FORMS: dict[str, Any] = {
    "task": "FORM", "title": "Verse or prose", "language": "la", "kind": "classes", "licence": "CC0-1.0",
    "partner": "FORMA", "files": {"train": "form/train.jsonl", "test": "form/test.jsonl"}, "sample": "id",
    "texts": {"text": "words"}, "source": "meta.work", "label": "form", "labels": {"v": "VERSE", "p": "PROSE"},
    "negative": "PROSE", "classes": {"VERSE": "it is metrical", "PROSE": "it is not"},
    "instructions": "Say whether the text is verse or prose.",
}  # fmt: skip
FORM_LINES: dict[str, list[dict[str, Any]]] = {
    "train": [
        {"id": 1, "words": "mus currit", "form": "p", "meta": {"work": "De muribus"}},
        {"id": 2, "words": "luna lucet\nlenis lente", "form": "v", "meta": {"work": None}},
    ],
    "test": [
        {"id": 1, "words": "sol oritur", "form": "p", "meta": {"work": "De sole"}},
        {"id": 2, "words": "sol occidit\nsero sane", "form": "v", "meta": {"work": "De sole"}},
    ],
}
SPEECH: dict[str, Any] = {
    "task": "SPEECH", "title": "Who says what", "language": "la", "kind": "spans", "licence": "CC0-1.0",
    "files": {"test": "speech.jsonl"}, "sample": "name", "texts": {"head": "head", "text": "body"}, "marked": "text",
    "source": "work", "spans": {"field": "gold", "offsets": "places"},
    "types": {"SAID": "words that are said", "WHO": "who says them"}, "instructions": "Find what is said, and by whom.",
}  # fmt: skip
SPEECH_LINES: dict[str, list[dict[str, Any]]] = {
    "test": [
        {
            "name": "a", "work": "De muribus", "head": "Mus et felis", "body": "mus: veni, felis: veni",
            "gold": [["WHO", "mus"], ["SAID", "veni"], ["SAID", "veni"], ["MARK", ":"]],
            "places": [[0, 3], [5, 9], [18, 22], [3, 4]],
        },
        {"name": "b", "work": "De muribus", "head": "Nox", "body": "nox est,  nemo loquitur", "gold": [], "places": []},
    ]
}  # fmt: skip


def write_task(
    folder: Path, description: Mapping[str, Any], lines: Mapping[str, Sequence[Mapping[str, Any]]], **changes: Any
) -> Path:
    """Write a task's files and its description with some keys changed, None for dropped ones; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = {key: value for key, value in {**description, **changes}.items() if value is not None}
    for split, own in lines.items():
        place = folder / description["files"][split]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(json.dumps(line) + "\n" for line in own), encoding="utf-8")
    path = folder / f"{description['task'].lower()}.yaml"
    path.write_text(yaml.safe_dump(changed, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture
def form(tmp_path: Path) -> Path:
    """Description of the task of classes; its files lie beside it."""
    return write_task(tmp_path / "tasks", FORMS, FORM_LINES)


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    """Description of the task of spans; its file lies beside it."""
    return write_task(tmp_path / "tasks", SPEECH, SPEECH_LINES)
