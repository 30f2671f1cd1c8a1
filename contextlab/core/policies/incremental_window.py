"""Memory as a window of turns over a summary that grows: the coordinator's rule for an agent's own memory.

| rule      |                                                                                                         |
|-----------|---------------------------------------------------------------------------------------------------------|
| protected | the last `keep_recent_turns` turns, at least the current one; system items and pins, with their pairs     |
| waiting   | a turn with a call that has no result yet stays whole, wherever it stands                                |
| covered   | everything else; completed tool turns are folded first (`compact_completed_tool_turns`)                 |
| how       | `compressor` gets the summary so far and what is covered now, never what was covered before              |
| due       | by itself: more than `max_pending_turns` turns stand in memory outside the summary                      |
| nothing   | no turn to cover: no call, no result                                                                     |

What is covered leaves memory, so the snapshot itself is the state: it holds no covered item, and its summary is what
the next compaction goes on from. A compressor that fails, or whose answer no provider would take, is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from contextlab.core.asking import added
from contextlab.core.budget import Mode
from contextlab.core.compaction import Compressor, CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.compressing import Metered, copies, needs_model, read_compressor, require_valid
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.memory_size import count_turns
from contextlab.core.options import Options, read_mode
from contextlab.core.outcomes import NOTHING, nothing_done, pinned_ids, replaced_by_summary
from contextlab.core.turns import Turn, split_turns
