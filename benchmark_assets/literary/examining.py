"""The examination of the seats of literary ensembles. A seat gets the same question as for its votes.

Here: the examined seats, the content of a question, the damage that concerns an aspect, and the verdict on an ensemble.
Not here: sentinels and rounds (examination).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from benchmark_assets.corpus.description import ASPECTS, Aspect
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.flags import Standing, cards, together
from benchmark_assets.examination.sample import directions
from benchmark_assets.examination.sentinels import DAMAGES, Sound
from benchmark_assets.examination.study import Examinee, PairExaminations
from benchmark_assets.literary.versus import shown, versus
from benchmark_assets.references import glossary
from benchmark_assets.translation.systems import language_names
from resources.provider.served import versioned
from resources.warehouse import Warehouse

_GROSS = ("foreign", "other_passage", "empty", "untranslated")

CONCERNED: Mapping[Aspect, Sequence[str]] = {
    "meaning": DAMAGES, "prose": _GROSS, "voice": _GROSS, "terms": (*_GROSS, "term"),
}  # fmt: skip
"""Kinds of damage that concern each aspect. A seat judges its own aspect only."""


def of_ensembles(warehouse: Warehouse) -> dict[tuple[str, str], Standing]:
    """The verdict on the seats of each ensemble, by corpus and aspect; the aspect '' stands for the whole ensemble."""
    of_cards, languages = cards(warehouse, "aspect_vote"), corpus_languages(warehouse)
    return {
        (corpus, aspect): together(
            [(seat.judge, seat.aspect, "-".join(languages[corpus])) for seat in section.ensemble
             if aspect in ("", seat.aspect)], of_cards,
        )
        for corpus, section in glossary.literary(warehouse).items() for aspect in ("", *ASPECTS)
    }  # fmt: skip


class AspectSentinels(PairExaminations):
    """Choices that the seats of literary ensembles make in pairs whose better text is known.

    A seat is examined once for each language direction of the corpora that request an examination, and again if the
    judge, its served version, a text or the glossary changes. An examination ends as soon as its verdict is clear.
    """

    name = "aspect_sentinel"

    def examinees(self) -> Iterator[Examinee]:
        """The seats whose judge is registered, in the corpora that request an examination."""
        registry = self.provider.registry()
        of_corpora = directions(self.warehouse)
        seats = {
            (seat.judge, seat.aspect, of_corpora[corpus]): None
            for corpus, section in sorted(glossary.literary(self.warehouse).items()) if corpus in of_corpora
            for seat in section.ensemble if seat.judge in registry.judges
        }  # fmt: skip
        for judge, aspect, direction in seats:
            model = versioned(registry.model(judge), self.provider.ledger)
            yield Examinee(judge, aspect, direction, versus(model, language_names(direction.source, direction.target)))

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source of each chunk, the text around it, and its glossary."""
        key = pl.DataFrame({"passage": [text.passage for text in texts]}, schema={"passage": pl.String})
        terms = glossary.entries(self.warehouse, key)
        rows = self.warehouse.read("source_text", key, ["passage", "text", "previous", "following"])
        return {
            passage: {
                "previous": previous or "", "source": text, "next": following or "",
                "glossary": list(terms.get(passage, ())),
            }
            for passage, text, previous, following in rows.iter_rows()
        }  # fmt: skip

    def shown(self, examinee: Examinee, context: Mapping[str, Any], a: str, b: str) -> Mapping[str, Any]:
        """The content of a question to the ensemble about a pair of texts."""
        return shown(context, a, b, examinee.aspect)

    def damages(self, aspect: str) -> Sequence[str]:
        """The kinds of damage that concern the aspect."""
        return next(kinds for name, kinds in CONCERNED.items() if name == aspect)

    def preferred(self, value: Any) -> str:
        """The letter in the reply, or `unsure`."""
        return str(value.better)
