"""What is known about models by their names: tokenizer, calibration, hidden reasoning, window.

Names come as logs write them: `claude-opus-4-5-20251101`, `anthropic/claude-opus-4.5`, `us.anthropic.claude-...-v1:0`,
`openai/gpt-5-mini`, `claude-opus-4-6[1m]`. What is not known is said to be unknown (None) or assumed, never guessed
silently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

O200K = "o200k_base"
CL100K = "cl100k_base"

_CLAUDE = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:[.-](?P<minor>\d{1,2}))?(?![\d.])")
# The old order: claude-3-5-sonnet-20241022, claude-3-opus.
_CLAUDE_OLD = re.compile(r"claude-(?P<major>[1-4])(?:[.-](?P<minor>\d))?-(?P<family>[a-z]+)")
_O200K_NAMES = re.compile(r"(?:gpt-5|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-oss|chatgpt-4o|o[134]|codex-mini)(?![0-9])")
_CL100K_NAMES = re.compile(r"gpt-4(?![\do.])|gpt-3\.5|gpt-35|text-embedding-(?:3|ada-002)")
_GPT5 = re.compile(r"gpt-5(?!\d)")


@dataclass(frozen=True, slots=True)
class Claude:
    """A Claude model's family (opus, sonnet ...) and generation, (4, 5) for 4.5."""

    family: str
    generation: tuple[int, int]


@lru_cache(maxsize=256)
def plain_name(model: str | None) -> str:
    """The model's own name in lower case, without the provider's path in front of it."""
    name = (model or "").strip().lower().rsplit("/", 1)[-1]
    at = name.find("claude-")
    return name[at:] if at > 0 else name


@lru_cache(maxsize=256)
def claude(model: str | None) -> Claude | None:
    """Family and generation of a Claude model; None for any other."""
    name = plain_name(model)
    found = _CLAUDE_OLD.match(name) or _CLAUDE.match(name)
    if found is None:
        return None
    return Claude(found["family"], (int(found["major"]), int(found["minor"] or 0)))


def encoding_for(model: str | None) -> tuple[str, bool]:
    """The tokenizer to count with, and whether it is the own one: (o200k_base, False) for Claude and the unknown."""
    name = plain_name(model)
    if _O200K_NAMES.match(name):
        return O200K, True
    if _CL100K_NAMES.match(name):
        return CL100K, True
    return O200K, False


@dataclass(frozen=True, slots=True)
class Calibration:
    """From a count to a model's own tokens: `ratio` x count + `per_block` for each content block.

    `band` is the honest uncertainty as a share of the result: 0.15 reads "plus or minus 15 %". 95 of 100 lie inside.
    """

    ratio: float
    per_block: float
    band: float

    def apply(self, counted: int, blocks: int) -> int:
        """The calibrated size of `counted` tokens that stand in `blocks` content blocks."""
        return round(self.ratio * counted + self.per_block * blocks)


# Huber fits over recorded sessions (at least 100 steps each). A band holds 95 % of the steps: what a context is off by,
# as a share of what entered and left since its size was known (bench/reconcile.py).
# sonnet-4 is left out: its fit explained nothing (R2 0.18, images and unlogged context).
_FITTED = {
    Claude("opus", (4, 5)): Calibration(1.123, 45, 0.06),
    Claude("opus", (4, 6)): Calibration(1.097, 46, 0.06),
    Claude("sonnet", (4, 5)): Calibration(1.14, 49, 0.12),
    Claude("haiku", (4, 5)): Calibration(1.134, 49, 0.06),
}
_DEFAULT = Calibration(1.12, 75, 0.15)
# From Opus 4.7 and the fifth generation on, a new tokenizer makes about 30 % more of the same text.
_NEW_TOKENIZER = Calibration(1.12 * 1.3, 75 * 1.3, 0.15)
# Text, arguments, results and reasoning count one to one; 7.8 a message, 10.7 a call, 10.7 a result come on top.
_GPT5_EXACT = Calibration(1.0, 9, 0.01)


def calibration_for(model: str | None) -> Calibration:
    """The calibration of the model, else the default of its generation with a band of 15 %."""
    if _GPT5.match(plain_name(model)):
        return _GPT5_EXACT
    known = claude(model)
    if known is None:
        return _DEFAULT
    return _FITTED.get(known) or (_NEW_TOKENIZER if _has_new_tokenizer(known) else _DEFAULT)


def _has_new_tokenizer(model: Claude) -> bool:
    return model.generation >= (5, 0) or (model.family == "opus" and model.generation >= (4, 7))


@lru_cache(maxsize=256)
def keeps_reasoning(model: str | None) -> tuple[bool, bool]:
    """Whether reasoning of earlier turns stays in the context, and whether that is only assumed.

    Known: Opus from 4.5 on keeps it; Sonnet 4.5 and the gpt-5 family do not. Assumed for the rest:
    what is older than the 4.5 generation drops it, everything else keeps it.
    """
    if _GPT5.match(plain_name(model)):
        return False, False
    known = claude(model)
    if known is None:
        return True, True
    if known.family == "opus" and known.generation >= (4, 5):
        return True, False
    if known == Claude("sonnet", (4, 5)):
        return False, False
    return known.generation >= (4, 5), True


def reasoning_size(model: str | None, signature_chars: int, text_count: int) -> int:
    """Calibrated tokens of one Claude reasoning block; never a count, for the logged text may be a summary.

    The signature carries the reasoning, encrypted: its length tells the size. Without one, the text's count
    is scaled. (Codex reports reasoning_output_tokens: use those instead.)
    """
    if signature_chars > 100:
        return max(0, round(0.82 * signature_chars / 4 - 60))
    ratio = 3.4 if claude(model) == Claude("opus", (4, 6)) else 1.35
    return round(ratio * text_count)


_WINDOWS = {
    # OpenAI
    "gpt-3.5-turbo": 16_385, "gpt-4": 8_192, "gpt-4-32k": 32_000, "gpt-4-turbo": 128_000, "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000, "gpt-4-vision": 128_000, "gpt-4o": 128_000, "chatgpt-4o": 128_000, "gpt-4.1": 1_000_000,
    "gpt-5": 400_000, "gpt-5.3": 128_000, "gpt-5.3-codex": 400_000, "gpt-5.4": 1_050_000, "gpt-5.4-mini": 400_000,
    "gpt-5.4-nano": 400_000, "gpt-5.5": 1_000_000, "gpt-5.6": 1_050_000, "gpt-6": 1_050_000, "gpt-oss": 131_072,
    "o1": 200_000, "o1-mini": 128_000, "o1-preview": 128_000, "o3": 200_000, "o4-mini": 200_000, "codex-mini": 200_000,
    # Google, DeepSeek, others
    "gemini-1.5-pro": 2_000_000, "gemini-1.5": 1_000_000, "gemini-2.0": 1_000_000, "gemini-2.5": 1_048_576,
    "gemini-3": 1_000_000, "gemini-4": 1_048_576, "deepseek-chat": 64_000, "deepseek-reasoner": 64_000,
    "deepseek-v3": 128_000, "deepseek-v4": 1_000_000, "kimi-k2": 262_144, "kimi-k3": 1_048_576, "grok-4": 256_000,
    "grok-3": 131_072, "grok-code-fast": 256_000, "glm-5": 1_000_000, "mistral-large": 262_144, "devstral": 262_144,
}  # fmt: skip


def window_for(model: str | None) -> int | None:
    """The model's context window in tokens by this table; None when unknown. What a log states wins over it.

    Claude 4.5 and 4.6 have 200,000 unless the name ends in [1m]; an accepted larger prompt disproves that.
    """
    name = plain_name(model)
    if name.endswith("[1m]"):
        return 1_000_000
    known = claude(name)
    if known is not None:
        return 1_000_000 if known.generation >= (5, 0) or known.generation >= (4, 7) else 200_000
    fitting = [start for start in _WINDOWS if name.startswith(start)]
    return _WINDOWS[max(fitting, key=len)] if fitting else None
