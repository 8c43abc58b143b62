"""The comparison of two translations by one judge.

Here: the question, the sides of the texts, valid replies, pairs that need no judge (JP-TL-Bench, section 4, appendix
B). Not here: the pairs of outputs and anchors (matches), retries (resources.provider.asking).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from benchmark_assets.pairwise.base_sets import JudgeRecord
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.digest import digest
from resources.errors import quoted
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.provider.replies import TEXT, choice_of, object_of

Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")

PROMPT = "compare"

ANSWER = object_of({"analysis": TEXT, "summary": TEXT, "answer": choice_of(SIDES)})
"""JSON schema of a reply."""


class Contenders(NamedTuple):
    """Everything that the judge sees: a source text and two translations."""

    source: str
    translation_a: str
    translation_b: str


def sides(orders: Literal["both", "one"], *key: str) -> tuple[Side, ...]:
    """The sides on which to show a text: A and B for both orders; for one order, a side drawn by a hash of `key`.

    The side is the same in every process.
    """
    return SIDES if orders == "both" else (SIDES[int(digest(*key), 16) % 2],)


def arranged(text: str, other: str, side: Side) -> tuple[str, str]:
    """The texts shown as A and as B, with `text` on `side`."""
    return (text, other) if side == "A" else (other, text)


def comparing(judge: Model, languages: tuple[str, str]) -> Template[Side]:
    """The question template of a judge. `languages` are the language tags of the source and of the translations."""
    return template_of(judge, PROMPT, language_names(*languages), ANSWER, read_answer, spoken="answer")


def judged_by(provider: Provider, judge: str) -> JudgeRecord:
    """The current record of a registered judge. `served` is the version in its latest probe or, without a probe, in its
    first reply."""
    model, prompt = provider.model(judge), prompts.load(PROMPT)
    first, probed = provider.ledger.served(model.place, model.settings.id)
    decoding = model.settings.model_dump(include={"id", "effort", "temperature", "top_p", "seed", "max_tokens"})
    return JudgeRecord(**decoding, served=probed or first, prompt=f"{prompt.name} {prompt.version} ({prompt.digest()})")


def settled(pair: Contenders) -> Verdict[Side] | None:
    """The verdict on a pair that needs no judge; None for other pairs. A blank text loses. If both are blank, the pair
    is excluded."""
    empty = not pair.translation_a.strip(), not pair.translation_b.strip()
    if all(empty):
        return Verdict(abstention="both texts are empty")
    if any(empty):
        return Verdict(value="B" if empty[0] else "A")
    return None


def read_answer(values: Mapping[str, Any]) -> Side:
    """The winner that a reply names. Fields other than `answer` are ignored.

    Raises
    ------
    ValueError
        If `answer` is neither 'A' nor 'B'.
    """
    answer = values.get("answer")
    if answer not in SIDES:
        raise ValueError(f"answer {quoted(answer)} is neither A nor B")
    return SIDES[SIDES.index(answer)]
