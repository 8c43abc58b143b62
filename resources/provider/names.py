"""Names in words: the class, label or letter that a word or a sentence means.

A name is recognized whatever its case, diacritics and separators. A text that has several names or a negation means no
name. Not here: names in JSON (replies, values), the names of a study (its package).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from resources.provider.choices import ANSWER, NOUN, chosen

NEGATION = re.compile(r"\b(?:not|no|nor|neither|never|cannot|rather|instead|unlike|\w+n t)\b")
"""Negations in a text that `normal` has normalized. A sentence with a negation may name a class in order to deny it."""

_NOUN = re.compile(rf"^(?:{NOUN}(?:(?![a-z])|(?<=[一-鿿])))?[\s_:]*", re.IGNORECASE)
_MARKS = "\"'`()[]{}.,:;!_# \t\n"

_CONCLUSION = re.compile(rf"^\W*{ANSWER}\W*(?:is\W+)?(.*)$", re.IGNORECASE)
"""A line that states the answer, such as 'Answer: A'."""

_QUOTED = re.compile(r"“[^“”]*”|«[^«»]*»|「[^「」]*」|‘[^‘’]*’|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|^\s*>.*$", re.MULTILINE)
"""A quotation within a text, or a line of a quoted block."""

LONGEST = 20_000
"""Largest number of characters of a text that may mean a name. Longer texts are no answers in words."""

_BOX = re.compile(r"\\(?:boxed|text|mathrm)\{([^{}]*)\}")


class Unusable(Exception):  # noqa: N818 - an outcome of a reply, not an error of the program
    """A reply, or a text in it, has no usable value. The message is the reason."""


class Names:
    """Names, and their accepted spellings. `values` maps further words to names."""

    def __init__(self, names: Sequence[str], values: Mapping[str, str] | None = None) -> None:
        self.names, self._values = names, values or {}

    def match(self, word: str, numbers: bool = False) -> tuple[str, str] | None:
        """The name that matches a word, and the step that the match needs ('' if equal); None if no name matches.

        If `numbers` is true, a word can also be the number of a name, counted from 1.

        Raises Unusable if several names match.
        """
        if word in self.names:
            return word, ""
        plain, bare = word.strip().casefold(), normal(word)
        matches: dict[str, str] = {}
        for name in self.names:
            if plain == name.casefold():
                matches.setdefault(name, "case")
            elif bare and bare == normal(name):
                matches.setdefault(name, "spelling")
        for value, name in self._values.items():
            if plain == value.casefold() or (bare and bare == normal(value)):
                matches.setdefault(name, "value")
        if numbers and re.fullmatch(r"[0-9]{1,4}", word.strip()) and 0 < int(word) <= len(self.names):
            matches.setdefault(self.names[int(word) - 1], "number")
        if len(matches) > 1:
            raise Unusable(f"several classes: {', '.join(sorted(matches))}")
        return next(iter(matches.items()), None)

    def named(self, text: str) -> set[str]:
        """Names that occur in a text as whole words. The set includes '' if a negation occurs outside the names."""
        spellings: dict[str, set[str]] = {}
        for name in self.names:
            spellings.setdefault(normal(name, " "), set()).add(name)
        longest_first = sorted(filter(None, spellings), key=len, reverse=True)
        pattern = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, longest_first))})(?!\S)")
        sentence = normal(text, " ")
        names = set().union(*(spellings[name] for name in pattern.findall(sentence)))
        return names | {""} if NEGATION.search(pattern.sub(" ", sentence)) else names

    def meant(self, text: str) -> str:
        """The only name that a text means, outside quotations.

        A name that is a single letter is recognized as the whole text, and in a clause that states a choice (choices).
        A last line such as 'Answer: A' decides, whatever the lines before it discuss.

        Raises Unusable if the text means no name, or several, or has a negation.
        """
        if len(text) > LONGEST:
            raise Unusable("the text is too long to be an answer in words")
        plain = _BOX.sub(r"\1", unicodedata.normalize("NFKC", text)).replace("*", "").strip()
        bare = _NOUN.sub("", plain.strip(_MARKS))
        if not plain.endswith(("-", "+")) and (match := self.match(bare) or self.match(plain)):
            return match[0]
        conclusions = {}
        lines = [line for line in plain.splitlines() if line.strip() and not line.lstrip().startswith(">")]
        for line in lines:
            if stated := _CONCLUSION.match(line):
                with_name = self.match(stated[1].strip(_MARKS))
                conclusions[line] = with_name[0] if with_name else ""
        if lines and conclusions.get(lines[-1]) and len(set(filter(None, conclusions.values()))) == 1:
            return conclusions[lines[-1]]
        spoken = _QUOTED.sub(" ", plain)
        words = Names([name for name in self.names if len(name) > 1])
        letters = {name.upper(): name for name in self.names if len(name) == 1}
        found = words.named(spoken) if words.names else _negated(spoken)
        if len(words.names) < len(self.names):
            found |= {letters.get(letter, "") for letter in chosen(spoken)}
        if len(found) != 1 or "" in found:
            listed = ", ".join(sorted(filter(None, found)))
            raise Unusable(f"the text names {listed or 'none'} of {', '.join(self.names)} without doubt")
        return found.pop()


def _negated(text: str) -> set[str]:
    return {""} if NEGATION.search(normal(text, " ")) else set()


def normal(text: str, between: str = "") -> str:
    """Remove case, Latin diacritics and separators: 'Anuṣṭubh_pathyā' and 'anustubh pathya' become equal.

    Combining marks of other scripts are kept, since they distinguish words there. `between` replaces separators.
    """
    letters = (
        between if unicodedata.category(letter)[0] in "ZPSC" else letter
        for letter in unicodedata.normalize("NFKD", text.casefold())
        if not "\u0300" <= letter <= "\u036f"
    )
    return re.sub(r" +", " ", "".join(letters)).strip().casefold()
