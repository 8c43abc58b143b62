"""Letters that a text chooses, in sentences of the languages in which judges answer.

A sentence counts only if it as a whole states a choice: 'A is better' and 'I choose A' do, 'A is worse' and 'Ich wähle
nicht A' do not. So a sentence in words that are not listed here names nothing, whatever it denies. Not here: names of
several letters (names).
"""

import re

NOUN = (
    r"(?:translation|text|option|candidate|version|output|response|answer|choice|verdict|winner|übersetzung|traduction"
    r"|traducción|traduzione|tradução|перевод|翻译|译文|翻譯|譯文|选项|選項|翻訳|訳文|訳|번역문?|الترجمة|अनुवाद)"
)
"""What a letter may stand beside: 'Translation A'."""

ANSWER = (
    r"(?:(?:the\s+|my\s+)?(?:final\s+)?(?:answer|choice|verdict|winner|preference|decision|conclusion|better|best)"
    r"|antwort|r[ée]ponse|respuesta|risposta|resposta|ответ|απάντηση|antwoord|odpowiedź|svar|vastaus|cevap|jawaban"
    r"|(?:最终|最終|正确)?答案|最终选择|回答|答え|(?:최종\s*)?(?:정답|답변?)|الإجابة|उत्तर|đáp\s+án|câu\s+trả\s+lời|תשובה|پاسخ)"
)
"""What precedes a colon and the answer."""

_MORE = r"(?:accurate|complete|exact|faithful|fluent|literary|natural|precise|readable)"
_BEST = rf"(?:better|best|superior|stronger|strongest|preferable|preferred|winning|more\s+{_MORE})"
_DEGREE = r"(?:(?:clearly|much|far|slightly|somewhat|overall|also|simply|the|a|little|bit)\s+)*"
_WHY = r"(?:,?\s+(?:because|since)\b.*)?"
_LEAD = (
    r"(?:(?:so|thus|hence|therefore|overall|and|i\s+(?:think|believe|find)(?:\s+that)?|in\s+my\s+(?:view|opinion)"
    r"|因此|所以|我认为|我認為|综上|daher|donc|quindi|portanto|поэтому)[\s,]*)*"
)
_THE = rf"(?:(?:the|die|la|a|el|il)\s+)?(?:{NOUN}[\s_]*)?(?P<letter>[A-Z])"

_CLAIMS = [
    re.compile(f"{_LEAD}{claim}", re.IGNORECASE | re.DOTALL)
    for claim in (
        rf"(?:(?:i|we)\s+)?(?:(?:would|will|clearly|slightly|strongly|therefore)\s+)*"
        rf"(?:choose|chose|pick|select|prefer|favou?r|go\s+with|vote\s+for)\s+{_THE}{_WHY}",
        rf"{_THE}\s+(?:is|seems|reads|sounds)\s+{_DEGREE}{_BEST}"
        rf"(?:\s+(?:one|translation|choice|option|version|overall|of\s+the\s+two))?{_WHY}",
        rf"{_THE}\s+wins{_WHY}",
        rf"(?:the\s+)?{_BEST}(?:\s+(?:one|{NOUN}))?\s*(?:\s+is|:)\s*{_THE}{_WHY}",
        rf"{ANSWER}\s*(?:is|:|是:?|は)\s*{_THE}(?:です)?{_WHY}",
        rf"{_THE},?\s+(?:because|since)\b.*",
        rf"(?:我|我们|我們)?(?:会|會)?(?:选择|選擇|选|選)\s*{_THE}",
        rf"{_THE}\s*(?:的?翻译)?(?:明显|稍微|更胜一筹|略)?(?:更好|更佳|较好|較好|更优|更准确)(?:一些)?",
        rf"(?:更好|更佳|较好)的?(?:翻译|译文|版本)?(?:是|:)\s*{_THE}",
        rf"(?:私は)?\s*{_THE}\s*(?:を(?:選びます|選択します)|の(?:方|ほう)が(?:良い|よい|いい|優れています|優れている)(?:です)?)",
        rf"(?:(?:정)?답은\s*{_THE}(?:입니다)?)",
        rf"(?:저는\s*)?{_THE}\s*(?:를\s*선택합니다|을\s*선택합니다|가\s*더\s*(?:낫습니다|좋습니다))",
        rf"(?:die\s+antwort\s+ist|die\s+bessere\s+(?:übersetzung\s+)?ist|ich\s+(?:wähle|bevorzuge))\s+{_THE}",
        rf"{_THE}\s+ist\s+(?:die\s+)?(?:besser|bessere|beste)",
        rf"(?:la\s+réponse\s+est|la\s+meilleure(?:\s+traduction)?\s+est|je\s+(?:choisis|préfère))\s+{_THE}",
        rf"{_THE}\s+est\s+(?:la\s+)?meilleure",
        rf"(?:la\s+respuesta\s+es|la\s+mejor(?:\s+traducción)?\s+es|(?:yo\s+)?(?:elijo|prefiero))\s+{_THE}",
        rf"{_THE}\s+es\s+(?:la\s+)?mejor",
        rf"(?:la\s+risposta\s+è|(?:io\s+)?(?:scelgo|preferisco))\s+{_THE}",
        rf"{_THE}\s+è\s+(?:la\s+)?migliore",
        rf"(?:a\s+resposta\s+é|(?:eu\s+)?(?:escolho|prefiro))\s+{_THE}",
        rf"{_THE}\s+é\s+(?:a\s+)?melhor",
        rf"(?:я\s+)?(?:выбираю|предпочитаю)\s+{_THE}",
        rf"{_THE}\s+лучше",
    )
]
"""Clauses that state a choice, as a whole."""

_CLAUSES = re.compile(r"[.;!?。；\n]|,(?!\s*(?:because|since)\b)")
_MARKS = re.compile(r"[*\"'`()\[\]{}]")

_DOUBT = re.compile(
    r"\b(?:wors[et]|inferior|weak(?:er|est)?|reject\w*|avoid|los(?:es?|er)|fails?|flawed|wrong|wait|actually|if|unless|than)\b",
    re.IGNORECASE,
)
"""Words with which a sentence may take back a choice."""

_SCRIPTS = "぀-ヿ㐀-鿿가-힣"
"""Scripts that have no blanks between words and letters."""

_LETTER = re.compile(rf"(?<![^\W{_SCRIPTS}])(?<!['’.-])[A-HJ-Z](?![^\W{_SCRIPTS}])(?!['’-])")
"""A capital letter by itself, except the pronoun I."""

_SMALL = re.compile(rf"\b{NOUN}[\s_]([a-z])\b", re.IGNORECASE)


def chosen(text: str) -> set[str]:
    """The letters that a text has, in capitals; with '' if it does not state the choice of one of them, or if it has
    words that may take the choice back."""
    plain = _MARKS.sub("", text)
    letters = {*_LETTER.findall(plain), *map(str.upper, _SMALL.findall(plain))}
    claims = {claim["letter"].upper() for clause in _CLAUSES.split(plain) if (claim := _claim(clause.strip(" _#-")))}
    if letters and (claims | _alone(plain) != letters or _DOUBT.search(plain)):
        letters.add("")
    return letters


def _claim(clause: str) -> re.Match[str] | None:
    return next((found for claim in _CLAIMS if (found := claim.fullmatch(clause))), None)


def _alone(text: str) -> set[str]:
    """The letter that the first or the last line consists of, unless the line before announces something."""
    lines = [line.strip(" .") for line in text.splitlines() if line.strip(" .")] or [""]
    first, last, before = lines[0], lines[-1], "".join(lines[-2:-1])
    found = {first} | ({last} if not before.endswith((":", ",")) else set())
    return {letter for letter in found if len(letter) == 1 and letter.isupper()}
