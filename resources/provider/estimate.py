"""Estimates of calls, tokens, cost and time for questions that have not been asked yet, and of the tokens of texts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from resources.errors import BadInput
from resources.provider.ledger import Ledger
from resources.provider.question import Question
from resources.provider.registry import NANO, Model

WAIT = 2.0
"""Assumed seconds until a reply begins, for a model without replies in the ledger."""

SPEED = 50.0
"""Assumed tokens of a reply per second, for a model without replies in the ledger: typical of hosted models."""


class CostEstimate(NamedTuple):
    """Number of calls, number of calls already in the ledger, and cost of the remaining calls in US dollars.

    `about` is the likely cost and `most` the worst-case cost. Both are None without a price. `tokens` are the likely
    prompt and completion tokens of the remaining calls. `seconds` is the time that these calls take, if as many are in
    flight as the registry allows. `measured` is true if the time of a call is known from the ledger, and false if it
    follows from `WAIT` and `SPEED`.
    """

    calls: int
    recorded: int
    about: float | None
    most: float | None
    tokens: int = 0
    seconds: float = 0.0
    measured: bool = True

    @property
    def may_cost(self) -> bool:
        """Whether a call is left that may cost something; without a price, it may."""
        return self.calls > self.recorded and self.most != 0

    def check_consent(self, where: str, accepted: bool, remedy: str = "repeat the command with `--accept`") -> None:
        """Raise BadInput about `where` if a call that may cost something is left, and the user has not accepted it."""
        if self.may_cost and not accepted:
            raise BadInput(where, "", f"needs your consent to costs: {self}", remedy)

    def __str__(self) -> str:
        """The estimate as one line of text."""
        calls = f"{self.calls} calls, {self.recorded} of them already in the ledger"
        if self.about is None or self.most is None:
            return f"{calls}; cost unknown, because the registry has no price"
        return f"{calls}; the remaining calls cost about {self.about:.4f} dollars, at most {self.most:.4f}"


def total(estimates: Iterable[CostEstimate]) -> CostEstimate:
    """Sum estimates, as if they were carried out one after the other. Costs are None if an estimate has no price."""
    parts = list(estimates)
    prices = [(part.about, part.most) for part in parts if part.about is not None and part.most is not None]
    complete = len(prices) == len(parts)
    return CostEstimate(
        sum(part.calls for part in parts), sum(part.recorded for part in parts),
        sum(about for about, _ in prices) if complete else None, sum(most for _, most in prices) if complete else None,
        sum(part.tokens for part in parts), sum(part.seconds for part in parts), all(part.measured for part in parts),
    )  # fmt: skip


def tokens(text: str) -> int:
    """Estimate the tokens of a text: one token per 3 bytes of UTF-8, rounded up.

    Tokens per byte vary less across scripts than tokens per character or word: a Chinese character has 3 bytes, a Greek
    letter 2, a Latin letter 1. Bytes per token measured with MiniLM's WordPiece tokenizer: Latin 2.7, romanized Pali
    3.0, classical Chinese 3.0, Japanese 3.1, English 4.1. A script rare in the tokenizer's training takes more tokens,
    at worst one per byte. Use the estimate to size batches, not to bound costs.
    """
    return -(-len(text.encode()) // 3)


def estimate(questions: Sequence[Question], ledger: Ledger) -> CostEstimate:
    """Estimate the cost of one attempt at each question. All questions must have the same model and purpose.

    The likely cost assumes the model's previous ratio of completion to prompt tokens, or 1 before its first call. The
    worst-case cost is the sum that the budget reserves. A call is assumed to take as long as the model's previous calls
    for this purpose.
    """
    if not questions:
        return CostEstimate(0, 0, 0, 0)
    done = ledger.answered(question.key for question in questions)
    open_questions = [question for question in questions if question.key not in done]
    model, purpose = questions[0].model, questions[0].purpose
    prompts, completions = ledger.usage(model.name, purpose) or (1, 1)
    prompt_tokens = [tokens(question.canonical.decode()) for question in open_questions]
    replies = [round(prompt * completions / prompts) for prompt in prompt_tokens]
    pace = ledger.pace(model.name, purpose) if open_questions else 0.0
    calls = [WAIT + reply / SPEED if pace is None else pace for reply in replies]
    about, most = _dollars(model, open_questions, list(zip(prompt_tokens, replies, strict=True)))
    return CostEstimate(
        len(questions), len(done), about, most, sum(prompt_tokens) + sum(replies), sum(calls) / model.in_flight,
        pace is not None,
    )  # fmt: skip


def _dollars(
    model: Model, questions: Sequence[Question], counts: Sequence[tuple[int, int]]
) -> tuple[float | None, float | None]:
    """Likely and worst-case cost of questions to a model; `counts` has the tokens of each prompt and reply."""
    if not questions:
        return 0, 0
    price, worst = model.price, [question.worst_case for question in questions]
    if price is None:
        return None, None
    about = sum(price.cost(prompt, reply) for prompt, reply in counts)
    return about / NANO, sum(each for each in worst if each is not None) / NANO
