"""Disclosures about restricted texts in the output of commands."""

from collections.abc import Sequence


def holding(restricted: Sequence[str]) -> str:
    """Disclosure for files that contain these restricted texts, if any."""
    return (
        f"PRIVATE, DO NOT PASS ON; restricted texts in it: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """Disclosure for public files that leave these restricted texts out."""
    return f"public; restricted texts left out: {', '.join(restricted) or 'none'}"
