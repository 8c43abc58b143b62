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


TRANSLATOR = "thanissaro"
PROSE = "Thus I heard. The crow spoke to the miller — twice.\n\n<<<“Well said, friend!”>>>\n"


def suttas() -> dict[str, dict[str, tuple[str, str | None]]]:
    """Texts by id, each with its segments by id: the source, and the guide (None if it lacks the segment).

    There are long and short passages, headings, a passage longer than a batch, ids with three numbers, blank sources,
    and ids without a number after the passage, which the program takes for one passage.
    """
    chance = random.Random(8)
    made: dict[str, dict[str, tuple[str, str | None]]] = {}
    for text in ("mn1", "mn2", "mn3", "mn4", "mn5", "mn6", "an3.1", "sn12.2"):
        keys = [f"{text}:0.{number}" for number in (1, 2)]
        for passage in range(1, 9):
            size = 40 if (text, passage) == ("mn2", 4) else chance.choice([1, 3, 7, 13])
            keys += [f"{text}:{passage}.{number}" for number in range(1, size + 1)]
        keys += [f"{text}:9.1.1", f"{text}:9.1.2", f"{text}:9.2"] if text == "mn1" else []
        keys = [f"{text}:{number}" for number in range(1, 36)] if text == "sn12.2" else keys
        made[text] = {
            key: (
                "" if chance.random() < 0.05 else words(chance, 4),
                None if chance.random() < 0.1 else words(chance, 3),
            )
            for key in keys
        }
    return made


def extracts(keys: Sequence[str]) -> str:
    """The reply of the stub about segments: texts and nulls, an id too many, some ids missing; sometimes nothing that
    can be read, sometimes null for all."""
    chance = random.Random(str(keys))
    if chance.random() < 0.2:
        return chance.choice(["", "no", "{", json.dumps(dict.fromkeys(keys))])
    made = {key: chance.choice([words(chance, 3), words(chance, 3), None]) for key in keys if chance.random() < 0.9}
    return json.dumps({**made, "mn99:1.1": "x"}, ensure_ascii=False)


def segment_replies() -> Iterator[str]:
    """100 replies about the segments mn9:1.1 to mn9:1.4, most of them faulty."""
    chance = random.Random(9)
    for number in range(100):
        values: dict[str, Any] = {f"mn9:1.{at}": words(chance, 4) for at in range(1, 5)}
        for spoil in chance.sample(SPOILED, number % 3):
            values = spoil(values, chance)
        text = json.dumps(values, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 2]))
        for change in chance.sample(TEXTUAL, number % 2):
            text = change(text, chance)
        yield text


SPOILED: list[Callable[[dict[str, Any], random.Random], dict[str, Any]]] = [
    lambda values, chance: values | {chance.choice([*values]): None},
    lambda values, chance: {key: text for key, text in values.items() if key != "mn9:1.2"},
    lambda values, chance: values | {"mn9:1.5": "not asked for", "mn9:2.1": None},
    lambda values, chance: dict(reversed(values.items())),
    lambda values, chance: values | {"mn9:1.3": ""},
    lambda values, chance: values | {"mn9:1.3": f"  {values.get('mn9:1.3')}\n\n "},
    lambda values, chance: values | {"mn9:1.1": [values.get("mn9:1.1")]},
    lambda values, chance: values | {"mn9:1.4": 4},
    lambda values, chance: {key.upper(): text for key, text in values.items()},
    lambda values, chance: {"segments": values},
    lambda values, chance: dict.fromkeys(values),
    lambda values, chance: values | {"mn9:1.1": values.get("mn9:1.2")},
    lambda values, chance: {f" {key}": text for key, text in values.items()},
]
TEXTUAL: list[Callable[[str, random.Random], str]] = [
    lambda text, _: f"```json\n{text}\n```",
    lambda text, _: f"\n  {text}\n",
    lambda text, _: f"{text}\nDone.",
    lambda text, _: text[: len(text) // 2],
    lambda text, _: text[:-1] + ', "mn9:1.1": "given again"}',
    lambda text, _: text.replace("}", ",}"),
    lambda text, _: text.replace('"', "'"),
    lambda text, _: f"[{text}]",
    lambda text, _: "",
    lambda text, _: "null",
    lambda text, _: text.replace('": "', '": "“', 1),
    lambda text, _: text.replace('": "', '": NaN, "x": "', 1),
    lambda text, _: text.replace('": "', '": "\t', 1),
    lambda text, _: text.replace('": "', '": "\\u0041\\n', 1),
]


def proses() -> list[str]:
    """Continuous translations for verification: with and without abbreviations, references and numbers."""
    chance = random.Random(10)
    plain = [
        "(1) The crow spoke to the miller — twice. “Well said, friend!” he answered; it's late.",
        "2. One who has greed knows: “This is greed.” One who has hatred … One who has delusion knows it, too.",
        "The verses are the same as those before. The king came home, and nobody greeted his majesty.",
        "[12–14] So with the eye ... The rest is omitted here: see 4:12. The river froze over in winter.",
        "This is identical with those of 3:7. Boys were playing ‘games’ on the ice, as in 5:9 they had.",
    ]
    return [*plain, *(f"{text} {words(chance, 30)}" for text in plain), "", "No word of it…"]


def segment_texts(prose: str) -> Iterator[str]:
    """Texts that an aligner may have given for segments of a translation: 60 of them, taken from it and altered."""
    chance = random.Random(prose)
    known = prose.split() or ["word"]
    formulas = ["Excellent, sir!", "he is lighting a lamp in the dark", "Pointing out the path to one who is lost"]
    for number in range(60):
        start = chance.randrange(len(known))
        taken = known[start : start + chance.randint(1, 12)]
        text = " ".join(taken)
        for change in chance.sample(ALTERED, number % 3):
            text = change(text, chance)
        yield chance.choice([text, text, text, text, chance.choice(formulas), words(chance, chance.randint(1, 8)), ""])


ALTERED: list[Callable[[str, random.Random], str]] = [
    lambda text, _: text.replace("“", '"').replace("”", '"').replace("’", "'"),
    lambda text, _: text.replace("—", "-").replace("…", "..."),
    lambda text, _: text.upper(),
    lambda text, _: text.replace(" ", "\n "),
    lambda text, chance: f"{text} {words(chance, 6)}",
    lambda text, chance: f"{words(chance, 3)} {text}",
    lambda text, chance: " ".join(chance.sample(text.split(), len(text.split()))),
    lambda text, _: f"(7) {text}",
    lambda text, _: text.replace("(1) ", "").replace("2. ", ""),
    lambda text, _: f" {text} ",
    lambda text, _: f"„{text}‟",
    lambda text, chance: text.replace("greed", "hatred").replace("crow", chance.choice(["raven", "wolf"])),
    lambda text, _: text.replace("fi", "ﬁ"),
]
