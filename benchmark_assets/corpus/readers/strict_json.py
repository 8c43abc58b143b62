"""Strict JSON for the readers: no unpaired surrogates, no duplicate keys, no unknown keys. Not here: values."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.unknown_keys import IMPORTED, unknown_keys
from resources.errors import BadInput, collecting, raise_all

_HALF = re.compile(r"[\ud800-\udfff]")


def parse(text: str, path: Path, line: int = 0) -> dict[str, Any]:
    """Parse a JSON object as `loaded` does. Raises BadInput for another value, too."""
    content = loaded(text, path, line)
    if not isinstance(content, dict):
        problem, where = "is not a JSON object", f"line {line}" if line else ""
        raise BadInput(path, where, problem, "write an object with keys and values")
    return content


def loaded(text: str, path: Path, line: int = 0) -> Any:
    """Parse JSON. `line` is its line number in a JSON lines file, for messages; 0 for other files.

    Raises
    ------
    BadInput
        For malformed JSON, objects that are nested too deeply, a number with thousands of digits, a key that occurs
        twice, or a string with an unpaired surrogate, which is half a character and cannot be stored.
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
            check(f"{where} {_shown(name)}".strip(), [name, value])
        return content

    def check(key: str, content: Any) -> None:
        if any(_HALF.search(each) for each in _strings(content)):
            problem = "contains half a character (an unpaired surrogate)"
            faults.append(BadInput(path, key, problem, "write the character itself"))

    try:
        content = json.loads(text, object_pairs_hook=unique)
        check(where, content)
    except json.JSONDecodeError as error:
        position = where or f"line {error.lineno}"
        problem = f"is not valid JSON ({error.msg})"
        raise BadInput(path, f"{position} column {error.colno}", problem, "correct the file") from error
    except RecursionError as error:
        raise BadInput(path, where, "is nested too deeply to be read", "write texts as strings") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise BadInput(path, where, "contains a number with thousands of digits", "write texts as strings") from error
    raise_all(faults)
    return content


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line of a file of JSON lines; blank lines are skipped. Raises BadInput as `parse`."""
    for number, line in enumerate(decode(path).split("\n"), start=1):  # not splitlines: a text may contain U+2028
        if line.strip():
            yield number, parse(line, path, number)


def by_name(
    path: Path, name: str, value: str, kind: str, ignore: Collection[str] = (), types: tuple[type, ...] = (str,)
) -> dict[str, Any]:
    """The values in a file of JSON lines by name, in order. Each line has exactly these two keys, and ignored ones.

    Parameters
    ----------
    name, value
        The keys.
    kind
        What the names are names of, for messages.
    types
        Types that a name may have.

    Raises
    ------
    BadInput
        If a line is not an object with both keys, a name occurs twice, or a key is unknown.
    """
    values, faults = examined(path, name, value, kind, ignore, types)
    raise_all(faults)
    return values


def examined(
    path: Path, name: str, value: str, kind: str, ignore: Collection[str] = (), types: tuple[type, ...] = (str,)
) -> tuple[dict[str, Any], list[BadInput]]:
    """The values of `by_name` in the lines without a fault, and all faults that it raises. Nothing is read after a line
    that is not a JSON object."""
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    faults: list[BadInput] = []
    with collecting(faults):
        for number, record in lines(path):
            places = dict.fromkeys(record, f"line {number}") | places
            identity = record.get(name)
            if isinstance(identity, bool) or not isinstance(identity, types) or value not in record:
                problem = f"lacks `{name}` or `{value}`"
                faults.append(BadInput(path, f"line {number}", problem, "give both keys on each line"))
            elif str(identity) in values:
                where = f"line {number} {identity}"
                faults.append(BadInput(path, where, f"the {kind} occurs twice", "keep one of the lines"))
            else:
                values[str(identity)] = record[value]
    # First, because a missing key may be misspelled.
    return values, [*unknown_keys(path, places, (name, value), IMPORTED, ignore), *faults]


def _strings(content: Any) -> Iterator[str]:
    """A string, or the strings of lists. Those of objects were checked before."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for each in content:
            yield from _strings(each)


def _shown(name: str) -> str:
    """A key for messages: an unpaired surrogate, which cannot be printed, is escaped."""
    return ascii(name)[1:-1] if _HALF.search(name) else name
