"""Strict JSON for the readers: no unpaired surrogates, no duplicate keys. Not here: the meaning of the keys."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from resources.errors import BadInput, raise_all

_HALF = re.compile(r"[\ud800-\udfff]")


def parse(text: str, path: Path, line: int = 0) -> dict[str, Any]:
    """Parse a JSON object. `line` is its line number in a JSON lines file, for messages; 0 for other files.

    Raises
    ------
    BadInput
        For malformed JSON, objects that are nested too deeply, a number with thousands of digits, a value that is not
        an object, a key that occurs twice, or a string with an unpaired surrogate, which is half a character and cannot
        be stored.
    """
    where = f"line {line}" if line else ""
    faults: list[BadInput] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeated = [f"{where} {_shown(name)}".strip() for name, count in counts.items() if count > 1]
            faults.extend(BadInput(path, key, "the key occurs twice", "keep one of them") for key in repeated)
        for name, value in pairs:
            if _HALF.search(name) or (isinstance(value, str) and _HALF.search(value)):
                problem = "contains half a character (an unpaired surrogate)"
                faults.append(BadInput(path, f"{where} {_shown(name)}".strip(), problem, "write the character itself"))
        return content

    try:
        content = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        position = where or f"line {error.lineno}"
        problem = f"is not valid JSON ({error.msg})"
        raise BadInput(path, f"{position} column {error.colno}", problem, "correct the file") from error
    except RecursionError as error:
        raise BadInput(path, where, "is nested too deeply to be read", "write texts as strings") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise BadInput(path, where, "contains a number with thousands of digits", "write texts as strings") from error
    raise_all(faults)
    if not isinstance(content, dict):
        raise BadInput(path, where, "is not a JSON object", "write an object with keys and values")
    return content


def _shown(name: str) -> str:
    """A key for messages: an unpaired surrogate, which cannot be printed, is escaped."""
    return ascii(name)[1:-1] if _HALF.search(name) else name
