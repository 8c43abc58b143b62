"""A process that asks questions until it is done or killed: `tests.provider.asker URL LEDGER COUNT TIMEOUT`."""

import sys

from resources.provider.client import complete, each, opened
from resources.provider.ledger import Ledger
from tests.provider.support import NO_BUDGET, at, model, question


async def ask_all(url: str, ledger: Ledger, count: int, timeout: float) -> int:
    """Ask `count` questions, 64 at a time; return how many were answered."""
    asked = model(url, {"timeout": timeout})
    async with opened(ledger.session("run", NO_BUDGET)) as client:
        answered = 0
        async for _ in each(lambda number: client.ask(question(asked, number)), range(count), 64):
            answered += 1
    return answered


if __name__ == "__main__":
    url, ledger, count, timeout = sys.argv[1:]
    print(complete(ask_all(url, at(ledger), int(count), float(timeout))))
