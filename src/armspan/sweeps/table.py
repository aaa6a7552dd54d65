"""A sweep as a table: one row per cell, with the parameters that vary and what is known of its environment."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from armspan.environments import Environment
from armspan.environments.table import TableEnvironment
from armspan.errors import MissingExtra
from armspan.policies import Policy
from armspan.sweeps.cells import Cell, Measures, Size

if TYPE_CHECKING:
    import pandas as pd

Parameters = Mapping[str, Mapping[str, Any]]

CHEAP = 2_000
"""Subsets of contexts up to which λ₀ costs next to nothing beside a cell."""


def need_pandas() -> None:
    """Refuse before any work, where the table could not be made after it."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtra("sweep needs pandas: pip install 'armspan[lab]'") from None


def table_of(
    cells: list[Cell],
    of_environments: Parameters,
    of_policies: Parameters,
    size: Size,
    n_runs: int,
    finished: Mapping[int, Measures],
) -> "pd.DataFrame":
    """The table of the finished cells; parameters by name, where a grid has them."""
    import pandas as pd

    envs = {cell.environment: cell.env for cell in cells}
    about = {name: {"gap": env.gap, "lambda_0": _lambda_0(env)} for name, env in envs.items()}
    theirs = _varying("environment", [of_environments.get(c.environment) or _of_environment(c.env) for c in cells])
    ours = _varying("policy", [of_policies.get(c.policy_name) or _of_policy(c.policy) for c in cells])
    rows = []
    for number in sorted(finished):
        cell = cells[number]
        row: dict[str, Any] = {"environment": cell.environment, "policy": cell.policy_name}
        row |= theirs[number] | ours[number] | about[cell.environment]
        rows.append(row | {"horizon": size.horizon, "runs": n_runs} | finished[number])
    return pd.DataFrame(rows)


def _varying(what: str, entries: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each cell's parameters those that are not the same in all cells; nan where a cell has none."""
    names = dict.fromkeys(name for entry in entries for name in entry)
    varying = [name for name in names if any(entry.get(name) != entries[0].get(name) for entry in entries)]
    return [
        {f"{what}.{name}": math.nan if entry.get(name) is None else entry[name] for name in varying}
        for entry in entries
    ]


def _of_environment(env: Environment) -> dict[str, Any]:
    return {name: getattr(env, name) for name in ("n_arms", "n_features", "n_contexts", "noise_scale")}


def _of_policy(policy: Any) -> dict[str, Any]:
    """Single numbers alone: what is longer is in the policy's name, if its author wants it."""
    if not isinstance(policy, Policy) or not is_dataclass(policy):
        return {}
    values = {field.name: getattr(policy, field.name) for field in fields(policy) if field.name != "label"}
    return {name: value for name, value in values.items() if value is None or isinstance(value, int | float)}


def _lambda_0(env: Environment) -> float:
    """λ₀ where it is known, and cheap."""
    if not isinstance(env, TableEnvironment):
        return math.nan
    arms = [len(env.optimal_contexts(arm)) for arm in range(env.n_arms)]
    cheap = sum(math.comb(contexts, env.n_features) for contexts in arms) <= CHEAP
    return env.lambda_0() if cheap else math.nan
