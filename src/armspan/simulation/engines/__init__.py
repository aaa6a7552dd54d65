"""The engines, one file each: the ways in which policies can be run."""

from typing import Any

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.simulation.engines.base import Engine
from armspan.simulation.engines.cpu import CpuEngine
from armspan.simulation.engines.cuda import CudaEngine
from armspan.simulation.engines.python import PythonEngine

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (CpuEngine(), CudaEngine(), PythonEngine())}
USUAL = CpuEngine.name
"""What "auto" means where no GPU is looked for."""
NAMES = ("auto", *ENGINES)
PRECISIONS = ("float64", "float32")


def engine_for(name: str, precision: str) -> str:
    """The engine asked for, or the one that a precision needs."""
    _validate.one_of("precision", precision, PRECISIONS)
    able = [engine.name for engine in ENGINES.values() if precision in engine.precisions]
    if precision == "float64" or name in able:
        return name
    if name != "auto":
        raise NotApplicable(f'precision must be "float64" on the engine {name!r}, got {precision!r}')
    return able[0]


def check_events(name: str, precision: str) -> None:
    """Refuse to count the proof's events where that is not possible."""
    able = [engine.name for engine in ENGINES.values() if engine.counts_events]
    if name not in (*able, "auto") or precision != "float64":
        engines = " or ".join(f'"{one}"' for one in able)
        raise NotApplicable(f"events need the engine {engines} in float64, got {name!r} in {precision}")


def best_engine(env: Environment, policies: list[Any], steps: int) -> str:
    """The fastest engine that is present and can do this."""
    return next((name for name, engine in ENGINES.items() if engine.is_worth_it(env, policies, steps)), USUAL)
