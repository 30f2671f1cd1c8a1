"""Pictures of pages of a running ContextLab, in both themes and at both widths, to look at before a change lands.

    python scripts/screenshots.py http://127.0.0.1:8000 out/ / /data

Needs Chromium (the environment variable CHROMIUM names another one than /usr/bin/chromium). Says how many nodes each
page has and how large it is compressed, and prints what the browser complained about.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, sync_playwright

WIDTHS = (1440, 390)
THEMES = ("light", "dark")


def main(base: str, folder: str, *pages: str) -> None:
    """Take the pictures."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for page in pages or ("/",):
            for width in WIDTHS:
                for theme in THEMES:
                    _shoot(browser, base, page, target, width, theme)
        browser.close()


def _shoot(browser: Browser, base: str, address: str, target: Path, width: int, theme: str) -> None:
    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.on("console", _complaint)
    page.on("pageerror", lambda error: print("  script:", error))
    answer = page.goto(base + address)
    page.wait_for_timeout(300)
    name = re.sub(r"[^a-z0-9]+", "-", address.lower()).strip("-")[:60] or "sessions"
    page.screenshot(path=target / f"{name}-{width}-{theme}.png", full_page=width == WIDTHS[0])
    nodes = page.evaluate("document.querySelectorAll('*').length")
    wide = page.evaluate("document.documentElement.scrollWidth")
    size = len(gzip.compress(answer.body())) if answer else 0
    note = f"  SCROLLS SIDEWAYS ({wide})" if wide > width else ""
    print(f"{address} {width} {theme}: {nodes} nodes, {size / 1000:.0f} KB compressed{note}")
    context.close()


def _complaint(line: ConsoleMessage) -> None:
    if line.type in ("error", "warning"):
        print("  console:", line.text)


if __name__ == "__main__":
    main(*sys.argv[1:])
