"""The vocabulary of adjudication (labels, error categories, severities), and the validation of a judgement.

Source of the vocabulary: the audit paper, tables 4 and 5, appendices B and D. Not here: asking for judgements
(judging), what people fill in (people.forms), combining them (verdicts).
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from resources.errors import quoted

VALID, MINOR, MAJOR = "VALID_VARIATION", "MINOR_ERROR", "MAJOR_ERROR"
REFERENCE, UNSURE = "REFERENCE_OR_ALIGNMENT_PROBLEM", "UNSURE_CONTEXT_NEEDED"
UNCERTAIN = "UNCERTAIN"
"""The verdict if no label has a majority. Raters cannot give this label."""

ERRORS = (MINOR, MAJOR)
SUBSTANTIVE = (VALID, MINOR, MAJOR)
LABELS = (*SUBSTANTIVE, REFERENCE, UNSURE)
NO_CATEGORY = "NONE"
CATEGORIES = (
    "OMISSION_OR_TRUNCATION", "ADDITION_OR_HALLUCINATION", "NEGATION_OR_POLARITY_ERROR", "AGENT_OR_ROLE_ERROR",
    "DOCTRINAL_TERM_ERROR", "LIST_OR_NUMBER_ERROR", "UNRESOLVED_SOURCE_ELLIPSIS", "WRONG_RELATION_OR_LOGIC",
    "OVERLY_FREE_PARAPHRASE", "GRAMMAR_OR_FLUENCY_PROBLEM", "OTHER",
)  # fmt: skip
"""Error categories. Their order, as in the paper's table 5, breaks ties."""

WORDS = {name: name.replace("_", " ").lower() for name in (*LABELS, UNCERTAIN, *CATEGORIES, NO_CATEGORY)}
"""Labels and categories as pages show them."""

SEVERITIES = ("none", "low", "medium", "high")
CONFIDENCES = ("low", "medium", "high")


class Judgement(NamedTuple):
    """A judge's judgement of one candidate."""

    label: str
    error_category: str
    severity: str
    confidence: str


def read_judgement(fields: Mapping[str, object]) -> Judgement:
    """Validate a judgement. In names, case is ignored, and blanks, hyphens and underscores are equivalent.

    Parameters
    ----------
    fields
        `label`, `error_category`, `severity` and `confidence`. An error requires a category; with any other label the
        category must be `NONE`, empty or missing.

    Raises
    ------
    ValueError
        If a value is not in the vocabulary, if an error has no category, or if another label has a category. The
        message names the field.
    """
    label = term("label", fields.get("label"), LABELS)
    category = term("error_category", _text(fields.get("error_category")) or NO_CATEGORY, (*CATEGORIES, NO_CATEGORY))
    if (label in ERRORS) == (category == NO_CATEGORY):
        raise ValueError(f"error_category {category} is not allowed with label {label}")
    severity = term("severity", fields.get("severity"), SEVERITIES)
    return Judgement(label, category, severity, term("confidence", fields.get("confidence"), CONFIDENCES))


def term(name: str, value: object, allowed: Collection[str]) -> str:
    """The allowed word that a value is, if case is ignored, and blanks, hyphens and underscores are equivalent.

    Raises ValueError, with the `name` of the field, if there is none.
    """
    text = _text(value)
    by_folded = {word.casefold(): word for word in allowed}
    folded = "_".join(text.casefold().replace("-", " ").replace("_", " ").split())
    if folded not in by_folded:
        raise ValueError(f"{name} {quoted(text)} is not one of {', '.join(allowed)}")
    return by_folded[folded]


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
