"""Policies as the command line names them: built-in ones and presets by name, documents by file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from contextlab.core.documents.presets import PRESETS
from contextlab.core.errors import ContextLabError
from contextlab.core.policy import BUILTINS, Policy, builtin, parse_policy

RECORDED = "recorded"


class PolicyChoiceError(Exception):
    """A policy that does not exist or cannot be used; the message names the file and the key."""


def chosen_policy(name: str) -> Policy | None:
    """The policy of a name or file; None for `recorded`. Raises PolicyChoiceError."""
    if name == RECORDED:
        return None
    try:
        if name in BUILTINS or name in PRESETS:
            return builtin(name)
        if not name.endswith((".json", ".toml")):
            raise PolicyChoiceError(
                f"there is no policy {name!r} (known: {', '.join((RECORDED, *sorted((*BUILTINS, *PRESETS))))}, "
                "or a file that ends in .json or .toml)"
            )
        return parse_policy(_document(Path(name)))
    except ContextLabError as error:
        raise PolicyChoiceError(f"policy {name}: {error}") from error


def _document(path: Path) -> Any:
    try:
        words = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise PolicyChoiceError(f"policy {path}: {reason}") from error
    try:
        return tomllib.loads(words) if path.suffix == ".toml" else json.loads(words)
    except (ValueError, RecursionError) as error:
        raise PolicyChoiceError(f"policy {path}: is no {path.suffix[1:].upper()} ({error})") from error
