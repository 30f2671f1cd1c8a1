"""Memories that outlive a session: asked for, made in runs, kept in order.

request_observing(session, ...)    the run that notes what a session brought to light
estimate(session)                  what asking a model would take, before anybody is asked
inject(workspace, ...)             a block for a new session
users                              user memories: edit, merge, undo, let a model keep them
"""

from contextlab.services.memories import users
from contextlab.services.memories.asking import BadRequest, Estimate, estimate, request_observing
from contextlab.services.memories.injecting import inject
from contextlab.services.memories.settings import change_prompts, change_settings, prompts_for, settings_of

__all__ = [
    "BadRequest",
    "Estimate",
    "change_prompts",
    "change_settings",
    "estimate",
    "inject",
    "prompts_for",
    "request_observing",
    "settings_of",
    "users",
]
