"""Read the samples of a task from its files. A sample has texts, a gold class or gold spans, and a source work.

Here: JSON lines, checked against the task's description and converted to rows. Not here: locating spans (spans), the
tasks of a warehouse (tasks).
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.corpus.readers import strict_json
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.spans import locate
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput

SAMPLE = schema("task_sample")
SPAN = schema("task_span")

MOST_SHOWN = 40
"""Maximum number of characters that a message quotes from a value."""


class Samples(NamedTuple):
    """The content of a task's files: rows of `task_sample` and of `task_span`."""

    samples: pl.DataFrame
    spans: pl.DataFrame


class Line(NamedTuple):
    """One line of a file. `where` identifies the line in messages. Messages must not quote a `restricted` line."""

    path: Path
    where: str
    content: dict[str, Any]
    restricted: bool

    def fault(self, field: str, problem: str, remedy: str = "correct the file or the description") -> BadInput:
        """Make the error for a field of the line, or for the whole line if `field` is ''."""
        return BadInput(self.path, f"{self.where} {field}".strip(), problem, remedy)

    def shown(self, value: object) -> str:
        """A value as shown in messages: the first characters or, if the line is restricted, only the value's type and
        length."""
        text = repr(value)
        if self.restricted:
            return f"a {type(value).__name__} of {len(value) if isinstance(value, str) else len(text)} characters"
        return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def read(description: TaskDescription, root: Path) -> Samples:
    """Read all files of a task, split by split, with the samples in the order of the lines.

    Parameters
    ----------
    root
        Folder to which the `files` of the description are relative.

    Raises
    ------
    BadInput
        If a file is missing, empty or not JSON lines in UTF-8; a field is missing or of the wrong type; a text is
        empty; a label is unknown; offsets and spans differ in number; or a sample's name occurs twice in a file.
    """
    samples: list[dict[str, Any]] = []
    spans: list[dict[str, Any]] = []
    for split in sorted(description.files):
        names: dict[str, int] = {}
        for position, line in enumerate(_lines(description, root / description.files[split])):
            key = {"task": description.task, "split": split, "sample": _name(description, line, names)}
            texts = {name: _text(line, field) for name, field in description.texts.items()}
            samples.append({
                **key, "position": position, "texts": json.dumps(texts, ensure_ascii=False),
                "label": _label(description, line) if description.kind == "classes" else None,
                "source": _source(line, description),
            })  # fmt: skip
            if description.spans:
                spans += [key | span for span in _spans(description, line, texts[description.marked])]
    return Samples(pl.DataFrame(samples, schema=SAMPLE), pl.DataFrame(spans, schema=SPAN))


def version(description: TaskDescription, root: Path) -> str:
    """Hash of a description and its files. A file that cannot be read counts as missing."""
    return digest(description, *(_bytes_or_none(root / path) for _, path in sorted(description.files.items())))


def _lines(description: TaskDescription, path: Path) -> list[Line]:
    if not path.is_file():
        remedy = f"obtain it from {description.origin}" if description.origin else "check `files` and the folder"
        raise BadInput(path, description.task, "is not a file", remedy)
    lines = [Line(path, f"line {number}", record, description.restricted) for number, record in strict_json.lines(path)]
    if not lines:
        raise BadInput(path, "", "has no samples", "give a file of JSON lines, one sample per line")
    return lines


def _name(description: TaskDescription, line: Line, names: dict[str, int]) -> str:
    """Name of a sample, unique in its file. `names` maps each earlier name to its frequency, and is updated."""
    name = _word(line, description.sample)
    names[name] = names.get(name, 0) + 1
    if names[name] == 1:
        return name
    numbered = f"{name}#{names[name]}"
    if not description.numbered or numbered in names:
        raise line.fault(
            description.sample,
            f"{line.shown(name)} is also the name of an earlier sample",
            "rename one of the samples, or set `numbered: true`",
        )
    names[numbered] = 1
    return numbered


def _field(line: Line, field: str) -> Any:
    if field not in line.content:
        raise line.fault(field, f"is missing; the line has {', '.join(line.content) or 'no field'}")
    return line.content[field]


def _word(line: Line, field: str) -> str:
    """The value of a field, which must be a string or an integer, as a string."""
    value = _field(line, field)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise line.fault(field, f"is {line.shown(value)}, neither a string nor an integer")
    return str(value)


def _text(line: Line, field: str) -> str:
    value = _field(line, field)
    if not isinstance(value, str) or not value.strip():
        raise line.fault(field, "is not a string, or is empty")
    return value


def _label(description: TaskDescription, line: Line) -> str:
    value = _word(line, description.label)
    if value not in description.labels:
        labels = ", ".join(description.labels)
        raise line.fault(description.label, f"{line.shown(value)} is not one of `labels`: {labels}")
    return description.labels[value]


def _source(line: Line, description: TaskDescription) -> str | None:
    """The work that a sample is from. None if the description has no `source`, or the line has null in this field."""
    path = description.source
    if not path:
        return None
    value: Any = line.content
    for step in path.split("."):
        if not isinstance(value, dict) or step not in value:
            raise line.fault(path, "is missing")
        value = value[step]
    if value is not None and not isinstance(value, str):
        raise line.fault(path, f"is {line.shown(value)}, not the name of a source")
    if value and description.work:
        if not (match := re.fullmatch(description.work, value)):
            raise line.fault(path, f"{line.shown(value)} does not match `work` ({description.work})")
        value = match[1]
    return value or None


def _spans(description: TaskDescription, line: Line, text: str) -> list[dict[str, Any]]:
    """Rows of the gold spans of a sample, without the columns that identify the sample."""
    fields = description.spans
    assert fields is not None
    spans = _pairs(line, fields.field, str)
    offsets: list[tuple[int, int]] = _pairs(line, fields.offsets, int) if fields.offsets else []
    if fields.offsets and len(offsets) != len(spans):
        raise line.fault(fields.offsets, f"has {len(offsets)} places for {len(spans)} spans")
    places = locate(text, [span for _, span in spans], offsets)
    return [
        {"number": number, "type": kind, "text": span, "first": place.first, "last": place.last,
         "located": place.located}
        for number, ((kind, span), place) in enumerate(zip(spans, places, strict=True))
    ]  # fmt: skip


def _pairs(line: Line, field: str, kind: type) -> list[tuple[Any, Any]]:
    """The value of a field, which must be a list of pairs of strings or of integers."""
    value = _field(line, field)
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(part) is kind for part in pair) for pair in value
    ):
        raise line.fault(field, f"is not a list of pairs of {'strings' if kind is str else 'integers'}")
    return [(first, second) for first, second in value]


def _bytes_or_none(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
