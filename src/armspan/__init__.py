"""armspan: linear contextual bandits for people who need to know how much exploration their traffic really costs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armspan._version import __version__ as __version__

if TYPE_CHECKING:
    from armspan import environments, theory
    from armspan.diversity import audit, regret_bound
    from armspan.errors import ArmspanError
    from armspan.policies import ContextUCB, Greedy, LinTS, LinUCB, LinUCBd
    from armspan.policies.load import load_agent
    from armspan.simulation import Result, concatenate, grid, load_result, simulate, sweep
    from armspan.simulation.warm_up import warm_up

__all__ = [
    "ArmspanError",
    "ContextUCB",
    "Greedy",
    "LinTS",
    "LinUCB",
    "LinUCBd",
    "Result",
    "audit",
    "concatenate",
    "environments",
    "grid",
    "load_agent",
    "load_result",
    "regret_bound",
    "simulate",
    "sweep",
    "theory",
    "warm_up",
]

_HOME = {
    "ArmspanError": "errors",
    "ContextUCB": "policies",
    "Greedy": "policies",
    "LinTS": "policies",
    "LinUCB": "policies",
    "LinUCBd": "policies",
    "Result": "simulation",
    "audit": "diversity",
    "concatenate": "simulation",
    "grid": "simulation",
    "load_agent": "policies.load",
    "load_result": "simulation",
    "regret_bound": "diversity",
    "simulate": "simulation",
    "sweep": "simulation",
    "warm_up": "simulation.warm_up",
}


def __getattr__(name: str) -> Any:
    """Load a room when it is first asked for, so that `import armspan` takes no time (numba does)."""
    if name in _HOME:
        return getattr(import_module(f"armspan.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"armspan.{name}")
    raise AttributeError(f"module 'armspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
