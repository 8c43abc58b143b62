"""The vocabulary of adjudication: labels, error categories, severities, and when a judgement is valid.

Here: the vocabulary of the audit paper (tables 4 and 5, appendices B and D), and a reader of one judgement, by a judge
or a person. Not here: asking for judgements (judging, annotation), combining several (verdicts).
"""

from collections.abc import Mapping
from typing import NamedTuple

VALID, MINOR, MAJOR = "VALID_VARIATION", "MINOR_ERROR", "MAJOR_ERROR"
REFERENCE, UNSURE = "REFERENCE_OR_ALIGNMENT_PROBLEM", "UNSURE_CONTEXT_NEEDED"
UNCERTAIN = "UNCERTAIN"
"""The verdict of a panel without a majority; no rater gives this label."""

ERRORS = (MINOR, MAJOR)
SUBSTANTIVE = (VALID, MINOR, MAJOR)
LABELS = (*SUBSTANTIVE, REFERENCE, UNSURE)
NO_CATEGORY = "NONE"
CATEGORIES = (
    "OMISSION_OR_TRUNCATION", "ADDITION_OR_HALLUCINATION", "NEGATION_OR_POLARITY_ERROR", "AGENT_OR_ROLE_ERROR",
    "DOCTRINAL_TERM_ERROR", "LIST_OR_NUMBER_ERROR", "UNRESOLVED_SOURCE_ELLIPSIS", "WRONG_RELATION_OR_LOGIC",
    "OVERLY_FREE_PARAPHRASE", "GRAMMAR_OR_FLUENCY_PROBLEM", "OTHER",
)  # fmt: skip
"""In the order of the paper's table 5, which breaks ties."""

SEVERITIES = ("none", "low", "medium", "high")
CONFIDENCES = ("low", "medium", "high")


class Judgement(NamedTuple):
    """A judge's or a person's judgement of one candidate; `confidence` is None if a person gave none."""

    label: str
    error_category: str
    severity: str
    confidence: str | None


def read_judgement(fields: Mapping[str, object], confidence_needed: bool) -> Judgement:
    """Read a judgement; case, surrounding blanks, and blanks or hyphens within a name do not matter.

    Parameters
    ----------
    fields
        `label`, `error_category`, `severity` and `confidence`. An error needs a category. For all other labels the
        category is `NONE`, empty or missing.

    Raises
    ------
    ValueError
        Naming the field at fault: a name that is not allowed, an error without a category, a category without an error.
    """
    label = _named(fields, "label", LABELS)
    given = _text(fields, "error_category").upper() or NO_CATEGORY
    category = _named({"error_category": given}, "error_category", (*CATEGORIES, NO_CATEGORY))
    if (label in ERRORS) == (category == NO_CATEGORY):
        raise ValueError(f"error_category {category} does not go with label {label}")
    severity = _named(fields, "severity", SEVERITIES)
    if not confidence_needed and not _text(fields, "confidence"):
        return Judgement(label, category, severity, None)
    return Judgement(label, category, severity, _named(fields, "confidence", CONFIDENCES))


def _named(fields: Mapping[str, object], name: str, allowed: tuple[str, ...]) -> str:
    given = _text(fields, name)
    by_fold = {word.casefold(): word for word in allowed}
    folded = "_".join(given.casefold().replace("-", " ").replace("_", " ").split())
    if folded not in by_fold:
        raise ValueError(f"{name} {given!r} is none of {', '.join(allowed)}")
    return by_fold[folded]


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""
