"""Texts as arrays of numbers: the tokens of BLEU, the words and the characters of chrF++, as sacrebleu cuts them.

Here: tokenizing each distinct word once. Not here: n-grams of tokens (metrics.ngrams), scores (metrics.lexical).
"""

import itertools
from array import array
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

_BLEU = BLEU()
_CHRF = CHRF()


class Vocabulary(dict[str, int]):
    """The words so far, numbered, and the tokens that `cut` gives for each."""

    def __init__(self, cut: Callable[[str], list[str]]) -> None:
        super().__init__()
        self._cut = cut
        self._numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self._tokens, self._bounds = array("q"), array("q", [0])

    def __missing__(self, word: str) -> int:
        """Number a new word and its tokens."""
        self[word] = number = len(self)
        self._tokens.extend(self._numbers[token] for token in self._cut(word))
        self._bounds.append(len(self._tokens))
        return number

    def tokens(self, texts: list[list[str]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Convert texts to token numbers.

        Parameters
        ----------
        texts
            The words of each text.

        Returns
        -------
        tokens
            Token numbers of all texts, concatenated. Equal tokens have equal numbers.
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


def bleu_words(text: str, words: list[str]) -> list[str]:
    """The units that `bleu_tokens` can cut independently: the words of a text, or the whole text if a rule reaches
    beyond a word.

    Notes
    -----
    sacrebleu's rules look no further than the character next to the one that they cut off, and white space of any kind
    is neither a digit nor a full stop or comma. Only a hyphen at the end of a line, and a mark whose removal makes such
    a hyphen, join words.
    """
    text = text.rstrip()
    return [text] if "-\n" in text or "<skipped>" in text else words


def bleu_tokens(word: str) -> list[str]:
    """The tokens of sacrebleu's tokenizer 13a, whose rules concern ASCII punctuation only."""
    tokens: list[str] = [word] if word.isalnum() else _BLEU.tokenizer(word).split()
    return tokens


def chrf_words(word: str) -> list[str]:
    """The word with one punctuation mark cut off, as sacrebleu does for chrF++."""
    return _CHRF._remove_punctuation(word)


def characters(texts: list[list[str]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Code points of texts given as words, hence without white space, and each text's count; as `Vocabulary.tokens`."""
    joined = ["".join(text) for text in texts]
    points = np.frombuffer("".join(joined).encode("utf-32-le"), dtype="<u4")
    return points.astype(np.int64), np.array([len(text) for text in joined])
