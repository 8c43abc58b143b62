"""What pages of the two sites yield, and what they refuse. Their elements are the sites', their texts are not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.html import dhammatalks, suttacentral
from resources.errors import BadInput

Read = Callable[[str], tuple[str, tuple[Aside, ...]]]


def kinds(text: str, asides: tuple[Aside, ...]) -> list[tuple[str, str, str]]:
    """Kind and text of each aside, and the ten characters before and after its place."""
    return [(each.kind, each.text, f"{text[: each.at][-10:]}|{text[each.at :][:10]}") for each in asides]


@pytest.fixture
def sc(tmp_path: Path) -> Read:
    """Reads a page of SuttaCentral with this article."""

    def written(article: str) -> tuple[str, tuple[Aside, ...]]:
        page = f"<!DOCTYPE html><html><head><title>t</title></head><body><article id='f1' lang='en'>{article}</article>"
        (tmp_path / "f1.html").write_text(page, encoding="utf-8")
        return suttacentral(tmp_path / "f1.html")

    return written


@pytest.fixture
def dt(tmp_path: Path) -> Read:
    """Reads a page of dhammatalks.org with this text."""

    def written(sutta: str) -> tuple[str, tuple[Aside, ...]]:
        page = f"<html><body><nav><p>Home</p></nav><div id='sutta'>{sutta}</div><footer><p>©</p></footer></body></html>"
        (tmp_path / "f1.html").write_text(page, encoding="utf-8")
        return dhammatalks(tmp_path / "f1.html")

    return written


# SuttaCentral


def test_a_page_of_suttacentral_is_its_paragraphs_and_verses(sc: Read) -> None:
    text, asides = sc("""
        <header><ul><li class='division'>Fables</li></ul><h1>1. The Fox</h1></header>
        <p><a class='sc' id='sc1'></a><a class='pts_pn' id='f.i.1'></a> <span class='evam'>So I heard</span>. A fox
        saw <span class='add'>some</span> grapes<a class='pts' id='pts1.2'></a> and
        <i lang='pli' translate='no'>spoke</i>:</p>
        <blockquote class='gatha'><p><a class='sc' id='sc2'></a>“Grapes are sour,<br>
        who <a class='pts' id='pts1.3'></a>wants them?”</p></blockquote>
        <h2><span class='add'>The end</span></h2>
        <p class='endsutta'><a class='ref sc' id='sc1' href='#sc3'>SC 3</a>Off he went.</p>
        <footer><p>Translated by <span class='author'>A. Nobody</span>.</p></footer>""")
    assert text == (
        "So I heard. A fox saw some grapes and spoke:\n\n“Grapes are sour,\nwho wants them?”\n\nOff he went."
    )
    assert kinds(text, asides) == [
        ("heading", "Fables 1. The Fox", "|So I heard"),
        ("number", "sc1", "|So I heard"),
        ("number", "f.i.1", "|So I heard"),
        ("number", "sc2", "d spoke:\n\n|“Grapes ar"),
        ("heading", "The end", "s them?”\n\n|Off he wen"),
        ("number", "SC 3", "s them?”\n\n|Off he wen"),
    ]


def test_the_articles_of_a_page_follow_one_another(tmp_path: Path) -> None:
    articles = "".join(f"<article id='f{n}'><header><h1>{n}.</h1></header><p>Fox {n}.</p></article>" for n in (1, 2))
    (tmp_path / "f1-2.html").write_text(f"<body>Browse<div>{articles}</div><aside id='metaarea'><p>©</p></aside>")
    text, asides = suttacentral(tmp_path / "f1-2.html")
    assert text == "Fox 1.\n\nFox 2."
    assert [(each.text, each.at) for each in asides] == [("1.", 0), ("2.", 8)]


def test_an_anchor_that_is_not_closed_ends_with_its_paragraph(sc: Read) -> None:
    assert sc("<p>One <a class='ref sc' id='sc1'>SC 1</p><p>Two.</p>")[0] == "One\n\nTwo."


def test_a_link_is_text(sc: Read) -> None:
    assert sc("<p>See <a href='/f2' id='x'>the hen</a>.")[0] == "See the hen."


def test_text_outside_a_paragraph_is_kept(sc: Read) -> None:
    assert sc("A fox<p>and a hen</p>and <b>an</b> egg.")[0] == "A fox\n\nand a hen\n\nand an egg."


def test_lists_are_lines_and_cells_are_parted(sc: Read) -> None:
    lists = (
        "<ul><li>a fox</li><li><p>a hen</p></li></ul><table><tr><td>1</td><td>egg</td></tr><tr><td>2</td></tr></table>"
    )
    assert sc(lists)[0] == "a fox\n\na hen\n\n1 egg\n2"


# Footnotes


@pytest.mark.parametrize(
    "notes",
    [
        "<section class='footnotes'><ol><li id='n1'>A vulpine <i>one</i>. <a class='footnote-back' href='#r1'>↩</a>"
        "</li><li id='n2'><p>Of a vine.</p><p>Not of a bush.</p></li></ol></section>",
        "<div class='footnote' id='n1'><p>A vulpine one.</p></div>"
        "<div class='footnote' id='n2'>Of a vine. Not of a bush.</div>",
        "<h2>Notes</h2><p id='n1'>A vulpine one.</p><div id='n2'>Of a vine. Not of a bush.</div>",
        "<div class='notes'><p id='n1'>A vulpine one.</p><p id='n2'>Of a vine.</p><p>Not of a bush.</p></div>",
        "<aside class='footnotes'><p><a id='n1'></a>A vulpine one.</p><p><a id='n2'></a>Of a vine. Not of a bush.</p>"
        "</aside>",
    ],
)
@pytest.mark.parametrize(
    "mark",
    [
        "<sup><a href='#n{0}' id='r{0}'>{0}</a></sup>",
        "<a class='noteref' href='#n{0}' id='r{0}'>{0}</a>",
        "<a class='footnote-ref' href='#n{0}' id='r{0}'><sup>{0}</sup></a>",
    ],
)
def test_a_footnote_stands_at_its_mark(sc: Read, mark: str, notes: str) -> None:
    text, asides = sc(f"<p>A fox{mark.format(1)} saw grapes.{mark.format(2)}</p>{notes}")
    assert text == "A fox saw grapes."
    footnotes = tuple(each for each in asides if each.kind == "footnote")
    assert footnotes == (Aside("footnote", 5, "A vulpine one."), Aside("footnote", 17, "Of a vine. Not of a bush."))


def test_a_mark_whose_footnote_is_elsewhere_says_what_it_says(sc: Read) -> None:
    text, asides = sc("<p>A fox<sup><a href='notes.html#n1'>1</a></sup> ran<sup>*</sup> on the 1<sup>st</sup>.</p>")
    assert text == "A fox ran on the 1st."
    assert asides == (Aside("footnote", 5, "1"), Aside("footnote", 9, "*"))


def test_a_footnote_without_a_mark_stands_at_the_end(sc: Read) -> None:
    text, asides = sc("<p>A fox.</p><div class='note'>A vulpine one.</div>")
    assert (text, asides) == ("A fox.", (Aside("footnote", 6, "A vulpine one."),))


def test_the_link_back_from_a_footnote_takes_no_text_away(sc: Read) -> None:
    marked = "<p id='p1'>A fox<sup><a href='#n1'>1</a></sup> ran.</p>"
    text, asides = sc(f"{marked}<p id='n1'><sup><a href='#p1'>1</a></sup> A vulpine one.</p>")
    assert (text, asides) == ("A fox ran.", (Aside("footnote", 5, "A vulpine one."),))


# dhammatalks.org


def test_a_page_of_dhammatalks_is_its_paragraphs_and_verses(dt: Read) -> None:
    text, asides = dt("""<div id="F01">
        <h1>The Fox<br><span class="pali">Vulpes (F 1)</span></h1>
        <p>A fox<span class="fn"><a href="#note01" id="r01">1</a></span> saw grapes and spoke:</p>
        <div class="verse"><p>“Grapes are sour,</p><p class="v1">who wants them?<span class="fn"><a
        href="#note02">2</a></span></p><div class="verse-add"><p>Not I!”</p></div></div>
        <p class="verse_stars">*</p>
        <h3 class="h2">[ II ]</h3><p>Off<span epub:type="pagebreak" id="pg7">7</span> he went.</p>
        <p class="seealso">See also: <a href="F2.html">F 2</a></p>
        <div class="note"><p class="notetitle">Notes</p><p id="note01">1. A vulpine one.</p>
        <p id="note02">2. Sour ones.</p><p>Rhetorical.</p></div></div>""")
    assert text == ("A fox saw grapes and spoke:\n\n“Grapes are sour,\nwho wants them?\n\nNot I!”\n\nOff he went.")
    assert kinds(text, asides) == [
        ("heading", "The Fox Vulpes (F 1)", "|A fox saw "),
        ("footnote", "1. A vulpine one.", "A fox| saw grape"),
        ("footnote", "2. Sour ones. Rhetorical.", "ants them?|\n\nNot I!”\n"),
        ("heading", "[ II ]", "\nNot I!”\n\n|Off he wen"),
        ("note", "See also: F 2", "f he went.|"),
    ]


@pytest.mark.parametrize(
    ("introduction", "notes"),
    [
        (
            "<p><em>A fable.</em></p><p><em>An old one</em><span class='fn'><a>1</a></span></p>",
            ["A fable.", "An old one"],
        ),
        ("<p>A fable.</p><div class='verse'><p>O fox!</p></div><p class='stars'>* * *</p>", ["A fable.", "O fox!"]),
        ("<h3 class='h2 intro'>Introduction</h3><p>A fable.</p><h3 class='h2'>[ I ]</h3>", ["A fable."]),
        ("<p class='intro'>A fable.</p>", ["A fable."]),
        ("<div class='iblock'><p>A fable.</p><p>An old one.</p></div>", ["A fable. An old one."]),
        ("<p>See also: F 2</p>", ["See also: F 2"]),
    ],
)
def test_an_introduction_is_a_note(dt: Read, introduction: str, notes: list[str]) -> None:
    text, asides = dt(f"<h1>The Fox</h1>{introduction}<p>A fox <em>ran</em>.</p><p><em>So it ran.</em></p>")
    assert text == "A fox ran.\n\nSo it ran."
    assert [(each.text, each.at) for each in asides if each.kind == "note"] == [(note, 0) for note in notes]


def test_stars_that_part_the_text_leave_it_whole(dt: Read) -> None:
    stars = "<p class='stars'>* * *</p>"
    assert dt(f"<h1>F</h1><p>Intro.</p>{stars}<p>One.</p>{stars}<p>Two.</p>")[0] == "One.\n\nTwo."


# Any page


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>A fox &amp; a&nbsp;hen &lt;3&gt; &mdash; S&#257;vatth&#x12b;</p>", "A fox & a hen <3> — Sāvatthī"),
        ("<p>a<i>\u0304</i> cafe&#x301;</p>", "ā café"),
        ("<p>A <!-- red <p> -->fox<?php echo 1 ?> ran</p>", "A fox ran"),
        ("<p>A fox<script>let p = '<p>hen</p>'</script><style>p {}</style> ran", "A fox ran"),
        ("<p>A fox<p>and a hen", "A fox\n\nand a hen"),
        ("<div><div><p> A\n fox </p></div> <br><br> </div><hr><p></p><p>ran", "A fox\n\nran"),
        ("<p>A<b> red</b> <i>fox </i> ran</p>", "A red fox ran"),
        ("<p>狐<b>狸</b> <br> 跑</p>", "狐狸\n跑"),
    ],
)
def test_characters_comments_and_white_space(sc: Read, dt: Read, html: str, text: str) -> None:
    assert sc(html)[0] == text
    assert dt(html)[0] == text


@pytest.mark.parametrize(
    "content", ["", "   ", "<p>Please log in.</p>", "<html><h1>404</h1></html>", "Not found", "<!-- -->"]
)
def test_a_page_without_the_element_that_holds_a_text_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "f1.html"
    path.write_text(content, encoding="utf-8")
    for read, element in ((suttacentral, "<article>"), (dhammatalks, '<div id="sutta">')):
        with pytest.raises(BadInput, match="it may be a login or error page") as caught:
            read(path)
        assert caught.value.where == str(path)
        assert element in caught.value.problem


def test_a_page_that_is_nested_too_deeply_is_refused(sc: Read) -> None:
    """The parser would drop the rest of it."""
    with pytest.raises(BadInput, match=r"cannot be parsed as HTML .*depth"):
        sc("<div>A fox " * 300)
