"""The tokenizer that BLEU uses for a corpus: named in the description, or chosen by the target language's script.

Here: the choice and loading of sacrebleu's tokenizers. Not here: tokens of texts (metrics.tokens).
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import polars as pl
from babel.core import get_global

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.corpus.units import scoring
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse

DEFAULT = "13a"
"""Tokenizer for scripts that separate words by spaces."""

_BY_SCRIPT = {
    **dict.fromkeys(("Hans", "Hant", "Hani"), "zh"),
    **dict.fromkeys(("Jpan", "Hrkt", "Hira", "Kana"), "ja-mecab"),
    **dict.fromkeys(("Kore", "Hang"), "ko-mecab"),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Tibt", "Bali", "Java", "Lana", "Tale", "Talu", "Tavt", "Tang",
                     "Nshu", "Kits"), "char"),
}  # fmt: skip
_SCRIPTS = {"och": "Hani", "ltc": "Hani", "ojp": "Jpan", "xct": "Tibt"}  # languages for which CLDR has no script
_SPACED = {"ain"}  # Ainu has spaces between words in Katakana, too, and MeCab's dictionaries are Japanese

_COMMANDS = {"ja-mecab": 'pip install "sacrebleu[ja]"', "ko-mecab": 'pip install "sacrebleu[ko]"'}
_SENTENCE_PIECES = "pip install sentencepiece"

_PLANES = re.compile("[\U00020000-\U0003ffff]")
CHINESE_SIGNATURE = "zh+planes2-3"
"""Signature of `zh`, which here also divides the Chinese characters of Unicode's planes 2 and 3.

sacrebleu means to divide those of plane 2, but compares one character with the strings "\\u2000" + "0" and
"\\u2a6d" + "6", so that a clause of them is one token. All other texts have sacrebleu's tokens.
"""


class Tokenizer(Protocol):
    """A tokenizer in sacrebleu's form."""

    def __call__(self, line: str) -> str:
        """The tokens of a text, separated by spaces."""
        ...

    def signature(self) -> str:
        """Name and version, for the signatures of scores."""
        ...


class _Chinese:
    """sacrebleu's `zh`, corrected."""

    def __init__(self, sacrebleu: Tokenizer) -> None:
        self._sacrebleu = sacrebleu

    def __call__(self, line: str) -> str:
        return self._sacrebleu(_PLANES.sub(r" \g<0> ", line))

    def signature(self) -> str:
        return CHINESE_SIGNATURE


def tokenizer_of(language: str) -> str:
    """Name of sacrebleu's tokenizer for a language.

    Parameters
    ----------
    language
        BCP 47 or ISO 639 tag. A script in the tag takes precedence over the usual script of the language (according to
        CLDR's likely subtags): `bo-Latn` is Tibetan with spaces between syllables.

    Notes
    -----
    sacrebleu recommends `zh`, `ja-mecab` and `ko-mecab` for Chinese, Japanese and Korean. Scripts that do not separate
    words are divided into characters, because 13a would take a whole phrase as one token.
    """
    base, *further = language.replace("_", "-").split("-")
    name = get_global("language_aliases").get(base.lower(), base.lower())
    if name in _SPACED:
        return DEFAULT
    likely = get_global("likely_subtags").get(name, "__").split("_")[1] or _SCRIPTS.get(name, "")
    script = next((part.title() for part in further if len(part) == 4), likely)
    return _BY_SCRIPT.get(script, DEFAULT)


def tokenized(warehouse: Warehouse, rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column `tokenizer` to rows with a column `passage`: the name of the tokenizer of their corpus."""
    settings = scoring(warehouse)
    names = {
        corpus: (settings[corpus].tokenizer if corpus in settings else "") or tokenizer_of(target)
        for corpus, (_, target) in corpus_languages(warehouse).items()
    }
    return rows.with_columns(tokenizer=CORPUS.replace_strict(names, default=DEFAULT, return_dtype=pl.String))


def available(rows: pl.DataFrame, on: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows with an installed tokenizer, as `tokenized` returns them, and failures for all other rows.

    The failures have one row for each combination of values in the columns `on`. The column `error` has the message.
    """
    errors = {}
    for name in rows["tokenizer"].unique():
        try:
            load(name)
        except BadInput as fault:
            errors[name] = str(fault)
    error = pl.col("tokenizer").replace_strict(errors, default=None, return_dtype=pl.String)
    failures = rows.with_columns(error=error).drop_nulls("error").unique(on)
    return rows.join(failures, on=on, how="anti", maintain_order="left"), failures


@cache
def load(name: str) -> Tokenizer:
    """sacrebleu's tokenizer; `zh` is corrected (`CHINESE_SIGNATURE`).

    Raises
    ------
    BadInput
        If the libraries of the tokenizer are not installed, or its model cannot be downloaded.
    """
    from sacrebleu.metrics.bleu import BLEU

    try:
        tokenizer: Tokenizer = BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:  # a RuntimeError without MeCab
        remedy = f"run `{_COMMANDS.get(name, _SENTENCE_PIECES)}`, or name another tokenizer under `scoring`"
        raise BadInput("tokenizer of BLEU", name, "its libraries are not installed", remedy) from error
    except OSError as error:
        remedy = "check the connection, or name another tokenizer under `scoring`"
        raise BadInput("tokenizer of BLEU", name, f"its model cannot be downloaded ({error})", remedy) from error
    return _Chinese(tokenizer) if name == "zh" else tokenizer


def tokenizer_signature(name: str) -> str:
    """Signature of a tokenizer, sacrebleu's with the version of MeCab. If a library is missing, returns `name`."""
    try:
        return load(name).signature()
    except BadInput:
        return name
