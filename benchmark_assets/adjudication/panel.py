"""The panel of a corpus: which judges sit on it, what each of them is shown, and asking all of them about everything.

Here: the order of references, what determines a vote, the calls of a run. Not here: who may judge whom (impartial),
what one judge is asked and what its answer must be (judging), what the votes amount to (verdicts), which outputs are
judged (triage).
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.judging import Case, Scores, Vote, judge, judging, shown
from benchmark_assets.adjudication.outputs import ask_all
from benchmark_assets.corpus.description import Audit
from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.digest import digest
from resources.errors import BadInput
from resources.provider.asking import Ask, Task, estimate_asking
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider

logger = logging.getLogger("variorum.adjudication")


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
        Where the number of judges is even, or one of them may not judge the model (see impartial).
    """
    if len(audit.judges) % 2 == 0:
        problem = f"are {len(audit.judges)}, so that votes may be equal"
        raise BadInput(f"corpus {corpus}", "audit.judges", problem, "name an odd number of judges")
    judges = impartial(provider, audit.judges, model, f"corpus {corpus}", "audit.judges")
    prompt, (source, target) = prompts.load("judge"), map(language_name, languages)
    return Panel(tuple(judging(judge, prompt, source, target) for judge in judges), audit)


def estimate(provider: Provider, work: Work) -> Estimate:
    """Calls and cost of judging items, taking every first answer to be one."""
    return estimate_asking(provider.ledger, ((task, shown(case)) for task, case in _cases(work)))


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

    async def one(ask: Ask, case: tuple[Task, Case]) -> Vote:
        return await judge(ask, *case)

    asked = ask_all(provider, "panel", one, _cases(work), lambda case: case[0], run)
    in_order = iter(vote for _, vote in asked)
    return [[next(in_order) for _ in seated.tasks] for seated, _ in work]


def _cases(work: Work) -> list[tuple[Task, Case]]:
    return [pair for seated, item in work for pair in seated.cases(item)]
