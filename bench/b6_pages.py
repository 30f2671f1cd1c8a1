"""B6: pages in a real browser, for sessions of 50 to 20,000 turns: nodes, compressed size, time until they stand."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.measure import note, run
from bench.places import Installation, ask, installation, long_session, own_command
from bench.report import Figure, Report
from contextlab.adapters.data_folder import CHECKOUT

MOST_NODES, MOST_KB, MOST_MS, MOST_GROWTH = 3_000, 150.0, 350.0, 1.3
SETTLED = """() => new Promise(done => {
  let last = performance.now();
  const watcher = new MutationObserver(() => { last = performance.now(); });
  watcher.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  const look = setInterval(() => {
    if (performance.now() - last > 250) { clearInterval(look); watcher.disconnect(); done(last); }
  }, 25);
})"""


def measure(report: Report, sizes: list[int], repeats: int) -> None:
    """Import a session of each size and open the list, the session and a step in the middle."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        report.skipped.append("B6: no Chromium found (set CHROMIUM=/path/to/it)")
        return
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        report.skipped.append("B6: playwright is not installed (make venv-dev)")
        return
    with installation() as made:
        made.renew()
        for size in sizes:
            note(f"B6: importing {size:,} turns")
            run(own_command("import", str(long_session(size))), made.env())
        pages = ask(made, "bench.b6_pages").split()
        with _server(made) as address, sync_playwright() as play:
            chromium = play.chromium.launch(
                executable_path=browser, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            found = {path: [_open(chromium, address + path) for _ in range(repeats)] for path in pages}
            chromium.close()
    _figures(report, found, sizes)


def _figures(report: Report, found: dict[str, list[dict[str, float]]], sizes: list[int]) -> None:
    names = ["sessions list", *(f"{kind}, {size:,} turns" for size in sizes for kind in ("session", "step"))]
    ready: dict[str, float] = {}
    for name, opened in zip(names, found.values(), strict=True):
        nodes, kilobytes = (max(one[key] for one in opened) for key in ("nodes", "kb"))
        ready[name] = statistics.median(one["ready"] for one in opened)
        report.figures.append(Figure("B6", f"{name}: nodes", nodes, "", MOST_NODES, MOST_NODES))
        report.figures.append(Figure("B6", f"{name}: page, compressed", kilobytes, "KB", MOST_KB, MOST_KB))
        report.figures.append(Figure("B6", f"{name}: ready, warm", ready[name], "ms", MOST_MS))
    if len(sizes) > 1:
        growth = ready[f"session, {sizes[-1]:,} turns"] / ready[f"session, {sizes[0]:,} turns"]
        report.figures.append(Figure("B6", "session page, largest to smallest", growth, "x", MOST_GROWTH))
    report.facts["B6"] = dict(zip(names, found.values(), strict=True))


def _open(chromium: Any, address: str) -> dict[str, float]:
    """Open a page twice in a fresh profile; the figures are of the second time, when scripts and styles are cached."""
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    received: list[float] = []
    documents: list[float] = []
    kinds: dict[str, str] = {}
    session.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))

    def finished(event: dict[str, Any]) -> None:
        received.append(event["encodedDataLength"])
        if kinds.get(event["requestId"]) in ("Document", "XHR", "Fetch"):
            documents.append(event["encodedDataLength"])

    session.on("Network.loadingFinished", finished)
    page.goto(address, wait_until="load")
    page.evaluate(SETTLED)
    cold = sum(received)
    received.clear()
    documents.clear()
    page.goto(address, wait_until="load")
    settled = page.evaluate(SETTLED)
    loaded = page.evaluate("() => performance.getEntriesByType('navigation')[0].loadEventEnd")
    first = page.evaluate(
        "() => (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime || 0"
    )
    nodes = page.evaluate("() => document.getElementsByTagName('*').length")
    page.close()
    return {
        "nodes": nodes,
        "kb": sum(documents) / 1024,
        "cold_kb": cold / 1024,
        "paint": first,
        "ready": max(loaded, min(settled, loaded + 2000)),
    }


@contextmanager
def _server(made: Installation) -> Iterator[str]:
    """The web server without a worker, until it is not needed any more."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = own_command("up", "--no-worker", "--port", str(port))
    process = subprocess.Popen(
        command, env=made.env(), cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _wait_for(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(address + "/", timeout=5).read()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"{address} does not answer")


def main() -> None:
    """As a helper inside an installation: the addresses of the pages, smallest session first."""
    import django

    django.setup()
    from contextlab.store.models import Session

    print("/")
    for session in Session.objects.filter(role="", sample=False).order_by("turns"):
        print(f"/sessions/{session.uid}")
        print(f"/sessions/{session.uid}/steps/{session.steps // 2}")


if __name__ == "__main__":
    sys.exit(main())
