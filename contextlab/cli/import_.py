"""`contextlab import`: read logs into the database, in this process, without a worker."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

NAME = "import"
HELP = "import logs: files, folders, or whole trees like ~/.claude"
NEEDS_DJANGO = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab import`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log file or a folder")
    parser.add_argument(
        "--no-count", action="store_true", help="leave exact token counts to a worker; show estimates until then"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when anything could be read, 3 when nothing could."""
    from contextlab.importers.discover import discover
    from contextlab.services import imports
    from contextlab.services.actions import perform
    from contextlab.services.workspaces import local_workspace

    workspace = local_workspace()
    good = 0
    for source in discover(Path(path) for path in args.paths):
        run, _ = imports.request(imports.file_for(workspace, source))
        perform(run)
        run.refresh_from_db()
        print(f"{source.name}: {run.state} {run.error}", file=sys.stderr)
        good += run.state in ("done", "noop")
    return 0 if good else 3
