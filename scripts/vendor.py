"""Fetch the vendored scripts anew from npm into static/vendor/ and write vendor.lock (for maintainers, needs npm).

Their version is in the path, so that a browser never mixes two; tests/guards/test_vendor.py holds the hashes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"


@dataclass(frozen=True)
class Library:
    """`folder` below static/vendor; `files` maps paths in the npm package to names there."""

    package: str
    version: str
    folder: str
    files: dict[str, str]


LIBRARIES = (
    Library("htmx.org", "2.0.11", "htmx", {"dist/htmx.min.js": "htmx.min.js", "LICENSE": "LICENSE"}),
)


def fetch(library: Library) -> list[dict[str, str]]:
    """Put the library's files in place and return their lines of the lock."""
    target = VENDOR / library.folder / library.version
    target.mkdir(parents=True, exist_ok=True)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        spec = f"{library.package}@{library.version}"
        subprocess.run(["npm", "pack", "--silent", spec], cwd=folder, check=True)
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            for inside, name in library.files.items():
                member = archive.extractfile(f"package/{inside}")
                assert member is not None, f"{spec} has no {inside}"
                content = member.read()
                (target / name).write_bytes(content)
                lines.append(
                    {
                        "name": library.package,
                        "version": library.version,
                        "file": f"{library.folder}/{library.version}/{name}",
                        "sha256": hashlib.sha256(content).hexdigest(),
                    }
                )
    return lines


def main() -> None:
    lines = [line for library in LIBRARIES for line in fetch(library)]
    (VENDOR / "vendor.lock").write_text(json.dumps(lines, indent=2) + "\n")
    print(f"{len(lines)} files in {VENDOR}")


if __name__ == "__main__":
    main()
