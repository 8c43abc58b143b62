"""Marked words in other forms than the requested list of objects: words, and the names that class them.

Here: lists, pairs, strings and nested objects in which a person finds each marked stretch of words with its names. Not
here: finding the JSON (replies), places of the words (resources.quotations), scores (the package of each study).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from resources.provider.names import Names, Unusable, normal

_BULLET = re.compile(r"^\s*(?:[-*•‣–—]|\(?\d{1,3}[.)])\s+")
_QUOTED = re.compile(
    r"“(.+)”|«(.+)»|„(.+?)[“”]|「(.+)」|‹(.+)›|\"(.+)\"|`(.+)`|\*\*(.+?)\*\*|(?<!\w)['‘](.+)['’](?!\w)"
)
_BETWEEN = re.compile(r"\s*(?:[:：|\t;()\[\]→]|,(?=\s)|(?<=\s)[-–—/>](?=\s)|=>|->)\s*")
LONGEST = 5000
"""Largest number of characters of a line that is taken apart."""

_START = re.compile(r"(?:start|begin|from|offset|position|char_start|start_char)s?", re.IGNORECASE)


class MarkedForm(NamedTuple):
    """The form of marked words: the key of the words, the key and the names of each class, and other names of keys."""

    words: str
    classes: Mapping[str, Names]
    others: Mapping[str, str]

    @property
    def alone(self) -> dict[str, str]:
        """The name of each class that has no other."""
        return {key: names.names[0] for key, names in self.classes.items() if len(names.names) == 1}

    def key(self, name: Any) -> Any:
        """The requested key that a key means; the key itself if it means none."""
        plain = normal(name) if isinstance(name, str) else ""
        keys = {normal(key): key for key in (self.words, *self.classes)}
        return keys.get(plain) or (name if self.named(name) else self.others.get(plain, name))

    def named(self, text: Any) -> dict[str, str]:
        """The class whose name a text is, with the name; empty if it is none, or if several classes have the name."""
        found = {key: name for key, names in self.classes.items() if (name := _match(names, text))}
        return found if len(found) == 1 else {}


NO_MARKS = MarkedForm("", {}, {})


def marked(value: Any, form: MarkedForm) -> list[dict[str, Any]] | None:
    """The marked words in a value: objects with the keys of the form, and `start` if an offset is given.

    None if any part of the value could mean something else, or lacks words or a name that has an alternative.
    """
    items = list(_items(value, form, form.alone))
    complete = [item for item in items if item and item.keys() >= {form.words, *form.classes}]
    return None if len(complete) < len(items) or (isinstance(value, list) and value and not items) else complete


def bulleted(text: str, form: MarkedForm) -> list[dict[str, Any]] | None:
    """The marked words of a list in Markdown; None if the text has no list, or if an item of it is in doubt."""
    lines = [line for line in text.splitlines() if _BULLET.match(line)]
    return marked(lines, form) if lines else None


def _items(
    value: Any, form: MarkedForm, context: Mapping[str, str], inner: bool = False
) -> Iterator[dict[str, Any] | None]:
    """Each marked stretch in a value, None for a doubtful one. `context` has the names that hold for all of them, and
    `inner` tells that the value is an item of a list."""
    if isinstance(value, str):
        yield _spoken(value, form, context)
    elif isinstance(value, dict):
        yield from _of_object({form.key(key): part for key, part in value.items()}, form, context, inner)
    elif isinstance(value, list | tuple):
        strings = [part for part in value if isinstance(part, str)]
        named = [form.named(part) for part in strings]
        names = {key: name for each in named for key, name in each.items()}
        free = [part for part, each in zip(strings, named, strict=True) if not each]
        if names and len(free) == 1 and len(names) == len(strings) - 1:
            offsets = [part for part in value if not isinstance(part, str)]
            yield {**context, **names, form.words: _bare(free[0]), **_start(offsets)}
        elif strings and inner:
            yield None  # perhaps a name that nobody asked for, and words
        else:
            for part in value:
                yield from _items(part, form, context, inner=True)
    elif value is not None:
        yield None


def _of_object(
    content: Mapping[Any, Any], form: MarkedForm, context: Mapping[str, str], inner: bool
) -> Iterator[dict[str, Any] | None]:
    """The marked words in an object: one stretch, stretches by name, or stretches within other keys."""
    if form.words in content:
        given = {key: name for key in form.classes if (name := _match(form.classes[key], content.get(key)))}
        doubtful = any(content.get(key) is not None and key not in given for key in form.classes)
        offsets = [part for key, part in content.items() if isinstance(key, str) and _START.fullmatch(key)]
        offsets += [part for part in content.values() if isinstance(part, list) and len(part) == 2]
        for words in _stretches(content[form.words]):
            yield None if doubtful or not words else {**context, **given, form.words: words, **_start(offsets)}
        return
    for key, part in content.items():
        names = form.named(key)
        if names:
            yield from _items(part, form, {**context, **names})
        elif isinstance(part, dict) or (isinstance(part, list) and not inner):
            # The key may be a name that nobody asked for, so that the only name does not hold here.
            yield from _items(part, form, {name: each for name, each in context.items() if name not in form.alone})
        elif isinstance(part, str) and (of_text := form.named(part)):
            yield {**context, **of_text, form.words: _bare(str(key))}
        else:
            yield None


def _stretches(value: Any) -> list[str]:
    """The stretches that the words of one object are: a list of single words is one stretch. '' for no words."""
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) and part.strip() for part in parts):
        return [""]
    return [_bare(part) for part in parts] if any(len(part.split()) > 1 for part in parts) else [_bare(" ".join(parts))]


def _spoken(text: str, form: MarkedForm, context: Mapping[str, str]) -> dict[str, Any] | None:
    """One marked stretch in a line: in quotation marks, or divided from its names by signs."""
    line = _BULLET.sub("", text).strip()
    missing = [key for key in form.classes if key not in context]
    if not missing:
        return {**context, form.words: _bare(line)} if line else None
    if len(line) > LONGEST:
        return None
    words, parts = "", line.split("|")
    if len(parts) == 1 and (quoted := _QUOTED.search(line)):
        words = next(filter(None, quoted.groups()))
        parts = _BETWEEN.split(f"{line[: quoted.start()]}|{line[quoted.end() :]}")
    elif len(parts) == 1:
        parts = _BETWEEN.split(line)
    parts = [part for part in (part.strip(" *_`.,") for part in parts) if part]
    named = [form.named(part) for part in parts]
    names = {key: name for each in named for key, name in each.items()}
    if sum(map(len, named)) != len(names) or not {*missing} <= names.keys():
        return None
    free = [part for part, each in zip(parts, named, strict=True) if not each]
    if not words and len(free) != 1:
        return None
    return {**context, **names, form.words: words or _bare(free[0])}


def _match(names: Names, text: Any) -> str:
    try:
        return match[0] if isinstance(text, str) and (match := names.match(text)) else ""
    except Unusable:
        return ""


def _bare(text: str) -> str:
    """Words without the quotation marks around all of them."""
    quoted = _QUOTED.fullmatch(text.strip())
    return next(filter(None, quoted.groups())) if quoted else text.strip()


def _start(offsets: list[Any]) -> dict[str, int]:
    """The least offset, whatever the order in which start and end are given."""
    flat = [part for each in offsets for part in (each if isinstance(each, list) else [each])]
    numbers = [part for part in flat if type(part) is int]
    return {"start": min(numbers)} if numbers else {}
