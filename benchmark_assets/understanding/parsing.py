"""Parse replies about samples: a class, or spans with their types. Tolerant, but never chooses between two classes.

Each step that a reply needed is recorded. A reply that needs more than these steps is unusable, with the reason in
words. Pure; never raises. Not here: how an unusable answer counts (scores), where spans lie (spans).
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from resources.provider.reading import Reading, storable
from resources.provider.replies import Found, Tolerance, Unusable, entry, find

LABEL, PREDICTION, TYPE, SPAN = "label", "prediction", "LABEL", "SPAN"
"""Keys of an answer, and of a span in it (DharmaBench, section 4.1)."""

STEPS = {
    "cut": "took the complete part of a reply that was cut off",
    "thinking": "removed the model's reasoning before its answer",
    "fence": "removed a code fence",
    "around": "removed words around the JSON",
    "repaired": "repaired single quotes, trailing commas or line breaks in texts; the model ended the reply itself",
    "bare": "accepted an answer without an object around it",
    "list": "accepted a list in place of the object or of the class",
    "key": "accepted a key in another spelling",
    "extra": "ignored keys that the prompt does not ask for",
    "case": "accepted a class or type in another case",
    "spelling": "accepted a class or type with other diacritics or separators",
    "number": "accepted the number of a class in place of its name",
    "value": "accepted the value of the task's files in place of the class",
    "sentence": "accepted a sentence that names exactly one class",
    "tuple": "accepted spans as pairs of type and text",
    "blank": "dropped spans without a text",
    "dropped": "dropped items that are not spans of a type of the task",
}
"""The steps that a reply may need, one word each."""

DENIES = re.compile(r"\b(?:not|no|nor|neither|never|cannot|rather|instead|unlike|\w+n t)\b")
"""Negations, in the form of `normal`: a sentence with one may name a class that it denies."""


class Parsed(NamedTuple):
    """A parsed reply: `label` or `spans` (type, text), the steps it needed, and why it is unusable ('' if usable)."""

    label: str | None = None
    spans: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    problem: str = ""


def parse_label(reading: Reading, classes: Sequence[str], values: Mapping[str, str]) -> Parsed:
    """The class that a reply names.

    Parameters
    ----------
    classes
        All classes of the task, in the order of the prompt, which numbers them from 1.
    values
        Class of each value of the label in the task's files.
    """
    names = _Names(classes, values)

    def read(steps: list[str]) -> Parsed:
        opened = find(reading, Tolerance([LABEL], spoken=True), steps)
        return Parsed(_label(opened, names, steps) if opened.found else _in_words(opened.text, names, steps))

    return _read(read)


def parse_spans(reading: Reading, types: Sequence[str]) -> Parsed:
    """Parse a list of spans.

    List items that are not spans, or whose type is not in `types`, are dropped. A reply is unusable if its list has
    only such items.
    """
    names = _Names(types, {})

    def read(steps: list[str]) -> Parsed:
        opened = find(reading, Tolerance([PREDICTION], spoken=True), steps)
        if not opened.found:
            raise Unusable(f"no JSON with `{PREDICTION}`")
        return Parsed(spans=_spans(opened, names, steps))

    return _read(read)


def _read(read: Callable[[list[str]], Parsed]) -> Parsed:
    steps: list[str] = []
    try:
        parsed = read(steps)
    except Unusable as reason:
        parsed = Parsed(problem=str(reason))
    except RecursionError:
        parsed = Parsed(problem="lists or objects without end in each other")
    return parsed._replace(steps=tuple(step for step in STEPS if step in steps))


# From JSON or words to a class.


class _Names:
    """Classes or types, and the ways to write them."""

    def __init__(self, names: Sequence[str], values: Mapping[str, str]) -> None:
        self.names, self._values = names, values

    def match(self, word: str, numbers: bool = False) -> tuple[str, str] | None:
        """The name that a word stands for, and the step needed ('' for none); None if there is no such name. Raises
        Unusable if there are several."""
        if word in self.names:
            return word, ""
        plain, bare = word.strip().casefold(), normal(word)
        matches: dict[str, str] = {}
        for name in self.names:
            if plain == name.casefold():
                matches.setdefault(name, "case")
            elif bare and bare == normal(name):
                matches.setdefault(name, "spelling")
        for value, name in self._values.items():
            if plain == value.casefold() or (bare and bare == normal(value)):
                matches.setdefault(name, "value")
        if numbers and re.fullmatch(r"[0-9]{1,4}", word.strip()) and 0 < int(word) <= len(self.names):
            matches.setdefault(self.names[int(word) - 1], "number")
        if len(matches) > 1:
            raise Unusable(f"several classes: {', '.join(sorted(matches))}")
        return next(iter(matches.items()), None)

    def named(self, text: str) -> set[str]:
        """Names that occur in a text as words, and '' if the rest of the text has a negation."""
        spelt: dict[str, set[str]] = {}
        for name in self.names:
            spelt.setdefault(normal(name, " "), set()).add(name)
        longest_first = sorted(filter(None, spelt), key=len, reverse=True)
        pattern = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, longest_first))})(?!\S)")
        sentence = normal(text, " ")
        names = set().union(*(spelt[name] for name in pattern.findall(sentence)))
        return names | {""} if DENIES.search(pattern.sub(" ", sentence)) else names


def normal(text: str, between: str = "") -> str:
    """Strip case, Latin diacritics and separators: 'Anuṣṭubh_pathyā' and 'anustubh pathya' become equal.

    Marks of other scripts stay, since they are letters there. `between` replaces separators.
    """
    letters = (
        between if unicodedata.category(letter)[0] in "ZPSC" else letter
        for letter in unicodedata.normalize("NFKD", text.casefold())
        if not "\u0300" <= letter <= "\u036f"
    )
    return re.sub(r" +", " ", "".join(letters)).strip().casefold()


def _label(opened: Found, names: _Names, steps: list[str]) -> str:
    if not isinstance(opened.value, dict | list | tuple):
        steps.append("bare")
    value = entry(opened.value, LABEL, steps)
    if opened.begun and not isinstance(value, str):
        raise Unusable("cut off before the answer")  # a number may have further digits, a list further classes
    if isinstance(value, list | tuple):
        steps.append("list")
        if not value:
            raise Unusable("an empty list in place of a class")
        labels = {_label_of(entry(each, LABEL, steps), names, steps) for each in value}
        if len(labels) > 1:
            raise Unusable(f"several classes: {', '.join(sorted(labels))}")
        return labels.pop()
    return _label_of(value, names, steps)


def _label_of(value: Any, names: _Names, steps: list[str]) -> str:
    if not isinstance(value, str | int):
        raise Unusable(f"{_short(value)} is no class")
    word = value if isinstance(value, str) else json.dumps(value)
    if match := names.match(word, numbers=not isinstance(value, bool)):
        if match[1]:
            steps.append(match[1])
        return match[0]
    return _sentence(word, names, steps)


def _in_words(text: str, names: _Names, steps: list[str]) -> str:
    """The class of a reply without JSON. The reply must be complete: the rest might have named another class."""
    if match := names.match(text, numbers=True):
        steps += ["bare", match[1]] if match[1] else ["bare"]
        return match[0]
    return _sentence(text, names, steps)


def _sentence(text: str, names: _Names, steps: list[str]) -> str:
    classes = names.named(text)
    if len(classes) != 1 or "" in classes:
        given = ", ".join(sorted(classes - {""}))
        if not given:
            raise Unusable(f"{_short(text)} names no class")
        raise Unusable(f"it denies something, and names {given}" if "" in classes else f"several classes: {given}")
    steps.append("sentence")
    return classes.pop()


# From JSON to spans.


def _spans(opened: Found, names: _Names, steps: list[str]) -> tuple[tuple[str, str], ...]:
    if isinstance(opened.value, list | tuple):
        steps.append("list")
    items = entry(opened.value, PREDICTION, steps)
    if not isinstance(items, list | tuple):
        raise Unusable(f"{_short(items)} is no list of spans")
    spans: list[tuple[str, str]] = []
    for number, item in enumerate(items, start=1):
        own: list[str] = []
        span = _span(item, names, own)
        if span:
            spans.append(span)
        elif opened.begun and number == len(items):
            break  # the one in which the reply was cut off
        steps += own
    if not spans and opened.begun:
        raise Unusable("cut off before a first span was complete")
    if not spans and "dropped" in steps:
        raise Unusable(f"nothing in the list is a span of a type asked for: {_short(items)}")
    return tuple(spans)


def _span(item: Any, names: _Names, steps: list[str]) -> tuple[str, str] | None:
    """Type and text of an item, None if the item is to be dropped."""
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
    alike = [name for name in item if isinstance(name, str) and name.strip().lower() == key.lower()]
    if len(alike) != 1:
        raise Unusable(f"no `{key}`, or two")
    if alike[0] != key:
        steps.append("key")
    return item[alike[0]]


def _short(value: Any) -> str:
    words = storable(" ".join((value if isinstance(value, str) else repr(value)).split()))
    return repr(words if len(words) <= 60 else f"{words[:60]}…")


def words(steps: Iterable[str]) -> str:
    """Steps in stored form: separated by blanks, in the order of `STEPS`."""
    taken = set(steps)
    return " ".join(step for step in STEPS if step in taken)
