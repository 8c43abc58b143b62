"""Sentences, chunks and contexts of running text, against every possible cut where the text is small."""

import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.chunks import after, before, chunks, count, sentence_ends
from benchmark_assets.corpus.description import Chunks

SENTENCES = [
    "今日は雨だ。|明日は晴れる。",
    "「来た。|見た。」|と言った。",
    "“你來了？”|他說：“來了。”",
    '他說：“來了！"|她笑了．',
    '他說了。|"誰？"|她問。',
    "「え？」、と聞いた。|おしまい",
    "「え」と聞いた。|「（笑。）」|済んだ。",
    "「……本当ですよ」と云う。|まさか……|「そうか！？」|そうだ。",
    "只剩３．５兩．|他走了．",
    "題名\n|初めの文。|次の文は\n|続かない。",
    "前の文。　|「後の文」",
    "他叫`辣子．'|又叫鳳．",
    '"어디 가니?" |그가 물었다. |그녀는 웃었다.',
    '"가자!"고 했다. |‘그래...’ |그는 갔다(웃음).  |끝',
    "제3.5장. |1. 처음이다!\n|KBS. 그는 '왔다.'라고 했다.",
    unicodedata.normalize("NFD", "그가 왔다. |그녀는 갔다."),
]


@pytest.mark.parametrize("marked", SENTENCES)
def test_a_sentence_ends_behind_its_marks_and_what_closes_there(marked: str) -> None:
    pieces = marked.split("|")
    ends = sentence_ends("".join(pieces))
    assert ends == [len("".join(pieces[: number + 1])) for number in range(len(pieces))]


RUNNING = st.text(st.sampled_from("字かナ한。！？．….」』”“「\"'`，、\n　 a１"), max_size=80)


@given(RUNNING)
def test_sentences_tile_the_text_and_none_is_blank(text: str) -> None:
    ends = sentence_ends(text)
    assert ends == sorted(set(ends))
    assert ends[-1:] == ([len(text)] if text.strip() else [])
    assert all(text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("漢字かなカナ한글ｶﾅ", 10),
        ("「え？」……——“是”。", 12),
        ("Ａ１　\n 々〇□", 5),
        ('and 12 "cats" é Ж', 0),
        ("か\u3099", 1),
    ],
)
def test_what_counts_is_as_wide_as_a_character(text: str, size: int) -> None:
    assert count(text) == size


def written(sizes: Sequence[Sequence[int]]) -> str:
    """Paragraphs of sentences of so many characters."""
    return "\n".join("".join("字" * (size - 1) + "。" for size in paragraph) for paragraph in sizes)


def violation(sizes: Sequence[int], least: int, most: int) -> int:
    return sum(max(0, least - size, size - most) for size in sizes)


def least_violation(sizes: Sequence[int], least: int, most: int) -> int:
    """The characters out of range of the best of all cuts."""
    found = []
    for cut in range(2 ** (len(sizes) - 1)):
        parts = [0]
        for number, size in enumerate(sizes):
            parts[-1] += size
            if number < len(sizes) - 1 and cut >> number & 1:
                parts.append(0)
        found.append(violation(parts, least, most))
    return min(found)


PARAGRAPHS = st.lists(st.lists(st.integers(2, 14), min_size=1, max_size=4), min_size=1, max_size=3)


@given(PARAGRAPHS, st.integers(1, 12), st.integers(0, 8))
def test_no_cut_leaves_fewer_characters_out_of_range(paragraphs: list[list[int]], least: int, more: int) -> None:
    found = chunks(written(paragraphs), Chunks(least=least, most=least + more, context=(2, 3)))
    sentences = [size for paragraph in paragraphs for size in paragraph]
    assert [count(sentence) for chunk in found for sentence in chunk.sentences] == sentences
    assert violation([count(chunk.text) for chunk in found], least, least + more) == least_violation(
        sentences, least, least + more
    )


@given(PARAGRAPHS)
def test_chunks_tile_the_text_and_are_cut_alike_again(paragraphs: list[list[int]]) -> None:
    text, rule = written(paragraphs), Chunks(least=8, most=14, context=(2, 3))
    found = chunks(text, rule)
    assert found == chunks(text, rule)
    assert [chunk.start for chunk in found] + [len(text)] == [0] + [chunk.end for chunk in found]
    assert all(text[chunk.start : chunk.end].strip() == chunk.text for chunk in found)


def sizes_of(paragraphs: Sequence[Sequence[int]], least: int, most: int) -> list[int]:
    return [count(chunk.text) for chunk in chunks(written(paragraphs), Chunks(least=least, most=most))]


def test_chunks_end_with_paragraphs_and_are_of_even_size_where_both_are_possible() -> None:
    assert sizes_of([[10] * 24], 50, 100) == [80, 80, 80]
    assert sizes_of([[10] * 9, [10] * 6, [10] * 9], 50, 100) == [90, 60, 90]


def test_a_sentence_above_the_most_stands_alone_and_a_short_document_is_one_chunk() -> None:
    assert sizes_of([[60, 150, 60]], 50, 100) == [60, 150, 60]
    assert sizes_of([[20, 10]], 50, 100) == [30]
    assert sizes_of([], 50, 100) == []


def test_korean_is_cut_at_its_stops() -> None:
    said = ["나는 어제 그 집에 다시 가 보았다.", '"거기 누구 있소?"', "아무도 대답하지 않았다."]
    found = chunks("\n".join(" ".join(said) for _ in range(100)), Chunks())
    assert [sentence for chunk in found for sentence in chunk.sentences] == said * 100
    assert len(found) > 5
    assert all(200 <= count(chunk.text) <= 500 for chunk in found)


def test_a_chunk_has_paragraphs_and_stops_of_its_text_and_sentences_without_blanks() -> None:
    (chunk,) = chunks("一つ。　二つ。\n「三つ」\n", Chunks(least=5, most=20))
    assert chunk.text == "一つ。　二つ。\n「三つ」"
    assert chunk.sentences == ("一つ。", "二つ。", "「三つ」")
    assert (chunk.previous, chunk.following) == ("", "")


def test_a_context_is_of_sentences_else_of_clauses_else_as_long_as_may_be() -> None:
    text = "一二三四。五六七。八、九十百千万億。"
    starts, ends = [0, *sentence_ends(text)[:-1]], sentence_ends(text)
    assert before(text, 9, starts, (3, 5)) == "五六七。"
    assert before(text, 9, starts, (3, 9)) == "一二三四。五六七。"
    assert before(text, len(text), starts, (6, 8)) == "九十百千万億。"
    assert before(text, len(text), starts, (3, 5)) == "百千万億。"
    assert before(text, 5, starts, (6, 8)) == "一二三四。"
    assert after(text, 0, ends, (4, 6)) == "一二三四。"
    assert after(text, 9, ends, (1, 3)) == "八、"
    assert after(text, 11, ends, (2, 3)) == "九十百"
    assert after(text, 9, ends, (20, 30)) == "八、九十百千万億。"
    assert before(text, 0, starts, (6, 8)) == after(text, len(text), ends, (6, 8)) == ""
    assert after(text, 0, ends, (0, 0)) == ""


@given(RUNNING, st.integers(0, 10), st.integers(0, 10), st.data())
def test_a_context_adjoins_and_is_shorter_only_where_the_text_ends(
    text: str, least: int, more: int, drawn: st.DataObject
) -> None:
    at = drawn.draw(st.integers(0, len(text)))
    ends = sentence_ends(text)
    for side, found in (
        (text[:at], before(text, at, [0, *ends], (least, least + more))),
        (text[at:], after(text, at, ends, (least, least + more))),
    ):
        assert min(least, count(side)) <= count(found) <= least + more
    assert text[:at].rstrip().endswith(before(text, at, [0, *ends], (least, least + more)))
    assert text[at:].lstrip().startswith(after(text, at, ends, (least, least + more)))


def test_a_text_without_marks_is_cut_into_equal_parts_after_final_particles() -> None:
    text = "天下皆知美之為美斯惡已皆知善之為善斯不善矣" * 20
    cut = chunks(text, Chunks(least=50, most=100))
    assert "".join(chunk.text for chunk in cut) == text
    assert all(50 <= count(chunk.text) <= 100 for chunk in cut)
    assert all(chunk.text.endswith("矣") for chunk in cut)
    (whole,) = chunks(f"{text}，也", Chunks(least=50, most=100))
    assert whole.text == f"{text}，也"
