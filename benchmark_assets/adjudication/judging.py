"""One judge and one candidate: what is asked, what counts as an answer, what is asked again.

Here: the protocol of the audit (section 3.4, appendix B): one candidate a call, a JSON object back. Not here: who
judges and in which order references are shown (panel), the words of a judgement (labels), retries of a call
(resources.provider.client), the form of a reply (structured).
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
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
from resources.errors import BadInput
from resources.prompts import Prompt
from resources.provider.client import CallFailed, Reply
from resources.provider.question import Question
from resources.provider.reading import Outcome, storable
from resources.provider.registry import Model
from resources.provider.structured import parse

PURPOSE = "judge"

TRIES = 6
"""How often a judge is asked about one candidate: once, and up to five times again (audit, section 3.4)."""

TRIES_OF_LENGTH = 2
"""How many of these may reach the limit of tokens: such replies cost the most, and rarely end otherwise."""

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


@dataclass(frozen=True)
class Task:
    """What all questions to a judge have in common; the languages are names."""

    model: Model
    prompt: Prompt
    source_language: str
    target_language: str

    @property
    def determinants(self) -> tuple[object, ...]:
        """What determines a vote besides the case."""
        languages = {"source_language": self.source_language, "target_language": self.target_language}
        return self.prompt.digest(**languages), *self.model.determinants

    def question(self, case: Case, replicate: int = 0) -> Question:
        """The request for one case. It names neither passage nor model nor translator."""
        references = {f"Reference {number}": text for number, text in enumerate(case.references, start=1)}
        item = {"source": case.source, "references": references, "candidate": case.candidate}
        if case.scores:
            item["scores"] = {
                "distance from the centre of the references, whose own mean distance is 1": case.scores.drift,
                "similarity to the nearest reference, at most 1": case.scores.similarity,
            }
        messages = self.prompt.render(
            source_language=self.source_language, target_language=self.target_language,
            item=json.dumps(item, ensure_ascii=False, indent=1),
        )  # fmt: skip
        return Question(self.model, tuple(messages), PURPOSE, ANSWER, replicate)


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


async def judge(ask: Callable[[Question], Awaitable[Reply]], task: Task, case: Case) -> Vote:
    """Have one judge judge one candidate.

    An answer that is none is asked for again, five times at most; then the judge abstains. A reply that was cut off
    counts if its judgement was complete before the cut; after two that reached the limit of tokens without one, the
    judge abstains. A refusal, by the judge or by a filter, is an abstention at once: it is a paid reply that would come
    again. A repaired reply has to have all fields and no other (see resources.provider.structured).

    A call that fails is an error of the case, no abstention: asked later, the judge may well answer.
    """
    problem, call, lengths = "", "", 0
    for replicate in range(TRIES):
        question = task.question(case, replicate)
        try:
            reply = await ask(question)
        except (CallFailed, BadInput) as failure:
            return Vote(question.key, replicate + 1, error=str(failure))
        call, answer = reply.key, parse(reply.reading, FIELDS)
        try:
            judgement, words = read_answer(answer.values)
            return Vote(call, replicate + 1, judgement, words, answer.how)
        except ValueError as fault:
            problem = str(fault) if answer.values and answer.how != "prefix" else answer.problem
        lengths += reply.reading.outcome is Outcome.LENGTH
        if reply.reading.outcome is Outcome.REFUSED or lengths == TRIES_OF_LENGTH:
            break
    return Vote(call, replicate + 1, abstention=problem)
