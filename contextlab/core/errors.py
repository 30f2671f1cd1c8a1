"""Errors of the core, split by whose fault it is.

ContextLabError
├── PolicyError        the policy document is wrong: says which key, and where
├── UnknownNameError        no projector or built-in policy has this name: says which there are
├── RegistryError      two plug-ins claim one name, or one of ours is broken: a fault of the installation
├── CompactError       a compaction failed, memory is as it was
│   ├── StaleHistory, ConcurrentCompression      the state and the history do not belong together (any more)
│   ├── ModelError                               a model did not answer (in language_model.py)
│   ├── EmptySummary                             a compressor gave nothing back
│   └── InvalidProjection                        a result that no provider would accept
└── SessionBusy        a session in a turn refuses a second one
"""

from __future__ import annotations

from collections.abc import Iterable


class Interrupt(Exception):  # noqa: N818 - no error: somebody wants it to stop
    """Raised by who runs a compaction, inside of what the core calls, to stop it: the core passes it on as it is."""


class ContextLabError(Exception):
    """Base of everything that this package raises on purpose."""


class PolicyError(ContextLabError, ValueError):
    """A policy document that cannot be used. `place` is the path of the offending key, such as `projector.kind`."""

    def __init__(self, message: str, place: str = "") -> None:
        """Put the place in front of the message, so that it is told wherever the error is shown."""
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place


class UnknownNameError(ContextLabError, LookupError):
    """A name that nothing is registered under."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        """Name what was looked for and list what there is."""
        super().__init__(f"there is no {what} {name!r} (known: {', '.join(sorted(known))})")


class RegistryError(ContextLabError):
    """The installation is inconsistent: duplicate names, or a module of ours without its plug-in."""


class CompactError(ContextLabError):
    """A compaction failed; memory is as it was. The message is fit for people."""


class StaleHistory(CompactError):  # noqa: N818 - the name that the compaction systems use
    """The item up to which a summary reaches is not in the history that was given."""


class ConcurrentCompression(CompactError):  # noqa: N818 - the name that the compaction systems use
    """Another writer changed the state first; what is stored stays."""


class EmptySummary(CompactError):  # noqa: N818 - the name that the compaction systems use
    """A compressor gave nothing back."""


class InvalidProjection(CompactError):  # noqa: N818 - the name that the compaction systems use
    """A result that no provider would accept; `faults` lists why."""

    def __init__(self, faults: list[str]) -> None:
        """Name the faults."""
        super().__init__("; ".join(faults))
        self.faults = faults


class SessionBusy(ContextLabError):  # noqa: N818 - the name that the compaction systems use
    """A session that is in a turn refuses a second one."""
