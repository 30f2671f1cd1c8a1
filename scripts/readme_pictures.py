"""The pictures of the README, taken from a running ContextLab with the sample sessions.

    python -m scripts.readme_pictures http://127.0.0.1:8000

Needs Chromium (the environment variable CHROMIUM names another one than /usr/bin/chromium).
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

TARGET = Path(__file__).resolve().parent.parent / "docs" / "img"
BROKEN = 81
"""The step of the sample at which the lost rule is broken."""


def main(base: str) -> None:
    """Take them."""
    with urllib.request.urlopen(f"{base}/api/sessions/?format=claude-code") as answer:
        sample = next(row["id"] for row in json.load(answer)["results"] if row["sample"])
    pages = {
        "session": (f"/sessions/{sample}", 1000),
        "step": (f"/sessions/{sample}/steps/{BROKEN}", 900),
        "sessions": ("/", 420),
    }
    TARGET.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (address, height) in pages.items():
            page = browser.new_page(viewport={"width": 1440, "height": height}, color_scheme="light")
            page.goto(base + address)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(800)
            page.screenshot(path=TARGET / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
