"""armspan: linear contextual bandits for people who need to know how much exploration their traffic really costs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armspan._version import __version__ as __version__

if TYPE_CHECKING:
    from armspan import agents as agents
    from armspan import diversity as diversity
    from armspan import environments as environments
    from armspan import errors as errors
    from armspan import events as events
    from armspan import experiments as experiments
    from armspan import policies as policies
    from armspan import simulation as simulation
    from armspan import sweeps as sweeps
    from armspan import theory as theory
    from armspan.agents import Agent as Agent
    from armspan.agents import Diary as Diary
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
    from armspan.sweeps import plot_sweep as plot_sweep
    from armspan.sweeps import sweep as sweep

_ROOMS = (
    "agents",
    "diversity",
    "environments",
    "errors",
    "events",
    "experiments",
    "policies",
    "simulation",
    "sweeps",
    "theory",
)
"""What is loaded when it is first asked for, as `armspan.NAME`."""
_HOME = {
    "Agent": "agents",
    "ArmspanError": "errors",
    "Diary": "agents",
    "Result": "simulation",
    "audit": "diversity",
    "concatenate": "simulation",
    "grid": "sweeps",
    "load_agent": "policies.load",
    "load_result": "simulation",
    "plot_sweep": "sweeps",
    "recommend": "simulation.recommend",
    "regret_bound": "diversity",
    "simulate": "simulation",
    "sweep": "sweeps",
    "warm_up": "simulation.warm_up",
}
"""In which room names are found that are not policies."""


def __getattr__(name: str) -> Any:
    """Load a room when it is first asked for, so that `import armspan` takes no time (numba does)."""
    if name in _ROOMS:
        return import_module(f"armspan.{name}")
    if name in _HOME:
        return getattr(import_module(f"armspan.{_HOME[name]}"), name)
    if name == "__all__":
        return sorted([*_ROOMS, *_HOME, *_policies()])
    if name[:1].isupper() and name in _policies():  # others may be rooms, which policies need
        return _policies()[name]
    raise AttributeError(f"module 'armspan' has no attribute {name!r}")


def _policies() -> dict[str, Any]:
    return dict(import_module("armspan.policies.registry").POLICIES)


def __dir__() -> list[str]:
    return sorted([*_ROOMS, *_HOME, *_policies(), "__version__"])
