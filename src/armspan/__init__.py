"""armspan: linear contextual bandits for people who need to know how much exploration their traffic really costs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armspan._version import __version__ as __version__

if TYPE_CHECKING:
    from armspan import environments as environments
    from armspan import theory as theory
    from armspan.diversity import audit as audit
    from armspan.diversity import regret_bound as regret_bound
    from armspan.errors import ArmspanError as ArmspanError
    from armspan.policies.load import load_agent as load_agent
    from armspan.policies.registry import *  # noqa: F403
    from armspan.simulation import Result as Result
    from armspan.simulation import concatenate as concatenate
    from armspan.simulation import load_result as load_result
    from armspan.simulation import simulate as simulate
    from armspan.simulation.recommend import recommend as recommend
    from armspan.simulation.warm_up import warm_up as warm_up
    from armspan.sweeps import grid as grid
    from armspan.sweeps import sweep as sweep

_HOME = {
    "ArmspanError": "errors",
    "Result": "simulation",
    "audit": "diversity",
    "concatenate": "simulation",
    "environments": "environments",
    "grid": "sweeps",
    "load_agent": "policies.load",
    "load_result": "simulation",
    "recommend": "simulation.recommend",
    "regret_bound": "diversity",
    "simulate": "simulation",
    "sweep": "sweeps",
    "theory": "theory",
    "warm_up": "simulation.warm_up",
}
"""Where names are found that are not policies."""


def __getattr__(name: str) -> Any:
    """Load a room when it is first asked for, so that `import armspan` takes no time (numba does)."""
    if name in _HOME:
        module = import_module(f"armspan.{_HOME[name]}")
        return module if _HOME[name] == name else getattr(module, name)
    if name == "__all__":
        return sorted([*_HOME, *_policies()])
    if name[:1].isupper() and name in _policies():  # others may be rooms, which policies need
        return _policies()[name]
    raise AttributeError(f"module 'armspan' has no attribute {name!r}")


def _policies() -> dict[str, Any]:
    return dict(import_module("armspan.policies.registry").POLICIES)


def __dir__() -> list[str]:
    return sorted([*_HOME, *_policies(), "__version__"])
