"""The comparison of two translations by one judge.

Here: the question, the sides of the texts, valid replies, pairs that need no judge (JP-TL-Bench, section 4, appendix
B). Not here: the pairs of outputs and anchors (matches), retries (resources.provider.asking).
"""

import random
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from benchmark_assets.pairwise.base_sets import JudgeRecord
from benchmark_assets.studies.protocols import PublishedProtocol
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.digest import digest
from resources.errors import quoted
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.names import Unusable
from resources.provider.provider import Provider
from resources.provider.reading import Reading
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


def comparing(judge: Model, languages: tuple[str, str], protocol: PublishedProtocol | None = None) -> Template[Side]:
    """The question template of a judge. `languages` are the language tags of the source and of the translations. With a
    protocol, the judge is asked, and its reply read, as in JP-TL-Bench."""
    if protocol:
        asked, tries = protocol.applied(judge), protocol.tries
        return Template(asked, protocol.prompt, {}, PROMPT, None, _letter, tries=tries, fill=_formatted)
    return template_of(judge, PROMPT, language_names(*languages), ANSWER, read_answer, spoken="answer")


def _letter(reading: Reading) -> tuple[Side, str]:
    """The letter that a reply names, as JP-TL-Bench reads it (choix_analyzer.py): in the first tag, within one line,
    where only letters count. Other replies are not asked about again."""
    found = re.search("<answer>(.*?)</answer>", reading.text)
    letters = "".join(filter(str.isalpha, found[1])).upper() if found else ""
    if letters not in SIDES:
        raise Unusable("no letter in <answer>")
    return SIDES[SIDES.index(letters)], "strict"


def _formatted(item: Mapping[str, str]) -> Mapping[str, str]:
    """A pair as JP-TL-Bench shows it. `first` is the letter of the text that comes first: an exchange of sides changes
    the headings, and not the order of the texts."""
    first = item.get("first", "A")
    texts = [(letter, item[f"translation_{letter.lower()}"]) for letter in SIDES]
    shown = "".join(
        f"## Translation {letter}\n{text}\n\n" for letter, text in sorted(texts, key=lambda t: t[0] != first)
    )
    return {
        "formatted_data": f"## Name: {item.get('name', 'Unnamed')}\n\n## Source Text:\n{item['source']}\n\n{shown}---\n"
    }


def drawn_sides(anchors: Iterable[str], passages: Iterable[str]) -> Mapping[tuple[str, str], Side]:
    """The side of a model's text in its comparisons with a published base set, by anchor and passage.

    JP-TL-Bench draws sides in the order of its files and items, with the seed 42. It lists the files of anchors in the
    order of the file system, which differs between machines; here, they are sorted.
    """
    chance, items = random.Random(42), sorted(passages)
    files = sorted(anchors, key=lambda anchor: f"{anchor.replace('/', '__')}.jsonl")
    return {(anchor, item): SIDES[chance.random() < 0.5] for anchor in files for item in items}


def judged_by(provider: Provider, judge: str, protocol: PublishedProtocol | None = None) -> JudgeRecord:
    """The current record of a registered judge. `served` is the version in its latest probe or, without a probe, in its
    first reply."""
    model, prompt = provider.model(judge), protocol.prompt if protocol else prompts.load(PROMPT)
    model = protocol.applied(model) if protocol else model
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
