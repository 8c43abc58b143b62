"""Characters of a file: decoding UTF-8, NFC, and detection of damaged text. Not here: the layout of the text."""

import codecs
import csv
import re
import unicodedata
from pathlib import Path

from resources.errors import BadInput

csv.field_size_limit(
    1 << 30
)  # a cell may hold a text of any length; Python refuses one of more than 131,072 characters

_LOST = "\ufffd"
# UTF-8 read as Windows-1252: â€™ for an apostrophe, á¹ƒ for ṃ, Ã© for é, and any control character after a lead byte
# (Ä\x81 for ā). No orthography has these sequences, while É” and Ä« may occur.
_MISREAD = re.compile(r"â€|á[¸¹º]|[ÂÃ][¡-ª¬-º¼-¿]|[Â-ô][\x80-\x84\x86-\x9f]")

_BYTES = {ord(bytes([byte]).decode("cp1252", "ignore") or chr(byte)): byte for byte in range(0x80, 0xA0)}
"""The byte in Windows-1252 of each character that Latin-1 lacks."""


def decode(path: Path, encoding: str = "") -> str:
    """Text of a file. Line breaks become '\\n'.

    `encoding` is the encoding that the description of a corpus states. By default, the file is UTF-8, with or without a
    byte order mark, or UTF-16 with a byte order mark.

    Raises
    ------
    BadInput
        If the file cannot be read, has another encoding, or contains a NUL character, as binary files do.
    """
    try:
        content = path.read_bytes()
        is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = content.decode("utf-16" if is_utf16 else encoding or "utf-8-sig").removeprefix("\ufeff")
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "restore the file, or remove it") from error
    except UnicodeDecodeError as error:
        problem = f"is not {error.encoding.upper()}"
        raise BadInput(path, f"byte {error.start}", problem, "save the file as UTF-8") from error
    except LookupError as error:
        raise BadInput(path, "", f"has an unknown encoding, {encoding!r}", "write its name, such as cp1252") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(path, f"line {line}", "contains a NUL character", "save the file as text in UTF-8")
    return text


def clean(text: str, path: Path, key: str = "") -> str:
    """`text` in NFC. `key` names the segment or line in messages; '' for a whole file.

    Raises
    ------
    BadInput
        If the text is not empty, but consists of invisible characters; if it contains U+FFFD, which replaces
        undecodable bytes; or if it is UTF-8 that was read as Windows-1252 or Latin-1. In the last two cases, letters
        were lost.
    """
    if text.isascii() and text.isprintable():
        return text
    if _LOST in text:
        problem = f"letters were lost in conversion (the text contains {text.count(_LOST)} U+FFFD)"
        raise BadInput(path, key, problem, "restore the file from its source")
    if misread := _misread(text):
        problem = f"looks like UTF-8 that was read as Windows-1252 (it contains {misread!r})"
        raise BadInput(path, key, problem, "save it again from its source, as UTF-8")
    if text.strip() and all(unicodedata.category(sign)[0] in "CZ" for sign in text):
        sign = text.strip()[0]
        problem = f"contains only invisible characters (the first is U+{ord(sign):04X})"
        raise BadInput(path, key, problem, "write the text, or leave it empty")
    return unicodedata.normalize("NFC", text)


def _misread(text: str) -> str:
    """A part of a text that was UTF-8 and was read as Windows-1252 or Latin-1; '' if there is none.

    There are two tests. The first finds a sequence that matches `_MISREAD`, and returns it. The second finds a text
    whose bytes in Windows-1252 are valid UTF-8 with at least two characters outside ASCII: all of this text was
    misread, and its beginning is returned. The second test finds all misread Greek, Cyrillic or Chinese.
    """
    if match := _MISREAD.search(text):
        return match.group()
    if text.isascii():
        return ""
    try:
        original = text.translate(_BYTES).encode("latin-1").decode()
    except UnicodeError:
        return ""
    return text[:20] if sum(not sign.isascii() for sign in original) > 1 else ""


_HIGH = re.compile(f"[\x80-\xff{''.join(map(chr, _BYTES))}]{{2,}}")


def mended(text: str) -> tuple[str, list[str]]:
    """A text in which UTF-8 that was read as Windows-1252 is restored, and what was restored: `Ã« is read as ë`.

    A text that `clean` accepts is not changed.
    """
    if not _misread(text):
        return text, []
    mends: dict[str, str] = {}
    for signs in _HIGH.findall(text):
        try:
            mends[signs] = signs.translate(_BYTES).encode("latin-1").decode()
        except UnicodeError:
            continue
    restored = _HIGH.sub(lambda match: mends.get(match[0], match[0]), text)
    return restored, [f"{signs} is read as {original}" for signs, original in mends.items()]
