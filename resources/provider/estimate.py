"""What questions will cost, before any of them is asked."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from resources.provider.ledger import answered, usage
from resources.provider.question import Question
from resources.provider.registry import NANO
from resources.provider.tokens import estimate as tokens


class Estimate(NamedTuple):
    """Calls, those of them that the ledger answers for nothing, and US dollars for the others; None without a price."""

    calls: int
    recorded: int
    about: float | None
    most: float | None

    def __str__(self) -> str:
        """One line for a person."""
        calls = f"{self.calls} calls, {self.recorded} of them answered in the ledger"
        if self.about is None or self.most is None:
            return f"{calls}; what they cost is unknown, for the registry has no price"
        return f"{calls}; the others cost about {self.about:.4f} dollars, {self.most:.4f} at most"


def total(estimates: Iterable[Estimate]) -> Estimate:
    """All of them together; without a price where one is."""
    each = list(estimates)
    priced = [(one.about, one.most) for one in each if one.about is not None and one.most is not None]
    known = len(priced) == len(each)
    return Estimate(
        sum(one.calls for one in each), sum(one.recorded for one in each),
        sum(about for about, _ in priced) if known else None, sum(most for _, most in priced) if known else None,
    )  # fmt: skip


def estimate(questions: Sequence[Question], ledger: Path) -> Estimate:
    """Estimate what one attempt at each question costs; all are put to one model for one purpose.

    Replies are taken to be as long, in proportion to what is asked, as this model's were so far; before its first call,
    as long as what is asked. The most that they can cost is what the budget reserves.
    """
    done = answered(ledger, [question.key for question in questions])
    open_questions = [question for question in questions if question.key not in done]
    about, most = 0, 0
    asked, replied = usage(ledger, questions[0].model.name, questions[0].purpose) or (1, 1) if questions else (1, 1)
    for question in open_questions:
        price, worst = question.model.price, question.worst_case
        if price is None or worst is None:
            return Estimate(len(questions), len(done), None, None)
        prompt = tokens(question.canonical.decode())
        about += price.cost(prompt, round(prompt * replied / asked))
        most += worst
    return Estimate(len(questions), len(done), about / NANO, most / NANO)
