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


def test_every_public_name_of_the_core_is_there():
    """What the core promises by name can be imported from it, whatever was imported before."""
    script = (
        "import contextlab.core.replayer, contextlab.core as core, types;"
        "found = [getattr(core, name) for name in core.__all__];"
        "assert not any(isinstance(one, types.ModuleType) for one in found);"
        "assert set(core.__all__) <= set(dir(core))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_reading_a_log_does_not_load_the_engine():
    """A module of the core brings what it needs itself and not everything else."""
    script = "import contextlab.core.recorded, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "contextlab.core.session" not in done.stdout.split()
