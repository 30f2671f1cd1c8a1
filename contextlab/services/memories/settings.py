"""What a workspace lets memory work do, and the prompts of its projects."""

from __future__ import annotations

from typing import Any

from contextlab.core.errors import PolicyError
from contextlab.core.memory_keeping.prompts import Prompts, checked_prompt
from contextlab.core.memory_keeping.user_memories import Switches
from contextlab.store.models import MemorySettings, ObservationPrompts, Workspace

SWITCHES = ("allow_model", "add_memory", "update_memory", "delete_memory", "clear_memories")
TEXTS = ("capture_instructions", "additional_instructions")
LONGEST = 20_000
PROMPTS = ("observe", "summarise")


class BadSetting(Exception):
    """A value that cannot be used; `place` names it, the message is for people."""

    def __init__(self, place: str, message: str) -> None:
        """`place` is the key."""
        super().__init__(message)
        self.place = place


def settings_of(workspace: Workspace) -> MemorySettings:
    """The settings; the defaults where nobody has set any."""
    return MemorySettings.objects.filter(workspace=workspace).first() or MemorySettings(workspace=workspace)


def switches_of(workspace: Workspace) -> Switches:
    """Which tools a model has."""
    found = settings_of(workspace)
    return Switches(found.add_memory, found.update_memory, found.delete_memory, found.clear_memories)


def change_settings(workspace: Workspace, values: dict[str, Any]) -> MemorySettings:
    """Set what is named; raises BadSetting."""
    for key, value in values.items():
        if key in SWITCHES:
            if not isinstance(value, bool):
                raise BadSetting(key, f"{key} must be true or false.")
        elif key not in TEXTS:
            raise BadSetting(key[:80], f"There is no such setting; known: {', '.join((*SWITCHES, *TEXTS))}.")
        elif not isinstance(value, str) or len(value) > LONGEST or "\0" in value:
            raise BadSetting(key, f"{key} must be a text of at most {LONGEST:,} characters.")
    found, _ = MemorySettings.objects.update_or_create(workspace=workspace, defaults=values)
    return found


def prompts_for(workspace: Workspace, project: str) -> Prompts:
    """A project's prompts, else the workspace's, else ours."""
    rows = ObservationPrompts.objects.filter(workspace=workspace, project__in={project, ""})
    by_project = {row.project: row for row in rows}
    row = by_project.get(project) or by_project.get("")
    return Prompts(row.observe or None, row.summarise or None) if row else Prompts()


def change_prompts(workspace: Workspace, project: str, values: dict[str, Any]) -> ObservationPrompts:
    """Set a project's prompts; an empty text is ours again. Raises BadSetting."""
    checked: dict[str, str] = {}
    for key, value in values.items():
        if key not in PROMPTS or not isinstance(value, str) or "\0" in value:
            raise BadSetting(key[:80], f"Prompts are texts named {' and '.join(PROMPTS)}.")
        try:
            checked[key] = checked_prompt(value, key) if value.strip() else ""
        except PolicyError as error:
            raise BadSetting(key, f"{error}.") from error
    found, _ = ObservationPrompts.objects.update_or_create(
        workspace=workspace, project=project[:400], defaults=checked
    )
    return found
