"""Every variable that the product reads stands in docs/production.md, and none that it does not read."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
READ = re.compile(
    r"""(?:env\.(?:text|flag|number|choice|names)\(|\benv(?:iron)?(?:\.get)?[\[(]|getenv\()\s*["']([A-Z][A-Z0-9_]+)["']"""
)
# Set by us for libraries and for Django's own machinery; nobody is meant to set them.
INTERNAL = {"DJANGO_SETTINGS_MODULE", "TIKTOKEN_CACHE_DIR"}


def read_variables() -> set[str]:
    sources = (path.read_text() for path in (CHECKOUT / "contextlab").rglob("*.py"))
    return {name for source in sources for name in READ.findall(source)} - INTERNAL


def documented_variables() -> set[str]:
    rows = re.findall(r"^\| `([A-Z0-9_]+)`", (CHECKOUT / "docs" / "production.md").read_text(), re.MULTILINE)
    return set(rows)


def test_every_variable_is_documented_and_every_documented_one_is_read():
    """A setting that nobody can find out about, or that does nothing any more, fails here."""
    assert read_variables() == documented_variables()
