"""The panel of a corpus: its judges, the items that they see, and the rows of their votes.

Here: the order of references, the fingerprint of a vote, rows; how judges are examined, and what their failure means
for the panel. Not here: the choice of impartial judges (impartial), the question to one judge (judging), the verdict
(verdicts), the choice of outputs (triage), sentinels and rounds (examination).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

import polars as pl

from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.judging import Opinion, Scores, judging, shown
from benchmark_assets.adjudication.labels import ERRORS, VALID
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.adjudication.published import named, published_judging, unnamed
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.corpus.description import AUDIT, MQM, Audit
from benchmark_assets.corpus.registry import taxonomies
from benchmark_assets.examination.flags import WITHHELD, JudgeStanding, of_judges, worst
from benchmark_assets.examination.sample import Direction, other_references
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, TextExam
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.studies.protocols import PublishedProtocol, protocols
from benchmark_assets.studies.study import Group, Item
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.warehouse import Warehouse

DECIMALS = 3
"""Decimals of the scores that judges see; later digits of embedding scores differ between machines."""


@dataclass(frozen=True)
class JudgePanel:
    """The impartial judges of one model's outputs in one corpus, as question templates sorted by the judges' names.

    `protocol` is the published protocol by which they are asked; None for the project's own question.
    """

    templates: tuple[Template[Opinion], ...]
    audit: Audit
    protocol: PublishedProtocol | None = None

    @property
    def shows_scores(self) -> bool:
        """Whether judges see the scores of outputs."""
        return self.audit.show_scores or self.protocol is not None

    @property
    def fingerprint(self) -> str:
        """Hash of the inputs that all items share: judges with settings and versions, prompt, languages, seed, and
        whether scores are shown."""
        judges = [(template.model.name, *template.determinants) for template in self.templates]
        published = self.protocol.determinants if self.protocol else ()
        return digest(self.audit.seed, self.audit.show_scores, *judges, *published)

    def items(
        self, model: str, passage: str, source: str, references: Mapping[str, str], candidate: str,
        scores: Scores | None = None,
    ) -> Iterator[Item]:  # fmt: skip
        """Yield one item per judge for an output; `references` maps translators to texts.

        Where a published protocol shows a reference that the passage lacks, nobody is asked.
        """
        if self.protocol:
            texts = named(passage.partition("/")[2], source, references, candidate, scores)
            lacking = ", ".join(unnamed(self.protocol, texts))
            why = Verdict[Opinion](abstention=f"the published protocol shows {lacking}") if lacking else None
            for template in self.templates:
                yield Item((model, passage), {"judge": template.model.name}, template, texts, settled=why)
            return
        for template in self.templates:
            order = shuffled(references, self.audit.seed, template.model.name, model, passage)
            ordered = [references[translator] for translator in order]
            content = shown(source, ordered, candidate, scores if self.audit.show_scores else None)
            yield Item((model, passage), {"judge": template.model.name}, template, content)


def shuffled(translators: Mapping[str, str], seed: int, judge: str, model: str, passage: str) -> list[str]:
    """Translators in the order in which a judge sees their references when judging a model's output for a passage.

    A hash determines the order. All orders are equally likely, the order can be reproduced, and it does not depend on
    the orders for other items.
    """
    return sorted(translators, key=lambda translator: digest(seed, judge, model, passage, translator))


def panel(
    provider: Provider, corpus: str, audit: Audit, languages: Mapping[str, str], model: str,
    protocol: PublishedProtocol | None = None, taxonomy: str = AUDIT,
) -> JudgePanel:  # fmt: skip
    """The panel that judges one model's outputs in one corpus, by a published protocol if there is one; `languages` and
    `taxonomy` as in `judging`.

    Raises BadInput if the number of judges is even, or if `impartial` raises it.
    """
    if len(audit.judges) % 2 == 0:
        problem = f"are {len(audit.judges)}, so that votes may be tied"
        raise BadInput(f"corpus {corpus}", "audit.judges", problem, "name an odd number of judges")
    judges = impartial(provider, audit.judges, model, f"corpus {corpus}", "audit.judges")
    if protocol:
        return JudgePanel(tuple(published_judging(judge, protocol) for judge in judges), audit, protocol)
    return JudgePanel(tuple(judging(judge, languages, taxonomy) for judge in judges), audit)


class JudgeVotes(OutputStudy[JudgePanel]):
    """Votes of each corpus's panel on its outputs that are queued, sampled for people, or screened below the threshold.

    A judge is asked again only if the output, its source, its references or the panel changes.
    """

    name = "judge_vote"
    lost = "a text is missing: materialize triage first"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[JudgePanel]]:
        """Queued, sampled and screened outputs of corpora that configure judges, by model and corpus."""
        with_judges = {corpus: audit for corpus, audit in audits(self.warehouse).items() if audit.judges}
        flags = ["queued", "sampled", "screened"]
        triage = self.warehouse.read("triage", partitions.select(OUTPUT), [*OUTPUT, *flags])
        outputs = triage.filter(pl.any_horizontal(flags), CORPUS.is_in(list(with_judges)))
        languages, named = self.languages(), taxonomies(self.warehouse)

        published = cache(partial(protocols, self.warehouse, "judge"))

        def seated(model: str, corpus: str) -> tuple[JudgePanel, str]:
            by = published(model).get(corpus)
            judges = panel(self.provider, corpus, with_judges[corpus], languages[corpus], model, by, named[corpus])
            return judges, judges.fingerprint

        for group in self.by_corpus(outputs, seated):
            if isinstance(group.how, JudgePanel) and group.how.shows_scores:
                scores, seats = self._scores(group.partitions), group.how.fingerprint
                hashes = [digest(seats, scores.get(output)) for output in group.partitions.iter_rows()]
                yield group._replace(fingerprint=pl.Series(hashes, dtype=pl.String))
            else:
                yield group

    def items(self, partitions: pl.DataFrame, how: JudgePanel) -> Iterator[Item]:
        """One item per output and judge."""
        sources = self.texts("source_text", partitions.select("passage"))
        references = complete_texts(self.warehouse, partitions.select("passage"))
        scores = self._scores(partitions) if how.shows_scores else {}
        outputs = self.warehouse.read("model_output", partitions, [*OUTPUT, "text"])
        for model, passage, text in outputs.iter_rows():
            if passage in sources:  # without a reference, a judge sees the source alone
                shown_scores, shown_references = scores.get((model, passage)), references.get(passage, {})
                yield from how.items(model, passage, sources[passage], shown_references, text, shown_scores)

    def exam(self) -> TextExam:
        """The exam of the study's judges."""
        return PanelExam(self.warehouse, self.provider)

    def rows_of(self, item: Item, verdict: Verdict[Opinion]) -> Iterable[Mapping[str, object]]:
        """The row of a judge's vote: judgement and remarks, or the reason for an abstention."""
        parts = (part._asdict() for part in verdict.value or ())
        yield {name: value for part in parts for name, value in part.items()} | {"abstention": verdict.abstention}

    def _scores(self, outputs: pl.DataFrame) -> dict[tuple[str, ...], Scores]:
        """Scores by model and passage, as judges see them."""
        rows = self.warehouse.read("drift_score", outputs, [*OUTPUT, "drift", "sim_best"]).drop_nulls()
        return {
            (model, passage): Scores(round(drift, DECIMALS), round(similarity, DECIMALS))
            for model, passage, drift, similarity in rows.iter_rows()
        }


class PanelExam(TextExam):
    """The exam of the audit's judges. An answer is a label.

    The question is always the project's own: a published one names all references, and an exam needs one of them as the
    translation on trial.
    """

    purpose = JudgeVotes.name
    best: ClassVar[str] = f"the label {VALID}"

    def seats(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Each panel's judges, by corpus."""
        return {corpus: [(judge, "") for judge in audit.judges] for corpus, audit in audits(self.warehouse).items()}

    def template(self, judge: Model, direction: Direction) -> Template[Opinion]:
        """The template of the question about an output, with the categories of the direction's corpora; MQM's if they
        differ."""
        named = taxonomies(self.warehouse)
        (taxonomy, *others) = {named[corpus] for corpus in direction.corpora if corpus in named} or {AUDIT}
        return judging(judge, direction.languages, MQM if others else taxonomy)

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source and the other references of each passage that has a reference besides the sound text."""
        references = other_references(self.warehouse, texts)
        return {
            text.passage: shown(text.material.source, [other for _, other in sorted(others.items())], "")
            for text in texts if (others := references[text.passage])
        }  # fmt: skip

    def worth(self, value: Opinion) -> float | None:
        """1 for a label without an error, 0 for an error, None for a label that does not rate the translation."""
        label = value.judgement.label
        return 1.0 if label == VALID else 0.0 if label in ERRORS else None


def counted(votes: pl.DataFrame, warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `judge_vote`, with the votes of judges that did not pass their examination turned into abstentions."""
    withheld = [seat for seat, standing in _standings(warehouse).items() if standing.verdict in WITHHELD]
    seats = pl.DataFrame(withheld, schema={"corpus": pl.String, "judge": pl.String}, orient="row")
    marked = votes.with_columns(CORPUS).join(
        seats.with_columns(withheld=True), on=["corpus", "judge"], how="left", maintain_order="left"
    )
    counts = pl.when(pl.col("withheld").is_null())
    abstaining = marked.with_columns(counts.then(name).alias(name) for name in ("label", "error_category"))
    return abstaining.select(votes.columns)


def of_panels(warehouse: Warehouse) -> dict[str, JudgeStanding]:
    """The verdict on the panel of each corpus: the worst verdict on any judge whose votes count.

    If the votes of half or more of its judges do not count, a panel has no verdicts on outputs. `problem` names all
    these judges.
    """
    panels = {}
    standings = _standings(warehouse)
    for corpus, audit in audits(warehouse).items():
        of_seats = [standings[corpus, judge] for judge in audit.judges]
        voting = [standing for standing in of_seats if standing.verdict not in WITHHELD]
        problems = [standing.problem for standing in of_seats if standing.verdict in WITHHELD]
        majority = 2 * len(voting) > len(of_seats)
        verdict = worst(standing.verdict for standing in (voting if majority else of_seats))
        panels[corpus] = JudgeStanding(verdict, "; ".join(problems))
    return panels


def voting_judges(warehouse: Warehouse) -> dict[str, list[str]]:
    """The judges of each panel whose votes count, by corpus."""
    standings = _standings(warehouse)
    return {
        corpus: [judge for judge in audit.judges if standings[corpus, judge].verdict not in WITHHELD]
        for corpus, audit in audits(warehouse).items()
    }


def _standings(warehouse: Warehouse) -> dict[tuple[str, str], JudgeStanding]:
    """The verdict on each judge of each panel, by corpus and judge."""
    seats = [(corpus, judge) for corpus, audit in audits(warehouse).items() for judge in audit.judges]
    return of_judges(warehouse, JudgeVotes.name, seats)
