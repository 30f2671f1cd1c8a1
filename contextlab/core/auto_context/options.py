"""The settings of automatic context compression, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contextlab.core.budget import Mode
from contextlab.core.documents.options import Options, read_mode, refuse_unknown
from contextlab.core.errors import PolicyError

PROMPT_SLOTS = ("tool_runs", "previous_rounds", "current_large", "current_round")
"""The strategies whose prompt `custom_prompt` may replace."""

NAMES = (
    "msg_threshold",
    "max_token",
    "token_ratio",
    "last_keep",
    "large_payload_threshold",
    "offload_single_preview",
    "min_consecutive_tool_messages",
    "min_compression_token_threshold",
    "current_round_compression_ratio",
    "custom_prompt",
    "gate_s3",
    "max_passes",
    "keep_unread_results",
    "protected_tools",
    "max_output_tokens",
    "timeout_seconds",
)


@dataclass(slots=True, frozen=True)
class AutoContextOptions:
    """When compression starts, and how far each strategy goes. Sizes of texts are in code points."""

    msg_threshold: int = 100
    """Due from this many messages on."""
    max_token: int = 128 * 1024
    token_ratio: float = 0.75
    """Due from this share of max_token on."""
    last_keep: int = 50
    """The newest messages that strategies 1 and 2 leave alone."""
    large_payload_threshold: int = 5 * 1024
    """A text longer than this is large."""
    offload_single_preview: int = 200
    """What is left to see of a text that is put aside."""
    min_consecutive_tool_messages: int = 6
    """A run of tool messages must be longer than this."""
    min_compression_token_threshold: int = 5000
    """A run or a round smaller than this is not worth a model call."""
    current_round_compression_ratio: float = 0.3
    """The size that strategy 6 asks for, as a share of what it replaces."""
    custom_prompt: Mapping[str, str] = field(default_factory=dict)
    """By strategy: a prompt in the place of ours."""
    gate_s3: bool = True
    """Strategy 3, too, waits until there are last_keep messages."""
    max_passes: int = 1
    """Strategies that may work one after the other in a call, as long as compression stays due."""
    keep_unread_results: bool = False
    """Strategy 6 leaves results alone that the model has not answered yet."""
    protected_tools: tuple[str, ...] = ("context_reload",)
    """Tools whose results strategies 2, 3 and 5 leave alone: what was just fetched back must not be put aside again."""
    max_output_tokens: int | None = None
    timeout_seconds: int | None = None
    mode: Mode = "safe"

    @property
    def safe(self) -> bool:
        """Whether our safety rules apply; without them the original is reproduced, its faults included."""
        return self.mode == "safe"

    @property
    def token_threshold(self) -> int:
        """Due from this many tokens on."""
        return int(self.max_token * self.token_ratio)


def read_auto_context(options: Mapping[str, object], mode: str, place: str) -> AutoContextOptions:
    """The options of a policy document; raises PolicyError that names the key which is wrong."""
    given = Options(options, NAMES, place)
    default = AutoContextOptions()
    return AutoContextOptions(
        msg_threshold=given.number("msg_threshold", default.msg_threshold, least=1),
        max_token=given.number("max_token", default.max_token, least=1),
        token_ratio=given.share("token_ratio", default.token_ratio),
        last_keep=given.number("last_keep", default.last_keep),
        large_payload_threshold=given.number("large_payload_threshold", default.large_payload_threshold),
        offload_single_preview=given.number("offload_single_preview", default.offload_single_preview),
        min_consecutive_tool_messages=given.number(
            "min_consecutive_tool_messages", default.min_consecutive_tool_messages
        ),
        min_compression_token_threshold=given.number(
            "min_compression_token_threshold", default.min_compression_token_threshold
        ),
        current_round_compression_ratio=given.share(
            "current_round_compression_ratio", default.current_round_compression_ratio
        ),
        custom_prompt=_prompts(options.get("custom_prompt"), given.place("custom_prompt")),
        gate_s3=given.switch("gate_s3", default.gate_s3),
        max_passes=given.number("max_passes", default.max_passes, least=1),
        keep_unread_results=given.switch("keep_unread_results", default.keep_unread_results),
        protected_tools=_tools(options.get("protected_tools"), given.place("protected_tools")),
        max_output_tokens=given.limit("max_output_tokens"),
        timeout_seconds=given.limit("timeout_seconds"),
        mode=read_mode(mode),
    )


def _prompts(value: object, place: str) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise PolicyError("must be an object with a text for each strategy", place)
    refuse_unknown(value, PROMPT_SLOTS, place)
    for name, text in value.items():
        if text is not None and not isinstance(text, str):
            raise PolicyError(f"must be a text, not {text!r}", f"{place}.{name}")
    return {name: text for name, text in value.items() if text}


def _tools(value: object, place: str) -> tuple[str, ...]:
    if value is None:
        return AutoContextOptions().protected_tools
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise PolicyError("must be a list of tool names", place)
    return tuple(value)
