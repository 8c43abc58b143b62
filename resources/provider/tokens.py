"""Local token counts: an estimate, an upper bound, and the exact count if the tokenizer is available.

Here: counters for plain text. Not here: tokens that a chat template adds, tokens that a provider bills (reading).
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from resources.errors import BadInput

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Counter = Callable[[str], int]


def estimate(text: str) -> int:
    """Estimate the tokens of a text: one token per 3 bytes of UTF-8, rounded up.

    Tokens per byte vary less across scripts than tokens per character or word: a Chinese character has 3 bytes, a Greek
    letter 2, a Latin letter 1. Bytes per token measured with MiniLM's WordPiece tokenizer: Latin 2.7, romanized Pali
    3.0, classical Chinese 3.0, Japanese 3.1, English 4.1. A script rare in the tokenizer's training takes more tokens,
    at worst three times the estimate (`upper_bound`). Use the estimate to size batches, not to compute costs.
    """
    return -(-len(text.encode()) // 3)


def upper_bound(text: str) -> int:
    """Count the UTF-8 bytes of a text: an upper bound for byte-level tokenizers, whose tokens have at least one byte.

    Special tokens and tokens of the chat template are not included.
    """
    return len(text.encode())


def counter(tokenizer: Path | None) -> Counter:
    """Return a function that counts tokens exactly, with a Hugging Face tokenizer.json; without a file, return
    `estimate`.

    Special tokens are not counted.

    The file is read when the first text is counted.

    Raises
    ------
    BadInput
        If the file does not exist. If the file is not a tokenizer, the counter raises BadInput at the first text.
    """
    if tokenizer is None:
        return estimate
    if not tokenizer.is_file():
        raise BadInput(tokenizer, "", "no such file", "give the path of a tokenizer.json")
    path = tokenizer.resolve()
    return lambda text: len(_tokenizer(path).encode(text, add_special_tokens=False).ids)


@cache
def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no more specific exception
        reason = str(error).partition("\n")[0]
        raise BadInput(path, "", f"is not a tokenizer ({reason})", "give the path of a tokenizer.json") from error
    # The file's batch settings would pad to 128 tokens, and padding would be counted as text.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
