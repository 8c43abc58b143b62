"""Composed inputs on which the papers' programs and ours are compared: passages, translations, samples and replies.

Here: texts composed for this purpose, the same in every process. Not here: running the papers' programs (theirs), the
comparison (test_protocols). This module imports nothing of the project, because the papers' programs run elsewhere.
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

SYLLABLES = ["kam", "to", "mi", "rā", "ṇa", "sūt", "dhi", "ve", "ñā", "ḷo", "pa", "ṭṭha", "bhū"]
TASKS = ("AACT", "MCS", "QUDS", "QUDT", "RCDS", "RCMS", "RCMT", "SCCT", "SMDS", "THCT", "VPCS", "VPCT")
SAMPLES = 5
"""Samples of each task: the first ones of its published file."""

ANCHORS = ("north/river-2", "river-1", "Zeta__odd", "alpha")
MODEL = "vendor/model-x"


def digest(content: Any) -> str:
    """SHA-256 of a JSON value, with sorted keys."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def words(chance: random.Random, number: int) -> str:
    """A text of so many invented words."""
    made = ("".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(number))
    return " ".join(word + chance.choice(["", "", "", "", ",", ".", " …", "’ti"]) for word in made)


def passages() -> dict[str, str]:
    """50 passages by id: short and long ones, two of them longer than a batch."""
    chance = random.Random(1)
    sizes = [1200 if number in (17, 40) else chance.choice([8, 30, 90, 240]) for number in range(50)]
    return {f"mn{number // 9 + 1}:{number % 9 + 1}": words(chance, size) for number, size in enumerate(sizes)}


def items() -> list[dict[str, Any]]:
    """Items of JP-TL-Bench in the form of its files; their names sort otherwise than they come."""
    chance = random.Random(2)
    return [
        {
            "name": f"item.{9 - number}",
            "text": f"{words(chance, 12)}\n$5 {{braces}} {words(chance, 3)}",
            "english": number % 2 == 0,
            "difficulty": "easy" if number % 3 else "hard",
        }
        for number in range(8)
    ]


def translation(system: str, name: str) -> str:
    """The translation of an item by an anchor or the model; one is blank to the eye but for a line end."""
    return words(random.Random(f"{system} {name}"), 15)


def answered(passage_ids: Sequence[str]) -> dict[str, str]:
    """The object with which the stub answers a request about passages: some are left out, too short, or not asked for,
    so that further requests follow until two are left."""
    chance = random.Random(str(sorted(passage_ids)))
    few = len(passage_ids) <= 2
    made = {key: f"A translation of {key}, in so many words." for key in passage_ids if few or chance.random() < 0.7}
    short = {key: "short" for key in passage_ids if key not in made and chance.random() < 0.3}
    return made | short | {"mn99:1": "x" * 40}


def object_replies() -> Iterator[str]:
    """100 replies to a batch of two passages, most of them faulty in the ways that the published repairs know."""
    chance = random.Random(3)
    for number in range(100):
        one, two = (words(chance, chance.randint(3, 9)) for _ in range(2))
        text = json.dumps({"mn1:1": one, "mn1:2": two}, ensure_ascii=False, indent=chance.choice([None, 2]))
        for change in chance.sample(CHANGES, number % 4):
            text = change(text, chance)
        yield text


def _within(text: str, chance: random.Random, inserted: str) -> str:
    """A text with something inserted between two words of a value."""
    places = [place for place, letter in enumerate(text) if letter == " " and text[place - 1] not in ':,{"']
    place = chance.choice(places) if places else 0
    return text[:place] + inserted + text[place + 1 :]


CHANGES: list[Callable[[str, random.Random], str]] = [
    lambda text, _: f"```json\n{text}\n```",
    lambda text, _: f"```\n{text}```",
    lambda text, _: f"Here it is:\n{text}\nI hope it helps.",
    lambda text, _: text.replace('": "', '": ""', 1).replace('",', '"",', 1),
    lambda text, chance: _within(text, chance, '?" "So '),
    lambda text, chance: _within(text, chance, ' said: "Go '),
    lambda text, chance: _within(text, chance, '," they said. '),
    lambda text, chance: _within(text, chance, '." He went. "Yes '),
    lambda text, chance: _within(text, chance, " „so‟ ‚said‛ "),
    lambda text, chance: _within(text, chance, ', "\'"), ('),
    lambda text, chance: _within(text, chance, "\r\n"),
    lambda text, chance: _within(text, chance, "\\"),
    lambda text, _: text.replace("}", ",}"),
    lambda text, _: text[: len(text) * 2 // 3],
    lambda text, _: text.replace('"mn1:2": "', '"mn1:2": ["') if "[" not in text else text,
    lambda text, _: f"[{text}]",
    lambda text, chance: _within(text, chance, ' "nested" '),
    lambda text, _: text.replace("{", "").replace("}", ""),
]


def tagged_replies() -> Iterator[str]:
    """100 replies to a request for a translation in a tag."""
    chance = random.Random(4)
    forms = [
        "<translation_analysis>{a}</translation_analysis>\n<translation>{b}</translation>",
        "<translation>\n{b}\n</translation>",
        "<translation>{a}</translation> or rather <translation>{b}</translation>",
        "{b}",
        "<translation>{b}",
        "<translation_analysis>{a}</translation_analysis>{b}",
        "<Translation>{b}</Translation>",
        "<translation_analysis>{a}</translation_analysis>\n{b}\n</translation_analysis>{a}",
        "<translation></translation>",
        "<translation>{b}</translation",
        "  <translation>{a}\n\n{b}</translation>  {a}",
    ]
    for _ in range(100):
        yield chance.choice(forms).format(a=words(chance, 6), b=words(chance, 8))


def letter_replies() -> Iterator[str]:
    """100 replies of a judge that should name A or B in a tag."""
    chance = random.Random(5)
    forms = [
        "{w}<answer>A</answer>",
        "{w}<answer>B</answer>",
        "<answer> b </answer>",
        "<answer>**A**</answer>",
        "<answer>(B)</answer>",
        "<answer>A.</answer> <answer>B</answer>",
        "<answer>\nA\n</answer>",
        "<Answer>A</Answer>",
        "A",
        "<answer></answer>",
        "<answer>Translation A</answer>",
        "<answer>AB</answer>",
        "<answer>neither</answer>",
        "<answer>1</answer>",
        "<answer>А</answer>",
        "<answer>A or B</answer>",
        "<answer>B",
        "<answer>ａ</answer>",
        "<answer>b!</answer>{w}",
    ]
    for _ in range(100):
        yield chance.choice(forms).format(w=words(chance, 5))


def label_replies() -> Iterator[str]:
    """100 replies about a sample of THCT."""
    chance = random.Random(6)
    names = [
        "Vinaya",
        "Tantra",
        "Epistles",
        "Treatises on Sūtras",
        "Treatises on Madhyamaka",
        "EMPTY",
        "Poems",
        "vinaya",
    ]
    forms = [
        '{{"label": "{n}"}}',
        "{{'label': '{n}'}}",
        '```json\n{{"label": "{n}"}}\n```',
        'Output: {{"label": "{n}"}}',
        "{n}",
        '<think>{w}</think>{{"label": "{n}"}}',
        '{{"label": ["{n}"]}}',
        '{{"Label": "{n}"}}',
        '{{"label": "{n}"',
        "",
        '{w} {{"label": "{n}"}}',
        '{{"label": "{n}", "why": "{w}"}}',
        '{{"label": null}}',
        "[]",
        '"{n}"',
        "```\n{n}\n```",
        'output: ```json\n{{"label": "{n}"}}```',
        '{{"label": " {n}"}}',
        '{{"prediction": "{n}"}}',
    ]
    for _ in range(100):
        yield chance.choice(forms).format(n=chance.choice(names), w=words(chance, 4))


def span_replies() -> Iterator[str]:
    """100 replies about a sample whose spans are marked."""
    chance = random.Random(7)
    for _ in range(100):
        found = [
            {"LABEL": chance.choice(["MET", "SIM", "sim", "O"]), "SPAN": words(chance, 2)}
            for _ in range(chance.randint(0, 3))
        ]
        shown: Any = chance.choice(
            [
                {"prediction": found},
                {"prediction": found, "note": "x"},
                {"spans": found},
                found,
                {"prediction": None},
                {"prediction": [[each["LABEL"], each["SPAN"]] for each in found]},
                {"prediction": [each["SPAN"] for each in found]},
                {"prediction": [{"LABEL": each["LABEL"]} for each in found]},
                {"prediction": [{**each, "at": 1} for each in found]},
            ]
        )
        text = chance.choice([json.dumps(shown, ensure_ascii=False), repr(shown)])
        yield chance.choice(["{t}", "```json\n{t}\n```", "Output: {t}", "<think>a</think>\n{t}", "{t}\nDone."]).replace(
            "{t}", text
        )


def of_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request that papers state; 0 and 0.0 are the same number."""
    kept = ("messages", "temperature", "top_p", "max_tokens", "response_format")
    stated = {name: body[name] for name in kept if body.get(name) is not None}
    return {name: float(each) if isinstance(each, int) else each for name, each in stated.items()}
