"""Ask one judge which of two translations of a chunk is better in one aspect (LiTERatE, Evaluation Process).

Here: the question, and the reading of replies. Not here: the choice of judges, outputs and orders (ensemble), retries
(resources.provider.asking).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from resources.errors import quoted
from resources.provider.asking import Template, template_of
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, choice_of, object_of

PROMPT = "versus"

Better = Literal["A", "B", "unsure"]

ANSWER = object_of({"justification": TEXT, "better": choice_of(["A", "B", "unsure"])})
"""JSON schema of a reply."""


class Preference(NamedTuple):
    """A judge's preference between two translations, and the justification."""

    better: Better
    justification: str


def versus(judge: Model, languages: Mapping[str, str]) -> Template[Preference]:
    """The question template of a judge. `languages` maps variables of the prompt to the names of the source language
    and the target language."""
    return template_of(judge, PROMPT, languages, ANSWER, read_preference, spoken="better")


def shown(context: Mapping[str, Any], a: str, b: str, aspect: str) -> dict[str, Any]:
    """The content of a question: a pair of translations, with no indication of their translators.

    Parameters
    ----------
    context
        `source`, the chunk's source text; `previous` and `next`, the source text before and after the chunk, or ''; and
        `glossary`, a list of objects with `term`, `translation` and, if known, `gender`.
    a, b
        The translations shown as A and as B.
    aspect
        The aspect to judge.
    """
    return {**context, "translation_a": a, "translation_b": b, "aspect": aspect}


def read_preference(values: Mapping[str, Any]) -> Preference:
    """Read the fields of a reply; a justification that is missing or not text becomes ''.

    Raises
    ------
    ValueError
        If `better` is not A, B or unsure.
    """
    better, why = values.get("better"), values.get("justification")
    if better not in ("A", "B", "unsure"):
        raise ValueError(f"better {quoted(better)} is not A, B or unsure")
    return Preference(better, storable(why.strip()) if isinstance(why, str) else "")
