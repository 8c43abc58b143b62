# mypy: ignore-errors
"""Run the papers' programs on composed inputs against a stub, and write digests of what they ask and read.

`python theirs.py palibench|alignment|jp-tl-bench|dharmabench CHECKOUT [DATA]` needs a checkout at the commit of the
recipe, the packages that the program imports, and for DharmaBench its folder `data`. Each line that it prints is a row
of digests.tsv. Only addresses, pauses, the order of os.listdir and imports that a run does not need are replaced.
"""

import importlib
import json
import os
import sys
import threading
import time
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import composed

asked: list[dict[str, Any]] = []
replies: list[str] = []
"""Replies to the next requests about segments."""


class Stub(BaseHTTPRequestHandler):
    """Answers requests about batches with some of their passages, others with a letter."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked.append(body)
        if "input" in body:
            self._respond({"output_text": replies.pop(0) if replies else composed.extracts(_segments(body))})
            return
        said = '{"label": "A", "prediction": []}' if "response_format" in body else "<answer>A</answer>"
        if body["messages"][-1]["content"].startswith("{"):
            said = json.dumps(composed.answered(list(json.loads(body["messages"][-1]["content"]))))
        reply = {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        self._respond(reply)

    def _respond(self, reply: dict[str, Any]) -> None:
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def in_order(body: dict[str, Any]) -> dict[str, Any]:
    """A request about a batch with its passages in the order of the file: the program asks for missing ones in the
    order of a set."""
    asked_for = json.loads(body["messages"][-1]["content"])
    ordered = {key: asked_for[key] for key in composed.passages() if key in asked_for}
    content = json.dumps(ordered, ensure_ascii=False, indent=2)
    return {**body, "messages": [*body["messages"][:-1], {**body["messages"][-1], "content": content}]}


def palibench(checkout: Path, url: str) -> Iterator[tuple[str, Any]]:
    sys.path.insert(0, str(checkout / "code/scripts"))
    import tiktoken

    get = tiktoken.get_encoding
    tiktoken.get_encoding = lambda name: get(f"{name}_offline")  # the same vocabulary, without a download
    program = importlib.import_module("benchmark_translate")
    program.OPENROUTER_API_URL = f"{url}/chat/completions"
    with TemporaryDirectory() as folder:
        place = Path(folder) / "code/scripts/benchmark_translate.py"
        place.parent.mkdir(parents=True)
        (Path(folder) / "code/data").mkdir()
        texts = {key: {"pali": text} for key, text in composed.passages().items()}
        (Path(folder) / "code/data/test_set.json").write_text(json.dumps(texts), encoding="utf-8")
        program.__file__ = str(place)
        os.environ["OPENROUTER_API_KEY"] = "none"
        sys.argv = ["x", "--model", "a/b", "--reasoning", "none", "--delay", "0"]
        program.main()
        (result,) = (Path(folder) / "code").rglob("*_reasoning-none.json")
        yield "outputs", json.loads(result.read_text(encoding="utf-8"))["translations"]
    added = sorted({name for body in asked for name in body} - {*composed.of_request(asked[0]), "model"})
    yield "further fields", added
    for body in asked:
        yield "request", composed.of_request(in_order(body))
    for reply in composed.object_replies():
        try:
            found, _ = program.extract_translations({"choices": [{"message": {"content": reply}}]})
            yield "reply", {key: text for key, text in found.items() if len(text.strip()) >= 0}
        except (ValueError, AttributeError):
            yield "reply", None


def _segments(body: dict[str, Any]) -> list[str]:
    """Ids of the segments in a request."""
    text = body["input"][1]["content"][0]["text"]
    return list(json.loads(text[text.index("{") : text.index("}\n\n") + 1]))


def alignment(checkout: Path, url: str) -> Iterator[tuple[str, Any]]:
    """Two runs of align.py over the composed texts, its reading of replies, and the stages of verify_alignment.py."""
    sys.path.insert(0, str(checkout / "code/pipeline"))
    program, verification = importlib.import_module("align"), importlib.import_module("verify_alignment")
    post = program.requests.post
    program.requests.post = lambda _, **about: post(f"{url}/responses", **about)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pipeline").mkdir()
        prompt = (checkout / "prompts/alignment_prompt.txt").read_text(encoding="utf-8")
        (root / "pipeline/sysprompt_v2.txt").write_text(prompt, encoding="utf-8")

        def run(text: str, segments: dict[str, tuple[str, str | None]]) -> Any:
            files = {
                f"pali/mn/{text}.json": json.dumps({key: source for key, (source, _) in segments.items()}),
                f"sujato/mn/{text}.json": json.dumps({key: each for key, (_, each) in segments.items() if each}),
                f"{composed.TRANSLATOR}/mn/{text}.txt": composed.PROSE,
            }
            for name, content in files.items():
                (root / "source" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "source" / name).write_text(content, encoding="utf-8")
            try:
                program.process_sutta("mn", text, composed.TRANSLATOR, root, "none")
            except AttributeError:  # a reply that is JSON and no object, at which the program stops
                return None
            aligned = root / f"source/aligned/mn/{text}.json"
            found = json.loads(aligned.read_text(encoding="utf-8")) if aligned.exists() else {}
            return {key: each[composed.TRANSLATOR] for key, each in found.items()}

        for text, segments in composed.suttas().items():
            run(text, segments)
            yield "alignment", run(text, segments)
        requests = [
            {
                "messages": [{"role": each["role"], "content": each["content"][0]["text"]} for each in body["input"]],
                "max_tokens": body["max_output_tokens"], "response_format": body["text"]["format"],
                "effort": body["reasoning"]["effort"],
            }
            for body in asked
        ]  # fmt: skip
        yield "further fields", sorted({name for body in asked for name in body})
        yield "order", requests
        for body in requests:
            yield "request", body
        for number, reply in enumerate(composed.segment_replies()):
            replies.append(reply)
            found = run(f"mn9-{number}", {f"mn9:1.{at}": (f"s{at}", None) for at in range(1, 5)})
            yield "reply", found and {key: _text(value) for key, value in found.items()}
    for prose in composed.proses():
        forms = (prose, *_forms(verification, prose), verification.source_has_cross_reference(prose))
        for text in composed.segment_texts(prose):
            yield "stage", verification.find_in_source(text, *forms)[0]


def _text(value: Any) -> Any:
    """A value of a reply; the program keeps others than texts, at which its verification stops."""
    return value if value is None or isinstance(value, str) else "neither text nor null"


def _forms(verification: Any, prose: str) -> tuple[str, str, str]:
    normal = verification.normalize_text(prose)
    return normal, verification.strip_punctuation(normal), verification.normalize_text(prose, strip_numbers=True)


def jp_tl_bench(checkout: Path, url: str) -> Iterator[tuple[str, Any]]:
    sys.path.insert(0, str(checkout))
    os.environ |= {"BASESET_SNAPSHOT_DIR": "baseset/v1.0", "OPENAI_API_KEY": "none"}
    translate = importlib.import_module("generate_translation_data")
    pairs = importlib.import_module("generate_shootout_data")
    compare = importlib.import_module("translation_comparer_any_model")
    read = importlib.import_module("choix_analyzer")
    os.chdir(checkout)
    translator = translate.Translator("vendor/model-x", url, "none")
    for item in composed.items():
        translator.translate_item(item)
    for body in asked:
        yield "translation request", composed.of_request(body)
    asked.clear()
    for reply in composed.tagged_replies():
        found = translator.parse(composed.items()[0], reply, "", {})["translation"]
        yield "translation", found
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        (Path("prompts")).mkdir()
        Path("translations").mkdir()
        Path("baseset/v1.0/translations").mkdir(parents=True)
        for system in (composed.MODEL, *composed.ANCHORS):
            below = "translations" if system == composed.MODEL else "baseset/v1.0/translations"
            rows = [
                {"name": each["name"], "source_text": each["text"], "english": each["english"],
                 "difficulty": each["difficulty"], "translation": composed.translation(system, each["name"])}
                for each in composed.items()
            ]  # fmt: skip
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (Path(below) / f"{system.replace('/', '__')}.jsonl").write_text(text, encoding="utf-8")
        listdir = os.listdir
        os.listdir = lambda path: sorted(listdir(path))
        pairs.generate_translation_pairs(
            f"{composed.MODEL.replace('/', '__')}.jsonl", force=True, output_path="pairs.jsonl"
        )
        compare.main.main(
            [
                "--base-url",
                url,
                "--judge-model",
                "judge-x",
                "--test-model",
                composed.MODEL,
                "--rejudge",
                "--pairs-file",
                "pairs.jsonl",
            ],
            standalone_mode=False,
        )
        yield (
            "further fields",
            sorted({name for body in asked for name in body} - {*composed.of_request(asked[0]), "model"}),
        )
        for body in asked:
            yield "comparison request", composed.of_request(body)
        for reply in composed.letter_replies():
            line = {"llm_a": "A", "llm_b": "B", "analysis": reply, "difficulty": "easy", "english": True}
            Path("one.jsonl").write_text(json.dumps(line), encoding="utf-8")
            found = read.load_comparisons_from_file("one.jsonl")
            yield "letter", found[0][2] if found else None


def dharmabench(checkout: Path, url: str, data: Path) -> Iterator[tuple[str, Any]]:
    sys.path.insert(0, str(checkout))
    for name in ("sympy.physics.control", "smtplib"):
        sys.modules.setdefault(name, types.ModuleType(name)).Series = object  # type: ignore[attr-defined]
    from langchain_openai import ChatOpenAI

    utils = importlib.import_module("utils.utils")
    schemas = importlib.import_module("utils.pydantic_schemas").PYDANTIC_SCHEMAS
    llm = ChatOpenAI(model_name="gpt-4o-mini", temperature=0.3, max_retries=3, base_url=url, api_key="none")
    for task in composed.TASKS:
        module = importlib.import_module(f"tasks.{'RCMS_RSMT' if task in ('RCMS', 'RCMT') else task}")
        config = {"prompt_type": "zero_shot", "seed": 64, "task": task, "shots": 0}
        _, test = module.get_data(data_dir=str(data), task=task)
        inputs = module.get_user_inputs(test.head(composed.SAMPLES))
        kind = "detection" if task in ("QUDS", "SMDS", "QUDT", "RCDS") else "classification"
        chain = module.get_prompt(config=config) | llm.with_structured_output(schemas[kind], include_raw=True)
        chain.batch(inputs)
        for body in asked:
            stated = composed.of_request(body)
            stated.pop("response_format", None)
            yield f"request {task}", stated
        yield (
            f"further fields {task}",
            sorted({name for body in asked for name in body} - {"messages", "model", "temperature"}),
        )
        asked.clear()
    from langchain_core.messages import AIMessage

    labels = importlib.import_module("tasks.THCT").LABEL2ID
    for reply in composed.label_replies():
        responses = [{"responses": [_parsed(utils, AIMessage(reply))]}]
        try:
            predictions, _, _ = utils.get_responses_classification_predictions(responses, 1)
        except TypeError:  # a list in place of a class, at which the program stops
            predictions = ["EMPTY"]
        predictions = [each if isinstance(each, str) else "EMPTY" for each in predictions]
        utils.sanitize_predictions(predictions, labels)
        yield "label", predictions[0]
    for reply in composed.span_replies():
        responses = [{"responses": [_parsed(utils, AIMessage(reply))]}]
        (found,), _ = utils.get_responses_extraction_predictions(responses)
        yield "spans", _normalized(utils, found)


def _parsed(utils: Any, message: Any) -> Any:
    """As run_llm_eval.py parses the raw message of a reply."""
    try:
        return utils.parse_response({"raw": message, "parsed": None})
    except Exception:
        return {}


def _normalized(utils: Any, found: Any) -> Any:
    """As process_responses_extraction brings the spans of one sample into form."""
    try:
        return [(tag, utils.normalize_span(span)) for tag, span in found]
    except Exception:
        kept = []
        for pred in found if isinstance(found, list) else []:
            if not isinstance(pred, str) and len(pred) == 2 and all(isinstance(each, str) for each in pred):
                kept.append((pred[0], utils.normalize_span(pred[1])))
        return kept


def main() -> None:
    """Print a row for each digest; requests are sorted, because programs ask concurrently."""
    paper, checkout, *data = sys.argv[1], Path(sys.argv[2]).resolve(), *map(Path, sys.argv[3:])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep = lambda _: None
    url, out = f"http://127.0.0.1:{server.server_port}/v1", sys.stdout
    sys.stdout = sys.stderr
    run = {
        "palibench": palibench, "alignment": alignment, "jp-tl-bench": jp_tl_bench, "dharmabench": dharmabench,
    }[paper]  # fmt: skip
    rows = [(name, content) for name, content in run(checkout, url, *[each.resolve() for each in data])]
    requests = sorted(f"{paper}\t{name}\t{composed.digest(content)}" for name, content in rows if "request" in name)
    others = [f"{paper}\t{name}\t{_shown(name, content)}" for name, content in rows if "request" not in name]
    print(*requests, *others, sep="\n", file=out)


def _shown(name: str, content: Any) -> str:
    return ", ".join(content) if name.startswith("further") else composed.digest(content)


if __name__ == "__main__":
    main()
