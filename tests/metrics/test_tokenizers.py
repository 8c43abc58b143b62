from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from benchmark_assets.automation.due import due
from benchmark_assets.corpus.description import load as load_description
from benchmark_assets.corpus.registry import register
from benchmark_assets.metrics.lexical import lexical_settings
from benchmark_assets.metrics.tokenizers import available, load, tokenized, tokenizer_of, tokenizer_signature
from resources.errors import BadInput
from resources.warehouse import Warehouse

WITHOUT_MECAB = pytest.mark.skipif(find_spec("ipadic") is not None, reason="MeCab is installed")


@pytest.mark.parametrize(
    ("languages", "tokenizer"),
    [
        (["en", "la", "pi", "sa", "grc", "he", "ar", "mn", "vi", "am", "ain", "ain-Kana", "unknown", "", "x"], "13a"),
        (["zh", "zho", "chi", "lzh", "cmn", "yue", "zh-TW", "zh_Hant", "zh-Hans-CN", "och", "ltc"], "zh"),
        (["ja", "jpn", "ja-JP", "ojp"], "ja-mecab"),
        (["ko", "kor", "okm"], "ko-mecab"),
        (["th", "tha", "lo", "km", "my", "bur", "bo", "bod", "tib", "xct", "dz", "shn", "nod", "khb", "txg"], "char"),
        (["pi-Thai", "pi-Mymr", "sa-Tibt", "jv-Java", "PI-thai"], "char"),
        (["bo-Latn", "zh-Latn", "ja-Latn", "th-Latn-TH"], "13a"),
    ],
)
def test_a_language_has_the_tokenizer_of_its_script(languages: Sequence[str], tokenizer: str) -> None:
    assert {language: tokenizer_of(language) for language in languages} == dict.fromkeys(languages, tokenizer)


def test_all_chosen_tokenizers_are_known_to_sacrebleu() -> None:
    assert {tokenizer_of(tag) for tag in ("en", "zh", "ja", "ko", "th")} <= set(BLEU.TOKENIZERS)


class Twin(dict[int, int]):
    """A Chinese character of the basic plane for each one of planes 2 and 3."""

    def __missing__(self, point: int) -> int:
        return 0x4E00 + point % 0x5000 if 0x20000 <= point <= 0x3FFFF else point


@given(st.text(st.characters() | st.sampled_from("道可𠀀𪛖丽𰻞, a.5😀\u2000ー")))
def test_characters_beyond_the_basic_plane_are_divided_as_other_chinese_ones(text: str) -> None:
    tokenizer, twin = load("zh"), Twin()
    assert tokenizer(text).translate(twin) == BLEU(tokenize="zh").tokenizer(text.translate(twin))


@WITHOUT_MECAB
@pytest.mark.parametrize(
    ("name", "command"),
    [("ja-mecab", r'pip install "sacrebleu\[ja\]"'), ("ko-mecab", r'pip install "sacrebleu\[ko\]"')],
)
def test_without_its_libraries_a_tokenizer_names_the_command(name: str, command: str) -> None:
    with pytest.raises(BadInput, match=f"{name}: its libraries are not installed; run `{command}`"):
        load(name)
    assert tokenizer_signature(name) == name
    rows = pl.DataFrame({"passage": ["a/1", "b/1", "c/1"], "tokenizer": ["13a", name, "zh"]})
    others, failures = available(rows, ["passage"])
    assert others["passage"].to_list() == ["a/1", "c/1"]
    assert failures["passage"].to_list() == ["b/1"]
    assert "pip install" in failures["error"].item()


def describe(folder: Path, name: str, target: str, scoring: dict[str, str] | None = None) -> Path:
    """Description of a corpus without references, in a folder of its own."""
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "texts.jsonl").write_text('{"passage_id": "1", "lang": "la", "source": "Mus currit."}\n')
    text = {
        "name": name, "layout": "jsonl", "root": "texts.jsonl", "source": {"language": "la", "licence": "CC0-1.0"},
        "target": target, "scoring": scoring or {},
    }  # fmt: skip
    (folder / name / "corpus.yaml").write_text(yaml.safe_dump(text))
    return folder / name / "corpus.yaml"


def test_the_tokenizer_is_that_of_the_corpus(warehouse: Warehouse, tmp_path: Path) -> None:
    corpora = {"a": ("en", None), "b": ("zh-Hant", None), "c": ("zh", {"tokenizer": "char"}), "d": ("th", None)}
    for name, (target, scoring) in corpora.items():
        register(warehouse, describe(tmp_path, name, target, scoring))
    rows = pl.DataFrame({"passage": [f"{name}/1" for name in "dcbae"]})
    assert tokenized(warehouse, rows)["tokenizer"].to_list() == ["char", "char", "zh", "13a", "13a"]
    settings = lexical_settings(warehouse, rows, "further ")
    assert settings["passage"].to_list() == rows["passage"].to_list()
    assert settings["settings"].n_unique() == 3
    assert settings["settings"].str.starts_with("further {'BLEU'").all()
    assert "tok:zh+planes2-3|" in settings["settings"][2]


def test_a_description_names_a_tokenizer_of_sacrebleu(tmp_path: Path) -> None:
    assert load_description(describe(tmp_path, "a", "en", {"tokenizer": "flores200"})).scoring.tokenizer == "flores200"
    with pytest.raises(BadInput, match=r"scoring.tokenizer: 'mecab' is not a tokenizer of sacrebleu; use one of 13a,"):
        load_description(describe(tmp_path, "b", "ja", {"tokenizer": "mecab"}))


def test_another_tokenizer_makes_lexical_scores_stale_and_nothing_else(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    names = ["lexical_score", "human_baseline", "drift_score", "comet_score"]

    def stale() -> dict[str, int]:
        return {name: len(due(built, instance, dg.AssetKey(name)).rows) for name in names}

    assert not any(stale().values())
    corpus.write_text(yaml.safe_dump(yaml.safe_load(corpus.read_text()) | {"scoring": {"tokenizer": "char"}}))
    register(warehouse, corpus)
    assert stale() == {"lexical_score": 6, "human_baseline": 3, "drift_score": 0, "comet_score": 0}
