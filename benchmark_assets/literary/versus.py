"""One judge, one aspect and two translations of a chunk: which is the better one (LiTERatE, Evaluation Process).

Here: what is asked, what counts as an answer. Not here: who is asked about which output and in which order (ensemble),
asking again (resources.provider.asking).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from resources import prompts
from resources.provider.asking import Template, fields
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


class Preference(NamedTuple):
    """What a judge says of a pair, and why in its words."""

    better: Better
    justification: str


def versus(judge: Model, languages: Mapping[str, str]) -> Template[Preference]:
    """How a judge compares a pair; the languages, of the source and of the translations, are names."""
    return Template(judge, prompts.load(PROMPT), languages, PROMPT, ANSWER, fields(ANSWER["required"], read_preference))


def shown(context: Mapping[str, Any], a: str, b: str, aspect: str) -> dict[str, Any]:
    """A pair as the judge sees it, which learns neither whose a text is nor which of them a person wrote.

    Parameters
    ----------
    context
        `previous` and `next` (the context in the source, '' where there is none), `source` between them, and
        `glossary` (objects of `term`, `translation` and, where it is known, `gender`).
    """
    return {**context, "translation_a": a, "translation_b": b, "aspect": aspect}


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
