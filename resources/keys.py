"""Partition keys: their columns, their syntax, and columns derived from them."""

import re

import polars as pl

from resources.errors import BadInput

KEYS = ["model", "passage", "task"]
"""Columns that identify a partition of any asset; '' for a dimension that the asset lacks."""

CORPUS = pl.col("passage").str.split_exact("/", 1).struct.field("field_0").alias("corpus")
"""The corpus of a passage, from the passage's key."""

COLLECTION = pl.col("document").str.extract(r"^(\p{L}+)")
"""The collection or work of a document, from its id: `an` of `an10.13`; null if the id does not begin with a letter."""

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
        proposal = re.sub(r"\.{2,}|[^A-Za-z0-9._:/-]+", "-", key).strip("-") or "a-name"
        raise BadInput(
            where, repr(key), f"cannot be the key of a {kind}: allowed are A-Z a-z 0-9 . _ : / - without '...'",
            f"rename it, for instance to {proposal!r}",
        )  # fmt: skip
    return key
