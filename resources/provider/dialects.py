"""How OpenAI-compatible endpoints differ, as data. Here: names and shapes of fields. Not here: who speaks which dialect
(resources.provider.registry), sending (resources.provider.client).

Looked up in late 2026. Which of an endpoint's efforts a model takes is the model's matter: one that takes none of it
refuses the request, or on a server of one's own has a chat template that does not read it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """What one kind of endpoint calls the things that we ask for.

    Parameters
    ----------
    efforts
        Reasoning effort in our words to the body fields that ask for it. An effort for which the endpoint has no
        setting is absent.
    most_tokens
        Name of the field that limits the reply.
    pin
        Upstream providers, best first, to the body fields that allow no others; None where there is nothing to pin.
    """

    efforts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    most_tokens: str = "max_tokens"
    pin: Callable[[Sequence[str]], Mapping[str, Any]] | None = None


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def _only(providers: Sequence[str]) -> Mapping[str, Any]:
    # https://openrouter.ai/docs/features/provider-routing: without `require_parameters` a provider ignores what it
    # does not know, temperature or effort included.
    return {"provider": {"order": list(providers), "allow_fallbacks": False, "require_parameters": True}}


def _templated(effort: str) -> Mapping[str, Any]:
    # Templates switch thinking by `enable_thinking` (Qwen, Gemma) or `thinking` (DeepSeek, Granite, Holo) and ignore
    # the other; templates with grades (gpt-oss) read `reasoning_effort`. The server reads it at the top, older
    # builds of llama.cpp only inside.
    thinks = effort != "none"
    grade = {"reasoning_effort": effort}
    switches = {"enable_thinking": thinks, "thinking": thinks}
    return grade | {"chat_template_kwargs": switches | (grade if thinks else {})}


DIALECTS: dict[str, Dialect] = {
    # https://platform.openai.com/docs/api-reference/chat/create; models that reason refuse `max_tokens`.
    "openai": Dialect(
        efforts={effort: {"reasoning_effort": effort} for effort in EFFORTS},
        most_tokens="max_completion_tokens",
    ),
    # https://openrouter.ai/docs/guides/best-practices/reasoning-tokens, and for "max"
    # https://openrouter.ai/docs/client-sdks/python/components/chatrequesteffort. A model that always reasons refuses
    # "none" (…/components/modelreasoning).
    # `max_tokens`, for many providers do not list `max_completion_tokens` and `require_parameters` would leave them
    # out (https://github.com/openstory-so/openstory/pull/1318). Usage and cost come unasked: `usage: {include: true}`
    # has no effect any more (https://openrouter.ai/docs/use-cases/usage-accounting).
    "openrouter": Dialect(
        efforts={effort: {"reasoning": {"effort": effort}} for effort in EFFORTS},
        pin=_only,
    ),
    # https://docs.vllm.ai/en/stable/features/reasoning_outputs/ and ChatCompletionRequest in
    # vllm/entrypoints/openai/chat_completion/protocol.py. Mistral's tokenizers refuse `chat_template_kwargs`: their
    # servers are spoken to as "openai".
    "vllm": Dialect(
        efforts={effort: _templated(effort) for effort in EFFORTS},
        most_tokens="max_completion_tokens",
    ),
    # https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md. The server hands any word on to the
    # template unchecked, so only those stand here that templates with grades have in common.
    "llama.cpp": Dialect(efforts={effort: _templated(effort) for effort in ("none", "low", "medium", "high")}),
    # The fields that all have in common.
    "plain": Dialect(),
}
