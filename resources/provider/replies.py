"""JSON in replies: a tolerant parser, whose tolerance is set by the study.

A lenient parser could turn a truncated reply into a complete one, or choose between two answers. So every reading is
recorded with its way of parsing, and a reply that leaves a doubt is unusable. Not here: outcomes of calls (reading),
thinking (thinking), words (names), the conversion of values (values), their interpretation (the package of each study).
"""

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import jiter
import json_repair

from resources.errors import quoted
from resources.provider.marks import NO_MARKS, MarkedForm, bulleted, marked
from resources.provider.names import LONGEST, Names, Unusable
from resources.provider.reading import Outcome, Reading
from resources.provider.thinking import after_thinking
from resources.provider.values import loosened, spelled

REFUSED = "refused: "
"""Prefix of the reason that `Unusable` gives for a refusal."""

NOTHING = {Outcome.EMPTY: "empty reply", Outcome.TOO_LONG: "too long for the model"}
"""Reasons that `Unusable` gives for outcomes without any text."""

TOLERANT = "tolerant"
"""Way of parsing of a value that only the tolerant reading finds. Earlier versions did not find it (asking.insist)."""

SEVERAL = "several answers that differ"

_FENCE = re.compile(r"^```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```$", re.DOTALL)
_BEGINS = re.compile(r"[{\[]\s*[\"'{\[(\]}]")
"""The likely beginning of a JSON object or list, as opposed to a remark in brackets."""

_OBJECT = re.compile(r"[{｛]\s*[\"'{“”＂]")
"""The likely beginning of a JSON object, maybe in full-width signs."""

_FENCES = re.compile(r"```[\w-]*")
_FENCE_LINE = re.compile(r"^```[\w-]*[ \t]*\r?$", re.MULTILINE)

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」"}
"""Quotation marks, each with the mark that ends the quotation."""

_NEAR = 200
"""Number of characters before and after a value that decide whether it is quoted."""

_TAGGED = re.compile(r"<(answer|output|response|result|final|solution)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)

_FULL_WIDTH = str.maketrans("｛｝［］：，＂", '{}[]:,"')
_BEFORE_KEY, _AFTER_STRING = re.compile(r"[{｛\[［]\s*[“”]"), re.compile(r"\s*(?:[:：,，}｝\]］]|$)")


class Fields(NamedTuple):
    """Values of the requested keys in a reply.

    `how` is 'strict' (valid JSON), 'repaired', 'prefix' (only pairs that were complete before the reply was cut off),
    or 'tolerant'. `problem` is '' if nothing is wrong.
    """

    values: Mapping[str, Any]
    how: str
    problem: str


TEXT: Mapping[str, Any] = {"type": "string"}
"""JSON schema of a text."""


def object_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, each with the schema of its value."""
    return {"type": "object", "properties": {**values}, "required": [*values], "additionalProperties": False}


def choice_of(words: Iterable[str]) -> dict[str, Any]:
    """JSON schema of a text that is one of these words."""
    return {"type": "string", "enum": [*words]}


def schema_of(keys: Iterable[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, whose values all have the schema `value`."""
    return object_of({name: dict(value) for name in keys})


class Tolerance(NamedTuple):
    """The replies that a study accepts.

    `schema` is the JSON schema of the requested object. The strict reading accepts an object after other text or in a
    fence. Faulty JSON is repaired if the model stopped by itself and the keys match exactly. In a truncated reply,
    complete pairs count. A key that occurs twice has no value, because either value may be meant.

    The tolerant reading also accepts thinking and remarks before and after the object, fences, an object within another
    one, keys in another case, and values in another form (values). If `spoken` names a key, the value of this key may
    be given in words instead of an object. `marks` is the form of marked words, which may be given in other forms
    (marks) under the key `listed`, or as a list in Markdown. Objects that contradict each other and objects within
    quotations are not read.
    """

    schema: Mapping[str, Any]
    spoken: str = ""
    listed: str = ""
    marks: MarkedForm = NO_MARKS


class Found(NamedTuple):
    """The text of a reply without its fence, and the JSON value in the text; `found` is false without a value.

    `begun` is true if the reply was cut off within the value.
    """

    text: str
    value: Any = None
    found: bool = False
    begun: bool = False


def readings(reading: Reading, tolerance: Tolerance) -> Iterator[Fields]:
    """Yield the strict reading of a reply, then the tolerant one. Values are not validated.

    The strict reading is that of earlier versions. It comes first, so that no value changes that was read before.
    """
    yield parse(reading, tolerance.schema["properties"])
    try:
        cut = "" if reading.outcome is Outcome.ANSWERED else f"the reply was cut off ({reading.outcome})"
        yield Fields(_tolerant(reading, tolerance), TOLERANT, cut)
    except Unusable as reason:
        yield Fields({}, TOLERANT, str(reason))


def parse(reading: Reading, keys: Collection[str]) -> Fields:
    """Parse the requested keys of a reply strictly."""
    try:
        text, cut, repairing = _opened(reading)
        if cut:
            return _prefix(text, keys, reading.outcome)
        content, how = _object(text, keys, repairing)
    except Unusable as reason:
        return Fields({}, "strict", str(reason))
    values = {key: content[key] for key in keys if key in content}
    missing = [key for key in keys if key not in content]
    extra = sorted(content.keys() - set(keys))
    problem = f"keys missing: {missing}, keys not asked for: {extra}" if missing or extra else ""
    return Fields(values, how, problem)


def _opened(reading: Reading) -> tuple[str, bool, bool]:
    """The text of a reply, whether it was cut off, and whether faulty JSON may be repaired. Raises Unusable for
    outcomes without a text."""
    if reading.outcome is Outcome.REFUSED:
        raise Unusable(f"{REFUSED}{reading.detail}")
    if reading.outcome in NOTHING:
        raise Unusable(NOTHING[reading.outcome])
    cut = reading.outcome is not Outcome.ANSWERED
    return reading.text.strip(), cut, reading.finish == "stop" and not cut


def find(reading: Reading, key: str, steps: list[str]) -> Found:
    """Find the JSON value that contains a key, for answers to understanding tasks.

    Thinking may precede the value, and other text may surround it. The key may be spelled differently, or the value may
    be given without an object. If a complete reply has no such value, any JSON value is returned. If several values
    qualify, they must be equal. In a truncated reply, the incomplete value counts.

    Parameters
    ----------
    steps
        A list to which the parsing steps are appended; understanding.parsing.STEPS explains them.

    Raises
    ------
    Unusable
        If the reply has no usable value.
    """
    text, cut, repairing = _opened(reading)
    if cut:
        steps.append("cut")
    if whole := _whole_with(text, key, steps):
        return whole
    text, thought = after_thinking(text)
    if thought:
        steps.append("thinking")
    if whole := _whole_with(text, key, steps):
        return whole
    if fenced := _FENCE.match(text):
        steps.append("fence")
        text = fenced[1].strip()
        if whole := _whole_with(text, key, steps):
            return whole
    if repairing and (plain := _half_width(text)):
        steps.append("repaired")
        text = plain
    values = list(_values(text, repairing))
    holding = [candidate for candidate in values if _holds(candidate.value, key)]
    if not holding and not cut:
        inner = [each._replace(value=part) for each in values for part in _within(each.value, {key: {}})]
        steps += ["within"] if inner else []
        holding = inner
    if chosen := holding or ([] if cut else values):
        first = chosen[0]
        if any(candidate.value != first.value for candidate in chosen):
            raise Unusable(SEVERAL)
        if all(candidate.quoted for candidate in chosen):
            raise Unusable("the answer is in a quotation")
        if first.repaired:
            steps.append("repaired")
        _note_around(text[: first.start] + text[first.end :], steps)
        return Found(text, first.value, found=True)
    if cut:
        return _begun(text, key, steps)
    return Found(text)


# The strict reading: a single object.


def _object(text: str, keys: Collection[str], repairing: bool) -> tuple[dict[str, Any], str]:
    """The object of a complete reply, and how it was parsed."""
    try:
        content = json.loads(text, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        repaired = _repaired(_closed_object(text), keys) if repairing else None
        if repaired is None:
            raise Unusable(f"no JSON ({error})") from error
        return repaired, "repaired"
    if not isinstance(content, dict):
        raise Unusable(f"JSON, but no object ({type(content).__name__})")
    return content, "strict"


def _prefix(text: str, keys: Collection[str], outcome: Outcome) -> Fields:
    """The complete pairs of a truncated reply, unless it begins with thinking, which may contain drafts."""
    thought = after_thinking(text)[1]
    content = {} if thought else _without_doubles(list(_complete_pairs(text)))
    values = {key: content[key] for key in keys if key in content}
    return Fields(values, "prefix", f"the reply was cut off ({outcome})")


def _repaired(text: str, keys: Collection[str]) -> dict[str, Any] | None:
    doubled = any(len(re.findall(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", text)) > 1 for key in keys)
    if not text or doubled:
        return None
    try:
        content = json_repair.loads(text)
    except (RecursionError, ValueError):  # ValueError: a number with thousands of digits
        return None
    return content if isinstance(content, dict) and content.keys() == set(keys) else None


def _closed_object(text: str, alone: bool = True) -> str:
    """The text from its first brace to the matching brace; '' if `alone` and anything except a fence follows.

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
                closed = not alone or text[position + 1 :].strip() in ("", "```")
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


# The tolerant reading: values anywhere in a text.


def _tolerant(reading: Reading, tolerance: Tolerance) -> Mapping[str, Any]:
    """The values of the requested keys. Raises Unusable; the reason is '' if the strict reading has a better one."""
    keys = tolerance.schema["properties"]
    text, cut, repairing = _opened(reading)
    try:
        text = _unwrapped(after_thinking(text)[0])
        if cut:
            content = _without_doubles(list(_complete_pairs(text)))
        elif tolerance.spoken and not _OBJECT.search(text):
            content = {tolerance.spoken: Names(keys[tolerance.spoken]["enum"]).meant(_in_a_tag(text))}
        else:
            others = tolerance.marks.others
            content = _only(
                [*_holders(text, keys, repairing, others)] or [*_holders(_half_width(text), keys, repairing, others)]
            )
            if tolerance.listed and not content and not _BEGINS.search(text):
                content = _in_lines(text, tolerance)
        listed = content.get(tolerance.listed)
        found = marked(listed, tolerance.marks) if listed and isinstance(listed, list | dict) else None
    except RecursionError as error:
        raise Unusable("lists or objects are nested too deeply") from error
    values = loosened(content, tolerance.schema)
    values |= {} if found is None else {tolerance.listed: found}
    return {key: values[key] for key in keys if key in values}


def _in_lines(text: str, tolerance: Tolerance) -> dict[str, Any]:
    """The marked words of a list in Markdown, and the values in lines such as 'Score: 80'."""
    found = bulleted(text, tolerance.marks)
    line = r"(?im)^[^\w\n]*(?:\w+ )?{}[^\w\n]+(\d[^\n]*?)[\s*.]*$"
    stated = {key: re.findall(line.format(re.escape(key)), text) for key in tolerance.schema["properties"]}
    values = {key: of_key[0] for key, of_key in stated.items() if len(of_key) == 1}
    return {} if found is None else {**values, tolerance.listed: found}


def _holders(
    text: str, keys: Mapping[str, Any], repairing: bool, others: Mapping[str, str] = MappingProxyType({})
) -> Iterator[dict[Any, Any]]:
    """Yield the objects in a text that hold requested keys, except objects in quotations."""
    for candidate in _values(text, repairing, keys):
        if not candidate.quoted:
            yield from _within(candidate.value, keys, outermost=True, others=others)


def _within(
    value: Any, keys: Mapping[str, Any], outermost: bool = False, others: Mapping[str, str] = MappingProxyType({})
) -> Iterator[dict[Any, Any]]:
    """Yield an outermost object that has some of the keys, or the objects within a value that have exactly the keys."""
    if isinstance(value, dict):
        content = spelled(value, keys, others)
        if content.keys() == keys.keys() or (outermost and not content.keys().isdisjoint(keys)):
            yield content
            return
    if isinstance(value, str) and value.lstrip()[:1] == "{" and (whole := _whole(value)):
        yield from _within(whole.value, keys, others=others)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _within(part, keys, others=others)


def _only(objects: list[dict[Any, Any]]) -> dict[Any, Any]:
    """The content of objects that agree. Raises Unusable if a key has different values in them."""
    content: dict[Any, Any] = {}
    for each in objects:
        if any(content.get(key, value) != value for key, value in each.items()):
            raise Unusable(SEVERAL)
        content |= each
    return content


def _in_a_tag(text: str) -> str:
    """The content of the only tag for answers in a text; the text itself if there is no such tag."""
    contents = {content.strip() for _, content in _TAGGED.findall(text[:LONGEST])}
    return contents.pop() if len(contents) == 1 else _FENCES.sub("", text)


def _half_width(text: str) -> str:
    """A text whose JSON has full-width signs or curly quotation marks, with those of JSON. Strings are kept."""
    if not ("｛" in text or _BEFORE_KEY.search(text)):
        return ""
    written, position, end = [], 0, ""
    while position < len(text):
        letter = text[position]
        if end and letter == "\\":
            written.append(text[position : position + 2])
            position += 1
        elif end:
            closes = letter in end and _AFTER_STRING.match(text, position + 1)
            written.append('"' if closes else '\\"' if letter == '"' else letter)
            end = "" if closes else end
        elif letter in '"“”＂':
            end = '"＂' if letter in '"＂' else "“”"
            written.append('"')
        else:
            written.append(letter.translate(_FULL_WIDTH))
        position += 1
    return "".join(written)


def _whole(text: str) -> Found | None:
    try:
        return Found(text, json.loads(text, object_pairs_hook=_single), found=True)
    except ValueError:
        return None


def _whole_with(text: str, key: str, steps: list[str]) -> Found | None:
    """The JSON value that is the whole text, or the only object within the value that has exactly a key."""
    whole = _whole(_unwrapped(text))
    if not whole or _holds(whole.value, key):
        return whole
    inner = list(_within(whole.value, {key: {}}))
    if len(inner) != 1:
        return whole
    steps.append("within")
    return whole._replace(value=inner[0])


def _unwrapped(text: str) -> str:
    """The JSON object that a text has as a JSON string; the text itself if it is not such a string."""
    whole = _whole(text)
    return whole.value if whole and isinstance(whole.value, str) and whole.value.lstrip()[:1] == "{" else text


def _note_around(rest: str, steps: list[str]) -> None:
    """Record in `steps` whether the text around a value, `rest`, has a fence, and whether it has other text."""
    unfenced = _FENCES.sub("", rest)
    if unfenced != rest:
        steps.append("fence")
    if unfenced.strip():
        steps.append("around")


class _Value(NamedTuple):
    """A JSON value within a text. `quoted` is true if the value is in a quotation."""

    value: Any
    start: int
    end: int
    repaired: bool = False
    quoted: bool = False


def _values(text: str, repairing: bool, keys: Collection[str] = ()) -> Iterator[_Value]:
    """Yield the outermost objects and lists in a text. If `repairing`, a faulty value is repaired: as JSON with line
    breaks in its strings, as Python, or as an object with exactly the keys `keys`."""
    unique = _without_doubles if keys else _single
    decoder, lenient = (
        json.JSONDecoder(object_pairs_hook=unique),
        json.JSONDecoder(object_pairs_hook=unique, strict=False),
    )
    position, opened, last = 0, 0, text.rfind("”")

    def valued(value: Any, end: int, repaired: bool) -> _Value:
        return _Value(value, start, end, repaired, (opened > 0 and last >= end) or _is_quoted(text, start, end))

    while beginning := _BEGINS.search(text, position):
        start = beginning.start()
        opened += text.count("“", position, start) - text.count("”", position, start)
        for parser in (decoder, lenient) if repairing else (decoder,):
            try:
                value, end = parser.raw_decode(text, start)
            except ValueError:
                continue
            yield valued(value, end, parser is lenient)
            position = end
            break
        else:
            if fenced := _fenced(text, start):
                position = fenced  # what precedes it is a remark with braces
                continue
            # A value inside a faulty object must not be mistaken for the whole object.
            end = text.rfind("}" if text[start] == "{" else "]") + 1
            closed = _closed_object(text[start:], alone=False) if keys else ""
            if repairing and closed and (content := _repaired(closed, keys)) is not None:
                end = start + len(closed)
                yield valued(content, end, repaired=True)
                position = end
                continue
            if repairing and end > start:
                yield valued(_mended(text[start:end]), end, repaired=True)
            return


def _fenced(text: str, start: int) -> int:
    """Where the content of the next fence in a text begins, if this content is a JSON object or list; else 0."""
    lines = list(islice(_FENCE_LINE.finditer(text, start), 2))
    if len(lines) < 2:
        return 0
    whole = _whole(text[lines[0].end() : lines[1].start()])
    return lines[0].end() if whole and isinstance(whole.value, dict | list) and whole.value else 0


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether quotation marks enclose a value in a text, or the value's line is part of a quoted block."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    if before.rpartition("\n")[2].lstrip().startswith(">"):
        return True
    opening = before.rstrip()[-1:]
    return bool(opening) and _QUOTES.get(opening) == after.lstrip()[:1]


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
