"""Local token counts: an estimate and an upper bound.

Here: counters for plain text. Not here: tokens that a chat template adds, tokens that a provider bills (reading).
"""


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
