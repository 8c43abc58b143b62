"""Cost estimates for questions that have not been asked yet."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from resources.provider.ledger import Ledger
from resources.provider.question import Question
from resources.provider.registry import NANO
from resources.provider.tokens import estimate as tokens


class Estimate(NamedTuple):
    """Number of calls, number of calls already in the ledger, and cost of the remaining calls in US dollars.

    `about` is the likely cost and `most` the worst-case cost. Both are None without a price.
    """

    calls: int
    recorded: int
    about: float | None
    most: float | None

    def __str__(self) -> str:
        """The estimate as one line of text."""
        calls = f"{self.calls} calls, {self.recorded} of them already in the ledger"
        if self.about is None or self.most is None:
            return f"{calls}; cost unknown, because the registry has no price"
        return f"{calls}; the remaining calls cost about {self.about:.4f} dollars, at most {self.most:.4f}"


def total(estimates: Iterable[Estimate]) -> Estimate:
    """Sum estimates. Costs are None if an estimate has no price."""
    parts = list(estimates)
    prices = [(part.about, part.most) for part in parts if part.about is not None and part.most is not None]
    complete = len(prices) == len(parts)
    return Estimate(
        sum(part.calls for part in parts), sum(part.recorded for part in parts),
        sum(about for about, _ in prices) if complete else None, sum(most for _, most in prices) if complete else None,
    )  # fmt: skip


def estimate(questions: Sequence[Question], ledger: Ledger) -> Estimate:
    """Estimate the cost of one attempt at each question. All questions must have the same model and purpose.

    The likely cost assumes the model's previous ratio of completion to prompt tokens, or 1 before its first call. The
    worst-case cost is the sum that the budget reserves.
    """
    done = ledger.answered(question.key for question in questions)
    open_questions = [question for question in questions if question.key not in done]
    about, most = 0, 0
    prompts, completions = (
        ledger.usage(questions[0].model.name, questions[0].purpose) or (1, 1) if questions else (1, 1)
    )
    for question in open_questions:
        price, worst = question.model.price, question.worst_case
        if price is None or worst is None:
            return Estimate(len(questions), len(done), None, None)
        prompt = tokens(question.canonical.decode())
        about += price.cost(prompt, round(prompt * completions / prompts))
        most += worst
    return Estimate(len(questions), len(done), about / NANO, most / NANO)
