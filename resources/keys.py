"""Partition keys: their columns, their syntax, and columns derived from them."""

import re
import unicodedata

import polars as pl

from resources.errors import BadInput, beginning

KEYS = ["model", "passage", "task"]
"""Columns that identify a partition of any asset; a column is '' if the asset lacks the dimension."""

CORPUS = pl.col("passage").str.split_exact("/", 1).struct.field("field_0").alias("corpus")
"""Expression for the corpus of a passage, from the column `passage`."""

COLLECTION = pl.col("document").str.extract(r"^(\p{L}+)")
"""Expression for the collection or work of a document: `an` for `an10.13`; null if no letter comes first."""

_SLUG = re.compile(r"[A-Za-z0-9._:/-]+")


def check_key(key: str, kind: str, where: object) -> str:
    """Return `key` if it can name a partition.

    Raises
    ------
    BadInput
        If it is empty, contains anything but ASCII letters, digits and `._:/-`, or contains `...`, which Dagster reads
        as a range.
    """
    if not _is_plain(key):
        proposal = slug(beginning(key))
        problem = f"cannot be the key of a {kind}: keys consist of A-Z a-z 0-9 . _ : / - and must not contain '...'"
        raise BadInput(where, repr(key), problem, f"rename it, for instance to {proposal!r}")
    return key


_ESCAPE = re.compile(r"=([0-9a-f]+)=|\^(.)|(\+)")
_LITERAL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._:-()")


def escaped(name: str) -> str:
    """Any name as a key: a valid key stays as it is; in any other name, the signs that a key cannot have are escaped.

    A capital becomes `^` and its small letter, a space becomes `+`, and other signs become their code point in
    hexadecimal between `=`: `Aen. 5(6)|7` becomes `^aen.+5(6)=7c=7`. Small letters and digits of any script stay if no
    file system takes them for other letters. So two names have the same key only if they are equal, and no escaped key
    differs from another key by case alone. `unescaped` is the inverse.
    """
    if _is_plain(name):
        return name
    key = ""
    for sign in name:
        if sign in _LITERAL or (sign > "\x7f" and sign.isalnum() and _is_stable(sign)):
            key += f"={ord(sign):x}=" if key.endswith("..") and sign == "." else sign
        elif "A" <= sign <= "Z":
            key += f"^{sign.lower()}"
        else:
            key += "+" if sign == " " else f"={ord(sign):x}="
    return key


def unescaped(key: str) -> str:
    """The name whose escaped form is a key."""
    return _ESCAPE.sub(lambda sign: chr(int(sign[1], 16)) if sign[1] else (sign[2] or " ").upper(), key)


def _is_plain(name: str) -> bool:
    """Whether a name can be a key without escaped signs."""
    return _SLUG.fullmatch(name) is not None and "..." not in name


def _is_stable(sign: str) -> bool:
    """Whether a sign is its own small letter, and is not composed of a letter and an accent."""
    return unicodedata.normalize("NFKD", sign) == sign == sign.casefold() == sign.upper().lower()


def slug(name: str) -> str:
    """A name as a key: a valid key stays as it is; of any other name, letters lose their accents, capitals and what a
    key cannot have (`Énéide, I` becomes `eneide-i`)."""
    if _is_plain(name):
        return name
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    return re.sub(r"\.{2,}|[^a-z0-9._:/-]+", "-", plain.casefold()).strip("-") or "a-name"
