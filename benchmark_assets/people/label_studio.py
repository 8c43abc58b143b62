"""Label Studio: tasks and the labeling interface that people get, and exports that come back (JSON and JSON-MIN).

Not here: controls and values of a field (form), the texts of tasks (sample, understanding.span_labels).
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.unknown_keys import IMPORTED, unknown_keys
from benchmark_assets.people.form import Regions, storable
from resources.errors import BadInput, raise_all

KEYS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
"""Keys that Label Studio adds to each task in JSON-MIN. Only `annotator` is read."""

AGAIN = "export it from Label Studio as JSON or JSON-MIN"


class Task(NamedTuple):
    """A task of an export: its number, counted from 1, its fields, and accounts and values of its annotations.

    In JSON-MIN (`short`), a task has exactly one annotation, and its fields include keys of Label Studio.
    """

    place: int
    fields: Mapping[str, Any]
    annotations: Sequence[tuple[object, Regions]]
    short: bool


def tasks(content: Iterable[Mapping[str, Any]]) -> bytes:
    """Tasks in Label Studio's import format (JSON)."""
    return (json.dumps(list(content), ensure_ascii=False, indent=1) + "\n").encode()


def interface(fill: Callable[[Element], None]) -> bytes:
    """Label Studio's labeling interface (XML), which a function fills."""
    view = Element("View")
    fill(view)
    indent(view)
    config: str = tostring(view, encoding="unicode")
    return f"{config}\n".encode()


def add_text(view: Element, title: str, name: str) -> None:
    """Add a field of the task to the labeling interface, under a title."""
    SubElement(view, "Header", value=title)
    SubElement(view, "Text", name=name, value=f"${name}")


def read(path: Path, content: object) -> list[Task]:
    """The tasks of an export. Skipped and cancelled annotations, drafts and predictions are left out.

    In JSON, Label Studio adds keys of its own around fields and controls, and each of its versions adds further keys.
    Of the added keys, only `data`, `annotations`, `result`, `from_name`, `value`, `completed_by`, `was_cancelled` and
    `skipped` are read.

    Raises
    ------
    BadInput
        If the content is not that of an export.
    """
    if not isinstance(content, list) or not all(isinstance(task, dict) for task in content):
        raise BadInput(path, "", "is not a list of tasks", AGAIN)
    found = []
    for place, task in enumerate(content, start=1):
        if not isinstance(task.get("data", {}), dict):
            raise BadInput(path, f"task {place}", "has no object `data`", AGAIN)
        try:
            short = "data" not in task
            annotations = [(task.get("annotator"), task)] if short else list(map(_annotation, _finished(task)))
        except (AttributeError, KeyError, TypeError) as error:
            problem = "has an annotation that is not in Label Studio's format"
            raise BadInput(path, f"task {place}", problem, AGAIN) from error
        found.append(Task(place, task if short else task["data"], annotations, short))
    return found


def parsed_json(path: Path, remedy: str = AGAIN) -> Any:
    """The content of a JSON file. Raises BadInput with a remedy if it is not valid."""
    try:
        return json.loads(decode(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(path, "", f"is not valid JSON ({error})", remedy) from error


def check_names(
    path: Path, content: Iterable[Task], known: Callable[[str], object], names: Collection[str], ignore: Collection[str]
) -> None:
    """Raise BadInput for fields and controls that are neither in `names`, nor ignored, nor `known`."""
    places: dict[str, str] = {}
    for task in content:
        controls = [name for _, values in task.annotations for name in values if name and not task.short]
        places = {storable(name): f"task {task.place}" for name in [*task.fields, *controls]} | places
    ours = {name: place for name, place in places.items() if not known(name)}
    raise_all(unknown_keys(path, ours, names, IMPORTED, (*ignore, *KEYS)))


def account_name(account: object) -> str:
    """Name of an account in an export: an e-mail address or a number, which may be in an object; '' if unknown."""
    if isinstance(account, dict):
        account = account.get("email") or account.get("username") or account.get("id")
    return storable(str(account)).strip() if isinstance(account, str | int) else ""


def _finished(task: Mapping[str, Any]) -> list[Any]:
    return [each for each in task.get("annotations") or [] if not (each.get("was_cancelled") or each.get("skipped"))]


def _annotation(annotation: Mapping[str, Any]) -> tuple[object, Regions]:
    """Account and values by control, as in JSON-MIN; relations have no control."""
    values: dict[str, list[Any]] = {}
    for part in annotation["result"]:
        values.setdefault(part.get("from_name") or "", []).append(part.get("value"))
    return annotation.get("completed_by"), values
