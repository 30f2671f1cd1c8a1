"""The web server: `python -m contextlab.config.serve --port 8000`, or on a socket handed down by `contextlab up`."""

from __future__ import annotations

import argparse
import os
import socket
from typing import Any

import uvicorn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--fd", type=int, help="a listening socket that is already open")
    parser.add_argument("--workers", type=int, default=1, help="processes (not with --fd)")
    args = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")
    if args.fd is None and args.workers > 1:
        uvicorn.run(**_options(), host=args.host, port=args.port, workers=args.workers)
        return
    config = uvicorn.Config(**_options(), host=args.host, port=args.port)
    sockets = None if args.fd is None else [socket.socket(fileno=args.fd)]
    uvicorn.Server(config).run(sockets=sockets)


def _options() -> dict[str, Any]:
    return {
        "app": "contextlab.config.asgi:application",
        "log_config": None,  # Django's logging stays: uvicorn's own would print tracebacks unredacted
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # settings.py decides whether a proxy is believed
        "lifespan": "off",
        "timeout_graceful_shutdown": 5,
    }


if __name__ == "__main__":
    main()
