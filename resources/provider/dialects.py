"""Differences between OpenAI-compatible endpoints, as data.

Here: names and shapes of fields. Not here: the dialect of each endpoint (resources.provider.registry), sending
(resources.provider.client).

The data are from late 2026. Models support different reasoning efforts: if a model lacks an effort, its endpoint
rejects the request, or, on a local server, the chat template ignores the effort.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """Request fields of one kind of endpoint.

    Parameters
    ----------
    efforts
        Body fields for each reasoning effort that the endpoint supports, by the effort's name in the registry.
    most_tokens
        Name of the field that limits the tokens of a reply.
    pin
        Function from upstream providers, best first, to the body fields that exclude all other providers; None if the
        endpoint has no upstream providers.
    """

    efforts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    most_tokens: str = "max_tokens"
    pin: Callable[[Sequence[str]], Mapping[str, Any]] | None = None


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def _only(providers: Sequence[str]) -> Mapping[str, Any]:
    # https://openrouter.ai/docs/features/provider-routing: without `require_parameters` a provider ignores parameters
    # that it does not support, even temperature and effort.
    return {"provider": {"order": list(providers), "allow_fallbacks": False, "require_parameters": True}}


def _templated(effort: str) -> Mapping[str, Any]:
    # Templates switch thinking by `enable_thinking` (Qwen, Gemma) or `thinking` (DeepSeek, Granite, Holo) and ignore
    # the other switch. Templates with effort levels (gpt-oss) read `reasoning_effort`: at the top level, in older
    # builds of llama.cpp only inside `chat_template_kwargs`.
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
    # `max_tokens`, because many providers do not list `max_completion_tokens` and `require_parameters` would exclude
    # them (https://github.com/openstory-so/openstory/pull/1318). Usage and cost are always included: `usage: {include:
    # true}` no longer has an effect (https://openrouter.ai/docs/use-cases/usage-accounting).
    "openrouter": Dialect(
        efforts={effort: {"reasoning": {"effort": effort}} for effort in EFFORTS},
        pin=_only,
    ),
    # https://docs.vllm.ai/en/stable/features/reasoning_outputs/ and ChatCompletionRequest in
    # vllm/entrypoints/openai/chat_completion/protocol.py. Mistral's tokenizers reject `chat_template_kwargs`: use
    # "openai" for their servers.
    "vllm": Dialect(
        efforts={effort: _templated(effort) for effort in EFFORTS},
        most_tokens="max_completion_tokens",
    ),
    # https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md. The server passes any effort to the
    # template unchecked, so only efforts that all templates with effort levels share are listed.
    "llama.cpp": Dialect(efforts={effort: _templated(effort) for effort in ("none", "low", "medium", "high")}),
    # https://docs.litellm.ai/docs/completion/input: LiteLLM's proxy translates OpenAI's fields for the provider behind
    # it, `max_tokens` too, and refuses those that the provider's model lacks, unless its `drop_params` is set.
    "litellm": Dialect(efforts={effort: {"reasoning_effort": effort} for effort in EFFORTS}),
    # The fields that all endpoints share.
    "plain": Dialect(),
}
