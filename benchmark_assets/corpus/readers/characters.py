"""Characters of a file: decoding UTF-8, detecting letters lost in conversion. Not here: the layout of the text."""

import re
from pathlib import Path

from resources.errors import BadInput

_LOST = "\ufffd"
# UTF-8 read as Windows-1252: â€™ for an apostrophe, á¹ƒ for ṃ, Ã© for é, and any control character after a lead byte
# (Ä\x81 for ā). No orthography has these sequences, while É” and Ä« may occur.
_MISREAD = re.compile(r"â€|á[¸¹º]|[ÂÃ][¡-ª¬-º¼-¿]|[Â-ô][\x80-\x84\x86-\x9f]")


def decode(path: Path) -> str:
    """Text of a UTF-8 file, with or without a byte order mark. Line breaks become '\\n'.

    Raises
    ------
    BadInput
        If the file cannot be read, is not UTF-8, or contains a NUL character, as UTF-16 and binary files do.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "restore the file, or remove it") from error
    except UnicodeDecodeError as error:
        raise BadInput(path, f"byte {error.start}", "is not UTF-8", "save the file as UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(path, f"line {line}", "contains a NUL character", "save the file as text in UTF-8")
    return text


def check_letters(text: str, path: Path) -> str:
    """Return `text` unless it shows that letters were lost in conversion.

    Raises
    ------
    BadInput
        If it contains U+FFFD, which replaces undecodable bytes, or sequences that result from reading UTF-8 as
        Windows-1252.
    """
    if _LOST in text:
        problem = f"letters were lost in conversion ({text.count(_LOST)} times U+FFFD)"
        raise BadInput(path, "", problem, "restore the file from its source")
    if misread := _MISREAD.search(text):
        problem = f"looks like UTF-8 that was read as Windows-1252 (it contains {misread.group()!r})"
        raise BadInput(path, "", problem, "save it again from its source, as UTF-8")
    return text
