"""The hook of the documentation that begins a session with its memories: it never keeps a session from beginning."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "memories.md"
ADDRESS = "http://127.0.0.1:8000"


def run_hook(address: str) -> subprocess.CompletedProcess[str]:
    """The script as it stands on the page, pointed at another address."""
    found = re.search(
        r"```python\n(# ~/\.claude/contextlab_block\.py.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    assert ADDRESS in found[1]
    script = found[1].replace(ADDRESS, address)
    given = json.dumps({"cwd": "/home/dev/app", "hook_event_name": "SessionStart"})
    return subprocess.run(
        [sys.executable, "-c", script], input=given, capture_output=True, text=True, timeout=30, check=False
    )


def test_no_server_is_no_hindrance() -> None:
    """Where nothing listens it says nothing and ends well."""
    done = run_hook("http://127.0.0.1:9")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_server_gives_the_block() -> None:
    """The block of the session's own folder goes into the context."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"text": "what was learned"}).encode())

        def log_message(self, *args: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        done = run_hook(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
    assert done.returncode == 0
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert told == {"hookEventName": "SessionStart", "additionalContext": "what was learned"}
    assert "project=%2Fhome%2Fdev%2Fapp" in asked[0]
