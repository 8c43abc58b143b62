"""Ask one judge which of two translations of a chunk is better in one aspect (LiTERatE, Evaluation Process).

Here: the question, and reading of replies. Not here: which judge compares which output, and in which order (ensemble);
retries (resources.provider.asking).
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
    """A judge's preference in a pair, and its justification."""

    better: Better
    justification: str


def versus(judge: Model, languages: Mapping[str, str]) -> Template[Preference]:
    """The template of a judge's questions; `languages` are the names of the source's and the translations' language."""
    return Template(judge, prompts.load(PROMPT), languages, PROMPT, ANSWER, fields(ANSWER["required"], read_preference))


def shown(context: Mapping[str, Any], a: str, b: str, aspect: str) -> dict[str, Any]:
    """A pair as the judge sees it: without the names of the translators, or which of the two is human.

    Parameters
    ----------
    context
        `previous` and `next` (context in the source, '' if there is none), `source` between them, and `glossary`
        (objects of `term`, `translation` and, if known, `gender`).
    """
    return {**context, "translation_a": a, "translation_b": b, "aspect": aspect}


def read_preference(values: Mapping[str, Any]) -> Preference:
    """Read the fields of a reply; a justification that is missing or not a text becomes ''.

    Raises
    ------
    ValueError
        If `better` is not A, B or unsure; the message states it.
    """
    better, why = values.get("better"), values.get("justification")
    if better not in ("A", "B", "unsure"):
        raise ValueError(f"better {better!r} is none of A, B and unsure")
    return Preference(better, storable(why.strip()) if isinstance(why, str) else "")
