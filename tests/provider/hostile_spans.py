"""Hostile replies that mark spans: forms that models give, applied to drawn texts, each with a person's reading.

A reading is a list of names and places, with the score if there is one; None where a person could not tell. The rules
of the reader were written with `SEEN`; `UNSEEN` has other forms. Not here: what the reader makes of them
(test_hostile_spans).
"""

import json
import random
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmark_assets.people.mqm import CATEGORIES, OMISSION, WEIGHTS

TYPES = ("MET", "SIM")
WORDS = "the old king's dog ran over three hills; “never,” said Ānanda, while rain fell — café naïve well-known"


class Mark(NamedTuple):
    """A marked stretch: its words, its names (category and severity, or a type), and its place."""

    words: str
    names: tuple[str, ...]
    place: tuple[int, int]


class Case(NamedTuple):
    """A text, the stretches that a reply marks in it, and the score (None for a task)."""

    text: str
    marks: Sequence[Mark]
    score: int | None


class Hostile(NamedTuple):
    """A reply, the text that it is about, and a person's reading of it."""

    form: str
    text: str
    reply: str
    right: Any


Form = Callable[[Case], tuple[str, Sequence[Mark] | None]]


def drawn(seed: int, judge: bool) -> Case:
    """A text with one to four marked stretches of one to five words."""
    rng = random.Random(seed)
    words = [*rng.choices(WORDS.split(), k=rng.randint(12, 30)), f"zebra{seed}"]
    text, starts = "", []
    for word in words:
        starts.append(len(text))
        text += word + rng.choice([" ", " ", " ", "\n", "  "])
    marks: list[Mark] = []
    for first in sorted(rng.sample(range(len(words)), rng.randint(1, 4))):
        last = min(first + rng.randint(0, 4), len(words) - 1)
        place = starts[first], starts[last] + len(words[last])
        categories = [name for name in CATEGORIES if name != OMISSION]
        names = (rng.choice(categories), rng.choice(list(WEIGHTS))) if judge else (rng.choice(TYPES),)
        quoted = text[slice(*place)]
        if letters(quoted) and letters(text).count(letters(quoted)) == 1:
            marks.append(Mark(quoted, names, place))
    marks = marks or [
        Mark(words[-1], ("style", "minor") if judge else ("MET",), (starts[-1], starts[-1] + len(words[-1])))
    ]
    return Case(text.rstrip(), marks, rng.randint(0, 100) if judge else None)


def letters(text: str) -> str:
    """What is left of a text without case, signs and white space."""
    return "".join(filter(str.isalnum, text)).casefold()


def item(case: Case, mark: Mark, **more: Any) -> dict[str, Any]:
    """A stretch in the requested form; `more` replaces values or adds keys."""
    if case.score is None:
        return {"LABEL": mark.names[0], "SPAN": more.pop("words", mark.words), **more}
    return {"text": more.pop("words", mark.words), "category": mark.names[0], "severity": mark.names[1], **more}


def whole(case: Case, items: Any, **more: Any) -> dict[str, Any]:
    """A reply in the requested form, with these items."""
    return {"prediction": items, **more} if case.score is None else {"errors": items, "score": case.score, **more}


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def each(change: Callable[[Case, Mark], Any], frame: str = "{}", wrap: Callable[[list[Any]], Any] = list) -> Form:
    """A form that changes each item, or the list of items; `frame` surrounds the reply."""
    return lambda case: (
        frame.format(dumps(whole(case, wrap([change(case, mark) for mark in case.marks])))),
        case.marks,
    )


def written(change: Callable[[Any], str]) -> Form:
    """A form that writes the requested values otherwise."""
    return lambda case: (change(whole(case, [item(case, mark) for mark in case.marks])), case.marks)


def quoting(before: str, after: str = "") -> Form:
    return worded(lambda words: f"{before}{words}{after or before}")


def worded(change: Callable[[str], Any]) -> Form:
    return each(lambda case, mark: item(case, mark, words=change(mark.words)))


def grouped(case: Case) -> tuple[str, Sequence[Mark]]:
    """Stretches by the last of their names."""
    groups: dict[str, list[Any]] = {}
    for mark in case.marks:
        rest = item(case, mark)
        rest.pop("severity" if case.score is not None else "LABEL")
        groups.setdefault(mark.names[-1], []).append(mark.words if case.score is None else rest)
    return dumps(whole(case, groups)), [mark for name in groups for mark in case.marks if mark.names[-1] == name]


def lines(pattern: str, score: str = "Score: {}") -> Form:
    """Lines of Markdown: `pattern` has the number, the words and the names."""

    def form(case: Case) -> tuple[str, Sequence[Mark]]:
        rows = [
            pattern.format(n=n, words=mark.words.replace("\n", " "), names=", ".join(mark.names))
            for n, mark in enumerate(case.marks, 1)
        ]
        tail = [] if case.score is None else ["", score.format(case.score)]
        return "\n".join(["Here is what I found:", "", *rows, *tail]), case.marks

    return form


def doubtful(change: Callable[[Case, Mark], Any]) -> Form:
    """A form whose first item nobody could read: of a judge nothing, of a task the other spans."""

    def form(case: Case) -> tuple[str, Sequence[Mark] | None]:
        items = [change(case, case.marks[0]), *(item(case, mark) for mark in case.marks[1:])]
        return dumps(whole(case, items)), (case.marks[1:] or None) if case.score is None else None

    return form


def thrice(before: str, after: str) -> Form:
    """Each item three times, once in quotation marks."""

    def form(case: Case) -> tuple[str, Sequence[Mark]]:
        frames = ("", ""), (before, after), ("", "")
        items = [item(case, mark, words=f"{a}{mark.words}{b}") for mark in case.marks for a, b in frames]
        return dumps(whole(case, items)), case.marks

    return form


def repeated(surplus: int, offsets: bool = False) -> Form:
    """One word that occurs twice: each place is listed, or the second only, by its offset; `surplus` times more."""

    def form(case: Case) -> tuple[str, Sequence[Mark]]:
        start, end = len(case.text) - len("zebra"), len(case.text)
        other = Mark("zebra", case.marks[0].names, (start, end))
        first = other._replace(place=(case.text.index("zebra"), case.text.index("zebra") + 5))
        places = {"start": start, "end": end} if offsets else {}
        items = [item(case, other, **places)] * (1 if offsets else 2 + surplus)
        return dumps(whole(case, items)), [other] if offsets else [first, other]

    return form


def elided(sign: str) -> Form:
    """Stretches whose inner words are left out, if the first and the last word are nowhere else in the text."""

    def cut(case: Case, mark: Mark) -> dict[str, Any]:
        words = mark.words.split()
        ends = [letters(word) for word in (words[0], words[-1])]
        clear = len(words) > 2 and all(end and letters(case.text).count(end) == 1 for end in ends)
        return item(case, mark, words=f"{words[0]} {sign} {words[-1]}" if clear else mark.words)

    return each(cut)


def renamed(**names: str) -> Form:
    """Objects with other keys."""

    def form(reply: dict[str, Any]) -> str:
        renaming: dict[str, Any] = {}
        for key, value in reply.items():
            rows = value if isinstance(value, list) else []
            items = [{names.get(name, name): part for name, part in row.items()} for row in rows]
            renaming[names.get(key, key)] = items or value
        return dumps(renaming)

    return written(form)


def named(category: Callable[[str], str] = str, **severities: str) -> Form:
    """Names in other words; a task's types in lower case."""

    def change(case: Case, mark: Mark) -> dict[str, Any]:
        if case.score is None:
            return item(case, mark, LABEL=mark.names[0].lower())
        severity = severities.get(mark.names[1], mark.names[1])
        return item(case, mark, category=category(mark.names[0]), severity=severity)

    return each(change)


SEEN: Mapping[str, Form] = {
    "curly quotation marks": quoting("“", "”"), "guillemets": quoting("«", "»"), "straight marks": quoting('"'),
    "fence and remarks": each(item, "Sure:\n```json\n{}\n```\nI hope this helps."), "Python": written(repr),
    "trailing commas": written(lambda reply: dumps(reply)[:-1] + ",}"),
    "list of words": worded(lambda words: words.split() if " " in words or "\n" in words else words),
    "arrays": each(lambda case, mark: [mark.words, *mark.names]),
    "reversed arrays": each(lambda case, mark: [*mark.names[::-1], mark.words]),
    "by name": grouped, "duplicates": thrice("", ""), "each place": repeated(0),
    "place by offset": repeated(0, offsets=True),
    "offsets": each(lambda case, mark: item(case, mark, start=mark.place[0], end=mark.place[1])),
    "reversed offsets": each(lambda case, mark: item(case, mark, span_offsets=[*mark.place[::-1]])),
    "leaf in capitals": named(lambda name: name.rpartition("/")[2].upper()),
    "French severity": named(minor="mineure", major="majeure", critical="critique"),
    "other white space": worded(lambda words: " ".join(words.split())), "ellipsis": elided("…"),
    "straight marks, capital": worded(lambda words: (words[0].upper() + words[1:]).translate({8220: '"', 8221: '"'})),
    "bullets": lines("- “{words}” ({names})"), "null item": each(item, wrap=lambda items: [*items, None]),
    "nested": written(lambda reply: dumps({"result": reply})),
    "other keys": renamed(
        text="span", category="type", severity="level", score="overall_score", LABEL="tag", SPAN="text"
    ),
    "strings": each(lambda case, mark: " | ".join([mark.words, *mark.names])),
    "no name": doubtful(lambda case, mark: {"text": mark.words, "SPAN": mark.words}),
    "bare string": doubtful(lambda case, mark: mark.words),
}  # fmt: skip
"""Forms with which the rules of the reader were written."""

UNSEEN: Mapping[str, Form] = {
    "German marks": quoting("„", "“"), "corner brackets": quoting("「", "」"), "nested marks": quoting("“‘", "’”"),
    "single marks": quoting("'"), "backticks": quoting("`"), "bold": quoting("**"),
    "tag": each(item, "<answer>{}</answer>"), "thinking": each(item, "<think>Maybe [none]?</think>\n{}\nDone."),
    "string": written(lambda reply: dumps(dumps(reply))),
    "comma in the list": written(lambda reply: dumps(reply).replace("}]", "},]")),
    "names first": each(lambda case, mark: [mark.names[0], mark.words, *mark.names[1:]]),
    "tuples": lambda case: (repr(whole(case, [(mark.words, *mark.names) for mark in case.marks])), case.marks),
    "numbered objects": each(item, wrap=lambda items: {str(n): each for n, each in enumerate(items, 1)}),
    "list within": each(item, wrap=lambda items: {"items": items}),
    "duplicates in other marks": thrice("“", "”"), "a place too many": repeated(1),
    "three places too many": repeated(3),
    "begin and end": each(lambda case, mark: item(case, mark, begin=mark.place[1], end=mark.place[0])),
    "span beside": each(lambda case, mark: item(case, mark, offset=[*mark.place], note="see there")),
    "colon for slash": named(lambda name: name.replace("/", ": ").title()),
    "Italian severity": named(minor="Minore", major="Maggiore", critical="Critico"),
    "severity in words": named(minor="Minor error", major="Major error", critical="Critical error"),
    "decomposed": worded(lambda words: unicodedata.normalize("NFD", words)),
    "dashes": worded(lambda words: words.replace("—", "-").replace("-", "‑")),
    "bracketed ellipsis": elided("[...]"), "ends in ellipsis": quoting("…"),
    "final stop": worded(lambda words: words + "."),
    "numbered lines": lines("{n}. **{words}** — {names}", "**Overall score:** {}/100"),
    "starred lines": lines("* {names}: “{words}”"),
    "error_text": renamed(
        text="error_text", category="error_type", severity="error_severity", errors="mistakes", LABEL="tag",
        SPAN="quote",
    ),
    "capitals": renamed(text="TEXT", category="Category", severity="SEVERITY", LABEL="label", SPAN="span"),
    "other name": doubtful(lambda case, mark: item(case, mark) | {"category": "sense", "LABEL": "NAME"}),
    "no words": doubtful(lambda case, mark: item(case, mark, words=None)),
    "two names": doubtful(lambda case, mark: item(case, mark) | {"severity": "minor/major", "LABEL": "MET or SIM"}),
}  # fmt: skip
"""Forms that were not tried before the rules were complete."""


def hostile(forms: Mapping[str, Form], seeds: Sequence[int], judge: bool) -> Iterator[Hostile]:
    """A reply in each form for each seed."""
    for number, (name, form) in enumerate(forms.items()):
        for seed in seeds:
            case = drawn(1000 * seed + number, judge)
            if "place" in name:
                case = case._replace(text=f"{case.text} zebra")
            reply, marks = form(case)
            right = None if marks is None else ([(*mark.names, *mark.place) for mark in marks], case.score)
            yield Hostile(name, case.text, reply, right)
