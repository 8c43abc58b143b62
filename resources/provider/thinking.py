"""Thinking that an endpoint left in the text of a reply, in the forms that models and servers use.

Thinking contains drafts, which are not answers: only the text after it counts. Not here: JSON (replies), thinking in a
field of its own, which is not part of the text (reading).
"""

import re

from resources.provider.names import Unusable

UNENDED = "cut off while thinking"
"""The reason for a reply whose thinking does not end."""

_WORDS = (
    r"(?:\w+:)?(?:(?:ant)?think|(?:ant)?thinking|thoughts?|reason|reasoning|reflection|scratchpad|analysis|cot"
    r"|(?:thinking|thought|reasoning)_(?:process|content)|inner_monologue|chain_of_thought|思考|思考过程)"
)
_OPEN = re.compile(
    rf"<\s?{_WORDS}(?:\s[^<>]{{0,200}})?(?<!/)>|&lt;{_WORDS}&gt;|<\|(?:begin_of_)?think(?:ing)?\|>|\[THINK\]"
    r"|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>|<unused94>thought|<\|channel>\s*thought",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"<\s?/{_WORDS}\s?>|&lt;/{_WORDS}&gt;|<\|(?:/|end_of_)think(?:ing)?\|>|\[/THINK\]"
    r"|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<unused95>|<channel\|>",
    re.IGNORECASE,
)

_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
"""The beginning of the answer in a reply with channels: `analysis` and `commentary` precede `final`."""

_PLAIN_CHANNELS = re.compile(r"analysis.*assistantfinal", re.DOTALL)
"""Channels whose tokens the endpoint removed, so that only their names are left."""

_TOKENS = re.compile(r"(?:<\|[\w ]{1,40}\|>|</?s>|<eos>|<end_of_turn>|\s)+")
_INVISIBLE = "\ufeff\u200b\u2060"


def after_thinking(text: str) -> tuple[str, bool]:
    """The text after a reply's thinking, without tokens of a chat template around it; and whether there was thinking.

    The text after the last end of thinking counts. The beginning may be missing, because templates of some models
    contain it.

    Raises
    ------
    Unusable
        If the thinking does not end, or if a reply with channels has no final channel.
    """
    rest, thought = text, False
    if "<|channel|>" in text:
        finals = list(_FINAL.finditer(text))
        if not finals:
            raise Unusable(UNENDED)
        rest, thought = re.split(r"<\|(?:end|return|start)\|>", text[finals[-1].end() :])[0], True
    elif channels := _PLAIN_CHANNELS.match(text.lstrip()):
        rest, thought = text.lstrip()[channels.end() :], True
    if ends := list(_CLOSE.finditer(rest)):
        rest, thought = rest[ends[-1].end() :], True
    beginning = _OPEN.search(rest)
    if beginning and "{" not in rest[: beginning.start()]:
        raise Unusable(UNENDED)
    return _without_tokens(rest), thought


def _without_tokens(text: str) -> str:
    """A text without tokens of a chat template, blanks and invisible characters at its beginning and end."""
    text = text.strip().strip(_INVISIBLE).strip()
    if beginning := _TOKENS.match(text):
        text = text[beginning.end() :]
    for tokens in _TOKENS.finditer(text):
        if tokens.end() == len(text):
            return text[: tokens.start()]
    return text
