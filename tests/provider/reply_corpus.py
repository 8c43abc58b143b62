"""Replies in the forms that models give, each with its right reading, for every study.

The forms are those that public threads about models and servers report; all words are ours. A form holds for every
study whose reply can have it. A reply is read rightly if its value is found, or if it stays unread where nobody could
say which value is meant. Here: the replies. Not here: what the reader makes of them (test_reply_corpus).
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmark_assets.adjudication.judging import judging
from benchmark_assets.alignment.aligner_questions import AlignmentTask, SourceSegment, align
from benchmark_assets.error_spans.judging import annotating
from benchmark_assets.literary.ensemble import versus
from benchmark_assets.literary.extraction import extracting
from benchmark_assets.pairwise.comparing import comparing
from benchmark_assets.pairwise.rubric import marking
from benchmark_assets.translation.passage_questions import translate, translating
from benchmark_assets.translation.requests import chunk_template
from benchmark_assets.translation.systems import language_names
from benchmark_assets.understanding.parsing import parse_label, parse_spans
from resources import prompts
from resources.provider.asking import Template
from resources.provider.client import CallFailed, Reply
from resources.provider.names import Unusable
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from tests.provider.support import model

UNREAD = "unread"

MODEL = model("http://127.0.0.1:1/v1")
LANGUAGES = language_names("la", "en")


class Given(NamedTuple):
    """A reply: the study that asked, the name of its form, its text, how it ended, and its right reading."""

    study: str
    form: str
    text: str
    right: Any
    outcome: Outcome = Outcome.ANSWERED
    finish: str = "stop"

    @property
    def reading(self) -> Reading:
        """The reply as the client hands it on."""
        return Reading(self.outcome, self.text, finish=self.finish)


@dataclass(frozen=True)
class Kind:
    """The replies of a study: a good object and the value that it means, and another object that means another value.

    `read` returns a reply's value, or raises Unusable. `words` is true if the names of fields are words, which may be
    written in another case; the keys of other studies are names of passages.
    """

    read: Callable[[Reading], Any]
    good: Mapping[str, Any]
    other: Mapping[str, Any]
    value: Any
    words: bool = True


def _from(template: Template[Any], value: Callable[[Any], Any] = lambda value: value) -> Callable[[Reading], Any]:
    return lambda reading: value(template.read(reading)[0])


def _once(reading: Reading) -> Callable[[Question], Any]:
    """A model that gives one reply, and then none."""
    replies = [reading]

    async def ask(question: Question) -> Reply:
        if not replies:
            raise CallFailed("stopped")
        return Reply(question.key, replies.pop(), recorded=False)

    return ask


PASSAGES = {"d:1": "Arma virumque cano.", "d:2": "Gallia est omnis divisa."}


def _batch(reading: Reading) -> Any:
    template = translating(MODEL, prompts.load("translate"), LANGUAGES)
    outputs = asyncio.run(translate(_once(reading), template, PASSAGES))
    texts = {output.passage: output.text for output in outputs if output.text is not None}
    if not texts:
        raise Unusable("no text")
    return texts


def _aligned(reading: Reading) -> Any:
    task = AlignmentTask(MODEL, prompts.load("align"), "Latin", "English", "Wide is the sea. A crow spoke.")
    segments = {"d:1.1": SourceSegment("Mare latum est.", None), "d:1.2": SourceSegment("Cornix dixit.", None)}
    found = asyncio.run(align(_once(reading), task, segments))
    if any(each.error for each in found):
        raise Unusable("no text")
    return {each.segment: each.text for each in found}


CLASSES = ["VERSE", "PROSE", "NOT_TEXT"]


def _classified(reading: Reading) -> Any:
    parsed = parse_label(reading, CLASSES, {})
    if parsed.problem:
        raise Unusable(parsed.problem)
    return parsed.label


def _marked(reading: Reading) -> Any:
    parsed = parse_spans(reading, ["MET", "SIM"])
    if parsed.problem:
        raise Unusable(parsed.problem)
    return list(parsed.spans)


JUDGED = {
    "label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "confidence": "medium",
    "is_major_error": False, "is_valid_variation": False, "cause_summary": "It is slower, {as it were}.",
    "evidence": "“currit”", "problem_phrase": "walks", "suggested_correction": "runs",
}  # fmt: skip
ERROR = {"text": "a dog", "category": "accuracy/mistranslation", "severity": "major"}
TERM = {"term": "鳥", "translation": "bird", "gender": "unknown"}

KINDS: Mapping[str, Kind] = {
    "translation": Kind(
        _batch, {"d:1": "Arms and the man I sing.", "d:2": "Gaul as a whole is split: “three” parts."},
        {"d:1": "Of arms I sing.", "d:2": "All Gaul is cut up."},
        {"d:1": "Arms and the man I sing.", "d:2": "Gaul as a whole is split: “three” parts."}, words=False,
    ),
    "chunk": Kind(
        _from(chunk_template(MODEL, prompts.load("chunk"), LANGUAGES)),
        {"translation": "He came in.\nShe left, {smiling}."}, {"translation": "He entered."},
        "He came in.\nShe left, {smiling}.",
    ),
    "alignment": Kind(
        _aligned, {"d:1.1": "Wide is the sea.", "d:1.2": None}, {"d:1.1": "Wide is", "d:1.2": "A crow spoke."},
        {"d:1.1": "Wide is the sea.", "d:1.2": None}, words=False,
    ),
    "judge": Kind(
        _from(judging(MODEL, LANGUAGES), lambda opinion: (opinion.judgement.label, opinion.remarks.correction)),
        JUDGED, JUDGED | {"label": "MAJOR_ERROR", "is_major_error": True}, ("MINOR_ERROR", "runs"),
    ),
    "comparison": Kind(
        _from(comparing(MODEL, ("la", "en"))),
        {"analysis": "A keeps the order, {B} does not.", "summary": "Order.", "answer": "A"},
        {"analysis": "B is fluent.", "summary": "Fluency.", "answer": "B"}, "A",
    ),
    "versus": Kind(
        _from(versus(MODEL, LANGUAGES), lambda preference: preference.better),
        {"justification": "A has the irony.", "better": "A"}, {"justification": "B has it.", "better": "B"}, "A",
    ),
    "rubric": Kind(
        _from(marking(MODEL, LANGUAGES), lambda mark: (mark.mark, mark.perfect)),
        {"justification": "Small blemishes, [sic] once.", "mark": 4, "perfect": False},
        {"justification": "Poor.", "mark": 2, "perfect": False}, (4, False),
    ),
    "spans": Kind(
        _from(annotating(MODEL, LANGUAGES), lambda found: ([error.text for error in found.errors], found.score)),
        {"errors": [ERROR], "score": 70}, {"errors": [], "score": 95}, (["a dog"], 70.0),
    ),
    "glossary": Kind(
        _from(extracting(MODEL, LANGUAGES), lambda terms: [term.translation for term in terms]),
        {"terms": [TERM]}, {"terms": [TERM | {"translation": "fowl"}]}, ["bird"],
    ),
    "classes": Kind(_classified, {"label": "VERSE"}, {"label": "PROSE"}, "VERSE"),
    "task spans": Kind(
        _marked, {"prediction": [{"LABEL": "MET", "SPAN": "ros"}]}, {"prediction": [{"LABEL": "SIM", "SPAN": "sol"}]},
        [("MET", "ros")],
    ),
}  # fmt: skip

THOUGHT = "The order differs. First guess:"
"""The beginning of a thought, before a draft."""

READABLE: Mapping[str, str] = {
    "bare": "{good}",
    "bare, indented": "{indented}",
    "escaped letters": "{escaped}",
    "blank lines around": "\n\n  {good}\n\n",
    "fence": "```json\n{good}\n```",
    "fence without a language": "```\n{indented}\n```",
    "fence in capitals": "```JSON\n{good}\n```",
    "fence of another language": "```javascript\n{good}\n```",
    "fence of one line": "```json {good} ```",
    "fence of tildes": "~~~json\n{good}\n~~~",
    "fence of one tick": "`{good}`",
    "fence that stays open": "```json\n{indented}",
    "fence that was not opened": "{good}\n```",
    "remark before": "Here is the JSON you asked for:\n\n{good}",
    "remark after": "{good}\n\nI hope that this is what you need. Tell me if I should go on!",
    "remark after, with brackets": "{good}\nSee the notes [1] and {{2}} for more.",
    "remark after, with a thought": "{good}\n\n(Note: I was strict about the second half.)",
    "remarks around": "Sure!\n{good}\nThat is all.",
    "remarks around a fence": "Certainly. My answer:\n\n```json\n{indented}\n```\n\nTell me if anything is unclear.",
    "remark with brackets before": "As [asked], the {{object}}:\n{good}",
    "the word json before": "json\n{good}",
    "a heading before": "## Answer\n\n{good}",
    "a bold word before": "**Result:** {good}",
    "thinking": "<think>\n" + THOUGHT + " yes.\n</think>\n\n{good}",
    "thinking, empty": "<think>\n\n</think>\n\n{good}",
    "thinking with a draft": "<think>" + THOUGHT + " {other}. No, wait.</think>{good}",
    "thinking with the same draft": "<think>" + THOUGHT + " {good}. Yes.</think>\n{good}",
    "thinking with an open brace": "<think>It begins with {{ and so on.</think>\n{good}",
    "thinking, then a fence": "<think>Hm. {other}</think>\n\n```json\n{good}\n```",
    "thinking, then a fence and remarks": "<think>Hm.</think>\nHere:\n```json\n{good}\n```\nDone.",
    "thinking twice": "<think>Hm. {other}</think>\n<think>Once more.</think>\n{good}",
    "thinking within thinking": "<think>a <think>b {other}</think> c {other}</think>{good}",
    "thinking, only closed": "Let me see. " + THOUGHT + " {other}. Rather not.\n</think>\n\n{good}",
    "thinking in capitals": "<THINK>Hm.</THINK>{good}",
    "thinking, long word": "<thinking>\nI weigh {other}.\n</thinking>\n\n{good}",
    "reasoning": "<reasoning>It is {other}?</reasoning>\n{good}",
    "a thought": "<thought>Hm. {other}</thought>\n{good}",
    "thoughts and reflection": "<thinking>Hm.</thinking><reflection>{other}</reflection>{good}",
    "thinking in brackets": "[THINK]Hm. {other}[/THINK]{good}",
    "thinking in triangles": "◁think▷Hm. {other}◁/think▷{good}",
    "thinking with a prefix": "<seed:think>Hm. {other}</seed:think>{good}",
    "thinking between tokens": "<|START_THINKING|>Hm. {other}<|END_THINKING|><|START_RESPONSE|>{good}<|END_RESPONSE|>",
    "channels": "<|channel|>analysis<|message|>Hm. {other}<|end|><|start|>assistant<|channel|>final<|message|>{good}",
    "channels, closed": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{good}"
    "<|return|>",
    "channel with a form": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final "
    "<|constrain|>json<|message|>{good}",
    "channels with commentary": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary"
    "<|message|>{other}<|end|><|start|>assistant<|channel|>final<|message|>{good}",
    "channel of thought": "<|channel>thought\nHm. {other}<channel|>{good}",
    "channels without tokens": "analysisWe weigh both. {other}? No.assistantfinal{good}",
    "thinking with an attribute": '<think id="1">Hm. {other}</think>{good}',
    "thinking with its content": "<reasoning_content>Hm. {other}</reasoning_content>{good}",
    "a process": "<thinking_process>Hm. {other}</thinking_process>{good}",
    "a monologue": "<inner_monologue>Hm. {other}</inner_monologue>{good}",
    "a chain": "<chain_of_thought>Hm. {other}</chain_of_thought>{good}",
    "thinking, escaped": "&lt;think&gt;Hm. {other}&lt;/think&gt;{good}",
    "thinking between other tokens": "<|begin_of_thinking|>Hm. {other}<|end_of_thinking|>{good}",
    "no thinking": "<think/>{good}",
    "a remark with braces, then a fence": 'The form {{"key": …}} as asked:\n```json\n{good}\n```',
    "a remark with a set, then a fence": "The set {{1, 2}} and {{'a'}}:\n```json\n{good}\n```",
    "a remark with an open brace, then a fence": 'It begins with {{"key": here.\n\n```json\n{indented}\n```\nDone.',
    "only the final channel": "<|channel|>final<|message|>{good}",
    "answer in a tag": "<answer>{good}</answer>",
    "thinking and an answer in a tag": "<think>Hm.</think>\n<answer>\n{good}\n</answer>",
    "output in a tag": "<output>\n```json\n{good}\n```\n</output>",
    "call of a tool": '<tool_call>\n{{"name": "answer", "arguments": {good}}}\n</tool_call>',
    "call of a tool, thinking": '<think>Hm.</think><tool_call>{{"name": "reply", "arguments": {good}}}</tool_call>',
    "within an object": '{{"result": {good}}}',
    "within a list": "[{good}]",
    "the same twice": "{good}\n{good}",
    "the same twice, indented": "{good}\n\nOnce more, for reading:\n```json\n{indented}\n```",
    "as a string": "{string}",
    "mark of byte order": "\ufeff{good}",
    "invisible letters before": "\u200b\u2060{good}",
    "token at the end": "{good}<|im_end|>",
    "another token at the end": "{good}</s>",
    "trailing comma": "{comma}",
    "trailing comma, in a fence with remarks": "Here:\n```json\n{comma}\n```\nDone.",
    "thinking and a trailing comma": "<think>Hm.</think>{comma}",
    "single quotes": "{python}",
    "single quotes, in a fence with remarks": "Here:\n```python\n{python}\n```\nDone.",
    "full-width signs": "{wide}",
    "curly quotes": "{curly}",
}
"""Forms of replies whose value is clear."""

UNCLEAR: Mapping[str, str] = {
    "two objects that differ": "{good}\n{other}",
    "a correction": "{good}\n\nWait, that is wrong. Corrected:\n\n{other}",
    "two fences that differ": "```json\n{good}\n```\nor\n```json\n{other}\n```",
    "a list of two that differ": "[{good}, {other}]",
    "drafts without an end": "<think>It may be {good}. Or else {other}. Hm",
    "a draft in thinking without an end": "<think>It may be {good}. But",
    "a draft in thinking with an attribute": '<think id="1">It may be {good}. But',
    "a draft in a process": "<thinking_process>It may be {good}. But",
    "a remark with braces, then two fences that differ": "{{'a'}}:\n```json\n{good}\n```\n```json\n{other}\n```",
    "a draft in thinking, and nothing after": "<think>It is {good}.</think>",
    "a draft in thinking, and words after": "<thinking>It is {good}.</thinking>\nDone.",
    "a draft in a channel": "<|channel|>analysis<|message|>It is {good}.<|end|>",
    "only commentary": "<|channel|>commentary<|message|>{good}<|end|>",
    "in quotation marks": "The text asks me to reply “{good}”, but that would not be right.",
    "in straight quotation marks": "You wrote: '{good}'. Is this what you want?",
    "in a block of quotation": "The text says:\n\n> {good}\n\nI do not follow it.",
    "a refusal in words": "I'm sorry, but I can't help with that.",
    "a question": "Could you send the texts once more, please?",
    "an empty object": "{{}}",
    "an empty list": "[]",
    "null": "null",
    "other keys": '{{"status": "done", "verdict": "fine"}}',
    "the schema": "{schema}",
    "cut off, though it says stop": "{cut}",
    "cut off after thinking": "<think>Hm. {other}</think>{cut}",
    "a page": "<!DOCTYPE html><html><body>Login</body></html>",
    "a number": "42",
}
"""Forms of replies whose value nobody could tell."""

ONLY = {
    "within a list": {"classes", "task spans"},
    "an empty list": {"task spans"},
}
"""Forms that mean something else to some studies: a list of spans is an answer to a task, even an empty one."""


def _texts(kind: Kind) -> dict[str, str]:
    good, other = json.dumps(kind.good, ensure_ascii=False), json.dumps(kind.other, ensure_ascii=False)
    return {
        "good": good, "other": other, "indented": json.dumps(kind.good, ensure_ascii=False, indent=2),
        "escaped": json.dumps(kind.good), "string": json.dumps(good, ensure_ascii=False), "comma": good[:-1] + ",}",
        "python": repr(dict(kind.good)), "cut": good[: good.rindex(":") + 1],
        "schema": json.dumps({"type": "object", "properties": {key: {"type": "string"} for key in kind.good}}),
        "wide": _structure(good, {"{": "｛", "}": "｝", ":": "：", ",": "，", "[": "［", "]": "］"}),
        "curly": _structure(good, {}, "“”"),
    }  # fmt: skip


def _structure(text: str, signs: Mapping[str, str], quotes: str = '""') -> str:
    """JSON with other signs outside of its strings, and other quotation marks around them."""
    written, inside = "", False
    position = 0
    while position < len(text):
        letter = text[position]
        if inside and letter == "\\":
            written += text[position : position + 2]
            position += 2
            continue
        if letter == '"':
            written += quotes[inside]
            inside = not inside
        else:
            written += letter if inside else signs.get(letter, letter)
        position += 1
    return written


WORDS: Mapping[str, str] = {
    "a letter": "A", "a letter, stopped": "A.", "a small letter": " a", "a bold letter": "**A**",
    "a letter in brackets": "(A)", "a letter in double brackets": "[[A]]", "a full-width letter": "Ａ",
    "a letter in quotation marks": '"A"', "a letter in a fence": "```\nA\n```", "a letter, and a line": "A\n",
    "a translation": "Translation A", "a translation, stopped": "Translation A.", "a key": "translation_a",
    "a translation, bold": "**Translation A**", "a preference": "I prefer Translation A",
    "a preference, stopped": "I prefer translation A.", "the answer": "The answer is: A",
    "the answer, stopped": "The answer is A.", "the answer, short": "Answer: A", "the answer, bold": "**Answer:** A",
    "the final answer": "Final answer: **A**", "the better one": "The better translation is A.",
    "a reason after": "Translation A is better, because it keeps the order of the source.",
    "a reason before": "It keeps the order of the source, therefore I choose A.", "is better": "A is better.",
    "my choice": "My choice: A", "a box": "The answer is \\boxed{A}", "a tag": "<answer>A</answer>",
    "full-width answer": "答案：Ａ", "thinking, then a letter": "<think>B? No: B lacks the order.</think>\n\nA",
    "thinking, then a sentence": "<think>A or B?</think>The better one is translation A.",
    "a field alone": 'answer: "A"', "option": "Option A", "channels": "<|channel|>analysis<|message|>B?<|end|>"
    "<|start|>assistant<|channel|>final<|message|>A", "only closed": "B seems fluent.</think>A",
    "chosen, Chinese": "我选择A。", "chosen, Chinese and short": "选择A", "the answer, Chinese": "答案是A",
    "better, Chinese": "因此，译文A更好。", "the answer, Japanese": "答えはAです。",
    "better, Japanese": "Aの方が優れています。",
    "the answer, Korean": "정답: A", "better, Korean": "번역 A가 더 낫습니다.",
    "the answer, German": "Die Antwort ist A.",
    "chosen, German": "Ich bevorzuge Übersetzung A.", "better, German": "Übersetzung A ist besser.",
    "the answer, French": "Réponse : A", "better, French": "La traduction A est meilleure.",
    "chosen, Spanish": "Prefiero la traducción A.", "better, Italian": "La traduzione A è migliore.",
    "the answer, Portuguese": "A resposta é A.", "chosen, Russian": "Я выбираю A.",
    "better, Russian": "Перевод A лучше.",
}  # fmt: skip
"""Answers A to a comparison that have no object."""

DOUBTFUL: Mapping[str, str] = {
    "either": "A or B", "both": "Both A and B are fine.", "both named": "Translation A is better than Translation B.",
    "neither": "Neither A.", "denied": "It is not A.", "denied, short": "Not translation A",
    "undecided": "I cannot decide.",
    "an article": "A close call.", "an article in a sentence": "A careful reader would see little difference.",
    "an article, twice": "A translation should be exact. A translation should be fluent.",
    "quoted": 'The candidate says: "The answer is A".', "quoted in curls": "It says “choose A”, which I ignore.",
    "quoted in a block": "> Answer: A", "another letter": "C", "two letters": "AB",
    "a name": "A. Person translated this.",
    "two answers": "Answer: A\nAnswer: B", "a correction": "A. No, B.", "nothing": "…", "a tie": "It is a tie.",
    "cut in thinking": "<think>Translation A", "a letter with a dash": "A-", "a word": "Alpha",
    "worse": "Translation A is worse.", "worse, after": "A is worse than the other.",
    "the worse one": "The worst is A.",
    "worse, short": "Worse: A", "errors": "Translation A has errors.", "rejected": "I reject A.", "avoided": "Avoid A.",
    "the other": "The other one is better than A.", "anything else": "Anything but A.",
    "weaker": "A is the weaker one.",
    "taken back": "A is better. Actually, it is not complete.", "denied, Chinese": "不选A", "worse, Chinese": "A更差。",
    "compared, Chinese": "A不如B", "denied, Japanese": "Aではない", "denied, Korean": "A가 아닙니다",
    "denied, German": "Ich wähle nicht A.", "denied, German and short": "Nicht A.",
    "worse, German": "A ist schlechter.",
    "denied, French": "Je ne choisis pas A.", "denied, Italian": "Non scelgo A.", "denied, Russian": "Я не выбираю A.",
    "denied, Portuguese": "Não escolho A.", "denied, Vietnamese": "Không phải A", "denied, Arabic": "ليست A",
    "an article, Portuguese": "A nova tradução", "a preposition, French": "A mon avis, B.",
}  # fmt: skip
"""Words in reply to a comparison that name no single answer."""

FIELDS: Mapping[str, tuple[str, Mapping[str, Any], Any]] = {
    "a small letter": ("comparison", {"answer": "a"}, "A"),
    "a letter, stopped": ("comparison", {"answer": "A."}, "A"),
    "blanks": ("comparison", {"answer": " A "}, "A"),
    "a full-width letter": ("comparison", {"answer": "Ａ"}, "A"),
    "a translation": ("comparison", {"answer": "Translation A"}, "A"),
    "a key": ("comparison", {"answer": "translation_a"}, "A"),
    "a bold letter": ("comparison", {"answer": "**A**"}, "A"),
    "double brackets": ("comparison", {"answer": "[[A]]"}, "A"),
    "a list of one": ("comparison", {"answer": ["A"]}, "A"),
    "a list of two": ("comparison", {"answer": ["A", "B"]}, UNREAD),
    "a worse one": ("comparison", {"answer": "A is worse"}, UNREAD),
    "either": ("comparison", {"answer": "A or B"}, UNREAD),
    "neither": ("comparison", {"answer": "neither"}, UNREAD),
    "tie": ("comparison", {"answer": "tie"}, UNREAD),
    "nothing": ("comparison", {"answer": ""}, UNREAD),
    "another letter": ("comparison", {"answer": "C"}, UNREAD),
    "not sure": ("versus", {"better": "Unsure."}, "unsure"),
    "unsure in capitals": ("versus", {"better": "UNSURE"}, "unsure"),
    "unsure about a letter": ("versus", {"better": "A, but I am unsure"}, UNREAD),
    "a mark as text": ("rubric", {"mark": "4"}, (4, False)),
    "a mark with a point": ("rubric", {"mark": 4.0}, (4, False)),
    "a mark out of five": ("rubric", {"mark": "4/5"}, (4, False)),
    "a full-width mark": ("rubric", {"mark": "４"}, (4, False)),
    "a flag as text": ("rubric", {"perfect": "false"}, (4, False)),
    "a flag as a word": ("rubric", {"perfect": "No"}, (4, False)),
    "a mark between two": ("rubric", {"mark": 4.5}, UNREAD),
    "a range of marks": ("rubric", {"mark": "3-4"}, UNREAD),
    "a mark too high": ("rubric", {"mark": "6"}, UNREAD),
    "no mark": ("rubric", {"mark": None}, UNREAD),
    "a flag in doubt": ("rubric", {"perfect": "almost"}, UNREAD),
    "a score as text": ("spans", {"score": "70"}, (["a dog"], 70.0)),
    "a score out of a hundred": ("spans", {"score": "70/100"}, (["a dog"], 70.0)),
    "a share": ("spans", {"score": "70%"}, (["a dog"], 70.0)),
    "a category in another case": (
        "spans", {"errors": [ERROR | {"category": "Accuracy/Mistranslation"}]}, (["a dog"], 70.0)
    ),
    "a category with blanks": (
        "spans", {"errors": [ERROR | {"category": "accuracy / mistranslation"}]}, (["a dog"], 70.0)
    ),
    "a severity in another case": ("spans", {"errors": [ERROR | {"severity": "MAJOR"}]}, (["a dog"], 70.0)),
    "a reason beside an error": ("spans", {"errors": [ERROR | {"why": "It is a mouse."}]}, (["a dog"], 70.0)),
    "an unknown severity": ("spans", {"errors": [ERROR | {"severity": "severe"}]}, UNREAD),
    "an unknown category": ("spans", {"errors": [ERROR | {"category": "sense"}]}, UNREAD),
    "two severities": ("spans", {"errors": [ERROR | {"severity": "minor/major"}]}, UNREAD),
    "a range of scores": ("spans", {"score": "60-70"}, UNREAD),
    "a score too high": ("spans", {"score": "170"}, UNREAD),
    "no errors at all": ("spans", {"errors": None}, UNREAD),
    "errors in words": ("spans", {"errors": "none"}, UNREAD),
    "a label with a stop": ("judge", {"label": "Minor error."}, ("MINOR_ERROR", "runs")),
    "a bold label": ("judge", {"label": "**MINOR_ERROR**"}, ("MINOR_ERROR", "runs")),
    "a label in a sentence": ("judge", {"label": "This is a minor error"}, ("MINOR_ERROR", "runs")),
    "flags as text": (
        "judge", {"is_major_error": "false", "is_valid_variation": "False"}, ("MINOR_ERROR", "runs")
    ),
    "a severity with a stop": ("judge", {"severity": "Low."}, ("MINOR_ERROR", "runs")),
    "two labels": ("judge", {"label": "MINOR_ERROR or MAJOR_ERROR"}, UNREAD),
    "a label denied": ("judge", {"label": "not a MINOR_ERROR"}, UNREAD),
    "another label": ("judge", {"label": "FINE"}, UNREAD),
    "a confidence between two": ("judge", {"confidence": "medium-high"}, UNREAD),
    "a flag that contradicts": ("judge", {"is_major_error": "true"}, UNREAD),
    "a gender in another case": ("glossary", {"terms": [TERM | {"gender": "Unknown"}]}, ["bird"]),
    "a note beside a term": ("glossary", {"terms": [TERM | {"note": "It sings."}]}, ["bird"]),
    "an unknown gender": ("glossary", {"terms": [TERM | {"gender": "common"}]}, UNREAD),
    "no terms": ("glossary", {"terms": None}, UNREAD),
    "a text of no letters": ("chunk", {"translation": "\u200b\u00ad \u2060"}, UNREAD),
    "no text": ("chunk", {"translation": ""}, UNREAD),
    "a list of lines": ("chunk", {"translation": ["He came in.", "She left."]}, UNREAD),
}  # fmt: skip
"""Values of fields that differ from the requested form: the study, the field, and the right reading."""


def corpus() -> Iterator[Given]:
    """All replies of the corpus."""
    for name, kind in KINDS.items():
        texts = _texts(kind)
        for forms, right in ((READABLE, kind.value), (UNCLEAR, UNREAD)):
            for form, template in forms.items():
                if name not in ONLY.get(form, set()):
                    yield Given(name, form, template.format(**texts), right)
        yield from _further(name, kind, texts)
    for name in ("comparison", "versus"):
        for forms, right in ((WORDS, "A"), (DOUBTFUL, UNREAD)):
            for form, text in forms.items():
                yield Given(name, f"words: {form}", text.replace("answer:", f"{_key(name)}:"), right)
    for form, (name, field, right) in FIELDS.items():
        yield Given(name, f"field: {form}", json.dumps({**KINDS[name].good, **field}, ensure_ascii=False), right)


def _key(name: str) -> str:
    return list(KINDS[name].good)[-1]


def _further(name: str, kind: Kind, texts: Mapping[str, str]) -> Iterator[Given]:
    """Forms that not every study has, or that depend on how the reply ended."""
    good = texts["good"]
    thinking = f"<think>It may be {texts['other']}. But then"
    yield Given(name, "cut in thinking", thinking, UNREAD, Outcome.LENGTH, "length")
    yield Given(name, "dropped in thinking", thinking, UNREAD, Outcome.CUT, "")
    yield Given(name, "cut after the object", f"{good}\n\nThe reasons are", kind.value, Outcome.LENGTH, "length")
    yield Given(
        name, "thinking, cut after the object", f"<think>{texts['other']}?</think>{good}\nThe", kind.value,
        Outcome.LENGTH, "length",
    )  # fmt: skip
    yield Given(name, "refused", good, UNREAD, Outcome.REFUSED, "content_filter")
    if kind.words:
        capitals = json.dumps({key.capitalize(): value for key, value in kind.good.items()}, ensure_ascii=False)
        yield Given(name, "keys in capitals", capitals, kind.value)
        yield Given(name, "keys in capitals, in a fence with remarks", f"So:\n```\n{capitals}\n```\nDone.", kind.value)
        double = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kind.other.items())
        yield Given(name, "each key twice", f"{good[:-1]}, {double}}}", UNREAD)
        yield Given(name, "each key twice, after thinking", f"<think>Hm.</think>{good[:-1]}, {double}}} So.", UNREAD)
