"""The grid of a study: its axes, values that set several things at once, and specs with places to fill in.

A value of an axis may be a table with a ``name``: its other keys are set together, so that an adversary can bring the
weak learner that reads its features, say. ``{N}`` in a spec stands for what the cell sets N to; what no spec has a
place for are parameters of the adversary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import require, unknown

Scalar = str | int | float

Grid = Mapping[str, tuple[Scalar, ...]]
"""Values of each axis; a table's name in its place."""

Named = Mapping[str, Mapping[Scalar, Mapping[str, Scalar]]]
"""The settings behind each name on an axis of tables."""

SETTING_AXES = ("adversary", "graph", "horizon", "radius")

_PLACE = re.compile(r"\{(\w+)\}")


def parse(where: str, given: Any) -> tuple[Grid, Named]:
    """The axes of a study.

    Raises
    ------
    UserError
        for axes that are missing, empty, or have values of a wrong kind
    """
    require(isinstance(given, dict), f"{where}: grid is a table, as in [grid].")
    grid: dict[str, tuple[Scalar, ...]] = {}
    named: dict[str, Mapping[Scalar, Mapping[str, Scalar]]] = {}
    for axis, value in given.items():
        values = value if isinstance(value, list) else [value]
        require(values != [], f"axis '{axis}' of {where} is empty: expected at least one value.")
        if any(isinstance(item, dict) for item in values):
            tables = [_table(where, axis, item) for item in values]
            values = [name for name, _ in tables]
            named[axis] = dict(tables)
        else:
            for item in values:
                _check(f"axis '{axis}' of {where}", axis, item)
        repeated = [item for i, item in enumerate(values) if item in values[:i]]
        require(not repeated, f"axis '{axis}' of {where} has a value twice: {repeated[:1]}.")
        grid[axis] = tuple(values)
    _check_keys(where, grid, named)
    return grid, named


def _table(where: str, axis: str, item: Any) -> tuple[Scalar, Mapping[str, Scalar]]:
    require(
        isinstance(item, dict) and isinstance(item.get("name"), str) and len(item) > 1,
        f"axis '{axis}' of {where} has the value {item!r}: expected a table with a name and what it sets, as"
        " its other values are.",
    )
    sets = {key: value for key, value in item.items() if key != "name"}
    for key, value in sets.items():
        _check(f"'{key}' of '{item['name']}' on axis '{axis}' of {where}", key, value)
    return item["name"], sets


def _check(what: str, axis: str, item: Any) -> None:
    number = axis in ("horizon", "radius")
    legal = (int, float) if number else (str, int, float)
    require(
        isinstance(item, legal)
        and not isinstance(item, bool)
        and (isinstance(item, str) or math.isfinite(item))
        and (isinstance(item, str) or not number or item > 0)
        and not (axis == "horizon" and isinstance(item, float)),
        f"{what} has the value {item!r}: expected {'a positive number' if number else 'a text or a number'}"
        f"{', an integer' if axis == 'horizon' else ''}.",
    )


def _check_keys(where: str, grid: Grid, named: Named) -> None:
    """Every key is set once in every cell, the adversary and the graph among them."""
    found = [axis for axis in grid if axis not in named]
    for axis, tables in named.items():
        (first, keys), *others = ((name, {*sets}) for name, sets in tables.items())
        for name, other in others:
            odd = sorted(keys ^ other)
            require(
                not odd,
                f"'{first}' and '{name}' on axis '{axis}' of {where} do not both set '{', '.join(odd)}':"
                " expected the same keys in all tables of an axis.",
            )
        found += [*keys]
    twice = sorted({key for key in found if found.count(key) > 1})
    require(not twice, f"the grid of {where} sets '{', '.join(twice)}' on two axes: expected one.")
    for axis in ("adversary", "graph"):
        require(axis in found, f"the grid of {where} has no axis '{axis}'.")


def expanded(cell: Mapping[str, Scalar], named: Named) -> dict[str, Scalar]:
    """The settings of a cell of the grid, names being replaced by what they stand for."""
    found: dict[str, Scalar] = {}
    for axis, value in cell.items():
        found.update(named[axis][value] if axis in named else {axis: value})
    return found


def places(specs: Iterable[str]) -> set[str]:
    """Names of the places in specs that a cell fills in."""
    return {name for spec in specs for name in _PLACE.findall(spec)}


def filled(where: str, spec: str, setting: Mapping[str, Scalar]) -> str:
    """A spec with what the cell sets in its places.

    Raises
    ------
    UserError
        for a place that the grid has nothing for
    """
    for name in places([spec]):
        if name not in setting:
            raise unknown(
                f"place in '{spec}' of {where}", f"{{{name}}}", [f"{{{key}}}" for key in setting]
            )
    return _PLACE.sub(lambda match: str(setting[match[1]]), spec)
