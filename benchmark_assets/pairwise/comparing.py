"""One judge and two translations: which is the better one.

Here: what is asked, what counts as an answer, which texts need no judge (JP-TL-Bench, section 4, appendix B). Not here:
which outputs are compared with which anchors, and in which order (matches), asking again (resources.provider.asking).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from benchmark_assets.pairwise.base_sets import Judged
from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.provider import ledger
from resources.provider.asking import Ask, Task, insist
from resources.provider.provider import Provider
from resources.provider.registry import Model

Side = Literal["A", "B"]

PROMPT = "compare"

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "analysis": {"type": "string"}, "summary": {"type": "string"}, "answer": {"type": "string", "enum": ["A", "B"]},
    },
    "required": ["analysis", "summary", "answer"],
    "additionalProperties": False,
}  # fmt: skip
"""JSON schema of an answer."""


class Pair(NamedTuple):
    """A source and two translations of it, in the order in which the judge sees them."""

    source: str
    a: str
    b: str


class Outcome(NamedTuple):
    """What came of one pair: the winner, the reason why it has none, or the error in place of either.

    `asked` is how many questions there were, `call` the last of them in the ledger; None where there was none.
    """

    asked: int
    call: str | None = None
    winner: Side | None = None
    excluded: str | None = None
    error: str | None = None


def comparing(judge: Model, languages: tuple[str, str]) -> Task:
    """The task of comparing translations; the languages, of the source and of the translations, are tags."""
    source, target = map(language_name, languages)
    return Task(judge, prompts.load(PROMPT), source, target, "compare", ANSWER)


def judged_by(provider: Provider, judge: str) -> Judged:
    """What determines the verdicts of a judge of the registry now, wherever it answers; the version is that of its
    last probe, else of its first reply."""
    model, prompt = provider.model(judge), prompts.load(PROMPT)
    first, probed = ledger.served(provider.ledger, model.place, model.settings.id)
    own = model.settings.model_dump(include={"id", "effort", "temperature", "top_p", "seed", "max_tokens"})
    return Judged(**own, served=probed or first, prompt=f"{prompt.name} {prompt.version} ({prompt.digest()})")


def shown(pair: Pair) -> dict[str, str]:
    """A pair as the judge sees it, which learns nothing else of it."""
    return {"source": pair.source, "translation_a": pair.a, "translation_b": pair.b}


def settled(pair: Pair) -> Outcome | None:
    """What comes of a pair that needs no judge: a text of nothing but white space loses, two of them are excluded."""
    empty = not pair.a.strip(), not pair.b.strip()
    if all(empty):
        return Outcome(0, excluded="both texts are empty")
    if any(empty):
        return Outcome(0, winner="B" if empty[0] else "A")
    return None


def read_answer(values: Mapping[str, Any]) -> Side:
    """The winner that a reply names.

    Raises
    ------
    ValueError
        In words, where the answer is anything but the letter A or B. What else the reply says does not matter.
    """
    match values.get("answer"):
        case "A":
            return "A"
        case "B":
            return "B"
        case other:
            raise ValueError(f"answer {other!r} is neither A nor B")


async def compare(ask: Ask, task: Task, pair: Pair) -> Outcome:
    """Have one judge compare two translations, or do without it where one of them is empty.

    A refusal, by the judge or by a filter, excludes the pair at once; answers that are none do so after having been
    asked for again (see resources.provider.asking.insist). A call that fails is an error: asked later, the judge may
    well answer.
    """
    if outcome := settled(pair):
        return outcome
    told = await insist(ask, task, shown(pair), read_answer)
    return Outcome(told.asked, told.call, told.value, told.abstention, told.error)
