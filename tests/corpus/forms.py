"""Files and folders as scholars have them, with what is in them: composed from a few lines that we wrote.

Here: composing, and a table of expectations (`FORMS`). Not here: what is proposed for them (test_opening).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import xlsxwriter

from tests.corpus.readers.test_pages import CONTAINER, archive, document, paragraph

LA = """Marcus pontem novum trans flumen faciebat.
Vicini autem, qui aquam altam timebant, eum ridebant et in ripa sedebant.
Pater tacebat.
Tertio die lupus ad ripam venit, sed ignem vidit et in silvam magnam rediit.
Uxor Marci panem recentem et lac in cista parva portabat.
"Quid facis," inquit Livia, "si pluvia omnia haec ligna de ripa tollet?"
Ille respondit nihil.
Nocte tamen imber gravis de montibus venit et flumen usque ad hortum nostrum crevit.
Mane stabat pons.
Tum vicini omnes cum Tito, qui maximus natu erat, ad Marcum venerunt et veniam petiverunt.
Marcus illis panem dedit.
Ex eo die nemo in vico nostro de ponte aut de Marco male dixit.""".splitlines()
VALE = """Marcus was building a new bridge across the river.
But the neighbours, who were afraid of the deep water, laughed at him and sat on the bank.
His father kept silent.
On the third day a wolf came to the bank, but it saw the fire and went back into the great forest.
Marcus's wife used to bring fresh bread and milk in a little basket.
"What will you do," said Livia, "if the rain takes all this timber from the bank?"
He answered nothing.
Yet in the night a heavy rain came down from the mountains, and the river rose as far as our garden.
In the morning the bridge stood.
Then all the neighbours, with Titus, who was the eldest, came to Marcus and begged his pardon.
Marcus gave them bread.
From that day no one in our village spoke ill of the bridge or of Marcus.""".splitlines()
STONE = """A new bridge over the stream was what Marcus had begun to make.
His neighbours feared deep water; they would sit along the bank and make fun of him.
The father said not a word.
Two days later a wolf appeared at the waterside, noticed the fire, and slunk off to the big wood again.
New bread and some milk came every day in the small basket of his wife.
Livia asked: "And if rain should carry off every plank that lies here, what then?"
To this he gave no reply.
That night, however, a storm broke in the hills, and the stream swelled until it reached the garden.
At dawn the bridge was standing.
So they all came, Titus the oldest among them, and asked Marcus to forgive them.
He handed them some of his bread.
Nobody in the place has said a bad word about Marcus or his bridge ever since.""".splitlines()
DE = """Marcus baute eine neue Brücke über den Fluss.
Die Nachbarn aber, die sich vor dem tiefen Wasser fürchteten, lachten ihn aus und saßen am Ufer.
Der Vater schwieg.
Am dritten Tag kam ein Wolf ans Ufer, sah jedoch das Feuer und lief in den großen Wald zurück.
Die Frau des Marcus brachte frisches Brot und Milch in einem kleinen Korb.
"Was tust du," fragte Livia, "wenn der Regen all dieses Holz vom Ufer wegträgt?"
Er antwortete nichts.
In der Nacht aber kam ein schwerer Regen von den Bergen, und der Fluss stieg bis zu unserem Garten.
Am Morgen stand die Brücke.
Da kamen alle Nachbarn mit Titus, der der Älteste war, zu Marcus und baten ihn um Verzeihung.
Marcus gab ihnen Brot.
Seit jenem Tag sprach niemand in unserem Dorf schlecht von der Brücke oder von Marcus.""".splitlines()
ES = """Marcos construía un puente nuevo sobre el río.
Pero los vecinos, que temían el agua profunda, se reían de él y se sentaban en la orilla.
Su padre callaba todo el tiempo.
Al tercer día un lobo llegó a la orilla, pero vio el fuego y volvió al gran bosque.
La mujer de Marcos traía pan fresco y leche en una cesta pequeña.
"¿Qué harás," dijo Livia, "si la lluvia se lleva toda esta madera de la orilla?"
Él no le respondió nada a ella.
Sin embargo, por la noche vino de los montes una lluvia fuerte y el río creció hasta nuestro huerto.
Por la mañana el puente seguía en pie.
Entonces todos los vecinos, con Tito, que era el mayor, fueron a ver a Marcos y le pidieron perdón.
Marcos les dio de su pan a todos.
Desde aquel día nadie en nuestra aldea habló mal del puente ni de Marcos.""".splitlines()
GRC = """Ὁ Μάρκος γέφυραν καινὴν ἐποίει ἐπὶ τοῦ ποταμοῦ.
Οἱ δὲ γείτονες, οἳ τὸ ὕδωρ ἐφοβοῦντο, κατεγέλων αὐτοῦ καὶ ἐκάθηντο ἐπὶ τῆς ὄχθης.
Ὁ πατὴρ ἐσίγα.
Τῇ τρίτῃ ἡμέρᾳ λύκος ἦλθεν, ἀλλὰ τὸ πῦρ εἶδε καὶ εἰς τὴν ὕλην ἀπῆλθεν.""".splitlines()
LZH = """梁生作新橋於河上。
鄰人畏水之深者，皆坐於岸而笑之。
其父默然不語。
三日，有狼至於岸，見火而復入大林。""".splitlines()
NOTE = [*[""] * 3, "cf. Horace?", *[""] * 3, "check the manuscript", *[""] * 4]
GPT = [line.replace("the ", "that ").replace("Marcus", "Marc") for line in VALE]

Rows = Sequence[Sequence[object]]


class Form(NamedTuple):
    """A file or folder: how it is written, and the language of the source, languages by translator, and number of
    segments that have to be found; or words of the reason why it is refused. `works` are the works of a collection."""

    name: str
    write: Callable[[Path], object]
    source: str = ""
    translators: Mapping[str, str] = {}
    segments: int = 12
    refused: str = ""
    works: Sequence[str] = ()


def columns(heads: Sequence[str], *cells: Sequence[object]) -> Rows:
    """A table by its columns."""
    return [heads, *zip(*cells, strict=True)] if heads else [*zip(*cells, strict=True)]


def separated(rows: Rows, sign: str = ",", encoding: str = "utf-8") -> Callable[[Path], object]:
    """A text file with a delimiter."""
    quoted = [sign.join('"{}"'.format(str(each).replace('"', '""')) for each in row) for row in rows]
    return lambda path: path.write_bytes("\r\n".join([*quoted, ""]).encode(encoding))


def workbook(**sheets: Rows) -> Callable[[Path], object]:
    """A workbook; a row of one cell is merged over five columns."""

    def write(path: Path) -> None:
        with xlsxwriter.Workbook(path) as book:
            for name, rows in sheets.items():
                sheet = book.add_worksheet(name)
                for at, row in enumerate(rows):
                    if len(row) == 1:
                        sheet.merge_range(at, 0, at, 4, row[0])
                    else:
                        sheet.write_row(at, 0, row)

    return write


def word(*paragraphs: str, rows: Rows = ()) -> Callable[[Path], object]:
    """A Word document."""
    cells = ("".join(f"<w:tc>{paragraph(escaped(str(each)))}</w:tc>" for each in row) for row in rows)
    grid = "".join(f"<w:tr>{row}</w:tr>" for row in cells)
    body = "".join(map(paragraph, map(escaped, paragraphs))) + (f"<w:tbl>{grid}</w:tbl>" if rows else "")
    return lambda path: document(path, body)


def book(title: str, *paragraphs: str) -> Callable[[Path], object]:
    """An EPUB of one chapter."""
    spine = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    body = "".join(f"<p>{escaped(each)}</p>" for each in paragraphs)
    page = f"<html><body><h1>{title}</h1>{body}</body></html>"
    return lambda path: archive(path, {"META-INF/container.xml": CONTAINER, "O/c.opf": spine, "O/a.xhtml": page})


def text(*paragraphs: str, gap: str = "\n\n", encoding: str = "utf-8") -> Callable[[Path], object]:
    """A plain text."""
    return lambda path: path.write_text(gap.join(paragraphs) + "\n", encoding)


def records(rows: object) -> Callable[[Path], object]:
    """JSON, or JSON lines if the name says so."""
    return lambda path: path.write_text(
        "\n".join(json.dumps(each, ensure_ascii=False) for each in rows)
        if isinstance(rows, list) and path.suffix == ".jsonl"
        else json.dumps(rows, ensure_ascii=False)
    )


def tei(language: str, lines: Sequence[str], translator: str = "") -> Callable[[Path], object]:
    """TEI with numbered sections in two chapters."""
    editor = f'<editor role="translator">{translator}</editor>' if translator else ""
    title = f"<titleStmt><title>Pons</title>{editor}</titleStmt>"
    parts = "".join(
        f'<div type="textpart" subtype="chapter" n="{chapter + 1}">'
        + "".join(
            f'<div type="textpart" subtype="section" n="{at + 1}"><p>{escaped(line)}</p></div>'
            for at, line in enumerate(lines[chapter * 6 : chapter * 6 + 6])
        )
        + "</div>"
        for chapter in range(2)
    )
    body = f'<text xml:lang="{language}"><body><div type="edition">{parts}</div></body></text>'
    start = f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>{title}</fileDesc></teiHeader>'
    return lambda path: path.write_text(f"{start}{body}</TEI>", "utf-8")


def sefaria(title: str, language: str, lines: Sequence[str], is_source: bool = False) -> Callable[[Path], object]:
    """A version in Sefaria's form, with two chapters."""
    return records(
        {
            "title": "Liber Pontis", "versionTitle": title, "actualLanguage": language, "isSource": is_source,
            "sectionNames": ["Chapter", "Verse"], "text": [list(lines[:6]), list(lines[6:])],
        }
    )  # fmt: skip


def usfm(book: str, lines: Sequence[str]) -> Callable[[Path], object]:
    """A book in USFM."""
    verses = [f"\\c {at // 6 + 1}\n\\p\n" * (at % 6 == 0) + f"\\v {at % 6 + 1} {line}" for at, line in enumerate(lines)]
    return text(f"\\id {book} test", *verses, gap="\n")


def osis(language: str, lines: Sequence[str]) -> Callable[[Path], object]:
    """A book in OSIS."""
    verses = [f'<verse osisID="Jas.{at // 6 + 1}.{at % 6 + 1}">{line}</verse>' for at, line in enumerate(lines)]
    parts = "".join(f'<chapter osisID="Jas.{n + 1}">{"".join(verses[n * 6 : n * 6 + 6])}</chapter>' for n in range(2))
    body = f'<osisText osisIDWork="x" xml:lang="{language}"><div type="book" osisID="Jas">{parts}</div></osisText>'
    return text(f'<osis xmlns="http://www.bibletechnologies.net/2003/OSIS/namespace">{body}</osis>')


def wrapped(paragraph: str) -> str:
    """A paragraph in lines of 60 characters."""
    return fill(paragraph, 60)


def tmx(**texts: Sequence[str]) -> Callable[[Path], object]:
    """A translation memory."""
    rows = [
        "".join(
            f'<tuv xml:lang="{name}"><seg>{escaped(line)}</seg></tuv>' for name, line in zip(texts, row, strict=True)
        )
        for row in zip(*texts.values(), strict=True)
    ]
    units = "".join(f"<tu>{row}</tu>" for row in rows)
    return text(f'<?xml version="1.0"?><tmx version="1.4"><header srclang="la"/><body>{units}</body></tmx>')


def placed(files: Mapping[str, Callable[[Path], object]]) -> Callable[[Path], object]:
    """A folder with files by their paths."""

    def write(path: Path) -> None:
        for name, each in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            each(path / name)

    return write


def escaped(line: str) -> str:
    """A line as text in XML."""
    return line.replace("&", "&amp;").replace("<", "&lt;")


def joined(lines: Sequence[str], *ends: int) -> list[str]:
    """Paragraphs of the lines, which end at these numbers."""
    return [" ".join(lines[start:end]) for start, end in zip((0, *ends), (*ends, len(lines)), strict=True)]


NO = [*range(1, 13)]
VERSES = [f"{at // 6 + 1}.{at % 6 + 1}" for at in range(12)]
TWO = {"vale": "en", "stone": "en"}
PROSE = {"latin.txt": text(*joined(LA, 4, 8)), "vale.txt": text(*joined(VALE, 3, 6, 9))}
GREEK = ["The bridge that Marcus made.", "The neighbours sat on the bank and laughed.", "The father was silent.",
         "On the third day a wolf came and went."]  # fmt: skip
PERSEUS = {
    **{f"data/phi9001/phi00{n}/phi9001.phi00{n}.perseus-lat1.xml": tei("lat", LA) for n in (1, 2)},
    **{f"data/phi9001/phi00{n}/phi9001.phi00{n}.perseus-eng1.xml": tei("eng", VALE, "Anna Vale") for n in (1, 2)},
    "data/phi9001/phi001/phi9001.phi001.perseus-eng2.xml": tei("eng", STONE, "Ben Stone"),
    "data/phi9001/phi001/__cts__.xml": text('<ti:work xmlns:ti="http://chs.harvard.edu/xmlns/cts" xml:lang="lat"/>'),
    "data/phi9001/phi002/__cts__.xml": text('<ti:work xmlns:ti="http://chs.harvard.edu/xmlns/cts" xml:lang="lat"/>'),
    "README.md": text("A clone."), "LICENSE.txt": text("CC BY-SA"),
}  # fmt: skip

KANRIPO = text(
    "# -*- mode: mandoku-view -*-", "<pb:KR9x0001_WYG_001-1a>¶",
    *(f"{at}{a}¶\n" for at, a in zip(VERSES, LA, strict=True)),
    gap="\n",
)  # fmt: skip
AOZORA = f"""橋のはなし
春野花子

{"-" * 55}
【テキスト中に現れる記号について】

《》：ルビ
（例）橋《はし》
{"-" * 55}

［＃３字下げ］一［＃「一」は中見出し］

　川《かわ》のほとりに大工《だいく》がいた。橋の上に立って水を見た。
　隣の人は笑って何も言わなかった。
　三日目に狼が来たが、火を見て森へ帰った。

底本：「橋の本」春文庫、春社
入力：山田"""

FORMS = [
    # tables
    Form("plain.csv", separated(columns(["No", "Latin", "Vale", "Stone"], NO, LA, VALE, STONE)), "la", TWO),
    Form("semicolons.csv", separated(columns(["Nr.", "Text", "Übers. Vale"], NO, LA, VALE), ";", "cp1252"), "la",
         {"vale": "en"}),
    Form("tabs.tsv", separated(columns(["section", "Vale 1911", "latin text"], VERSES, VALE, LA), "\t"), "la",
         {"vale": "en"}),
    Form("no_heads.csv", separated(columns([], NO, LA, VALE)), "la", {"translation-1": "en"}),
    Form("merged.xlsx", workbook(S=[["The Bridge: a working table"], *columns(
        ["#", "Latin", "Vale", "Stone", "Notes"], NO, LA, VALE, STONE, NOTE)]), "la", TWO),
    Form("two_heads.xlsx", workbook(S=[["", "Original", "Translations", ""], *columns(
        ["Line", "Latin", "Vale", "Stone"], NO, LA, VALE, STONE)]), "la", TWO),
    Form("notes.csv", separated(columns(["ref", "Latin", "Vale", "My notes", "Gloss"], VERSES, LA, VALE, NOTE,
         [f"{line.split()[0]} = {word.split()[0]}" for line, word in zip(LA, VALE, strict=True)])), "la",
         {"vale": "en"}),
    Form("pages.csv", separated(columns(["page", "no", "Latin", "Stone (p. 20)"], [*[4] * 5, *[5] * 7], NO, LA, STONE)),
         "la", {"stone": "en"}),
    Form("gpt.csv", separated(columns(["id", "Latin", "Vale", "GPT-4", "DeepL"], NO, LA, VALE, GPT, GPT)), "la",
         {"vale": "en"}),
    Form("languages.xlsx", workbook(S=columns(["id", "Latin", "Vale", "Stone", "Kern"], NO, LA, VALE, STONE, DE)),
         "la", TWO),
    Form("german.csv", separated(columns(["Vers", "Urtext", "Kern"], NO, LA, DE), ";"), "la", {"kern": "de"}),
    Form("long.csv", separated([["segment", "translator", "text"], *(
        [key, who, line] for key, *lines in zip(NO, LA, VALE, STONE, strict=True)
        for who, line in zip(("source", "Vale", "Stone"), lines, strict=True))]), "la", TWO),
    Form("long_with_source.csv", separated([["id", "Latin", "by", "rendering"], *(
        [key, source, who, line] for key, source, *lines in zip(NO, LA, VALE, STONE, strict=True)
        for who, line in zip(("Vale", "Stone"), lines, strict=True))]), "la", TWO),
    Form("chapters.xlsx", workbook(S=columns(["Chapter", "Verse", "Latin", "Vale"],
         [1, *[""] * 5, 2, *[""] * 5], [*range(1, 7)] * 2, LA, VALE)), "la", {"vale": "en"}),
    Form("two_sheets.xlsx", workbook(Text=columns(["id", "Latin", "Vale"], NO, LA, VALE),
         About=[["key", "value"], ["owner", "me"], ["date", "2011-01-02"]]), "la", {"vale": "en"}),
    Form("greek.csv", separated(columns(["", "Greek", "Vale"], [*"abcd"], GRC, GREEK)), "grc", {"vale": "en"}, 4),
    Form("chinese.csv", separated(columns(["章", "原文", "譯文 (Vale)", "pinyin"], [*range(1, 5)], LZH, GREEK,
         ["liang sheng zuo xin qiao", "lin ren wei shui", "qi fu mo ran", "san ri you lang"])), "lzh",
         {"vale": "en"}, 4),
    Form("markdown.md", text("# The bridge", "| no | Latin | Vale |", "|---|---|---|", *(
        f"| {key} | {a} | {b} |" for key, a, b in zip(NO, LA, VALE, strict=True)), gap="\n"), "la", {"vale": "en"}),
    Form("table.txt", separated(columns(["no", "latin", "vale"], NO, LA, VALE), "\t"), "la", {"vale": "en"}),
    Form("dates.csv", separated(columns(["id", "Latin", "Vale", "checked", "status"], NO, LA, VALE, ["2011-01-02"] * 12,
         ["done", "open"] * 6)), "la", {"vale": "en"}),
    Form("utf16.csv", separated(columns(["No", "Latin", "Vale"], NO, LA, VALE), "\t", "utf-16"), "la", {"vale": "en"}),
    Form("about.csv", separated(columns(["id", "title", "Latin", "Vale", "summary"], NO,
         [f"Of part {'abcdefghijkl'[n - 1]}" for n in NO], LA, VALE,
         [f"Here {line.split()[0]} does something, and it goes well or not." for line in VALE])), "la", {"vale": "en"}),
    Form("list_beside", placed({"pons.csv": separated(columns(["No", "Latin", "Vale"], NO, LA, VALE)),
         "pages.csv": separated(columns(["no", "page"], NO, [4] * 12))}), "la", {"vale": "en"}),
    # records
    Form("verses.jsonl", records([{"id": n, "source": a, "vale": b, "lines": [f"p{n}:1", f"p{n}:2"], "words": [{"w": w}
         for w in a.split()]} for n, a, b in zip(NO, LA, VALE, strict=True)]), "la", {"vale": "en"}),
    Form("index.jsonl", records([{"uid": f"x{n}", "title": a, "subtitle": b, "license": "CC0"} for n, a, b in
         zip(NO, LA, VALE, strict=True)]), refused="no column with a text"),
    Form("records.json", records([{"n": n, "latin": a, "english": {"vale": b, "stone": c}} for n, a, b, c in zip(
        NO, LA, VALE, STONE, strict=True)]), "la", TWO),
    Form("lines.jsonl", records([{"passage_id": f"b:{n}", "lang": "la", "source": a, "references": {"vale": b}}
         for n, a, b in zip(NO, LA, VALE, strict=True)]), "la", {"vale": "en"}),
    Form("other.jsonl", records([{"id": n, "text": a, "translation": b, "gpt4": c} for n, a, b, c in zip(
        NO, LA, VALE, GPT, strict=True)]), "la", {"translation": "en"}),
    Form("keyed.json", records({v: {"la": a, "vale": b} for v, a, b in zip(VERSES, LA, VALE, strict=True)}), "la",
         {"vale": "en"}),
    Form("memory.tmx", tmx(la=LA, en=VALE), "la", {"translation": "en"}),
    # Word and EPUB
    Form("table.docx", word("The bridge", rows=columns(["No", "Latin", "Vale", "Stone"], NO, LA, VALE, STONE)), "la",
         TWO),
    Form("word", placed({"latin.docx": word(*joined(LA, 4, 8)), "Vale 1911.docx": word(*joined(VALE, 3, 6, 9))}), "la",
         {"vale": "en"}, 9),
    Form("books", placed({"pons.epub": book("Pons", *joined(LA, 4, 8)), "vale.epub": book("Bridge", *joined(VALE, 5))}),
         "la", {"vale": "en"}, 9),
    Form("numbered", placed({"pons.docx": word(*(f"{n}. {a}" for n, a in zip(NO, LA, strict=True))),
         "vale.docx": word(*(f"{n}. {a}" for n, a in zip(NO, VALE, strict=True)))}), "la", {"vale": "en"}),
    # prose
    Form("prose", placed(PROSE), "la", {"vale": "en"}, 9),
    Form("prose_named", placed({"pons.txt": text(*joined(LA, 4, 8)), "pons_en_vale_1911.txt": text(*joined(VALE, 6)),
         "pons_en_stone_1954.txt": text(*joined(STONE, 2, 7)), "README.txt": text("By me."),
         "notes.txt": text("I should check the manuscript in the library again before the summer.")}), "la", TWO, 9),
    Form("prose_gpt", placed({**PROSE, "chatgpt.txt": text(*joined(GPT, 3, 6))}), "la", {"vale": "en"}, 9),
    Form("prose_chance", placed({"latin.txt": text(*joined(LA, 4, 8)), "vale.txt": text(*joined(VALE, 1, 3))}), "la",
         {"vale": "en"}, 9),
    Form("lines", placed({"latin.txt": text(*LA, gap="\n"), "vale.txt": text(*VALE, gap="\n")}), "la", {"vale": "en"}),
    Form("mixed", placed({"latin.docx": word(*joined(LA, 4, 8)), "stone.txt": text(*joined(STONE, 3, 6))}), "la",
         {"stone": "en"}, 9),
    Form("table_and_prose", placed({"pons.csv": separated(columns(["No", "Latin", "Vale"], NO, LA, VALE)),
         "stone.txt": text(*joined(STONE, 3, 6))}), "la", TWO),
    Form("by_folder", placed({f"{name}/{n}.txt": text(*joined(lines[n * 6 - 6 : n * 6], 3)) for n in (1, 2) for
         name, lines in (("latin", LA), ("vale", VALE), ("stone", STONE))}), "la", TWO, 9),
    Form("by_name", placed({f"book{n}_{name}.txt": text(*joined(lines[n * 6 - 6 : n * 6], 2 + len(name) % 2))
         for n in (1, 2) for name, lines in (("latin", LA), ("vale", VALE))}), "la", {"vale": "en"}, 9),
    Form("signed", placed({"la.txt": text(*joined(LA, 4, 8)), "en.txt": text(
        "The Bridge", "Translated by Anna Vale", *joined(VALE, 3, 6, 9))}), "la", {"vale": "en"}, 9),
    Form("chinese_prose", placed({"原文.txt": text("".join(LZH[:2]), "".join(LZH[2:])),
         "vale.txt": text(" ".join(GREEK))}), "lzh", {"vale": "en"}, 4),
    Form("spanish.csv", separated(columns(["Español", "English (Vale)"], ES, VALE)), "es", {"vale": "en"}),
    Form("drafts.xlsx", workbook(S=columns(["§", "Lat.", "Claude 3.5", "MT draft", "Transl. Stone", "Literal"], NO,
         LA, GPT, GPT, STONE, [" / ".join(line.split()[:3]).upper() for line in VALE])), "la", {"stone": "en"}),
    Form("numbered_translators.csv", separated(columns(["id", "Latin", "Translator 1", "Translator 2"], NO, LA, VALE,
         STONE)), "la", {"translator-1": "en", "translator-2": "en"}),
    Form("named.csv", separated(columns(["Line", "Latin", "English (A. Vale)", "English (B. Stone 1954)"], NO, LA, VALE,
         STONE)), "la", TWO),
    Form("empty_column.csv", separated(columns(["Line", "Latin", "Vale", "Stone"], NO, LA, VALE, [""] * 12)), "la",
         {"vale": "en"}),
    Form("half.csv", separated(columns(["Line", "Latin", "Vale", "Stone"], NO, LA, VALE, [*STONE[:7], *[""] * 5])),
         "la", TWO),
    Form("sheets.xlsx", workbook(**{f"Chapter {n}": columns(["v", "Latin", "Vale"], NO[:6], LA[n * 6 - 6 : n * 6],
         VALE[n * 6 - 6 : n * 6]) for n in (1, 2)}), "la", {"vale": "en"}),
    Form("files_by_chapter", placed({f"ch{n}.csv": separated(columns(["v", "Latin", "Vale"], NO[:6],
         LA[n * 6 - 6 : n * 6], VALE[n * 6 - 6 : n * 6])) for n in (1, 2)}), "la", {"vale": "en"}),
    Form("headless.tsv", separated(columns([], VERSES, LA, STONE, VALE), "\t"), "la",
         {"translation-1": "en", "translation-2": "en"}),
    Form("columnar.json", records({"latin": LA, "vale": VALE}), "la", {"vale": "en"}),
    Form("nested.json", records({"title": "Pons", "verses": [{"n": n, "la": a, "translations": [{"by": "Vale",
         "text": b}]} for n, a, b in zip(NO, LA, VALE, strict=True)]}), "la", {"vale": "en"}),
    Form("headless.docx", word(rows=columns([], NO, LA, VALE)), "la", {"translation-1": "en"}),
    Form("numbered_lines", placed({"pons_la.txt": text(*(f"{n}. {a}" for n, a in zip(NO, LA, strict=True)), gap="\n"),
         "pons_en.txt": text(*(f"{n}. {a}" for n, a in zip(NO, VALE, strict=True)), gap="\n")}), "la",
         {"translation": "en"}),
    Form("originals", placed({"original.txt": text(*joined(ES, 4, 8)), "translation.txt": text(*joined(VALE, 3))}),
         "es", {"translation": "en"}, 12),
    Form("two_editions", placed({"latin_a.txt": text(*joined(LA, 4, 8)), "latin_b.txt": text(*joined(LA, 2, 8)),
         "vale.txt": text(*joined(VALE, 3))}), "la", {"vale": "en"}, 9),
    Form("with_pdf", placed({**PROSE, "scan.pdf": text("%PDF")}), "la", {"vale": "en"}, 9),
    Form("wrapped", placed({"latin.txt": text(*(wrapped(each) for each in joined(LA, 4, 8))), "vale.txt": text(
         *(wrapped(each) for each in joined(VALE, 6)))}), "la", {"vale": "en"}, 9),
    Form("underscored", placed({"pons_lat.xml": tei("lat", LA), "pons_eng.xml": tei("eng", VALE, "Anna Vale")}), "la",
         {"vale": "en"}),
    Form("tei_names", placed({"pons.xml": tei("lat", LA), "bridge.xml": tei("eng", VALE, "Anna Vale")}), "la",
         {"vale": "en"}),
    Form("tei_folders", placed({"latin/pons.xml": tei("lat", LA), "english/pons.xml": tei("eng", VALE, "Anna Vale")}),
         "la", {"vale": "en"}),
    Form("osis", placed({f"{name}.xml": osis(language, lines) for name, language, lines in
         (("latin", "la", LA), ("vale", "en", VALE))}), "la", {"vale": "en"}),
    # editions
    Form("editions", placed({"pons.lat.xml": tei("lat", LA), "pons.eng.xml": tei("eng", VALE, "Anna Vale")}), "la",
         {"vale": "en"}),
    Form("perseus", placed(PERSEUS), works=["phi001", "phi002"]),
    Form("sefaria", placed({"Liber Pontis/Hebrew/Pons.json": sefaria("Pons", "la", LA, True),
         "Liber Pontis/English/Vale, 2011.json": sefaria("Vale, 2011", "en", VALE),
         "Liber Pontis/English/merged.json": sefaria("merged", "en", VALE),
         "Liber Pontis/English/Stone.json": sefaria("Stone", "en", STONE)}), "la", {"vale-2011": "en", "stone": "en"}),
    Form("usfm", placed({f"{name}/A0-XXA.usfm": usfm("XXA", lines) for name, lines in
         (("latin", LA), ("vale", VALE))}), "la", {"vale": "en"}),
    Form("moses", placed({"pons.la": text(*LA, gap="\n"), "pons.en": text(*VALE, gap="\n")}), "la",
         {"translation": "en"}),
    Form("one_text_a_file", placed({"latin.csv": separated(columns(["v", "text"], VERSES, LA)),
         "vale.csv": separated(columns(["v", "text"], VERSES, VALE))}), "la", {"vale": "en"}),
    Form("collection", placed({f"{work}/{name}.txt": text(*joined(lines, cut)) for work, cut in
         (("pons", 4), ("via", 5)) for name, lines in (("latin", LA), ("vale", VALE))}), works=["pons", "via"]),
    Form("tables", placed({"pons.csv": separated(columns(["No", "Latin", "Vale"], NO, LA, VALE)),
         "via.xlsx": workbook(S=columns(["v", "Text", "Stone", "Kern"], VERSES, LA, STONE, DE))}),
         works=["pons", "via"]),
    # prose beside other forms
    Form("osis_and_prose", placed({"pons.xml": osis("la", LA), "vale.txt": text(*joined(VALE, 4, 8))}), "la",
         {"vale": "en"}),
    Form("usfm_and_word", placed({"A0-XXA.usfm": usfm("XXA", LA), "Vale 1911.docx": word(*joined(VALE, 4, 8))}), "la",
         {"vale": "en"}),
    Form("books_and_prose", placed({**{f"A{n}-{book}.usfm": usfm(book, LA[n * 6 : n * 6 + 6]) for n, book in
         enumerate(("XXA", "XXB"))}, **{f"{book}_vale.txt": text(*joined(VALE[n * 6 : n * 6 + 6], 3)) for n, book in
         enumerate(("XXA", "XXB"))}, "stone.txt": text(*joined(STONE, 3))}), "la", {"vale": "en"}),
    Form("tei_and_prose", placed({"pons.xml": tei("lat", LA), "vale.txt": text(*joined(VALE, 4, 8))}), "la",
         {"vale": "en"}),
    Form("kanripo_and_prose", placed({"KR9x0001_001.txt": text("# -*- mode: mandoku-view -*-", "#+TITLE: 橋書",
         "<pb:KR9x0001_WYG_001-1a>¶", *(f"{line}¶" for line in LZH), gap="\n"), "vale.txt": text(" ".join(GREEK)),
         "Readme.org": text("#+TITLE: 橋書")}), "lzh", {"vale": "en"}, 1),
    Form("aozora_and_prose", placed({"hashi.txt": text(AOZORA, encoding="cp932"),
         "vale.txt": text(" ".join(GREEK))}), "ja", {"vale": "en"}, 4),
    Form("japanese_beside", placed({"pons.xml": tei("lat", LA), "vale.txt": text(*joined(VALE, 4, 8)),
         "hashi.txt": text(AOZORA, encoding="cp932"), "kern.txt": text(*joined(DE, 4))}), "la", {"vale": "en"}),
    Form("unrelated", placed({"pons.csv": separated(columns(["No", "Latin", "Vale"], NO, LA, VALE)), "both.docx": word(
         *(each for pair in zip(LA, STONE, strict=True) for each in pair)), "list.docx": word(rows=columns(
         ["word", "meaning", "note"], *[[line.split()[at] for line in VALE[:9]] for at in range(3)])),
         "long.txt": text(*VALE * 40)}), "la", {"vale": "en"}),
    # refused
    Form("osis_and_table", placed({"pons.xml": osis("la", LA), "vale.csv": separated(columns(["No", "Vale"], NO,
         VALE))}), refused="a table cannot be read beside this form"),
    Form("prose_and_old_word", placed({"latin.txt": PROSE["latin.txt"], "vale.doc": text(*VALE)}),
         refused=".doc files are not read; save it as .docx or .txt"),
    Form("table_of_translation", placed({"latin.txt": PROSE["latin.txt"], "vale.csv": separated(columns(["No", "Vale"],
         NO, VALE))}), refused="write the source beside it"),
    Form("tibetan_titles.xml", text('<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><idno>84000</idno><title '
         'xml:lang="bo">x</title></teiHeader><text><body>', *(f'<milestone n="{n}"/><p>{line}</p>' for n, line in
         enumerate(VALE, 1)), "</body></text></TEI>"), refused="only in en"),
    Form("interleaved.txt", text(*(each for pair in zip(LA, VALE, strict=True) for each in pair)),
         refused="put source and translation into two files"),
    Form("windows", placed({"latin.txt": text(*joined(LA, 4, 8)), "kern.txt": text(*joined(DE, 3, 6),
         encoding="cp1252")}), refused="save the file as UTF-8"),
    Form("prose.md", text("# Pons", *joined(LA, 4, 8)), refused="no translation"),
    Form("UPPER.CSV", separated(columns(["No", "Latin", "Vale"], NO, LA, VALE)), refused="rename it"),
    Form("tei_alone.xml", tei("lat", LA), refused="no translation"),
    Form("sefaria_alone", placed({"English/Vale.json": sefaria("Vale", "en", VALE)}), refused="only in en"),
    Form("usfm_alone.usfm", usfm("XXA", VALE), refused="only in en"),
    Form("notes_only.csv", separated(columns(["No", "Latin", "Notes"], NO, LA, NOTE)), refused="no translation"),
    Form("empty_sheet.xlsx", workbook(S=[]), refused="no text"),
    Form("transliterated.csv", separated(columns(["No", "Greek", "Transliteration"], NO[:4], GRC, ["ho Markos gephuran",
         "hoi de geitones", "ho pater", "tei tritei hemerai"])), refused="no translation"),
    Form("page_lists.csv", separated(columns(["page", "line"], [1, 1, 2, 2], NO[:4])), refused="no column with a text"),
    Form("blank.csv", text(""), refused="no text"),
    Form("blank.docx", word(""), refused="no text"),
    Form("blank.txt", text(""), refused="no text"),
    Form("empty", lambda path: path.mkdir(), refused="contains no file"),
    Form("latin_alone.txt", text(*joined(LA, 4, 8)), refused="no translation"),
    Form("source_alone.csv", separated(columns(["No", "Latin"], NO, LA)), refused="no translation"),
    Form("only_english", placed({"vale.txt": text(*joined(VALE, 4)), "stone.txt": text(*joined(STONE, 5))}),
         refused="only in en"),
    Form("no_source.csv", separated(columns(["No", "Vale", "Stone"], NO, VALE, STONE)), refused="only in en"),
    Form("only_gpt.csv", separated(columns(["No", "Latin", "GPT-4"], NO, LA, GPT)), refused="no translation"),
    Form("numbers.csv", separated(columns(["a", "b"], NO, NO)), refused="no column with a text"),
    Form("pictures", placed({"scan.png": text("x"), "scan.pdf": text("%PDF")}), refused=".pdf"),
]  # fmt: skip
