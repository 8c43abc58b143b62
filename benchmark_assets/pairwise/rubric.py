"""Marks from 1 to 5: one judge, one output, one reference (JP-TL-Bench, section 5.3, appendix C).

Here: the judges of a corpus, the question, valid replies, the summary of marks.
Not here: comparing two texts (comparing), retries (resources.provider.asking).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.corpus.description import Rubric
from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval, resampling_weights, wilson
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.studies.study import Group, Item
from resources import prompts
from resources.catalogue import schema
from resources.digest import digest
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, fields
from resources.provider.reading import storable
from resources.warehouse import Warehouse

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
"""JSON schema of a reply."""

USEFUL, BEST = 3, 5
"""The lowest mark that counts as useful (table 5), and the mark that counts for Perfect%."""

_COUNTS = ("ones", "twos", "threes", "fours", "fives")
_BOUNDS = ("", "_low", "_high")

SUMMARY = schema("rubric_summary")


class Mark(NamedTuple):
    """A judge's mark of an output: 1 to 5, whether it is perfect, and the judge's justification."""

    mark: int
    perfect: bool
    justification: str


def rubrics(warehouse: Warehouse) -> dict[str, Rubric]:
    """Settings of marks in the corpora's descriptions, by corpus."""
    rows = warehouse.read("corpus", columns=["corpus", "rubric"]).iter_rows()
    return {corpus: Rubric.model_validate_json(text or "{}") for corpus, text in rows}


def reference_of(passage: str, references: Mapping[str, str]) -> str:
    """The reference of a passage that is shown with every output; `references` are by translator.

    Chosen by a hash of passage and translator: over a corpus each translator has an equal share, all models and judges
    get the same reference, and a new reference changes the choice only where it is chosen itself.
    """
    return references[min(references, key=lambda translator: digest(passage, translator))]


def read_mark(values: Mapping[str, Any]) -> Mark:
    """Read the fields of a reply; a justification that is missing or not text becomes ''.

    Raises
    ------
    ValueError
        If the mark is no whole number from 1 to 5, or `perfect` is neither true nor false.
    """
    mark, perfect, why = (values.get(name) for name in ("mark", "perfect", "justification"))
    if type(mark) is not int or not 1 <= mark <= BEST:
        raise ValueError(f"mark {mark!r} is no whole number from 1 to {BEST}")
    if perfect is not True and perfect is not False:
        raise ValueError(f"perfect {perfect!r} is neither true nor false")
    return Mark(mark, perfect, storable(why.strip()) if isinstance(why, str) else "")


class RubricVotes(OutputStudy[tuple[Template[Mark], ...]]):
    """Marks of an output by each judge of the corpus's rubric, given one of its references.

    A judge is asked again only if the output, its source, that reference or the judge changed.
    """

    name = "rubric_vote"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[tuple[Template[Mark], ...]]]:
        """Outputs whose corpus names judges and whose passage has a complete reference."""
        named = {corpus: rubric.judges for corpus, rubric in rubrics(self.warehouse).items() if rubric.judges}
        wanted = partitions.select(OUTPUT).filter(CORPUS.is_in(list(named)))
        references = self.warehouse.read("reference", wanted.select("passage"), ["passage", "complete"])
        wanted = wanted.join(references.filter("complete"), on="passage", how="semi", maintain_order="left")
        languages, prompt = self.languages(), prompts.load("rubric")

        def seated(model: str, corpus: str) -> tuple[tuple[Template[Mark], ...], str]:
            judges = impartial(self.provider, named[corpus], model, f"corpus {corpus}", "rubric.judges")
            read = fields(ANSWER["required"], read_mark)
            jury = tuple(Template(judge, prompt, languages[corpus], "rubric", ANSWER, read) for judge in judges)
            return jury, digest(*((template.model.name, *template.determinants) for template in jury))

        return self.by_corpus(wanted, seated)

    def items(self, partitions: pl.DataFrame, how: tuple[Template[Mark], ...]) -> Iterator[Item]:
        """Each output once for each judge. Model and translator stay anonymous. A text of white space only gets 1
        without a question."""
        passages = partitions.select("passage")
        sources, references = self.texts("source_text", passages), complete_texts(self.warehouse, passages)
        own = on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            passage = output[1]
            if output in own and passage in sources and passage in references:
                shown = {
                    "source": sources[passage], "reference": reference_of(passage, references[passage]),
                    "candidate": own[output],
                }  # fmt: skip
                empty = None if own[output].strip() else Verdict(value=Mark(1, False, "the text is empty"))
                for template in how:
                    yield Item(output, {"judge": template.model.name}, template, shown, empty)

    def rows_of(self, item: Item, verdict: Verdict[Mark]) -> Iterable[Mapping[str, object]]:
        """The judge's mark."""
        yield (verdict.value._asdict() if verdict.value else {}) | {"abstention": verdict.abstention}


def summarize(votes: pl.DataFrame) -> pl.DataFrame:
    """Summarize the marks of each model by corpus and judge.

    Parameters
    ----------
    votes
        Columns `model`, `passage`, `judge`, `mark` and `perfect`, the last two null where the judge abstained.

    Returns
    -------
    Columns of `SUMMARY`, by model, corpus and judge. `outputs` counts all votes; `abstained` counts votes without a
    mark, which enter no other number. Shares in [0, 1]: `useful` for marks of 3 and more, `perfect` for 5, `flagged`
    for outputs that the judge calls perfect (table 5). Shares and mean are null without a mark.
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
