"""The vocabulary of adjudication (labels, error categories, severities), and the validation of a judgement.

Here: the labels, and the taxonomies of error categories; a corpus uses one. Source of labels and of the
taxonomy `audit`: the audit paper, tables 4 and 5, appendices B and D; of `mqm`: the dimensions of MQM-core. Not here:
asking for judgements (judging), what people fill in (people.forms), combining them (verdicts).
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from benchmark_assets.corpus.description import AUDIT, MQM
from benchmark_assets.corpus.registry import taxonomies
from resources.errors import quoted
from resources.warehouse import Warehouse

VALID, MINOR, MAJOR = "VALID_VARIATION", "MINOR_ERROR", "MAJOR_ERROR"
REFERENCE, UNSURE = "REFERENCE_OR_ALIGNMENT_PROBLEM", "UNSURE_CONTEXT_NEEDED"
UNCERTAIN = "UNCERTAIN"
"""The verdict if no label has a majority. Raters cannot give this label."""

ERRORS = (MINOR, MAJOR)
SUBSTANTIVE = (VALID, MINOR, MAJOR)
LABELS = (*SUBSTANTIVE, REFERENCE, UNSURE)
NO_CATEGORY = "NONE"


class Taxonomy(NamedTuple):
    """Error categories with the problems that they stand for, and the prompt that asks a judge for one of them."""

    prompt: str
    problems: Mapping[str, str]


TAXONOMIES = {
    AUDIT: Taxonomy("judge", {
        "OMISSION_OR_TRUNCATION": "part of the source is missing, or the candidate breaks off",
        "ADDITION_OR_HALLUCINATION": "the candidate adds something that is not in the source",
        "NEGATION_OR_POLARITY_ERROR": "the candidate affirms what the source denies, or the reverse",
        "AGENT_OR_ROLE_ERROR": "the wrong person acts, speaks, or is acted upon",
        "DOCTRINAL_TERM_ERROR": "a doctrinal term is given another meaning",
        "LIST_OR_NUMBER_ERROR": "a number is wrong, or a member or the order of a list",
        "UNRESOLVED_SOURCE_ELLIPSIS": "an abbreviation of the source is left unexpanded or expanded wrongly, so that "
        "the sense is lost",
        "WRONG_RELATION_OR_LOGIC": "cause, condition, purpose, comparison or time is wrong",
        "OVERLY_FREE_PARAPHRASE": "the candidate departs from the wording farther than the sense allows",
        "GRAMMAR_OR_FLUENCY_PROBLEM": "the sense is right, the language is not",
        "OTHER": "anything else: explain it in `notes`",
    }),
    MQM: Taxonomy("judge_mqm", {
        "OMISSION_OR_TRUNCATION": "accuracy: part of the source is missing, or the candidate breaks off",
        "ADDITION_OR_HALLUCINATION": "accuracy: the candidate adds something that is not in the source",
        "NEGATION_OR_POLARITY_ERROR": "accuracy: the candidate affirms what the source denies, or the reverse",
        "AGENT_OR_ROLE_ERROR": "accuracy: the wrong person acts, speaks, or is acted upon",
        "LIST_OR_NUMBER_ERROR": "accuracy: a number is wrong, or a member or the order of a list",
        "WRONG_RELATION_OR_LOGIC": "accuracy: cause, condition, purpose, comparison or time is wrong",
        "MISTRANSLATION": "accuracy: a word or sentence is given another meaning in any other way",
        "UNTRANSLATED": "accuracy: words of the source are carried over, though they should be translated",
        "TERMINOLOGY_ERROR": "terminology: a term of the work or its field, such as an office, a measure or a concept, "
        "is rendered by the wrong term, or by changing ones",
        "GRAMMAR_OR_FLUENCY_PROBLEM": "linguistic conventions: the sense is right, but grammar, spelling or "
        "punctuation is not",
        "OVERLY_FREE_PARAPHRASE": "style: the candidate departs from the wording farther than the sense allows",
        "STYLE_PROBLEM": "style: sense and grammar are right, but the wording is awkward or does not suit the text",
        "LOCALE_PROBLEM": "locale conventions: a name, date, number or measure is not written as readers of the "
        "candidate's language expect",
        "OTHER": "anything else",
    }),
}  # fmt: skip
"""The taxonomies that a description may name: that of the audit paper, for Pali suttas; and MQM's dimensions, with
accuracy divided into the kinds that the audit counts."""

CATEGORIES = tuple(dict.fromkeys(name for each in TAXONOMIES.values() for name in each.problems))
"""Error categories of all taxonomies. Their order, first that of the paper's table 5, breaks ties."""


def categories_of(warehouse: Warehouse) -> dict[str, tuple[str, ...]]:
    """The error categories of each corpus."""
    return {corpus: tuple(TAXONOMIES[name].problems) for corpus, name in taxonomies(warehouse).items()}


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


def read_judgement(fields: Mapping[str, object], categories: Collection[str] = CATEGORIES) -> Judgement:
    """Validate a judgement. In names, case is ignored, and blanks, hyphens and underscores are equivalent.

    Parameters
    ----------
    fields
        `label`, `error_category`, `severity` and `confidence`. An error requires a category; with any other label the
        category must be `NONE`, empty or missing.
    categories
        The categories that an error may have.

    Raises
    ------
    ValueError
        If a value is not in the vocabulary, if an error has no category, or if another label has a category. The
        message names the field.
    """
    label = term("label", fields.get("label"), LABELS)
    category = term("error_category", _text(fields.get("error_category")) or NO_CATEGORY, (*categories, NO_CATEGORY))
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
