from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.verification import Finding, verify

TALE = """The miller rose early and went down to the pond. "Is there bread?" asked his wife. There was none left in \
the house. He took the long road to the market, and nobody saw him go."""

LIST = """The gardener sees a rose as a rose. Seeing a rose as a rose, he does not boast of the rose, he waters the \
rose. Why so? Because he knows his trade.

He sees a lily as a lily... a thistle as a thistle [2] ... an old oak as an old oak...

He sees home as home. Then he sleeps until morning comes."""


def only(segment: str, prose: str, others: dict[str, str] | None = None) -> Finding:
    return verify([segment], prose, others or {})[0]


def stages(segments: Sequence[str | None], prose: str) -> list[str | None]:
    return [finding.stage for finding in verify(segments, prose)]


def test_a_segment_to_the_letter_is_verbatim_and_its_place_is_given() -> None:
    segment = '"Is there bread?" asked his wife.'
    finding = only(segment, TALE)
    assert finding == Finding("verbatim", TALE.index(segment), TALE.index(segment) + len(segment), 1.0, True, "")


@pytest.mark.parametrize(
    ("prose", "segment"),
    [
        ("He said: “Come in, friend.” So", 'He said: "Come in, friend."'),
        ("He said: 'Come in, friend.' So", "He said: ‘Come in, friend.’"),
        ("The miller’s bread—all of it—is gone", "The miller's bread - all of it -- is gone"),
        ("He walked... and walked. And", "He walked… and walked."),
        ("He walked . . . and walked. And", "He walked [...] and walked."),
        ("One line of verse,\n  and another line", "One line of verse, and another line"),
        ("It was the first\u00a0time that he", "It was the first time"),
        ("The first [12] time[13] that he* came", "The first time that he came"),
        ("The first² time that he came", "The first time that he came"),
        ("So: 1. bread of rye, 2. white wine. Then", "bread of rye, white wine."),
        ("So: (i) bread of rye, (ii) white wine. Then", "bread of rye, white wine."),
        ("The ﬁrst ca\u00adfe\u0301 of the town. Then", "The first café of the town."),
        ("He spoke of the half-brother there", "He spoke of the half‐brother"),
        ("When all had eaten, they slept. Then", "When all had eaten."),
        ("It took 3–5 days to get there. Then", "It took 3-5 days to get there."),
        ("山下有一井，井中有月。小童日日来看月，不取其水。", "小童日日来看月,不取其水"),
    ],
)
def test_what_differs_only_in_typography_is_normalized(prose: str, segment: str) -> None:
    finding = only(segment, prose)
    assert (finding.stage, finding.similarity, finding.in_order, finding.evidence) == ("normalized", 1.0, True, "")


def test_the_place_of_a_normalized_segment_is_that_in_the_prose_as_written() -> None:
    prose = "“Well…” — [1]  he said —  “the ﬁre [2] is out,  friend.” And so on it went."
    finding = only('he said - "the fire is out, friend."', prose)
    assert prose[finding.start : finding.end] == "he said —  “the ﬁre [2] is out,  friend"


@pytest.mark.parametrize(
    "segment",
    [
        "the miller rose early and went down",  # case
        "The miller rose early, and went down",
        "The miller rose and went down to the pond.",
        "The miller rose late and went down to the pond.",
        "The miller rose early and went down to the pond. There was none left in the house.",
        "The old miller rose early and went down to the pond.",
        "he pond. \"Is there bread?\" ask",
        "A wholly different matter altogether.",
    ],
)  # fmt: skip
def test_what_the_prose_does_not_say_so_is_suspicious(segment: str) -> None:
    finding = only(segment, TALE)
    assert finding.stage == "suspicious"
    assert finding.evidence


def test_of_a_suspicious_segment_the_nearest_place_and_the_words_not_there_are_given() -> None:
    finding = only("He took the long road to the harbour, and nobody saw him go.", TALE)
    assert TALE[finding.start : finding.end] == "He took the long road to the market, and nobody saw him go"
    assert 0.7 < finding.similarity < 1
    assert finding.evidence == "missing in the prose: harbour"


def test_writing_without_spaces_has_a_word_in_every_character() -> None:
    prose = "山下有一井井中有月小童日日来看月不取其水老人问之童笑而不答"
    finding = only("小童日日来看月不取其水老人问之", prose)
    assert (finding.stage, finding.start) == ("verbatim", 9)


def test_evidence_is_short_however_long_the_segment() -> None:
    assert len(only("unheard of " * 99, TALE).evidence) == 200


def test_a_part_of_a_compound_is_not_its_word() -> None:
    prose = "He praised the neither-here-nor-there of it, the non-violence of the whole valley."
    assert only("the violence of the whole valley.", prose).stage == "suspicious"
    assert only("violence of the whole valley.", prose).stage == "suspicious"
    assert only("non-violence of the whole valley.", prose).stage == "verbatim"


@pytest.mark.parametrize("segment", [None, "", " \n"])
def test_a_segment_without_text_has_no_stage(segment: str | None) -> None:
    assert verify([segment], TALE) == [Finding(None, None, None, 0.0, True, "")]


@pytest.mark.parametrize("segment", ["…", "[3]", "— —", "2."])
def test_a_segment_without_words_is_suspicious(segment: str) -> None:
    finding = only(segment, f"They left. {segment} It ended.")
    assert (finding.stage, finding.evidence) == ("suspicious", "contains no word")


# Order


def test_a_sentence_that_recurs_has_the_place_that_its_neighbours_leave() -> None:
    refrain = "And the river ran on."
    parts = ["They built a mill.", refrain, "They built a bridge.", refrain, "They built a town.", refrain]
    prose = " ".join(parts)
    findings = verify([*parts[2:4], None, parts[5]], prose)
    second, third = prose.index(refrain, 30), prose.rindex(refrain)
    assert [finding.start for finding in findings] == [prose.index("They built a bridge"), second, None, third]
    assert all(finding.in_order for finding in findings)


def test_segments_out_of_order_are_found_but_not_in_order() -> None:
    parts = ["They built a mill of stone.", "Nobody thanked them.", "In the winter the whole valley froze over."]
    findings = verify([parts[0], parts[2], parts[1]], " ".join(parts))
    assert [(finding.stage, finding.in_order) for finding in findings] == [
        ("verbatim", True), ("verbatim", True), ("verbatim", False),
    ]  # fmt: skip
    assert "out of order" in findings[2].evidence


def test_of_two_segments_at_one_place_the_second_is_not_in_order() -> None:
    segments = ["They built a mill of stone.", "They built a mill of stone.", "Nobody thanked them."]
    findings = verify(segments, "They built a mill of stone. Nobody thanked them.")
    assert [(finding.stage, finding.in_order) for finding in findings] == [
        ("verbatim", True), ("verbatim", False), ("verbatim", True),
    ]  # fmt: skip
    assert "segment 0" in findings[1].evidence


def test_what_stands_elsewhere_while_its_own_place_reads_otherwise_is_suspicious() -> None:
    prose = "The door was open wide. He went in. The door was not open wide. He went away again."
    segments = ["The door was open wide.", "He went in.", "The door was open wide.", "He went away again."]
    findings = verify(segments, prose)
    assert [finding.stage for finding in findings] == ["verbatim", "verbatim", "suspicious", "verbatim"]
    assert findings[2].evidence == "occurs elsewhere: the wording at its expected place differs"


def test_marks_do_not_decide_which_of_two_segments_has_a_place() -> None:
    prose = "He sat down. The gate was not open to them. The gate was open to them. He rose again."
    segments = ["He sat down.", '"The gate was open to them."', "The gate was open to them.", "He rose again."]
    assert stages(segments, prose) == ["verbatim", "suspicious", "verbatim", "verbatim"]


@pytest.mark.parametrize("invented", ["the", "and nobody", "nobody saw him", "to the market", "Extraordinarily tired"])
def test_a_word_or_two_from_elsewhere_are_suspicious(invented: str) -> None:
    segments = ["The miller rose early and went down to the pond.", invented, "There was none left in the house."]
    assert stages(segments, f"{TALE} Extraordinarily tired, he slept.") == ["verbatim", "suspicious", "verbatim"]


def test_a_word_or_two_far_from_both_neighbours_are_suspicious() -> None:
    segments = ["The miller rose early and went down to the pond.", None, "house.", None, "and nobody saw him go."]
    assert stages(segments, TALE) == ["verbatim", None, "suspicious", None, "verbatim"]


def test_a_word_or_two_next_to_their_neighbours_are_found() -> None:
    prose = "She asked them all in turn. “Yes.” The second one only sighed. “No.” Then “Yes,” and “Yes!”"
    segments = ["She asked them all in turn.", "Yes.", "The second one only sighed.", "No.", "Then", "Yes", "Yes"]
    findings = verify(segments, prose)
    assert [finding.start for finding in findings] == [0, 29, 35, 64, 69, 75, 86]
    assert {finding.stage for finding in findings} == {"verbatim"}


def test_a_word_or_two_have_room_where_segments_next_to_them_are_damaged() -> None:
    prose = (
        "She asked them all in turn. And one after the other they got up from their seats. “Yes.” "
        "Then all of them together left the house for good. Nobody was ever seen there again."
    )
    segments = ["She asked them all in turn.", "And one by one they rose from their chairs.", "Yes.", None]
    assert stages([*segments, "Nobody was ever seen there again."], prose) == [
        "verbatim", "suspicious", "verbatim", None, "verbatim",
    ]  # fmt: skip
    assert stages([segments[0], None, "Yes.", None, "Nobody was ever seen there again."], prose)[2] == "suspicious"


@pytest.mark.parametrize(
    ("prose", "segment", "stage"),
    [
        ("They met. Not one of them was afraid of it.", "one of them was afraid of it.", "suspicious"),
        ("They met. He was afraid of it never. They left.", "He was afraid of it", "suspicious"),
        ("They met. Why not? One of them was afraid of it.", "One of them was afraid of it.", "verbatim"),
        ("They met. They were afraid of it. Never did they leave.", "They were afraid of it.", "verbatim"),
        ("They met. Now one of them was afraid of it.", "one of them was afraid of it.", "verbatim"),
    ],
)
def test_a_negation_left_out_at_an_end_makes_a_segment_suspicious(prose: str, segment: str, stage: str) -> None:
    assert only(segment, prose).stage == stage


def test_a_negation_in_the_segment_before_is_not_left_out() -> None:
    assert stages(["They met and would not", "be afraid of it."], "They met and would not be afraid of it.") == [
        "verbatim", "verbatim",
    ]  # fmt: skip


# Abbreviations

BEFORE = ["The gardener sees a rose as a rose.",
          "Seeing a rose as a rose, he does not boast of the rose, he waters the rose.",
          "Why so?", "Because he knows his trade."]  # fmt: skip
AFTER = ["He sees home as home.", "Then he sleeps until morning comes."]


def in_the_list(*segments: str | None) -> list[Finding]:
    return verify([*BEFORE, *segments, *AFTER], LIST)[len(BEFORE) : -len(AFTER)]


def test_a_list_may_be_spelled_out_by_what_was_said_of_its_first_member() -> None:
    findings = in_the_list(
        "He sees a lily as a lily.",
        "Seeing a lily as a lily, he does not boast of the lily, he waters the lily.", "Why so?",
        "Because he knows his trade.",
        "The gardener sees a thistle as a thistle.",
        "Seeing a thistle as a thistle, he does not boast of the thistle, he waters the thistle.", "Why so?",
    )  # fmt: skip
    assert [finding.stage for finding in findings] == ["normalized", *["expanded"] * 6]
    assert all(finding.in_order for finding in findings)
    first, second = LIST.index("... a thistle"), LIST.index("... an old")
    assert [finding.start for finding in findings[1:4]] == [first] * 3
    assert [finding.start for finding in findings[5:]] == [second] * 2
    template = LIST.index("Seeing"), LIST.index(". Why so")
    assert findings[1].evidence == (
        f"spells out an abbreviation in the words of characters {template[0]}–{template[1]}, with the term “lily”"
    )


def test_what_is_spelled_out_in_another_order_is_not_in_order() -> None:
    said = "Seeing a {0} as a {0}, he does not boast of the {0}, he waters the {0}."
    findings = in_the_list(said.format("thistle"), said.format("lily"))
    assert [(finding.stage, finding.in_order) for finding in findings] == [("expanded", True), ("expanded", False)]


@pytest.mark.parametrize(
    "segment",
    [
        "Seeing a tulip as a tulip, he does not boast of the tulip, he waters the tulip.",
        "Seeing a lily as a lily, he does not boast of the rose, he waters the lily.",
        "Seeing a lily as a lily, he does boast of the lily, he waters the lily.",
        "Seeing a lily as a lily, he does not boast of the lily, he waters the thistle.",
        "Seeing a lily as a lily, he does not speak of the lily, he waters the lily.",
        "Seeing a lily as a lily, he waters the lily.",
        "Seeing home as home, he does not boast of the home, he waters the home.",
        "Because he knows his lily.",
        "Because he knows his trade. Then he sleeps until morning comes.",
        "he waters the rose. He sees a lily as a lily... a thistle as a thistle",
        "Then he sees a lily until morning comes.",
        "waters the lily.",
    ],
)
def test_what_an_abbreviation_does_not_stand_for_is_suspicious(segment: str) -> None:
    assert in_the_list(segment)[0].stage == "suspicious"


def test_where_there_is_no_ellipsis_nothing_is_spelled_out() -> None:
    segment = "Seeing a lily as a lily, he does not boast of the lily, he waters the lily."
    assert stages([*BEFORE, segment, *AFTER], LIST)[4] == "expanded"
    assert stages([*BEFORE, *AFTER, segment], LIST)[6] == "suspicious"


def test_after_a_segment_without_text_no_template_goes_on() -> None:
    said = "Seeing a lily as a lily, he does not boast of the lily, he waters the lily."
    assert [finding.stage for finding in in_the_list(said, None, "Why so?")] == ["expanded", None, "suspicious"]


def test_what_stands_elsewhere_while_the_template_goes_on_otherwise_is_suspicious() -> None:
    said = "Seeing a lily as a lily, he does not boast of the lily, he waters the lily."
    segments = [*BEFORE, said, "Why so?", "Because he left his trade.", *AFTER, "Because he left his trade."]
    assert stages(segments, f"{LIST} Because he left his trade.")[4:7] == ["expanded", "expanded", "suspicious"]


def test_the_template_is_the_last_one_before_the_ellipsis() -> None:
    said = "Whoever greets a king bows to the king. It is the custom of the land."
    prose = f"{said} Once more: {said} He greets a prince... Then he is free to go home."
    first, last = (at(said) for at in (prose.index, prose.rindex))
    segments = [
        said,
        f"Once more: {said}",
        "Whoever greets a prince bows to the prince.",
        "It is the custom of the land.",
    ]
    evidence = [finding.evidence for finding in verify([*segments, "Then he is free to go home."], prose)[2:4]]
    assert first < last
    assert f"characters {last}–" in evidence[0]
    assert f"characters {last + said.index('It')}–" in evidence[1]


def test_a_segment_that_abbreviates_spells_nothing_out() -> None:
    prose = "He greets a king... and bows to the king. He greets a prince... Then he is free to go home."
    segments = ["He greets a king... and bows to the king.", "He greets a prince... and bows to the prince."]
    assert stages([*segments, "Then he is free to go home."], prose) == ["verbatim", "suspicious", "verbatim"]


@pytest.mark.parametrize(
    ("said", "abbreviated", "damaged"),
    [
        ("He does greet a rose.", "He does not greet a lily...", "He does greet a lily."),
        ("He often greets a rose.", "He never greets a lily...", "He often greets a lily."),
    ],
)
def test_what_the_prose_says_otherwise_next_to_the_ellipsis_is_not_spelled_out(
    said: str, abbreviated: str, damaged: str
) -> None:
    prose = f"{said} {abbreviated} Then he goes home."
    assert stages([said, damaged, "Then he goes home."], prose) == ["verbatim", "suspicious", "verbatim"]
    without = f"{said} A lily... Then he goes home."
    assert stages([said, damaged, "Then he goes home."], f"There was a rose... {without}")[1] == "expanded"


@pytest.mark.parametrize(
    ("prose", "segment"),
    [
        ("He is not at the gate. He looked long... Who is here... Who sees it?", "He is here at the gate."),
        (
            "He bows to the old king of the hills gladly. Now he goes to the fair... He is late.",
            "He bows to the fair gladly.",
        ),
        ("He wrote down names. Nothing moved. A bird sang... He slept.", "He wrote down nothing moved. A bird sang."),
    ],
)
def test_a_term_is_neither_a_negation_nor_more_than_a_term(prose: str, segment: str) -> None:
    first, *_, last = prose.partition(". ")[0] + ".", prose.rpartition("... ")[2]
    assert stages([first, segment, last], prose)[1] == "suspicious"


def test_without_an_ellipsis_nothing_is_spelled_out() -> None:
    segment = "Seeing a lily as a lily, he does not boast of the lily, he waters the lily."
    assert in_the_list(segment)[0].stage == "expanded"
    whole = LIST.replace("... ", "; ").replace("...", ".")
    assert verify([*BEFORE, segment, *AFTER], whole)[len(BEFORE)].stage == "suspicious"


def test_what_follows_an_ellipsis_is_no_template_for_it() -> None:
    prose = "He greets the east wind... Then it rains. He greets the north wind and bows to the north wind gladly."
    segments = ["He greets the east wind and bows to the east wind gladly.", "Then it rains."]
    assert stages(segments, prose) == ["suspicious", "verbatim"]


@pytest.mark.parametrize("ellipsis", ["…", "...", ". . .", "[…]", "(...)", "etc.", "and so on,"])
def test_the_words_at_an_ellipsis_may_be_completed_from_where_they_were_said_in_full(ellipsis: str) -> None:
    prose = (
        "On the first day the old king rode out to the hills with his hounds and came back at night. "
        f"On the second day the old king rode out {ellipsis} and came back at night, weary of it."
    )
    segments = [
        "On the first day the old king rode out to the hills with his hounds and came back at night.",
        "On the second day the old king rode out to the hills with his hounds and came back at night, weary of it.",
    ]
    assert stages(segments, prose) == ["verbatim", "expanded"]
    for told, invented in [
        ("hounds", "hawks"), ("to the hills", "to the night"), ("with his hounds and", "and"),
        ("out to the hills with his hounds", "out with his hounds"),
    ]:  # fmt: skip
        assert stages([segments[0], segments[1].replace(told, invented)], prose) == ["verbatim", "suspicious"]
    assert stages([segments[0], segments[1].replace("weary", "never weary")], prose) == ["verbatim", "suspicious"]


def test_words_at_an_ellipsis_may_be_completed_with_its_term_put_in() -> None:
    said = "At dawn there came the king to greet the people, and all bowed to the king."
    prose = f"{said} At noon, to the surprise of all, there came the prince... Then it rained hard."
    segment = "At noon, to the surprise of all, there came the prince to greet the people, and all bowed to the prince."
    assert stages([said, segment, "Then it rained hard."], prose) == ["verbatim", "expanded", "verbatim"]
    wrong = segment.replace("bowed to the prince", "bowed to the king")
    assert stages([said, wrong, "Then it rained hard."], prose) == ["verbatim", "suspicious", "verbatim"]


@pytest.mark.parametrize(
    ("begin", "end"), [("On Friday he came to the old gate", "Then he left."), (None, "and walked back in the rain.")]
)
def test_what_an_ellipsis_leaves_out_is_known_by_the_words_next_to_it(begin: str | None, end: str) -> None:
    said = "On Monday he came to the old gate and knocked on it twice and walked back in the rain."
    prose = f"{said} Nobody had stirred. {begin or 'Again he went up'} ... {end}"
    segments = [said, "Nobody had stirred.", begin, "and knocked on it twice", end]
    assert stages(segments, prose)[3] == "expanded"
    loose = verify([*segments[:2], None, segments[3], None], f"{said} Nobody had stirred. He came again... It rained.")[
        3
    ]
    assert (loose.stage, loose.in_order) == ("verbatim", False)


def test_a_direction_in_words_allows_what_was_said_above() -> None:
    prose = "The oath of the guild was long and solemn. Ann came first. Ben came next. [as above] Cleo came last."
    oath = "The oath of the guild was long and solemn."
    segments = [oath, "Ann came first.", "Ben came next.", oath, "Cleo came last."]
    assert stages(segments, prose)[3] == "expanded"
    for other in ("", "..."):
        finding = verify(segments, prose.replace("[as above]", other))[3]
        assert (finding.stage, finding.in_order) == ("verbatim", False)


def test_of_what_was_said_above_twice_the_last_is_meant() -> None:
    oath = "The oath of the guild was long and solemn."
    prose = f"{oath} Ann came first. {oath} Ben came next. [as above] Cleo came last."
    segments = [oath, "Ann came first.", oath, "Ben came next.", oath, "Cleo came last."]
    assert f"characters {prose.rindex(oath)}–" in verify(segments, prose)[4].evidence


def test_members_of_a_list_may_stand_between_ellipses() -> None:
    prose = "At night he thinks of rain... snow... hail... and of nothing else."
    segments = ["At night he thinks of rain", "At night he thinks of snow.", "At night he thinks of hail."]
    assert stages([*segments, "and of nothing else."], prose) == ["verbatim", "expanded", "expanded", "verbatim"]
    assert stages([segments[0], "At night he dreams of snow.", None, "and of nothing else."], prose)[1] == "suspicious"


def test_a_term_may_stand_in_the_direction() -> None:
    prose = "He bows to the sun and thanks the sun. [Similarly with the moon.] Then he goes in to eat."
    segments = [
        "He bows to the sun and thanks the sun.",
        "He bows to the moon and thanks the moon.",
        "Then he goes in to eat.",
    ]
    assert stages(segments, prose) == ["verbatim", "expanded", "verbatim"]


# Other texts

OTHERS = {
    "tales/ab3": "At dusk “the old queen” told them a story about the sea.",
    "ab4": "Nothing of that kind is here.",
}


@pytest.mark.parametrize("direction", ["[as in AB 3]", "(see ab3)", "See AB. 3 for it.", "[ as AB 3 ]..."])
def test_what_stands_in_the_text_that_the_prose_names_is_a_cross_reference(direction: str) -> None:
    prose = f"They sat down by the fire. {direction} Then all of them slept."
    segments = [
        "They sat down by the fire.",
        "the old queen told them a story about the sea.",
        "Then all of them slept.",
    ]
    finding = verify(segments, prose, OTHERS)[1]
    assert (finding.stage, finding.in_order) == ("cross-reference", True)
    assert "3" in prose[finding.start : finding.end]
    assert "3, to which the prose refers" in finding.evidence
    with_the_direction = [f"{segments[0]} {direction}", *segments[1:]]
    assert verify(with_the_direction, prose, OTHERS)[1].stage == "cross-reference"


def test_numbers_of_texts_may_be_set_with_a_colon() -> None:
    prose = "They sat down by the fire. [as in AB 12:2] Then all of them slept."
    segments = ["They sat down by the fire.", "the old queen told them a story.", "Then all of them slept."]
    assert verify(segments, prose, {"ab12.2": "Once the old queen told them a story."})[1].stage == "cross-reference"


@pytest.mark.parametrize(
    ("direction", "segment"),
    [
        ("[as in AB 3]", "queen"),
        ("[as in AB 3]", "the sea."),
        ("[as in AB 3]", "as in the old sea"),
        ("[as in AB 3]", "the old queen told them a tale about the sea."),
        ("[as in AB 4]", "the old queen told them a story about the sea."),
        ("", "the old queen told them a story about the sea."),
    ],
)
def test_less_than_the_text_that_is_named_is_suspicious(direction: str, segment: str) -> None:
    prose = f"They sat down by the fire. {direction} Then all of them slept."
    assert verify(["They sat down by the fire.", segment, "Then all of them slept."], prose, OTHERS)[1].stage == (
        "suspicious"
    )


def test_a_direction_far_away_does_not_count() -> None:
    prose = (
        "They sat down by the fire. Then all of them slept. " + "The night went by. " * 9 + "[as in AB 3] Day broke."
    )
    segments = [
        "They sat down by the fire.",
        "the old queen told them a story about the sea.",
        "Then all of them slept.",
    ]
    assert verify([*segments, *["The night went by."] * 9, "Day broke."], prose, OTHERS)[1].stage == "suspicious"


def test_a_named_text_that_is_not_at_hand_is_named() -> None:
    prose = "They sat down by the fire. [as in CD 12.7] Then all of them slept."
    segments = ["They sat down by the fire.", "the old queen told them a story.", "Then all of them slept."]
    finding = verify(segments, prose, OTHERS)[1]
    assert (finding.stage, finding.evidence) == ("suspicious", "the prose refers to CD 12.7, which is not available")


# Properties

WORDS = ["ash", "birch", "cedar", "elm", "fir", "half-grown", "juniper", "maple's", "oak", "pine", "rowan", "willow"]
MARKS = [
    ("", ""),
    (".", "."),
    (",", ","),
    ("...", "…"),
    ("…", ". . ."),
    ('"', "”"),
    (" [7]", ""),
    (" —", "—"),
    ("?", "?"),
]


@st.composite
def units(draw: st.DrawFn) -> tuple[str, str]:
    """A word with marks after it: as it stands in the prose, and in other typography."""
    word, (mark, other) = draw(st.sampled_from(WORDS)), draw(st.sampled_from(MARKS))
    opening, other_opening = draw(st.sampled_from([("", ""), ('"', "“"), ("'", "‘")]))
    return f"{opening}{word}{mark} ", f"{other_opening}{word}{other}{draw(st.sampled_from([' ', chr(160), '  ']))}"


@st.composite
def tilings(draw: st.DrawFn) -> list[list[tuple[str, str]]]:
    """A prose of units, cut into segments."""
    return draw(st.lists(st.lists(units(), min_size=1, max_size=9), min_size=1, max_size=12))


def prose_of(tiling: Sequence[Sequence[tuple[str, str]]]) -> str:
    return "".join(unit for segment in tiling for unit, _ in segment)


def texts_of(tiling: Sequence[Sequence[tuple[str, str]]], which: int) -> list[str]:
    return ["".join(unit[which] for unit in segment).strip() for segment in tiling]


@given(tilings())
def test_every_piece_of_a_prose_stands_there_in_order(tiling: list[list[tuple[str, str]]]) -> None:
    prose, texts = prose_of(tiling), texts_of(tiling, 0)
    findings = verify(texts, prose)
    assert {(finding.stage, finding.in_order) for finding in findings} <= {("verbatim", True), ("normalized", True)}
    assert [prose[each.start : each.end] for each in findings if each.stage == "verbatim"] == [
        text for text, each in zip(texts, findings, strict=True) if each.stage == "verbatim"
    ]
    starts = [finding.start or 0 for finding in findings]
    assert starts == sorted(set(starts))


@given(tilings())
def test_every_piece_of_a_prose_stands_there_in_other_typography(tiling: list[list[tuple[str, str]]]) -> None:
    findings = verify(texts_of(tiling, 1), prose_of(tiling))
    assert {(finding.stage, finding.in_order) for finding in findings} <= {("verbatim", True), ("normalized", True)}


@given(tilings(), st.data())
def test_longer_pieces_stand_there_whatever_is_left_out_between(
    tiling: list[list[tuple[str, str]]], data: st.DataObject
) -> None:
    kept = [text if data.draw(st.booleans()) else None for text in texts_of(tiling, 0)]
    long = [
        finding for text, finding in zip(kept, verify(kept, prose_of(tiling)), strict=True) if text and len(text) > 40
    ]
    assert {(finding.stage, finding.in_order) for finding in long} <= {("verbatim", True), ("normalized", True)}


@given(tilings(), st.data())
def test_a_word_that_is_nowhere_makes_its_segment_suspicious(
    tiling: list[list[tuple[str, str]]], data: st.DataObject
) -> None:
    texts, at = texts_of(tiling, 0), data.draw(st.integers(0, len(tiling) - 1))
    words = texts[at].split()
    words.insert(data.draw(st.integers(0, len(words))), "quince")
    prose = prose_of(tiling).replace("willow ", "[as in AB 1] ")
    findings = verify([*texts[:at], " ".join(words), *texts[at + 1 :]], prose, {"ab1": prose_of(tiling)})
    assert findings[at].stage == "suspicious"


LETTERS = [*"ab1.,…-–—'\"[]()*\n \u0301\u00adā道²½ﬁ§", "...", "see AB 1", "[as above]"]
ANY = st.lists(st.sampled_from(LETTERS), max_size=60).map("".join)


@given(st.lists(st.one_of(st.none(), ANY, st.text(max_size=9)), max_size=6), st.one_of(ANY, st.text()), ANY)
def test_findings_keep_their_ranges_whatever_the_texts(segments: list[str | None], prose: str, other: str) -> None:
    findings = verify(segments, prose, {"ab1": other})
    assert len(findings) == len(segments)
    for segment, finding in zip(segments, findings, strict=True):
        assert (finding.stage is None) == (not (segment or "").strip())
        if finding.start is not None and finding.end is not None:
            assert 0 <= finding.start <= finding.end <= len(prose)
        assert 0 <= finding.similarity <= 1
        assert len(finding.evidence) <= 200
        if finding.stage == "verbatim":
            assert segment
            assert prose[finding.start : finding.end] == segment.strip()


@given(ANY)
def test_a_text_stands_in_itself(text: str) -> None:
    long = f"{text} alder beech hazel {text}"
    assert only(long, long)[:1] == ("verbatim",)
