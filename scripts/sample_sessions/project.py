"""The working copy that the sample agents read, search and edit: files in memory, answers as the tools give them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.sample_sessions import bulk

ROOT = "/home/dev/acme-api"
_HERE = Path(__file__).parent / "acme_api"


@dataclass(slots=True)
class Call:
    """A tool call and what came back."""

    name: str
    arguments: dict[str, Any]
    result: str
    error: bool = False
    extra: Any = None


def _initial_files() -> dict[str, str]:
    files = {
        str(path.relative_to(_HERE)).removesuffix(".txt"): path.read_text()
        for path in sorted(_HERE.rglob("*.txt"))
    }
    files |= {f"src/acme_api/routes/{name}.py": bulk.route_file(name) for name in bulk.ROUTES}
    files["openapi.json"] = bulk.openapi(5)
    return files


@dataclass(slots=True)
class Project:
    """The files of acme-api."""

    files: dict[str, str] = field(default_factory=_initial_files)

    def read(self, path: str, offset: int = 1, limit: int | None = None) -> Call:
        """The Read tool: numbered lines."""
        lines = self.files[path].splitlines()
        chosen = lines[offset - 1 : None if limit is None else offset - 1 + limit]
        arguments: dict[str, Any] = {"file_path": f"{ROOT}/{path}"}
        if limit is not None:
            arguments |= {"offset": offset, "limit": limit}
        text = "\n".join(f"{number:6d}→{line}" for number, line in enumerate(chosen, offset))
        file = {
            "filePath": f"{ROOT}/{path}",
            "numLines": len(chosen),
            "startLine": offset,
            "totalLines": len(lines),
        }
        return Call("Read", arguments, text, extra={"type": "text", "file": file})

    def edit(self, path: str, old: str, new: str) -> Call:
        """The Edit tool; the old text must stand in the file exactly once."""
        content = self.files[path]
        if content.count(old) != 1:
            raise ValueError(f"{path}: {content.count(old)} places for {old!r}")
        self.files[path] = content.replace(old, new)
        first = self.files[path][: self.files[path].index(new)].count("\n")
        lines = self.files[path].splitlines()
        shown = range(max(0, first - 4), min(len(lines), first + new.count("\n") + 5))
        snippet = "\n".join(f"{number + 1:6d}→{lines[number]}" for number in shown)
        text = f"The file {ROOT}/{path} has been updated. Here's the result of running `cat -n` on a snippet of it:\n"
        arguments = {
            "file_path": f"{ROOT}/{path}",
            "old_string": old,
            "new_string": new,
            "replace_all": False,
        }
        extra = {"filePath": f"{ROOT}/{path}", "userModified": False, "replaceAll": False}
        return Call("Edit", arguments, text + snippet, extra=extra)

    def write(self, path: str, content: str) -> Call:
        """The Write tool."""
        known = path in self.files
        self.files[path] = content
        text = (
            f"The file {ROOT}/{path} has been updated."
            if known
            else f"File created successfully at: {ROOT}/{path}"
        )
        extra = {"type": "update" if known else "create", "filePath": f"{ROOT}/{path}"}
        return Call("Write", {"file_path": f"{ROOT}/{path}", "content": content}, text, extra=extra)

    def grep(self, pattern: str, path: str = "", around: int = 0) -> Call:
        """The Grep tool, with lines of context."""
        found: list[str] = []
        for name, content in self.files.items():
            if not name.startswith(path) or name.endswith(".json"):
                continue
            lines = content.splitlines()
            hits = [number for number, line in enumerate(lines) if re.search(pattern, line)]
            near = {n for hit in hits for n in range(hit - around, hit + around + 1) if 0 <= n < len(lines)}
            found += [
                f"{ROOT}/{name}{':' if n in hits else '-'}{n + 1}{':' if n in hits else '-'}{lines[n]}"
                for n in sorted(near)
            ]
        arguments: dict[str, Any] = {
            "pattern": pattern,
            "path": f"{ROOT}/{path}".rstrip("/"),
            "output_mode": "content",
        }
        if around:
            arguments["-C"] = around
        text = "\n".join(found) or "No matches found"
        return Call("Grep", arguments, text, extra={"mode": "content", "numFiles": 0, "numLines": len(found)})

    def glob(self, start: str, pattern: str) -> Call:
        """The Glob tool, for one folder."""
        names = [f"{ROOT}/{name}" for name in sorted(self.files) if name.startswith(start)]
        extra = {"durationMs": 7, "numFiles": len(names), "truncated": False}
        return Call("Glob", {"pattern": pattern}, "\n".join(names) or "No files found", extra=extra)


def bash(command: str, why: str, output: str, error: bool = False) -> Call:
    """The Bash tool with a given output."""
    shown = output if len(output) <= 30_000 else output[:30_000] + "\n... [output truncated]"
    extra = {"stderr": "", "interrupted": False, "isImage": False}
    text = f"Exit code 1\n{shown}" if error else shown
    return Call("Bash", {"command": command, "description": why}, text, error, extra)


def todo(*entries: tuple[str, str]) -> Call:
    """The TodoWrite tool: (state, text) pairs."""
    todos = [{"content": text, "status": state, "activeForm": text} for state, text in entries]
    text = "Todos have been modified successfully. Continue to use the todo list to track your progress."
    return Call("TodoWrite", {"todos": todos}, text, extra={"newTodos": todos})
