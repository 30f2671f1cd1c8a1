"""Presets: policy documents that reproduce what other systems do, to begin from or to look at a session with.

Each names what it reproduces and where its numbers come from. All are in safe mode: what the originals get wrong
(split pairs, lost pins) is not reproduced; write `"mode": "reference"` for that, where the parts know it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from contextlab.core.policy import VERSION


@dataclass(slots=True, frozen=True)
class Preset:
    """A document with what it reproduces, in a line, and where its numbers are from."""

    document: Mapping[str, object]
    words: str
    source: str

    @property
    def name(self) -> str:
        """The document's name."""
        return str(self.document["name"])


def _preset(name: str, words: str, source: str, **parts: object) -> Preset:
    return Preset(
        MappingProxyType({"version": VERSION, "name": name, "mode": "safe", **parts}), words, source
    )


_AUTO_CONTEXT = {
    "kind": "auto_context",
    "msg_threshold": 100,
    "max_token": 131_072,
    "token_ratio": 0.75,
    "last_keep": 50,
    "large_payload_threshold": 5_120,
    "offload_single_preview": 200,
}

_ALL = (
    _preset(
        "ai4j-default",
        "AI4J's default projector: a pinned beginning and the newest entries, within a size in characters",
        "AI4J sets no limits by itself; 40 entries, 60,000 characters and one pinned entry are ours, of the size that "
        "its examples use.",
        projector={
            "kind": "default",
            "max_items": 40,
            "max_approx_chars": 60_000,
            "pinned_prefix_items": 1,
        },
    ),
    _preset(
        "ai4j-type-aware",
        "AI4J's type-aware projector: old tool results and old reasoning shrink first, then the limit works",
        "Both tiers are off in AI4J until they are set; 5 recent results are ours, as in its documentation's example.",
        projector={
            "kind": "type_aware",
            "max_recent_tool_results": 5,
            "trim_old_reasoning": True,
            "max_items": 80,
            "pinned_prefix_items": 1,
        },
    ),
    _preset(
        "ai4j-structured",
        "AI4J's structured policy: over the limit the oldest entries go, and a line says how many",
        "Due over max_items, strictly; 50 is ours.",
        projector={"kind": "default"},
        compaction={"kind": "structured_summary", "max_items": 50, "pinned_prefix_items": 1},
    ),
    _preset(
        "ai4j-coding",
        "AI4J's coding agent: old results become previews near the end of the window, then a model writes a checkpoint",
        "Its own defaults: window 128,000, reserve 16,384, 20,000 recent tokens stay, summaries of 400 tokens, the "
        "newest 3 results stay whole, others over 1,200 tokens shrink.",
        projector={"kind": "default"},
        compaction={
            "kind": "coding_checkpoint",
            "window_tokens": 128_000,
            "reserve_tokens": 16_384,
            "keep_recent_tokens": 20_000,
            "summary_output_tokens": 400,
            "micro": True,
            "micro_keep": 3,
            "micro_max_tokens": 1_200,
        },
    ),
    _preset(
        "agents-flex-window",
        "Agents-Flex' turn window: the newest turns whole, older tool turns folded to question and answer",
        "Its own defaults: 10 turns, 100 messages, the newest 2 turns untouched.",
        projector={
            "kind": "turn_window",
            "max_attached_turns": 10,
            "max_attached_messages": 100,
            "compact_completed_tool_turns": True,
            "compression_keep_recent_turns": 2,
        },
    ),
    _preset(
        "agents-flex-incremental",
        "Agents-Flex' coordinator: turns that leave the window go into a summary that a model lets grow",
        "The newest 2 turns stay, as its window has it; due at 10 pending turns, which is ours.",
        projector={"kind": "turn_window"},
        compaction={"kind": "incremental_window", "keep_recent_turns": 2},
        trigger={"kind": "pending_turns", "min_turns": 10},
    ),
    _preset(
        "agentscope-auto-context",
        "AgentScope's automatic compression: large texts become previews, then a model works through its strategies",
        "Its own defaults: due at 100 messages or three quarters of 131,072 tokens, the newest 50 messages protected, "
        "texts over 5,120 characters become previews of 200.",
        projector=_AUTO_CONTEXT,
        compaction=_AUTO_CONTEXT,
    ),
    _preset(
        "claude-code-micro-compaction",
        "Like Claude Code between compactions: only the newest tool results keep their body",
        "Claude Code's logs show three recent results left after a micro-compaction; it also waits until clearing is "
        "worth it, which a projector does not.",
        projector={"kind": "type_aware", "max_recent_tool_results": 3},
    ),
    _preset(
        "openai-truncation",
        'Like the Responses API with truncation "auto": what does not fit goes, the oldest first',
        "The window of the model is the limit there; 128,000 tokens are GPT-4o's. The API drops from the middle of the "
        "conversation; here the first entry is pinned and the newest stay without gaps.",
        projector={"kind": "default", "max_tokens": 128_000, "pinned_prefix_items": 1},
    ),
    _preset(
        "rule-based",
        "Summaries written by rules from the log alone, without a model, at 60,000 tokens",
        "Ours: 60,000 tokens as the policy token-budget has it; the newest 20 entries stay.",
        projector={"kind": "default"},
        compaction={"kind": "rule_based", "keep_recent": 20},
        trigger={"kind": "tokens", "min_tokens": 60_000},
    ),
    _preset(
        "llm-summary",
        "A model summarises everything but the newest entries, at 60,000 tokens or 200 entries",
        "AI4J's model policy with triggers of ours.",
        projector={"kind": "default"},
        compaction={"kind": "llm_summary", "max_items": 20},
        trigger={
            "kind": "any_of",
            "triggers": [{"kind": "tokens", "min_tokens": 60_000}, {"kind": "items", "max_items": 200}],
        },
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})
"""The presets by name."""
