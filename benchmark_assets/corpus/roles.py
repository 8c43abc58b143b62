"""What the columns of a table hold: source, translations, ids, citations, notes, or nothing that belongs to the text.

Cells decide: their form, their language, whether they are unique, how their lengths follow the source's, and whether
they share words with other translations of the same rows. Heads name translators, and decide where cells leave two
readings. Where both leave two readings, the result has a question.

Here: the roles of columns. Not here: finding the row with the heads (corpus.heads), the description (proposals).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import log
from statistics import StatisticsError, correlation, mean, pstdev
from typing import NamedTuple

from babel import Locale

from benchmark_assets.corpus.languages import identified, plain
from benchmark_assets.corpus.readers import grid
from resources.keys import slug

UNKNOWN = "und"
"""Tag of an undetermined language (ISO 639-2)."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ANCIENT = _set("la grc sa pi pli lzh bo arc syr cop got ang akk non cu gez xcl peo ae ota egy uga sux enm fro gmh goh")
"""Languages that are translated from, whatever the other column's language is."""

DISTANT = _set("he ar fa ta te kn ml hi ja zh ko mn ru el hy ka ur th km my vi tr am ti")
"""Languages that are rather translated from than into, beside a language of Western Europe."""

MODERN = _set("en de fr it es pt nl pl cs hu sv da no fi ro hr sr bg uk")

ENOUGH, FEWEST = 80, 15
"""Number of letters in Latin script of a column whose language is taken as it is identified, and of one in English."""

ID_WORDS = _set(
    "id ids segment passage number no nr n num ref line verse section sentence satz vers zeile nummer numéro numero "
    "segmentid passageid key index v vv ch chap bk 番号 编号 編號 №"
)
SOURCES = _set(
    "source original text src urtext quelle quelltext ausgangstext originale texte testo fonte textus origine origen "
    "оригинал 原文 原典 底本 本文 מקור الأصل النص"
)
TRANSLATED = _set(
    "translation translations transl tr trans translator translators translated version rendering target reference "
    "references ref refs human übersetzung übersetzungen übers übersetzer traduction traductions trad traducteur "
    "traduzione traducción tradução vertaling перевод 翻訳 訳 訳文 译文 譯文 翻译 英譯 英译 英訳 ترجمة תרגום "
    "text content value by von par da por de"
)
EDITIONS = _set("ed edn edition éd auflage aufl rev revised nd rd st th vol published loeb penguin")
NOTES = _set(
    "note notes remark remarks comment comments commentary anmerkung anmerkungen bemerkung bemerkungen kommentar app "
    "apparatus crit gloss glosses glossary lemma lemmata variant variants remarques commentaire nota noten примечание "
    "примечания 注 註 備考 备注 todo query queries"
)
PAGES = _set("page pages p pp seite seiten s pagina pagine pag página folio fol f лист стр страница 頁 页")
ABOUT = _set(
    "title subtitle heading headline terms license licence rights copyright url link uri file filename path author "
    "date year context prev previous next speaker keywords tags tag topic category subject summary abstract "
    "description argument titel überschrift zusammenfassung titre résumé"
)
"""Words of heads, of ids, sources, translations (where they are no names), editions of them, notes, pages, and
of what is about the text."""

TRANSLITERATED = re.compile(r"translit|roman[iy][sz]|\biast\b|pinyin|wylie|phonet|umschrift|reading\b|ローマ字|拼音")
MODELS = re.compile(
    r"gpt|openai|\bclaude\b|anthropic|gemini|gemma|llama|mi[sx]tral|qwen|deep-?seek|deepl\b|google|bing\b|opus-?mt|nllb|"
    r"madlad|grok|yandex|baidu|papago|systran|copilot|ernie|\bglm\b|\bkimi\b|\bllm\b|\bnmt\b|machine|maschin|automat|"
    r"\b\d+(\.\d+)?b\b|\binstruct\b|\bo[134]\b|\b(phi|aya|palm|command|tower|nova|sonar)-?[r\d]"
)
"""Names of models and of programs that translate, in lower case."""

MAYBE_MODELS = re.compile(
    r"\b(mt|ai|ki|system \w+|model \w+|sys\d*|hyp\d*|hypothes\w+|candidates?|predict\w+|output\w*|baseline)\b"
)
"""Heads of outputs in some tables, and of other things in others."""

GLOSSES = re.compile(r"\bliteral|word.for.word|interlinear|wörtlich|mot à mot|morph|parsing|\bpos\b")
"""Heads of glosses in some tables, and of human translations in others."""

_NUMERAL = re.compile(
    r"\d+[a-z]{0,2}|[a-z]{1,6}\d+[a-z]?|[^\W\d_]|(?=[ivxlcdm])m{0,4}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})"
    r"|第?[一二三四五六七八九十百〇零\d]+[章節节回卷則则條条]?",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}|https?://.*")
_WORDS = re.compile(r"[^\W\d_]{4,}")

FOREIGN = "a translation into "
"""Beginning of the reason for which a translation into another language is not read."""

IS_ID = ": is it the id?"
"""Part of the question about ids that are repeated."""

NAMELESS = slug("")
"""What `slug` makes of a name without Latin letters."""

Cells = Sequence[str]


class CellColumn(NamedTuple):
    """A column: its name in the table (see `Description.columns`), its head, its cells, whether it is hidden."""

    name: str
    head: str
    cells: Cells
    hidden: bool = False


class FileQuestion(NamedTuple):
    """A question about what a text is. `about` is `source` or the name of a column or file, and `choices` are the names
    among which the source is, or roles (`none`, `note`, `translation`); the first is how the text is read meanwhile.
    A question without choices is answered by changing the files or the description."""

    text: str
    about: str = ""
    choices: tuple[str, ...] = ()


class Stated(NamedTuple):
    """What a person stated: the language of the translations ('' for the one with the most), and roles by the name of a
    column or file: `source`, or those in `FileQuestion.choices`."""

    into: str = ""
    roles: Mapping[str, str] = {}


NOTHING = Stated()


class Roles(NamedTuple):
    """Roles of the columns of a table, by name.

    Attributes
    ----------
    ids
        Columns of the ids, from the highest level; none if rows have to be numbered.
    source
        The source with its language; None if no column has one.
    translations
        Human translations with their languages, by translator.
    asides
        Kinds of asides by column (see `Description.asides`).
    unread
        Columns that are not read, with the reason.
    questions
        Where two readings are possible.
    """

    ids: tuple[str, ...]
    source: tuple[str, str] | None
    translations: dict[str, tuple[str, str]]
    asides: dict[str, str]
    unread: dict[str, str]
    questions: list[FileQuestion]


def is_number(cell: str) -> bool:
    """Whether a cell holds a number or a citation, such as `1.1`, `XII`, `§ 3`, `Aen. 1.1` or `mn1:2.3`: at most three
    short words, and numerals."""
    words = re.findall(r"[^\W_]+", cell)
    letters = [word for word in words if not _NUMERAL.fullmatch(word)]
    numerals = words[len(letters) :]
    return (
        len(letters) <= 3 and max(map(len, letters), default=0) <= 14 and 0 < len(numerals) <= 6 and len(cell) <= 40
        and all(map(_NUMERAL.fullmatch, numerals)) and not _DATE.fullmatch(cell.strip())
        and (any(map(str.isnumeric, "".join(numerals))) or len(numerals) == 1)
    )  # fmt: skip


def is_head(cell: str) -> bool:
    """Whether a cell consists of words that heads of columns have."""
    words = _words(cell)
    known = ID_WORDS | SOURCES | TRANSLATED | NOTES | PAGES | _languages().keys()
    return 0 < len(words) <= 4 and sum(word in known for word in words) * 2 >= len(words)


def are_numbers(cells: Cells) -> bool:
    """Whether cells hold numbers or citations, empty ones aside."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and sum(map(is_number, filled)) >= 0.9 * len(filled)


def are_texts(cells: Cells) -> bool:
    """Whether cells hold texts: letters that are neither numbers nor names of a few classes."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    if not filled or are_numbers(filled) or 2 * sum(bool(_DATE.fullmatch(cell)) for cell in filled) > len(filled):
        return False
    words = " ".join(filled).split()
    if 2 * sum(any(map(str.isdigit, word)) for word in words) > len(words):  # lists of numbers
        return False
    repeated = len(filled) > 3 and len(set(filled)) <= len(filled) / 2 and max(map(len, filled)) < 40
    codes = all(len(cell) <= 3 and cell.isascii() for cell in filled)
    constant = len(filled) > 1 and len(set(filled)) == 1
    return any(map(str.isalpha, "".join(filled))) and not (repeated or codes or constant)


def language_of(cells: Cells, head: str = "") -> str:
    """The language of cells. A head decides if they are too few to tell, and names a language."""
    text = "\n".join(cell for cell in cells if cell.strip())[:20000]
    found = identified(text)
    letters = [sign for sign in text if sign.isalpha()]
    is_latin = sum(sign < "\u0250" for sign in letters) * 2 > len(letters)
    enough = ENOUGH if found and found.tag != "en" else FEWEST
    if found and (found.reliable or not is_latin or len(letters) >= enough):
        without_kana = found.tag == "ja" and not re.search(r"[\u3040-\u30ff]", text)  # few signs of Chinese
        return "lzh" if without_kana else _ours(found.tag)
    return next((_languages()[word] for word in _words(head) if word in _languages()), UNKNOWN)


def _ours(tag: str) -> str:
    return "pli" if tag == "pi" else tag


@cache
def _languages() -> dict[str, str]:
    """Tags of languages by their names in some languages, and in themselves. A source in Greek or Chinese is taken for
    the classical language."""
    names: dict[str, str] = {}
    for code in sorted(ANCIENT | DISTANT | MODERN):
        for locale in ("en", "de", "fr", "it", "es", "nl", "ru", "ja", "zh"):
            if name := Locale(locale).languages.get(code, ""):
                names.setdefault(name.split()[-1].casefold() if locale == "en" else name.casefold(), code)
    return names | {"greek": "grc", "chinese": "lzh", "pali": "pli", "pāli": "pli", "sanskrit": "sa", "english": "en",
                    "latin": "la", "deutsch": "de", "français": "fr", "italiano": "it", "español": "es"}  # fmt: skip


def is_of_texts(head: str) -> bool:
    """Whether a head is that of names of texts: of translators, languages or versions."""
    return not {*grid.LABELS, *TRANSLATED}.isdisjoint(_words(head))


def _words(head: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", head.casefold())


def roles(columns: Sequence[CellColumn], stated: Stated = NOTHING) -> Roles:
    """The roles of the columns of a table.

    Parameters
    ----------
    columns
        The columns, in their order, without rows that belong to the heads.
    stated
        What a person stated, by the names of columns.
    """
    unread = {each.name: "empty" for each in columns if each.head and not any(map(str.strip, each.cells))}
    columns = [column for column in columns if any(map(str.strip, column.cells))]
    asides: dict[str, str] = {}
    questions: list[FileQuestion] = []
    texts, others = [], []
    models = [each for each in columns if not are_texts(each.cells) and MODELS.search(_first(each.cells).casefold())]
    for column in columns:
        head, words = column.head.casefold(), _words(column.head)
        if (role := stated.roles.get(column.name)) == "none":
            unread[column.name] = "left out"
        elif role:
            texts.append(column)
        elif not are_texts(column.cells) or _are_ids(column):
            others.append(column)
        elif models and (MAYBE_MODELS.search(head) or {*words} <= TRANSLATED - SOURCES):
            unread[column.name] = f"outputs of {_first(models[0].cells)}"
        elif MODELS.search(head):
            unread[column.name] = "a model's outputs; `variorum import outputs` imports them"
        elif words and ABOUT.issuperset(words):
            unread[column.name] = "about the text, by its head"
        elif TRANSLITERATED.search(head):
            unread[column.name] = "a transliteration"
        elif MAYBE_MODELS.search(head) and not SOURCES.intersection(words):
            unread[column.name] = "perhaps outputs of a model"
            asked = f"Is the column {column.head!r} by a model, or by a human translator? It is not read."
            questions.append(FileQuestion(asked, column.name, ("none", "translation")))
        elif GLOSSES.search(head):
            unread[column.name] = "perhaps a gloss"
            asked = f"Is the column {column.head!r} a gloss, or a human translation? It is not read."
            questions.append(FileQuestion(asked, column.name, ("none", "translation")))
        else:
            texts.append(column)
    languages = {column.name: language_of(column.cells, column.head) for column in texts}
    chosen = next((column for column in texts if stated.roles.get(column.name) == "source"), None)
    source = chosen or _source(texts, languages, questions)
    translations = {}
    if source:
        rest = [column for column in texts if column is not source]
        modern = [column for column in rest if languages[column.name] not in {*ANCIENT, UNKNOWN}]
        of_source = {
            column.name for column in rest if languages[column.name] != UNKNOWN and (
                plain(languages[column.name]) == plain(languages[source.name])
                or (modern and languages[column.name] in ANCIENT)
            )
        }  # fmt: skip
        notes = set(_notes([each for each in rest if each.name not in of_source], source, languages, questions))
        for column in rest:
            language, role = languages[column.name], stated.roles.get(column.name)
            if role == "translation":
                translations[column.name] = language
            elif column.hidden and column.name in notes and role != "note":
                unread[column.name] = "hidden"
            elif column.name in notes or role == "note":
                asides[column.name] = "note"
            elif plain(language) != plain(languages[source.name]) and column.name in of_source:
                unread[column.name] = f"in {language}, a source rather than a translation"
            elif column.name in of_source:
                same = _equal(column, source)
                unread[column.name] = "repeats the source" if same else f"in {language}, as the source"
                if not same:
                    asked = (
                        f"{source.head or source.name!r} and {column.head or column.name!r} are both in {language}: "
                    )
                    asked += "which is the source? The first is read."
                    questions.append(FileQuestion(asked, "source", (source.name, column.name)))
            elif column.hidden:
                unread[column.name] = "hidden"
                asked = f"Is the hidden column {column.head!r} a translation? It is not read."
                questions.append(FileQuestion(asked, column.name, ("none", "translation")))
            else:
                translations[column.name] = language
        translations = _into(translations, stated.into, unread)
    ids, cited = _ids(others, texts, source, questions)
    if source and len(ids) != 1 and _is_long(source.cells):
        asked = f"{source.head or source.name!r} repeats its texts, as if each translation had rows of its own: "
        questions.append(FileQuestion(f"{asked}give each segment one row, and each translation a column."))
    for column in others:
        if column.name not in ids:
            reason = _reason(column)
            if column in cited:
                asides[column.name] = "reference"
            else:
                unread[column.name] = reason
    heads = {column.name: column for column in texts}
    named = _named([heads[name] for name in translations], translations)
    found = (source.name, languages[source.name]) if source else None
    known = {*stated.roles, *(["source"] if chosen else [])}
    questions = [each for each in questions if each.about not in known]
    return Roles(ids, found, {named[name]: (name, translations[name]) for name in translations}, asides, unread,
                 questions)  # fmt: skip


def _source(texts: Sequence[CellColumn], languages: dict[str, str], questions: list[FileQuestion]) -> CellColumn | None:
    """The column of the source."""
    if len(texts) < 2:
        return texts[0] if texts else None
    stated = [column for column in texts if SOURCES.intersection(_words(column.head))
              and not (TRANSLATED - SOURCES).intersection(_words(column.head))]  # fmt: skip
    groups: dict[str, list[CellColumn]] = {}
    for column in texts:
        groups.setdefault(plain(languages[column.name]), []).append(column)

    def rank(language: str) -> int:
        return 0 if language in ANCIENT else 1 if language in DISTANT or language == UNKNOWN else 2

    ranks = sorted(groups, key=rank)
    first = groups[ranks[0]]
    if len(ranks) == 1:
        if len(stated) != 1:
            asked = f"All texts are in {ranks[0]}: which column is the source? The first is read."
            questions.append(_which(asked, (stated or texts)[0], texts))
        return (stated or texts)[0]
    if rank(ranks[0]) == rank(ranks[1]):  # two ancient languages, or two modern ones
        level = [language for language in ranks if rank(language) == rank(ranks[0])]
        alone = [language for language in level if len(groups[language]) == 1]
        if len(stated) == 1:
            return stated[0]
        if rank(ranks[0]) == 2 and len(alone) == 1 and len(level) == 2:
            return groups[alone[0]][0]
        foreign = [column for column in texts if plain(languages[column.name]) in level]
        not_english = [column for column in foreign if languages[column.name] != "en"] or foreign
        names = " and ".join(f"{column.head or column.name!r} ({languages[column.name]})" for column in foreign[:4])
        chosen = not_english[0]
        asked = f"Which column is the source? Possible are {names}; {chosen.head or chosen.name!r} is read."
        questions.append(_which(asked, chosen, foreign))
        return chosen
    if stated and not any(column in first for column in stated):
        asked = f"{stated[0].head!r} is named as the source, but {first[0].head or first[0].name!r} is in {ranks[0]}: "
        questions.append(_which(f"{asked}which is the source? The second is read.", first[0], stated))
    return next((column for column in stated if column in first), first[0])


def _which(text: str, read: CellColumn, others: Sequence[CellColumn]) -> FileQuestion:
    """A question which column is the source."""
    return FileQuestion(text, "source", (read.name, *(each.name for each in others if each is not read)))


def _notes(
    columns: Sequence[CellColumn], source: CellColumn, languages: dict[str, str], questions: list[FileQuestion]
) -> Iterator[str]:
    """Names of the columns with notes. Translations are as long as the source in each row, and share words."""
    rows = [at for at, cell in enumerate(source.cells) if cell.strip()]
    for column in columns:
        filled = [at for at in rows if column.cells[at].strip()]
        share = len(filled) / max(len(rows), 1)
        named = bool(NOTES.intersection(_words(column.head)))
        kept_pace = follows([len(source.cells[at]) for at in filled], [len(column.cells[at]) for at in filled])
        peers = [other for other in columns if other is not column and languages[other.name] == languages[column.name]]
        agreements = [agreement(column.cells, other.cells) for other in peers] if kept_pace is None else [kept_pace]
        like = max((value for value in agreements if value is not None), default=None)
        if named:
            if share >= 0.8 and like is not None and like > 0.6:
                asked = f"Is {column.head!r} a translation? Its cells follow the source; they are kept as notes."
                questions.append(FileQuestion(asked, column.name, ("note", "translation")))
            yield column.name
        elif share < 0.5:
            if like is None or like <= 0.6:
                if column.head:
                    asked = (
                        f"{column.head or column.name!r} has text in {len(filled)} of {len(rows)} rows: notes, or a "
                    )
                    asked += "translation in parts? It is kept as notes."
                    questions.append(FileQuestion(asked, column.name, ("note", "translation")))
                yield column.name
        elif len(filled) >= 10 and like is not None and like < 0.2:
            asked = (
                f"{column.head or column.name!r} does not follow the source: notes, or a translation? It is kept as "
            )
            questions.append(FileQuestion(f"{asked}notes.", column.name, ("note", "translation")))
            yield column.name


def follows(source: Sequence[int], other: Sequence[int]) -> float | None:
    """Correlation of logarithms of lengths in rows; None where rows are few, or the source's are equally long."""
    if len(source) < 8:
        return None
    first, second = [log(length + 1) for length in source], [log(length + 1) for length in other]
    if pstdev(first) < 0.2:
        return None
    try:
        return correlation(first, second)
    except StatisticsError:
        return 0.0


def agreement(one: Cells, other: Cells) -> float | None:
    """How much more words two columns share in the same row than in neighboring rows: the excess as a part of 1, whose
    square root is comparable with a correlation; None where rows are few."""
    bags = [
        (set(_WORDS.findall(a.casefold())), set(_WORDS.findall(b.casefold()))) for a, b in zip(one, other, strict=True)
    ]
    bags = [(a, b) for a, b in bags if a and b]
    if len(bags) < 5:
        return None
    same = mean(len(a & b) / min(len(a), len(b)) for a, b in bags)
    shifted = mean(len(a & b) / min(len(a), len(b)) for (a, _), (_, b) in zip(bags, [*bags[1:], bags[0]], strict=True))
    return float(1.5 * max(same - shifted, 0.0) ** 0.5)


def _is_long(cells: Cells) -> bool:
    """Whether most texts of a source occur in several rows."""
    filled = [cell for cell in cells if cell.strip()]
    return len(filled) >= 4 and len(set(filled)) <= 0.6 * len(filled)


def _equal(one: CellColumn, other: CellColumn) -> bool:
    pairs = [(a.split(), b.split()) for a, b in zip(one.cells, other.cells, strict=True) if a.strip() and b.strip()]
    return bool(pairs) and sum(a == b for a, b in pairs) >= 0.8 * len(pairs)


def _into(translations: dict[str, str], into: str, unread: dict[str, str]) -> dict[str, str]:
    """The translations into one language, by default the one with the most, or English among equals; the others are not
    read."""
    counts: dict[str, int] = {}
    for language in translations.values():
        if language != UNKNOWN:
            counts[plain(language)] = counts.get(plain(language), 0) + 1
    target = plain(into) if into else max(counts, key=lambda each: (counts[each], each == "en"), default=UNKNOWN)
    if not into:  # a few words are taken to be in the language of the others
        translations = {name: target if tag == UNKNOWN else tag for name, tag in translations.items()}
    for name, language in translations.items():
        if plain(language) != target:
            unread[name] = f"{FOREIGN}{language}"
    return {name: language for name, language in translations.items() if plain(language) == target}


def _ids(
    others: Sequence[CellColumn], texts: Sequence[CellColumn], source: CellColumn | None, questions: list[FileQuestion]
) -> tuple[tuple[str, ...], list[CellColumn]]:
    """The columns that together name each row that has a source, and the columns of further citations."""
    if source is None:
        return (), []
    rows = [at for at, cell in enumerate(source.cells) if cell.strip()]
    numbers = [column for column in others if are_numbers(column.cells)]
    counters = [column for column in numbers if _counts(column.cells)]
    named = [column for column in others if ID_WORDS.intersection(_words(column.head))
             and not any(" " in cell.strip() for cell in column.cells)]  # fmt: skip
    cited = [column for column in numbers if column not in counters and _structured(column.cells)]
    pages = [column for column in numbers if PAGES.intersection(_words(column.head))]
    single = [*(c for c in numbers if c in named), *(c for c in numbers if c not in counters), *numbers, *named]
    for column in sorted(single, key=lambda each: each.name == grid.KEY):
        if _unique([(column.cells[at].strip(),) for at in rows]):
            return (column.name,), [each for each in cited if each is not column and each not in pages]
    levels = [column for column in others if column not in pages and not _DATE.fullmatch(_first(column.cells))]
    for size in (2, 3, 4):
        for chosen in combinations(levels, size):
            filled = [repeated(column.cells) for column in chosen[:-1]] + [list(chosen[-1].cells)]
            if are_numbers(chosen[-1].cells) and _unique([tuple(c[at].strip() for c in filled) for at in rows]):
                return tuple(c.name for c in chosen), [c for c in cited if c not in chosen and c not in pages]
    for column in others:
        own = [column.cells[at].strip() for at in rows]
        is_like = column in named or column in cited or (column in numbers and own == sorted(own, key=_numeral))
        if is_like and column not in pages and (column in named or 5 * len({*own}) >= 4 * len(own)):
            wrong = next(cell for cell in own if not cell or own.count(cell) > 1)
            problem = f"has {wrong!r} in {own.count(wrong)} rows" if wrong else "has empty cells"
            asked = (
                f"{column.head or column.name!r} {problem}{IS_ID} Then correct these ids, give each segment one row, "
            )
            asked += f"and write `segment_id: {column.name}` below `columns`; as it is, the rows are numbered."
            questions.append(FileQuestion(asked))
            break
    return (), [each for each in cited if each not in pages]


def _numeral(cell: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d{1,9}", cell)))


def _are_ids(column: CellColumn) -> bool:
    """Whether a column with the head of ids has such cells, though they are no numbers, as `5(6)` and `x...y`."""
    head, cells = _words(column.head), [cell.strip() for cell in column.cells]
    is_named = bool(head) and ID_WORDS.issuperset(head)
    return (
        is_named and _unique([(cell,) for cell in cells]) and all(re.fullmatch(r"[!-~À-ɏﬀ-ﬆ]{1,40}", c) for c in cells)
    )


def _first(cells: Cells) -> str:
    return next((cell.strip() for cell in cells if cell.strip()), "")


def repeated(cells: Cells) -> list[str]:
    """Cells in which an empty one repeats the one above."""
    above = ""
    return [above := cell.strip() or above for cell in cells]


def _unique(keys: Sequence[tuple[str, ...]]) -> bool:
    return bool(keys) and all(all(key) for key in keys) and len(set(keys)) == len(keys)


def _counts(cells: Cells) -> bool:
    """Whether cells are the numbers of the rows, from 0 or 1."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return any(filled == [str(number) for number in range(first, first + len(filled))] for first in (0, 1))


def _structured(cells: Cells) -> bool:
    """Whether cells are citations rather than plain numbers."""
    return sum(not cell.strip().isdigit() for cell in cells if cell.strip()) * 2 > sum(bool(c.strip()) for c in cells)


def _reason(column: CellColumn) -> str:
    words = _words(column.head)
    if PAGES.intersection(words):
        return "numbers of pages"
    if are_numbers(column.cells):
        return "numbers"
    return "neither text nor numbers"


def _named(columns: Iterable[CellColumn], languages: dict[str, str]) -> dict[str, str]:
    """The names of translators, by column: of a head, the words that are a name."""
    columns = list(columns)
    names = {column.name: translator_name(column.head, languages[column.name]) for column in columns}
    repeated = {name for name in names.values() if list(names.values()).count(name) > 1}
    taken: set[str] = set()
    for at, column in enumerate(columns, start=1):
        name = names[column.name]
        if name in repeated:
            name = slug(column.head)
        if name in (NAMELESS, "source", "segment_id", "document"):
            name = f"translation-{at}"
        names[column.name] = name if name not in taken else f"{name}-{at}"
        taken.add(names[column.name])
    return names


def translator_name(head: str, language: str = "") -> str:
    """The name of a translator in a head, as a key; the head if it has none."""
    return slug(" ".join(surnames(head, language)) or head)


def surnames(head: str, language: str = "") -> list[str]:
    """The words of a head that are no initial, and name no language or edition."""
    words = re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", head)
    known = TRANSLATED | EDITIONS | _languages().keys() | {language, plain(language), "the"}
    rest = [word for word in words if word.casefold() not in known]
    return [word for word in rest if len(word) > 1] or rest
