"""How often diagnoses find outputs that were damaged in known ways. Not here: outputs as they are, missing parts."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain

import polars as pl
import pytest

from tests.realdata.test_diagnostics import Texts, of_texts, outputs, palibench, passages
from tests.realdata.wordings import AFTERWORDS, PLACEHOLDERS, PREAMBLES, REFUSALS, THOUGHTS

__all__ = ["outputs", "palibench", "passages"]  # fixtures

pytestmark = pytest.mark.realdata

SENTENCE = re.compile(r"[.?!…][\"'”’)\]]*(?=\s)")


def cut(text: str) -> str | None:
    """The text up to the last end of a sentence within 80 % of its words; None if there is none."""
    limit = len(" ".join(text.split()[: int(0.8 * len(text.split()))]))
    ends = [match.end() for match in SENTENCE.finditer(text) if match.end() <= limit]
    return text[: ends[-1]] if ends else None


def misread(text: str, page: str) -> str | None:
    """The text as UTF-8 misread in another encoding; None if that changes nothing."""
    return None if text.isascii() else text.encode().decode(page, "replace")


def replaced(words: str, _: str) -> str:
    """Other words in place of the text."""
    return words


DAMAGE: dict[str, tuple[float, list[Callable[[str], str | None]]]] = {
    "preamble": (
        0.9, [*(partial("{}{}".format, words) for words in PREAMBLES), *(lambda t, w=w: t + w for w in AFTERWORDS)]
    ),
    "thinking": (0.9, [partial("{}{}".format, words) for words in THOUGHTS]),
    "markup": (0.95, [form.format for form in (
        '{{"translation": "{}"}}', "```\n{}\n```", "<p>{}</p>", "<translation>{}</translation>", "**{}**", "*{}*",
        "## Passage\n\n{}", "> {}", "- {}", "{}<br>", "{}<|im_end|>", "\\boxed{{{}}}",
    )]),
    "mojibake": (0.95, [
        *(partial(misread, page=page) for page in ("latin-1", "cp1252", "mac_roman", "cp437", "cp1251", "gbk")),
        lambda t: None if t.isascii() else json.dumps(t)[1:-1],
    ]),
    "repeated": (0.95, [form.format for form in ("{0}\n\n{0}", "{0} {0}", "{0}\n{0}\n{0}", "1. {0}\n2. {0}\n3. {0}")]),
    "truncated": (0.6, [cut]),
    "refused": (0.9, [partial(replaced, words) for words in (*chain(*REFUSALS.values()), *PLACEHOLDERS)]),
}  # fmt: skip
"""Least share that must be found, and ways to damage a text, by diagnosis. None: the text cannot be damaged so."""


@pytest.mark.proof
@pytest.mark.parametrize("diagnosis", DAMAGE)
def test_damage_is_found(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts], full: bool, diagnosis: str
) -> None:
    """Each way damages one output in 420, of the models in turn; the cut damages every output of all models."""
    pali, sujato = palibench
    least, ways = DAMAGE[diagnosis]
    step = 1 if len(ways) == 1 else 420 if full else 12
    damaged = pl.DataFrame([
        (f"{model} {place}", passage, new)
        for place, way in enumerate(ways) for turn, (model, texts) in enumerate(outputs.items())
        for passage, text in list(texts.items())[(20 * turn + place) % step :: step] if (new := way(text))
    ], schema=["model", "passage", "text"], orient="row").sort("passage")  # fmt: skip
    hits = int(of_texts(damaged, sujato.items(), pali)[diagnosis].sum())
    print(f"{diagnosis}: {hits} of {len(damaged)}")
    assert hits >= (least if full else least - 0.15) * len(damaged)
