"""Make the sample sessions anew: python -m scripts.make_samples [--check]

They are written by hand (scripts/sample_sessions) and played into logs of the real shape; nothing in them comes
from a real person's session. The same sources give the same bytes: `--check` compares, and writes nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.sample_sessions.chat import chat_files
from scripts.sample_sessions.claude import claude_files
from scripts.sample_sessions.codex import codex_files

FOLDER = Path(__file__).resolve().parent.parent / "contextlab" / "samples"


def sample_files() -> dict[str, str]:
    """Every sample file by its path below contextlab/samples."""
    return claude_files() | codex_files() | chat_files()


def main() -> int:
    """Write the files, or say which differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; exit code 1 when a file differs")
    check = parser.parse_args().check
    differing = 0
    for name, text in sample_files().items():
        path = FOLDER / name
        same = path.exists() and path.read_text() == text
        differing += not same
        print(f"{'same' if same else 'differs' if check else 'written':8} {len(text):9,} {name}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return int(check and differing > 0)


if __name__ == "__main__":
    sys.exit(main())
