"""What the key of a partition may be made of."""

import re

from resources.errors import BadInput

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
