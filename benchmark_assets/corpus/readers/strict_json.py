"""Strict JSON for the readers: whole characters, and no duplicate keys. Not here: the meaning of the keys."""

import json
import re
from pathlib import Path
from typing import Any

from resources.errors import BadInput

_HALF = re.compile(r"[\ud800-\udfff]")


def parse(text: str, path: Path, line: int = 0) -> dict[str, Any]:
    """The JSON object in `text`; `line` is its line in the file, for a file of lines.

    Raises
    ------
    BadInput
        For malformed JSON, anything but an object, a key that occurs twice, or a text with half a character: an
        escaped surrogate without its other half, which no file or table can hold.
    """
    where = f"line {line}" if line else ""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(path, f"{where} {twice}".strip(), "the key occurs twice", "keep one of them")
        for name, value in pairs:
            if _HALF.search(name) or (isinstance(value, str) and _HALF.search(value)):
                key = f"{where} {ascii(name)[1:-1]}".strip()
                raise BadInput(path, key, "has half a character (a surrogate)", "write the character itself")
        return content

    try:
        content = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        position = where or f"line {error.lineno}"
        raise BadInput(
            path, f"{position} column {error.colno}", f"is no JSON ({error.msg})", "correct the file"
        ) from error
    if not isinstance(content, dict):
        raise BadInput(path, where, "is no JSON object", "give an object of keys and values")
    return content
