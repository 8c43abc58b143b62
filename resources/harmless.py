"""Texts of others made harmless for programs that would act on them: terminals, spreadsheets, Markdown.

Stored texts stay as they are; what leaves the home is escaped here. Not here: HTML (html.escape), LaTeX
(reporting.latex).
"""

import re

LONGEST = 1000
"""Characters of a text that a cell of a table shows."""

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that a terminal or a page obeys instead of showing them, except for line breaks and tabs: control
characters, marks of direction, breaks of lines and paragraphs, lone surrogates, tags. Joiners stay: scripts of India
and emoji need them."""

# Cells that a spreadsheet would evaluate, also after the apostrophes that turn such a cell into text.
_FORMULA = r"'*[=+\-@＝＋－＠\t\r\n]"
_GUARDED = re.compile(rf"{_FORMULA}|'*[\d.,:/eE -]+\Z")

FORMULA = f"^({_FORMULA})"
"""Regular expression for the beginning of a cell that a spreadsheet would evaluate as a formula."""


def visible(text: str) -> str:
    r"""A text whose control characters are visible, such as `\x1b`; line breaks and tabs stay."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def in_markdown(text: object, longest: int = LONGEST) -> str:
    """A value on one line, in Markdown that contains no HTML, link or image, and ends no cell of a table."""
    line = " ".join(shortened(str(text), longest).splitlines())
    line = visible(line).replace("<", "&lt;").replace("|", "\\|")
    return re.sub(r"\](?=[(:])", r"]\\", line)


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text, cut to a number of characters; a text that was cut ends with '…'."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def guarded(cell: str) -> str:
    """Prefix a cell with an apostrophe if a spreadsheet would read it as a formula, number or date."""
    return f"'{cell}" if _GUARDED.match(cell) else cell


def unguarded(cell: str) -> str:
    """Undo `guarded`. A cell that was not guarded is unchanged, even if it begins with an apostrophe."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell
