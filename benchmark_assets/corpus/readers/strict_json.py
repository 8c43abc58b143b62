"""Strict JSON for the readers: no unpaired surrogates, no duplicate keys. Not here: the meaning of the keys."""

import json
import re
from pathlib import Path
from typing import Any

from resources.errors import BadInput

_HALF = re.compile(r"[\ud800-\udfff]")


def parse(text: str, path: Path, line: int = 0) -> dict[str, Any]:
    """Parse a JSON object. `line` is its line number in a JSON lines file, for messages; 0 for other files.

    Raises
    ------
    BadInput
        For malformed JSON, a value that is not an object, a key that occurs twice, or a string with an unpaired
        surrogate, which is half a character and cannot be stored.
    """
    where = f"line {line}" if line else ""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in names if names.count(name) > 1)
            raise BadInput(path, f"{where} {repeated}".strip(), "the key occurs twice", "keep one of them")
        for name, value in pairs:
            if _HALF.search(name) or (isinstance(value, str) and _HALF.search(value)):
                key = f"{where} {ascii(name)[1:-1]}".strip()
                raise BadInput(
                    path, key, "contains half a character (an unpaired surrogate)", "write the character itself"
                )
        return content

    try:
        content = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        position = where or f"line {error.lineno}"
        problem = f"is not valid JSON ({error.msg})"
        raise BadInput(path, f"{position} column {error.colno}", problem, "correct the file") from error
    if not isinstance(content, dict):
        raise BadInput(path, where, "is not a JSON object", "write an object with keys and values")
    return content
