"""What commands say of the texts in what they have written."""

from collections.abc import Sequence


def holding(restricted: Sequence[str]) -> str:
    """Of files that hold these restricted texts, maybe none."""
    return (
        f"PRIVATE, DO NOT PASS ON; restricted texts in it: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """Of files that these texts were kept out of."""
    return f"public; restricted texts left out: {', '.join(restricted) or 'none'}"
