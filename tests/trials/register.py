"""A study: judges say in which register an output is written."""

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy, texts
from benchmark_assets.pairwise.rubric import rubrics
from benchmark_assets.studies.study import Group, Item
from resources.digest import digest
from resources.keys import CORPUS
from resources.prompts import Prompt
from resources.provider.asking import Template, Verdict, fields

PROMPT = Prompt(
    name="register", version=1, variables=("item",), user="$item",
    system='Is `candidate` plain or elevated? Answer with {"register": "plain"} or {"register": "elevated"}.',
)  # fmt: skip
ANSWER = {
    "type": "object", "properties": {"register": {"enum": ["plain", "elevated"]}}, "required": ["register"],
    "additionalProperties": False,
}  # fmt: skip


def _read(values: Mapping[str, object]) -> str:
    if values.get("register") not in ("plain", "elevated"):
        raise ValueError("register is neither plain nor elevated")
    return str(values["register"])


class Registers(OutputStudy[tuple[Template[str], ...]]):
    """Register of each output, as the judges of the corpus's rubric see it."""

    name = "register"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[tuple[Template[str], ...]]]:
        """Outputs whose corpus names judges."""
        judges = {corpus: rubric.judges for corpus, rubric in rubrics(self.warehouse).items() if rubric.judges}

        def jury(model: str, corpus: str) -> tuple[tuple[Template[str], ...], str]:
            chosen = impartial(self.provider, judges[corpus], model, f"corpus {corpus}", "rubric.judges")
            jury = tuple(Template(each, PROMPT, {}, "register", ANSWER, fields(ANSWER, _read)) for each in chosen)
            return jury, digest(*((each.model.name, *each.determinants) for each in jury))

        return self.by_corpus(partitions.select(OUTPUT).filter(CORPUS.is_in(list(judges))), jury)

    def items(self, partitions: pl.DataFrame, how: tuple[Template[str], ...]) -> Iterator[Item]:
        """Each output once for each judge."""
        for output, text in texts(self.warehouse, partitions).items():
            for template in how:
                yield Item(output, {"judge": template.model.name}, template, {"candidate": text})

    def rows_of(self, item: Item, verdict: Verdict[str]) -> Iterable[Mapping[str, object]]:
        """The judge's word."""
        yield {"register": verdict.value}
