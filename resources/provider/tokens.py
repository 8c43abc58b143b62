"""Counting tokens without asking anyone: an estimate, a bound, and the exact count where the tokenizer is at hand.

Here: counters of plain text. Not here: what a chat template adds to it, and what a provider bills: its reply says so.
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
    """A token for every 3 bytes of UTF-8, rounded up: a rule of thumb.

    Bytes vary less than characters or words: a Chinese character has 3 bytes, a Greek letter 2, a Latin one 1, and
    about as many tokens per byte. Measured with the WordPiece tokenizer of MiniLM, bytes a token: Latin 2.7, romanized
    Pali 3.0, classical Chinese 3.0, Japanese 3.1, English 4.1. A script that a tokenizer hardly knows costs more tokens
    than estimated, three times as many at worst (`upper_bound`). Use it to cut batches, not to bill.
    """
    return -(-len(text.encode()) // 3)


def upper_bound(text: str) -> int:
    """Number of UTF-8 bytes: no byte-level tokenizer makes more tokens of a text, for each token holds a byte or more.

    Special tokens and what a chat template puts around the text come on top.
    """
    return len(text.encode())


def counter(tokenizer: Path | None) -> Counter:
    """The exact counter of a Hugging Face `tokenizer.json`, without special tokens; `estimate` for None.

    The file is read at the first text.

    Raises
    ------
    BadInput
        Where there is no such file; from the counter, at the first text, where the file is no tokenizer.
    """
    if tokenizer is None:
        return estimate
    if not tokenizer.is_file():
        raise BadInput(tokenizer, "", "is no file", "give the path of a tokenizer.json")
    path = tokenizer.resolve()
    return lambda text: len(_tokenizer(path).encode(text, add_special_tokens=False).ids)


@cache
def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        reason = str(error).partition("\n")[0]
        raise BadInput(path, "", f"is no tokenizer ({reason})", "give the path of a tokenizer.json") from error
    # Files carry the model's own settings for batches; padding to 128 tokens would be counted as text.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
