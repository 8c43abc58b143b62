"""Texts of Aozora Bunko: without readings, annotations, legend and colophon, which become asides.

A reading `《…》` belongs to the Chinese characters before it, or to the text after `｜`. An annotation `［＃…］` is
left out; if it names a character (`※［＃…U+24103…］`, or a place of JIS X 0213), the character takes its place. Lines
that an annotation calls headings, the text up to the end of the legend, and the text from 底本 on are left out, too.
"""

import re
import unicodedata
from collections.abc import Collection
from typing import NamedTuple

_ANNOTATION = re.compile(r"［＃[^］]*］")
_GAIJI = re.compile(r"※［＃(?P<name>[^］]*)］")
_CODE = re.compile(r"U\+(?P<code>[0-9A-F]{4,6})|(?P<plane>[12])-(?P<row>\d{1,2})-(?P<cell>\d{1,2})(?!\d)")
_RUBY = re.compile(
    r"(?:｜(?P<marked>[^《》｜\n]+)|(?P<base>[々〇〻※\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+))"
    r"《(?P<reading>[^《》\n]+)》"
)
_LEGEND = re.compile(r"\n-{20,}\n【テキスト中に現れる記号について】.*?\n-{20,}\n", re.DOTALL)
_COLOPHON = re.compile(r"\n底本：.*", re.DOTALL)
_HEADING = re.compile(r"見出し")


_READING = re.compile(r"[々〇〻\u3400-\u9fff\uf900-\ufaff]《[\u3040-\u30ff]+》|［＃[^］]+］")
"""Kana as the reading of a Chinese character, or an annotation: no title in `《》`, as in 雑誌《文藝》, is either."""


class Removed(NamedTuple):
    """An aside of a text: its kind, its text, and the number of letters and digits of the text before it."""

    kind: str
    text: str
    letters: int


def is_aozora(content: str) -> bool:
    """Whether a text has Aozora Bunko's annotations or legend."""
    return _ANNOTATION.search(content) is not None or _LEGEND.search(content) is not None


def has_readings(texts: Collection[str]) -> bool:
    """Whether a text, given in parts, has readings or annotations in the way of Aozora Bunko."""
    return any("》" in text or "］" in text for text in texts) and any(map(_READING.search, texts))


def without_marks(content: str) -> tuple[str, list[Removed]]:
    """The text of a file of Aozora Bunko, line by line, and its asides in order.

    Notes
    -----
    A place of JIS X 0213 (plane-row-cell) is decoded as EUC-JIS-2004. A character without code stays `※`.
    """
    asides: list[Removed] = []
    letters = 0
    legend = _LEGEND.search(content)
    start = legend.end() if legend else 0
    if legend:
        asides.append(Removed("furniture", " ".join(content[:start].split()), 0))
    colophon = _COLOPHON.search(content, start)
    lines = []
    for line in content[start : colophon.start() if colophon else None].split("\n"):
        if any(_HEADING.search(note) for note in _ANNOTATION.findall(line)):
            asides.append(Removed("heading", _RUBY.sub(_base, _ANNOTATION.sub("", line)).strip(), letters))
            lines.append("")
            continue
        line, removed = without_marks_in_line(line, letters)
        asides += removed
        lines.append(line)
        letters += sum(map(str.isalnum, line))
    if colophon:
        asides.append(Removed("furniture", " ".join(colophon[0].split()), letters))
    return "\n".join(lines).strip("\n"), asides


def without_marks_in_line(line: str, letters: int = 0) -> tuple[str, list[Removed]]:
    """A line without readings and annotations, and these as asides; `letters` of the text precede the line."""
    line = _GAIJI.sub(_character, line)
    asides = [Removed("note", match[0][2:-1], letters + _letters(line, match)) for match in _ANNOTATION.finditer(line)]
    line = _ANNOTATION.sub("", line)
    for match in _RUBY.finditer(line):
        asides.append(Removed("ruby", f"{_base(match)} {match['reading']}", letters + _letters(line, match)))
    return _RUBY.sub(_base, line), asides


def _base(match: re.Match[str]) -> str:
    return match["marked"] or match["base"]


def _letters(line: str, match: re.Match[str]) -> int:
    """Number of letters and digits of a line's text before a mark."""
    return sum(map(str.isalnum, _RUBY.sub(_base, _ANNOTATION.sub("", line[: match.start()]))))


def _character(match: re.Match[str]) -> str:
    """The character that an annotation names; `※` if it has no code."""
    code = _CODE.search(match["name"])
    if code is None:
        return "※"
    if code["code"]:
        return chr(int(code["code"], 16))
    lead = b"\x8f" if code["plane"] == "2" else b""
    try:
        place = lead + bytes([int(code["row"]) + 160, int(code["cell"]) + 160])
        return unicodedata.normalize("NFC", place.decode("euc_jis_2004"))
    except (UnicodeDecodeError, ValueError):
        return "※"
