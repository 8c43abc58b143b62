"""The question to one judge about one candidate, and the validation of replies.

Here: the protocol of the audit paper (section 3.4, appendix B): one candidate per call, a JSON object in reply. Not
here: choice of judges and order of references (panel), vocabulary (labels), retries (resources.provider.asking).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    CONFIDENCES,
    ERRORS,
    LABELS,
    MAJOR,
    NO_CATEGORY,
    SEVERITIES,
    TAXONOMIES,
    VALID,
    Judgement,
    read_judgement,
)
from benchmark_assets.corpus.description import AUDIT
from resources import prompts
from resources.errors import quoted
from resources.provider.asking import Template, fields
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, choice_of, object_of

PURPOSE = "judge"


def enumerations(taxonomy: str) -> Mapping[str, tuple[str, ...]]:
    """The words that fields of a reply may have, with the categories of a taxonomy."""
    categories = (*TAXONOMIES[taxonomy].problems, NO_CATEGORY)
    return {"label": LABELS, "error_category": categories, "severity": SEVERITIES, "confidence": CONFIDENCES}


FLAGS: Mapping[str, str] = {"is_major_error": MAJOR, "is_valid_variation": VALID}
"""Boolean fields of a reply, each with a label: the field is true if the judge gives this label, else false."""

WORDS = ("cause_summary", "evidence", "problem_phrase", "suggested_correction")
ANSWERS = {
    taxonomy: object_of(
        {name: choice_of(allowed) for name, allowed in enumerations(taxonomy).items()}
        | {name: {"type": "boolean"} for name in FLAGS}
        | dict.fromkeys(WORDS, TEXT)
    )
    for taxonomy in TAXONOMIES
}
"""JSON schema of a reply, by taxonomy. Source: audit paper, appendix B."""


class Scores(NamedTuple):
    """Embedding scores of a candidate: drift, and cosine similarity to the nearest reference."""

    drift: float
    similarity: float


class Remarks(NamedTuple):
    """A judge's remarks on its label; missing remarks are ''."""

    cause: str
    evidence: str
    problem_phrase: str
    correction: str


class Opinion(NamedTuple):
    """A judge's judgement of a candidate, and its remarks."""

    judgement: Judgement
    remarks: Remarks


def judging(judge: Model, languages: Mapping[str, str], taxonomy: str = AUDIT) -> Template[Opinion]:
    """The template of a judge's questions about a corpus with a taxonomy; `languages` maps variables of the prompt to
    names of languages."""
    name, problems = TAXONOMIES[taxonomy]
    read = fields(ANSWERS[taxonomy], partial(read_answer, categories=tuple(problems)))
    prompt, values = prompts.load(name), dict(languages)
    if "categories" in prompt.variables:
        values["categories"] = "\n".join(f"- {category}: {problem}" for category, problem in problems.items())
    return Template(judge, prompt, values, PURPOSE, ANSWERS[taxonomy], read)


def shown(source: str, references: Sequence[str], candidate: str, scores: Scores | None = None) -> dict[str, Any]:
    """The JSON that the judge sees: source, references in the given order, candidate, and scores if any.

    Passage, model and translators stay anonymous.
    """
    numbered = {f"Reference {number}": text for number, text in enumerate(references, start=1)}
    item = {"source": source, "references": numbered, "candidate": candidate}
    if scores:
        item["scores"] = {
            "distance from the centre of the references, whose own mean distance is 1": scores.drift,
            "similarity to the nearest reference, at most 1": scores.similarity,
        }
    return item


def read_answer(values: Mapping[str, Any], categories: Collection[str] = CATEGORIES) -> Opinion:
    """Read the fields of a reply, whose error category is one of `categories`.

    Label, severity and confidence are required. Errors require a category and another severity than none, which the
    prompt reserves for outputs without an error. The fields in `FLAGS` may be missing, but must not contradict the
    label. Remarks that are missing or not text become ''. Other fields are ignored.

    Raises
    ------
    ValueError
        If the fields are not a valid judgement; the message is the reason.
    """
    judgement = read_judgement(values, categories)
    if judgement.label in ERRORS and judgement.severity == SEVERITIES[0]:
        raise ValueError(f"severity {judgement.severity} contradicts label {judgement.label}")
    for name, label in FLAGS.items():
        flag = values.get(name)
        if flag is not None and flag is not (judgement.label == label):
            raise ValueError(f"{name} {quoted(flag)} contradicts label {judgement.label}")
    return Opinion(judgement, remarks(values))


def remarks(values: Mapping[str, Any]) -> Remarks:
    """The remarks in a reply; those that are missing or not text become ''."""
    texts = (values.get(name) for name in WORDS)
    return Remarks(*(storable(text.strip()) if isinstance(text, str) else "" for text in texts))
