"""Parse replies about samples: a class, or spans with their types.

The parsers are tolerant, but never choose between two classes. The steps of `STEPS` that a reply needed are recorded. A
reply that cannot be parsed with these steps is unusable; its `problem` gives the reason. The parsers have no side
effects and never raise. Not here: how an unusable answer counts (task_scores), places of spans (spans).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from resources.provider.marks import MarkedForm, bulleted, marked
from resources.provider.names import Names, Unusable
from resources.provider.reading import Outcome, Reading, storable
from resources.provider.replies import Found, entry, find

LABEL, PREDICTION, TYPE, SPAN = "label", "prediction", "LABEL", "SPAN"
"""Keys of an answer, and of a span in an answer (DharmaBench, section 4.1)."""

STEPS = {
    "cut": "took the complete part of a reply that was cut off",
    "thinking": "removed the model's reasoning before its answer",
    "fence": "removed a code fence",
    "around": "removed words around the JSON",
    "within": "took an object that another one contains",
    "repaired": "repaired quotes, commas, full-width signs or line breaks in texts, if the reply was not cut off",
    "bare": "accepted an answer without an object around it",
    "list": "accepted a list in place of the object or of the class",
    "key": "accepted a key in another spelling",
    "extra": "ignored keys that the prompt does not ask for",
    "case": "accepted a class or type in another case",
    "spelling": "accepted a class or type with other diacritics or separators",
    "number": "accepted the number of a class in place of its name",
    "value": "accepted the label from the task's files in place of the class",
    "sentence": "accepted a sentence that names exactly one class",
    "tuple": "accepted spans as pairs of type and text",
    "form": "accepted spans in another form than a list of objects or pairs",
    "blank": "dropped spans without a text",
    "dropped": "dropped items that are not spans of a type of the task",
}
"""Steps that a reply may need before it can be parsed, with their meanings."""


class Parsed(NamedTuple):
    """A parsed reply: its class or its spans (type, text), the steps that it needed, and the `problem` that makes it
    unusable ('' if it is usable)."""

    label: str | None = None
    spans: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    problem: str = ""


_OTHER_KEYS = {
    **dict.fromkeys(("type", "tag", "category", "class", "kind", "spantype"), TYPE),
    **dict.fromkeys(("text", "words", "quote", "quotation", "phrase", "string", "spantext", "fragment"), SPAN),
}


def parse_label(reading: Reading, classes: Sequence[str], values: Mapping[str, str]) -> Parsed:
    """Parse the class that a reply names.

    `classes` are the classes of the task in the order of the prompt, which numbers them from 1. `values` maps the
    labels in the task's files to classes.
    """
    names = Names(classes, values)

    def read(opened: Found, steps: list[str]) -> Parsed:
        if opened.found:
            return Parsed(_label(opened, names, steps))
        label = _label_of(opened.text, names, steps)  # a reply in words, which must be complete
        steps += [] if "sentence" in steps else ["bare"]
        return Parsed(label)

    return _read(reading, LABEL, read)


def parse_spans(reading: Reading, types: Sequence[str]) -> Parsed:
    """Parse the list of spans in a reply.

    List items that are not spans, or whose type is not in `types`, are dropped. A reply is unusable if all items of its
    list are dropped for these reasons.
    """
    names = Names(types)

    def read(opened: Found, steps: list[str]) -> Parsed:
        if not opened.found:
            form = MarkedForm(SPAN, {TYPE: names}, _OTHER_KEYS)
            if reading.outcome is Outcome.ANSWERED and (found := bulleted(opened.text, form)):
                steps.append("form")
                return Parsed(spans=_pairs(found))
            raise Unusable(f"no JSON with `{PREDICTION}`")
        return Parsed(spans=_spans(opened, names, steps))

    return _read(reading, PREDICTION, read)


def _read(reading: Reading, key: str, read: Callable[[Found, list[str]], Parsed]) -> Parsed:
    """Find the JSON that has the key `key` in a reply, and parse it with `read`.

    `read` appends its steps to the list that is its second argument. Errors are returned as problems.
    """
    steps: list[str] = []
    try:
        parsed = read(find(reading, key, steps), steps)
    except Unusable as reason:
        parsed = Parsed(problem=str(reason))
    except RecursionError:
        parsed = Parsed(problem="lists or objects are nested too deeply")
    return parsed._replace(steps=tuple(step for step in STEPS if step in steps))


# From JSON or words to a class.


def _label(opened: Found, names: Names, steps: list[str]) -> str:
    if not isinstance(opened.value, dict | list | tuple):
        steps.append("bare")
    value = entry(opened.value, LABEL, steps)
    if opened.begun and not isinstance(value, str):
        raise Unusable("cut off before the answer")  # the rest might add digits or classes
    if isinstance(value, list | tuple):
        steps.append("list")
        if not value:
            raise Unusable("an empty list in place of a class")
        labels = {_label_of(entry(part, LABEL, steps), names, steps) for part in value}
        if len(labels) > 1:
            raise Unusable(f"several classes: {', '.join(sorted(labels))}")
        return labels.pop()
    return _label_of(value, names, steps)


def _label_of(value: Any, names: Names, steps: list[str]) -> str:
    if not isinstance(value, str | int):
        raise Unusable(f"{_short(value)} is not a class")
    word = value if isinstance(value, str) else json.dumps(value)
    if match := names.match(word, numbers=not isinstance(value, bool)):
        if match[1]:
            steps.append(match[1])
        return match[0]
    return _sentence(word, names, steps)


def _sentence(text: str, names: Names, steps: list[str]) -> str:
    """The only class that a text names. Raises Unusable if the text has a negation, no class, or several classes."""
    classes = names.named(text)
    if len(classes) != 1 or "" in classes:
        listed = ", ".join(sorted(classes - {""}))
        if not listed:
            raise Unusable(f"{_short(text)} names no class")
        raise Unusable(f"has a negation, and names {listed}" if "" in classes else f"several classes: {listed}")
    steps.append("sentence")
    return classes.pop()


# From JSON to spans.


def _spans(opened: Found, names: Names, steps: list[str]) -> tuple[tuple[str, str], ...]:
    """Type and text of each span in the JSON of a reply."""
    form = MarkedForm(SPAN, {TYPE: names}, _OTHER_KEYS)
    if isinstance(opened.value, list | tuple):
        steps.append("list")
    keys = [key.strip().lower() for key in opened.value if isinstance(key, str)] if type(opened.value) is dict else None
    keyed = keys is None or not {PREDICTION, f"{PREDICTION}s"}.isdisjoint(keys)
    items = entry(opened.value, PREDICTION, steps) if keyed else opened.value
    if isinstance(items, dict) and not opened.begun and (found := marked(items, form)):
        steps.append("form")
        return _pairs(found)
    items = items if keyed else entry(items, PREDICTION, steps)
    if not isinstance(items, list | tuple):
        raise Unusable(f"{_short(items)} is not a list of spans")
    spans: list[tuple[str, str]] = []
    for number, item in enumerate(items, start=1):
        item_steps: list[str] = []
        span = _span(item, names, item_steps)
        if span:
            spans.append(span)
        elif opened.begun and number == len(items):
            break  # the reply was cut off within this item
        elif item_steps == ["dropped"] and (found := marked([item], form)):
            spans += _pairs(found)
            item_steps = ["form"]
        steps += item_steps
    if not spans and opened.begun:
        raise Unusable("cut off before the end of the first span")
    if not spans and "dropped" in steps:
        raise Unusable(f"the list has no span of a requested type: {_short(items)}")
    return tuple(spans)


def _pairs(found: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(each[TYPE]), storable(str(each[SPAN]))) for each in found)


def _span(item: Any, names: Names, steps: list[str]) -> tuple[str, str] | None:
    """Type and text of a list item; None if the item must be dropped."""
    kind, text = None, None
    with suppress(Unusable):
        if isinstance(item, dict):
            kind, text = _exactly(item, TYPE, steps), _exactly(item, SPAN, steps)
            steps += ["extra"] if len(item) > 2 else []
        elif isinstance(item, list | tuple) and len(item) == 2:
            kind, text = item
            steps.append("tuple")
    if isinstance(text, str) and not text.strip():
        steps[:] = ["blank"]
        return None
    match = None
    with suppress(Unusable):
        match = names.match(kind) if isinstance(kind, str) and isinstance(text, str) else None
    if match is None:
        steps[:] = ["dropped"]
        return None
    if match[1]:
        steps.append(match[1])
    return match[0], storable(str(text))


def _exactly(item: Mapping[Any, Any], key: str, steps: list[str]) -> Any:
    """The value of a key, which may be written in any case. Raises Unusable if the key is missing or repeated."""
    matches = [name for name in item if isinstance(name, str) and name.strip().lower() == key.lower()]
    if len(matches) != 1:
        raise Unusable(f"`{key}` is missing, or occurs twice")
    if matches[0] != key:
        steps.append("key")
    return item[matches[0]]


def _short(value: Any) -> str:
    """A value as quoted in problems: on one line, with at most 60 characters."""
    words = storable(" ".join((value if isinstance(value, str) else repr(value)).split()))
    return repr(words if len(words) <= 60 else f"{words[:60]}…")


def words(steps: Iterable[str]) -> str:
    """Steps in the form in which they are stored: separated by spaces, in the order of `STEPS`."""
    distinct = set(steps)
    return " ".join(step for step in STEPS if step in distinct)
