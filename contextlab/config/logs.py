"""Logging: quiet, to standard error, and never with a secret in it."""

from __future__ import annotations

import logging
from typing import Any

from contextlab.core.redaction import redact


def without_traceback(record: logging.LogRecord) -> bool:
    """A request that is refused is one line: where in our code that happened says nothing to anybody."""
    record.exc_info, record.exc_text = None, None
    return True


class RedactingFormatter(logging.Formatter):
    """Redacts the finished text: a filter would not see the traceback, nor arguments put in later."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


_REFUSED = (
    "django.security.DisallowedHost",
    "django.security.RequestDataTooBig",
    "django.security.TooManyFieldsSent",
)


def logging_config(level: str) -> dict[str, Any]:
    """Django's LOGGING: one handler at the root, and every library's loggers hand up to it."""
    quiet = (
        "celery",
        "kombu",
        "amqp",
        "openai",
        "httpx2",
        "httpcore2",
        "uvicorn.access",
        "django.db.backends",
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "contextlab.config.logs.RedactingFormatter",
                "format": "{asctime} {levelname:7} {name}: {message}",
                "style": "{",
            }
        },
        "filters": {"one line": {"()": lambda: without_traceback}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # A page that does not exist is the visitor's mistake, not news for the terminal.
            "django.request": {"level": "ERROR"},
            # A name or a body that is refused: told, without the place in our code.
            **{name: {"level": level, "filters": ["one line"]} for name in _REFUSED},
            "django": {"handlers": [], "level": level, "propagate": True},
            # Its own handler would print the same lines a second time, unredacted.
            "django.server": {"handlers": [], "level": level, "propagate": True},
            **{name: {"level": "WARNING"} for name in quiet},
        },
    }
