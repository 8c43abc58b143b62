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
    if not _SLUG.fullmatch(key) or "..." in key:
        proposal = slug(beginning(key))
        problem = f"cannot be the key of a {kind}: keys consist of A-Z a-z 0-9 . _ : / - and must not contain '...'"
        raise BadInput(where, repr(key), problem, f"rename it, for instance to {proposal!r}")
    return key


def slug(name: str) -> str:
    """A name as a key: a valid key stays as it is; of any other name, letters lose their accents, capitals and what a
    key cannot have (`Énéide, I` becomes `eneide-i`)."""
    if _SLUG.fullmatch(name) and "..." not in name:
        return name
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    return re.sub(r"\.{2,}|[^a-z0-9._:/-]+", "-", plain.casefold()).strip("-") or "a-name"
