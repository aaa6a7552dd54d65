"""Simulation: environment × policies × runs × horizon → a result with regret curves at checkpoints."""

from armspan.simulation.grids import Grid, grid
from armspan.simulation.growth import Growth
from armspan.simulation.result import Result, concatenate, load_result
from armspan.simulation.runner import simulate
from armspan.simulation.summary import Summary
from armspan.simulation.sweeps import sweep

__all__ = ["Grid", "Growth", "Result", "Summary", "concatenate", "grid", "load_result", "simulate", "sweep"]
