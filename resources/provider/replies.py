"""JSON in replies: a tolerant parser, whose tolerance is set by the study.

A lenient parser could turn a truncated reply into a complete one, or choose between two answers. So every parsing step
is recorded, and a reply that needs more tolerance than the study grants is unusable. Not here: outcomes of calls
(reading), the interpretation of values (the package of each study).
"""

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jiter
import json_repair

from resources.errors import quoted
from resources.provider.reading import Outcome, Reading

REFUSED = "refused: "
"""Prefix of the reason that `Unusable` gives for a refusal."""

_THINKING = re.compile(r"\s*<think>(?:.*?</think>)?", re.DOTALL)
"""Reasoning that the endpoint left in the text. It may contain drafts, which are not answers."""

NOTHING = {Outcome.EMPTY: "empty reply", Outcome.TOO_LONG: "too long for the model"}
"""Reasons that `Unusable` gives for outcomes without any text."""

_FENCE = re.compile(r"^```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```$", re.DOTALL)
_BEGINS = re.compile(r"[{\[]\s*[\"'{\[(\]}]")
"""The likely beginning of a JSON object or list, as opposed to a remark in brackets."""

_FENCES = re.compile(r"```[\w-]*")


class Unusable(Exception):  # noqa: N818 - an outcome of a reply, not an error of the program
    """A reply has no usable value. The message is the reason."""


class Fields(NamedTuple):
    """Values of the requested keys in a reply.

    `how` is 'strict' (valid JSON), 'repaired', or 'prefix' (only pairs that were complete before the reply was cut
    off). `problem` is '' if nothing is wrong.
    """

    values: Mapping[str, Any]
    how: str
    problem: str


def schema_of(keys: Iterable[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, whose values all have the schema `value`."""
    names = list(keys)
    return {
        "type": "object", "properties": {name: dict(value) for name in names}, "required": names,
        "additionalProperties": False,
    }  # fmt: skip


class Tolerance(NamedTuple):
    """The deviations that a study accepts from a JSON object with exactly the keys `keys`.

    The default is for judgments, translations and alignments. The object may follow other text or be in a fence. Faulty
    JSON is repaired if the model stopped by itself and the keys match exactly. In a truncated reply, complete pairs
    count. A key that occurs twice has no value, because either value may be meant.

    `spoken` is for answers to understanding tasks. There is one key. Reasoning may precede the object, and other text
    may surround it. The key may be spelled differently, or the value may be given without an object. In a truncated
    reply, the incomplete value counts. The parser never chooses between two different values.
    """

    keys: Collection[str]
    spoken: bool = False


class Found(NamedTuple):
    """The text of a reply without its fence, and the JSON value in the text; `found` is false without a value.

    `begun` is true if the reply was cut off within the value.
    """

    text: str
    value: Any = None
    found: bool = False
    begun: bool = False


def parse(reading: Reading, keys: Collection[str]) -> Fields:
    """Parse the requested keys of a reply with the default tolerance. Values are not validated."""
    steps: list[str] = []
    try:
        content, begun = find(reading, Tolerance(keys), steps)[1::2]
    except Unusable as reason:
        return Fields({}, "strict", str(reason))
    values = {key: content[key] for key in keys if key in content}
    if begun:
        return Fields(values, "prefix", f"the reply was cut off ({reading.outcome})")
    missing = [key for key in keys if key not in content]
    extra = sorted(content.keys() - set(keys))
    problem = f"keys missing: {missing}, keys not asked for: {extra}" if missing or extra else ""
    return Fields(values, "repaired" if steps else "strict", problem)


def find(reading: Reading, tolerance: Tolerance, steps: list[str]) -> Found:
    """Find the JSON in a reply.

    Parameters
    ----------
    steps
        A list to which the parsing steps are appended; understanding.parsing.STEPS explains them.

    Raises
    ------
    Unusable
        If the reply has no usable value.
    """
    if reading.outcome is Outcome.REFUSED:
        raise Unusable(f"{REFUSED}{reading.detail}")
    if reading.outcome in NOTHING:
        raise Unusable(NOTHING[reading.outcome])
    text, cut = reading.text.strip(), reading.outcome is not Outcome.ANSWERED
    if cut:
        steps.append("cut")
    repairing = reading.finish == "stop" and not cut
    if tolerance.spoken:
        (key,) = tolerance.keys
        return _spoken(text, key, cut, repairing, steps)
    if cut:
        return Found(text, _without_doubles(list(_complete_pairs(text))), found=True, begun=True)
    return Found(text, _object(text, tolerance.keys, repairing, steps), found=True)


# The default tolerance: a single object.


def _object(text: str, keys: Collection[str], repairing: bool, steps: list[str]) -> dict[str, Any]:
    try:
        content = json.loads(text, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        repaired = _repaired(_closed_object(text), keys) if repairing else None
        if repaired is None:
            raise Unusable(f"no JSON ({error})") from error
        steps.append("repaired")
        return repaired
    if not isinstance(content, dict):
        raise Unusable(f"JSON, but no object ({type(content).__name__})")
    return content


def _repaired(text: str, keys: Collection[str]) -> dict[str, Any] | None:
    doubled = any(len(re.findall(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", text)) > 1 for key in keys)
    if not text or doubled:
        return None
    try:
        content = json_repair.loads(text)
    except RecursionError:
        return None
    return content if isinstance(content, dict) and content.keys() == set(keys) else None


def _closed_object(text: str) -> str:
    """The text from its first brace to the matching brace; '' if anything except a fence follows.

    A truncated text has no matching brace, because it ends within a string or within braces.
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
    """Yield the pairs of the outermost object in a truncated text. A value counts if a comma or brace follows."""
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


# Spoken replies: values anywhere in a text.


def _spoken(text: str, key: str, cut: bool, repairing: bool, steps: list[str]) -> Found:
    """Find the JSON value that contains a key. If a complete reply has no such value, find any JSON value.

    If several values qualify, they must be equal.
    """
    if thoughts := _THINKING.match(text):
        if not thoughts[0].endswith("</think>"):
            raise Unusable("cut off while thinking")
        steps.append("thinking")
        text = text[thoughts.end() :].strip()
    if whole := _whole(text):
        return whole
    if fenced := _FENCE.match(text):
        steps.append("fence")
        text = fenced[1].strip()
        if whole := _whole(text):
            return whole
    values = list(_values(text, repairing))
    holding = [candidate for candidate in values if _holds(candidate.value, key)]
    if chosen := holding or ([] if cut else values):
        first = chosen[0]
        if any(candidate.value != first.value for candidate in chosen):
            raise Unusable("several answers that differ")
        if first.repaired:
            steps.append("repaired")
        _note_around(text[: first.start] + text[first.end :], steps)
        return Found(text, first.value, found=True)
    if cut:
        return _begun(text, key, steps)
    return Found(text)


def _whole(text: str) -> Found | None:
    try:
        return Found(text, json.loads(text, object_pairs_hook=_single), found=True)
    except ValueError:
        return None


def _note_around(rest: str, steps: list[str]) -> None:
    """Record in `steps` whether the text around a value, `rest`, has a fence, and whether it has other text."""
    unfenced = _FENCES.sub("", rest)
    if unfenced != rest:
        steps.append("fence")
    if unfenced.strip():
        steps.append("around")


class _Value(NamedTuple):
    """A JSON value within a text."""

    value: Any
    start: int
    end: int
    repaired: bool = False


def _values(text: str, repairing: bool) -> Iterator[_Value]:
    """Yield the outermost objects and lists in a text. If `repairing`, a faulty value is repaired."""
    decoder, lenient = (
        json.JSONDecoder(object_pairs_hook=_single),
        json.JSONDecoder(object_pairs_hook=_single, strict=False),
    )
    position = 0
    while beginning := _BEGINS.search(text, position):
        start = beginning.start()
        for parser in (decoder, lenient) if repairing else (decoder,):
            try:
                value, end = parser.raw_decode(text, start)
            except ValueError:
                continue
            yield _Value(value, start, end, repaired=parser is lenient)
            position = end
            break
        else:
            # A value inside a faulty object must not be mistaken for the whole object.
            end = text.rfind("}" if text[start] == "{" else "]") + 1
            if repairing and end > start:
                yield _Value(_mended(text[start:end]), start, end, repaired=True)
            return


def _mended(text: str) -> Any:
    """Parse JSON with single quotes or trailing commas as Python, which allows these but refuses unfinished values."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # an escape that is invalid in JSON and Python
            tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                _single([(ast.literal_eval(key), None) for key in node.keys if key is not None])
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError) as error:
        raise Unusable("no JSON, and it cannot be mended safely") from error


def _begun(text: str, key: str, steps: list[str]) -> Found:
    """Parse the incomplete value at the end of a truncated text, as far as it goes."""
    beginning = _BEGINS.search(text)
    if not beginning:
        raise Unusable("cut off before the answer")
    rest = text[beginning.start() :]
    try:
        value = jiter.from_json(rest.encode(errors="replace"), partial_mode=True, catch_duplicate_keys=True)
    except ValueError as error:
        raise Unusable("cut off, and what came is no JSON") from error
    if not _holds(value, key):
        raise Unusable("cut off before the answer")
    _note_around(text[: beginning.start()], steps)
    return Found(text, value, found=True, begun=True)


def _single(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make an object from its pairs. Raise Unusable if a key occurs twice, because either value may be meant."""
    content: dict[Any, Any] = {}
    for key, value in pairs:
        if key in content:
            raise Unusable(f"the key {quoted(key)} occurs twice")
        content[key] = value
    return content


def _holds(value: Any, key: str) -> bool:
    try:
        entry(value, key, [])
    except Unusable:
        return False
    return True


def entry(content: Any, key: str, steps: list[str]) -> Any:
    """Look up a key in an object. The object may have the key in any letter case, in the singular or plural.

    Return content that is not an object unchanged.

    Raises
    ------
    Unusable
        If the object lacks the key, or spellings of the key have different values.
    """
    if not isinstance(content, dict):
        return content
    spellings = [name for name in content if isinstance(name, str) and name.strip().lower() in (key, f"{key}s")]
    if not spellings:
        raise Unusable(f"the JSON has no `{key}`")
    if any(content[name] != content[spellings[0]] for name in spellings):
        raise Unusable(f"the JSON has {' and '.join(spellings)}, which differ")
    if key not in spellings:
        steps.append("key")
    if len(content) > len(spellings):
        steps.append("extra")
    return content[spellings[0]]
