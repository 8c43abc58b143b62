"""Replies about samples as DharmaBench reads them (utils/utils.py), faults included.

Here: the fields of a reply, its class by the labels of the paper's program, its spans. Not here: the tolerant parsers
of the project (parsing), prompts, which recipes locate in the paper's repository, scores (task_scores).
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

from benchmark_assets.studies.protocols import PublishedProtocol, json_of
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import LABEL, PREDICTION, SPAN, TYPE, Parsed
from resources.provider.reading import Reading, storable
from resources.provider.replies import TEXT, object_of

EMPTY = "EMPTY"


def published_schema(description: TaskDescription) -> dict[str, Any]:
    """JSON schema of an answer: a label, or a list of spans with their labels; both in any words."""
    if description.kind == "classes":
        return object_of({LABEL: TEXT})
    return object_of({PREDICTION: {"type": "array", "items": object_of({TYPE: TEXT, SPAN: TEXT})}})


def published(
    description: TaskDescription, protocol: PublishedProtocol, reading: Reading
) -> tuple[Parsed, str | None]:  # fmt: skip
    """Parse a reply. A class counts as it is spelled, and stands for the class whose number in the task's files is the
    number of its name in the paper's program; where the two number differently, right answers count as wrong. Spans
    count with any label. An answer without a class or without a list is unusable."""
    fields = reply_fields(reading.text)
    if description.kind == "classes":
        name = fields.get(LABEL)
        name = name if isinstance(name, str) and name in protocol.labels else EMPTY
        label = description.labels.get(protocol.labels.get(name, ""))
        parsed = Parsed(label) if label else Parsed(problem=f"{name}: no class of the task has its number")
    else:
        found = spans(fields)
        parsed = Parsed(problem="no spans") if found is None else Parsed(spans=found)
    return parsed, None if parsed.problem else "strict"


def spans(fields: Mapping[str, Any]) -> tuple[tuple[str, str], ...] | None:
    """The spans in the fields of a reply; None if it has no list, or an item of the list cannot be read as an object: a
    pair of label and text loses the whole list. An absent label or text is ''; one that is no text loses its item."""
    try:
        items = [dict(item) for item in fields[PREDICTION]]
    except (KeyError, TypeError, ValueError):
        return None
    pairs = [(item.get(TYPE, ""), item.get(SPAN, "")) for item in items]
    return tuple((kind, storable(span)) for kind, span in pairs if isinstance(kind, str) and isinstance(span, str))


def reply_fields(text: str) -> Mapping[str, Any]:
    """The fields of a reply: the text as JSON, else without its code fence, a leading `Output:` and what precedes the
    end of thinking, as JSON or as Python; no fields if all fail."""
    whole = json_of(text)
    if isinstance(whole, dict):
        return whole
    bare = re.sub(r"\s*```$", "", re.sub(r"^```(?:json)?\s*", "", text.strip(), flags=re.IGNORECASE))
    bare = re.sub(r"^Output:\s*", "", bare, flags=re.IGNORECASE)
    bare = bare.split("</think>", 1)[-1].strip()
    bare = re.sub(r"^```(?:json)?\s*|\s*```$", "", bare, flags=re.IGNORECASE | re.DOTALL)
    for read in (json_of, _python):
        content = read(bare)
        if isinstance(content, dict) and (PREDICTION in content or LABEL in content):
            return content
    return {}


def _python(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
