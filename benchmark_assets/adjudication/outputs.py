"""The common base of all studies that ask judges about outputs.

Here: texts and languages, outputs grouped by model and corpus, and outputs that are withheld from judges. Not here: the
protocol of a study (studies.study), the choice of impartial judges (impartial), the questions (panel, pairwise,
literary).
"""

from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeVar

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination import hidden
from benchmark_assets.examination.flags import FAILED, STOPS, cards, stops, together
from benchmark_assets.examination.study import Exam, PairExam
from benchmark_assets.metrics.addressing import addressing
from benchmark_assets.metrics.fidelity import ComparedPassage
from benchmark_assets.metrics.texts import MeasuredText
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.studies.study import Answered, Group, Item, ItemStudy, StudyPlan
from benchmark_assets.studies.watch import Watch
from benchmark_assets.translation.systems import language_names
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict
from resources.warehouse import Replacement, Warehouse

OUTPUT = ["model", "passage"]
How = TypeVar("How")


class OutputStudy(ItemStudy[How], ABC):
    """A study that asks about outputs, with partitions by model and passage.

    If a corpus description requests it, outputs that address their judge are withheld: no judge is asked about such an
    output, and the study stores abstentions with the reason. The same holds for a judge that failed its examination.
    """

    tables: ClassVar[tuple[str, ...]] = (hidden.TABLE,)
    lost = "a text is missing: materialize source_text, reference and model_output first"

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """Settings of the outputs to which the study applies. The settings of a withheld output include the reason."""
        settings = super().settings(partitions)
        reasons = withheld(self.warehouse, settings.select(OUTPUT))
        rows = [(*output, reason) for output, reason in reasons.items()]
        schema = dict.fromkeys([*OUTPUT, "reason"], pl.String)
        joined = settings.join(
            pl.DataFrame(rows, schema=schema, orient="row"), on=OUTPUT, how="left", maintain_order="left"
        )
        with_reason = pl.concat_str("settings", "reason", separator=" ")
        chosen = pl.when(pl.col("reason").is_null()).then("settings").otherwise(with_reason)
        return joined.select(*OUTPUT, settings=chosen)

    def plan(self, stale: pl.DataFrame) -> StudyPlan:
        """Plan the items of stale partitions. A withheld output and a failed judge get an abstention, and nobody is
        asked."""
        plan = super().plan(stale)
        reasons, failed = withheld(self.warehouse, stale), self._failed()
        stopped = {(judge, settings): reason for _, judge, settings, reason in stops(self.warehouse, self.name).rows()}

        def reason(item: Item) -> str:
            corpus = item.partition[1].partition("/")[0]
            judge = (corpus, item.template.model.name, item.key.get("aspect", "")) if item.template else None
            why: str = reasons.get((item.partition[0], item.partition[1])) or failed.get(judge, "")
            if why or not stopped or not item.template:
                return why
            of_judge: str = stopped.get((item.template.model.name, _settings(item.template)), "")
            return of_judge

        items = [
            replace(item, settled=Verdict(abstention=why)) if item.settled is None and (why := reason(item)) else item
            for item in plan.items
        ]
        return plan._replace(items=items)

    def exam(self) -> Exam | None:
        """How the study's judges are examined; by default not."""
        return None

    def watch(self) -> Watch:
        """Judges whose verdicts show that they have changed are asked no more."""
        return self._watch

    @cached_property
    def _watch(self) -> Watch:
        exam = self.exam()
        return Watch(exam.preferred if isinstance(exam, PairExam) else lambda _: "")

    def answers(self, stale: pl.DataFrame, run: str) -> tuple[StudyPlan, list[Answered]]:
        """The plan for stale partitions, and the verdicts on its items. Judges that are stopped are recorded, and those
        recorded that have other settings or another version now are forgotten."""
        plan, judged = super().answers(stale, run)
        templates = {item.template.model.name: item.template for item, _ in judged if item.template}
        current = {judge: _settings(template) for judge, template in templates.items()}
        found = [(self.name, judge, settings, reason) for judge, settings in current.items()
                 if (reason := self._watch.stopped(judge))]  # fmt: skip
        before = stops(self.warehouse, self.name)
        kept = [row for row in before.rows() if current.get(row[1], row[2]) == row[2]]
        if found or len(kept) < len(before):
            rows = pl.DataFrame(list({row[1]: row for row in [*kept, *found]}.values()), before.schema, orient="row")
            rows = rows.with_columns(fingerprint="settings")
            self.warehouse.write([Replacement(STOPS, rows, pl.DataFrame({"study": [self.name]}))], run_id=run)
        return plan, judged

    def hidden(self, items: Sequence[Item]) -> Sequence[Item]:
        """Hidden sentinels, from corpora that examine their judges."""
        exam = self.exam()
        return hidden.hidden(self.warehouse, exam, items) if exam else ()

    def right(self, item: Item, verdict: Verdict[Any]) -> bool | None:
        """Whether the verdict on a hidden sentinel is right, if that does not depend on another verdict."""
        exam = self.exam() if item.kind else None
        return hidden.right(exam, item, verdict.value) if exam else None

    def rows(self, judged: Sequence[Answered]) -> Mapping[str, pl.DataFrame]:
        """Rows of all tables of the study, with the replies to hidden sentinels."""
        exam, real = self.exam(), [each for each in judged if not each[0].kind]
        tables = super().rows(real)
        return {**tables, hidden.TABLE: hidden.rows(exam, self.name, judged)} if exam else tables

    def _failed(self) -> dict[object, str]:
        """The reason why a judge is not asked, by corpus, judge and aspect, for judges that failed."""
        of_cards, languages = cards(self.warehouse, self.name), corpus_languages(self.warehouse)
        return {
            (corpus, judge, aspect): together([report], of_cards).problem
            for report in of_cards
            for judge, aspect, direction in [report]
            for corpus, tags in languages.items()
            if "-".join(tags) == direction and of_cards[report].verdict == FAILED
        }

    def by_corpus(self, outputs: pl.DataFrame, how: Callable[[str, str], tuple[How, str]]) -> Iterator[Group[How]]:
        """Group outputs by model and corpus.

        Given a model and a corpus, `how` returns the settings with which the outputs are judged, and the fingerprint of
        these settings. If `how` raises BadInput because the outputs cannot be judged, the group has the error in place
        of the settings, and the error message in place of the fingerprint.
        """
        for (model, corpus), rows in outputs.group_by("model", CORPUS, maintain_order=True):
            try:
                yield Group(rows.select(OUTPUT), *how(str(model), str(corpus)))
            except BadInput as fault:
                yield Group(rows.select(OUTPUT), fault, str(fault))

    def languages(self) -> dict[str, Mapping[str, str]]:
        """Names of the source language and of the references' language for use in prompts, by corpus."""
        return {corpus: language_names(*tags) for corpus, tags in corpus_languages(self.warehouse).items()}

    def texts(self, table: str, partitions: pl.DataFrame) -> dict[str, str]:
        """Texts by passage, from the rows of a table that match `partitions`."""
        return dict(self.warehouse.read(table, partitions, ["passage", "text"]).iter_rows())


def _settings(template: Template[Any]) -> str:
    """Hash of everything about a judge that determines its verdicts."""
    return digest(*template.determinants)


def texts(warehouse: Warehouse, outputs: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Texts of outputs by model and passage; '' if the model declined to translate."""
    declined = warehouse.read("refusal", outputs.select(OUTPUT), OUTPUT)
    rows = warehouse.read("model_output", outputs.select(OUTPUT), [*OUTPUT, "text"])
    stored = {(model, passage): text for model, passage, text in rows.iter_rows()}
    return dict.fromkeys(declined.rows(), "") | stored


def withheld(warehouse: Warehouse, outputs: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Reasons why outputs are withheld from judges, by model and passage.

    Outputs that address a judge (metrics.addressing) are withheld if the description of their corpus requests it.
    """
    settings = warehouse.read("corpus", columns=["corpus", "addressing"]).filter(addressing="withhold")
    outputs = outputs.select(OUTPUT).filter(CORPUS.is_in(settings["corpus"].implode()))
    if outputs.is_empty():
        return {}
    passages = outputs.select("passage").unique()
    sources = dict(warehouse.read("source_text", passages, ["passage", "text"]).iter_rows())
    references = complete_texts(warehouse, passages)
    reasons = {}
    for (model, passage), text in texts(warehouse, outputs).items():
        known = tuple(sorted(references.get(passage, {}).values()))
        if evidence := _evidence(text, sources.get(passage, ""), known):
            reasons[model, passage] = f"withheld from judges: it {evidence}"
    return reasons


@lru_cache(maxsize=100_000)
def _evidence(text: str, source: str, references: tuple[str, ...]) -> str:
    """The evidence that a text addresses a judge; '' if it does not. Cached, because a call takes a millisecond."""
    return addressing(MeasuredText(text), ComparedPassage(source, list(references)))[1]
