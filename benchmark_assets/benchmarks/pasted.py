"""Texts that users paste from a publication which prints them: one form, however they were printed and copied.

Here: that form, whose digest a recipe states. Not here: reading and copying the files (folders).
"""

import re
import unicodedata

_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\ufeff`"))
"""Invisible characters, and the marks in which some viewers copy monospaced words."""

_QUOTES = str.maketrans("“”„‟‘’‚‛", "\"\"\"\"''''")
_CONTINUED = re.compile(r"^\s*(?:(?:[-•]\s*)?[↪↩↔]\s*)+", re.MULTILINE)
"""The mark before the rest of a printed line that was too long."""

_BULLET = re.compile(r"^\s*[•∙▪*–]\s+", re.MULTILINE)
_DIVIDED = re.compile(r"(?<=\w)-[^\S\n]*\n\s*(?=\w)")


def canonical(text: str) -> str:
    """A pasted text with single blanks in place of line breaks, straight quotation marks and plain bullets.

    Marks of continued lines and code fences are dropped. A hyphen at the end of a line is kept and joined to the next
    line: whether the word has a hyphen within a line, too, cannot be told.
    """
    while (form := _plainer(text)) != text:  # a mark may hide another, and the form of a form is the form
        text = form
    return form


def _plainer(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES).translate(_UNSEEN)
    text = _CONTINUED.sub(" ", _BULLET.sub("- ", text))
    return " ".join(_DIVIDED.sub("-", text).split())
