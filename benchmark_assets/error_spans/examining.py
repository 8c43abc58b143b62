"""The examination of the judges of error spans. A judge gets the same question as for its votes.

Here: the examined judges and the content of a question. Not here: sentinels and rounds (examination).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from benchmark_assets.corpus.description import ErrorSpans
from benchmark_assets.corpus.registry import sections
from benchmark_assets.error_spans.judging import MOST_POINTS, Annotation, annotating, mqm
from benchmark_assets.examination.sample import other_references
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, TextExaminations
from resources.provider.asking import Template
from resources.provider.registry import Model

REFERENCES = "references"
"""Option of an examinee that sees references."""


class SpanSentinels(TextExaminations):
    """Errors that judges mark in human translations and in texts with known errors.

    A judge is examined once for each language direction of the corpora that request an examination. It is examined
    again if the judge, its served version or a text changes. In the examination, the judge sees references if all these
    corpora show references to it. An examination ends as soon as its verdict is clear.
    """

    name = "span_sentinel"
    best: ClassVar[str] = "no errors, score 100"
    marks: ClassVar[bool] = True

    def juries(self) -> Mapping[str, Sequence[str]]:
        """The names of the judges of error spans, by corpus."""
        return {corpus: section.judges for corpus, section in sections(self.warehouse, "spans", ErrorSpans).items()}

    def template(self, judge: Model, languages: Mapping[str, str]) -> Template[Annotation]:
        """The template of the question about an output."""
        return annotating(judge, languages)

    def examinees(self) -> Iterator[Examinee]:
        """The registered judges of corpora that request an examination. A judge that sees references has the option
        `REFERENCES`."""
        settings = sections(self.warehouse, "spans", ErrorSpans)
        for examinee in super().examinees():
            of_judge = [
                settings[name] for name in examinee.direction.corpora if examinee.judge in settings[name].judges
            ]
            shown = all(section.references for section in of_judge)
            yield examinee._replace(options=(REFERENCES,)) if shown else examinee

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source of each passage, and its references if the judge sees references.

        The sound text is not among the references. If the judge sees references, passages without any other reference
        are left out.
        """
        if REFERENCES not in examinee.options:
            return {text.passage: {"source": text.material.source} for text in texts}
        references = other_references(self.warehouse, texts)
        return {
            text.passage: {"source": text.material.source, "references": [other for _, other in sorted(others.items())]}
            for text in texts if (others := references[text.passage])
        }  # fmt: skip

    def worth(self, value: Annotation) -> float:
        """The MQM score, on a scale from 0 to 1."""
        return 1 + mqm(error.severity for error in value.errors) / MOST_POINTS
