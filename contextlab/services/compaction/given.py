"""What a compaction here is given: the same for its preview and its run, so that both come to the same.

Ids are made from the memory that is read: a second attempt over the same memory repeats them. Tokens of what is
written are counted where all of the memory is, and estimated where some of it still is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.conf import settings

from contextlab.adapters.json_lines import write_lines
from contextlab.adapters.tokens import counter
from contextlab.core.agent.auto_compaction import PINS_ALONE
from contextlab.core.agent.too_big import pins_too_big
from contextlab.core.committing.figures import figures_of
from contextlab.core.compaction import Deps, IdSource, Progress, Snapshot
from contextlab.core.language_model import LanguageModel
from contextlab.core.policy import Policy
from contextlab.core.projection import TokenCount
from contextlab.core.summarising.summary_budget import WithinBudget
from contextlab.services.compaction.held import Held
from contextlab.store.offloads import DjangoOffloadStore


def deps_for(
    held: Held,
    pins: Iterable[str],
    instructions: str,
    model: LanguageModel | None,
    salt: str = "",
    progress: Progress | None = None,
) -> Deps:
    """What the policy may use, a model never beyond its window; a person asked for it, so the policy's own thresholds
    are not looked at."""
    return Deps(
        model=None if model is None else WithinBudget(model, settings.MODEL_WINDOW, progress),
        progress=progress,
        count=count_of(held),
        new_id=new_id(held, salt),
        offloads=DjangoOffloadStore(held.session.workspace),
        instructions=instructions,
        pins=frozenset(pins),
        force=True,
        write_lines=write_lines,
    )


def pins_note(policy: Policy, held: Held, deps: Deps) -> str:
    """That what is pinned is larger than what the policy compacts at, so that no compaction can help; else empty."""
    found = pins_too_big(held.snapshot, policy.decide(held.snapshot, deps), deps)
    return f"{PINS_ALONE}: {found.words}" if found is not None else ""


def count_of(held: Held) -> TokenCount | None:
    """The counter, for a memory that is counted; None (estimates) for one that is not yet."""
    return counter().count if held.counted else None


def size_of(held: Held, memory: Snapshot | None = None) -> tuple[int, str]:
    """Tokens of what is held, or of a memory that was made from it, its summary included; counted or estimated."""
    figures = figures_of(held.snapshot if memory is None else memory, None, count_of(held))
    return figures.tokens_before, figures.token_source


def new_id(held: Held, salt: str = "") -> IdSource:
    """Ids for one run (its `salt`) over one memory."""
    count = 0

    def make(what: str) -> str:
        nonlocal count
        count += 1
        said = f"{held.view.uid.hex} {held.at_step} {held.snapshot.version} {salt} {count}"
        return f"{what}-{hashlib.sha256(said.encode()).hexdigest()[:20]}"

    return make
