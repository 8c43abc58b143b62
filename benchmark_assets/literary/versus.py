"""One judge, one aspect and two translations of a chunk: which is the better one (LiTERatE, Evaluation Process).

Here: what is asked, what counts as an answer. Not here: who is asked about which output and in which order (ensemble),
asking again (resources.provider.asking).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.provider.asking import Ask, Task, Told, insist
from resources.provider.reading import storable
from resources.provider.registry import Model

PROMPT = "versus"

Better = Literal["A", "B", "unsure"]

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "justification": {"type": "string"},
        "better": {"type": "string", "enum": ["A", "B", "unsure"]},
    },
    "required": ["justification", "better"],
    "additionalProperties": False,
}
"""JSON schema of an answer."""


class Pair(NamedTuple):
    """Two translations of a chunk, in the order in which the judge sees them, and what it needs to understand them.

    `previous` and `following` are the context in the source, '' where there is none; `glossary` has objects of `term`,
    `translation` and, where it is known, `gender`.
    """

    source: str
    previous: str
    following: str
    glossary: tuple[Mapping[str, str], ...]
    a: str
    b: str


class Preference(NamedTuple):
    """What a judge says of a pair, and why in its words."""

    better: Better
    justification: str


def versus(judge: Model, languages: tuple[str, str]) -> Task:
    """The task of comparing a pair; the languages, of the source and of the translations, are tags."""
    source, target = map(language_name, languages)
    return Task(judge, prompts.load(PROMPT), source, target, PROMPT, ANSWER)


def shown(pair: Pair, aspect: str) -> dict[str, Any]:
    """A pair as the judge sees it, which learns neither whose a text is nor which of them a person wrote."""
    return {
        "previous": pair.previous, "source": pair.source, "next": pair.following, "glossary": list(pair.glossary),
        "translation_a": pair.a, "translation_b": pair.b, "aspect": aspect,
    }  # fmt: skip


def read_preference(values: Mapping[str, Any]) -> Preference:
    """Read the fields that a reply holds; a justification that is missing or no text is ''.

    Raises
    ------
    ValueError
        In words, where `better` is none of A, B and unsure.
    """
    better, why = values.get("better"), values.get("justification")
    if better not in ("A", "B", "unsure"):
        raise ValueError(f"better {better!r} is none of A, B and unsure")
    return Preference(better, storable(why.strip()) if isinstance(why, str) else "")


async def prefer(ask: Ask, task: Task, pair: Pair, aspect: str) -> Told[Preference]:
    """Have one judge compare a pair in one respect, or abstain: see resources.provider.asking.insist."""
    return await insist(ask, task, shown(pair, aspect), read_preference)
