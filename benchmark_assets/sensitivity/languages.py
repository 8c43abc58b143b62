"""Words and patterns of a language that the rules of damage need. English only; another language needs another `Rules`.

Not here: doses and rules of damage (damage).
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Rules(NamedTuple):
    """Rules of one language.

    Attributes
    ----------
    negations
        Pairs of a pattern and a replacement (a template of `re.Match.expand`) that reverse the meaning of a sentence.
        The patterns match negations to be removed, and places where a negation may be inserted. Where patterns
        overlap, the first applies.
    numbers
        Groups of number words that may replace each other.
    pronouns
        For each pronoun, a replacement that still agrees with the verb but changes the agent. Pronouns whose form
        does not show their role in the sentence ("you", "her") are not replaced.
    actors
        Nouns for agents and patients in two groups, singular and plural; words of the same group may replace each
        other. Proper names count as singular.
    common
        Common words in lower case. They are never terms.
    endings
        Endings of words. Words with the same ending may replace each other; the longest endings come first.
    vowels
        Letters that change the form of an article before them, and the articles that change ("a", "an").
    styles
        Words of a style, `archaic` or `plain`, by the words that say the same in others.
    """

    negations: Sequence[tuple[re.Pattern[str], str]]
    numbers: Sequence[Sequence[str]]
    pronouns: Mapping[str, str]
    actors: Sequence[frozenset[str]]
    common: frozenset[str]
    endings: Sequence[str]
    vowels: tuple[str, frozenset[str]]
    styles: Mapping[str, Mapping[str, str]]

    @property
    def no_terms(self) -> frozenset[str]:
        """Words that are not terms: common words, and the actors and numbers that other kinds of damage replace."""
        return self.common.union(*self.actors, *self.numbers)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    """The words before and after each colon in a list with commas."""
    return dict(pair.split(": ") for pair in " ".join(text.split()).split(", "))


def _patterns(*pairs: tuple[str, str]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern, re.IGNORECASE), template) for pattern, template in pairs]


ENGLISH = Rules(
    negations=_patterns(
        (r"\bcan(?:not|['’]t)\b", "can"),
        (r"\bwon['’]t\b", "will"),
        (r"\bshan['’]t\b", "shall"),
        (r"\b(?!ai)(\w+)n['’]t\b", r"\1"),
        (r"(?<=\w)\s+not\b(?!\s+(?:only|merely|just|least)\b)", ""),
        (r"\bnever\b", "always"),
        (r"\balways\b", "never"),
        (r"\bno\s+one\b|\bnobody\b", "everyone"),
        (r"\beveryone\b|\beverybody\b", "no one"),
        (r"\bnothing\b", "everything"),
        (r"\beverything\b", "nothing"),
        (r"\bnone\b", "all"),
        (r"\bwithout\b", "with"),
        (r"\bneither\b", "both"),
        (r"\bnor\b", "and"),
        (r"\bno(?=\s+[a-z])(?!\s+(?:more|longer|doubt)\b)", "some"),
        (r"\bcan\b(?!\s+not\b)", "cannot"),
        (
            r"(?<!\bthe )(?<!\bhis )(?<!\bher )(?<!\bour )(?<!\bown )(?<!\bmy )(?<!\ba )(?<!\bof )(?<!\bin )"
            r"\b(am|is|are|was|were|could|will|would|shall|should|may|might|must)\b"
            r"(?!\s+(?:not|no|never|nothing|none)\b|['’])",
            r"\1 not",
        ),
    ),
    numbers=(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
        ("hundred", "thousand", "million"),
        ("hundreds", "thousands", "millions"),
        ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
        ("twofold", "threefold", "fourfold", "fivefold", "sixfold", "sevenfold", "eightfold", "tenfold"),
        ("twice", "thrice"),
    ),
    pronouns={
        "he": "she", "him": "her", "his": "her", "himself": "herself", "she": "he", "hers": "his", "herself": "himself",
        "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
        "they": "we", "them": "us", "their": "our", "theirs": "ours", "themselves": "ourselves",
        "i am": "you are", "i was": "you were", "i": "you", "me": "you", "my": "your", "mine": "yours",
        "myself": "yourself", "your": "my", "yours": "mine", "yourself": "myself",
    },
    actors=(
        _words(
            """animal ascetic beast bird boy brahmin brother buddha captain child commander daughter deity disciple
            doctor enemy farmer father fool friend general girl god goddess hermit host judge king lady lord man
            master merchant messenger minister monk mother neighbour neighbor nun owner parent poet priest prince
            princess prophet queen ruler sage saint scholar servant sister slave soldier son stranger student
            teacher thief traveller warrior wife witness woman youth husband guest pupil sovereign"""
        ),
        _words(
            """animals ascetics beasts birds boys brahmins brothers children daughters deities disciples doctors
            enemies farmers fathers fools friends generals girls gods guests hermits judges kings ladies lords
            masters men merchants messengers ministers monks mothers neighbours neighbors nuns owners parents people
            poets priests princes prophets pupils rulers sages saints scholars servants sisters slaves soldiers sons
            strangers students subjects teachers thieves travellers warriors wives witnesses women youths husbands"""
        ),
    ),
    common=_words(
            """a about above after again against all almost alone along already also although always am among an and
            another any anyone anything are around as at away back be became because become becomes been before
            began behind being below beneath beside besides between beyond both but by came can cannot come comes
            could did do does doing done down during each either else even ever every everyone everything few find
            first for forth found from gave get give given gives go goes going gone got great had has hast hath have
            having he hence her here hers herself him himself his how however i if in indeed into is it its itself
            just keep keeps kept knew know known knows last least less let like little long made make makes making
            man many may me men might mine more most much must my myself near neither never nevertheless next no
            nobody none nor not nothing now o of off often oh on once one ones only onto or other others otherwise
            ought our ours ourselves out over own perhaps put quite rather said same saw say saying says see seem
            seems seen sees set shall shalt she should since so some someone something sometimes soon still such
            take taken takes tell than that the thee their theirs them themselves then thence there thereby
            therefore these they thing things thine this those thou though through throughout thus thy till to
            together told too took toward towards under unless until unto up upon us very was way we well went were
            what whatever when whence where wherefore wherein whereas whether which while who whoever whole whom
            whose why will with within without would yea yes yet you your yours yourself"""
        ),
    endings=("ness", "tion", "ing", "est", "ers", "ies", "eth", "ed", "ly", "er", "s"),
    vowels=("aeiou", _words("a an")),
    styles={
        "archaic": _pairs(
            """you: ye, your: thy, yours: thine, has: hath, does: doth, before: ere, over: o'er, often: oft, between:
            betwixt, nothing: naught, perhaps: perchance, truly: verily, among: amongst, while: whilst, it is: 'tis,
            it was: 'twas, ever: e'er, never: ne'er, evening: eventide, why: wherefore, until: till, near: nigh,
            also: furthermore and also, enough: enow, saw: espied, anything: aught, listen: hearken, to him: unto
            him, to them: unto them, to the: unto the, and: and likewise, when: at such time as, because: for the
            very reason that, all: each and all, great: great and mighty, but: but yet, said: spoke and said, now:
            at this very hour, then: thereupon, if: if so be that, many: a great multitude of, always: evermore and
            always, here: here in this place"""
        ),
        "plain": _pairs(
            """it is: it's, is not: isn't, are not: aren't, was not: wasn't, were not: weren't, do not: don't, does
            not: doesn't, did not: didn't, cannot: can't, could not: couldn't, would not: wouldn't, should not:
            shouldn't, will not: won't, upon: on, therefore: so, thus: so, nevertheless: still, who is: who's, that
            is: that's, there is: there's, i am: I'm, i have: I've, we are: we're, they are: they're, he is: he's,
            she is: she's, you are: you're, unto: to, whom: who, many: a lot of, very: really, perceive: see,
            obtain: get, beneath: under, within: in, amid: in, toward: to, towards: to, shall: will, also: too,
            great: big, said: told them"""
        ),
    },
)  # fmt: skip

RULES: Mapping[str, Rules] = {"en": ENGLISH}


def rules(language: str) -> Rules | None:
    """Rules of a language, by the first part of its code (`en` for `en-GB`); None if the language has no rules."""
    return RULES.get(language.partition("-")[0].lower())
