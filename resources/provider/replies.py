"""JSON in replies: one tolerant parser, and what each study tolerates.

A lenient parser can turn a truncated reply into a complete one, or choose between two answers. So what is tolerated is
part of the study: every step that a reply took is recorded, and what needs more is unusable. Not here: whether the
connection brought a reply at all (reading), what the values mean (the rooms).
"""

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jiter
import json_repair

from resources.provider.reading import Outcome, Reading

REFUSED = "refused: "
"""How the problem of a refusal begins."""

_THINKING = re.compile(r"\s*<think>(?:.*?</think>)?", re.DOTALL)
"""Thoughts that an endpoint did not take out of the text. Drafts of an answer stand in them, and are none."""

NOTHING = {Outcome.EMPTY: "empty reply", Outcome.TOO_LONG: "too long for the model"}
"""Why there is no text at all, although the question was asked."""

_FENCE = re.compile(r"^```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```$", re.DOTALL)
_BEGINS = re.compile(r"[{\[]\s*[\"'{\[(\]}]")
"""What looks like the beginning of an object or a list, other than a remark in brackets."""

_FENCES = re.compile(r"```[\w-]*")


class Unusable(Exception):  # noqa: N818 - an outcome of a reply, not an error of the program
    """Why nothing can be taken from a reply, in words."""


class Fields(NamedTuple):
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


class Tolerance(NamedTuple):
    """What a study takes besides an object with exactly these keys, as JSON.

    A key that occurs twice has no value, for nobody knows which is meant. By default the object may stand behind words
    or in a fence; slips are repaired if the model ended by itself and the keys are exactly these; of a reply that was
    cut off, complete pairs count. Judges, translations and alignments are read so.

    A `spoken` reply has one key. There may be thoughts before it and words around it; the key may be spelt differently
    or missing, where nothing else is there; of a reply that was cut off, the begun value counts. But nothing is chosen
    between two values. Answers to tasks are read so.
    """

    keys: Collection[str]
    spoken: bool = False


class Found(NamedTuple):
    """The text of a reply without its fence, and the JSON value in it, if one was `found`; `begun` where the reply
    broke off within that value."""

    text: str
    value: Any = None
    found: bool = False
    begun: bool = False


def parse(reading: Reading, keys: Collection[str]) -> Fields:
    """The keys asked for that a reply holds, by the default tolerance. Values are not judged here."""
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
    """Find the JSON that a reply should be.

    Parameters
    ----------
    steps
        Gets what had to be done to the reply: see understanding.parsing.STEPS.

    Raises
    ------
    Unusable
        Where nothing can be taken from the reply.
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


# An object alone.


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


# Values anywhere in a text.


def _spoken(text: str, key: str, cut: bool, repairing: bool, steps: list[str]) -> Found:
    """Find the JSON with a key; where several values have it, they must be the same."""
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
    holding = [each for each in values if _holds(each.value, key)]
    if chosen := holding or ([] if cut else values):
        first = chosen[0]
        if any(each.value != first.value for each in chosen):
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
    """Record what stood around a value."""
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
    """Objects and lists in a text, outermost ones only; `repairing` says whether a spoilt one may be mended."""
    decoder, lenient = (
        json.JSONDecoder(object_pairs_hook=_single),
        json.JSONDecoder(object_pairs_hook=_single, strict=False),
    )
    position = 0
    while found := _BEGINS.search(text, position):
        start = found.start()
        for each in (decoder, lenient) if repairing else (decoder,):
            try:
                value, end = each.raw_decode(text, start)
            except ValueError:
                continue
            yield _Value(value, start, end, repaired=each is lenient)
            position = end
            break
        else:
            # What is within a spoilt object must not be taken for the whole.
            end = text.rfind("}" if text[start] == "{" else "]") + 1
            if repairing and end > start:
                yield _Value(_mended(text[start:end]), start, end, repaired=True)
            return


def _mended(text: str) -> Any:
    """The value of a text with single quotes or trailing commas, by Python's grammar, which has both; it completes
    nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # an escape that neither language has
            tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                _single([(ast.literal_eval(key), None) for key in node.keys if key is not None])
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError) as error:
        raise Unusable("no JSON, and it cannot be mended safely") from error


def _begun(text: str, key: str, steps: list[str]) -> Found:
    """The value that a text breaks off in, as far as it was complete."""
    found = _BEGINS.search(text)
    if not found:
        raise Unusable("cut off before the answer")
    rest = text[found.start() :]
    try:
        value = jiter.from_json(rest.encode(errors="replace"), partial_mode=True, catch_duplicate_keys=True)
    except ValueError as error:
        raise Unusable("cut off, and what came is no JSON") from error
    if not _holds(value, key):
        raise Unusable("cut off before the answer")
    _note_around(text[: found.start()], steps)
    return Found(text, value, found=True, begun=True)


def _single(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """An object; refused where a key occurs twice, for nobody knows which value is meant."""
    content: dict[Any, Any] = {}
    for key, value in pairs:
        if key in content:
            raise Unusable(f"the key {key!r} occurs twice")
        content[key] = value
    return content


def _holds(value: Any, key: str) -> bool:
    try:
        entry(value, key, [])
    except Unusable:
        return False
    return True


def entry(content: Any, key: str, steps: list[str]) -> Any:
    """What an object has under a key, in whatever case and number; a value that is no object stands for itself."""
    if not isinstance(content, dict):
        return content
    alike = [each for each in content if isinstance(each, str) and each.strip().lower() in (key, f"{key}s")]
    if not alike:
        raise Unusable(f"the JSON has no `{key}`")
    if any(content[each] != content[alike[0]] for each in alike):
        raise Unusable(f"the JSON has {' and '.join(alike)}, which differ")
    if key not in alike:
        steps.append("key")
    if len(content) > len(alike):
        steps.append("extra")
    return content[alike[0]]
