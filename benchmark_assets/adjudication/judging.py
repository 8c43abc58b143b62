"""One judge and one candidate: what is asked, what counts as an answer.

Here: the protocol of the audit (section 3.4, appendix B): one candidate a call, a JSON object back. Not here: who
judges and in which order references are shown (panel), the words of a judgement (labels), asking again
(resources.provider.asking).
"""

from collections.abc import Mapping
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
from resources.prompts import Prompt
from resources.provider.asking import Ask, Task, insist
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


class Case(NamedTuple):
    """What a judge is shown: the references in this order, and the scores where there are any."""

    source: str
    references: tuple[str, ...]
    candidate: str
    scores: Scores | None = None


class Words(NamedTuple):
    """What a judge adds to its label; '' where it says nothing."""

    cause: str
    evidence: str
    problem_phrase: str
    correction: str


class Vote(NamedTuple):
    """What came of one case: a judgement with its words, the reason of an abstention, or the error in place of either.

    `call` is the last question in the ledger, `asked` how many there were, `parsing` how the judgement was got out of
    the reply: 'strict', 'repaired' or 'prefix'.
    """

    call: str
    asked: int
    judgement: Judgement | None = None
    words: Words | None = None
    parsing: str | None = None
    abstention: str | None = None
    error: str | None = None


def judging(judge: Model, prompt: Prompt, source_language: str, target_language: str) -> Task:
    """What all questions to a judge have in common; the languages are names."""
    return Task(judge, prompt, source_language, target_language, PURPOSE, ANSWER)


def shown(case: Case) -> dict[str, Any]:
    """A case as the judge sees it. It names neither passage nor model nor translator."""
    references = {f"Reference {number}": text for number, text in enumerate(case.references, start=1)}
    item = {"source": case.source, "references": references, "candidate": case.candidate}
    if case.scores:
        item["scores"] = {
            "distance from the centre of the references, whose own mean distance is 1": case.scores.drift,
            "similarity to the nearest reference, at most 1": case.scores.similarity,
        }
    return item


def read_answer(values: Mapping[str, Any]) -> tuple[Judgement, Words]:
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
    return judgement, Words(*(storable(text.strip()) if isinstance(text, str) else "" for text in texts))


async def judge(ask: Ask, task: Task, case: Case) -> Vote:
    """Have one judge judge one candidate, or abstain: see resources.provider.asking.insist."""
    told = await insist(ask, task, shown(case), read_answer)
    judgement, words = told.value or (None, None)
    return Vote(told.call, told.asked, judgement, words, told.parsing, told.abstention, told.error)
