"""The tokenizer that BLEU uses for a corpus: named in the description, or chosen by the target language's script.

Here: the choice and loading of sacrebleu's tokenizers. Not here: tokens of texts (metrics.tokens).
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import polars as pl
from babel.core import get_global

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.corpus.units import scoring
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    from sacrebleu.tokenizers.tokenizer_base import BaseTokenizer

DEFAULT = "13a"
"""Tokenizer for scripts that separate words by spaces."""

_BY_SCRIPT = {
    **dict.fromkeys(("Hans", "Hant", "Hani"), "zh"),
    **dict.fromkeys(("Jpan", "Hrkt", "Hira", "Kana"), "ja-mecab"),
    **dict.fromkeys(("Kore", "Hang"), "ko-mecab"),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Tibt", "Bali", "Java", "Lana", "Tale", "Talu", "Tavt"), "char"),
}
_SCRIPTS = {"och": "Hani", "ltc": "Hani", "ojp": "Jpan", "xct": "Tibt"}  # languages for which CLDR has no script

_COMMANDS = {"ja-mecab": 'pip install "sacrebleu[ja]"', "ko-mecab": 'pip install "sacrebleu[ko]"'}
_SENTENCE_PIECES = "pip install sentencepiece"


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
def load(name: str) -> "BaseTokenizer":
    """sacrebleu's tokenizer: maps a text to its tokens, separated by spaces.

    Raises
    ------
    BadInput
        If the libraries of the tokenizer are not installed, or its model cannot be downloaded.
    """
    from sacrebleu.metrics.bleu import BLEU

    try:
        tokenizer: BaseTokenizer = BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:  # a RuntimeError without MeCab
        remedy = f"run `{_COMMANDS.get(name, _SENTENCE_PIECES)}`, or name another tokenizer under `scoring`"
        raise BadInput("tokenizer of BLEU", name, "its libraries are not installed", remedy) from error
    except OSError as error:
        remedy = "check the connection, or name another tokenizer under `scoring`"
        raise BadInput("tokenizer of BLEU", name, f"its model cannot be downloaded ({error})", remedy) from error
    return tokenizer


def tokenizer_signature(name: str) -> str:
    """sacrebleu's signature of a tokenizer, with the version of MeCab. If a library is missing, returns `name`."""
    try:
        return str(load(name).signature())  # type: ignore[no-untyped-call]
    except BadInput:
        return name
