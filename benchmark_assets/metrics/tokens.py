"""Tokenization as in sacrebleu: texts as arrays of token numbers, for BLEU's tokens and chrF++'s words and characters.

Each distinct word, or text, is tokenized once. Not here: the choice of a tokenizer (metrics.tokenizers), n-grams of
tokens (metrics.ngrams), scores (metrics.lexical).
"""

import itertools
from array import array
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.metrics.tokenizers import DEFAULT, load

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF


class Vocabulary(dict[str, int]):
    """Numbers words in order of first occurrence, and stores the numbers of each word's tokens.

    `cut` divides a word into tokens.
    """

    def __init__(self, cut: Callable[[str], list[str]]) -> None:
        super().__init__()
        self._cut = cut
        self._numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self._tokens, self._bounds = array("q"), array("q", [0])

    def __missing__(self, word: str) -> int:
        """Assign a number to a new word, and tokenize the word."""
        self[word] = number = len(self)
        self._tokens.extend(self._numbers[token] for token in self._cut(word))
        self._bounds.append(len(self._tokens))
        return number

    def tokens(self, texts: list[list[str]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Convert texts to token numbers.

        Parameters
        ----------
        texts
            Words of each text.

        Returns
        -------
        tokens
            Token numbers of all texts, concatenated; equal for equal tokens.
        lengths
            Number of tokens of each text, shape (texts,).
        """
        words = np.fromiter(map(self.__getitem__, itertools.chain.from_iterable(texts)), dtype=np.int64)
        tokens, bounds = np.array(self._tokens), np.array(self._bounds)
        counts = np.diff(bounds)[words]
        ends = np.cumsum(counts)
        places = np.repeat(bounds[words + 1] - ends, counts) + np.arange(counts.sum())
        last = np.cumsum([len(text) for text in texts])
        return tokens[places], np.diff(np.append(0, ends)[last], prepend=0)


def bleu_words(text: str, words: list[str], tokenizer: str = DEFAULT) -> list[str]:
    """The parts of a text that a tokenizer can tokenize independently: the whole text, or its words for 13a.

    Notes
    -----
    The rules of 13a depend on one adjacent character at most, and treat all white space alike. Only two rules affect
    more than one word: a hyphen at the end of a line joins two words, and the removal of `<skipped>` may expose such a
    hyphen. Texts to which one of them may apply are not divided. Other tokenizers treat the ends of a text differently
    from its middle, or look at whole sentences.
    """
    text = text.rstrip()
    return [text] if tokenizer != DEFAULT or "-\n" in text or "<skipped>" in text else words


def bleu_tokens(tokenizer: str) -> Callable[[str], list[str]]:
    """A function that tokenizes a word or a text with one of sacrebleu's tokenizers.

    13a divides words at ASCII punctuation only. Raises BadInput if the tokenizer's libraries are not installed.
    """
    tokenize = load(tokenizer)

    def tokens(word: str) -> list[str]:
        of_word: list[str] = [word] if tokenizer == DEFAULT and word.isalnum() else tokenize(word).split()
        return of_word

    return tokens


def chrf_words(word: str) -> list[str]:
    """Split a punctuation mark from the beginning or end of a word, as in sacrebleu's chrF++."""
    return _chrf()._remove_punctuation(word)


@cache
def _chrf() -> "CHRF":
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def characters(texts: list[list[str]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Code points of all texts, concatenated, and the number of characters of each text. White space is left out.

    Each text is a list of words.
    """
    joined = ["".join(text) for text in texts]
    points = np.frombuffer("".join(joined).encode("utf-32-le"), dtype="<u4")
    return points.astype(np.int64), np.array([len(text) for text in joined])
