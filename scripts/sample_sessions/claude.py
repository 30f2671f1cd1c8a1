"""The Claude Code sample: one session, its subagent, and the summariser's own request."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime

from scripts.sample_sessions import (
    claude_after,
    claude_end,
    claude_middle,
    claude_more,
    claude_review,
    claude_start,
)
from scripts.sample_sessions.agent import Agent
from scripts.sample_sessions.project import ROOT, Project
from scripts.sample_sessions.texts import text
from scripts.sample_sessions.writer import Clock, Context, Transcript

SESSION = "5d1c9a74-2f0e-4b3a-9d57-8e6a1b7c4f20"
CHILD = "a3f91c7"
SUMMARISER = "acompact-7c41d0"
FOLDER = "claude-code/-home-dev-acme-api"
HIDDEN, SYSTEM = 20_140, 15_820
"""Tokens that the log never shows: system prompt, tools and instruction files; of them the shared prefix."""


def transcript(seed: int, start: datetime, hidden: int, system: int, agent: str | None = None) -> Transcript:
    """An empty file of the session."""
    rng = random.Random(seed)
    context = Context(hidden, system, rng, cached=system)
    return Transcript(SESSION, ROOT, Clock(start, rng), rng, context, agent=agent)


def main_session() -> tuple[Agent, str, int]:
    """The whole story; returns the agent, the id of the call that started the subagent, the size at the compaction."""
    agent = Agent(transcript(11, datetime(2026, 11, 17, 8, 31, 5, tzinfo=UTC), HIDDEN, SYSTEM), Project())
    claude_start.first_turn(agent)
    call = claude_start.second_turn(agent)
    claude_middle.third_turn(agent)
    claude_more.tests_turn(agent)
    claude_middle.fourth_turn(agent)
    before = agent.compact(text("summary"), hidden_rise=8_160)
    claude_after.rest_of_fourth_turn(agent)
    claude_after.fifth_turn(agent)
    claude_end.sixth_turn(agent)
    claude_end.seventh_turn(agent)
    claude_more.runbook_turn(agent)
    claude_end.last_turn(agent)
    claude_review.review_turn(agent)
    agent.finish()
    return agent, call, before


def subagent(at: datetime) -> Agent:
    """The search for callers."""
    log = transcript(12, at, 12_310, 9_400, CHILD)
    agent = Agent(log, Project())
    project = agent.project
    log.user(
        "Find every caller of SessionStore.get, touch, close and delete_expired in this repository, and what is known "
        "about callers in other repositories. For each: the file, what it relies on, and whether it can run while a "
        "sweep runs. Do not change anything."
    )
    agent.step("", "I search for the four names.", project.grep(r"\.(get|touch|close|delete_expired)\("))
    agent.step(
        "", "", project.read("src/acme_api/middleware.py"), project.read("src/acme_api/sessions/cleanup.py")
    )
    agent.step("", "", project.grep("SessionStore", around=2))
    agent.step("", "", project.read("src/acme_api/sessions/store.py"), project.read("docs/runbook.md"))
    agent.step("", "", project.grep("acme-admin|acme-batch", around=3))
    agent.step("", text("callers"))
    return agent


def summariser(at: datetime, before: int) -> Agent:
    """The request that made the summary, as the client logs it apart."""
    log = transcript(13, at, before, SYSTEM, SUMMARISER)
    agent = Agent(log, Project())
    log.user(
        "Summarise the conversation so far, so that the work can go on from the summary alone: what the user asked "
        "for, technical facts, files, errors, all messages of the user, "
        "what is pending, the current work, the next step."
    )
    agent.step("", text("summary").split("\n\n", 1)[1])
    return agent


def claude_files() -> dict[str, str]:
    """The files of the session by their paths."""
    agent, call, before = main_session()
    meta = {
        "agentType": "Explore",
        "description": "Find the callers of SessionStore",
        "toolUseId": call,
        "spawnDepth": 1,
    }
    below = f"{FOLDER}/{SESSION}/subagents"
    return {
        f"{FOLDER}/{SESSION}.jsonl": _text(agent),
        f"{below}/agent-{CHILD}.jsonl": _text(subagent(agent.times["task"])),
        f"{below}/agent-{CHILD}.meta.json": json.dumps(meta) + "\n",
        f"{below}/agent-{SUMMARISER}.jsonl": _text(summariser(agent.times["compact"], before)),
    }


def _text(agent: Agent) -> str:
    return "\n".join(agent.log.lines) + "\n"
