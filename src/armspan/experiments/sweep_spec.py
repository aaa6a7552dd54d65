"""A sweep described in a TOML or JSON file: tables whose values may be grids, and the size of every cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from armspan import _validate
from armspan.errors import InvalidParameter
from armspan.experiments.spec import as_environment, as_policy, check_keys, read_content, tables, text
from armspan.sweeps import Grid
from armspan.sweeps.grids import combinations

Make = Callable[[str, dict[str, Any]], Any]


@dataclass(frozen=True)
class SweepSpec:
    """A described sweep."""

    name: str
    environments: Grid
    policies: Grid
    horizon: int
    runs: int
    seed: int


def load_sweep(path: str | PathLike[str]) -> SweepSpec:
    """Read a sweep's file; the docs' page “Experiments in a file” lists its keys."""
    return parse_sweep(read_content(path), default_name=Path(path).stem)


def parse_sweep(content: Mapping[str, Any], *, default_name: str = "sweep") -> SweepSpec:
    """A sweep from what such a file holds."""
    if "environment" in content and "environments" not in content:
        raise InvalidParameter("the sweep has one environment, not environments, so it is for `armspan simulate`")
    check_keys("the sweep", content, needs=("horizon", "environments", "policies"), may=("name", "runs", "seed"))
    return SweepSpec(
        name=text("name", content.get("name", default_name)),
        environments=_grids("environment", tables("environments", content["environments"]), as_environment),
        policies=_grids("policy", tables("policies", content["policies"]), as_policy),
        horizon=_validate.whole("horizon", content["horizon"], at_least=1),
        runs=_validate.whole("runs", content.get("runs", 100), at_least=1),
        seed=_validate.whole("seed", content.get("seed", 0), at_least=0),
    )


def _grids(what: str, entries: list[dict[str, Any]], make: Make) -> Grid:
    """All that the tables describe, by name."""
    result = Grid({}, {})
    for number, entry in enumerate(entries, 1):
        where = f"{what} {number}"
        for name, (made, parameters) in _grid(where, entry, make).items():
            if name in result:
                raise InvalidParameter(f"{where} must have a name of its own; give it a label, got {name!r} again")
            result = result | Grid({name: made}, {name: parameters})
    return result


def _grid(where: str, entry: dict[str, Any], make: Make) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """Name to object and parameters, for every combination of what one table has as { grid = [...] }."""
    lists = {key: value["grid"] for key, value in entry.items() if isinstance(value, dict) and set(value) == {"grid"}}
    fixed = {key: value for key, value in entry.items() if key not in lists and key != "label"}
    label = text(f"label of {where}", entry["label"]) if "label" in entry else None
    if not lists:
        made = make(where, fixed)
        return {label or made.name: (made, {})}
    for key, value in lists.items():
        if not isinstance(value, list) or not value:
            raise InvalidParameter(f"{key} of {where} must have a list of values as its grid, got {value!r:.60}")
    called = label or str(fixed.get("kind", where))
    found = combinations(called, partial(_with, make, where, fixed), lists)
    return {name: (made, found.parameters[name]) for name, made in found.items()}


def _with(make: Make, where: str, fixed: dict[str, Any], **chosen: Any) -> Any:
    return make(where, fixed | chosen)
