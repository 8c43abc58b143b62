"""Structured answers: the JSON object that a reply should be, by strict parsing, and by repair where that is safe.

A lenient parser can turn a truncated reply into a complete one. So a repair counts only if the model ended by itself
and the keys are exactly those asked for, and it is marked; of a reply that was cut off, only what was complete before
the cut counts. Not here: whether the connection brought a reply at all (reading).
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import json_repair

from resources.provider.reading import Outcome, Reading

REFUSED = "refused: "
"""How the problem of a refusal begins."""


class Answer(NamedTuple):
    """The values of the keys asked for that a reply holds.

    `how`: 'strict' (JSON as it stands), 'repaired', 'prefix' (what was complete before the reply was cut off).
    `problem` is '' where nothing is wrong, else what is.
    """

    values: Mapping[str, Any]
    how: str
    problem: str


def schema_of(keys: Iterable[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, whose values are all of one kind."""
    names = list(keys)
    return {
        "type": "object", "properties": {name: dict(value) for name in names}, "required": names,
        "additionalProperties": False,
    }  # fmt: skip


def parse(reading: Reading, keys: Collection[str]) -> Answer:
    """Find the keys asked for in a reply.

    Values are not judged here; a key that occurs twice counts as missing, for nobody knows which value was meant.
    """
    if reading.outcome is Outcome.REFUSED:
        return Answer({}, "strict", f"{REFUSED}{reading.detail}")
    text = reading.text.strip()
    if reading.outcome is not Outcome.ANSWERED:
        pairs = _without_doubles(list(_complete_pairs(text)))
        return Answer(
            {key: value for key, value in pairs.items() if key in keys},
            "prefix",
            f"the reply was cut off ({reading.outcome})",
        )
    try:
        content = json.loads(text, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        return _repair(reading, text, keys, f"no JSON ({error})")
    if not isinstance(content, dict):
        return Answer({}, "strict", f"JSON, but no object ({type(content).__name__})")
    missing = [key for key in keys if key not in content]
    extra = sorted(content.keys() - set(keys))
    problem = f"keys missing: {missing}, keys not asked for: {extra}" if missing or extra else ""
    return Answer({key: content[key] for key in keys if key in content}, "strict", problem)


def _repair(reading: Reading, text: str, keys: Collection[str], problem: str) -> Answer:
    found = _closed_object(text)
    doubled = any(len(re.findall(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", found)) > 1 for key in keys)
    if reading.finish == "stop" and found and not doubled:
        try:
            content = json_repair.loads(found)
        except RecursionError:
            content = None
        if isinstance(content, dict) and content.keys() == set(keys):
            return Answer(content, "repaired", "")
    return Answer({}, "strict", problem)


def _closed_object(text: str) -> str:
    """The text from its first brace to the one that closes it, if nothing but a fence follows, else ''.

    A text that was cut off is not closed: it ends within a string or within braces.
    """
    start = text.find("{")
    depth, in_string, escaped = 0, False, False
    for position in range(max(start, 0), len(text)):
        letter = text[position]
        if in_string:
            in_string = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            in_string = True
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            if depth == 0:
                closed = text[position + 1 :].strip() in ("", "```")
                return text[start : position + 1] if closed else ""
    return ""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def _complete_pairs(text: str) -> Iterable[tuple[str, Any]]:
    """Pairs of the outermost object up to where the text breaks off; a value counts once a comma or brace follows."""
    decoder = json.JSONDecoder()
    position = text.find("{") + 1
    while position:
        position = _skip_space(text, position)
        try:
            key, position = decoder.raw_decode(text, position)
            position = _skip_space(text, position)
            if not isinstance(key, str) or text[position : position + 1] != ":":
                return
            value, position = decoder.raw_decode(text, _skip_space(text, position + 1))
        except (ValueError, RecursionError):
            return
        position = _skip_space(text, position)
        if text[position : position + 1] not in (",", "}"):
            return
        yield key, value
        position = position + 1 if text[position] == "," else 0


def _skip_space(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position
