"""Every partitions definition, and the rules of its keys.

A passage's key is `corpus/passage_id`; a grid's key is `model|passage` (Dagster orders dimensions alphabetically), so
the outputs of one model are one contiguous range.
"""

import re

import dagster as dg

from resources.errors import BadInput

PASSAGE = dg.DynamicPartitionsDefinition(name="passage")
MODEL = dg.DynamicPartitionsDefinition(name="model")
GRID = dg.MultiPartitionsDefinition({"model": MODEL, "passage": PASSAGE})

SINGLE_RUN = dg.BackfillPolicy.single_run()
"""A model's whole row, or any range of passages, is one run."""

BY_PASSAGE = dg.MultiToSingleDimensionPartitionMapping("passage")
BY_MODEL = dg.MultiToSingleDimensionPartitionMapping("model")

_SLUG = re.compile(r"[A-Za-z0-9._:/-]+")


def check_key(key: str, kind: str, where: object) -> str:
    """Return `key` if it can name a partition.

    Raises
    ------
    BadInput
        If it is empty, holds anything but ASCII letters, digits and `._:/-`, or holds three dots in a row, which
        Dagster reads as a range.
    """
    if not _SLUG.fullmatch(key) or "..." in key:
        proposal = re.sub(r"\.{2,}|[^A-Za-z0-9._:/-]+", "-", key).strip("-") or "a-name"
        raise BadInput(
            where, repr(key), f"cannot be the key of a {kind}: allowed are A-Z a-z 0-9 . _ : / - without '...'",
            f"rename it, for instance to {proposal!r}",
        )  # fmt: skip
    return key


def range_tags(first: str, last: str) -> dict[str, str]:
    """Tags of a run over all partitions from the first to the last, both included."""
    return {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}


def dimensions(partitions_def: dg.PartitionsDefinition | None) -> list[str]:
    """Names of the dimensions, alphabetically: `[]`, `["passage"]`, `["model"]` or `["model", "passage"]`."""
    if isinstance(partitions_def, dg.MultiPartitionsDefinition):
        return sorted(partitions_def.partition_dimension_names)
    if isinstance(partitions_def, dg.DynamicPartitionsDefinition) and partitions_def.name:
        return [partitions_def.name]
    return []
