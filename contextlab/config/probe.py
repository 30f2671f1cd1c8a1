"""Ask /health and end with 0 or 1: the health check of the containers, which have no curl.

python -m contextlab.config.probe [host]
"""

from __future__ import annotations

import http.client
import sys


def main() -> int:
    host = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    connection = http.client.HTTPConnection(host, 8000, timeout=4)
    try:
        # The name of a container is none of the allowed hosts.
        connection.request("GET", "/health", headers={"Host": "127.0.0.1"})
        return 0 if connection.getresponse().status == 200 else 1
    except (OSError, http.client.HTTPException):
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
