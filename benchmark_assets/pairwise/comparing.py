"""One judge compares two translations.

Here: the question, valid replies, texts that need no judge (JP-TL-Bench, section 4, appendix B). Not here: the pairs of
outputs and anchors, and their order (matches), retries (resources.provider.asking).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from benchmark_assets.pairwise.base_sets import JudgeRecord
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.provider import ledger
from resources.provider.asking import Template, Verdict, fields
from resources.provider.provider import Provider
from resources.provider.registry import Model

Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")

PROMPT = "compare"

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "analysis": {"type": "string"}, "summary": {"type": "string"}, "answer": {"type": "string", "enum": ["A", "B"]},
    },
    "required": ["analysis", "summary", "answer"],
    "additionalProperties": False,
}  # fmt: skip
"""JSON schema of a reply."""


class Contenders(NamedTuple):
    """A source and two translations: all that the judge sees."""

    source: str
    translation_a: str
    translation_b: str


def comparing(judge: Model, languages: tuple[str, str]) -> Template[Side]:
    """Template of a judge's comparisons; `languages` are the tags of the source and of the translations."""
    read = fields(ANSWER["required"], read_answer)
    return Template(judge, prompts.load(PROMPT), language_names(*languages), PROMPT, ANSWER, read)


def judged_by(provider: Provider, judge: str) -> JudgeRecord:
    """What determines the verdicts of a registered judge now, at any endpoint. The version comes from its last probe,
    else from its first reply."""
    model, prompt = provider.model(judge), prompts.load(PROMPT)
    first, probed = ledger.served(provider.ledger, model.place, model.settings.id)
    decoding = model.settings.model_dump(include={"id", "effort", "temperature", "top_p", "seed", "max_tokens"})
    return JudgeRecord(**decoding, served=probed or first, prompt=f"{prompt.name} {prompt.version} ({prompt.digest()})")


def settled(pair: Contenders) -> Verdict[Side] | None:
    """The verdict on a pair that needs no judge: a text of white space only loses; two such texts are excluded."""
    empty = not pair.translation_a.strip(), not pair.translation_b.strip()
    if all(empty):
        return Verdict(abstention="both texts are empty")
    if any(empty):
        return Verdict(value="B" if empty[0] else "A")
    return None


def read_answer(values: Mapping[str, Any]) -> Side:
    """The winner that a reply names.

    Raises
    ------
    ValueError
        If the answer is anything but the letter A or B. Other fields of the reply are ignored.
    """
    match values.get("answer"):
        case "A":
            return "A"
        case "B":
            return "B"
        case other:
            raise ValueError(f"answer {other!r} is neither A nor B")
