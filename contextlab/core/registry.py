"""Plug-ins found by folder: every module of a package that offers a given name, and strangers' entry points.

Ours fail loudly; a stranger's that cannot be loaded is logged and skipped. Two of one name are always an error.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterator
from importlib import metadata
from typing import Generic, TypeVar, cast

from contextlab.core.compaction import CompactPolicy, Compressor, Trigger
from contextlab.core.errors import RegistryError, UnknownNameError
from contextlab.core.projection import Projector

logger = logging.getLogger(__name__)
Plugin = TypeVar("Plugin")


class Registry(Generic[Plugin]):
    """The plug-ins of one package, looked for at first use. A plug-in says its name in its attribute `kind`."""

    def __init__(self, what: str, package: str, attribute: str, group: str) -> None:
        """`what` is the word for people; `attribute` the name each module offers; `group` the entry points'."""
        self.what = what
        self.package = package
        self.attribute = attribute
        self.group = group
        self._found: dict[str, Plugin] | None = None

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._all())

    def get(self, name: str) -> Plugin:
        """The plug-in of this name; raises UnknownNameError, which lists the known ones."""
        plugins = self._all()
        if name not in plugins:
            raise UnknownNameError(self.what, name, plugins)
        return plugins[name]

    def _all(self) -> dict[str, Plugin]:
        if self._found is None:
            found: dict[str, Plugin] = {}
            for plugin in (*self._ours(), *self._strangers()):
                self._add(found, plugin)
            self._found = found
        return self._found

    def _add(self, found: dict[str, Plugin], plugin: Plugin) -> None:
        name = str(getattr(plugin, "kind", ""))
        if not name:
            raise RegistryError(f"{plugin!r} has no attribute kind to name it")
        if name in found:
            raise RegistryError(f"two {self.what}s are named {name!r}: {found[name]!r} and {plugin!r}")
        found[name] = plugin

    def _ours(self) -> Iterator[Plugin]:
        package = importlib.import_module(self.package)
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
            loaded = importlib.import_module(f"{self.package}.{module.name}")
            if not hasattr(loaded, self.attribute):
                raise RegistryError(f"{loaded.__name__} offers no {self.attribute}")
            yield cast(Plugin, getattr(loaded, self.attribute))

    def _strangers(self) -> Iterator[Plugin]:
        for entry in metadata.entry_points(group=self.group):
            try:
                plugin = cast(Plugin, entry.load())
                kind = getattr(plugin, "kind", None)
            except Exception:
                logger.exception(
                    "plug-in %s (%s) could not be loaded and is skipped", entry.name, entry.value
                )
                continue
            if isinstance(kind, str) and kind:
                yield plugin
            else:
                logger.error("plug-in %s (%s) has no name in `kind` and is skipped", entry.name, entry.value)


PROJECTORS: Registry[type[Projector]] = Registry(
    "projector", "contextlab.core.projectors", "PROJECTOR", "contextlab.projectors"
)
POLICIES: Registry[type[CompactPolicy]] = Registry(
    "compaction policy", "contextlab.core.policies", "POLICY", "contextlab.policies"
)
TRIGGERS: Registry[type[Trigger]] = Registry(
    "trigger", "contextlab.core.triggers", "TRIGGER", "contextlab.triggers"
)
COMPRESSORS: Registry[type[Compressor]] = Registry(
    "compressor", "contextlab.core.compressors", "COMPRESSOR", "contextlab.compressors"
)
