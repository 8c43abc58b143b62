"""Marks from 1 to 5: one judge, one output, one reference (JP-TL-Bench, section 5.3, appendix C).

Here: who gives marks in a corpus, what is asked, what counts as an answer, the calls of a run, what marks amount to.
Not here: comparing two texts (comparing), asking again (resources.provider.asking).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, Output, Said
from benchmark_assets.corpus.description import Rubric
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval, resampling_weights, wilson
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.translation.systems import Systems, language_name
from resources import prompts
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Ask, Task, Told, insist
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.provider.reading import storable
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.pairwise")

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "justification": {"type": "string"},
        "mark": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
        "perfect": {"type": "boolean"},
    },
    "required": ["justification", "mark", "perfect"],
    "additionalProperties": False,
}
"""JSON schema of an answer."""

USEFUL, BEST = 3, 5
"""The lowest mark that counts as useful (table 5), and the mark of which Perfect% is the share."""

_KEY = [*OUTPUT, "judge"]
_FOUND = {"mark": pl.Int32, "perfect": pl.Boolean, "justification": pl.String, "abstention": pl.String}
_COUNTS = ("ones", "twos", "threes", "fours", "fives")
_BOUNDS = ("", "_low", "_high")

SUMMARY = schema("rubric_summary")


class Mark(NamedTuple):
    """What a judge says of an output: 1 to 5, whether it is perfect, and why in the judge's words."""

    mark: int
    perfect: bool
    justification: str


class Entry(NamedTuple):
    """An output that gets a mark of one judge, and the reference beside which it is shown."""

    task: Task
    model: str
    passage: str
    source: str
    reference: str
    candidate: str


class Jury(NamedTuple):
    """Outputs of one model and corpus (`model`, `passage`), and what each of the corpus's judges is asked with, or why
    none is asked."""

    outputs: pl.DataFrame
    tasks: tuple[Task, ...] | BadInput

    @property
    def fingerprint(self) -> str:
        """Hash of what determines the marks besides the texts; of a fault, its words."""
        if isinstance(self.tasks, BadInput):
            return str(self.tasks)
        return digest(*((task.model.name, *task.determinants) for task in self.tasks))


def rubrics(warehouse: Warehouse) -> dict[str, Rubric]:
    """What the corpora's descriptions say of marks."""
    rows = warehouse.read("corpus", columns=["corpus", "rubric"]).iter_rows()
    return {corpus: Rubric.model_validate_json(text or "{}") for corpus, text in rows}


def reference_of(passage: str, references: Mapping[str, str]) -> str:
    """The reference, of those of a passage by translator, beside which all outputs are shown.

    By a hash of passage and translator: over a corpus each translator has an equal share, all models and judges get
    the same one, and a further reference changes it only where it takes its place.
    """
    return references[min(references, key=lambda translator: digest(passage, translator))]


def read_mark(values: Mapping[str, Any]) -> Mark:
    """Read the fields that a reply holds; a justification that is missing or no text is ''.

    Raises
    ------
    ValueError
        In words, where the mark is no whole number from 1 to 5 or `perfect` is neither true nor false.
    """
    mark, perfect, why = (values.get(name) for name in ("mark", "perfect", "justification"))
    if type(mark) is not int or not 1 <= mark <= BEST:
        raise ValueError(f"mark {mark!r} is no whole number from 1 to {BEST}")
    if perfect is not True and perfect is not False:
        raise ValueError(f"perfect {perfect!r} is neither true nor false")
    return Mark(mark, perfect, storable(why.strip()) if isinstance(why, str) else "")


async def give_mark(ask: Ask, entry: Entry) -> Told[Mark]:
    """Have its judge give an output a mark. A text of nothing but white space gets 1 without a call."""
    if not entry.candidate.strip():
        return Told("", 0, Mark(1, False, "the text is empty"))
    return await insist(ask, entry.task, _shown(entry), read_mark)


def juries(warehouse: Warehouse, provider: Provider, outputs: pl.DataFrame) -> Iterator[Jury]:
    """The juries of those outputs whose corpus names judges and whose passage has a complete reference."""
    named = {corpus: rubric.judges for corpus, rubric in rubrics(warehouse).items() if rubric.judges}
    wanted = outputs.select(OUTPUT).filter(CORPUS.is_in(list(named)))
    complete_ones = warehouse.read("reference", wanted.select("passage"), ["passage", "complete"]).filter("complete")
    wanted = wanted.join(complete_ones, on="passage", how="semi", maintain_order="left")
    languages, prompt = on_trial.languages(warehouse), prompts.load("rubric")
    for (model, corpus), own in wanted.group_by("model", CORPUS, maintain_order=True):
        name = str(corpus)
        source, target = map(language_name, languages[name])
        try:
            judges = impartial(provider, named[name], str(model), f"corpus {name}", "rubric.judges")
            yield Jury(own, tuple(Task(judge, prompt, source, target, "rubric", ANSWER) for judge in judges))
        except BadInput as fault:
            yield Jury(own, fault)


def settings(warehouse: Warehouse, systems: Systems, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the marks of each output besides its texts: see adjudication.outputs.settings.

    Outputs that get none are left out.
    """
    every = juries(warehouse, systems.provider, asked)
    return on_trial.settings(systems, asked, ((jury.outputs, jury.fingerprint) for jury in every))


def cost_of(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> Estimate | None:
    """What marks would ask of judges; None where they are asked nothing."""
    entries, _ = _entries(warehouse, juries(warehouse, provider, due))
    return on_trial.cost(provider, _questions(entries))


def mark_outputs(warehouse: Warehouse, provider: Provider, due: pl.DataFrame, run: str) -> Computed:
    """Have outputs marked, each by the judges of its corpus. The run pays.

    An output has failed where a judge may not judge it, where it lost a text, or where a call failed. It has no marks
    then; what was answered is in the ledger.
    """
    entries, failures = _entries(warehouse, juries(warehouse, provider, due))
    if expected := on_trial.cost(provider, _questions(entries)):
        logger.info("rubric: %s", expected)
    told = on_trial.ask_all(provider, "rubric", give_mark, entries, lambda entry: entry.task, run)
    return on_trial.tabulate("rubric_vote", _KEY, _FOUND, [_said(*each) for each in told], failures)


def summarize(votes: pl.DataFrame) -> pl.DataFrame:
    """What the marks of each model amount to, by corpus and judge.

    Parameters
    ----------
    votes
        Columns `model`, `passage`, `judge`, `mark` and `perfect`, the last two null where the judge abstained.

    Returns
    -------
    Columns of `SUMMARY`, by model, corpus and judge. `outputs` counts all votes, and `abstained` those without a mark,
    which are in no other number. Shares lie in [0, 1]: `useful` of marks of 3 and more, `perfect` of 5, `flagged` of
    outputs that the judge calls perfect (table 5); they and the mean are null without a mark.
    """
    rows = [
        {"model": model, "corpus": corpus, "judge": judge, **_summary(own.sort("passage"))}
        for (model, corpus, judge), own in votes.sort("model", "passage", "judge").group_by(
            "model", CORPUS, "judge", maintain_order=True
        )
    ]
    return pl.DataFrame(rows, schema=SUMMARY).sort("model", "corpus", "judge")


def _summary(votes: pl.DataFrame) -> dict[str, object]:
    given = votes.drop_nulls("mark")
    mark, number = given["mark"], len(given)
    row: dict[str, object] = {
        "outputs": len(votes), "abstained": len(votes) - number, "median": mark.median(), "signature": SIGNATURE,
        **{name: int((mark == value).sum()) for value, name in enumerate(_COUNTS, start=1)},
    }  # fmt: skip
    if number:
        values = mark.to_numpy().astype(float)
        row |= _bounded("mean", float(values.mean()), mean_interval(values, resampling_weights(number)))
        shares = {"useful": mark >= USEFUL, "perfect": mark == BEST, "flagged": given["perfect"]}
        for name, which in shares.items():
            count = int(which.sum())
            row |= _bounded(name, count / number, wilson(count, number))
    return row


def _bounded(name: str, value: float, interval: tuple[float, float]) -> dict[str, float]:
    return {name: value, f"{name}_low": interval[0], f"{name}_high": interval[1]}


def _shown(entry: Entry) -> dict[str, str]:
    """An output as the judge sees it, which learns neither whose it is nor whose the reference."""
    return {"source": entry.source, "reference": entry.reference, "candidate": entry.candidate}


def _said(entry: Entry, told: Told[Mark]) -> Said:
    judge = entry.task.model.name
    key, row = (entry.model, entry.passage, judge), (*(told.value or (None, None, None)), told.abstention)
    return Said(key, row, told.call, told.error and f"{judge}: {told.error}")


def _questions(entries: Iterable[Entry]) -> Iterator[tuple[Task, Mapping[str, Any]]]:
    """What judges are asked about those entries that need one."""
    return ((entry.task, _shown(entry)) for entry in entries if entry.candidate.strip())


def _entries(warehouse: Warehouse, seated: Iterable[Jury]) -> tuple[list[Entry], dict[Output, str]]:
    """The marks that juries are to give, output by output; and by model and passage, why some outputs get none."""
    entries: list[Entry] = []
    failures: dict[Output, str] = {}
    for outputs, tasks in seated:
        if isinstance(tasks, BadInput):
            failures |= dict.fromkeys(outputs.rows(), str(tasks))
            continue
        passages = outputs.select("passage")
        sources = dict(warehouse.read("source_text", passages, ["passage", "text"]).iter_rows())
        references, own = complete_texts(warehouse, passages), on_trial.texts(warehouse, outputs)
        kept, lost = on_trial.whole(outputs, own, sources, references)
        failures |= lost
        for model, passage in kept:
            texts = sources[passage], reference_of(passage, references[passage]), own[model, passage]
            entries += [Entry(task, model, passage, *texts) for task in tasks]
    return entries, failures
