"""No secret reaches the log, whichever way it comes."""

import io
import logging
import subprocess
import sys

import pytest

from contextlab.config.logs import RedactingFormatter

KEY = "sk-ant-api03-" + "Zz9_" * 12


@pytest.fixture
def log():
    """A logger and what it wrote."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(RedactingFormatter("{message}", style="{"))
    logger = logging.Logger("test")  # noqa: LOG001 - one that nobody else writes to
    logger.addHandler(handler)
    return logger, written


def test_a_secret_in_the_message_or_its_arguments_is_redacted(log):
    """The finished line is what counts."""
    logger, written = log
    logger.warning("key %s refused", KEY)
    assert "Zz9_" not in written.getvalue()
    assert "refused" in written.getvalue()


def test_a_secret_in_a_traceback_is_redacted(log):
    """Errors of a provider quote the key they were given."""
    logger, written = log
    try:
        raise ValueError(f"Incorrect API key provided: {KEY}")
    except ValueError:
        logger.exception("call failed")
    assert "Zz9_" not in written.getvalue()
    assert "Traceback" in written.getvalue()


def test_a_request_that_is_refused_is_one_line():
    """Any web page can cause one: a traceback of our code would be noise in the terminal."""
    code = """
import logging, logging.config
from contextlab.config.logs import logging_config
logging.config.dictConfig(logging_config("WARNING"))
try:
    raise ValueError("Invalid HTTP_HOST header: 'evil.example'")
except ValueError as error:
    logging.getLogger("django.security.DisallowedHost").error(str(error), exc_info=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert "evil.example" in line
