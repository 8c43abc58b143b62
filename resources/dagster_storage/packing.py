"""Packing of Dagster's JSON for its databases: an event of 2,200 bytes is reduced to about 220 bytes.

Here: packed text and the type of a column that may hold it. Not here: which texts are packed (event_storage,
postgres_storage).
"""

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as db

VERSION = 2
"""Version of the dictionary with which new texts are packed. A stored text names the version of its dictionary, so the
file `events_N.txt` of a version must never change: a better dictionary needs a further file and a higher VERSION."""


STEP = "\x02"
"""Stands for the name of the event's step, which an event repeats ten times. JSON has no such character."""

_STEP_KEY = re.compile(r'"step_key": "([^"\n]+)"')


def pack(text: str) -> bytes:
    """Compress text with zlib and a dictionary.

    The first byte of the result is the version of the dictionary. From version 2 on, the compressed text begins with a
    line for the name of the event's step; elsewhere `STEP` stands for the name.
    """
    match = None if STEP in text else _STEP_KEY.search(text)
    name = match[1] if match else ""
    short = text.replace(name, STEP) if name else text
    compressor = zlib.compressobj(zdict=_dictionary(VERSION))
    return bytes([VERSION]) + compressor.compress(f"{name}\n{short}".encode()) + compressor.flush()


def unpack(packed: bytes) -> str:
    """The text that `pack` compressed.

    Raises
    ------
    ValueError
        If a later version of the project packed the text, or a part of `packed` is missing.
    zlib.error
        If a part of `packed` has changed.
    """
    if packed[0] > VERSION:
        raise ValueError(f"an event was stored by a later version of variorum (format {packed[0]}); update variorum")
    decompressor = zlib.decompressobj(zdict=_dictionary(packed[0]))
    content = decompressor.decompress(packed[1:])
    if not decompressor.eof:
        raise ValueError("a stored event is incomplete: the file is damaged; restore a backup with `variorum restore`")
    text = content.decode()
    if packed[0] == 1:
        return text
    name, _, short = text.partition("\n")
    return short.replace(STEP, name) if name else short


class PackedText(db.Text):
    """Type of a text column that stores Dagster's serialized objects in packed form. Other text is stored unchanged.
    Old rows may have objects in plain form."""

    def bind_processor(self, dialect: db.Dialect) -> Callable[[Any], Any]:
        """Pack serialized objects. A value that is packed already stays as it is."""
        return lambda value: pack(value) if isinstance(value, str) and value.startswith('{"__class__"') else value

    def result_processor(self, dialect: db.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Unpack packed text; return plain text as it is."""
        return lambda value: unpack(value) if isinstance(value, bytes) else value


class PackedString(PackedText):
    """`PackedText` for columns that cannot hold bytes, such as texts in PostgreSQL: packed text in base64.

    A control character, with which no other text of Dagster begins, marks packed text.
    """

    MARK = "\x01"

    def bind_processor(self, dialect: db.Dialect) -> Callable[[Any], Any]:
        """Pack serialized objects."""
        packed = super().bind_processor(dialect)

        def bound(value: Any) -> Any:
            stored = packed(value)
            return self.MARK + b64encode(stored).decode() if isinstance(stored, bytes) else stored

        return bound

    def result_processor(self, dialect: db.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Unpack packed text; return plain text as it is."""

        def read(value: Any) -> Any:
            return unpack(b64decode(value[1:])) if isinstance(value, str) and value.startswith(self.MARK) else value

        return read


@cache
def _dictionary(version: int) -> bytes:
    return Path(__file__).with_name(f"events_{version}.txt").read_bytes()
