"""Components found by walking their folders, so that there is nothing to register."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

from .spec import command_name


def modules(package: ModuleType) -> list[ModuleType]:
    """All modules of a package, those of its subpackages too."""
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [importlib.import_module(info.name) for info in found]


def classes(package: ModuleType, method: str) -> dict[str, type[Any]]:
    """Dataclasses of a package that have ``method`` and ``spec``, by command-line name."""
    found = {}
    for module in modules(package):
        for value in vars(module).values():
            if (
                inspect.isclass(value)
                and value.__module__ == module.__name__
                and not value.__name__.startswith("_")
                and dataclasses.is_dataclass(value)
                and hasattr(value, method)
                and isinstance(inspect.getattr_static(value, "spec", None), property)
            ):
                found[command_name(value)] = value
    return dict(sorted(found.items()))
