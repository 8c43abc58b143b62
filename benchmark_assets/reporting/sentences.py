"""Parts of sentences that follow from tables: names, counts, and where models stand among people.

Not here: which sentences a page has (report.findings, report.models, answer), what orders boards (headline).
"""

from collections.abc import Iterator, Sequence

import polars as pl

MOST = 6
"""Largest number of names in a sentence."""

STANDING = {
    "nearer": "closer to the other translators than every translator",
    "among": "within the range of the translators",
    "farther": "farther from the other translators than every translator",
}
"""What a verdict of `human_range` says. Both the model and the translator are scored against the same references."""


def listed(names: Sequence[str], most: int = MOST) -> str:
    """Names in words: a; a and b; a, b and c; if there are more than `most`, the rest is counted."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def counted(number: int, noun: str) -> str:
    """A number with a noun: 1 passage; 2 passages."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def among_people(verdicts: pl.DataFrame, by: str) -> Iterator[str]:
    """Which models are nearer than, among or farther than the translators: a sentence for each verdict that there is.

    `verdicts` has rows of `human_range` in one measure, whose name is `by`.
    """
    for verdict, phrase in STANDING.items():
        if models := verdicts.filter(verdict=verdict)["model"].sort().to_list():
            yield f"By {by}, {listed(models)} {'is' if len(models) == 1 else 'are'} {phrase}."
