"""The question to a judge by a published protocol, and its reader.

Here: the form of From Outliers to Errors (section 3.4, appendix B), whose text a user pastes. Not here: which protocol
applies (panel), the project's own question (judging), the vocabulary, which is the same (labels).
"""

import json
from collections.abc import Mapping

from benchmark_assets.adjudication.judging import PURPOSE, Opinion, Scores, enumerations, remarks
from benchmark_assets.adjudication.labels import read_judgement
from benchmark_assets.corpus.description import AUDIT
from benchmark_assets.studies.protocols import PublishedProtocol
from resources.errors import quoted
from resources.provider.asking import Template
from resources.provider.names import Unusable
from resources.provider.question import ANY_OBJECT
from resources.provider.reading import Reading
from resources.provider.registry import Model


def published_judging(judge: Model, protocol: PublishedProtocol) -> Template[Opinion]:
    """The template of a judge's questions; an item is what `named` returns."""
    model, prompt = protocol.applied(judge), protocol.prompt
    return Template(model, prompt, {}, PURPOSE, ANY_OBJECT, _read, tries=protocol.tries, fill=protocol.filled)


def named(
    passage: str, source: str, references: Mapping[str, str], candidate: str, scores: Scores | None
) -> dict[str, str]:
    """The texts of an item by name: `passage` (its id), `source`, `candidate`, `drift`, `similarity`, and the reference
    of each translator. The candidate's model stays anonymous."""
    drift, similarity = (str(scores.drift), str(scores.similarity)) if scores else ("unknown", "unknown")
    about = {"passage": passage, "drift": drift, "similarity": similarity}
    return {**references, **about, "source": source, "candidate": candidate}


def unnamed(protocol: PublishedProtocol, item: Mapping[str, str]) -> list[str]:
    """Names of texts that the protocol shows, and an item lacks."""
    return sorted({*protocol.shown.values()} - item.keys())


def _read(reading: Reading) -> tuple[Opinion, str]:
    """A reply that is a JSON object with words of the paper's vocabulary, as they are spelled there."""
    try:
        fields = json.loads(reading.text)
        for name, allowed in enumerations(AUDIT).items():
            if fields[name] not in allowed:
                raise ValueError(f"{name} {quoted(str(fields[name]))} is not one of {', '.join(allowed)}")
        return Opinion(read_judgement(fields), remarks(fields)), "strict"
    except (ValueError, RecursionError, TypeError, KeyError) as reason:
        raise Unusable(f"no valid judgement: {reason}" if reading.text else "empty reply") from reason
