"""The lower layers stay free of frameworks, whatever is imported from them."""

import pkgutil
import subprocess
import sys

import pytest

import contextlab.core
import contextlab.importers

FRAMEWORKS = ("django", "rest_framework", "celery", "kombu", "openai", "psycopg")
LIBRARIES = ("msgspec", "tiktoken", "toktok", "zstandard")


def modules_of(package) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
    return [package.__name__, *(module.name for module in found)]


def loaded_by(modules: list[str]) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after importing the modules."""
    script = f"import {', '.join(modules)}, sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [(contextlab.core, FRAMEWORKS + LIBRARIES), (contextlab.importers, FRAMEWORKS)],
    ids=["core", "importers"],
)
def test_importing_every_module_loads_none_of(package, unwanted):
    """An agent that imports contextlab.core, or a script that imports the importers, gets no framework."""
    assert loaded_by(modules_of(package)).isdisjoint(unwanted)
