"""Furniture of plain text: what a book prints around its text, and words that it breaks at the end of a line.

Here: title page, headings, salutations, page numbers, running heads, footnotes and their marks, licences, as plain text
shows them by form and place. Not here: markup (plain, html), the assembly of a text with its asides (running_text), and
anything that only a comparison with the source can tell (alignment).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH

_NUMBER = r"(?:\d{1,4}|[ivxlcdm]{1,8}|[IVXLCDM]{1,8})"
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last|one|two|three|four|five"
    r"|six|seven|eight|nine|ten|eleven|twelve)"
)
_PART = (
    r"(?:chapter|chap\.|ch\.|book|bk\.|part|section|sect\.|canto|act|scene|letter|epistle|ode|hymn|psalm|discourse|volume"
    r"|vol\.|kapitel|kap\.|buch|teil|band|brief|gesang|chapitre|livre|partie|lettre|tome|capitolo|libro|parte|lettera"
    r"|capítulo|carta|caput|liber|pars|epistula|глава|книга|часть)"
)
_CHAPTER = re.compile(
    rf"(?:{_PART}\s+(?:the\s+)?(?:{_NUMBER}|{_ORDINAL})|(?:the\s+)?{_ORDINAL}\s+{_PART}|§\s*\d+|第[〇一二三四五六七八九十百\d]+[章回節卷])"
    r"(?:(?:\s*[.:,—–-]+\s*|\s+(?=[A-Z“\"(]))(?P<title>.*))?",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"(?:(?:the\s+)?(?:end|finis|contents|table of contents|preface|foreword|introduction|prologue|epilogue|appendix"
    r"|index|bibliography|dedication|argument|notes|footnotes|endnotes|vorwort|einleitung|anmerkungen|inhalt|ende"
    r"|préface|notes de bas de page|table des matières|fin|prefazione|fine|note|explicit|translator.s (?:note|preface))"
    rf"|end of (?:the )?(?:{_ORDINAL} )?{_PART}(?: {_NUMBER}| {_ORDINAL})?|\(?to be continued\)?)\W*",
    re.IGNORECASE,
)
_NOTES = re.compile(r"\W*(?:foot|end)?notes|anmerkungen|notes de bas de page\W*", re.IGNORECASE)
_BY = r"(?:by|von|par|di)\s+(?-i:(?:[A-ZÀ-Þ][\w.'’-]*[,;]?\s*|(?:and|und|et|e|de|van|of|the)\s+)+)"
_IMPRINT = re.compile(
    rf"{_BY}|(?:translated|edited|printed|published|copyright|©|all rights reserved|produced by|with an introduction"
    r"|from the (?:latin|greek|pali|chinese|sanskrit|original)|a (?:new )?translation|übersetzt|aus dem|traduit"
    r"|traduction|tradotto)\b.*|(?-i:[A-Z][\w. ]+[,:] )+\d{4}\W*|.*https?://.*|\W*(?:1[4-9]|20)\d\d\W*",
    re.IGNORECASE,
)
_TRANSCRIBED = re.compile(
    r"(?:produced by|transcribed from|\[?transcriber.?s.? note|e-?text prepared|this (?:e-?book|e-?text)\b)",
    re.IGNORECASE,
)
_SALUTATION = re.compile(
    r"(?:my |most |o )*(?:dear(?:est)?|beloved|honou?red|gentle|kind|courteous)\b.{0,40}"
    r"|to (?:the|my|his|her|our) (?:\w+ )?(?:reader|friend|lord|lady|king|queen|public|brother|patron)s?\b.{0,40}"
    r"|.{0,60}\b(?:greetings?|good health|salutem|s\. ?d\.)\W*|.{0,60}\bsends? (?:his )?(?:greetings?|health)\b.{0,40}"
    r"|(?:I (?:am|remain)|believe me)\b.{0,20}\b(?:dear|your|yours)\b.{0,40}"
    r"|(?:sir|madam|gentlemen|sirs|reader)[,:]"
    r"|(?:yours|your (?:most )?(?:humble|obedient)|sincerely|faithfully|fare\s?well|vale|with (?:love|best wishes))\b"
    r".{0,40}",
    re.IGNORECASE,
)
_PAGE = re.compile(
    rf"[\[({{<\s–—-]*(?:page|pag?\.|pg\.?|p\.|seite|s\.|fol\.)\s*{_NUMBER}[ab]?[\])}}>\s.–—-]*", re.IGNORECASE
)
_LONE = re.compile(rf"[^\w\[\]“”\"‘’']*(?P<number>{_NUMBER})[^\w\[\]“”\"‘’'!?]*")
_BRACKETED = re.compile(rf"\s*\[\s*(?P<number>{_NUMBER})\s*\]\s*")
_INLINE_PAGE = re.compile(rf"(?<!\s)\s*[\[{{](?:page|pg\.?|p\.)\s*{_NUMBER}[\]}}]", re.IGNORECASE)
_ADDITION = re.compile(r"(?<!\s)\s*\[(?:Footnote|Illustration|Sidenote|Transcriber|Editor|Note)\b", re.IGNORECASE)
_START = re.compile(r"\*\*\*\s*START OF .*PROJECT GUTENBERG|\*END\*?\s*THE SMALL PRINT", re.IGNORECASE)
_END = re.compile(r"(?:\*\*\*\s*)?END OF .*PROJECT GUTENBERG", re.IGNORECASE)
_PAGE_BREAK = "\v"
"""Sign before a number beside a form feed."""
_PAGE_NUMBER = r"(?P<number>[^\w\n\f]*\d{1,4}[^\w\n\f]*)"
_AT_PAGE_BREAKS = (rf"\f[^\S\n]*\n?{_PAGE_NUMBER}\n", rf"\n{_PAGE_NUMBER}\n?\f\n?")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NOTE = re.compile(
    r"\s*(?:\[(?P<bracket>\d{1,3}|[a-z]|[*†‡]+)\]|\{(?P<brace>\d{1,3})\}|\(?(?P<digits>\d{1,3})[.)]?(?=\s)|(?P<sign>[*†‡§]+)(?!\w[^*]*\*)|(?P<raised>[⁰¹²³⁴-⁹]+))"
    r"\s*(?=[^\s*†‡])"
)
_APPARATUS = re.compile(
    r"(?:See|Cf\b|Compare|Lit\b|Literally|Reading|MSS?\b|Some (?:MSS|manuscripts|editions)|i\.e\.|That is,|Or,|Vide"
    r"|Vgl\b|Siehe|Voir|Note\b|The (?:text|manuscripts?|MSS?|reading|Latin|Greek|Pali|Chinese)\b"
    r"|An? (?:allusion|reference)\b)"
)
_OF_TEXT = re.compile(
    r"\b(?:refers? to|literally|lit\.|manuscripts?|mss?\.|cf\.|ibid|op\. cit|i\.e\.|reading|editors?|commentators?"
    r"|in the original|translators?|(?:the|in) (?:greek|latin|pali|sanskrit|chinese|hebrew|tibetan)|allu(?:des|sion)"
    r"|play on words|siehe|vgl\.|wörtlich|voir|littéralement|see (?:above|below|also|note|chapter|book|p\.|page))\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?:Note|N\.B\.|Footnote|Anm\.)\s*\d*\s*[:.]\s")
_MARKS = re.compile(
    r"(?<=[\w.,;:!?”\"’')\]])(?P<sign>\[[*†‡]+\]|\*+(?!\w)|[†‡§]+)|(?<=\S)(?P<raised>[⁰¹²³⁴-⁹]+)"
    r"|(?<=[^\W\d_]|[.,;:!?”\"’)])(?P<digits>(?<!\d[.,])\d{1,3})(?=[\s.,;:)”\"]|$)|(?<=\S)\[(?P<bracket>\d{1,3}|[a-z])\]"
    r"|\s?\{(?P<brace>\d{1,3})\}"
)
_PAGE_OF_HEAD = re.compile(rf"^[\[(]?{_NUMBER}[\])]?\s{{2,}}|\s{{2,}}[\[(]?{_NUMBER}[\])]?$|^\d+\s+|\s+\d+$")
_SENTENCE_END = re.compile(r"[.?!…:。！？][\W\d]*$")
_FOOT = 4
"""Most lines of a footnote at the foot of a paragraph; of more, nothing tells where it ends."""
_MOST_WORDS, _MOST_LETTERS, _SHORT, _MOST_PARAGRAPHS = 14, 100, 300, 8
_SMALL = re.compile(
    "a|an|and|as|at|but|by|for|from|in|into|of|on|or|nor|the|to|with|de|des|du|et|la|le|les|au|aux|sur|della|di|del|e|il"
    "|das|dem|den|der|die|ein|eine|im|und|von|vom|zu|y|el|los|las|en"
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


class PrintedLine(NamedTuple):
    """A line of a text, or an aside of some `kind` before the next line; `separator` precedes a line."""

    kind: str
    text: str
    separator: str = PARAGRAPH


class _PrintedBlock(NamedTuple):
    """A paragraph: its lines."""

    lines: list[str]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.lines).split())


def pieces(content: str) -> list[PrintedLine]:
    """The lines and asides of a plain text, in order, with the words joined that line breaks cut in two.

    Paragraphs are separated by empty lines; in a text without empty lines, each line is a paragraph. A paragraph that a
    page break or a footnote interrupts goes on after it. If nothing else is left, all of it is text.
    """
    head, body, tail = _bounds(content)
    blocks = _blocks(body)
    listed = [PrintedLine("furniture", " ".join(head.split()))] if head.strip() else []
    notes, marks = _footnotes(blocks)
    pages = _page_numbers(blocks)
    heads = _running_heads(blocks, pages)
    (first, last), poem = _prose_bounds(blocks), _is_poem(blocks)
    titles = _titles(blocks, dense="\n\n" not in re.sub(r"[^\S\n]", "", body.strip()))
    in_notes, broken = False, ""
    for at, block in enumerate(blocks):
        kind = _kind(block, not first <= at <= last, poem) or ("heading" if at in titles else "")
        in_notes = (kind == "heading" and _NOTES.fullmatch(block.text) is not None) or (in_notes and kind != "heading")
        note = ""
        if at in notes or (in_notes and not kind):
            first_line = notes.get(at, 0)
            block, note = _PrintedBlock(block.lines[:first_line]), _PrintedBlock(block.lines[first_line:]).text
        of_page = not note and all(
            (at, number) in heads or number in pages.get(at, {}) for number in range(len(block.lines))
        )
        if kind and not of_page and not note:
            listed.append(PrintedLine(kind, block.text))
            broken = ""
            continue
        separator = PARAGRAPH
        for number, line in enumerate(block.lines):
            if number in pages.get(at, {}):
                listed.append(PrintedLine(pages[at][number], " ".join(line.split())))
            elif (at, number) in heads:
                listed.append(PrintedLine("page", " ".join(line.split())))
            elif not broken and len(block.lines) > 1 and _is_heading(line.strip()):
                listed.append(PrintedLine("heading", line.strip()))
                separator = PARAGRAPH
            else:
                if separator == PARAGRAPH and listed and listed[-1].kind and broken and line.strip()[:1].islower():
                    separator = LINE
                listed += _without_additions(line, separator)
                separator, broken = LINE, "" if _SENTENCE_END.search(line.strip()) else line
        if note:
            listed.append(PrintedLine("footnote" if "illustration" not in note[:15].casefold() else "furniture", note))
    if tail.strip():
        listed.append(PrintedLine("furniture", " ".join(tail.split())))
    if not any(re.search(r"\w", piece.text) for piece in listed if not piece.kind):
        lines = [(number, line) for block in blocks for number, line in enumerate(block.lines)]
        return [PrintedLine("", line, LINE if number else PARAGRAPH) for number, line in lines]
    return _joined([_without_marks(piece, marks) for piece in listed])


def _bounds(content: str) -> tuple[str, str, str]:
    """What precedes a text, the text, and what follows it, by the lines that Project Gutenberg adds."""
    lines = content.split("\n")
    starts = [at for at, line in enumerate(lines) if _START.search(line)]
    start = starts[0] + 1 if starts else 0
    ends = [at for at in range(start, len(lines)) if _END.match(lines[at].strip())]
    end = ends[0] if ends else len(lines)
    return "\n".join(lines[:start]), "\n".join(lines[start:end]), "\n".join(lines[end:])


def _blocks(content: str) -> list[_PrintedBlock]:
    content = content.strip()
    for place in _AT_PAGE_BREAKS if "\f" in content else ():
        content = re.sub(place, f"\n{_PAGE_BREAK}\\g<number>\n", content)
    paragraphs = re.split(r"\n\s*\n", content)
    parts = paragraphs if len(paragraphs) > 1 else content.split("\n")
    blocks = (_PrintedBlock([line for line in part.replace("\f", "\n").split("\n") if line.strip()]) for part in parts)
    return [block for block in blocks if block.lines]


def _kind(block: _PrintedBlock, outside: bool, poem: bool) -> str:
    """'heading' or 'furniture' if a paragraph is no text, else ''.

    `outside` tells whether it precedes or follows all longer paragraphs. What is no sentence is no text there, except
    in a `poem`.
    """
    text = block.text
    words = _WORD.findall(text)
    if not words and not re.search(r"[\d….]", text):
        return "furniture"
    lines = [line.strip(" ,;:") for line in block.lines]
    titled = all(_is_title(line) or _is_caps(line) or _SMALL.fullmatch(line.casefold()) for line in lines)
    pages = sum(re.search(rf"[\s.]{_NUMBER}$", line) is not None for line in lines)
    if (_is_caps(text) and len(text) < _SHORT and text[-1] not in "!?") or (pages > 2 and pages > 0.6 * len(lines)):
        return "heading" if pages < 3 else "furniture"
    if outside and _TRANSCRIBED.match(text):
        return "furniture"
    titled = titled and outside and len(text) < _SHORT and not text.endswith(".")
    if len(block.lines) > 3 or len(text) > _MOST_LETTERS or len(words) > _MOST_WORDS:
        return "heading" if titled else ""
    if chapter := _CHAPTER.fullmatch(text):
        title = chapter["title"] or ""
        return "heading" if not title or len(title.split()) < 3 or _is_title(title) or _is_caps(title) else ""
    if _ALONE.fullmatch(text) and (text[0].isupper() or text[0] in "(*"):
        return "heading"
    if _SALUTATION.fullmatch(text) and len(words) < 12:
        return "furniture"
    if not outside:
        return ""
    if _IMPRINT.fullmatch(text) and (text[0].isupper() or not text[0].isalpha() or re.search(r"\bby [A-Z]", text)):
        return "furniture"
    if titled:
        return "heading"
    return "" if poem or text[0].islower() or _SENTENCE_END.search(text) else "furniture"


def _is_heading(line: str) -> bool:
    """Whether a line of a paragraph heads the lines after it: it names a chapter, or is in capitals."""
    chapter = _CHAPTER.fullmatch(line)
    titled = chapter is not None and (not chapter["title"] or _is_title(chapter["title"]) or _is_caps(chapter["title"]))
    return titled or (_is_caps(line) and len(line) <= _MOST_LETTERS and line[-1] not in "!?,;")


def _is_caps(text: str) -> bool:
    """Whether a text is in capitals, apart from Roman numerals, and has a word of three letters."""
    words = re.sub(r"\b[ivxlcdm]+\b", "", text)
    return words.isupper() and max(map(len, _WORD.findall(words)), default=0) > 2


def _is_title(text: str) -> bool:
    """Whether all words but articles, prepositions and conjunctions are capitalized, and there are two of them, or a
    number before the only one."""
    words = _WORD.findall(text)
    capital = [word for word in words if not word[0].islower()]
    numbered = re.match(rf"\s*{_NUMBER}[.)]?\s", text) is not None
    small = all(_SMALL.fullmatch(word) for word in words if word[0].islower())
    return (
        small and len(capital) > (0 if numbered else 1) and max(map(len, capital)) > 3
        and text.lstrip("“\"'( ")[:1] not in "[*" and (numbered or not words[0][0].islower())
    )  # fmt: skip


def _titles(blocks: Sequence[_PrintedBlock], dense: bool) -> set[int]:
    """Indices of paragraphs in title case, unless there are so many that the text is a poem or a list.

    In a text without empty lines (`dense`), both neighbors of a title are long.
    """
    found = set()
    for at, block in enumerate(blocks):
        text, beside = block.text, (*blocks[at - 1 : at], *blocks[at + 1 : at + 2])
        if len(block.lines) == 1 and len(text) <= _MOST_LETTERS and text[-1].isalnum() and _is_title(text):
            found |= set() if dense and any(len(each.text) < _MOST_LETTERS for each in beside) else {at}
    return found if len(found) <= max(5, 0.1 * len(blocks)) else set()


def _prose_bounds(blocks: Sequence[_PrintedBlock]) -> tuple[int, int]:
    """Indices of the first and last paragraph that is long, or a whole sentence; of all paragraphs if none is."""
    whole = [
        at for at, block in enumerate(blocks)
        if len(block.text) > 2 * _MOST_LETTERS or (len(block.text) > 60 and _SENTENCE_END.search(block.text))
    ]  # fmt: skip
    return (whole[0], whole[-1]) if whole else (0, len(blocks))


def _is_poem(blocks: Sequence[_PrintedBlock]) -> bool:
    """Whether more than a fifth of the paragraphs are short and no sentences."""
    short = sum(len(block.text) <= _MOST_LETTERS and not _SENTENCE_END.search(block.text) for block in blocks)
    return short > max(8, 0.2 * len(blocks))


def _page_numbers(blocks: Sequence[_PrintedBlock]) -> dict[int, dict[int, str]]:
    """Kind of each line that only numbers a page or a paragraph, by paragraph and line.

    A number counts if it is a paragraph of its own, or if it continues a sequence. Numbers are of pages if one of them
    interrupts a sentence; else of paragraphs or chapters.
    """
    lines = [(at, number, line) for at, block in enumerate(blocks) for number, line in enumerate(block.lines)]
    found: dict[int, dict[int, str]] = {}
    lone: list[tuple[int, int, bool, int]] = []
    interrupting = 0
    for place, (at, number, line) in enumerate(lines):
        if _PAGE.fullmatch(line):
            found.setdefault(at, {})[number] = "page"
        elif match := _LONE.fullmatch(line) or _BRACKETED.fullmatch(line):
            before, after = lines[place - 1][2] if place else "", lines[place + 1][2] if place + 1 < len(lines) else ""
            cut = bool(before) and not _SENTENCE_END.search(before.strip()) and after.strip()[:1].islower()
            interrupting += cut
            own = blocks[at].lines
            beside = [each.strip() for each in (*own[max(0, number - 1) : number], *own[number + 1 : number + 2])]
            titled = any(_is_caps(each) or _is_title(each) for each in beside)
            alone = cut or titled or len(own) == 1 or line.startswith(_PAGE_BREAK)
            lone.append((at, number, alone, _value(match["number"])))
    values = [value for *_, value in lone]
    of_pages = interrupting > 0 or (values[:1] > [1] and all(one < two for one, two in pairwise(values)))
    for (at, number, alone, _), in_order in zip(lone, _in_sequence(values), strict=True):
        bracketed = _BRACKETED.fullmatch(blocks[at].lines[number]) is not None
        if (alone or in_order) and not (bracketed and not interrupting):
            found.setdefault(at, {})[number] = "page" if of_pages else "number"
    return found


def _in_sequence(values: Sequence[int]) -> list[bool]:
    """Whether each number is one or two more than the one before it, or less than the one after it by as much."""
    steps = [0 < later - former < 3 for former, later in pairwise(values)]
    return [former or later for former, later in zip([False, *steps], [*steps, False], strict=True)][: len(values)]


def _value(number: str) -> int:
    """The value of a number in Arabic or Roman digits."""
    if number.isdigit():
        return int(number)
    digits = [dict(zip("ivxlcdm", (1, 5, 10, 50, 100, 500, 1000), strict=True))[sign] for sign in number.lower()]
    return sum(-one if one < two else one for one, two in zip(digits, [*digits[1:], 0], strict=True))


def _running_heads(blocks: Sequence[_PrintedBlock], pages: Mapping[int, Mapping[int, str]]) -> set[tuple[int, int]]:
    """Paragraph and line of each running head: a title that is repeated as a line, or stands beside a page number."""
    places: dict[str, list[tuple[int, int, bool]]] = {}
    for at, block in enumerate(blocks):
        for number, line in enumerate(block.lines):
            text = line.strip()
            bare = _PAGE_OF_HEAD.sub("", text).strip()
            if (
                3 < len(bare) <= 60
                and not set('“”"‘') & set(bare)
                and bare[-1] not in ",;:?!"
                and (_is_caps(bare) or _is_title(bare))
            ):
                places.setdefault(bare.casefold(), []).append((at, number, bare != text))
    heads: set[tuple[int, int]] = set()
    for own in places.values():
        if len(own) > 2 or sum(numbered for *_, numbered in own) > 1:
            heads |= {(at, number) for at, number, _ in own}
        else:
            heads |= {(at, number) for at, number, _ in own if _beside(blocks, at, number, pages)}
    return heads


def _beside(blocks: Sequence[_PrintedBlock], at: int, number: int, pages: Mapping[int, Mapping[int, str]]) -> bool:
    """Whether a line follows or precedes the number of a page, with at most a paragraph break between them."""
    last = len(blocks[at].lines) - 1
    before = pages.get(at, {}).get(number - 1) if number else pages.get(at - 1, {}).get(len(blocks[at - 1].lines) - 1)
    after = pages.get(at, {}).get(number + 1) if number < last else pages.get(at + 1, {}).get(0)
    return "page" in (before, after)


def _footnotes(blocks: Sequence[_PrintedBlock]) -> tuple[dict[int, int], set[str]]:
    """Paragraphs with footnotes, with the line at which these begin, and the marks in the text that refer to them.

    A paragraph, or the rest of one, that begins with a mark is a footnote if that mark occurs earlier in the text,
    after a word, or if it speaks of the text as philologists do. A numbered paragraph before the first mark is not a
    footnote, and in a text that numbers most of its paragraphs, none is.
    """
    notes: dict[int, int] = {}
    used: set[str] = set()
    seen = Counter[str]()
    stars = sum(line.lstrip().startswith("*") for block in blocks for line in block.lines)
    begins = [_NOTE.match(block.lines[0]) for block in blocks]
    paragraphs = 2 * sum(each is not None and each["digits"] is not None for each in begins) > len(blocks)
    numbered, unclosed = False, 0  # before this paragraph, a square bracket is open
    for at, block in enumerate(blocks):
        if _ADDITION.match(block.lines[0]) and at >= unclosed:
            depths = accumulate(
                each.text.count("[") - each.text.count("]") for each in blocks[at : at + _MOST_PARAGRAPHS]
            )
            unclosed = at + next((length for length, depth in enumerate(depths, start=1) if depth <= 0), 0)
        if at < unclosed:
            notes[at] = 0
            continue
        for number, line in enumerate(block.lines):
            if number and len(block.lines) - number > _FOOT:
                continue
            match = _NOTE.match(line)
            kind = match.lastgroup if match else None
            mark = match[kind].translate(_SUPERSCRIPTS) if match and kind else ""
            rest = " ".join(block.lines[number:])[match.end() if match else 0 :]
            counted = kind in ("bracket", "digits")
            referred = bool(mark) and seen[mark] > 0 and not (counted and (numbered or (kind == "digits" and number)))
            remark = match is not None and (_APPARATUS.match(rest) or (len(rest) < _SHORT and _OF_TEXT.search(rest)))
            few = kind == "raised" or (kind == "sign" and stars < max(5, 0.2 * len(blocks)))
            if (
                referred
                or (remark and not (counted and (number or paragraphs)))
                or (few and rest.lstrip("\"“‘'(")[:1].isalpha())
                or _REMARK.match(line)
            ):
                notes[at] = number
                others = filter(None, map(_NOTE.match, block.lines[number + 1 :]))
                marks = (each[kind].translate(_SUPERSCRIPTS) for each in others if kind and each.lastgroup == kind)
                used |= {mark, *(each for each in marks if seen[each])}
                break
            numbered = numbered or (counted and not seen and not number)
        for found in _MARKS.finditer(" ".join(block.lines[: notes.get(at)])):
            seen[(found[str(found.lastgroup)]).strip("[]{}").translate(_SUPERSCRIPTS)] += 1
    return notes, used - {""}


def _without_additions(line: str, separator: str) -> list[PrintedLine]:
    """A line, without what transcribers add in square brackets: footnotes, illustrations, page numbers."""
    listed: list[PrintedLine] = []
    while match := _INLINE_PAGE.search(line) or _ADDITION.search(line):
        end = match.end() if match[0].endswith(("]", "}")) else _closing(line, match.end())
        if line[: match.start()].strip():
            listed.append(PrintedLine("", line[: match.start()], separator))
            separator = ""
        note = "footnote" if "note" in match[0].casefold() else "page" if match[0][-1] in "]}" else "furniture"
        listed.append(PrintedLine(note, line[match.start() : end].strip()))
        line = line[end:]
    return [*listed, PrintedLine("", line, separator)] if line.strip() else listed


def _closing(line: str, at: int) -> int:
    """The end of the bracket that is open at an offset of a line; the end of the line if it is not closed."""
    depth = 1
    for place in range(at, len(line)):
        depth += {"[": 1, "]": -1}.get(line[place], 0)
        if not depth:
            return place + 1
    return len(line)


def _without_marks(piece: PrintedLine, marks: set[str]) -> PrintedLine:
    """A line without the marks of its footnotes; marks in square brackets stay, because the reader knows them."""
    if piece.kind or not marks:
        return piece

    def kept(match: re.Match[str]) -> str:
        mark = match[str(match.lastgroup)]
        return match[0] if match.lastgroup == "bracket" or mark.translate(_SUPERSCRIPTS) not in marks else ""

    return piece._replace(text=_MARKS.sub(kept, piece.text))


def hyphens(breaks: Sequence[tuple[str, str]], text: str) -> list[bool]:
    """Whether the hyphen of each word that a line break cuts in two stays; the text itself tells.

    It goes if the whole word occurs elsewhere, stays if the word with a hyphen does, and else as most others do; if
    there are none, it stays if the first part is a word elsewhere. `breaks` has the two parts of each word.
    """
    words = Counter(re.findall(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*", text.casefold()))
    known = [words[one + two] - words[f"{one}-{two}"] for one, two in breaks]
    usual = sum((each > 0) - (each < 0) for each in known)
    return [
        (evidence or usual or (-1 if words[one] > 1 else 1)) < 0
        for (one, _), evidence in zip(breaks, known, strict=True)
    ]


def _joined(listed: list[PrintedLine]) -> list[PrintedLine]:
    """Join words that a line break cut in two."""
    lines = [at for at, piece in enumerate(listed) if not piece.kind]
    breaks: list[tuple[int, int, str, str, re.Match[str]]] = []
    for former, at in pairwise(lines):
        head = re.search(r"(?<![^\W\d_])([^\W\d_]+)[-‐]\s*$", listed[former].text)
        tail = re.match(r"\s*([^\W\d_]+(?:[-‐’'][^\W\d_]+)*)\S*", listed[at].text)
        if head and tail and tail[1][0].islower():
            breaks.append((former, at, head[1].casefold(), tail[1].casefold(), tail))
    if not breaks:
        return listed
    kept = hyphens([(one, two) for _, _, one, two, _ in breaks], "\n".join(listed[at].text for at in lines))
    for (former, at, _, _, tail), hyphen in zip(breaks, kept, strict=True):
        start = listed[former].text.rstrip().rstrip("-‐") + "-" * hyphen
        listed[former] = listed[former]._replace(text=start + tail[0].strip())
        listed[at] = PrintedLine("", listed[at].text[tail.end() :], LINE)
    return listed
