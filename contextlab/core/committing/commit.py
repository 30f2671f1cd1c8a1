"""Committing a compaction: what must hold before memory is swapped, and the swap as a compare-and-set.

| check      | rule                                                                                                    |
|------------|---------------------------------------------------------------------------------------------------------|
| text       | items that went have a text that stands for them                                                        |
| all there  | each item is in memory after it, or among the covered ones; nothing is there twice                      |
| pins       | system items and a person's pins stand as they stood                                                    |
| prompt     | an unanswered prompt stays (`with_open_prompt` puts it back where a limit of 0 took it)                 |
| pairs      | no call lost its result, no result its call                                                             |
| gain       | memory is smaller than before (asked for by `require_gain`)                                             |
| prefix     | what the run read, up to the last item it replaced, is unchanged; what came behind it follows           |

Reference mode checks the text and the prefix alone: the original checks nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import compress

from contextlab.core.budget import Mode
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.items import Item
from contextlab.core.measuring.memory_size import snapshot_pairs, snapshot_tokens
from contextlab.core.projection import KEPT, NONE, TokenCount
from contextlab.core.summarising.cut import open_prompt
from contextlab.core.summarising.outcomes import snapshot_staying

Sizes = tuple[int, int]
"""Tokens before and after."""


def faults_of_outcome(before: Snapshot, outcome: Outcome, deps: Deps, mode: Mode = "safe") -> list[str]:
    """Why an outcome must not be committed; [] where it may."""
    after = outcome.memory
    if after is None:
        return ["there is no memory to go on with"]
    faults = _text_faults(before, after, outcome)
    if mode == "reference":
        return faults
    kept = {item.id: item for item in after.items}
    faults += _count_faults(before, after, outcome)
    faults += _pin_faults(before, kept, deps)
    faults += _prompt_faults(before, kept)
    return faults + _pair_faults(before, kept)


def with_open_prompt(before: Snapshot, outcome: Outcome) -> Outcome:
    """The outcome with the unanswered prompt in memory: a policy that may keep nothing takes it too.

    The figures of its report are told anew afterwards (figures.py); what else the report says stays.
    """
    after, prompt = outcome.memory, open_prompt(before.items)
    if after is None or prompt is None or prompt not in outcome.covered:
        return outcome
    kept = {item.id: item for item in after.items}
    old = {item.id for item in before.items}
    written = [item for item in after.items if item.id not in old]
    items = [kept.get(item.id, item) for item in before.items if item.id in kept or item.id == prompt]
    memory = replace(after, items=(*written, *items))
    covered = tuple(item for item in outcome.covered if item != prompt)
    fates = {**outcome.fates, prompt: KEPT}
    return replace(outcome, memory=memory, covered=covered, fates=fates)


def sizes_of(before: Snapshot, outcome: Outcome, count: TokenCount | None = None) -> Sizes:
    """Tokens before and after, by which the gain is judged.

    Strategies that tell the sizes of what they replaced (without tags) are judged by them, others by all of memory.
    """
    told = [(event.tokens_before, event.tokens_after) for event in outcome.events]
    known = [(one, other) for one, other in told if one is not None and other is not None]
    if known and len(known) == len(told):
        return sum(one for one, _ in known), sum(other for _, other in known)
    after = outcome.memory or before
    return snapshot_tokens(before, count), snapshot_tokens(after, count)


def merged(now: Snapshot, then: Snapshot, outcome: Outcome) -> Snapshot | None:
    """The memory to commit: the outcome's, and behind it what came meanwhile; None where the prefix was changed."""
    after = outcome.memory
    if after is None:
        return None
    end = _replaced_end(then, after)
    if now.items[:end] != then.items[:end] or now.summary != then.summary:
        return None
    behind = {item.id for item in then.items[end:]}
    prefix = [item for item in after.items if item.id not in behind]
    return Snapshot((*prefix, *now.items[end:]), after.summary, outcome.result, now.version)


def _replaced_end(then: Snapshot, after: Snapshot) -> int:
    """Index behind the last item that does not stand in memory as it stood."""
    kept = {item.id: item for item in after.items}
    gone = (i for i in range(len(then.items) - 1, -1, -1) if kept.get(then.items[i].id) != then.items[i])
    return next(gone, NONE) + 1


def _text_faults(before: Snapshot, after: Snapshot, outcome: Outcome) -> list[str]:
    if not outcome.covered or (after.summary or "").strip():
        return []
    old = set(before.names)
    written = [item.text for item in after.items if item.id not in old]
    return [] if any(text.strip() for text in written) else ["no text stands for the items that went"]


def _count_faults(before: Snapshot, after: Snapshot, outcome: Outcome) -> list[str]:
    names, new = before.names, Counter(after.names)
    accounted = {*new, *outcome.covered}
    missing = [] if accounted.issuperset(names) else [name for name in names if name not in accounted]
    lost = [f"item {name} is neither kept nor covered" for name in missing]
    if len(new) == len(after.items):
        return lost
    old = Counter(names)
    twice = [f"item {name} stands twice" for name, number in new.items() if number > max(1, old[name])]
    return twice + lost


def _pin_faults(before: Snapshot, kept: Mapping[str, Item], deps: Deps) -> list[str]:
    pinned = compress(before.items, snapshot_staying(before, deps))
    return [f"pinned item {item.id} would not stay as it is" for item in pinned if kept.get(item.id) != item]


def _prompt_faults(before: Snapshot, kept: Mapping[str, Item]) -> list[str]:
    prompt = open_prompt(before.items)
    return [f"the unanswered prompt {prompt} would go"] if prompt and prompt not in kept else []


def _pair_faults(before: Snapshot, kept: Mapping[str, Item]) -> list[str]:
    items = before.items
    there = [name in kept for name in before.names]
    return [
        f"call {items[call].id} and result {items[result].id} would be separated"
        for call, result in enumerate(snapshot_pairs(before))
        if result > call and there[call] != there[result]
    ]
