"""Read the samples of a task from its files: texts, the gold class or spans, the source work.

Here: JSON lines, checked against the task's description, as frames. Not here: where in a text a span lies (spans), the
list of tasks (tasks).
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.spans import locate
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput

SAMPLE = schema("task_sample")
SPAN = schema("task_span")


MOST_SHOWN = 40
"""Most characters of a value in a message."""


class Samples(NamedTuple):
    """The content of a task's files: rows of `task_sample` and of `task_span`, without their fingerprints."""

    samples: pl.DataFrame
    spans: pl.DataFrame


class Line(NamedTuple):
    """One line of a file; `where` names it in messages. Messages must not quote a line that is `restricted`."""

    path: Path
    where: str
    content: dict[str, Any]
    restricted: bool

    def fault(self, field: str, problem: str, remedy: str = "mend the file, or the description") -> BadInput:
        """The error for one of its fields."""
        return BadInput(self.path, f"{self.where} {field}".strip(), problem, remedy)

    def shown(self, value: object) -> str:
        """A value as messages may quote it: its beginning; if restricted, its type and length."""
        words = repr(value)
        if self.restricted:
            return f"a {type(value).__name__} of {len(value) if isinstance(value, str) else len(words)} characters"
        return words if len(words) <= MOST_SHOWN else f"{words[:MOST_SHOWN]}…"


def read(description: TaskDescription, root: Path) -> Samples:
    """Read all files of a task, in the order of their lines.

    Raises
    ------
    BadInput
        If a file is missing, empty or not JSON lines in UTF-8; a field is missing or of another type; a text is empty;
        a label is unknown; offsets and spans differ in number; or a sample's name occurs twice in a file.
    """
    samples: list[dict[str, Any]] = []
    spans: list[dict[str, Any]] = []
    for split in sorted(description.files):
        names: dict[str, int] = {}
        for position, line in enumerate(_lines(description, root / description.files[split])):
            own = {"task": description.task, "split": split, "sample": _name(description, line, names)}
            texts = {name: _text(line, field) for name, field in description.texts.items()}
            shown = json.dumps(texts, ensure_ascii=False)
            label = _label(description, line) if description.kind == "classes" else None
            source = _source(line, description)
            samples.append({**own, "position": position, "texts": shown, "label": label, "source": source})
            if description.spans:
                spans += [own | span for span in _spans(description, line, texts[description.marked])]
    return Samples(pl.DataFrame(samples, schema=SAMPLE), pl.DataFrame(spans, schema=SPAN))


def version(description: TaskDescription, root: Path) -> str:
    """Hash of a description and its files; defined also for a file that cannot be read."""
    return digest(description, *(_bytes_or_none(root / path) for _, path in sorted(description.files.items())))


def _lines(description: TaskDescription, path: Path) -> list[Line]:
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        remedy = f"obtain it from {description.origin}" if description.origin else "check `files` and the folder"
        raise BadInput(path, description.task, f"cannot be read ({error.strerror})", remedy) from error
    except UnicodeDecodeError as error:
        raise BadInput(path, "", f"is not in UTF-8 (byte {error.start})", "store it as UTF-8") from error
    lines = [
        Line(path, f"line {number}", parse(text, path, number), description.restricted)
        for number, text in enumerate(content.split("\n"), start=1)
        if text.strip()
    ]
    if not lines:
        raise BadInput(path, "", "has no samples", "give a file of JSON lines")
    return lines


def _name(description: TaskDescription, line: Line, names: dict[str, int]) -> str:
    """Name of a sample; `names` counts the names of its file."""
    name = _word(line, description.sample)
    names[name] = names.get(name, 0) + 1
    if names[name] == 1:
        return name
    again = f"{name}#{names[name]}"
    if not description.numbered or again in names:
        raise line.fault(
            description.sample,
            f"{line.shown(name)} is also the name of an earlier sample",
            "rename one, or set `numbered: true`",
        )
    names[again] = 1
    return again


def _field(line: Line, field: str) -> Any:
    if field not in line.content:
        raise line.fault(field, f"is missing; the line has {', '.join(line.content) or 'no field'}")
    return line.content[field]


def _word(line: Line, field: str) -> str:
    value = _field(line, field)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise line.fault(field, f"is {line.shown(value)}, neither a word nor an integer")
    return str(value)


def _text(line: Line, field: str) -> str:
    value = _field(line, field)
    if not isinstance(value, str) or not value.strip():
        raise line.fault(field, "is no text, or an empty one")
    return value


def _label(description: TaskDescription, line: Line) -> str:
    value = _word(line, description.label)
    if value not in description.labels:
        labels = ", ".join(description.labels)
        raise line.fault(description.label, f"{line.shown(value)} is none of `labels`: {labels}")
    return description.labels[value]


def _source(line: Line, description: TaskDescription) -> str | None:
    """The work that a sample is from; None if its line has null."""
    path = description.source
    if not path:
        return None
    value: Any = line.content
    for step in path.split("."):
        if not isinstance(value, dict) or step not in value:
            raise line.fault(path, "is missing")
        value = value[step]
    if value is not None and not isinstance(value, str):
        raise line.fault(path, f"is {line.shown(value)}, no name of a source")
    if value and description.work:
        if not (match := re.fullmatch(description.work, value)):
            raise line.fault(path, f"{line.shown(value)} does not match `work`, {description.work}")
        value = match[1]
    return value or None


def _spans(description: TaskDescription, line: Line, text: str) -> list[dict[str, Any]]:
    """Rows of the gold spans of a sample, without its keys."""
    fields = description.spans
    assert fields is not None
    marked = _pairs(line, fields.field, str)
    given: list[tuple[int, int]] = _pairs(line, fields.offsets, int) if fields.offsets else []
    if fields.offsets and len(given) != len(marked):
        raise line.fault(fields.offsets, f"has {len(given)} places for {len(marked)} spans")
    places = locate(text, [words for _, words in marked], given)
    return [
        {"number": number, "type": kind, "text": words, "first": at.first, "last": at.last, "located": at.located}
        for number, ((kind, words), at) in enumerate(zip(marked, places, strict=True))
    ]


def _pairs(line: Line, field: str, kind: type) -> list[tuple[Any, Any]]:
    value = _field(line, field)
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(each) is kind for each in pair) for pair in value
    ):
        raise line.fault(field, f"is no list of pairs of {'texts' if kind is str else 'whole numbers'}")
    return [(first, second) for first, second in value]


def _bytes_or_none(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
