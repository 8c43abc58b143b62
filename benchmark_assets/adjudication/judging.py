"""One judge and one candidate: what is asked, what counts as an answer.

Here: the protocol of the audit (section 3.4, appendix B): one candidate a call, a JSON object back. Not here: who
judges and in which order references are shown (panel), the words of a judgement (labels), asking again
(resources.provider.asking).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    CONFIDENCES,
    LABELS,
    MAJOR,
    NO_CATEGORY,
    SEVERITIES,
    VALID,
    Judgement,
    read_judgement,
)
from resources import prompts
from resources.provider.asking import Template, fields
from resources.provider.reading import storable
from resources.provider.registry import Model

PURPOSE = "judge"

ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "label": LABELS, "error_category": (*CATEGORIES, NO_CATEGORY), "severity": SEVERITIES, "confidence": CONFIDENCES,
}  # fmt: skip
FLAGS: Mapping[str, str] = {"is_major_error": MAJOR, "is_valid_variation": VALID}
"""What says again whether the label is this one."""

WORDS = ("cause_summary", "evidence", "problem_phrase", "suggested_correction")
FIELDS = (*ENUMERATIONS, *FLAGS, *WORDS)
ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string", "enum": list(allowed)} for name, allowed in ENUMERATIONS.items()},
        **{name: {"type": "boolean"} for name in FLAGS},
        **{name: {"type": "string"} for name in WORDS},
    },
    "required": list(FIELDS),
    "additionalProperties": False,
}
"""JSON schema of an answer. Source: audit, appendix B."""


class Scores(NamedTuple):
    """What embeddings say of a candidate: normalized drift, and similarity to the nearest reference."""

    drift: float
    similarity: float


class Remarks(NamedTuple):
    """What a judge adds to its label; '' where it says nothing."""

    cause: str
    evidence: str
    problem_phrase: str
    correction: str


class Opinion(NamedTuple):
    """What a judge says of a candidate."""

    judgement: Judgement
    remarks: Remarks


def judging(judge: Model, languages: Mapping[str, str]) -> Template[Opinion]:
    """How a judge is asked; the languages are names, as the prompt has them."""
    return Template(judge, prompts.load("judge"), languages, PURPOSE, ANSWER, fields(FIELDS, read_answer))


def shown(source: str, references: Sequence[str], candidate: str, scores: Scores | None = None) -> dict[str, Any]:
    """A candidate as the judge sees it, beside references in this order. Neither passage, model nor translator has a
    name."""
    numbered = {f"Reference {number}": text for number, text in enumerate(references, start=1)}
    item = {"source": source, "references": numbered, "candidate": candidate}
    if scores:
        item["scores"] = {
            "distance from the centre of the references, whose own mean distance is 1": scores.drift,
            "similarity to the nearest reference, at most 1": scores.similarity,
        }
    return item


def read_answer(values: Mapping[str, Any]) -> Opinion:
    """Read the fields that a reply holds.

    Needed are label, severity and confidence, and the category of an error. What only repeats the label may be missing;
    where it is there it is true or false and agrees, for of a reply that contradicts itself nobody knows which half was
    meant. Words that are missing or no text are ''. Fields that nobody asked for do not matter.

    Raises
    ------
    ValueError
        In words, where these are not a judgement.
    """
    judgement = read_judgement(values, confidence_needed=True)
    for name, label in FLAGS.items():
        said = values.get(name)
        if said is not None and said is not (judgement.label == label):
            raise ValueError(f"{name} {said!r} does not go with label {judgement.label}")
    texts = (values.get(name) for name in WORDS)
    return Opinion(judgement, Remarks(*(storable(text.strip()) if isinstance(text, str) else "" for text in texts)))
