"""What a reply says about a sample: a class, or spans with their types. Tolerant, but it never chooses between two.

Whatever had to be done to a reply is recorded; one that needs more than these steps is unusable, and why is said in
words. Pure; never raises. Not here: what an unusable answer counts as (scores), where spans lie (spans).
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
    "cut": "the reply broke off; what was complete before is taken",
    "thinking": "what the model thought before its answer was left out",
    "fence": "a code fence was taken off",
    "around": "words around the JSON were left out",
    "repaired": "single quotes, trailing commas or line breaks in texts, of a reply that the model ended itself",
    "bare": "the answer stands without an object around it",
    "list": "a list stands in place of the object or of the class",
    "key": "a key is spelt differently",
    "extra": "there are keys that nobody asked for",
    "case": "a class or type is written in another case",
    "spelling": "it is written with other diacritics or separators",
    "number": "the number of the class stands in place of its name",
    "value": "the value that the task's files have stands in place of the class",
    "sentence": "words name one class and no other",
    "tuple": "spans are pairs of type and text",
    "blank": "spans without a text were left out",
    "dropped": "items that are no span of a type asked for were left out",
}
"""What can be done to a reply, one word each."""

DENIES = re.compile(r"\b(?:not|no|nor|neither|never|cannot|rather|instead|unlike|\w+n t)\b")
"""Words, as `normal` leaves them, after which a class may be named that is not meant."""


class Parsed(NamedTuple):
    """What a reply says: `label` or `spans` (type, text), the steps that it took, and '' or why it is unusable."""

    label: str | None = None
    spans: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    problem: str = ""


def parse_label(reading: Reading, classes: Sequence[str], values: Mapping[str, str]) -> Parsed:
    """The class that a reply names.

    Parameters
    ----------
    classes
        All that there are, in the order in which they were shown with numbers from 1.
    values
        Class of each value that the task's files have.
    """
    names = _Names(classes, values)

    def read(steps: list[str]) -> Parsed:
        opened = find(reading, Tolerance([LABEL], spoken=True), steps)
        return Parsed(_label(opened, names, steps) if opened.found else _in_words(opened.text, names, steps))

    return _read(read)


def parse_spans(reading: Reading, types: Sequence[str]) -> Parsed:
    """The spans that a reply lists.

    An item of it that is no span of a type asked for is left out. Where nothing else is listed, the reply is unusable.
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
    """Classes or types, and how they may be written."""

    def __init__(self, names: Sequence[str], values: Mapping[str, str]) -> None:
        self.names, self._values = names, values

    def match(self, word: str, numbers: bool = False) -> tuple[str, str] | None:
        """The name that a word stands for, and the step that it took ('' for none); None where there is none, and
        unusable where there are several."""
        if word in self.names:
            return word, ""
        plain, bare = word.strip().casefold(), normal(word)
        found: dict[str, str] = {}
        for name in self.names:
            if plain == name.casefold():
                found.setdefault(name, "case")
            elif bare and bare == normal(name):
                found.setdefault(name, "spelling")
        for value, name in self._values.items():
            if plain == value.casefold() or (bare and bare == normal(value)):
                found.setdefault(name, "value")
        if numbers and re.fullmatch(r"[0-9]{1,4}", word.strip()) and 0 < int(word) <= len(self.names):
            found.setdefault(self.names[int(word) - 1], "number")
        if len(found) > 1:
            raise Unusable(f"several classes: {', '.join(sorted(found))}")
        return next(iter(found.items()), None)

    def named(self, text: str) -> set[str]:
        """Names that occur in a text as words, and '' where it denies something besides."""
        spelt: dict[str, set[str]] = {}
        for name in self.names:
            spelt.setdefault(normal(name, " "), set()).add(name)
        longest_first = sorted(filter(None, spelt), key=len, reverse=True)
        pattern = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, longest_first))})(?!\S)")
        said = normal(text, " ")
        found = set().union(*(spelt[each] for each in pattern.findall(said)))
        return found | {""} if DENIES.search(pattern.sub(" ", said)) else found


def normal(text: str, between: str = "") -> str:
    """A name without case, Latin diacritics and separators: 'Anuṣṭubh_pathyā' and 'anustubh pathya' are the same.

    Marks of other scripts stay, for they are letters there. `between` takes the place of separators.
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
    """The class of a reply without JSON, which is a whole one: one that was cut off might have named another."""
    if match := names.match(text, numbers=True):
        steps += ["bare", match[1]] if match[1] else ["bare"]
        return match[0]
    return _sentence(text, names, steps)


def _sentence(text: str, names: _Names, steps: list[str]) -> str:
    found = names.named(text)
    if len(found) != 1 or "" in found:
        given = ", ".join(sorted(found - {""}))
        if not given:
            raise Unusable(f"{_short(text)} names no class")
        raise Unusable(f"it denies something, and names {given}" if "" in found else f"several classes: {given}")
    steps.append("sentence")
    return found.pop()


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
    """Type and text of an item, None where it is to be left out."""
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
    alike = [each for each in item if isinstance(each, str) and each.strip().lower() == key.lower()]
    if len(alike) != 1:
        raise Unusable(f"no `{key}`, or two")
    if alike[0] != key:
        steps.append("key")
    return item[alike[0]]


def _short(value: Any) -> str:
    words = storable(" ".join((value if isinstance(value, str) else repr(value)).split()))
    return repr(words if len(words) <= 60 else f"{words[:60]}…")


def words(steps: Iterable[str]) -> str:
    """Steps as they are stored: separated by blanks, in the order of `STEPS`."""
    taken = set(steps)
    return " ".join(step for step in STEPS if step in taken)
