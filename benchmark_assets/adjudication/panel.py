"""The panel of a corpus: which judges sit on it, what each of them is shown, and asking all of them about everything.

Here: who may judge whom, the order of references, what determines a vote, the calls of a run. Not here: what one judge
is asked and what its answer must be (judging), what the votes amount to (verdicts), which outputs are judged (triage).
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmark_assets.adjudication.judging import Case, Scores, Task, Vote, judge
from benchmark_assets.corpus.description import Audit
from benchmark_assets.lineage.standing import digest
from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.errors import BadInput
from resources.provider.client import complete, each
from resources.provider.estimate import Estimate, total
from resources.provider.estimate import estimate as of_questions
from resources.provider.provider import Provider
from resources.provider.registry import Registry
from resources.provider.served import versioned

logger = logging.getLogger("variorum.adjudication")

SECONDS_BETWEEN_WORDS = 5.0
"""How often progress is reported."""


class Item(NamedTuple):
    """An output that is to be judged; references are by translator."""

    model: str
    passage: str
    source: str
    references: Mapping[str, str]
    candidate: str
    scores: Scores | None = None


@dataclass(frozen=True)
class Panel:
    """Judges who may judge one model's outputs of one corpus: what each of them is asked with, in order of its name."""

    tasks: tuple[Task, ...]
    audit: Audit

    @property
    def fingerprint(self) -> str:
        """Hash of what determines the votes besides the items: judges with their settings and versions, prompt with
        its languages, seed, whether scores are shown."""
        judges = [(task.model.name, *task.determinants) for task in self.tasks]
        return digest(self.audit.seed, self.audit.show_scores, *judges)

    def cases(self, item: Item) -> Iterator[tuple[Task, Case]]:
        """The item as each judge is shown it."""
        scores = item.scores if self.audit.show_scores else None
        for task in self.tasks:
            order = shuffled(item.references, self.audit.seed, task.model.name, item.model, item.passage)
            references = tuple(item.references[translator] for translator in order)
            yield task, Case(item.source, references, item.candidate, scores)


Work = Sequence[tuple[Panel, Item]]
"""Items, each with the panel that judges it."""


def shuffled(translators: Mapping[str, str], seed: int, judge: str, model: str, passage: str) -> list[str]:
    """Translators in the order in which a judge sees their references of a passage beside a model's output.

    By a hash: every order is equally likely, the same in every process, and whatever else is judged changes nothing.
    """
    return sorted(translators, key=lambda translator: digest(seed, judge, model, passage, translator))


def panel(provider: Provider, corpus: str, audit: Audit, languages: tuple[str, str], model: str) -> Panel:
    """The panel for one model's outputs of one corpus.

    Parameters
    ----------
    languages
        Tags of the source's and of the references' language.
    model
        The model on trial.

    Raises
    ------
    BadInput
        Where a judge is not in the registry, occurs twice, has no family or is of the family on trial; where their
        number is even; where nobody declares the family of the model on trial.
    """
    registry, path = provider.registry(), provider.registry_path
    if len(audit.judges) % 2 == 0:
        problem = f"are {len(audit.judges)}, so that votes may be equal"
        raise BadInput(f"corpus {corpus}", "audit.judges", problem, "name an odd number of judges")
    family = registry.family(model)
    if not family:
        key = f"models.{model}.family" if model in registry.models else f"families.{model}"
        raise BadInput(path, key, "is missing, so that nobody knows which judges may judge it", "say whose model it is")
    for name in audit.judges:
        _check(registry, path, corpus, audit, name)
        if registry.judges[name].family.casefold() == family.casefold():
            raise BadInput(
                f"corpus {corpus}", "audit.judges", f"has {name}, of the family {family!r} as {model} is",
                "name a judge of another family",
            )  # fmt: skip
    prompt, (source, target) = prompts.load("judge"), map(language_name, languages)
    judges = (versioned(registry.model(name), provider.ledger) for name in sorted(audit.judges))
    return Panel(tuple(Task(each_judge, prompt, source, target) for each_judge in judges), audit)


def _check(registry: Registry, path: str, corpus: str, audit: Audit, judge: str) -> None:
    if judge not in registry.judges:
        raise BadInput(
            path, f"judges.{judge}", f"is missing, but corpus {corpus} names it as a judge",
            f"add it, or name some of {sorted(registry.judges)} in the description",
        )  # fmt: skip
    if audit.judges.count(judge) > 1:
        raise BadInput(f"corpus {corpus}", "audit.judges", f"has {judge} twice", "name another judge in its place")
    if not registry.judges[judge].family:
        problem = "is missing, so that nobody knows whom it may judge"
        raise BadInput(path, f"judges.{judge}.family", problem, "say whose model it is")


def estimate(provider: Provider, work: Work) -> Estimate:
    """Calls and cost of judging items, taking every first answer to be one."""
    by_judge: dict[str, list[tuple[Task, Case]]] = {}
    for task, case in _cases(work):
        by_judge.setdefault(task.model.name, []).append((task, case))
    return total(
        of_questions([task.question(case) for task, case in cases], provider.ledger) for cases in by_judge.values()
    )


def votes(provider: Provider, work: Work, run: str) -> list[list[Vote]]:
    """Ask every judge about every item, after saying how many calls that is and about what it will cost. The run pays.

    An item is put to all its judges before the next one is: so all of them are busy all the time, and where a budget
    ends the asking, few items have the votes of some judges only.

    Returns
    -------
    For each item the votes of its panel's judges, both in their order.
    """
    if not work:
        return []
    logger.info("panel: %s", estimate(provider, work))
    cases = _cases(work)
    given: dict[int, Vote] = {}

    async def ask_all() -> None:
        said = time.monotonic()
        async with provider.opened(run) as client:

            async def one(number: int) -> None:
                given[number] = await judge(client.ask, *cases[number])

            judges = {task.model.name: task.model for task, _ in cases}
            async for _ in each(one, range(len(cases)), sum(client.width(model) for model in judges.values())):
                if time.monotonic() > said + SECONDS_BETWEEN_WORDS or len(given) == len(cases):
                    logger.info("panel: %d of %d votes", len(given), len(cases))
                    said = time.monotonic()

    complete(ask_all())
    in_order = (given[number] for number in range(len(cases)))
    return [[next(in_order) for _ in seated.tasks] for seated, _ in work]


def _cases(work: Work) -> list[tuple[Task, Case]]:
    return [pair for seated, item in work for pair in seated.cases(item)]
